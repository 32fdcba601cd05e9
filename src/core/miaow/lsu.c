/*
 * The load/store unit of the miaow pipeline: one access at a time, one word of one lane after the
 * other.
 *
 * An access takes effect as a whole when it issues; the rest is timing. The first word is requested
 * two cycles later; each word takes memory_cycles until the reply and one more cycle. The words of
 * all lanes for one register form a row, which is written in a cycle of its own; a store reads a
 * row in two cycles. Scalar loads have rows of four words. The unit is done in the cycle after the
 * last row, and free in the next.
 *
 * From the RTL, with the default of `inactive`: lanes are requested up to the first inactive one,
 * which costs a cycle. In the RTL the lanes after it get arbitrary values; here they get their
 * values, at no cost.
 *
 * Behind the unit is memory with a fixed latency or, with cache_bytes, a set-associative write-back
 * cache whose lines arrive in order. The unit waits for each load, and for a store only until the
 * cache has accepted it. With inactive=skip, words are looked up as if the active lanes were the
 * first ones.
 *
 * Deviations: LDS stores complete like others (in the RTL they never do), and stores observe EXEC
 * from the first one on (in the RTL, only after a vector load). The RTL has loads and stores of one
 * to four words. Assumed for what it lacks: two elements at two addresses are two rows; LDS atomics
 * access each word twice; global atomics go through the common load/store unit to the L2 while this
 * unit waits.
 *
 * With live state (core/live.h) the access takes effect with its first row: until then, addresses of
 * lanes that have not been requested, data of a store, and loaded data can be flipped.
 */
#include "core/common/lsu_tick.h"
#include "core/miaow/live.h"
#include <stdlib.h>

enum {
    TO_MEMORY = 2,  /* cycles from issue to the first request, or to reading a row */
    ROW_READ = 2,   /* to read a store's row */
    SCALAR_ROW = 4, /* words */
    MOST_ROWS = 32,
};

/* The cache: the lines it holds, and those in flight. */
struct near_line {
    u64 line, used; /* used: 0 = no line */
    bool dirty;
};
struct near_cache {
    u32 sets, ways, shift;
    u64 clock;          /* counts uses */
    u64 fill_lines[64]; /* FIFO, the last `mshrs` fills */
    u64 fill_ready[64]; /* cycles; fills arrive in order */
    u32 fills;
    struct near_line lines[];
};

struct miaow_lsu {
    u16 inflight;
    bool atomic; /* the access is in the common load/store unit */
    bool writes; /* its rows go to registers */
    bool scalar;
    u8 last_load; /* AT_LSUV, AT_LSUS, or AT_LSU: none yet */
    bool acts;    /* with live state: the access takes effect with its first row */
    u32 row, rows;
    u32 flips[MAX_LANES];      /* bits of loaded data that are flipped before that */
    u32 row_cycles[MOST_ROWS]; /* from the write of one row to that of the next */
    struct near_cache *cache;  /* NULL: no cache */
    u64 row_at;                /* cycle in which the next row is written */
    u64 done_at, free_at;
};

static struct near_cache *cache_make(const struct miaow_params *p)
{
    if (!p->cache_bytes)
        return NULL;
    const u32 lines = MAX(p->cache_bytes / p->cache_block, p->cache_ways);
    struct near_cache *cache = checked(calloc(1, sizeof *cache + lines * sizeof(struct near_line)));
    cache->ways = p->cache_ways;
    cache->sets = lines / p->cache_ways;
    cache->shift = (u32)__builtin_ctz(p->cache_block);
    return cache;
}

struct miaow_lsu *miaow_lsu_create(const struct core_config *config)
{
    struct miaow_lsu *lw = checked(calloc(1, sizeof *lw));
    lw->cache = cache_make(config->miaow);
    return lw;
}

void miaow_lsu_destroy(struct miaow_lsu *lsu)
{
    free(lsu->cache);
    free(lsu);
}

void miaow_lsu_begin(struct core *core)
{
    struct near_cache *cache = miaow_of(core)->lsu->cache;
    if (cache) /* lines stay; times start again */
        cache->fills = 0;
    *miaow_of(core)->lsu = (struct miaow_lsu){
        .cache = cache,
        .inflight = NO_INFLIGHT,
        .last_load = AT_LSU,
        .row_at = UINT64_MAX,
        .done_at = UINT64_MAX,
    };
}

/* ---- the cache ---- */

/* Brings a line into the cache in place of the least recently used one. Returns the arrival
 * cycle. */
static u64 cache_bring(struct core *core, struct near_cache *cache, struct near_line *set, u64 line,
                       u64 now)
{
    const struct miaow_params *p = core->config.miaow;
    struct near_line *victim = set;
    for (u32 w = 1; w < cache->ways; w++)
        if (set[w].used < victim->used)
            victim = &set[w];
    core->stats.l1d.evictions += victim->used != 0;
    core->stats.l1d.writebacks += victim->used && victim->dirty;
    core->stats.l1d.fills++;
    const u32 at = cache->fills % p->cache_mshrs; /* the previous fill of this entry must have
                                                   * arrived */
    const u64 start = cache->fills >= p->cache_mshrs ? MAX(now, cache->fill_ready[at]) : now;
    cache->fill_lines[at] = line;
    cache->fill_ready[at] = start + p->cache_miss;
    cache->fills++;
    *victim = (struct near_line){.line = line, .used = ++cache->clock};
    return start + p->cache_miss;
}

/* Cycles from a request to its reply. */
static u32 cache_access(struct core *core, struct near_cache *cache, u64 address, bool stores,
                        u64 now)
{
    const struct miaow_params *p = core->config.miaow;
    const u64 line = address >> cache->shift;
    struct near_line *set = &cache->lines[line % cache->sets * cache->ways], *found = NULL;
    u64 ready = now;
    for (u32 w = 0; w < cache->ways && !found; w++)
        if (set[w].used && set[w].line == line)
            found = &set[w];
    *(stores ? &core->stats.l1d.writes : &core->stats.l1d.reads) += 1;
    if (found) {
        *(stores ? &core->stats.l1d.write_hits : &core->stats.l1d.read_hits) += 1;
        found->used = ++cache->clock;
        for (u32 i = 0; i < MIN(cache->fills, p->cache_mshrs); i++)
            if (cache->fill_lines[i] == line)
                ready = MAX(ready, cache->fill_ready[i]);
    } else {
        *(stores ? &core->stats.l1d.write_misses : &core->stats.l1d.read_misses) += 1;
        ready = cache_bring(core, cache, set, line, now);
        if (stores) /* it waits at most for a free entry */
            ready -= p->cache_miss;
        for (u32 w = 0; w < cache->ways; w++)
            found = set[w].line == line && set[w].used ? &set[w] : found;
    }
    assert(found);
    found->dirty |= stores;
    return p->cache_hit + (u32)(ready - now);
}

/* Cycles of the words of a row, the first of which is requested in cycle `at`. Those of a silent store
 * pass by the cache. */
static u32 words_cycles(struct core *core, const struct miaow_lsu *lw, struct inflight *inflight,
                        u32 row, u32 words, u64 at)
{
    struct dyninst *f = &inflight->dyn;
    const bool silent = inflight->silent && f->stores;
    const u32 plain = core->config.miaow->memory_cycles + 1;
    if (!lw->cache || f->kind != DYNINST_ACCESS || f->shared || silent)
        return words * plain;
    const u64 *address = dyninst_addresses(f), begin = at;
    for (u32 i = 0; i < words; i++) {
        const u64 word =
            lw->scalar ? address[0] + 4 * (row * SCALAR_ROW + i) : address[i] + 4 * row;
        const bool there = lw->scalar || f->global >> i & 1;
        at += 1 + (there ? cache_access(core, lw->cache, word, f->stores, at)
                         : core->config.miaow->cache_hit);
    }
    return (u32)(at - begin);
}

bool miaow_lsu_ready(const struct core *core)
{
    const struct miaow_lsu *lw = miaow_of(core)->lsu;
    return lw->inflight == NO_INFLIGHT && lw->free_at <= core_cycle(core);
}

/* The number of requested lanes; *more: cycles to detect that there are no more. */
static u32 lanes_asked(const struct core *core, const struct dyninst *f, u32 *more)
{
    const u32 all = core->config.core->warp_size;
    if (core->config.miaow->inactive == 1) {
        *more = 0;
        return count_lanes(f->lanes);
    }
    const u32 lanes = f->lanes == ~0ull ? 64 : (u32)__builtin_ctzll(~f->lanes);
    *more = lanes < all;
    return MIN(lanes, all);
}

/* Plans the words and rows of an access, and when they arrive. */
static void plan(struct core *core, struct miaow_lsu *lw, struct inflight *inflight)
{
    struct dyninst *f = &inflight->dyn;
    const struct inst *code = f->code;
    const u16 flags = op_info[code->op].flags;
    const u64 first = core_cycle(core) + TO_MEMORY + inflight->extra;
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
    u64 at = first;
    lw->rows = MIN(lw->rows, MOST_ROWS);
    for (u32 row = 0; row < lw->rows; row++) {
        const u64 begin = at;
        at += loads ? 0 : ROW_READ;
        at += words_cycles(core, lw, inflight, row, words, at) + more + 1;
        lw->row_cycles[row] = (u32)(at - begin);
    }
    lw->row_at = first + lw->row_cycles[0] - 1;
    lw->done_at = at;
    lw->free_at = lw->done_at + 1;
    core->profile[f->inst].transactions += (u64)words * lw->rows;
    core->stats.lsu.transactions += (u64)words * lw->rows;
}

static void count_access(struct core *core, const struct dyninst *f)
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

void miaow_lsu_start(struct core *core, struct inflight *inflight)
{
    struct miaow_lsu *lw = miaow_of(core)->lsu;
    struct dyninst *f = &inflight->dyn;
    lw->inflight = inflight->index;
    if (f->kind == DYNINST_ACCESS && f->atomic && f->global) {
        lw->atomic = true;
        lsu_enter(core, inflight);
        return;
    }
    core->stats.lsu.instructions++;
    if (f->kind == DYNINST_ACCESS) {
        lw->acts = core->config.live;
        if (!lw->acts && !lsu_act(core, inflight))
            return;
        count_access(core, f);
    }
    plan(core, lw, inflight);
}

/* With live state: the access takes effect. All lanes do so together; the unit serves one access at
 * a time, so nothing can come in between. False: it has faulted. */
static COLD bool act_late(struct core *core, struct miaow_lsu *lw, struct inflight *inflight)
{
    struct dyninst *f = &inflight->dyn;
    lw->acts = false;
    if (!lsu_act(core, inflight))
        return false;
    for (u32 lane = 0; f->loads && f->dst_rows[0] && lane < core->config.core->warp_size; lane++)
        f->dst[0][lane] ^= lw->flips[lane];
    memset(lw->flips, 0, sizeof lw->flips);
    return true;
}

/*
 * Commits all rows together with the first one: from then on its registers are free, and may be
 * written again before the last row is. Mechanisms are called once for the whole result, before it
 * is in the registers.
 */
static void commit_rows(struct core *core, struct inflight *inflight)
{
    if (core_hooked(core, SEAM_RESULT) && !inflight->has_result)
        hooks_result(core, inflight);
    if (UNLIKELY(core->live != NULL))
        live_written(core, inflight);
    if (LIKELY(!inflight->annulled))
        dyninst_commit(&inflight->dyn);
    if (UNLIKELY(core->trace.watcher))
        core->trace.watcher->written(core->trace.watcher, core, inflight);
    inflight->dyn.kind = DYNINST_CONTROL; /* nothing is left to commit */
}

static void write_row(struct core *core, struct miaow_lsu *lw, struct inflight *inflight)
{
    struct dyninst *f = &inflight->dyn;
    const bool last = ++lw->row == lw->rows;
    miaow_of(core)->moved = true;
    lw->row_at = last ? UINT64_MAX : lw->row_at + lw->row_cycles[lw->row];
    if (!lw->writes)
        return;
    miaow_of(core)->writes_taken = true;
    miaow_trace(core, TRACE_WRITE, inflight->slot, f->inst,
                trace_at(trace_register(f->code->dst[0])));
    if (lw->rows == 1) {
        miaow_issue_written(core, inflight, false);
        return;
    }
    if (lw->row == 1)
        commit_rows(core, inflight);
    const u32 count = lw->scalar ? SCALAR_ROW : 1;
    const u32 first = inflight->time->dependences[0].word * 64 +
                      first_bit(inflight->time->dependences[0].bits); /* writes come first */
    miaow_issue_written_some(core, inflight, first + (lw->row - 1) * count, count);
}

static void finish(struct core *core, struct miaow_lsu *lw, struct inflight *inflight)
{
    const u32 s = inflight->slot;
    miaow_of(core)->moved = true;
    if (lw->writes)
        lw->last_load = lw->scalar ? AT_LSUS : AT_LSUV;
    if (lw->last_load != AT_LSU) /* the RTL reports a store's end with the last load's registers */
        miaow_trace(core, TRACE_DONE, s, inflight->dyn.inst, trace_at(lw->last_load));
    if (!lw->writes)
        miaow_issue_written(core, inflight, false);
    miaow_of(core)->memory_done |= bit(s);
    lw->inflight = NO_INFLIGHT;
    lw->done_at = UINT64_MAX;
    inflight_retire(core, inflight);
}

/* A global atomic has left the common load/store unit when its record is free again. */
static void watch_atomic(struct core *core, struct miaow_lsu *lw)
{
    miaow_of(core)->moved = true;
    struct inflight *inflight = core_inflight(core, lw->inflight);
    const u32 s = inflight->slot;
    const u64 taken = core->inflight.count;
    if (core->wheel.words || core->lsu.done <= core_cycle(core))
        write_back_tick(core);
    lsu_tick(core);
    if (core->inflight.count == taken)
        return;
    miaow_trace(core, TRACE_DONE, s, inflight->dyn.inst, trace_at(AT_LSUV));
    miaow_trace_writes(core, inflight);
    miaow_issue_written(core, inflight, false);
    lw->atomic = false;
    lw->inflight = NO_INFLIGHT;
    lw->free_at = core_cycle(core) + 1;
    miaow_of(core)->memory_done |= bit(s);
}

void miaow_lsu_tick(struct core *core)
{
    struct miaow_lsu *lw = miaow_of(core)->lsu;
    const u64 now = core_cycle(core);
    if (UNLIKELY(lw->atomic)) {
        watch_atomic(core, lw);
        return;
    }
    if (UNLIKELY(lw->acts) && lw->row_at == now &&
        !act_late(core, lw, core_inflight(core, lw->inflight)))
        return;
    if (lw->row_at == now)
        write_row(core, lw, core_inflight(core, lw->inflight));
    else if (lw->done_at == now)
        finish(core, lw, core_inflight(core, lw->inflight));
}

u64 miaow_lsu_due(const struct core *core)
{
    const struct miaow_lsu *lw = miaow_of(core)->lsu;
    const u64 now = core_cycle(core);
    u64 due = MIN(lw->row_at, lw->done_at);
    if (lw->free_at >= now)
        due = MIN(due, lw->free_at);
    return lw->atomic ? now : due;
}

/* ---- visitors ---- */

/* The access that has not taken effect; NULL: none. */
static struct inflight *pending_access(struct core *core)
{
    const struct miaow_lsu *lw = core && core->exec ? miaow_of(core)->lsu : NULL;
    return lw && lw->acts ? core_inflight(core, lw->inflight) : NULL;
}

/* Whether the word of a lane has been requested. */
static bool requested(const struct core *core, u32 lane)
{
    const struct miaow_lsu *lw = miaow_of(core)->lsu;
    const u64 begun = lw->row_at + 1 - lw->row_cycles[0];
    const u64 since = core_cycle(core) > begun ? core_cycle(core) - begun : 0;
    return lane < since / (core->config.miaow->memory_cycles + 1);
}

void miaow_visit_addresses(struct state_walk *walk, const struct state_row *row, void *owner,
                           u64 entry)
{
    struct core *core = owner;
    const u32 lane = (u32)entry;
    struct inflight *inflight = pending_access(core);
    struct dyninst *f = inflight && !inflight->dyn.scalar ? &inflight->dyn : NULL;
    const bool waits = f && f->lanes >> lane & 1 && !requested(core, lane);
    u64 address = waits ? dyninst_addresses(f)[lane] : 0;
    if (walk_entry(walk, waits) && walk_field(walk, &address, row->bits) && waits)
        walk->dead = !live_readdress(f, lane, address);
}

void miaow_visit_data(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const u32 lane = (u32)entry;
    struct inflight *inflight = pending_access(core);
    struct dyninst *f = inflight && !inflight->dyn.scalar ? &inflight->dyn : NULL;
    u32 *word = NULL;
    if (f && f->lanes >> lane & 1 && f->stores && f->plan->vectors >> 1 & 1)
        word = requested(core, lane) ? NULL : f->src[1] + lane;
    else if (f && f->lanes >> lane & 1 && f->loads)
        word = requested(core, lane) ? &miaow_of(core)->lsu->flips[lane] : NULL;
    if (walk_entry(walk, word))
        walk_words(walk, word, row->bits / 32);
}

void miaow_visit_masks(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    struct inflight *inflight = pending_access(core);
    struct dyninst *f = inflight && !inflight->dyn.scalar ? &inflight->dyn : NULL;
    u64 lanes = f ? f->lanes : 0;
    const u64 before = lanes;
    if (!walk_entry(walk, f) || !walk_field(walk, &lanes, row->bits) || !f)
        return;
    walk->dead = !lanes || requested(core, first_lane(lanes ^ before));
    if (walk->dead)
        return;
    f->lanes = f->writes = lanes;
    walk->dead = !live_redo(f);
}

u64 miaow_hash_access(const struct state_row *row, void *owner, u64 hash)
{
    struct core *core = owner;
    struct inflight *inflight = pending_access(core);
    struct dyninst *f = inflight ? &inflight->dyn : NULL;
    if (!f)
        return hash;
    const struct miaow_lsu *lw = miaow_of(core)->lsu;
    hash = hash_word(hash_word(hash, f->lanes), lw->row_at - core_cycle(core));
    hash = hash_word(hash, (u64)inflight->slot << 32 | f->inst);
    if (!f->scalar)
        hash = hash_words(hash, (const u32 *)dyninst_addresses(f), 2 * MAX_LANES);
    if (f->stores && f->plan->vectors >> 1 & 1)
        hash = hash_words(hash, f->src[1], f->plan->src_rows[1] * MAX_LANES);
    return hash_words(hash, lw->flips, MAX_LANES);
}
