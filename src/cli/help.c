/*
 * Text generated from the command tables: help, man page, Markdown.
 */
#include "cli/options.h"
#include "heddle/heddle.h"
#include <ctype.h>

enum {
    WIDTH = 80,
    OPTION_INDENT = 6
};

static const char about[] =
    "Heddle is a laboratory for GPU microarchitecture: it runs real GPU programs on a modelled GPU "
    "and reports what happens in it. It needs no GPU and no vendor toolkit.";

static const struct {
    int code;
    const char *help;
} exit_codes[] = {
    {EXIT_DONE, "Done."},
    {EXIT_GUEST,
     "The guest program ended by itself and reported a failure; or, for 'heddle compare "
     "--exit-code', results differ."},
    {EXIT_USAGE,
     "Invalid option or input, and nothing was run; or an output could not be written."},
    {EXIT_FAULT, "The guest faulted, hung or reached a limit. Outputs and statistics hold "
                 "everything up to that point. Also returned for a program that itself ended with "
                 "0, unless --keep-exit-code is given."},
    {EXIT_BUG, "A bug in heddle itself."},
    {EXIT_OWN,
     "With a program, whose own exit code is passed on: heddle itself failed, which includes "
     "invalid options. 126 and 127: the program could not be started, or was not found."},
    {EXIT_INTERRUPTED, "Interrupted with Ctrl-C. Outputs and statistics are complete up to that "
                       "point."},
};

static const struct {
    const char *name, *help;
} variables[] = {
    {"HEDDLE_MACHINE_PATH", "Directories, separated by colons, that are searched for machine files "
                            "(NAME.yaml) before the built-in ones."},
    {"HEDDLE_MACHINE, HEDDLE_SET, HEDDLE_MECH, HEDDLE_FUNCTIONAL",
     "For OpenCL programs that are run without 'heddle run': the machine, or several separated by "
     "commas; settings and mechanisms, each separated by semicolons; 1 for functional mode."},
    {"HEDDLE_KERNELS, HEDDLE_LAUNCHES, HEDDLE_FUNCTIONAL_UNTIL",
     "The same as --kernels, --launches and --functional-until."},
    {"HEDDLE_CHIP",
     "For OpenCL programs that are run without 'heddle run': a file of the maps of a chip, that "
     "'heddle chip --maps' wrote."},
    {"HEDDLE_THREADS",
     "The same as --threads, also for the runs of 'heddle reproduce' and 'heddle sweep'; with "
     "'auto', those that run at a time share the cores of the host."},
    {"HEDDLE_WINDOW_TIMES",
     "A file for OpenCL programs: a line for each window of each launch, with "
     "the nanoseconds of processor time between windows, of the memory "
     "system, and of each core, 0 if it did not run. One thread is used."},
    {"HEDDLE_CACHE_DIR, HEDDLE_CACHE_MB",
     "Where compiled OpenCL kernels are cached ($XDG_CACHE_HOME/heddle, ~/.cache/heddle), and the "
     "size limit of this cache in MB (512)."},
    {"HEDDLE_CLANG", "The clang that compiles OpenCL kernels; by default clang-16, or another from "
                     "clang-15 on, or clang-14."},
    {"HEDDLE_ROCM", "The folder of AMD's device libraries, if it is not Debian's."},
};

/* ---- plain text ---- */

void print_wrapped(FILE *to, const char *text, u32 indent)
{
    u32 column = 0;
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (column && column + 1 + word > WIDTH) {
            fputc('\n', to);
            column = 0;
        }
        if (word) {
            if (column)
                fputc(' ', to);
            else
                fprintf(to, "%*s", (int)indent, "");
            column = column ? column + 1 : indent;
            fwrite(text, 1, word, to);
            column += (u32)word;
        }
        text += word;
        if (*text == '\n') { /* an empty line between paragraphs */
            fputc('\n', to);
            column = 0;
        }
        text += *text != 0;
    }
    if (column)
        fputc('\n', to);
}

/* Prints a command line, broken before an option if it is too long. */
static void print_command(FILE *to, const char *text, u32 indent)
{
    const char *const start = text;
    while (*text) {
        const char *end = text + strlen(text);
        u32 column = indent + (text == start ? 0 : 4);
        if (column + (u32)(end - text) > WIDTH) {
            const char *limit = text + (WIDTH - 2 - column);
            for (const char *at = strstr(text + 1, " --"); at && at <= limit;
                 at = strstr(at + 1, " --"))
                end = at;
        }
        bool last = !*end;
        fprintf(to, "%*s%.*s%s\n", (int)column, "", (int)(end - text), text, last ? "" : " \\");
        text = last ? end : end + 1;
    }
}

void print_help(FILE *to, const struct command *command)
{
    char usage[256];
    snprintf(usage, sizeof usage, "Usage: heddle %s%s%s", command->name,
             command->words[0] ? " " : "", command->words);
    print_wrapped(to, usage, 0);
    fputc('\n', to);
    print_wrapped(to, command->help, 0);
    fputs("\nOptions:\n", to);
    for (const struct option *option = command->options; option->name; option++) {
        fprintf(to, "  %s%s%s\n", option->name, option->value ? " " : "",
                option->value ? option->value : "");
        print_wrapped(to, option->help, OPTION_INDENT);
    }
    fputs("  --help\n      Print this text.\n", to);
    if (!command->examples)
        return;
    fputs("\nExamples:\n", to);
    for (const struct example *example = command->examples; example->command; example++) {
        print_wrapped(to, example->help, 2);
        print_command(to, example->command, OPTION_INDENT);
    }
}

void print_overview(FILE *to)
{
    fputs("Usage: heddle COMMAND [options]\n\n", to);
    print_wrapped(to, about, 0);
    fputs("\nCommands:\n", to);
    for (u32 i = 0; commands[i]; i++)
        if (!commands[i]->hidden)
            fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nExit codes:\n", to);
    for (u32 i = 0; i < ARRAY_LEN(exit_codes); i++) {
        fprintf(to, "  %-3d", exit_codes[i].code);
        char text[256];
        snprintf(text, sizeof text, "%s", exit_codes[i].help);
        /* wrapped: the first line continues after the number */
        char *line = text;
        while (strlen(line) > WIDTH - 6) {
            char *space = line + WIDTH - 6;
            while (*space != ' ')
                space--;
            *space = 0;
            fprintf(to, " %s\n     ", line);
            line = space + 1;
        }
        fprintf(to, " %s\n", line);
    }
    fputs("\nExample:\n", to);
    print_command(to, run_command.examples[0].command, OPTION_INDENT);
    fputs("\n'heddle COMMAND --help' explains a command; 'heddle --version' prints the version.\n",
          to);
}

/* ---- man page ---- */

static void roff_text(FILE *to, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            fputs("\\&", to);
        line_start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", to);
        else if (*text == '-')
            fputs("\\-", to);
        else if (*text == '\n' && text[1] == '\n')
            fputs("\n.PP", to);
        else
            fputc(*text, to);
    }
}

static void roff(FILE *to, const char *text)
{
    roff_text(to, text);
    fputc('\n', to);
}

static void man_command(FILE *to, const struct command *command)
{
    fprintf(to, ".SH \"heddle %s\"\n.B heddle %s\n", command->name, command->name);
    roff(to, command->words[0] ? command->words : " ");
    fputs(".PP\n", to);
    roff(to, command->help);
    for (const struct option *option = command->options; option->name; option++) {
        fputs(".TP\n\\fB", to);
        roff_text(to, option->name);
        fputs("\\fR", to);
        if (option->value) {
            fputs(" \\fI", to);
            roff_text(to, option->value);
            fputs("\\fR", to);
        }
        fputc('\n', to);
        roff(to, option->help);
    }
    for (const struct example *example = command->examples; example && example->command;
         example++) {
        fputs(".PP\n", to);
        roff(to, example->help);
        fputs(".PP\n.nf\n.RS\n", to);
        roff(to, example->command);
        fputs(".RE\n.fi\n", to);
    }
}

void print_man(FILE *to)
{
    fprintf(to, ".TH HEDDLE 1 \"\" \"heddle %s\" \"User commands\"\n", hd_version());
    fputs(".SH NAME\nheddle \\- run GPU programs on a modelled GPU\n", to);
    fputs(".SH SYNOPSIS\n.B heddle\n.I command\n[options]\n.SH DESCRIPTION\n", to);
    roff(to, about);
    for (u32 i = 0; commands[i]; i++)
        if (!commands[i]->hidden)
            man_command(to, commands[i]);
    fputs(".SH \"EXIT STATUS\"\n", to);
    for (u32 i = 0; i < ARRAY_LEN(exit_codes); i++) {
        fprintf(to, ".TP\n.B %d\n", exit_codes[i].code);
        roff(to, exit_codes[i].help);
    }
    fputs(".SH ENVIRONMENT\n", to);
    for (u32 i = 0; i < ARRAY_LEN(variables); i++) {
        fprintf(to, ".TP\n.B %s\n", variables[i].name);
        roff(to, variables[i].help);
    }
}

/* ---- Markdown ---- */

void print_cli_markdown(FILE *to)
{
    fprintf(to,
            "# The heddle command\n"
            "\n"
            "Generated from the command's own tables by `make docs`; do not edit.\n"
            "\n"
            "%s\n",
            about);
    for (u32 i = 0; commands[i]; i++) {
        const struct command *command = commands[i];
        if (command->hidden)
            continue;
        fprintf(to, "\n## heddle %s\n\n    heddle %s %s\n\n%s\n", command->name, command->name,
                command->words, command->help);
        for (const struct option *option = command->options; option->name; option++)
            fprintf(to, "%s- `%s%s%s`: %s\n", option == command->options ? "\n" : "", option->name,
                    option->value ? " " : "", option->value ? option->value : "", option->help);
        for (const struct example *example = command->examples; example && example->command;
             example++)
            fprintf(to, "\n%s\n\n    %s\n", example->help, example->command);
    }
    fputs("\n## Exit codes\n\n| code | meaning |\n|---|---|\n", to);
    for (u32 i = 0; i < ARRAY_LEN(exit_codes); i++)
        fprintf(to, "| %d | %s |\n", exit_codes[i].code, exit_codes[i].help);
    fputs("\n## Environment\n\n", to);
    for (u32 i = 0; i < ARRAY_LEN(variables); i++)
        fprintf(to, "- `%s`: %s\n", variables[i].name, variables[i].help);
}
