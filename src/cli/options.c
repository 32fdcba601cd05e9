/*
 * Parsing of command lines: `--name value`, `--name=value`, plain words, `--` before words that
 * begin with a dash. Nothing is guessed: an unknown option is an error with a suggestion.
 */
#include "cli/options.h"

#include "base/text.h"
#include <stdarg.h>
#include <stdlib.h>

void complain(const struct command *command, const char *format, ...)
{
    struct arena *arena = arena_create();
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        host_memory_exhausted();
    va_end(arguments);
    fprintf(stderr, "heddle%s%s: %s\n", command ? " " : "", command ? command->name : "",
            text_printable_lines(arena, text));
    free(text);
    arena_destroy(arena);
}

int usage_error(const struct command *command, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    complain(command, "%s", text);
    fprintf(stderr, "See 'heddle %s%shelp'.\n", command ? command->name : "", command ? " --" : "");
    return EXIT_USAGE;
}

static const struct option *find_option(const struct command *command, const char *name,
                                        size_t length)
{
    for (const struct option *option = command->options; option->name; option++)
        if (strlen(option->name) == length && !memcmp(option->name, name, length))
            return option;
    return NULL;
}

static bool unknown_option(struct arena *arena, const struct command *command,
                           const struct command_line *line, const char *word)
{
    const char *names[64];
    u32 count = 0;
    for (const struct option *option = command->options; option->name; option++)
        if (count < ARRAY_LEN(names))
            names[count++] = option->name;
    const char *bare = arena_strndup(arena, word, strcspn(word, "="));
    const char *nearest = nearest_word(bare, names, count), *hint = "";
    const char *workload = command->runs_programs ? option_value(line, "--workload") : NULL;
    if (nearest)
        hint = arena_printf(arena, ": did you mean '%s'?", nearest);
    else if (workload)
        hint = arena_printf(arena,
                            ": options of the workload come after '--'; 'heddle run --workload %s "
                            "-- --help' lists them",
                            text_printable(arena, workload));
    usage_error(command, "unknown option '%s'%s", text_printable(arena, bare), hint);
    return false;
}

/* Whether an option has been given already, in this launch if it is per launch. */
static bool given_before(const struct command_line *line, const struct option *option)
{
    for (u32 i = line->count; i-- > 0;) {
        const struct given *given = &line->given[i];
        if (given->option == option)
            return true;
        if ((option->flags & OPTION_PER_LAUNCH) && given->option &&
            !strcmp(given->option->name, "--then"))
            return false;
    }
    return false;
}

/* One option at argv[*at]; moves *at to its last word. */
static bool parse_option(struct arena *arena, const struct command *command, int argc, char **argv,
                         int *at, struct command_line *line)
{
    const char *word = argv[*at];
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const struct option *option = find_option(command, word, length);
    if (!option)
        return unknown_option(arena, command, line, word);
    if (!(option->flags & OPTION_REPEAT) && given_before(line, option)) {
        usage_error(command, "%s is given twice%s", option->name,
                    option->flags & OPTION_PER_LAUNCH ? " for one launch" : "");
        return false;
    }
    const char *value = equals ? equals + 1 : "";
    if (option->value && !equals) {
        const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
        if (!next || find_option(command, next, strcspn(next, "="))) {
            usage_error(command, "%s: no value given: expected %s %s", option->name, option->name,
                        option->value);
            return false;
        }
        value = argv[++*at];
    } else if (!option->value && equals) {
        usage_error(command, "%s takes no value, but '%s' was given", option->name,
                    text_printable(arena, value));
        return false;
    }
    line->given[line->count++] = (struct given){option, value};
    return true;
}

bool options_parse(struct arena *arena, const struct command *command, int argc, char **argv,
                   struct command_line *line)
{
    line->given = arena_array(arena, struct given, (size_t)argc + 1);
    line->count = 0;
    for (int at = 0; at < argc && command->runs_programs && !line->program; at++)
        if (!strcmp(argv[at], "--"))
            line->program = argv + at + 1;
    u32 words = 0;
    bool only_words = false;
    for (int at = 0; at < argc; at++) {
        const char *word = argv[at];
        if (!only_words && !strcmp(word, "--")) {
            if (command->runs_programs)
                break;
            only_words = true;
        } else if (!only_words && word[0] == '-' && word[1]) {
            if (!parse_option(arena, command, argc, argv, &at, line))
                return false;
        } else {
            line->given[line->count++] = (struct given){NULL, word};
            if (++words > command->max_words) {
                usage_error(command, "unexpected word '%s': %s", text_printable(arena, word),
                            command->max_words ? "too many are given" : "none is expected");
                return false;
            }
        }
    }
    return true;
}

const char *option_value(const struct command_line *line, const char *name)
{
    for (u32 i = line->count; i-- > 0;)
        if (line->given[i].option && !strcmp(line->given[i].option->name, name))
            return line->given[i].value;
    return NULL;
}

const char *option_word(const struct command_line *line, u32 n)
{
    for (u32 i = 0; i < line->count; i++)
        if (!line->given[i].option && n-- == 0)
            return line->given[i].value;
    return NULL;
}
