/*
 * Two devices in two threads, and one interrupted from another: what the header promises about
 * threads. Built with -Db_sanitize=thread, or run under helgrind, it also finds what they share.
 */
#include <heddle/heddle.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

enum {
    THREADS = 4,
    WORDS = 4096
};

/* v[i] = sqrt(i) + v[i - 1] of the block, with shared memory, atomics and a printf. */
static const char work_ptx[] =
    HEAD ".global .u32 count;\n"
         ".visible .entry work(.param .u64 p)\n{\n"
         " .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .pred %p;\n"
         " .shared .align 4 .b8 tile[512];\n"
         " mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"
         " mad.lo.u32 %r3, %r0, %r1, %r2; shl.b32 %r4, %r2, 2; mov.u32 %r5, tile;\n"
         " add.u32 %r5, %r5, %r4; cvt.rn.f32.u32 %f0, %r3; sqrt.rn.f32 %f0, %f0;\n"
         " st.shared.f32 [%r5], %f0; bar.sync 0;\n"
         " setp.eq.u32 %p, %r2, 0; @%p bra first; ld.shared.f32 %f1, [%r5+-4];\n"
         " add.rn.f32 %f0, %f0, %f1;\n"
         "first: ld.param.u64 %rd0, [p]; mad.wide.u32 %rd1, %r3, 4, %rd0;\n"
         " st.global.f32 [%rd1], %f0; atom.global.add.u32 %r6, [count], 1; ret;\n}\n";
static const char endless_ptx[] = HEAD ".visible .entry endless()\n{\nloop: bra loop;\n}\n";

struct worker {
    pthread_t thread;
    float words[WORDS];
    uint32_t count;
    char *stats;
    bool ok;
};

static struct hd_device *open_device(const char *ptx, struct hd_kernel **kernel,
                                     struct hd_module **module)
{
    struct hd_error error;
    struct hd_config *config = hd_config_create();
    struct hd_device *device = hd_device_open(config, &error);
    hd_config_destroy(config);
    *module = device ? hd_module_load(device, ptx, strlen(ptx), "work.ptx", &error) : NULL;
    *kernel = *module ? hd_kernel_find(*module, NULL, &error) : NULL;
    return device;
}

/* cmocka's asserts are for the main thread only. */
static void *work(void *user)
{
    struct worker *w = user;
    struct hd_error error;
    struct hd_kernel *kernel;
    struct hd_module *module;
    struct hd_device *device = open_device(work_ptx, &kernel, &module);
    if (!kernel)
        return NULL;
    hd_address p = hd_alloc(device, sizeof w->words, &error), count;
    const struct hd_arg arg = {&p, 8};
    struct hd_result result = {.outcome = HD_TRAP};
    w->ok = p &&
            hd_launch(kernel, (struct hd_dim){WORDS / 128, 1, 1}, (struct hd_dim){128, 1, 1}, 0,
                      &arg, 1, &result, &error) &&
            result.outcome == HD_DONE && hd_read(device, w->words, p, sizeof w->words, &error) &&
            hd_module_variable(module, "count", &count, NULL, &error) &&
            hd_read(device, &w->count, count, 4, &error);
    w->stats = hd_stats_json(device);
    hd_device_close(device);
    return NULL;
}

static void devices_in_threads(void **state)
{
    static struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_true(workers[i].ok);
        assert_int_equal(workers[i].count, WORDS);
        assert_memory_equal(workers[i].words, workers[0].words, sizeof workers[i].words);
        assert_string_equal(workers[i].stats, workers[0].stats);
    }
    assert_true(workers[0].words[5] > 4.2f && workers[0].words[5] < 4.3f); /* 2 + sqrt(5) */
    for (int i = 0; i < THREADS; i++)
        hd_free(workers[i].stats);
}

static void *interrupt_soon(void *user)
{
    struct hd_device *device = user;
    uint64_t instructions = 0;
    while (!instructions) { /* it runs */
        hd_progress(device, NULL, NULL, &instructions);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    hd_interrupt(device);
    return NULL;
}

static void interrupted_from_another_thread(void **state)
{
    struct hd_kernel *kernel;
    struct hd_module *module;
    struct hd_device *device = open_device(endless_ptx, &kernel, &module);
    assert_non_null(kernel);
    pthread_t thread;
    struct hd_result result;
    struct hd_error error;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, device), 0);
    assert_true(hd_launch(kernel, (struct hd_dim){2, 1, 1}, (struct hd_dim){64, 1, 1}, 0, NULL, 0,
                          &result, &error));
    pthread_join(thread, NULL);
    assert_int_equal(result.outcome, HD_STOPPED);
    assert_non_null(strstr(result.explanation, "last seen at work.ptx:6"));
    hd_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_in_threads),
        cmocka_unit_test(interrupted_from_another_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
