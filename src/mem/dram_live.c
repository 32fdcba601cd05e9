/*
 * Visitors of a DRAM channel: requests that wait for a bank, data that wait with them or for the slice,
 * and the table of open rows.
 *
 * With content, a write is in memory, and a read has its data, from the moment at which the request
 * enters the channel (N4 of mem/content.h). A record of each request says which bytes these are, so
 * that a flip can move them: a write to another address, or to none, gives back what it has
 * overwritten, unless another one has overwritten that since.
 *
 * What a flip means
 *  - Valid: the request is lost. What waits for a read waits for ever.
 *  - Direction: a read writes what the place of its data held before, and its data go nowhere; a write
 *    only reads.
 *  - Row, bank, column: other bytes are read or written.
 *  - Data: bytes that are written, or read.
 *  - An open row: requests for the row that the controller takes for open read and write the one that is.
 *    From a bank without an open row they read zeros, and writes are lost.
 *
 * Deviation: a request that is lost, or has another direction, takes the time of what it was.
 */
#include "mem/content_parts.h"
#include "mem/packet_live.h"

/* ---- records ---- */

/* A request in the channel, by its number there. */
struct dram_kept {
    u64 line;    /* of the L2: a device address, */
    u32 sectors; /* and which of its sectors; 0: it has no effect any more */
    bool write;
    u32 unit, fetch; /* the slice, and what waits for a read; TAG_STORE: nothing */
    u64 moved;       /* flipped bits of the address in the channel */
    u8 *bytes;       /* of a write, or of the last one that had this number, */
    u64 *mask;       /* those with a bit; */
    u8 *old;         /* and what was there before */
};

void live_create_dram(struct memory_system *m)
{
    const u32 line = m->l2_params.line_bytes;
    for (u32 c = 0; c < m->l2_params.channels; c++) {
        struct channel *channel = &m->channels[c];
        const u32 count = channel->dram->capacity;
        channel->kept = arena_array(m->arena, struct dram_kept, count);
        for (u32 i = 0; i < count; i++) {
            channel->kept[i].bytes = arena_array(m->arena, u8, line);
            channel->kept[i].old = arena_array(m->arena, u8, line);
            channel->kept[i].mask = arena_array(m->arena, u64, (line + 63) / 64);
        }
        channel->dram->actual = arena_array(m->arena, struct dram_actual, m->dram_params.banks);
        channel->dram->astray = live_row_astray;
        channel->dram->astray_user = channel;
    }
}

/* The address of a sector, as the channel understands it now. */
static u64 sector_of(const struct channel *channel, const struct dram_kept *kept, u32 sector)
{
    const struct memory_system *m = channel->system;
    const u64 address = kept->line + (u64)sector * SECTOR_BYTES;
    if (!kept->moved)
        return address;
    return address_from_channel(&m->shared.map, (u32)(channel - m->channels),
                                address_place(&m->shared.map, address).in_channel ^ kept->moved);
}

void live_enter_dram(struct channel *channel, u32 index, const struct l2_slice *slice,
                     const struct l2_request *request)
{
    struct content *content = channel->system->content;
    const struct content_move *move = &content->slices[slice->unit].moves[request->data];
    struct dram_kept *kept = &channel->kept[index];
    kept->line = move->line;
    kept->sectors = move->sectors;
    kept->write = request->write;
    kept->unit = slice->unit;
    kept->fetch = request->write || !l2_tag_waits(request->tag) ? (u32)TAG_STORE
                                                                : request->tag & TAG_NO_FETCH;
    kept->moved = 0;
    if (!kept->write)
        return;
    memcpy(kept->bytes, move->bytes, content->line_bytes);
    memcpy(kept->mask, move->mask, content->words * sizeof *kept->mask);
    EACH_SECTOR(i, kept->sectors)
    image_read(content, sector_of(channel, kept, i), kept->old + (size_t)i * SECTOR_BYTES);
}

/* Writes bytes of a write, or gives back what was there. */
static void write_all(const struct channel *channel, struct dram_kept *kept)
{
    struct content *content = channel->system->content;
    EACH_SECTOR(i, kept->sectors)
    {
        const size_t at = (size_t)i * SECTOR_BYTES;
        const u64 sector = sector_of(channel, kept, i);
        image_read(content, sector, kept->old + at);
        image_write(content, sector, kept->bytes + at, mask_sector(kept->mask, i));
    }
}

static void undo(const struct channel *channel, const struct dram_kept *kept)
{
    struct content *content = channel->system->content;
    EACH_SECTOR(i, kept->sectors)
    {
        u8 now[SECTOR_BYTES];
        const size_t at = (size_t)i * SECTOR_BYTES;
        const u64 sector = sector_of(channel, kept, i);
        u32 same = 0;
        image_read(content, sector, now);
        for (u32 b = 0; b < SECTOR_BYTES; b++)
            same |= (u32)(now[b] == kept->bytes[at + b]) << b;
        image_write(content, sector, kept->old + at, same & mask_sector(kept->mask, i));
    }
}

/* Where a read's data are: in its MSHR or, without an L2, in the requester's entry. NULL: nowhere. */
static u8 *data_of(const struct channel *channel, const struct dram_kept *kept, u32 sector)
{
    const struct memory_system *m = channel->system;
    if (kept->write || kept->fetch == TAG_STORE)
        return NULL;
    const struct slice_content *s = &m->content->slices[kept->unit];
    if (m->l2_params.enabled)
        return s->brought + (size_t)kept->fetch * m->content->line_bytes +
               (size_t)sector * SECTOR_BYTES;
    const struct packet *packet = &s->slice->pool[kept->fetch];
    struct content_entry *entry =
        content_entry(m->content, packet->core, packet->client, packet->tag);
    if (!entry || packet->kind != PACKET_READ)
        return NULL;
    const u32 at = content_place(entry, kept->line + (u64)sector * SECTOR_BYTES);
    return entry->bytes + (size_t)at * SECTOR_BYTES;
}

static void read_all(const struct channel *channel, const struct dram_kept *kept, bool zeros)
{
    EACH_SECTOR(i, kept->sectors)
    {
        u8 *to = data_of(channel, kept, i);
        if (to && zeros)
            memset(to, 0, SECTOR_BYTES);
        else if (to)
            image_read(channel->system->content, sector_of(channel, kept, i), to);
    }
}

/* Other bits of the address in the channel. */
static void move_to(struct channel *channel, struct dram_kept *kept, u64 moved)
{
    if (kept->write)
        undo(channel, kept);
    kept->moved = moved;
    if (kept->write)
        write_all(channel, kept);
    else
        read_all(channel, kept, false);
}

static struct dram_kept *kept_of(struct channel *channel, u32 index)
{
    return channel->kept ? &channel->kept[index] : NULL;
}

void live_row_astray(void *user, u32 index, const struct dram_actual *actual)
{
    struct channel *channel = user;
    struct dram_kept *kept = kept_of(channel, index);
    const struct dram *dram = channel->dram;
    const u64 row = dram->requests[index].row;
    if (!kept || !kept->sectors)
        return;
    if (actual->open) {
        move_to(channel, kept,
                kept->moved ^ (row ^ actual->row) << (dram->row_bits + dram->bank_bits));
        return;
    }
    if (kept->write)
        undo(channel, kept);
    else
        read_all(channel, kept, true);
    kept->sectors = 0;
}

/* ---- the queue ---- */

/* The waiting request at a position; REQUEST_NONE: there are not that many. */
static u32 waiting_at(const struct dram *dram, u64 position)
{
    for (u32 kind = 0; kind < KINDS; kind++)
        for (u32 bank = 0; bank <= dram->bank_mask; bank++)
            for (u32 i = dram->lists[kind][bank].oldest; i != REQUEST_NONE;
                 i = dram->requests[i].next)
                if (!position--)
                    return i;
    return REQUEST_NONE;
}

static void make_idle(struct dram_request *request, struct dram_kept *kept)
{
    request->tag = (request->tag & ~(u32)TAG_NO_FETCH) | TAG_STORE;
    if (kept)
        kept->fetch = TAG_STORE;
}

static void lose(struct channel *channel, struct dram_request *request, struct dram_kept *kept)
{
    if (kept && kept->write)
        undo(channel, kept);
    if (!request->write)
        make_idle(request, kept);
    if (kept)
        kept->sectors = 0;
}

static void turn(struct channel *channel, struct dram_request *request, struct dram_kept *kept)
{
    if (request->write) {
        lose(channel, request, kept);
        return;
    }
    make_idle(request, kept);
    if (!kept)
        return;
    kept->write = true;
    memset(kept->mask, 0xff, (channel->system->l2_params.line_bytes + 63) / 64 * sizeof(u64));
    write_all(channel, kept);
}

/* Bits of the channel's address (dram.h) for those of a field. */
static u64 of_bank(const struct dram *dram, u64 bank)
{
    return (bank & 1) << dram->stripe_bits | (bank >> 1) << (dram->row_bits + 1);
}
static u64 of_column(const struct dram *dram, u64 column)
{
    const u64 bytes = column * SECTOR_BYTES, low = bytes & ((1ull << dram->stripe_bits) - 1);
    return low | (bytes ^ low) << (dram->bank_bits ? 1 : 0);
}
static u64 column_of(const struct dram *dram, u64 address)
{
    const u64 low = address & ((1ull << dram->stripe_bits) - 1);
    const u64 high = address >> (dram->stripe_bits + (dram->bank_bits ? 1 : 0))
                                    << dram->stripe_bits;
    return ((high | low) & ((1ull << dram->row_bits) - 1)) / SECTOR_BYTES;
}

static void walk_address(struct state_walk *walk, struct channel *channel, u32 index, u32 row_bits,
                         u32 bank_bits, u32 column_bits)
{
    struct dram *dram = channel ? channel->dram : NULL;
    struct dram_request *request = dram && index != REQUEST_NONE ? &dram->requests[index] : NULL;
    struct dram_kept *kept = request ? kept_of(channel, index) : NULL;
    const bool placed = kept && kept->sectors;
    const u64 first = placed ? sector_of(channel, kept, (u32)__builtin_ctz(kept->sectors)) : 0;
    const u64 address = placed ? address_place(&channel->system->shared.map, first).in_channel : 0;
    u64 row = request ? request->row : 0, bank = request ? request->bank : 0;
    u64 column = placed ? column_of(dram, address) : 0;
    const u64 rows = row, banks = bank, columns = column;
    if (walk_field(walk, &row, row_bits) && request) {
        request->row = (u32)row;
        if (placed)
            move_to(channel, kept,
                    kept->moved ^ (row ^ rows) << (dram->row_bits + dram->bank_bits));
    }
    if (walk_field(walk, &bank, bank_bits) && request) {
        walk->dead = bank > dram->bank_mask;
        if (!walk->dead)
            dram_move(dram, index, (u32)bank);
        if (!walk->dead && placed)
            move_to(channel, kept, kept->moved ^ of_bank(dram, bank ^ banks));
    }
    if (walk_field(walk, &column, column_bits) && request) {
        walk->dead = !placed;
        if (placed)
            move_to(channel, kept, kept->moved ^ of_column(dram, column ^ columns));
    }
}

static void wake(const struct state_walk *walk, const struct channel *channel)
{
    if (channel && walk->mode == WALK_FLIP)
        live_wake_channel(channel->system, (u32)(channel - channel->system->channels));
}

static u32 column_bits_of(const struct dram_params *dram)
{
    return state_index_bits(dram->row_bytes / SECTOR_BYTES);
}

void live_visit_dram_queue(struct state_walk *walk, const struct state_row *row, void *owner,
                           u64 entry)
{
    struct channel *channel = owner;
    const struct memory_system_params *params = walk->machine;
    const struct dram_params *p = channel ? &channel->system->dram_params : params->dram;
    const u32 index = channel ? waiting_at(channel->dram, entry) : REQUEST_NONE;
    const bool used = index != REQUEST_NONE;
    struct dram_request *request = used ? &channel->dram->requests[index] : NULL;
    struct dram_kept *kept = used ? kept_of(channel, index) : NULL;
    const u32 bank_bits = state_index_bits(p->banks), column_bits = column_bits_of(p);
    u64 valid = used, write = used && request->write;
    if (!walk_entry(walk, used))
        return;
    const bool loses = walk_field(walk, &valid, 1) && used;
    const bool turns = walk_field(walk, &write, 1) && used;
    walk_address(walk, channel, index, row->bits - 2 - bank_bits - column_bits, bank_bits,
                 column_bits);
    if (loses)
        lose(channel, request, kept);
    else if (turns)
        turn(channel, request, kept);
    wake(walk, channel);
}

/* ---- data ---- */

/* Words of a burst: of the first sectors. `data`: of each sector, or NULL. */
static u32 nth_sector(u32 sectors, u32 n)
{
    for (; n && sectors; n--)
        sectors &= sectors - 1;
    return sectors ? (u32)__builtin_ctz(sectors) : UINT32_MAX;
}

void live_visit_dram_data(struct state_walk *walk, const struct state_row *row, void *owner,
                          u64 entry)
{
    struct channel *channel = owner;
    const u32 index = channel && channel->kept ? waiting_at(channel->dram, entry) : REQUEST_NONE;
    struct dram_kept *kept = index != REQUEST_NONE ? kept_of(channel, index) : NULL;
    const bool used = kept && kept->write && kept->sectors;
    if (!walk_entry(walk, used))
        return;
    for (u32 word = 0; word < row->bits / 32; word++) {
        const u32 sector = used ? nth_sector(kept->sectors, word / 8) : UINT32_MAX;
        const size_t at = (size_t)sector * SECTOR_BYTES;
        const u32 from = walk->bits;
        u32 *data = sector != UINT32_MAX ? (u32 *)(void *)(kept->bytes + at) + word % 8 : NULL;
        const u32 before = data ? *data : 0;
        if (!walk_words(walk, data, 1) || !data) {
            walk->dead |= walk->mode == WALK_FLIP && walk->bit - from < 32;
            continue;
        }
        const u32 after = *data; /* memory has what was written, unless another write has come */
        *data = before;
        undo(channel, kept);
        *data = after;
        write_all(channel, kept);
    }
}

void live_visit_dram_return(struct state_walk *walk, const struct state_row *row, void *owner,
                            u64 entry)
{
    struct channel *channel = owner;
    const struct dram *dram = channel && channel->kept ? channel->dram : NULL;
    const bool there = dram && entry < dram->tail - dram->head;
    const struct dram_kept *kept =
        there ? kept_of(channel, dram->ring[(dram->head + entry) & dram->ring_mask].request) : NULL;
    const bool used = kept && kept->sectors && data_of(channel, kept, 0);
    if (!walk_entry(walk, used))
        return;
    for (u32 word = 0; word < row->bits / 32; word++) {
        const u32 sector = used ? nth_sector(kept->sectors, word / 8) : UINT32_MAX;
        const u32 from = walk->bits;
        u8 *data = sector != UINT32_MAX ? data_of(channel, kept, sector) : NULL;
        if (!walk_words(walk, data ? (u32 *)(void *)data + word % 8 : NULL, 1))
            walk->dead |= walk->mode == WALK_FLIP && walk->bit - from < 32;
    }
    if (channel && walk->mode == WALK_FLIP)
        channel->system->strays.struck = true;
}

/* ---- open rows ---- */

void live_visit_open_rows(struct state_walk *walk, const struct state_row *row, void *owner,
                          u64 entry)
{
    struct channel *channel = owner;
    struct dram *dram = channel ? channel->dram : NULL;
    struct dram_bank *bank = dram && entry <= dram->bank_mask ? &dram->banks[entry] : NULL;
    u64 open = bank && bank->open, number = bank ? bank->row : 0;
    const bool was = open;
    const u32 before = (u32)number;
    if (!walk_entry(walk, bank))
        return;
    bool changed = walk_field(walk, &open, 1);
    changed |= walk_field(walk, &number, row->bits - 1);
    if (!changed || !bank)
        return;
    walk->dead = !was && !open; /* the number of a row that is not open */
    if (walk->dead)
        return;
    if (dram->actual && !dram->actual[entry].wrong)
        dram->actual[entry] = (struct dram_actual){.wrong = true, .open = was, .row = before};
    dram->hooked = true; /* commands are looked at */
    bank->open = open;
    bank->row = (u32)number;
    dram_reclassify(dram, (u32)entry);
    wake(walk, channel);
}

/* ---- hashes: the queue's covers the data ---- */

static u64 hash_one(const struct channel *channel, u32 index, u64 hash)
{
    const struct dram_request *r = &channel->dram->requests[index];
    const struct dram_kept *kept = channel->kept ? &channel->kept[index] : NULL;
    hash = hash_word(hash_word(hash, (u64)r->tag << 32 | r->row),
                     (u64)r->bank << 40 | (u64)r->bursts << 8 | r->write);
    if (!kept || !kept->sectors)
        return hash;
    hash = hash_word(hash_word(hash, kept->line), kept->moved ^ kept->sectors);
    EACH_SECTOR(i, kept->sectors)
    {
        const u8 *data = data_of(channel, kept, i);
        if (data)
            hash = hash_words(hash, (const u32 *)(const void *)data, SECTOR_BYTES / 4);
    }
    return hash;
}

u64 live_hash_dram_queue(const struct state_row *row, void *owner, u64 hash)
{
    const struct channel *channel = owner;
    const struct dram *dram = channel->dram;
    if (!dram->inside && dram->head == dram->tail)
        return hash;
    for (u32 kind = 0; kind < KINDS; kind++)
        for (u32 bank = 0; bank <= dram->bank_mask; bank++)
            for (u32 i = dram->lists[kind][bank].oldest; i != REQUEST_NONE;
                 i = dram->requests[i].next)
                hash = hash_one(channel, i, hash);
    for (u32 bank = 0; bank <= dram->bank_mask; bank++)
        if (dram->banks[bank].request != REQUEST_NONE)
            hash = hash_one(channel, dram->banks[bank].request, hash_word(hash, bank));
    for (u32 i = dram->head; i != dram->tail; i++) {
        const struct dram_transfer *transfer = &dram->ring[i & dram->ring_mask];
        hash = hash_word(hash, MAX(transfer->last, dram->now) - dram->now);
        hash = hash_one(channel, transfer->request, hash);
    }
    return hash;
}

u64 live_hash_open_rows(const struct state_row *row, void *owner, u64 hash)
{
    const struct dram *dram = ((const struct channel *)owner)->dram;
    for (u32 b = 0; b <= dram->bank_mask; b++) {
        hash = hash_word(hash, (u64)dram->banks[b].row << 1 | dram->banks[b].open);
        if (dram->actual && dram->actual[b].wrong)
            hash = hash_word(hash, (u64)dram->actual[b].row << 8 | dram->actual[b].open);
    }
    return hash;
}
