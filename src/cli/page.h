/* Pages of runs: the command's side of report/report.h. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "cli/files.h"

/* Writes the page of --report; prints an error and returns false on failure. */
bool write_page(struct run_command *run, const struct statistics_of *from);

#endif
