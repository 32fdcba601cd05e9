/*
 * Components: the single source of parameters and statistics.
 *
 * A component writes one table file, `<component>.def`, with the lines
 *
 *     PARAM(type, name, default, min, max, unit, help)     type: u32, u64, f64
 *     FLAG(name, default, help)                             a bool
 *     CHOICE(name, default, "a|b|c", help)                  a u32: index into the list
 *     LIST(name, most, min, max, unit, help)                f64 name[most], u32 name_count: up to
 *                                                           `most` values, none by default
 *     PRODUCT(name, solved, "a|b", unit, help)              solved * a * b: a size that can be set
 *                                                           instead of the parameter `solved`
 *     STAT(name, unit, help)                                a u64 counter
 *     RATE(name, numerator, denominator, unit, help)        numerator / denominator, both STATs
 *
 * and says, in its header and in one .c file,
 *
 *     #define COMPONENT exec
 *     #define COMPONENT_DEF "exec/exec.def"
 *     #include "base/component_struct.h"     -> struct exec_params, struct exec_stats
 *     #include "base/component_table.h"      -> const struct component exec_component
 *
 * (COMPONENT_HELP, a string, is needed for the table; with it, one file may include both at once.)
 * The parts of a machine are not declared one by one: they are entries of a list (component_row.h).
 *
 * Parsing with range checks and "did you mean", `heddle params`, `heddle stats`, JSON, the dumped
 * configuration and docs/params.md, docs/stats.md are generated from the table. A parameter's full
 * key is `component.name`.
 */
#ifndef BASE_COMPONENT_H
#define BASE_COMPONENT_H

#include "base/error.h"

enum param_type {
    PARAM_U32,
    PARAM_U64,
    PARAM_F64,
    PARAM_BOOL,
    PARAM_CHOICE,
    PARAM_LIST
};

struct param {
    const char *name;
    enum param_type type;
    u32 offset;            /* in the component's params struct */
    f64 initial, min, max; /* f64 represents every declared default exactly (below 2^53) */
    const char *choices;   /* PARAM_CHOICE: "a|b|c" */
    const char *unit;      /* "" if none */
    const char *help;
    u32 most, count_offset; /* PARAM_LIST: maximum length; offset of the length */
};

/* A size that is the product of parameters of its component. It has no value of its own: setting it
 * sets `solved`, so that the product is the given number. */
struct product {
    const char *name;
    const char *solved;
    const char *factors; /* the other parameters, u32: "a|b" */
    const char *unit;
    const char *help;
};

struct stat {
    const char *name;
    u32 offset; /* in the component's stats struct, a u64 */
    const char *unit;
    const char *help;
};

struct rate {
    const char *name;
    u32 numerator, denominator; /* offsets in the component's stats struct */
    const char *unit;
    const char *help;
};

struct component {
    const char *name;
    const char *help;
    const struct param *params;
    u32 param_count;
    u32 params_size;
    const struct stat *stats;
    u32 stat_count;
    const struct rate *rates;
    u32 rate_count;
    const struct product *products;
    u32 product_count;
};

#endif
