/*
 * The options of `heddle sweep` as a plan: the tree that a plan file would give, so that both are
 * read by the same code, and the file is written into the campaign's folder for later commands.
 */
#ifndef CLI_SWEEP_PLAN_H
#define CLI_SWEEP_PLAN_H

#include "base/yaml.h"
#include "cli/options.h"

/* Where an option of `heddle sweep` may be given. */
enum sweep_option_flags {
    SWEEP_PLAN = OPTION_OWN,        /* part of a plan that options describe */
    SWEEP_NEW = 2 * OPTION_OWN,     /* about a new campaign */
    SWEEP_RUN = 4 * OPTION_OWN,     /* about running points: of a new campaign, resume and retry */
    SWEEP_RETRY = 8 * OPTION_OWN,   /* of retry */
    SWEEP_EXPORT = 16 * OPTION_OWN, /* of export */
};

/* NULL after printing an error. */
const struct yaml *sweep_plan(const struct command *command, const struct command_line *line,
                              struct arena *arena);
/* Whether an option that is given belongs into a plan; its name, or NULL. */
const char *sweep_plan_option(const struct command_line *line);
/* Writes a tree as YAML; paths in it are relative to `folder`. */
void sweep_plan_write(FILE *to, const struct yaml *tree, const char *folder);

#endif
