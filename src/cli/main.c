/*
 * The heddle command: runs a subcommand and turns its result into an exit code. A crash of Heddle
 * itself is reported and exits with 4, so that scripts can tell it from a guest fault.
 */
#include "base/arena.h"
#include "base/text.h"
#include "cli/options.h"
#include "heddle/heddle.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* clang-format off */
const struct command *const commands[] = {
    &run_command, &inject_command, &disasm_command, &params_command, &stats_command, &machines_command,
    &area_command, &energy_command, &chip_command, &mechanisms_command, &workloads_command,
    &nvcc_command, &hipcc_command, &compare_command, &report_command, &why_command, &reproduce_command, &sweep_command, &serve_command, &help_command, &completion_command, NULL};
/* clang-format on */

/* A signal handler: only async-signal-safe functions. */
static void crashed(int number)
{
    static const char text[] =
        "heddle: internal error: this is a bug in heddle, not in the guest program.\n"
        "Please report it with the command line, the input files and 'heddle --version', unless "
        "it\n"
        "does not occur without a mechanism that --mech loads from a file of your own.\n";
    static const char memory[] =
        "heddle: out of memory on the host: the machine or the launch is too large.\n"
        "'heddle machines NAME' shows the machine's sizes; --set changes them for one run.\n";
    const bool no_memory = number == SIGABRT && host_memory_was_exhausted();
    ssize_t written = no_memory ? write(STDERR_FILENO, memory, sizeof memory - 1)
                                : write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(no_memory ? EXIT_USAGE : EXIT_BUG);
}

static void catch_crashes(void)
{
    /* a separate stack: the crash may be a stack overflow */
    static char stack[64 * 1024];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (u32 i = 0; i < ARRAY_LEN(signals); i++)
        sigaction(signals[i], &action, NULL);
}

static int unknown_command(const char *word)
{
    const char *names[32];
    u32 count = 0;
    for (u32 i = 0; commands[i]; i++)
        if (!commands[i]->hidden)
            names[count++] = commands[i]->name;
    struct arena *arena = arena_create();
    const char *nearest = nearest_word(word, names, count);
    const char *shown = text_printable(arena, word);
    if (nearest)
        usage_error(NULL, "unknown command '%s': did you mean '%s'?", shown, nearest);
    else
        usage_error(NULL, "unknown command '%s'", shown);
    arena_destroy(arena);
    return EXIT_USAGE;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    return false;
}

/* Output that cannot be written is a failure even if everything else succeeded. */
static int flushed(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "heddle: cannot write to standard output\n");
    return code ? code : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    catch_crashes();
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
        print_overview(stdout);
        return flushed(EXIT_DONE);
    }
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
        printf("heddle %s\n", hd_version());
        return flushed(EXIT_DONE);
    }
    for (u32 i = 0; commands[i]; i++) {
        const struct command *command = commands[i];
        if (strcmp(command->name, word) != 0)
            continue;
        if (wants_help(argc - 2, argv + 2)) {
            print_help(stdout, command);
            return flushed(EXIT_DONE);
        }
        struct arena *arena = arena_create();
        struct command_line line = {.argc = argc, .argv = argv};
        int code = EXIT_USAGE;
        if (command->own_words) {
            line.program = argv + 2;
            code = command->run(command, &line);
        } else if (options_parse(arena, command, argc - 2, argv + 2, &line)) {
            code = command->run(command, &line);
        } else if (line.program) {
            code = EXIT_OWN;
        }
        arena_destroy(arena);
        return flushed(code);
    }
    return unknown_command(word);
}
