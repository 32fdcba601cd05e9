/*
 * Comparison of runs: what differs between statistics documents, and what explains the time.
 *
 * A run is a document of `heddle run --stats`, from a file or from a results store. The first run is
 * the baseline. The comparison is a list of sections, each a table of rows with one value per run;
 * text, JSON and HTML are written from these tables.
 *
 *  C1  Nothing is guessed: a document of another schema is refused; a section that some run has no
 *      data for has a note that says which run and why.
 *  C2  Slots explain time exactly. A run's time is divided by its issue slots, so the times of
 *      `issued` and of all stall reasons add up to the run's time, and their differences to the
 *      difference of the runs.
 *  C3  Rows are sorted by their part in the difference, largest first; ties keep the order of the
 *      documents. The same inputs give the same bytes.
 *  C4  Whether runs differ is decided by results (launches, totals, profile), never by what was
 *      given (configuration, manifest) or by `host`.
 */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include "base/arena.h"
#include "base/error.h"
#include <jansson.h>
#include <regex.h>
#include <stdio.h>

/* How a number is written. */
enum quantity {
    QUANTITY_COUNT, /* rounded to a whole number */
    QUANTITY_CYCLES,
    QUANTITY_SECONDS,
    QUANTITY_PJ,
    QUANTITY_BYTES,
    QUANTITY_SHARE,  /* a fraction, written in percent; its change in percentage points */
    QUANTITY_NUMBER, /* four digits */
    QUANTITY_TEXT,
};

struct compare_value {
    bool given;
    f64 number;
    const char *text; /* QUANTITY_TEXT: the value; else an addition in parentheses, or NULL */
};

struct compare_row {
    const char *name;
    const char *detail; /* what explains the row; "" if nothing does */
    enum quantity quantity;
    struct compare_value *values; /* one per run */
    f64 weight;                   /* part in the difference: the order of rows */
    u32 number;                   /* position before sorting */
    bool differs;                 /* beyond the threshold */
};

struct compare_section {
    const char *name;    /* in JSON */
    const char *title;   /* heading, for people */
    const char *heading; /* of the first column */
    bool results;        /* rows are results: they decide whether runs differ */
    bool stacked;        /* rows are parts of a whole: HTML draws a stacked bar per run */
    bool whole;          /* all rows are shown, also those that do not differ */
    u32 shown;           /* rows at the front that text and HTML print */
    u32 more;            /* rows that differ and are left out by compare_options.top */
    VEC(struct compare_row) rows;
    VEC(const char *) notes;
};

enum sameness {
    SAME_BYTES,    /* the documents are the same bytes */
    SAME_DOCUMENT, /* all but `host` is identical */
    SAME_RESULTS,  /* results are identical; manifest or configuration differs */
    SAME_ENOUGH,   /* no result differs beyond the threshold */
    SAME_NOT,
};
const char *sameness_name(enum sameness sameness);

struct compare_options {
    u32 top;               /* rows of a section in text and HTML; 0: all */
    f64 ignore;            /* relative difference up to which numbers count as equal */
    const regex_t *kernel; /* only these kernels; NULL: all */
};

struct compare_run; /* runs.h */

/*
 * Reads a document. `label` names the run in tables, `place` in messages. The run belongs to the
 * arena except for its document: compare_run_free. NULL and an error: not a document that can be
 * compared.
 */
struct compare_run *compare_run_parse(struct arena *arena, const char *label, const char *place,
                                      const char *text, size_t length, struct error *error);
void compare_run_free(struct compare_run *run); /* NULL is fine */
/* Launches that the last comparison of the run has selected. */
u64 compare_run_launches(const struct compare_run *run);

struct run_comparison {
    struct arena *arena;
    struct compare_options options;
    struct compare_run *const *runs;
    u32 count;
    const char **verdicts;   /* one per run after the baseline: [1..count) */
    enum sameness *sameness; /* with the baseline: [1..count) */
    f64 *speedups;           /* over the baseline: [1..count); NaN: a run has no time */
    VEC(struct compare_section) sections;
    VEC(const char *) notes; /* about all sections */
};

/* Compares runs with the first of them. The runs must outlive the comparison, whose memory is in
 * the arena and in vectors: compare_free. */
struct run_comparison *compare_runs(struct arena *arena, struct compare_run *const *runs, u32 count,
                                    struct compare_options options);
void compare_free(struct run_comparison *comparison);
/* Whether a result of any run differs from the baseline beyond the threshold. */
bool compare_differ(const struct run_comparison *comparison);

void compare_print_text(FILE *to, const struct run_comparison *comparison);
/* All rows, also those that --top leaves out. */
json_t *compare_json(const struct run_comparison *comparison);
void compare_print_html(FILE *to, const struct run_comparison *comparison);

#endif
