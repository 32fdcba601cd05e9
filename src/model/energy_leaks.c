/*
 * Leakage: of every storage element and all logic, as in model/area, and of DRAM chips.
 *
 * An element belongs to the part of the machine that its unit stands for, or under which its events
 * are counted.
 */
#include "gpu/machine/params.h"
#include "gpu/machine/storage.h"
#include "mem/system.h"
#include "model/area.h"
#include "model/energy.h"

/* Rows of events.def; model/area_logic.c has used those for lanes. */
static const struct {
    const char *part;
    f64 mw;
    size_t given; /* in struct energy_params */
    const char *source;
} published[] = {
#define ARRAY(...)
#define LOGIC(...)
#define LEAK(part, things, mw, nm, volts, celsius, given, source) \
    {#part, mw, offsetof(struct energy_params, given), source},
#include "model/events.def"
};

static u32 find_published(const char *part)
{
    u32 i = 0;
    while (i < ARRAY_LEN(published) && strcmp(published[i].part, part) != 0)
        i++;
    return i;
}

static f64 given_mw(const struct config *config, u32 row)
{
    f64 given;
    memcpy(&given, (const u8 *)config_params(config, &energy_component) + published[row].given,
           sizeof given);
    return given;
}

static void add_chips(struct energy_model *model, const struct config *config)
{
    if (!storage_has_memory_side(config))
        return;
    const struct l2_params *l2 = config_params(config, &l2_component);
    const u32 row = find_published("dram");
    f64 given = given_mw(config, row);
    struct energy_leak *leak = vec_push(&model->leaks);
    *leak = (struct energy_leak){
        .part = energy_part(model, published[row].part),
        .name = "DRAM chips",
        .copies = (u64)l2->channels * energy_dram_chips(config),
        .mw = given > 0 ? given : published[row].mw,
        .from = given > 0 ? "set" : "literature",
        .source = given > 0 ? NULL : published[row].source,
    };
    model->part_mw[leak->part] += leak->mw * (f64)leak->copies;
}

/* ---- parts ---- */

static const struct {
    const char *unit, *name; /* NULL: all others of the unit */
    const char *part;
} places[] = {
    {"icache", NULL, "instruction_cache"},
    {"cluster_icache", NULL, "instruction_cache"},
    {"fetch", "decoders", "control"},
    {"fetch", NULL, "instruction_buffers"},
    {"issue", NULL, "scheduler"},
    {"collect", "registers", "registers"},
    {"collect", "scalar_registers", "scalar_registers"},
    {"collect", "crossbar", "operand_wires"},
    {"collect", NULL, "operand_collectors"},
    {"wavepool", NULL, "instruction_buffers"},
    {"decode", NULL, "control"},
    {"exec", NULL, "scalar_registers"},
    {"sgpr", NULL, "scalar_registers"},
    {"vgpr", NULL, "registers"},
    {"salu", NULL, "scalar_unit"},
    {"simd", NULL, "int_units"},
    {"simf", NULL, "fp32_units"},
    {"arbiter", NULL, "operand_wires"},
    {"shared", NULL, "shared_memory"},
    {"units", "fp32_lanes", "fp32_units"},
    {"units", "int_lanes", "int_units"},
    {"units", "fp64_lanes", "fp64_units"},
    {"units", "sfu_lanes", "sfu"},
    {"units", "scalar_logic", "scalar_unit"},
    {"units", NULL, "operand_wires"}, /* results in flight */
    {"lsu", "shared", "shared_memory"},
    {"lsu", "crossbar", "shared_memory"},
    {"lsu", NULL, "load_store"},
    {"constant", NULL, "constant_cache"},
    {"cluster_constant", NULL, "constant_cache"},
    {"dram", NULL, "memory_controllers"},
};

static const char *part_of(const struct energy_model *model, const struct state_row *row)
{
    for (u32 i = 0; i < ARRAY_LEN(places); i++)
        if (!strcmp(row->unit, places[i].unit) &&
            (!places[i].name || !strcmp(row->name, places[i].name)))
            return places[i].part;
    for (u32 i = 0; i < model->rows.count; i++) {
        const char *array = model->rows.data[i].array, *dot = array ? strchr(array, '.') : NULL;
        if (dot && !strncmp(array, row->unit, (size_t)(dot - array)) && !row->unit[dot - array] &&
            !strcmp(dot + 1, row->name))
            return model->parts[model->rows.data[i].part];
    }
    return row->unit;
}

/* If a mechanism powers the element, its leakage follows from a counter. */
static void set_power(struct energy_model *model, struct energy_leak *leak,
                      const struct state_row *element)
{
    size_t base = 0;
    for (u32 i = 0; i < model->set->count; i++) {
        const struct mechanism_use *use = &model->set->uses[i];
        const struct energy_power *power = change_power(use, element);
        if (power && element->entries) {
            const struct component *component = use->mechanism->component;
            leak->powered = arena_printf(model->arena, "%s.%s", component->name, power->counter);
            leak->offset = base + energy_stat(component, power->counter)->offset;
            leak->off = change_param(use, power->off);
            leak->part = power->part ? energy_part(model, power->part) : leak->part;
            return; /* no other mechanism can: changes_clash */
        }
        base += mechanism_stats_size(use);
    }
}

/* Names the origin of an element's leakage. */
static void name_source(struct energy_leak *leak, const struct area_row *row)
{
    const struct published *printed = row->origin.published;
    const struct energy_cell *cell = row->origin.cell;
    leak->from = row->logic ? "literature" : "array model";
    if (row->state.replaced) {
        leak->from = "replaced";
    } else if (printed && printed->leakage_mw > 0) {
        leak->from = "published";
        leak->published = printed;
    } else if (cell && cell_given(&row->origin, cell->given.leakage_mw) > 0) {
        leak->from = "set";
    } else if (cell && cell->leakage_mw > 0) {
        leak->from = "mechanism";
        leak->source = cell->source;
    }
}

static void add_row(struct energy_model *model, const struct config *config,
                    const struct area_row *row)
{
    const char *part = part_of(model, &row->state);
    const u32 said = find_published(part);
    struct energy_leak *leak = vec_push(&model->leaks);
    *leak = (struct energy_leak){
        .part = energy_part(model, part),
        .unit = row->state.unit,
        .name = row->state.name,
        .copies = row->state.copies,
        .mw = row->cost.leakage_mw,
        .source = row->source,
        .replaced = row->state.replaced,
        .volts = row->origin.supplied ? row->origin.volts : 0,
        .rate = row->origin.supplied ? row->origin.rate : 0,
    };
    name_source(leak, row);
    if (row->logic && said < ARRAY_LEN(published)) {
        bool given = given_mw(config, said) > 0;
        leak->source = given ? NULL : published[said].source;
        leak->from = given ? "set" : leak->from;
    }
    if (!leak->replaced)
        set_power(model, leak, &row->state);
    const f64 mw = leak->rate > 0 ? leak->mw / leak->rate : leak->mw;
    if (leak->powered) {
        model->part_mw[leak->part] += mw * (f64)leak->copies * leak->off;
        leak->fj_per_count = mw * (1 - leak->off) / (f64)row->state.entries; /* mW times ps is fJ */
    } else {
        model->part_mw[leak->part] += mw * (f64)leak->copies;
    }
}

void energy_find_leaks(struct energy_model *model, const struct config *config)
{
    struct area_list list = {0};
    area_collect(&list, config, model->set);
    for (u32 i = 0; i < list.rows.count; i++)
        if (!list.rows.data[i].inside)
            add_row(model, config, &list.rows.data[i]);
    area_free(&list);
    add_chips(model, config);
}
