/* heddle inject: what its parts share. */
#ifndef CLI_INJECT_H
#define CLI_INJECT_H

#include "cli/run.h"
#include "heddle/inject.h"

struct inject_command {
    struct run_command run;
    struct command_line line; /* without inject's own options */
    struct hd_inject_plan plan;
    struct hd_inject *inject;
    const char *out;       /* folder; NULL: no files */
    const char *stats;     /* --stats: the file, or NULL */
    struct child *program; /* NULL: kernels of files */
    const char *trace;     /* --trace: the file, or NULL; */
    FILE *tracing;         /* and while it is written */
    char *printed;         /* by the guest, in this run */
    size_t printed_bytes, printed_room;
    bool draws, drawn; /* progress: wanted; a line of it is on the terminal */
    int stopped;       /* by this signal; 0: by none */
};

/* Writes the file of --stats. */
bool inject_write_stats(struct inject_command *inject, const json_t *summary);
/* Writes faults.csv, summary.json and report.html. `summary`: from hd_inject_json. */
bool inject_write(struct inject_command *inject, const json_t *summary);
/* Prints counts and intervals on standard error. */
void inject_print(const struct inject_command *inject, const json_t *summary);

#endif
