/* Content of the memory side: see mem/content.h. */
#include "exec/memory.h"
#include "mem/content_parts.h"
#include <stdlib.h>

/* ---- creation ---- */

static void create_entries(struct content *content, const struct content_config *config, u32 client)
{
    const u32 bytes = config->line_bytes[client], words = (bytes + 63) / 64;
    const size_t count = (size_t)config->entries[client] * content->cores;
    struct content_entry *entries = arena_array(content->arena, struct content_entry, count);
    u8 *data = checked(calloc(count, bytes)); /* pages that are never used cost nothing */
    u64 *masks = checked(calloc(count, words * sizeof(u64)));
    for (size_t i = 0; i < count; i++) {
        entries[i].bytes = data + i * bytes;
        entries[i].mask = masks + i * words;
        entries[i].size = bytes;
    }
    content->entries[client] = entries;
    content->entry_counts[client] = config->entries[client];
    content->entry_tops[client] = arena_array(content->arena, u32, content->cores);
    content->entry_words[client] = words;
    content->entry_data[client] = data;
    content->entry_masks[client] = masks;
}

static void create_slice(struct content *content, u32 unit)
{
    struct memory_system *m = content->memory_system;
    struct slice_content *s = &content->slices[unit];
    const u32 line = content->line_bytes;
    s->content = content;
    s->slice = m->slices[unit];
    /* everything that can be on its way to DRAM */
    s->free_count = s->slice->misses.places + s->slice->to_dram.places + m->channel_limit;
    s->moves = arena_array(content->arena, struct content_move, s->free_count);
    s->free = arena_array(content->arena, u32, s->free_count);
    for (u32 i = 0; i < s->free_count; i++) {
        s->free[i] = i;
        s->moves[i].bytes = arena_array(content->arena, u8, line);
        s->moves[i].mask = arena_array(content->arena, u64, content->words);
    }
    s->brought = arena_array(content->arena, u8, (size_t)m->l2_params.mshrs * line);
    s->newer = arena_array(content->arena, u8, (size_t)m->l2_params.mshrs * line);
    s->newer_mask = arena_array(content->arena, u64, (size_t)m->l2_params.mshrs * content->words);
    if (m->l2_params.enabled)
        cache_arm(s->slice->cache, content_deliver, s);
}

struct content *content_create(struct memory_system *m, const struct content_config *config)
{
    struct arena *arena = arena_create();
    struct content *content = arena_new(arena, struct content);
    content->arena = arena;
    content->memory_system = m;
    content->memory = config->memory;
    content->line_bytes = m->l2_params.line_bytes;
    content->words = (content->line_bytes + 63) / 64;
    content->cores = m->cores;
    for (u32 client = 0; client < CLIENTS; client++)
        if (config->entries[client])
            create_entries(content, config, client);
    content->slices = arena_array(arena, struct slice_content, m->units);
    for (u32 i = 0; i < m->units; i++)
        create_slice(content, i);
    /* a slice accepts one packet per cycle, or a channel one request */
    const fs period = MIN(clock_period(m->l2_mhz), clock_period(m->dram_mhz));
    content->stored_limit = m->units * (u32)(m->window / period + 2);
    content->stored = arena_array(arena, struct stored, content->stored_limit);
    content->lifted = arena_array(arena, u8, content->line_bytes);
    content->saved = arena_array(arena, u8, content->line_bytes);
    content->changed = arena_array(arena, u64, content->words);
    return content;
}

void content_destroy(struct content *content)
{
    if (!content)
        return;
    for (u32 client = 0; client < CLIENTS; client++) {
        free(content->entry_data[client]);
        free(content->entry_masks[client]);
    }
    vec_free(&content->exposed);
    arena_destroy(content->arena);
}

struct content_entry *content_entry(const struct content *content, u32 core, u32 client, u32 tag)
{
    if (core >= content->cores || !content->entries[client])
        return NULL;
    assert(tag < content->entry_counts[client]);
    return &content->entries[client][(size_t)core * content->entry_counts[client] + tag];
}

struct content_entry *content_begin(struct content *content, u32 core, u32 client, u32 tag,
                                    u64 line)
{
    struct content_entry *entry = content_entry(content, core, client, tag);
    u32 *top = &content->entry_tops[client][core];
    *top = MAX(*top, tag + 1);
    entry->base = line;
    entry->entered = false;
    memset(entry->mask, 0, content->entry_words[client] * sizeof *entry->mask);
    return entry;
}

void content_redirect(struct content *content, const struct packet *reply, u32 core, u32 client,
                      u32 tag)
{
    const struct content_entry *from =
        content_entry(content, reply->core, reply->client, reply->tag);
    struct content_entry *to = content_entry(content, core, client, tag);
    for (u32 i = 0; from && to && from != to && i < content->line_bytes / SECTOR_BYTES; i++) {
        const u64 sector = reply->address + (u64)i * SECTOR_BYTES;
        const u32 a = content_place(from, sector), b = content_place(to, sector);
        if (!(reply->sectors >> i & 1))
            continue;
        copy_bytes(to->bytes + (size_t)b * SECTOR_BYTES, from->bytes + (size_t)a * SECTOR_BYTES,
                   mask_sector(from->mask, a));
        mask_add(to->mask, b, mask_sector(from->mask, a));
    }
}

/* ---- the image ---- */

/* Host memory of bytes, or NULL: they are in no allocation. */
static u8 *host_of(const struct content *content, u64 address, u32 bytes)
{
    const struct allocation *a = memory_find(content->memory, address, bytes);
    return a ? a->host + (address - a->address) : NULL;
}

void image_read(const struct content *content, u64 sector, u8 *to)
{
    const u8 *from = host_of(content, sector, SECTOR_BYTES);
    if (from) {
        memcpy(to, from, SECTOR_BYTES);
        return;
    }
    for (u32 i = 0; i < SECTOR_BYTES; i++) { /* zeros outside allocations */
        from = host_of(content, sector + i, 1);
        to[i] = from ? *from : 0;
    }
}

void image_write(const struct content *content, u64 sector, const u8 *from, u32 bits)
{
    u8 *to = bits ? host_of(content, sector, SECTOR_BYTES) : NULL;
    if (to) {
        copy_bytes(to, from, bits);
        return;
    }
    for (; bits; bits &= bits - 1) {
        const u32 i = (u32)__builtin_ctz(bits);
        to = host_of(content, sector + i, 1);
        if (to)
            *to = from[i];
    }
}

/* ---- addresses ---- */

u64 content_address(const struct content *content, const struct l2_slice *slice, u64 in_slice)
{
    const struct place place = {
        .channel = slice->channel, .slice = slice->number, .in_slice = in_slice};
    return address_of(&content->memory_system->shared.map, &place);
}

/* The slice's own address of the line of a device address. */
static u64 line_in_slice(const struct content *content, u64 address)
{
    return address_place(&content->memory_system->shared.map, address).in_slice &
           ~(u64)(content->line_bytes - 1);
}

/* The sectors of the L2 line that a packet accesses, and that line's address. */
static u32 packet_sectors(const struct content *content, const struct packet *packet, u64 *line)
{
    *line = packet->address & ~(u64)(content->line_bytes - 1);
    return packet->sectors << (packet->address - *line) / SECTOR_BYTES;
}

/* ---- a slice ---- */

static struct slice_content *of_slice(struct content *content, const struct l2_slice *slice)
{
    return &content->slices[slice->unit];
}

u32 content_known(const struct cache_line *line, u32 sector)
{
    if (line->valid >> sector & 1)
        return UINT32_MAX;
    return line->dirty >> sector & 1 ? mask_sector(line->written, sector) : 0;
}

/* Puts bytes of a sector into an entry where the entry has none yet. */
static void give(struct content_entry *entry, u64 sector, const u8 *from, u32 bits)
{
    const u32 at = content_place(entry, sector);
    bits &= ~mask_sector(entry->mask, at);
    copy_bytes(entry->bytes + (size_t)at * SECTOR_BYTES, from, bits);
    mask_add(entry->mask, at, bits);
}

/* N8: bytes of a sector that left the slice behind the request of an MSHR, and which those are. */
struct newer {
    u8 *bytes;
    u64 *mask; /* of the line */
};
/* False: the sector is not on its way from DRAM. */
static bool newer_of(const struct slice_content *s, u64 line, u32 sector, struct newer *newer)
{
    const u32 mshr = cache_mshr_of(s->slice->cache, line, sector);
    if (mshr == UINT32_MAX)
        return false;
    newer->bytes = s->newer + (size_t)mshr * s->content->line_bytes + (size_t)sector * SECTOR_BYTES;
    newer->mask = s->newer_mask + (size_t)mshr * s->content->words;
    return true;
}

/* Tells the watcher. store: the data that are written; NULL: sectors are read. */
static __attribute__((noinline)) void note_touch(const struct content *content, u64 address,
                                                 u32 sectors, const struct content_entry *store)
{
    EACH_SECTOR(i, sectors)
    {
        const u64 sector = address + (u64)i * SECTOR_BYTES;
        content->touch(content->touch_user, sector,
                       store ? mask_sector(store->mask, content_place(store, sector)) : 0);
    }
}

static void read(struct content *content, struct l2_slice *slice, const struct packet *packet)
{
    struct content_entry *entry = content_entry(content, packet->core, packet->client, packet->tag);
    struct cache_line line;
    struct newer newer;
    u64 address;
    const u32 sectors = packet_sectors(content, packet, &address);
    const u64 in_slice = line_in_slice(content, address);
    if (UNLIKELY(content->touch != NULL))
        note_touch(content, address, sectors, NULL);
    if (!entry)
        return;
    const bool there = cache_line_of(slice->cache, in_slice, &line);
    EACH_SECTOR(i, sectors)
    {
        const u64 sector = address + (u64)i * SECTOR_BYTES;
        if (there)
            give(entry, sector, line.bytes + (size_t)i * SECTOR_BYTES, content_known(&line, i));
        if (newer_of(of_slice(content, slice), in_slice, i, &newer))
            give(entry, sector, newer.bytes, mask_sector(newer.mask, i));
    }
}

static void note_stored(struct content *content, u32 core, u32 tag, u64 line)
{
    assert(content->stored_count < content->stored_limit);
    content->stored[content->stored_count++] = (struct stored){core, tag, line};
}

static void write(struct content *content, struct l2_slice *slice, const struct packet *packet)
{
    struct content_entry *entry = content_entry(content, packet->core, packet->client, packet->tag);
    struct cache_line line;
    u64 address;
    const u32 sectors = packet_sectors(content, packet, &address);
    if (!entry)
        return;
    entry->entered = true;
    note_stored(content, packet->core, packet->tag, address);
    if (UNLIKELY(content->touch != NULL))
        note_touch(content, address, sectors, entry);
    if (!cache_line_of(slice->cache, line_in_slice(content, address), &line))
        return; /* it goes on to DRAM (content_request) */
    EACH_SECTOR(i, sectors)
    {
        const u32 at = content_place(entry, address + (u64)i * SECTOR_BYTES);
        const u32 bits = mask_sector(entry->mask, at);
        copy_bytes(line.bytes + (size_t)i * SECTOR_BYTES, entry->bytes + (size_t)at * SECTOR_BYTES,
                   bits);
        mask_add(line.written, i, bits);
    }
}

void content_access(struct content *content, struct l2_slice *slice, const struct packet *packet)
{
    if (!content->memory_system->l2_params.enabled)
        return; /* content_enter_dram does it */
    if (packet->kind == PACKET_READ)
        read(content, slice, packet);
    else if (packet->kind == PACKET_WRITE)
        write(content, slice, packet);
}

void content_deliver(void *user, u32 waiter, u32 mshr, u32 sectors)
{
    const struct slice_content *s = user;
    const struct content *content = s->content;
    const struct packet *packet = &s->slice->pool[waiter];
    struct content_entry *entry = content_entry(content, packet->core, packet->client, packet->tag);
    u64 address;
    sectors &= packet_sectors(content, packet, &address);
    if (!entry || packet->kind != PACKET_READ)
        return;
    EACH_SECTOR(i, sectors)
    give(entry, address + (u64)i * SECTOR_BYTES,
         s->brought + (size_t)mshr * content->line_bytes + (size_t)i * SECTOR_BYTES, UINT32_MAX);
}

void content_fill(struct content *content, struct l2_slice *slice, u32 mshr, u32 sectors)
{
    const struct slice_content *s = of_slice(content, slice);
    u8 *from = s->brought + (size_t)mshr * content->line_bytes;
    const u8 *newer = s->newer + (size_t)mshr * content->line_bytes;
    u64 *mask = s->newer_mask + (size_t)mshr * content->words;
    struct cache_line line;
    const bool there = cache_line_of(slice->cache, cache_mshr_line(slice->cache, mshr), &line);
    EACH_SECTOR(i, there ? sectors : 0)
    {
        const size_t at = (size_t)i * SECTOR_BYTES;
        copy_bytes(from + at, newer + at, mask_sector(mask, i));
        copy_bytes(line.bytes + at, from + at, ~mask_sector(line.written, i));
    }
    memset(mask, 0, content->words * sizeof(u64));
}

/* ---- to DRAM ---- */

static struct content_move *take_move(struct content *content, struct slice_content *s, u64 line,
                                      u32 sectors)
{
    struct content_move *move = &s->moves[s->free[--s->free_count]];
    move->line = content_address(content, s->slice, line);
    move->sectors = sectors;
    move->store = false;
    memset(move->mask, 0, content->words * sizeof(u64));
    return move;
}

/* A write has left the slice: reads that come behind it must see it, even those that wait for a
 * request in front of it (N8). */
static void note_newer(struct slice_content *s, u64 line, const struct content_move *move)
{
    struct newer newer;
    EACH_SECTOR(i, move->sectors)
    {
        const u32 bits = mask_sector(move->mask, i);
        if (!newer_of(s, line, i, &newer))
            continue;
        copy_bytes(newer.bytes, move->bytes + (size_t)i * SECTOR_BYTES, bits);
        mask_add(newer.mask, i, bits);
    }
}

u32 content_request(struct content *content, struct l2_slice *slice, u64 line, u32 sectors,
                    const struct packet *write)
{
    struct slice_content *s = of_slice(content, slice);
    struct content_move *move = take_move(content, s, line, sectors);
    struct content_entry *entry =
        write && write->kind == PACKET_WRITE
            ? content_entry(content, write->core, write->client, write->tag)
            : NULL;
    if (!entry)
        return (u32)(move - s->moves);
    move->store = !content->memory_system->l2_params.enabled;
    move->core = write->core;
    move->tag = write->tag;
    EACH_SECTOR(i, sectors)
    {
        const u32 at = content_place(entry, move->line + (u64)i * SECTOR_BYTES);
        const u32 bits = mask_sector(entry->mask, at);
        copy_bytes(move->bytes + (size_t)i * SECTOR_BYTES, entry->bytes + (size_t)at * SECTOR_BYTES,
                   bits);
        mask_add(move->mask, i, bits);
    }
    if (!move->store)
        note_newer(s, line, move);
    return (u32)(move - s->moves);
}

u32 content_victim(struct content *content, struct l2_slice *slice, u64 line, u32 sectors)
{
    struct slice_content *s = of_slice(content, slice);
    struct content_move *move = take_move(content, s, line, sectors);
    const struct cache_line *victim = cache_last_victim(slice->cache);
    assert(victim->address == line);
    EACH_SECTOR(i, sectors)
    {
        const u32 bits = content_known(victim, i);
        copy_bytes(move->bytes + (size_t)i * SECTOR_BYTES, victim->bytes + (size_t)i * SECTOR_BYTES,
                   bits);
        mask_add(move->mask, i, bits);
    }
    note_newer(s, line, move);
    return (u32)(move - s->moves);
}

void content_forget(struct content *content)
{
    const struct memory_system *m = content->memory_system;
    for (u32 unit = 0; unit < m->units; unit++) {
        struct slice_content *s = &content->slices[unit];
        s->free_count = s->slice->misses.places + s->slice->to_dram.places + m->channel_limit;
        for (u32 i = 0; i < s->free_count; i++)
            s->free[i] = i;
        memset(s->newer_mask, 0,
               (size_t)m->l2_params.mshrs * content->words * sizeof *s->newer_mask);
    }
    content->stored_count = 0;
}

/* Delivers a read's sectors: to its MSHR or, without a cache, to the waiting request. */
static void bring(struct content *content, struct slice_content *s, const struct content_move *move,
                  u32 fetch)
{
    const bool cached = content->memory_system->l2_params.enabled;
    const struct packet *packet = cached ? NULL : &s->slice->pool[fetch];
    struct content_entry *entry =
        cached || packet->kind != PACKET_READ
            ? NULL
            : content_entry(content, packet->core, packet->client, packet->tag);
    EACH_SECTOR(i, move->sectors)
    {
        u8 sector[SECTOR_BYTES];
        const u64 address = move->line + (u64)i * SECTOR_BYTES;
        image_read(content, address, sector);
        if (cached)
            memcpy(s->brought + (size_t)fetch * content->line_bytes + (size_t)i * SECTOR_BYTES,
                   sector, sizeof sector);
        else if (entry)
            give(entry, address, sector, UINT32_MAX);
    }
}

void content_enter_dram(struct content *content, struct l2_slice *slice,
                        const struct l2_request *request)
{
    struct slice_content *s = of_slice(content, slice);
    struct content_move *move = &s->moves[request->data];
    s->free[s->free_count++] = request->data;
    if (!request->write) {
        if (l2_tag_waits(request->tag)) /* otherwise bits were flipped: nothing waits */
            bring(content, s, move, request->tag & TAG_NO_FETCH);
        return;
    }
    EACH_SECTOR(i, move->sectors)
    image_write(content, move->line + (u64)i * SECTOR_BYTES, move->bytes + (size_t)i * SECTOR_BYTES,
                mask_sector(move->mask, i));
    if (!move->store)
        return;
    struct content_entry *entry = content_entry(content, move->core, CLIENT_DIRECT, move->tag);
    entry->entered = true;
    note_stored(content, move->core, move->tag, move->line);
}

/* ---- between windows ---- */

bool content_stored(const struct content *content, u32 at, struct content_change *change)
{
    if (at >= content->stored_count)
        return false;
    const struct content_entry *entry =
        content_entry(content, content->stored[at].core, CLIENT_DIRECT, content->stored[at].tag);
    *change = (struct content_change){content->stored[at].line, content->line_bytes, entry->bytes,
                                      entry->mask};
    return true;
}

void content_window(struct content *content)
{
    content->stored_count = 0;
}

void content_each_write(struct content *content, u32 unit, content_move_fn *visit, void *user)
{
    const struct memory_system *m = content->memory_system;
    struct slice_content *s = &content->slices[unit];
    const struct l2_slice *slice = s->slice;
    const struct channel *channel = &m->channels[slice->channel];
    for (u32 i = 0; i < ring_count(&channel->delayed); i++) {
        const struct l2_request *r = ring_at(&channel->delayed, i);
        if (r->write && r->tag >> TAG_SLICE_SHIFT == slice->number)
            visit(user, &s->moves[r->data]);
    }
    for (u32 i = 0; i < ring_count(&slice->to_dram); i++)
        if (ring_at(&slice->to_dram, i)->write)
            visit(user, &s->moves[ring_at(&slice->to_dram, i)->data]);
    for (u32 i = 0; i < ring_count(&slice->misses); i++)
        if (ring_at(&slice->misses, i)->write)
            visit(user, &s->moves[ring_at(&slice->misses, i)->data]);
}

/* A search for a sector among writes on their way to DRAM. */
struct sought {
    u64 line;
    u32 sector;
    u8 *bytes;                 /* receives what is found */
    struct content_move *last; /* the newest write with this sector, or NULL */
};

static void seek(void *user, struct content_move *move)
{
    struct sought *sought = user;
    if (move->line != sought->line || !(move->sectors >> sought->sector & 1))
        return;
    sought->last = move;
    copy_bytes(sought->bytes, move->bytes + (size_t)sought->sector * SECTOR_BYTES,
               mask_sector(move->mask, sought->sector));
}

/* The slice of a device address. */
static u32 unit_of(const struct content *content, u64 address)
{
    const struct memory_system *m = content->memory_system;
    const struct place place = address_place(&m->shared.map, address);
    return place.channel * m->l2_params.slices + place.slice;
}

struct content_move *content_below_l2(struct content *content, u64 line, u32 sector, u8 *bytes)
{
    struct sought sought = {.line = line, .sector = sector, .bytes = bytes};
    image_read(content, line + (u64)sector * SECTOR_BYTES, bytes);
    content_each_write(content, unit_of(content, line), seek, &sought);
    return sought.last;
}

/* The newest bytes of a line's sector. */
static void newest(struct content *content, u64 address, u32 sector, u8 *bytes)
{
    const struct l2_slice *slice = content->slices[unit_of(content, address)].slice;
    struct cache_line line;
    content_below_l2(content, address, sector, bytes);
    if (cache_line_of(slice->cache, line_in_slice(content, address), &line))
        copy_bytes(bytes, line.bytes + (size_t)sector * SECTOR_BYTES, content_known(&line, sector));
}

void content_read_newest(struct content *content, const struct packet *packet)
{
    struct content_entry *entry = content_entry(content, packet->core, packet->client, packet->tag);
    u64 address;
    const u32 sectors = packet_sectors(content, packet, &address);
    if (UNLIKELY(content->touch != NULL))
        note_touch(content, address, sectors, NULL);
    if (!entry)
        return;
    EACH_SECTOR(i, sectors)
    {
        u8 bytes[SECTOR_BYTES];
        newest(content, address, i, bytes);
        give(entry, address + (u64)i * SECTOR_BYTES, bytes, UINT32_MAX);
    }
}

void content_lift(struct content *content, const struct packet *atomic)
{
    const struct content_entry *carried =
        content_entry(content, atomic->core, atomic->client, atomic->tag);
    u64 address;
    const u32 sectors = packet_sectors(content, atomic, &address);
    EACH_SECTOR(i, sectors)
    {
        u8 *bytes = content->lifted + (size_t)i * SECTOR_BYTES, seen[SECTOR_BYTES];
        const u64 sector = address + (u64)i * SECTOR_BYTES;
        image_read(content, sector, content->saved + (size_t)i * SECTOR_BYTES);
        newest(content, address, i, bytes);
        memcpy(seen, bytes, sizeof seen);
        const u32 at = content_place(carried, sector);
        copy_bytes(seen, carried->bytes + (size_t)at * SECTOR_BYTES,
                   mask_sector(carried->mask, at));
        image_write(content, sector, seen, UINT32_MAX);
    }
}

/* Writes bytes that an atomic has changed to where the newest bytes of their sector are. */
static void settle(struct content *content, u64 address, u32 sector, const u8 *bytes, u32 bits)
{
    const struct slice_content *s = &content->slices[unit_of(content, address)];
    const u64 in_slice = line_in_slice(content, address);
    u8 below[SECTOR_BYTES];
    struct cache_line line;
    const bool there = cache_line_of(s->slice->cache, in_slice, &line);
    const u32 mshr = content->memory_system->l2_params.enabled
                         ? cache_mshr_of(s->slice->cache, in_slice, sector)
                         : UINT32_MAX;
    const size_t at = (size_t)sector * SECTOR_BYTES;
    if (mshr != UINT32_MAX) { /* it was read from the image in this window, before the atomic */
        copy_bytes(s->brought + (size_t)mshr * content->line_bytes + at, bytes, bits);
        copy_bytes(s->newer + (size_t)mshr * content->line_bytes + at, bytes, bits);
    }
    if (there && (line.valid | line.dirty) >> sector & 1)
        copy_bytes(line.bytes + at, bytes, bits);
    if (there && line.dirty >> sector & 1) {
        mask_add(line.written, sector, bits);
        return;
    }
    struct content_move *move = content_below_l2(content, address, sector, below);
    if (move) {
        copy_bytes(move->bytes + at, bytes, bits);
        mask_add(move->mask, sector, bits);
    } else {
        image_write(content, address + at, bytes, bits);
    }
}

void content_lower(struct content *content, const struct packet *atomic,
                   struct content_change *change)
{
    u64 address;
    const u32 sectors = packet_sectors(content, atomic, &address);
    memset(content->changed, 0, content->words * sizeof(u64));
    EACH_SECTOR(i, sectors)
    {
        u8 *before = content->lifted + (size_t)i * SECTOR_BYTES, after[SECTOR_BYTES];
        u32 bits = 0;
        image_read(content, address + (u64)i * SECTOR_BYTES, after);
        image_write(content, address + (u64)i * SECTOR_BYTES,
                    content->saved + (size_t)i * SECTOR_BYTES, UINT32_MAX);
        for (u32 b = 0; b < SECTOR_BYTES; b++)
            bits |= (u32)(before[b] != after[b]) << b;
        settle(content, address, i, after, bits);
        if (UNLIKELY(content->touch != NULL)) {
            content->touch(content->touch_user, address + (u64)i * SECTOR_BYTES, 0);
            content->touch(content->touch_user, address + (u64)i * SECTOR_BYTES, bits);
        }
        memcpy(before, after, SECTOR_BYTES);
        mask_add(content->changed, i, bits);
    }
    *change =
        (struct content_change){address, content->line_bytes, content->lifted, content->changed};
}

/* ---- for fault campaigns ---- */

void content_watch(struct content *content, content_touch_fn *touch, void *user)
{
    content->touch = touch;
    content->touch_user = user;
}

void content_newest(struct content *content, u64 sector, u8 bytes[SECTOR_BYTES])
{
    const u64 line = sector / content->line_bytes * content->line_bytes;
    newest(content, line, (u32)(sector - line) / SECTOR_BYTES, bytes);
}

void content_replace(struct content *content, u64 sector, const u8 bytes[SECTOR_BYTES], u32 bits)
{
    const u64 line = sector / content->line_bytes * content->line_bytes;
    settle(content, line, (u32)(sector - line) / SECTOR_BYTES, bytes, bits);
}
