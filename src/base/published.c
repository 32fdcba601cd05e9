/* Published values of a machine's parts: see published.h. */
#include "base/published.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct published_reader {
    struct arena *arena;
    const char *place;
    struct error *error;
};

#define wrong(...) (wrong_fill(__VA_ARGS__), error_false())
static void wrong_fill(const struct published_reader *reader, u32 line, u32 column,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

static void wrong_fill(const struct published_reader *reader, u32 line, u32 column,
                       const char *format, ...)
{
    char place[256], message[1024];
    snprintf(place, sizeof place, "%.200s:%u:%u", reader->place, line, column);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error_set(reader->error, ERROR_INPUT, place, "%s", message);
}

static bool unknown(const struct published_reader *reader, const struct yaml *node,
                    const char *where, const char *const *names, u32 count)
{
    const char *nearest = nearest_word(node->key, names, count);
    return wrong(reader, node->key_line, node->key_column, "%s: unknown key '%.64s'%s%s%s", where,
                 text_printable(reader->arena, node->key), nearest ? ": did you mean '" : "",
                 nearest ? nearest : "", nearest ? "'?" : "");
}

static bool read_text(const struct published_reader *reader, const struct yaml *node,
                      const char *where, const char **text)
{
    if (node->kind != YAML_SCALAR || !node->text[0])
        return wrong(reader, node->line, node->column, "%s.%s: expected text, not %s", where,
                     node->key, yaml_kind_name(node));
    *text = node->text;
    return true;
}

/* A number above 0 and up to `most`; `whole`: without a fraction. */
static bool read_number(const struct published_reader *reader, const struct yaml *node,
                        const char *where, f64 most, bool whole, f64 *number)
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

static bool read_names(const struct published_reader *reader, const struct yaml *node,
                       const char *where, const char ***names, u32 *count)
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
static bool read_units(const struct published_reader *reader, const struct yaml *node,
                       const char *where, struct published_value *value)
{
    if (node->kind == YAML_SCALAR && !strcmp(node->text, "all")) {
        value->units = NULL;
        return true;
    }
    return read_names(reader, node, where, &value->units, &value->unit_count);
}

static bool read_field(const struct published_reader *reader, const struct yaml *node,
                       const char *where, struct published_value *value)
{
    static const char *const fields[] = {"units", "parts", "each", "bits", "mm2", "mw", "note"};
    static const f64 most_bits = 1e15, most_each = 1e6, most = 1e9;
    f64 number = 0;
    if (!strcmp(node->key, "units"))
        return read_units(reader, node, where, value);
    if (!strcmp(node->key, "parts"))
        return read_names(reader, node, where, &value->parts, &value->part_count);
    if (!strcmp(node->key, "note"))
        return read_text(reader, node, where, &value->note);
    if (!strcmp(node->key, "mm2"))
        return read_number(reader, node, where, most, false, &value->mm2);
    if (!strcmp(node->key, "mw"))
        return read_number(reader, node, where, most, false, &value->mw);
    if (!strcmp(node->key, "each")) {
        bool right = read_number(reader, node, where, most_each, true, &number);
        value->each = right ? (u32)number : 0;
        return right;
    }
    if (!strcmp(node->key, "bits")) {
        bool right = read_number(reader, node, where, most_bits, true, &number);
        value->bits = right ? (u64)number : 0;
        return right;
    }
    return unknown(reader, node, where, fields, ARRAY_LEN(fields));
}

static bool read_published_value(const struct published_reader *reader, const struct yaml *node,
                                 struct published_value *value)
{
    const char *where =
        arena_printf(reader->arena, "published.%.64s", text_printable(reader->arena, node->key));
    *value = (struct published_value){.name = node->key, .unit_count = 1, .each = 1, .note = ""};
    value->units = arena_array(reader->arena, const char *, 1);
    value->units[0] = node->key;
    if (node->kind != YAML_MAP)
        return wrong(reader, node->line, node->column,
                     "%s: expected a mapping with bits, mm2 or mw, not %s", where,
                     yaml_kind_name(node));
    for (const struct yaml *field = node->first; field; field = field->next)
        if (!read_field(reader, field, where, value))
            return false;
    return value->bits || value->mm2 > 0 || value->mw > 0 ||
           wrong(reader, node->line, node->column, "%s: no values given: expected bits, mm2 or mw",
                 where);
}

bool published_read(struct arena *arena, struct published_values *published,
                    const struct yaml *node, const char *place, struct error *error)
{
    static const char *const keys[] = {"source", "modules"};
    const struct published_reader reader = {arena, place, error};
    const struct yaml *modules = NULL;
    *published = (struct published_values){0};
    if (node->kind != YAML_MAP)
        return wrong(&reader, node->line, node->column,
                     "published: expected a mapping with 'source' and 'modules', not %s",
                     yaml_kind_name(node));
    for (const struct yaml *child = node->first; child; child = child->next) {
        if (!strcmp(child->key, "source")) {
            if (!read_text(&reader, child, "published", &published->source))
                return false;
        } else if (!strcmp(child->key, "modules")) {
            modules = child;
        } else {
            return unknown(&reader, child, "published", keys, ARRAY_LEN(keys));
        }
    }
    if (!published->source)
        return wrong(&reader, node->line, node->column, "published: 'source' is missing");
    if (!modules || modules->kind != YAML_MAP)
        return wrong(&reader, node->line, node->column,
                     "published: 'modules' is missing: expected a mapping of names to values");
    published->rows = arena_array(arena, struct published_value, modules->count);
    for (const struct yaml *child = modules->first; child; child = child->next)
        if (!read_published_value(&reader, child, &published->rows[published->count++]))
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

void published_copy(struct arena *arena, struct published_values *to,
                    const struct published_values *from)
{
    *to = (struct published_values){
        .source = from->source ? arena_strdup(arena, from->source) : NULL, .count = from->count};
    to->rows = from->count ? arena_array(arena, struct published_value, from->count) : NULL;
    for (u32 i = 0; i < from->count; i++) {
        const struct published_value *value = &from->rows[i];
        struct published_value *copy = &to->rows[i];
        *copy = *value;
        copy->name = arena_strdup(arena, value->name);
        copy->note = arena_strdup(arena, value->note);
        copy->units = copy_names(arena, value->units, value->unit_count);
        copy->parts = copy_names(arena, value->parts, value->part_count);
    }
}

bool published_value_has(const struct published_value *value, const char *unit)
{
    if (!value->units)
        return true;
    for (u32 i = 0; i < value->unit_count; i++)
        if (!strcmp(value->units[i], unit))
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

json_t *published_value_json(const struct published_value *value)
{
    json_t *json = json_object();
    json_object_set_new(json, "name", json_string(value->name));
    json_object_set_new(json, "units", names_json(value->units, value->unit_count));
    json_object_set_new(json, "parts", names_json(value->parts, value->part_count));
    json_object_set_new(json, "each", json_integer(value->each));
    json_object_set_new(json, "bits",
                        value->bits ? json_integer((json_int_t)value->bits) : json_null());
    json_object_set_new(json, "mm2", said(value->mm2));
    json_object_set_new(json, "mw", said(value->mw));
    json_object_set_new(json, "note", json_string(value->note));
    return json;
}
