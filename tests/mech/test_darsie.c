/*
 * DARSIE on small programs: who leads, what is skipped, what limits it, and that every value is
 * what it is without. Counts are closed forms of the program, sizes are read from parameters.
 */
#include "micro/rig.h"

#include "gpu/device.h"
#include "mech/darsie.h"

extern const struct mechanism darsie_mechanism;
static const struct mechanism *const available[] = {&darsie_mechanism, NULL};

enum {
    WARP = 32,
    WARPS = 4
};

/* 7 instructions; ld.param and the constant are the same in all warps. */
#define BEGIN                                                                                    \
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a, %b; .reg .b32 %t, %w, %l, "    \
         "%r<24>; .reg .pred %q<8>; .shared .align 4 .b8 s[1024];\n ld.param.u64 %p, [p]; "      \
         "mov.u32 %r0, 5;\n mov.u32 %t, %tid.x; mov.u32 %l, %tid.y; mad.lo.u32 %t, %l, @X@, %t;" \
         " shr.u32 %w, %t, 5; and.b32 %l, %t, 31;\n"
/* %r0 of each thread goes to its place. */
#define END " mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p; st.global.u32 [%a], %r0;\n ret;\n}\n"

enum {
    COMMON = 2 /* instructions of BEGIN that are marked */
};

static struct rig *open_rig(const char *settings, const char *body, u32 row)
{
    char all[512], number[16], *text = NULL;
    assert_true(asprintf(&text, "%s%s\n%s", BEGIN, body, END) > 0);
    char *at = strstr(text, "@X@");
    snprintf(number, sizeof number, "%3u", row);
    memcpy(at, number, 3);
    snprintf(all, sizeof all, "gpu.cores=1 %s", settings);
    struct rig *rig = rig_open_with(available, "gtx1080ti", all, text);
    free(text);
    return rig;
}

static u32 *run(struct rig *rig, u32 blocks, struct hd_dim shape)
{
    struct hd_error error;
    const u32 threads = shape.x * shape.y;
    const hd_address at = rig_memory(rig, 4 * threads + 8192);
    const struct hd_arg arg = {.data = &at, .size = sizeof at};
    u32 *words = calloc(threads, sizeof *words);
    rig_launch_shape(rig, (struct hd_dim){blocks, 1, 1}, shape, &arg, 1);
    if (!hd_read(rig->device, words, at, 4 * threads, &error))
        fail_msg("%s", error.message);
    return words;
}

/* Runs a program without and with DARSIE: stored values are the same, and instructions not issued
 * are skipped. Returns the rig with DARSIE. */
static struct rig *compare_shape(const char *settings, const char *body, u32 blocks,
                                 struct hd_dim shape)
{
    char on[256];
    snprintf(on, sizeof on, "darsie.on=true %s", settings);
    struct rig *plain = open_rig("", body, shape.x), *rig = open_rig(on, body, shape.x);
    u32 *expected = run(plain, blocks, shape), *found = run(rig, blocks, shape);
    for (u32 i = 0; i < shape.x * shape.y; i++)
        if (found[i] != expected[i])
            fail_msg("%s\nthread %u has %u, not %u", body, i, found[i], expected[i]);
    assert_int_equal(stat(rig, "issue.instructions") + stat(rig, "darsie.skipped"),
                     stat(plain, "issue.instructions"));
    assert_int_equal(stat(rig, "darsie.skipped"), stat(rig, "darsie.skipped_uniform") +
                                                      stat(rig, "darsie.skipped_affine") +
                                                      stat(rig, "darsie.skipped_other"));
    free(expected);
    free(found);
    rig_close(plain);
    return rig;
}

static struct rig *compare(const char *settings, const char *body)
{
    return compare_shape(settings, body, 1, (struct hd_dim){WARPS * WARP, 1, 1});
}

static void check(const struct rig *rig, const char *name, u64 value)
{
    char key[64];
    snprintf(key, sizeof key, "darsie.%s", name);
    if (stat(rig, key) != value)
        fail_msg("%s is %llu, not %llu", key, (unsigned long long)stat(rig, key),
                 (unsigned long long)value);
}

/* Every lookup after decode elects the warp, finds it or another one elected, or tells why not. */
static void check_elections(const struct rig *rig)
{
    static const char *const ends[] = {
        "led",           "dropped",        "private_full", "private_registers",
        "private_ports", "private_stores", "private_last"};
    u64 sum = 0;
    for (u32 i = 0; i < ARRAY_LEN(ends); i++) {
        char key[64];
        snprintf(key, sizeof key, "darsie.%s", ends[i]);
        sum += stat(rig, key);
    }
    check(rig, "elections", sum);
}

/* First and last cycles in which slots issue an instruction; and how many do. */
struct cycles {
    u64 first, last;
    u32 count, slot;
};
static struct cycles cycles_of(const struct moves *moves, u32 inst)
{
    struct cycles c = {.first = UINT64_MAX};
    for (u32 i = 0; i < moves->count; i++)
        if (moves->data[i].inst == inst) {
            c.first = MIN(c.first, moves->data[i].cycle);
            c.last = MAX(c.last, moves->data[i].cycle);
            c.slot = moves->data[i].slot;
            c.count++;
        }
    return c;
}

/* ---- leaders and followers ---- */

/* Each marked instruction is issued by one warp, and skipped by all others. */
static void one_leads(void **state)
{
    static const char body[] = " add.u32 %r1, %r0, 3; mul.lo.u32 %r2, %r1, %r1; add.u32 %r0, %r2, "
                               "%r1; add.u32 %r0, %r0, %t;\n";
    struct rig *rig = compare("", body);
    const u32 marked = COMMON + 3;
    check(rig, "led", marked);
    check(rig, "skipped", marked * (WARPS - 1));
    check(rig, "skipped_uniform", marked * (WARPS - 1));
    check(rig, "marked", marked);
    check(rig, "versions", marked + 1); /* a parameter of 64 bits has two */
    check(rig, "copies", 0);
    check(rig, "gathers", 0);
    /* of the leaders 1, 2 and 2; of every warp, the sum with %t and the pointer */
    check(rig, "shared_reads", 1 + 2 + 2 + (1 + param(rig, "collect.pair_reads")) * WARPS);
    check_elections(rig);
    for (u32 i = 7; i < 10; i++)
        assert_int_equal(cycles_of(&rig->issued, i).count, 1);
    assert_int_equal(cycles_of(&rig->issued, 10).count, WARPS);
    rig_close(rig);
}

/* What followers do next waits for the leader's result, however long that takes. */
static void followers_wait_for_the_result(void **state)
{
    static const char body[] = " add.u32 %r0, %r0, %r0; add.u32 %r0, %r0, %t;\n";
    u64 behind[2], waited[2];
    for (u32 k = 0; k < 2; k++) {
        struct rig *rig = compare(k ? "units.int_add=120" : "units.int_add=100", body);
        const struct cycles led = cycles_of(&rig->retired, 7), next = cycles_of(&rig->issued, 8);
        assert_int_equal(led.count, 1);
        assert_int_equal(next.count, WARPS);
        assert_true(next.first >= led.last);
        behind[k] = next.last - cycles_of(&rig->issued, 7).first;
        assert_true(stat(rig, "darsie.leader_waits") >= WARPS - 1);
        waited[k] = stat(rig, "darsie.leader_wait_cycles");
        rig_close(rig);
    }
    assert_int_equal(behind[1] - behind[0], 120 - 100);
    assert_int_equal(waited[1] - waited[0], (120 - 100) * (WARPS - 1));
}

/* Predicates are copied, or not shared. */
static void predicates(void **state)
{
    static const char body[] = " setp.gt.u32 %q0, %r0, 4; selp.u32 %r1, %t, 9, %q0; add.u32 %r0, "
                               "%r0, %r1;\n";
    struct rig *rig = compare("", body);
    check(rig, "skipped", (COMMON + 1) * (WARPS - 1));
    rig_close(rig);
    rig = compare("darsie.masks=false", body);
    check(rig, "skipped", COMMON * (WARPS - 1));
    rig_close(rig);
}

/* Some lanes of a shared register are written: every warp makes it its own before. */
static void partial_writes(void **state)
{
    static const char body[] =
        " setp.lt.u32 %q0, %l, 7; @%q0 add.u32 %r0, %r0, %t; add.u32 %r0, %r0, 1;\n";
    struct rig *rig = compare("", body);
    check(rig, "copies", WARPS);
    check(rig, "skipped", COMMON * (WARPS - 1));
    /* each entry is made, written, waited for by all others, and removed */
    check(rig, "leader_waits", COMMON * (WARPS - 1));
    check(rig, "table_writes", (3 + WARPS - 1) * COMMON);
    check(rig, "majority_writes", 1 + WARPS); /* when the block starts and each warp ends */
    check(rig, "version_writes", COMMON + 1);
    check(rig, "refetched", 0);
    rig_close(rig);
}

/* Only blocks whose rows fill warps evenly share values that depend on tid.x. */
static void shapes(void **state)
{
    static const char body[] = " mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r1, %r1, 3; add.u32 %r0, "
                               "%r0, %r2;\n";
    static const struct {
        struct hd_dim shape;
        u32 warps, shared; /* of the body's three; and tid.x in BEGIN */
    } cases[] = {
        {{16, 8, 1}, 4, 4},  {{32, 4, 1}, 4, 4}, {{8, 16, 1}, 4, 4},  {{4, 16, 1}, 2, 4},
        {{128, 1, 1}, 4, 0}, {{64, 2, 1}, 4, 0}, {{12, 16, 1}, 6, 0}, {{24, 8, 1}, 6, 0},
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig *rig = compare_shape("", body, 1, cases[i].shape);
        check(rig, "skipped", (COMMON + cases[i].shared) * (cases[i].warps - 1));
        /* tid.x has one stride only in rows that fill a warp; its square never has */
        const u32 followers = cases[i].shared ? cases[i].warps - 1 : 0;
        const u32 affine = cases[i].shape.x == WARP ? followers : 0;
        check(rig, "skipped_affine", affine);
        check(rig, "skipped_other", 2 * followers - affine);
        rig_close(rig);
        rig = compare_shape("darsie.affine_rows=true", body, 1, cases[i].shape);
        check(rig, "skipped_affine", followers);
        check(rig, "skipped_other", followers);
        rig_close(rig);
    }
    /* a warp without all its lanes takes no part */
    struct rig *rig = compare_shape("", body, 1, (struct hd_dim){16, 7, 1});
    check(rig, "skipped", (COMMON + 4) * 2);
    check(rig, "private_paths", COMMON + 4);
    rig_close(rig);
}

/* ---- limits ---- */

/* A long instruction that other warps wait for, and `more` after it, each with its own register. */
static void add_run(struct text *text, u32 more)
{
    add(text, " bar.sync 0;\n div.u32 %%r1, %%r0, 3;\n");
    for (u32 i = 0; i < more; i++)
        add(text, " add.u32 %%r%u, %%r0, %u;\n", i + 2, i);
    add(text, " add.u32 %%l, %%l, %%r1;\n"); /* no marked instructions from here on */
    for (u32 i = 0; i < more; i++)
        add(text, " add.u32 %%l, %%l, %%r%u;\n", i + 2);
    add(text, " add.u32 %%r0, %%r0, %%l;\n");
}

static struct rig *compare_run(const char *settings, u32 more)
{
    struct text text = {0};
    add_run(&text, more);
    struct rig *rig = compare(settings, text.data);
    free(text.data);
    return rig;
}

static void full_table(void **state)
{
    /* no warp waits for the last entry's leader */
    for (u32 entries = 2; entries <= 8; entries += 3)
        for (u32 over = 0; over < 2; over++) {
            char settings[64];
            snprintf(settings, sizeof settings, "darsie.entries=%u darsie.registers=0", entries);
            struct rig *rig = compare_run(settings, entries - 1 + over);
            assert_int_equal(param(rig, "darsie.entries"), entries);
            check_elections(rig);
            if (over)
                assert_true(stat(rig, "darsie.private_full") > 0);
            else
                check(rig, "private_full", 0);
            rig_close(rig);
        }
}

static void empty_freelist(void **state)
{
    struct rig *rig = compare_run("darsie.registers=0", 4);
    const u64 all = stat(rig, "darsie.versions_peak");
    check(rig, "sync_points", 0);
    rig_close(rig);
    for (u32 k = 0; k < 3; k++) {
        char settings[64];
        const u32 registers = (u32)all + 1 - k;
        snprintf(settings, sizeof settings, "darsie.registers=%u", registers);
        rig = compare_run(settings, 4);
        assert_int_equal(param(rig, "darsie.registers"), registers);
        if (k == 0)
            check(rig, "sync_points", 0);
        else
            assert_true(stat(rig, "darsie.sync_points") > 0);
        if (k < 2)
            check(rig, "private_registers", 0);
        rig_close(rig);
    }
    rig = compare_run("darsie.registers=2",
                      4); /* the parameter's register, which is not written again */
    assert_true(stat(rig, "darsie.private_registers") > 0);
    rig_close(rig);
}

/* Beside the blocks that fit on a core, the register file has room for shared results: here for none if a
 * third block fits, and for more than the limit if anything allows only two. */
static void registers_beside_the_blocks(void **state)
{
    static const char body[] = " add.u32 %r0, %r0, 1; add.u32 %r0, %r0, %t;\n";
    static const struct {
        const char *limit;
        u32 blocks;
        bool room;
    } cases[] = {
        {"", 6, false},
        {"core.blocks=2", 6, true},
        {"core.warps=8", 6, true},
        {"core.threads=256", 6, true},
        {"core.shared_bytes=2048", 6, true},
        {"", 2, true}, /* blocks of the grid */
        {"core.registers=14336", 6, true},
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        char settings[160];
        snprintf(
            settings, sizeof settings,
            "launch.registers=32 core.registers=12288 core.register_unit=1 core.shared_unit=1 %s",
            cases[i].limit);
        struct rig *rig =
            compare_shape(settings, body, cases[i].blocks, (struct hd_dim){WARPS * WARP, 1, 1});
        if ((stat(rig, "darsie.private_registers") == 0) != cases[i].room)
            fail_msg("%s, %u blocks: %u without a register", cases[i].limit, cases[i].blocks,
                     (u32)stat(rig, "darsie.private_registers"));
        rig_close(rig);
    }
}

/* A register that is written again and again needs few versions at a time. */
static void versions_are_freed(void **state)
{
    static const char body[] = " mov.u32 %r1, 0;\nL: mad.lo.u32 %r0, %r0, 3, %r1; add.u32 %r1, "
                               "%r1, 1; setp.lt.u32 %q0, %r1, 50; @%q0 bra L;\n add.u32 %r0, %r0, "
                               "%t;\n";
    struct rig *rig = compare("", body);
    check(rig, "led", COMMON + 1 + 3 * 50);
    check(rig, "skipped", (COMMON + 1 + 3 * 50) * (WARPS - 1));
    check(rig, "versions", COMMON + 1 + 1 + 2 * 50);
    check(rig, "gathers", 50);
    check(rig, "private_registers", 0);
    assert_true(stat(rig, "darsie.versions_peak") <= 4 + 2 * WARPS);
    rig_close(rig);
}

static void ports(void **state)
{
    static const char body[] = " add.u32 %r1, %r0, 3; add.u32 %r2, %t, 1; add.u32 %r3, %r0, 4; "
                               "add.u32 %r4, %t, 2; add.u32 %r5, %r0, 6; add.u32 %r0, %r1, %r5; "
                               "add.u32 %r0, %r0, %t;\n";
    const struct hd_dim two = {2 * WARP, 1, 1};
    /* two warps per block in many blocks are at many PCs; with a port for each, no warp waits */
    struct rig *rig = compare_shape("darsie.read_ports=64", body, 16, two);
    check(rig, "port_waits", 0);
    rig_close(rig);
    rig = compare_shape("darsie.read_ports=1", body, 16, two);
    assert_true(stat(rig, "darsie.port_waits") > 0);
    rig_close(rig);
    /* as many elections in a cycle as fetches bring */
    rig = compare_shape("fetch.per_cycle=3 fetch.width=1 darsie.write_ports=3", body, 16, two);
    check(rig, "private_ports", 0);
    rig_close(rig);
    rig = compare_shape("fetch.per_cycle=3 fetch.width=1 darsie.write_ports=2", body, 16, two);
    assert_true(stat(rig, "darsie.private_ports") > 0);
    rig_close(rig);
}

/* ---- paths ---- */

#define CHAIN(n) n " " n " " n " " n " " n " " n " " n " " n " " n " " n "\n"

/* One warp has more to do before the branch, by instructions that others leave out. */
static void all_meet_behind_a_branch(void **state)
{
    static const char body[] = " setp.ne.u32 %q0, %w, 2;\n" CHAIN(
        "@!%q0 add.u32 %r0, %r0, 1;") " setp.gt.u32 %q1, %t, 10000; @%q1 bra L;\n add.u32 %r0, "
                                      "%r0, 1;\nL: add.u32 %r0, %r0, 1;\n";
    const u32 branch = 7 + 1 + 10 + 1;
    struct rig *rig = compare("", body);
    assert_int_equal(cycles_of(&rig->issued, branch).count, WARPS);
    assert_true(cycles_of(&rig->issued, branch + 1).first >= cycles_of(&rig->issued, branch).last);
    check(rig, "gathers", 1);
    u64 waited = 0;
    for (u32 i = 0; i < rig->issued.count; i++)
        if (rig->issued.data[i].inst == branch)
            waited += cycles_of(&rig->issued, branch).last - rig->issued.data[i].cycle;
    check(rig, "gather_waits", waited);
    check(rig, "minorities", 0);
    rig_close(rig);
    rig = compare("darsie.sync=none", body);
    check(rig, "gathers", 0);
    check(rig, "gather_waits", 0);
    rig_close(rig);
}

/* Warps below `limit` go another way. Behind it a marked instruction, and a barrier with another.
 */
static struct rig *compare_ways(const char *settings, u32 limit)
{
    struct text text = {0};
    add(&text, " setp.lt.u32 %%q0, %%w, %u; @%%q0 bra L;\n add.u32 %%r1, %%r0, %%t;\nL: ", limit);
    add(&text, "add.u32 %%r2, %%r0, 7;\n bar.sync 0;\n mul.lo.u32 %%r3, %%r0, 3;\n");
    add(&text, " add.u32 %%r0, %%r2, %%r3;\n add.u32 %%r0, %%r0, %%t;\n");
    struct rig *rig = compare(settings, text.data);
    free(text.data);
    return rig;
}

static void majorities(void **state)
{
    /* leaving warps copy three registers; after its barrier the block's values are the same for
     * all */
    const u32 shared = COMMON + 1;
    for (u32 limit = 0; limit <= WARPS; limit++) {
        struct rig *rig = compare_ways("", limit);
        const u32 most = MAX(limit, WARPS - limit), left = WARPS - most;
        check(rig, "minorities", left);
        check(rig, "rejoined", left);
        check(rig, "copies", left * shared);
        check(rig, "private_paths", left);
        /* before the branch, between it and the barrier, behind it, where warps that come back may
         * have fetched already; %r2 + %r3 is marked if ways do not matter to it */
        const u64 skipped = stat(rig, "darsie.skipped");
        assert_true(skipped >= COMMON * (WARPS - 1) + 2 * (most - 1));
        assert_true(skipped <= COMMON * (WARPS - 1) + (most - 1) + 2 * (WARPS - 1));
        rig_close(rig);
    }
    /* of equals, the way of the lowest warp: it skips or leads what the others do themselves */
    struct rig *rig = compare_ways("", WARPS / 2);
    u32 issued = 0;
    for (u32 i = 0; i < rig->issued.count; i++)
        if (rig->issued.data[i].inst == 10)
            issued |= 1u << rig->issued.data[i].slot;
    assert_true((issued & 12) == 12 && (issued == 13 || issued == 14));
    rig_close(rig);
}

/* Lanes of one warp part: it leaves, the others stay. */
static void divergence(void **state)
{
    static const char body[] = " setp.lt.u32 %q0, %t, 7; @%q0 bra L;\n add.u32 %r1, %r0, %t;\nL: "
                               "add.u32 %r2, %r0, 7;\n bar.sync 0;\n mul.lo.u32 %r3, %r0, 3;\n "
                               "add.u32 %r0, %r2, %r3;\n add.u32 %r0, %r0, %t;\n";
    struct rig *rig = compare("", body);
    check(rig, "divergences", 1);
    check(rig, "minorities", 0);
    check(rig, "rejoined", 1);
    check(rig, "copies", COMMON + 1);
    rig_close(rig);
}

/* Warps that have ended are not waited for, and lanes that have make a warp leave. */
static void ends(void **state)
{
    static const char body[] =
        " setp.eq.u32 %q0, %w, 1; @%q0 bra.uni DONE;\n setp.eq.u32 %q1, %t, "
        "70; @%q1 exit;\n mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1; "
        "setp.lt.u32 %q2, %r1, 4; @%q2 bra L;\n add.u32 %r0, %r0, %r1;\nDONE:\n";
    struct rig *rig = compare("", body);
    check(rig, "minorities", 1);
    check(rig, "divergences", 1);
    check(rig, "gather_exits", 0);
    rig_close(rig);
}

/* Barriers for part of the block in code that some warps skip: no warp reaches the branch after
 * which others wait. They continue when nothing makes progress. */
static void nobody_waits_for_ever(void **state)
{
    static const char body[] =
        " setp.lt.u32 %q0, %w, 2; setp.gt.u32 %q1, %t, 10000;\n @%q0 "
        "bar.sync 1, 96;\n @%q1 bra L;\n add.u32 %r0, %r0, 1;\nL: setp.eq.u32 "
        "%q2, %w, 2; @%q2 bar.sync 1, 96;\n add.u32 %r0, %r0, 1;\n";
    struct rig *rig = compare("", body);
    assert_true(stat(rig, "darsie.gather_exits") > 0);
    rig_close(rig);
}

/* Without waiting for each other, warps take a node of the tree of ways at each branch. While another warp
 * stands at the root, no node is free after as many branches as there are others. */
static void full_tree_of_ways(void **state)
{
    for (u32 over = 0; over < 2; over++) {
        struct text text = {0};
        add(&text, " setp.ne.u32 %%q0, %%w, 0; mov.u32 %%r1, 0; @%%q0 bar.sync 1, 64;\n");
        add(&text, "L: add.u32 %%r1, %%r1, 1; setp.lt.u32 %%q1, %%r1, %u; @%%q1 bra L;\n",
            DARSIE_WAYS - 2 + over); /* without 0, which is none, and the root */
        add(&text, " @!%%q0 bar.sync 1, 64;\n add.u32 %%r0, %%r0, %%t;\n");
        struct rig *rig =
            compare_shape("darsie.sync=none", text.data, 1, (struct hd_dim){2 * WARP, 1, 1});
        check(rig, "ways_full", over);
        rig_close(rig);
        free(text.data);
    }
}

/* ---- loads ---- */

static void loads(void **state)
{
    static const char body[] = " mov.u32 %r1, s; st.shared.u32 [%r1], %r0; bar.sync 0;\n "
                               "ld.shared.u32 %r2, [%r1];\n add.u32 %r0, %r2, %t;\n";
    struct rig *rig = compare("", body);
    check(rig, "skipped_loads", WARPS - 1);
    check(rig, "private_stores", 0);
    rig_close(rig);
    rig = compare("darsie.loads=false", body);
    check(rig, "skipped_loads", 0);
    rig_close(rig);
}

/* Each warp stores, where no warp loads, between two loads: the second load is shared only by warps
 * that reach it while no store is in flight. */
static void stores_remove_loads(void **state)
{
    static const char body[] =
        " mov.u32 %r1, s; shl.b32 %r3, %t, 2; add.u32 %r3, %r3, %r1;\n ld.shared.u32 %r2, "
        "[%r1+512];"
        "\n st.shared.u32 [%r3], %t;\n ld.shared.u32 %r4, [%r1+516];\n add.u32 %r0, %r2, %r4; "
        "add.u32 %r0, %r0, %t;\n";
    struct rig *rig = compare("", body);
    assert_true(stat(rig, "darsie.skipped_loads") < 2 * (WARPS - 1));
    assert_true(stat(rig, "darsie.invalidated") + stat(rig, "darsie.private_stores") > 0);
    check(rig, "stale", 0);
    /* the others have loaded %r4 themselves, and add it themselves */
    check(rig, "private_values", WARPS - 1);
    check(rig, "refetched", WARPS - 1);
    rig_close(rig);
    rig = compare("darsie.stores=ignore", body);
    check(rig, "skipped_loads", 2 * (WARPS - 1));
    check(rig, "invalidated", 0);
    check(rig, "stale", 0);
    rig_close(rig);
}

/* No warp leads a load while a store of its block is on its way to memory: here three, which wait for
 * conflicts of banks. */
static void loads_wait_for_stores(void **state)
{
    static const char body[] =
        " setp.eq.u32 %q0, %w, 0; mov.u32 %r1, s; and.b32 %r3, %l, 7; shl.b32 %r3, %r3, 7; "
        "add.u32 %r3, %r3, %r1;\n @%q0 st.shared.u32 [%r3], %t; @%q0 st.shared.u32 [%r3], %t; @%q0 "
        "st.shared.u32 [%r3], %t;\n" CHAIN(
            "@!%q0 add.u32 %r4, %r4, 1;") " ld.shared.u32 %r2, [%r1+4]; add.u32 %r0, %r2, %t;\n";
    struct rig *rig = compare("", body);
    assert_true(stat(rig, "darsie.private_stores") > 0);
    rig_close(rig);
}

/* A warp stores where all load; each knows what it has loaded itself. */
static void stale_values(void **state)
{
    static const char body[] =
        " mov.u32 %r1, s; setp.eq.u32 %q0, %w, 0;\n @%q0 st.shared.u32 [%r1], %r0; bar.sync 0;\n "
        "ld.shared.u32 %r2, [%r1]; add.u32 %r0, %r0, %r2;\n bar.sync 0;\n @%q0 st.shared.u32 "
        "[%r1], "
        "77; bar.sync 0;\n ld.shared.u32 %r2, [%r1]; add.u32 %r0, %r0, %r2; add.u32 %r0, %r0, "
        "%t;\n";
    struct rig *rig = compare("", body);
    check(rig, "skipped_loads", 2 * (WARPS - 1));
    rig_close(rig);
    rig = compare("darsie.stores=ignore", body);
    check(rig, "skipped_loads", 2 * (WARPS - 1));
    rig_close(rig);
}

/* An atomic or a fence anywhere on the core removes loads of global memory. */
static void atomics_and_fences_remove_loads(void **state)
{
    static const char *const others[] = {CHAIN("red.global.add.u32 [%p+8192], 1;"),
                                         CHAIN("membar.gl;")};
    for (u32 i = 0; i < ARRAY_LEN(others); i++) {
        struct text text = {0};
        add(&text, " mov.u32 %%r1, %%ctaid.x; setp.eq.u32 %%q0, %%r1, 0; @%%q0 bra LOAD;\n");
        add(&text, "%s bra.uni DONE;\nLOAD:\n", others[i]);
        add(&text, "%s DONE:\n", CHAIN("ld.global.u32 %r2, [%p+8448]; add.u32 %r0, %r0, %r2;"));
        struct rig *rig = compare_shape("", text.data, 2, (struct hd_dim){1024, 1, 1});
        assert_true(stat(rig, "darsie.invalidated_global") > 0);
        rig_close(rig);
        free(text.data);
    }
}

/* ---- storage ---- */

struct size {
    const char *name;
    u32 entries, bits;
};

static void check_sizes(const struct darsie_params *params, struct state_list *list,
                        const struct size *sizes)
{
    const u32 before = list->rows.count;
    u32 n = 0;
    darsie_mechanism.storage(params, list);
    for (; sizes[n].name; n++) {
        assert_true(before + n < list->rows.count);
        const struct state_row *row = &list->rows.data[before + n];
        if (strcmp(row->name, sizes[n].name) || row->entries != sizes[n].entries ||
            row->bits != sizes[n].bits)
            fail_msg("%s has %u x %u bits, not %s %u x %u", row->name, (u32)row->entries,
                     (u32)row->bits, sizes[n].name, sizes[n].entries, sizes[n].bits);
    }
    assert_int_equal(list->rows.count, before + n);
    state_free(list);
}

/* Of a core with 32 blocks. The first three and `arrived` are as published. */
static void sizes_of_the_tables(void **state)
{
    struct darsie_params params = {.entries = 4, .registers = 16, .masks = true, .loads = true};
    struct state_list list = {0};
    state_owner(&list, "core", 1);
    state_add(&list, "fetch", "buffer", 7, 64, STATE_LIVE, "not looked for");
    state_add(&list, "issue", "pc", 9, 64, STATE_LIVE, "nor this");
    state_add(&list, "fetch", "pc", 48, 64, STATE_LIVE, "of a machine with 48 warps");
    state_add(&list, "issue", "scoreboard", 1024, 1, STATE_LIVE, "and 1024 vector registers");
    check_sizes(&params, &list,
                (struct size[]){{"skip_table", 32 * 4, 48 + 32 + 2},
                                {"majority", 32, 32},
                                {"rename", 32 * 16, 8 + 8 + 5},
                                {"rename_warps", 1024, 1 + 4},
                                {"skip_more", 32 * 4, 16 + 32 + 5 + 1 + 2 * 4},
                                {"users", 32 * 16, 32 + 1},
                                {"freelist", 32 * 16, 4},
                                {"positions", 48, 16},
                                {"arrived", 32, 32},
                                {"masks", 32 * 4, 32},
                                {"stores", 32, 8},
                                {"load_ids", 1024, 16},
                                {NULL, 0, 0}});
    /* without limits: the published sizes; a machine that is not described */
    params = (struct darsie_params){0};
    list = (struct state_list){0};
    state_owner(&list, "core", 1);
    check_sizes(&params, &list,
                (struct size[]){{"skip_table", 32 * 8, 82},
                                {"majority", 32, 32},
                                {"rename", 32 * 32, 21},
                                {"rename_warps", 2048, 1 + 5},
                                {"skip_more", 32 * 8, 16 + 32 + 5 + 1 + 2 * 5},
                                {"users", 32 * 32, 33},
                                {"freelist", 32 * 32, 5},
                                {"positions", 64, 16},
                                {"arrived", 32, 32},
                                {NULL, 0, 0}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_leads),
        cmocka_unit_test(followers_wait_for_the_result),
        cmocka_unit_test(predicates),
        cmocka_unit_test(partial_writes),
        cmocka_unit_test(shapes),
        cmocka_unit_test(full_table),
        cmocka_unit_test(empty_freelist),
        cmocka_unit_test(versions_are_freed),
        cmocka_unit_test(ports),
        cmocka_unit_test(all_meet_behind_a_branch),
        cmocka_unit_test(majorities),
        cmocka_unit_test(divergence),
        cmocka_unit_test(ends),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(full_tree_of_ways),
        cmocka_unit_test(loads),
        cmocka_unit_test(stores_remove_loads),
        cmocka_unit_test(stale_values),
        cmocka_unit_test(atomics_and_fences_remove_loads),
        cmocka_unit_test(loads_wait_for_stores),
        cmocka_unit_test(registers_beside_the_blocks),
        cmocka_unit_test(sizes_of_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
