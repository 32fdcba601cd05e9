/* The storage of a machine: see storage.h. */
#include "gpu/storage.h"

#include "core/state.h"
#include "gpu/timing_parts.h"
#include "mem/state.h"

void storage_collect(struct state_list *list, const struct config *config)
{
    const struct core_config core = core_config_of(config);
    const struct memside_params memory = memside_params_of(config);
    core_state(list, &core);
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
    json_object_set_new(json, "class", json_string(row->class == STATE_LIVE ? "live" : "counted"));
    json_object_set_new(json, "help", json_string(row->help));
    return json;
}

static void sums_json(json_t *into, const struct state_list *list, const char *owner)
{
    u64 bits[2] = {0};
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct state_row *row = &list->rows.data[i];
        if (!owner)
            bits[row->class] += state_bits(row);
        else if (!strcmp(row->owner, owner))
            bits[row->class] += row->entries * row->bits;
    }
    json_object_set_new(into, "live_bits", stats_number(bits[STATE_LIVE]));
    json_object_set_new(into, "counted_bits", stats_number(bits[STATE_COUNTED]));
}

json_t *storage_json(const struct config *config, const struct mechanism *const *available)
{
    struct state_list list = {0};
    storage_collect(&list, config);
    mechanisms_storage(&list, config, available);
    json_t *json = json_object(), *rows = json_array(), *owners = json_array();
    for (u32 i = 0; i < list.rows.count; i++) {
        const struct state_row *row = &list.rows.data[i];
        json_array_append_new(rows, storage_row_json(row));
        bool known = false; /* mechanisms come last, with rows of owners that were there */
        for (u32 j = 0; j < i && !known; j++)
            known = !strcmp(row->owner, list.rows.data[j].owner);
        if (known)
            continue;
        json_t *owner = json_object();
        json_object_set_new(owner, "owner", json_string(row->owner));
        json_object_set_new(owner, "copies", stats_number(row->copies));
        sums_json(owner, &list, row->owner);
        json_array_append_new(owners, owner);
    }
    json_object_set_new(json, "machine", json_string(config_machine(config)));
    json_object_set_new(json, "rows", rows);
    json_object_set_new(json, "owners", owners);
    sums_json(json, &list, NULL);
    state_free(&list);
    return json;
}
