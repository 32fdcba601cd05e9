/*
 * Coalescing: see mem/coalesce.h.
 *
 * A warp whose lanes read or write consecutive elements is by far the most common case and is
 * settled by arithmetic on its first address. All others go lane by lane: the transaction of a
 * line is found by a small hash table, so the cost is that of the lanes, not lanes x lines.
 *
 * Deviations
 *  - Whether a transaction covers its sectors (`full`) is known within one call; one that adds to
 *    an earlier call's is full only if both are.
 */
#include "mem/coalesce.h"

#include "mem/packet.h"
#include "mem/stride.h"

enum {
    BUCKETS = 64,
    LARGEST_LINE = 1024,
    COVER_WORDS = LARGEST_LINE / 64,
    HALF_LANES = 16,
    HALF_SEGMENT = 128, /* bytes, for elements of 4 bytes and more */
    NO_TRANSACTION = 0xffff
};

static u32 bits_between(u32 from, u32 to)
{
    return (u32)((1ull << to) - (1ull << from));
}

/* Sectors of the bytes [from, to) of a line. */
static u32 sectors_between(u32 from, u32 to)
{
    return bits_between(from / SECTOR_BYTES, (to + SECTOR_BYTES - 1) / SECTOR_BYTES);
}

/* A call's work on lists of the rules `line` and `sector`. */
struct gather {
    struct transaction *list;
    u32 count;
    u32 first; /* transactions before it were there before this call */
    u32 last;  /* the one used last */
    u32 line_bytes, cover_words;
    bool store;
    u16 bucket[BUCKETS];
    u16 chain[MAX_TRANSACTIONS];
    u64 cover[MAX_TRANSACTIONS][COVER_WORDS]; /* stores: bytes written by this call */
};

static u16 *bucket_of(struct gather *gather, u64 line)
{
    u32 number = (u32)(line / gather->line_bytes);
    return &gather->bucket[(number ^ number >> 6 ^ number >> 12) % BUCKETS];
}

static void link_transaction(struct gather *gather, u32 at)
{
    u16 *bucket = bucket_of(gather, gather->list[at].line);
    gather->chain[at] = *bucket;
    *bucket = (u16)at;
    if (gather->store)
        memset(gather->cover[at], 0, gather->cover_words * sizeof(u64));
}

static u32 transaction_of(struct gather *gather, u64 line)
{
    if (gather->last != NO_TRANSACTION && gather->list[gather->last].line == line)
        return gather->last;
    u32 at = *bucket_of(gather, line);
    while (at != NO_TRANSACTION && gather->list[at].line != line)
        at = gather->chain[at];
    if (at == NO_TRANSACTION) {
        at = gather->count++;
        assert(at < MAX_TRANSACTIONS);
        gather->list[at] = (struct transaction){.line = line};
        link_transaction(gather, at);
    }
    return gather->last = at;
}

/* Marks bytes [from, to). */
static void cover(u64 *words, u32 from, u32 to)
{
    for (u32 word = from / 64; word * 64 < to; word++) {
        u64 bits = UINT64_MAX;
        if (word * 64 < from)
            bits &= UINT64_MAX << (from - word * 64);
        if (word * 64 + 64 > to)
            bits &= UINT64_MAX >> (word * 64 + 64 - to);
        words[word] |= bits;
    }
}

static bool covered(const u64 *words, u32 sectors)
{
    for (; sectors; sectors &= sectors - 1) {
        u32 sector = (u32)__builtin_ctz(sectors);
        if ((u32)(words[sector / 2] >> sector % 2 * 32) != UINT32_MAX)
            return false;
    }
    return true;
}

/* Lanes that follow each other, from `first` on, at equal or consecutive addresses. */
struct run {
    u64 address; /* of its first lane */
    u32 first, lanes, bytes;
    bool consecutive;
};

static u64 run_end(const struct run *run)
{
    return run->address + (u64)run->bytes * (run->consecutive ? run->lanes : 1);
}

/* Its lanes that touch bytes [from, to) of it. */
static u64 run_lanes(const struct run *run, u32 from, u32 to)
{
    u32 first = run->first, last = run->first + run->lanes - 1;
    if (run->consecutive) {
        last = first + (to - 1) / run->bytes;
        first += from / run->bytes;
    }
    return (UINT64_MAX >> (63 - last)) & (UINT64_MAX << first);
}

/* The run that begins at a lane of `lanes`. */
static struct run run_at(const u64 *address, u64 lanes, u32 first, u32 bytes)
{
    struct run run = {.address = address[first], .first = first, .lanes = 1, .bytes = bytes};
    u64 following = first < 63 ? ~(lanes >> (first + 1)) : 1;
    u32 limit = following ? 1 + (u32)__builtin_ctzll(following) : 64;
    if (limit == 1)
        return run;
    u64 step = address[first + 1] - address[first];
    if (step != 0 && step != bytes)
        return run;
    run.consecutive = step;
    for (run.lanes = 2; run.lanes < limit; run.lanes++)
        if (address[first + run.lanes] - address[first + run.lanes - 1] != step)
            break;
    return run;
}

static void gather_run(struct gather *gather, const struct run *run)
{
    u64 end = run_end(run);
    for (u64 line = run->address & ~(u64)(gather->line_bytes - 1); line < end;
         line += gather->line_bytes) {
        u32 from = line < run->address ? (u32)(run->address - line) : 0;
        u32 to = (u32)MIN(end - line, gather->line_bytes);
        u32 at = transaction_of(gather, line);
        struct transaction *transaction = &gather->list[at];
        u32 offset = (u32)(line - run->address);
        transaction->lanes |= run_lanes(run, offset + from, offset + to);
        transaction->sectors |= sectors_between(from, to);
        if (gather->store)
            cover(gather->cover[at], from, to);
    }
}

static void by_lines(enum coalesce_rule rule, u32 line_bytes, const u64 *address, u64 lanes,
                     u32 bytes, bool store, struct transaction *list, u32 *count)
{
    struct gather gather; /* large and not cleared: most of it is never used */
    gather.list = list;
    gather.count = gather.first = *count;
    gather.last = NO_TRANSACTION;
    gather.line_bytes = line_bytes;
    gather.cover_words = (line_bytes + 63) / 64;
    gather.store = store;
    memset(gather.bucket, 0xff, sizeof gather.bucket); /* NO_TRANSACTION */
    u32 had_sectors[MAX_TRANSACTIONS];
    for (u32 i = 0; i < *count; i++) {
        link_transaction(&gather, i);
        had_sectors[i] = list[i].sectors;
        list[i].sectors = 0;
    }
    for (u64 left = lanes; left;) {
        struct run run = run_at(address, lanes, (u32)__builtin_ctzll(left), bytes);
        gather_run(&gather, &run);
        left &= ~run_lanes(&run, 0, (u32)(run_end(&run) - run.address));
    }
    for (u32 i = 0; i < gather.count; i++) {
        bool old = i < gather.first, touched = list[i].sectors;
        if (store && touched)
            list[i].full = covered(gather.cover[i], list[i].sectors) && (!old || list[i].full);
        if (old)
            list[i].sectors |= had_sectors[i];
        else if (rule == COALESCE_LINE && !store)
            list[i].sectors = sectors_between(0, line_bytes);
    }
    *count = gather.count;
}

/* All lanes are one run: its lines one after the other. */
static u32 lines_of_run(enum coalesce_rule rule, u32 line_bytes, const struct run *run, bool store,
                        struct transaction *list)
{
    u64 end = run_end(run);
    u32 count = 0;
    for (u64 line = run->address & ~(u64)(line_bytes - 1); line < end; line += line_bytes) {
        u32 from = line < run->address ? (u32)(run->address - line) : 0;
        u32 to = (u32)MIN(end - line, line_bytes), offset = (u32)(line - run->address);
        list[count++] = (struct transaction){
            .line = line,
            .lanes = run_lanes(run, offset + from, offset + to),
            .sectors = rule == COALESCE_LINE && !store ? sectors_between(0, line_bytes)
                                                       : sectors_between(from, to),
            .full = store && from % SECTOR_BYTES == 0 && to % SECTOR_BYTES == 0,
        };
    }
    return count;
}

/* A lane's bytes in one segment. */
struct piece {
    u64 from, to;
    u32 lane;
};

struct segment {
    u64 start;
    u64 lanes;
    u32 bytes;
    bool full;
    u64 cover[HALF_SEGMENT / 64]; /* of the segment before it was cut */
};

/* The pieces of up to 16 lanes, in their order. */
static u32 pieces_of(const u64 *address, u64 lanes, u32 bytes, u32 size, struct piece *pieces)
{
    u32 count = 0;
    for (; lanes; lanes &= lanes - 1) {
        u32 lane = (u32)__builtin_ctzll(lanes);
        u64 end = address[lane] + bytes, next;
        for (u64 from = address[lane]; from < end; from = next) {
            next = (from & ~(u64)(size - 1)) + size;
            pieces[count++] = (struct piece){from, MIN(end, next), lane};
        }
    }
    return count;
}

/* Takes the pieces in the segment of the first one, and cuts the segment to what they touch. */
static u32 cut_segment(struct piece *pieces, u32 count, u32 size, struct segment *segment)
{
    u64 base = pieces[0].from & ~(u64)(size - 1), from = UINT64_MAX, to = 0;
    u32 left = 0;
    *segment = (struct segment){0};
    for (u32 i = 0; i < count; i++) {
        struct piece piece = pieces[i];
        if ((piece.from & ~(u64)(size - 1)) != base) {
            pieces[left++] = piece;
            continue;
        }
        segment->lanes |= 1ull << piece.lane;
        from = MIN(from, piece.from);
        to = MAX(to, piece.to);
        cover(segment->cover, (u32)(piece.from - base), (u32)(piece.to - base));
    }
    u64 start = base;
    while (size > SECTOR_BYTES) {
        u64 middle = start + size / 2;
        if (from < middle && to > middle)
            break;
        start = from < middle ? start : middle;
        size /= 2;
    }
    segment->start = start;
    segment->bytes = size;
    u32 offset = (u32)(start - base);
    segment->full = covered(segment->cover, sectors_between(offset, offset + size));
    return left;
}

/* Adds a segment, in pieces if lines are shorter than it. */
static void add_segment(u32 line_bytes, const struct segment *segment, bool store,
                        struct transaction *list, u32 *count)
{
    for (u32 done = 0; done < segment->bytes;) {
        u32 from = (u32)(segment->start + done) & (line_bytes - 1);
        u32 piece = MIN(segment->bytes - done, line_bytes - from);
        assert(*count < MAX_TRANSACTIONS);
        list[(*count)++] = (struct transaction){
            .line = segment->start + done - from,
            .lanes = segment->lanes,
            .sectors = sectors_between(from, from + piece),
            .full = store && segment->full,
        };
        done += piece;
    }
}

static void by_halves(u32 line_bytes, const u64 *address, u64 lanes, u32 bytes, bool store,
                      struct transaction *list, u32 *count)
{
    u32 size = bytes == 1 ? 32 : bytes == 2 ? 64 : HALF_SEGMENT;
    for (u32 half = 0; half < 64; half += HALF_LANES) {
        struct piece pieces[2 * HALF_LANES];
        u32 left = pieces_of(address, lanes & (u64)UINT16_MAX << half, bytes, size, pieces);
        while (left) {
            struct segment segment;
            left = cut_segment(pieces, left, size, &segment);
            add_segment(line_bytes, &segment, store, list, count);
        }
    }
}

void coalesce(enum coalesce_rule rule, u32 line_bytes, const u64 *address, u64 lanes, u32 bytes,
              bool store, struct transaction *list, u32 *count)
{
    assert(is_pow2(line_bytes) && line_bytes >= SECTOR_BYTES && line_bytes <= LARGEST_LINE);
    assert(bytes && bytes <= SECTOR_BYTES);
    u32 full = lanes == UINT32_MAX ? 32 : lanes == UINT64_MAX ? 64 : 0;
    struct run run = {.address = address[0], .lanes = full, .bytes = bytes, .consecutive = true};
    if (rule == COALESCE_HALF)
        by_halves(line_bytes, address, lanes, bytes, store, list, count);
    else if (full && !*count && evenly_apart(address, full, bytes))
        *count = lines_of_run(rule, line_bytes, &run, store, list);
    else
        by_lines(rule, line_bytes, address, lanes, bytes, store, list, count);
}
