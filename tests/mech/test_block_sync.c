/*
 * Barriers at the ends of basic blocks, on small programs: who waits for whom, how often, and that
 * nobody waits for ever.
 */
#include "micro/rig.h"

#include "gpu/device.h"
#include "late.h"

extern const struct mechanism block_sync_mechanism;
static const struct mechanism *const available[] = {&block_sync_mechanism, &late_mechanism, NULL};

enum {
    WARP = 32
};

#define BEGIN                                                                                   \
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a; .reg .b32 %t, %w, %r<16>; "   \
         ".reg .pred %q<8>; .shared .align 4 .b8 s[1024];\n ld.param.u64 %p, [p]; mov.u32 %t, " \
         "%tid.x; shr.u32 %w, %t, 5; mov.u32 %r0, 0;\n"
/* %r0 of each thread goes to its place. */
#define END " mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p; st.global.u32 [%a], %r0;\n ret;\n}\n"

static struct rig *open_rig(const char *settings, const char *body)
{
    char all[512], *text = NULL;
    assert_true(asprintf(&text, "%s%s\n%s", BEGIN, body, END) > 0);
    snprintf(all, sizeof all, "gpu.cores=1 %s", settings);
    struct rig *rig = rig_open_with(available, "gtx1080ti", all, text);
    free(text);
    return rig;
}

static u32 *run(struct rig *rig, u32 threads)
{
    struct hd_error error;
    const hd_address at = rig_memory(rig, 4 * threads);
    u32 *words = calloc(threads, sizeof *words);
    rig_run(rig, 1, threads, at);
    if (!hd_read(rig->device, words, at, 4 * threads, &error))
        fail_msg("%s", error.message);
    return words;
}

/* Runs a program without and with barriers: stored values are the same. Returns the rig with
 * barriers. */
static struct rig *compare(const char *settings, const char *body, u32 threads)
{
    char on[256];
    snprintf(on, sizeof on, "block_sync.on=true %s", settings);
    struct rig *plain = open_rig("", body), *rig = open_rig(on, body);
    u32 *expected = run(plain, threads), *found = run(rig, threads);
    for (u32 i = 0; i < threads; i++)
        if (found[i] != expected[i])
            fail_msg("%s\nthread %u has %u, not %u", body, i, found[i], expected[i]);
    assert_int_equal(stat(rig, "issue.instructions"), stat(plain, "issue.instructions"));
    assert_int_equal(stat(rig, "block_sync.boundaries"),
                     stat(rig, "block_sync.arrivals") + stat(rig, "block_sync.diverged"));
    free(expected);
    free(found);
    rig_close(plain);
    return rig;
}

static u64 last_issue(const struct rig *rig, u32 inst)
{
    u64 last = 0;
    for (u32 i = 0; i < rig->issued.count; i++)
        if (rig->issued.data[i].inst == inst)
            last = MAX(last, rig->issued.data[i].cycle);
    return last;
}

static u64 first_issue(const struct rig *rig, u32 inst)
{
    u64 first = UINT64_MAX;
    for (u32 i = 0; i < rig->issued.count; i++)
        if (rig->issued.data[i].inst == inst)
            first = MIN(first, rig->issued.data[i].cycle);
    return first;
}

/* ---- warps on the same path ---- */

#define CHAIN(n) n " " n " " n " " n " " n " " n " " n " " n " " n " " n "\n"

/* One warp has more to do before the boundary, by instructions that others leave out: all begin the
 * next basic block when it has come. */
static void all_wait_for_the_last(void **state)
{
    static const char body[] = " setp.ne.u32 %q0, %w, 2;\n" CHAIN(
        "@!%q0 add.u32 %r0, %r0, 1;") "bra.uni L;\nL: add.u32 %r0, %r0, 1;\n";
    struct rig *rig = compare("", body, 4 * WARP);
    const u32 before = 4 + 1 + 10, behind = before + 1;
    assert_true(first_issue(rig, behind) >= last_issue(rig, before));
    assert_int_equal(stat(rig, "block_sync.arrivals"), 4);
    assert_int_equal(stat(rig, "block_sync.meetings"), 1);
    assert_int_equal(stat(rig, "block_sync.diverged"), 0);
    u64 waited = 0;
    for (u32 i = 0; i < rig->issued.count; i++)
        if (rig->issued.data[i].inst == before)
            waited += last_issue(rig, before) - rig->issued.data[i].cycle;
    assert_int_equal(stat(rig, "block_sync.waited"), waited);
    rig_close(rig);
}

/* The same where a basic block ends without a branch: another one comes from elsewhere. */
static void a_boundary_without_a_branch(void **state)
{
    static const char body[] =
        " mov.u32 %r1, 0;\nL: add.u32 %r0, %r0, %t; add.u32 %r1, %r1, 1; setp.lt.u32 %q0, %r1, 5; "
        "@%q0 bra L;\n";
    for (u32 warps = 1; warps <= 8; warps *= 2) {
        struct rig *rig = compare("", body, warps * WARP);
        assert_true(first_issue(rig, 5) >= last_issue(rig, 4)); /* into the loop */
        /* into it, and five times at its end */
        assert_int_equal(stat(rig, "block_sync.arrivals"), warps * (1 + 5));
        assert_int_equal(stat(rig, "block_sync.meetings"), 1 + 5);
        rig_close(rig);
        rig = compare("block_sync.where=branches", body, warps * WARP);
        assert_int_equal(stat(rig, "block_sync.arrivals"), warps * 5);
        assert_int_equal(stat(rig, "block_sync.meetings"), 5);
        rig_close(rig);
    }
}

/* All warps are in the same iteration of a loop. */
static void turns_of_a_loop(void **state)
{
    static const char body[] =
        " mov.u32 %r1, 0; setp.ne.u32 %q1, %w, 1;\nL: add.u32 %r1, %r1, 1;\n" CHAIN(
            "@!%q1 add.u32 %r0, %r0, 1;") " setp.lt.u32 %q0, %r1, 6; @%q0 bra L;\n";
    struct rig *rig = compare("", body, 4 * WARP);
    const u32 first = 6, last = first + 12;
    for (u32 nth = 0; nth < 5; nth++) {
        u64 ends = 0, begins = UINT64_MAX;
        for (u32 slot = 0; slot < 4; slot++) {
            u32 turn[2] = {0, 0};
            for (u32 i = 0; i < rig->issued.count; i++) {
                const struct move *m = &rig->issued.data[i];
                if (m->slot == slot && m->inst == last && turn[0]++ == nth)
                    ends = MAX(ends, m->cycle);
                if (m->slot == slot && m->inst == first && turn[1]++ == nth + 1)
                    begins = MIN(begins, m->cycle);
            }
        }
        assert_true(begins >= ends && begins != UINT64_MAX);
    }
    rig_close(rig);
}

/* ---- warps that do not ---- */

/* Warps with more or fewer turns; those that have ended are not waited for. */
static void different_turns(void **state)
{
    static const char body[] = "L: add.u32 %r0, %r0, 1; setp.le.u32 %q0, %r0, %w; @%q0 bra L;\n";
    for (u32 warps = 1; warps <= 32; warps *= 2) {
        struct rig *rig = compare("", body, warps * WARP);
        /* into the loop, and w + 1 turns of warp w */
        assert_int_equal(stat(rig, "block_sync.arrivals"), warps + warps * (warps + 1) / 2);
        assert_int_equal(stat(rig, "block_sync.meetings"), 1 + warps);
        assert_int_equal(stat(rig, "block_sync.unstuck"), 0);
        rig_close(rig);
    }
}

/* A divergent warp passes, and is not awaited until its lanes reconverge. */
static void diverged_warps_pass(void **state)
{
    static const char body[] =
        " mov.u32 %r1, %laneid; setp.ne.u32 %q0, %w, 1; setp.lt.or.u32 %q1, %r1, 8, %q0;\n"
        " @%q1 bra B;\n" CHAIN("add.u32 %r0, %r0, 3;") "B: add.u32 %r0, %r0, 1;\n";
    struct rig *rig = compare("", body, 4 * WARP);
    /* three warps arrive after the branch; where its lanes reconverge, warp 1 waits for them
     * alone */
    assert_int_equal(stat(rig, "block_sync.arrivals"), 3 + 1);
    assert_int_equal(stat(rig, "block_sync.diverged"), 1);
    assert_true(first_issue(rig, 8 + 10) < last_issue(rig, 8 + 9)); /* they do not wait for it */
    assert_int_equal(stat(rig, "block_sync.unstuck"), 0);
    rig_close(rig);
}

/* Some wait at a barrier of the program, others have boundaries before it. */
static void barriers_of_the_program(void **state)
{
    static const char *const bodies[] = {
        " setp.eq.u32 %q0, %w, 0; @%q0 bra B;\nL: add.u32 %r0, %r0, 1; setp.lt.u32 %q1, %r0, 9; "
        "@%q1 bra L;\nB: bar.sync 0; add.u32 %r0, %r0, 1;\n",
        " setp.eq.u32 %q0, %t, 40; mov.u32 %r1, 5;\nL: @%q0 st.shared.u32 [s], %r1; bar.sync 0; "
        "ld.shared.u32 %r2, [s]; add.u32 %r0, %r0, %r2; bar.sync 0; sub.u32 %r1, %r1, 1; "
        "setp.gt.u32 %q1, %r1, 0; @%q1 bra L;\n",
        " setp.lt.u32 %q0, %w, 2; @%q0 bra A;\n bar.sync 1, 64; bra B;\nA: bar.sync 2, 64;\n"
        "B: add.u32 %r0, %r0, 1;\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct rig *rig = compare("", bodies[i], 4 * WARP);
        assert_int_equal(stat(rig, "block_sync.unstuck"), 0);
        assert_true(stat(rig, "block_sync.arrivals"));
        rig_close(rig);
    }
}

/* Warps that end early, warps without all lanes, and one that waits for another's store. */
static void others(void **state)
{
    static const char *const bodies[] = {
        " setp.lt.u32 %q0, %w, 2; @%q0 ret;\n bar.sync 0; add.u32 %r0, %r0, 1; bra.uni L;\nL: "
        "add.u32 "
        "%r0, %r0, 1;\n",
        " setp.ge.u32 %q0, %w, 2; @%q0 bra W;\n bar.sync 1, 64; st.volatile.shared.u32 [s], 1; "
        "bra.uni E;\nW: ld.volatile.shared.u32 %r1, [s]; setp.eq.u32 %q1, %r1, 0; @%q1 bra W;\n"
        "E: mov.u32 %r0, 7;\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        rig_close(compare("", bodies[i], 4 * WARP));
        rig_close(compare("", bodies[i], 4 * WARP - 9));
        rig_close(compare("block_sync.where=branches", bodies[i], 4 * WARP));
    }
}

/* ---- patience ---- */

/* Warps that have waited for `patience` cycles, but not one less, continue without the late warp
 * when it next issues. */
static void patience(void **state)
{
    static const char body[] = " setp.ne.u32 %q0, %w, 1; @%q0 bra B;\n" CHAIN(
        "add.u32 %r0, %r0, 1; add.u32 %r0, %r0, 2; add.u32 %r0, %r0, 3;") "B: add.u32 %r0, %r0, 1; "
                                                                          "bra.uni C;\nC: add.u32 "
                                                                          "%r0, %r0, 1;\n";
    const u32 end = 6 + 30 + 1; /* the branch to C */
    struct rig *rig = compare("", body, 2 * WARP);
    assert_int_equal(stat(rig, "block_sync.impatient"), 0);
    const u64 alone = last_issue(rig, end) - first_issue(rig, end);
    assert_true(first_issue(rig, end + 1) >= last_issue(rig, end - 2)); /* warp 1's chain */
    rig_close(rig);
    for (u64 n = 5; n < alone / 2; n += 3) {
        char settings[64];
        snprintf(settings, sizeof settings, "block_sync.patience=%u", (u32)n);
        rig = compare(settings, body, 2 * WARP);
        const u64 came = first_issue(rig, end);
        u64 freed = UINT64_MAX; /* by an instruction of warp 1 */
        for (u32 i = 0; i < rig->issued.count; i++)
            if (rig->issued.data[i].slot == 1 && rig->issued.data[i].cycle >= came + n)
                freed = MIN(freed, rig->issued.data[i].cycle);
        assert_int_equal(stat(rig, "block_sync.impatient"), 1);
        assert_int_equal(stat(rig, "block_sync.waited"),
                         freed - came + last_issue(rig, 5) - first_issue(rig, 5));
        assert_in_range(first_issue(rig, end + 1), freed, freed + 8);
        rig_close(rig);
    }
}

/* Warp 1 stops before the boundary until warp 0, which waits for it there, has gone on: the core has
 * nothing to do, and all that wait are released. */
static void the_stuck_are_released(void **state)
{
    static const char body[] =
        " add.u32 %r0, %r0, 1; add.u32 %r0, %r0, 2; bra.uni B;\nB: add.u32 %r0, "
        "%r0, 3; add.u32 %r0, %r0, 4;\n";
    struct rig *rig = compare("late.on=true late.from=4 late.to=7", body, 2 * WARP);
    assert_int_equal(stat(rig, "block_sync.unstuck"), 1);
    assert_int_equal(stat(rig, "block_sync.meetings"),
                     1); /* of warp 1 alone, when warp 0 has ended */
    assert_true(stat(rig, "block_sync.waited") > 0);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_wait_for_the_last),
        cmocka_unit_test(a_boundary_without_a_branch),
        cmocka_unit_test(turns_of_a_loop),
        cmocka_unit_test(different_turns),
        cmocka_unit_test(diverged_warps_pass),
        cmocka_unit_test(barriers_of_the_program),
        cmocka_unit_test(others),
        cmocka_unit_test(patience),
        cmocka_unit_test(the_stuck_are_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
