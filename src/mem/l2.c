/* A slice of the L2 (mem/l2.h). */
#include "mem/l2.h"
#include "base/hot.h"
#include "ir/program.h"
#include "mem/system_parts.h"
#include <stdio.h>

enum {
    /* Packets of a slice that can wait for DRAM. The modelled limit is mshrs x merges; this one
     * only prevents extreme settings from exhausting memory, and stalls as merges would. */
    POOL_LIMIT = 16384
};

struct l2_slice *l2_create(struct l2_shared *shared, struct arena *arena, u32 number, u64 delay,
                           u32 beyond)
{
    const struct l2_params *params = shared->params;
    struct l2_slice *slice = arena_new(arena, struct l2_slice);
    struct cache_config config = CACHE_CONFIG(params, WRITE_BACK);
    u32 line_sectors = params->line_bytes / SECTOR_BYTES;
    slice->shared = shared;
    slice->number = number;
    slice->cache = cache_create(&config, (struct cache_counters *)shared->stats);
    slice->pool_count = (u32)MIN((u64)params->mshrs * params->merges, (u64)POOL_LIMIT);
    slice->pool = arena_array(arena, struct packet, slice->pool_count);
    slice->free = arena_array(arena, u32, slice->pool_count);
    slice->parts = arena_array(arena, u8, MAX(slice->pool_count, params->mshrs));
    slice->payloads = arena_array(arena, struct payload, MAX(slice->pool_count, params->mshrs));
    /* One packet arrives per network cycle while fewer than queue_in are there; packets in the
     * delay at that time may still join them. */
    ring_create(&slice->in, arena, delay + params->queue_in + 1);
    ring_create(&slice->out, arena, params->queue_out);
    /* An access may exceed the limit by all sectors of its line and a victim, and each fill by a
     * victim or, without a cache, by an atomic's write: fills must not wait. */
    ring_create(&slice->misses, arena,
                params->miss_queue + line_sectors + 1 +
                    (params->enabled ? params->mshrs : slice->pool_count));
    ring_create(&slice->to_dram, arena, params->queue_dram);
    ring_create(&slice->stores, arena, slice->misses.places + params->queue_dram + beyond);
    ring_create(&slice->from_dram, arena, params->queue_dram);
    ring_create(&slice->filled, arena, params->mshrs);
    l2_reset(slice);
    return slice;
}

void l2_destroy(struct l2_slice *slice)
{
    cache_destroy(slice->cache);
}

void l2_reset(struct l2_slice *slice)
{
    slice->answer = L2_NOBODY;
    slice->stall = NULL;
    slice->port_free = slice->fill_free = slice->atomic_free = 0;
    slice->free_count = slice->free_least = slice->pool_count;
}

/* ---- In ---- */

bool l2_room(const struct l2_slice *slice, fs now)
{
    u32 count = ring_count(&slice->in), limit = slice->shared->params->queue_in;
    return count < limit ||
           (count < slice->in.places && ring_at(&slice->in, limit - 1)->ready >= now);
}

void l2_take(struct l2_slice *slice, const struct packet *packet, u64 in_slice, fs ready)
{
    u32 offset = (u32)(in_slice & (slice->shared->params->line_bytes - 1));
    u32 sectors = slice->shared->params->line_bytes / SECTOR_BYTES;
    struct l2_arrival *arrival = ring_push(&slice->in);
    arrival->packet = *packet;
    arrival->line = in_slice - offset;
    arrival->sectors = packet->sectors << (offset / SECTOR_BYTES);
    arrival->count = count_sectors(packet->sectors);
    arrival->ready = ready;
    assert(packet->sectors && (u64)packet->sectors << (offset / SECTOR_BYTES) < (u64)1 << sectors);
}

/* ---- Replies ---- */

static u32 cycles_for(const struct l2_slice *slice, u32 sectors)
{
    u32 width = slice->shared->params->port_bytes;
    return (sectors * SECTOR_BYTES + width - 1) / width;
}

static bool out_full(const struct l2_slice *slice)
{
    return ring_count(&slice->out) >= slice->shared->params->queue_out;
}

/* M1: the packet goes back as its own reply. `payload`: that of its fetch, or NULL. */
static void reply(struct l2_slice *slice, const struct packet *packet,
                  const struct payload *payload)
{
    const struct l2_shared *shared = slice->shared;
    struct packet *answer = ring_push(&slice->out);
    *answer = *packet;
    bool data = packet->kind == PACKET_READ || (packet->kind == PACKET_ATOMIC && packet->returns);
    answer->kind = data ? PACKET_DATA : PACKET_ACK;
    answer->bytes = data ? (u16)(count_sectors(packet->sectors) * SECTOR_BYTES) : 0;
    if (UNLIKELY(payload != NULL) && payload->bits)
        packet_set_payload(answer, payload);
    if (UNLIKELY(shared->hooks.reply != NULL))
        shared->hooks.reply(shared->hooks.user, slice->unit, answer, shared->clock->next,
                            shared->clock->cycle);
}

/*
 * An atomic takes its place in the order of service, and the atomic unit for its cycles. The slice
 * holds no values: operands and results are in the instruction's record on its core, so the slice
 * only records the packet. Between windows, in the order of service, gpu/time/run.c passes each to
 * the core that sent it (core_atomic), where dyninst_atomic changes memory. The reply takes at
 * least a window, so the result is there when it arrives.
 */
static void serve_atomic(struct l2_slice *slice, const struct packet *packet, u64 cycle)
{
    struct l2_shared *shared = slice->shared;
    *vec_push(&shared->atomics) = *packet;
    shared->stats->atomics++;
    slice->atomic_free = cycle + shared->params->atomic_cycles * count_sectors(packet->sectors);
}

/* ---- To DRAM ---- */

static struct l2_request *request(struct l2_slice *slice, u64 address, u32 sectors, u32 fetch,
                                  bool write)
{
    struct l2_request *entry = ring_push(&slice->misses);
    entry->address = address_in_channel(&slice->shared->map, slice->number, address);
    entry->bytes = sectors * SECTOR_BYTES;
    entry->tag = slice->number << TAG_SLICE_SHIFT | sectors << TAG_SECTORS_SHIFT | fetch;
    entry->write = write;
    return entry;
}

/* Requests sectors of a line, in as many requests as request_sectors requires: to read, or to write
 * for a packet. */
static u32 fetch(struct l2_slice *slice, u64 line, u32 sectors, u32 number,
                 const struct packet *write)
{
    struct content *const content = slice->shared->content;
    u32 limit = slice->shared->params->request_sectors, parts = 0;
    while (sectors) {
        u32 first = (u32)__builtin_ctz(sectors), rest = ~(sectors >> first);
        u32 run = MIN(rest ? (u32)__builtin_ctz(rest) : 32u, limit);
        const u32 these = (u32)((((u64)1 << run) - 1) << first);
        struct l2_request *entry =
            request(slice, line + (u64)first * SECTOR_BYTES, run, number, write);
        if (UNLIKELY(content != NULL))
            entry->data = content_request(content, slice, line, these, write);
        sectors &= ~these;
        parts++;
    }
    return parts;
}

/* Sends a packet's data to DRAM; nothing waits for them. */
static void store(struct l2_slice *slice, u64 line, u32 sectors, const struct packet *packet)
{
    const u32 requests = fetch(slice, line, sectors, TAG_STORE, packet);
    for (u32 i = 0; slice->shared->dram_hooked && i < requests; i++)
        *ring_push(&slice->stores) = packet->from;
}

/* Writes an evicted dirty line: one request for its dirty sectors, starting at the first. */
static __attribute__((noinline)) void write_victim(struct l2_slice *slice,
                                                   const struct cache_out *out)
{
    struct content *const content = slice->shared->content;
    struct l2_request *entry =
        request(slice, out->victim + (u64)__builtin_ctz(out->victim_sectors) * SECTOR_BYTES,
                count_sectors(out->victim_sectors), TAG_NO_FETCH, true);
    if (UNLIKELY(content != NULL))
        entry->data = content_victim(content, slice, out->victim, out->victim_sectors);
}

static inline void write_back(struct l2_slice *slice, const struct cache_out *out)
{
    if (out->victim_sectors)
        write_victim(slice, out);
}

PART_OF void send(struct l2_slice *slice)
{
    const struct l2_shared *shared = slice->shared;
    if (!ring_count(&slice->misses) || ring_count(&slice->to_dram) >= shared->params->queue_dram)
        return;
    struct l2_request *entry = ring_head(&slice->misses);
    if (entry->write)
        shared->stats->dram_writes++;
    else
        shared->stats->dram_reads++;
    *ring_push(&slice->to_dram) = *entry;
    ring_pop(&slice->misses);
}

/* Whether `count` more requests fit; one access always fits in an empty queue. */
static bool miss_room(const struct l2_slice *slice, u32 count)
{
    u32 used = ring_count(&slice->misses);
    return !used || used + count <= slice->shared->params->miss_queue;
}

/* ---- For mechanisms ---- */

enum cache_drop l2_drop(struct l2_slice *slice, u64 line)
{
    struct cache_out out;
    enum cache_drop result = cache_drop(slice->cache, line, miss_room(slice, 1), &out);
    if (result == CACHE_DROPPED)
        write_back(slice, &out);
    return result;
}

void l2_reserve(struct l2_slice *slice, u32 ways)
{
    cache_reserve(slice->cache, ways);
    slice->sweeps = true;
    slice->swept = 0;
}

bool l2_sweep(struct l2_slice *slice)
{
    struct cache_out out;
    switch (cache_sweep(slice->cache, &slice->swept, miss_room(slice, 1), &out)) {
    case CACHE_DROPPED:
        write_back(slice, &out);
        break;
    case CACHE_ABSENT:
        slice->sweeps = false;
        break;
    default: /* no room, or in flight: later */
        break;
    }
    return slice->sweeps;
}

/* ---- From DRAM ---- */

void l2_dram_payload(struct l2_slice *slice, u32 tag, const struct payload *payload)
{
    if (payload->bits)
        slice->payloads[tag & TAG_NO_FETCH] = *payload;
}

static void forget_payload(struct l2_slice *slice, u32 fetch)
{
    if (UNLIKELY(slice->shared->dram_hooked))
        slice->payloads[fetch].bits = 0;
}

/* The payload that a fetch has brought from DRAM. */
static const struct payload *payload_of(const struct l2_slice *slice, u32 fetch)
{
    return LIKELY(!slice->shared->dram_hooked) ? NULL : &slice->payloads[fetch];
}

static void next_answer(struct l2_slice *slice)
{
    while (ring_count(&slice->filled)) {
        if (cache_waiter(slice->cache, *ring_head(&slice->filled), &slice->answer))
            return;
        ring_pop(&slice->filled);
    }
    slice->answer = L2_NOBODY;
}

/* The atomic's sector has arrived: changes it now. False: the line was evicted and cannot be
 * allocated again, or there is no room for a victim; try again later. */
static bool change(struct l2_slice *slice, const struct packet *packet, u64 line, u32 sectors,
                   u64 cycle)
{
    struct cache_out out = {0};
    if (slice->atomic_free > cycle || !miss_room(slice, 1))
        return false;
    enum cache_result result = cache_write(slice->cache, line, sectors, false, &out);
    if (cache_refuses(result))
        return false;
    if (result == CACHE_MISS) /* a mechanism forbids allocation */
        store(slice, line, sectors, packet);
    write_back(slice, &out);
    serve_atomic(slice, packet, cycle);
    return true;
}

/* Answers one request whose line has arrived. */
PART_OF void answer(struct l2_slice *slice, u64 cycle)
{
    if (slice->answer == L2_NOBODY || out_full(slice))
        return;
    const struct packet *packet = &slice->pool[slice->answer];
    if (packet->kind == PACKET_ATOMIC) {
        u64 in_slice = address_place(&slice->shared->map, packet->address).in_slice;
        u32 offset = (u32)(in_slice & (slice->shared->params->line_bytes - 1));
        if (!change(slice, packet, in_slice - offset, packet->sectors << (offset / SECTOR_BYTES),
                    cycle))
            return;
    }
    reply(slice, packet, payload_of(slice, *ring_head(&slice->filled)));
    slice->free[slice->free_count++] = slice->answer;
    next_answer(slice);
}

/* Without a cache: answers the waiting packet with what DRAM delivered. */
static bool fill_direct(struct l2_slice *slice, u32 entry, u64 cycle)
{
    const struct packet *packet = &slice->pool[entry];
    bool last = slice->parts[entry] == 1;
    if (last && (out_full(slice) || (packet->kind == PACKET_ATOMIC && slice->atomic_free > cycle)))
        return false;
    slice->parts[entry]--;
    if (!last)
        return true;
    if (packet->kind == PACKET_ATOMIC) {
        serve_atomic(slice, packet, cycle);
        u64 in_slice = address_place(&slice->shared->map, packet->address).in_slice;
        store(slice, in_slice, packet->sectors, packet);
    }
    reply(slice, packet, payload_of(slice, entry));
    slice->free[slice->free_count++] = entry;
    return true;
}

PART_OF void fill(struct l2_slice *slice, u64 cycle)
{
    if (!ring_count(&slice->from_dram) || slice->fill_free > cycle)
        return;
    const struct l2_params *params = slice->shared->params;
    u32 tag = *ring_head(&slice->from_dram), entry = tag & TAG_NO_FETCH;
    u32 bytes = (tag >> TAG_SECTORS_SHIFT & 63) * SECTOR_BYTES;
    struct cache_out out = {0};
    /* bits were flipped: nothing waits for it */
    const bool stray = UNLIKELY(!l2_tag_waits(tag) || !slice->parts[entry]);
    if (!params->enabled && !stray && !fill_direct(slice, entry, cycle))
        return;
    ring_pop(&slice->from_dram);
    if (!params->enabled || stray)
        return;
    /* the fill port is as wide as the data port and separate from it, as in GPGPU-Sim */
    slice->fill_free = cycle + (bytes + params->port_bytes - 1) / params->port_bytes;
    if (--slice->parts[entry])
        return;
    cache_fill(slice->cache, entry, &out);
    write_back(slice, &out);
    if (UNLIKELY(slice->shared->content != NULL))
        content_fill(slice->shared->content, slice, entry, out.sectors);
    *ring_push(&slice->filled) = entry;
    if (slice->answer == L2_NOBODY)
        next_answer(slice);
}

/* ---- The tags ---- */

enum access_result {
    ACCESS_DONE,
    ACCESS_BUSY,   /* a later cycle of the slice itself suffices */
    ACCESS_BLOCKED /* S4: no need to try again before something arrives */
};

/* The free pool entry at a position of the stack. Launches use few entries: those never taken are
 * in ascending order from the top and are not stored. */
static u32 free_entry(const struct l2_slice *slice, u32 position)
{
    return position < slice->free_least ? slice->pool_count - 1 - position : slice->free[position];
}

/* The pool entry for the next waiting packet. */
static u32 next_entry(const struct l2_slice *slice)
{
    return free_entry(slice, slice->free_count - 1);
}

/* The packet waits in the pool, under the number that was passed to cache_read. */
static void wait(struct l2_slice *slice, const struct packet *packet)
{
    slice->pool[next_entry(slice)] = *packet;
    slice->free_count--;
    slice->free_least = MIN(slice->free_least, slice->free_count);
}

/* Notes what the first packet waits for: something from outside the slice, or its own replies and
 * requests. */
static enum access_result stalls(struct l2_slice *slice, u64 *counter, u64 cycle)
{
    ++*counter;
    slice->stall = counter;
    slice->stalled = cycle + 1;
    return ACCESS_BLOCKED;
}

/* The cache has refused the first packet, and counted this cycle. */
static enum access_result refused(struct l2_slice *slice, enum cache_result why, u64 cycle)
{
    slice->stall = cache_stalls((struct cache_counters *)slice->shared->stats, why);
    slice->stalled = cycle + 1;
    return ACCESS_BLOCKED;
}

/* Reads, and the read part of atomics. */
PART_OF enum access_result access_read(struct l2_slice *slice, const struct l2_arrival *arrival,
                                       u64 cycle)
{
    struct l2_stats *stats = slice->shared->stats;
    const struct packet *packet = &arrival->packet;
    bool atomic = packet->kind == PACKET_ATOMIC;
    struct cache_out out = {0};
    if (atomic && slice->atomic_free > cycle)
        return ACCESS_BUSY;
    /* a miss needs two entries, for itself and a victim; only the tags show whether it is one */
    if (!miss_room(slice, 2) &&
        (atomic || !cache_has(slice->cache, arrival->line, arrival->sectors)))
        return stalls(slice, &stats->stalls_queue, cycle);
    if (!slice->free_count)
        return stalls(slice, &stats->stalls_mshr, cycle);
    const u32 waiter = next_entry(slice);
    const enum cache_result result =
        cache_read(slice->cache, arrival->line, arrival->sectors, waiter, &out);
    switch (result) {
    case CACHE_HIT:
        /* cannot fail: the line is present, so that the write cannot miss */
        if (atomic && !change(slice, packet, arrival->line, arrival->sectors, cycle))
            assert(!"atomic hit");
        stats->port_cycles += cycles_for(slice, arrival->count);
        reply(slice, packet, NULL);
        break;
    case CACHE_MISS:
        forget_payload(slice, out.mshr);
        slice->parts[out.mshr] = (u8)fetch(slice, arrival->line, out.sectors, out.mshr, NULL);
        write_back(slice, &out);
        wait(slice, packet);
        break;
    case CACHE_MERGED:
        wait(slice, packet);
        break;
    default:
        return refused(slice, result, cycle);
    }
    slice->port_free = cycle + cycles_for(slice, arrival->count);
    return ACCESS_DONE;
}

PART_OF enum access_result access_write(struct l2_slice *slice, const struct l2_arrival *arrival,
                                        u64 cycle)
{
    struct l2_stats *stats = slice->shared->stats;
    struct cache_out out = {0};
    if (!miss_room(slice, 1))
        return stalls(slice, &stats->stalls_queue, cycle);
    const enum cache_result result =
        cache_write(slice->cache, arrival->line, arrival->sectors, arrival->packet.full, &out);
    if (cache_refuses(result))
        return refused(slice, result, cycle);
    if (result == CACHE_MISS) /* a mechanism forbids allocation */
        store(slice, arrival->line, arrival->sectors, &arrival->packet);
    write_back(slice, &out);
    reply(slice, &arrival->packet, NULL);
    /* a victim's data leave through the port, too, instead of the first sector's cycle */
    u32 cycles = cycles_for(slice, arrival->count);
    if (out.victim_sectors)
        cycles += cycles_for(slice, count_sectors(out.victim_sectors)) - 1;
    stats->port_cycles += cycles;
    slice->port_free = cycle + cycles;
    return ACCESS_DONE;
}

static enum access_result access_direct(struct l2_slice *slice, const struct l2_arrival *arrival,
                                        u64 cycle)
{
    struct l2_stats *stats = slice->shared->stats;
    if (!miss_room(slice, 1))
        return stalls(slice, &stats->stalls_queue, cycle);
    if (!slice->free_count)
        return stalls(slice, &stats->stalls_mshr, cycle);
    u32 entry = next_entry(slice);
    forget_payload(slice, entry);
    slice->parts[entry] = (u8)fetch(slice, arrival->line, arrival->sectors, entry,
                                    arrival->packet.kind == PACKET_WRITE ? &arrival->packet : NULL);
    wait(slice, &arrival->packet);
    return ACCESS_DONE;
}

PART_OF enum access_result access(struct l2_slice *slice, u64 cycle)
{
    const struct l2_shared *shared = slice->shared;
    struct l2_arrival *arrival = ring_head(&slice->in);
    if (slice->port_free > cycle)
        return ACCESS_BUSY;
    if (ring_count(&slice->to_dram) >= shared->params->queue_dram)
        return stalls(slice, &shared->stats->stalls_queue, cycle);
    if (out_full(slice) && (shared->params->enabled || arrival->packet.kind == PACKET_NOTE))
        return ACCESS_BLOCKED;
    if (UNLIKELY(shared->hooks.request != NULL))
        shared->hooks.request(shared->hooks.user, slice->unit, &arrival->packet,
                              shared->clock->next, cycle);
    if (UNLIKELY(arrival->packet.kind == PACKET_NOTE)) {
        reply(slice, &arrival->packet, NULL);
        return ACCESS_DONE;
    }
    if (!shared->params->enabled)
        return access_direct(slice, arrival, cycle);
    return arrival->packet.kind == PACKET_WRITE ? access_write(slice, arrival, cycle)
                                                : access_read(slice, arrival, cycle);
}

HOT u64 l2_tick(struct l2_slice *slice, u64 cycle, fs now)
{
    struct l2_shared *shared = slice->shared;
    enum access_result result = ACCESS_BUSY;
    l2_settle(slice, cycle);
    slice->stall = NULL;
    /* from back to front, so that nothing passes two stages in a cycle */
    answer(slice, cycle);
    fill(slice, cycle);
    send(slice);
    if (ring_count(&slice->in) && ring_head(&slice->in)->ready < now) {
        const struct packet *first = &ring_head(&slice->in)->packet;
        if (UNLIKELY(first->stray) && stray_is_lost(shared->system, first)) {
            stray_drop(shared->system, first);
            ring_pop(&slice->in);
        } else {
            result = access(slice, cycle);
        }
        if (result == ACCESS_DONE) {
            if (UNLIKELY(shared->content != NULL))
                content_access(shared->content, slice, &ring_head(&slice->in)->packet);
            shared->stats->queue_cycles +=
                (now - ring_head(&slice->in)->ready - 1) / shared->period;
            ring_pop(&slice->in);
        }
    }
    if ((slice->answer != L2_NOBODY && !out_full(slice)) || ring_count(&slice->from_dram) ||
        (ring_count(&slice->misses) && ring_count(&slice->to_dram) < shared->params->queue_dram))
        return cycle + 1;
    if (result != ACCESS_BLOCKED && ring_count(&slice->in) &&
        ring_head(&slice->in)->ready < now + shared->period)
        return MAX(cycle + 1, slice->port_free);
    return UINT64_MAX;
}

/* ---- Explanations ---- */

/* The pool entry in which a request waits, or L2_NOBODY. */
static u32 find_waiter(const struct l2_slice *slice, const struct packet *request)
{
    for (u32 i = 0; i < slice->pool_count; i++) {
        bool free = false;
        for (u32 f = 0; f < slice->free_count && !free; f++)
            free = free_entry(slice, f) == i;
        if (!free && packet_same(&slice->pool[i], request))
            return i;
    }
    return L2_NOBODY;
}

bool l2_find(const struct l2_slice *slice, const struct packet *request, char *text, size_t size)
{
    for (u32 i = 0; i < ring_count(&slice->in); i++)
        if (packet_same(&ring_at(&slice->in, i)->packet, request))
            return snprintf(text, size, "waits for the tags, behind %u others", i) > 0;
    for (u32 i = 0; i < ring_count(&slice->out); i++)
        if (packet_same(ring_at(&slice->out, i), request))
            return snprintf(text, size, "its reply waits for the network") > 0;
    return find_waiter(slice, request) != L2_NOBODY && snprintf(text, size, "waits for DRAM") > 0;
}

bool l2_fetches(const struct l2_slice *slice, const struct packet *request, u32 tag)
{
    u32 entry = tag & TAG_NO_FETCH, waiter = find_waiter(slice, request);
    if (waiter == L2_NOBODY || !l2_tag_waits(tag) || tag >> TAG_SLICE_SHIFT != slice->number)
        return false;
    if (!slice->shared->params->enabled)
        return entry == waiter;
    u64 line = address_place(&slice->shared->map, request->address).in_slice &
               ~(u64)(slice->shared->params->line_bytes - 1);
    return cache_mshr_line(slice->cache, entry) == line;
}

/* ---- Requesters ---- */

bool l2_waiter_at(const struct l2_slice *slice, u32 tag, u32 index, struct requester *waiter)
{
    u32 entry = tag & TAG_NO_FETCH;
    if (!l2_tag_waits(tag))
        return false;
    if (slice->shared->params->enabled ? !cache_waiter_at(slice->cache, entry, index, &entry)
                                       : index > 0)
        return false;
    *waiter = slice->pool[entry].from;
    return true;
}

struct requester l2_requester(struct l2_slice *slice, u32 tag)
{
    struct requester from = {NO_INST, NO_REQUESTER, UINT16_MAX, UINT8_MAX, REQUESTER_EVICTION};
    if ((tag & TAG_NO_FETCH) == TAG_STORE) {
        from = *ring_head(&slice->stores);
        ring_pop(&slice->stores);
    } else if (l2_tag_waits(tag) && !l2_waiter_at(slice, tag, 0, &from)) {
        assert(slice->shared->system->strays.struck); /* a fetch without waiters */
    }
    return from;
}
