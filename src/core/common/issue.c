/*
 * Issue: each scheduler picks a warp and passes its next instruction, or several (issue.per_warp),
 * to the collectors.
 *
 * A warp is ready when its buffer holds its next instruction, no register that this needs is
 * pending, the warp waits for nothing else, and the instruction's pipe has room. These conditions
 * are sets with one bit per warp; a pick is made only when their intersection is not empty. When an
 * instruction issues, it reads its operands and control flow takes effect; its results are in its
 * record from then on.
 *
 * Invariants
 *  I1  slots = issued + the sum of all idle_ counters.
 *  I2  A scheduler that issued nothing is charged with the first of these reasons that applies to
 *      one of its warps: unit, held (pick), collector, memory, RAW, WAW, wait, branch, held
 *      (core_hold), barrier, fetch, memory (an ended warp with something in flight); empty if it
 *      has no warp.
 */
#include "base/hot.h"
#include "core/common/issue_tick.h"

static COLD void tell_issued(struct core *core, struct inflight *inflight)
{
    EACH_USE(use, &core->hooks, issued)
        use->mechanism->issued(use->state, core, inflight);
}

COLD void issue_tell_control(struct core *core, u32 s, u32 inst)
{
    EACH_USE(use, &core->hooks, control)
        use->mechanism->control(use->state, core, s, inst);
}

static void ask_operands(struct core *core, struct inflight *inflight)
{
    EACH_USE(use, &core->hooks, operand)
        inflight->extra += (u16)use->mechanism->operand(use->state, core, inflight);
}

/* The work of an instruction, counted in lanes. */
struct lane_work {
    u32 reads, ops, writes;
};

/* The work that the profile counts for an instruction without mechanisms. */
static struct lane_work plain_work(const struct core *core, const struct inflight *inflight)
{
    const struct inst_time *time = inflight->time;
    const u32 lanes = LIKELY(inflight->dyn.lanes == core->all_lanes)
                          ? core->config.core->warp_size
                          : count_lanes(inflight->dyn.lanes);
    return (struct lane_work){lanes * time->read_count, lanes, lanes * time->result_count};
}

static void expect_work(struct core *core, struct inflight *inflight)
{
    const struct lane_work plain = plain_work(core, inflight);
    inflight->lane_reads = (u16)plain.reads;
    inflight->lane_ops = (u16)plain.ops;
    inflight->lane_writes = (u16)plain.writes;
}

void inflight_count_work(struct core *core, const struct inflight *inflight, bool written)
{
    struct inst_profile *profile = &core->profile[inflight->dyn.inst];
    const struct lane_work counted =
        inflight->injected ? (struct lane_work){0} : plain_work(core, inflight);
    if (written) {
        profile->more_writes += (i64)inflight->lane_writes - counted.writes;
        return;
    }
    profile->more_reads += (i64)inflight->lane_reads - counted.reads;
    profile->more_ops += (i64)inflight->lane_ops - counted.ops;
}

u64 core_lanes_unwritten(const struct core *core)
{
    u64 lanes = 0;
    for (u32 word = 0; core->inflight.count && word < CORE_INFLIGHT / 64; word++)
        for (u64 set = ~core->inflight.free[word]; set; set &= set - 1) {
            const struct inflight *inflight = &core->inflight.all[word * 64 + first_bit(set)];
            lanes += inflight->injected ? 0 : plain_work(core, inflight).writes;
        }
    return lanes;
}

/* With mechanisms: from operands to the unit. */
static void compute_hooked(struct core *core, struct inflight *inflight)
{
    expect_work(core, inflight);
    if (core_hooked(core, SEAM_OPERAND))
        ask_operands(core, inflight);
    if (inflight->dyn.kind == DYNINST_COMPUTE) {
        dyninst_compute(&inflight->dyn);
        if (core_hooked(core, SEAM_RESULT))
            hooks_result(core, inflight);
    }
    if (core_hooked(core, SEAM_ISSUED))
        tell_issued(core, inflight);
    if (core_followed(core))
        trace_issued(core, inflight);
    if (core->pipeline->enter)
        core->pipeline->enter(core, inflight);
    inflight_count_work(core, inflight, false);
}

void issue_compute_specially(struct core *core, struct inflight *inflight)
{
    if (inflight->time->counter && !inflight->injected)
        waitcnt_issue(core, inflight);
    if (UNLIKELY(core->live != NULL))
        live_issued(core, inflight);
    if (core->detours & DETOUR_SEAMS) {
        compute_hooked(core, inflight);
        return;
    }
    if (inflight->dyn.kind == DYNINST_COMPUTE)
        dyninst_compute(&inflight->dyn);
    if (UNLIKELY(core->watch != NULL))
        core->watch->issued(core->watch->user, core, inflight);
    if (core->pipeline->enter)
        core->pipeline->enter(core, inflight);
}

COLD void issue_take_interval(struct core *core, const struct inflight *inflight, u32 s)
{
    u32 cycles = core->config.issue->interval;
    if (inflight->interval < inflight->time->interval)
        cycles = MIN(cycles, MAX(inflight->interval, 1));
    core->issue.schedulers[first_bit(core->issue.scheduler_of[s])].free = core_cycle(core) + cycles;
}

void core_issue_dyninst(struct core *core, struct inflight *inflight, u32 s)
{
    issue_dyninst(core, inflight, s, &core->times[inflight->dyn.inst], false);
}

void core_issue_own(struct core *core, struct inflight *inflight, u32 s,
                    const struct inst_time *time)
{
    assert(inflight->injected);
    issue_dyninst(core, inflight, s, time, false);
}

void core_count_issue(struct core *core, const struct dyninst *dyn, u32 s)
{
    count_issue(core, dyn, &core->slots[s]);
}

void core_step(struct core *core, u32 s, u32 inst)
{
    step(core, s, inst, &core->times[inst], warp_next(core->slots[s].warp), false);
}

void core_issue_group(struct core *core, struct inflight *inflight, u32 s)
{
    const u32 inst = inflight->dyn.inst;
    dyninst_advance(core->slots[s].warp, inst);
    core_count_issue(core, &inflight->dyn, s);
    core_issue_dyninst(core, inflight, s);
    core_step(core, s, inst);
}

static __attribute__((noinline)) bool issue_head(struct core *core, u32 s)
{
    return issue_next(core, s, false);
}

/* ---- for pipelines that choose an instruction's unit themselves ---- */

/* The warp has advanced: updates its position and its block. */
static void moved(struct core *core, u32 s, u32 inst)
{
    struct slot *slot = &core->slots[s];
    slot->at = warp_next(slot->warp);
    slot_sort(core, s, slot);
    if (!(core->times[inst].flags & (TIME_BRANCH | TIME_BARRIER))) {
        if (UNLIKELY(slot->at == NO_INST) && slot->warp->reformed)
            issue_tell_control(core, s, inst); /* it has reached its end */
        return;
    }
    block_update(core, s);
    if (core_hooked(core, SEAM_CONTROL))
        issue_tell_control(core, s, inst);
}

static bool start(struct core *core, struct inflight *inflight, u32 s, u32 inst)
{
    restart_pass(core, s, &core->times[inst]);
    if (UNLIKELY(core->detours & DETOUR_OPERANDS))
        dyninst_issue(&inflight->dyn, core->slots[s].warp, inst);
    else
        dyninst_start(&inflight->dyn, core->slots[s].warp, inst);
    count_issue(core, &inflight->dyn, &core->slots[s]);
    core->stopped = core->exec->stopped;
    if (core->stopped)
        inflight_give(core, inflight);
    return !core->stopped;
}

bool core_issue_direct(struct core *core, struct inflight *inflight, u32 s, u32 inst)
{
    if (!start(core, inflight, s, inst))
        return false;
    issue_dyninst(core, inflight, s, &core->times[inst], false);
    moved(core, s, inst);
    return true;
}

void core_act(struct core *core, struct inflight *inflight, u32 s, u32 inst)
{
    if (!start(core, inflight, s, inst))
        return;
    inflight->slot = (u8)s;
    inflight->time = &core->times[inst];
    if (core_hooked(core, SEAM_OPERAND)) /* for observers */
        ask_operands(core, inflight);
    if (UNLIKELY(core->trace.watcher != NULL)) {
        core->trace.watcher->issued(core->trace.watcher, core, inflight);
        core->trace.watcher->retired(core->trace.watcher, core, inflight);
    }
    inflight_give(core, inflight);
    moved(core, s, inst);
}

enum lose_answer issue_ask_loss(struct core *core, u32 s, u32 inst)
{
    enum lose_answer answer = LOSE_NOTHING;
    EACH_USE(use, &core->hooks, lose) {
        answer = use->mechanism->lose(use->state, core, s, inst);
        if (answer != LOSE_NOTHING)
            break;
    }
    return answer;
}

bool core_lose_direct(struct core *core, u32 s, u32 inst)
{
    restart_pass(core, s, &core->times[inst]);
    switch (issue_ask_loss(core, s, inst)) {
    case LOSE_NOTHING:
        return false;
    case LOSE_INST:
        dyninst_advance(core->slots[s].warp, inst);
        moved(core, s, inst);
        return true;
    case LOSE_REGION:
        break;
    }
    return true;
}

/* Whether mechanisms issue something instead of the head. */
static __attribute__((noinline)) enum issue_answer ask_issue(struct core *core, u32 s)
{
    enum issue_answer answer = ISSUE_PLAIN;
    EACH_USE(use, &core->hooks, issue) {
        answer = use->mechanism->issue(use->state, core, s, core->slots[s].buffer[0]);
        if (answer != ISSUE_PLAIN)
            break;
    }
    return answer;
}

/* Whether the head is lost before it takes effect: the warp has gone on behind it, or back to the
 * start of its region. */
static __attribute__((noinline)) bool lose_head(struct core *core, u32 s)
{
    const u32 inst = core->slots[s].buffer[0];
    switch (issue_ask_loss(core, s, inst)) {
    case LOSE_NOTHING:
        return false;
    case LOSE_INST:
        dyninst_advance(core->slots[s].warp, inst);
        core_step(core, s, inst);
        core->issue.branching &= ~bit(s) | core->issue.held; /* nothing is left to resolve */
        fetch_want(core, s);
        return true;
    case LOSE_REGION:
        break;
    }
    return true;
}

PART_OF bool issue_one(struct core *core, u32 s)
{
    restart_pass(core, s, core->slots[s].time);
    if (core_hooked(core, SEAM_LOSE) && lose_head(core, s))
        return true;
    if (core_hooked(core, SEAM_ISSUE)) {
        const enum issue_answer answer = ask_issue(core, s);
        if (answer != ISSUE_PLAIN)
            return answer == ISSUE_DONE;
    }
    return issue_head(core, s);
}

bool issue_slot(struct core *core, u32 s)
{
    return issue_one(core, s);
}

static enum skip_answer ask_skip(struct core *core, u32 s, u32 inst)
{
    enum skip_answer answer = SKIP_DONE;
    EACH_USE(use, &core->hooks, skipped) {
        if (answer == SKIP_DONE)
            answer = use->mechanism->skipped(use->state, core, s, inst);
    }
    return answer;
}

COLD void issue_skip_heads(struct core *core)
{
    for (u64 set = core->issue.skipping & core->issue.clear & ~core->issue.waiting &
                   ~core->issue.branching;
         set; set &= set - 1) {
        const u32 s = first_bit(set), inst = core->slots[s].buffer[0];
        const enum skip_answer answer = ask_skip(core, s, inst);
        if (answer == SKIP_WAIT)
            continue;
        if (answer == SKIP_FETCH) {
            core->issue.clear &= ~bit(s);
            fetch_redirect(core, s);
            continue;
        }
        core->slots[s].limit--;
        if (core->issue.by_waitcnt && core->times[inst].counter)
            waitcnt_skip(core, s, &core->times[inst]);
        dyninst_advance(core->slots[s].warp, inst);
        core_step(core, s, inst);
    }
}

COLD void issue_ask_pick(struct core *core, u32 scheduler, u64 *ready, u64 *held)
{
    struct pick pick = {0};
    EACH_USE(use, &core->hooks, pick)
        use->mechanism->pick(use->state, core, scheduler, &pick);
    *held = *ready & pick.never;
    *ready &= ~pick.never;
    if (*ready & pick.prefer)
        *ready &= pick.prefer;
}

COLD bool issue_ask_insert(struct core *core, u32 scheduler)
{
    EACH_USE(use, &core->hooks, insert) {
        if (use->mechanism->insert(use->state, core, scheduler))
            return true;
    }
    return false;
}

void core_serial(struct core *core)
{
    core->quiet_until = 0;
    for (u64 set = core->issue.serial; set && !core->stopped; set &= set - 1) {
        u32 s = first_bit(set), inst = core->slots[s].buffer[0];
        struct inflight *inflight = inflight_take(core);
        if (!inflight)
            return;
        restart_pass(core, s, &core->times[inst]);
        dyninst_issue(&inflight->dyn, core->slots[s].warp, inst);
        core_count_issue(core, &inflight->dyn, s);
        inflight_give(core, inflight);
        core->stopped = core->exec->stopped;
        if (!core->stopped)
            core_step(core, s, inst);
    }
}

/* ---- why nothing was issued ---- */

static struct reason reason_now(const struct core *core, u32 scheduler)
{
    const struct pipeline *pipeline = core->pipeline;
    return reason_with(core, scheduler, 0, pipeline->busy ? pipeline->busy(core, scheduler) : 0);
}

void issue_charge_idle(struct core *core)
{
    for (u32 set = core->issue.idle_set; set; set &= set - 1) {
        const u32 i = first_bit(set);
        charge_idle(core, i, idle_slots(core, i));
        core->issue.idle[first_bit(set)].since = core_cycle(core);
    }
}

void issue_used(struct core *core)
{
    end_idle_of_all(core, 0);
    core->stats.issue.slots++;
    core->stats.issue.issued++;
}

void issue_idle(struct core *core, enum stall stall, u32 s)
{
    const u32 inst = s == CORE_WARPS ? NO_INST : core_stands(core, s);
    if (core->issue.idle_set & 1 && core->issue.idle[0].stall == stall &&
        core->issue.idle[0].inst == inst)
        return;
    end_idle_of_all(core, 0);
    note_idle(core, 0, (struct reason){stall, s});
}

void issue_charge(struct core *core, u64 cycles)
{
    core->stats.issue.cycles += core->present ? cycles : 0;
    core->issue.rounds += cycles;
    for (u32 awake = core->issue.all & ~core->issue.asleep; awake; awake &= awake - 1) {
        u32 i = first_bit(awake);
        end_idle(core, i);
        note_idle(core, i, reason_now(core, i));
        const u64 now = core_cycle(core);
        schedule_pass(core, i, core->pipeline->slots(core, i, now, now + cycles));
    }
}

/* ---- the stage ---- */

bool issue_several(struct core *core, u32 s, u32 group)
{
    u32 used = 1u << core->slots[s].head; /* pipes, bits */
    if (!issue_one(core, s))
        return false;
    for (u32 n = 1; n < core->config.issue->per_warp && !core->stopped; n++) {
        u64 able = able_slots(core) & ~core->issue.skipping;
        if (!(able >> s & 1))
            break;
        u32 pipe = core->slots[s].head;
        if (core->config.issue->different_units && used >> pipe & 1)
            break;
        if (!collect_room(core, group, pipe) || !issue_one(core, s))
            break;
        used |= 1u << pipe;
    }
    return true;
}

bool core_room(const struct core *core, u32 slot, u32 inst)
{
    return collect_room(core, core->groups > 1 ? slot % core->groups : 0, core->times[inst].pipe);
}

u64 core_able(const struct core *core, u32 scheduler)
{
    return core->issue.schedulers[scheduler].slots & able_slots(core) & ~core->issue.skipping;
}

u64 core_ready(const struct core *core, u32 scheduler)
{
    return ready_slots(core, scheduler);
}

COLD void issue_wait_turn(struct core *core, u32 scheduler)
{
    end_idle(core, scheduler);
    struct reason reason = reason_now(core, scheduler);
    if (reason.stall == STALL_COLLECTOR)
        reason.stall = STALL_UNIT;
    note_idle(core, scheduler, reason);
    if (!core->issue.sleeps)
        schedule_pass(core, scheduler, 1);
}

void issue_prepare(struct core *core)
{
    prepare(core);
}

HOT void issue_turns(struct core *core)
{
    run_schedulers(core, false);
}
