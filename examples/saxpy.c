/*
 * The shortest useful client of libheddle: y = a * x + y on a modelled GPU.
 *
 * Build it against the library, run it without arguments; it prints the result of one element and
 * what the launch cost in instructions.
 */
#include <heddle/heddle.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    N = 100000,
    THREADS = 256
};

static const char ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .b32 %r<5>;\n"
    "    .reg .f32 %f<4>;\n"
    "    .reg .b64 %rd<6>;\n"
    "    mov.u32 %r0, %ctaid.x;\n"
    "    mov.u32 %r1, %ntid.x;\n"
    "    mov.u32 %r2, %tid.x;\n"
    "    mad.lo.u32 %r3, %r0, %r1, %r2;\n"
    "    ld.param.u32 %r4, [n];\n"
    "    setp.ge.u32 %p, %r3, %r4;\n"
    "    @%p ret;\n"
    "    ld.param.u64 %rd0, [x];\n"
    "    ld.param.u64 %rd1, [y];\n"
    "    mul.wide.u32 %rd2, %r3, 4;\n"
    "    add.u64 %rd3, %rd0, %rd2;\n"
    "    add.u64 %rd4, %rd1, %rd2;\n"
    "    ld.param.f32 %f0, [a];\n"
    "    ld.global.f32 %f1, [%rd3];\n"
    "    ld.global.f32 %f2, [%rd4];\n"
    "    fma.rn.f32 %f3, %f0, %f1, %f2;\n"
    "    st.global.f32 [%rd4], %f3;\n"
    "    ret;\n"
    "}\n";

/* Ends the program with what went wrong. */
static void stop(const struct hd_error *error)
{
    fprintf(stderr, "saxpy: %s%s%s\n", error->place, error->place[0] ? ": " : "", error->message);
    exit(1);
}

int main(void)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    struct hd_device *device = hd_device_open(config, &error);
    if (!device)
        stop(&error);
    hd_config_destroy(config); /* the device has its own copy */

    static float x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    hd_address dx = hd_alloc_named(device, sizeof x, "x", &error);
    hd_address dy = hd_alloc_named(device, sizeof y, "y", &error);
    if (!dx || !dy || !hd_write(device, dx, x, sizeof x, &error) ||
        !hd_write(device, dy, y, sizeof y, &error))
        stop(&error);

    struct hd_module *module = hd_module_load(device, ptx, sizeof ptx - 1, "saxpy.ptx", &error);
    struct hd_kernel *kernel = module ? hd_kernel_find(module, "saxpy", &error) : NULL;
    if (!kernel)
        stop(&error);

    uint32_t n = N;
    float a = 2.0f;
    struct hd_arg args[] = {{&n, sizeof n}, {&a, sizeof a}, {&dx, sizeof dx}, {&dy, sizeof dy}};
    struct hd_dim grid = {(N + THREADS - 1) / THREADS, 1, 1}, block = {THREADS, 1, 1};
    struct hd_result result;
    if (!hd_launch(kernel, grid, block, 0, args, 4, &result, &error))
        stop(&error);
    if (result.outcome != HD_DONE) {
        fprintf(stderr, "saxpy: %s: %s\n", hd_outcome_name(result.outcome), result.explanation);
        return 3;
    }
    if (!hd_read(device, y, dy, sizeof y, &error))
        stop(&error);
    printf("y[%d] = %g, %llu thread instructions in %llu warp instructions\n", N - 1, y[N - 1],
           (unsigned long long)result.thread_instructions,
           (unsigned long long)result.warp_instructions);
    hd_device_close(device);
    return y[N - 1] == 2.0f * (N - 1) + 1.0f ? 0 : 1;
}
