/* Which warp a scheduler picks from a set of ready ones, by policy; and whose turn passes. */
#include "rig.h"

#include <stdio.h>

/* Slots by number, in a set. */
#define SET(...) \
    set_of((const u32[]){__VA_ARGS__}, sizeof((const u32[]){__VA_ARGS__}) / sizeof(u32))
static u64 set_of(const u32 *slots, u32 count)
{
    u64 set = 0;
    for (u32 i = 0; i < count; i++)
        set |= bit(slots[i]);
    return set;
}

/* A core on which all places have a warp; the warp of slot s has age 63 - s, so that the highest
 * slot has the oldest one. */
static void open(struct rig *rig, const char *settings)
{
    rig_open(rig, "generic", settings);
    rig_begin(rig, false);
    rig->core->present = ~0ull;
    rig->core->cohort_count = CORE_WARPS;
    for (u32 s = 0; s < CORE_WARPS; s++) {
        const u32 age = CORE_WARPS - 1 - s;
        rig->core->slots[s].age = age;
        rig->core->cohorts[age] = bit(s);
    }
}

static void issued_last(struct rig *rig, u32 slot)
{
    rig->core->issue.schedulers[0].last = slot;
}

#define assert_pick(rig, ready, slot) assert_int_equal(schedule_pick((rig)->core, 0, ready), slot)

/* The next ready one after the last, around; at first, from the lowest slot on. */
static void lrr(void **state)
{
    struct rig rig;
    open(&rig, "issue.schedulers=1 issue.policy=lrr");
    assert_int_equal(rig.core->issue.schedulers[0].last, CORE_WARPS);
    assert_pick(&rig, SET(3, 5, 63), 3);
    issued_last(&rig, 3);
    assert_pick(&rig, SET(3, 5, 63), 5);
    assert_pick(&rig, SET(3), 3);
    issued_last(&rig, 5);
    assert_pick(&rig, SET(3, 5, 63), 63);
    issued_last(&rig, 63);
    assert_pick(&rig, SET(3, 5, 63), 3);
    issued_last(&rig, 4); /* it was not among the ready ones */
    assert_pick(&rig, SET(3, 5, 63), 5);
    rig_close(&rig);
}

/* Only the warp after the last one, ready or not; who is not there or has ended has no turn. */
static void rr(void **state)
{
    struct rig rig;
    open(&rig, "issue.schedulers=1 issue.policy=rr");
    rig.core->present = SET(2, 4, 6, 8);
    rig.core->ended = SET(4);
    issued_last(&rig, 2);
    assert_pick(&rig, SET(6, 8), 6);
    assert_pick(&rig, SET(2, 8), CORE_WARPS);
    issued_last(&rig, 8);
    assert_pick(&rig, SET(2, 6), 2);
    assert_pick(&rig, SET(6, 8), CORE_WARPS);
    rig_close(&rig);
}

/* A turn that is not used passes, cycle by cycle; only with this policy. */
static void rr_passes(void **state)
{
    struct rig rig;
    open(&rig, "issue.schedulers=1 issue.policy=rr");
    rig.core->present = SET(2, 4, 6, 8);
    rig.core->ended = SET(4);
    assert_true(schedule_passes(rig.core));
    const u32 turns[] = {8, 2, 6}; /* after 6 */
    for (u32 n = 0; n < 10; n++) {
        issued_last(&rig, 6);
        schedule_pass(rig.core, 0, n);
        assert_int_equal(rig.core->issue.schedulers[0].last, n ? turns[(n - 1) % 3] : 6);
    }
    rig.core->present = 0;
    schedule_pass(rig.core, 0, 5);
    assert_int_equal(rig.core->issue.schedulers[0].last, 6);
    rig_close(&rig);
    open(&rig, "issue.schedulers=1 issue.policy=lrr");
    assert_false(schedule_passes(rig.core));
    issued_last(&rig, 6);
    schedule_pass(rig.core, 0, 1);
    assert_int_equal(rig.core->issue.schedulers[0].last, 6);
    rig_close(&rig);
}

/* The last one again, else the oldest. */
static void gto(void **state)
{
    struct rig rig;
    open(&rig, "issue.schedulers=1 issue.policy=gto");
    assert_true(schedule_is_greedy(rig.core));
    assert_pick(&rig, SET(0, 7, 9), 9);
    issued_last(&rig, 7);
    assert_pick(&rig, SET(0, 7, 9), 7);
    assert_pick(&rig, SET(0, 9), 9);
    assert_pick(&rig, SET(0), 0);
    issued_last(&rig, 0);
    assert_pick(&rig, SET(0, 63), 0);
    rig_close(&rig);
}

static void oldest(void **state)
{
    struct rig rig;
    open(&rig, "issue.schedulers=1 issue.policy=oldest");
    assert_false(schedule_is_greedy(rig.core));
    issued_last(&rig, 7);
    assert_pick(&rig, SET(0, 7, 9), 9);
    rig.core->slots[9].age = 1000; /* another warp has come to its place, */
    rig.core->cohorts[CORE_WARPS - 1 - 9] = 0;
    rig.core->cohorts[CORE_WARPS - 1] |= bit(9); /* together with slot 0's, and is younger */
    assert_pick(&rig, SET(0, 7, 9), 7);
    rig_close(&rig);
}

/* Round robin within the active group; when none of it is ready, the oldest ready ones make up a
 * new group, of at most issue.group_size. */
static void two_level(void **state)
{
    struct rig rig;
    open(&rig, "issue.schedulers=1 issue.policy=two_level issue.group_size=2");
    const u32 size = rig.machine.issue->group_size;
    const u64 *group = &rig.core->issue.schedulers[0].group;
    assert_pick(&rig, SET(1, 2, 3, 4), 3); /* the group is 4 and 3 */
    assert_int_equal(*group, SET(3, 4));
    assert_int_equal(__builtin_popcountll(*group), size);
    issued_last(&rig, 3);
    assert_pick(&rig, SET(1, 2, 3, 4), 4);
    issued_last(&rig, 4);
    assert_pick(&rig, SET(1, 2, 3, 4), 3);
    assert_pick(&rig, SET(1, 4, 63), 4); /* 63 is older, but not in the group */
    assert_int_equal(*group, SET(3, 4));
    assert_pick(&rig, SET(1, 2), 1); /* after 4, around */
    assert_int_equal(*group, SET(1, 2));
    assert_pick(&rig, SET(3, 4), 3);
    assert_pick(&rig, SET(9), 9); /* fewer than a group are ready */
    assert_int_equal(*group, SET(9));
    rig_close(&rig);
}

/* The one that has issued least; the oldest of equals. */
static void fair(void **state)
{
    struct rig rig;
    open(&rig, "issue.schedulers=1 issue.policy=fair");
    rig.core->slots[1].issued = 10;
    rig.core->slots[2].issued = 9;
    rig.core->slots[3].issued = 9;
    rig.core->slots[4].issued = 11;
    assert_pick(&rig, SET(1, 2, 3, 4), 3);
    assert_pick(&rig, SET(1, 2, 4), 2);
    assert_pick(&rig, SET(1, 4), 1);
    issued_last(&rig, 4); /* of no account */
    assert_pick(&rig, SET(1, 4), 1);
    rig_close(&rig);
}

/* The one that has been ready longest; the oldest of equals. */
static void frfs(void **state)
{
    struct rig rig;
    open(&rig, "issue.schedulers=1 issue.policy=frfs");
    rig.core->slots[1].ready_since = 100;
    rig.core->slots[2].ready_since = 99;
    rig.core->slots[3].ready_since = 100;
    rig.core->slots[3].issued = 50; /* of no account */
    assert_pick(&rig, SET(1, 2, 3), 2);
    assert_pick(&rig, SET(1, 3), 3);
    rig_close(&rig);
}

/* The next one of the last one's neighbours, else the next of all. Scheduler 0 of two has the even
 * slots: with groups of 2, its groups are {0, 2}, {4, 6}, {8, 10} .. */
static void groups(void **state)
{
    struct rig rig;
    open(&rig, "issue.schedulers=2 issue.policy=groups issue.group_size=2");
    assert_pick(&rig, SET(2, 8), 2); /* none has issued */
    issued_last(&rig, 4);
    assert_pick(&rig, SET(0, 6, 8), 6);
    assert_pick(&rig, SET(0, 4, 8), 4);
    assert_pick(&rig, SET(0, 2, 8), 8);
    issued_last(&rig, 6);
    assert_pick(&rig, SET(0, 4, 8), 4); /* within the group, around */
    assert_pick(&rig, SET(0, 2), 0);
    issued_last(&rig, 62);
    assert_pick(&rig, SET(0, 60), 60);
    assert_pick(&rig, SET(0, 58), 0);
    rig_close(&rig);
    /* a group that is as large as the core */
    open(&rig, "issue.schedulers=1 issue.policy=groups issue.group_size=64");
    issued_last(&rig, 10);
    assert_pick(&rig, SET(3, 63), 63);
    rig_close(&rig);
}

/* Warp w belongs to scheduler w mod schedulers: each slot to exactly one. */
static void slots_of_schedulers(void **state)
{
    for (u32 n = 1; n <= 8; n++) {
        struct rig rig;
        char settings[64];
        snprintf(settings, sizeof settings, "issue.schedulers=%u", n);
        rig_open(&rig, "generic", settings);
        for (u32 s = 0; s < CORE_WARPS; s++) {
            assert_int_equal(rig.core->issue.scheduler_of[s], 1u << s % n);
            for (u32 i = 0; i < n; i++)
                assert_int_equal(rig.core->issue.schedulers[i].slots >> s & 1, s % n == i);
        }
        assert_int_equal(rig.core->issue.all, (1u << n) - 1);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lrr),       cmocka_unit_test(rr),
        cmocka_unit_test(rr_passes), cmocka_unit_test(gto),
        cmocka_unit_test(oldest),    cmocka_unit_test(two_level),
        cmocka_unit_test(fair),      cmocka_unit_test(frfs),
        cmocka_unit_test(groups),    cmocka_unit_test(slots_of_schedulers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
