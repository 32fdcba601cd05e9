/*
 * Lines of caches against a model that keeps every event and computes vulnerable time from its
 * definition, when all is over.
 */
#include "avf/lines.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    LINES = 4,
    BYTES = 64,
    SECTORS = BYTES / SECTOR_BYTES,
    READS = 64,
    STEPS = 60,
    ROUNDS = 400
};

struct model_read {
    u64 cycle;
    struct byte_need need;
    u32 stay, era;
    bool open; /* not decided yet */
};

struct model_stay {
    bool here;
    u64 filled[SECTORS], dirty[SECTORS]; /* cycle + 1; 0: never */
    u32 fetch[SECTORS];
    struct model_read reads[READS];
    u32 count;
    u64 left;
    u32 back;
    u32 brought;
};

static struct rng rng;
static struct avf_lines lines;
static struct line_counts expected;
static struct byte_need fetched[STEPS + 1], told[STEPS + 1];

static void decided(void *user, u32 fetch, const struct byte_need *need, u32 sectors)
{
    assert_true(sectors);
    byte_set_add(&told[fetch].sure, &need->sure);
    byte_set_add(&told[fetch].maybe, &need->maybe);
}

/* ---- the model ---- */

static u64 over(u64 end, u64 begin)
{
    return end > begin ? end - begin : 0;
}

/* The last read that needs a byte, as cycle + 1. */
static u64 needed_until(const struct model_stay *m, u32 byte, bool perhaps)
{
    u64 last = 0;
    for (u32 i = 0; i < m->count; i++)
        if (byte_set_has(&m->reads[i].need.sure, byte) ||
            (perhaps && byte_set_has(&m->reads[i].need.maybe, byte)))
            last = MAX(last, m->reads[i].cycle + 1);
    return last;
}

static u64 byte_ace(const struct model_stay *m, u32 byte, bool perhaps)
{
    const u32 s = byte / SECTOR_BYTES;
    const bool back = m->back >> s & 1;
    const u64 begin = m->filled[s] && m->dirty[s] ? MIN(m->filled[s], m->dirty[s])
                                                  : MAX(m->filled[s], m->dirty[s]);
    const u64 last = needed_until(m, byte, perhaps);
    if (!begin)
        return 0;
    if (!back)
        return over(last, begin);
    return over(MIN(last, m->dirty[s]), begin) + over(m->left + 1, m->dirty[s]);
}

static void model_end(const struct model_stay *m)
{
    u64 first = 0, last = 0, sure = 0, dirty = UINT64_MAX;
    for (u32 b = 0; b < BYTES; b++) {
        const u32 s = b / SECTOR_BYTES;
        const u64 all = byte_ace(m, b, true);
        expected.bits_ace += 8 * all;
        expected.bits_undecided += 8 * (all - byte_ace(m, b, false));
        last = MAX(last, needed_until(m, b, true));
        sure = MAX(sure, needed_until(m, b, false));
        for (u32 k = 0; k < 2; k++) {
            const u64 at = k ? m->dirty[s] : m->filled[s];
            first = at && (!first || at < first) ? at : first;
        }
        if (m->back >> s & 1)
            dirty = MIN(dirty, m->dirty[s]);
        if (m->fetch[s] == NOTHING)
            continue;
        if (needed_until(m, b, false))
            fetched[m->fetch[s]].sure.words[b / 64] |= 1ull << b % 64;
        for (u32 i = 0; i < m->count; i++)
            if (byte_set_has(&m->reads[i].need.maybe, b))
                fetched[m->fetch[s]].maybe.words[b / 64] |= 1ull << b % 64;
    }
    for (u32 s = 0; s < SECTORS; s++) {
        const u64 begin = m->filled[s] && m->dirty[s] ? MIN(m->filled[s], m->dirty[s])
                                                      : MAX(m->filled[s], m->dirty[s]);
        expected.bits_held += begin ? 8 * SECTOR_BYTES * over(m->left + 1, begin) : 0;
    }
    expected.lines_held += over(m->left + 1, first);
    const u64 clean = over(MIN(last, dirty), first);
    expected.lines_refetched += clean;
    expected.lines_ace += clean + (dirty < UINT64_MAX ? over(m->left + 1, dirty) : 0);
    expected.lines_undecided += clean - over(MIN(sure, dirty), first);
    bool kept = false; /* of what was filled, something goes back */
    for (u32 s = 0; s < SECTORS; s++)
        kept |= m->filled[s] && m->dirty[s];
    expected.brought_held += m->brought;
    expected.brought_ace += last || kept ? m->brought : 0;
    expected.brought_undecided += last && !sure && !kept ? m->brought : 0;
}

/* ---- random events ---- */

static struct byte_set any_bytes(u32 sectors)
{
    struct byte_set set = byte_set_of(sectors);
    const bool whole = !rng_below(&rng, 3);
    for (u32 i = 0; !whole && i < ARRAY_LEN(set.words); i++)
        set.words[i] &= rng_next(&rng) & rng_next(&rng);
    return set;
}

static void decide(struct model_read *read)
{
    lines_decide(&lines, read->stay, read->era, &read->need, read->cycle);
    read->open = false;
}

static void add_read(struct model_stay *m, u32 place, u32 sectors, u64 cycle)
{
    struct model_read *read = &m->reads[m->count];
    if (m->here && !rng_below(&rng, 4)) { /* instructions: all of it is needed */
        *read = (struct model_read){.cycle = cycle, .need = {.sure = byte_set_of(sectors)}};
        lines_needed(&lines, place, sectors, cycle);
        m->count++;
        return;
    }
    const u32 stay = lines_read(&lines, place, sectors, cycle);
    assert_int_equal(stay != NOTHING, m->here);
    if (!m->here)
        return;
    *read = (struct model_read){.cycle = cycle,
                                .need = {.maybe = any_bytes(sectors)},
                                .stay = stay,
                                .era = lines.stays[stay].era,
                                .open = true};
    if (rng_below(&rng, 2))
        read->need.sure = any_bytes(sectors);
    if (rng_below(&rng, 2))
        decide(read);
    m->count++;
}

static void act(struct model_stay *m, u32 place, u32 step, u64 cycle)
{
    const u32 sectors = 1 + (u32)rng_below(&rng, (1u << SECTORS) - 1);
    switch (rng_below(&rng, 4)) {
    case 0:
        lines_filled(&lines, place, m->here ? 0 : sectors, step, cycle);
        if (!m->here) {
            m->brought = (u32)rng_below(&rng, 100);
            lines_brought(&lines, place, m->brought);
        }
        for (u32 s = 0; s < SECTORS; s++)
            if (!m->here && sectors >> s & 1) {
                m->filled[s] = cycle + 1;
                m->fetch[s] = step;
            }
        m->here = true;
        break;
    case 1:
        if (rng_below(&rng, 3))
            break;
        lines_written(&lines, place, sectors, cycle);
        for (u32 s = 0; s < SECTORS; s++)
            if (sectors >> s & 1 && !m->dirty[s])
                m->dirty[s] = cycle + 1;
        m->here = true;
        break;
    default:
        add_read(m, place, sectors, cycle);
    }
}

/* The line leaves. Reads that are open are decided after it, in any order. */
static void leave(struct model_stay *m, u32 place, u64 cycle, bool writes)
{
    m->left = cycle;
    for (u32 s = 0; writes && s < SECTORS; s++)
        m->back |= (u32)(m->dirty[s] != 0) << s;
    lines_left(&lines, place, m->back, cycle);
    for (u32 i = m->count; i > 0; i--)
        if (m->reads[i - 1].open)
            decide(&m->reads[i - 1]);
    if (m->here)
        model_end(m);
    *m = (struct model_stay){0};
    memset(m->fetch, 0xff, sizeof m->fetch);
}

static void one_round(void)
{
    static struct model_stay model[LINES];
    const bool launches = rng_below(&rng, 2); /* end while lines stay */
    u64 cycle = rng_below(&rng, 1000);
    memset(fetched, 0, sizeof fetched);
    memset(told, 0, sizeof told);
    memset(&expected, 0, sizeof expected);
    for (u32 p = 0; p < LINES; p++) {
        model[p] = (struct model_stay){0};
        memset(model[p].fetch, 0xff, sizeof model[p].fetch);
    }
    for (u32 step = 0; step < STEPS; step++) {
        const u32 place = (u32)rng_below(&rng, LINES);
        cycle += rng_below(&rng, 50);
        if (rng_below(&rng, 8))
            act(&model[place], place, step, cycle);
        else
            leave(&model[place], place, cycle, true);
        if (launches && !rng_below(&rng, 20))
            lines_count(&lines, cycle); /* must not change the sums */
    }
    for (u32 p = 0; p < LINES; p++)
        leave(&model[p], p, cycle, launches || rng_below(&rng, 2));
    assert_memory_equal(&lines.counts, &expected, sizeof expected);
    assert_memory_equal(told, fetched, sizeof told);
    assert_int_equal(lines.free_count, lines.count);
    lines.counts = (struct line_counts){0};
}

static void lines_agree_with_a_model(void **state)
{
    u64 ace = 0;
    lines_create(&lines, LINES, BYTES, 16);
    lines.decided = decided;
    for (u32 round = 0; round < ROUNDS; round++) {
        one_round();
        ace += expected.bits_ace;
    }
    assert_true(ace);
    lines_destroy(&lines);
}

/* Without room, reads of lines that have left count as needed, and undecided. */
static void bounded(void **state)
{
    const struct byte_need nothing = {0};
    u32 stay[8], era[8];
    lines_create(&lines, 1, BYTES, 1);
    lines.decided = decided;
    for (u32 i = 0; i < 8; i++) {
        lines_filled(&lines, 0, 1, NOTHING, 100 * i);
        stay[i] = lines_read(&lines, 0, 1, 100 * i + 10);
        era[i] = lines.stays[stay[i]].era;
        lines_left(&lines, 0, 0, 100 * i + 50);
    }
    for (u32 i = 0; i < 8; i++)
        lines_decide(&lines, stay[i], era[i], &nothing, 100 * i + 10);
    const u64 each = 8 * SECTOR_BYTES * 10;
    assert_int_equal(lines.counts.bits_ace, 6 * each); /* two were kept */
    assert_int_equal(lines.counts.bits_undecided, 6 * each);
    assert_int_equal(lines.counts.bits_held, 8 * 5 * each);
    assert_int_equal(lines.free_count, lines.count);
    lines_destroy(&lines);
}

/* A sector that was dropped and comes again counts from its first fill; what brought it first may have
 * been needed. */
static void filled_again(void **state)
{
    const struct byte_need all = {.sure = byte_set_of(1)};
    lines_create(&lines, 1, BYTES, 1);
    lines.decided = decided;
    memset(told, 0, sizeof told);
    lines_filled(&lines, 0, 1, 1, 10);
    lines_filled(&lines, 0, 1, 2, 30);
    const u32 stay = lines_read(&lines, 0, 1, 50);
    lines_decide(&lines, stay, lines.stays[stay].era, &all, 50);
    lines_left(&lines, 0, 0, 60);
    assert_int_equal(lines.counts.bits_ace, 8 * SECTOR_BYTES * 40);
    assert_int_equal(lines.counts.bits_held, 8 * SECTOR_BYTES * 50);
    assert_true(!byte_set_any(&told[1].sure) && byte_set_any(&told[1].maybe));
    assert_true(byte_set_any(&told[2].sure) && !byte_set_any(&told[2].maybe));
    lines_destroy(&lines);
}

/* Bytes from any offset on, against a loop over the line. */
static void sets_of_bytes(void **state)
{
    for (i64 offset = 1 - LANE_BYTES; offset < LINE_BYTES; offset++) {
        const u32 bytes = (u32)rng_next(&rng), count = (u32)rng_below(&rng, LINE_BYTES);
        struct byte_set some = {0}, range = {0};
        byte_set_add_some(&some, offset, bytes);
        byte_set_add_range(&range, offset, count);
        for (i64 b = 0; b < LINE_BYTES; b++) {
            const i64 at = b - offset;
            assert_int_equal(byte_set_has(&some, (u32)b),
                             at >= 0 && at < LANE_BYTES && bytes >> at & 1);
            assert_int_equal(byte_set_has(&range, (u32)b), at >= 0 && at < count);
        }
    }
}

int main(void)
{
    rng_stream(&rng, 1, 0, "lines", 0, "test");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_agree_with_a_model),
        cmocka_unit_test(bounded),
        cmocka_unit_test(filled_again),
        cmocka_unit_test(sets_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
