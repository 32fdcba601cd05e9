/*
 * The common pipeline: fetch, issue with a scoreboard, operand collectors, units, load/store unit.
 *
 * A tick calls the stages in reverse order, so that what a stage passes on is seen by the next
 * stage in the next cycle and no next-state copies are needed:
 *
 *     write-back    results that leave a unit in this cycle are written to the registers
 *     execute       instructions with all operands enter their units; the load/store unit works
 *     collect       register banks serve reads; instructions take collectors
 *     issue         each scheduler issues the next instructions of a warp
 *     fetch         instructions move from the instruction cache into the warps' buffers
 */
#include "base/hot.h"
#include "core/common/collect_tick.h"
#include "core/common/execute_tick.h"
#include "core/common/fetch_tick.h"
#include "core/common/issue_tick.h"
#include "core/common/lsu_tick.h"

/* ---- create and begin ---- */

static void issue_create(struct core *core)
{
    const u32 schedulers = core->config.issue->schedulers;
    core->issue.all = (1u << schedulers) - 1;
    for (u32 i = 0; i < schedulers; i++)
        for (u32 s = i; s < CORE_WARPS; s += schedulers) {
            core->issue.schedulers[i].slots |= bit(s);
            core->issue.scheduler_of[s] = (u16)(1u << i);
        }
}

/* Expects the wheel, the issue stage and the collectors to be zeroed: see drop_all() in core.c. */
void common_create(struct core *core)
{
    issue_create(core);
    fetch_create(core);
    collect_create(core);
    execute_create(core);
    lsu_create(core);
}

void common_destroy(struct core *core)
{
    lsu_destroy(core);
    fetch_destroy(core);
}

static void issue_begin(struct core *core)
{
    struct issue_stage *issue = &core->issue;
    issue->asleep = issue->idle_set = 0;
    issue->greedy = schedule_is_greedy(core);
    issue->oldest_next = issue->greedy && !core->config.live;
    issue->crowded = core->exec->crowded;
    issue->one_each = core->config.issue->per_warp == 1 && core->config.issue->interval == 1;
    /* rr passes the turn in every cycle, and some mechanisms must be called in every cycle */
    issue->sleeps = !schedule_passes(core) && !(core->hooks.seams & SEAMS_EVERY_CYCLE);
    for (u32 i = 0; i < core->config.issue->schedulers; i++) {
        issue->schedulers[i].last = CORE_WARPS;
        issue->schedulers[i].free = 0;
    }
}

void common_begin(struct core *core)
{
    issue_begin(core);
    waitcnt_begin(core);
    execute_begin(core);
    core->fetch.last = CORE_WARPS;
    for (u32 i = 0; i < core->collect.turn_count; i++)
        core->collect.turns[i].next = 0;
    lsu_begin(core);
}

void common_start_warp(struct core *core, u32 s)
{
    const struct slot *slot = &core->slots[s];
    const u64 who = slot->warp->block->number << 16 | slot->warp->index;
    core_trace(core, TRACE_DISPATCH, s, slot->at, who,
               slot->at == NO_INST ? 0 : program_offset(core->exec->image->program, slot->at));
}

void common_restart(struct core *core, u32 s)
{
    const struct slot *slot = &core->slots[s];
    if (slot->at != (slot->buffered ? slot->buffer[0] : slot->fetch_at))
        core->issue.redirected |= bit(s);
    core->issue.clear &= ~bit(s);
    slot_update(core, s);
    fetch_want(core, s);
}

/* ---- time ---- */

PART_OF void tick(struct core *core)
{
    write_back_tick(core);
    if (core->collect.collected_groups)
        execute_tick(core);
    lsu_tick(core);
    if (collect_active(core))
        collect_tick(core);
    else if (UNLIKELY(core->collect.starved))
        collect_charge(core, 1);
    core->collect.banks_written = 0;
    issue_tick(core);
    if (core->fetch.wanting || core->fetch.decode_head != core->fetch.decode_tail ||
        core->fetch.miss_head != core->fetch.miss_tail)
        fetch_tick(core);
    if (UNLIKELY(core->trace.on)) {
        if (core->trace.spans)
            core_trace_stalls(core);
        if (core->trace.steps)
            trace_steps(core);
    }
    clock_advance(&core->clock, 1);
}

/* Whether nothing can happen before a reply arrives or something comes due. */
static inline bool is_quiet(const struct core *core)
{
    if (core->issue.asleep != core->issue.all &&
        (core->issue.sleeps || core->issue.clear & ~core->issue.branching))
        return false;
    return !(core->collect.issued_groups | core->collect.collected_groups) && lsu_idle(core) &&
           !core->mechanism_work && !collect_active(core) && !core->issue.redirected &&
           !(core->issue.skipping & core->issue.clear & ~core->issue.branching) && fetch_idle(core);
}

/* The first cycle at which something on a quiet core comes due; UINT64_MAX: none. */
static u64 due_cycle(const struct core *core)
{
    const u64 wheel = wheel_next(core), lsu = lsu_next(core), fetch = fetch_next(core);
    const u64 due = wheel < WHEEL ? core_cycle(core) + wheel : UINT64_MAX;
    return MIN(due, MIN(lsu, fetch));
}

/* Finds out how long the core stays quiet, unless that is known. */
static void find_quiet(struct core *core)
{
    if (core->quiet_until > core_cycle(core))
        return;
    core->quiet_until = due_cycle(core);
    if (UNLIKELY(core->detours & DETOUR_SEAMS) && core->quiet_until == UINT64_MAX)
        hold_stuck(core);
}

/* Passes the cycles before `end` in which the core is quiet. */
static void pass_quiet(struct core *core, fs end)
{
    u64 cycles = clock_cycles_until(&core->clock, end);
    cycles = MIN(cycles, core->quiet_until - core_cycle(core));
    issue_charge(core, cycles);
    collect_charge(core, cycles);
    if (core->lsu.due <= core_cycle(core))
        lsu_charge(core, cycles);
    clock_advance(&core->clock, cycles);
}

HOT void common_run(struct core *core, fs end)
{
    struct port *const replies = core->config.replies;
    fs reply = port_next(replies);      /* none is added within a window */
    if (UNLIKELY(core->mechanism_work)) /* a mechanism may have started something between windows */
        core->quiet_until = 0;
    bool quiet = core->quiet_until > core_cycle(core);
    for (; core->clock.next < end && !core->stopped; quiet = false) {
        if (quiet || is_quiet(core)) {
            find_quiet(core);
            if (core->quiet_until > core_cycle(core))
                pass_quiet(core, MIN(end, reply));
            if (core->clock.next >= end)
                return;
            core->quiet_until = 0;
        }
        if (reply <= core->clock.next) {
            core_take_replies(core);
            reply = port_next(replies);
        }
        tick(core);
    }
}

fs common_next(const struct core *core)
{
    const u64 now = core_cycle(core);
    u64 due = core->quiet_until;
    if (due <= now || core->mechanism_work) {
        if (!is_quiet(core))
            return core->clock.next;
        due = due_cycle(core);
    }
    const fs next = port_next(core->config.replies);
    if (due == UINT64_MAX)
        return next;
    return MIN(next, core->clock.next + (due > now ? due - now : 0) * core->clock.period);
}

enum stall common_waits(const struct core *core, u32 s)
{
    const u64 mask = bit(s);
    if (!(core->present & mask))
        return STALL_EMPTY;
    if (core->ended & mask)
        return STALL_MEMORY;
    if (core->issue.held & mask)
        return STALL_HELD;
    if (core->issue.waiting & mask)
        return STALL_BARRIER;
    if (core->issue.branching & mask)
        return STALL_BRANCH;
    for (enum stall stall = STALL_RAW; stall <= STALL_WAIT; stall++)
        if (core->issue.blocked[stall] & mask)
            return stall;
    return core->issue.buffered & mask ? STALL_NONE : STALL_FETCH;
}

/* ---- properties ---- */

static u64 slots(const struct core *core, u32 scheduler, u64 since, u64 until)
{
    return until - since;
}

void common_time_rest(struct inst_time *time, const struct timed_code *code, u32 i)
{
    const struct inst *inst = &code->program->insts[i];
    const bool explicit_exec = code->program->traits.explicit_exec;
    time_flags(time, inst);
    /* scalar instructions read EXEC, too: their lanes are counted */
    time_registers(time, code, inst, (struct implied){.reads_exec = explicit_exec});
    if (code->config->issue->memory_order == 1 && explicit_exec)
        waitcnt_time(time, inst);
    time_finish(time, inst, code->config);
}

static void time(struct inst_time *time, const struct timed_code *code, u32 i)
{
    time_place(time, &code->program->insts[i], code->config);
    time_cost(time, &code->program->insts[i], code->config);
    common_time_rest(time, code, i);
}

const struct pipeline common_pipeline = {
    .name = "common",
    .create = common_create,
    .destroy = common_destroy,
    .begin = common_begin,
    .start_warp = common_start_warp,
    .restart = common_restart,
    .run = common_run,
    .next = common_next,
    .waits = common_waits,
    .issue = issue_turns,
    .slots = slots,
    .enter = collect_push_any,
    .accesses = 1,
    .time = time,
    .storage = common_storage,
    .logic = common_logic,
    .has_memory_system = true,
    .content = true,
};
