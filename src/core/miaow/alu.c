/*
 * The miaow pipeline's scalar ALU, vector units and write port of the registers.
 *
 * The scalar ALU accepts an instruction, writes three cycles later and is free in the cycle after
 * that: whatever the instruction writes, it occupies the registers' write port in the cycle of the
 * write. A vector unit of 16 lanes takes four passes, each as long as the operation needs, or one
 * cycle if no lane of the pass is active. The result enters the unit's queue two cycles after the
 * last pass; a unit whose queue holds two results accepts no instruction.
 *
 * A counter determines the length of a pass in a floating-point unit. v_mad_f32 restarts the
 * counter at the end of a pass, as in the RTL, so that an instruction that follows soon may have
 * shorter passes (its values are correct here). All lanes of a pass are assumed to behave alike.
 *
 * One result is written per cycle: the scalar ALU's, else the load/store unit's, else that of the
 * next vector unit in turn that has one.
 */
#include "core/miaow/miaow.h"

enum {
    TO_FIRST_PASS = 1, /* cycles between issue and the first pass, minus one */
    TO_RESULTS = 2,    /* from the last pass to the queue */
    COUNTER_REST = 4,  /* cycles of a pass that its counter does not cover */
    MOST_RESULTS = 2   /* results in the queue with which a unit accepts no instruction */
};

/* ---- scalar ---- */

void miaow_alu_scalar(struct core *core, struct inflight *inflight, bool taken)
{
    struct miaow *miaow = miaow_of(core);
    miaow->scalar_inflight = inflight->index;
    miaow->scalar_taken = taken;
    miaow->scalar_done = core_cycle(core) + inflight->latency + inflight->extra;
    miaow->scalar_free = miaow->scalar_done + 1;
    core->stats.units.scalar_instructions++;
    core->stats.units.scalar_busy += inflight->latency + 1u;
}

static void resolve_branch(struct core *core, u32 s, bool taken)
{
    struct miaow *miaow = miaow_of(core);
    const u32 at = core->slots[s].at;
    if (at == NO_INST || core->issue.held >> s & 1) {
        miaow->parked |= bit(s);
        return;
    }
    if (taken || (UNLIKELY(core_hooked(core, SEAM_CONTROL)) && at != miaow->slots[s].feed_inst)) {
        miaow_reset_queue(core, s);
        miaow_goto(core, s, at);
    }
    *miaow_ring(miaow, miaow->hungry_at, core_cycle(core) + 2) |= bit(s);
}

void miaow_alu_tick_scalar(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    if (miaow->scalar_done != core_cycle(core))
        return;
    struct inflight *inflight = core_inflight(core, miaow->scalar_inflight);
    const struct inst_time *time = inflight->time;
    const u32 s = inflight->slot, inst = inflight->dyn.inst;
    const bool branch = time->flags & TIME_BRANCH, annulled = inflight->annulled;
    miaow->moved = true;
    miaow->writes_taken = true;
    miaow->scalar_done = UINT64_MAX;
    miaow->scalar_inflight = NO_INFLIGHT;
    if (!branch && time->write_count) {
        miaow_trace(core, TRACE_DONE, s, inst, trace_at(AT_SALU));
        miaow_trace_writes(core, inflight);
    }
    miaow_issue_written(core, inflight, true);
    inflight_retire(core, inflight);
    if (branch && !annulled) { /* a warp that was restarted goes on elsewhere */
        miaow->branching &= ~bit(s);
        resolve_branch(core, s, miaow->scalar_taken);
    }
}

/* ---- vector ---- */

/* Cycles of all passes. */
static u32 passes_cycles(const struct core *core, const struct inflight *inflight)
{
    const u32 lanes = core->config.miaow->lanes;
    const u64 pass = lanes < 64 ? bit(lanes) - 1 : ~0ull;
    u32 cycles = 0;
    for (u32 at = 0; at < core->config.core->warp_size; at += lanes)
        cycles += inflight->dyn.active >> at & pass ? inflight->interval : 1;
    return cycles;
}

/* Advances a counter, which is `ready` after `last`, by a cycle. */
static void counter_step(struct miaow_counter *c, bool start, u32 last)
{
    if (c->starts) {
        c->busy = true;
        c->count = 0;
    } else if (!c->busy) {
        c->ready = false;
    } else if (c->count == last) {
        c->busy = false;
        c->ready = true;
        c->count = 0;
    } else {
        c->count++;
    }
    c->starts = start;
}

/* Cycles of one pass; advances the counter to its end. */
static u32 counted_pass(struct miaow_counter *c, const struct inflight *inflight, u32 add)
{
    const u32 last = inflight->interval - COUNTER_REST;
    const bool restarts = inflight->time->flags & TIME_RESTART;
    for (u32 cycles = 0;; cycles++) {
        const bool done = c->ready;
        counter_step(c, cycles == 0 || (done && restarts), done && restarts ? add : last);
        if (done)
            return cycles + 1;
    }
}

/* passes_cycles for a unit whose counter is running, or will be restarted; the unit is free at
 * free_at. */
static u32 counted_cycles(const struct core *core, struct miaow_unit *unit,
                          const struct inflight *inflight)
{
    const u32 lanes = core->config.miaow->lanes;
    const u64 pass = lanes < 64 ? bit(lanes) - 1 : ~0ull;
    const u32 add = MAX(core->config.miaow->simf_add, COUNTER_REST) - COUNTER_REST;
    const u64 begin = core_cycle(core) + TO_FIRST_PASS + 1;
    struct miaow_counter *c = &unit->counter;
    u32 cycles = 0;
    for (u64 at = unit->free_at + 1; at < begin && (c->starts || c->busy || c->ready); at++)
        counter_step(c, false, add);
    for (u32 at = 0; at < core->config.core->warp_size; at += lanes) {
        if (!(inflight->dyn.active >> at & pass)) {
            counter_step(c, false, add);
            cycles++;
        } else if (inflight->interval <= COUNTER_REST) {
            for (u32 i = 0; i < inflight->interval; i++, cycles++)
                counter_step(c, false, UINT32_MAX);
        } else {
            cycles += counted_pass(c, inflight, add);
        }
    }
    return cycles;
}

static u32 unit_cycles(const struct core *core, struct miaow_unit *unit,
                       const struct inflight *inflight)
{
    const struct miaow_counter *c = &unit->counter;
    if (UNLIKELY(c->starts || c->busy || c->ready || inflight->time->flags & TIME_RESTART))
        return counted_cycles(core, unit, inflight);
    return passes_cycles(core, inflight);
}

void miaow_alu_start(struct core *core, struct inflight *inflight, u32 u)
{
    struct miaow_unit *unit = &miaow_of(core)->units[u];
    const u32 cycles = unit_cycles(core, unit, inflight) + inflight->extra;
    assert(unit->comes_at == UINT64_MAX);
    miaow_of(core)->working |= 1u << u;
    inflight->unit = (u8)(u % UNIT_SIMF);
    unit->began = core_cycle(core);
    unit->free_at = core_cycle(core) + TO_FIRST_PASS + cycles;
    unit->comes_at = unit->free_at + TO_RESULTS;
    unit->coming = inflight->index;
    if (u >= UNIT_SIMF) {
        core->stats.units.sp_instructions++;
        core->stats.units.sp_busy += cycles;
    } else {
        core->stats.units.int_instructions++;
        core->stats.units.int_busy += cycles;
    }
}

/* Enters results that arrive in this cycle into the queues; returns the units that have a
 * result. */
static u32 take_results(struct core *core)
{
    const u64 now = core_cycle(core);
    u32 set = 0;
    for (u32 working = miaow_of(core)->working; working; working &= working - 1) {
        const u32 u = first_bit(working);
        struct miaow_unit *unit = &miaow_of(core)->units[u];
        if (unit->comes_at == now) {
            unit->queue[(unit->head + unit->count++) % RESULTS] = unit->coming;
            unit->comes_at = UINT64_MAX;
            miaow_of(core)->moved = true;
        }
        set |= (u32)(unit->count != 0) << u;
        if (!unit->count && unit->comes_at == UINT64_MAX && unit->free_at < now)
            miaow_of(core)->working &= ~(1u << u);
    }
    return set;
}

u32 miaow_alu_ready(const struct core *core)
{
    const struct miaow *miaow = miaow_of(core);
    const u64 now = core_cycle(core);
    u32 set = (u32)miaow_lsu_ready(core) << UNIT_LSU |
              (u32)(miaow->scalar_free <= now) << UNIT_SALU |
              (((1u << VECTOR_UNITS) - 1) & ~miaow->working);
    for (u32 working = miaow->working; working; working &= working - 1) {
        const struct miaow_unit *unit = &miaow->units[first_bit(working)];
        const u32 count = unit->count + (unit->comes_at == now);
        set |= (u32)(unit->free_at <= now && count < MOST_RESULTS) << first_bit(working);
    }
    return set & miaow_of(core)->units_all;
}

void miaow_alu_tick(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    const u32 set = take_results(core);
    if (!set)
        return;
    miaow->moved = true;
    if (miaow->writes_taken)
        return;
    const u32 later = set >> miaow->write_turn << miaow->write_turn;
    const u32 u = first_bit(later ? later : set);
    struct miaow_unit *unit = &miaow->units[u];
    struct inflight *inflight = core_inflight(core, unit->queue[unit->head++ % RESULTS]);
    unit->count--;
    miaow->write_turn = u + 1;
    miaow_trace(core, TRACE_DONE, inflight->slot, inflight->dyn.inst,
                trace_at_number(u >= UNIT_SIMF ? AT_SIMF : AT_SIMD, u % UNIT_SIMF));
    miaow_trace_writes(core, inflight);
    miaow_issue_written(core, inflight, true);
    inflight_retire(core, inflight);
}

u64 miaow_alu_due(const struct core *core)
{
    const struct miaow *miaow = miaow_of(core);
    const u64 now = core_cycle(core);
    u64 due = miaow->scalar_done;
    if (miaow->scalar_free >= now)
        due = MIN(due, miaow->scalar_free);
    for (u32 working = miaow->working; working; working &= working - 1) {
        const struct miaow_unit *unit = &miaow->units[first_bit(working)];
        due = MIN(due, unit->comes_at);
        if (unit->free_at >= now)
            due = MIN(due, unit->free_at);
    }
    return due;
}
