/*
 * When lanes of cores are idle, and why: the study that RISE starts from (Tan 2016, sections 3.1 and
 * 3.1.2.1). An observer: results and timing do not change.
 *
 * A cycle of a core is `full` if an instruction that occupies a vector unit computes in all lanes of
 * its warp, `some` if instructions occupy units but each leaves lanes idle, and `none` otherwise.
 * An instruction occupies its unit for its interval, from the cycle in which it issues: collectors
 * delay all alike.
 *
 * Seams: issued, packet, reply, block, settle.
 *
 * Invariants
 *  N1  All cycles before `at` are counted, once: cycles = full + some + none, and none is the sum of its
 *      four causes.
 *  N2  What decides about a cycle (`full_until`, `busy_until`, `other_until`, `has_work`, `requests`)
 *      changes only after the cycles before it are counted.
 */
#include "core/mechanism.h"

#define COMPONENT idle_lanes
#define COMPONENT_DEF "mech/idle_lanes.def"
#define COMPONENT_HELP "idle lanes, their causes and their possible use"
#include "base/component_struct.h"
#include "base/component_table.h"

struct idle_lanes {
    MECHANISM_STATE(idle_lanes);
    u64 at;          /* N1 */
    u64 full_until;  /* before this cycle, an instruction occupies a unit with all lanes, */
    u64 busy_until;  /* or with any; */
    u64 other_until; /* or something that does not compute has issued */
    u32 blocks, requests;
    bool has_work; /* the core has blocks, and the first has started to fetch */
    u8 shuffled[CORE_WARPS][MAX_LANES]; /* by slot and lane: a lane drawn at random */
};

/* ---- time ---- */

/* Takes the cycles from `at` to `end`, of which there may be none. */
static u64 pass(struct idle_lanes *n, u64 end)
{
    const u64 cycles = end > n->at ? end - n->at : 0;
    n->at += cycles;
    n->stats->cycles += cycles;
    return cycles;
}

static void count(struct idle_lanes *n, u64 now)
{
    struct idle_lanes_stats *s = n->stats;
    s->full_cycles += pass(n, MIN(n->full_until, now));
    s->some_cycles += pass(n, MIN(n->busy_until, now));
    const u64 other = pass(n, MIN(n->other_until, now)), rest = pass(n, now);
    s->none_cycles += other + rest;
    s->none_issue += other;
    *(!n->has_work ? &s->none_uneven : n->requests ? &s->none_requests : &s->none_other) += rest;
}

static void settle(void *state, struct core *core, fs now)
{
    count(state, core_cycles_until(core, now));
}

static void packet(void *state, struct core *core, struct packet *packet)
{
    struct idle_lanes *n = state;
    count(n, core_cycle(core));
    n->has_work = true;
    n->requests++;
}

static void reply(void *state, struct core *core, const struct packet *packet)
{
    struct idle_lanes *n = state;
    count(n, core_cycle(core));
    assert(n->requests);
    n->requests--;
}

/* ---- partners ---- */

static lane_set shuffle(const struct idle_lanes *n, u32 slot, lane_set lanes)
{
    lane_set to = 0;
    for (; lanes; lanes &= lanes - 1)
        to |= 1ull << n->shuffled[slot][first_lane(lanes)];
    return to;
}

/* Looks for warps that could use the idle lanes of a diverged one. */
static void find_partner(struct idle_lanes *n, struct core *core, const struct inflight *inflight)
{
    const u32 s = inflight->slot;
    const lane_set active = inflight->dyn.active;
    u64 ready = core_ready(core, core_scheduler_of(core, s)) & ~bit(s);
    bool any = false, has_free = false, shuffled = false;
    for (; ready && !(has_free && shuffled); ready &= ready - 1) {
        const u32 other = first_bit(ready);
        if (core_slot(core, other)->at != inflight->dyn.inst)
            continue;
        const lane_set lanes = core_slot(core, other)->warp->active;
        any = true;
        has_free |= (lanes & ~active) != 0;
        shuffled = shuffled || (shuffle(n, other, lanes) & ~shuffle(n, s, active));
    }
    n->stats->partner += any;
    n->stats->partner_free += has_free;
    n->stats->partner_shuffled += shuffled;
}

/* ---- instructions ---- */

static bool computes(const struct inflight *inflight)
{
    return inflight->dyn.kind == DYNINST_COMPUTE && inflight->pipe != PIPE_MEMORY &&
           inflight->pipe != PIPE_SCALAR;
}

static void count_lanes_of(struct idle_lanes *n, struct core *core, const struct inflight *inflight)
{
    const struct dyninst *dyn = &inflight->dyn;
    const struct warp *warp = dyn->warp;
    const u64 cycles = MAX(inflight->interval, 1u);
    n->stats->lane_cycles += cycles * core_warp_size(core);
    n->stats->idle_missing += cycles * (core_warp_size(core) - count_lanes(warp->members));
    n->stats->idle_exited += cycles * count_lanes(warp->members & ~warp->live);
    n->stats->idle_diverged += cycles * count_lanes(warp->live & ~dyn->active);
    n->stats->idle_guarded += cycles * count_lanes(dyn->active & ~dyn->lanes);
    if (dyn->active == warp->members)
        return;
    n->stats->diverged++;
    if (core_has_common_stages(core))
        find_partner(n, core, inflight);
}

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct idle_lanes *n = state;
    const u64 now = core_cycle(core);
    count(n, now);
    n->has_work = true;
    if (!computes(inflight)) {
        n->other_until = now + 1;
        return;
    }
    const u64 end = now + MAX(inflight->interval, 1u);
    n->busy_until = MAX(n->busy_until, end);
    if (inflight->dyn.lanes == core_all_lanes(core))
        n->full_until = MAX(n->full_until, end);
    if (!inflight->injected)
        count_lanes_of(n, core, inflight);
}

/* ---- blocks ---- */

/* The clock of a core without blocks stands still: the time of a start is that of its first request or
 * instruction. */
static void block(void *state, struct core *core, u32 place, bool started)
{
    struct idle_lanes *n = state;
    if (!started) {
        count(n, core_cycle(core));
        n->has_work = --n->blocks != 0;
        return;
    }
    n->blocks++;
    for (u64 set = core_block(core, place)->slots; set; set &= set - 1) {
        u8 *lanes = n->shuffled[first_bit(set)];
        for (u32 i = 0; i < core_warp_size(core); i++) { /* Fisher and Yates */
            const u32 other = (u32)mechanism_random_below(n, i + 1);
            lanes[i] = lanes[other];
            lanes[other] = (u8)i;
        }
    }
}

static const char *const deviations[] = {
    "The text does not define idle time. Here lanes are idle while nothing computes in them: "
    "loads, "
    "stores and branches do not.",
    "Its requests pending in the memory controller's buffer are here all requests of the core that "
    "the "
    "memory side has not answered, including their way through the network.",
    "A lane conflict is taken to prevent sharing only if all threads of the other warp are in "
    "lanes that "
    "are in use: one thread in an idle lane is enough. Instructions count, not cycles.",
    NULL,
};

const struct mechanism idle_lanes_mechanism = {
    MECHANISM_NAMED(idle_lanes,
                    "measures when lanes are idle, why, and which warps could use them"),
    .source = "J. Tan, \"Architectural approaches to design reliable and energy-efficient GPUs\", "
              "dissertation, University of Houston, 2016, sections 3.1 and 3.1.2.1",
    .deviations = deviations,
    .state_size = sizeof(struct idle_lanes),
    .forgets = true,
    .random = true,
    .no_operands = true,
    .optional = 1u << SEAM_PACKET | 1u << SEAM_REPLY,
    .block = block,
    .issued = issued,
    .packet = packet,
    .reply = reply,
    .settle = settle,
};
