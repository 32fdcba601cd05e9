/*
 * GR-Guard on small programs and with faults placed by hand: what an access to a patch takes, what
 * is counted, and what happens to values of threads that are not there.
 */
#include "micro/rig.h"

#include "gpu/device.h"
#include "mech/gr_guard.h"
#include "model/array.h"
#include <math.h>

extern const struct mechanism gr_guard_mechanism;
static const struct mechanism *const available[] = {&gr_guard_mechanism, NULL};

enum {
    WARP = 32,
    STAGES = 4,        /* issue to entering the unit */
    UNIT_REGISTERS = 2 /* and into and out of it */
};

#define ONE "gpu.cores=1 gr_guard.on=true gr_guard.faulty=0 gr_guard.single=0 "
#define KERNEL                                                                           \
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a, %b, %c, %d<64>;"       \
         " .reg .b32 %t, %i, %r<300>; .reg .pred %q<8>; .shared .align 4 .b8 s[4096];\n" \
         " ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x;\n"
/* %r0 of each thread goes to its place. */
#define STORE                                                                                \
    " mov.u32 %r299, %ntid.x; mad.lo.u32 %r298, %i, %r299, %t; mul.wide.u32 %a, %r298, 4;\n" \
    " add.u64 %a, %a, %p; st.global.u32 [%a], %r0;\n ret;\n}\n"

static struct rig *open_rig(const char *settings, const char *ptx)
{
    return rig_open_with(available, "fermi15-lv", settings, ptx);
}

static struct gr_guard *state_of(const struct rig *rig)
{
    return timing_core(rig->device->timing, 0)->hooks.uses[1].state; /* behind the log's */
}

/* Entries of a row are faulty, with cells that are stuck at 0101... */
static void make_faulty(struct gr_guard *g, u32 row, entry_set entries)
{
    const u32 at = row % g->banks * g->span * 64 + row / g->banks;
    g->rows[row].faulty = entries;
    for (u32 e = 0; e < g->entries; e++) {
        if (!(entries >> e & 1))
            continue;
        g->faulty[e][at / 64] |= 1ull << at % 64;
        for (u32 lane = 4 * e; lane < 4 * e + 4; lane++) {
            g->fails[row * WARP + lane] = ~0u;
            g->preferred[row * WARP + lane] = 0x55555555;
        }
    }
}

/* No other faults than those that are placed. */
static struct gr_guard *faults_by_hand(struct rig *rig)
{
    struct gr_guard *g = state_of(rig);
    g->made = true;
    return g;
}

/* Entry 0 is faulty in all rows but those of a bank from `first` on. */
static void all_but(struct gr_guard *g, u32 bank, u32 first, entry_set entries)
{
    for (u32 row = 0; row < g->count; row++)
        if (row % g->banks != bank || row / g->banks < first)
            make_faulty(g, row, entries);
}

/* ---- time ---- */

/* A chain of additions to one register; returns the cycles of a link. Its registers are few. */
enum {
    LINKS = 12
};
static u64 link_of(struct rig *rig)
{
    rig_run(rig, 1, WARP, rig_memory(rig, 4096));
    const u64 first = issued_at(rig, 0, 0, 10), last = issued_at(rig, 0, 0, 6 + LINKS);
    assert_int_equal((last - first) % (LINKS - 4), 0);
    return (last - first) / (LINKS - 4); /* after some, when the pipeline is empty */
}

static char *chain(const char *step, u32 links)
{
    struct text text = {0};
    add(&text, "%s mov.u32 %%r1, %%t; mov.u32 %%r2, 3; mov.u32 %%r3, 4; mov.u32 %%r4, 5;\n",
        KERNEL);
    for (u32 i = 0; i < links; i++)
        add(&text, "%s", step);
    add(&text, "%s",
        " add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r0, %r1, %r2;\n" STORE);
    return text.data;
}

/* A patch in the same bank takes a cycle more, in another bank too if nothing else is read there;
 * two in one other bank one more than that. */
static void patches_take_a_cycle(void **state)
{
    char *text = chain(" add.u32 %r1, %r1, 1;\n", LINKS);
    struct rig *rig = open_rig(ONE, text);
    const u64 normal = link_of(rig);
    assert_int_equal(normal, STAGES + param(rig, "units.int_add") + UNIT_REGISTERS);
    rig_close(rig);
    for (u32 bank = 0; bank < 4; bank++) { /* that has good rows, which no register is in */
        rig = open_rig(ONE, text);
        all_but(faults_by_hand(rig), bank, 128, 1);
        assert_int_equal(link_of(rig), normal + 1);
        assert_true(stat(rig, "gr_guard.same_bank") > 0);
        assert_true(stat(rig, "gr_guard.other_bank") > 0);
        rig_close(rig);
    }
    /* no row is good: a line of the L1, or memory */
    rig = open_rig(ONE, text);
    all_but(faults_by_hand(rig), 0, 1000, 1);
    assert_int_equal(link_of(rig), normal + param(rig, "l1d.latency"));
    rig_close(rig);
    rig = open_rig(ONE "gr_guard.line_cycles=3", text);
    all_but(faults_by_hand(rig), 0, 1000, 1);
    assert_int_equal(link_of(rig), normal + 3);
    rig_close(rig);
    rig = open_rig(ONE "gr_guard.spill=false gr_guard.memory_cycles=77", text);
    all_but(faults_by_hand(rig), 0, 1000, 1);
    assert_int_equal(link_of(rig), normal + 77);
    rig_close(rig);
    free(text);
}

/* A chain with a second source in another bank than the first. */
static char *two_banks(u64 *normal)
{
    for (u32 r = 2; r <= 4; r++) { /* these are all live, in registers that follow each other */
        char step[100];
        snprintf(step, sizeof step, " add.u32 %%r1, %%r1, %%r%u;\n", r);
        char *text = chain(step, LINKS);
        struct rig *rig = open_rig(ONE, text);
        *normal = link_of(rig);
        const bool found = *normal == STAGES + param(rig, "units.int_add") + UNIT_REGISTERS;
        rig_close(rig);
        if (found)
            return text;
        free(text);
    }
    fail_msg("all in one bank");
    return NULL;
}

/* Two sources that are patched in the same bank, which serves one of them after the other. */
static void patches_wait_for_each_other(void **state)
{
    u64 normal;
    char *text = two_banks(&normal);
    for (u32 bank = 0; bank < 4; bank++) {
        struct rig *rig = open_rig(ONE, text);
        all_but(faults_by_hand(rig), bank, 128, 1);
        assert_int_equal(link_of(rig), normal + 2);
        rig_close(rig);
    }
    free(text);
}

/* ---- counts ---- */

struct counts {
    u64 accesses, normal, patched, occupied, spilled, selections, releases, index_writes,
        index_reads, patch_writes, patch_reads, faulty_reads, spill_reads, spill_writes,
        bank_searches, entry_searches, dead_writes, spill_peak;
};

static struct counts counts_of(const char *settings, u32 links, u32 bank, u32 first, u32 threads)
{
    char *text = chain(" add.u32 %r1, %r1, 1;\n", links);
    struct rig *rig = open_rig(settings, text);
    all_but(faults_by_hand(rig), bank, first, 1 << 3 | 1 << 5);
    rig_run(rig, 1, threads, rig_memory(rig, 4096));
    struct counts c;
#define GET(name) c.name = stat(rig, "gr_guard." #name)
    GET(accesses), GET(normal), GET(patched), GET(occupied), GET(spilled), GET(selections);
    GET(releases), GET(index_writes), GET(index_reads), GET(patch_writes), GET(patch_reads);
    GET(faulty_reads), GET(spill_reads), GET(spill_writes), GET(bank_searches);
    GET(entry_searches), GET(dead_writes), GET(spill_peak);
#undef GET
    rig_close(rig);
    free(text);
    return c;
}

/* What ten more links add, per link: a register is read and written, and gets a new patch. */
static void links_are_counted_by_hand(void **state)
{
    struct counts few = counts_of(ONE, 10, 2, 128, WARP), many = counts_of(ONE, 20, 2, 128, WARP);
#define PER_LINK(name) ((many.name - few.name) / 10)
    assert_int_equal(PER_LINK(accesses), 16); /* 8 entries read, 8 written */
    assert_int_equal(PER_LINK(normal), 12);
    assert_int_equal(PER_LINK(patched), 4); /* entries 3 and 5 */
    assert_int_equal(PER_LINK(occupied) + PER_LINK(spilled), 0);
    assert_int_equal(PER_LINK(selections), 1);
    assert_int_equal(PER_LINK(releases), 1);
    assert_int_equal(PER_LINK(index_writes), 1);
    assert_int_equal(PER_LINK(index_reads), 2);
    assert_int_equal(PER_LINK(patch_writes), 2);
    assert_int_equal(PER_LINK(patch_reads), 2);
    assert_int_equal(PER_LINK(faulty_reads), 16);
    assert_in_range(PER_LINK(bank_searches), 1, 4);
    assert_int_equal(PER_LINK(entry_searches), 2 * PER_LINK(bank_searches));
    assert_int_equal(PER_LINK(dead_writes), 0); /* it is read and written: it lives on */
    assert_int_equal(many.spill_peak, 0);
    /* 17 threads: 5 entries, among them 3 */
    few = counts_of(ONE, 10, 2, 128, 17), many = counts_of(ONE, 20, 2, 128, 17);
    assert_int_equal(PER_LINK(accesses), 10);
    assert_int_equal(PER_LINK(patched), 2);
    /* in lines of the L1 */
    few = counts_of(ONE, 10, 0, 1000, WARP), many = counts_of(ONE, 20, 0, 1000, WARP);
    assert_int_equal(PER_LINK(normal), 12);
    assert_int_equal(PER_LINK(spilled), 4);
    assert_int_equal(PER_LINK(spill_reads), 1);
    assert_int_equal(PER_LINK(spill_writes), 1);
    assert_true(few.spill_peak > 0 && few.spill_peak == many.spill_peak);
    assert_int_equal(PER_LINK(bank_searches), 4);
    assert_int_equal(PER_LINK(patch_writes), 0);
#undef PER_LINK
}

/* Registers whose rows are lent when they are written have these entries elsewhere. */
static void lent_entries_are_occupied(void **state)
{
    char *text = chain(" add.u32 %r1, %r1, 1;\n", 4);
    u64 occupied = 0;
    for (u32 bank = 0; bank < 4;
         bank++) { /* its lowest rows, which are lent first, are the warp's */
        struct rig *rig = open_rig(ONE, text);
        struct gr_guard *g = faults_by_hand(rig);
        all_but(g, bank, 0, 1 << 2);
        rig_run(rig, 1, WARP, rig_memory(rig, 4096));
        /* the entry is faulty in three banks and lent in one: all others are in their place */
        assert_int_equal(stat(rig, "gr_guard.accesses"), stat(rig, "gr_guard.normal") +
                                                             stat(rig, "gr_guard.patched") +
                                                             stat(rig, "gr_guard.occupied"));
        assert_true(stat(rig, "gr_guard.normal") * 8 >= stat(rig, "gr_guard.accesses") * 7);
        occupied += stat(rig, "gr_guard.occupied");
        rig_close(rig);
    }
    assert_true(occupied > 0);
    free(text);
}

/* ---- values ---- */

typedef u32 expected_fn(u32 block, u32 thread);

static const char *const chips[] = {
    "gr_guard.faulty=0",
    "gr_guard.faulty=30 gr_guard.single=30",
    "gr_guard.faulty=30 gr_guard.patches=unallocated launch.seed=4",
    "gr_guard.faulty=70 gr_guard.ecc=false launch.seed=2",
    "gr_guard.faulty=97",
    "gr_guard.faulty=50 gr_guard.spill=false launch.seed=9 issue.policy=lrr",
};

static void same_on_all_chips(const char *ptx, u32 blocks, u32 threads, expected_fn *expected)
{
    for (u32 c = 0; c < ARRAY_LEN(chips); c++) {
        char settings[256];
        snprintf(settings, sizeof settings, "gpu.cores=1 gr_guard.on=true gr_guard.single=0 %s",
                 chips[c]);
        struct rig *rig = open_rig(settings, ptx);
        const u64 bytes = (u64)blocks * threads * sizeof(u32);
        const hd_address at = rig_memory(rig, bytes + 4096);
        u32 *words = calloc(bytes, 1);
        struct hd_error error;
        rig_run(rig, blocks, threads, at);
        assert_true(hd_read(rig->device, words, at, bytes, &error));
        for (u32 i = 0; i < blocks * threads; i++)
            if (words[i] != expected(i / threads, i % threads))
                fail_msg("%s: thread %u of block %u has %u, not %u", chips[c], i % threads,
                         i / threads, words[i], expected(i / threads, i % threads));
        free(words);
        rig_close(rig);
    }
}

/* Threads write their lanes of a register one part after the other: by guards and behind branches,
 * a pair among them. The register's patch must stay until all have read it. */
static const char divergent[] =
    KERNEL " mov.u32 %r1, 100; mov.u32 %r2, 7; mov.u64 %d2, 5; and.b32 %r3, %t, 1;"
           " setp.ne.u32 %q1, %r3, 0;\n"
           " @%q1 add.u32 %r1, %r1, 2;\n"
           " @%q1 mov.u32 %r2, %t;\n"
           " @!%q1 bra over;\n"
           " add.u64 %d2, %d2, 1; add.u32 %r5, %r2, 0; mov.u32 %r6, %r5; mov.u32 %r2, %r6;\n"
           "over: cvt.u32.u64 %r4, %d2; shl.b32 %r4, %r4, 16; add.u32 %r0, %r1, %r2;"
           " add.u32 %r0, %r0, %r4;\n" STORE;

static u32 divergent_value(u32 block, u32 t)
{
    return t & 1 ? 102 + t + (6u << 16) : 107 + (5u << 16);
}

/* Threads leave a loop one after the other, and some the kernel. */
static const char loop[] =
    KERNEL " and.b32 %r1, %t, 7; mov.u32 %r2, 0; mov.u32 %r0, 1;\n"
           "again: add.u32 %r2, %r2, 1; mad.lo.u32 %r0, %r0, 3, %r2; setp.lt.u32 %q1, %r2, %r1;\n"
           " @%q1 bra again;\n setp.eq.u32 %q2, %r1, 5; @%q2 bra out; add.u32 %r0, %r0, %i;\n"
           "out: add.u32 %r0, %r0, %t;\n" STORE;

static u32 loop_value(u32 block, u32 t)
{
    u32 value = 1, n = 0;
    do {
        n++;
        value = value * 3 + n;
    } while (n < (t & 7));
    return value + ((t & 7) == 5 ? 0 : block) + t;
}

/* A function that is called in a branch, by some threads only, while their warp holds values. */
static const char calls[] =
    HEAD ".func (.reg .b32 %o) f(.reg .b32 %x)\n{\n .reg .b32 %y; mul.lo.u32 %y, %x, %x;"
         " add.u32 %o, %y, %x; ret;\n}\n"
         ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a; .reg .b32 %t, %i, %r<300>;"
         " .reg .pred %q1;\n ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x;\n"
         " add.u32 %r1, %t, 1000; mov.u32 %r0, 0; setp.gt.u32 %q1, %t, 11;\n"
         " @%q1 bra over; call (%r0), f, (%t); add.u32 %r0, %r0, %r1;\n"
         "over: add.u32 %r0, %r0, %r1;\n" STORE;

static u32 calls_value(u32 block, u32 t)
{
    return (t > 11 ? 0 : t * t + t + t + 1000) + t + 1000;
}

static void values_survive(void **state)
{
    same_on_all_chips(divergent, 3, 2 * WARP, divergent_value);
    same_on_all_chips(divergent, 2, WARP + 17, divergent_value);
    same_on_all_chips(loop, 6, 8 * WARP, loop_value);
    same_on_all_chips(loop, 3, WARP + 5, loop_value);
    same_on_all_chips(calls, 2, 2 * WARP, calls_value);
}

/* A register dies where all threads of its warp read it last; not where some do. */
static void registers_die_with_all_threads(void **state)
{
    static const char together[] =
        KERNEL " add.u32 %r1, %t, 5; add.u32 %r2, %t, 6; add.u32 %r0, %r1, %r2;\n" STORE;
    static const char apart[] =
        KERNEL " add.u32 %r1, %t, 5; add.u32 %r2, %t, 6; mov.u32 %r0, 0; setp.lt.u32 %q1, %t, 9;\n"
               " @%q1 bra over; add.u32 %r0, %r1, %r2;\nover:\n" STORE;
    struct rig *rig = open_rig(ONE, together);
    rig_run(rig, 1, WARP, rig_memory(rig, 4096));
    assert_int_equal(stat(rig, "gr_guard.divergent_bits"), 0);
    assert_int_equal(stat(rig, "gr_guard.dead_marks"), stat(rig, "gr_guard.dead_bits") + 2);
    rig_close(rig);
    rig = open_rig(ONE, apart);
    rig_run(rig, 1, WARP, rig_memory(rig, 4096));
    assert_int_equal(stat(rig, "gr_guard.divergent_bits"), 2);
    rig_close(rig);
}

/* ---- chips ---- */

/* Weak cells of a chip of one core: the bit of an entry (128 and more: check bits) and V_min. */
static const struct {
    u32 bank, index, bit;
    bool prefers;
    f64 vmin;
} weak[] = {
    {8 + 3, 5, 7, true, 1.0},  {8 + 3, 5, 40, false, 0.9}, /* two of an entry */
    {2, 9, 31, true, 0.9},                                 /* one */
    {31, 255, 127, true, 0.9}, {31, 255, 130, true, 0.95}, /* one, and a check bit */
    {31, 200, 0, true, 0.8},
};

static struct chip *chip_by_hand(struct arena *arena)
{
    struct chip *chip = arena_new(arena, struct chip);
    struct error error;
    assert_true(file_plan_make(&chip->plan, 1, 32768, 32, 128, 32, &error));
    chip->plan.check_bits = 9;
    chip->floor = 0.5;
    chip->cores = arena_new(arena, struct chip_core);
    const u32 entries = chip->plan.banks * chip->plan.entries;
    chip->cores->first = arena_array(arena, u32, entries + 1);
    chip->cores->cells = arena_array(arena, struct weak_cell, ARRAY_LEN(weak));
    u32 count = 0;
    for (u32 e = 0; e < entries; e++) {
        chip->cores->first[e] = count;
        for (u32 half = 0; half < 2; half++) /* by falling V_min */
            for (u32 i = 0; i < ARRAY_LEN(weak); i++)
                if (entry_index(&chip->plan, weak[i].bank, weak[i].index) == e &&
                    (weak[i].vmin > 0.92) != half)
                    chip->cores->cells[count++] = (struct weak_cell){
                        (u16)(weak[i].bit | (weak[i].prefers ? CELL_PREFERS : 0)),
                        (u16)(weak[i].vmin * VMIN_ONE)};
    }
    chip->cores->first[entries] = count;
    assert_int_equal(count, ARRAY_LEN(weak));
    return chip;
}

/* Faulty and repaired entries of the rows that the weak cells are in. */
static void check_chip(const char *settings, const u16 faulty[4], const u16 single[4])
{
    static const u32 rows[4] = {5 * 4 + 1, 9 * 4 + 0, 255 * 4 + 3, 200 * 4 + 3};
    struct arena *arena = arena_create();
    char text[200];
    snprintf(text, sizeof text, "gpu.cores=1 gr_guard.on=true %s", settings);
    struct rig *rig = open_rig(text, divergent);
    timing_core(rig->device->timing, 0)->config.chip = chip_by_hand(arena);
    rig_run(rig, 1, WARP, rig_memory(rig, 4096));
    const struct gr_guard *g = state_of(rig);
    u32 others = 0;
    for (u32 row = 0; row < g->count; row++)
        others += g->rows[row].faulty || g->rows[row].single;
    for (u32 i = 0; i < 4; i++) {
        assert_int_equal(g->rows[rows[i]].faulty, faulty[i]);
        assert_int_equal(g->rows[rows[i]].single, single[i]);
        others -= faulty[i] || single[i];
    }
    assert_int_equal(others, 0);
    assert_int_equal(g->fails[21 * WARP + 4 * 3 + 0], faulty[0] || single[0] ? 1 << 7 : 0);
    assert_int_equal(g->preferred[21 * WARP + 4 * 3 + 0], faulty[0] || single[0] ? 1 << 7 : 0);
    assert_int_equal(g->fails[21 * WARP + 4 * 3 + 1], faulty[0] ? 1 << 8 : 0);
    assert_int_equal(g->preferred[21 * WARP + 4 * 3 + 1], 0);
    rig_close(rig);
    arena_destroy(arena);
}

#define SETS(...)   \
    (const u16[4])  \
    {               \
        __VA_ARGS__ \
    }

static void cells_fail_as_the_chip_says(void **state)
{
    check_chip("gr_guard.failing=0 gr_guard.vdd=0.85", SETS(8, 0, 128, 0), SETS(0, 4, 0, 0));
    check_chip("gr_guard.failing=0 gr_guard.vdd=0.7", SETS(8, 0, 128, 0), SETS(0, 4, 0, 128));
    check_chip("gr_guard.failing=0 gr_guard.vdd=0.93", SETS(0, 0, 0, 0), SETS(8, 0, 128, 0));
    check_chip("gr_guard.failing=0 gr_guard.vdd=0.85 gr_guard.ecc=false", SETS(8, 4, 128, 0),
               SETS(0, 0, 0, 0));
    /* 5 of 8192 entries of 137 cells: those above 0.8 V */
    check_chip("gr_guard.failing=0.00045", SETS(8, 0, 128, 0), SETS(0, 4, 0, 0));
    check_chip("gr_guard.failing=0.0002", SETS(0, 0, 0, 0), SETS(8, 0, 128, 0)); /* 2 */
}

/* ---- the L1 ---- */

/* 128 lines, which fill the L1, are read twice: the second time all hit, unless a way is reserved
 * for spilled registers. */
static u64 hits_with(const char *settings, bool faulty)
{
    static const char ptx[] =
        KERNEL " mul.wide.u32 %b, %t, 4; add.u64 %b, %b, %p; mov.u32 %r1, 0;\n"
               "again: and.b32 %r2, %r1, 127; shl.b32 %r2, %r2, 7; cvt.u64.u32 %c, %r2;\n"
               " add.u64 %c, %c, %b; ld.global.u32 %r3, [%c]; add.u32 %r4, %r3, 1;\n"
               " add.u32 %r1, %r1, 1; setp.lt.u32 %q1, %r1, 256; @%q1 bra again;\n ret;\n}\n";
    char text[256];
    snprintf(text, sizeof text, ONE "l1d.hashed=false %s", settings);
    struct rig *rig = open_rig(text, ptx);
    struct gr_guard *g = faults_by_hand(rig);
    for (u32 row = 0; faulty && row < g->count; row++)
        make_faulty(g, row, 1);
    rig_run(rig, 1, WARP, rig_memory(rig, 65536));
    const u64 hits = stat(rig, "l1d.read_hits");
    rig_close(rig);
    return hits;
}

static void the_l1_loses_a_way(void **state)
{
    assert_int_equal(hits_with("", false), 128);
    assert_int_equal(hits_with("gr_guard.spill=false", true), 128);
    assert_int_equal(hits_with("", true), 0); /* four lines of a set take turns in three ways */
    assert_int_equal(hits_with("l1d.ways=5", true), 128);
}

/* ---- energy ---- */

/* Dynamic energy goes with the square of the supply; leakage with the technology's law, for as much
 * longer as inverters are slower. */
static void energy_follows_the_supply(void **state)
{
    f64 dynamic[2], leakage[2];
    for (u32 low = 0; low < 2; low++) {
        struct rig *rig = open_rig(low ? ONE "gr_guard.vdd=0.8" : ONE "gr_guard.vdd=1", divergent);
        rig_run(rig, 1, WARP, rig_memory(rig, 4096));
        char *text = hd_stats_json(rig->device);
        json_t *all = json_loads(text, 0, NULL), *totals = json_object_get(all, "totals");
        dynamic[low] =
            json_number_value(json_object_get(totals, "energy.parts.registers.dynamic_pj"));
        leakage[low] =
            json_number_value(json_object_get(totals, "energy.parts.registers.static_pj"));
        json_decref(all);
        hd_free(text);
        rig_close(rig);
    }
    const struct technology high = {28, 1.0, 0}, low = {28, 0.8, 0};
    const f64 slower = pow((1.0 - 0.35) / (0.8 - 0.35), 1.3) * 0.8; /* the alpha-power law */
    assert_true(fabs(scale_delay(&high, &low) / slower - 1) < 1e-9);
    assert_true(fabs(dynamic[1] / dynamic[0] - 0.64) < 1e-4);
    assert_true(leakage[1] < leakage[0] * 0.8 * slower);
    assert_true(leakage[1] > leakage[0] * 0.8 * slower * 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_take_a_cycle),
        cmocka_unit_test(patches_wait_for_each_other),
        cmocka_unit_test(links_are_counted_by_hand),
        cmocka_unit_test(lent_entries_are_occupied),
        cmocka_unit_test(values_survive),
        cmocka_unit_test(registers_die_with_all_threads),
        cmocka_unit_test(cells_fail_as_the_chip_says),
        cmocka_unit_test(the_l1_loses_a_way),
        cmocka_unit_test(energy_follows_the_supply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
