/* Options of `heddle inject` in plans: see faults.h. */
#include "lab/faults.h"

#include <regex.h>

#define INTEGER "[0-9]{1,19}"
#define NUMBER "[0-9]*[.]?[0-9]+(e-?[0-9]+)?"

static const struct {
    const char *key;
    const char *form; /* of its values, an extended regular expression; NULL: it is one itself */
    const char *expected;
} known[] = {
    {"faults", INTEGER, "a number of faults"},
    {"interval", NUMBER "%?", "a share, such as 1%"},
    {"structures", NULL, "an extended regular expression"},
    {"model", "bit|word|burst:" INTEGER "|stuck:" INTEGER, "bit, burst:K, stuck:CYCLES or word"},
    {"stratify", "true|false", "true or false"},
    {"seed", INTEGER, "an integer"},
    {"words", "u32|s32|f32|f64", "u32, s32, f32 or f64"},
    {"tolerance", NUMBER, "a number, such as 0.001"},
    {"compare", ".+", "the name of a file, or -"},
    {"window", INTEGER, "a number of cycles"},
    {"hang", NUMBER, "a number, such as 2"},
    {"audit", NUMBER "%?", "a share, such as 1%"},
};

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    const bool found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

static bool is_pattern(const char *text)
{
    regex_t regex;
    const bool ok = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) == 0;
    if (ok)
        regfree(&regex);
    return ok;
}

bool faults_check(const struct fields *fields, const struct yaml *node, const char *key,
                  const char *value)
{
    const char *names[ARRAY_LEN(known)];
    for (u32 i = 0; i < ARRAY_LEN(known); i++) {
        names[i] = known[i].key;
        if (strcmp(known[i].key, key) != 0)
            continue;
        const char *whole =
            known[i].form ? arena_printf(fields->arena, "^(%s)$", known[i].form) : NULL;
        return (whole ? matches(whole, value) : is_pattern(value)) ||
               fields_error(fields, node, "%s: '%s': expected %s", key,
                            shown_text(fields->arena, value, 60), known[i].expected);
    }
    return fields_key_error(fields, node, "'%s' is no option of 'heddle inject' for a plan%s",
                            shown_text(fields->arena, key, 60),
                            fields_nearest(fields, key, names, ARRAY_LEN(known)));
}

bool faults_read(const struct fields *fields, const struct yaml *node, struct settings *options)
{
    if (!settings_read(fields, node, options))
        return false;
    for (const struct yaml *child = node->first; child; child = child->next)
        if (!faults_check(fields, child, child->key, child->text))
            return false;
    return true;
}

/* The value of an option; NULL: it is not given. */
static const char *value_of(const struct settings *const *lists, u32 count, const char *key)
{
    for (u32 i = count; i-- > 0;)
        for (u32 k = lists[i]->count; k-- > 0;)
            if (!strcmp(lists[i]->list[k].key, key))
                return lists[i]->list[k].value;
    return NULL;
}

bool faults_count_given(const struct settings *const *lists, u32 count)
{
    return value_of(lists, count, "faults") || value_of(lists, count, "interval");
}

const char **faults_words(struct arena *arena, const struct settings *const *lists, u32 count)
{
    const char **words = arena_array(arena, const char *, 2 * ARRAY_LEN(known) + 1);
    u32 at = 0;
    for (u32 i = 0; i < ARRAY_LEN(known); i++) {
        const char *value = value_of(lists, count, known[i].key);
        const bool is_switch = !strcmp(known[i].key, "stratify");
        if (!value || (is_switch && strcmp(value, "true") != 0))
            continue;
        words[at++] = arena_printf(arena, "--%s", known[i].key);
        if (!is_switch)
            words[at++] = value;
    }
    return words;
}

bool faults_has_statistic(const char *key)
{
    return matches("^faults[.](structures[.].+[.])?"
                   "((outcomes[.](masked|gray|time|sdc|due|hang)|failures)[.](count|share|low|high)"
                   "|live_bits|counted_bits|faults|empty)$",
                   key);
}
