/* Values of parameters: see param_value.h. */
#include "base/param_value.h"

#include "base/config.h"
#include "base/text.h"
#include <math.h>

static void store(const struct param *param, void *params, f64 number, u64 integer)
{
    u8 *at = (u8 *)params + param->offset;
    switch (param->type) {
    case PARAM_U32:
    case PARAM_CHOICE:
        *(u32 *)at = (u32)integer;
        break;
    case PARAM_U64:
        *(u64 *)at = integer;
        break;
    case PARAM_F64:
        *(f64 *)at = number;
        break;
    case PARAM_BOOL:
        *(bool *)at = integer != 0;
        break;
    case PARAM_LIST:
        break; /* stored by parse_list */
    }
}

void param_set_default(const struct param *param, void *params)
{
    store(param, params, param->initial, (u64)param->initial);
}

/* ---- choices ---- */

/* The index of `word` in "a|b|c", or UINT32_MAX. */
static u32 choice_index(const char *choices, const char *word)
{
    size_t length = strlen(word);
    u32 index = 0;
    for (const char *at = choices;; index++) {
        size_t span = strcspn(at, "|");
        if (span == length && !memcmp(at, word, length))
            return index;
        if (!at[span])
            return UINT32_MAX;
        at += span + 1;
    }
}

static char *choice_name(struct arena *arena, const char *choices, u32 index)
{
    const char *at = choices;
    while (index--)
        at += strcspn(at, "|") + 1;
    return arena_strndup(arena, at, strcspn(at, "|"));
}

static u32 choice_count(const char *choices)
{
    u32 count = 1;
    for (; *choices; choices++)
        count += *choices == '|';
    return count;
}

/* ---- reading ---- */

u64 param_integer_bound(f64 bound)
{
    return bound >= 0x1p64 ? UINT64_MAX : (u64)bound;
}

/* "1 to 1024 cores" */
static const char *range_text(struct arena *arena, const struct param *param)
{
    const char *space = param->unit[0] ? " " : "";
    if (param->type == PARAM_F64 || param->type == PARAM_LIST)
        return arena_printf(arena, "%g to %g%s%s", param->min, param->max, space, param->unit);
    return arena_printf(arena, "%llu to %llu%s%s",
                        (unsigned long long)param_integer_bound(param->min),
                        (unsigned long long)param_integer_bound(param->max), space, param->unit);
}

static bool takes_size(const struct param *param)
{
    return param->type != PARAM_F64 && !strcmp(param->unit, "bytes");
}

static bool parse_choice(struct arena *arena, const struct param *param, const char *key,
                         const char *text, const char *shown, u64 *index, const char *place,
                         struct error *error)
{
    *index = choice_index(param->choices, text);
    if (*index != UINT32_MAX)
        return true;
    u32 count = choice_count(param->choices);
    const char **names = arena_array(arena, const char *, count);
    for (u32 i = 0; i < count; i++)
        names[i] = choice_name(arena, param->choices, i);
    const char *nearest = nearest_word(text, names, count);
    return error_set(error, ERROR_INPUT, place, "%s: %s is not one of its choices, %s%s%s%s", key,
                     shown, param->choices, nearest ? ": did you mean '" : "",
                     nearest ? nearest : "", nearest ? "'?" : "");
}

static enum text_result parse_f64(const struct param *param, const char *text, f64 *number)
{
    enum text_result result = text_f64(text, number);
    if (result == TEXT_OK && !isfinite(*number))
        return TEXT_SYNTAX;
    bool inside = *number >= param->min && *number <= param->max;
    return result == TEXT_OK && !inside ? TEXT_RANGE : result;
}

static enum text_result parse_integer(const struct param *param, const char *text, u64 *integer)
{
    enum text_result result =
        takes_size(param) ? text_size(text, integer) : text_u64(text, integer);
    i64 negative;
    if (result == TEXT_SYNTAX && text_i64(text, &negative) == TEXT_OK)
        return TEXT_RANGE;
    bool inside =
        *integer >= param_integer_bound(param->min) && *integer <= param_integer_bound(param->max);
    return result == TEXT_OK && !inside ? TEXT_RANGE : result;
}

/* Values separated by commas; an empty text is an empty list. */
static bool parse_list(struct arena *arena, const struct param *param, const char *key,
                       const char *text, void *params, const char *place, struct error *error)
{
    f64 *values = arena_array(arena, f64, param->most);
    u32 count = 0;
    for (const char *at = text; *text;) {
        size_t length = strcspn(at, ",");
        const char *item = text_printable(arena, arena_strndup(arena, at, length));
        if (count == param->most)
            return error_set(error, ERROR_INPUT, place, "%s: expected at most %u values", key,
                             param->most);
        enum text_result result = parse_f64(param, item, &values[count++]);
        if (result == TEXT_SYNTAX)
            return error_set(error, ERROR_INPUT, place,
                             "%s: value %u: expected a number, %s, not '%.64s'", key, count,
                             range_text(arena, param), item);
        if (result == TEXT_RANGE)
            return error_set(error, ERROR_INPUT, place,
                             "%s: value %u: '%.64s' is out of range: expected %s", key, count, item,
                             range_text(arena, param));
        if (!at[length])
            break;
        at += length + 1;
    }
    memcpy((u8 *)params + param->offset, values, count * sizeof *values);
    memcpy((u8 *)params + param->count_offset, &count, sizeof count);
    return true;
}

bool param_parse(struct arena *arena, const struct param *param, const char *key, const char *text,
                 void *params, const char *place, struct error *error)
{
    const char *shown = "nothing";
    if (text[0])
        shown = arena_printf(arena, "'%.64s'", text_printable(arena, text));
    u64 integer = 0;
    f64 number = 0;
    enum text_result result = TEXT_OK;
    switch (param->type) {
    case PARAM_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return error_set(error, ERROR_INPUT, place, "%s: expected true or false, not %s", key,
                             shown);
        integer = text[0] == 't';
        break;
    case PARAM_CHOICE:
        if (!parse_choice(arena, param, key, text, shown, &integer, place, error))
            return false;
        break;
    case PARAM_F64:
        result = parse_f64(param, text, &number);
        break;
    case PARAM_LIST:
        return parse_list(arena, param, key, text, params, place, error);
    default:
        result = parse_integer(param, text, &integer);
    }
    if (result == TEXT_SYNTAX)
        return error_set(error, ERROR_INPUT, place, "%s: expected %s, %s, not %s", key,
                         param->type == PARAM_F64 ? "a number" : "an integer",
                         range_text(arena, param), shown);
    if (result == TEXT_RANGE)
        return error_set(error, ERROR_INPUT, place, "%s: %s is out of range: expected %s", key,
                         shown, range_text(arena, param));
    store(param, params, number, integer);
    return true;
}

/* ---- JSON ---- */

static json_t *list_json(const struct param *param, const void *params)
{
    const u8 *base = params;
    const f64 *values = (const f64 *)(base + param->offset);
    u32 count = *(const u32 *)(base + param->count_offset);
    json_t *array = json_array();
    for (u32 i = 0; i < count; i++)
        json_array_append_new(array, json_real(values[i]));
    return array;
}

json_t *param_json(const struct param *param, const void *params)
{
    const u8 *at = (const u8 *)params + param->offset;
    switch (param->type) {
    case PARAM_U32:
        return stats_number(*(const u32 *)at);
    case PARAM_U64:
        return stats_number(*(const u64 *)at);
    case PARAM_F64:
        return json_real(*(const f64 *)at);
    case PARAM_BOOL:
        return json_boolean(*(const bool *)at);
    case PARAM_LIST:
        return list_json(param, params);
    case PARAM_CHOICE:
        break;
    }
    struct arena *arena = arena_create();
    json_t *name = json_string(choice_name(arena, param->choices, *(const u32 *)at));
    arena_destroy(arena);
    return name;
}
