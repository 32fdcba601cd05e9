/*
 * The options of `heddle sweep` as a plan: the tree that a plan file would give, so that both are
 * read by the same code, and the file is written into the campaign's folder for later commands.
 */
#ifndef CLI_SWEEP_PLAN_H
#define CLI_SWEEP_PLAN_H

#include "base/yaml.h"
#include "cli/options.h"

/* NULL after printing an error. */
const struct yaml *sweep_plan(const struct command *command, const struct command_line *line,
                              struct arena *arena);
/* Whether an option that is given belongs into a plan; its name, or NULL. */
const char *sweep_plan_option(const struct command_line *line);
/* Writes a tree as YAML; paths in it are relative to `folder`. */
void sweep_plan_write(FILE *to, const struct yaml *tree, const char *folder);

#endif
