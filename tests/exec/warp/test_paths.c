/*
 * Divergence: nested branches, loops, early exits, calls, waiting for other lanes, deadlocks.
 */
#include "build.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct build build_storage;
static struct ran ran;
static struct build *const b = &build_storage;

static void run(u32 threads)
{
    build_run(b, &(struct run_options){.grid = 1, .block = threads}, &ran);
}

/* r0 = tid; r2:r3 = &words[tid] */
static void prologue(void)
{
    build_start(b);
    SREG(0, tid_x);
    ADDRESS(2, 0);
}

static void straight_line(void **state)
{
    prologue();
    BINARY(add_b32, 4, R(0), K(7));
    STORE(2, 0, R(4));
    EMIT(.op = OP_ret);
    run(70);
    assert_false(ran.exec.stopped);
    for (u32 t = 0; t < 70; t++)
        assert_int_equal(ran.words[t], t + 7);
    assert_int_equal(ran.words[70], 0);
    assert_int_equal(ran.exec.stats.warp_instructions, 3 * 6);
    assert_int_equal(ran.exec.stats.thread_instructions, 70 * 6);
    assert_int_equal(ran.exec.stats.store_threads_global, 70);
    assert_int_equal(ran.exec.stats.loads_param, 3);
}

/* if (t < 16) { if (t < 4) r4 = 1; else r4 = 2; r4 += 10; } else r4 = 3;  r4 += 100 */
static void nested(void **state)
{
    prologue();
    COMPARE(0, CMP_LT, R(0), K(16));
    u32 outer = BRANCH(NOT(M(0)));
    COMPARE(1, CMP_LT, R(0), K(4));
    u32 inner = BRANCH(NOT(M(1)));
    BINARY(add_b32, 4, K(1), K(0));
    u32 skip = JUMP();
    u32 inner_else = build_label(b);
    BINARY(add_b32, 4, K(2), K(0));
    u32 inner_end = build_label(b);
    BINARY(add_b32, 4, R(4), K(10));
    u32 skip_outer = JUMP();
    u32 outer_else = build_label(b);
    BINARY(add_b32, 4, K(3), K(0));
    u32 end = build_label(b);
    BINARY(add_b32, 4, R(4), K(100));
    STORE(2, 0, R(4));
    EMIT(.op = OP_ret);
    build_target(b, outer, outer_else, end);
    build_target(b, inner, inner_else, inner_end);
    build_target(b, skip, inner_end, NO_INST);
    build_target(b, skip_outer, end, NO_INST);
    run(32);
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], t < 4 ? 111 : t < 16 ? 112 : 103);
    assert_int_equal(ran.exec.stats.divergent_branches, 2);
    /* 3 + 2 before, 2 inner head, 2 + 1 inner sides, 2 tail, 1 else, 3 end: each issued once */
    assert_int_equal(ran.exec.stats.warp_instructions, 5 + 2 + 3 + 2 + 1 + 3);
}

/* r4 = 0; if (t < 16) { r4 += 1; if (t < 4) r4 += 10; r4 += 100; } r4 += 1000: one side of each branch
 * is where the lanes meet again. */
static void one_sided(void **state)
{
    prologue();
    BINARY(add_b32, 4, K(0), K(0));
    COMPARE(0, CMP_LT, R(0), K(16));
    u32 outer = BRANCH(NOT(M(0)));
    BINARY(add_b32, 4, R(4), K(1));
    COMPARE(1, CMP_LT, R(0), K(4));
    u32 inner = BRANCH(NOT(M(1)));
    BINARY(add_b32, 4, R(4), K(10));
    u32 inner_end = build_label(b);
    BINARY(add_b32, 4, R(4), K(100));
    u32 end = build_label(b);
    BINARY(add_b32, 4, R(4), K(1000));
    STORE(2, 0, R(4));
    EMIT(.op = OP_ret);
    build_target(b, outer, end, end);
    build_target(b, inner, inner_end, inner_end);
    run(32);
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], t < 4 ? 1111 : t < 16 ? 1101 : 1000);
    assert_int_equal(ran.exec.stats.divergent_branches, 2);
    assert_int_equal(ran.exec.stats.warp_instructions, 5 + 1 + 2 + 1 + 1 + 1 + 3);
    /* of branches, the lanes that take them */
    assert_int_equal(ran.exec.stats.thread_instructions,
                     5 * 32 + 16 + 2 * 16 + 12 + 4 + 16 + 3 * 32);
}

/* for (r4 = 0; r4 < t; r4++) r5 += 2 */
static void loop(void **state)
{
    prologue();
    u32 head = build_label(b);
    COMPARE(0, CMP_GE, R(4), R(0));
    u32 leave = BRANCH(M(0));
    BINARY(add_b32, 5, R(5), K(2));
    BINARY(add_b32, 4, R(4), K(1));
    u32 back = JUMP();
    u32 end = build_label(b);
    STORE(2, 0, R(5));
    EMIT(.op = OP_ret);
    build_target(b, leave, end, end);
    build_target(b, back, head, NO_INST);
    run(32);
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], 2 * t);
    /* 32 rounds of the test, 31 of the body, and the store of all lanes together */
    assert_int_equal(ran.exec.stats.warp_instructions, 3 + 32 * 2 + 31 * 3 + 2);
    assert_int_equal(ran.exec.stats.store_threads_global, 32);
    assert_int_equal(ran.exec.stats.released_waits, 0);
}

/* Odd lanes exit early, the rest goes on together. */
static void early_exit(void **state)
{
    prologue();
    BINARY(and_b32, 4, R(0), K(1));
    COMPARE(0, CMP_EQ, R(4), K(1));
    EMIT(.op = OP_exit, .guard = M(0));
    EMIT(.op = OP_activemask, .dst = {R(5)});
    STORE(2, 0, R(5));
    EMIT(.op = OP_ret);
    run(32);
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], t % 2 ? 0 : 0x55555555);
}

/*
 * f(n): if (n == 0) return; count++; f(n - 1): recursion to a different depth in every lane, with
 * n and count in registers, which a call does not save.
 */
static void divergent_recursion(void **state)
{
    prologue();
    BINARY(add_b32, 4, R(0), K(0));
    u32 call = EMIT(.op = OP_call);
    EMIT(.op = OP_activemask, .dst = {R(6)});
    STORE(2, 0, R(5));
    STORE(2, 256, R(6));
    EMIT(.op = OP_ret);
    u32 f = build_label(b);
    build_function(b, "f", f);
    COMPARE(0, CMP_EQ, R(4), K(0));
    EMIT(.op = OP_ret, .guard = M(0));
    BINARY(add_b32, 5, R(5), K(1));
    BINARY(sub_b32, 4, R(4), K(1));
    u32 again = EMIT(.op = OP_call);
    EMIT(.op = OP_ret);
    b->insts[call].imm = f;
    b->insts[again].imm = f;
    run(32);
    for (u32 t = 0; t < 32; t++) {
        assert_int_equal(ran.words[t], t);
        assert_int_equal(ran.words[64 + t], LANES_FULL);
    }
    assert_int_equal(ran.exec.stats.calls, 32);
}

static void endless_recursion(void **state)
{
    prologue();
    u32 call = EMIT(.op = OP_call);
    EMIT(.op = OP_ret);
    u32 f = build_label(b);
    build_function(b, "f", f);
    u32 again = EMIT(.op = OP_call);
    EMIT(.op = OP_ret);
    b->insts[call].imm = f;
    b->insts[again].imm = f;
    build_run(b, &(struct run_options){.grid = 1, .block = 32, .limits = {.path_limit = 1000}},
              &ran);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_STACK_OVERFLOW);
}

/*
 * while (cas(lock, 0, 1) != 0) ;  words[1]++ ;  exch(lock, 0): the lane that has the lock waits at
 * the loop's exit for lanes that can only leave the loop once it has unlocked.
 */
static void spin_lock(void **state)
{
    prologue();
    EMIT(.op = OP_ld, .dst = {RR(2)}, .space = SPACE_PARAM, .type = TYPE_U64, .vector = 1);
    u32 head = build_label(b);
    EMIT(.op = OP_atom, .dst = {R(4)}, .src = {RR(2), K(0), K(1)}, .key = ATOMIC_CAS,
         .type = TYPE_B32, .space = SPACE_GLOBAL, .vector = 1);
    COMPARE(0, CMP_NE, R(4), K(0));
    u32 back = BRANCH(M(0));
    u32 end = build_label(b);
    LOAD(5, 2, 4);
    BINARY(add_b32, 5, R(5), K(1));
    STORE(2, 4, R(5));
    EMIT(.op = OP_atom, .src = {RR(2), K(0)}, .key = ATOMIC_EXCH, .type = TYPE_B32,
         .space = SPACE_GLOBAL, .vector = 1);
    EMIT(.op = OP_ret);
    build_target(b, back, head, end);
    run(64);
    assert_false(ran.exec.stopped);
    assert_int_equal(ran.words[1], 64);
    assert_int_equal(ran.words[0], 0);
    assert_true(ran.exec.stats.released_waits > 0);
    u64 first = ran.exec.stats.warp_instructions;
    run(64);
    assert_int_equal(ran.exec.stats.warp_instructions, first);
}

#define SHUFFLE_XOR(d, a, x) \
    EMIT(.op = OP_shfl, .dst = {R(d)}, .src = {R(a), K(x), K(31), K(LANES_FULL)}, .key = 2)

/* Both sides of a branch shuffle with all 32 lanes, at different places. */
static void shuffle_across_sides(void **state)
{
    prologue();
    COMPARE(0, CMP_LT, R(0), K(16));
    u32 split = BRANCH(NOT(M(0)));
    BINARY(add_b32, 4, R(0), K(1000));
    SHUFFLE_XOR(5, 4, 16);
    u32 skip = JUMP();
    u32 other = build_label(b);
    BINARY(add_b32, 6, R(0), K(2000));
    SHUFFLE_XOR(5, 6, 16);
    u32 end = build_label(b);
    STORE(2, 0, R(5));
    EMIT(.op = OP_ret);
    build_target(b, split, other, end);
    build_target(b, skip, end, NO_INST);
    run(32);
    assert_false(ran.exec.stopped);
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], t < 16 ? 2000 + t + 16 : 1000 + t - 16);
    assert_int_equal(ran.exec.stats.warp_instructions, 5 + 3 + 2 + 2);
    assert_int_equal(ran.exec.stats.path_switches,
                     1); /* the first side waits, the other one runs */
}

/* One side waits for lanes that have merged: they are let go to meet it further down. */
static void sync_with_merged_lanes(void **state)
{
    prologue();
    COMPARE(0, CMP_LT, R(0), K(16));
    u32 split = BRANCH(NOT(M(0)));
    EMIT(.op = OP_bar_warp, .src = {K(LANES_FULL)});
    u32 end = build_label(b);
    COMPARE(1, CMP_GE, R(0), K(16));
    EMIT(.op = OP_bar_warp, .src = {K(LANES_FULL)}, .guard = M(1));
    STORE(2, 0, R(0));
    EMIT(.op = OP_ret);
    build_target(b, split, end, end);
    run(32);
    assert_false(ran.exec.stopped);
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], t);
    assert_int_equal(ran.exec.stats.path_switches, 0); /* there is no other path by then */
}

static void sync_deadlock(void **state)
{
    prologue();
    COMPARE(0, CMP_LT, R(0), K(16));
    u32 split = BRANCH(NOT(M(0)));
    EMIT(.op = OP_vote, .dst = {M(1)}, .src = {M(0), K(LANES_FULL)});
    u32 skip = JUMP();
    u32 other = build_label(b);
    EMIT(.op = OP_ballot, .dst = {R(5)}, .src = {M(0), K(LANES_FULL)});
    u32 end = build_label(b);
    EMIT(.op = OP_ret);
    build_target(b, split, other, end);
    build_target(b, skip, end, NO_INST);
    run(32);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_DEADLOCK);
    assert_non_null(
        strstr(ran.exec.fault.message, "lanes 0-15 wait for lanes named by mask 0xffffffff"));
    assert_non_null(strstr(ran.exec.fault.message, "lanes 16-31 wait"));
    /* 3 + 2 and one instruction on each side; the jump behind the vote was not issued */
    assert_int_equal(ran.exec.stats.warp_instructions, 7);
    assert_int_equal(ran.exec.stats.thread_instructions, 4 * 32 + 16 + 32);
}

/* Lanes that exited are not waited for. */
static void sync_without_exited(void **state)
{
    prologue();
    COMPARE(0, CMP_LT, R(0), K(8));
    EMIT(.op = OP_exit, .guard = M(0));
    EMIT(.op = OP_redux, .dst = {R(5)}, .src = {R(0), K(LANES_FULL)}, .key = ATOMIC_MIN,
         .type = TYPE_U32);
    STORE(2, 0, R(5));
    EMIT(.op = OP_ret);
    run(32);
    assert_int_equal(ran.words[20], 8);
}

/* Lanes with different member masks at the same instruction are groups of their own. */
static void groups_by_members(void **state)
{
    prologue();
    COMPARE(0, CMP_LT, R(0), K(16));
    EMIT(.op = OP_selp_b32, .dst = {R(4)}, .src = {K(0xffff), K(0xffff0000), M(0)});
    EMIT(.op = OP_redux, .dst = {R(5)}, .src = {R(0), R(4)}, .key = ATOMIC_ADD, .type = TYPE_U32);
    STORE(2, 0, R(5));
    EMIT(.op = OP_ret);
    run(32);
    assert_int_equal(ran.words[3], 120);
    assert_int_equal(ran.words[19], 376);
}

static void jump_table(void **state)
{
    static u32 targets[3];
    prologue();
    BINARY(and_b32, 4, R(0), K(3));
    b->tables[0] = (struct jump_table){targets, 3};
    b->table_count = 1;
    COMPARE(0, CMP_NE, R(4), K(3));
    u32 jump = EMIT(.op = OP_brx, .src = {R(4)}, .guard = M(0));
    BINARY(add_b32, 5, K(40), K(0));
    u32 skip = JUMP();
    u32 skips[3];
    for (u32 i = 0; i < 3; i++) {
        targets[i] = build_label(b);
        BINARY(add_b32, 5, K(10 * i), K(1));
        skips[i] = JUMP();
    }
    u32 end = build_label(b);
    STORE(2, 0, R(5));
    EMIT(.op = OP_ret);
    build_target(b, skip, end, NO_INST);
    for (u32 i = 0; i < 3; i++)
        build_target(b, skips[i], end, NO_INST);
    b->reconverge[jump] = end;
    run(32);
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], t % 4 == 3 ? 40 : t % 4 * 10 + 1);
    assert_int_equal(ran.exec.stats.stores_global, 1);
}

static void jump_table_range(void **state)
{
    static u32 targets[1];
    prologue();
    b->tables[0] = (struct jump_table){targets, 1};
    b->table_count = 1;
    EMIT(.op = OP_brx, .src = {R(0)});
    targets[0] = build_label(b);
    EMIT(.op = OP_ret);
    run(32);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_BAD_CALL);
    assert_int_equal(ran.exec.fault.thread[0], 1);
}

/* Even lanes call one function through a register, odd ones another. */
static void indirect_calls(void **state)
{
    prologue();
    BINARY(and_b32, 4, R(0), K(1));
    u32 stride = EMIT(.op = OP_mul_wide_u32, .dst = {RR(6)}, .src = {R(4), K(0)});
    u32 add = EMIT(.op = OP_add_b64, .dst = {RR(6)}, .src = {RR(6), K(0)});
    EMIT(.op = OP_calli, .src = {RR(6)});
    STORE(2, 0, R(5));
    EMIT(.op = OP_ret);
    u32 f = build_label(b);
    build_function(b, "f", f);
    BINARY(add_b32, 5, K(11), K(0));
    EMIT(.op = OP_ret);
    u32 g = build_label(b);
    build_function(b, "g", g);
    BINARY(add_b32, 5, K(22), K(0));
    EMIT(.op = OP_ret);
    b->insts[stride].src[1] = K((g - f) * 8);
    b->insts[add].src[1] = build_constant64(b, 0x4000000000 + f * 8);
    run(32);
    assert_false(ran.exec.stopped);
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], t % 2 ? 22 : 11);
    assert_int_equal(ran.exec.stats.stores_global, 1);
    b->insts[add].src[1] = build_constant64(b, 0x4000000000 + f * 8 + 8);
    run(32);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_BAD_CALL);
}

/* 64-wide warps: control flow is shared, but shuffles and votes stay within 32 lanes. */
static void wide_warps(void **state)
{
    prologue();
    COMPARE(0, CMP_LT, R(0), K(40));
    u32 split = BRANCH(NOT(M(0)));
    EMIT(.op = OP_activemask, .dst = {R(4)});
    u32 end = build_label(b);
    SHUFFLE_XOR(5, 0, 1);
    SREG(6, laneid);
    STORE(2, 0, R(4));
    STORE(2, 512, R(5));
    STORE(2, 1024, R(6));
    EMIT(.op = OP_ret);
    build_target(b, split, end, end);
    build_run(b, &(struct run_options){.grid = 1, .block = 100, .warp_size = 64}, &ran);
    assert_false(ran.exec.stopped);
    for (u32 t = 0; t < 96; t++) {
        assert_int_equal(ran.words[t], t < 32 ? LANES_FULL : t < 40 ? 0xff : 0);
        assert_int_equal(ran.words[128 + t], t ^ 1);
        assert_int_equal(ran.words[256 + t], t % 32);
    }
    assert_int_equal(ran.exec.stats.warp_instructions, 5 + 1 + 6 + 5 + 6);
    assert_int_equal(ran.exec.stats.warps, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_line),
        cmocka_unit_test(nested),
        cmocka_unit_test(one_sided),
        cmocka_unit_test(loop),
        cmocka_unit_test(early_exit),
        cmocka_unit_test(divergent_recursion),
        cmocka_unit_test(endless_recursion),
        cmocka_unit_test(spin_lock),
        cmocka_unit_test(shuffle_across_sides),
        cmocka_unit_test(sync_with_merged_lanes),
        cmocka_unit_test(sync_deadlock),
        cmocka_unit_test(sync_without_exited),
        cmocka_unit_test(groups_by_members),
        cmocka_unit_test(jump_table),
        cmocka_unit_test(jump_table_range),
        cmocka_unit_test(indirect_calls),
        cmocka_unit_test(wide_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
