/*
 * Machine files: see machine.h and config.h for their form.
 *
 *  M1  Files are read and parsed from the machine up to its farthest parent, then applied from
 *      there down, so that the nearer file wins.
 *  M2  A parent is a name, never a path: a text cannot make Heddle open arbitrary files.
 *  M3  A file is identified by its real path, a built-in machine by its name, to detect cycles.
 */
#include "base/machine.h"

#include "base/config.h"
#include "base/product.h"
#include "base/text.h"
#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *const value_source_names[SOURCE_COUNT] = {"", "stated", "derived", "inherited",
                                                      "assumed"};
static const char *const about_keys[] = {"machine", "parent", "description", "published"};

struct machine_file {
    const char *place;     /* for messages */
    const char *identity;  /* M3 */
    const char *directory; /* of a file: searched first for its parent; else NULL */
    const char *text;
    size_t length;
    const char *packed; /* of a built-in machine, instead of its text */
    const char *name, *parent, *description;
    const struct yaml *tree;
    struct published_values published;
};

struct loader {
    struct arena *arena;
    const struct component *const *components;
    const struct machine_sink *sink;
    struct error *error;
};

#define wrong(...) (wrong_fill(__VA_ARGS__), error_false())
static void wrong_fill(const struct loader *loader, const struct machine_file *file, u32 line,
                       u32 column, const char *format, ...) __attribute__((format(printf, 5, 6)));

static void wrong_fill(const struct loader *loader, const struct machine_file *file, u32 line,
                       u32 column, const char *format, ...)
{
    char place[256], message[1024];
    snprintf(place, sizeof place, "%.200s:%u:%u", file->place, line, column);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error_set(loader->error, ERROR_INPUT, place, "%s", message);
}

/* " did you mean 'x'?" or "" */
static const char *hint(const struct loader *loader, const char *word,
                        const char *const *candidates, u32 count)
{
    const char *nearest = nearest_word(word, candidates, count);
    return nearest ? arena_printf(loader->arena, ": did you mean '%s'?", nearest) : "";
}

static bool is_name(const char *text)
{
    if (!isalnum((u8)text[0]) || strlen(text) > 64)
        return false;
    for (const char *at = text; *at; at++)
        if (!isalnum((u8)*at) && !strchr("-_.", *at))
            return false;
    return true;
}

/* ---- finding and reading ---- */

static bool read_path(const struct loader *loader, struct machine_file *file, const char *path)
{
    char *text = text_read_file(path, false, YAML_MAX_BYTES, &file->length, loader->error);
    if (!text)
        return false;
    file->text = arena_strndup(loader->arena, text, file->length);
    free(text);
    file->place = arena_strdup(loader->arena, path);
    char *real = realpath(path, NULL);
    file->identity = arena_strdup(loader->arena, real ? real : path);
    free(real);
    const char *slash = strrchr(path, '/');
    file->directory = slash ? arena_strndup(loader->arena, path, (size_t)(slash - path) + 1) : "";
    /* without `machine:` the file's name is the machine's */
    const char *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    file->name = dot ? arena_strndup(loader->arena, base, (size_t)(dot - base)) : base;
    return true;
}

static const struct builtin_file *find_builtin(const char *name)
{
    for (const struct builtin_file *machine = builtin_machines; machine->name; machine++)
        if (!strcmp(machine->name, name))
            return machine;
    return NULL;
}

/* The directories of HEDDLE_MACHINE_PATH, each with a trailing slash. */
static const char **search_path(struct arena *arena, u32 *count)
{
    const char *at = getenv("HEDDLE_MACHINE_PATH");
    u32 most = 1;
    for (const char *c = at; c && *c; c++)
        most += *c == ':';
    const char **directories = arena_array(arena, const char *, most);
    *count = 0;
    while (at && *at) {
        size_t length = strcspn(at, ":");
        if (length)
            directories[(*count)++] = arena_printf(arena, "%.*s/", (int)length, at);
        at += length + (at[length] == ':');
    }
    return directories;
}

/* The file of a named machine in a directory, or NULL. */
static const char *file_in(struct arena *arena, const char *directory, const char *name)
{
    const char *path = arena_printf(arena, "%s%s.yaml", directory, name);
    return access(path, F_OK) == 0 ? path : NULL;
}

static bool no_such_machine(const struct loader *loader, const char *name, const char *place)
{
    const char *names[64];
    u32 count = 0;
    for (const struct builtin_file *machine = builtin_machines; machine->name; machine++)
        if (count < ARRAY_LEN(names))
            names[count++] = machine->name;
    const char *nearest = nearest_word(name, names, count);
    char suggestion[96] = "'heddle machines' lists them";
    if (nearest)
        snprintf(suggestion, sizeof suggestion, "did you mean '%s'?", nearest);
    return error_set(loader->error, ERROR_NOT_FOUND, place, "there is no machine '%.100s': %s",
                     text_printable(loader->arena, name), suggestion);
}

/* `beside` is the directory searched first, or NULL; `place` is where the name was written. */
static bool read_named(const struct loader *loader, struct machine_file *file, const char *name,
                       const char *beside, const char *place)
{
    if (!is_name(name))
        return no_such_machine(loader, name, place);
    const char *path = beside ? file_in(loader->arena, beside, name) : NULL;
    u32 count;
    const char **directories = search_path(loader->arena, &count);
    for (u32 i = 0; i < count && !path; i++)
        path = file_in(loader->arena, directories[i], name);
    if (path)
        return read_path(loader, file, path);
    const struct builtin_file *builtin = find_builtin(name);
    if (!builtin)
        return no_such_machine(loader, name, place);
    file->place = arena_printf(loader->arena, "machine %s", name);
    file->identity = file->name = name;
    file->packed = builtin->text;
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

static bool read_given(const struct loader *loader, struct machine_file *file, const char *name)
{
    bool is_path = strchr(name, '/') || ends_with(name, ".yaml") || ends_with(name, ".yml") ||
                   ends_with(name, ".json");
    if (is_path)
        return read_path(loader, file, name);
    if (read_named(loader, file, name, NULL, ""))
        return true;
    /* not a known name: perhaps a file without an extension */
    return loader->error->code == ERROR_NOT_FOUND && access(name, F_OK) == 0 &&
           read_path(loader, file, name);
}

/* ---- descriptions ---- */

static bool about_text(const struct loader *loader, const struct machine_file *file,
                       const char *key, const char **text)
{
    const struct yaml *node = yaml_get(file->tree, key);
    if (!node)
        return true;
    if (node->kind != YAML_SCALAR || !node->text[0])
        return wrong(loader, file, node->line, node->column, "%s: expected text, not %s", key,
                     yaml_kind_name(node));
    *text = node->text;
    return true;
}

static bool name_ok(const struct loader *loader, const struct machine_file *file, const char *key,
                    const char *name)
{
    const struct yaml *node = yaml_get(file->tree, key);
    if (!node || is_name(name))
        return true;
    return wrong(loader, file, node->line, node->column,
                 "%s: '%.100s' is not a name: expected letters, digits, '-', '_' and '.'", key,
                 text_printable(loader->arena, name));
}

static bool read_published(const struct loader *loader, struct machine_file *file)
{
    const struct yaml *node = yaml_get(file->tree, "published");
    return !node ||
           published_read(loader->arena, &file->published, node, file->place, loader->error);
}

static bool parse_file(const struct loader *loader, struct machine_file *file)
{
    struct yaml *tree = file->packed ? yaml_unpack(loader->arena, file->packed)
                                     : yaml_parse(loader->arena, file->text, file->length,
                                                  file->place, loader->error);
    if (!tree)
        return false;
    file->tree = tree;
    bool empty = tree->kind == YAML_SCALAR && !tree->text[0];
    if (tree->kind != YAML_MAP && !empty)
        return wrong(loader, file, tree->line, tree->column,
                     "a machine file is a mapping of components to their values, not %s",
                     yaml_kind_name(tree));
    file->parent = file->description = "";
    return about_text(loader, file, "machine", &file->name) &&
           about_text(loader, file, "parent", &file->parent) &&
           about_text(loader, file, "description", &file->description) &&
           name_ok(loader, file, "machine", file->name) &&
           name_ok(loader, file, "parent", file->parent) && read_published(loader, file);
}

/* ---- values ---- */

/* {value: 16, source: stated, note: text} */
static bool open_value(const struct loader *loader, const struct machine_file *file,
                       const char *key, const struct yaml *node, const struct yaml **value,
                       struct origin *origin)
{
    static const char *const fields[] = {"value", "source", "note"};
    for (const struct yaml *child = node->first; child; child = child->next) {
        if (!strcmp(child->key, "value")) {
            *value = child;
            continue;
        }
        if (child->kind != YAML_SCALAR)
            return wrong(loader, file, child->line, child->column, "%s: expected one value, not %s",
                         key, yaml_kind_name(child));
        if (!strcmp(child->key, "note")) {
            origin->note = child->text;
        } else if (!strcmp(child->key, "source")) {
            for (u32 i = 1; i < SOURCE_COUNT; i++)
                if (!strcmp(child->text, value_source_names[i]))
                    origin->source = i;
            if (origin->source == SOURCE_UNSAID)
                return wrong(loader, file, child->line, child->column,
                             "%s: source '%.64s' is unknown: expected stated, derived, "
                             "inherited or assumed",
                             key, text_printable(loader->arena, child->text));
        } else {
            return wrong(loader, file, child->key_line, child->key_column,
                         "%s: unknown field '%.64s'%s: expected value, source and note", key,
                         text_printable(loader->arena, child->key),
                         hint(loader, child->key, fields, ARRAY_LEN(fields)));
        }
    }
    if (*value)
        return true;
    return wrong(loader, file, node->line, node->column, "%s: 'value' is missing", key);
}

/* The text of a value; that of a list is its values separated by commas. */
static bool value_text(const struct loader *loader, const struct machine_file *file,
                       const char *key, const struct param *param, const struct yaml *node,
                       const char **text)
{
    bool list = param && param->type == PARAM_LIST; /* a size has no param */
    *text = node->text;
    if (node->kind == YAML_SCALAR)
        return true;
    if (node->kind != YAML_LIST || !list)
        return wrong(loader, file, node->line, node->column, "%s: expected %s, not %s", key,
                     list ? "a list of values" : "one value", yaml_kind_name(node));
    size_t length = 1;
    for (const struct yaml *child = node->first; child; child = child->next) {
        if (child->kind != YAML_SCALAR || strchr(child->text, ','))
            return wrong(loader, file, child->line, child->column,
                         "%s: expected a number in the list, not %s", key, yaml_kind_name(child));
        length += strlen(child->text) + 1;
    }
    char *joined = arena_alloc(loader->arena, length), *at = joined;
    for (const struct yaml *child = node->first; child; child = child->next)
        at += sprintf(at, "%s%s", child == node->first ? "" : ",", child->text);
    *text = joined;
    return true;
}

static bool apply_value(const struct loader *loader, const struct machine_file *file,
                        const struct component *component, const struct yaml *node)
{
    struct origin origin = {file->name, SOURCE_UNSAID, ""};
    u32 i = 0;
    while (i < component->param_count && strcmp(component->params[i].name, node->key) != 0)
        i++;
    const struct param *param = i < component->param_count ? &component->params[i] : NULL;
    if (!param && !product_find(component, node->key)) {
        const u32 count = component->param_count + component->product_count;
        const char **names = arena_array(loader->arena, const char *, count + 1);
        for (u32 j = 0; j < component->param_count; j++)
            names[j] = component->params[j].name;
        for (u32 j = 0; j < component->product_count; j++)
            names[component->param_count + j] = component->products[j].name;
        return wrong(loader, file, node->key_line, node->key_column,
                     "unknown parameter '%s.%.64s'%s", component->name,
                     text_printable(loader->arena, node->key),
                     hint(loader, node->key, names, count));
    }
    const char *key = arena_dotted(loader->arena, component->name, node->key);
    const struct yaml *value = node->kind == YAML_MAP ? NULL : node;
    if (node->kind == YAML_MAP && !open_value(loader, file, key, node, &value, &origin))
        return false;
    const char *text;
    if (!value_text(loader, file, key, param, value, &text))
        return false;
    char place[256];
    snprintf(place, sizeof place, "%.200s:%u:%u", file->place, value->line, value->column);
    return loader->sink->assign(loader->sink->user, component, node->key, text, &origin, place,
                                loader->error);
}

static bool unknown_component(const struct loader *loader, const struct machine_file *file,
                              const struct yaml *node)
{
    const char *shown = text_printable(loader->arena, node->key);
    const char *dot = strchr(node->key, '.');
    if (dot)
        return wrong(loader, file, node->key_line, node->key_column,
                     "unknown key '%.64s': write values below their component, as in "
                     "'%.*s: {%.32s: value}'",
                     shown, (int)MIN(dot - node->key, 32), node->key, dot + 1);
    u32 count = 0;
    while (loader->components[count])
        count++;
    const char **names = arena_array(loader->arena, const char *, count + ARRAY_LEN(about_keys));
    for (u32 i = 0; i < count; i++)
        names[i] = loader->components[i]->name;
    for (u32 i = 0; i < ARRAY_LEN(about_keys); i++)
        names[count + i] = about_keys[i];
    const char *nearest = hint(loader, node->key, names, count + ARRAY_LEN(about_keys));
    return wrong(
        loader, file, node->key_line, node->key_column, "unknown component '%.64s'%s", shown,
        *nearest ? nearest : ": a mechanism in a shared object must be loaded first, with --mech");
}

static bool apply_component(const struct loader *loader, const struct machine_file *file,
                            const struct yaml *node)
{
    for (u32 i = 0; i < ARRAY_LEN(about_keys); i++)
        if (!strcmp(node->key, about_keys[i]))
            return true;
    const struct component *const *component = loader->components;
    while (*component && strcmp((*component)->name, node->key) != 0)
        component++;
    if (!*component)
        return unknown_component(loader, file, node);
    bool empty = node->kind == YAML_SCALAR && !node->text[0];
    if (node->kind != YAML_MAP && !empty)
        return wrong(loader, file, node->line, node->column,
                     "component %s: expected a mapping of parameters to values, not %s", node->key,
                     yaml_kind_name(node));
    for (const struct yaml *child = node->first; child; child = child->next)
        if (!apply_value(loader, file, *component, child))
            return false;
    return true;
}

/* ---- the chain ---- */

static bool cycle(const struct loader *loader, const struct machine_file *files, u32 count,
                  const char *place)
{
    const char *chain = files[0].name;
    for (u32 i = 1; i < count; i++)
        chain = arena_printf(loader->arena, "%s -> %s", chain, files[i].name);
    return error_set(loader->error, ERROR_INPUT, place, "machines inherit from each other: %s",
                     chain);
}

/* Reads the parents of the requested machine, files[0], after it (M1). */
static bool read_parents(const struct loader *loader, struct machine_file *files, u32 *count)
{
    for (;;) {
        const struct machine_file *file = &files[*count - 1];
        if (!file->parent[0])
            return true;
        const struct yaml *node = yaml_get(file->tree, "parent");
        char place[256];
        snprintf(place, sizeof place, "%.200s:%u:%u", file->place, node->line, node->column);
        if (*count > MACHINE_MAX_PARENTS)
            return error_set(loader->error, ERROR_INPUT, place, "more than %d parents",
                             MACHINE_MAX_PARENTS);
        struct machine_file *parent = &files[*count];
        if (!read_named(loader, parent, file->parent, file->directory, place) ||
            !parse_file(loader, parent))
            return false;
        ++*count;
        for (u32 i = 0; i + 1 < *count; i++)
            if (!strcmp(files[i].identity, parent->identity))
                return cycle(loader, files, *count, place);
    }
}

bool machine_load(struct arena *arena, const struct component *const *components, const char *name,
                  const char *text, size_t length, const struct machine_sink *sink,
                  struct machine_about *about, struct error *error)
{
    const struct loader loader = {arena, components, sink, error};
    struct machine_file files[MACHINE_MAX_PARENTS + 1] = {0};
    u32 count = 1;
    if (text)
        files[0] = (struct machine_file){
            .place = name, .identity = "", .name = "", .text = text, .length = length};
    else if (!read_given(&loader, &files[0], name))
        return false;
    if (!parse_file(&loader, &files[0]) || !read_parents(&loader, files, &count))
        return false;
    for (u32 i = count; i-- > 0;)
        for (const struct yaml *node = files[i].tree->first; node; node = node->next)
            if (!apply_component(&loader, &files[i], node))
                return false;
    about->name = files[0].name;
    about->description = files[0].description;
    about->published = files[0].published;
    about->parent_count = count - 1;
    for (u32 i = 1; i < count; i++)
        about->parents[i - 1] = files[i].name;
    return true;
}

/* ---- the list ---- */

struct listed {
    const char *name, *path; /* path NULL: built in */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct listed *)a)->name, ((const struct listed *)b)->name);
}

/* Adds a machine, unless an earlier directory has one of the same name. */
static void list_add(struct listed *list, u32 *count, u32 most, const char *name, const char *path)
{
    for (u32 i = 0; i < *count; i++)
        if (!strcmp(list[i].name, name))
            return;
    if (*count < most)
        list[(*count)++] = (struct listed){name, path};
}

static void list_directory(struct arena *arena, const char *directory, struct listed *list,
                           u32 *count, u32 most)
{
    DIR *handle = opendir(directory);
    for (struct dirent *entry; handle && (entry = readdir(handle));) {
        if (!ends_with(entry->d_name, ".yaml"))
            continue;
        const char *name = arena_strndup(arena, entry->d_name, strlen(entry->d_name) - 5);
        if (is_name(name))
            list_add(list, count, most, name,
                     arena_printf(arena, "%s%s", directory, entry->d_name));
    }
    if (handle)
        closedir(handle);
}

/* Loads the machine, so that its errors are reported. */
static json_t *listed_json(struct arena *arena, const struct listed *listed,
                           const struct component *const *components)
{
    struct config *config = config_create(components);
    struct error error = {0};
    json_t *entry = json_object();
    json_object_set_new(entry, "name", text_json(listed->name));
    if (config_load_machine(config, listed->path ? listed->path : listed->name, &error)) {
        json_t *about = config_explain_json(config);
        json_t *parent = json_array_get(json_object_get(about, "parents"), 0);
        json_object_set(entry, "description", json_object_get(about, "description"));
        json_object_set_new(entry, "parent", parent ? json_incref(parent) : json_string(""));
        json_decref(about);
    } else {
        char text[2400];
        json_object_set_new(entry, "error", text_json(error_text(&error, text, sizeof text)));
    }
    const char *place = listed->path ? text_printable(arena, listed->path) : "built in";
    json_object_set_new(entry, "place", text_json(place));
    config_destroy(config);
    return entry;
}

json_t *config_machines_json(const struct component *const *components)
{
    enum {
        MOST = 1024
    };
    struct arena *arena = arena_create();
    struct listed *list = arena_array(arena, struct listed, MOST);
    u32 count = 0, directory_count;
    const char **directories = search_path(arena, &directory_count);
    for (u32 i = 0; i < directory_count; i++)
        list_directory(arena, directories[i], list, &count, MOST);
    for (const struct builtin_file *machine = builtin_machines; machine->name; machine++)
        list_add(list, &count, MOST, machine->name, NULL);
    qsort(list, count, sizeof *list, by_name);
    json_t *array = json_array();
    for (u32 i = 0; i < count; i++)
        json_array_append_new(array, listed_json(arena, &list[i], components));
    arena_destroy(arena);
    return array;
}
