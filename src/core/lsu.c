/*
 * The load/store unit: one instruction at a time at its head, where memory acts.
 *
 * An access happens, in the order of this unit, when its instruction comes to the head: then its
 * transactions go on, lsu.transactions_per_cycle each cycle. Those of the first-level data cache
 * pass a pipe of the cache's latency and are looked up at its end; what misses goes through a queue
 * to the network. Shared memory holds the head for as many cycles as it has bank conflicts.
 * Constants, parameters and scalar loads have a cache of their own, looked up at the head.
 *
 * Loads that hit are done at once; what comes from memory is written back through a port, two
 * cycles after it has arrived at the earliest. Stores are done when their last transaction has left
 * the head; the warp keeps a count of those not acknowledged.
 *
 * Invariants
 *  L1  Every transaction holds an parcel until it is answered; a task is done when all have been.
 *  L2  While an atomic is under way, loads and stores of the core to its 32-byte sector wait at the
 *      head. Atomics do not: the network and the slice keep their order.
 */
#include "core/core.h"
#include "core/requests.h"
#include "mem/stride.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    PARCELS = 4096,
    NO_PARCEL = UINT32_MAX,
    FILL_TO_WRITE_BACK = 2, /* cycles: the line is filled, the result stands at the port */
    BANKS = 16,
    READONLY_PIPE = BANKS, /* of the read-only cache, beside the L1's banks */
    PIPE_COUNT
};

/* In the queue to the network: a parcel's number; or a miss: sectors << 16 | MSHR, and these. */
#define MISS (1u << 31)
#define MISS_READONLY (1u << 30)

/* Device addresses for what has none of its own; far from what memory_create gives out. */
static const u64 LOCAL_BASE = 1ull << 46;

enum parcel_kind {
    PARCEL_LOAD,
    PARCEL_STORE,
    PARCEL_ATOMIC
};

struct parcel {
    u64 line; /* address, a multiple of `bytes` */
    u64 lanes;
    u32 bytes; /* of the line that `sectors` divides */
    u32 sectors;
    u32 next; /* of a list */
    u16 task; /* NO_TASK: its task is done (stores) */
    u8 slot;
    u8 kind;
    bool full, readonly, atomic_returns;
    u32 inst;
};

struct ring {
    u32 *parcels;
    u64 *ready; /* cycle */
    u32 head, tail, capacity;
};

struct lsu {
    struct cache *l1d, *constant, *readonly;
    /* the head */
    u16 current;
    bool started;
    u64 shared_until; /* cycle in which its shared part leaves */
    struct transaction list[MAX_TRANSACTIONS];
    u32 count, next; /* transactions of the current task, and sent on */
    bool list_local;
    u32 list_bytes; /* line size of the list */
    u32 turn;       /* group that gives the next task */
    /* transactions */
    struct parcel *parcels;
    u32 free_parcel, parcels_taken;
    u32 fresh; /* those from here on have never been taken */
    struct ring pipes[PIPE_COUNT];
    u64 pipes_used;
    /* Pipes whose head has found no room in its cache, which has not changed since; and the counter
     * that another try would add to. */
    u64 pipes_stalled;
    u64 *stalled_by[PIPE_COUNT];
    struct ring queue; /* to the network */
    u32 stores;        /* not acknowledged */
    u32 atomics[PARCELS], atomic_count;
    /* finished tasks that wait for the port */
    struct {
        u16 task;
        u64 ready;
    } done[1024];
    u32 done_head, done_tail;
};

/* ---- parcels and rings ---- */

static void ring_create(struct ring *ring, u32 most)
{
    ring->capacity = 1;
    while (ring->capacity < most)
        ring->capacity *= 2;
    ring->parcels = checked(calloc(ring->capacity, sizeof *ring->parcels));
    ring->ready = checked(calloc(ring->capacity, sizeof *ring->ready));
}

static void ring_push(struct ring *ring, u32 parcel, u64 ready)
{
    u32 at = ring->tail++ & (ring->capacity - 1);
    ring->parcels[at] = parcel;
    ring->ready[at] = ready;
}

static u32 ring_count(const struct ring *ring)
{
    return ring->tail - ring->head;
}

static struct parcel *parcel_take(struct lsu *lsu)
{
    struct parcel *parcel;
    if (lsu->free_parcel != NO_PARCEL) {
        parcel = &lsu->parcels[lsu->free_parcel];
        lsu->free_parcel = parcel->next;
    } else if (lsu->fresh < PARCELS) {
        parcel = &lsu->parcels[lsu->fresh++];
    } else {
        return NULL;
    }
    lsu->parcels_taken++;
    return parcel;
}

static void parcel_give(struct lsu *lsu, struct parcel *parcel)
{
    parcel->bytes = 0; /* free */
    parcel->next = lsu->free_parcel;
    lsu->free_parcel = (u32)(parcel - lsu->parcels);
    lsu->parcels_taken--;
}

static void parcels_reset(struct lsu *lsu)
{
    lsu->free_parcel = NO_PARCEL;
    lsu->parcels_taken = 0;
    lsu->fresh = 0;
}

void lsu_create(struct core *core)
{
    struct lsu *lsu = core->lsu = checked(calloc(1, sizeof *lsu));
    const struct core_config *c = &core->config;
    struct cache_config l1d = CACHE_CONFIG(c->l1d, c->l1d->write ? WRITE_THROUGH : WRITE_EVICT);
    struct cache_config constant = CACHE_CONFIG(c->constant, WRITE_EVICT);
    struct cache_config readonly = CACHE_CONFIG(c->readonly, WRITE_EVICT);
    lsu->l1d = cache_create(&l1d, (struct cache_counters *)&core->stats.l1d);
    lsu->constant = cache_create(&constant, (struct cache_counters *)&core->stats.constant);
    lsu->readonly = cache_create(&readonly, (struct cache_counters *)&core->stats.readonly);
    lsu->parcels = checked(calloc(PARCELS, sizeof *lsu->parcels));
    for (u32 b = 0; b < c->l1d->banks; b++)
        ring_create(&lsu->pipes[b], c->l1d->latency + 1);
    ring_create(&lsu->pipes[READONLY_PIPE], c->readonly->latency + 1);
    ring_create(&lsu->queue, c->l1d->miss_queue + 8);
    parcels_reset(lsu);
    lsu->current = NO_TASK;
}

void lsu_destroy(struct core *core)
{
    struct lsu *lsu = core->lsu;
    if (!lsu)
        return;
    cache_destroy(lsu->l1d);
    cache_destroy(lsu->constant);
    cache_destroy(lsu->readonly);
    for (u32 b = 0; b < PIPE_COUNT; b++) {
        free(lsu->pipes[b].parcels);
        free(lsu->pipes[b].ready);
    }
    free(lsu->queue.parcels);
    free(lsu->queue.ready);
    free(lsu->parcels);
    free(lsu);
}

void lsu_begin(struct core *core)
{
    struct lsu *lsu = core->lsu;
    parcels_reset(lsu);
    lsu->current = NO_TASK;
    lsu->done_head = lsu->done_tail = 0;
    lsu->stores = lsu->atomic_count = 0;
    lsu->pipes_used = lsu->pipes_stalled = 0;
    lsu->queue.head = lsu->queue.tail = 0;
    for (u32 b = 0; b < PIPE_COUNT; b++)
        lsu->pipes[b].head = lsu->pipes[b].tail = 0;
}

void lsu_flush(struct core *core)
{
    cache_invalidate(core->lsu->l1d);
    cache_invalidate(core->lsu->constant);
    cache_invalidate(core->lsu->readonly);
}

struct cache *lsu_cache(const struct core *core, enum packet_client client)
{
    const struct lsu *lsu = core->lsu;
    return client == CLIENT_L1D        ? lsu->l1d
           : client == CLIENT_CONSTANT ? lsu->constant
                                       : lsu->readonly;
}

/* ---- tasks that are done ---- */

static void finish_later(struct core *core, u32 task)
{
    struct lsu *lsu = core->lsu;
    u32 at = lsu->done_tail++ % ARRAY_LEN(lsu->done);
    lsu->done[at].task = (u16)task;
    lsu->done[at].ready = core_cycle(core) + FILL_TO_WRITE_BACK;
}

/* One part of a task is answered. */
static void part_done(struct core *core, u32 index, bool from_memory)
{
    struct task *task = core_task(core, index);
    if (--task->outstanding || !task->sent)
        return;
    if (from_memory)
        finish_later(core, index);
    else
        task_retire(core, task);
}

void lsu_write_back(struct core *core)
{
    struct lsu *lsu = core->lsu;
    for (u32 n = 0; n < core->config.lsu->write_back_ports && lsu->done_head != lsu->done_tail;
         n++) {
        u32 at = lsu->done_head % ARRAY_LEN(lsu->done);
        if (lsu->done[at].ready > core_cycle(core))
            return;
        lsu->done_head++;
        task_retire(core, core_task(core, lsu->done[at].task));
    }
}

/* ---- out to memory ---- */

static void store_sent(struct core *core, struct parcel *parcel)
{
    core->slots[parcel->slot].stores++;
    core->lsu->stores++;
}

static void send_parcel(struct core *core, struct parcel *parcel)
{
    static const u8 kinds[] = {[PARCEL_LOAD] = PACKET_READ,
                               [PARCEL_STORE] = PACKET_WRITE,
                               [PARCEL_ATOMIC] = PACKET_ATOMIC};
    struct packet packet = {
        .address = parcel->line,
        .lanes = parcel->lanes,
        .sectors = parcel->sectors,
        .tag = (u32)(parcel - core->lsu->parcels),
        .inst = parcel->inst,
        .kind = kinds[parcel->kind],
        .client = CLIENT_DIRECT,
        .full = parcel->full,
        .returns = parcel->atomic_returns,
    };
    if (parcel->kind != PARCEL_LOAD)
        packet.bytes = (u16)(SECTOR_BYTES * (u32)__builtin_popcount(parcel->sectors));
    requests_send(core, &packet, parcel->bytes);
}

/* One request a cycle leaves the queue. */
static void send_queued(struct core *core)
{
    struct lsu *lsu = core->lsu;
    struct ring *queue = &lsu->queue;
    if (queue->head == queue->tail ||
        queue->ready[queue->head & (queue->capacity - 1)] > core_cycle(core))
        return;
    u32 tag = queue->parcels[queue->head & (queue->capacity - 1)];
    if (tag & MISS) {
        const bool readonly = tag & MISS_READONLY;
        const u32 bytes =
            readonly ? core->config.readonly->line_bytes : core->config.l1d->line_bytes;
        const u32 mshr = tag & 0xffff, sectors = tag >> 16 & 0xff;
        if (!requests_room(core, requests_needed(core, bytes)))
            return;
        u64 line = cache_mshr_line(readonly ? lsu->readonly : lsu->l1d, mshr);
        requests_read(core, readonly ? CLIENT_READONLY : CLIENT_L1D, line, bytes, sectors, mshr,
                      NO_INST);
    } else {
        if (!requests_room(core, 1))
            return;
        send_parcel(core, &lsu->parcels[tag]);
    }
    queue->head++;
}

static bool queue_room(const struct core *core)
{
    return ring_count(&core->lsu->queue) < core->config.l1d->miss_queue;
}

static void queue_push(struct core *core, u32 tag)
{
    ring_push(&core->lsu->queue, tag, core_cycle(core) + 1);
}

/* ---- the first-level data cache ---- */

/* The line of its cache that a parcel is in, and its sectors there. */
static u64 cache_line(const struct core *core, const struct parcel *parcel, u32 *sectors)
{
    const u32 bytes =
        parcel->readonly ? core->config.readonly->line_bytes : core->config.l1d->line_bytes;
    u64 line = parcel->line & ~(u64)(bytes - 1);
    *sectors = parcel->sectors << (parcel->line - line) / SECTOR_BYTES;
    return line;
}

/* False: it must be tried again. */
static bool look_up(struct core *core, u32 pipe, struct parcel *parcel)
{
    struct lsu *lsu = core->lsu;
    if (lsu->pipes_stalled >> pipe & 1 && queue_room(core)) {
        ++*lsu->stalled_by[pipe];
        return false;
    }
    struct cache_out out;
    u32 index = (u32)(parcel - lsu->parcels), sectors;
    u64 line = cache_line(core, parcel, &sectors);
    if (!queue_room(core)) {
        core->stats.l1d.stalls_queue++;
        return false;
    }
    if (parcel->kind == PARCEL_STORE) {
        lsu->pipes_stalled = 0;
        cache_write(lsu->l1d, line, sectors, parcel->full, &out);
        queue_push(core, index);
        return true;
    }
    struct cache *cache = parcel->readonly ? lsu->readonly : lsu->l1d;
    struct cache_counters *counters = parcel->readonly
                                          ? (struct cache_counters *)&core->stats.readonly
                                          : (struct cache_counters *)&core->stats.l1d;
    const u64 line_stalls = counters->stalls_line;
    switch (cache_read(cache, line, sectors, index, &out)) {
    case CACHE_HIT:
        lsu->pipes_stalled = 0;
        part_done(core, parcel->task, false);
        parcel_give(lsu, parcel);
        return true;
    case CACHE_MISS:
        lsu->pipes_stalled = 0;
        queue_push(core,
                   MISS | (parcel->readonly ? MISS_READONLY : 0) | out.sectors << 16 | out.mshr);
        return true;
    case CACHE_MERGED:
        lsu->pipes_stalled = 0;
        return true;
    default:
        lsu->stalled_by[pipe] =
            counters->stalls_line != line_stalls ? &counters->stalls_line : &counters->stalls_mshr;
        lsu->pipes_stalled |= core->hooks.seams ? 0 : bit(pipe); /* a hook may change its mind */
        return false;
    }
}

static void run_pipes(struct core *core)
{
    struct lsu *lsu = core->lsu;
    for (u64 set = lsu->pipes_used; set; set &= set - 1) {
        u32 b = first_bit(set);
        struct ring *pipe = &lsu->pipes[b];
        u32 at = pipe->head & (pipe->capacity - 1);
        if (pipe->ready[at] > core_cycle(core) ||
            !look_up(core, b, &lsu->parcels[pipe->parcels[at]]))
            continue;
        pipe->head++;
        if (pipe->head == pipe->tail)
            lsu->pipes_used &= ~bit(b);
    }
}

void lsu_reply(struct core *core, const struct packet *packet)
{
    struct lsu *lsu = core->lsu;
    struct cache_out out;
    u32 waiter;
    switch (packet->client) {
    case CLIENT_L1D:
    case CLIENT_READONLY: {
        struct cache *cache = packet->client == CLIENT_L1D ? lsu->l1d : lsu->readonly;
        lsu->pipes_stalled = 0;
        cache_fill(cache, packet->tag, &out);
        while (cache_waiter(cache, packet->tag, &waiter)) {
            struct parcel *parcel = &lsu->parcels[waiter];
            part_done(core, parcel->task, true);
            parcel_give(lsu, parcel);
        }
        return;
    }
    case CLIENT_CONSTANT:
        cache_fill(lsu->constant, packet->tag, &out);
        while (cache_waiter(lsu->constant, packet->tag, &waiter))
            part_done(core, waiter, true);
        return;
    default:
        break;
    }
    struct parcel *parcel = &lsu->parcels[packet->tag];
    if (parcel->kind != PARCEL_LOAD) {
        u32 s = parcel->slot;
        lsu->stores--;
        core->slots[s].stores--;
        if (parcel->kind == PARCEL_ATOMIC)
            for (u32 i = 0; i < lsu->atomic_count; i++)
                if (lsu->atomics[i] == packet->tag) {
                    lsu->atomics[i] = lsu->atomics[--lsu->atomic_count];
                    break;
                }
        slot_counted(core, s);
        if (parcel->kind == PARCEL_ATOMIC)
            part_done(core, parcel->task, true);
        parcel_give(lsu, parcel);
        if (core->slots[s].ended)
            slot_maybe_leave(core, s);
        return;
    }
    part_done(core, parcel->task, true);
    parcel_give(lsu, parcel);
}

void core_atomic(struct core *core, const struct packet *packet)
{
    const struct parcel *parcel = &core->lsu->parcels[packet->tag];
    flight_atomic(&core_task(core, parcel->task)->flight, packet->lanes);
}

/* ---- the head ---- */

/* Local memory: word w of all lanes of a warp lies together, as the peer lays it out. */
static u64 local_address(const struct core *core, u32 s, u32 lane, u64 address)
{
    const struct exec *exec = core->exec;
    u64 warp_bytes = (u64)align_up(MAX(exec->local_stride, 4), 4) * exec->image->warp_size;
    u64 warp = (u64)core->config.index * CORE_WARPS + s;
    return LOCAL_BASE + warp * align_up(warp_bytes, 128) +
           (address / 4 * exec->image->warp_size + lane) * 4 + address % 4;
}

static void list_local_accesses(struct core *core, struct task *task)
{
    struct lsu *lsu = core->lsu;
    struct flight *f = &task->flight;
    u64 at[MAX_LANES];
    u32 pieces = (f->bytes + 3) / 4, each = MIN(f->bytes, 4u);
    for (u32 k = 0; k < pieces; k++) {
        for (u64 set = f->local; set; set &= set - 1) {
            u32 lane = first_bit(set);
            at[lane] = local_address(core, task->slot, lane, f->address[lane] + 4 * k);
        }
        coalesce(COALESCE_LINE, lsu->list_bytes, at, f->local, each, f->stores, lsu->list,
                 &lsu->count);
    }
}

/* Lanes that change one address do it in different transactions, as many as the most that meet. */
static void list_atomics(struct core *core, const struct flight *f, enum coalesce_rule rule)
{
    struct lsu *lsu = core->lsu;
    u64 rounds[MAX_LANES] = {0};
    u32 count = 0;
    for (u64 set = f->global; set; set &= set - 1) {
        const u32 lane = first_bit(set);
        u32 earlier = 0;
        for (u64 before = f->global & (bit(lane) - 1); before; before &= before - 1)
            earlier += f->address[first_bit(before)] == f->address[lane];
        rounds[earlier] |= bit(lane);
        count = MAX(count, earlier + 1);
    }
    for (u32 i = 0; i < count; i++) {
        u32 more = 0; /* a list of its own: nothing is joined with earlier rounds */
        coalesce(rule, lsu->list_bytes, f->address, rounds[i], f->bytes, f->stores,
                 lsu->list + lsu->count, &more);
        lsu->count += more;
    }
}

/* The transactions of a task that comes to the head. */
static void make_list(struct core *core, struct task *task)
{
    struct lsu *lsu = core->lsu;
    struct flight *f = &task->flight;
    const struct lsu_params *p = core->config.lsu;
    enum coalesce_rule rule = COALESCE_LINE;
    lsu->count = lsu->next = 0;
    lsu->list_bytes = core->config.l1d->line_bytes;
    if (f->atomic || p->coalesce == COALESCE_SECTOR ||
        (!core->config.l1d->global && p->coalesce == COALESCE_LINE && !f->stores))
        lsu->list_bytes = SECTOR_BYTES;
    if (p->coalesce == COALESCE_HALF && !f->atomic)
        rule = COALESCE_HALF;
    lsu->list_local = f->local != 0;
    if (f->local)
        list_local_accesses(core, task);
    if (f->global && f->atomic) {
        list_atomics(core, f, rule);
    } else if (f->global) {
        coalesce(rule, lsu->list_bytes, f->address, f->global, f->bytes, f->stores, lsu->list,
                 &lsu->count);
        if (f->pair)
            coalesce(rule, lsu->list_bytes, f->second, f->global, f->bytes, f->stores, lsu->list,
                     &lsu->count);
    }
    if (!f->global && !f->local)
        return;
    if (UNLIKELY(task->silent) && f->stores)
        lsu->count = 0;
    core->stats.lsu.transactions += lsu->count;
    core->stats.lsu.memory_accesses++;
    if (f->local)
        core->stats.lsu.local_accesses++;
    else
        core->stats.lsu.global_accesses++;
}

/* Shared memory takes the head for as long as banks collide. */
static void start_shared(struct core *core, struct task *task)
{
    const struct lsu_params *p = core->config.lsu;
    const struct flight *f = &task->flight;
    u32 cycles = shared_cycles(f->address, f->shared, f->bytes, p->shared_banks,
                               p->shared_bank_bytes, p->shared_parts, core->config.core->warp_size);
    if (f->pair)
        cycles +=
            shared_cycles(f->second, f->shared, f->bytes, p->shared_banks, p->shared_bank_bytes,
                          p->shared_parts, core->config.core->warp_size);
    cycles = MAX(cycles, 1);
    core->lsu->shared_until = core_cycle(core) + cycles - 1;
    core->stats.lsu.shared_accesses++;
    core->stats.lsu.shared_conflict_cycles += cycles - 1;
}

/* What the task sees of memory, and where its stores go. */
static COLD struct memory_view *view_of(struct core *core, struct task *task)
{
    struct memory_view *view = core->view;
    EACH_USE(use, &core->hooks, view)
    view = use->mechanism->view(use->state, core, task, view);
    return view;
}

/* Memory acts now. False: it has faulted. */
static bool start_current(struct core *core, struct task *task)
{
    struct lsu *lsu = core->lsu;
    struct flight *f = &task->flight;
    lsu->started = true;
    core->stats.lsu.instructions++;
    if (f->kind == FLIGHT_ACCESS &&
        !flight_access(f, core_hooked(core, SEAM_VIEW) ? view_of(core, task) : core->view)) {
        core->stopped = true;
        return false;
    }
    if (f->kind == FLIGHT_ACCESS && !--core->slots[task->slot].unacted)
        slot_counted(core, task->slot);
    task->outstanding = 1; /* the head itself, until all is sent */
    lsu->count = lsu->next = 0;
    lsu->shared_until = 0;
    if (f->kind != FLIGHT_ACCESS)
        return true;
    if (f->scalar) { /* loads of the warp share the constants' cache */
        f->constant |= f->global;
        f->global = 0;
    }
    if (f->constant)
        core->stats.lsu.constant_accesses++;
    if (f->shared)
        start_shared(core, task);
    make_list(core, task);
    return true;
}

/* Whether an atomic on the way holds back a transaction (L2). */
static bool meets_atomic(const struct lsu *lsu, const struct transaction *t, u32 bytes)
{
    for (u32 i = 0; i < lsu->atomic_count; i++) {
        const struct parcel *a = &lsu->parcels[lsu->atomics[i]];
        u64 at = a->line + (u64)SECTOR_BYTES * (u32)__builtin_ctz(a->sectors);
        if (at >= t->line && at < t->line + bytes &&
            t->sectors >> (at - t->line) / SECTOR_BYTES & 1)
            return true;
    }
    return false;
}

/* Where a transaction goes; false: there is no room. */
static bool send_transaction(struct core *core, struct task *task, const struct transaction *t,
                             u64 *banks)
{
    struct lsu *lsu = core->lsu;
    const struct l1d_params *l1 = core->config.l1d;
    const struct flight *f = &task->flight;
    const bool readonly = core->config.readonly->enabled && f->code->mods & MOD_READ_ONLY;
    /* volatile: what other cores store must be seen */
    const bool far = f->code->mods & (MOD_VOLATILE | MOD_FAR);
    const bool cached =
        !f->atomic && (readonly || (lsu->list_local ? l1->local : l1->global && !far));
    const u32 latency = readonly ? core->config.readonly->latency : l1->latency;
    const u32 b = readonly ? READONLY_PIPE : (u32)(t->line / SECTOR_BYTES) % l1->banks;
    if (lsu->atomic_count && !f->atomic && meets_atomic(lsu, t, lsu->list_bytes))
        return false;
    if (f->stores && lsu->stores >= core->config.lsu->store_queue)
        return false;
    if (cached ? *banks >> b & 1 || ring_count(&lsu->pipes[b]) >= latency : !queue_room(core))
        return false;
    struct parcel *parcel = parcel_take(lsu);
    if (!parcel)
        return false;
    *parcel = (struct parcel){
        .line = t->line,
        .lanes = t->lanes,
        .bytes = lsu->list_bytes,
        .sectors = t->sectors,
        .task = (u16)task_index(core, task),
        .slot = task->slot,
        .kind = f->atomic   ? PARCEL_ATOMIC
                : f->stores ? PARCEL_STORE
                            : PARCEL_LOAD,
        .full = t->full,
        .readonly = readonly,
        .atomic_returns = f->atomic && f->code->dst[0].kind != OPERAND_NONE,
        .inst = f->inst,
    };
    u32 index = (u32)(parcel - lsu->parcels);
    if (parcel->kind != PARCEL_STORE)
        task->outstanding++;
    if (parcel->kind != PARCEL_LOAD)
        store_sent(core, parcel);
    if (parcel->kind == PARCEL_ATOMIC)
        lsu->atomics[lsu->atomic_count++] = index;
    if (!cached) {
        queue_push(core, index);
        return true;
    }
    *banks |= bit(b);
    lsu->pipes_used |= bit(b);
    ring_push(&lsu->pipes[b], index, core_cycle(core) + latency);
    return true;
}

/* Constants: lines of the constant cache, one a cycle. False: not all yet. */
static bool send_constant(struct core *core, struct task *task)
{
    struct lsu *lsu = core->lsu;
    struct flight *f = &task->flight;
    const struct constant_params *p = core->config.constant;
    struct cache_out out;
    u64 line = f->address[first_bit(f->constant)] & ~(u64)(p->line_bytes - 1);
    u64 same = 0, rest = f->constant;
    if (LIKELY(rest == 0xffffffff) && evenly_apart(f->address, 0) &&
        evenly_apart(f->address + STRIDE_GROUP, 0) &&
        f->address[0] == f->address[STRIDE_GROUP]) { /* what most warps do */
        same = rest;
        rest = 0;
    }
    for (u64 set = rest; set; set &= set - 1) {
        u32 lane = first_bit(set);
        if ((f->address[lane] & ~(u64)(p->line_bytes - 1)) == line)
            same |= bit(lane);
    }
    u32 all = (u32)((1ull << p->line_bytes / SECTOR_BYTES) - 1);
    if (!p->perfect) {
        if (!requests_room(core, requests_needed(core, p->line_bytes))) {
            core->stats.constant.stalls_queue++;
            return false;
        }
        task->outstanding++;
        switch (cache_read(lsu->constant, line, all, task_index(core, task), &out)) {
        case CACHE_MISS:
            requests_read(core, CLIENT_CONSTANT, line, p->line_bytes, out.sectors, out.mshr,
                          f->inst);
            break;
        case CACHE_HIT:
            task->outstanding--;
            break;
        case CACHE_STALLS:
            task->outstanding--;
            return false;
        default:
            break;
        }
    }
    f->constant &= ~same;
    return !f->constant;
}

/* The head has sent all: the task waits for answers, or is done. */
static void leave_head(struct core *core, struct task *task)
{
    struct lsu *lsu = core->lsu;
    const struct flight *f = &task->flight;
    lsu->current = NO_TASK;
    lsu->started = false;
    task->sent = true;
    if (f->kind == FLIGHT_ACCESS && f->shared && f->loads) {
        /* the result leaves shared memory's pipe: one part more, on the wheel */
        if (task->outstanding == 1) {
            task->outstanding = 0;
            wheel_add(core, task, core->config.lsu->shared_latency + 1);
            return;
        }
    }
    part_done(core, task_index(core, task), false);
}

/* True: the task at the head has nothing left to send. */
static bool work(struct core *core, struct task *task)
{
    struct lsu *lsu = core->lsu;
    u64 banks = 0;
    for (u32 n = 0; n < core->config.lsu->transactions_per_cycle && lsu->next < lsu->count; n++) {
        if (!send_transaction(core, task, &lsu->list[lsu->next], &banks))
            break;
        lsu->next++;
    }
    if (task->flight.kind == FLIGHT_ACCESS && task->flight.constant)
        send_constant(core, task);
    return lsu->next == lsu->count && core_cycle(core) >= lsu->shared_until &&
           !(task->flight.kind == FLIGHT_ACCESS && task->flight.constant);
}

static void take_next(struct core *core)
{
    struct lsu *lsu = core->lsu;
    for (u32 n = 0; n < core->groups; n++) {
        u32 g = (lsu->turn + n) % core->groups;
        struct latch *latch = &core->collected[g][PIPE_MEMORY];
        if (!latch->count)
            continue;
        lsu->current = latch->tasks[0];
        if (!--latch->count)
            core->collected_pipes[g] &= (u8) ~(1u << PIPE_MEMORY);
        core->collected_count--;
        core->collectors_stuck = 0;
        for (u32 i = 0; i < latch->count; i++)
            latch->tasks[i] = latch->tasks[i + 1];
        lsu->turn = (g + 1) % core->groups;
        return;
    }
}

void lsu_tick(struct core *core)
{
    struct lsu *lsu = core->lsu;
    if (ring_count(&lsu->queue))
        send_queued(core);
    if (lsu->pipes_used)
        run_pipes(core);
    if (lsu->current != NO_TASK) {
        struct task *task = core_task(core, lsu->current);
        if (!lsu->started && !start_current(core, task))
            return;
        if (work(core, task))
            leave_head(core, task);
        else
            core->stats.lsu.stall_cycles++;
    }
    if (lsu->current == NO_TASK && core->collected_count)
        take_next(core);
}

bool lsu_idle(const struct core *core)
{
    const struct lsu *lsu = core->lsu;
    return lsu->current == NO_TASK && lsu->queue.head == lsu->queue.tail;
}

u64 lsu_next(const struct core *core)
{
    const struct lsu *lsu = core->lsu;
    u64 next = UINT64_MAX;
    for (u64 set = lsu->pipes_used; set; set &= set - 1) {
        const struct ring *pipe = &lsu->pipes[first_bit(set)];
        next = MIN(next, pipe->ready[pipe->head & (pipe->capacity - 1)]);
    }
    if (lsu->done_head != lsu->done_tail)
        next = MIN(next, lsu->done[lsu->done_head % ARRAY_LEN(lsu->done)].ready);
    return next;
}

bool lsu_request_of(const struct core *core, u32 s, struct packet *request)
{
    const struct lsu *lsu = core->lsu;
    for (u32 i = 0; i < lsu->fresh; i++) {
        const struct parcel *parcel = &lsu->parcels[i];
        if (!parcel->bytes || parcel->slot != s)
            continue;
        *request = (struct packet){.address = parcel->line,
                                   .tag = i,
                                   .inst = parcel->inst,
                                   .core = (u16)core->config.index,
                                   .client = CLIENT_DIRECT};
        return true;
    }
    return false;
}
