/* Rows of the parameter and statistics tables as text. */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "cli/common.h"

/* "32 lanes (32 to 64)" */
const char *param_values(struct arena *arena, const json_t *row);
/* "results", "%, a.hits / a.reads" */
const char *stat_values(struct arena *arena, const json_t *row);
/* The text of a cell of a Markdown table. */
void print_cell(const char *text);

#endif
