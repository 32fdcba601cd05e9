/*
 * What has been published about a machine's parts: bits, area and power of a module, as the file of
 * the machine states them, for reports to print beside their own numbers. Nothing is computed from
 * them.
 *
 *     published:
 *       source: who says it, and where
 *       modules:
 *         simd: {each: 4, bits: 18147}      # units of that name, four times the same
 *         registers: {units: [sgpr, vgpr], mm2: 8.1, mw: 171, parts: [registers, scalar_registers]}
 *         core: {units: all, mm2: 15}
 *
 * They are of one core, and of the machine itself: a machine that names this one as its parent is
 * another one, of which nothing has been said.
 */
#ifndef BASE_PUBLISHED_H
#define BASE_PUBLISHED_H

#include "base/text.h"
#include "base/yaml.h"
#include <jansson.h>

struct published_value {
    const char *name;
    const char **units; /* of the state registry and of area; NULL: all of a core */
    u32 unit_count;
    const char **parts; /* of energy, for its power; NULL: none are named */
    u32 part_count;
    u32 each;    /* modules of this kind, each of which has `bits` */
    u64 bits;    /* of one; 0: not said */
    f64 mm2, mw; /* of all of them; 0: not said */
    const char *note;
};

struct published_values {
    const char *source;
    struct published_value *rows;
    u32 count;
};

/* From the value of `published:`; `place` names the file in messages. Lives in the arena. */
bool published_read(struct arena *arena, struct published_values *published,
                    const struct yaml *node, const char *place, struct error *error);
void published_copy(struct arena *arena, struct published_values *to,
                    const struct published_values *from);
/* Whether a unit belongs to it. */
bool published_value_has(const struct published_value *value, const char *unit);
/* {"name", "units": [...] or null, "parts": [...] or null, "each", "bits", "mm2", "mw", "note"};
 * null: not said. */
json_t *published_value_json(const struct published_value *value);

#endif
