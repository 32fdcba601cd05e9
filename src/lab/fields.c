/* Strict reading of YAML: see fields.h. */
#include "lab/fields.h"

#include "base/text.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static bool fill(const struct fields *fields, u32 line, u32 column, const char *format,
                 va_list arguments)
{
    char place[256], message[1024];
    place_text((struct text_place){fields->file, line, column}, place, sizeof place);
    vsnprintf(message, sizeof message, format, arguments);
    return error_set(fields->error, ERROR_INPUT, place, "%s", message);
}

const char *file_folder(struct arena *arena, const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? arena_strndup(arena, file, MAX((size_t)(slash - file), 1)) : NULL;
}

const char *fields_path(const struct fields *fields, const char *path)
{
    while (fields->folder && !strncmp(path, "./", 2))
        path += 2;
    return fields->folder && *path != '/'
               ? arena_printf(fields->arena, "%s/%s", fields->folder, path)
               : path;
}

bool fields_error(const struct fields *fields, const struct yaml *node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(fields, node->line, node->column, format, arguments);
    va_end(arguments);
    return false;
}

bool fields_key_error(const struct fields *fields, const struct yaml *node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(fields, node->key ? node->key_line : node->line,
         node->key ? node->key_column : node->column, format, arguments);
    va_end(arguments);
    return false;
}

const char *fields_nearest(const struct fields *fields, const char *word,
                           const char *const *candidates, size_t count)
{
    const char *nearest = nearest_word(word, candidates, count);
    return nearest ? arena_printf(fields->arena, ": did you mean '%s'?", nearest) : "";
}

static size_t count_of(const char *const *names)
{
    size_t count = 0;
    while (names[count])
        count++;
    return count;
}

const char *shown_text(struct arena *arena, const char *text, size_t most)
{
    return text_printable(arena, arena_strndup(arena, text, strnlen(text, most)));
}

static const char *shown(const struct fields *fields, const char *text)
{
    return shown_text(fields->arena, text, 60);
}

bool fields_kind(const struct fields *fields, const struct yaml *node, enum yaml_kind kind,
                 const char *what)
{
    static const char *const kinds[] = {"text", "a mapping", "a list"};
    if (node->kind == kind)
        return true;
    return fields_error(fields, node, "%s: expected %s, not %s", what, kinds[kind],
                        yaml_kind_name(node));
}

bool fields_map(const struct fields *fields, const struct yaml *node, const char *what,
                const char *const *keys)
{
    if (!fields_kind(fields, node, YAML_MAP, what))
        return false;
    for (const struct yaml *child = node->first; child; child = child->next) {
        size_t at = 0;
        while (keys[at] && strcmp(keys[at], child->key) != 0)
            at++;
        if (!keys[at])
            return fields_key_error(fields, child, "unknown key '%s' of %s%s",
                                    shown(fields, child->key), what,
                                    fields_nearest(fields, child->key, keys, count_of(keys)));
    }
    return true;
}

bool fields_text(const struct fields *fields, const struct yaml *map, const char *key, bool needed,
                 const char **text)
{
    const struct yaml *node = yaml_get(map, key);
    if (!node)
        return !needed || fields_error(fields, map, "'%s' is missing here", key);
    if (!fields_kind(fields, node, YAML_SCALAR, key))
        return false;
    if (needed && !node->text[0])
        return fields_key_error(fields, node, "'%s' is empty", key);
    /* no control characters: the text is shown on terminals and in pages */
    char *copy = arena_strdup(fields->arena, node->text);
    for (char *at = copy; *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = ' ';
    for (size_t length = strlen(copy); length && copy[length - 1] == ' '; length--)
        copy[length - 1] = '\0';
    *text = copy;
    return true;
}

bool fields_number(const struct fields *fields, const struct yaml *node, f64 *value)
{
    if (node->kind == YAML_SCALAR && text_f64(node->text, value) == TEXT_OK && isfinite(*value))
        return true;
    return fields_error(fields, node, "expected a number, not %s",
                        node->kind == YAML_SCALAR
                            ? arena_printf(fields->arena, "'%s'", shown(fields, node->text))
                            : yaml_kind_name(node));
}

bool fields_words(const struct fields *fields, const struct yaml *node, const char ***words)
{
    bool single = node->kind == YAML_SCALAR;
    if (node->kind == YAML_MAP)
        return fields_kind(fields, node, YAML_LIST, node->key ? node->key : "this");
    const char **list = arena_array(fields->arena, const char *, (single ? 1 : node->count) + 1);
    u32 count = 0;
    for (const struct yaml *child = single ? node : node->first; child;
         child = single ? NULL : child->next) {
        if (!fields_kind(fields, child, YAML_SCALAR, "an entry"))
            return false;
        list[count++] = arena_strdup(fields->arena, child->text);
    }
    *words = list;
    return true;
}

bool fields_choice(const struct fields *fields, const struct yaml *node, const char *const *choices,
                   u32 *value)
{
    const char *all = "";
    if (!fields_kind(fields, node, YAML_SCALAR, node->key ? node->key : "this"))
        return false;
    for (u32 i = 0; choices[i]; i++) {
        if (!strcmp(choices[i], node->text)) {
            *value = i;
            return true;
        }
        all = arena_printf(fields->arena, "%s%s%s", all,
                           !i               ? ""
                           : choices[i + 1] ? ", "
                                            : " or ",
                           choices[i]);
    }
    return fields_error(fields, node, "expected %s, not '%s'%s", all, shown(fields, node->text),
                        fields_nearest(fields, node->text, choices, count_of(choices)));
}

bool fields_name(const struct fields *fields, const struct yaml *at, const char *name, bool digits)
{
    bool good = name[0] && (digits || isalpha((unsigned char)name[0]));
    for (const char *c = name; *c; c++)
        good &= isalnum((unsigned char)*c) || *c == '_';
    return good || fields_key_error(
                       fields, at, "'%s' is not a name: expected letters, digits and underscores%s",
                       shown(fields, name), digits ? "" : ", a letter first");
}

struct text_place fields_key_place(const struct fields *fields, const struct yaml *node)
{
    if (!node->key)
        return (struct text_place){fields->file, node->line, node->column};
    return (struct text_place){fields->file, node->key_line, node->key_column};
}

struct text_place fields_place(const struct fields *fields, const struct yaml *node)
{
    return (struct text_place){fields->file, node->line, node->column + (node->quoted ? 1 : 0)};
}
