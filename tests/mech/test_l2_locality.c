/*
 * Reuse of data in the L2, against counts by hand and against those found in a log of all that
 * happens there.
 */
#include "micro/rig.h"

#include "l2_log.h"
#include "mech/line_table.h"

extern const struct mechanism l2_locality_mechanism;
static const struct mechanism *const available[] = {&l2_log_mechanism, &l2_locality_mechanism,
                                                    NULL};

enum {
    WARP = 32
};

#define ON "l2_log.on=true l2_locality.on=true "
#define BEGIN                                                                                     \
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a, %b, %c; .reg .b32 %t, %k, %n, " \
         "%r<16>; .reg .pred %q;\n ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %k, "        \
         "%ctaid.x;\n mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p;\n"
#define END " ret;\n}\n"

static struct rig *run(const char *machine, const char *settings, const char *ptx, u32 blocks,
                       u32 threads)
{
    struct rig *rig = rig_open_with(available, machine, settings, ptx);
    rig_run(rig, blocks, threads, rig_memory(rig, 1 << 20));
    return rig;
}

/* ---- by hand ---- */

/* Blocks 0 to 3 on two cores in turn. Each has a chunk of its own; two on a core share one, and all
 * share one. */
static void sharing(void **state)
{
    static const char ptx[] =
        BEGIN " ld.global.u32 %r0, [%a];\n" /* all */
              " and.b32 %r1, %k, 1; mul.wide.u32 %b, %r1, 128; add.u64 %b, %b, %a;\n"
              " ld.global.u32 %r2, [%b+4096];\n" /* two of a core */
              " mul.wide.u32 %b, %k, 128; add.u64 %b, %b, %a; add.u32 %r3, %r0, %r2;\n"
              " st.global.u32 [%b+8192], %r3;\n" END; /* one */
    struct rig *rig = run("fermi15-l2", ON "gpu.cores=2 core.blocks=2", ptx, 4, WARP);
    assert_int_equal(stat(rig, "l2_locality.chunks"), 1 + 2 + 4);
    assert_int_equal(stat(rig, "l2_locality.chunks_one"), 4);
    assert_int_equal(stat(rig, "l2_locality.chunks_core"), 2);
    assert_int_equal(stat(rig, "l2_locality.chunks_cores"), 1);
    rig_close(rig);
    /* the same without an L1, where requests tell */
    rig = run("fermi15-l2", ON "gpu.cores=2 core.blocks=2 l1d.global=false", ptx, 4, WARP);
    assert_int_equal(stat(rig, "l2_locality.chunks_one"), 4);
    assert_int_equal(stat(rig, "l2_locality.chunks_core"), 2);
    assert_int_equal(stat(rig, "l2_locality.chunks_cores"), 1);
    rig_close(rig);
}

/* A block touches two chunks of a line of 256 bytes. */
static void chunks_are_not_lines(void **state)
{
    static const char ptx[] = BEGIN " ld.global.u32 %r0, [%a]; ld.global.u32 %r1, [%a+128];\n"
                                    " add.u32 %r0, %r0, %r1; st.global.u32 [%a+4096], %r0;\n" END;
    struct rig *rig =
        run("fermi15-l2", ON "gpu.cores=1 l2.line_bytes=256 l2.sets=32", ptx, 1, WARP);
    assert_int_equal(stat(rig, "l2_locality.chunks_one"), 3);
    assert_int_equal(stat(rig, "l2_locality.lines"), 2);
    rig_close(rig);
}

/* Blocks that follow each other on a core have their local memory at the same addresses: no chunks, but
 * lines, for which there is room. */
static void local_memory(void **state)
{
    static const char ptx[] = HEAD
        ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a; .reg .b32 %t, %i, %s, %r; .reg "
        ".pred "
        "%q; .local .align 4 .b8 l[4096];\n ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %i, "
        "0;\n"
        "next: mov.u32 %r, l; add.u32 %r, %r, %i; st.local.u32 [%r], %t; add.u32 %i, %i, 4;\n"
        " setp.lt.u32 %q, %i, 4096; @%q bra next;\n mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p;\n"
        " ld.local.u32 %s, [l+64]; st.global.u32 [%a], %s;\n" END;
    struct rig *rig = rig_open_with(available, "fermi15-l2", ON "gpu.cores=1 core.blocks=1", ptx);
    rig_run(rig, 3, WARP, rig_memory(rig, 1024));
    assert_int_equal(stat(rig, "l2_locality.chunks"), 1);
    assert_int_equal(stat(rig, "l2_locality.lines"), 1 + 1024);
    assert_int_equal(stat(rig, "l2_locality.untracked"), 0);
    rig_close(rig);
}

#define WAIT(reg) " and.b32 %n, " reg ", 0; cvt.u64.u32 %c, %n; add.u64 %a, %a, %c;\n"

/* Loads that bypass the L1: one line three times, one twice, one once; one is stored once, and one is
 * the place of an atomic, once. */
static void accesses(void **state)
{
    static const char ptx[] = BEGIN " ld.volatile.global.u32 %r0, [%a];\n" WAIT(
        "%r0") " ld.volatile.global.u32 %r1, "
               "[%a];\n" WAIT(
                   "%r1") " ld.volatile."
                          "global.u32 %r2, "
                          "[%a];\n" WAIT(
                              "%r"
                              "2") " ld.volatile.global.u32 %r3, "
                                   "[%a+1024];\n" WAIT(
                                       "%r3") " ld.volatile."
                                              "global.u32 %r4, "
                                              "[%a+1024];"
                                              "\n" WAIT(
                                                  "%r4") " ld."
                                                         "volati"
                                                         "le."
                                                         "global"
                                                         ".u32 "
                                                         "%r5, "
                                                         "[%a+"
                                                         "2048];"
                                                         "\n" WAIT(
                                                             "%r5") " st.global.u32 [%a+4096], "
                                                                    "%r5;\n"
                                                                    " atom.global.add.u32 %r6, "
                                                                    "[%p+8192], 1;\n" END;
    struct rig *rig = run("fermi15-l2", ON "gpu.cores=1 l2.sectored=false", ptx, 1, 1);
    assert_int_equal(stat(rig, "l2_locality.accesses"), 3 + 2 + 1 + 1 + 1);
    assert_int_equal(stat(rig, "l2_locality.lines"), 5);
    assert_int_equal(stat(rig, "l2_locality.lines_0"), 3);
    assert_int_equal(stat(rig, "l2_locality.lines_1"), 1);
    assert_int_equal(stat(rig, "l2_locality.lines_more"), 1);
    assert_int_equal(stat(rig, "l2_locality.most_accesses"), 3);
    assert_int_equal(stat(rig, "l2_locality.instructions"), 5);
    assert_int_equal(stat(rig, "l2_locality.similar"), 5); /* each has one line */
    rig_close(rig);
}

/* One instruction loads four lines, of which one is loaded again by another one, and one twice. */
static void similarity(void **state)
{
    static const char ptx[] = BEGIN
        " mov.u32 %k, 0;\nnext: mul.wide.u32 %b, %k, 1024; add.u64 %b, %b, %a;\n"
        " ld.volatile.global.u32 %r0, [%b];\n" WAIT(
            "%r0") " add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 4; @%q bra next;\n"
                   " ld.volatile.global.u32 %r1, [%a+1024];\n" WAIT(
                       "%r1") " ld.volatile.global.u32 %r2, [%a+2048];\n" WAIT("%r2") " ld."
                                                                                      "volatile."
                                                                                      "global.u32 "
                                                                                      "%r3, "
                                                                                      "[%a+2048];"
                                                                                      "\n" END;
    struct rig *rig = run("fermi15-l2", ON "gpu.cores=1 l2.sectored=false", ptx, 1, 1);
    assert_int_equal(stat(rig, "l2_locality.accesses"), 7);
    assert_int_equal(stat(rig, "l2_locality.lines"), 4);
    assert_int_equal(stat(rig, "l2_locality.instructions"), 1);
    assert_int_equal(stat(rig, "l2_locality.similar"), 2); /* accessed once, as two of four are */
    assert_int_equal(stat(rig, "l2_locality.near"), 3);    /* and twice */
    rig_close(rig);
}

/* Equally many lines are accessed once, three times and four times: the least number counts. */
static void equally_many(void **state)
{
    static const char ptx[] =
        BEGIN " mov.u32 %k, 0;\nnext: mul.wide.u32 %b, %k, 1024; add.u64 %b, %b, %a;\n"
              " ld.volatile.global.u32 %r0, [%b];\n" WAIT(
                  "%r0") " add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 3; @%q bra next;\n"
                         " ld.volatile.global.u32 %r1, [%a+1024]; ld.volatile.global.u32 %r2, "
                         "[%a+1024];\n"
                         " ld.volatile.global.u32 %r3, [%a+2048]; ld.volatile.global.u32 %r4, "
                         "[%a+2048];\n"
                         " ld.volatile.global.u32 %r5, [%a+2048];\n" END;
    struct rig *rig = run("fermi15-l2", ON "gpu.cores=1 l2.sectored=false", ptx, 1, 1);
    assert_int_equal(stat(rig, "l2_locality.similar"), 1);
    assert_int_equal(stat(rig, "l2_locality.near"), 1);
    rig_close(rig);
}

/* The load waits for the only MSHR when the atomic writes its line. */
static void waits_while_an_atomic_writes(void **state)
{
    static const char ptx[] = BEGIN " atom.global.add.u32 %r0, [%a], 1;\n"
                                    " ld.volatile.global.u32 %r1, [%a+1024];\n" END;
    struct rig *rig = run("fermi15-l2", ON "gpu.cores=1 l2.channels=1 l2.mshrs=1", ptx, 1, 1);
    assert_true(stat(rig, "l2.stalls_mshr") > 0);
    assert_int_equal(stat(rig, "l2_locality.accesses"), 2);
    assert_int_equal(stat(rig, "l2_locality.lines_0"), 2);
    rig_close(rig);
}

/* ---- against the log ---- */

struct sums {
    u64 held, live, accesses;
};

/* Intervals of one place of a slice, from all its events. */
static void add_place(const struct l2_log_entry *const *events, size_t count, fs end,
                      struct sums *sums)
{
    for (size_t i = 0; i < count;) {
        fs first = events[i]->time, last = first, left = end;
        size_t k = i + 1;
        for (; k < count && events[k]->event.kind != CACHE_EVENT_DROPPED; k++)
            if (events[k]->event.kind != CACHE_EVENT_FILLED)
                last = events[k]->time;
        if (k < count)
            left = events[k]->time;
        sums->held += MIN(left, end) - first;
        sums->live += last - first;
        i = k + 1;
    }
}

static bool is_access(const struct l2_log_entry *e)
{
    const bool data = e->packet.client == CLIENT_L1D || e->packet.client == CLIENT_READONLY ||
                      e->packet.client == CLIENT_DIRECT;
    return e->what == L2_LOG_EVENT && data &&
           (e->event.kind == CACHE_EVENT_READ ||
            (e->event.kind == CACHE_EVENT_WRITTEN && e->packet.kind == PACKET_WRITE));
}

/* Of one launch, with stores that all end within it. */
static struct sums sums_of_log(u32 slices, u32 places)
{
    struct sums sums = {0};
    fs end = 0;
    for (size_t i = 0; i < l2_log.count; i++) {
        end = l2_log.entries[i].what == L2_LOG_SETTLED ? l2_log.entries[i].time : end;
        sums.accesses += is_access(&l2_log.entries[i]);
    }
    const struct l2_log_entry **events = calloc(l2_log.count, sizeof *events);
    for (u32 place = 0; place < slices * places; place++) {
        size_t count = 0;
        for (size_t i = 0; i < l2_log.count; i++) {
            const struct l2_log_entry *e = &l2_log.entries[i];
            if (e->what == L2_LOG_EVENT && e->event.place == place % places &&
                e->slice == place / places && e->time <= end)
                events[count++] = e;
        }
        add_place(events, count, end, &sums);
    }
    free(events);
    return sums;
}

/* Lines come and go in a small L2; the launch ends long after its last access. */
static void dead_time(void **state)
{
    static const char ptx[] = BEGIN
        " mov.u32 %r9, 0;\nagain: mov.u32 %n, 0;\n"
        "next: mul.lo.u32 %r1, %n, 5; add.u32 %r1, %r1, %k; rem.u32 %r1, %r1, 61;\n"
        " mul.wide.u32 %b, %r1, 1024; add.u64 %b, %b, %a; ld.volatile.global.u32 %r2, [%b];\n"
        " st.global.u32 [%b+256], %r2; add.u32 %n, %n, 1; setp.lt.u32 %q, %n, 40; @%q bra next;\n"
        " add.u32 %r9, %r9, 1; setp.lt.u32 %q, %r9, 2; @%q bra again;\n"
        " mov.u32 %r3, 0;\nwait: add.u32 %r3, %r3, 1; setp.lt.u32 %q, %r3, 400; @%q bra "
        "wait;\n" END;
    struct rig *rig =
        run("fermi15-l2", ON "gpu.cores=2 l2.sets=1 l2.ways=4 l2.channels=2", ptx, 4, WARP);
    const struct sums sums = sums_of_log(2, 4);
    assert_true(stat(rig, "l2.evictions") > 50);
    assert_true(sums.live > 0 && sums.live < sums.held);
    assert_int_equal(stat(rig, "l2_locality.accesses"), sums.accesses);
    /* whole ps, for each of two partitions */
    assert_in_range(sums.held / 1000 - stat(rig, "l2_locality.held_ps"), 0, 2);
    assert_in_range(sums.live / 1000 - stat(rig, "l2_locality.live_ps"), 0, 2);
    assert_int_equal(stat(rig, "l2_locality.across_ps"), 0);
    assert_in_range(stat(rig, "l2_locality.line_ps") - 8 * stat(rig, "timing.picoseconds"), 0, 8);
    rig_close(rig);
}

/* A line is loaded at the end of one launch and at the beginning of the next: it is live between
 * them, for the time of launches. */
static void live_across_launches(void **state)
{
    static const char ptx[] = BEGIN " ld.volatile.global.u32 %r0, [%a];\n" WAIT(
        "%r0") " mov.u32 %r3, 0;\nwait: add.u32 %r3, %r3, 1; setp.lt.u32 %q, %r3, 100; @%q bra "
               "wait;\n" END;
    struct rig *rig = rig_open_with(available, "fermi15-l2", ON "gpu.cores=1", ptx);
    const hd_address memory = rig_memory(rig, 4096);
    rig_run(rig, 1, 1, memory);
    assert_int_equal(stat(rig, "l2_locality.live_ps"), 0);
    assert_int_equal(stat(rig, "l2_locality.across_ps"), 0);
    const u64 length = stat(rig, "timing.picoseconds");
    l2_log_forget();
    rig_run(rig, 1, 1, memory);
    u64 second = 0;
    for (size_t i = 0; i < l2_log.count && !second; i++)
        if (is_access(&l2_log.entries[i]))
            second = (l2_log.entries[i].time - l2_log.entries[0].time) / 1000;
    assert_true(stat(rig, "l2_locality.live_ps") > second);
    assert_true(stat(rig, "l2_locality.live_ps") < second + length);
    assert_int_equal(stat(rig, "l2_locality.across_ps"), stat(rig, "l2_locality.live_ps"));
    rig_close(rig);
}

/* ---- the table of lines ---- */

static void numbers_of_lines(void **state)
{
    struct line_table table;
    line_table_make(&table, 300);
    assert_in_range(table.room, 300, 2 * 300);
    for (u32 round = 0; round < 2; round++)
        for (u32 i = 0; i < table.room; i++)
            assert_int_equal(line_table_number(&table, (u64)i * 128 << (i % 3 * 16)), i);
    assert_int_equal(table.count, table.room);
    assert_int_equal(line_table_number(&table, 5), LINE_TABLE_NONE);
    assert_int_equal(line_table_number(&table, 0), 0);
    line_table_free(&table);
    assert_int_equal(line_table_number(&table, 0), LINE_TABLE_NONE);
}

static int forget(void **state)
{
    l2_log_forget();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sharing, forget),
        cmocka_unit_test_setup(chunks_are_not_lines, forget),
        cmocka_unit_test_setup(local_memory, forget),
        cmocka_unit_test_setup(accesses, forget),
        cmocka_unit_test_setup(similarity, forget),
        cmocka_unit_test_setup(equally_many, forget),
        cmocka_unit_test_setup(waits_while_an_atomic_writes, forget),
        cmocka_unit_test_setup(dead_time, forget),
        cmocka_unit_test_setup(live_across_launches, forget),
        cmocka_unit_test_teardown(numbers_of_lines, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
