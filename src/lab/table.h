/*
 * Results of an experiment: the values of its columns per program, means, and whether the published
 * orderings hold. Reports are written from this alone.
 */
#ifndef LAB_TABLE_H
#define LAB_TABLE_H

#include "lab/plan.h"
#include "lab/store.h"

/* A value that may not exist. */
struct cell {
    f64 value;
    bool given;
};

struct table_column {
    const struct column *column;
    struct cell *rows;   /* by row of the suite */
    struct cell *groups; /* means of the groups that the experiment shows */
    struct cell mean, max, min;
    u32 counted;   /* rows in the mean */
    bool no_mean;  /* a value was not positive where the mean is geometric */
    bool any_rows; /* values of single programs are published */
};

enum verdict {
    VERDICT_YES,
    VERDICT_NO,
    VERDICT_UNKNOWN /* a value is missing */
};

struct table_ordering {
    const struct ordering *ordering;
    enum verdict verdict;
    const char *detail; /* "12.0 >= 7.4", or which programs differ */
};

/* The run of a configuration and a program. */
struct table_run {
    enum stored_state state;
    const char *status, *message;               /* of a failure */
    const char *command, *workload, *arguments; /* NULL: there is none */
    json_t *statistics;                         /* while the table is made */
};

struct table_row {
    const struct suite_row *row;
    u32 index;           /* in the suite */
    const char *failure; /* "intra: wrong: ...": the first failed run, or "" */
    const char *remark;  /* of the suite and the experiment, or "" */
    const char *command; /* of the first configuration */
};

struct table {
    const struct plan *plan;
    const struct planned *planned;
    const struct experiment *experiment;
    struct table_row *rows;
    u32 row_count;
    struct table_column *columns;
    struct table_ordering *orderings;
    struct table_run *runs; /* [configuration * rows of the suite + row] */
    u32 failures;           /* runs of this experiment that failed */
};

/* Made from the results in the store, in the plan's arena. NULL and an error on failure. */
struct table *table_make(struct plan *plan, const struct planned *planned, struct store *store,
                         struct error *error);

/* "12.3", or "-" for a missing value */
const char *cell_text(struct arena *arena, struct cell cell, u32 digits);
const char *verdict_name(enum verdict verdict);

#endif
