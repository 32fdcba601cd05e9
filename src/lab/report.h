/*
 * A table of results as text for a terminal, CSV, JSON and a page of HTML with charts.
 *
 *  O1  The same results give the same bytes: no date, no host time, and no path except that of an
 *      experiment file, as it was given.
 *  O2  The page is self-contained: no scripts, no network; it is well-formed XML, too.
 */
#ifndef LAB_REPORT_H
#define LAB_REPORT_H

#include "lab/table.h"
#include <stdio.h>

void report_text(FILE *to, const struct table *table);
/* Tables for a document. */
void report_markdown(FILE *to, const struct table *table);
void report_csv(FILE *to, const struct table *table);
void report_json(FILE *to, const struct table *table);
void report_html(FILE *to, const struct table *table);

/* A field of CSV, in quotes if necessary. */
void csv_text(FILE *to, const char *text);
/* "9 of 13 workloads", or "" if the mean includes all */
const char *report_counted(struct arena *arena, const struct table *table,
                           const struct table_column *column);
/* "gtx285", or all machines of the configurations, separated by commas */
const char *report_machines(struct arena *arena, const struct experiment *experiment);
/* "gtx285, uniform (mode=intra), core.count=4" */
const char *report_configuration(struct arena *arena, const struct experiment *experiment,
                                 u32 index);

#endif
