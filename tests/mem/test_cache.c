/* Caches by hand-made cases: who gives way, limits at n - 1 and n, policies, hooks. */
#include "mem/cache.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    LINE = 128,
    ALL = 15
};

static struct cache_counters counters;
static struct cache_out out;

static struct cache_config small(void)
{
    return (struct cache_config){
        .sets = 1, .ways = 4, .line_bytes = LINE, .mshrs = 8, .merges = 3, .write = WRITE_BACK};
}

static struct cache *create(struct cache_config config)
{
    counters = (struct cache_counters){0};
    return cache_create(&config, &counters);
}

/* Reads, and fills at once. */
static enum cache_result read_now(struct cache *cache, u64 line, u32 sectors)
{
    u32 waiter;
    enum cache_result result = cache_read(cache, line, sectors, 99, &out);
    if (result == CACHE_MISS) {
        struct cache_out filled;
        cache_fill(cache, out.mshr, &filled);
        assert_true(cache_waiter(cache, out.mshr, &waiter));
        assert_int_equal(waiter, 99);
        assert_false(cache_waiter(cache, out.mshr, &waiter));
    }
    return result;
}

static void order_of_replacement(void **state)
{
    for (u32 fifo = 0; fifo < 2; fifo++) {
        struct cache_config config = small();
        config.fifo = fifo;
        struct cache *cache = create(config);
        for (u64 i = 0; i < config.ways; i++)
            assert_int_equal(read_now(cache, i * LINE, 1), CACHE_MISS);
        assert_int_equal(counters.evictions, 0);
        assert_int_equal(read_now(cache, 0, 1), CACHE_HIT);
        read_now(cache, 100 * LINE, 1);
        assert_int_equal(counters.evictions, 1);
        assert_true(cache_has(cache, 0, ALL) != fifo);
        assert_true(cache_has(cache, LINE, ALL) == fifo);
        cache_destroy(cache);
    }
}

static void lines_under_way_stay(void **state)
{
    struct cache *cache = create(small());
    u32 mshr[4], waiter;
    for (u32 i = 0; i < 4; i++) {
        assert_int_equal(cache_read(cache, i * LINE, 1, i, &out), CACHE_MISS);
        assert_int_equal(out.sectors, ALL);
        mshr[i] = out.mshr;
    }
    assert_int_equal(cache_read(cache, 4 * LINE, 1, 4, &out), CACHE_NO_LINE);
    assert_int_equal(cache_write(cache, 4 * LINE, 1, true, &out), CACHE_NO_LINE);
    assert_int_equal(counters.stalls_line, 2);
    assert_int_equal(counters.reads, 4);
    assert_int_equal(counters.writes, 0);
    assert_int_equal(cache_pending(cache), 4);
    assert_int_equal(cache_mshr_line(cache, mshr[2]), 2 * LINE);
    cache_fill(cache, mshr[2], &out);
    assert_true(cache_waiter(cache, mshr[2], &waiter));
    assert_int_equal(waiter, 2);
    assert_false(cache_waiter(cache, mshr[2], &waiter));
    assert_int_equal(cache_read(cache, 4 * LINE, 1, 4, &out), CACHE_MISS);
    assert_false(cache_has(cache, 2 * LINE, 1));
    cache_destroy(cache);
}

/* Entries and waiters of an entry: the n-th is taken, the one after it not. */
static void check_limits(u32 mshrs, u32 merges)
{
    struct cache_config config = small();
    config.ways = 16;
    config.mshrs = mshrs;
    config.merges = merges;
    struct cache *cache = create(config);
    u32 first = 0, waiter;
    for (u32 i = 0; i < config.mshrs; i++) {
        assert_int_equal(counters.stalls_mshr, 0);
        assert_int_equal(cache_read(cache, i * LINE, 1, i, &out), CACHE_MISS);
        first = i ? first : out.mshr;
    }
    assert_int_equal(cache_read(cache, 100 * LINE, 1, 0, &out), CACHE_NO_MSHR);
    assert_int_equal(counters.stalls_mshr, 1);
    for (u32 i = 1; i < config.merges; i++)
        assert_int_equal(cache_read(cache, 0, 2, 50 + i, &out), CACHE_MERGED);
    assert_int_equal(cache_read(cache, 0, 2, 70, &out), CACHE_NO_MERGE);
    assert_int_equal(counters.stalls_mshr, 2);
    cache_fill(cache, first, &out);
    for (u32 i = 0; i < config.merges; i++) {
        assert_true(cache_waiter(cache, first, &waiter));
        assert_int_equal(waiter, i ? 50 + i : 0);
    }
    assert_int_equal(cache_pending(cache), config.mshrs);
    assert_false(cache_waiter(cache, first, &waiter));
    assert_int_equal(cache_pending(cache), config.mshrs - 1);
    assert_int_equal(cache_read(cache, 100 * LINE, 1, 0, &out), CACHE_MISS);
    assert_int_equal(counters.reads,
                     counters.read_hits + counters.read_merges + counters.read_misses);
    cache_destroy(cache);
}

static void limits_of_mshrs(void **state)
{
    for (u32 mshrs = 1; mshrs <= 10; mshrs++)
        for (u32 merges = 1; merges <= 5; merges++)
            check_limits(mshrs, merges);
}

/* A partly written sector is fetched when it is read, a wholly written one is not. */
static void written_in_part(void **state)
{
    struct cache_config config = small();
    config.sectored = true;
    struct cache *cache = create(config);
    assert_int_equal(cache_write(cache, 0, 1, false, &out), CACHE_HIT);
    assert_int_equal(cache_write(cache, 0, 2, true, &out), CACHE_HIT);
    assert_int_equal(counters.write_misses, 1);
    assert_int_equal(counters.write_hits, 1);
    assert_false(cache_has(cache, 0, 1));
    assert_int_equal(cache_read(cache, 0, 2, 0, &out), CACHE_HIT);
    assert_int_equal(cache_read(cache, 0, 3, 0, &out), CACHE_MISS);
    assert_int_equal(out.sectors, 1);
    u32 waiter;
    u32 mshr = out.mshr;
    cache_fill(cache, mshr, &out);
    assert_true(cache_waiter(cache, mshr, &waiter));
    assert_false(cache_waiter(cache, mshr, &waiter));
    assert_true(cache_has(cache, 0, 3));
    for (u64 i = 1; i < 4; i++)
        read_now(cache, i * LINE, 1);
    read_now(cache, 4 * LINE, 1);
    assert_int_equal(out.victim, 0);
    assert_int_equal(out.victim_sectors, 3);
    assert_int_equal(counters.writebacks, 1);
    cache_destroy(cache);
}

static void writes_that_go_on(void **state)
{
    struct cache_config config = small();
    config.write = WRITE_EVICT;
    struct cache *cache = create(config);
    assert_int_equal(cache_write(cache, 0, 1, true, &out), CACHE_MISS);
    assert_false(cache_has(cache, 0, 1));
    read_now(cache, 0, 1);
    assert_int_equal(cache_write(cache, 0, 1, false, &out), CACHE_HIT);
    assert_false(cache_has(cache, 0, 1) || cache_has(cache, 0, 2));
    assert_int_equal(counters.evictions, 0);
    cache_destroy(cache);

    config.write = WRITE_THROUGH;
    cache = create(config);
    assert_int_equal(cache_write(cache, 0, 1, true, &out), CACHE_MISS);
    assert_false(cache_has(cache, 0, 1));
    read_now(cache, 0, 1);
    assert_int_equal(cache_write(cache, 0, 1, false, &out), CACHE_HIT);
    assert_true(cache_has(cache, 0, ALL));
    cache_destroy(cache);
}

/* A write-through that takes a line: whole sectors are present, parts of sectors are not, and what is on
 * its way from memory stays so. Without a line to take, the write only goes on. */
static void writes_that_take_a_line(void **state)
{
    struct cache_config config = small();
    config.ways = 1;
    config.sectored = true;
    config.write = WRITE_THROUGH;
    config.write_allocate = true;
    struct cache *cache = create(config);
    assert_int_equal(cache_write(cache, 0, 3, true, &out), CACHE_MISS);
    assert_true(cache_has(cache, 0, 3) && !cache_has(cache, 0, 4));
    assert_int_equal(cache_write(cache, 0, 4, false, &out), CACHE_MISS);
    assert_false(cache_has(cache, 0, 4));
    assert_int_equal(cache_write(cache, 0, 4, true, &out), CACHE_MISS);
    assert_int_equal(cache_write(cache, 0, 4, true, &out), CACHE_HIT);
    assert_int_equal(cache_write(cache, LINE, 1, true, &out), CACHE_MISS);
    assert_int_equal(out.victim_sectors, 0); /* memory has it */
    assert_true(cache_has(cache, LINE, 1) && !cache_has(cache, 0, 1));
    assert_int_equal(counters.evictions, 1);
    assert_int_equal(cache_read(cache, LINE, 2, 0, &out), CACHE_MISS);
    assert_int_equal(cache_write(cache, LINE, 2, true, &out), CACHE_MISS);
    assert_false(cache_has(cache, LINE, 2));
    assert_int_equal(cache_write(cache, 0, 1, true, &out), CACHE_MISS);
    assert_true(cache_has(cache, LINE, 1) && !cache_has(cache, 0, 1));
    cache_destroy(cache);
}

/* A read that needs sectors of two fetches comes back after the second, whichever that is. */
static void waits_for_two_fetches(void **state)
{
    for (u32 swapped = 0; swapped < 2; swapped++)
        for (u32 on_fill = 0; on_fill < 2; on_fill++) {
            struct cache_config config = small();
            config.sectored = true;
            config.allocate_on_fill = on_fill;
            struct cache *cache = create(config);
            u32 mshr[2], waiter;
            assert_int_equal(cache_read(cache, 0, 1, 10, &out), CACHE_MISS);
            mshr[0] = out.mshr;
            assert_int_equal(cache_read(cache, 0, 3, 11, &out), CACHE_MISS);
            assert_int_equal(out.sectors, 2);
            mshr[1] = out.mshr;
            cache_fill(cache, mshr[swapped], &out);
            if (!swapped) {
                assert_true(cache_waiter(cache, mshr[0], &waiter));
                assert_int_equal(waiter, 10);
            }
            assert_false(cache_waiter(cache, mshr[swapped], &waiter));
            cache_fill(cache, mshr[!swapped], &out);
            if (swapped) {
                assert_true(cache_waiter(cache, mshr[0], &waiter));
                assert_int_equal(waiter, 10);
            }
            assert_true(cache_waiter(cache, mshr[!swapped], &waiter));
            assert_int_equal(waiter, 11);
            assert_false(cache_waiter(cache, mshr[!swapped], &waiter));
            assert_int_equal(cache_pending(cache), 0);
            assert_true(cache_has(cache, 0, 3));
            cache_destroy(cache);
        }
}

/* What a waiter misses arrives while those behind it are being taken. */
static void arrives_in_between(void **state)
{
    struct cache_config config = small();
    config.sectored = true;
    struct cache *cache = create(config);
    u32 mshr[2], waiter;
    assert_int_equal(cache_read(cache, 0, 1, 10, &out), CACHE_MISS);
    mshr[0] = out.mshr;
    assert_int_equal(cache_read(cache, 0, 3, 11, &out), CACHE_MISS);
    mshr[1] = out.mshr;
    assert_int_equal(cache_read(cache, 0, 2, 12, &out), CACHE_MERGED);
    assert_int_equal(cache_read(cache, 0, 2, 13, &out), CACHE_MERGED);
    cache_fill(cache, mshr[1], &out);
    assert_true(cache_waiter(cache, mshr[1], &waiter));
    assert_int_equal(waiter, 12);
    cache_fill(cache, mshr[0], &out);
    assert_true(cache_waiter(cache, mshr[0], &waiter));
    assert_int_equal(waiter, 10);
    assert_false(cache_waiter(cache, mshr[0], &waiter));
    assert_true(cache_waiter(cache, mshr[1], &waiter));
    assert_int_equal(waiter, 13);
    assert_true(cache_waiter(cache, mshr[1], &waiter));
    assert_int_equal(waiter, 11);
    assert_false(cache_waiter(cache, mshr[1], &waiter));
    assert_int_equal(cache_pending(cache), 0);
    cache_destroy(cache);
}

struct seen {
    u32 touched, evicted;
    u64 evicted_line;
    bool allow, as_miss;
};
static bool hook_allocates(void *user, u64 line)
{
    return ((struct seen *)user)->allow;
}
static bool hook_misses(void *user, u64 line, u32 set, u32 way)
{
    return ((struct seen *)user)->as_miss;
}
/* A line that is under way when its way is reserved leaves with its fill; its waiter is served. */
static void reserved_while_under_way(void **state)
{
    struct cache *cache = create(small());
    struct cache_hooks none = {0};
    u32 waiter, at = 0;
    cache_set_hooks(cache, &none);
    assert_int_equal(cache_read(cache, 0, ALL, 7, &out), CACHE_MISS);
    const u32 mshr = out.mshr;
    assert_int_equal(cache_write(cache, 0, 2, true, &out), CACHE_HIT);
    cache_reserve(cache, 4);
    assert_int_equal(cache_drop(cache, 0, true, &out), CACHE_UNDER_WAY);
    assert_int_equal(cache_sweep(cache, &at, true, &out), CACHE_UNDER_WAY);
    cache_fill(cache, mshr, &out);
    assert_int_equal(out.victim, 0);
    assert_int_equal(out.victim_sectors, 2);
    assert_false(cache_has(cache, 0, 1));
    assert_int_equal(counters.writebacks, 1);
    assert_true(cache_waiter(cache, mshr, &waiter));
    assert_int_equal(waiter, 7);
    assert_false(cache_waiter(cache, mshr, &waiter));
    assert_int_equal(cache_sweep(cache, &at, true, &out), CACHE_ABSENT);
    cache_destroy(cache);
}

static void count_delivered(void *user, u32 waiter, u32 mshr, u32 sectors)
{
    *(u32 *)user |= sectors;
}

/* The same with data: the line takes its written bytes along, and not sectors that have only just
 * come; those go to the waiter. */
static void reserved_with_content(void **state)
{
    struct cache *cache = create(small());
    struct cache_hooks none = {0};
    struct cache_line line;
    u32 delivered = 0;
    cache_set_hooks(cache, &none);
    cache_arm(cache, count_delivered, &delivered);
    assert_int_equal(cache_read(cache, 0, ALL, 7, &out), CACHE_MISS);
    const u32 mshr = out.mshr;
    assert_int_equal(cache_write(cache, 0, 2, false, &out), CACHE_HIT);
    assert_true(cache_line_of(cache, 0, &line));
    line.bytes[SECTOR_BYTES] = 9;
    line.written[0] |= 1ull << SECTOR_BYTES;
    cache_reserve(cache, 4);
    cache_fill(cache, mshr, &out);
    assert_int_equal(delivered, ALL);
    const struct cache_line *victim = cache_last_victim(cache);
    assert_int_equal(victim->address, 0);
    assert_int_equal(victim->dirty, 2);
    assert_int_equal(victim->valid, 0);
    assert_int_equal(victim->bytes[SECTOR_BYTES], 9);
    assert_int_equal(victim->written[0], 1ull << SECTOR_BYTES);
    cache_destroy(cache);
}

static void hook_touched(void *user, u64 line, u32 set, u32 way, bool write)
{
    ((struct seen *)user)->touched++;
}
static void hook_evicted(void *user, u64 line, u32 set, u32 way)
{
    ((struct seen *)user)->evicted++;
    ((struct seen *)user)->evicted_line = line;
}

static void hooks(void **state)
{
    struct seen seen = {.allow = true};
    struct cache *cache = create(small());
    cache_set_hooks(cache, &(struct cache_hooks){.user = &seen,
                                                 .allocates = hook_allocates,
                                                 .misses = hook_misses,
                                                 .touched = hook_touched,
                                                 .evicted = hook_evicted,
                                                 .reserved_ways = 2});
    read_now(cache, 0, 1);
    read_now(cache, LINE, 1);
    assert_int_equal(seen.touched, 2);
    read_now(cache, 2 * LINE, 1); /* two ways are left */
    assert_int_equal(seen.evicted, 1);
    assert_int_equal(seen.evicted_line, 0);
    seen.allow = false;
    assert_int_equal(read_now(cache, 0, 1), CACHE_MISS);
    assert_false(cache_has(cache, 0, 1));
    assert_int_equal(cache_write(cache, 0, 1, true, &out), CACHE_MISS);
    assert_int_equal(seen.evicted, 1);
    cache_read(cache, 0, 1, 1, &out); /* asked when it misses, not when it is filled */
    seen.allow = true;
    u32 mshr = out.mshr, waiter;
    cache_fill(cache, mshr, &out);
    assert_true(cache_waiter(cache, mshr, &waiter));
    assert_false(cache_waiter(cache, mshr, &waiter));
    assert_false(cache_has(cache, 0, 1));
    seen.as_miss = true;
    assert_int_equal(read_now(cache, LINE, 1), CACHE_MISS);
    assert_true(cache_has(cache, LINE, 1));
    assert_int_equal(counters.read_misses, 6);
    cache_set_hooks(cache, NULL);
    assert_int_equal(read_now(cache, LINE, 1), CACHE_HIT);
    cache_destroy(cache);
}

/* Misses at `line`, which is then under way; returns its MSHR. */
static u32 miss(struct cache *cache, u64 line, u32 waiter)
{
    assert_int_equal(cache_read(cache, line, 1, waiter, &out), CACHE_MISS);
    return out.mshr;
}

/* A watched cache says which line gave way, with which sectors. */
static void victims_are_told(void **state)
{
    for (u32 on_fill = 0; on_fill < 2; on_fill++) {
        struct cache_config config = small();
        config.sectored = true;
        config.allocate_on_fill = on_fill;
        struct cache *cache = create(config);
        cache_watch(cache);
        for (u64 i = 0; i < 4; i++)
            assert_int_equal(read_now(cache, i * LINE, 1u << i), CACHE_MISS);
        const u32 mshr = miss(cache, 4 * LINE, 0);
        assert_int_equal(out.missing, 1);
        assert_int_equal(out.victim_valid, on_fill ? 0 : 1);
        cache_fill(cache, mshr, &out);
        assert_int_equal(out.victim_valid, on_fill ? 1 : 0);
        assert_int_equal(out.victim_sectors, 0);
        if (on_fill)
            assert_int_equal(out.victim, 0);
        assert_int_equal(out.sectors, 1);
        assert_false(out.prefetched);
        assert_int_equal(cache_read(cache, LINE, 7, 0, &out), CACHE_MISS); /* the line is there */
        assert_int_equal(out.missing, 5);
        assert_int_equal(out.victim_valid, 0);
        cache_destroy(cache);
    }
}

/* A line from elsewhere: a hit, without an MSHR, in the place of the oldest line. */
static void supplied_lines(void **state)
{
    struct cache_config config = small();
    config.mshrs = 1;
    struct cache *cache = create(config);
    u32 missing;
    for (u64 i = 0; i < 4; i++)
        read_now(cache, i * LINE, 1);
    assert_int_equal(cache_look(cache, 0, 1, &missing), CACHE_HIT);
    assert_int_equal(cache_look(cache, 5 * LINE, 2, &missing), CACHE_MISS);
    assert_int_equal(missing, 2);
    const u32 mshr = miss(cache, 4 * LINE, 0);
    assert_int_equal(cache_look(cache, 4 * LINE, 1, &missing), CACHE_MERGED);
    assert_int_equal(cache_look(cache, 5 * LINE, 2, &missing), CACHE_NO_MSHR);
    assert_int_equal(cache_read(cache, 5 * LINE, 2, 0, &out), CACHE_NO_MSHR);
    const struct cache_counters before = counters;
    cache_supply(cache, 5 * LINE, ALL, &out);
    assert_int_equal(out.victim, LINE);
    assert_int_equal(out.victim_valid, ALL);
    assert_int_equal(counters.reads, before.reads + 1);
    assert_int_equal(counters.read_hits, before.read_hits + 1);
    assert_int_equal(counters.evictions, before.evictions + 1);
    assert_int_equal(counters.fills, before.fills);
    assert_int_equal(cache_pending(cache), 1);
    assert_int_equal(cache_read(cache, 5 * LINE, 2, 0, &out), CACHE_HIT); /* refused no longer */
    cache_fill(cache, mshr, &out);
    cache_destroy(cache);
}

/* A prefetch takes what a miss takes and counts as no read; its first use is told, once. */
static void check_prefetch(bool on_fill, bool late)
{
    struct cache_config config = small();
    config.mshrs = 2;
    config.allocate_on_fill = on_fill;
    struct cache *cache = create(config);
    cache_watch(cache);
    u32 waiter;
    assert_int_equal(cache_prefetch(cache, 0, 1, &out), CACHE_MISS);
    assert_int_equal(out.sectors, ALL);
    const u32 mshr = out.mshr;
    assert_int_equal(counters.reads, 0);
    assert_int_equal(cache_pending(cache), 1);
    assert_int_equal(cache_prefetch(cache, 0, 1, &out), CACHE_MERGED);
    miss(cache, LINE, 1);
    assert_false(out.prefetched);
    assert_int_equal(cache_prefetch(cache, 2 * LINE, 1, &out), CACHE_NO_MSHR);
    assert_int_equal(counters.stalls_mshr, 0);
    if (late) {
        assert_int_equal(cache_read(cache, 0, 1, 7, &out), CACHE_MERGED);
        assert_true(out.prefetched);
    }
    cache_fill(cache, mshr, &out);
    assert_true(out.prefetched != late);
    assert_int_equal(cache_waiter(cache, mshr, &waiter), late);
    if (late)
        assert_false(cache_waiter(cache, mshr, &waiter));
    assert_int_equal(cache_pending(cache), 1);
    assert_int_equal(cache_prefetch(cache, 0, 1, &out), CACHE_HIT);
    for (u32 i = 0; i < 2; i++) {
        assert_int_equal(cache_read(cache, 0, 1, 0, &out), CACHE_HIT);
        assert_int_equal(out.prefetched, !late && !i);
    }
    assert_int_equal(counters.fills, 1);
    cache_destroy(cache);
}

static void prefetches(void **state)
{
    for (u32 i = 0; i < 4; i++)
        check_prefetch(i & 1, i & 2);
    /* one that gives way before it is read */
    struct cache_config config = small();
    config.ways = 1;
    struct cache *cache = create(config);
    u32 waiter;
    cache_watch(cache);
    cache_prefetch(cache, 0, 1, &out);
    const u32 mshr = out.mshr;
    assert_int_equal(cache_prefetch(cache, LINE, 1, &out), CACHE_NO_LINE);
    cache_fill(cache, mshr, &out);
    assert_false(cache_waiter(cache, mshr, &waiter));
    miss(cache, LINE, 0);
    assert_int_equal(out.victim_valid, ALL);
    assert_true(out.victim_unused);
    cache_destroy(cache);
}

/* What is under way is forgotten, with the lines that were reserved for it. */
static void cancelled(void **state)
{
    struct cache *cache = create(small());
    u32 missing;
    read_now(cache, 9 * LINE, 1);
    for (u64 i = 0; i < 3; i++)
        assert_int_equal(cache_prefetch(cache, i * LINE, 1, &out), CACHE_MISS);
    cache_cancel(cache);
    assert_int_equal(cache_pending(cache), 0);
    assert_true(cache_has(cache, 9 * LINE, ALL));
    for (u64 i = 0; i < 3; i++) {
        assert_int_equal(cache_look(cache, i * LINE, 1, &missing), CACHE_MISS);
        assert_int_equal(read_now(cache, i * LINE, 1), CACHE_MISS);
    }
    assert_int_equal(counters.evictions, 0);
    assert_true(cache_has(cache, 9 * LINE, ALL));
    cache_destroy(cache);
}

static void placed_and_forgotten(void **state)
{
    struct cache *cache = create(small());
    for (u64 i = 0; i < 5; i++)
        cache_place(cache, i * LINE, 3, &out);
    assert_int_equal(out.victim_sectors, 0);
    assert_false(cache_has(cache, 0, 1));
    for (u64 i = 1; i < 5; i++)
        assert_true(cache_has(cache, i * LINE, 3) && !cache_has(cache, i * LINE, 4));
    cache_read(cache, 100 * LINE, 1, 5, &out);
    u32 mshr = out.mshr;
    cache_invalidate(cache);
    for (u64 i = 0; i < 5; i++)
        assert_false(cache_has(cache, i * LINE, 1));
    cache_fill(cache, mshr, &out);
    assert_true(cache_has(cache, 100 * LINE, ALL));
    cache_destroy(cache);
}

/* Any aligned run of `sets` lines fills each set once, hashed or not. */
static void hash_is_a_permutation(void **state)
{
    for (u32 sets = 2; sets <= 256; sets *= 2) {
        struct cache_config config = small();
        config.ways = 1;
        config.sets = sets;
        config.hash = HASH_POLYNOMIAL;
        struct cache *cache = create(config);
        for (u64 start = 0; start < 1ull << 40; start = start * 5 + sets) {
            u64 first = start & ~(u64)(sets - 1);
            for (u32 i = 0; i < sets; i++)
                read_now(cache, (first + i) * LINE, 1);
            for (u32 i = 0; i < sets; i++)
                assert_true(cache_has(cache, (first + i) * LINE, ALL));
        }
        cache_destroy(cache);
    }
}

/* Writes kept in a line that is there, by a policy that sends others on. */
static void kept_writes(void **state)
{
    struct cache_config config = small();
    config.ways = 1;
    config.write = WRITE_EVICT;
    struct cache *cache = create(config);
    assert_false(cache_keep_write(cache, 0, 1));
    assert_int_equal(counters.writes, 0);
    read_now(cache, 0, 1);
    assert_true(cache_keep_write(cache, 0, 1) && cache_keep_write(cache, 0, 4));
    assert_true(cache_has(cache, 0, ALL));
    assert_int_equal(counters.write_hits, 2);
    assert_int_equal(cache_read(cache, LINE, 1, 0, &out), CACHE_MISS);
    assert_int_equal(out.victim, 0);
    assert_int_equal(out.victim_sectors, 5);
    assert_int_equal(counters.writebacks, 1);
    cache_destroy(cache);
}

/* Fermi's hash leaves bit 12 of the address out with 32 sets: lines 4 KB apart share a set, of which the
 * oldest gives way; 8 KB apart they do not. With 64 sets, bit 12 counts. */
static void hash_of_fermi(void **state)
{
    static const struct {
        u32 sets, apart;
        bool stays;
    } cases[] = {{32, 4096, false},  {32, 8192, true},   {64, 4096, true},
                 {64, 65536, false}, {32, 131072, true}, {32, 1048576, false}};
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct cache_config config = small();
        config.ways = 1;
        config.sets = cases[i].sets;
        config.hash = HASH_FERMI;
        struct cache *cache = create(config);
        read_now(cache, 0, 1);
        read_now(cache, cases[i].apart, 1);
        assert_int_equal(cache_has(cache, 0, ALL), cases[i].stays);
        cache_destroy(cache);
    }
}

/* Power-of-two strides, and strides of sets + 1 lines, use many sets when hashed. */
static void hash_spreads_strides(void **state)
{
    const u32 sets = 32;
    for (u32 shift = 0; shift < 20; shift++)
        for (u32 plus = 0; plus < 2; plus++) {
            struct cache_config config = small();
            config.ways = 2;
            config.sets = sets;
            config.hash = HASH_POLYNOMIAL;
            struct cache *cache = create(config);
            u64 stride = (1ull << shift) + plus;
            u32 there = 0;
            for (u64 i = 0; i < sets; i++)
                read_now(cache, i * stride * LINE, 1);
            for (u64 i = 0; i < sets; i++)
                there += cache_has(cache, i * stride * LINE, ALL);
            assert_true(there >= sets / 2);
            cache_destroy(cache);
        }
}

/* What an observer has seen. */
struct observed_events {
    struct cache_counters sums;
    struct cache_event last[4]; /* by kind */
};

static void note_event(void *user, const struct cache_event *event)
{
    struct observed_events *seen = user;
    seen->last[event->kind] = *event;
    seen->sums.reads += event->kind == CACHE_EVENT_READ;
    seen->sums.read_hits += event->kind == CACHE_EVENT_READ && event->result == CACHE_HIT;
    seen->sums.fills += event->kind == CACHE_EVENT_FILLED;
    seen->sums.writes += event->kind == CACHE_EVENT_WRITTEN;
    seen->sums.evictions += event->kind == CACHE_EVENT_DROPPED;
    seen->sums.writebacks += event->kind == CACHE_EVENT_DROPPED && event->dirty;
}

static void check_seen(const struct observed_events *seen)
{
    assert_int_equal(seen->sums.reads, counters.reads);
    assert_int_equal(seen->sums.read_hits, counters.read_hits);
    assert_int_equal(seen->sums.fills, counters.fills);
    assert_int_equal(seen->sums.writes, counters.writes);
    assert_int_equal(seen->sums.evictions, counters.evictions);
    assert_int_equal(seen->sums.writebacks, counters.writebacks);
}

/* An observer sees every read, fill, write and line that leaves, with its place. */
static void observed(void **state)
{
    for (u32 on_fill = 0; on_fill < 2; on_fill++) {
        struct cache_config config = small();
        struct observed_events seen = {0};
        config.sectored = true;
        config.allocate_on_fill = on_fill;
        struct cache *cache = create(config);
        cache_observe(cache, note_event, &seen);
        for (u64 i = 0; i < 40; i++) {
            read_now(cache, (i * i + i / 8) % 6 * LINE, 1 << i % 4);
            check_seen(&seen);
            const struct cache_event *read = &seen.last[CACHE_EVENT_READ];
            assert_true(read->line == (i * i + i / 8) % 6 * LINE && read->sectors == 1u << i % 4 &&
                        read->waiter == 99);
            assert_true(seen.last[CACHE_EVENT_FILLED].place < config.ways);
            if (i % 3)
                continue;
            cache_write(cache, (i * i + i / 8) % 6 * LINE, 2, false, &out);
            assert_int_equal(seen.last[CACHE_EVENT_WRITTEN].dirty, 2);
            check_seen(&seen);
        }
        assert_true(counters.writebacks && counters.read_hits);
        const u64 before = seen.sums.evictions;
        seen.sums.writebacks = 0;
        cache_invalidate(cache); /* nothing is written */
        assert_int_equal(seen.sums.evictions, before + config.ways);
        assert_int_equal(seen.sums.writebacks, 0);
        cache_destroy(cache);
    }
}

/* A write that evicts; a read that waits for the same MSHR as another. */
static void observed_places(void **state)
{
    struct cache_config config = small();
    struct observed_events seen = {0};
    config.write = WRITE_EVICT;
    struct cache *cache = create(config);
    cache_observe(cache, note_event, &seen);
    assert_int_equal(cache_read(cache, LINE, 1, 5, &out), CACHE_MISS);
    const u32 mshr = out.mshr, place = seen.last[CACHE_EVENT_READ].place;
    assert_int_equal(seen.last[CACHE_EVENT_READ].mshr, mshr);
    assert_int_equal(cache_read(cache, LINE, 1, 6, &out), CACHE_MERGED);
    assert_int_equal(seen.last[CACHE_EVENT_READ].mshr, mshr);
    assert_int_equal(seen.last[CACHE_EVENT_READ].waiter, 6);
    cache_fill(cache, mshr, &out);
    assert_int_equal(seen.last[CACHE_EVENT_FILLED].place, place);
    assert_int_equal(seen.last[CACHE_EVENT_FILLED].mshr, mshr);
    assert_int_equal(seen.last[CACHE_EVENT_FILLED].sectors, ALL);
    cache_write(cache, LINE, 1, true, &out);
    assert_int_equal(seen.last[CACHE_EVENT_WRITTEN].dirty, 0);
    assert_int_equal(seen.sums.evictions, 1);
    assert_int_equal(seen.last[CACHE_EVENT_DROPPED].place, place);
    cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_replacement),
        cmocka_unit_test(lines_under_way_stay),
        cmocka_unit_test(limits_of_mshrs),
        cmocka_unit_test(written_in_part),
        cmocka_unit_test(writes_that_go_on),
        cmocka_unit_test(writes_that_take_a_line),
        cmocka_unit_test(waits_for_two_fetches),
        cmocka_unit_test(arrives_in_between),
        cmocka_unit_test(reserved_while_under_way),
        cmocka_unit_test(reserved_with_content),
        cmocka_unit_test(hooks),
        cmocka_unit_test(hash_of_fermi),
        cmocka_unit_test(kept_writes),
        cmocka_unit_test(victims_are_told),
        cmocka_unit_test(supplied_lines),
        cmocka_unit_test(prefetches),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(placed_and_forgotten),
        cmocka_unit_test(observed),
        cmocka_unit_test(observed_places),
        cmocka_unit_test(hash_is_a_permutation),
        cmocka_unit_test(hash_spreads_strides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
