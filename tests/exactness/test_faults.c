/*
 * Launches that go wrong in time: each is found, explained and counted, and the next launch on the
 * device is what it would be without it. Caches that stay warm between launches are left out.
 */
#include "micro/rig.h"

#include <pthread.h>
#include <unistd.h>

#define SETTINGS "gpu.cores=3 l2.enabled=false "

/* What goes wrong depends on the second parameter: 0 nothing; all else after some real work. */
static const char program[] =
    HEAD ".visible .entry k(.param .u64 p, .param .u32 what)\n{\n"
         " .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<6>; .shared .align 4 .b8 s[256];\n"
         " ld.param.u64 %rd0, [p]; ld.param.u32 %r0, [what];\n mov.u32 %r1, %tid.x;\n"
         " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;\n"
         " mad.wide.u32 %rd1, %r4, 4, %rd0; ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, 1;\n"
         " st.global.u32 [%rd1], %r5;\n setp.eq.u32 %p0, %r0, 0; @%p0 bra end;\n"
         " setp.ne.u32 %p0, %r0, 1; @%p0 bra not1;\n"
         " st.global.u32 [%rd1+1000000], %r5; bra end;\n"
         "not1: setp.ne.u32 %p0, %r0, 2; @%p0 bra not2;\n ld.global.u32 %r5, [%rd1+2];"
         " st.global.u32 [%rd1], %r5; bra end;\n"
         "not2: setp.ne.u32 %p0, %r0, 3; @%p0 bra not3;\n trap; bra end;\n"
         "not3: setp.ne.u32 %p0, %r0, 4; @%p0 bra not4;\nloop: add.u32 %r6, %r6, 1; bra loop;\n"
         "not4: setp.ne.u32 %p0, %r0, 5; @%p0 bra not5;\n setp.lt.u32 %p1, %r1, 32;\n"
         " @%p1 bra other; bar.sync 1, 64; bra end;\nother: bar.sync 2, 64; bra end;\n"
         "not5: atom.global.cas.b32 %r7, [%rd0+1600], 0, 1; setp.ne.u32 %p2, %r7, 7;\n"
         " @%p2 bra not5;\nend: ret;\n}\n";

enum {
    BLOCKS = 6,
    THREADS = 64,
    BYTES = 16384
};

static void launch(struct rig *rig, hd_address memory, u32 what)
{
    const struct hd_arg args[] = {{&memory, 8}, {&what, 4}};
    rig_launch(rig, BLOCKS, THREADS, args, 2);
}

static char *last_stats(const struct rig *rig)
{
    const json_t *launches = json_object_get(rig->stats, "launches");
    return json_dumps(json_array_get(launches, json_array_size(launches) - 1), JSON_INDENT(1));
}

/* A launch that is wrong, then a good one. */
static void expect(u32 what, const char *settings, enum hd_outcome outcome, const char *text)
{
    char all[256];
    snprintf(all, sizeof all, SETTINGS "%s", settings);
    struct rig *fresh = rig_open(NULL, all, program), *rig = rig_open(NULL, all, program);
    hd_address memory = rig_memory(fresh, BYTES);
    assert_true(memory == rig_memory(rig, BYTES));
    for (u32 i = 0; i < 3; i++) { /* from the second on, rows of the DRAM are open */
        launch(fresh, memory, 0);
        assert_int_equal(fresh->result.outcome, HD_DONE);
    }
    launch(rig, memory, 0);
    for (u32 round = 0; round < 2; round++) {
        launch(rig, memory, what);
        if (rig->result.outcome != outcome)
            fail_msg("%u: outcome is %s, not %s: %s", what, hd_outcome_name(rig->result.outcome),
                     hd_outcome_name(outcome), rig->result.explanation);
        if (!strstr(rig->result.explanation, text))
            fail_msg("%u: no '%s' in: %s", what, text, rig->result.explanation);
        assert_true(rig->result.cycles > 0 && rig->result.warp_instructions > 0);
        assert_int_equal(stat(rig, "timing.cycles"), rig->result.cycles);
        assert_int_equal(stat(rig, "issue.instructions"), stat(rig, "exec.warp_instructions"));
        assert_int_equal(stat(rig, "issue.threads"), stat(rig, "exec.thread_instructions"));
        launch(rig, memory, 0);
        assert_int_equal(rig->result.outcome, HD_DONE);
        char *want = last_stats(fresh), *got = last_stats(rig);
        if (strcmp(want, got) != 0) {
            size_t at = 0;
            while (want[at] == got[at])
                at++;
            fail_msg("%u, round %u: %.80s, not %.80s", what, round, got + at, want + at);
        }
        free(want);
        free(got);
    }
    rig_close(fresh);
    rig_close(rig);
}

static void test_faults(void **state)
{
    expect(1, "", HD_OUT_OF_BOUNDS, "bench.ptx");
    expect(2, "", HD_MISALIGNED, "bench.ptx");
    expect(3, "", HD_TRAP, "trap");
    expect(4, "timing.max_cycles=5000", HD_LIMIT, "timing.max_cycles");
    expect(4, "launch.max_instructions=5000", HD_LIMIT, "launch.max_instructions");
    expect(6, "timing.max_cycles=20000", HD_LIMIT, "timing.max_cycles");
}

/* The last bytes of shared memory may be accessed, those behind them not, in every way. */
static void test_ends(void **state)
{
    enum {
        END = 256
    };
    static const char *const accesses[] = {
        "ld.shared.u32 %r2, [%r1]",
        "st.shared.u32 [%r1], %r0",
        "ld.shared.u8 %r2, [%r1]",
        "st.shared.u16 [%r1], %h",
        "ld.shared.v2.u32 {%r2, %r3}, [%r1]",
        "@%q st.shared.u32 [%r1], %r0",
        "@%q ld.shared.u64 %d1, [%r1]",
        "ld.u32 %r2, [%d0]",
        "@%q st.u8 [%d0], %r0",
        "atom.shared.add.u32 %r2, [%r1], 1",
        "atom.shared.add.u64 %d1, [%r1], 1",
    };
    for (u32 i = 0; i < ARRAY_LEN(accesses); i++) {
        struct text text = {0};
        add(&text,
            HEAD ".visible .entry k(.param .u64 p, .param .u32 what)\n{\n .reg .pred %%q; .reg "
                 ".b16 %%h;\n"
                 " .reg .b32 %%r<5>; .reg .b64 %%d<3>; .shared .align 8 .b8 s[256];\n"
                 " ld.param.u32 %%r0, [what]; mov.u32 %%r1, s; add.u32 %%r1, %%r1, %%r0; mov.u16 "
                 "%%h, 1;\n"
                 " cvt.u64.u32 %%d2, %%r0; mov.u64 %%d0, s; cvta.shared.u64 %%d0, %%d0; add.u64 "
                 "%%d0, %%d0, %%d2;\n"
                 " mov.u32 %%r4, %%tid.x; setp.eq.u32 %%q, %%r4, 3;\n %s;\n ret;\n}\n",
            accesses[i]);
        struct rig *rig = rig_open(NULL, SETTINGS, text.data);
        launch(rig, rig_memory(rig, 64), END - 8);
        if (rig->result.outcome != HD_DONE)
            fail_msg("%s: %s", accesses[i], rig->result.explanation);
        launch(rig, rig_memory(rig, 64), END);
        if (rig->result.outcome != HD_OUT_OF_BOUNDS)
            fail_msg("%s: outcome is %s", accesses[i], hd_outcome_name(rig->result.outcome));
        rig_close(rig);
        free(text.data);
    }
}

static void test_deadlock(void **state)
{
    expect(5, "", HD_DEADLOCK, "waits for barrier 2");
    expect(5, "issue.policy=rr", HD_DEADLOCK, "waits for barrier 1");
}

/* Limits are kept: nothing runs on for more than a window behind them. */
static void test_limits(void **state)
{
    for (u32 limit = 1000; limit <= 1001; limit++) {
        char settings[128];
        snprintf(settings, sizeof settings, SETTINGS "timing.max_cycles=%u", limit);
        struct rig *rig = rig_open(NULL, settings, program);
        launch(rig, rig_memory(rig, BYTES), 4);
        assert_int_equal(rig->result.outcome, HD_LIMIT);
        assert_true(rig->result.cycles >= limit &&
                    rig->result.cycles <= limit + param(rig, "network.window"));
        assert_int_equal(stat(rig, "fetch.instructions"), stat(rig, "issue.instructions") +
                                                              stat(rig, "fetch.flushed") +
                                                              stat(rig, "fetch.left"));
        rig_close(rig);
    }
}

static void *interrupt(void *device)
{
    u64 issued = 0;
    while (issued < 2000) {
        hd_progress(device, NULL, NULL, &issued);
        usleep(100);
    }
    hd_interrupt(device);
    return NULL;
}

static void test_interrupt(void **state)
{
    struct rig *rig = rig_open(NULL, SETTINGS, program);
    hd_address memory = rig_memory(rig, BYTES);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt, rig->device), 0);
    launch(rig, memory, 4);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(rig->result.outcome, HD_STOPPED);
    assert_true(stat(rig, "issue.instructions") >= 2000);
    hd_interrupt(rig->device); /* the next one */
    launch(rig, memory, 4);
    assert_int_equal(rig->result.outcome, HD_STOPPED);
    launch(rig, memory, 0);
    assert_int_equal(rig->result.outcome, HD_DONE);
    rig_close(rig);
}

/* Machines that cannot be built in time are refused, and their neighbours run. */
static bool builds(const char *setting)
{
    struct hd_config *config = hd_config_create();
    struct hd_error error;
    char *copy = strdup(setting), *rest = copy;
    for (char *one; (one = strtok_r(rest, " ", &rest));)
        assert_true(hd_config_set(config, one, &error));
    struct hd_device *device = hd_device_open(config, &error);
    assert_true(device || error.message[0]);
    hd_device_close(device);
    hd_config_destroy(config);
    free(copy);
    return device != NULL;
}

static void test_refused(void **state)
{
    assert_true(builds("collect.sp=40 collect.sfu=16 collect.memory=8"));
    assert_false(builds("collect.sp=41 collect.sfu=16 collect.memory=8"));
    assert_true(builds("issue.sub_cores=true issue.schedulers=16 collect.sp=32"));
    assert_false(builds("issue.sub_cores=true issue.schedulers=16 collect.sp=48"));
    /* a division of 130 cycles a pass: results can lie only so far ahead */
    assert_true(builds("units.sfu_lanes=2"));
    assert_false(builds("units.sfu_lanes=1"));
    assert_false(builds("readonly.line_bytes=96"));
    assert_false(builds("l1d.line_bytes=512"));
    assert_true(builds("l1d.line_bytes=256"));
    assert_true(builds("constant.line_bytes=1024 icache.line_bytes=1024"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),    cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_ends),      cmocka_unit_test(test_limits),
        cmocka_unit_test(test_interrupt), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
