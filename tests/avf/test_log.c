/*
 * Logs that are too short for the whole program: what counts only because the log ends is said to be
 * undecided, and everything else is as if it were longer.
 */
#include "avf/programs.h"

/* What counts only because the log ends is in `undecided`: without it, no more is needed than a log of
 * the whole program says; and with it, no less. */
static void undecided(void **state)
{
    static const char *const names[] = {
        "vector",   "scalar",    "shared",  "buffer",   "collector", "mask",
        "lsu",      "queue",     "mshr",    "requests", "replies",   "l2_waits",
        "l1d_bits", "l1d_lines", "l2_bits", "l2_lines", "dram"};
    static const char body[] =
        " shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; mov.u32 %r3, 0; mov.u32 %r6, "
        "0; mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p;\n"
        "L: st.shared.u32 [%r1], %r3; ld.shared.u32 %r4, [%r1]; add.u32 %r6, %r6, %r4; "
        "ld.global.u32 %r5, [%a]; ld.global.u32 %r7, [%a]; add.u32 %r7, %r7, %r6; "
        "add.u64 %a, %a, 128; setp.lt.u32 %q2, %r3, %t; add.u32 %r3, %r3, 1; @%q2 mov.u32 %r8, "
        "%r5; "
        "setp.lt.u32 %q0, %r3, 99; @%q0 bra L;\n st.global.u32 [%p], %r6;";
    struct rig *exact = run_on("gtx480", DATA_ONLY, body, 1, WARP);
    u64 total = 0;
    for (u32 window = 64; window <= 256; window *= 2) {
        char settings[128];
        snprintf(settings, sizeof settings, DATA_ONLY " avf.window=%u", window);
        struct rig *rig = run_on("gtx480", settings, body, 1, WARP);
        assert_int_equal(stat(rig, "avf.instructions"), stat(exact, "avf.instructions"));
        for (u32 i = 0; i < ARRAY_LEN(names); i++) {
            char ace[32], less[40];
            snprintf(ace, sizeof ace, "avf.%s_ace", names[i]);
            snprintf(less, sizeof less, "avf.%s_undecided", names[i]);
            assert_int_equal(stat(exact, less), 0);
            if (stat(rig, ace) < stat(exact, ace) ||
                stat(rig, ace) - stat(rig, less) > stat(exact, ace))
                fail_msg("window %u: %s is %llu, of which %llu undecided, not %llu", window, ace,
                         (unsigned long long)stat(rig, ace), (unsigned long long)stat(rig, less),
                         (unsigned long long)stat(exact, ace));
            total += stat(rig, less) != 0;
        }
        rig_close(rig);
    }
    assert_true(total > 3 * 8); /* of most */
    rig_close(exact);
}

/* ACE time of registers that an instruction writes, of all launches. */
static u64 ace_of_inst(const struct rig *rig, u32 number)
{
    const json_t *kernel = json_array_get(json_object_get(rig->stats, "profile"), 0);
    const json_t *insts = json_object_get(kernel, "instructions");
    const json_t *inst = json_array_get(insts, number);
    assert_non_null(inst);
    return (u64)json_number_value(json_object_get(inst, "ace_bit_cycles"));
}

/* Every value is read again soon, and certainly: a short log decides everything, and forgets neither
 * when nor by which instruction it was written. */
static void decided(void **state)
{
    static const char *const names[] = {"vector_ace",
                                        "vector_live",
                                        "vector_undecided",
                                        "scalar_ace",
                                        "scalar_undecided",

                                        "buffer_ace",
                                        "buffer_held",
                                        "collector_ace",
                                        "collector_held",
                                        "mask_ace",
                                        "mask_undecided",
                                        "pc_ace",
                                        "lsu_ace",
                                        "queue_ace",
                                        "queue_held",
                                        "instructions",
                                        "dead_instructions",
                                        "values",
                                        "values_1",
                                        "values_2",
                                        "values_5",
                                        "values_10",
                                        "values_unread",
                                        "ace_1",
                                        "ace_2",
                                        "ace_5",
                                        "ace_10",
                                        "ace_more",
                                        "ace_initial",
                                        "sp_ace"};
    static const char body[] =
        " shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; mov.u32 %r3, 0; "
        "mov.u32 %r7, 77;\n"
        "L: st.shared.u32 [%r1], %r3; ld.shared.u32 %r4, [%r1]; add.u32 %r4, %r4, %r7; "
        "st.global.u32 [%p], %r4; add.u32 %r3, %r3, 1; setp.lt.u32 %q0, %r3, 60; @%q0 bra L;\n "
        "st.global.u32 [%p], %r7;";
    struct rig *exact = run_on("gtx480", DATA_ONLY, body, 1, WARP);
    for (u32 window = 64; window <= 256; window *= 2) {
        char settings[128], name[64];
        snprintf(settings, sizeof settings, DATA_ONLY " avf.window=%u", window);
        struct rig *rig = run_on("gtx480", settings, body, 1, WARP);
        for (u32 i = 0; i < ARRAY_LEN(names); i++) {
            snprintf(name, sizeof name, "avf.%s", names[i]);
            if (stat(rig, name) != stat(exact, name))
                fail_msg("window %u: %s is %llu, not %llu", window, name,
                         (unsigned long long)stat(rig, name),
                         (unsigned long long)stat(exact, name));
        }
        /* words that nothing accesses are undecided */
        assert_int_equal(stat(rig, "avf.shared_ace") - stat(rig, "avf.shared_undecided"),
                         stat(exact, "avf.shared_ace"));
        for (u32 i = 0; i < 14; i++)
            assert_int_equal(ace_of_inst(rig, i), ace_of_inst(exact, i));
        rig_close(rig);
    }
    assert_true(ace_of_inst(exact, 0) && ace_of_inst(exact, 6));
    rig_close(exact);
}

/* ---- undecided parts, by counting ---- */

/* %r1: a word for each thread. What follows the stores is longer than a short log. */
#define OWN_WORD " shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; mov.u32 %r4, 7;"
#define LONG_END " mov.u32 %r9, 0;\nL: add.u32 %r9, %r9, 1; setp.lt.u32 %q0, %r9, 40; @%q0 bra L;\n"

static struct rig *run_short(const char *body)
{
    return run_on("gtx480", DATA_ONLY " avf.window=64", body, 1, WARP);
}

/* How much more of a statistic the one run has. */
static i64 more(const struct rig *one, const struct rig *other, const char *name)
{
    return (i64)stat(one, name) - (i64)stat(other, name);
}

/* Nothing loads a word that is stored, so all of its time is undecided. A 16-bit store (7) leaves the upper
 * half of what was stored before (6); a 32-bit store nothing. */
static void undecided_halves(void **state)
{
    struct rig *half =
        run_short(OWN_WORD " st.shared.u32 [%r1], %t; st.shared.u16 [%r1], %t;" LONG_END);
    struct rig *all =
        run_short(OWN_WORD " st.shared.u32 [%r1], %t; st.shared.u32 [%r1], %t;" LONG_END);
    const u64 between = retired_at(half, 0, 0, 7) - retired_at(half, 0, 0, 6);
    assert_true(between);
    assert_int_equal(stat(half, "timing.cycles"), stat(all, "timing.cycles"));
    assert_int_equal(more(half, all, "avf.shared_ace"), 16 * WARP * between);
    assert_true(stat(half, "avf.shared_ace"));
    assert_int_equal(stat(half, "avf.shared_undecided"), stat(half, "avf.shared_ace"));
    assert_int_equal(stat(all, "avf.shared_undecided"), stat(all, "avf.shared_ace"));
    rig_close(half);
    rig_close(all);
}

/* The value of %r3 (6) is needed by a store (9) only, whose word may be loaded behind the log's end, unless
 * the next store overwrites it. It is vulnerable up to the store, and all of that is undecided. */
#define LATE_STORE(kind, next)                                                                    \
    OWN_WORD " mov.u32 %r3, 3; mul.lo.u32 %r5, %t, %t; mul.lo.u32 %r5, %r5, %r5; st.shared." kind \
             " [%r1], %r3; st.shared." kind " [%r1" next "], %t; mov.u32 %r3, 0;" LONG_END

static void undecided_stores(void **state)
{
    static const char *const bodies[][2] = {
        {LATE_STORE("u32", "+512"), LATE_STORE("u32", "")},
        {LATE_STORE("u16", "+512"), LATE_STORE("u16", "")},
    };
    for (u32 k = 0; k < ARRAY_LEN(bodies); k++) {
        struct rig *rig = run_short(bodies[k][0]), *other = run_short(bodies[k][1]);
        const struct value stored = {6, 9, k ? 16 * WARP : WORD};
        const u64 ace = sum(rig, &stored, 1);
        assert_true(ace);
        assert_int_equal(stat(rig, "timing.cycles"), stat(other, "timing.cycles"));
        assert_int_equal(more(rig, other, "avf.vector_ace"), ace);
        assert_int_equal(more(rig, other, "avf.vector_undecided"), ace);
        rig_close(rig);
        rig_close(other);
    }
}

/* ---- slots that change hands ---- */

/* The cycle in which a slot's warps issue an instruction for the nth time, from 0. */
static u64 nth_issue(const struct rig *rig, u32 slot, u32 inst, u32 n)
{
    for (u32 i = 0; i < rig->issued.count; i++)
        if (rig->issued.data[i].slot == slot && rig->issued.data[i].inst == inst && !n--)
            return rig->issued.data[i].cycle;
    fail_msg("instruction %u of slot %u: too few", inst, slot);
    return 0;
}

/* Every value is read again soon. Warp 1 takes 90 turns, all others 30. When block 1 (slots 2 and 3) has
 * ended, block 2 gets slots 0 and 2, though block 0 is still here. */
static void decided_when_slots_change_hands(void **state)
{
    static const char *const names[] = {"vector_ace",  "vector_live", "vector_undecided",
                                        "scalar_ace",  "mask_ace",    "mask_undecided",
                                        "pc_ace",      "values",      "ace_5",
                                        "ace_initial", "instructions"};
    static const char body[] =
        " mov.u32 %r4, %ctaid.x; mad.lo.u32 %t, %r4, 64, %t; shr.u32 %t, %t, 5; "
        "setp.eq.u32 %q0, %t, 1; mov.u32 %r3, 30; @%q0 mov.u32 %r3, 90; "
        "mov.u32 %r4, %r3; mov.u32 %r7, -1;\n"
        "L: add.u32 %r3, %r3, %r7; add.u32 %r4, %r4, %r7; setp.ne.u32 %q0, %r3, %r4; @%q0 bra E;\n "
        "setp.ne.u32 %q0, %r3, 0; @%q0 bra L;\nE:";
    struct rig *exact = run_on("gtx480", "core.warps=4", body, 3, 2 * WARP);
    assert_true(nth_issue(exact, 0, 0, 1) < issued_before_end(exact, 0, 1, 0));
    for (u32 window = 160; window <= 512; window += 32) {
        char settings[64], name[64];
        snprintf(settings, sizeof settings, "core.warps=4 avf.window=%u", window);
        struct rig *rig = run_on("gtx480", settings, body, 3, 2 * WARP);
        for (u32 i = 0; i < ARRAY_LEN(names); i++) {
            snprintf(name, sizeof name, "avf.%s", names[i]);
            if (stat(rig, name) != stat(exact, name))
                fail_msg("window %u: %s is %llu, not %llu", window, name,
                         (unsigned long long)stat(rig, name),
                         (unsigned long long)stat(exact, name));
        }
        rig_close(rig);
    }
    rig_close(exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undecided),
        cmocka_unit_test(undecided_halves),
        cmocka_unit_test(undecided_stores),
        cmocka_unit_test(decided),
        cmocka_unit_test(decided_when_slots_change_hands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
