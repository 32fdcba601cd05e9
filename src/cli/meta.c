/* heddle help, and the hidden heddle completion: text about the command itself. */
#include "cli/common.h"
#include <stdlib.h>

static const struct option help_options[] = {
    {"--man", NULL, "Print the manual page in roff.", 0, 0},
    {"--markdown", NULL, "Print the reference of all commands in Markdown.", 0, 0},
    {0},
};

static int run_help(const struct command *command, const struct command_line *line)
{
    const char *name = option_word(line, 0);
    if (option_value(line, "--man")) {
        print_man(stdout);
    } else if (option_value(line, "--markdown")) {
        print_cli_markdown(stdout);
    } else if (!name) {
        print_overview(stdout);
    } else {
        for (u32 i = 0; commands[i]; i++)
            if (!strcmp(commands[i]->name, name)) {
                print_help(stdout, commands[i]);
                return EXIT_DONE;
            }
        return usage_error(command, "there is no command '%s'", name);
    }
    return EXIT_DONE;
}

const struct command help_command = {
    .name = "help",
    .words = "[COMMAND]",
    .summary = "explain a command",
    .help = "Prints the commands, or explains one of them. 'heddle COMMAND --help' does the same.",
    .options = help_options,
    .max_words = 1,
    .complete = COMPLETE_COMMAND,
    .run = run_help,
};

static void print_names(char *text, const char *name)
{
    json_t *rows = parse_own_json(text);
    for (size_t i = 0; i < json_array_size(rows); i++)
        printf("%s\n", json_string_value(json_object_get(json_array_get(rows, i), name)));
    json_decref(rows);
}

static void print_command_names(void)
{
    for (u32 i = 0; commands[i]; i++)
        if (!commands[i]->hidden)
            printf("%s\n", commands[i]->name);
}

static int run_completion(const struct command *command, const struct command_line *line)
{
    const char *what = option_word(line, 0);
    if (what && !strcmp(what, "machines"))
        print_names(hd_machines_json(), "name");
    else if (what && !strcmp(what, "mechanisms"))
        print_names(hd_mechanisms_json(), "name");
    else if (what && !strcmp(what, "keys"))
        print_names(hd_params_json(), "key");
    else if (what && !strcmp(what, "commands"))
        print_command_names();
    else if (what && !strcmp(what, "experiments"))
        print_experiment_names();
    else if (what && !strcmp(what, "workloads"))
        print_workload_names();
    else if (!what || !print_completion(stdout, what))
        return usage_error(command,
                           "expected bash, zsh, fish, machines, mechanisms, keys, commands, "
                           "experiments or workloads");
    return EXIT_DONE;
}

static const struct option no_options[] = {{0}};

const struct command completion_command = {
    .name = "completion",
    .words = "bash|zsh|fish|machines|mechanisms|keys|commands|experiments|workloads",
    .summary = "print a shell completion",
    .help = "Prints a completion script for a shell, or the words that such a script offers.",
    .options = no_options,
    .hidden = true,
    .max_words = 1,
    .run = run_completion,
};
