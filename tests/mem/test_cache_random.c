/*
 * Random traffic on caches of many shapes beside a plain model (cache_model.h): every result,
 * victim and counter must agree; changes reach memory exactly once; every waiter comes back exactly
 * once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cache_model.h"
#include "random.h"

enum {
    STEPS = 30000,
    POOL_LINES = 4096
};

struct shape {
    struct cache_config config;
    u32 lines;         /* lines that the traffic uses */
    u32 reserved_ways; /* of mechanisms */
    bool hooked;
};

#define SHAPE(sets_, ways_, bytes, mshrs_, merges_) \
    .sets = sets_, .ways = ways_, .line_bytes = bytes, .mshrs = mshrs_, .merges = merges_
static const struct shape shapes[] = {
    {{SHAPE(4, 4, 128, 8, 3), .write = WRITE_BACK}, 40},
    {{SHAPE(4, 4, 128, 8, 3), .write = WRITE_BACK, .sectored = true}, 40},
    {{SHAPE(4, 4, 128, 8, 3), .write = WRITE_BACK, .fifo = true}, 40},
    {{SHAPE(2, 4, 128, 16, 2), .write = WRITE_BACK, .sectored = true, .fifo = true}, 12},
    {{SHAPE(4, 4, 128, 8, 3), .write = WRITE_BACK, .sectored = true, .allocate_on_fill = true}, 24},
    {{SHAPE(96, 2, 128, 32, 8), .write = WRITE_BACK, .sectored = true}, 400},
    {{SHAPE(96, 4, 64, 32, 8), .write = WRITE_EVICT, .hash = HASH_POLYNOMIAL}, 800},
    {{SHAPE(1, 96, 128, 16, 4), .write = WRITE_EVICT}, 200},
    {{SHAPE(1, 17, 128, 16, 4), .write = WRITE_BACK}, 40},
    {{SHAPE(4, 96, 128, 60, 8), .write = WRITE_EVICT, .sectored = true, .allocate_on_fill = true},
     800},
    {{SHAPE(32, 4, 128, 64, 8), .write = WRITE_EVICT, .hash = HASH_FERMI}, 300},
    {{SHAPE(64, 8, 128, 60, 4), .write = WRITE_BACK, .sectored = true, .hash = HASH_POLYNOMIAL},
     2000},
    {{SHAPE(64, 2, 64, 2, 32), .write = WRITE_THROUGH, .allocate_on_fill = true}, 256},
    {{SHAPE(8, 2, 1024, 4, 1), .write = WRITE_BACK, .sectored = true, .hash = HASH_POLYNOMIAL}, 32},
    {{SHAPE(2, 2, 32, 1, 1), .write = WRITE_BACK}, 8},
    {{SHAPE(1, 1, 128, 1, 4), .write = WRITE_THROUGH, .sectored = true}, 4},
    {{SHAPE(4, 4, 128, 8, 3), .write = WRITE_BACK, .sectored = true}, 40, 1, true},
    {{SHAPE(4, 4, 128, 8, 3), .write = WRITE_EVICT, .allocate_on_fill = true}, 40, 2, true},
    {{SHAPE(4, 4, 128, 8, 3), .write = WRITE_BACK}, 24, 4, true},
};

static bool always(u64 line)
{
    return true;
}
static bool never(u64 line)
{
    return false;
}
static bool most(u64 line)
{
    return line / 128 % 7 != 3;
}
static bool some(u64 line)
{
    return line / 128 % 5 == 2;
}
static bool hook_allocates(void *user, u64 line)
{
    return most(line);
}
static bool hook_misses(void *user, u64 line, u32 set, u32 way)
{
    assert_int_equal(model_set(user, line), set);
    return some(line);
}

/* A cache, its model, and what memory and waiters should have seen. */
struct bench {
    struct cache *cache;
    struct cache_counters counters;
    struct model model;
    struct random random;
    u32 lines;
    u32 unwritten[POOL_LINES]; /* by line: sectors with changes that memory has not seen */
    u32 open[MODEL_ENTRIES];   /* fetches under way */
    u32 opened;
    u32 next_waiter;
    u64 out, back; /* waiters */
};

static u64 line_at(const struct bench *bench, u32 i)
{
    /* Neighbours, and now and then lines whose numbers agree in their lower 32 bits. */
    return ((u64)i / 2 + (i % 2 ? 1ull << 34 : 5)) * bench->model.config.line_bytes;
}

static u32 index_of(const struct bench *bench, u64 line)
{
    u64 number = line / bench->model.config.line_bytes;
    return number >> 34 ? (u32)number * 2 + 1 : (u32)(number - 5) * 2;
}

static void same_victim(struct bench *bench, const struct cache_out *out,
                        const struct cache_out *expected)
{
    assert_int_equal(out->victim_sectors, expected->victim_sectors);
    if (!out->victim_sectors)
        return;
    assert_int_equal(out->victim, expected->victim);
    u32 *unwritten = &bench->unwritten[index_of(bench, out->victim)];
    assert_int_equal(*unwritten, out->victim_sectors);
    *unwritten = 0;
}

static void do_read(struct bench *bench, u64 line, u32 sectors)
{
    struct cache_out out, expected;
    u32 waiter = bench->next_waiter;
    enum cache_result result = cache_read(bench->cache, line, sectors, waiter, &out);
    assert_int_equal(result, model_read(&bench->model, line, sectors, waiter, &expected));
    if (result == CACHE_MISS) {
        assert_int_equal(out.sectors, expected.sectors);
        assert_int_equal(cache_mshr_line(bench->cache, out.mshr), line);
        model_named(&bench->model, out.mshr);
        bench->open[bench->opened++] = out.mshr;
    }
    if (result == CACHE_MISS || result == CACHE_MERGED) {
        bench->next_waiter++;
        bench->out++;
    }
    same_victim(bench, &out, &expected);
}

static void do_write(struct bench *bench, u64 line, u32 sectors, bool full)
{
    struct cache_out out, expected;
    enum cache_result result = cache_write(bench->cache, line, sectors, full, &out);
    assert_int_equal(result, model_write(&bench->model, line, sectors, full, &expected));
    same_victim(bench, &out, &expected);
    if (bench->model.config.write == WRITE_BACK && result == CACHE_HIT)
        bench->unwritten[index_of(bench, line)] |= sectors;
}

static int by_number(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return x < y ? -1 : x > y;
}

static void do_fill(struct bench *bench)
{
    static u32 expected_waiters[MODEL_ENTRIES * MODEL_WAITERS],
        waiters[ARRAY_LEN(expected_waiters)];
    if (!bench->opened)
        return;
    u32 at = random_below(&bench->random, bench->opened), mshr = bench->open[at];
    bench->open[at] = bench->open[--bench->opened];
    struct cache_out out, expected;
    cache_fill(bench->cache, mshr, &out);
    u32 own, count = model_fill(&bench->model, mshr, &expected, expected_waiters, &own);
    same_victim(bench, &out, &expected);
    for (u32 i = 0; i < count; i++)
        assert_true(cache_waiter(bench->cache, mshr, &waiters[i]));
    u32 none;
    assert_false(cache_waiter(bench->cache, mshr, &none));
    assert_memory_equal(waiters, expected_waiters, own * sizeof(u32));
    qsort(waiters + own, count - own, sizeof(u32), by_number);
    qsort(expected_waiters + own, count - own, sizeof(u32), by_number);
    assert_memory_equal(waiters, expected_waiters, count * sizeof(u32));
    bench->back += count;
}

static void do_place(struct bench *bench, u64 line, u32 sectors)
{
    struct cache_out out, expected;
    cache_place(bench->cache, line, sectors, &out);
    model_place(&bench->model, line, sectors, &expected);
    same_victim(bench, &out, &expected);
}

/* Changes of lines that are not under way are lost. */
static void do_invalidate(struct bench *bench)
{
    cache_invalidate(bench->cache);
    model_invalidate(&bench->model);
    memset(bench->unwritten, 0, sizeof bench->unwritten);
    for (u32 set = 0; set < bench->model.config.sets; set++)
        for (u32 i = 0; i < bench->model.sets[set].count; i++)
            for (u32 s = 0; s < MODEL_SECTORS; s++)
                bench->unwritten[index_of(bench, bench->model.sets[set].lines[i].line)] |=
                    (u32)bench->model.sets[set].lines[i].changed[s] << s;
}

static void step(struct bench *bench)
{
    u32 what = random_below(&bench->random, 1000);
    u64 line = line_at(bench, random_below(&bench->random, bench->lines));
    u32 all = UINT32_MAX >> (32 - model_sectors(&bench->model));
    u32 sectors = (u32)random_next(&bench->random) & all;
    if (!sectors || random_below(&bench->random, 3))
        sectors = 1u << random_below(&bench->random, model_sectors(&bench->model));
    if (what < 550)
        do_read(bench, line, sectors);
    else if (what < 750)
        do_write(bench, line, sectors, random_below(&bench->random, 2));
    else if (what < 980)
        do_fill(bench);
    else if (what < 999)
        do_place(bench, line, sectors);
    else
        do_invalidate(bench);
    u64 other = line_at(bench, random_below(&bench->random, bench->lines));
    assert_int_equal(cache_has(bench->cache, other, sectors),
                     model_has(&bench->model, other, sectors));
    assert_int_equal(cache_pending(bench->cache), bench->model.entries);
}

/* Reads lines of a far place until all that was there has given way. */
static void flush(struct bench *bench)
{
    while (bench->opened)
        do_fill(bench);
    u64 far = 1ull << 40;
    u32 lines = bench->model.config.sets * (bench->model.config.ways + 1);
    if (bench->model.config.hash || bench->model.config.write != WRITE_BACK)
        return;
    for (u32 i = 0; i < lines; i++) {
        u64 line = far + (u64)i * bench->model.config.line_bytes;
        do_read(bench, line, 1);
        do_fill(bench);
    }
    if (!bench->model.reserved_ways && bench->model.allocates == always)
        for (u32 i = 0; i < POOL_LINES; i++)
            assert_int_equal(bench->unwritten[i], 0);
}

static struct cache_counters run(const struct shape *shape, u32 seed)
{
    struct bench *bench = calloc(1, sizeof *bench);
    bench->random.state = seed;
    bench->lines = shape->lines;
    bench->model.config = shape->config;
    bench->model.allocates = shape->hooked ? most : always;
    bench->model.misses = shape->hooked ? some : never;
    bench->model.reserved_ways = shape->reserved_ways;
    if (shape->reserved_ways == shape->config.ways)
        bench->model.allocates = never;
    bench->cache = cache_create(&shape->config, &bench->counters);
    struct cache_hooks hooks = {.user = &bench->model,
                                .allocates = hook_allocates,
                                .misses = hook_misses,
                                .reserved_ways = shape->reserved_ways};
    if (shape->hooked)
        cache_set_hooks(bench->cache, &hooks);
    for (u32 i = 0; i < STEPS; i++)
        step(bench);
    flush(bench);
    assert_int_equal(bench->out, bench->back);
    assert_int_equal(cache_pending(bench->cache), 0);
    const struct cache_counters *c = &bench->counters;
    assert_memory_equal(c, &bench->model.counters, sizeof *c);
    assert_int_equal(c->reads, c->read_hits + c->read_merges + c->read_misses);
    assert_int_equal(c->writes, c->write_hits + c->write_misses);
    assert_int_equal(c->fills, c->read_misses);
    /* The traffic reaches what it is there for. */
    assert_true(c->read_misses && c->write_misses && c->stalls_mshr);
    assert_true(c->read_merges || shape->config.merges == 1);
    struct cache_counters counters = *c;
    cache_destroy(bench->cache);
    free(bench);
    return counters;
}

static void agrees_with_the_model(void **state)
{
    u32 full_sets = 0, writebacks = 0;
    for (u32 i = 0; i < ARRAY_LEN(shapes); i++) {
        struct cache_counters counters = run(&shapes[i], i + 1);
        full_sets += counters.stalls_line > 100;
        writebacks += counters.writebacks > 100;
    }
    assert_true(full_sets > 4 && writebacks > 4);
}

/* Waiters are taken one by one, with other fills and accesses in between. */
static void waiters_taken_slowly(void **state)
{
    enum {
        MSHRS = 12,
        MERGES = 4,
        READS = 100000
    };
    static u8 seen[READS];
    struct cache_config config = {SHAPE(2, 4, 128, MSHRS, MERGES), .sectored = true};
    for (u32 on_fill = 0; on_fill < 2; on_fill++) {
        memset(seen, 0, sizeof seen);
        config.allocate_on_fill = on_fill;
        struct cache_counters counters = {0};
        struct cache *cache = cache_create(&config, &counters);
        struct cache_out out;
        struct random random = {77 + on_fill};
        u32 flying[MSHRS], filled[MSHRS], n_flying = 0, n_filled = 0, waiter;
        u64 waiting = 0, back = 0;
        for (u32 i = 0; i < READS || n_flying || n_filled;) {
            u32 what = random_below(&random, 4);
            if (i < READS && what < 2) {
                enum cache_result result = cache_read(cache, random_below(&random, 10) * 128,
                                                      1 + random_below(&random, 15), i, &out);
                if (result == CACHE_MISS)
                    flying[n_flying++] = out.mshr;
                if (result == CACHE_MISS || result == CACHE_MERGED)
                    waiting++;
                i++;
            } else if (what == 2 && n_flying) {
                u32 at = random_below(&random, n_flying);
                filled[n_filled++] = flying[at];
                cache_fill(cache, flying[at], &out);
                flying[at] = flying[--n_flying];
            } else if (n_filled) {
                u32 at = random_below(&random, n_filled);
                if (cache_waiter(cache, filled[at], &waiter)) {
                    assert_int_equal(seen[waiter]++, 0);
                    back++;
                } else {
                    filled[at] = filled[--n_filled];
                }
            }
        }
        assert_int_equal(back, waiting);
        assert_int_equal(cache_pending(cache), 0);
        assert_true(counters.read_merges > 1000 && counters.stalls_mshr > 1000);
        cache_destroy(cache);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_model),
        cmocka_unit_test(waiters_taken_slowly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
