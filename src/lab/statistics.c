/* Documents of statistics as text: see statistics.h. */
#include "lab/statistics.h"

#include "base/text.h"
#include <math.h>
#include <stdlib.h>

enum {
    STATISTICS_LIMIT = 1 << 30, /* bytes of a file */
    MOST_DEPTH = 64,            /* of nested objects and lists */
    KEY_BYTES = 256,
    NUMBER_BYTES = 64,
    FEW = 32 /* up to so many numbers are found faster in the text than in a tree */
};

/* ---- parts of a text ---- */

/* None of these goes beyond the end of a text, even if it is no JSON. */

/* The end of a string, behind its quotation mark. */
static const char *string_end(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return at + (*at == '"');
}

const char *text_value_end(const char *at)
{
    u32 depth = 0;
    do {
        if (*at == '"') {
            at = string_end(at);
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        else if (!depth)
            return at + strcspn(at, ",]}");
        else if (*at == '}' || *at == ']')
            depth--;
        at += *at != '\0';
    } while (depth && *at);
    return at;
}

const char *text_member(const char *object, const char *key)
{
    const size_t length = strlen(key);
    const char *at = object + 1;
    if (*object != '{')
        return NULL;
    while (*at == '"') {
        const char *name = at + 1, *end = string_end(at);
        if (*end != ':')
            return NULL;
        at = end + 1;
        if ((size_t)(end - 1 - name) == length && !memcmp(name, key, length))
            return at;
        at = text_value_end(at);
        at += *at == ',';
    }
    return NULL;
}

const char *text_string(struct arena *arena, const char *value)
{
    if (!value || *value != '"')
        return NULL;
    json_t *json = json_loadb(value, (size_t)(string_end(value) - value), JSON_DECODE_ANY, NULL);
    const char *text = json ? arena_strdup(arena, json_string_value(json)) : NULL;
    json_decref(json);
    return text;
}

/* ---- documents ---- */

/* Copies a text without blanks into `to`. False: brackets or quotation marks do not match, or more than
 * one object is there. */
static bool copy_compact(const char *from, size_t length, char *to)
{
    char closing[MOST_DEPTH];
    u32 depth = 0;
    bool begun = false;
    for (const char *end = from + length; from < end; from++) {
        if (strchr(" \t\r\n", *from) && *from)
            continue;
        if (!depth && (begun || *from != '{'))
            return false;
        begun = true;
        if (*from == '"') {
            do {
                *to++ = *from;
                if (*from == '\\' && from + 1 < end)
                    *to++ = *++from;
                from++;
            } while (from < end && *from != '"');
            if (from >= end)
                return false;
        } else if (*from == '{' || *from == '[') {
            if (depth == MOST_DEPTH)
                return false;
            closing[depth++] = *from == '{' ? '}' : ']';
        } else if ((*from == '}' || *from == ']') && closing[--depth] != *from) {
            return false;
        }
        *to++ = *from;
    }
    *to = '\0';
    return begun && !depth;
}

char *statistics_kept(const char *text, size_t length)
{
    static const char host_key[] = "\"host\":";
    char *kept = checked(malloc(length + 1));
    if (memchr(text, '\0', length) || !copy_compact(text, length, kept)) {
        free(kept);
        return NULL;
    }
    char *host = (char *)text_member(kept, "host");
    if (host) {
        char *begin = host - strlen(host_key), *end = (char *)text_value_end(host);
        if (*end == ',')
            end++;
        else if (begin[-1] == ',')
            begin--;
        memmove(begin, end, strlen(end) + 1);
    }
    return kept;
}

char *statistics_read(const char *path)
{
    struct error error = {0};
    size_t length;
    char *text = text_read_file(path, false, STATISTICS_LIMIT, &length, &error);
    char *kept = text ? statistics_kept(text, length) : NULL;
    free(text);
    return kept;
}

struct launch_summary statistics_launches(struct arena *arena, const char *text)
{
    struct launch_summary summary = {0};
    const char *at = text ? text_member(text, "launches") : NULL;
    if (!at || *at != '[')
        return summary;
    for (at++; *at == '{'; at += *at == ',') {
        const char *outcome = text_string(arena, text_member(at, "outcome"));
        summary.count++;
        if (!summary.failed && (!outcome || strcmp(outcome, "done") != 0)) {
            summary.failed = true;
            summary.outcome = outcome;
            summary.kernel = text_string(arena, text_member(at, "kernel"));
        }
        at = text_value_end(at);
    }
    return summary;
}

/* ---- numbers ---- */

/* A counter above 63 bits is a string. */
static bool large_number(const char *text, f64 *value)
{
    u64 large;
    if (text_u64(text, &large) != TEXT_OK)
        return false;
    *value = (f64)large;
    return true;
}

static bool number_in_tree(const json_t *json, f64 *value)
{
    if (!json_is_number(json))
        return json_is_string(json) && large_number(json_string_value(json), value);
    *value = json_number_value(json);
    return true;
}

static bool number_in_text(const char *at, f64 *value)
{
    char number[NUMBER_BYTES];
    const bool quoted = *at == '"';
    const size_t length = (size_t)(text_value_end(at) - at) - 2 * quoted;
    if (length >= sizeof number)
        return false;
    memcpy(number, at + quoted, length);
    number[length] = '\0';
    return quoted ? large_number(number, value)
                  : strchr("-0123456789", *number) && text_f64(number, value) == TEXT_OK;
}

/* Where a path is looked up: a tree or a text. */
struct found_place {
    const json_t *json;
    const char *text;
};

static struct found_place member_of(struct found_place object, const char *key)
{
    return (struct found_place){json_object_get(object.json, key),
                                object.text ? text_member(object.text, key) : NULL};
}

static bool find_path(struct found_place object, const char *path, f64 *value)
{
    char key[KEY_BYTES];
    if (!object.json && !object.text)
        return false;
    const struct found_place whole = member_of(object, path);
    if (whole.text ? number_in_text(whole.text, value) : number_in_tree(whole.json, value))
        return true;
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
        if ((size_t)(dot - path) >= sizeof key)
            return false;
        memcpy(key, path, (size_t)(dot - path));
        key[dot - path] = '\0';
        if (find_path(member_of(object, key), dot + 1, value))
            return true;
    }
    return false;
}

static bool find_value(struct found_place document, const char *path, f64 *value)
{
    return find_path(member_of(document, "totals"), path, value) ||
           find_path(document, path, value);
}

bool statistic_value(const json_t *statistics, const char *path, f64 *value)
{
    return find_value((struct found_place){.json = statistics}, path, value);
}

void statistics_values(const char *text, const char *const *paths, u32 count, f64 *values)
{
    json_t *tree = text && count > FEW ? json_loads(text, 0, NULL) : NULL;
    const struct found_place document = {tree, tree ? NULL : text};
    for (u32 i = 0; i < count; i++)
        if (!find_value(document, paths[i], &values[i]))
            values[i] = NAN;
    json_decref(tree);
}
