/*
 * Threads that share the windows of a launch: statistics, traces, samples, messages and memory are
 * the same, byte for byte, for every number of threads. Built with -Db_sanitize=thread it also finds
 * what cores share within a window; with the second argument "planted" it runs a mechanism that does, and
 * has to be stopped.
 */
#include "base/guard.h"
#include "base/text.h"
#include "base/workers.h"
#include "gpu/device.h"
#include "seam/seam.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

/* Loads, atomics, shared memory with barriers, divergence, stores that race with other cores', and
 * a printf. */
static const char mixed[] =
    HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
         ".global .align 1 .b8 text[5] = {37, 117, 32, 10, 0};\n"
         ".visible .entry k(.param .u64 p)\n{\n"
         " .reg .pred %p<4>; .reg .b32 %r<14>; .reg .b64 %rd<8>; .reg .f32 %f<4>;\n"
         " .shared .align 4 .b8 s[1024]; .local .align 8 .b8 l[8];\n"
         " mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"
         " mad.lo.u32 %r3, %r0, %r1, %r2;\n ld.param.u64 %rd0, [p];\n"
         " mad.wide.u32 %rd1, %r3, 4, %rd0;\n ld.global.u32 %r5, [%rd1];\n"
         " mov.u32 %r6, s; mad.lo.u32 %r7, %r2, 4, %r6; st.shared.u32 [%r7], %r5;\n bar.sync 0;\n"
         " xor.b32 %r8, %r2, 1; mad.lo.u32 %r8, %r8, 4, %r6; ld.shared.u32 %r9, [%r8];\n"
         " cvt.rn.f32.u32 %f0, %r3; mov.f32 %f1, 0f3DCCCCCD; fma.rn.f32 %f0, %f0, %f1, %f1;\n"
         " div.rn.f32 %f0, %f1, %f0; mov.b32 %r12, %f0; add.u32 %r9, %r9, %r12;\n"
         " and.b32 %r10, %r2, 3; setp.eq.u32 %p0, %r10, 0; @%p0 bra skip;\n"
         "loop: add.u32 %r9, %r9, 3; sub.u32 %r10, %r10, 1; div.u32 %r11, %r9, %r10;\n"
         " setp.gt.u32 %p1, %r10, 0; @%p1 bra loop;\n"
         "skip: st.global.u32 [%rd1], %r9;\n and.b32 %r12, %r2, 7;\n"
         " mad.wide.u32 %rd2, %r12, 32, %rd0;\n atom.global.add.u32 %r13, [%rd2+65536], 1;\n"
         " st.global.u32 [%rd0+65536+512], %r3; st.global.u32 [%rd1+16384], %r13;\n"
         " rem.u32 %r12, %r3, 517; setp.ne.u32 %p2, %r12, 0; @%p2 bra done;\n"
         " mov.u64 %rd3, l; cvta.local.u64 %rd4, %rd3; st.local.u32 [l], %r13;\n"
         " mov.u64 %rd5, text; cvta.global.u64 %rd5, %rd5;\n {\n"
         " .param .b64 f; .param .b64 a; .param .b32 r;\n"
         " st.param.b64 [f], %rd5; st.param.b64 [a], %rd4; call (r), vprintf, (f, a);\n }\n"
         "done: ret;\n}\n";
/* The last threads of the grid write beyond the buffer, those of two blocks to where nothing is, or
 * wait for warps that never come. */
static const char wrong[] =
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %p;\n"
         " mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; ld.param.u64 %rd0, [p];\n"
         " mad.lo.u32 %r2, %r0, 96, %r1; mad.wide.u32 %rd1, %r2, 4, %rd0;\n"
         " setp.eq.u32 %p, %r0, 7; @%p mul.wide.u32 %rd1, %r2, 1048576;\n"
         " setp.eq.u32 %p, %r0, 9; @%p mul.wide.u32 %rd1, %r2, 1048576;\n"
         " st.global.u32 [%rd1], %r2; ret;\n}\n";
static const char beyond[] =
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
         " mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; ld.param.u64 %rd0, [p];\n"
         " mad.lo.u32 %r2, %r0, 96, %r1; mad.wide.u32 %rd1, %r2, 4, %rd0;\n"
         " ld.global.u32 %r3, [%rd1+63000]; st.global.u32 [%rd1+64000], %r3; ret;\n}\n";
static const char stuck[] =
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r; .reg .pred %p;\n"
         " mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 32; @%p bra wait; bar.sync 1, 96; ret;\n"
         "wait: bar.sync 0, 96; ret;\n}\n";
static const char endless[] =
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r;\n mov.u32 %r, 0;\n"
         "loop: add.u32 %r, %r, 1; bra loop;\n}\n";

enum {
    BLOCKS = 30,
    THREADS = 96,
    BYTES = 65536 + 1024
};

static const char *tests_folder;
static const char *const counts[] = {"2", "3", "8"};

/* ---- a run and all that it tells ---- */

struct how {
    const char *machine, *settings;           /* settings: separated by spaces */
    const char *mechanism;                    /* or NULL */
    const char *ptx;                          /* NULL: launch_object */
    const struct mechanism *const *available; /* NULL: the built-in ones */
    const char *threads, *order;              /* NULL: the defaults */
    bool observe;
    bool few; /* three threads only: the long suite has more (threads.py) */
};

static void take(void *user, const void *data, size_t size)
{
    fwrite(data, 1, size, user);
}

static void take_output(void *user, const char *text, size_t length)
{
    fwrite(text, 1, length, user);
}

static struct hd_device *device_of(const struct how *how)
{
    struct hd_error error = {0};
    struct hd_config *config = how->available ? config_with(how->available) : hd_config_create();
    char *settings = strdup(how->settings), *rest = NULL;
    bool ok = hd_config_load(config, how->machine, &error) &&
              hd_config_set(config, "timing.functional=false", &error);
    for (char *one = strtok_r(settings, " ", &rest); ok && one; one = strtok_r(NULL, " ", &rest))
        ok = hd_config_set(config, one, &error);
    ok = ok && (!how->mechanism || hd_config_mechanism(config, how->mechanism, &error));
    struct hd_device *device = ok ? hd_device_open(config, &error) : NULL;
    ok = device && (!how->threads || hd_set_threads(device, how->threads, &error)) &&
         (!how->order || hd_set_core_order(device, how->order, &error));
    if (!ok)
        fail_msg("%s: %s", how->machine, error.message);
    timing_share_all(device->timing);
    hd_config_destroy(config);
    free(settings);
    return device;
}

/* Code of Southern Islands that changes MODE again and again: a sum over 16 bodies. */
static void launch_object(struct hd_device *device, hd_address memory, FILE *told)
{
    struct hd_error error = {0};
    struct hd_result result;
    char path[4096];
    size_t length = 0;
    const hd_address out = memory + BYTES / 2;
    const struct hd_arg args[] = {{&memory, 8}, {&out, 8}, {&(i32){16}, 4}, {&(f32){0.5f}, 4}};
    snprintf(path, sizeof path, "%s/kernels/opencl/fused.clang14.so", tests_folder);
    char *code = text_read_file(path, false, SIZE_MAX, &length, &(struct error){0});
    assert_non_null(code);
    struct hd_module *module = hd_module_load(device, code, length, "fused.so", &error);
    if (!module ||
        !hd_launch(hd_kernel_find(module, "bodies", NULL), (struct hd_dim){12, 1, 1},
                   (struct hd_dim){128, 1, 1}, 0, args, ARRAY_LEN(args), &result, &error))
        fail_msg("%s", error.message);
    fprintf(told, "\n%d %llu\n", (int)result.outcome, (unsigned long long)result.cycles);
    assert_int_equal(result.outcome, HD_DONE);
    free(code);
}

static void launch(struct hd_device *device, const char *ptx, hd_address memory, FILE *told)
{
    struct hd_error error = {0};
    struct hd_result result;
    const struct hd_arg arg = {&memory, sizeof memory};
    struct hd_module *module = hd_module_load(device, ptx, strlen(ptx), "k.ptx", &error);
    if (!module)
        fail_msg("%s: %s", error.place, error.message);
    for (u32 i = 0; i < 2; i++) {
        if (!hd_launch(hd_kernel_at(module, 0), (struct hd_dim){BLOCKS, 1, 1},
                       (struct hd_dim){THREADS, 1, 1}, 0, &arg, 1, &result, &error))
            fail_msg("%s", error.message);
        fprintf(told, "\n%d %llu %s%s\n", (int)result.outcome, (unsigned long long)result.cycles,
                result.explanation, result.warnings);
    }
}

/* Statistics, memory, what was printed, trace and samples as one text. */
static char *tell(const struct how *how)
{
    struct hd_device *device = device_of(how);
    char *text = NULL;
    size_t length;
    FILE *told = open_memstream(&text, &length);
    const struct hd_observe what = {
        .trace = take, .trace_user = told, .interval = 300, .series = take, .series_user = told};
    hd_set_output(device, take_output, told);
    if (how->observe)
        assert_true(hd_observe(device, &what, NULL));
    hd_address memory = hd_alloc(device, BYTES, NULL);
    u8 *bytes = calloc(1, BYTES);
    for (u32 i = 0; !how->ptx && i < BYTES / 2; i += 4)
        memcpy(bytes + i, &(f32){(f32)i / 100}, 4);
    assert_true(hd_write(device, memory, bytes, BYTES, NULL));
    if (how->ptx)
        launch(device, how->ptx, memory, told);
    else
        launch_object(device, memory, told);
    assert_true(hd_observe(device, NULL, NULL));
    char *stats = hd_stats_json(device);
    fputs(stats, told);
    hd_free(stats);
    assert_true(hd_read(device, bytes, memory, BYTES, NULL));
    for (u32 i = 0; i < BYTES; i++)
        fprintf(told, "%02x", bytes[i]);
    free(bytes);
    hd_device_close(device);
    fclose(told);
    return text;
}

static void expect_same(const struct how *base)
{
    static const char *const orders[] = {"shuffle:5", "forward", "reverse"};
    struct how how = *base;
    char *want = tell(&how);
    for (u32 i = base->few; i < ARRAY_LEN(counts) - base->few; i++) {
        how.threads = counts[i];
        how.order = orders[i];
        char *got = tell(&how);
        size_t at = 0;
        while (want[at] && want[at] == got[at])
            at++;
        if (want[at] || got[at])
            fail_msg("%s %s %s, %s threads: %.60s, not %.60s", how.machine, how.settings,
                     how.mechanism ? how.mechanism : "", counts[i], got + at, want + at);
        free(got);
    }
    free(want);
}

/* ---- tests ---- */

#define SMALL "gpu.cores=5 icache.perfect=false "

static void machines(void **state)
{
    static const char *const names[] = {"gtx480", "rtx2060", "gtx285", "rise28"};
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        expect_same(&(struct how){
            .machine = names[i], .settings = "gpu.cores=7", .ptx = mixed, .observe = i == 0});
}

static void settings(void **state)
{
    static const char *const list[] = {
        SMALL "network.kind=mesh issue.policy=rr clock.core_rates=1,0.5,1.2",
        SMALL "gpu.cluster=4 network.window=2",
        SMALL "timing.content=true l2.sets=2 l2.ways=2",
        SMALL "memory.bounds=warn",
        SMALL "timing.max_cycles=900",
        SMALL "launch.max_instructions=500",
    };
    for (u32 i = 0; i < ARRAY_LEN(list); i++)
        expect_same(&(struct how){.machine = "generic",
                                  .settings = list[i],
                                  .ptx = i == 3 ? beyond : mixed,
                                  .observe = i < 2});
}

/* Views of the code for a value of MODE are made while cores run. */
static void modes(void **state)
{
    static const char *const names[] = {"tahiti", "generic64"};
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        expect_same(&(struct how){.machine = names[i], .settings = "gpu.cores=6"});
}

static void failures(void **state)
{
    expect_same(&(struct how){.machine = "generic", .settings = SMALL, .ptx = wrong});
    expect_same(&(struct how){
        .machine = "generic", .settings = SMALL "timing.stuck_cycles=1000", .ptx = stuck});
    expect_same(&(struct how){
        .machine = "generic", .settings = SMALL "launch.max_instructions=9000", .ptx = endless});
}

static void mechanisms(void **state)
{
    static const char *const list[] = {"uniform",
                                       "uniform:design=srf",
                                       "darsie",
                                       "dac_ideal",
                                       "filter_cache",
                                       "fetch_locality",
                                       "waits",
                                       "block_sync",
                                       "redundancy:check=true",
                                       "class_cycles",
                                       "lifetimes:check=true",
                                       "loscache:accesses=5",
                                       "l2_locality",
                                       "causes"};
    for (u32 i = 0; i < ARRAY_LEN(list); i++)
        expect_same(&(struct how){.machine = "gtx1080ti",
                                  .settings = "gpu.cores=5",
                                  .mechanism = list[i],
                                  .ptx = mixed,
                                  .few = true});
}

/* Random numbers of a mechanism, and states of the dispatcher and of partitions. */
static void random_numbers(void **state)
{
    static const struct mechanism *const available[] = {&dice_mechanism, NULL};
    expect_same(&(struct how){.machine = "gtx480",
                              .settings = "gpu.cores=5",
                              .mechanism = "dice:decides=true",
                              .available = available,
                              .ptx = mixed});
}

static void numbers(void **state)
{
    static const char *const bad[] = {"", "0", "-1", "2x", "1025", "many", "18446744073709551617"};
    struct how how = {.machine = "generic", .settings = SMALL, .ptx = mixed};
    struct hd_device *device = device_of(&how);
    struct hd_error error = {0};
    assert_int_equal(hd_threads(device), 1);
    for (u32 i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(hd_set_threads(device, bad[i], &error));
        assert_non_null(
            strstr(error.message, "is not a number of threads: expected 1 to 1024, or"));
    }
    assert_false(hd_set_threads(NULL, "2", &error));
    assert_true(hd_set_threads(device, "auto", &error));
    assert_int_equal(hd_threads(device), workers_host_cores());
    assert_true(hd_set_threads(device, "3", &error));
    assert_int_equal(hd_threads(device), 3);
    hd_device_close(device);
    struct hd_config *config = hd_config_create();
    assert_true(hd_config_set(config, "timing.functional=true", &error));
    device = hd_device_open(config, &error);
    hd_config_destroy(config);
    assert_true(hd_set_threads(device, "3", &error));
    assert_int_equal(hd_threads(device), 1);
    hd_device_close(device);
}

/* Threads of this process, by the host. */
static u32 threads_now(void)
{
    u32 count = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "Threads: %u", &count);
    fclose(status);
    return count;
}

/* A launch starts them, the device's end joins them; one thread means none. */
static void begin_and_end(void **state)
{
    struct how how = {.machine = "generic", .settings = SMALL, .ptx = mixed};
    const u32 before = threads_now();
    for (u32 n = 1; n <= 4; n += 3) {
        char count[2] = {(char)('0' + n), 0};
        how.threads = count;
        struct hd_device *device = device_of(&how);
        FILE *nowhere = fopen("/dev/null", "w");
        hd_set_output(device, take_output, nowhere);
        assert_int_equal(threads_now(), before);
        launch(device, mixed, hd_alloc(device, BYTES, NULL), nowhere);
        assert_int_equal(threads_now(), before + n - 1);
        fclose(nowhere);
        hd_device_close(device);
        assert_int_equal(threads_now(), before);
    }
}

/* A child process has no threads of its parent's device: it starts its own, or closes it. */
static void after_fork(void **state)
{
    struct how how = {.machine = "generic", .settings = SMALL, .ptx = mixed, .threads = "3"};
    struct hd_device *device = device_of(&how);
    FILE *nowhere = fopen("/dev/null", "w");
    hd_set_output(device, take_output, nowhere);
    hd_address memory = hd_alloc(device, BYTES, NULL);
    launch(device, mixed, memory, nowhere);
    for (u32 i = 0; i < 2; i++) {
        int status;
        const pid_t child = fork();
        if (!child) {
            alarm(100);
            if (i && !RACES_FOUND) /* which does not let a child start threads */
                launch(device, mixed, memory, nowhere);
            hd_device_close(device);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    launch(device, mixed, memory, nowhere);
    hd_device_close(device);
    fclose(nowhere);
}

/* A mechanism that shares something between cores can say so. */
static void one_thread(void **state)
{
    struct mechanism alone = cheat_mechanism;
    alone.one_thread = true;
    const struct mechanism *const available[] = {&alone, NULL};
    struct how how = {.machine = "generic",
                      .settings = SMALL,
                      .mechanism = "cheat:what=state",
                      .available = available,
                      .ptx = mixed,
                      .threads = "3"};
    struct hd_device *device = device_of(&how);
    assert_int_equal(hd_threads(device), 1);
    hd_device_close(device);
    alone.one_thread = false;
    device = device_of(&how);
    assert_int_equal(hd_threads(device), 3);
    hd_device_close(device);
}

/* ---- interrupts ---- */

static void *interrupt(void *device)
{
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
    hd_interrupt(device);
    return NULL;
}

/* As with Ctrl-C: the launch ends, statistics are there, and the device runs on. */
static void interrupted(void **state)
{
    struct how how = {.machine = "generic", .settings = SMALL, .ptx = endless, .threads = "3"};
    struct hd_device *device = device_of(&how);
    struct hd_error error = {0};
    struct hd_result result;
    struct hd_module *module = hd_module_load(device, endless, strlen(endless), "k.ptx", &error);
    hd_address memory = hd_alloc(device, BYTES, NULL);
    const struct hd_arg arg = {&memory, sizeof memory};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt, device), 0);
    assert_true(hd_launch(hd_kernel_at(module, 0), (struct hd_dim){BLOCKS, 1, 1},
                          (struct hd_dim){THREADS, 1, 1}, 0, &arg, 1, &result, &error));
    assert_int_equal(result.outcome, HD_STOPPED);
    assert_true(result.cycles > 0);
    pthread_join(thread, NULL);
    FILE *nowhere = fopen("/dev/null", "w");
    hd_set_output(device, take_output, nowhere);
    launch(device, mixed, memory, nowhere);
    fclose(nowhere);
    hd_device_close(device);
}

/* A mechanism that touches the state of another core. */
static int planted(void)
{
    static const struct mechanism *const available[] = {&cheat_mechanism, NULL};
    free(tell(&(struct how){.machine = "gtx480",
                            .settings = "gpu.cores=5",
                            .mechanism = "cheat:what=state",
                            .available = available,
                            .threads = "2",
                            .ptx = mixed}));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return planted();
    tests_folder = argc > 1 ? argv[1] : "tests";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines),    cmocka_unit_test(settings),
        cmocka_unit_test(modes),       cmocka_unit_test(failures),
        cmocka_unit_test(mechanisms),  cmocka_unit_test(random_numbers),
        cmocka_unit_test(numbers),     cmocka_unit_test(begin_and_end),
        cmocka_unit_test(one_thread),  cmocka_unit_test(after_fork),
        cmocka_unit_test(interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
