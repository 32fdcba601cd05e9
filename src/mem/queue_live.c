/*
 * Visitors of a slice's queues, of its MSHRs and of what waits in them: see packet_live.h for packets.
 *
 * What a flip means
 *  - A request to DRAM: its line or its sectors are others; as a write it writes the bytes of its place in
 *    the queue, as a read that nothing waits for; with another MSHR's number it fills that one's line, and
 *    its own waits for ever.
 *  - A reply from DRAM: as the latter, and the bytes that it brings.
 *  - An MSHR: its line is filled with what was requested for another; without its valid bit, or without
 *    sectors, nothing that waits for it is answered (mem/cache_live.h).
 *  - A waiting request: it is forgotten, or another requester gets its reply.
 */
#include "mem/cache_live.h"
#include "mem/content_parts.h"
#include "mem/packet_live.h"

static struct memory_system *system_of(const struct l2_slice *slice)
{
    return slice ? slice->shared->system : NULL;
}

static void wake(const struct state_walk *walk, const struct l2_slice *slice)
{
    if (slice && walk->mode == WALK_FLIP)
        live_wake_slice(system_of(slice), slice->unit);
}

/* ---- packets ---- */

void live_visit_in(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct l2_slice *slice = owner;
    const bool used = slice && entry < ring_count(&slice->in);
    struct l2_arrival *arrival = used ? ring_at(&slice->in, (u32)entry) : NULL;
    if (!walk_entry(walk, used))
        return;
    live_walk_packet(walk, system_of(slice), used ? &arrival->packet : NULL);
    if (!used || walk->mode != WALK_FLIP)
        return;
    const u64 address = address_place(&slice->shared->map, arrival->packet.address).in_slice;
    const u32 offset = (u32)(address & (slice->shared->params->line_bytes - 1));
    arrival->line = address - offset;
    arrival->sectors = arrival->packet.sectors << (offset / SECTOR_BYTES);
    arrival->count = count_sectors(arrival->packet.sectors);
    wake(walk, slice);
}

void live_visit_out(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct l2_slice *slice = owner;
    const bool used = slice && entry < ring_count(&slice->out);
    if (!walk_entry(walk, used))
        return;
    live_walk_packet(walk, system_of(slice), used ? ring_at(&slice->out, (u32)entry) : NULL);
    wake(walk, slice);
}

u64 live_hash_in(const struct state_row *row, void *owner, u64 hash)
{
    const struct l2_slice *slice = owner;
    const struct memory_system *m = system_of(slice);
    for (u32 i = 0; i < ring_count(&slice->in); i++)
        hash =
            live_hash_packet(m, &ring_at(&slice->in, i)->packet,
                             hash_word(hash, MAX(ring_at(&slice->in, i)->ready, m->ran) - m->ran));
    return hash;
}

u64 live_hash_out(const struct state_row *row, void *owner, u64 hash)
{
    const struct l2_slice *slice = owner;
    for (u32 i = 0; i < ring_count(&slice->out); i++)
        hash = live_hash_packet(system_of(slice), ring_at(&slice->out, i), hash);
    return hash;
}

/* ---- requests to DRAM ---- */

static struct content_move *move_of(const struct l2_slice *slice, const struct l2_request *request)
{
    struct content *content = slice->shared->content;
    return content ? &content->slices[slice->unit].moves[request->data] : NULL;
}

/* Its sectors of its line; without content, as many as it has from its address on. */
static u32 sectors_of(const struct l2_slice *slice, const struct l2_request *request)
{
    const struct content_move *move = move_of(slice, request);
    const u32 line = slice->shared->params->line_bytes;
    if (move)
        return move->sectors;
    const u32 first = (u32)(request->address & (line - 1)) / SECTOR_BYTES;
    return (u32)(((1ull << request->bytes / SECTOR_BYTES) - 1) << first);
}

/* Nothing waits for the request, and it writes nothing. */
static void make_idle(struct l2_request *request)
{
    request->write = false;
    request->tag = (request->tag & ~(u32)TAG_NO_FETCH) | TAG_STORE;
}

static void set_line(struct l2_slice *slice, struct l2_request *request, u64 line, u32 line_bytes)
{
    struct content_move *move = move_of(slice, request);
    const u64 address = line * line_bytes;
    request->address = address | (request->address & (line_bytes - 1));
    if (move)
        move->line = address_from_channel(&slice->shared->map, slice->channel, address);
}

static void set_sectors(struct l2_slice *slice, struct l2_request *request, u32 sectors)
{
    struct content_move *move = move_of(slice, request);
    const u32 count = count_sectors(sectors);
    if (!sectors) {
        make_idle(request);
        return;
    }
    if (move)
        move->sectors = sectors;
    request->bytes = count * SECTOR_BYTES;
    request->tag = (request->tag & ~(63u << TAG_SECTORS_SHIFT)) | (count & 63) << TAG_SECTORS_SHIFT;
}

/* Line and sectors, which the miss queue has, too. */
static void walk_place(struct state_walk *walk, struct l2_slice *slice, struct l2_request *request,
                       u32 line_bits, u32 sectors_bits)
{
    const u32 line_bytes = slice ? slice->shared->params->line_bytes : 1;
    u64 line = request ? request->address / line_bytes : 0;
    u64 sectors = request ? sectors_of(slice, request) : 0;
    if (walk_field(walk, &line, line_bits) && request)
        set_line(slice, request, line, line_bytes);
    if (walk_field(walk, &sectors, sectors_bits) && request)
        set_sectors(slice, request, (u32)sectors);
}

void live_visit_misses(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct l2_slice *slice = owner;
    const bool used = slice && entry < ring_count(&slice->misses);
    const u32 line = live_shape_of(system_of(slice), walk->machine).sectors;
    if (!walk_entry(walk, used))
        return;
    walk_place(walk, slice, used ? ring_at(&slice->misses, (u32)entry) : NULL, row->bits - line,
               line);
    wake(walk, slice);
}

/* The number of an MSHR or, without an L2, of a waiting packet, in a tag. */
static u32 change_fetch(const struct l2_slice *slice, u32 tag, u32 number)
{
    const u32 limit =
        slice->shared->params->enabled ? slice->shared->params->mshrs : slice->pool_count;
    return (tag & ~(u32)TAG_NO_FETCH) | (number < limit ? number : TAG_STORE);
}

/* Words of a line that a write brings to DRAM; NULL: none. */
static u32 *written_word(const struct l2_slice *slice, const struct l2_request *request, u32 word)
{
    struct content_move *move = move_of(slice, request);
    if (!move || !request->write || !(mask_sector(move->mask, word / 8) >> word % 8 * 4 & 15))
        return NULL;
    return (u32 *)(void *)move->bytes + word;
}

/* Words that a reply brings for the n-th sector that its MSHR waits for; NULL: none. */
static u32 *brought_word(const struct l2_slice *slice, u32 position, u32 tag, u32 word)
{
    const struct content *content = slice->shared->content;
    const u32 mshr = tag & TAG_NO_FETCH, count = tag >> TAG_SECTORS_SHIFT & 63;
    u32 before = 0, sectors;
    if (!content || !slice->shared->params->enabled || mshr >= slice->shared->params->mshrs)
        return NULL;
    for (u32 i = 0; i < position; i++)
        before += (*ring_at(&slice->from_dram, i) & TAG_NO_FETCH) == mshr;
    sectors = cache_mshr_sectors(slice->cache, mshr);
    for (u32 i = 0; i < before * count && sectors; i++)
        sectors &= sectors - 1;
    for (u32 i = 0; i < count && sectors; i++, sectors &= sectors - 1)
        if ((u32)__builtin_ctz(sectors) == word / 8)
            return (u32 *)(void *)(content->slices[slice->unit].brought +
                                   (size_t)mshr * content->line_bytes) +
                   word;
    return NULL;
}

static void walk_number(struct state_walk *walk, struct l2_slice *slice, u32 *tag)
{
    u64 number = tag ? *tag & TAG_NO_FETCH & ((1u << LIVE_TAG_BITS) - 1) : 0;
    const u32 waits = tag && l2_tag_waits(*tag);
    if (!walk_field(walk, &number, LIVE_TAG_BITS) || !tag)
        return;
    walk->dead = !waits;
    if (waits)
        *tag = change_fetch(slice, *tag, (u32)number);
}

static void walk_direction(struct state_walk *walk, struct l2_slice *slice,
                           struct l2_request *request)
{
    u64 write = request && request->write;
    struct content_move *move = request ? move_of(slice, request) : NULL;
    if (!walk_field(walk, &write, 1) || !request)
        return;
    if (!write) {
        make_idle(request);
        return;
    }
    if (slice->shared->params->enabled)
        request->tag = (request->tag & ~(u32)TAG_NO_FETCH) | TAG_NO_FETCH;
    request->write = true;
    for (u32 i = 0; move && i < slice->shared->params->line_bytes / SECTOR_BYTES; i++)
        if (move->sectors >> i & 1)
            mask_add(move->mask, i, UINT32_MAX);
}

/* First the requests to DRAM, then its replies. */
void live_visit_to_dram(struct state_walk *walk, const struct state_row *row, void *owner,
                        u64 entry)
{
    struct l2_slice *slice = owner;
    const struct live_shape shape = live_shape_of(system_of(slice), walk->machine);
    const u32 half = (u32)(row->entries / 2), at = (u32)(entry % half);
    const bool sent = entry < half;
    struct l2_request *request =
        slice && sent && at < ring_count(&slice->to_dram) ? ring_at(&slice->to_dram, at) : NULL;
    u32 *reply = slice && !sent && at < ring_count(&slice->from_dram)
                     ? ring_at(&slice->from_dram, at)
                     : NULL;
    if (!walk_entry(walk, request || reply))
        return;
    const u32 before = walk->bits;
    walk_direction(walk, slice, request);
    walk_place(walk, slice, request, LIVE_HEADER_BITS - 1 - LIVE_TAG_BITS - shape.sectors,
               shape.sectors);
    if (walk->mode == WALK_FLIP && reply && walk->bit - before < walk->bits - before)
        walk->dead = true; /* a reply is known by its number */
    walk_number(walk, slice, request ? &request->tag : reply);
    for (u32 word = 0; word < shape.line_bytes / 4; word++) {
        u32 *data = request ? written_word(slice, request, word)
                    : reply ? brought_word(slice, at, *reply, word)
                            : NULL;
        const u32 from = walk->bits;
        walk_words(walk, data, 1);
        if (walk->mode == WALK_FLIP && !data && walk->bit - from < 32)
            walk->dead = true;
    }
    wake(walk, slice);
}

static u64 hash_request(const struct l2_slice *slice, const struct l2_request *request, u64 hash)
{
    hash = hash_word(hash_word(hash, request->address), (u64)request->tag << 32 | request->bytes);
    hash = hash_word(hash, (u64)sectors_of(slice, request) << 1 | request->write);
    for (u32 word = 0; word < slice->shared->params->line_bytes / 4; word++) {
        const u32 *data = written_word(slice, request, word);
        if (data)
            hash = hash_word(hash, (u64)word << 32 | *data);
    }
    return hash;
}

u64 live_hash_misses(const struct state_row *row, void *owner, u64 hash)
{
    const struct l2_slice *slice = owner;
    for (u32 i = 0; i < ring_count(&slice->misses); i++)
        hash = hash_request(slice, ring_at(&slice->misses, i), hash);
    return hash;
}

u64 live_hash_to_dram(const struct state_row *row, void *owner, u64 hash)
{
    const struct l2_slice *slice = owner;
    for (u32 i = 0; i < ring_count(&slice->to_dram); i++)
        hash = hash_request(slice, ring_at(&slice->to_dram, i), hash);
    for (u32 i = 0; i < ring_count(&slice->from_dram); i++) {
        const u32 tag = *ring_at(&slice->from_dram, i);
        hash = hash_word(hash, tag);
        for (u32 word = 0; word < slice->shared->params->line_bytes / 4; word++) {
            const u32 *data = brought_word(slice, i, tag, word);
            hash = data ? hash_word(hash, *data) : hash;
        }
    }
    return hash;
}

/* ---- MSHRs ---- */

/* The packet that waits as number `entry` of all; NULL: none. */
static struct packet *waiting(struct l2_slice *slice, u64 entry, u32 *index)
{
    if (!slice || !cache_live_waiter(slice->cache, entry, index))
        return NULL;
    return &slice->pool[*index];
}

/* The packet gets no answer. */
static void forget(struct l2_slice *slice, u32 index)
{
    stray_drop(system_of(slice), &slice->pool[index]);
    slice->pool[index].stray = 0;
    slice->free[slice->free_count++] = index;
}

void live_visit_l2_mshrs(struct state_walk *walk, const struct state_row *row, void *owner,
                         u64 entry)
{
    struct l2_slice *slice = owner;
    const u32 merges = slice ? slice->shared->params->merges : 0;
    u32 lost[256], count = 0;
    while (slice && walk->mode == WALK_FLIP && count < merges && count < ARRAY_LEN(lost) &&
           cache_live_waiter(slice->cache, entry * merges + count, &lost[count]))
        count++;
    cache_walk_mshrs(walk, slice ? slice->cache : NULL, entry, row->bits);
    u32 rest;
    if (count && !cache_live_waiter(slice->cache, entry * merges, &rest))
        while (count)
            forget(slice, lost[--count]);
    wake(walk, slice);
}

void live_visit_l2_waiters(struct state_walk *walk, const struct state_row *row, void *owner,
                           u64 entry)
{
    struct l2_slice *slice = owner;
    u32 index = 0;
    struct packet *packet = waiting(slice, entry, &index);
    u64 valid = packet != NULL;
    if (!walk_entry(walk, packet))
        return;
    const bool loses = walk_field(walk, &valid, 1) && packet;
    live_walk_requester(walk, system_of(slice), packet);
    if (loses) {
        cache_lose_waiter(slice->cache, entry);
        forget(slice, index);
    }
    wake(walk, slice);
}

u64 live_hash_l2_mshrs(const struct state_row *row, void *owner, u64 hash)
{
    const struct l2_slice *slice = owner;
    return cache_hash_mshrs(slice->cache, row, owner, hash, false);
}

u64 live_hash_l2_waiters(const struct state_row *row, void *owner, u64 hash)
{
    const struct l2_slice *slice = owner;
    return cache_hash_mshrs(slice->cache, row, owner, hash, true);
}
