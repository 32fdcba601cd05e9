/* What has been published about a machine's parts: see claims.h. */
#include "base/claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct reader {
    struct arena *arena;
    const char *place;
    struct error *error;
};

#define wrong(...) (wrong_fill(__VA_ARGS__), error_false())
static void wrong_fill(const struct reader *reader, u32 line, u32 column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void wrong_fill(const struct reader *reader, u32 line, u32 column, const char *format, ...)
{
    char place[256], message[1024];
    snprintf(place, sizeof place, "%.200s:%u:%u", reader->place, line, column);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error_set(reader->error, ERROR_INPUT, place, "%s", message);
}

static bool unknown(const struct reader *reader, const struct yaml *node, const char *where,
                    const char *const *names, u32 count)
{
    const char *nearest = nearest_word(node->key, names, count);
    return wrong(reader, node->key_line, node->key_column, "%s: unknown key '%.64s'%s%s%s", where,
                 text_printable(reader->arena, node->key), nearest ? ": did you mean '" : "",
                 nearest ? nearest : "", nearest ? "'?" : "");
}

static bool read_text(const struct reader *reader, const struct yaml *node, const char *where,
                      const char **text)
{
    if (node->kind != YAML_SCALAR || !node->text[0])
        return wrong(reader, node->line, node->column, "%s.%s: expected text, not %s", where,
                     node->key, yaml_kind_name(node));
    *text = node->text;
    return true;
}

/* A number above 0 and up to `most`; `whole`: without a fraction. */
static bool read_number(const struct reader *reader, const struct yaml *node, const char *where,
                        f64 most, bool whole, f64 *number)
{
    char *end = NULL;
    if (node->kind == YAML_SCALAR && node->text[0])
        *number = strtod(node->text, &end);
    bool right =
        end && !*end && *number > 0 && *number <= most && (!whole || *number == (f64)(u64)*number);
    return right ||
           wrong(reader, node->line, node->column, "%s.%s: expected %s above 0 and up to %g", where,
                 node->key, whole ? "a whole number" : "a number", most);
}

static bool read_names(const struct reader *reader, const struct yaml *node, const char *where,
                       const char ***names, u32 *count)
{
    if (node->kind != YAML_LIST || !node->count)
        return wrong(reader, node->line, node->column, "%s.%s: expected a list of names%s, not %s",
                     where, node->key, !strcmp(node->key, "units") ? " or 'all'" : "",
                     yaml_kind_name(node));
    *names = arena_array(reader->arena, const char *, node->count);
    *count = 0;
    for (const struct yaml *name = node->first; name; name = name->next) {
        if (name->kind != YAML_SCALAR || !name->text[0])
            return wrong(reader, name->line, name->column, "%s.%s: expected a name, not %s", where,
                         node->key, yaml_kind_name(name));
        (*names)[(*count)++] = name->text;
    }
    return true;
}

/* `units: all`, or a list of names. */
static bool read_units(const struct reader *reader, const struct yaml *node, const char *where,
                       struct claim *claim)
{
    if (node->kind == YAML_SCALAR && !strcmp(node->text, "all")) {
        claim->units = NULL;
        return true;
    }
    return read_names(reader, node, where, &claim->units, &claim->unit_count);
}

static bool read_field(const struct reader *reader, const struct yaml *node, const char *where,
                       struct claim *claim)
{
    static const char *const fields[] = {"units", "parts", "each", "bits", "mm2", "mw", "note"};
    static const f64 most_bits = 1e15, most_each = 1e6, most = 1e9;
    f64 number = 0;
    if (!strcmp(node->key, "units"))
        return read_units(reader, node, where, claim);
    if (!strcmp(node->key, "parts"))
        return read_names(reader, node, where, &claim->parts, &claim->part_count);
    if (!strcmp(node->key, "note"))
        return read_text(reader, node, where, &claim->note);
    if (!strcmp(node->key, "mm2"))
        return read_number(reader, node, where, most, false, &claim->mm2);
    if (!strcmp(node->key, "mw"))
        return read_number(reader, node, where, most, false, &claim->mw);
    if (!strcmp(node->key, "each")) {
        bool right = read_number(reader, node, where, most_each, true, &number);
        claim->each = right ? (u32)number : 0;
        return right;
    }
    if (!strcmp(node->key, "bits")) {
        bool right = read_number(reader, node, where, most_bits, true, &number);
        claim->bits = right ? (u64)number : 0;
        return right;
    }
    return unknown(reader, node, where, fields, ARRAY_LEN(fields));
}

static bool read_claim(const struct reader *reader, const struct yaml *node, struct claim *claim)
{
    const char *where =
        arena_printf(reader->arena, "published.%.64s", text_printable(reader->arena, node->key));
    *claim = (struct claim){.name = node->key, .unit_count = 1, .each = 1, .note = ""};
    claim->units = arena_array(reader->arena, const char *, 1);
    claim->units[0] = node->key;
    if (node->kind != YAML_MAP)
        return wrong(reader, node->line, node->column,
                     "%s: expected a mapping with bits, mm2 or mw, not %s", where,
                     yaml_kind_name(node));
    for (const struct yaml *field = node->first; field; field = field->next)
        if (!read_field(reader, field, where, claim))
            return false;
    return claim->bits || claim->mm2 > 0 || claim->mw > 0 ||
           wrong(reader, node->line, node->column, "%s: nothing is said: expected bits, mm2 or mw",
                 where);
}

bool claims_read(struct arena *arena, struct claims *claims, const struct yaml *node,
                 const char *place, struct error *error)
{
    static const char *const keys[] = {"source", "modules"};
    const struct reader reader = {arena, place, error};
    const struct yaml *modules = NULL;
    *claims = (struct claims){0};
    if (node->kind != YAML_MAP)
        return wrong(&reader, node->line, node->column,
                     "published: expected a mapping with 'source' and 'modules', not %s",
                     yaml_kind_name(node));
    for (const struct yaml *child = node->first; child; child = child->next) {
        if (!strcmp(child->key, "source")) {
            if (!read_text(&reader, child, "published", &claims->source))
                return false;
        } else if (!strcmp(child->key, "modules")) {
            modules = child;
        } else {
            return unknown(&reader, child, "published", keys, ARRAY_LEN(keys));
        }
    }
    if (!claims->source)
        return wrong(&reader, node->line, node->column, "published: 'source' is missing");
    if (!modules || modules->kind != YAML_MAP)
        return wrong(
            &reader, node->line, node->column,
            "published: 'modules' is missing: expected a mapping of names to what is said");
    claims->rows = arena_array(arena, struct claim, modules->count);
    for (const struct yaml *child = modules->first; child; child = child->next)
        if (!read_claim(&reader, child, &claims->rows[claims->count++]))
            return false;
    return true;
}

static const char **copy_names(struct arena *arena, const char **names, u32 count)
{
    const char **copy = names ? arena_array(arena, const char *, count) : NULL;
    for (u32 i = 0; copy && i < count; i++)
        copy[i] = arena_strdup(arena, names[i]);
    return copy;
}

void claims_copy(struct arena *arena, struct claims *to, const struct claims *from)
{
    *to = (struct claims){.source = from->source ? arena_strdup(arena, from->source) : NULL,
                          .count = from->count};
    to->rows = from->count ? arena_array(arena, struct claim, from->count) : NULL;
    for (u32 i = 0; i < from->count; i++) {
        const struct claim *claim = &from->rows[i];
        struct claim *copy = &to->rows[i];
        *copy = *claim;
        copy->name = arena_strdup(arena, claim->name);
        copy->note = arena_strdup(arena, claim->note);
        copy->units = copy_names(arena, claim->units, claim->unit_count);
        copy->parts = copy_names(arena, claim->parts, claim->part_count);
    }
}

bool claim_has(const struct claim *claim, const char *unit)
{
    if (!claim->units)
        return true;
    for (u32 i = 0; i < claim->unit_count; i++)
        if (!strcmp(claim->units[i], unit))
            return true;
    return false;
}

static json_t *said(f64 value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *names_json(const char **names, u32 count)
{
    json_t *json = names ? json_array() : json_null();
    for (u32 i = 0; names && i < count; i++)
        json_array_append_new(json, json_string(names[i]));
    return json;
}

json_t *claim_json(const struct claim *claim)
{
    json_t *json = json_object();
    json_object_set_new(json, "name", json_string(claim->name));
    json_object_set_new(json, "units", names_json(claim->units, claim->unit_count));
    json_object_set_new(json, "parts", names_json(claim->parts, claim->part_count));
    json_object_set_new(json, "each", json_integer(claim->each));
    json_object_set_new(json, "bits",
                        claim->bits ? json_integer((json_int_t)claim->bits) : json_null());
    json_object_set_new(json, "mm2", said(claim->mm2));
    json_object_set_new(json, "mw", said(claim->mw));
    json_object_set_new(json, "note", json_string(claim->note));
    return json;
}
