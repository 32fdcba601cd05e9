/* Block barriers, faults, limits and blocks that wait for each other, on hand-built programs. */
#include "build.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct build build_storage;
static struct ran ran;
static struct build *const b = &build_storage;

static void prologue(void)
{
    build_start(b);
    SREG(0, tid_x);
    ADDRESS(2, 0);
}

static void run(u32 threads)
{
    build_run(b, &(struct run_options){.grid = 1, .block = threads, .shared_bytes = 4096}, &ran);
}

#define SHARED_STORE(address, value)                                                       \
    EMIT(.op = OP_st, .src = {R(address), value}, .space = SPACE_SHARED, .type = TYPE_U32, \
         .vector = 1)
#define SHARED_LOAD(d, address)                                                                    \
    EMIT(.op = OP_ld, .dst = {R(d)}, .src = {R(address)}, .space = SPACE_SHARED, .type = TYPE_U32, \
         .vector = 1)

/* shared[t] = t; barrier; word[t] = shared[n - 1 - t] */
static void exchange(void **state)
{
    prologue();
    BINARY(shl_b32, 4, R(0), K(2));
    SHARED_STORE(4, R(0));
    BARRIER(0);
    BINARY(sub_b32, 5, K(199 * 4), R(4));
    SHARED_LOAD(6, 5);
    STORE(2, 0, R(6));
    EMIT(.op = OP_ret);
    run(200);
    assert_false(ran.exec.stopped);
    for (u32 t = 0; t < 200; t++)
        assert_int_equal(ran.words[t], 199 - t);
    assert_int_equal(ran.exec.stats.barriers, 7);
}

/* Half a warp arrives in one branch, the other half in the other, beside a whole warp. */
static void divergent_arrival(void **state)
{
    prologue();
    COMPARE(0, CMP_LT, R(0), K(16));
    u32 split = BRANCH(NOT(M(0)));
    BINARY(shl_b32, 4, R(0), K(2));
    SHARED_STORE(4, K(9));
    BARRIER(0);
    u32 skip = JUMP();
    u32 other = build_label(b);
    BARRIER(0);
    SHARED_LOAD(5, 6);
    u32 end = build_label(b);
    STORE(2, 0, R(5));
    EMIT(.op = OP_ret);
    build_target(b, split, other, end);
    build_target(b, skip, end, NO_INST);
    run(64);
    assert_false(ran.exec.stopped);
    for (u32 t = 0; t < 64; t++)
        assert_int_equal(ran.words[t], t < 16 ? 0 : 9);
}

/* Threads that exit are not waited for, even those that exit after others arrived. */
static void exits_count(void **state)
{
    prologue();
    COMPARE(0, CMP_GE, R(0), K(40));
    u32 split = BRANCH(NOT(M(0)));
    EMIT(.op = OP_exit);
    u32 rest = build_label(b);
    BARRIER(0);
    STORE(2, 0, K(1));
    EMIT(.op = OP_ret);
    build_target(b, split, rest, NO_INST);
    run(96);
    assert_false(ran.exec.stopped);
    for (u32 t = 0; t < 96; t++)
        assert_int_equal(ran.words[t], t < 40);
}

/* Warp 0 only arrives, warp 1 waits for both: barrier 3 with 64 threads. The last warp is absent.
 */
static void named_arrive(void **state)
{
    prologue();
    COMPARE(0, CMP_GE, R(0), K(64));
    EMIT(.op = OP_exit, .guard = M(0));
    COMPARE(1, CMP_GE, R(0), K(32));
    u32 split = BRANCH(M(1));
    SHARED_STORE(9, K(5));
    EMIT(.op = OP_bar, .key = 1, .src = {K(3), K(64)});
    EMIT(.op = OP_ret);
    u32 waiter = build_label(b);
    EMIT(.op = OP_bar, .src = {K(3), K(64)});
    SHARED_LOAD(5, 9);
    STORE(2, 0, R(5));
    EMIT(.op = OP_ret);
    build_target(b, split, waiter, NO_INST);
    run(96);
    assert_false(ran.exec.stopped);
    assert_int_equal(ran.words[40], 5);
}

/* An explicit count and a warp with fewer threads than lanes: it counts whole. */
static void partial_warp_counts_whole(void **state)
{
    prologue();
    EMIT(.op = OP_bar, .src = {K(1), K(64)});
    STORE(2, 0, K(1));
    EMIT(.op = OP_ret);
    run(40);
    assert_false(ran.exec.stopped);
    assert_int_equal(ran.words[39], 1);
}

static void reductions(void **state)
{
    prologue();
    COMPARE(0, CMP_LT, R(0), K(37));
    EMIT(.op = OP_bar_popc, .dst = {R(4)}, .src = {K(0), {0}, M(0)});
    EMIT(.op = OP_bar, .key = 2, .dst = {M(1)}, .src = {K(0), {0}, M(0)});
    EMIT(.op = OP_bar, .key = 3, .dst = {M(2)}, .src = {K(0), {0}, M(0)});
    EMIT(.op = OP_selp_b32, .dst = {R(5)}, .src = {K(1), K(2), M(1)});
    EMIT(.op = OP_selp_b32, .dst = {R(6)}, .src = {K(1), K(2), M(2)});
    STORE(2, 0, R(4));
    STORE(2, 400, R(5));
    STORE(2, 800, R(6));
    EMIT(.op = OP_ret);
    run(70);
    for (u32 t = 0; t < 70; t++) {
        assert_int_equal(ran.words[t], 37);
        assert_int_equal(ran.words[100 + t], 2);
        assert_int_equal(ran.words[200 + t], 1);
    }
}

static void deadlock(void **state)
{
    prologue();
    COMPARE(0, CMP_LT, R(0), K(33));
    EMIT(.op = OP_exit, .guard = M(0));
    EMIT(.op = OP_bar, .src = {K(2), K(128)});
    EMIT(.op = OP_ret);
    run(96);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_DEADLOCK);
    const char *message = ran.exec.fault.message;
    assert_non_null(strstr(message, "barrier 2 expects 128 threads"));
    assert_non_null(strstr(message, "warp 1, lanes 1-31 wait at barrier 2"));
    assert_non_null(strstr(message, "warp 2, lanes 0-31 wait at barrier 2"));
    assert_non_null(strstr(message, "warp 0, lanes 0-31 have exited"));
    assert_non_null(strstr(message, "warp 1, lanes 0 have exited"));
    /* 3 + 2 for all, the barrier for two warps; the return was not reached */
    assert_int_equal(ran.exec.stats.warp_instructions, 3 * 5 + 2);
    assert_int_equal(ran.exec.stats.thread_instructions, 96 * 4 + 33 + 63);
}

static void out_of_bounds(void **state)
{
    prologue();
    STORE(2, 0, K(1));
    BINARY(add_b32, 4, R(0), K(1));
    LOAD(5, 2, 16);
    BINARY(add_b32, 4, R(0), K(1));
    EMIT(.op = OP_ret);
    build_run(b, &(struct run_options){.grid = 1, .block = 64, .words = 60}, &ran);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_OUT_OF_BOUNDS);
    assert_int_equal(ran.exec.fault.thread[0], 60); /* the store of thread 60, in warp 1 */
    assert_int_equal(ran.exec.fault.bytes, 4);
    assert_non_null(strstr(ran.exec.fault.message, "write of 4 bytes"));
    assert_non_null(strstr(ran.exec.fault.message, "0 bytes past the end of buffer 1 'words'"));
    assert_non_null(
        strstr(ran.exec.fault.message, "block (0,0,0), thread (60,0,0), warp 1, lane 28"));
    assert_non_null(strstr(ran.exec.fault.message, "3 other lanes"));
    assert_int_equal(ran.words[31], 1); /* what ran before stays */
    assert_int_equal(ran.words[59], 0); /* a faulting access moves nothing */
    /* warp 0 ran to the load; then warp 1 to its store: nothing behind is counted */
    assert_int_equal(ran.exec.stats.warp_instructions, 8 + 4);
    assert_int_equal(ran.exec.stats.thread_instructions, (8 + 4) * 32);
}

static void misaligned(void **state)
{
    prologue();
    LOAD(5, 2, 2);
    EMIT(.op = OP_ret);
    run(32);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_MISALIGNED);
    prologue();
    SHARED_LOAD(5, 0);
    EMIT(.op = OP_ret);
    run(32);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_MISALIGNED);
    assert_int_equal(ran.exec.fault.thread[0], 1);
}

static void shared_bounds(void **state)
{
    prologue();
    BINARY(shl_b32, 4, R(0), K(8));
    SHARED_LOAD(5, 4);
    EMIT(.op = OP_ret);
    run(32);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_OUT_OF_BOUNDS);
    assert_int_equal(ran.exec.fault.thread[0], 16);
    assert_non_null(strstr(ran.exec.fault.message, "4096 bytes of shared memory"));
}

static void instruction_limit(void **state)
{
    prologue();
    u32 head = build_label(b);
    u32 back = JUMP();
    build_target(b, back, head, NO_INST);
    EMIT(.op = OP_ret);
    build_run(b,
              &(struct run_options){.grid = 4, .block = 64, .limits = {.max_instructions = 1000}},
              &ran);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_LIMIT);
    assert_int_equal(ran.exec.stats.warp_instructions, 1000);
}

/*
 * Every block adds itself to a counter and spins until all have: works when all are resident, with
 * any quantum, and ends at the instruction limit when they are not.
 */
static void grid_barrier(u32 resident, u32 quantum, u64 limit)
{
    build_start(b);
    EMIT(.op = OP_ld, .dst = {RR(2)}, .space = SPACE_PARAM, .type = TYPE_U64, .vector = 1);
    EMIT(.op = OP_atom, .dst = {R(4)}, .src = {RR(2), K(1)}, .key = ATOMIC_ADD, .type = TYPE_U32,
         .space = SPACE_GLOBAL, .vector = 1);
    u32 head = build_label(b);
    LOAD(5, 2, 0);
    COMPARE(0, CMP_LT, R(5), K(8 * 64));
    u32 back = BRANCH(M(0));
    u32 end = build_label(b);
    EMIT(.op = OP_atom, .src = {RR(2), K(1)}, .imm = 4, .key = ATOMIC_ADD, .type = TYPE_U32,
         .space = SPACE_GLOBAL, .vector = 1);
    EMIT(.op = OP_ret);
    build_target(b, back, head, end);
    struct run_options options = {.grid = 8,
                                  .block = 64,
                                  .resident = resident,
                                  .limits = {.quantum = quantum, .max_instructions = limit}};
    build_run(b, &options, &ran);
}

static void blocks_wait_for_each_other(void **state)
{
    grid_barrier(8, 100, 0);
    assert_false(ran.exec.stopped);
    assert_int_equal(ran.words[1], 8 * 64);
    u64 first = ran.exec.stats.warp_instructions;
    grid_barrier(8, 100, 0);
    assert_int_equal(ran.exec.stats.warp_instructions, first);
    grid_barrier(7, 100, 100000);
    assert_int_equal(ran.exec.fault.outcome, OUTCOME_LIMIT);
    assert_int_equal(ran.words[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchange),
        cmocka_unit_test(divergent_arrival),
        cmocka_unit_test(exits_count),
        cmocka_unit_test(named_arrive),
        cmocka_unit_test(partial_warp_counts_whole),
        cmocka_unit_test(reductions),
        cmocka_unit_test(deadlock),
        cmocka_unit_test(out_of_bounds),
        cmocka_unit_test(misaligned),
        cmocka_unit_test(shared_bounds),
        cmocka_unit_test(instruction_limit),
        cmocka_unit_test(blocks_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
