/*
 * Re-formed warps in the pipeline (exec/reformed.h): what mechanisms ask for with core_reform.
 *
 * A slot that executes a re-formed warp is an ordinary slot to all stages: it has a buffer, a
 * scoreboard and an age. Its in-flight instructions name the homes of their lanes, and commit there.
 *
 * Invariants
 *  V6  A slot is re-formed or restored only while it has nothing in flight, so that each register of
 *      a thread has at most one scoreboard entry, in the slot that executes the thread.
 *  V7  It is held, or waits: nothing issues for it meanwhile.
 */
#include "core/common/common.h"
#include "exec/reformed.h"
#include <stdlib.h>

void reform_begin(struct core *core)
{
    bool wanted = false;
    for (u32 i = 0; i < core->hooks.count; i++)
        wanted |= core->hooks.uses[i].mechanism->reforms;
    if (!wanted)
        return;
    const size_t words = align_up(reformed_words(core->exec), 16); /* 64 bytes */
    core->reform.frames = checked(aligned_alloc(64, CORE_WARPS * words * sizeof(u32)));
    memset(core->reform.frames, 0, CORE_WARPS * words * sizeof(u32));
    core->reform.warps = checked(calloc(CORE_WARPS, sizeof *core->reform.warps));
    for (u32 s = 0; s < CORE_WARPS; s++)
        core->reform.warps[s].frame = core->reform.frames + s * words;
}

void reform_end(struct core *core)
{
    free(core->reform.frames);
    free(core->reform.warps);
    core->reform.frames = NULL;
    core->reform.warps = NULL;
}

/* The slot's warp has been given other threads. */
static void restart(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    slot->at = NO_INST;
    core->issue.clear &= ~bit(s);
    slot_update(core, s); /* it waits */
    slot_continue(core, s);
    if (core->issue.redirected >> s & 1 && slot->at != NO_INST)
        fetch_redirect(core, s);
}

static void check(const struct core *core, u32 s)
{
    const struct slot *slot = &core->slots[s];
    assert(core->reform.warps && !slot->in_flight);           /* V6 */
    assert(slot->at == NO_INST || core->issue.held >> s & 1); /* V7 */
    (void)slot;
}

void core_keep(struct core *core, u64 slots, const struct lane_region *region)
{
    for (u64 set = slots; set; set &= set - 1) {
        const u32 s = first_bit(set);
        assert(!core->slots[s].in_flight);
        reformed_keep(core->slots[s].warp, &core->reform.warps[s], region);
    }
}

void core_reform(struct core *core, u32 s, const u8 *homes, lane_set lanes,
                 const struct lane_region *region, u32 pc, u32 rpc)
{
    struct warp *warps[MAX_LANES] = {0};
    check(core, s);
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        warps[lane] = core->slots[homes[lane]].warp;
        core->reform.homes[s][lane] = homes[lane];
    }
    if (region && lanes)
        reformed_gather(core->slots[s].warp, warps, lanes, region);
    warp_reform(core->slots[s].warp, &core->reform.warps[s], warps, lanes, pc, rpc);
    restart(core, s);
}

void core_restore(struct core *core, u32 s, u32 pc)
{
    check(core, s);
    if (core->slots[s].warp->kept)
        reformed_return(core->slots[s].warp);
    warp_restore(core->slots[s].warp, pc);
    if (!core->slots[s].warp->live) /* it ends now */
        core_release(core, bit(s));
    restart(core, s);
}
