/*
 * Issue in the gcn pipeline: schedulers take turns, one per cycle, and issue several instructions.
 *
 * Each scheduler has its own warps and vector unit; the scalar unit and the branch unit belong to
 * the core. In cycle c it is the turn of scheduler c mod schedulers: it issues up to issue.kinds
 * instructions, each of a different kind and from a different warp, in the order of its policy.
 * Instructions internal to a warp (waits, barriers, no-operations, ends) are handled in the warp's
 * buffer: they need no unit, do not count among the kinds, and any number of warps may execute one
 * in a turn. AMD's whitepaper on Graphics Cores Next and its talk at Hot Chips 24 describe this.
 *
 * An instruction enters its unit in the cycle in which it issues, and the unit reads the operands
 * during its passes: there are neither collectors nor bank conflicts, and the result is available
 * `latency` cycles after issue. Memory accesses go through a collector to the load/store unit,
 * which all kinds of them share, as in the common pipeline.
 *
 * Invariants
 *  T1  A turn is one issue slot, whatever it issues: slots = cycles.
 *  T2  A unit accepts an instruction every `interval` cycles. A scheduler with an instruction that
 *      waits for a unit does not sleep, since no event says that a unit has become free.
 *
 * Deviations: exports and accesses to the global data share, a sixth kind in the hardware, are not
 * modelled. Messages are no kind of their own; scalar memory accesses count as scalar.
 */
#include "core/common/issue_parts.h"
#include "core/gcn/gcn.h"
#include <stdlib.h>

/* The pipeline's own state: the cycle from which a unit accepts another instruction. A unit of the
 * whole core is the first of its kind. */
struct gcn {
    u64 free[TURN_KINDS][CORE_SCHEDULERS];
};

static struct gcn *gcn_of(const struct core *core)
{
    return core->own;
}

/* The unit of a kind: the scheduler's, or the core's. */
static inline u64 *unit_free(const struct core *core, enum turn_kind kind, u32 scheduler)
{
    return &gcn_of(core)->free[kind][kind == TURN_VECTOR ? scheduler : 0];
}

static u64 busy_slots(const struct core *core, u32 scheduler)
{
    const u64 now = core_cycle(core);
    u32 kinds = 0;
    u64 set = 0;
    for (enum turn_kind kind = TURN_VECTOR; kind <= TURN_BRANCH; kind++)
        kinds |= (u32)(*unit_free(core, kind, scheduler) > now) << kind;
    if (LIKELY(!kinds))
        return 0;
    for (u64 able = core->issue.schedulers[scheduler].slots & able_slots(core); able;
         able &= able - 1) {
        const struct inst_time *time = core->slots[first_bit(able)].time;
        if (kinds >> time->kind & 1 && time->pipe != PIPE_MEMORY)
            set |= able & -able;
    }
    return set;
}

static void enter(struct core *core, struct inflight *inflight)
{
    const u64 now = core_cycle(core);
    if (inflight->pipe == PIPE_MEMORY) {
        collect_push(core, inflight);
        return;
    }
    collect_count(core, inflight);
    if (inflight->time->kind == TURN_INTERNAL) {
        wheel_add(core, inflight, 1);
        return;
    }
    u64 *const free_at = unit_free(core, inflight->time->kind, inflight->group);
    const u64 begin = MAX(now, *free_at); /* mechanisms do not check whether it is free */
    *free_at = begin + inflight->interval;
    inflight->unit = 0;
    execute_count(core, inflight);
    wheel_add(core, inflight, begin - now + inflight->extra + inflight->latency);
}

/* Issues from a set of warps. False: nothing issued. */
static bool issue_kinds(struct core *core, u32 scheduler, u64 open)
{
    u32 kinds = 0; /* bits */
    u64 done = 0;  /* warps */
    bool any = false;
    while (open && !core->stopped) {
        const u32 s = any ? schedule_pick(core, scheduler, open) : pick(core, scheduler, open);
        if (s == CORE_WARPS)
            break;
        const u32 kind = core->slots[s].time->kind;
        done |= bit(s);
        if (issue_slot(core, s)) {
            if (!any || !core->issue.greedy)
                core->issue.schedulers[scheduler].last = s;
            any = true;
            if (kind != TURN_INTERNAL)
                kinds |= 1u << kind;
        }
        open &= able_slots(core) & ~done & ~core->issue.skipping;
        if (open)
            open &= ~(without_room(core, group_of(core, scheduler)) | busy_slots(core, scheduler));
        for (u64 set = open; set; set &= set - 1) {
            const u32 other = core->slots[first_bit(set)].time->kind;
            if (kinds >> other & 1 || (other != TURN_INTERNAL &&
                                       (u32)__builtin_popcount(kinds) == core->config.issue->kinds))
                open &= ~(set & -set);
        }
    }
    return any;
}

static void issue(struct core *core)
{
    const u32 scheduler = (u32)(core_cycle(core) % core->config.issue->schedulers);
    if (core->issue.redirected | core->issue.skipping)
        issue_prepare(core);
    if (core->issue.asleep >> scheduler & 1)
        return;
    if (UNLIKELY(core->issue.schedulers[scheduler].free > core_cycle(core))) {
        issue_wait_turn(core, scheduler);
        return;
    }
    end_idle(core, scheduler);
    const u64 busy = busy_slots(core, scheduler);
    u64 held = 0, ready = ready_slots(core, scheduler) & ~busy;
    bool issued = core_hooked(core, SEAM_INSERT) && issue_ask_insert(core, scheduler);
    if (!issued) {
        if (ready && core_hooked(core, SEAM_PICK))
            issue_ask_pick(core, scheduler, &ready, &held);
        issued = ready && issue_kinds(core, scheduler, ready);
    }
    if (!issued) {
        rest(core, scheduler, ready | busy, reason_with(core, scheduler, held, busy));
        return;
    }
    core->stats.issue.slots++;
    core->stats.issue.issued++;
}

/* ---- the pipeline ---- */

static void create(struct core *core)
{
    core->own = checked(calloc(1, sizeof(struct gcn)));
    common_create(core);
}

static void destroy(struct core *core)
{
    common_destroy(core);
    free(core->own);
}

static void begin(struct core *core)
{
    memset(gcn_of(core), 0, sizeof(struct gcn));
    core->detours |= DETOUR_PIPELINE;
    common_begin(core);
}

/* Cycles in which it is the scheduler's turn. */
static u64 slots(const struct core *core, u32 scheduler, u64 since, u64 until)
{
    const u64 n = core->config.issue->schedulers, before = n - 1 - scheduler;
    return (until + before) / n - (since + before) / n;
}

static void time(struct inst_time *time, const struct timed_code *code, u32 i)
{
    time_place(time, &code->program->insts[i], code->config);
    if (time->kind == TURN_BRANCH || time->kind == TURN_INTERNAL)
        time->pipe = PIPE_SCALAR; /* whatever else these instructions may be classified as */
    time_cost(time, &code->program->insts[i], code->config);
    common_time_rest(time, code, i);
}

static bool check(const struct core_config *config, struct error *error)
{
    return config->issue->sub_cores ||
           error_set(error, ERROR_USAGE, "",
                     "issue.sub_cores is false: expected true with core.pipeline=gcn");
}

const struct pipeline gcn_pipeline = {
    .name = "gcn",
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .start_warp = common_start_warp,
    .restart = common_restart,
    .run = common_run,
    .next = common_next,
    .waits = common_waits,
    .issue = issue,
    .slots = slots,
    .busy = busy_slots,
    .enter = enter,
    .accesses = 3, /* vector, shared-memory and scalar accesses */
    .time = time,
    .check = check,
    .storage = common_storage,
    .logic = common_logic,
    .has_memory_system = true,
    .content = true,
};
