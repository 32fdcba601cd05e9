/*
 * Coalescing: see mem/coalesce.h.
 *
 * Lanes at equal or consecutive addresses are processed together (mem/stride.h); a small hash table
 * finds the transaction of a line. So the cost depends on the number of runs, not on lanes x lines.
 *
 * Deviations
 *  - Whether a transaction covers its sectors (`full`) is known within one call; a transaction that
 *    extends one of an earlier call is full only if both are.
 */
#include "mem/coalesce.h"

#include "mem/packet.h"
#include "mem/stride.h"

enum {
    BUCKET_BITS = 6,
    BUCKETS = 1 << BUCKET_BITS,
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

/* Working state of a call for the rules `line` and `sector`. Large, and not cleared. */
struct gather {
    struct transaction *list;
    u32 count;
    u32 last; /* the transaction used last */
    u32 line_bytes, line_shift;
    u32 fetched; /* sectors of every new transaction */
    bool store;
    u64 buckets; /* a bit for each one that is in use */
    u16 bucket[BUCKETS], chain[MAX_TRANSACTIONS];
    /* Stores: sectors and bytes that this call writes. */
    u32 written[MAX_TRANSACTIONS];
    u64 cover[MAX_TRANSACTIONS][COVER_WORDS];
};

static u32 bucket_of(const struct gather *gather, u64 line)
{
    /* Fibonacci hashing: the upper bits of a product with 2^32 / golden ratio. */
    return (u32)(line >> gather->line_shift) * 0x9E3779B9u >> (32 - BUCKET_BITS);
}

static void link_transaction(struct gather *gather, u32 at, u32 bucket)
{
    gather->chain[at] = gather->buckets >> bucket & 1 ? gather->bucket[bucket] : NO_TRANSACTION;
    gather->bucket[bucket] = (u16)at;
    gather->buckets |= 1ull << bucket;
    if (gather->store) {
        gather->written[at] = 0;
        memset(gather->cover[at], 0, (gather->line_bytes + 63) / 64 * sizeof(u64));
    }
}

static u32 transaction_of(struct gather *gather, u64 line)
{
    if (gather->count && gather->list[gather->last].line == line)
        return gather->last;
    u32 bucket = bucket_of(gather, line);
    u32 at = gather->buckets >> bucket & 1 ? gather->bucket[bucket] : NO_TRANSACTION;
    while (at != NO_TRANSACTION && gather->list[at].line != line)
        at = gather->chain[at];
    if (at == NO_TRANSACTION) {
        at = gather->count++;
        assert(at < MAX_TRANSACTIONS);
        gather->list[at] = (struct transaction){.line = line, .sectors = gather->fetched};
        link_transaction(gather, at, bucket);
    }
    return gather->last = at;
}

/* Lanes access bytes [from, to) of a line. */
static void gather_bytes(struct gather *gather, u64 line, u32 from, u32 to, u64 lanes)
{
    u32 at = transaction_of(gather, line), sectors = sectors_between(from, to);
    gather->list[at].lanes |= lanes;
    gather->list[at].sectors |= sectors;
    if (gather->store) {
        gather->written[at] |= sectors;
        cover(gather->cover[at], from, to);
    }
}

/* Lanes `first` to `last` of a run. */
static u64 run_part(const struct run *run, u32 first, u32 last)
{
    return run_mask(&(struct run){run->first + first, last - first + 1, true});
}

static void gather_run(struct gather *gather, u64 address, u32 bytes, const struct run *run)
{
    u32 length = run->consecutive ? bytes * run->lanes : bytes, line_bytes = gather->line_bytes;
    u32 from = (u32)address & (line_bytes - 1);
    if (LIKELY(from + length <= line_bytes)) {
        gather_bytes(gather, address - from, from, from + length, run_mask(run));
        return;
    }
    for (u32 done = 0; done < length;) {
        u32 to = MIN(from + length - done, line_bytes), end = done + to - from;
        gather_bytes(gather, address + done - from, from, to,
                     run->consecutive ? run_part(run, done / bytes, (end - 1) / bytes)
                                      : run_mask(run));
        done = end;
        from = 0;
    }
}

/* Sectors that are fetched whatever the lanes access. */
static u32 always_fetched(enum coalesce_rule rule, u32 line_bytes, bool store)
{
    return rule == COALESCE_LINE && !store ? sectors_between(0, line_bytes) : 0;
}

u32 coalesce_run(enum coalesce_rule rule, u32 line_bytes, u64 address, const struct run *run,
                 u32 bytes, bool store, struct transaction *list)
{
    const u32 length = run->consecutive ? bytes * run->lanes : bytes;
    const u32 fetched = always_fetched(rule, line_bytes, store);
    u32 count = 0, from = (u32)address & (line_bytes - 1);
    for (u32 done = 0; done < length; count++, from = 0) {
        const u32 to = MIN(from + length - done, line_bytes), end = done + to - from;
        list[count] = (struct transaction){
            .line = address + done - from,
            .lanes = run_mask(run),
            .sectors = fetched | sectors_between(from, to),
            .full = store && !((from | to) % SECTOR_BYTES),
        };
        if (run->consecutive && end - done != length)
            list[count].lanes = run_part(run, done / bytes, (end - 1) / bytes);
        done = end;
    }
    return count;
}

static void by_lines(enum coalesce_rule rule, u32 line_bytes, const u64 *address, u64 lanes,
                     u32 bytes, bool store, struct transaction *list, u32 *count)
{
    if (!lanes)
        return;
    struct strides strides = strides_of(address, lanes, bytes);
    struct run run = run_at(&strides, (u32)__builtin_ctzll(lanes));
    if (!*count && run_mask(&run) == lanes) { /* the most common case by far */
        *count = coalesce_run(rule, line_bytes, address[run.first], &run, bytes, store, list);
        return;
    }
    struct gather gather;
    gather.list = list;
    gather.count = *count;
    gather.last = 0;
    gather.line_bytes = line_bytes;
    gather.line_shift = (u32)__builtin_ctz(line_bytes);
    gather.fetched = always_fetched(rule, line_bytes, store);
    gather.store = store;
    gather.buckets = 0;
    for (u32 i = 0; i < *count; i++)
        link_transaction(&gather, i, bucket_of(&gather, list[i].line));
    while (lanes) {
        run = run_at(&strides, (u32)__builtin_ctzll(lanes));
        gather_run(&gather, address[run.first], bytes, &run);
        lanes &= ~run_mask(&run);
    }
    for (u32 i = 0; store && i < gather.count; i++)
        if (gather.written[i])
            list[i].full =
                covered(gather.cover[i], gather.written[i]) && (i >= *count || list[i].full);
    *count = gather.count;
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
};

/* The pieces of up to 16 lanes, in lane order. */
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

/* Halves a segment of `size` bytes while [from, to) is in one half. */
static void cut(struct segment *segment, u64 from, u64 to, u32 size)
{
    u64 start = from & ~(u64)(size - 1);
    while (size > SECTOR_BYTES) {
        u64 middle = start + size / 2;
        if (from < middle && to > middle)
            break;
        start = from < middle ? start : middle;
        size /= 2;
    }
    segment->start = start;
    segment->bytes = size;
}

/* Takes the pieces in the segment of the first one, and cuts the segment to the bytes they
 * access. */
static u32 take_segment(struct piece *pieces, u32 count, u32 size, struct segment *segment)
{
    u64 base = pieces[0].from & ~(u64)(size - 1), from = UINT64_MAX, to = 0;
    u64 bytes[HALF_SEGMENT / 64] = {0};
    u32 left = 0;
    segment->lanes = 0;
    for (u32 i = 0; i < count; i++) {
        struct piece piece = pieces[i];
        if ((piece.from & ~(u64)(size - 1)) != base) {
            pieces[left++] = piece;
            continue;
        }
        segment->lanes |= 1ull << piece.lane;
        from = MIN(from, piece.from);
        to = MAX(to, piece.to);
        cover(bytes, (u32)(piece.from - base), (u32)(piece.to - base));
    }
    cut(segment, from, to, size);
    u32 offset = (u32)(segment->start - base);
    segment->full = covered(bytes, sectors_between(offset, offset + segment->bytes));
    return left;
}

/* For a half whose lanes are one run within a segment. */
static bool half_of_run(const u64 *address, u64 lanes, u32 bytes, u32 size, const struct run *run,
                        struct segment *segment)
{
    u64 from = address[run->first], to = from + (run->consecutive ? bytes * run->lanes : bytes);
    if (run_mask(run) != lanes || (from ^ (to - 1)) & ~(u64)(size - 1))
        return false;
    cut(segment, from, to, size);
    segment->lanes = lanes;
    segment->full = from == segment->start && to == from + segment->bytes;
    return true;
}

/* Adds a segment, in several transactions if lines are shorter. */
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
        struct segment segment;
        u64 these = lanes & (u64)UINT16_MAX << half;
        if (!these)
            continue;
        struct strides strides = strides_of(address, these, bytes);
        struct run run = run_at(&strides, (u32)__builtin_ctzll(these));
        if (half_of_run(address, these, bytes, size, &run, &segment)) {
            add_segment(line_bytes, &segment, store, list, count);
            continue;
        }
        for (u32 left = pieces_of(address, these, bytes, size, pieces); left;) {
            left = take_segment(pieces, left, size, &segment);
            add_segment(line_bytes, &segment, store, list, count);
        }
    }
}

void coalesce(enum coalesce_rule rule, u32 line_bytes, const u64 *address, u64 lanes, u32 bytes,
              bool store, struct transaction *list, u32 *count)
{
    assert(is_pow2(line_bytes) && line_bytes >= SECTOR_BYTES && line_bytes <= LARGEST_LINE);
    assert(bytes && bytes <= SECTOR_BYTES);
    if (rule == COALESCE_HALF)
        by_halves(line_bytes, address, lanes, bytes, store, list, count);
    else
        by_lines(rule, line_bytes, address, lanes, bytes, store, list, count);
}
