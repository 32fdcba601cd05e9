/* The area of a machine as JSON: hd_area_json and hd_area_residuals. */
#include "base/text.h"
#include "core/pipeline.h"
#include "gpu/device.h"
#include "gpu/machine/config.h"
#include "heddle/heddle.h"
#include "model/area.h"
#include "model/issue_path.h"

#include <stdlib.h>

struct area_sums {
    u64 bits;
    f64 area_um2, leakage_mw;
};

static void add(struct area_sums *sums, const struct area_row *row, u64 copies)
{
    sums->bits += copies * state_owner_bits(&row->state);
    sums->area_um2 += (f64)copies * row->cost.area_um2;
    sums->leakage_mw += (f64)copies * row->cost.leakage_mw;
}

/* Adds the costs without mechanisms. */
static void add_plain(struct area_sums *sums, const struct area_row *row, u64 copies)
{
    sums->bits += copies * row->state.entries * row->state.bits;
    sums->area_um2 += (f64)copies * row->plain.area_um2;
    sums->leakage_mw += (f64)copies * row->plain.leakage_mw;
}

static f64 percent(f64 part, f64 whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void put(json_t *into, const char *name, f64 value)
{
    json_object_set_new(into, name, json_real(value));
}

static void put_text(json_t *into, const char *name, const char *text)
{
    json_object_set_new(into, name, text ? json_string(text) : json_null());
}

static json_t *sums_json(const struct area_sums *sums)
{
    json_t *json = json_object();
    json_object_set_new(json, "bits", stats_number(sums->bits));
    put(json, "area_um2", sums->area_um2);
    put(json, "leakage_mw", sums->leakage_mw);
    return json;
}

/* ---- sums ---- */

static struct area_sums owner_sums(const struct area_list *list, const char *owner)
{
    struct area_sums sums = {0};
    for (u32 i = 0; i < list->rows.count; i++)
        if (!strcmp(list->rows.data[i].state.owner, owner))
            add(&sums, &list->rows.data[i], 1);
    return sums;
}

static struct area_sums chip_sums(const struct area_list *list)
{
    struct area_sums sums = {0};
    for (u32 i = 0; i < list->rows.count; i++)
        add(&sums, &list->rows.data[i], list->rows.data[i].state.copies);
    return sums;
}

static struct area_sums front_end_sums(const struct area_list *list, bool logic)
{
    struct area_sums sums = {0};
    for (u32 i = 0; i < list->rows.count; i++)
        if (area_in_front_end(&list->rows.data[i]) && (logic || !list->rows.data[i].logic))
            add(&sums, &list->rows.data[i], 1);
    return sums;
}

/* ---- rows ---- */

static const char *kind_of(const struct area_row *row)
{
    const struct array_shape *shape = &row->state.shape;
    return row->logic            ? "logic"
           : row->inside         ? "inside"
           : row->state.replaced ? "replaced"
           : row->origin.cell    ? row->origin.cell->cell
           : shape->flip_flops   ? "flip-flops"
           : shape->searched     ? "searched"
           : shape->compared     ? "compared"
                                 : "array";
}

static json_t *shape_json(json_t *json, const struct state_row *row)
{
    const struct array_shape *shape = &row->shape;
    u32 ports = (u32)shape->read_ports + shape->write_ports;
    json_object_set_new(json, "entries", stats_number(row->entries));
    json_object_set_new(json, "bits", stats_number(row->bits));
    json_object_set_new(json, "total_bits", stats_number(state_bits(row)));
    json_object_set_new(json, "banks", stats_number(MAX(shape->banks, 1)));
    json_object_set_new(json, "access_bits",
                        stats_number(array_access_bits(row->entries, row->bits, shape)));
    json_object_set_new(json, "ports", stats_number(MAX(ports, 1)));
    return json;
}

static json_t *source_json(const struct area_row *row)
{
    const struct published *printed = row->origin.published;
    const struct energy_cell *cell = row->origin.cell;
    if (row->state.replaced)
        return json_sprintf("replaced by %s", row->state.replaced);
    if (printed)
        return json_sprintf("%s, %s", printed->table, printed->place);
    return json_string(row->logic             ? row->source
                       : row->inside          ? "in the area of units"
                       : cell && cell->source ? cell->source
                       : cell                 ? "set"
                                              : "model");
}

static json_t *row_json(const struct area_list *list, const struct area_row *row,
                        const struct area_sums *chip)
{
    const struct array_cost *cost = &row->cost;
    struct area_sums owner = owner_sums(list, row->state.owner);
    json_t *json = json_object();
    put_text(json, "unit", row->state.unit);
    put_text(json, "name", row->state.name);
    put_text(json, "owner", row->state.owner);
    json_object_set_new(json, "copies", stats_number(row->state.copies));
    put_text(json, "kind", kind_of(row));
    put_text(json, "mechanism", row->mechanism);
    shape_json(json, &row->state);
    put(json, "area_um2", cost->area_um2);
    put(json, "leakage_mw", cost->leakage_mw);
    put(json, "read_pj", cost->read_pj);
    put(json, "write_pj", cost->write_pj);
    put(json, "search_pj", cost->search_pj);
    put(json, "delay_ps", cost->delay_ps);
    put(json, "owner_percent", percent(cost->area_um2, owner.area_um2));
    put(json, "chip_percent", percent((f64)row->state.copies * cost->area_um2, chip->area_um2));
    json_object_set_new(json, "source", source_json(row));
    put_text(json, "help", row->state.help);
    if (row->state.replaced)
        put_text(json, "replaced_by", row->state.replaced);
    if (row->origin.supplied) {
        put_text(json, "supplied_by", row->origin.supplied->mechanism->name);
        put(json, "volts", row->origin.volts);
        put(json, "rate", row->origin.rate);
    }
    return json;
}

static json_t *owners_json(const struct area_list *list)
{
    json_t *owners = json_array();
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct state_row *row = &list->rows.data[i].state;
        bool known = false;
        for (u32 j = 0; j < i && !known; j++)
            known = !strcmp(row->owner, list->rows.data[j].state.owner);
        if (known)
            continue;
        struct area_sums sums = owner_sums(list, row->owner);
        json_t *owner = sums_json(&sums);
        put_text(owner, "owner", row->owner);
        json_object_set_new(owner, "copies", stats_number(row->copies));
        json_array_append_new(owners, owner);
    }
    return owners;
}

/* ---- additions of mechanisms ---- */

static json_t *added_json(const struct area_sums *added, const struct area_sums *to)
{
    json_t *json = json_object();
    put(json, "area", percent(added->area_um2, to->area_um2));
    put(json, "leakage", percent(added->leakage_mw, to->leakage_mw));
    return json;
}

/* The rows of a mechanism, and what it adds to a machine without others: these rows, and the
 * difference in rows that it replaces or supplies. */
struct area_addition {
    struct area_sums own, added, plain;
};

static void add_to(struct area_addition *sums, const struct area_row *row, const char *name,
                   u64 copies)
{
    if (row->mechanism && !strcmp(row->mechanism, name)) {
        add(&sums->own, row, copies);
        add(&sums->added, row, copies);
    } else if (!row->mechanism) {
        add_plain(&sums->plain, row, copies);
        if (!row->changed || strcmp(row->changed, name) != 0)
            return;
        sums->added.area_um2 += (f64)copies * (row->cost.area_um2 - row->plain.area_um2);
        sums->added.leakage_mw += (f64)copies * (row->cost.leakage_mw - row->plain.leakage_mw);
    }
}

static json_t *mechanism_json(const struct area_list *list, const char *name)
{
    struct area_addition core = {0}, chip = {0};
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct area_row *row = &list->rows.data[i];
        add_to(&chip, row, name, row->state.copies);
        if (!strcmp(row->state.owner, "core"))
            add_to(&core, row, name, 1);
    }
    struct area_sums front = front_end_sums(list, true), arrays = front_end_sums(list, false);
    json_t *json = sums_json(&chip.own), *adds = json_object();
    put_text(json, "name", name);
    json_object_set_new(json, "core", sums_json(&core.own));
    json_object_set_new(adds, "front_end_storage", added_json(&core.added, &arrays));
    json_object_set_new(adds, "front_end", added_json(&core.added, &front));
    json_object_set_new(adds, "core", added_json(&core.added, &core.plain));
    json_object_set_new(adds, "chip", added_json(&chip.added, &chip.plain));
    json_object_set_new(json, "adds_percent", adds);
    return json;
}

static json_t *mechanisms_json(const struct area_list *list, const struct mechanism_set *set)
{
    json_t *json = json_array();
    for (u32 i = 0; i < set->count; i++)
        json_array_append_new(json, mechanism_json(list, set->uses[i].mechanism->name));
    return json;
}

/* ---- comparison with published values of the machine ---- */

static json_t *published_json(const struct area_list *list,
                              const struct published_values *published)
{
    json_t *json = json_object(), *modules = json_array();
    for (u32 i = 0; i < published->count; i++) {
        const struct published_value *value = &published->rows[i];
        if (value->mm2 <= 0 && value->mw <= 0)
            continue;
        struct area_sums sums = {0};
        for (u32 r = 0; r < list->rows.count; r++) {
            const struct area_row *row = &list->rows.data[r];
            if (!row->mechanism && !strcmp(row->state.owner, "core") &&
                published_value_has(value, row->state.unit))
                add(&sums, row, 1);
        }
        json_t *module = published_value_json(value);
        put(module, "our_mm2", sums.area_um2 / 1e6);
        put(module, "our_leakage_mw", sums.leakage_mw);
        json_array_append_new(modules, module);
    }
    put_text(json, "source", published->source);
    json_object_set_new(json, "modules", modules);
    return json;
}

/* Only of a core whose stages are known as RTL. */
static void put_issue_path(json_t *into, const struct config *config)
{
    const struct core_config core = core_config_of(config);
    if (!pipeline_of(core.core)->enclosed)
        return;
    const struct issue_path path =
        issue_path_of(core.core->registers / core.core->warp_size, core.core->warps);
    json_t *json = json_object();
    put(json, "levels", path.levels);
    put(json, "by_offset", path.by_offset);
    put(json, "grows_percent", percent(path.by_offset - path.levels, path.levels));
    json_object_set_new(into, "issue_path", json);
}

static char *dump(json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}

char *hd_area_json(const struct hd_config *config)
{
    if (!config)
        return NULL;
    struct area_list list = {0};
    struct mechanism_set set;
    mechanisms_on(&set, config->config, config->available);
    area_collect(&list, config->config, &set);
    struct technology technology = area_technology(config->config);
    struct area_sums chip = chip_sums(&list), front = front_end_sums(&list, true);
    json_t *json = json_object(), *built = json_object(), *rows = json_array();
    json_object_set_new(json, "machine", text_json(config_machine(config->config)));
    json_object_set_new(built, "nm", stats_number(technology.nm));
    put(built, "volts", technology.volts);
    put(built, "celsius", technology.celsius);
    put_text(built, "table", area_table(config->config));
    json_object_set_new(json, "technology", built);
    for (u32 i = 0; i < list.rows.count; i++)
        json_array_append_new(rows, row_json(&list, &list.rows.data[i], &chip));
    json_object_set_new(json, "rows", rows);
    json_object_set_new(json, "owners", owners_json(&list));
    json_object_set_new(json, "front_end", sums_json(&front));
    json_object_set_new(json, "mechanisms", mechanisms_json(&list, &set));
    json_object_set_new(json, "chip", sums_json(&chip));
    put_issue_path(json, config->config);
    if (config_published(config->config)->source)
        json_object_set_new(json, "published",
                            published_json(&list, config_published(config->config)));
    area_free(&list);
    free(set.uses);
    return dump(json);
}

/* ---- comparison of the model with published arrays ---- */

static void put_pair(json_t *into, const char *name, f64 printed, const f64 *model)
{
    if (printed <= 0) {
        json_object_set_new(into, name, json_null());
        return;
    }
    json_t *pair = json_object();
    put(pair, "published", printed);
    if (model) {
        put(pair, "model", *model);
        put(pair, "residual_percent", percent(*model - printed, printed));
    }
    json_object_set_new(into, name, pair);
}

static json_t *residual_json(const struct published *row)
{
    struct array_cost cost = array_cost(row->entries, row->bits, &row->shape, &row->technology);
    struct state_row state = {
        .entries = row->entries, .bits = row->bits, .shape = row->shape, .copies = 1};
    json_t *json = json_object();
    put_text(json, "table", row->table);
    put_text(json, "place", row->place);
    put_text(json, "what", row->what);
    put_text(json, "element", row->element);
    shape_json(json, &state);
    json_object_set_new(json, "sized", json_boolean(row->sized));
    json_object_set_new(json, "nm", stats_number(row->technology.nm));
    put_pair(json, "area_um2", row->area_um2, row->resistive ? NULL : &cost.area_um2);
    put_pair(json, "leakage_mw", row->leakage_mw, row->resistive ? NULL : &cost.leakage_mw);
    put_pair(json, "read_pj", row->read_pj, row->resistive ? NULL : &cost.read_pj);
    put_pair(json, "write_pj", row->write_pj, row->resistive ? NULL : &cost.write_pj);
    put_pair(json, "delay_ps", row->delay_ps, row->resistive ? NULL : &cost.delay_ps);
    put_text(json, "note", row->note);
    return json;
}

char *hd_area_residuals(void)
{
    json_t *json = json_array();
    for (const struct published *row = published_rows; row->table; row++)
        json_array_append_new(json, residual_json(row));
    return dump(json);
}
