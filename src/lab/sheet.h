/*
 * Results of a sweep: a row for each point, with the values of its axes and columns. Exports and
 * pages are written from this alone.
 *
 *  H1  Rows are in the order of the plan, and depend on results only: not on when, where and in
 *      how many attempts they were computed.
 *  H2  Points that differ only in an axis that repeats (seeds, chips) are samples of one mean.
 */
#ifndef LAB_SHEET_H
#define LAB_SHEET_H

#include "lab/plan.h"
#include "lab/store.h"
#include "lab/survey.h"
#include <stdio.h>

struct sheet_row {
    u32 point;           /* in the space */
    const char *status;  /* "done", a reason of outcome.h, or "waiting" */
    const char *message; /* of a failure, else "" */
    char key[SHA256_TEXT];
};

struct sheet_column {
    const char *name, *unit, *text; /* text: its formula */
    const struct formula *formula;
    const char *heading; /* name and unit, for people */
};

/* The mean of the samples of one point. */
struct sheet_mean {
    f64 value, interval; /* half of the 95 % confidence interval; 0 for a single sample */
    u32 samples;
};

struct sheet {
    struct arena *arena;
    struct plan *plan;
    const struct planned *planned;
    const struct experiment *experiment;
    const struct space *space;
    struct sheet_column *columns;
    u32 column_count;
    VEC(struct sheet_row) rows;
    f64 *values; /* [row * columns + column]; NaN: missing */
    u32 *at;     /* row of a point, by its number in the space; UINT32_MAX: none */
    u64 failed, waiting;
};

/* The first plan's results. `all`: every statistic is a column. NULL and an error on failure. */
struct sheet *sheet_make(struct plan *plan, const struct survey *survey, struct store *store,
                         bool all, struct error *error);
void sheet_destroy(struct sheet *sheet); /* NULL is fine */

f64 sheet_value(const struct sheet *sheet, u32 row, u32 column);
/* Whether a row is the first sample of its mean. */
bool sheet_leads(const struct sheet *sheet, u32 row);
/* The mean over the samples of a row that is the first of them. */
struct sheet_mean sheet_mean(const struct sheet *sheet, u32 row, u32 column);
/* Whether an axis repeats points. */
bool sheet_repeats(const struct sheet *sheet);

void sheet_csv(FILE *to, const struct sheet *sheet);
void sheet_json(FILE *to, const struct sheet *sheet);
void sheet_html(FILE *to, const struct sheet *sheet);
/* A table for a terminal, of at most `most` rows. */
void sheet_text(FILE *to, const struct sheet *sheet, u32 most);
/* An SQLite file with the tables `points` and `columns`. */
bool sheet_sqlite(const char *path, const struct sheet *sheet, struct error *error);

#endif
