/*
 * idle_lanes against counts by hand, and against the log of all instructions: cycles of each kind,
 * idle lanes by cause, partners of diverged warps.
 */
#include "micro/rig.h"

extern const struct mechanism idle_lanes_mechanism;
static const struct mechanism *const available[] = {&idle_lanes_mechanism, NULL};

#define ON "gpu.cores=2 gpu.cluster=1 idle_lanes.on=true"
#define BEGIN                                                                              \
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p; .reg .b32 %t, %l, %r, %x;\n" \
         ".reg .pred %q;\n mov.u32 %t, %tid.x;\n and.b32 %l, %t, 31;\n mov.u32 %r, 5;\n"
#define ADD " add.u32 %r, %r, 3;\n"

/* Warps 0 and 1 have threads on both sides of lane 16, warp 2 has 16 threads. */
enum {
    THREADS = 80,
    COMPUTES = 2 * 11 + 6 /* mov, and, mov, setp; 3 on the path; 2 after it; 2 after the exit */
};
static const char paths[] =
    BEGIN " setp.lt.u32 %q, %l, 16;\n @%q bra L;\n" ADD ADD ADD "L:" ADD "@%q add.u32 %r, %r, 1;\n"
          " @%q ret;\n" ADD ADD " ret;\n}\n";
/* The instructions above that do not compute. */
static bool is_other(u32 inst)
{
    return inst == 4 || inst == 10 || inst == 13;
}

static void lanes_by_cause(void **state)
{
    struct rig *rig = rig_open_with(available, "rise28", ON, paths);
    rig_run(rig, 1, THREADS, 0);
    assert_int_equal(stat(rig, "idle_lanes.lane_cycles"), COMPUTES * 32);
    assert_int_equal(stat(rig, "idle_lanes.idle_missing"), 6 * 16);
    assert_int_equal(stat(rig, "idle_lanes.idle_diverged"), 2 * 3 * 16);
    assert_int_equal(stat(rig, "idle_lanes.idle_guarded"), 2 * 1 * 16);
    assert_int_equal(stat(rig, "idle_lanes.idle_exited"), 2 * 2 * 16);
    assert_int_equal(stat(rig, "idle_lanes.diverged"), 2 * (3 + 2));
    rig_close(rig);
}

/* Every cycle of the core that has the block is of the kind that the log says; the other core has no
 * block. */
static void cycles_by_kind(void **state)
{
    struct rig *rig = rig_open_with(available, "rise28", ON, paths);
    rig_run(rig, 1, THREADS, 0);
    u64 full = 0, some = 0, other = 0;
    assert_int_equal(param(rig, "issue.interval"), 1);
    for (u32 i = 0; i < rig->issued.count; i++) {
        const struct move *move = &rig->issued.data[i];
        const bool whole = move->slot < 2 && (move->inst < 4 || move->inst == 8);
        other += is_other(move->inst);
        full += whole && !is_other(move->inst);
        some += !whole && !is_other(move->inst);
    }
    assert_int_equal(full + some, COMPUTES);
    assert_int_equal(stat(rig, "idle_lanes.full_cycles"), full);
    assert_int_equal(stat(rig, "idle_lanes.some_cycles"), some);
    assert_int_equal(stat(rig, "idle_lanes.none_issue"), other);
    const u64 cycles = stat(rig, "timing.cycles"), none = stat(rig, "idle_lanes.none_cycles");
    assert_int_equal(stat(rig, "idle_lanes.cycles"), 2 * cycles);
    assert_int_equal(none, 2 * cycles - full - some);
    assert_int_equal(none, stat(rig, "idle_lanes.none_uneven") + other +
                               stat(rig, "idle_lanes.none_requests") +
                               stat(rig, "idle_lanes.none_other"));
    assert_int_equal(stat(rig, "idle_lanes.none_requests"), 0);
    assert_in_range(stat(rig, "idle_lanes.none_uneven"), cycles, cycles + 20);
    rig_close(rig);
}

/* From the load, which is on its way one cycle after it reaches the load/store unit, to the
 * instruction that waits for its value. */
static void cycles_with_requests(void **state)
{
    static const char loads[] =
        BEGIN " ld.param.u64 %p, [p];\n ld.global.u32 %x, [%p];\n add.u32 %r, %r, %x;\n ret;\n}\n";
    struct rig *rig = rig_open_with(available, "rise28", ON " constant.perfect=true", loads);
    rig_run(rig, 1, 32, rig_memory(rig, 4));
    const u64 wait = issued_at(rig, 0, 0, 5) - issued_at(rig, 0, 0, 4);
    assert_true(wait > 100);
    assert_in_range(stat(rig, "idle_lanes.none_requests"), wait - 20, wait - 1);
    rig_close(rig);
}

/* Sixteen warps take turns, each instruction in order: but for the last one, a warp that issues has
 * those behind it at the same instruction, and ready. */
static void check_partners(const char *condition, bool fits)
{
    enum {
        WARPS = 16,
        PATH = 4 /* instructions */
    };
    char text[1024];
    snprintf(text, sizeof text, "%s%s @%%q bra L;\n%s%s%s%sL: ret;\n}\n", BEGIN, condition, ADD,
             ADD, ADD, ADD);
    struct rig *rig = rig_open_with(available, "rise28", ON, text);
    rig_run(rig, 1, WARPS * 32, 0);
    const u64 partners = stat(rig, "idle_lanes.partner");
    assert_int_equal(stat(rig, "idle_lanes.diverged"), WARPS * PATH);
    assert_int_equal(partners, (WARPS - 1) * PATH);
    assert_int_equal(stat(rig, "idle_lanes.partner_free"), fits ? partners : 0);
    assert_int_equal(stat(rig, "idle_lanes.partner_shuffled"), partners);
    rig_close(rig);
}

/* The same lanes in all warps; lanes of the other half in every second warp. */
static void partners_by_lanes(void **state)
{
    check_partners(" setp.lt.u32 %q, %l, 16;\n", false);
    check_partners(" shr.u32 %x, %t, 1;\n xor.b32 %x, %x, %t;\n and.b32 %x, %x, 16;\n"
                   " setp.eq.u32 %q, %x, 0;\n",
                   true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_by_cause),
        cmocka_unit_test(cycles_by_kind),
        cmocka_unit_test(cycles_with_requests),
        cmocka_unit_test(partners_by_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
