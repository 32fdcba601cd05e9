/*
 * A block that starts late, on a core that has slept until then: its cycles are counted from its
 * own start, and it runs after it.
 */
#include "micro/rig.h"

#include "gpu/device.h"
#include "gpu/time/parts.h"
#include "seam/seam.h"

extern const struct mechanism late_mechanism;
static const struct mechanism *const available[] = {&late_mechanism, NULL};

enum {
    ADDS = 400,
    REFUSALS = 20 /* block 0 still runs then */
};

/* No memory, and instructions without delay: a warp takes as long on any core, at any time. */
static struct rig *run(u32 refusals, u32 blocks)
{
    struct text text = {0};
    char settings[128];
    add(&text, HEAD ".visible .entry k()\n{\n.reg .u32 %%r;\nmov.u32 %%r, 1;\n");
    for (u32 i = 0; i < ADDS; i++)
        add(&text, "add.u32 %%r, %%r, %%r;\n");
    add(&text, "ret;\n}\n");
    snprintf(settings, sizeof settings, "gpu.cores=2 late.on=true late.refusals=%u", refusals);
    struct rig *rig = rig_open_with(available, "gtx480", settings, text.data);
    free(text.data);
    rig_launch(rig, blocks, 32, NULL, 0);
    return rig;
}

/* Both blocks take as long; the second one starts as many windows later as it was refused in. */
static void cycles_of_a_late_block(void **state)
{
    struct rig *one = run(0, 1), *late = run(REFUSALS, 2);
    const struct timing *timing = late->device->timing;
    const u64 cycles = REFUSALS * (timing->window / timing->period);
    assert_int_equal(timing->window % timing->period, 0);
    assert_int_equal(stat(late, "timing.warp_cycles"), 2 * stat(one, "timing.warp_cycles"));
    assert_int_equal(stat(late, "timing.block_cycles"), 2 * stat(one, "timing.block_cycles"));
    assert_int_equal(issued_at(late, 0, 0, 0), issued_at(one, 0, 0, 0));
    assert_int_equal(issued_at(late, 1, 0, 0), issued_at(one, 0, 0, 0) + cycles);
    assert_int_equal(stat(late, "timing.cycles"), stat(one, "timing.cycles") + cycles);
    rig_close(one);
    rig_close(late);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cycles_of_a_late_block)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
