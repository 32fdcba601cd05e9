/*
 * LoSCache on small programs: what is predicted, gated, found to be early, and lost if it is gated
 * wrongly; against counts by hand and against a log of all that happens at the L2.
 */
#include "micro/rig.h"

#include "gpu/device.h"
#include "gpu/machine/storage.h"
#include "gpu/mechanism/mechanisms.h"
#include "l2_log.h"
#include "mech/loscache.h"
#include <inttypes.h>

extern const struct mechanism loscache_mechanism;
static const struct mechanism *const available[] = {&loscache_mechanism, &l2_log_mechanism, NULL};

enum {
    LINES = 4,
    STEP = 1024 /* bytes between the lines of a program */
};

/* A core, an L2 whose lines come as a whole, and no other requests than those of the program. */
#define ONE "gpu.cores=1 l2.sectored=false l2_log.on=true loscache.on=true "
#define BEGIN                                                                                     \
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a, %b, %c; .reg .b32 %t, %k, %n, " \
         "%w, %r<16>; .reg .pred %q, %s;\n ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 "    \
         "%k, 0;\n mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p;\n"
#define END " ret;\n}\n"
/* What follows waits for a load, */
#define AFTER(reg) " and.b32 %n, " reg ", 0; cvt.u64.u32 %c, %n; add.u64 %b, %b, %c;\n"
/* or for a while, in which counts are read back. */
#define PAUSE(label) \
    " mov.u32 %w, 0;\n" label ": add.u32 %w, %w, 1; setp.lt.u32 %q, %w, 300; @%q bra " label ";\n"
/* For each line %k, at %b: */
#define EACH_LINE "next: mul.wide.u32 %b, %k, 1024; add.u64 %b, %b, %a;\n"
#define NEXT_LINE " add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 4; @%q bra next;\n"
#define LOAD(reg) " ld.volatile.global.u32 " reg ", [%b];\n" AFTER(reg)

static struct rig *run_with(const struct mechanism *const *mechanisms, const char *settings,
                            const char *ptx, hd_address *memory)
{
    struct rig *rig = rig_open_with(mechanisms, "fermi15-l2", settings, ptx);
    *memory = rig_memory(rig, 1 << 16);
    l2_log_forget();
    rig_run(rig, 1, 1, *memory);
    return rig;
}

static struct rig *run(const char *settings, const char *ptx)
{
    hd_address memory;
    return run_with(available, settings, ptx, &memory);
}

static void expect(const struct rig *rig, const char *name, u64 value)
{
    char full[64];
    snprintf(full, sizeof full, "loscache.%s", name);
    if (stat(rig, full) != value)
        fail_msg("%s is %" PRIu64 ", not %" PRIu64, full, stat(rig, full), value);
}

/* Each line is loaded by two instructions. The first one teaches. */
static const char twice[] = BEGIN EACH_LINE LOAD("%r0") LOAD("%r1") PAUSE("wait") NEXT_LINE END;

static void gates_after_the_last_access(void **state)
{
    struct rig *rig = run(ONE "loscache.accesses=2", twice);
    expect(rig, "launches", 1);
    expect(rig, "predicting_accesses", 2);
    expect(rig, "inserts", 2);
    expect(rig, "most_entries", 2);
    expect(rig, "read_backs", 2);
    expect(rig, "probed", 2);
    expect(rig, "unknown", 0);
    expect(rig, "lookups", 2 * LINES);
    expect(rig, "predicted", 2 * (LINES - 1));
    expect(rig, "counted", 2 * LINES);
    expect(rig, "gated", LINES - 1);
    expect(rig, "gated_dirty", 0);
    expect(rig, "wakeups", LINES);
    expect(rig, "predictions", LINES - 1);
    expect(rig, "correct", LINES - 1);
    expect(rig, "early", 0);
    expect(rig, "late", 0);
    expect(rig, "bypassed", 0);
    assert_int_equal(stat(rig, "l2.read_misses"), LINES);
    rig_close(rig);
}

/* In the text's order, the access after the last predicted one gates. */
static void compares_first(void **state)
{
    static const char thrice[] =
        BEGIN EACH_LINE LOAD("%r0") LOAD("%r1") " setp.eq.u32 %s, %k, 0; @%s bra taught;\n" LOAD(
            "%r2") "taught:\n" PAUSE("wait") NEXT_LINE END;
    struct rig *rig = run(ONE "loscache.accesses=2 loscache.order=compare_first", twice);
    expect(rig, "gated", 0);
    expect(rig, "late", LINES - 1);
    expect(rig, "predictions", LINES - 1);
    expect(rig, "correct", 0);
    rig_close(rig);
    /* the third access has no prediction of its own */
    rig = run(ONE "loscache.accesses=2", thrice);
    expect(rig, "gated", LINES - 1);
    expect(rig, "early", LINES - 1);
    expect(rig, "early_seen", LINES - 1);
    expect(rig, "correct", 0);
    expect(rig, "added", 0);
    rig_close(rig);
}

/* Packets: predictions take 6 bits and answers one, unless these are in headers; a note asks for the
 * count of each entry's line, which takes 6 bits. */
static void payloads(void **state)
{
    for (u32 own = 0; own < 2; own++) {
        struct rig *rig = run(own ? ONE "loscache.accesses=2 loscache.in_header=false"
                                  : ONE "loscache.accesses=2",
                              twice);
        u32 notes = 0, answers = 0, reads = 0;
        for (size_t i = 0; i < l2_log.count; i++) {
            const struct l2_log_entry *e = &l2_log.entries[i];
            if (e->what == L2_LOG_REPLY && e->packet.client == CLIENT_MECHANISM) {
                notes++;
                assert_int_equal(e->packet.payload_bits, 6);
                assert_int_equal(e->packet.payload & PAYLOAD_COUNT, 2);
            } else if (e->what == L2_LOG_REPLY) {
                answers++;
                assert_int_equal(e->packet.payload_bits, own);
                assert_int_equal(e->packet.payload, 0);
            } else if (e->what == L2_LOG_EVENT && e->event.kind == CACHE_EVENT_READ) {
                assert_int_equal(e->packet.payload_bits, own ? 6 : 0);
                assert_int_equal(e->packet.payload & PAYLOAD_COUNT, reads < 2 ? 0 : 2);
                reads++;
            }
        }
        assert_int_equal(notes, 2);
        assert_int_equal(answers, 2 * LINES);
        assert_int_equal(reads, 2 * LINES);
        rig_close(rig);
    }
}

/* Each line is loaded once; later, some again. */
static const char once[] = BEGIN EACH_LINE LOAD("%r0") PAUSE("wait") NEXT_LINE
    " add.u64 %b, %a, 1024;\n" LOAD("%r1") " add.u64 %b, %a, 2048;\n" LOAD("%r2") END;

static void no_line_for_one_access(void **state)
{
    struct rig *rig = run(ONE "loscache.accesses=1", once);
    expect(rig, "bypassed", LINES - 1);
    expect(rig, "gated", 0);
    expect(rig, "wakeups", 1 + 2);
    expect(rig, "early", 2);
    expect(rig, "early_seen", 0); /* there is no tag */
    expect(rig, "predictions", LINES - 1);
    expect(rig, "correct", LINES - 1 - 2);
    rig_close(rig);
    /* a channel of four slices, each with one of the lines */
    rig = run(ONE "loscache.accesses=1 l2.channels=1 l2.slices=4 l2.slice_bytes=1024", once);
    expect(rig, "bypassed", LINES - 1);
    rig_close(rig);
    rig = run(ONE "loscache.accesses=1 loscache.bypass=false", once);
    expect(rig, "bypassed", 0);
    expect(rig, "gated", LINES - 1);
    expect(rig, "early", 2);
    expect(rig, "early_seen", 2);
    rig_close(rig);
}

/* From the second line on, both instructions load each line twice: the second access of the first one
 * finds the line gated, and its prediction grows, at most by three. */
static void adapts(void **state)
{
    static const char ptx[] = BEGIN
        "next: shr.u32 %r5, %k, 1; mul.wide.u32 %b, %r5, 1024; add.u64 %b, %b, %a;\n" LOAD("%r0")
            LOAD("%r1")
                PAUSE("wait") " setp.eq.u32 %s, %k, 0; @%s add.u32 %k, %k, 1;\n"
                              " add.u32 %k, %k, 1; setp.lt.u32 %q, %k, 12; @%q bra next;\n" END;
    struct rig *rig = run(ONE "loscache.accesses=2", ptx);
    expect(rig, "gated", 2 * 5);
    expect(rig, "early", 5);
    expect(rig, "early_seen", 5);
    expect(rig, "added", 3);
    expect(rig, "correct", 5);
    rig_close(rig);
    rig = run(ONE "loscache.accesses=2 loscache.most_added=0", ptx);
    expect(rig, "early_seen", 5);
    expect(rig, "added", 0);
    rig_close(rig);
}

/* The table is full; the line of an entry has left when its count is read back. */
static void no_prediction(void **state)
{
    struct rig *rig = run(ONE "loscache.accesses=2 loscache.entries=1", twice);
    expect(rig, "refused", 1);
    expect(rig, "read_backs", 1);
    expect(rig, "predicted", LINES - 1);
    expect(rig, "gated", 0);
    expect(rig, "late", LINES - 1); /* the first of two accesses is not the last */
    rig_close(rig);
    static const char gone[] = BEGIN " add.u64 %b, %a, 0;\n" LOAD("%r0") /* in the only line */
        EACH_LINE LOAD("%r1") NEXT_LINE PAUSE("wait") " add.u64 %b, %a, 0;\n" LOAD("%r2") END;
    rig = run(ONE "loscache.accesses=5 l2.channels=1 l2.sets=1 l2.ways=1", gone);
    expect(rig, "read_backs", 2);
    expect(rig, "unknown", 2); /* line 0, of both */
    expect(rig, "predicted", 0);
    rig_close(rig);
}

/* ---- stores ---- */

/* Two stores to each line; then each is loaded, and stored where results go. */
static const char stores[] = BEGIN EACH_LINE
    " add.u32 %r0, %k, 100; st.global.u32 [%b], %r0; add.u32 %r1, %k, 200; st.global.u32 [%b+4], "
    "%r1;\n" PAUSE("wait") NEXT_LINE " mov.u32 %k, 0;\n"
                                     "again: mul.wide.u32 %b, %k, 1024; add.u64 %b, %b, %a;\n"
                                     " ld.volatile.global.u32 %r3, [%b]; ld.volatile.global.u32 "
                                     "%r4, [%b+4]; add.u32 %r3, %r3, %r4;\n"
                                     " st.global.u32 [%b+32768], %r3; add.u32 %k, %k, 1; "
                                     "setp.lt.u32 %q, %k, 4; @%q bra again;\n" END;
#define CONTENT ONE "timing.content=true loscache.accesses=2 "

/* How many lines have the stored values, and were loaded with them. */
static u32 right_lines(struct rig *rig, hd_address memory)
{
    u32 right = 0;
    for (u32 k = 0; k < LINES; k++) {
        u32 stored[2], loaded;
        assert_true(hd_read(rig->device, stored, memory + k * STEP, sizeof stored, NULL));
        assert_true(hd_read(rig->device, &loaded, memory + 32768 + k * STEP, 4, NULL));
        right += stored[0] == 100 + k && stored[1] == 200 + k && loaded == 300 + 2 * k;
    }
    return right;
}

/* Gates without a write-back. */
static void forget_stores(void *memory, u32 slice, fs now, u64 cycle)
{
    struct loscache_memory *m = memory;
    struct loscache_slice *s = &m->slices[slice - m->first];
    for (u32 i = 0; i < s->due_count; i++)
        memory_system_lose(m->system, slice, s->due[i] / m->ways, s->due[i] % m->ways);
    loscache_l2_free(memory, slice, now, cycle);
}

static void gated_data_are_gone(void **state)
{
    hd_address memory;
    struct rig *rig = run_with(available, CONTENT, stores, &memory);
    assert_int_equal(right_lines(rig, memory), LINES);
    expect(rig, "gated", LINES - 1);
    expect(rig, "gated_dirty", LINES - 1);
    expect(rig, "early", LINES - 1);
    expect(rig, "early_seen", LINES - 1);
    rig_close(rig);
    struct mechanism crooked = loscache_mechanism;
    crooked.l2_free = forget_stores;
    const struct mechanism *const wrong[] = {&l2_log_mechanism, &crooked, NULL};
    rig = run_with(wrong, CONTENT, stores, &memory);
    expect(rig, "gated", LINES - 1);
    assert_int_equal(right_lines(rig, memory), 1); /* the line that teaches is not gated */
    rig_close(rig);
}

/* Stores that are predicted to be the only access go to memory. */
static void stores_without_a_line(void **state)
{
    static const char ptx[] = BEGIN EACH_LINE
        " add.u32 %r0, %k, 100; st.global.u32 [%b], %r0;\n" PAUSE("wait") NEXT_LINE END;
    hd_address memory;
    struct rig *rig =
        run_with(available, ONE "timing.content=true loscache.accesses=1", ptx, &memory);
    expect(rig, "bypassed", LINES - 1);
    expect(rig, "wakeups", 1);
    assert_int_equal(stat(rig, "l2.dram_writes"), LINES - 1);
    for (u32 k = 0; k < LINES; k++) {
        u32 word;
        assert_true(hd_read(rig->device, &word, memory + k * STEP, 4, NULL));
        assert_int_equal(word, 100 + k);
    }
    rig_close(rig);
}

/* ---- power over time, against the log ---- */

/* Time in which lines have power, by the first access to each place and the gating of it; ideal: by its
 * first and last access. No line leaves otherwise. */
static u64 powered_fs(bool ideal)
{
    u64 sum = 0;
    fs end = 0;
    for (size_t i = 0; i < l2_log.count; i++)
        end = l2_log.entries[i].what == L2_LOG_SETTLED ? l2_log.entries[i].time : end;
    for (size_t i = 0; i < l2_log.count; i++) {
        const struct l2_log_entry *first = &l2_log.entries[i];
        if (first->what != L2_LOG_EVENT || first->event.kind == CACHE_EVENT_DROPPED)
            continue;
        fs last = first->time, off = end;
        for (size_t k = 0; k < l2_log.count; k++) {
            const struct l2_log_entry *e = &l2_log.entries[k];
            if (e->what != L2_LOG_EVENT || e->slice != first->slice ||
                e->event.place != first->event.place)
                continue;
            if (k < i && e->event.kind != CACHE_EVENT_DROPPED)
                last = 0; /* not its first event */
            else if (k < i)
                last = first->time;
            else if (e->event.kind == CACHE_EVENT_DROPPED) {
                off = e->time;
                break;
            } else if (e->event.kind != CACHE_EVENT_FILLED && last)
                last = e->time;
        }
        sum += !last ? 0 : (ideal ? last : off) - first->time;
    }
    return sum;
}

static void power(void **state)
{
    struct rig *rig = run(ONE "loscache.accesses=2", twice);
    assert_in_range(powered_fs(false) / 1000 - stat(rig, "loscache.powered_ps"), 0, 6);
    assert_in_range(stat(rig, "loscache.line_ps") - 6144 * stat(rig, "timing.picoseconds"), 0,
                    6144);
    const u64 gated = stat(rig, "loscache.powered_ps"), misses = stat(rig, "l2.read_misses");
    const u64 cycles = stat(rig, "timing.cycles");
    rig_close(rig);
    rig = run(ONE "loscache.gating=ideal", twice);
    assert_in_range(powered_fs(true) / 1000 - stat(rig, "loscache.powered_ps"), 0, 6);
    assert_true(stat(rig, "loscache.powered_ps") > 0);
    assert_true(stat(rig, "loscache.powered_ps") < gated);
    assert_int_equal(stat(rig, "l2.read_misses"), misses);
    const u64 ideal_cycles = stat(rig, "timing.cycles");
    expect(rig, "lookups", 0);
    expect(rig, "gated", 0);
    rig_close(rig);
    rig = run("gpu.cores=1 l2.sectored=false", twice);
    assert_int_equal(stat(rig, "timing.cycles"), ideal_cycles); /* as without it */
    assert_true(cycles >= ideal_cycles);
    rig_close(rig);
    /* three accesses to each line: power goes on from the second to the third */
    static const char thrice[] = BEGIN EACH_LINE LOAD("%r0") PAUSE("wait") LOAD("%r1") PAUSE("more")
        LOAD("%r2") NEXT_LINE END;
    rig = run(ONE "loscache.gating=ideal", thrice);
    assert_in_range(powered_fs(true) / 1000 - stat(rig, "loscache.powered_ps"), 0, 6);
    rig_close(rig);
}

/* ---- storage ---- */

/* Rows of the mechanism: entries of a copy, copies, bits. */
static void storage(void **state)
{
    static const struct {
        const char *row;
        u64 entries, copies;
        u32 bits;
        bool searched;
    } rows[] = {
        /* 21 entries: a PC of 32 bits, which are searched; a line's 25 bits of address and a count of 6 */
        {"loscache.pcs", 21, 15, 32, true},
        {"loscache.table", 21, 15, 31, false},
        {"loscache.added", 21, 15, 3, false},
        /* 6 channels of 1 slice with 1024 lines of 128 bytes */
        {"loscache.counts", 1024, 6, 6, false},
        {"loscache.powered", 1024, 6, 1, false},
        /* as many as l2.waiters */
        {"loscache.waiting", 1024, 6, 6, false},
    };
    for (u32 ideal = 0; ideal < 2; ideal++) {
        struct hd_config *config = config_with(available);
        struct hd_error error = {0};
        struct state_list list = {0};
        assert_true(hd_config_load(config, "fermi15-l2", &error));
        assert_true(hd_config_set(config, "loscache.on=true", &error));
        assert_true(hd_config_set(
            config, ideal ? "loscache.gating=ideal" : "loscache.gating=predicted", &error));
        storage_collect(&list, config->config);
        mechanisms_storage(&list, config->config, available);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const struct state_row *row = state_find(&list, rows[i].row);
            assert_int_equal(row != NULL, !ideal);
            if (row && (row->entries != rows[i].entries || row->copies != rows[i].copies ||
                        row->bits != rows[i].bits || row->shape.searched != rows[i].searched))
                fail_msg("%s: %" PRIu64 " x %u bits, %" PRIu64 " times", rows[i].row,
                         (u64)row->entries, row->bits, (u64)row->copies);
        }
        state_free(&list);
        hd_config_destroy(config);
    }
}

/* ---- the predictor ---- */

static const struct loscache *state_of(const struct rig *rig)
{
    return core_mechanism(timing_core(rig->device->timing, 0), &loscache_mechanism);
}

/* Two blocks of a warp; the one that is drawn ends first if it has priority. */
static void priority(void **state)
{
    static const char ptx[] = BEGIN
        "loop: add.u32 %k, %k, 1; add.u32 %r0, %r0, %k; add.u32 %r1, %r1, %k; add.u32 %r2, %r2, "
        "%k;\n"
        " add.u32 %r3, %r3, %k; add.u32 %r4, %r4, %k; add.u32 %r5, %r5, %k; add.u32 %r6, %r6, %k;\n"
        " setp.lt.u32 %q, %k, 40; @%q bra loop;\n" END;
    u32 drawn[2] = {0};
    for (u32 seed = 1; seed <= 8; seed++) {
        char settings[256];
        snprintf(settings, sizeof settings,
                 "gpu.cores=1 issue.policy=lrr issue.schedulers=1 loscache.on=true launch.seed=%u",
                 seed);
        struct rig *rig = rig_open_with(available, "fermi15-l2", settings, ptx);
        rig_run(rig, 2, 32, rig_memory(rig, 4096));
        const u32 place = state_of(rig)->place;
        assert_true(place < 2);
        drawn[place]++;
        /* blocks are of one warp: places are slots */
        assert_true(issued_before_end(rig, 0, place, 0) + 20 <
                    issued_before_end(rig, 0, !place, 0));
        rig_close(rig);
    }
    assert_true(drawn[0] && drawn[1]);
    struct rig *rig = rig_open_with(
        available, "fermi15-l2",
        "gpu.cores=1 issue.policy=lrr issue.schedulers=1 loscache.on=true loscache.priority=false",
        ptx);
    rig_run(rig, 2, 32, rig_memory(rig, 4096));
    const u64 ends[] = {issued_before_end(rig, 0, 0, 0), issued_before_end(rig, 0, 1, 0)};
    assert_true(ends[0] < ends[1] + 20 && ends[1] < ends[0] + 20);
    rig_close(rig);
}

/* The phase ends with its block; another launch starts again. */
static void phases(void **state)
{
    struct rig *rig = rig_open_with(available, "fermi15-l2", ONE, twice);
    const hd_address memory = rig_memory(rig, 1 << 16);
    for (u32 i = 0; i < 2; i++) {
        rig_run(rig, 1, 1, memory);
        expect(rig, "launches", 1);
        expect(rig, "predicting_accesses", 2 * LINES);
        expect(rig, "inserts", 2);
        expect(rig, "gated", 0);
        assert_int_equal(state_of(rig)->phase, PHASE_READING);
    }
    rig_close(rig);
}

/* Another launch accesses the lines again whose last access was predicted before; the first is not one. */
static void accessed_in_a_later_launch(void **state)
{
    struct rig *rig = rig_open_with(available, "fermi15-l2", ONE "loscache.accesses=2", twice);
    const hd_address memory = rig_memory(rig, 1 << 16);
    for (u32 i = 0; i < 2; i++) {
        rig_run(rig, 1, 1, memory);
        expect(rig, "predictions", LINES - 1);
        expect(rig, "early", 0);
        expect(rig, "early_before", i * (LINES - 1));
    }
    rig_close(rig);
}

static int forget(void **state)
{
    l2_log_forget();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(gates_after_the_last_access, forget),
        cmocka_unit_test_setup(compares_first, forget),
        cmocka_unit_test_setup(payloads, forget),
        cmocka_unit_test_setup(no_line_for_one_access, forget),
        cmocka_unit_test_setup(adapts, forget),
        cmocka_unit_test_setup(no_prediction, forget),
        cmocka_unit_test_setup(gated_data_are_gone, forget),
        cmocka_unit_test_setup(stores_without_a_line, forget),
        cmocka_unit_test_setup(power, forget),
        cmocka_unit_test_setup(storage, forget),
        cmocka_unit_test_setup(priority, forget),
        cmocka_unit_test_setup(accessed_in_a_later_launch, forget),
        cmocka_unit_test_teardown(phases, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
