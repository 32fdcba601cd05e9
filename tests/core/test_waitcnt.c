/*
 * Wait counters, driven without a launch: the order in which accesses retire, what waits let go,
 * and what the counters can hold. What registers hold and when is in tests/micro/test_counters.c.
 */
#include "rig.h"

#include "ir/waits.h"

enum {
    SLOT = 7,
    OTHER_SLOT = 8,
};

/* The code: accesses of each kind, and waits. */
enum {
    LOAD,        /* of lanes, to memory */
    STORE,       /* the same */
    SHARED,      /* a load of lanes, from shared memory */
    SCALAR,      /* a scalar load of a word, */
    SCALAR_WIDE, /* and of several */
    SWIZZLE,
    MOVE,
    WAIT, /* changed by tests */
};

static void open(struct rig *rig, const char *settings)
{
    rig_open(rig, "tahiti", settings);
    rig->insts[LOAD] = (struct inst){.op = OP_buf_ld,
                                     .space = SPACE_GLOBAL,
                                     .dst = {vector(10, 1)},
                                     .src = {vector(0, 1), scalar(8, 4)}};
    rig->insts[STORE] =
        (struct inst){.op = OP_buf_st,
                      .space = SPACE_GLOBAL,
                      .src = {vector(0, 1), scalar(8, 4), operand_none(), vector(20, 1)}};
    rig->insts[SHARED] = (struct inst){
        .op = OP_ld, .space = SPACE_SHARED, .dst = {vector(11, 1)}, .src = {vector(0, 1)}};
    rig->insts[SCALAR] =
        (struct inst){.op = OP_ld_scalar, .dst = {scalar(20, 1)}, .src = {scalar(2, 2)}};
    rig->insts[SCALAR_WIDE] =
        (struct inst){.op = OP_ld_scalar, .dst = {scalar(24, 4)}, .src = {scalar(2, 2)}};
    rig->insts[SWIZZLE] =
        (struct inst){.op = OP_swizzle, .dst = {vector(12, 1)}, .src = {vector(1, 1)}};
    rig->insts[MOVE] =
        (struct inst){.op = OP_mov_b32, .dst = {vector(13, 1)}, .src = {vector(10, 1)}};
    rig->insts[WAIT] = (struct inst){.op = OP_wait};
    rig_begin(rig, true);
}

static struct inflight *issue(struct rig *rig, u32 slot, u32 inst)
{
    struct inflight *one = inflight_take(rig->core);
    one->slot = (u8)slot;
    one->time = &rig->times[inst];
    one->dyn.code = &rig->insts[inst];
    waitcnt_issue(rig->core, one);
    return one;
}

/* What has retired, in order, as record numbers. */
static struct {
    u16 record[64];
    u32 count;
} retired;

static void retire(struct core *core, struct inflight *one)
{
    retired.record[retired.count++] = one->index;
    waitcnt_settle(core, one);
    inflight_give(core, one);
}
static void data_come(struct rig *rig, struct inflight *one)
{
    waitcnt_retire(rig->core, one, retire);
}

/* Whether a wait of the slot for these counters would go on. */
static bool goes_on(struct rig *rig, u32 slot, u32 vectors, u32 others, u32 data)
{
    rig->insts[WAIT].imm = (i64)(vectors | data << 4 | others << 8);
    rig->core->slots[slot].buffer[0] = WAIT;
    return waitcnt_check(rig->core, slot, &rig->times[WAIT]) == STALL_NONE;
}
static bool all_done(struct rig *rig, u32 slot)
{
    return goes_on(rig, slot, 0, 0, 0);
}

/* ---- what counts ---- */

static void classes(void **state)
{
    struct rig rig;
    open(&rig, "");
    assert_true(rig.core->issue.by_waitcnt);
    const struct {
        u32 inst;
        u8 counter, counts;
        bool data;
    } expected[] = {
        {LOAD, WAIT_VECTOR, 1, false},        {STORE, WAIT_VECTOR, 1, true},
        {SHARED, WAIT_OTHERS, 1, false},      {SCALAR, WAIT_OTHERS, 1, false},
        {SCALAR_WIDE, WAIT_OTHERS, 2, false}, {SWIZZLE, WAIT_OTHERS, 1, false},
        {MOVE, WAIT_NONE, 0, false},
    };
    for (u32 i = 0; i < ARRAY_LEN(expected); i++) {
        const struct inst_time *time = &rig.times[expected[i].inst];
        assert_int_equal(time->counter, expected[i].counter);
        assert_int_equal(time->counts, expected[i].counts);
        assert_int_equal((time->flags & TIME_DATA) != 0, expected[i].data);
        /* the scoreboard does not cover what a counter does; what is written is still looked at */
        assert_int_equal(time->reserves, expected[i].inst == MOVE);
        assert_int_equal(time->write_count != 0, expected[i].inst != STORE);
    }
    assert_int_equal(rig.times[SWIZZLE].pipe, PIPE_MEMORY);
    assert_int_equal(rig.times[SWIZZLE].kind, TURN_SHARED);
    assert_true(rig.times[WAIT].flags & TIME_COUNTERS);
    rig_close(&rig);
    open(&rig, "issue.memory_order=scoreboard");
    assert_false(rig.core->issue.by_waitcnt);
    assert_int_equal(rig.times[LOAD].counter, WAIT_NONE);
    assert_true(rig.times[LOAD].reserves);
    rig_close(&rig);
}

/* ---- order ---- */

/* Accesses of lanes retire in the order in which they issued, whichever data come first (C1). */
static void in_order(u32 first, u32 second, u32 third)
{
    struct rig rig;
    open(&rig, "");
    struct inflight *a = issue(&rig, SLOT, first), *b = issue(&rig, SLOT, second),
                    *c = issue(&rig, SLOT, third);
    retired.count = 0;
    data_come(&rig, c);
    assert_int_equal(retired.count, 0);
    data_come(&rig, a);
    assert_int_equal(retired.count, 1);
    assert_int_equal(retired.record[0], a->index);
    assert_false(all_done(&rig, SLOT));
    data_come(&rig, b); /* c has waited for it */
    assert_int_equal(retired.count, 3);
    assert_int_equal(retired.record[1], b->index);
    assert_int_equal(retired.record[2], c->index);
    rig.core->issue.waits[SLOT].data = 0; /* of stores: that is another counter */
    assert_true(all_done(&rig, SLOT));
    rig_close(&rig);
}

static void lanes_in_order(void **state)
{
    in_order(LOAD, LOAD, LOAD);
    in_order(LOAD, STORE, LOAD);
    in_order(STORE, LOAD, STORE);
    in_order(SHARED, SHARED, SHARED);
    in_order(SHARED, SWIZZLE, SHARED);
}

/* Scalar loads retire as their data come; the two queues and warps do not wait for each other. */
static void others_in_any_order(void **state)
{
    struct rig rig;
    open(&rig, "");
    struct inflight *load = issue(&rig, SLOT, LOAD), *shared = issue(&rig, SLOT, SHARED),
                    *a = issue(&rig, SLOT, SCALAR), *b = issue(&rig, SLOT, SCALAR_WIDE),
                    *elsewhere = issue(&rig, OTHER_SLOT, LOAD);
    struct inflight *order[] = {elsewhere, b, shared, a, load};
    const struct {
        u32 vectors, others;
    } left[] = {{1, 4}, {1, 2}, {1, 1}, {1, 0}, {0, 0}};
    retired.count = 0;
    for (u32 i = 0; i < ARRAY_LEN(order); i++) {
        data_come(&rig, order[i]);
        assert_int_equal(retired.count, i + 1);
        assert_int_equal(retired.record[i], order[i]->index);
        assert_true(goes_on(&rig, SLOT, left[i].vectors, left[i].others, 0));
        if (left[i].vectors)
            assert_false(goes_on(&rig, SLOT, left[i].vectors - 1, left[i].others, 0));
        if (left[i].others)
            assert_false(goes_on(&rig, SLOT, left[i].vectors, left[i].others - 1, 0));
    }
    assert_true(all_done(&rig, SLOT) && all_done(&rig, OTHER_SLOT));
    rig_close(&rig);
}

/* The ring of a queue: more accesses than it has places pass through, never more than a counter
 * can hold at once. */
static void ring_goes_around(void **state)
{
    struct rig rig;
    open(&rig, "");
    struct inflight *under_way[WAIT_VECTOR_MOST];
    for (u32 round = 0; round < 7; round++) {
        retired.count = 0;
        for (u32 i = 0; i < WAIT_VECTOR_MOST; i++)
            under_way[i] = issue(&rig, SLOT, LOAD);
        for (u32 i = WAIT_VECTOR_MOST; i-- > 1;)
            data_come(&rig, under_way[i]);
        assert_int_equal(retired.count, 0);
        data_come(&rig, under_way[0]);
        assert_int_equal(retired.count, WAIT_VECTOR_MOST);
        for (u32 i = 0; i < WAIT_VECTOR_MOST; i++)
            assert_int_equal(retired.record[i], under_way[i]->index);
        assert_true(all_done(&rig, SLOT));
    }
    assert_int_equal(rig.core->inflight.count, 0);
    rig_close(&rig);
}

/* ---- waits and limits ---- */

/* A wait for n goes on when n are left, not when n + 1 are. */
static void waits_let_go(void **state)
{
    struct rig rig;
    open(&rig, "");
    assert_true(all_done(&rig, SLOT));
    for (u32 n = 1; n <= 5; n++) {
        issue(&rig, SLOT, LOAD);
        assert_true(goes_on(&rig, SLOT, n, 0, 0));
        assert_false(goes_on(&rig, SLOT, n - 1, 0, 0));
        assert_true(all_done(&rig, OTHER_SLOT));
    }
    rig_close(&rig);
}

/* An access issues with n - 1 of n counted, and waits with n (C3). */
static void most(u32 inst, u32 limit)
{
    struct rig rig;
    open(&rig, "");
    const struct inst_time *time = &rig.times[inst];
    u32 count = 0;
    for (; count + time->counts <= limit; count += time->counts) {
        assert_int_equal(waitcnt_check(rig.core, SLOT, time), STALL_NONE);
        issue(&rig, SLOT, inst);
    }
    assert_int_equal(waitcnt_check(rig.core, SLOT, time), STALL_WAIT);
    assert_int_equal(waitcnt_check(rig.core, OTHER_SLOT, time), STALL_NONE);
    rig_close(&rig);
}

static void counters_hold_so_many(void **state)
{
    most(LOAD, WAIT_VECTOR_MOST);
    most(STORE, WAIT_DATA_MOST);
    most(SHARED, WAIT_OTHERS_MOST);
    most(SCALAR, WAIT_OTHERS_MOST);
    most(SCALAR_WIDE, WAIT_OTHERS_MOST);
}

/* The data of a store count until they have been read, in whatever order stores are done. */
static void data_of_stores(void **state)
{
    struct rig rig;
    open(&rig, "");
    struct inflight *a = issue(&rig, SLOT, STORE), *b = issue(&rig, SLOT, STORE),
                    *load = issue(&rig, SLOT, LOAD);
    assert_true(goes_on(&rig, SLOT, 3, 0, 2) && !goes_on(&rig, SLOT, 3, 0, 1));
    waitcnt_read(rig.core, load); /* of no account */
    assert_false(goes_on(&rig, SLOT, 3, 0, 1));
    waitcnt_read(rig.core, b);
    assert_true(goes_on(&rig, SLOT, 3, 0, 1) && !goes_on(&rig, SLOT, 3, 0, 0));
    waitcnt_read(rig.core, a);
    assert_true(goes_on(&rig, SLOT, 3, 0, 0) && !goes_on(&rig, SLOT, 2, 0, 0));
    rig_close(&rig);
}

/* A skipped access counts with the one before it, and is done when that is. */
static void skipped(void **state)
{
    struct rig rig;
    open(&rig, "");
    waitcnt_skip(rig.core, SLOT, &rig.times[LOAD]); /* behind none */
    assert_true(all_done(&rig, SLOT));
    struct inflight *a = issue(&rig, SLOT, LOAD);
    waitcnt_skip(rig.core, SLOT, &rig.times[LOAD]);
    waitcnt_skip(rig.core, SLOT, &rig.times[SCALAR]); /* not in order: done at once */
    struct inflight *b = issue(&rig, SLOT, LOAD);
    assert_true(goes_on(&rig, SLOT, 3, 0, 0) && !goes_on(&rig, SLOT, 2, 0, 0));
    data_come(&rig, a);
    assert_true(goes_on(&rig, SLOT, 1, 0, 0) && !goes_on(&rig, SLOT, 0, 0, 0));
    data_come(&rig, b);
    assert_true(all_done(&rig, SLOT));
    rig_close(&rig);
}

/* Registers that a load under way will write. */
static void pending_loads(void **state)
{
    struct rig rig;
    open(&rig, "");
    rig.insts[LOAD].dst[0] = vector(10, 4);
    assert_false(core_load_pending(rig.core, SLOT, 10));
    issue(&rig, SLOT, SHARED);
    struct inflight *load = issue(&rig, SLOT, LOAD);
    assert_false(core_load_pending(rig.core, SLOT, 9));
    assert_true(core_load_pending(rig.core, SLOT, 10));
    assert_true(core_load_pending(rig.core, SLOT, 13));
    assert_false(core_load_pending(rig.core, SLOT, 14));
    assert_false(core_load_pending(rig.core, OTHER_SLOT, 10));
    data_come(&rig, load);
    assert_false(core_load_pending(rig.core, SLOT, 10));
    assert_true(core_load_pending(rig.core, SLOT, 11)); /* of the shared one */
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),
        cmocka_unit_test(lanes_in_order),
        cmocka_unit_test(others_in_any_order),
        cmocka_unit_test(ring_goes_around),
        cmocka_unit_test(waits_let_go),
        cmocka_unit_test(counters_hold_so_many),
        cmocka_unit_test(data_of_stores),
        cmocka_unit_test(skipped),
        cmocka_unit_test(pending_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
