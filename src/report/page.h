/* Internals of a page: its runs, its figures (a table each, perhaps drawn by the script), and the
 * sections in order. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "compare/runs.h"
#include "report/report.h"

struct page {
    FILE *to;
    struct arena *arena;
    const struct report_run *runs;
    u32 count;
};

/*
 * How the script draws a figure. Each has a label in the first column of its table.
 *
 *  stack     a bar for each row, divided into the columns
 *  bars      for each row, a bar for each column, on a common scale
 *  share     bars whose scale ends at 100 %
 *  area      rows are points in time (the first number is the end of the row's interval): columns
 *            stacked over time
 *  roofline  rows are points: operations a byte, operations a second; rows with class `roof` are
 *            ceilings: bytes a second (or 0), operations a second
 *  memory    rows are levels of the memory system, columns requests, share of hits and bytes
 *  heat      rows are cores, columns points in time: shades
 *  spans     rows are spans of time (the first two numbers: from, to) on the lane that is their label;
 *            a click shows the chain of causes of the row, if the figure has chains
 *  table     not drawn: a table to filter, sort and copy
 */
void figure_open(struct page *page, const char *kind, const char *id, const char *title,
                 const char *note);
/* The head of the table: the label's name, then a name for each column. */
void figure_head(struct page *page, const char *label);
void figure_column(struct page *page, const char *name);
/* A column for each run, named by the run's label: `what` if there is only one run. */
void figure_run_columns(struct page *page, const char *what);
/* Starts a row; `class` is "" for an ordinary one. */
void figure_row(struct page *page, const char *class, const char *label);
void figure_number(struct page *page, enum quantity quantity, f64 number);
void figure_text(struct page *page, const char *text);
void figure_none(struct page *page); /* an empty cell */
void figure_close(struct page *page);

/* "kernel", or "kernel, run" where there are several runs. */
const char *page_label(const struct page *page, const char *name, u32 run);
/* A parameter of a run's machine as a number; 0: there is none. */
f64 page_param(const struct page *page, u32 run, const char *component, const char *name);
/* A counter of a run's totals; 0: there is none. */
f64 page_total(const struct page *page, u32 run, const char *name);
/* Whether some run has a timed launch. */
bool page_timed(const struct page *page);
/* Names of kernels of any run, those with most cycles first. */
u32 page_kernels(const struct page *page, const char **names, u32 most);

/* ---- sections ---- */
void page_summary(struct page *page);
void page_findings(struct page *page);
void page_limits(struct page *page);
void page_roofline(struct page *page);
void page_slots(struct page *page);
void page_series(struct page *page);
void page_window(struct page *page);
void page_memory(struct page *page);
void page_occupancy(struct page *page);
void page_energy(struct page *page);
void page_listings(struct page *page);
void page_faults(struct page *page);
void page_statistics(struct page *page);
void page_setup(struct page *page);

#endif
