/*
 * Options as tables.
 *
 * A command is one `struct command` with its options. From the table come parsing, --help, the
 * shell completions, the man page and docs/cli.md: no option is written anywhere else.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"
#include <stdio.h>

/* Exit codes, in one place; help.c documents them. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_GUEST = 1, /* the guest's own failure: what its host program returns */
    EXIT_USAGE = 2,
    EXIT_FAULT = 3,
    EXIT_BUG = 4,
    EXIT_OWN = 125, /* with a program, whose own code is passed on: anything of ours */
    EXIT_INTERRUPTED = 130,
};

enum option_flags {
    OPTION_REPEAT = 1,     /* may be given many times */
    OPTION_PER_LAUNCH = 2, /* once for every launch */
    OPTION_FILE = 4,       /* only for kernel files, */
    OPTION_PROGRAM = 8,    /* only for programs */
};

/* What a shell should offer for the value. */
enum complete {
    COMPLETE_NONE,
    COMPLETE_FILE,
    COMPLETE_SPEC, /* a file behind a colon: in:FILE */
    COMPLETE_MACHINE,
    COMPLETE_MECHANISM,
    COMPLETE_KEY,
    COMPLETE_COMMAND,
    COMPLETE_EXPERIMENT,
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
    int argc; /* the process's own words, for the manifest */
    char **argv;
    char **program; /* behind "--", of commands that run programs; NULL: there was none */
};

struct command {
    const char *name;
    const char *words;            /* what follows the name in the usage line besides options */
    const char *summary;          /* one line */
    const char *help;             /* paragraphs, separated by empty lines */
    const struct option *options; /* ends with a NULL name */
    const struct example *examples;
    bool hidden;
    bool runs_programs; /* "--" ends its own words */
    u32 max_words;
    enum complete complete; /* of plain words */
    int (*run)(const struct command *command, const struct command_line *line);
};

extern const struct command *const commands[]; /* NULL-terminated */

/* Parses; on failure prints what is wrong and returns false. The list lives in `arena`. */
bool options_parse(struct arena *arena, const struct command *command, int argc, char **argv,
                   struct command_line *line);

/* The value of the last time the option was given, or NULL; "" for a switch. */
const char *option_value(const struct command_line *line, const char *name);
/* The n-th plain word, or NULL. */
const char *option_word(const struct command_line *line, u32 n);

/* Prints "heddle run: ..." and where help is; returns EXIT_USAGE. */
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

extern const struct command area_command, energy_command, run_command, disasm_command,
    params_command, stats_command, machines_command, mechanisms_command, workloads_command,
    reproduce_command, help_command, completion_command;

/* The experiments that are built in, one a line. */
void print_experiment_names(void);

#endif
