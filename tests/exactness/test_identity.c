/*
 * The same run gives the same statistics, to the byte: twice, in any order of cores, beside another
 * device, in another thread, watched by a mechanism that changes nothing. And a launch that went
 * wrong explains itself and leaves the device as good as new.
 */
#include "laws.h"
#include "micro/rig.h"

#include <pthread.h>

#define SETTINGS "gpu.cores=5 icache.perfect=false constant.perfect=false "

/* Loads, atomics, shared memory with barriers, divergence and stores. */
static const char mixed[] =
    HEAD ".visible .entry k(.param .u64 p)\n{\n"
         " .reg .pred %p<3>; .reg .b32 %r<14>; .reg .b64 %rd<6>; .shared .align 4 .b8 s[1024];\n"
         " mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"
         " mad.lo.u32 %r3, %r0, %r1, %r2;\n ld.param.u64 %rd0, [p];\n"
         " mad.wide.u32 %rd1, %r3, 4, %rd0;\n ld.global.u32 %r5, [%rd1];\n"
         " mov.u32 %r6, s; mad.lo.u32 %r7, %r2, 4, %r6; st.shared.u32 [%r7], %r5;\n bar.sync 0;\n"
         " xor.b32 %r8, %r2, 1; mad.lo.u32 %r8, %r8, 4, %r6; ld.shared.u32 %r9, [%r8];\n"
         " and.b32 %r10, %r2, 3; setp.eq.u32 %p0, %r10, 0; @%p0 bra skip;\n"
         "loop: add.u32 %r9, %r9, 3; sub.u32 %r10, %r10, 1; div.u32 %r11, %r9, %r10;\n"
         " setp.gt.u32 %p1, %r10, 0; @%p1 bra loop;\n"
         "skip: st.global.u32 [%rd1], %r9;\n and.b32 %r12, %r2, 7;\n"
         " mad.wide.u32 %rd2, %r12, 32, %rd0;\n atom.global.add.u32 %r13, [%rd2+65536], 1;\n"
         " st.global.u32 [%rd0+65536+512], %r3; st.global.u32 [%rd1+16384], %r13;\n ret;\n}\n";

enum {
    BLOCKS = 30,
    THREADS = 96,
    BYTES = 65536 + 1024
};

/* Which store was the last, and who got which value, are part of what must not change. */
static u64 memory_hash(struct rig *rig, hd_address memory)
{
    u8 *bytes = malloc(BYTES);
    u64 hash = 0xcbf29ce484222325ull;
    assert_true(hd_read(rig->device, bytes, memory, BYTES, NULL));
    for (u32 i = 0; i < BYTES; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    free(bytes);
    return hash;
}

/* The text of all statistics after two launches, and what memory holds then. */
static char *tell(const char *settings, const char *order)
{
    struct rig *rig = rig_open(NULL, settings, mixed);
    if (order)
        assert_true(hd_set_core_order(rig->device, order, NULL));
    hd_address memory = rig_memory(rig, BYTES);
    for (u32 i = 0; i < 2; i++) {
        rig_run(rig, BLOCKS, THREADS, memory);
        char why[256];
        const json_t *launch = json_array_get(json_object_get(rig->stats, "launches"), i);
        if (!laws_hold(launch, why, sizeof why))
            fail_msg("%s", why);
    }
    char *text = hd_stats_json(rig->device), *all;
    assert_true(asprintf(&all, "%s%016llx", text, (unsigned long long)memory_hash(rig, memory)) >
                0);
    hd_free(text);
    rig_close(rig);
    return all;
}

static void expect_same(char *want, char *got, const char *what)
{
    if (strcmp(want, got) != 0) {
        size_t at = 0;
        while (want[at] == got[at])
            at++;
        fail_msg("%s: statistics differ: %.60s, not %.60s", what, got + at, want + at);
    }
    hd_free(got);
}

static const char *const machines[] = {
    SETTINGS,
    SETTINGS "issue.policy=rr network.kind=mesh",
    SETTINGS "issue.sub_cores=true issue.schedulers=4 network.window=2 l2.placement=hashed",
    SETTINGS "issue.policy=two_level issue.per_warp=2 clock.core_mhz=1300 network.window=16 "
             "l2.latency=200",
    SETTINGS "timing.content=true l2.sets=2 l2.ways=2",
    SETTINGS "timing.content=true l2.enabled=false l1d.write=through network.window=2",
};

static void test_order(void **state)
{
    static const char *const orders[] = {"forward", "reverse", "shuffle:1", "shuffle:77"};
    for (u32 m = 0; m < ARRAY_LEN(machines); m++) {
        char *want = tell(machines[m], NULL);
        for (u32 i = 0; i < ARRAY_LEN(orders); i++)
            expect_same(want, tell(machines[m], orders[i]), orders[i]);
        hd_free(want);
    }
}

/* Without the mechanism that writes down who issues, cores may sleep; nothing else may change. */
static void test_sleep(void **state)
{
    for (u32 m = 0; m < ARRAY_LEN(machines); m++) {
        char settings[512];
        snprintf(settings, sizeof settings, "%s eye.on=false", machines[m]);
        char *watched = tell(machines[m], NULL), *alone = tell(settings, NULL);
        json_t *a = json_loads(watched, JSON_DISABLE_EOF_CHECK, NULL);
        json_t *b = json_loads(alone, JSON_DISABLE_EOF_CHECK, NULL);
        assert_string_equal(watched + strlen(watched) - 16, alone + strlen(alone) - 16);
        json_t *launch;
        size_t i;
        json_array_foreach(json_object_get(a, "launches"), i, launch)
            json_object_del(json_object_get(launch, "stats"), "eye.seen");
        json_object_del(json_object_get(a, "totals"), "eye.seen");
        char *one = json_dumps(a, JSON_INDENT(1)), *other = json_dumps(b, JSON_INDENT(1));
        expect_same(one, other, machines[m]);
        free(one);
        hd_free(watched);
        hd_free(alone);
        json_decref(a);
        json_decref(b);
    }
}

static void test_interleaved(void **state)
{
    char *want = tell(machines[0], NULL), *want_other = tell(machines[1], NULL);
    struct rig *a = rig_open(NULL, machines[0], mixed), *b = rig_open(NULL, machines[1], mixed);
    hd_address x = rig_memory(a, BYTES), y = rig_memory(b, BYTES);
    for (u32 i = 0; i < 2; i++) {
        rig_run(a, BLOCKS, THREADS, x);
        rig_run(b, BLOCKS, THREADS, y);
    }
    want[strlen(want) - 16] = want_other[strlen(want_other) - 16] = 0; /* without the memory */
    expect_same(want, hd_stats_json(a->device), "beside another");
    expect_same(want_other, hd_stats_json(b->device), "beside another");
    rig_close(a);
    rig_close(b);
    hd_free(want);
    hd_free(want_other);
}

static void *in_thread(void *settings)
{
    return tell(settings, NULL);
}

static void test_threads(void **state)
{
    pthread_t threads[2];
    void *got[2];
    for (u32 i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, in_thread, (void *)machines[i]), 0);
    for (u32 i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], &got[i]), 0);
    for (u32 i = 0; i < 2; i++) {
        char *want = tell(machines[i], NULL);
        expect_same(want, got[i], "in threads");
        hd_free(want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
