/*
 * What detection and recovery add to the hardware, for `timing_speculation`, the energy of its events,
 * and what its supply is of.
 */
#include "mech/timing_speculation.h"

enum {
    PC_BITS = 32
};

/* Flip-flops of a core that are in logic, not in register files. */
static u64 logic_bits(const struct state_list *list)
{
    u64 bits = 0;
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct state_row *row = &list->rows.data[i];
        if (row->shape.flip_flops && !row->shape.data && !strcmp(row->owner, "core"))
            bits += row->entries * row->bits;
    }
    return bits;
}

void spec_storage(const void *params, struct state_list *list)
{
    const struct timing_speculation_params *p = params;
    const struct state_row *stack = state_find(list, "issue.stack");
    const struct state_row *pcs = state_find(list, "fetch.pc");
    if (!spec_recovers(p))
        return;
    state_flops(list, "timing_speculation", "shadow", SPEC_MODULES,
                (u32)(p->razor * (f64)logic_bits(list) / SPEC_MODULES + 0.5), STATE_COUNTED,
                "shadow latches of flip-flops that may get a bit late, for each module");
    state_flops(list, "timing_speculation", "start", pcs ? pcs->entries : CORE_WARPS, PC_BITS,
                STATE_COUNTED, "where the region of each warp begins");
    if (stack)
        state_table(list, "timing_speculation", "paths", stack->entries, stack->bits, STATE_COUNTED,
                    "the divergence stack of each warp at the start of its region");
}

/* Bits that change are taken for those that have a shadow latch. */
const struct energy_event spec_events[] = {
    {"toggled", "detection", ENERGY_WRITE, "timing_speculation.shadow", .bits = 1},
    {"passed", "recovery", ENERGY_WRITE, "timing_speculation.start"},
    {"restarts", "recovery", ENERGY_READ, "timing_speculation.start"},
    {0},
};

/* Storage and logic of cores; caches, network and memory stay at the machine's supply. */
#define AT_VOLTS(unit)                     \
    {                                      \
        .element = unit, .volts = "volts", \
    }
const struct energy_supply spec_supplies[] = {
    AT_VOLTS("fetch"),
    AT_VOLTS("wavepool"),
    AT_VOLTS("decode"),
    AT_VOLTS("issue"),
    AT_VOLTS("collect"),
    AT_VOLTS("exec"),
    AT_VOLTS("units"),
    AT_VOLTS("salu"),
    AT_VOLTS("simd"),
    AT_VOLTS("simf"),
    AT_VOLTS("lsu"),
    AT_VOLTS("arbiter"),
    AT_VOLTS("vgpr"),
    AT_VOLTS("sgpr"),
    AT_VOLTS("timing_speculation"),
    {0},
};
