/*
 * Faults in plans: the options of a `heddle inject` that a point runs in place of `heddle run`.
 *
 *     inject: {faults: 200, structures: ^simd, window: 5000}
 *
 *  Q1  Names and values are checked when a plan is read, except whether a machine has such structures.
 *  Q2  Of options that are given in several places of a plan, the last one holds, as with `set`.
 */
#ifndef LAB_FAULTS_H
#define LAB_FAULTS_H

#include "lab/configuration.h"

/* Reads a mapping of options. */
bool faults_read(const struct fields *fields, const struct yaml *node, struct settings *options);
/* Whether such an option takes this value; an error at `node` if not. */
bool faults_check(const struct fields *fields, const struct yaml *node, const char *key,
                  const char *value);
/* Whether an option says how many faults there are: a point needs one that does. */
bool faults_count_given(const struct settings *const *lists, u32 count);
/* The options of a command line, NULL-terminated, in an order of their own: equal points have equal
 * lines. */
const char **faults_words(struct arena *arena, const struct settings *const *lists, u32 count);
/* Whether a name is a statistic of such points: "faults.failures.share" and its likes. */
bool faults_has_statistic(const char *key);

#endif
