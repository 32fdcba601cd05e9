/* Bar charts as SVG: published values beside Heddle's, for each program and the mean. */
#ifndef LAB_CHART_H
#define LAB_CHART_H

#include "lab/table.h"
#include <stdio.h>

/* A chart of the columns that have the unit of column `first`. `number` makes its identifiers
 * unique. */
void chart_svg(FILE *to, const struct table *table, u32 first, u32 number);
/* Widens a range to multiples of the distance between its ticks, which is returned: 1, 2 or 5 times
 * a power of ten, for about five ticks. */
f64 chart_ticks(f64 *low, f64 *high);
enum {
    CHART_COLOURS = 8 /* classes c0, c1, ... */
};
/* Styles that the charts need, for light and dark. */
void chart_styles(FILE *to);
/* Text with markup characters escaped. */
void xml_text(FILE *to, const char *text);

#endif
