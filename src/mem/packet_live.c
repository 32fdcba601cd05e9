/* Bits of packets: see packet_live.h. */
#include "mem/packet_live.h"
#include "mem/content_parts.h"

static bool is_reply(const struct packet *packet)
{
    return packet->kind == PACKET_DATA || packet->kind == PACKET_ACK;
}

/* Others name requests of a cluster or of a mechanism. */
static bool of_core(const struct memory_system *m, const struct packet *packet)
{
    return packet->core < m->cores && packet->client < CLIENT_MECHANISM;
}

static void redirect(struct memory_system *m, struct packet *packet, const struct stray *to)
{
    struct stray *stray = of_core(m, packet) ? stray_take(m, packet) : NULL;
    if (!stray) {
        stray_make_lost(m, packet);
        return;
    }
    stray->core = to->core;
    stray->client = to->client;
    stray->tag = to->tag;
}

/* The requester that gets the reply; its parts are in different places of a row. */
static void walk_core(struct state_walk *walk, struct memory_system *m, struct packet *packet,
                      u32 bits)
{
    struct stray to = packet ? stray_of(m, packet) : (struct stray){0};
    u64 core = to.core;
    if (!walk_field(walk, &core, bits) || !packet)
        return;
    to.core = (u16)core;
    redirect(m, packet, &to);
}

static void walk_tag(struct state_walk *walk, struct memory_system *m, struct packet *packet)
{
    struct stray to = packet ? stray_of(m, packet) : (struct stray){0};
    u64 tag = to.tag;
    if (!walk_field(walk, &tag, LIVE_TAG_BITS) || !packet)
        return;
    to.tag = (u32)tag;
    redirect(m, packet, &to);
}

static void walk_kinds(struct state_walk *walk, struct memory_system *m, struct packet *packet)
{
    struct stray to = packet ? stray_of(m, packet) : (struct stray){0};
    u64 client = to.client, kind = packet ? packet->kind : 0;
    u64 full = packet && packet->full, returns = packet && packet->returns;
    if (walk_field(walk, &client, 3) && packet) {
        to.client = (u8)client;
        redirect(m, packet, &to);
    }
    if (walk_field(walk, &kind, 3) && packet)
        stray_make_lost(m, packet);
    if (walk_field(walk, &full, 1) && packet) {
        walk->dead = packet->kind != PACKET_WRITE;
        packet->full = (u8)full;
    }
    if (walk_field(walk, &returns, 1) && packet) {
        walk->dead = packet->kind != PACKET_ATOMIC;
        packet->returns = (u8)(walk->dead ? packet->returns : returns);
    }
}

static void walk_header(struct state_walk *walk, struct memory_system *m, struct packet *packet,
                        const struct live_shape *shape)
{
    const u32 shift = (u32)__builtin_ctz(shape->line_bytes), before = walk->bits;
    u64 sectors = packet ? packet->sectors : 0, line = packet ? packet->address >> shift : 0;
    if (walk_field(walk, &sectors, shape->sectors) && packet) {
        packet->sectors = (u32)sectors;
        if (!sectors)
            stray_make_lost(m, packet);
    }
    walk_core(walk, m, packet, shape->core);
    walk_kinds(walk, m, packet);
    const u32 left = LIVE_HEADER_BITS - LIVE_TAG_BITS - (walk->bits - before);
    if (walk_field(walk, &line, left) && packet) {
        walk->dead = is_reply(packet);
        packet->address = line << shift;
    }
    walk_tag(walk, m, packet);
}

/* The entry with a packet's data; NULL: it carries none. */
static struct content_entry *data_of(const struct memory_system *m, const struct packet *packet)
{
    const bool stored = packet->kind == PACKET_WRITE;
    const bool loaded = packet->kind == PACKET_DATA && packet->core < m->cores;
    if (!m->content || (!stored && !loaded))
        return NULL;
    struct content_entry *entry =
        content_entry(m->content, packet->core, packet->client, packet->tag);
    return entry && stored && entry->entered ? NULL : entry;
}

/* The bytes of a word of a packet's line that it carries; NULL: none. */
static u32 *word_of(const struct memory_system *m, const struct packet *packet, u32 word)
{
    struct content_entry *entry = packet->sectors >> word / 8 & 1 ? data_of(m, packet) : NULL;
    if (!entry)
        return NULL;
    const u32 at = content_place(entry, packet->address + (u64)(word / 8) * SECTOR_BYTES);
    if (!(mask_sector(entry->mask, at) >> word % 8 * 4 & 15))
        return NULL;
    return (u32 *)(void *)(entry->bytes + (size_t)at * SECTOR_BYTES) + word % 8;
}

void live_walk_packet(struct state_walk *walk, struct memory_system *m, struct packet *packet)
{
    const struct live_shape shape = live_shape_of(m, walk->machine);
    walk_header(walk, m, packet, &shape);
    for (u32 word = 0; word < shape.line_bytes / 4; word++) {
        u32 *data = packet ? word_of(m, packet, word) : NULL;
        const u32 at = walk->bits;
        walk_words(walk, data, 1);
        if (walk->mode == WALK_FLIP && !data && walk->bit - at < 32)
            walk->dead = true;
    }
}

void live_walk_requester(struct state_walk *walk, struct memory_system *m, struct packet *packet)
{
    walk_core(walk, m, packet, live_shape_of(m, walk->machine).core);
    walk_tag(walk, m, packet);
}

/* ---- on a link ---- */

/* The place of a bit that crosses a link among those of live_walk_packet(); UINT32_MAX: padding. */
static u32 place_on_link(const struct memory_system *m, const struct packet *packet, bool by_sector,
                         u32 part_bits, u64 bit)
{
    const u32 part = by_sector ? (u32)(bit / part_bits) : 0;
    const u64 within = by_sector ? bit % part_bits : bit;
    if (within < LIVE_HEADER_BITS)
        return (u32)within;
    u64 data = within - LIVE_HEADER_BITS;
    if (by_sector && data >= 8 * SECTOR_BYTES)
        return UINT32_MAX;
    data += (u64)part * 8 * SECTOR_BYTES;
    u32 sectors = packet->sectors;
    for (u64 n = data / (8 * SECTOR_BYTES); n && sectors; n--)
        sectors &= sectors - 1;
    if (!sectors || data >= 8ull * packet->bytes)
        return UINT32_MAX;
    return LIVE_HEADER_BITS + (u32)__builtin_ctz(sectors) * 8 * SECTOR_BYTES +
           (u32)(data % (8 * SECTOR_BYTES));
}

void live_walk_flit(struct state_walk *walk, struct memory_system *m, struct packet *packet,
                    bool by_sector, u32 part_bits, u64 from, u32 bits)
{
    enum {
        MOST_WORDS = (LIVE_HEADER_BITS + 8 * 1024) / 64 + 1
    };
    const u32 at = walk->bits;
    walk->bits += bits;
    if (walk->mode == WALK_COUNT || !packet)
        return;
    assert(m); /* it has the packet */
    if (walk->mode == WALK_FLIP) {
        if (walk->bit - at >= bits)
            return;
        struct state_walk inner = {
            .mode = WALK_FLIP,
            .bit = place_on_link(m, packet, by_sector, part_bits, from + walk->bit - at)};
        inner.dead = inner.bit == UINT32_MAX;
        if (!inner.dead)
            live_walk_packet(&inner, m, packet);
        walk->dead = inner.dead;
        return;
    }
    u64 image[MOST_WORDS] = {0};
    struct state_walk inner = {.mode = WALK_READ, .out = image};
    live_walk_packet(&inner, m, packet);
    for (u32 i = 0; i < bits; i++) {
        const u32 place = place_on_link(m, packet, by_sector, part_bits, from + i);
        const u64 bit = place < inner.bits ? image[place / 64] >> place % 64 & 1 : 0;
        if (walk->mode == WALK_READ)
            walk->out[(at + i) / 64] |= bit << (at + i) % 64;
        else if (bit)
            walk->hash = hash_word(walk->hash, i);
    }
}

/* The data that word_of() names, sector by sector, with the mask of their bytes. */
static u64 hash_data(const struct memory_system *m, const struct packet *packet, u64 hash)
{
    const struct content_entry *entry = data_of(m, packet);
    for (u32 sectors = entry ? packet->sectors : 0; sectors; sectors &= sectors - 1) {
        const u64 sector = packet->address + (u64)__builtin_ctz(sectors) * SECTOR_BYTES;
        const u32 at = content_place(entry, sector), mask = mask_sector(entry->mask, at);
        const u8 *bytes = entry->bytes + (size_t)at * SECTOR_BYTES;
        hash = hash_word(hash, mask);
        for (u32 word = 0; mask && word < SECTOR_BYTES / 4; word++)
            if (mask >> 4 * word & 15)
                hash = hash_word(hash, ((const u32 *)(const void *)bytes)[word]);
    }
    return hash;
}

u64 live_hash_packet(const struct memory_system *m, const struct packet *packet, u64 hash)
{
    const struct stray to = stray_of(m, packet);
    hash = hash_word(hash_word(hash, packet->address), (u64)packet->sectors << 32 | to.tag);
    hash = hash_word(hash, (u64)to.core << 40 | (u64)to.client << 32 | (u64)packet->kind << 16 |
                               (u64)packet->full << 8 | packet->returns);
    return packet->kind == PACKET_WRITE || packet->kind == PACKET_DATA ? hash_data(m, packet, hash)
                                                                       : hash;
}

/* ---- waking ---- */

void live_wake_slice(struct memory_system *m, u32 unit)
{
    m->strays.struck = true;
    call(&m->slice_calls, unit);
}

void live_wake_channel(struct memory_system *m, u32 channel)
{
    struct dram *dram = m->channels[channel].dram;
    const u64 done = m->channels[channel].done, cycle = MAX(m->dram.cycle, done);
    m->strays.struck = true;
    dram->wake = dram->issue_due = dram->now + (cycle - done);
    dram->assign_due = true;
    call(&m->channel_calls, channel);
}
