/*
 * The scalar ALU, the vector units and the writes to the registers of the wavepool stages.
 *
 * The scalar ALU takes an instruction, writes three cycles later and is free in the next: whatever
 * the instruction writes, it holds the registers' write port in that cycle (passes_hold_scalar has
 * the exception). A vector unit of 16
 * lanes takes four passes, of as many cycles as the operation needs, or one where no lane of a pass
 * is active. The result comes to the unit's queue two cycles after the last pass; a unit whose
 * queue holds two takes nothing.
 *
 * A pass of a float unit lasts until its counter says so. v_mad_f32 starts the counter again when a
 * pass is over, as in the RTL, so that an instruction that follows soon may have shorter passes
 * (its values are right here). Lanes of a pass are taken to be all alike.
 *
 * One result is written in a cycle: the scalar ALU's, else the load/store unit's, else that of the
 * first vector unit in turn that has one.
 */
#include "core/wavepool.h"

enum {
    TO_FIRST_PASS = 1, /* cycles between issue and the first pass, less one */
    TO_RESULTS = 2,    /* from the last pass to the queue */
    COUNTER_REST = 4,  /* cycles of a pass that its counter does not count */
    MOST_RESULTS = 2   /* of a queue of four, with which a unit takes nothing */
};

/* ---- scalar ---- */

void passes_scalar(struct core *core, struct task *task, bool taken)
{
    struct wavepool *pool = core->pool;
    pool->scalar_task = task->index;
    pool->scalar_taken = taken;
    pool->scalar_done = core_cycle(core) + task->latency + task->extra;
    pool->scalar_free = pool->scalar_done + 1;
    core->stats.units.scalar_instructions++;
    core->stats.units.scalar_busy += task->latency + 1u;
}

static void resolve_branch(struct core *core, u32 s, bool taken)
{
    struct wavepool *pool = core->pool;
    const u32 at = core->slots[s].at;
    if (at == NO_INST) {
        pool->parked |= bit(s);
        return;
    }
    if (taken) {
        pool_reset_queue(core, s);
        pool_goto(core, s, at);
    }
    *pool_ring(pool, pool->hungry_at, core_cycle(core) + 2) |= bit(s);
}

void passes_tick_scalar(struct core *core)
{
    struct wavepool *pool = core->pool;
    if (pool->scalar_done != core_cycle(core))
        return;
    struct task *task = core_task(core, pool->scalar_task);
    const struct inst_time *time = task->time;
    const u32 s = task->slot, inst = task->flight.inst;
    const bool branch = time->flags & TIME_BRANCH;
    pool->moved = true;
    pool->writes_taken = true;
    pool->scalar_done = UINT64_MAX;
    pool->scalar_task = NO_TASK;
    if (!branch && time->write_count) {
        pool_observe(core, OBSERVED_DONE, s, inst, observed_at(AT_SALU));
        pool_observe_writes(core, task);
    }
    arbiters_written(core, task, true);
    task_retire(core, task);
    if (branch) {
        pool->branching &= ~bit(s);
        resolve_branch(core, s, pool->scalar_taken);
    }
}

/* ---- vector ---- */

/* Cycles of all passes. */
static u32 passes_cycles(const struct core *core, const struct task *task)
{
    const u32 lanes = core->config.wavepool->lanes;
    const u64 pass = lanes < 64 ? bit(lanes) - 1 : ~0ull;
    u32 cycles = 0;
    for (u32 at = 0; at < core->config.core->warp_size; at += lanes)
        cycles += task->flight.active >> at & pass ? task->interval : 1;
    return cycles;
}

/* A cycle of a counter that says `ready` after `last`. */
static void counter_step(struct pool_counter *c, bool start, u32 last)
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

/* Cycles of one pass, after which the counter is as it leaves it. */
static u32 counted_pass(struct pool_counter *c, const struct task *task, u32 add)
{
    const u32 last = task->interval - COUNTER_REST;
    const bool restarts = task->time->flags & TIME_RESTART;
    for (u32 cycles = 0;; cycles++) {
        const bool done = c->ready;
        counter_step(c, cycles == 0 || (done && restarts), done && restarts ? add : last);
        if (done)
            return cycles + 1;
    }
}

/* passes_cycles, for a unit that is still at work or will be; it is free in cycle free_at. */
static u32 counted_cycles(const struct core *core, struct pool_unit *unit, const struct task *task)
{
    const u32 lanes = core->config.wavepool->lanes;
    const u64 pass = lanes < 64 ? bit(lanes) - 1 : ~0ull;
    const u32 add = MAX(core->config.wavepool->simf_add, COUNTER_REST) - COUNTER_REST;
    const u64 begin = core_cycle(core) + TO_FIRST_PASS + 1;
    struct pool_counter *c = &unit->counter;
    u32 cycles = 0;
    for (u64 at = unit->free_at + 1; at < begin && (c->starts || c->busy || c->ready); at++)
        counter_step(c, false, add);
    for (u32 at = 0; at < core->config.core->warp_size; at += lanes) {
        if (!(task->flight.active >> at & pass)) {
            counter_step(c, false, add);
            cycles++;
        } else if (task->interval <= COUNTER_REST) {
            for (u32 i = 0; i < task->interval; i++, cycles++)
                counter_step(c, false, UINT32_MAX);
        } else {
            cycles += counted_pass(c, task, add);
        }
    }
    return cycles;
}

static u32 unit_cycles(const struct core *core, struct pool_unit *unit, const struct task *task)
{
    const struct pool_counter *c = &unit->counter;
    if (UNLIKELY(c->starts || c->busy || c->ready || task->time->flags & TIME_RESTART))
        return counted_cycles(core, unit, task);
    return passes_cycles(core, task);
}

void passes_start(struct core *core, struct task *task, u32 u)
{
    struct pool_unit *unit = &core->pool->units[u];
    const u32 cycles = unit_cycles(core, unit, task) + task->extra;
    assert(unit->comes_at == UINT64_MAX);
    core->pool->working |= 1u << u;
    task->unit = (u8)(u % POOL_SIMF);
    unit->free_at = core_cycle(core) + TO_FIRST_PASS + cycles;
    unit->comes_at = unit->free_at + TO_RESULTS;
    unit->coming = task->index;
    if (u >= POOL_SIMF) {
        core->stats.units.sp_instructions++;
        core->stats.units.sp_busy += cycles;
    } else {
        core->stats.units.int_instructions++;
        core->stats.units.int_busy += cycles;
    }
}

/* Results that come in this cycle; those that any unit has. */
static u32 take_results(struct core *core)
{
    const u64 now = core_cycle(core);
    u32 set = 0;
    for (u32 working = core->pool->working; working; working &= working - 1) {
        const u32 u = first_bit(working);
        struct pool_unit *unit = &core->pool->units[u];
        if (unit->comes_at == now) {
            unit->queue[(unit->head + unit->count++) % RESULTS] = unit->coming;
            unit->comes_at = UINT64_MAX;
            core->pool->moved = true;
        }
        set |= (u32)(unit->count != 0) << u;
        if (!unit->count && unit->comes_at == UINT64_MAX && unit->free_at < now)
            core->pool->working &= ~(1u << u);
    }
    return set;
}

u32 passes_ready(const struct core *core)
{
    const struct wavepool *pool = core->pool;
    const u64 now = core_cycle(core);
    u32 set = (u32)lanewise_ready(core) << POOL_LSU | (u32)(pool->scalar_free <= now) << POOL_SALU |
              (((1u << VECTOR_UNITS) - 1) & ~pool->working);
    for (u32 working = pool->working; working; working &= working - 1) {
        const struct pool_unit *unit = &pool->units[first_bit(working)];
        const u32 count = unit->count + (unit->comes_at == now);
        set |= (u32)(unit->free_at <= now && count < MOST_RESULTS) << first_bit(working);
    }
    return set & core->pool->units_all;
}

void passes_tick(struct core *core)
{
    struct wavepool *pool = core->pool;
    const u32 set = take_results(core);
    if (!set)
        return;
    pool->moved = true;
    if (pool->writes_taken)
        return;
    const u32 later = set >> pool->write_turn << pool->write_turn;
    const u32 u = first_bit(later ? later : set);
    struct pool_unit *unit = &pool->units[u];
    struct task *task = core_task(core, unit->queue[unit->head++ % RESULTS]);
    unit->count--;
    pool->write_turn = u + 1;
    pool_observe(core, OBSERVED_DONE, task->slot, task->flight.inst,
                 observed_at_number(u >= POOL_SIMF ? AT_SIMF : AT_SIMD, u % POOL_SIMF));
    pool_observe_writes(core, task);
    arbiters_written(core, task, true);
    task_retire(core, task);
}

u64 passes_due(const struct core *core)
{
    const struct wavepool *pool = core->pool;
    const u64 now = core_cycle(core);
    u64 due = pool->scalar_done;
    if (pool->scalar_free >= now)
        due = MIN(due, pool->scalar_free);
    for (u32 working = pool->working; working; working &= working - 1) {
        const struct pool_unit *unit = &pool->units[first_bit(working)];
        due = MIN(due, unit->comes_at);
        if (unit->free_at >= now)
            due = MIN(due, unit->free_at);
    }
    return due;
}
