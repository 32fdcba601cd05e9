/*
 * The area of a machine: every row of the state registry costed by its shape, or as printed where
 * the chosen table has it, and the logic of area_logic.c.
 *
 * Invariants
 *  R1  Rows stand in the order of the state registry, then mechanisms', then logic; sums are made
 *      in this order, so that a reader who adds up the rows gets the same numbers.
 *  R2  A mechanism that is off adds nothing.
 */
#include "model/area.h"
#include "core/pipeline.h"

#include "core/params.h"
#include "exec/params.h"
#include "gpu/machine/params.h"
#include "gpu/machine/storage.h"
#include "gpu/mechanism/mechanisms.h"

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

/* Registers of units, whose published areas include them. */
static bool is_inside(const struct state_row *row, const struct pipeline *pipeline)
{
    for (const char *const *unit = pipeline->enclosed; unit && *unit; unit++)
        if (!strcmp(row->unit, *unit))
            return true;
    return !strcmp(row->unit, "units") && strcmp(row->name, "results") != 0;
}

/* Rows of the registry from `first` on. */
static void take(struct area_list *list, const struct config *config,
                 const struct state_list *states, u32 first, const char *mechanism)
{
    const struct technology technology = area_technology(config);
    const struct core_params *core = config_params(config, &core_component);
    const struct pipeline *pipeline = pipeline_of(core);
    for (u32 i = first; i < states->rows.count; i++) {
        struct area_row *row = vec_push(&list->rows);
        *row = (struct area_row){.state = states->rows.data[i], .mechanism = mechanism};
        row->inside = !mechanism && is_inside(&row->state, pipeline);
        if (!row->inside)
            row->cost = element_cost(area_table(config), &row->state, &technology, &row->printed);
    }
}

void area_collect(struct area_list *list, const struct config *config,
                  const struct mechanism *const *available)
{
    struct technology technology = area_technology(config);
    struct state_list states = {0};
    storage_collect(&states, config);
    take(list, config, &states, 0, NULL);
    /* One at a time, to know whose a row is; behind those of the machine, which it may look at. */
    for (; *available; available++) {
        const struct mechanism *one[] = {*available, NULL};
        u32 before = states.rows.count;
        mechanisms_storage(&states, config, one);
        take(list, config, &states, before, (*available)->name);
    }
    state_free(&states);
    area_logic(list, config, &technology);
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
