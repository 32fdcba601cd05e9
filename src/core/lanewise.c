/*
 * The load/store unit of the wavepool stages: one access at a time, one word of one lane after the
 * other.
 *
 * An access acts, as a whole, when it issues; what follows is its time. Two cycles later the first
 * word is asked for; each takes memory_cycles for the answer and one more. Words of all lanes for
 * one register make up a row, which is written in a cycle of its own; a store reads a row in two.
 * Scalar loads have rows of four words. In the cycle after the last row the unit is done, and free
 * in the next.
 *
 * From the RTL, with the default of `inactive`: lanes are asked for up to the first inactive one,
 * which costs a cycle. There the lanes behind it get what they happen to get; here they get their
 * values, at no cost.
 *
 * Deviations: LDS stores are done as others are (in the RTL they never are), and stores mind EXEC
 * from the first on (there, only after a vector load). The RTL knows loads and stores of one to
 * four words. Assumed for what it lacks: two elements at two addresses are two rows; LDS atomics
 * take each word twice; global atomics go through the common load/store unit to the L2, and this
 * unit waits.
 */
#include "core/wavepool.h"
#include <stdlib.h>

enum {
    TO_MEMORY = 2,  /* cycles from issue to the first request, or to reading a row */
    ROW_READ = 2,   /* a store's row */
    SCALAR_ROW = 4, /* words */
};

struct lanewise {
    u16 task;
    bool atomic; /* its task is with the common load/store unit */
    bool writes; /* its rows go to registers */
    bool scalar;
    u8 last_load; /* AT_LSUV, AT_LSUS, or AT_LSU: none yet */
    u32 row, rows;
    u32 row_cycles; /* from one row's write to the next one's */
    u64 row_at;     /* cycle of the next row's write */
    u64 done_at, free_at;
};

struct lanewise *lanewise_create(const struct core_config *config)
{
    (void)config;
    return checked(calloc(1, sizeof(struct lanewise)));
}

void lanewise_destroy(struct lanewise *lanewise)
{
    free(lanewise);
}

void lanewise_begin(struct core *core)
{
    *core->pool->lanewise = (struct lanewise){
        .task = NO_TASK,
        .last_load = AT_LSU,
        .row_at = UINT64_MAX,
        .done_at = UINT64_MAX,
    };
}

bool lanewise_ready(const struct core *core)
{
    const struct lanewise *lw = core->pool->lanewise;
    return lw->task == NO_TASK && lw->free_at <= core_cycle(core);
}

/* Lanes that are asked for, and the cycles it takes to see that there are no more. */
static u32 lanes_asked(const struct core *core, const struct flight *f, u32 *more)
{
    const u32 all = core->config.core->warp_size;
    if (core->config.wavepool->inactive == 1) {
        *more = 0;
        return count_lanes(f->lanes);
    }
    const u32 lanes = f->lanes == ~0ull ? 64 : (u32)__builtin_ctzll(~f->lanes);
    *more = lanes < all;
    return MIN(lanes, all);
}

/* Words and rows, and when they come. */
static void plan(struct core *core, struct lanewise *lw, const struct task *task)
{
    const struct flight *f = &task->flight;
    const struct inst *code = f->code;
    const u32 word = core->config.wavepool->memory_cycles + 1;
    const u16 flags = op_info[code->op].flags;
    const u64 first = core_cycle(core) + TO_MEMORY + task->extra;
    const bool loads = flags & OPF_LOAD || code->dst[0].kind != OPERAND_NONE;
    u32 more = 0, words;
    lw->scalar = flags & OPF_SCALAR;
    lw->writes = code->dst[0].kind != OPERAND_NONE;
    lw->row = 0;
    if (lw->scalar) {
        const u32 count = code->dst[0].count;
        lw->rows = count > SCALAR_ROW ? count / SCALAR_ROW : 1;
        words = MIN(count, SCALAR_ROW);
    } else {
        const u32 bytes = type_bytes(code->type) * MAX(code->vector, 1);
        const u32 rows = lw->writes ? code->dst[0].count : (bytes + 3) / 4;
        words = lanes_asked(core, f, &more);
        lw->rows = MAX(rows, 1);
        if (!lw->writes && (code->op == OP_st2))
            lw->rows *= 2;
        words *= 1 + (flags & OPF_ATOMIC ? 1 : 0);
    }
    lw->row_cycles = words * word + more + 1 + (loads ? 0 : ROW_READ);
    lw->row_at = first + lw->row_cycles - 1;
    lw->done_at = first + (u64)lw->rows * lw->row_cycles;
    lw->free_at = lw->done_at + 1;
    core->profile[f->inst].transactions += (u64)words * lw->rows;
    core->stats.lsu.transactions += (u64)words * lw->rows;
}

static void count_access(struct core *core, const struct flight *f)
{
    struct lsu_stats *stats = &core->stats.lsu;
    if (f->shared)
        stats->shared_accesses++;
    else if (f->scalar || f->constant)
        stats->constant_accesses++;
    else
        stats->global_accesses++;
    stats->memory_accesses += (f->global | f->local) && !f->scalar;
}

void lanewise_start(struct core *core, struct task *task)
{
    struct lanewise *lw = core->pool->lanewise;
    struct flight *f = &task->flight;
    lw->task = task->index;
    if (f->kind == FLIGHT_ACCESS && f->atomic && f->global) {
        lw->atomic = true;
        lsu_enter(core, task);
        return;
    }
    core->stats.lsu.instructions++;
    if (f->kind == FLIGHT_ACCESS) {
        if (!lsu_act(core, task))
            return;
        count_access(core, f);
    }
    plan(core, lw, task);
}

/*
 * A row is written. Its registers are free then, and may be written again before the last row is:
 * so all are committed with the first one. Mechanisms see a result as a whole, with the last one.
 */
static void write_row(struct core *core, struct lanewise *lw, struct task *task)
{
    struct flight *f = &task->flight;
    const bool last = ++lw->row == lw->rows;
    core->pool->moved = true;
    lw->row_at = last ? UINT64_MAX : lw->row_at + lw->row_cycles;
    if (!lw->writes)
        return;
    core->pool->writes_taken = true;
    pool_observe(core, OBSERVED_WRITE, task->slot, f->inst,
                 observed_at(observed_register(f->code->dst[0])));
    if (lw->rows == 1 || core->hooks.count) {
        if (last)
            arbiters_written(core, task, false);
        return;
    }
    if (lw->row == 1)
        flight_commit(f);
    f->kind = FLIGHT_CONTROL; /* nothing is left to commit */
    const u32 count = lw->scalar ? SCALAR_ROW : 1;
    const u32 first = task->time->dependences[0].word * 64 +
                      first_bit(task->time->dependences[0].bits); /* writes come first */
    arbiters_written_some(core, task, first + (lw->row - 1) * count, count);
}

static void finish(struct core *core, struct lanewise *lw, struct task *task)
{
    const u32 s = task->slot;
    core->pool->moved = true;
    if (lw->writes)
        lw->last_load = lw->scalar ? AT_LSUS : AT_LSUV;
    if (lw->last_load !=
        AT_LSU) /* the RTL tells a store's end by the register file of the last load */
        pool_observe(core, OBSERVED_DONE, s, task->flight.inst, observed_at(lw->last_load));
    if (!lw->writes)
        arbiters_written(core, task, false);
    core->pool->memory_done |= bit(s);
    lw->task = NO_TASK;
    lw->done_at = UINT64_MAX;
    task_retire(core, task);
}

/* A global atomic has left the common load/store unit when its task is free again. */
static void watch_atomic(struct core *core, struct lanewise *lw)
{
    core->pool->moved = true;
    struct task *task = core_task(core, lw->task);
    const u32 s = task->slot;
    const u64 taken = core->tasks_taken;
    if (core->wheel_words || core->lsu_done <= core_cycle(core))
        write_back_tick(core);
    lsu_tick(core);
    if (core->tasks_taken == taken)
        return;
    pool_observe(core, OBSERVED_DONE, s, task->flight.inst, observed_at(AT_LSUV));
    pool_observe_writes(core, task);
    arbiters_written(core, task, false);
    lw->atomic = false;
    lw->task = NO_TASK;
    lw->free_at = core_cycle(core) + 1;
    core->pool->memory_done |= bit(s);
}

void lanewise_tick(struct core *core)
{
    struct lanewise *lw = core->pool->lanewise;
    const u64 now = core_cycle(core);
    if (UNLIKELY(lw->atomic)) {
        watch_atomic(core, lw);
        return;
    }
    if (lw->row_at == now)
        write_row(core, lw, core_task(core, lw->task));
    else if (lw->done_at == now)
        finish(core, lw, core_task(core, lw->task));
}

u64 lanewise_due(const struct core *core)
{
    const struct lanewise *lw = core->pool->lanewise;
    const u64 now = core_cycle(core);
    u64 due = MIN(lw->row_at, lw->done_at);
    if (lw->free_at >= now)
        due = MIN(due, lw->free_at);
    return lw->atomic ? now : due;
}
