/*
 * The public API end to end on PTX text: launches, checks, faults, statistics, two devices, warps
 * of 64, limits, and the counts of three well-known kernels.
 */
#include <heddle/heddle.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

struct rig {
    struct hd_device *device;
    struct hd_module *module;
    struct hd_kernel *kernel;
    struct hd_error error;
    struct hd_result result;
    char output[4096];
};

static void take_output(void *user, const char *text, size_t length)
{
    struct rig *rig = user;
    size_t used = strlen(rig->output);
    assert_true(used + length < sizeof rig->output);
    memcpy(rig->output + used, text, length);
}

/* Opens a device with settings (NULL-terminated) and loads the text's only kernel. */
static struct rig *rig_open(const char *ptx, ...)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct hd_config *config = hd_config_create();
    va_list list;
    va_start(list, ptx);
    for (const char *setting; (setting = va_arg(list, const char *));)
        if (!hd_config_set(config, setting, &rig->error))
            fail_msg("%s", rig->error.message);
    va_end(list);
    rig->device = hd_device_open(config, &rig->error);
    assert_non_null(rig->device);
    hd_config_destroy(config);
    hd_set_output(rig->device, take_output, rig);
    rig->module = hd_module_load(rig->device, ptx, strlen(ptx), "test.ptx", &rig->error);
    if (!rig->module)
        fail_msg("%s: %s", rig->error.place, rig->error.message);
    rig->kernel = hd_kernel_find(rig->module, NULL, &rig->error);
    return rig;
}

static void rig_close(struct rig *rig)
{
    hd_device_close(rig->device);
    free(rig);
}

static bool launch(struct rig *rig, uint32_t grid, uint32_t block, const struct hd_arg *args,
                   size_t count)
{
    return hd_launch(rig->kernel, (struct hd_dim){grid, 1, 1}, (struct hd_dim){block, 1, 1}, 0,
                     args, count, &rig->result, &rig->error);
}

static const char add_ptx[] =
    HEAD ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
         " .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n"
         " mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"
         " mad.lo.u32 %r3, %r0, %r1, %r2;\n"
         " ld.param.u32 %r4, [n]; setp.ge.u32 %p, %r3, %r4; @%p bra done;\n"
         " ld.param.u64 %rd0, [p]; mad.wide.u32 %rd1, %r3, 4, %rd0;\n"
         " ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, %r3; st.global.u32 [%rd1], %r5;\n"
         "done: ret;\n}\n";

/* Adds i to words[i]; true when all n are right. */
static bool adds(struct rig *rig, uint32_t n)
{
    hd_address p = hd_alloc(rig->device, n * 4, &rig->error);
    struct hd_arg args[] = {{&p, 8}, {&n, 4}};
    uint32_t *words = calloc(n, 4), one = 1;
    assert_true(hd_fill(rig->device, p, &one, 4, n * 4, &rig->error));
    assert_true(launch(rig, (n + 63) / 64, 64, args, 2));
    assert_int_equal(rig->result.outcome, HD_DONE);
    assert_true(hd_read(rig->device, words, p, n * 4, &rig->error));
    bool right = true;
    for (uint32_t i = 0; i < n; i++)
        right &= words[i] == i + 1;
    free(words);
    assert_true(hd_release(rig->device, p, &rig->error));
    return right;
}

static void two_devices(void **state)
{
    struct rig *a = rig_open(add_ptx, NULL), *b = rig_open(add_ptx, "core.warp_size=64", NULL);
    assert_true(adds(a, 1000));
    assert_true(adds(b, 999));
    assert_true(adds(a, 5));
    char *text = hd_stats_json(a->device), *other = hd_stats_json(b->device);
    /* 13 instructions for the warp with five threads in range, 8 for the one without */
    assert_int_equal(a->result.warp_instructions, 13 + 8);
    assert_int_equal(a->result.thread_instructions, 64 * 6 + 59 + 5 * 5 + 64);
    assert_non_null(strstr(text, "\"exec.load_threads_global\": 1005"));
    assert_non_null(strstr(other, "\"exec.load_threads_global\": 999"));
    hd_free(text);
    hd_free(other);
    rig_close(a);
    rig_close(b);
}

static void portable_is_the_same(void **state)
{
    struct rig *a = rig_open(add_ptx, NULL), *b = rig_open(add_ptx, "exec.simd=portable", NULL);
    assert_true(adds(a, 777));
    assert_true(adds(b, 777));
    char *text = hd_stats_json(a->device), *other = hd_stats_json(b->device);
    assert_string_equal(text, other);
    hd_free(text);
    hd_free(other);
    rig_close(a);
    rig_close(b);
}

static void tiny_machine(void **state)
{
    struct rig *rig = rig_open(add_ptx, "gpu.cores=1", "core.blocks=1", "core.threads=64",
                               "launch.quantum=1", NULL);
    assert_true(adds(rig, 500));
    rig_close(rig);
}

static void wrong_launches(void **state)
{
    struct rig *rig = rig_open(add_ptx, "core.registers=1024", NULL);
    uint64_t p = 0;
    uint32_t n = 1;
    struct hd_arg args[] = {{&p, 8}, {&n, 4}}, narrow[] = {{&p, 4}, {&n, 4}};
    assert_false(launch(rig, 1, 32, args, 1));
    assert_non_null(strstr(rig->error.message, "has 2 parameters, but 1 arguments are given"));
    assert_false(launch(rig, 1, 32, narrow, 2));
    assert_non_null(strstr(rig->error.message, "(p, u64) has 4 bytes: expected 8"));
    assert_false(launch(rig, 0, 32, args, 2));
    assert_false(launch(rig, 1, 1025, args, 2));
    assert_non_null(strstr(rig->error.message, "core.block_threads"));
    assert_false(launch(rig, 1, 1024, args, 2));
    assert_non_null(strstr(rig->error.message, "limited by core.registers"));
    assert_false(hd_launch(rig->kernel, (struct hd_dim){1, 1, 1}, (struct hd_dim){32, 1, 1},
                           1 << 20, args, 2, NULL, &rig->error));
    assert_non_null(strstr(rig->error.message, "core.block_shared_bytes"));
    assert_null(hd_kernel_find(rig->module, "ad", &rig->error));
    assert_non_null(strstr(rig->error.message, "did you mean 'add'?"));
    assert_true(launch(rig, 1, 32, args, 2));
    assert_int_equal(rig->result.outcome, HD_OUT_OF_BOUNDS);
    rig_close(rig);
}

static void faults(void **state)
{
    struct rig *rig = rig_open(add_ptx, "timing.functional=true", NULL);
    hd_address p = hd_alloc_named(rig->device, 100 * 4, "data", &rig->error);
    uint32_t n = 200;
    struct hd_arg args[] = {{&p, 8}, {&n, 4}};
    assert_true(launch(rig, 4, 64, args, 2));
    assert_int_equal(rig->result.outcome, HD_OUT_OF_BOUNDS);
    const char *said = rig->result.explanation;
    assert_non_null(strstr(said, "0 bytes past the end of buffer"));
    assert_non_null(strstr(said, "'data'"));
    assert_non_null(strstr(said, "test.ptx:"));
    assert_non_null(strstr(said, "kernel add, block (1,0,0), thread (36,0,0), warp 1, lane 4"));
    uint32_t word;
    assert_true(hd_read(rig->device, &word, p + 63 * 4, 4, &rig->error));
    assert_int_equal(word, 63);
    assert_true(hd_release(rig->device, p, &rig->error));
    assert_true(launch(rig, 1, 32, args, 2));
    assert_int_equal(rig->result.outcome, HD_USE_AFTER_FREE);
    assert_non_null(strstr(rig->result.explanation, "freed buffer"));
    char *text = hd_stats_json(rig->device);
    assert_non_null(strstr(text, "\"outcome\": \"use_after_free\""));
    hd_free(text);
    rig_close(rig);
}

static const char endless_ptx[] = HEAD ".visible .entry endless()\n{\nloop: bra loop;\n}\n";

static void limits(void **state)
{
    struct rig *rig =
        rig_open(endless_ptx, "launch.max_instructions=5000", "timing.functional=true", NULL);
    assert_true(launch(rig, 3, 96, NULL, 0));
    assert_int_equal(rig->result.outcome, HD_LIMIT);
    assert_int_equal(rig->result.warp_instructions, 5000);
    assert_non_null(strstr(rig->result.explanation, "last seen at"));
    assert_non_null(strstr(rig->result.explanation, ": bra "));
    assert_non_null(strstr(rig->result.explanation, "in kernel endless, block ("));
    rig_close(rig);
    rig = rig_open(endless_ptx, "launch.max_seconds=0.05", NULL);
    assert_true(launch(rig, 3, 96, NULL, 0));
    assert_int_equal(rig->result.outcome, HD_LIMIT);
    hd_interrupt(rig->device);
    assert_true(launch(rig, 3, 96, NULL, 0));
    assert_int_equal(rig->result.outcome, HD_STOPPED);
    rig_close(rig);
}

/* printf, malloc and free, local memory, a global variable with an initial value. */
static const char system_ptx[] =
    HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
         ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
         ".extern .func free(.param .b64 p);\n"
         ".global .align 1 .b8 text[10] = {116, 61, 37, 100, 32, 37, 102, 10, 0};\n"
         ".global .align 4 .u32 start = 40;\n"
         ".visible .entry say(.param .u32 twice)\n{\n"
         " .local .align 8 .b8 args[16]; .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg "
         ".f64 %d;\n"
         " mov.u32 %r0, %tid.x; ld.global.u32 %r1, [start]; add.u32 %r1, %r1, %r0;\n"
         " mov.u64 %rd0, args; cvta.local.u64 %rd1, %rd0;\n"
         " st.local.u32 [args], %r1; cvt.rn.f64.u32 %d, %r0; st.local.f64 [args+8], %d;\n"
         " mov.u64 %rd2, text; cvta.global.u64 %rd3, %rd2;\n"
         " { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd3; st.param.b64 "
         "[b], %rd1;\n"
         "   call.uni (r), vprintf, (a, b); ld.param.b32 %r2, [r]; }\n"
         " { .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call.uni (r), malloc, (n);\n"
         "   ld.param.b64 %rd4, [r]; }\n"
         " st.u32 [%rd4+60], %r1; ld.u32 %r3, [%rd4+60]; setp.ne.u32 %p, %r1, %r3; @%p trap;\n"
         " { .param .b64 q; st.param.b64 [q], %rd4; call.uni free, (q); }\n"
         " ld.param.u32 %r4, [twice]; setp.eq.u32 %p, %r4, 0; @%p ret;\n"
         " { .param .b64 q; st.param.b64 [q], %rd4; call.uni free, (q); }\n"
         " ret;\n}\n";

static void system_calls(void **state)
{
    struct rig *rig = rig_open(system_ptx, NULL);
    uint32_t twice = 0;
    struct hd_arg args[] = {{&twice, 4}};
    assert_true(launch(rig, 1, 3, args, 1));
    assert_string_equal(rig->result.explanation, "");
    assert_string_equal(rig->output, "t=40 0.000000\nt=41 1.000000\nt=42 2.000000\n");
    twice = 1;
    assert_true(launch(rig, 1, 3, args, 1));
    assert_int_equal(rig->result.outcome, HD_HEAP);
    assert_non_null(strstr(rig->result.explanation, "it was freed before"));
    hd_address address;
    uint64_t bytes;
    assert_true(hd_module_variable(rig->module, "start", &address, &bytes, &rig->error));
    assert_int_equal(bytes, 4);
    assert_false(hd_module_variable(rig->module, "stat", &address, &bytes, &rig->error));
    assert_non_null(strstr(rig->error.message, "did you mean 'start'?"));
    rig_close(rig);
    rig = rig_open(system_ptx, "launch.heap_bytes=100", NULL);
    twice = 0;
    assert_true(launch(rig, 1, 1, args, 1)); /* one block fits */
    assert_int_equal(rig->result.outcome, HD_DONE);
    assert_true(launch(rig, 1, 2, args, 1)); /* the second thread gets NULL */
    assert_int_equal(rig->result.outcome, HD_OUT_OF_BOUNDS);
    rig_close(rig);
}

/* fact(n) in every lane to its own depth, and without end. */
static const char recursion_ptx[] =
    HEAD ".func (.param .b32 r) f(.param .b32 n)\n{\n"
         " .reg .pred %p; .reg .b32 %r<4>;\n"
         " ld.param.b32 %r0, [n]; setp.eq.u32 %p, %r0, 0; mov.u32 %r1, 0; @%p bra out;\n"
         " sub.u32 %r2, %r0, 1;\n"
         " { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), f, (a);\n"
         "   ld.param.b32 %r3, [b]; }\n"
         " add.u32 %r1, %r3, %r0;\n"
         "out: st.param.b32 [r], %r1; ret;\n}\n"
         ".visible .entry sums(.param .u64 p, .param .u32 more)\n{\n"
         " .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
         " mov.u32 %r0, %tid.x; ld.param.u32 %r1, [more]; add.u32 %r1, %r0, %r1;\n"
         " { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), f, (a);\n"
         "   ld.param.b32 %r2, [b]; }\n"
         " ld.param.u64 %rd0, [p]; mad.wide.u32 %rd1, %r0, 4, %rd0; st.global.u32 [%rd1], %r2; "
         "ret;\n}\n";

static void recursion(void **state)
{
    for (int wide = 0; wide < 2; wide++) {
        struct rig *rig = rig_open(recursion_ptx, wide ? "core.warp_size=64" : "gpu.cores=2", NULL);
        hd_address p = hd_alloc(rig->device, 4 * 64, &rig->error);
        uint32_t more = 0, words[64];
        struct hd_arg args[] = {{&p, 8}, {&more, 4}};
        assert_true(launch(rig, 1, 64, args, 2));
        assert_string_equal(rig->result.explanation, "");
        assert_true(hd_read(rig->device, words, p, sizeof words, &rig->error));
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(words[i], i * (i + 1) / 2);
        more = 100000;
        assert_true(launch(rig, 1, 64, args, 2));
        assert_int_equal(rig->result.outcome, HD_STACK_OVERFLOW);
        rig_close(rig);
    }
}

/* Ten thousand values loaded before the first is used: nearly all of them go through memory. */
static void crowded(void **state)
{
    enum {
        VALUES = 10000
    };
    size_t room = VALUES * 96, used;
    char *text = malloc(room);
    uint32_t *in = malloc(VALUES * sizeof *in), want = 1, got = 0;
    used = (size_t)snprintf(text, room,
                            HEAD ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
                                 ".reg .b32 %%r<%u>; .reg .b64 %%d<3>;\n"
                                 "ld.param.u64 %%d1, [p]; ld.param.u64 %%d2, [q];\n"
                                 "mov.u32 %%r0, 1;\n",
                            VALUES + 1);
    for (uint32_t i = 1; i <= VALUES; i++)
        used += (size_t)snprintf(text + used, room - used, "ld.global.u32 %%r%u, [%%d1+%u];\n", i,
                                 4 * (i - 1));
    for (uint32_t i = VALUES; i >= 1; i--)
        used += (size_t)snprintf(text + used, room - used, "mad.lo.u32 %%r0, %%r0, 3, %%r%u;\n", i);
    snprintf(text + used, room - used, "st.global.u32 [%%d2], %%r0;\nret;\n}\n");
    for (uint32_t i = 0; i < VALUES; i++)
        in[i] = i * 2654435761u;
    for (uint32_t i = VALUES; i-- > 0;)
        want = want * 3 + in[i];
    struct rig *rig = rig_open(text, NULL);
    hd_address p = hd_alloc(rig->device, VALUES * 4, &rig->error);
    hd_address q = hd_alloc(rig->device, 4, &rig->error);
    assert_true(hd_write(rig->device, p, in, VALUES * 4, &rig->error));
    struct hd_arg args[] = {{&p, 8}, {&q, 8}};
    assert_true(launch(rig, 1, 1, args, 2));
    assert_string_equal(rig->result.explanation, "");
    assert_true(hd_read(rig->device, &got, q, 4, &rig->error));
    assert_int_equal(got, want);
    struct hd_kernel_info info;
    hd_kernel_info(rig->kernel, &info);
    assert_in_range(info.registers, 16, 255);
    assert_true(info.spill_bytes > VALUES * 3);
    rig_close(rig);
    free(text);
    free(in);
}

static const char constant_ptx[] =
    HEAD ".const .align 4 .u32 table[2] = {5, 6};\n"
         ".visible .entry poke()\n{\n .reg .b64 %rd<2>; .reg .b32 %r;\n"
         " mov.u64 %rd0, table; cvta.const.u64 %rd1, %rd0; ld.u32 %r, [%rd1+4]; st.u32 [%rd1], %r; "
         "ret;\n}\n";

static void read_only(void **state)
{
    struct rig *rig = rig_open(constant_ptx, NULL);
    assert_true(launch(rig, 1, 1, NULL, 0));
    assert_int_equal(rig->result.outcome, HD_READ_ONLY);
    assert_non_null(strstr(rig->result.explanation, "'table'"));
    rig_close(rig);
}

static void unsupported(void **state)
{
    static const char ptx[] = HEAD ".visible .entry t()\n{\n .reg .b32 %r<8>; .reg .f32 %f<8>;\n"
                                   " cp.async.wait_all;\n ret;\n}\n";
    struct rig *rig = rig_open(ptx, NULL);
    assert_false(launch(rig, 1, 1, NULL, 0));
    assert_int_equal(rig->error.code, HD_ERROR_UNSUPPORTED);
    assert_non_null(strstr(rig->error.message, "test.ptx:7"));
    rig_close(rig);
}

/* More than the message has room for: it says how many are left out, and the list has them all. */
static void many_unsupported(void **state)
{
    enum {
        COUNT = 200
    };
    char ptx[COUNT * 32], *to = stpcpy(ptx, HEAD ".visible .entry t()\n{\n");
    for (int i = 0; i < COUNT; i++)
        to = stpcpy(to, " cp.async.wait_all;\n");
    strcpy(to, " ret;\n}\n");
    struct rig *rig = rig_open(ptx, NULL);
    assert_false(launch(rig, 1, 1, NULL, 0));
    assert_non_null(strstr(rig->error.message, "can reach 200 unsupported instructions:"));
    int told = 0, left = 0;
    for (const char *at = rig->error.message; (at = strstr(at, "cp.async")); at++)
        told++;
    const char *more = strstr(rig->error.message, "\n  and ");
    assert_non_null(more);
    assert_int_equal(sscanf(more, "\n  and %d more", &left), 1);
    assert_int_equal(told + left, COUNT);

    char *list = hd_kernel_unsupported(rig->kernel);
    int lines = 0;
    for (const char *c = list; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, COUNT);
    hd_free(list);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_devices),      cmocka_unit_test(portable_is_the_same),
        cmocka_unit_test(tiny_machine),     cmocka_unit_test(wrong_launches),
        cmocka_unit_test(faults),           cmocka_unit_test(limits),
        cmocka_unit_test(system_calls),     cmocka_unit_test(recursion),
        cmocka_unit_test(read_only),        cmocka_unit_test(unsupported),
        cmocka_unit_test(many_unsupported), cmocka_unit_test(crowded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
