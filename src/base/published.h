/*
 * Published values of a machine's parts: bits, area and power of a module, as stated in the machine
 * file, for reports to print beside Heddle's numbers. Nothing is computed from them.
 *
 *     published:
 *       source: who says it, and where
 *       modules:
 *         simd: {each: 4, bits: 18147}      # units of that name, four times the same
 *         registers: {units: [sgpr, vgpr], mm2: 8.1, mw: 171, parts: [registers, scalar_registers]}
 *         core: {units: all, mm2: 15}
 *
 * They apply to one core, and are not inherited: a machine that names this one as its parent is a
 * different machine.
 */
#ifndef BASE_PUBLISHED_H
#define BASE_PUBLISHED_H

#include "base/text.h"
#include "base/yaml.h"
#include <jansson.h>

struct published_value {
    const char *name;
    const char **units; /* units of the state registry and of area; NULL: all of a core */
    u32 unit_count;
    const char **parts; /* parts of energy, for its power; NULL: none */
    u32 part_count;
    u32 each;    /* number of such modules, each with `bits` */
    u64 bits;    /* of one module; 0: not given */
    f64 mm2, mw; /* of all modules; 0: not given */
    const char *note;
};

struct published_values {
    const char *source;
    struct published_value *rows;
    u32 count;
};

/* Reads the value of `published:` into the arena; `place` names the file in messages. */
bool published_read(struct arena *arena, struct published_values *published,
                    const struct yaml *node, const char *place, struct error *error);
void published_copy(struct arena *arena, struct published_values *to,
                    const struct published_values *from);
/* Whether a unit belongs to a module. */
bool published_value_has(const struct published_value *value, const char *unit);
/* {"name", "units": [...] or null, "parts": [...] or null, "each", "bits", "mm2", "mw", "note"};
 * null: not given. */
json_t *published_value_json(const struct published_value *value);

#endif
