/*
 * The gcn pipeline's issue: schedulers in turn, one a cycle, which issues several instructions.
 *
 * Each scheduler has warps and a vector unit of its own; the scalar unit and the branch unit are
 * the core's. In cycle c it is the turn of scheduler c mod schedulers: it gives on up to
 * issue.kinds instructions, each of another kind and each of another warp, in the order of its
 * policy. What is internal to a warp (waits, barriers, no-operations, ends) is done in the warp's
 * buffer: it needs no unit, does not count among the kinds, and any number of warps may do it in
 * one turn. AMD's whitepaper on Graphics Cores Next and its talk at Hot Chips 24 describe it so.
 *
 * An instruction enters its unit in the cycle in which it issues, and the unit reads the operands
 * in its own passes: there are neither collectors nor conflicts of banks, and a result is there
 * `latency` cycles after its instruction has issued. Accesses go on through a collector to the
 * load/store unit, which all kinds of them share, as elsewhere.
 *
 * Invariants
 *  T1  A turn is one issue slot, whatever it issues: slots = cycles.
 *  T2  A unit takes an instruction each `interval`; a scheduler with one that waits for a unit does
 *      not fall asleep, since a unit becomes free without telling.
 *
 * Deviations: exports and accesses to global data share, a sixth kind of the hardware, are not
 * modelled. Messages and accesses of scalars take the places of their kinds.
 */
#include "core/common/issue_parts.h"
#include "core/gcn/gcn.h"
#include <stdlib.h>

/* The pipeline's own state: the cycle from which a unit takes another instruction; units of the
 * core as a whole are the first ones of their kind. */
struct gcn {
    u64 free[TURN_KINDS][CORE_SCHEDULERS];
};

static struct gcn *gcn_of(const struct core *core)
{
    return core->own;
}

/* The units of a kind: those of schedulers, or of the core. */
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
    const u64 begin = MAX(now, *free_at); /* mechanisms do not ask whether it is free */
    *free_at = begin + inflight->interval;
    inflight->unit = 0;
    execute_count(core, inflight);
    wheel_add(core, inflight, begin - now + inflight->extra + inflight->latency);
}

/* Issues from a set of warps; false: nothing. */
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

static void issue(struct core *core, u32 first)
{
    const u32 scheduler = (u32)(core_cycle(core) % core->config.issue->schedulers);
    (void)first; /* that is for schedulers which act together */
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

/* Cycles whose turn it is. */
static u64 slots(const struct core *core, u32 scheduler, u64 since, u64 until)
{
    const u64 n = core->config.issue->schedulers, before = n - 1 - scheduler;
    return (until + before) / n - (since + before) / n;
}

static void time(struct inst_time *time, const struct timed_code *code, u32 i)
{
    time_place(time, &code->program->insts[i], code->config);
    if (time->kind == TURN_BRANCH || time->kind == TURN_INTERNAL)
        time->pipe = PIPE_SCALAR; /* whatever else such instructions may be taken for */
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
    .run = common_run,
    .next = common_next,
    .waits = common_waits,
    .issue = issue,
    .slots = slots,
    .busy = busy_slots,
    .enter = enter,
    .accesses = 3, /* of lanes, to shared memory and of scalars */
    .time = time,
    .check = check,
    .storage = common_storage,
    .logic = common_logic,
    .has_memory_system = true,
    .content = true,
};
