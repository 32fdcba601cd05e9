/*
 * Pages of runs: what bounds a run, where its time and energy went, and the same for several runs
 * side by side.
 *
 * A page is one file that loads nothing: its charts are drawn by its own script (page.js) from the
 * tables that it contains.
 *
 *  P1  Every number of a chart is a cell of a table of the page (`data-v`, all digits), and the
 *      script takes it from there: a chart cannot show another number than its table. Without
 *      scripts, the tables are there to be read.
 *  P2  Numbers come from the statistics document, the time series of `--interval`, the trace of
 *      events and the summary of a campaign alone.
 *  P3  A section that the runs have no data for is left out.
 *  P4  The same inputs give the same bytes. The page is well-formed XML, too.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "causes/events.h"
#include "compare/compare.h"
#include "report/series.h"

enum {
    REPORT_RUNS = 8 /* on one page */
};

struct report_run {
    struct compare_run *run;
    const struct series *series;      /* NULL: none */
    const struct event_trace *events; /* NULL: none */
    const json_t *faults;             /* summary.json of a campaign (heddle inject); NULL: none */
    const char *sources;              /* folder of source files; NULL: at their recorded paths */
};

/* Writes the page of up to REPORT_RUNS runs; the first is the baseline of the others. */
void report_print(FILE *to, struct arena *arena, const struct report_run *runs, u32 count);

#endif
