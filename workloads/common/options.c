/*
 * The command line: a program's own table of options, and those that all programs have.
 *
 * 1. --quick changes only what the command line did not say, wherever it stands.
 * 2. A value out of its option's range never reaches the program.
 */
#include "common/workload.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn __attribute__((format(printf, 2, 3))) void usage(const struct workload *w,
                                                                  const char *format, ...)
{
    va_list list;
    fprintf(stderr, "%s: ", w->program->name);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputs(": --help lists the options\n", stderr);
    exit(2);
}

static _Noreturn void unknown_option(const struct workload *w, const char *name)
{
    fprintf(stderr, "%s: there is no option --%s: expected ", w->program->name, name);
    for (const struct option_row *row = w->program->options; row->name; row++)
        fprintf(stderr, "--%s, ", row->name);
    fputs("--quick, --seed, --platform, --device, --output, --sizes or --help\n", stderr);
    exit(2);
}

/* The word of that index of "one|two|three", not ended by a zero; NULL behind the last. */
static const char *choice_word(const char *choices, long index, int *length)
{
    for (; index > 0; index--) {
        choices = strchr(choices, '|');
        if (!choices++)
            return NULL;
    }
    *length = (int)strcspn(choices, "|");
    return choices;
}

static void print_value(const struct option_row *row, long value)
{
    int length = 0;
    const char *word = row->choices ? choice_word(row->choices, value, &length) : NULL;
    if (word)
        printf("%.*s", length, word);
    else
        printf("%ld", value);
}

static long quick_value(const struct option_row *row)
{
    return row->quick ? row->quick : row->value;
}

static _Noreturn void help(const struct program *program)
{
    printf("usage: %s [OPTION]...\n%s\n\n", program->name, program->about);
    for (const struct option_row *row = program->options; row->name; row++) {
        printf("  --%s %s\n      %s%s%s; default ", row->name, row->choices ? row->choices : "N",
               row->help, row->unit ? ", in " : "", row->unit ? row->unit : "");
        print_value(row, row->value);
        if (row->quick) {
            printf(", quick ");
            print_value(row, row->quick);
        }
        if (row->rule == POWER_OF_TWO)
            printf("; a power of two");
        if (row->multiple > 1)
            printf("; a multiple of %ld", row->multiple);
        if (!row->choices)
            printf("; %ld to %ld", row->min, row->max);
        putchar('\n');
    }
    puts("  --quick\n      small sizes, for a timing simulation of less than a second\n"
         "  --seed N\n      seed of the random inputs; default 1\n"
         "  --platform NAME|N\n      the OpenCL platform: part of its name, or its number\n"
         "  --device NAME|N\n      the device: part of its name, or its number on the platform\n"
         "  --output FILE\n      write the results to a file, to compare runs bit by bit\n"
         "  --sizes\n      list the options with their default and quick values, and exit\n"
         "  --help\n      print this text\n\n"
         "Numbers may end in K or M (1024, 1048576). Exit codes: 0 passed, 1 wrong result,\n"
         "2 wrong command line, 3 OpenCL failed.");
    exit(0);
}

static _Noreturn void sizes(const struct program *program)
{
    for (const struct option_row *row = program->options; row->name; row++) {
        printf("%s ", row->name);
        print_value(row, row->value);
        putchar(' ');
        print_value(row, quick_value(row));
        putchar('\n');
    }
    exit(0);
}

static long number(const struct workload *w, const char *name, const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 0), unit = 1;
    if (end != text && (*end == 'K' || *end == 'M'))
        unit = *end++ == 'K' ? 1024 : 1024 * 1024;
    long product;
    if (end == text || *end || errno || __builtin_mul_overflow(value, unit, &product))
        usage(w, "--%s takes a number, not '%s'", name, text);
    return product;
}

static long row_value(const struct workload *w, const struct option_row *row, const char *text)
{
    if (row->choices) {
        int length = 0;
        const char *word;
        for (long i = 0; (word = choice_word(row->choices, i, &length)); i++)
            if (strlen(text) == (size_t)length && !strncmp(word, text, length))
                return i;
        usage(w, "--%s takes one of %s, not '%s'", row->name, row->choices, text);
    }
    long value = number(w, row->name, text);
    if (value < row->min || value > row->max)
        usage(w, "--%s takes %ld to %ld, not %ld", row->name, row->min, row->max, value);
    if (row->rule == POWER_OF_TWO && (value & (value - 1)))
        usage(w, "--%s takes a power of two, not %ld", row->name, value);
    if (row->multiple && value % row->multiple)
        usage(w, "--%s takes a multiple of %ld, not %ld", row->name, row->multiple, value);
    return value;
}

/* Takes one of the options that all programs have; false: it is none. value is NULL behind the
 * last word. */
static bool common_option(struct workload *w, const char *name, const char *value, int *used)
{
    *used = 1;
    if (!strcmp(name, "help"))
        help(w->program);
    if (!strcmp(name, "sizes"))
        sizes(w->program);
    if (!strcmp(name, "quick"))
        return w->quick = true;
    if (!strcmp(name, "corrupt"))
        return w->corrupt = true;
    *used = 2;
    const char **text = !strcmp(name, "platform") ? &w->platform_wanted
                        : !strcmp(name, "device") ? &w->device_wanted
                        : !strcmp(name, "output") ? &w->output
                                                  : NULL;
    if (!text && strcmp(name, "seed"))
        return false;
    if (!value)
        usage(w, "--%s needs a value", name);
    if (text)
        *text = value;
    else
        w->random = (uint64_t)number(w, name, value);
    return true;
}

void options_read(struct workload *w, int argc, char **argv)
{
    const struct option_row *rows = w->program->options;
    bool said[WORKLOAD_OPTIONS] = {false};
    w->random = 1;
    for (int i = 1, used; i < argc; i += used) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strncmp(argv[i], "--", 2))
            usage(w, "'%s' is not an option", argv[i]);
        const char *name = argv[i] + 2;
        int row = 0;
        if (common_option(w, name, value, &used))
            continue;
        while (rows[row].name && strcmp(rows[row].name, name))
            row++;
        if (!rows[row].name)
            unknown_option(w, name);
        if (!value)
            usage(w, "--%s needs a value", name);
        w->values[row] = row_value(w, &rows[row], value);
        said[row] = true;
    }
    for (int row = 0; rows[row].name; row++)
        if (!said[row])
            w->values[row] = w->quick ? quick_value(&rows[row]) : rows[row].value;
}

long option(const struct workload *w, int row)
{
    return w->values[row];
}

void options_print(const struct workload *w)
{
    for (int row = 0; w->program->options[row].name; row++) {
        printf(", %s ", w->program->options[row].name);
        print_value(&w->program->options[row], w->values[row]);
    }
}
