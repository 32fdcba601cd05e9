/*
 * The wavepool stages as a whole, and their front: dispatch, fetch, the queues and decode. See
 * wavepool.h.
 *
 * Dispatch puts one warp a cycle on the core; two cycles later it has its slot, and in the third it
 * may be fetched for. Fetch asks for one word a cycle, of the next warp in turn whose queue has
 * room; the word is in the queue three cycles later. The feeder gives decode one word a cycle, of
 * the lowest slot that is hungry: issue has let its instruction go, or half of it is missing.
 *
 * Deviations from the RTL: a warp dispatched in the very cycle in which a branch is resolved keeps
 * its start (there it starts where its slot's last warp was); more warps than slots cannot be
 * dispatched, they wait for a slot with their block.
 */
#include "core/wavepool.h"
#include <stdlib.h>

enum {
    TO_QUEUE = 1,   /* cycles from an answer of the instruction buffer to the queue */
    TO_FETCH = 3,   /* from dispatch to the first fetch */
    QUEUE_SPARE = 2 /* words of a queue that stay free */
};

/* ---- create and begin ---- */

void wavepool_create(struct core *core)
{
    if (core->config.core->stages != STAGES_WAVEPOOL)
        return;
    core->pool = checked(calloc(1, sizeof *core->pool));
    core->pool->lanewise = lanewise_create(&core->config);
}

void wavepool_destroy(struct core *core)
{
    if (!core->pool)
        return;
    lanewise_destroy(core->pool->lanewise);
    free(core->pool->busy);
    free(core->pool);
    core->pool = NULL;
}

void wavepool_begin(struct core *core)
{
    struct wavepool *pool = core->pool;
    struct lanewise *lanewise = pool->lanewise;
    free(pool->busy);
    *pool = (struct wavepool){
        .lanewise = lanewise,
        .hungry = ~0ull,
        .requests = core->config.wavepool->fetches,
        .chosen_unit = NO_POOL_UNIT,
        .scalar_task = NO_TASK,
        .scalar_done = UINT64_MAX,
        .busy = checked(calloc(CORE_WARPS, core->scoreboard_words * sizeof(u64))),
    };
    for (u32 u = 0; u < VECTOR_UNITS; u++)
        pool->units[u].comes_at = UINT64_MAX;
    arbiters_begin(core);
    lanewise_begin(core);
}

void wavepool_start(struct core *core, u32 s)
{
    struct wavepool *pool = core->pool;
    pool->waiting[pool->wait_tail++ % CORE_WARPS] = (u8)s;
    pool->slots[s] = (struct pool_slot){.entry = NO_INST};
    memset(pool->busy + (size_t)s * core->scoreboard_words, 0,
           core->scoreboard_words * sizeof(u64));
}

/* ---- queues ---- */

static void count_words(struct wavepool *pool, u32 s, const struct core_config *config)
{
    const struct pool_slot *p = &pool->slots[s];
    const u64 mask = bit(s);
    pool->filled = (pool->filled & ~mask) | (u64)(p->held != 0) << s;
    pool->full = (pool->full & ~mask) | (u64)(p->reserved >= config->wavepool->queue - QUEUE_SPARE)
                                            << s;
}

void pool_reset_queue(struct core *core, u32 s)
{
    struct wavepool *pool = core->pool;
    struct pool_slot *p = &pool->slots[s];
    p->reserved = p->held = 0;
    pool->alive &= ~bit(s);
    count_words(pool, s, &core->config);
    *pool_ring(pool, pool->hungry_at, core_cycle(core) + 1) |= bit(s);
}

void pool_goto(struct core *core, u32 s, u32 inst)
{
    struct pool_slot *p = &core->pool->slots[s];
    p->fetch_pc = p->feed_pc = program_offset(core->exec->image->program, inst);
    p->feed_inst = inst;
    p->fresh = true;
    p->half = false;
}

/* ---- steps of a cycle ---- */

static void dispatch(struct core *core)
{
    struct wavepool *pool = core->pool;
    if (pool->wait_head == pool->wait_tail)
        return;
    const u32 s = pool->waiting[pool->wait_head++ % CORE_WARPS];
    const struct warp *warp = core->slots[s].warp;
    pool->moved = true;
    if (UNLIKELY(core->steps))
        core_observe(core, OBSERVED_DISPATCH, s, core->slots[s].at,
                     warp->block->number << 16 | warp->index,
                     program_offset(core->exec->image->program, core->slots[s].at));
    pool_goto(core, s, core->slots[s].at);
    *pool_ring(pool, pool->running_at, core_cycle(core) + TO_FETCH) |= bit(s);
}

static void fetch(struct core *core)
{
    struct wavepool *pool = core->pool;
    const u64 set = pool->running & ~pool->full & ~core->held;
    if (!set || !pool->requests)
        return;
    const u64 later = pool->turn < CORE_WARPS ? set & ~(bit(pool->turn) - 1) : 0;
    const u32 s = first_bit(later ? later : set);
    struct pool_slot *p = &pool->slots[s];
    const u64 comes = core_cycle(core) + core->config.wavepool->fetch_latency + TO_QUEUE;
    pool->moved = true;
    pool->turn = s + 1;
    pool->requests--;
    pool->words[comes % RING] = (struct pool_word){(u8)s, p->fresh};
    pool->words_set |= bit(comes % RING);
    if (UNLIKELY(core->steps))
        core_observe(core, OBSERVED_FETCH, s, NO_INST, observed_at(AT_FETCH), p->fetch_pc);
    p->fresh = false;
    p->fetch_pc += 4;
    p->reserved++;
    count_words(pool, s, &core->config);
    core->stats.fetch.fetches++;
}

static bool is_long(const struct core *core, u32 inst)
{
    const struct program *program = core->exec->image->program;
    return program_offset(program, inst + 1) - program_offset(program, inst) > 4;
}

static enum observed_place class_place(u32 pipe)
{
    return pipe == PIPE_SCALAR   ? AT_SALU
           : pipe == PIPE_MEMORY ? AT_LSU
           : pipe == PIPE_SP     ? AT_SIMF
                                 : AT_SIMD;
}

/* What was fed in the last cycle: the other half is asked for, or issue gets it in the next. */
static void decode(struct core *core)
{
    struct wavepool *pool = core->pool;
    const struct pool_step *step = &pool->decoding;
    pool->decoded.valid = false;
    if (!step->valid)
        return;
    pool->moved = true;
    if (step->half) {
        *pool_ring(pool, pool->hungry_at, core_cycle(core) + 1) |= bit(step->slot);
        return;
    }
    pool->decoded = *step;
    pool_observe(core, OBSERVED_TO_ISSUE, step->slot, step->inst,
                 observed_at(class_place(core->times[step->inst].pipe)));
}

static void feed(struct core *core)
{
    struct wavepool *pool = core->pool;
    const u64 set = pool->hungry & pool->filled & pool->alive;
    pool->decoding.valid = false;
    if (!set)
        return;
    const u32 s = first_bit(set);
    struct pool_slot *p = &pool->slots[s];
    pool->moved = true;
    pool->hungry &= ~bit(s);
    pool->hungry_at[(core_cycle(core) + 1) % SOON] &= ~bit(s);
    if (UNLIKELY(core->steps))
        core_observe(core, OBSERVED_DECODE, s, p->feed_inst, observed_at(AT_DECODE), p->feed_pc);
    const bool first = !p->half && is_long(core, p->feed_inst);
    pool->decoding = (struct pool_step){true, first, (u8)s, p->feed_inst};
    p->half = first;
    p->feed_pc += 4;
    p->feed_inst += !first;
    core->stats.fetch.instructions += !first;
    core->stats.fetch.buffered += !first;
    p->held--;
    p->reserved--;
    count_words(pool, s, &core->config);
}

/* A word comes to its queue, unless its warp has gone elsewhere meanwhile. */
static void arrive(struct core *core)
{
    struct wavepool *pool = core->pool;
    const u32 at = (u32)(core_cycle(core) % RING);
    if (!(pool->words_set >> at & 1))
        return;
    const struct pool_word word = pool->words[at];
    pool->moved = true;
    pool->words_set &= ~bit(at);
    pool->requests++;
    if (!word.first && !(pool->alive >> word.slot & 1))
        return;
    pool->alive |= bit(word.slot);
    pool->slots[word.slot].held++;
    count_words(pool, word.slot, &core->config);
}

/* Slots whose warp waited and goes on by what others, or mechanisms, did. */
static void unpark(struct core *core)
{
    struct wavepool *pool = core->pool;
    for (u64 set = pool->parked; set; set &= set - 1) {
        const u32 s = first_bit(set);
        if (core->slots[s].at == NO_INST)
            continue;
        pool->parked &= ~bit(s);
        *pool_ring(pool, pool->hungry_at, core_cycle(core) + 1) |= bit(s);
        if (core->slots[s].at != pool->slots[s].feed_inst) {
            pool_reset_queue(core, s);
            pool_goto(core, s, core->slots[s].at);
        }
    }
}

static void tick(struct core *core)
{
    struct wavepool *pool = core->pool;
    const u64 now = core_cycle(core);
    pool->running |= pool->running_at[now % SOON];
    pool->hungry |= pool->hungry_at[now % SOON];
    pool->moved = pool->running_at[now % SOON] || pool->hungry_at[now % SOON];
    pool->running_at[now % SOON] = pool->hungry_at[now % SOON] = 0;
    dispatch(core);
    fetch(core);
    arbiters_release(core);
    if (pool->decoded.valid)
        arbiters_take(core, &pool->decoded);
    decode(core);
    feed(core);
    arrive(core);
    pool->writes_taken = false;
    passes_tick_scalar(core);
    lanewise_tick(core);
    const u32 units = passes_ready(core);
    passes_tick(core);
    pool->units_now = units;
    if (pool->chosen_unit != NO_POOL_UNIT && !core->stopped)
        arbiters_issue(core);
    arbiters_choose(core);
    arbiters_end(core);
    if (pool->parked)
        unpark(core);
    pool->moved |= pool->rings_until > now || pool->words_set;
    core->stats.issue.cycles += core->present != 0;
    if (UNLIKELY(core->observations))
        core_observe_stalls(core);
    clock_advance(&core->clock, 1);
}

/* ---- time ---- */

static u64 wavepool_due(const struct core *core)
{
    return MIN(passes_due(core), lanewise_due(core));
}

void wavepool_run(struct core *core, fs end)
{
    while (core->clock.next < end && !core->stopped) {
        if (core->quiet_until > core_cycle(core)) {
            u64 cycles =
                clock_cycles_until(&core->clock, MIN(end, port_next(core->config.replies)));
            cycles = MIN(cycles, core->quiet_until - core_cycle(core));
            core->stats.issue.cycles += core->present ? cycles : 0;
            clock_advance(&core->clock, cycles);
            if (core->clock.next >= end)
                return;
        }
        core->quiet_until = 0;
        if (port_next(core->config.replies) <= core->clock.next)
            core_take_replies(core);
        tick(core);
        if (!core->pool->moved)
            core->quiet_until = wavepool_due(core);
    }
}

fs wavepool_next(const struct core *core)
{
    const fs next = port_next(core->config.replies);
    const u64 now = core_cycle(core);
    if (core->quiet_until <= now)
        return core->clock.next;
    if (core->quiet_until == UINT64_MAX)
        return next;
    return MIN(next, core->clock.next + (core->quiet_until - now) * core->clock.period);
}

/* ---- what is told ---- */

void pool_observe_writes(struct core *core, const struct task *task)
{
    if (LIKELY(!core->steps))
        return;
    struct operand list[INST_REFS];
    const u32 count = inst_writes(task->flight.code, list);
    for (u32 i = 0; i < count; i++)
        pool_observe(core, OBSERVED_WRITE, task->slot, task->flight.inst,
                     observed_at(observed_register(list[i])));
    if (wavepool_writes_scc(task->flight.code))
        pool_observe(core, OBSERVED_WRITE, task->slot, task->flight.inst, observed_at(AT_SCC));
}

enum stall wavepool_waits(const struct core *core, u32 s)
{
    return arbiters_waits(core, s);
}

/* ---- mechanisms ---- */

/* There are neither fetches of instructions nor banks of registers as the common stages have them,
 * an instruction that has issued is written when it comes, and memory has no packets. */
enum {
    SERVED = 1 << SEAM_DISPATCH | 1 << SEAM_BLOCK | 1 << SEAM_OPERAND | 1 << SEAM_RESULT |
             1 << SEAM_ISSUED | 1 << SEAM_RETIRED | 1 << SEAM_CONTROL | 1 << SEAM_VIEW
};

const char *wavepool_lacks(const struct mechanism *m, const void *params)
{
    const u32 lacks = mechanism_seams(m, params) & ~(u32)SERVED;
    if (lacks)
        return seam_name((enum seam)first_bit(lacks));
    return m->stuck   ? "stuck" /* it holds warps back */
           : m->cache ? "cache"
           : m->l2    ? "l2"
           : m->dram  ? "dram"
                      : NULL;
}
