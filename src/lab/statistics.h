/*
 * Documents of statistics, as `heddle run --stats` writes them.
 *
 * They are kept as text, and numbers are found in the text: to make a tree of a document and to write
 * it again takes seventeen million host instructions, several times as many as all other bookkeeping
 * of a point. The functions below expect a text from statistics_read or statistics_kept.
 */
#ifndef LAB_STATISTICS_H
#define LAB_STATISTICS_H

#include "base/arena.h"
#include <jansson.h>

/* What is kept of a document: everything but `host`, which differs between two runs, and blanks.
 * malloc'd; NULL: the text is not one whole JSON object. */
char *statistics_kept(const char *text, size_t length);
/* The same of a file; NULL: there is none, either. */
char *statistics_read(const char *path);

/* The member of an object: where its value begins, or NULL. Keys with escapes are not found. */
const char *text_member(const char *object, const char *key);
/* The end of a value. */
const char *text_value_end(const char *value);
/* A value that is a string, in `arena`; NULL: it is none. */
const char *text_string(struct arena *arena, const char *value);

/* The launches of a document: how many, and the first that did not end as `done`. */
struct launch_summary {
    u32 count;
    const char *kernel, *outcome; /* of that launch; NULL: there is none, or it does not say */
    bool failed;
};
struct launch_summary statistics_launches(struct arena *arena, const char *text);

/* A number of a document by its path (timing.cycles, energy.dynamic_pj, config.core.count): in the
 * totals or from the top. Keys may themselves contain points. */
bool statistic_value(const json_t *statistics, const char *path, f64 *value);
/* Many of them from a text; NAN: there is no such number. `text` NULL: there are none. */
void statistics_values(const char *text, const char *const *paths, u32 count, f64 *values);

#endif
