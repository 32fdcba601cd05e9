/*
 * Age, for `sdmr`: late bits, and what the hardware costs.
 *
 * A lane's vector registers have a write latch, through which all results go. With age, some of its
 * bits become late under stress: the latch closes before the bit has arrived and keeps the bit of the
 * value that was written before, or what `late_value` says. Stress is on while copies run, which is
 * when the checker runs nothing else.
 */
#include "mech/sdmr.h"

void sdmr_draw(struct sdmr *s)
{
    for (u32 i = 0; i < s->params->late; i++)
        s->late[i] = (struct sdmr_late){
            .lane = (u8)mechanism_random_below(s, core_warp_size(s->core)),
            .bit = (u8)mechanism_random_below(s, 32),
        };
}

/* A value is written through the latch of a late bit's lane. True: it has changed. */
static bool pass(const struct sdmr *s, struct sdmr_late *late, bool stressed, u32 *word)
{
    const bool arrives = *word >> late->bit & 1;
    const bool kept =
        s->params->late_value == SDMR_HELD ? late->held : s->params->late_value == SDMR_ONE;
    late->held = stressed ? kept : arrives;
    if (!stressed || kept == arrives)
        return false;
    *word ^= 1u << late->bit;
    return true;
}

void sdmr_result(void *state, struct core *core, struct inflight *inflight)
{
    struct sdmr *s = state;
    struct dyninst *dyn = &inflight->dyn;
    const u32 lanes = core_warp_size(core);
    if (!sdmr_is_checker(core) || inflight->injected)
        return;
    struct sdmr_sample *sample = s->at[core_slot(core, inflight->slot)->block];
    bool changed = false;
    for (u32 i = 0; i < s->params->late; i++)
        for (u32 k = 0; k < 2; k++)
            for (u32 r = 0; dyn->dst[k] && r < dyn->dst_rows[k]; r++)
                for (u32 lane = 0; lane < lanes; lane++)
                    if (dyn->writes >> lane & 1 &&
                        core_lane(core, inflight->slot, lane) == s->late[i].lane)
                        changed |= pass(s, &s->late[i], sample, dyn->dst[k] + r * lanes + lane);
    if (!changed)
        return;
    s->stats->late_results++;
    if (!sample->struck)
        sample->struck_at = core_cycle(core);
    sample->struck = true;
}

/* ---- costs ---- */

enum {
    PAPER_BITS = 207, /* section 6.1: "A total of 207 state bits were added" */
    SUM_BITS = 64,
};

void sdmr_storage(const void *params, struct state_list *list)
{
    const struct sdmr_params *p = params;
    u64 logic = 0;
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct state_row *row = &list->rows.data[i];
        if (row->shape.flip_flops && !row->shape.data && !strcmp(row->owner, "core"))
            logic += row->entries * row->bits;
    }
    state_flops(
        list, "sdmr", "control", 1, PAPER_BITS, STATE_COUNTED,
        "numbers of compute unit, workgroup and wavefront beside requests, and the state of "
        "the sample");
    state_flops(list, "sdmr", "phase", (u64)(p->fast_paths * (f64)logic + 0.5), 1, STATE_COUNTED,
                "clock phase of each flip-flop at the end of fast paths");
    if (p->compare == SDMR_CHECKSUM)
        state_flops(list, "sdmr", "sums", 2, SUM_BITS, STATE_COUNTED,
                    "checksums of the sampled block and of its copy");
}

const struct energy_event sdmr_events[] = {
    {"compared", "comparison", ENERGY_LOGIC, .pj = 0.07, .nm = 45,
     .source =
         "an integer addition of 32 bits takes 0.1 pJ at 45 nm (Horowitz, Computing's energy "
         "problem, ISSCC 2014); a comparison for equality is assumed to take two thirds of it"},
    {0},
};
