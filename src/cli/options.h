/*
 * Options as tables.
 *
 * A command is one `struct command` with its options. Parsing, --help, shell completions, the man
 * page and docs/cli.md are generated from the table: no option is described anywhere else.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"
#include <stdio.h>

/* Exit codes, in one place; help.c documents them. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_GUEST = 1,  /* failure of the guest: the return value of its host program */
    EXIT_DIFFER = 1, /* of compare --exit-code */
    EXIT_USAGE = 2,
    EXIT_FAULT = 3,
    EXIT_BUG = 4,
    EXIT_OWN = 125, /* with a program, whose own code is passed on: any failure of heddle */
    EXIT_INTERRUPTED = 130,
};

enum option_flags {
    OPTION_REPEAT = 1,     /* may be repeated */
    OPTION_PER_LAUNCH = 2, /* once for every launch */
    OPTION_FILE = 4,       /* only for kernel files */
    OPTION_PROGRAM = 8,    /* only for programs */
    OPTION_LIST = 16,      /* its value is a list: completion offers names after each comma */
    OPTION_OWN = 256,      /* this and higher bits: a command's own */
};

/* What shell completion offers for the value. */
enum complete {
    COMPLETE_NONE,
    COMPLETE_FILE,
    COMPLETE_SPEC, /* a file after a colon: in:FILE */
    COMPLETE_MACHINE,
    COMPLETE_MECHANISM,
    COMPLETE_KEY,
    COMPLETE_COMMAND,
    COMPLETE_EXPERIMENT,
    COMPLETE_WORKLOAD,
    COMPLETE_CAMPAIGN, /* what 'heddle sweep' does with a folder, or a plan file */
    COMPLETE_CHOICE,   /* one of the words of its value: "csv|json" */
};

struct option {
    const char *name;  /* "--grid" */
    const char *value; /* "X[,Y[,Z]]", or NULL for a switch */
    const char *help;  /* sentences */
    u32 flags;
    enum complete complete;
};

struct example {
    const char *command, *help;
};

/* One option or word of a command line, in the order given; option NULL is a plain word. */
struct given {
    const struct option *option;
    const char *value;
};

struct command_line {
    struct given *given;
    u32 count;
    int argc; /* of the process, for the manifest */
    char **argv;
    char **program; /* words after "--", for commands that run programs; NULL: none */
};

struct command {
    const char *name;
    const char *words;            /* what follows the name in the usage line, besides options */
    const char *summary;          /* one line */
    const char *help;             /* paragraphs, separated by empty lines */
    const struct option *options; /* ends with a NULL name */
    const struct example *examples;
    bool hidden;
    bool runs_programs; /* "--" ends the command's own words */
    bool own_words;     /* it reads its words itself, in `program`; the table is only shown */
    u32 max_words;
    enum complete complete; /* of plain words */
    int (*run)(const struct command *command, const struct command_line *line);
};

extern const struct command *const commands[]; /* NULL-terminated */

/* Parses a command line; prints an error and returns false on failure. The list is in `arena`. */
bool options_parse(struct arena *arena, const struct command *command, int argc, char **argv,
                   struct command_line *line);

/* The option's last value, or NULL; "" for a switch. */
const char *option_value(const struct command_line *line, const char *name);
/* The n-th plain word, or NULL. */
const char *option_word(const struct command_line *line, u32 n);

/* Prints "heddle run: ..." and a hint to the help; returns EXIT_USAGE. */
int usage_error(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints "heddle run: ..." only. */
void complain(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes text wrapped at 80 columns, every line after `indent` spaces. */
void print_wrapped(FILE *to, const char *text, u32 indent);
void print_help(FILE *to, const struct command *command);
void print_overview(FILE *to);
/* The whole reference: roff for man1, Markdown for docs/cli.md. */
void print_man(FILE *to);
void print_cli_markdown(FILE *to);
bool print_completion(FILE *to, const char *shell);

extern const struct command area_command, chip_command, compare_command, energy_command,
    inject_command, run_command, disasm_command, params_command, stats_command, machines_command,
    mechanisms_command, nvcc_command, hipcc_command, workloads_command, report_command, why_command,
    reproduce_command, sweep_command, serve_command, help_command, completion_command;

/* Print the built-in experiments and workloads, one per line. */
void print_experiment_names(void);
void print_workload_names(void);

#endif
