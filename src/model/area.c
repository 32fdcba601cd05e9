/*
 * The area of a machine: the cost of every storage element by its shape, or as published in the
 * chosen table, and the logic of area_logic.c.
 *
 * Invariants
 *  R1  Rows are in the order of the storage list, then mechanisms', then logic; sums are formed in
 *      this order, so that adding up the rows gives the same numbers.
 *  R2  A mechanism that is off adds and changes nothing.
 *  R3  An element that a mechanism replaces keeps its row, with zero costs.
 */
#include "model/area.h"
#include "core/pipeline.h"

#include "core/params.h"
#include "exec/params.h"
#include "gpu/machine/params.h"
#include "gpu/machine/storage.h"
#include <stdlib.h>

extern const struct component energy_component;

static const struct energy_params *params_of(const struct config *config)
{
    return config_params(config, &energy_component);
}

struct technology area_technology(const struct config *config)
{
    const struct energy_params *params = params_of(config);
    u32 nm = energy_nm(params);
    return (struct technology){nm, params->volts > 0 ? params->volts : technology_volts(nm),
                               params->celsius};
}

const char *area_table(const struct config *config)
{
    static const char *const names[] = {"none", "xiang", "lashgar", "tan", "yeh"};
    return names[params_of(config)->table];
}

/* Registers of units whose published areas include them. */
static bool is_inside(const struct state_row *row, const struct pipeline *pipeline)
{
    for (const char *const *unit = pipeline->enclosed; unit && *unit; unit++)
        if (!strcmp(row->unit, *unit))
            return true;
    return !strcmp(row->unit, "units") && strcmp(row->name, "results") != 0;
}

/* The costs of a row, with and without mechanisms. */
static void cost_row(struct area_row *row, const struct config *config,
                     const struct mechanism_set *set, const struct technology *technology)
{
    const char *table = area_table(config);
    const struct array_cost cost =
        element_cost_with(set, table, &row->state, technology, &row->origin);
    if (row->mechanism) {
        row->cost = cost;
        return;
    }
    row->plain = row->origin.cell || row->origin.supplied
                     ? element_cost(table, &row->state, technology, NULL)
                     : cost;
    if (row->state.replaced)
        row->changed = row->state.replaced;
    else
        row->cost = cost;
    if (row->origin.supplied)
        row->changed = row->origin.supplied->mechanism->name;
}

/* Adds storage elements `first` to `end` - 1. */
static void take(struct area_list *list, const struct config *config,
                 const struct mechanism_set *set, const struct state_list *states, u32 first,
                 u32 end, const char *mechanism)
{
    const struct technology technology = area_technology(config);
    const struct core_params *core = config_params(config, &core_component);
    const struct pipeline *pipeline = pipeline_of(core);
    for (u32 i = first; i < end; i++) {
        struct area_row *row = vec_push(&list->rows);
        *row = (struct area_row){.state = states->rows.data[i], .mechanism = mechanism};
        row->inside = !mechanism && is_inside(&row->state, pipeline);
        if (!row->inside)
            cost_row(row, config, set, &technology);
    }
}

/* Sets the leakage of logic by its supply, from row `first` on. */
static void supply_logic(struct area_list *list, const struct mechanism_set *set, u32 first,
                         const struct technology *technology)
{
    for (u32 i = first; i < list->rows.count; i++) {
        struct area_row *row = &list->rows.data[i];
        row->origin = element_supply(set, &row->state, technology);
        row->plain = row->cost;
        if (!row->origin.supplied)
            continue;
        const struct technology own = {technology->nm, row->origin.volts, technology->celsius};
        row->cost.leakage_mw *= scale_leakage(technology, &own);
        row->changed = row->origin.supplied->mechanism->name;
    }
}

void area_collect(struct area_list *list, const struct config *config,
                  const struct mechanism_set *set)
{
    struct technology technology = area_technology(config);
    struct state_list states = {0};
    u32 *ends = checked(calloc(set->count + 1, sizeof *ends));
    storage_collect(&states, config);
    ends[0] = states.rows.count;
    /* one mechanism at a time, so that every row has an owner; after the machine's, which they may
     * replace */
    for (u32 i = 0; i < set->count; i++) {
        mechanism_storage(&states, config, set->uses[i].mechanism);
        ends[i + 1] = states.rows.count;
    }
    take(list, config, set, &states, 0, ends[0], NULL);
    for (u32 i = 0; i < set->count; i++)
        take(list, config, set, &states, ends[i], ends[i + 1], set->uses[i].mechanism->name);
    free(ends);
    state_free(&states);
    const u32 first = list->rows.count;
    area_logic(list, config, &technology);
    supply_logic(list, set, first, &technology);
}

void area_free(struct area_list *list)
{
    vec_free(&list->rows);
}

bool area_in_front_end(const struct area_row *row)
{
    const char *unit = row->state.unit, *name = row->state.name;
    if (row->mechanism || strcmp(row->state.owner, "core") != 0)
        return false;
    if (!strcmp(unit, "collect"))
        return strcmp(name, "registers") != 0 && strcmp(name, "scalar_registers") != 0;
    return !strcmp(unit, "fetch") || !strcmp(unit, "icache") || !strcmp(unit, "issue") ||
           !strcmp(unit, "wavepool") || !strcmp(unit, "decode");
}
