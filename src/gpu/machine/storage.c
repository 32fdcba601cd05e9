/* The storage of a machine: see storage.h. */
#include "gpu/machine/storage.h"

#include "base/text.h"
#include "core/pipeline.h"
#include "gpu/machine/config.h"
#include "mem/state.h"

bool storage_has_memory_side(const struct config *config)
{
    const struct core_params *core = config_params(config, &core_component);
    return pipeline_of(core)->has_memory_system;
}

void storage_collect(struct state_list *list, const struct config *config)
{
    const struct core_config core = core_config_of(config);
    const struct memory_system_params memory = memory_system_params_of(config);
    state_owner(list, "core", core.cores);
    pipeline_of(core.core)->storage(list, &core);
    if (storage_has_memory_side(config))
        mem_state(list, &memory, core.memory_bytes);
}

json_t *storage_row_json(const struct state_row *row)
{
    json_t *json = json_object();
    json_object_set_new(json, "unit", json_string(row->unit));
    json_object_set_new(json, "name", json_string(row->name));
    json_object_set_new(json, "owner", json_string(row->owner));
    json_object_set_new(json, "copies", stats_number(row->copies));
    json_object_set_new(json, "entries", stats_number(row->entries));
    json_object_set_new(json, "bits", stats_number(row->bits));
    json_object_set_new(json, "total_bits", stats_number(state_bits(row)));
    json_object_set_new(json, "class",
                        json_string(!row->backed  ? "counted"
                                    : row->unseen ? "unseen"
                                                  : "live"));
    json_object_set_new(json, "live_bits", stats_number(row->copies * state_live_bits(row)));
    json_object_set_new(json, "help", json_string(row->help));
    if (row->replaced)
        json_object_set_new(json, "replaced_by", json_string(row->replaced));
    return json;
}

json_t *storage_bits_json(const struct state_list *list)
{
    json_t *units = json_object();
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct state_row *row = &list->rows.data[i];
        if (!json_object_get(units, row->unit))
            json_object_set_new(units, row->unit, json_object());
        json_object_set_new(json_object_get(units, row->unit), row->name,
                            stats_number(state_owner_bits(row)));
    }
    return units;
}

static void sums_json(json_t *into, const struct state_list *list, const char *owner)
{
    u64 all = 0, live = 0, control = 0, live_control = 0; /* control: all but data arrays */
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct state_row *row = &list->rows.data[i];
        const u64 copies = owner ? 1 : row->copies;
        if (owner && strcmp(row->owner, owner))
            continue;
        all += copies * state_owner_bits(row);
        live += copies * state_live_bits(row);
        control += row->shape.data ? 0 : copies * state_owner_bits(row);
        live_control += row->shape.data ? 0 : copies * state_live_bits(row);
    }
    json_object_set_new(into, "live_bits", stats_number(live));
    json_object_set_new(into, "counted_bits", stats_number(all - live));
    json_object_set_new(into, "control_bits", stats_number(control));
    json_object_set_new(into, "live_control_bits", stats_number(live_control));
}

/* The bits of one core's rows that belong to a published value. */
static u64 claimed_bits(const struct state_list *list, const struct published_value *value)
{
    u64 bits = 0;
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct state_row *row = &list->rows.data[i];
        if (!strcmp(row->owner, "core") && published_value_has(value, row->unit))
            bits += state_owner_bits(row);
    }
    return bits;
}

static json_t *published_json(const struct state_list *list,
                              const struct published_values *published)
{
    json_t *json = json_object(), *modules = json_array();
    for (u32 i = 0; i < published->count; i++) {
        const struct published_value *value = &published->rows[i];
        if (!value->bits)
            continue;
        json_t *module = published_value_json(value);
        u64 ours = claimed_bits(list, value), theirs = value->each * value->bits;
        json_object_set_new(module, "our_bits", stats_number(ours));
        json_object_set_new(module, "their_bits", stats_number(theirs));
        json_object_set_new(module, "difference",
                            json_integer((json_int_t)ours - (json_int_t)theirs));
        json_array_append_new(modules, module);
    }
    json_object_set_new(json, "source", json_string(published->source));
    json_object_set_new(json, "modules", modules);
    return json;
}

json_t *storage_json(const struct config *config, const struct state_list *list)
{
    json_t *json = json_object(), *rows = json_array(), *owners = json_array();
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct state_row *row = &list->rows.data[i];
        json_array_append_new(rows, storage_row_json(row));
        bool known = false; /* rows of mechanisms come last, with owners listed before */
        for (u32 j = 0; j < i && !known; j++)
            known = !strcmp(row->owner, list->rows.data[j].owner);
        if (known)
            continue;
        json_t *owner = json_object();
        json_object_set_new(owner, "owner", json_string(row->owner));
        json_object_set_new(owner, "copies", stats_number(row->copies));
        sums_json(owner, list, row->owner);
        json_array_append_new(owners, owner);
    }
    json_object_set_new(json, "machine", text_json(config_machine(config)));
    json_object_set_new(json, "rows", rows);
    json_object_set_new(json, "owners", owners);
    if (config_published(config)->source)
        json_object_set_new(json, "published", published_json(list, config_published(config)));
    sums_json(json, list, NULL);
    return json;
}
