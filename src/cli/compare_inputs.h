/* What heddle compare compares: statistics files, and points of results files. */
#ifndef CLI_COMPARE_INPUTS_H
#define CLI_COMPARE_INPUTS_H

#include "cli/options.h"
#include "compare/sweep.h"

/* A word of the command line: FILE.json, RESULTS.db, FOLDER, each perhaps with #AXIS=VALUE,... */
struct compare_input {
    const char *word;      /* as it was given */
    const char *path;      /* of the file */
    const char *selection; /* what follows '#', or NULL */
    bool database;
    const char *label; /* in tables */
    struct compare_run *run;
    struct compare_sweep *sweep; /* of a results file */
};

struct compare_inputs {
    const struct command *command;
    struct arena *arena;
    u32 least; /* files expected: one or two */
    VEC(struct compare_input) list;
    bool sweeps; /* compare sweeps point by point, not runs */
};

/* Reads all words; false after an error message. */
bool compare_inputs_read(struct compare_inputs *inputs, const struct command_line *line);
void compare_inputs_close(struct compare_inputs *inputs);

#endif
