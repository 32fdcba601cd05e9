/* Shared by subcommands: configurations from options, errors, JSON input and output. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include "cli/code.h"
#include "cli/options.h"
#include "heddle/heddle.h"
#include <jansson.h>

/* The option rows of open_config, for commands that take a machine. */
#define MECHANISM_OPTION                                                                         \
    {                                                                                            \
        "--mech", "NAME|FILE.so[:PARAMETER=VALUE,...]",                                          \
            "Switch a mechanism on and set its parameters, as --set NAME.PARAMETER=VALUE also "  \
            "does. The mechanism is one that 'heddle mechanisms' lists, or is loaded from a "    \
            "shared object (docs/write-a-mechanism.md), whose name has a slash or ends in .so. " \
            "May be repeated.",                                                                  \
            OPTION_REPEAT, COMPLETE_MECHANISM                                                    \
    }
#define MACHINE_OPTIONS                                                                           \
    {"--machine", "NAME|FILE",                                                                    \
     "The machine to model: a name that 'heddle machines' lists, or a YAML file. The default is " \
     "generic, or generic64 for code with warps of 64 lanes.",                                    \
     0, COMPLETE_MACHINE},                                                                        \
        MECHANISM_OPTION,                                                                         \
    {                                                                                             \
        "--set", "KEY=VALUE",                                                                     \
            "Change one parameter of the machine; 'heddle params' lists them. May be repeated; "  \
            "the last one wins.",                                                                 \
            OPTION_REPEAT, COMPLETE_KEY                                                           \
    }

/* Whether --trace writes events to a file of this name, rather than a trace for Perfetto. */
bool is_event_file(const char *path);
/* The machine with --mech and --set; NULL after printing an error. */
struct hd_config *open_config(const struct command *command, const struct command_line *line,
                              const char *machine);
/* open_config() plus a check that the values fit together. */
struct hd_config *open_checked_config(const struct command *command,
                                      const struct command_line *line, const char *machine);

/* Prints a note for each --set that has no effect on the simulation, once. */
void note_idle_settings(const struct command *command, const struct command_line *line,
                        const struct hd_config *config);

/* Prints an error of the library. */
int report(const struct command *command, const struct hd_error *error);

/* Prints a note of hd_set_note while the launch runs, with advice. */
void complain_endless(const struct command *command, const char *kernel, const char *text);

/* Parses JSON from the library and frees the text. */
json_t *parse_own_json(char *text);
/* A field as text; numbers, booleans and lists are formatted as JSON. */
const char *field_text(struct arena *arena, const json_t *row, const char *name);
/* Prints JSON, indented, with a newline at the end. */
void print_json(FILE *to, const json_t *json);
/* --stats of a command that runs no program: its findings as {NAME: ...}, where formulas of experiments
 * find them. Returns the exit code; takes `findings`. */
int write_report(const struct command *command, const struct command_line *line, const char *name,
                 json_t *findings);
/* Prints the library's answer, as JSON with --json, else with `print`; frees the text. */
int show_json(const struct command_line *line, char *text, void (*print)(const json_t *json));

/* Loads a program into a device; `path` is used in messages. NULL after printing an error. */
struct hd_module *load_code(const struct command *command, struct hd_device *device,
                            const char *path, const struct code_file *code);

#endif
