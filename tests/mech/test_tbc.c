/*
 * Thread block compaction, and large warps, which share its code: what is stored stays the same, warps that are formed are those that one
 * counts by hand, warps are at home again where threads meet, and a kernel with a divergent region of
 * vector instructions is faster at every degree of divergence and unchanged without.
 */
#include "micro/pair.h"

#include "gpu/device.h"

extern const struct mechanism tbc_mechanism, lwm_mechanism;
static const struct mechanism *const available[] = {&tbc_mechanism, &lwm_mechanism, NULL};

enum {
    WARP = 32
};

/* %t is the number of the thread in the block, %l its lane, %w its warp. */
#define BEGIN                                                                                    \
    HEAD ".func (.reg .b32 %o) odd(.reg .b32 %i)\n{ .reg .b32 %b; .reg .pred %q; and.b32 %b, "   \
         "%i, 1; setp.ne.u32 %q, %b, 0;\n @%q bra L; add.u32 %o, %i, 7; ret;\nL: mul.lo.u32 %o," \
         " %i, 3; ret;\n}\n"                                                                     \
         ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a; .reg .b32 %t, %l, %w, "        \
         "%r<16>; .reg .pred %q<8>; .shared .align 4 .b8 s[4096];\n ld.param.u64 %p, [p]; "      \
         "mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; and.b32 %l, %t, 31; mov.u32 %r0, 0;"            \
         " xor.b32 %r1, %l, %w; and.b32 %r1, %r1, 1; setp.eq.u32 %q0, %r1, 0;"                   \
         " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r3, %r2, %r3, %t;\n"
/* %r0 of each thread goes to its place. */
#define END "\n mul.wide.u32 %a, %r3, 4; add.u64 %a, %a, %p; st.global.u32 [%a], %r0;\n ret;\n}\n"

static struct rig *open_rig(const char *settings, const char *body)
{
    char all[512], *text = NULL;
    assert_true(asprintf(&text, "%s%s%s", BEGIN, body, END) > 0);
    snprintf(all, sizeof all, "gpu.cores=1 %s", settings);
    struct rig *rig = rig_open_with(available, "gtx480", all, text);
    free(text);
    return rig;
}

/* Runs a program without and with a mechanism: stores and thread instructions are the same. */
static struct pair compare_on(const char *on, const char *body, u32 blocks, u32 threads)
{
    const struct pair pair = pair_run(open_rig("", body), open_rig(on, body), blocks, threads, 1);
    pair_expect_same(&pair, body);
    return pair;
}

static struct pair compare(const char *settings, const char *body, u32 blocks, u32 threads)
{
    char on[256];
    snprintf(on, sizeof on, "tbc.on=true %s", settings);
    return compare_on(on, body, blocks, threads);
}

/* ---- two warps that complement each other ---- */

enum {
    KERNEL = 10, /* instructions of the function before it */
    BRANCH = KERNEL + 11,
};

#define HALVES                                                                                 \
    " @%q0 bra THEN;\n mad.lo.u32 %r0, %t, 5, %w; xor.b32 %r0, %r0, 99; bra.uni JOIN;\nTHEN: " \
    "mad.lo.u32 %r0, %l, %t, %w; add.u32 %r0, %r0, 3;\nJOIN: add.u32 %r0, %r0, 1;"

/* The cycle of the last of these that is about one of the instructions from `first` to `end`. */
static u64 last_cycle(const struct moves *moves, u32 first, u32 end)
{
    u64 cycle = 0;
    for (u32 i = 0; i < moves->count; i++)
        if (moves->data[i].inst >= first && moves->data[i].inst <= end)
            cycle = MAX(cycle, moves->data[i].cycle);
    return cycle;
}

/* Even lanes of one warp and odd lanes of the other go the same way: each way is executed once. */
static void two_halves(void **state)
{
    struct pair pair = compare("", HALVES, 1, 2 * WARP);
    static const u32 per_way[] = {1, 1, 1, 1, 1}; /* after the branch, up to JOIN */
    assert_int_equal(issues(pair.plain, BRANCH), 2);
    assert_int_equal(issues(pair.other, BRANCH), 2);
    for (u32 i = 0; i < ARRAY_LEN(per_way); i++) {
        assert_int_equal(issues(pair.plain, BRANCH + 1 + i), 2);
        assert_int_equal(issues(pair.other, BRANCH + 1 + i), per_way[i]);
    }
    assert_int_equal(issues(pair.other, BRANCH + 6), 2); /* JOIN: at home, whole warps */
    assert_int_equal(issues(pair.plain, BRANCH + 6), 2);
    assert_int_equal(stat(pair.other, "tbc.branches"), 2);
    assert_int_equal(stat(pair.other, "tbc.refused"), 0);
    assert_int_equal(stat(pair.other, "tbc.arrivals"), 2);
    assert_int_equal(stat(pair.other, "tbc.groups"), 1);
    assert_int_equal(stat(pair.other, "tbc.compactions"), 2);
    assert_int_equal(stat(pair.other, "tbc.formed"), 2);
    assert_int_equal(stat(pair.other, "tbc.apart"), 4);
    assert_int_equal(stat(pair.other, "tbc.instructions"), 5);
    assert_int_equal(stat(pair.other, "tbc.threads"), 5 * WARP);
    assert_int_equal(stat(pair.other, "tbc.base_reads"), 5);
    assert_int_equal(stat(pair.other, "tbc.base_writes"), 2);
    /* mad reads 2 registers and a constant, or 3; add and xor 1; each writes 1; bra none */
    assert_int_equal(stat(pair.other, "tbc.base_lanes"),
                     WARP * ((2 + 1) + (1 + 1) + (3 + 1) + (1 + 1)));
    /* both masks of: the meeting, either way; what is read: the ways */
    assert_int_equal(stat(pair.other, "tbc.stack_writes"), 3 * 2);
    assert_int_equal(stat(pair.other, "tbc.stack_reads"), 2 * 2);
    /* after the branch and after either way: until the last result is there */
    static const u32 lasts[] = {BRANCH, BRANCH + 3, BRANCH + 5};
    u64 drained = 0;
    for (u32 i = 0; i < ARRAY_LEN(lasts); i++)
        drained += last_cycle(&pair.other->retired, lasts[i] - 1, lasts[i]) -
                   last_cycle(&pair.other->issued, lasts[i], lasts[i]);
    assert_int_equal(stat(pair.other, "tbc.drained"), drained);
    pair_close(pair);
}

/* Threads of both warps in the same lanes: nothing can be saved, and warps go on at once. */
static void same_lanes(void **state)
{
    static const char body[] = " and.b32 %r4, %l, 1; setp.eq.u32 %q0, %r4, 0;" HALVES;
    struct pair pair = compare("", body, 1, 2 * WARP);
    assert_int_equal(stat(pair.other, "tbc.kept"), 1);
    assert_int_equal(stat(pair.other, "tbc.groups"), 0);
    assert_int_equal(stat(pair.other, "issue.instructions"),
                     stat(pair.plain, "issue.instructions"));
    pair_close(pair);
    pair = compare("tbc.when=always", body, 1, 2 * WARP);
    assert_int_equal(stat(pair.other, "tbc.groups"), 1);
    assert_int_equal(stat(pair.other, "tbc.formed"), 4);
    pair_close(pair);
}

/* Warps whose threads agree wait only if all do. */
static void uniform_branches(void **state)
{
    static const char body[] = " setp.gt.u32 %q0, %w, 1;" HALVES;
    struct pair pair = compare("", body, 2, 4 * WARP);
    assert_int_equal(stat(pair.other, "tbc.arrivals"), 0);
    assert_int_equal(stat(pair.other, "tbc.passed"), 8);
    assert_int_equal(pair.other->result.cycles, pair.plain->result.cycles);
    pair_close(pair);
    pair = compare("tbc.wait=all", body, 2, 4 * WARP);
    assert_int_equal(stat(pair.other, "tbc.arrivals"), 8);
    assert_int_equal(stat(pair.other, "tbc.passed"), 0);
    assert_int_equal(stat(pair.other, "tbc.kept"), 2); /* one per block: four warps either way */
    pair_close(pair);
}

/* ---- control flow ---- */

#define LOOP                                                                                       \
    " mov.u32 %r4, %r1; mul.lo.u32 %r5, %t, 40503; shr.u32 %r5, %r5, 9; and.b32 %r5, %r5, "        \
    "13;\nL: add.u32 %r4, %r4, 1; mad.lo.u32 %r0, %r0, 3, %t;"                                     \
    " and.b32 %r6, %r0, 31; setp.eq.u32 %q2, %r6, 9; @%q2 bra OUT;\n xor.b32 %r7, %r0, %r4;"       \
    " and.b32 %r7, %r7, 4; setp.ne.u32 %q3, %r7, 0; @%q3 bra ODD;\n mov.u32 %r8, 0;\nM: add.u32 "  \
    "%r8, %r8, 1; add.u32 %r0, %r0, %r8; and.b32 %r9, %r0, 3; setp.lt.u32 %q4, %r8, %r9; @%q4 bra" \
    " M;\n bra.uni NEXT;\nODD: sub.u32 %r0, %r0, %l;\nNEXT: setp.lt.u32 %q5, %r4, %r5; @%q5 bra "  \
    "L;\nOUT: add.u32 %r0, %r0, 1;"

/* Nested loops of different lengths with a break: threads meet behind them, at home. */
static void loops(void **state)
{
    static const char *const settings[] = {"", "tbc.wait=all tbc.when=always", "tbc.warps=2",
                                           "tbc.when=always tbc.form_cycles=0 tbc.banks=home"};
    for (u32 i = 0; i < ARRAY_LEN(settings); i++) {
        struct pair pair = compare(settings[i], LOOP, 3, 7 * WARP - 5);
        assert_true(stat(pair.other, "tbc.formed") > 0);
        assert_true(stat(pair.other, "issue.instructions") <
                    stat(pair.plain, "issue.instructions"));
        pair_close(pair);
    }
}

/* Threads that exit on one way, or on both, before a barrier: it waits for the others only. */
static void exits(void **state)
{
    static const char body[] =
        " @%q0 bra THEN;\n setp.gt.u32 %q2, %l, 20; @%q2 bra GONE;\n mov.u32 %r0, %t; bra.uni "
        "JOIN;\n"
        "THEN: setp.lt.u32 %q3, %l, 4; @%q3 exit; add.u32 %r0, %t, 9;\nJOIN: bar.sync 0; add.u32 "
        "%r0, %r0, 1; bra.uni END;\nGONE: exit;\nEND:\n";
    pair_close(compare("tbc.when=always", body, 2, 4 * WARP));
    /* in a region that ends with the code */
    static const char last[] =
        " @%q0 bra THEN;\n mad.lo.u32 %r0, %t, 3, %w; bra.uni JOIN;\nTHEN: add.u32 %r0, %t, 9; "
        "mul.wide.u32 %a, %r3, 4; add.u64 %a, %a, %p; st.global.u32 [%a], %r0; exit;\nJOIN:\n";
    struct pair pair = compare("", last, 2, 4 * WARP);
    assert_true(stat(pair.other, "tbc.groups") > 0);
    pair_close(pair);
}

/* A way that calls a function which branches. */
static void calls(void **state)
{
    static const char body[] =
        " @%q0 bra THEN;\n { .param .b32 i; .param .b32 o; st.param.b32 [i], %t; call.uni (o), "
        "odd, "
        "(i); ld.param.b32 %r0, [o]; } bra.uni JOIN;\nTHEN: mad.lo.u32 %r0, %l, %t, 1;\nJOIN: "
        "add.u32 %r0, %r0, 1;";
    struct pair pair = compare("", body, 2, 4 * WARP);
    assert_true(stat(pair.other, "tbc.groups") > 0);
    pair_close(pair);
}

/* A way that ends where all lanes of the group have left, and a store in it. */
static void atomics(void **state)
{
    static const char body[] =
        " mov.u32 %r4, s; and.b32 %r5, %w, 1; shl.b32 %r5, %r5, 2; add.u32 %r4, %r4, %r5; @%q0 bra "
        "THEN;\n red.shared.add.u32 [%r4], %t; bra.uni JOIN;\nTHEN: red.shared.max.u32 [%r4+64], "
        "%t;\nJOIN: bar.sync 0; ld.shared.u32 %r0, [%r4]; ld.shared.u32 %r5, [%r4+64]; mad.lo.u32 "
        "%r0, %r0, 100, %r5;";
    struct pair pair = compare("", body, 1, 8 * WARP);
    assert_int_equal(stat(pair.other, "tbc.groups"), 1);
    pair_close(pair);
}

/* ---- where warps must not wait ---- */

static void refused(const char *way, u32 branches)
{
    char *body = NULL;
    assert_true(asprintf(&body,
                         " @%%q0 bra THEN;\n mov.u32 %%r0, 5; bra.uni JOIN;\nTHEN: %s\nJOIN: "
                         "add.u32 %%r0, %%r0, %%t;",
                         way) > 0);
    struct pair pair = compare("", body, 1, 2 * WARP);
    assert_int_equal(stat(pair.other, "tbc.refused"), branches);
    assert_int_equal(stat(pair.other, "tbc.arrivals"), 0);
    assert_int_equal(pair.other->result.cycles, pair.plain->result.cycles);
    pair_close(pair);
    free(body);
}

static void regions(void **state)
{
    refused("bar.arrive 1, 64;", 1);
    refused("activemask.b32 %r0; and.b32 %r0, %r0, 0;", 1);
    refused("mov.u32 %r5, s;\nW: atom.shared.add.u32 %r6, [%r5], 1; setp.lt.u32 %q2, %r6, 8; @%q2 "
            "bra W;\n mov.u32 %r0, 1;",
            2); /* the loop and the branch around it */
}

/* A warp that does not come in time is not waited for. */
static void patience(void **state)
{
    static const char body[] =
        " mov.u32 %r4, 0; setp.eq.u32 %q2, %w, 0; @%q2 bra GO;\nL: add.u32 %r4, %r4, 1; "
        "setp.lt.u32 %q3, %r4, 100; @%q3 bra L;\nGO: " HALVES;
    struct pair pair = compare("tbc.patience=200", body, 1, 2 * WARP);
    assert_int_equal(stat(pair.other, "tbc.impatient"), 1);
    assert_int_equal(stat(pair.other, "tbc.groups"), 0);
    pair_close(pair);
    pair = compare("", body, 1, 2 * WARP);
    assert_int_equal(stat(pair.other, "tbc.impatient"), 0);
    assert_int_equal(stat(pair.other, "tbc.groups"), 1);
    pair_close(pair);
}

/* ---- large warps ---- */

/* Of twenty warps, eight are a large warp, eight another one, and four a smaller one: each packs its
 * two ways into half as many sub-warps as it has warps, and all return. */
static void large_warps(void **state)
{
    struct pair pair = compare_on("lwm.on=true", HALVES, 1, 20 * WARP);
    assert_int_equal(stat(pair.other, "lwm.groups"), 3);
    assert_int_equal(stat(pair.other, "lwm.compactions"), 6);
    assert_int_equal(stat(pair.other, "lwm.formed"), 20);
    assert_int_equal(stat(pair.other, "lwm.apart"), 40);
    assert_int_equal(issues(pair.other, BRANCH + 1), 10);
    assert_int_equal(issues(pair.plain, BRANCH + 1), 20);
    assert_int_equal(issues(pair.other, BRANCH + 6), 20);
    pair_close(pair);
    /* all sub-warps wait at each branch, also where threads agree */
    pair = compare_on("lwm.on=true", " setp.gt.u32 %q0, %w, 1;" HALVES, 1, 8 * WARP);
    assert_int_equal(stat(pair.other, "lwm.arrivals"), 8);
    assert_int_equal(stat(pair.other, "lwm.groups"), 1);
    pair_close(pair);
    pair_close(compare_on("lwm.on=true", LOOP, 3, 13 * WARP - 5));
}

/* ---- time ---- */

/* A loop with a region of vector instructions on either side of a branch, which `share` of 256
 * threads take, others in each turn. */
static struct text padded(u32 share, u32 length)
{
    struct text text = {0};
    add(&text, "%s", BEGIN);
    add(&text,
        " mov.u32 %%r4, 6; mul.lo.u32 %%r5, %%r3, 40503;\nL: mad.lo.u32 %%r5, %%r5, 1664525, "
        "1013904223; shr.u32 %%r6, %%r5, 24; setp.lt.u32 %%q1, %%r6, %u; @%%q1 bra THEN;\n",
        share);
    for (u32 side = 0; side < 2; side++) {
        for (u32 i = 0; i < length; i++)
            add(&text, " mad.lo.u32 %%r%u, %%r%u, %u, %%t;\n", 8 + i % 4, 8 + i % 4, 3 + side);
        add(&text, side ? "JOIN: " : " bra.uni JOIN;\nTHEN: ");
    }
    add(&text,
        " sub.u32 %%r4, %%r4, 1; setp.ne.u32 %%q2, %%r4, 0; @%%q2 bra L;\n add.u32 %%r0, "
        "%%r8, %%r9; xor.b32 %%r0, %%r0, %%r10; add.u32 %%r0, %%r0, %%r11; %s",
        END);
    return text;
}

static void faster_where_it_diverges(void **state)
{
    enum {
        BLOCKS = 4,
        THREADS = 8 * WARP
    };
    static const u32 shares[] = {0, 16, 64, 128, 192, 240, 256}, lengths[] = {8, 32};
    for (u32 i = 0; i < ARRAY_LEN(shares) * ARRAY_LEN(lengths); i++) {
        const u32 share = shares[i / 2], length = lengths[i % 2];
        struct rig *rigs[2];
        for (u32 on = 0; on < 2; on++) {
            struct text text = padded(share, length);
            rigs[on] = rig_open_with(available, "gtx480",
                                     on ? "gpu.cores=1 tbc.on=true" : "gpu.cores=1", text.data);
            free(text.data);
        }
        const struct pair pair = pair_run(rigs[0], rigs[1], BLOCKS, THREADS, 1);
        assert_true(pair_same(&pair));
        if (share % 256 == 0)
            assert_int_equal(rigs[1]->result.cycles, rigs[0]->result.cycles);
        else
            assert_true(rigs[1]->result.cycles < rigs[0]->result.cycles);
        pair_close(pair);
    }
}

/* ---- where it is refused ---- */

static void refusals(void **state)
{
    static const struct {
        const char *machine, *setting, *expected;
    } rows[] = {{"miaow", "tbc.banks=home", "needs the seam 'places'"},
                {"gtx480", "timing.live_state=true", "cannot be combined with faults"}};
    for (u32 i = 0; i < ARRAY_LEN(rows); i++) {
        struct hd_error error = {0};
        struct hd_config *config = hd_config_create();
        assert_true(hd_config_load(config, rows[i].machine, &error));
        assert_true(hd_config_set(config, "timing.functional=false", &error));
        assert_true(hd_config_set(config, "tbc.on=true", &error));
        assert_true(hd_config_set(config, rows[i].setting, &error));
        assert_null(hd_device_open(config, &error));
        if (!strstr(error.message, rows[i].expected))
            fail_msg("%s", error.message);
        hd_config_destroy(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_halves),
        cmocka_unit_test(same_lanes),
        cmocka_unit_test(uniform_branches),
        cmocka_unit_test(loops),
        cmocka_unit_test(exits),
        cmocka_unit_test(calls),
        cmocka_unit_test(atomics),
        cmocka_unit_test(regions),
        cmocka_unit_test(patience),
        cmocka_unit_test(large_warps),
        cmocka_unit_test(faster_where_it_diverges),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
