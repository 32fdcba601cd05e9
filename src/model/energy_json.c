/* Energy as JSON: flat names like those of statistics, and the cost of each event. */
#include "gpu/api/api.h"
#include "gpu/machine/stats.h"
#include "model/energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

json_t *energy_pj(u64 fj)
{
    return json_real((f64)fj / 1000);
}

/* fJ per ps is mW. */
static json_t *watts(u64 fj, u64 picoseconds)
{
    return picoseconds ? json_real((f64)fj / (f64)picoseconds / 1000) : json_null();
}

static void put_sums(json_t *into, u64 dynamic, u64 leaked, u64 attributed)
{
    json_object_set_new(into, "energy.dynamic_pj", energy_pj(dynamic));
    json_object_set_new(into, "energy.static_pj", energy_pj(leaked));
    json_object_set_new(into, "energy.total_pj", energy_pj(dynamic + leaked));
    json_object_set_new(into, "energy.unattributed_pj", energy_pj(dynamic + leaked - attributed));
}

static void put_rates(json_t *into, u64 dynamic, u64 leaked, u64 picoseconds, u64 threads)
{
    json_object_set_new(into, "energy.dynamic_w", watts(dynamic, picoseconds));
    json_object_set_new(into, "energy.static_w", watts(leaked, picoseconds));
    json_object_set_new(into, "energy.total_w", watts(dynamic + leaked, picoseconds));
    json_object_set_new(into, "energy.pj_per_thread_instruction",
                        threads ? json_real((f64)(dynamic + leaked) / 1000 / (f64)threads)
                                : json_null());
}

static void put_part(json_t *into, const char *part, const char *what, u64 fj)
{
    char key[192];
    snprintf(key, sizeof key, "energy.parts.%s.%s", part, what);
    json_object_set_new(into, key, energy_pj(fj));
}

void energy_json(json_t *into, const struct energy_model *model, const struct energy_sum *sum,
                 const struct machine_stats *stats)
{
    u64 dynamic = 0, leaked = 0;
    for (u32 i = 0; i < model->part_count; i++) {
        dynamic += sum->dynamic_fj[i];
        leaked += sum->static_fj[i];
    }
    put_sums(into, dynamic, leaked, sum->attributed_fj);
    put_rates(into, dynamic, leaked, stats->timing.picoseconds, stats->timing.thread_instructions);
    for (u32 i = 0; i < model->part_count; i++) {
        put_part(into, model->parts[i], "dynamic_pj", sum->dynamic_fj[i]);
        put_part(into, model->parts[i], "static_pj", sum->static_fj[i]);
    }
}

void energy_each(const struct energy_model *model, const struct energy_sum *sum, count_fn *visit,
                 void *user)
{
    static const struct energy_sum none;
    u64 dynamic = 0, leaked = 0;
    sum = sum ? sum : &none;
    for (u32 i = 0; i < model->part_count; i++) {
        dynamic += sum->dynamic_fj[i];
        leaked += sum->static_fj[i];
    }
    visit(user, (const char *const[3]){"energy", "dynamic_pj"}, dynamic);
    visit(user, (const char *const[3]){"energy", "static_pj"}, leaked);
    visit(user, (const char *const[3]){"energy", "unattributed_pj"},
          dynamic + leaked - sum->attributed_fj);
    for (u32 i = 0; i < model->part_count; i++) {
        const char *part = model->parts[i];
        visit(user, (const char *const[3]){"energy.parts", part, "dynamic_pj"}, sum->dynamic_fj[i]);
        visit(user, (const char *const[3]){"energy.parts", part, "static_pj"}, sum->static_fj[i]);
    }
}

/* ---- totals of several processes ---- */

static bool is_sum(const char *key)
{
    size_t length = strlen(key);
    return !strncmp(key, "energy.", 7) && length > 3 && !strcmp(key + length - 3, "_pj");
}

static u64 femtojoules(const json_t *pj)
{
    return (u64)llround(json_number_value(pj) * 1000);
}

static u64 total_of(const json_t *totals, const char *key)
{
    return femtojoules(json_object_get(totals, key));
}

static bool add_launch(json_t *totals, const json_t *launch, struct error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(launch, "stats"), key, value)
    {
        if (!is_sum(key))
            continue;
        if (!json_is_number(value) || json_number_value(value) < 0)
            return error_set(error, ERROR_INPUT, "", "%s is not an energy field of a launch", key);
        json_object_set_new(totals, key, energy_pj(total_of(totals, key) + femtojoules(value)));
    }
    return true;
}

bool energy_total_json(json_t *totals, const json_t *launches, struct error *error)
{
    json_t *sums = json_object();
    bool right = true;
    for (size_t i = 0; right && i < json_array_size(launches); i++)
        right = add_launch(sums, json_array_get(launches, i), error);
    if (right && json_object_size(sums)) {
        const char *key;
        json_t *value;
        u64 dynamic = total_of(sums, "energy.dynamic_pj"),
            leaked = total_of(sums, "energy.static_pj"),
            attributed = dynamic + leaked - total_of(sums, "energy.unattributed_pj");
        put_sums(totals, dynamic, leaked, attributed);
        put_rates(totals, dynamic, leaked,
                  (u64)json_integer_value(json_object_get(totals, "timing.picoseconds")),
                  (u64)json_integer_value(json_object_get(totals, "timing.thread_instructions")));
        json_object_foreach(sums, key, value) if (!json_object_get(totals, key))
            json_object_set(totals, key, value);
    }
    json_decref(sums);
    return right;
}

/* ---- costs ---- */

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

/* The source of a number: "lashgar, table 1: I-Cache data", or other text. */
static json_t *source_json(const struct published *published, const char *source)
{
    return published
               ? json_sprintf("%s, %s: %s", published->table, published->place, published->what)
               : text_or_null(source);
}

/* A member of a row. Keys are plain ASCII: nothing has to check them. */
static void put(json_t *row, const char *key, json_t *value)
{
    json_object_set_new_nocheck(row, key, value);
}

static json_t *event_json(const struct energy_model *model, const struct energy_row *row)
{
    static const char *const kinds[] = {"read", "write", "search", "logic"};
    json_t *json = json_object();
    put(json, "counter", json_sprintf("%s.%s", row->component->name, row->counter));
    put(json, "part", json_string(model->parts[row->part]));
    put(json, "kind", json_string(kinds[row->kind]));
    put(json, "array", text_or_null(row->array));
    put(json, "bits", row->bits ? json_integer(row->bits) : json_null());
    put(json, "pj", json_real(row->pj));
    put(json, "from", json_string(row->from));
    put(json, "source", source_json(row->published, row->source));
    if (row->replaced)
        put(json, "replaced_by", json_string(row->replaced));
    if (row->volts > 0)
        put(json, "volts", json_real(row->volts));
    return json;
}

static json_t *leak_json(const struct energy_model *model, const struct energy_leak *leak)
{
    json_t *json = json_object();
    put(json, "part", json_string(model->parts[leak->part]));
    put(json, "what",
        leak->unit ? json_sprintf("%s.%s", leak->unit, leak->name) : json_string(leak->name));
    put(json, "copies", stats_number(leak->copies));
    put(json, "mw", json_real(leak->mw));
    put(json, "from", json_string(leak->from));
    put(json, "source", source_json(leak->published, leak->source));
    if (leak->replaced)
        put(json, "replaced_by", json_string(leak->replaced));
    if (leak->rate > 0) {
        put(json, "volts", json_real(leak->volts));
        put(json, "rate", json_real(leak->rate));
    }
    if (leak->powered) {
        put(json, "powered_by", json_string(leak->powered));
        put(json, "off", json_real(leak->off));
        put(json, "fj_per_count", json_real(leak->fj_per_count));
    }
    return json;
}

/* Storage elements whose accesses no event counts. */
static json_t *holes_json(const struct energy_model *model)
{
    json_t *list = json_array();
    const struct state_row *const first = model->storage.rows.data;
    bool *counted = checked(calloc(model->storage.rows.count + 1, sizeof *counted));
    for (u32 i = 0; i < model->rows.count; i++) {
        const char *array = model->rows.data[i].array;
        const struct state_row *row = array ? state_find(&model->storage, array) : NULL;
        if (row)
            counted[row - first] = true;
    }
    for (u32 i = 0; i < model->storage.rows.count; i++)
        if (!counted[i] && !first[i].replaced)
            json_array_append_new(list, json_sprintf("%s.%s", first[i].unit, first[i].name));
    free(counted);
    return list;
}

static json_t *model_json(const struct energy_model *model)
{
    json_t *json = json_object(), *technology = json_object(), *rows = json_array(),
           *leaks = json_array();
    json_object_set_new(technology, "nm", json_integer(model->technology.nm));
    json_object_set_new(technology, "volts", json_real(model->technology.volts));
    json_object_set_new(technology, "celsius", json_real(model->technology.celsius));
    json_object_set_new(technology, "table", json_string(model->table));
    for (u32 i = 0; i < model->rows.count; i++)
        json_array_append_new(rows, event_json(model, &model->rows.data[i]));
    for (u32 i = 0; i < model->leaks.count; i++)
        json_array_append_new(leaks, leak_json(model, &model->leaks.data[i]));
    json_object_set_new(json, "technology", technology);
    json_object_set_new(json, "events", rows);
    json_object_set_new(json, "leakage", leaks);
    json_object_set_new(json, "without_events", holes_json(model));
    return json;
}

char *hd_energy_json(const struct hd_config *config, struct hd_error *error)
{
    struct error inner = {0};
    struct mechanism_set set = {0};
    if (!config) {
        api_null(error, "hd_energy_json");
        return NULL;
    }
    struct energy_model *model = NULL;
    if (mechanisms_choose(&set, config->config, config->available, false, &inner))
        model = energy_create(config->config, &set, &inner);
    char *text = NULL;
    if (model) {
        json_t *json = model_json(model);
        text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        json_decref(json);
    } else
        api_fail(error, &inner);
    energy_destroy(model);
    free(set.uses);
    return text;
}
