/*
 * Re-formed warps: a test mechanism deals the threads of a block to its warps at random after a
 * branch, and everything that a thread can see stays the same: registers, predicates, its numbers,
 * local and shared memory, branches, barriers, atomics, calls, exits, and the report of its fault.
 */
#include "micro/pair.h"

extern const struct mechanism deal_mechanism;
static const struct mechanism *const available[] = {&deal_mechanism, NULL};

enum {
    THREADS = 8 * 32 - 11,
    WORDS = 4
};

/* Four words of each thread are at %a; %r0 is its number. The traps are those of `deal`. */
#define BEGIN                                                                                      \
    HEAD ".func (.reg .b32 %o) twice(.reg .b32 %i)\n{ .reg .pred %q; setp.gt.u32 %q, %i, 150;\n"   \
         " @%q bra L; add.u32 %o, %i, %i; ret;\nL: sub.u32 %o, %i, 7; ret;\n}\n"                   \
         ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a, %b; .reg .b32 %t, %r<16>; .reg " \
         ".f64 "                                                                                   \
         "%d; .reg .pred %q<8>; .shared .align 4 .b8 s[2048]; .local .align 4 .b8 l[64];\n"        \
         " ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; shl.b32 %r15, %t, 4; cvt.u64.u32 %b, %r15;"   \
         " add.u64 %a, %p, %b; add.u32 %r0, %t, 3; and.b32 %r1, %t, 5; setp.eq.u32 %q1, %r1, 4;"   \
         " st.local.u32 [l+8], %r15; setp.ne.u32 %q7, %r0, %r0; @%q7 trap;\n"
#define END "\n @%q7 trap; st.global.u32 [%a], %r0;\n ret;\n}\n"

static struct rig *open_rig(const char *settings, const char *body)
{
    char all[512], *text = NULL;
    assert_true(asprintf(&text, "%s%s%s", BEGIN, body, END) > 0);
    snprintf(all, sizeof all, "gpu.cores=1 %s", settings);
    struct rig *rig = rig_open_with(available, "gtx480", all, text);
    free(text);
    return rig;
}

/* Runs a program without and with the mechanism. Returns whether all words are the same. */
static bool same(const char *settings, const char *body)
{
    const struct pair pair =
        pair_run(open_rig("", body), open_rig(settings, body), 1, THREADS, WORDS);
    const bool equal = pair_same(&pair);
    assert_int_equal(stat(pair.other, "deal.deals"), 1);
    assert_true(stat(pair.other, "deal.strangers") > THREADS / 2);
    pair_close(pair);
    return equal;
}

static void check(const char *body)
{
    assert_true(same("deal.on=true", body));
    assert_true(same("deal.on=true deal.back=true", body));
    assert_true(same("deal.on=true deal.back=true launch.seed=7", body));
}

/* Registers of one and two words, with and without a guard; predicates that were computed at home
 * and elsewhere. */
static void registers_and_predicates(void **state)
{
    check(" mad.lo.u32 %r2, %r0, %t, %r1; @%q1 add.u32 %r2, %r2, 9; cvt.rn.f64.u32 %d, %r2;"
          " mul.f64 %d, %d, %d; st.global.u32 [%a+4], %r2; setp.gt.and.u32 %q2|%q3, %r2, 900, %q1;"
          " selp.u32 %r3, %r2, %t, %q2; @%q3 xor.b32 %r3, %r3, 1023; st.global.u32 [%a+8], %r3;"
          " cvt.rzi.u32.f64 %r4, %d; st.global.u32 [%a+12], %r4;");
}

/* A thread's numbers, and its own memory. */
static void identity(void **state)
{
    check(" mov.u32 %r2, %tid.x; mov.u32 %r3, %laneid; mov.u32 %r4, %warpid; mov.u32 %r5, "
          "%lanemask_lt; mad.lo.u32 %r2, %r2, 77, %r3; mad.lo.u32 %r2, %r4, 5, %r2;"
          " xor.b32 %r2, %r2, %r5; st.global.u32 [%a+4], %r2; ld.local.u32 %r6, [l+8];"
          " st.local.u32 [l+12], %r2; st.global.u32 [%a+8], %r6; ld.local.v2.u32 {%r7, %r8}, [l+8];"
          " sub.u32 %r7, %r8, %r7; st.global.u32 [%a+12], %r7;");
}

/* Loops of different lengths, with a break, and a call with two ends. */
static void branches(void **state)
{
    check(
        " mov.u32 %r2, 0; and.b32 %r3, %r0, 15;\nLOOP: add.u32 %r2, %r2, %r0; add.u32 %r3, %r3, 1;"
        " setp.gt.u32 %q2, %r2, 700; @%q2 bra OUT; and.b32 %r4, %r2, 1; setp.eq.u32 %q3, %r4, 0;"
        " @%q3 bra EVEN; add.u32 %r2, %r2, 3; bra.uni NEXT;\nEVEN: sub.u32 %r2, %r2, 1;\nNEXT: "
        "setp.lt.u32 %q4, %r3, 20; @%q4 bra LOOP;\nOUT: st.global.u32 [%a+4], %r2;"
        " { .param .b32 i; .param .b32 o; st.param.b32 [i], %r0; call.uni (o), twice, (i);"
        " ld.param.b32 %r5, [o]; } st.global.u32 [%a+8], %r5;");
}

/* Threads that exit, some of them before a barrier: those that wait are as many as without. */
static void exits_and_barriers(void **state)
{
    check(" shl.b32 %r2, %t, 2; mov.u32 %r3, s; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r0;"
          " st.global.u32 [%a+4], %t; and.b32 %r4, %t, 7; setp.eq.u32 %q2, %r4, 2; @%q2 exit;"
          " bar.sync 0; xor.b32 %r2, %r2, 64; ld.shared.u32 %r5, [%r2]; st.global.u32 [%a+8], %r5;"
          " bar.red.popc.u32 %r6, 1, %q1; bar.red.or.pred %q3, 2, %q1; selp.u32 %r7, 1, 2, %q3;"
          " mad.lo.u32 %r6, %r6, 4, %r7; st.global.u32 [%a+12], %r6;");
}

/* A sum and a maximum by atomics, with results that do not depend on the order; shared and global. */
static void atomics(void **state)
{
    check(" mov.u32 %r2, s; and.b32 %r3, %t, 12; add.u32 %r2, %r2, %r3; atom.shared.add.u32 %r4, "
          "[%r2], %t; bar.sync 0; ld.shared.u32 %r5, [%r2]; st.global.u32 [%a+4], %r5;"
          " red.global.max.u32 [%p+8], %r0; @%q1 atom.global.add.u32 %r6, [%a+12], %t;");
}

/* A fault names the thread, its warp and its lane. */
static void faults(void **state)
{
    static const char body[] = " setp.eq.u32 %q2, %t, 77; @%q2 add.u64 %a, %a, 1073741824;"
                               " ld.global.u32 %r2, [%a+4];";
    char text[2][2048];
    for (u32 on = 0; on < 2; on++) {
        struct rig *rig = open_rig(on ? "deal.on=true" : "", body);
        const hd_address at = rig_memory(rig, THREADS * WORDS * sizeof(u32));
        rig_launch(rig, 1, THREADS, &(struct hd_arg){&at, sizeof at}, 1);
        assert_int_equal(rig->result.outcome, HD_OUT_OF_BOUNDS);
        snprintf(text[on], sizeof text[on], "%s", rig->result.explanation);
        rig_close(rig);
    }
    assert_non_null(strstr(text[0], "thread (77,0,0), warp 2, lane 13"));
    assert_string_equal(text[0], text[1]);
}

/* A lane that executes another thread than it should is noticed. */
static void a_swap_is_noticed(void **state)
{
    static const char body[] = " st.global.u32 [%a+4], %t;";
    assert_true(same("deal.on=true deal.back=true", body));
    assert_false(same("deal.on=true deal.back=true deal.swap=true", body));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_and_predicates),
        cmocka_unit_test(identity),
        cmocka_unit_test(branches),
        cmocka_unit_test(exits_and_barriers),
        cmocka_unit_test(atomics),
        cmocka_unit_test(faults),
        cmocka_unit_test(a_swap_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
