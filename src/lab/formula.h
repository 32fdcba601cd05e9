/*
 * Formulas over statistics, as experiment files write them: numbers, + - * /, parentheses, names
 * like base.timing.cycles, and of any number of values min, max, mean, and interval, half of the
 * 95 % confidence interval of their mean. The caller gives names their values. Comparisons chain
 * formulas: irb2 <= irb4 <= irb8.
 *
 *  F1  The text is untrusted: nesting and size are bounded, and parsing only allocates.
 *  F2  If a value does not exist (an unknown name, a division by zero), the value of the whole
 *      formula does not exist; there are no infinities or NaNs.
 *  F3  The order of operations is the written one, so that values do not depend on the host.
 */
#ifndef LAB_FORMULA_H
#define LAB_FORMULA_H

#include "base/arena.h"
#include "base/error.h"

enum {
    FORMULA_MAX_DEPTH = 64,
    FORMULA_MAX_BYTES = 4096,
    COMPARISON_MAX_SIDES = 8
};

/* The place of a text's first character, for messages. */
struct text_place {
    const char *file;
    u32 line, column;
};

/* "plan.yaml:3:5"; "" if line is 0, for what was not read from a file. */
const char *place_text(struct text_place place, char *buffer, size_t size);

struct formula;
/* NULL and an error with the place on failure. */
struct formula *formula_parse(struct arena *arena, const char *text, struct text_place place,
                              struct error *error);

/* The value of a name; false: it has none. */
typedef bool formula_lookup(void *user, const char *name, f64 *value);
bool formula_value(const struct formula *formula, formula_lookup *lookup, void *user, f64 *value);

/* Visits every name with its place, in written order, until one call returns false. */
typedef bool formula_visit(void *user, const char *name, struct text_place place);
bool formula_names(const struct formula *formula, formula_visit *visit, void *user);

enum comparison_kind {
    COMPARE_LESS,
    COMPARE_LESS_EQUAL,
    COMPARE_GREATER,
    COMPARE_GREATER_EQUAL
};

struct comparison {
    u32 count; /* sides, at least 2 */
    struct formula *sides[COMPARISON_MAX_SIDES];
    enum comparison_kind kinds[COMPARISON_MAX_SIDES]; /* [i]: between sides i and i + 1 */
};

struct comparison *comparison_parse(struct arena *arena, const char *text, struct text_place place,
                                    struct error *error);
/* "<=" */
const char *comparison_sign(enum comparison_kind kind);
/* Whether the comparison holds for the values of its sides. */
bool comparison_holds(const struct comparison *comparison, const f64 *values);

#endif
