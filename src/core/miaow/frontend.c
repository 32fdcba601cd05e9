/*
 * The miaow pipeline as a whole, and its front end: dispatch, fetch, the queues and decode. See
 * miaow.h.
 *
 * Dispatch puts one warp per cycle on the core; two cycles later the warp has its slot, and in the
 * third it may be fetched for. Fetch requests one word per cycle, for the next warp in turn whose
 * queue has room; the word is in the queue three cycles later. The feeder passes one word per cycle
 * to decode, from the lowest slot in `hungry`: its instruction has left issue, or the second
 * half of an instruction is missing.
 *
 * Deviations from the RTL: a warp dispatched in the same cycle in which a branch is resolved keeps
 * its start address (in the RTL it starts where its slot's last warp was); more warps than slots
 * cannot be dispatched: they wait for a slot together with their block.
 */
#include "core/common/issue_parts.h"
#include "core/live.h"
#include "core/miaow/miaow.h"
#include <stdlib.h>

enum {
    TO_QUEUE = 1,   /* cycles from a reply of the instruction buffer to the queue */
    TO_FETCH = 3,   /* from dispatch to the first fetch */
    QUEUE_SPARE = 2 /* words of a queue that stay free */
};

/* ---- create and begin ---- */

/* Blocks, retirement and the memory view are those of the common stages. */
static void create(struct core *core)
{
    struct miaow *miaow = core->own = checked(calloc(1, sizeof *miaow));
    miaow->lsu = miaow_lsu_create(&core->config);
    miaow->words = core->config.live ? miaow_words_create(&core->config) : NULL;
    common_create(core);
}

static void destroy(struct core *core)
{
    common_destroy(core);
    miaow_lsu_destroy(miaow_of(core)->lsu);
    free(miaow_of(core)->busy);
    free(miaow_of(core)->words);
    free(core->own);
}

static void begin(struct core *core)
{
    common_begin(core);
    core->issue.by_waitcnt = false; /* busy registers and the limit of one access per warp
                                     * replace wait counters */
    core->detours = (core->detours & ~(u32)DETOUR_WAITCNT) | DETOUR_PIPELINE;
    struct miaow *miaow = miaow_of(core);
    struct miaow_lsu *lsu = miaow->lsu;
    struct miaow_words *words = miaow->words;
    free(miaow->busy);
    *miaow = (struct miaow){
        .lsu = lsu,
        .words = words,
        .hungry = ~0ull,
        .requests = core->config.miaow->fetches,
        .chosen_unit = NO_UNIT,
        .scalar_inflight = NO_INFLIGHT,
        .scalar_done = UINT64_MAX,
        .busy = checked(calloc(CORE_WARPS, core->issue.scoreboard_words * sizeof(u64))),
    };
    for (u32 u = 0; u < VECTOR_UNITS; u++)
        miaow->units[u].comes_at = UINT64_MAX;
    miaow_issue_begin(core);
    miaow_lsu_begin(core);
}

/* The slot's last warp may have left in the cycle in which its last instruction retired: what becomes
 * free later is not the new warp's. */
static void disown_releases(struct miaow *miaow, u32 s)
{
    for (u32 at = 0; at < SOON; at++)
        for (u32 i = 0; i < miaow->release_count[at]; i++)
            if (miaow->releases[at][i].slot == s)
                miaow->releases[at][i].retires = false;
    miaow->saturated &= ~bit(s);
}

static void start_warp(struct core *core, u32 s)
{
    struct miaow *miaow = miaow_of(core);
    if (miaow_has_paths(core))
        disown_releases(miaow, s);
    miaow->waiting[miaow->wait_tail++ % CORE_WARPS] = (u8)s;
    miaow->slots[s] = (struct miaow_slot){.entry = NO_INST};
    if (UNLIKELY(core->config.live)) { /* what flipped bits have left */
        miaow_forget(core, s);
        miaow->group_flips[core->slots[s].block] = 0;
    }
    memset(miaow->busy + (size_t)s * core->issue.scoreboard_words, 0,
           core->issue.scoreboard_words * sizeof(u64));
}

/* ---- queues ---- */

static void count_words(struct miaow *miaow, u32 s, const struct core_config *config)
{
    const struct miaow_slot *p = &miaow->slots[s];
    const u64 mask = bit(s);
    miaow->filled = (miaow->filled & ~mask) | (u64)(p->held != 0) << s;
    miaow->full = (miaow->full & ~mask) | (u64)(p->reserved >= config->miaow->queue - QUEUE_SPARE)
                                              << s;
}

void miaow_reset_queue(struct core *core, u32 s)
{
    struct miaow *miaow = miaow_of(core);
    struct miaow_slot *p = &miaow->slots[s];
    p->reserved = p->held = 0;
    if (UNLIKELY(miaow->odd >> s & 1))
        miaow_words_reset(core, s);
    miaow->alive &= ~bit(s);
    count_words(miaow, s, &core->config);
    *miaow_ring(miaow, miaow->hungry_at, core_cycle(core) + 1) |= bit(s);
}

void miaow_goto(struct core *core, u32 s, u32 inst)
{
    struct miaow_slot *p = &miaow_of(core)->slots[s];
    p->fetch_pc = p->feed_pc = program_offset(core->exec->image->program, inst);
    p->feed_inst = inst;
    p->fresh = true;
    p->half = false;
    p->derail_in = 0;
}

/* ---- steps of a cycle ---- */

static void dispatch(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    if (miaow->wait_head == miaow->wait_tail)
        return;
    const u32 s = miaow->waiting[miaow->wait_head++ % CORE_WARPS];
    const struct warp *warp = core->slots[s].warp;
    miaow->moved = true;
    if (UNLIKELY(core->trace.steps))
        core_trace(core, TRACE_DISPATCH, s, core->slots[s].at,
                   warp->block->number << 16 | warp->index,
                   program_offset(core->exec->image->program, core->slots[s].at));
    miaow_goto(core, s, core->slots[s].at);
    *miaow_ring(miaow, miaow->running_at, core_cycle(core) + TO_FETCH) |= bit(s);
}

static void fetch(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    const u64 set = miaow->running & ~miaow->full & ~core->issue.held;
    if (!set || !miaow->requests)
        return;
    const u64 later = miaow->turn < CORE_WARPS ? set & ~(bit(miaow->turn) - 1) : 0;
    const u32 s = first_bit(later ? later : set);
    struct miaow_slot *p = &miaow->slots[s];
    const u64 comes = core_cycle(core) + core->config.miaow->fetch_latency + TO_QUEUE;
    miaow->moved = true;
    miaow->turn = s + 1;
    miaow->requests--;
    miaow->words_coming[comes % RING] = (struct miaow_word){(u8)s, p->fresh};
    miaow->words_set |= bit(comes % RING);
    if (UNLIKELY(core->trace.steps))
        core_trace(core, TRACE_FETCH, s, NO_INST, trace_at(AT_FETCH), p->fetch_pc);
    p->fresh = false;
    p->fetch_pc += 4;
    p->reserved++;
    count_words(miaow, s, &core->config);
    core->stats.fetch.fetches++;
}

static bool is_long(const struct core *core, u32 inst)
{
    const struct program *program = core->exec->image->program;
    return program_offset(program, inst + 1) - program_offset(program, inst) > 4;
}

static enum trace_place class_place(u32 pipe)
{
    return pipe == PIPE_SCALAR   ? AT_SALU
           : pipe == PIPE_MEMORY ? AT_LSU
           : pipe == PIPE_SP     ? AT_SIMF
                                 : AT_SIMD;
}

/* Decodes what was fed in the last cycle: asks for the second half, or passes it on to issue. */
static void decode(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    const struct miaow_step *step = &miaow->decoding;
    miaow->decoded.valid = false;
    if (!step->valid)
        return;
    miaow->moved = true;
    if (step->half) {
        *miaow_ring(miaow, miaow->hungry_at, core_cycle(core) + 1) |= bit(step->slot);
        return;
    }
    miaow->decoded = *step;
    miaow_trace(core, TRACE_TO_ISSUE, step->slot, step->inst,
                trace_at(class_place(core->times[step->inst].pipe)));
}

/* A word of the code: returns whether it is the first of two. */
static bool feed_plain(struct core *core, u32 s)
{
    struct miaow_slot *p = &miaow_of(core)->slots[s];
    const bool first = !p->half && is_long(core, p->feed_inst);
    miaow_of(core)->decoding = (struct miaow_step){true, first, (u8)s, p->feed_inst};
    p->half = first;
    p->feed_pc += 4;
    p->feed_inst += !first;
    return first;
}

static void feed(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    const u64 set = miaow->hungry & miaow->filled & miaow->alive;
    miaow->decoding.valid = false;
    if (!set)
        return;
    const u32 s = first_bit(set);
    struct miaow_slot *p = &miaow->slots[s];
    miaow->moved = true;
    miaow->hungry &= ~bit(s);
    miaow->hungry_at[(core_cycle(core) + 1) % SOON] &= ~bit(s);
    if (UNLIKELY(core->trace.steps))
        core_trace(core, TRACE_DECODE, s, p->feed_inst, trace_at(AT_DECODE), p->feed_pc);
    const bool first =
        UNLIKELY(miaow->odd >> s & 1) ? miaow_feed_odd(core, s) : feed_plain(core, s);
    core->stats.fetch.instructions += !first;
    core->stats.fetch.buffered += !first;
    p->held--;
    p->reserved--;
    count_words(miaow, s, &core->config);
    if (UNLIKELY(p->derail_in) && !--p->derail_in)
        miaow_derail(core, s);
}

/* A word arrives at its queue, unless its warp was redirected in the meantime. */
static void arrive(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    const u32 at = (u32)(core_cycle(core) % RING);
    if (!(miaow->words_set >> at & 1))
        return;
    const struct miaow_word word = miaow->words_coming[at];
    miaow->moved = true;
    miaow->words_set &= ~bit(at);
    miaow->requests++;
    if (!word.first && !(miaow->alive >> word.slot & 1))
        return;
    miaow->alive |= bit(word.slot);
    miaow->slots[word.slot].held++;
    count_words(miaow, word.slot, &core->config);
}

/* The last threads of a warp have exited, without s_endpgm: the slot fetches nothing until it has
 * another warp. */
static void stop(struct core *core, u32 s)
{
    struct miaow *miaow = miaow_of(core);
    miaow->parked &= ~bit(s);
    miaow->running &= ~bit(s);
    miaow_reset_queue(core, s);
}

/* Slots whose warp waited and can continue because of other warps or mechanisms, or has ended. */
static void unpark(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    for (u64 set = miaow->parked; set; set &= set - 1) {
        const u32 s = first_bit(set);
        if (!(core->present & ~core->ended & bit(s))) {
            stop(core, s);
            continue;
        }
        if (core->slots[s].at == NO_INST || core->issue.held >> s & 1)
            continue;
        miaow->parked &= ~bit(s);
        *miaow_ring(miaow, miaow->hungry_at, core_cycle(core) + 1) |= bit(s);
        if (UNLIKELY(miaow->words != NULL) && live_is_changed(core, core->slots[s].at)) {
            miaow_follow(core, s, core->slots[s].at - 1);
            continue;
        }
        if (core->slots[s].at != miaow->slots[s].feed_inst) {
            miaow_reset_queue(core, s);
            miaow_goto(core, s, core->slots[s].at);
        }
    }
}

static void tick(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    const u64 now = core_cycle(core);
    miaow->running |= miaow->running_at[now % SOON];
    miaow->hungry |= miaow->hungry_at[now % SOON];
    miaow->moved = miaow->running_at[now % SOON] || miaow->hungry_at[now % SOON];
    miaow->running_at[now % SOON] = miaow->hungry_at[now % SOON] = 0;
    if (UNLIKELY(core_hooked(core, SEAM_INSERT)))
        issue_ask_insert(core, 0);
    dispatch(core);
    fetch(core);
    miaow_issue_release(core);
    if (miaow->decoded.valid)
        miaow_issue_take(core, &miaow->decoded);
    decode(core);
    feed(core);
    arrive(core);
    miaow->writes_taken = false;
    miaow_alu_tick_scalar(core);
    miaow_lsu_tick(core);
    const u32 units = miaow_alu_ready(core);
    miaow_alu_tick(core);
    miaow->units_now = units;
    if (miaow->chosen_unit != NO_UNIT && !core->stopped)
        miaow_issue_issue(core);
    miaow_issue_choose(core);
    miaow_issue_end(core);
    if (miaow->parked)
        unpark(core);
    miaow->moved |= miaow->rings_until > now || miaow->words_set;
    core->stats.issue.cycles += core->present != 0;
    if (UNLIKELY(core->trace.spans))
        core_trace_stalls(core);
    clock_advance(&core->clock, 1);
}

/* ---- time ---- */

static u64 due_cycle(const struct core *core)
{
    return MIN(miaow_alu_due(core), miaow_lsu_due(core));
}

/* Nothing has moved. */
static void find_quiet(struct core *core)
{
    if (core->mechanism_work)
        return;
    core->quiet_until = due_cycle(core);
    if (UNLIKELY(core->detours & DETOUR_SEAMS) && core->quiet_until == UINT64_MAX)
        hold_stuck(core);
}

static void run(struct core *core, fs end)
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
        if (!miaow_of(core)->moved)
            find_quiet(core);
    }
}

static fs next_time(const struct core *core)
{
    const fs next = port_next(core->config.replies);
    const u64 now = core_cycle(core);
    if (core->quiet_until <= now)
        return core->clock.next;
    if (core->quiet_until == UINT64_MAX)
        return next;
    return MIN(next, core->clock.next + (core->quiet_until - now) * core->clock.period);
}

/* ---- traces ---- */

void miaow_trace_writes(struct core *core, const struct inflight *inflight)
{
    if (LIKELY(!core->trace.steps))
        return;
    struct operand list[INST_REFS];
    const u32 count = inst_writes(inflight->dyn.code, list);
    for (u32 i = 0; i < count; i++)
        miaow_trace(core, TRACE_WRITE, inflight->slot, inflight->dyn.inst,
                    trace_at(trace_register(list[i])));
    if (miaow_writes_scc(inflight->dyn.code))
        miaow_trace(core, TRACE_WRITE, inflight->slot, inflight->dyn.inst, trace_at(AT_SCC));
}

/* ---- mechanisms ---- */

/* Seams that this pipeline calls. It has no instruction fetches or register banks like those of the
 * common stages, results are never held back, and memory has no packets. `insert` is called in each
 * cycle, for mechanisms that re-form warps: they insert no instructions, and the slots that they hold
 * are at a branch or wait. */
enum {
    SERVED = 1 << SEAM_DISPATCH | 1 << SEAM_ALLOCATE | 1 << SEAM_BLOCK | 1 << SEAM_OPERAND |
             1 << SEAM_RESULT | 1 << SEAM_ISSUED | 1 << SEAM_RETIRED | 1 << SEAM_CONTROL |
             1 << SEAM_VIEW | 1 << SEAM_STORED | 1 << SEAM_COLLECTED | 1 << SEAM_LOSE
};

static const char *lacks(const struct mechanism *m, const void *params)
{
    const u32 served = SERVED | (m->reforms ? 1u << SEAM_INSERT : 0);
    const u32 missing = mechanism_seams(m, params) & ~(served | m->optional);
    if (missing)
        return seam_name((enum seam)first_bit(missing));
    return m->stuck && !m->reforms        ? "stuck" /* it holds warps back anywhere */
           : m->cache                     ? "cache"
           : m->l2                        ? "l2"
           : m->dram && !m->optional_dram ? "dram"
                                          : NULL;
}

/* ---- the pipeline ---- */

static u64 slots(const struct core *core, u32 scheduler, u64 since, u64 until)
{
    return until - since;
}

static bool refuse(struct error *error, const char *name, u32 value, const char *expected)
{
    return error_set(error, ERROR_USAGE, "", "%s is %u: expected %s", name, value, expected);
}

static bool check(const struct core_config *config, struct error *error)
{
    const struct miaow_params *p = config->miaow;
    if (config->core->warp_size != 64)
        return refuse(error, "core.warp_size", config->core->warp_size,
                      "64 with core.pipeline=miaow");
    if (config->issue->schedulers != 1)
        return refuse(error, "issue.schedulers", config->issue->schedulers,
                      "1 with core.pipeline=miaow");
    if (!is_pow2(p->cache_block))
        return refuse(error, "miaow.cache_block", p->cache_block, "a power of two");
    if (p->cache_bytes % (p->cache_ways * p->cache_block))
        return refuse(error, "miaow.cache_bytes", p->cache_bytes,
                      "a multiple of miaow.cache_ways x miaow.cache_block");
    return true;
}

static const char *const enclosed[] = {"fetch", "wavepool", "decode", "issue", "exec",
                                       "salu",  "simd",     "simf",   NULL};

const struct pipeline miaow_pipeline = {
    .name = "miaow",
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .start_warp = start_warp,
    .restart = miaow_restart,
    .run = run,
    .next = next_time,
    .waits = miaow_issue_waits,
    .slots = slots,
    .holds = miaow_holds,
    .accesses = 1,
    .time = miaow_time,
    .check = check,
    .storage = miaow_storage,
    .logic = miaow_logic,
    .enclosed = enclosed,
    .traces_steps = true,
    .lacks = lacks,
};
