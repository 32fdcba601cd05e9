/*
 * What hands instructions on between stages: the wheel of results by cycle, lists, latches, and the
 * pool of records.
 */
#include "rig.h"

/* Records are taken in a launch only: their rows are the launch's. */
static void open(struct rig *rig, const char *settings)
{
    rig_open(rig, "generic", settings);
    rig_begin(rig, false);
}

/* ---- the wheel ---- */

/* Beginnings and ends of words and of the ring, in its first turn and in later ones. */
static const u64 moments[] = {
    0,
    1,
    63,
    64,
    65,
    127,
    2048,
    WHEEL - 2,
    WHEEL - 1,
    WHEEL,
    WHEEL + 1,
    WHEEL + 63,
    5ull * WHEEL - 1,
    (1ull << 40) + 777,
};
static const u64 delays[] = {1,   2,    62,   63,   64,        65,       127,
                             128, 2047, 4032, 4033, WHEEL - 2, WHEEL - 1};

static void clear_wheel(struct core *core)
{
    memset(&core->wheel, 0, sizeof core->wheel);
}

/* Nothing is due on an empty wheel, in any cycle. */
static void empty_wheel(void **state)
{
    struct rig rig;
    open(&rig, "");
    for (u32 i = 0; i < ARRAY_LEN(moments); i++) {
        rig.core->clock.cycle = moments[i];
        assert_int_equal(wheel_next(rig.core), WHEEL);
    }
    rig_close(&rig);
}

/* A result n cycles ahead is 1 away n - 1 cycles later, and due in the nth. */
static void due_after_its_cycles(void **state)
{
    struct rig rig;
    open(&rig, "");
    struct core *core = rig.core;
    struct inflight *one = inflight_take(core);
    for (u32 i = 0; i < ARRAY_LEN(moments); i++)
        for (u32 k = 0; k < ARRAY_LEN(delays); k++) {
            const u64 n = delays[k];
            clear_wheel(core);
            core->clock.cycle = moments[i];
            wheel_add(core, one, n);
            assert_int_equal(wheel_next(core), n);
            core->clock.cycle += n - 1;
            assert_int_equal(wheel_next(core), 1);
            core->clock.cycle++;
            assert_int_equal(wheel_next(core), 0);
            const u32 at = (u32)(core->clock.cycle % WHEEL);
            assert_ptr_equal(list_pop(core, &core->wheel.lists[at]), one);
        }
    rig_close(&rig);
}

/* Of two results, the earlier one is next, in whatever order they were added. */
static void earlier_one_first(void **state)
{
    struct rig rig;
    open(&rig, "");
    struct core *core = rig.core;
    struct inflight *one = inflight_take(core), *other = inflight_take(core);
    for (u32 i = 0; i < ARRAY_LEN(moments); i++)
        for (u32 a = 0; a < ARRAY_LEN(delays); a++)
            for (u32 b = 0; b < ARRAY_LEN(delays); b++) {
                clear_wheel(core);
                core->clock.cycle = moments[i];
                wheel_add(core, one, delays[a]);
                wheel_add(core, other, delays[b]);
                assert_int_equal(wheel_next(core), MIN(delays[a], delays[b]));
            }
    rig_close(&rig);
}

/* Results of one cycle keep the order in which they were added, whenever that was. */
static void several_in_a_cycle(void **state)
{
    enum {
        MOST = 5
    };
    struct rig rig;
    open(&rig, "");
    struct core *core = rig.core;
    struct inflight *all[MOST];
    for (u32 i = 0; i < MOST; i++)
        all[i] = inflight_take(core);
    core->clock.cycle = WHEEL - 3; /* they are due beyond the end of the ring */
    for (u32 i = MOST; i-- > 0; core->clock.cycle++)
        wheel_add(core, all[i], 10 + i);
    assert_int_equal(core->clock.cycle, WHEEL + 2);
    assert_int_equal(wheel_next(core), 9);
    struct inflight_list *list = &core->wheel.lists[11];
    assert_ptr_equal(list_pop(core, list), all[4]);
    assert_ptr_equal(list_pop(core, list), all[3]);
    assert_ptr_equal(list_pop(core, list), all[2]);
    assert_ptr_equal(list_pop(core, list), all[1]);
    assert_ptr_equal(list_pop(core, list), all[0]);
    assert_null(list_pop(core, list));
    rig_close(&rig);
}

/* ---- latches ---- */

static void latch_keeps_order(void **state)
{
    struct latch latch = {0};
    for (u32 i = 0; i < LATCH; i++)
        latch_push(&latch, 1000 - i);
    assert_int_equal(latch.count, LATCH);
    for (u32 i = 0; i < LATCH; i++) {
        assert_int_equal(latch_first(&latch), 1000 - i);
        latch_pop(&latch);
        assert_int_equal(latch.count, LATCH - 1 - i);
    }
    latch_push(&latch, 1); /* what comes in while others leave goes behind them */
    latch_push(&latch, 2);
    latch_pop(&latch);
    latch_push(&latch, 3);
    assert_int_equal(latch_first(&latch), 2);
    latch_pop(&latch);
    assert_int_equal(latch_first(&latch), 3);
}

/* A full latch has no room, one that has given on an instruction has. */
static void latch_of_issue_fills(void **state)
{
    struct rig rig;
    open(&rig, "units.sp=2 issue.sub_cores=false");
    struct core *core = rig.core;
    const u32 limit = core->collect.group[0].issued[PIPE_SP].limit;
    assert_int_equal(limit, rig.machine.units->sp);
    for (u32 i = 0; i < limit; i++) {
        assert_true(collect_room(core, 0, PIPE_SP));
        struct inflight *one = inflight_take(core);
        one->group = 0;
        one->pipe = PIPE_SP;
        collect_push(core, one);
    }
    assert_false(collect_room(core, 0, PIPE_SP));
    assert_true(collect_room(core, 0, PIPE_SFU));
    assert_int_equal(core->collect.group[0].issued[PIPE_SP].count, limit);
    rig_close(&rig);
}

/* ---- records ---- */

static void lowest_record_first(void **state)
{
    struct rig rig;
    open(&rig, "");
    struct core *core = rig.core;
    for (u32 i = 0; i < CORE_INFLIGHT; i++) {
        const struct inflight *one = inflight_take(core);
        assert_non_null(one);
        assert_int_equal(inflight_index(core, one), i);
        assert_true(inflight_is_taken(core, i));
        assert_int_equal(core->inflight.count, i + 1);
    }
    assert_null(inflight_take(core));
    assert_int_equal(core->inflight.count, CORE_INFLIGHT);
    const u32 given[] = {CORE_INFLIGHT - 1, 64, 700, 63};
    for (u32 i = 0; i < ARRAY_LEN(given); i++) {
        inflight_give(core, core_inflight(core, given[i]));
        assert_false(inflight_is_taken(core, given[i]));
    }
    assert_int_equal(core->inflight.count, CORE_INFLIGHT - ARRAY_LEN(given));
    const u32 sorted[] = {63, 64, 700, CORE_INFLIGHT - 1};
    for (u32 i = 0; i < ARRAY_LEN(sorted); i++)
        assert_int_equal(inflight_index(core, inflight_take(core)), sorted[i]);
    assert_null(inflight_take(core));
    rig_close(&rig);
}

/* A record that is taken again tells nothing of its last instruction. */
static void record_is_fresh(void **state)
{
    struct rig rig;
    open(&rig, "");
    struct core *core = rig.core;
    struct inflight *one = inflight_take(core);
    one->extra = one->outstanding = 3;
    one->sent = one->injected = one->has_result = true;
    one->memory_wait = WAITS_AS_SCALAR;
    one->silent = one->dropped = one->passes = true;
    inflight_give(core, one);
    assert_ptr_equal(inflight_take(core), one);
    assert_int_equal(one->extra | one->outstanding, 0);
    assert_false(one->sent || one->memory_wait || one->injected || one->has_result);
    assert_false(one->silent || one->dropped || one->passes);
    rig_close(&rig);
}

/* Each record has rows of its own for its values. */
static void records_have_rows(void **state)
{
    struct rig rig;
    open(&rig, "");
    const u32 words = core_row_words(rig.core);
    assert_true(words >= rig.image.dyninst_words && words % 16 == 0);
    for (u32 i = 0; i < CORE_INFLIGHT; i++)
        assert_ptr_equal(inflight_take(rig.core)->dyn.rows, rig.core->inflight.rows + i * words);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_wheel),         cmocka_unit_test(due_after_its_cycles),
        cmocka_unit_test(earlier_one_first),   cmocka_unit_test(several_in_a_cycle),
        cmocka_unit_test(latch_keeps_order),   cmocka_unit_test(latch_of_issue_fills),
        cmocka_unit_test(lowest_record_first), cmocka_unit_test(record_is_fresh),
        cmocka_unit_test(records_have_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
