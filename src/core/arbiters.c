/*
 * Issue in the wavepool stages: one instruction a warp stands here, one leaves in a cycle.
 *
 * An instruction may go when the registers it reads and writes are not busy, its warp has fewer
 * instructions under way than in_flight and, for an access, no access under way. Of those that may,
 * an arbiter for each kind of unit picks a warp: the first one from the warp on that issued last,
 * that one included. Then the kinds that have a warp and a unit take turns, and the lowest free
 * unit of the kind gets the instruction. What the arbiters look at is a cycle old, and their choice
 * leaves in the next; a warp and a unit that were just chosen are left out meanwhile.
 *
 * s_waitcnt is done when it comes here (registers and one access a warp do its work), a barrier
 * when the last warp of its block has come, an end when nothing of its warp is under way; they take
 * no issue slot. One warp ends in a cycle, the first from the one on that ended last.
 *
 * The turn of kinds is the RTL's: what it remembers is the place of the last one among the kinds as
 * they were turned then, so that turns are not quite fair.
 *
 * Deviations: registers of loads of more than one word are all tracked; the RTL misses some.
 */
#include "core/wavepool.h"
#include "exec/scalars.h"

enum {
    TO_FREE = 2 /* cycles from a write to when issue sees its register free */
};

void arbiters_begin(struct core *core)
{
    const struct wavepool_params *p = core->config.wavepool;
    core->pool->units_all = ((1u << p->simd) - 1) | ((1u << p->simf) - 1) << POOL_SIMF |
                            1u << POOL_LSU | 1u << POOL_SALU;
}

/* ---- busy registers ---- */

static u64 *busy_of(const struct core *core, u32 s)
{
    return core->pool->busy + (size_t)s * core->scoreboard_words;
}

static bool is_clear(const struct core *core, u32 s, const struct inst_time *time)
{
    const u64 *const busy = busy_of(core, s);
    u64 hit = 0;
    for (u32 i = 0; i < time->dependence_count; i++)
        hit |= busy[time->dependences[i].word] & time->dependences[i].bits;
    return !hit && !(time->flags & TIME_DRAIN && core->slots[s].in_flight);
}

static void reserve(struct core *core, u32 s, const struct inst_time *time)
{
    u64 *const busy = busy_of(core, s);
    for (u32 i = 0; i < time->write_count; i++)
        busy[time->dependences[i].word] |= time->dependences[i].bits;
}

static void add_release(struct core *core, struct pool_release release)
{
    struct wavepool *pool = core->pool;
    const u64 at = core_cycle(core) + TO_FREE;
    assert(pool->release_count[at % SOON] < RELEASES);
    pool->releases[at % SOON][pool->release_count[at % SOON]++] = release;
    pool->rings_until = MAX(pool->rings_until, at);
}

void arbiters_written(struct core *core, const struct task *task, bool retires)
{
    add_release(core,
                (struct pool_release){.time = task->time, .slot = task->slot, .retires = retires});
}

void arbiters_written_some(struct core *core, const struct task *task, u32 first, u32 count)
{
    add_release(core, (struct pool_release){.first = first, .count = count, .slot = task->slot});
}

static void release(struct core *core, const struct pool_release *r)
{
    struct wavepool *pool = core->pool;
    u64 *const busy = busy_of(core, r->slot);
    struct pool_slot *p = &pool->slots[r->slot];
    pool->recheck |= bit(r->slot);
    for (u32 at = r->first; at < r->first + r->count; at++)
        busy[at / 64] &= ~bit(at % 64);
    for (u32 i = 0; r->time && i < r->time->write_count; i++)
        busy[r->time->dependences[i].word] &= ~r->time->dependences[i].bits;
    if (r->retires && --p->in_flight < core->config.wavepool->in_flight)
        pool->saturated &= ~bit(r->slot);
}

void arbiters_release(struct core *core)
{
    struct wavepool *pool = core->pool;
    const u32 at = (u32)(core_cycle(core) % SOON);
    for (u32 i = 0; i < pool->release_count[at]; i++)
        release(core, &pool->releases[at][i]);
    pool->moved |= pool->release_count[at] != 0;
    pool->release_count[at] = 0;
    pool->valid |= pool->entering;
    pool->recheck |= pool->entering;
    pool->entering = 0;
    for (u64 set = pool->recheck & pool->valid; set; set &= set - 1) {
        const u32 s = first_bit(set);
        const struct inst_time *time = &core->times[pool->slots[s].entry];
        pool->clear = (pool->clear & ~bit(s)) | (u64)is_clear(core, s, time) << s;
    }
    pool->recheck = 0;
}

/* ---- what decode gives ---- */

/* Takes effect without a unit. */
static void act(struct core *core, u32 s, u32 inst)
{
    struct task *task = task_take(core);
    if (!task) {
        core->pool->moved = true; /* it is tried again */
        return;
    }
    core_act(core, task, s, inst);
}

void arbiters_take(struct core *core, const struct pool_step *step)
{
    struct wavepool *pool = core->pool;
    const u32 s = step->slot;
    const u64 mask = bit(s);
    const struct inst_time *time = &core->times[step->inst];
    static const u8 classes[PIPES] = {
        [PIPE_SP] = CLASS_SIMF,  [PIPE_INT] = CLASS_SIMD,   [PIPE_FP64] = CLASS_SIMF,
        [PIPE_SFU] = CLASS_SIMF, [PIPE_MEMORY] = CLASS_LSU, [PIPE_SCALAR] = CLASS_SALU,
    };
    pool->slots[s].entry = step->inst;
    for (u32 k = 0; k < CLASSES; k++)
        pool->of_class[k] &= ~mask;
    pool->of_class[classes[time->pipe]] |= mask;
    pool->moved = true;
    if (time->flags & TIME_END) {
        pool->halted_next |= mask;
        return;
    }
    if (time->flags & (TIME_COUNTERS | TIME_BLOCK_BARRIER)) {
        act(core, s, step->inst);
        if (core->stopped)
            return;
        pool->parked |= mask;
        return;
    }
    pool->entering |= mask;
}

/* ---- issue ---- */

/* Whether a branch goes elsewhere than to the next instruction, or to it as its target. */
static bool branch_taken(const struct core *core, u32 s, u32 inst)
{
    const struct inst *code = &core->exec->image->program->insts[inst];
    if (code->op != OP_bra_if)
        return true;
    if ((u64)code->imm != inst + 1)
        return core->slots[s].at != inst + 1;
    u32 any = 0;
    for (u32 j = 0; j < code->src[0].count; j++)
        any |= scalar_read(core->slots[s].warp, code->src[0], j);
    return (any != 0) == (code->key == 1);
}

static void start_unit(struct core *core, struct task *task, u32 s, u32 unit)
{
    struct wavepool *pool = core->pool;
    if (unit == POOL_LSU) {
        pool->memory_wait |= bit(s);
        lanewise_start(core, task);
        return;
    }
    if (++pool->slots[s].in_flight >= core->config.wavepool->in_flight)
        pool->saturated |= bit(s);
    if (unit != POOL_SALU) {
        passes_start(core, task, unit);
        return;
    }
    const bool branch = task->time->flags & TIME_BRANCH;
    if (branch)
        pool->branching |= bit(s);
    passes_scalar(core, task, branch && branch_taken(core, s, task->flight.inst));
}

static u64 unit_place(u32 unit)
{
    if (unit >= POOL_LSU)
        return observed_at(unit == POOL_LSU ? AT_LSU : AT_SALU);
    return observed_at_number(unit >= POOL_SIMF ? AT_SIMF : AT_SIMD, unit % POOL_SIMF);
}

void arbiters_issue(struct core *core)
{
    struct wavepool *pool = core->pool;
    const u32 s = pool->chosen_slot, unit = pool->chosen_unit, inst = pool->slots[s].entry;
    const struct inst_time *time = &core->times[inst];
    struct task *task = task_take(core);
    assert(task); /* there are more than units and queues could hold */
    pool_observe(core, OBSERVED_ISSUE, s, inst, unit_place(unit));
    pool->valid &= ~bit(s);
    pool->clear &= ~bit(s);
    if (!core_issue_pool(core, task, s, inst))
        return;
    reserve(core, s, time);
    start_unit(core, task, s, unit);
    if (!(time->flags & TIME_BRANCH)) {
        *pool_ring(pool, pool->hungry_at, core_cycle(core) + 2) |= bit(s);
        if (UNLIKELY(core->slots[s].at == NO_INST))
            pool->parked |= bit(s);
    }
}

/* ---- the choice ---- */

/* The first member from `from` on, around. */
static u32 from_on(u64 set, u32 from)
{
    const u64 later = set & ~(bit(from) - 1);
    return first_bit(later ? later : set);
}

/* Kinds turned to the right by `by`. */
static u32 turned(u32 set, u32 by)
{
    return (set >> by | set << (CLASSES - by)) & ((1u << CLASSES) - 1);
}

static u32 class_units(u32 units, u32 class)
{
    switch (class) {
    case CLASS_SALU:
        return units & 1u << POOL_SALU;
    case CLASS_LSU:
        return units & 1u << POOL_LSU;
    case CLASS_SIMF:
        return units & 0xf0;
    default:
        return units & 0x0f;
    }
}

static void choose(struct core *core)
{
    struct wavepool *pool = core->pool;
    u32 kinds = 0;
    pool->chosen_unit = NO_POOL_UNIT;
    for (u32 k = 0; k < CLASSES; k++)
        kinds |= (u32)(pool->ready[k] && class_units(pool->units_ready, k)) << k;
    if (!kinds)
        return;
    const u32 place = 31 - (u32)__builtin_clz(turned(kinds, pool->last_class));
    const u32 class = (place + pool->last_class) % CLASSES;
    pool->last_class = place;
    pool->chosen_slot = (u8)from_on(pool->ready[class], pool->last_slot);
    pool->chosen_unit = (u8)first_bit(class_units(pool->units_ready, class));
    pool->last_slot = pool->chosen_slot;
    pool->moved = true;
}

/* Why the slot was not used. */
static void note_idle(struct core *core)
{
    const struct wavepool *pool = core->pool;
    const u64 live = core->present & ~core->ended;
    const u64 able = pool->valid & pool->clear;
    const u64 limited = able & (pool->saturated | (pool->memory_wait & pool->of_class[CLASS_LSU]));
    const u64 blocked = pool->valid & ~pool->clear;
    if (!live)
        issue_idle(core, STALL_EMPTY, CORE_WARPS);
    else if (able & ~limited & ~core->held)
        issue_idle(core, STALL_UNIT, first_bit(able & ~limited & ~core->held));
    else if (blocked)
        issue_idle(core, arbiters_waits(core, first_bit(blocked)), first_bit(blocked));
    else if (limited)
        issue_idle(core, STALL_WAIT, first_bit(limited));
    else if (pool->branching)
        issue_idle(core, STALL_BRANCH, first_bit(pool->branching));
    else if (live & core->held)
        issue_idle(core, STALL_HELD, first_bit(live & core->held));
    else if (live & ~pool->halted & ~core->waiting)
        issue_idle(core, STALL_FETCH, first_bit(live & ~pool->halted & ~core->waiting));
    else if (pool->halted & live)
        issue_idle(core, STALL_MEMORY, first_bit(pool->halted & live));
    else
        issue_idle(core, STALL_BARRIER, first_bit(live));
}

void arbiters_choose(struct core *core)
{
    struct wavepool *pool = core->pool;
    const u32 issued_unit = pool->chosen_unit;
    u64 left_out = 0;
    u32 units = pool->units_now;
    if (issued_unit != NO_POOL_UNIT) {
        left_out = bit(pool->chosen_slot);
        units &= ~(1u << issued_unit);
        issue_used(core);
    } else {
        note_idle(core);
    }
    choose(core);
    if (pool->chosen_unit != NO_POOL_UNIT) {
        left_out |= bit(pool->chosen_slot);
        units &= ~(1u << pool->chosen_unit);
    }
    const u64 able = pool->valid & pool->clear & ~pool->saturated & ~left_out & ~core->held;
    u64 changed = units ^ pool->units_ready;
    for (u32 k = 0; k < CLASSES; k++) {
        const u64 ready = able & pool->of_class[k] & ~(k == CLASS_LSU ? pool->memory_wait : 0);
        changed |= ready ^ pool->ready[k];
        pool->ready[k] = ready;
    }
    pool->units_ready = units;
    pool->moved |= changed != 0;
}

/* ---- ends ---- */

void arbiters_end(struct core *core)
{
    struct wavepool *pool = core->pool;
    u64 set = 0;
    for (u64 halted = pool->halted & ~pool->memory_wait; halted; halted &= halted - 1)
        set |= (u64)!pool->slots[first_bit(halted)].in_flight << first_bit(halted);
    pool->halted |= pool->halted_next;
    pool->halted_next = 0;
    pool->memory_wait &= ~pool->memory_done;
    pool->memory_done = 0;
    if (!set)
        return;
    const u32 s = from_on(set, pool->last_ended);
    pool->last_ended = s;
    pool->halted &= ~bit(s);
    pool->running &= ~bit(s);
    pool->moved = true;
    pool_reset_queue(core, s);
    act(core, s, pool->slots[s].entry);
    pool->parked &= core->present;
}

enum stall arbiters_waits(const struct core *core, u32 s)
{
    const struct wavepool *pool = core->pool;
    const u64 mask = bit(s);
    if (!(core->present & mask))
        return STALL_EMPTY;
    if ((core->ended | pool->halted) & mask)
        return STALL_MEMORY;
    if (core->held & mask)
        return STALL_HELD;
    if (core->waiting & mask)
        return STALL_BARRIER;
    if (pool->branching & mask)
        return STALL_BRANCH;
    if (!(pool->valid & mask))
        return STALL_FETCH;
    if (pool->clear & mask)
        return pool->saturated & mask || (pool->memory_wait & pool->of_class[CLASS_LSU] & mask)
                   ? STALL_WAIT
                   : STALL_NONE;
    const enum stall stall =
        scoreboard_check(core, &core->slots[s], &core->times[pool->slots[s].entry]);
    return stall == STALL_NONE ? STALL_RAW : stall;
}
