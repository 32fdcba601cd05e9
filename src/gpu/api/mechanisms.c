/* The public API: selection and description of mechanisms. */
#include "gpu/api/api.h"
#include "gpu/launch/launch.h"
#include "gpu/machine/storage.h"

#include <stdlib.h>

/* ---- parameter=value,... ---- */

static const struct param *find_param(const struct mechanism *mechanism, const char *name,
                                      size_t length)
{
    for (u32 i = 0; i < mechanism->component->param_count; i++) {
        const struct param *param = &mechanism->component->params[i];
        if (strlen(param->name) == length && !memcmp(param->name, name, length))
            return param;
    }
    return NULL;
}

static bool unknown_param(struct arena *arena, const struct mechanism *mechanism, const char *name,
                          struct error *error)
{
    const u32 count = mechanism->component->param_count;
    const char **names = arena_array(arena, const char *, count + 1), *all = "";
    for (u32 i = 0; i < count; i++) {
        names[i] = mechanism->component->params[i].name;
        all = arena_printf(arena, "%s%s%s", all, i ? ", " : "", names[i]);
    }
    const char *nearest = nearest_word(name, names, count);
    if (nearest)
        all = nearest;
    return error_set(error, ERROR_USAGE, "", "mechanism %s has no parameter '%.64s': %s%s%s",
                     mechanism->name, text_printable(arena, name),
                     nearest ? "did you mean '" : "it has ", all, nearest ? "'?" : "");
}

/* Sets one "parameter=value" from `text`; *end is after it. The values of a list are separated by
 * commas: a piece without '=' is its next value. */
static bool set_param(struct arena *arena, struct config *config, const struct mechanism *mechanism,
                      const char *text, const char **end, struct error *error)
{
    size_t length = strcspn(text, ","), key = strcspn(text, "=,");
    if (text[key] != '=' || !key)
        return error_set(error, ERROR_USAGE, "",
                         "'%.64s' is not a setting of mechanism %s: expected parameter=value",
                         text_printable(arena, arena_strndup(arena, text, length)),
                         mechanism->name);
    const struct param *param = find_param(mechanism, text, key);
    if (!param)
        return unknown_param(arena, mechanism, arena_strndup(arena, text, key), error);
    while (param->type == PARAM_LIST && text[length]) {
        size_t piece = strcspn(text + length + 1, ",=");
        if (text[length + 1 + piece] == '=')
            break;
        length += 1 + piece;
    }
    *end = text + length;
    const char *setting =
        arena_printf(arena, "%s.%.*s", mechanism->component->name, (int)length, text);
    return config_set(config, setting, error);
}

static bool switch_on(struct config *config, const struct mechanism *mechanism,
                      const char *settings, struct error *error)
{
    struct arena *arena = arena_create();
    bool ok =
        config_set(config, arena_printf(arena, "%s.on=true", mechanism->component->name), error);
    while (ok && settings) {
        const char *end = settings;
        ok = set_param(arena, config, mechanism, settings, &end, error);
        settings = *end ? end + 1 : NULL;
    }
    arena_destroy(arena);
    return ok;
}

/* ---- mechanisms of shared objects ---- */

/* The length of a mechanism's or file's name: folders may have colons in their names. */
static size_t name_length(const char *text)
{
    const char *slash = strrchr(text, '/'), *last = slash ? slash : text;
    return (size_t)(last - text) + strcspn(last, ":");
}

static const struct plugin *plugin_of(const struct hd_config *config,
                                      const struct mechanism *mechanism)
{
    for (u32 i = 0; i < config->plugins.count; i++)
        if (config->plugins.data[i]->mechanism == mechanism)
            return config->plugins.data[i];
    return NULL;
}

/* Checks that the configuration has no other mechanism of this name. */
static bool is_new(const struct hd_config *config, const struct plugin *plugin, struct error *error)
{
    const char *name = plugin->mechanism->name;
    for (u32 i = 0; config->available[i]; i++)
        if (!strcmp(config->available[i]->name, name)) {
            const struct plugin *other = plugin_of(config, config->available[i]);
            return error_set(error, ERROR_INPUT, plugin->path,
                             "mechanism %s exists already: it is %s%s", name,
                             other ? "that of " : "built in", other ? other->path : "");
        }
    return true;
}

static void add_plugin(struct hd_config *config, struct plugin *plugin)
{
    u32 count = 0;
    while (config->available[count])
        count++;
    config->available =
        checked(realloc(config->available, (count + 2) * sizeof *config->available));
    config->available[count] = plugin->mechanism;
    config->available[count + 1] = NULL;
    config_add(config->config, plugin->mechanism->component);
    *vec_push(&config->plugins) = plugin_share(plugin);
}

/* ---- selection ---- */

/* Switches a mechanism on; `plugin` is added, or NULL. Tried on a copy first: a call that fails
 * changes nothing. */
static bool choose(struct hd_config *config, const struct mechanism *mechanism,
                   struct plugin *plugin, const char *settings, struct error *error)
{
    struct config *copy = config_clone(config->config);
    if (plugin)
        config_add(copy, mechanism->component);
    bool ok = switch_on(copy, mechanism, settings, error);
    config_destroy(copy);
    if (ok && plugin)
        add_plugin(config, plugin);
    return ok && switch_on(config->config, mechanism, settings, error);
}

static bool choose_file(struct hd_config *config, const char *path, const char *settings,
                        struct error *error)
{
    struct plugin *plugin = plugin_open(path, error);
    if (!plugin)
        return false;
    const bool known = plugin_of(config, plugin->mechanism); /* this object is loaded already */
    bool ok = (known || is_new(config, plugin, error)) &&
              choose(config, plugin->mechanism, known ? NULL : plugin, settings, error);
    plugin_close(plugin);
    return ok;
}

bool hd_config_mechanism(struct hd_config *config, const char *text, struct hd_error *error)
{
    if (!config || !text)
        return api_null(error, "hd_config_mechanism");
    struct error inner = {0};
    const size_t length = name_length(text);
    const char *settings = text[length] ? text + length + 1 : NULL;
    char *name = checked(strndup(text, length));
    const bool is_file = plugin_named(name, length);
    const struct mechanism *mechanism =
        is_file ? NULL : mechanism_find(config->available, name, &inner);
    const bool ok = is_file ? choose_file(config, name, settings, &inner)
                            : mechanism && choose(config, mechanism, NULL, settings, &inner);
    free(name);
    return ok || api_fail(error, &inner);
}

/* ---- descriptions ---- */

static json_t *words_json(const char *const *words)
{
    json_t *list = json_array();
    for (; words && *words; words++)
        json_array_append_new(list, json_string(*words));
    return list;
}

static json_t *text_or_null(const char *text)
{
    return text ? text_json(text) : json_null();
}

static json_t *events_json(const struct mechanism *mechanism)
{
    static const char *const kinds[] = {"read", "write", "search", "logic"};
    json_t *rows = json_array();
    for (const struct energy_event *event = mechanism->events; event && event->counter; event++) {
        json_t *row = json_object();
        json_object_set_new(row, "counter",
                            json_sprintf("%s.%s", mechanism->component->name, event->counter));
        json_object_set_new(row, "part", json_string(event->part));
        json_object_set_new(row, "kind", json_string(kinds[event->kind]));
        json_object_set_new(row, "array", text_or_null(event->array));
        json_object_set_new(row, "bits", event->bits ? json_integer(event->bits) : json_null());
        const bool said = event->kind == ENERGY_LOGIC;
        json_object_set_new(row, "pj", said ? json_real(event->pj) : json_null());
        json_object_set_new(row, "nm", said ? json_integer(event->nm) : json_null());
        json_object_set_new(row, "source", text_or_null(event->source));
        json_object_set_new(row, "given",
                            event->given
                                ? json_sprintf("%s.%s", mechanism->component->name, event->given)
                                : json_null());
        json_array_append_new(rows, row);
    }
    return rows;
}

/* ---- what they change of a machine's costs ---- */

static json_t *text_of(const struct mechanism *mechanism, const char *name)
{
    return name ? json_sprintf("%s.%s", mechanism->component->name, name) : json_null();
}

static json_t *number_or_null(f64 value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *replaces_json(const struct mechanism_use *use)
{
    json_t *rows = json_array();
    for (const struct energy_replace *row = use->mechanism->replaces; row && row->element; row++)
        if (!row->when || row->when(use->params))
            json_array_append_new(rows, json_pack("{ss,so,so}", "element", row->element, "by",
                                                  text_or_null(row->by), "part",
                                                  text_or_null(row->part)));
    return rows;
}

static json_t *cells_json(const struct mechanism_use *use)
{
    const struct mechanism *m = use->mechanism;
    json_t *rows = json_array();
    for (const struct energy_cell *row = m->cells; row && row->element; row++) {
        if (row->when && !row->when(use->params))
            continue;
        json_t *given =
            json_pack("{so,so,so,so}", "area_um2", text_of(m, row->given.area_um2), "leakage_mw",
                      text_of(m, row->given.leakage_mw), "read_pj", text_of(m, row->given.read_pj),
                      "write_pj", text_of(m, row->given.write_pj));
        json_array_append_new(
            rows,
            json_pack("{ss,ss,so,so,so,so,so,so,so,so,so,so}", "element", row->element, "cell",
                      row->cell, "area_um2", number_or_null(row->area_um2), "leakage_mw",
                      number_or_null(row->leakage_mw), "read_pj", number_or_null(row->read_pj),
                      "write_pj", number_or_null(row->write_pj), "delay_ps",
                      number_or_null(row->delay_ps), "area_share", number_or_null(row->area_share),
                      "entries", row->entries ? json_integer(row->entries) : json_null(), "nm",
                      row->nm ? json_integer(row->nm) : json_null(), "source",
                      text_or_null(row->source), "given", given));
    }
    return rows;
}

static json_t *supplies_json(const struct mechanism_use *use)
{
    json_t *rows = json_array();
    for (const struct energy_supply *row = use->mechanism->supplies; row && row->element; row++)
        if (!row->when || row->when(use->params))
            json_array_append_new(rows, json_pack("{ss,so,so}", "element", row->element, "volts",
                                                  text_of(use->mechanism, row->volts), "rate",
                                                  text_of(use->mechanism, row->rate)));
    return rows;
}

static json_t *powers_json(const struct mechanism_use *use)
{
    json_t *rows = json_array();
    for (const struct energy_power *row = use->mechanism->powers; row && row->element; row++)
        if (!row->when || row->when(use->params))
            json_array_append_new(rows, json_pack("{ss,so,so,so}", "element", row->element,
                                                  "counter", text_of(use->mechanism, row->counter),
                                                  "off", text_of(use->mechanism, row->off), "part",
                                                  text_or_null(row->part)));
    return rows;
}

static json_t *seams_json(const struct mechanism *mechanism)
{
    json_t *list = json_array();
    for (u32 i = 0; seam_rows[i].name; i++)
        if (mechanism_fills(mechanism, i))
            json_array_append_new(list, json_string(seam_rows[i].name));
    return list;
}

char *hd_seams_json(void)
{
    json_t *rows = json_array();
    for (const struct seam_row *seam = seam_rows; seam->name; seam++)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s}", "group", seam->group, "name",
                                              seam->name, "called", seam->called, "decides",
                                              seam->decides));
    char *text = json_dumps(rows, JSON_INDENT(2));
    json_decref(rows);
    return text;
}

/* Adds the storage, with the parameters of `config`. */
static void add_storage(json_t *row, const struct mechanism *mechanism, const struct config *config)
{
    struct state_list list = {0};
    u64 bits = 0;
    json_t *rows = json_array();
    storage_collect(&list, config); /* its sizes may depend on the machine's */
    const u32 first = list.rows.count;
    mechanism_storage(&list, config, mechanism);
    for (u32 i = first; i < list.rows.count; i++) {
        json_array_append_new(rows, storage_row_json(&list.rows.data[i]));
        if (!strcmp(list.rows.data[i].owner, "core"))
            bits += list.rows.data[i].entries * list.rows.data[i].bits;
    }
    json_object_set_new(row, "storage", rows);
    json_object_set_new(row, "core_bits", stats_number(bits));
    state_free(&list);
}

/* Which file a mechanism was loaded from: null for a built-in one. */
static void put_file(json_t *row, const struct plugin *plugin)
{
    json_object_set_new(row, "path", text_or_null(plugin ? plugin->path : NULL));
    json_object_set_new(row, "bytes", plugin ? stats_number(plugin->bytes) : json_null());
    json_object_set_new(row, "sha256", text_or_null(plugin ? plugin->sha256 : NULL));
}

static json_t *mechanism_json(const struct hd_config *from, const struct mechanism *mechanism)
{
    const struct config *config = from->config;
    const struct component *const components[] = {mechanism->component, NULL};
    const struct mechanism_use use = {.mechanism = mechanism,
                                      .params = config_params(config, mechanism->component)};
    json_t *row = json_object();
    json_object_set_new(row, "name", json_string(mechanism->name));
    json_object_set_new(row, "help", json_string(mechanism->help));
    json_object_set_new(row, "source", text_or_null(mechanism->source));
    json_object_set_new(row, "on", json_boolean(mechanism_is_on(config, mechanism)));
    put_file(row, plugin_of(from, mechanism));
    json_object_set_new(row, "params", config_params_table_json(components));
    json_object_set_new(row, "stats", stats_table_json(components));
    json_object_set_new(row, "events", events_json(mechanism));
    json_object_set_new(row, "replaces", replaces_json(&use));
    json_object_set_new(row, "cells", cells_json(&use));
    json_object_set_new(row, "supplies", supplies_json(&use));
    json_object_set_new(row, "powers", powers_json(&use));
    add_storage(row, mechanism, config);
    json_object_set_new(row, "seams", seams_json(mechanism));
    json_object_set_new(row, "random", json_boolean(mechanism->random));
    json_object_set_new(row, "chip", json_boolean(mechanism->chip));
    json_object_set_new(row, "deviations", words_json(mechanism->deviations));
    json_object_set_new(row, "conflicts", words_json(mechanism->conflicts));
    return row;
}

char *hd_config_mechanisms(const struct hd_config *config)
{
    if (!config)
        return NULL;
    json_t *rows = json_array();
    for (u32 i = 0; config->available[i]; i++)
        json_array_append_new(rows, mechanism_json(config, config->available[i]));
    char *text = json_dumps(rows, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(rows);
    return text;
}

char *hd_config_plugins(const struct hd_config *config)
{
    if (!config)
        return NULL;
    json_t *rows = json_array();
    for (u32 i = 0; i < config->plugins.count; i++) {
        const struct plugin *plugin = config->plugins.data[i];
        json_t *row = json_object();
        json_object_set_new(row, "name", json_string(plugin->mechanism->name));
        json_object_set_new(row, "on",
                            json_boolean(mechanism_is_on(config->config, plugin->mechanism)));
        put_file(row, plugin);
        json_array_append_new(rows, row);
    }
    char *text = json_dumps(rows, JSON_INDENT(2));
    json_decref(rows);
    return text;
}

char *hd_mechanisms_json(void)
{
    struct hd_config *config = hd_config_create();
    char *text = hd_config_mechanisms(config);
    hd_config_destroy(config);
    return text;
}
