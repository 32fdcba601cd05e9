/*
 * What leaks: every element of storage, and the logic and DRAM chips that events.def lists.
 *
 * An element belongs to the part of the machine that its unit stands for, or that events of it are
 * counted under.
 */
#include "core/params.h"
#include "gpu/device.h"
#include "gpu/params.h"
#include "mem/memside.h"
#include "model/energy.h"

enum things {
    SP_LANES,
    INT_LANES,
    FP64_LANES,
    SFU_LANES,
    DRAM_CHIPS,
};

struct leak {
    const char *part;
    enum things things;
    f64 mw;
    struct technology technology;
    size_t given; /* in struct energy_params */
    const char *source;
};

static const struct leak leaks[] = {
#define ARRAY(...)
#define LOGIC(...)
#define LEAK(part, things, mw, nm, volts, celsius, given, source) \
    {#part, things, mw, {nm, volts, celsius}, offsetof(struct energy_params, given), source},
#include "model/events.def"
};

/* In the order of enum things. */
static const char *const names[] = {"lanes", "integer lanes", "double-precision units",
                                    "special-function units", "DRAM chips"};

static u64 count_things(const struct config *config, enum things things)
{
    const struct gpu_params *gpu = config_params(config, &gpu_component);
    const struct units_params *units = config_params(config, &units_component);
    const struct energy_params *energy = config_params(config, &energy_component);
    const struct l2_params *l2 = config_params(config, &l2_component);
    const struct dram_params *dram = config_params(config, &dram_component);
    switch (things) {
    case SP_LANES:
        return (u64)gpu->cores * units->sp * units->sp_lanes;
    case INT_LANES:
        return (u64)gpu->cores * (units->integer ? units->integer : units->sp) * units->sp_lanes;
    case FP64_LANES: /* one that takes an operation every n cycles counts as 1/n */
        return ((u64)gpu->cores * units->fp64 * units->fp64_lanes + units->fp64_mad_interval - 1) /
               units->fp64_mad_interval;
    case SFU_LANES:
        return ((u64)gpu->cores * units->sfu * units->sfu_lanes + units->sfu_interval - 1) /
               units->sfu_interval;
    case DRAM_CHIPS:
        break;
    }
    return (u64)l2->channels *
           ((dram->bus_bytes + energy->dram_chip_bytes - 1) / energy->dram_chip_bytes);
}

static void add_logic(struct energy_model *model, const struct config *config,
                      const struct leak *leak)
{
    f64 given;
    memcpy(&given, (const u8 *)config_params(config, &energy_component) + leak->given,
           sizeof given);
    u64 count = count_things(config, leak->things);
    if (!count)
        return;
    f64 scale = leak->technology.nm ? scale_leakage(&leak->technology, &model->technology) : 1;
    *vec_push(&model->leaks) = (struct energy_leak){
        .part = energy_part(model, leak->part),
        .name = names[leak->things],
        .copies = count,
        .mw = given > 0 ? given : leak->mw * scale,
        .from = given > 0 ? "set" : "literature",
        .source = given > 0 ? NULL : leak->source,
    };
}

/* ---- storage ---- */

static const struct {
    const char *unit, *name; /* NULL: all others of the unit */
    const char *part;
} places[] = {
    {"icache", NULL, "instruction_cache"},
    {"fetch", NULL, "instruction_buffers"},
    {"issue", NULL, "scheduler"},
    {"collect", "registers", "registers"},
    {"collect", "scalar_registers", "scalar_registers"},
    {"collect", NULL, "operand_collectors"},
    {"units", "sp", "fp32_units"},
    {"units", "integer", "int_units"},
    {"units", "fp64", "fp64_units"},
    {"units", "sfu", "sfu"},
    {"units", "scalar", "scalar_unit"},
    {"units", "results", "operand_wires"},
    {"lsu", "shared", "shared_memory"},
    {"lsu", NULL, "load_store"},
    {"constant", NULL, "constant_cache"},
    {"dram", NULL, "memory_controllers"},
};

static const char *part_of(const struct energy_model *model, const struct state_row *row)
{
    for (u32 i = 0; i < ARRAY_LEN(places); i++)
        if (!strcmp(row->unit, places[i].unit) &&
            (!places[i].name || !strcmp(row->name, places[i].name)))
            return places[i].part;
    for (u32 i = 0; i < model->rows.count; i++) {
        const struct energy_row *event = &model->rows.data[i];
        if (event->array && energy_element(model, event->array) == row)
            return model->parts[event->part];
    }
    return row->unit;
}

static void add_element(struct energy_model *model, const struct state_row *row)
{
    struct energy_leak *leak = vec_push(&model->leaks);
    *leak = (struct energy_leak){
        .part = energy_part(model, part_of(model, row)),
        .unit = row->unit,
        .name = row->name,
        .copies = row->copies,
    };
    leak->mw = element_cost(model->table, row, &model->technology, &leak->published).leakage_mw;
    if (leak->published && leak->published->leakage_mw <= 0)
        leak->published = NULL;
    leak->from = leak->published ? "published" : "array model";
}

void energy_find_leaks(struct energy_model *model, const struct config *config)
{
    for (u32 i = 0; i < model->storage.rows.count; i++)
        add_element(model, &model->storage.rows.data[i]);
    for (u32 i = 0; i < ARRAY_LEN(leaks); i++)
        add_logic(model, config, &leaks[i]);
    for (u32 i = 0; i < model->leaks.count; i++) {
        const struct energy_leak *leak = &model->leaks.data[i];
        model->part_mw[leak->part] += leak->mw * (f64)leak->copies;
    }
}
