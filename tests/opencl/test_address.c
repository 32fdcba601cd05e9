/*
 * Devices with 64-bit and with 32-bit addresses (gpu.address_bits) in one context: HEDDLE_MACHINE
 * names one of each, in this order.
 */
#include "rig.h"

#include <unistd.h>

enum {
    WIDE,
    NARROW,
    BOTH
};
static const cl_uint bits[BOTH] = {64, 32};

static const char source[] =
    "struct inner { char c; global int *p; };\n"
    "struct outer { char c; size_t n; long l; struct inner i; short s; };\n"
    "kernel void sizes(global ulong *out) {\n"
    "    struct outer o;\n"
    "    out[0] = sizeof(size_t); out[1] = sizeof(global void *); out[2] = sizeof(local void *);\n"
    "    out[3] = sizeof(ptrdiff_t); out[4] = sizeof(get_global_id(0)); out[5] = sizeof(long);\n"
    "    out[6] = sizeof(struct inner); out[7] = sizeof(struct outer);\n"
    "    out[8] = (uintptr_t)&o.i - (uintptr_t)&o; out[9] = (uintptr_t)&o.s - (uintptr_t)&o;\n"
    "    out[10] = (ulong)(uintptr_t)out;\n"
    "}\n"
    "struct node { global struct node *next; int value; };\n"
    "kernel void link(global struct node *nodes, int n) {\n"
    "    int i = get_global_id(0);\n"
    "    nodes[i].next = i + 1 < n ? nodes + (i + 1) : (global struct node *)0;\n"
    "    nodes[i].value = 3 * i + 1;\n"
    "}\n"
    "kernel void follow(global struct node *nodes, global int *out) {\n"
    "    int sum = 0, count = 0;\n"
    "    for (global struct node *at = nodes; at; at = at->next, count++) sum += at->value;\n"
    "    out[0] = sum; out[1] = count;\n"
    "}\n"
    "kernel void least(global long *out, global const long *in, local long *all) {\n"
    "    int i = get_global_id(0);\n"
    "    if (!get_local_id(0)) *all = LONG_MAX;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    atom_min(all, in[i]); atom_max(&out[1], in[i]);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (!get_local_id(0)) atom_min(&out[0], *all);\n"
    "}\n";

static cl_ulong number(cl_device_id device, cl_device_info name)
{
    cl_ulong value = 0;
    OK(clGetDeviceInfo(device, name, sizeof value, &value, NULL));
    return value;
}

static void devices_tell(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(rig->device_count, BOTH);
    for (int d = 0; d < BOTH; d++) {
        cl_device_id device = rig->devices[d];
        assert_int_equal(number(device, CL_DEVICE_ADDRESS_BITS), bits[d]);
        assert_true(number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE) <=
                    number(device, CL_DEVICE_GLOBAL_MEM_SIZE));
    }
    assert_true(number(rig->devices[NARROW], CL_DEVICE_GLOBAL_MEM_SIZE) <
                number(rig->devices[WIDE], CL_DEVICE_GLOBAL_MEM_SIZE));
    assert_true(number(rig->devices[NARROW], CL_DEVICE_GLOBAL_MEM_SIZE) <= 4048ull << 20);
}

static cl_kernel kernel_of(cl_program program, const char *name)
{
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    OK(status);
    return kernel;
}

/* Runs `items` work-items in one block with these buffers; a third argument of the kernel is
 * `local_bytes` of local memory or, if there are none, `n`. */
static void run(struct rig *rig, int device, cl_program program, const char *name, size_t items,
                cl_mem a, cl_mem b, size_t local_bytes)
{
    cl_kernel kernel = kernel_of(program, name);
    int n = (int)items;
    OK(clSetKernelArg(kernel, 0, sizeof a, &a));
    if (b)
        OK(clSetKernelArg(kernel, 1, sizeof b, &b));
    else if (!strcmp(name, "link"))
        OK(clSetKernelArg(kernel, 1, sizeof n, &n));
    if (local_bytes)
        OK(clSetKernelArg(kernel, 2, local_bytes, NULL));
    OK(clEnqueueNDRangeKernel(rig->queues[device], kernel, 1, NULL, &items, &items, 0, NULL, NULL));
    OK(clFinish(rig->queues[device]));
    OK(clReleaseKernel(kernel));
}

static void take(struct rig *rig, int device, cl_mem from, void *to, size_t bytes)
{
    OK(clEnqueueReadBuffer(rig->queues[device], from, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}

static void kernels_have_its_sizes(void **state)
{
    static const cl_ulong expected[BOTH][10] = {
        {8, 8, 8, 8, 8, 8, 16, 48, 24, 40},
        {4, 4, 4, 4, 4, 8, 8, 32, 16, 24},
    };
    struct rig *rig = *state;
    cl_program program = rig_build(rig->context, source, "");
    for (int d = 0; d < BOTH; d++) {
        cl_ulong got[11];
        cl_mem out = rig_buffer(rig, CL_MEM_READ_WRITE, sizeof got, NULL);
        run(rig, d, program, "sizes", 1, out, NULL, 0);
        take(rig, d, out, got, sizeof got);
        for (int i = 0; i < 10; i++)
            assert_int_equal(got[i], expected[d][i]);
        assert_true(got[10] >> 32 ? d == WIDE : d == NARROW);
        OK(clReleaseMemObject(out));
    }
    OK(clReleaseProgram(program));
}

static void pointers_in_memory(void **state)
{
    enum {
        NODES = 100
    };
    struct rig *rig = *state;
    cl_program program = rig_build(rig->context, source, "");
    for (int d = 0; d < BOTH; d++) {
        cl_int got[2];
        cl_mem nodes = rig_buffer(rig, CL_MEM_READ_WRITE, NODES * (d == WIDE ? 16 : 8), NULL);
        cl_mem out = rig_buffer(rig, CL_MEM_READ_WRITE, sizeof got, NULL);
        run(rig, d, program, "link", NODES, nodes, NULL, 0);
        run(rig, d, program, "follow", 1, nodes, out, 0);
        take(rig, d, out, got, sizeof got);
        assert_int_equal(got[0], 3 * NODES * (NODES - 1) / 2 + NODES);
        assert_int_equal(got[1], NODES);
        OK(clReleaseMemObject(nodes));
        OK(clReleaseMemObject(out));
    }
    OK(clReleaseProgram(program));
}

static void atomics_of_64_bits(void **state)
{
    enum {
        ITEMS = 64
    };
    struct rig *rig = *state;
    cl_program program = rig_build(rig->context, source, "");
    for (int d = 0; d < BOTH; d++) {
        cl_long in[ITEMS], got[2] = {INT64_MAX, INT64_MIN};
        for (int i = 0; i < ITEMS; i++)
            in[i] = ((cl_long)(i * 37 % ITEMS) - 20) * (1ll << 40);
        cl_mem from = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof in, in);
        cl_mem out = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof got, got);
        run(rig, d, program, "least", ITEMS, out, from, sizeof(cl_long));
        take(rig, d, out, got, sizeof got);
        assert_int_equal(got[0], (cl_long)((cl_ulong)-20 << 40));
        assert_int_equal(got[1], (cl_long)(ITEMS - 1 - 20) << 40);
        OK(clReleaseMemObject(from));
        OK(clReleaseMemObject(out));
    }
    OK(clReleaseProgram(program));
}

/* size_t of the device bounds sizes and global IDs. */
static void ranges_fit(void **state)
{
    struct rig *rig = *state;
    cl_program program = rig_build(rig->context, source, "");
    cl_kernel kernel = kernel_of(program, "sizes");
    cl_mem out = rig_buffer(rig, CL_MEM_READ_WRITE, 88, NULL);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    cl_command_queue queue = rig->queues[NARROW];
    size_t size = 1ull << 32, one = 1, offset = UINT32_MAX;
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &one, 0, NULL, NULL),
                     CL_INVALID_GLOBAL_WORK_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &one, &one, 0, NULL, NULL),
                     CL_INVALID_GLOBAL_OFFSET);
    OK(clEnqueueNDRangeKernel(rig->queues[WIDE], kernel, 1, &offset, &one, &one, 0, NULL, NULL));
    offset--;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &one, &one, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

/* ---- binaries ---- */

static char told[512];

static void CL_CALLBACK tell(const char *text, const void *data, size_t bytes, void *user)
{
    snprintf(told, sizeof told, "%s", text);
}

/* The binary that `make` has made for each device. */
static void binaries_of(cl_program program, unsigned char *data[BOTH], size_t sizes[BOTH])
{
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, BOTH * sizeof *sizes, sizes, NULL));
    for (int d = 0; d < BOTH; d++)
        data[d] = malloc(sizes[d]);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, BOTH * sizeof *data, data, NULL));
}

static void check_binaries(cl_context context, struct rig *rig, unsigned char *data[BOTH],
                           size_t sizes[BOTH])
{
    static const char *const words[BOTH] = {"64-bit PTX", "32-bit PTX"};
    for (int d = 0; d < BOTH; d++) {
        const unsigned char *binary = data[d];
        cl_int one = 1;
        char expected[256];
        told[0] = 0;
        FAILS(CL_INVALID_BINARY, clCreateProgramWithBinary(context, 1, &rig->devices[1 - d],
                                                           &sizes[d], &binary, &one, &why));
        assert_int_equal(one, CL_INVALID_BINARY);
        snprintf(expected, sizeof expected, "is %s, but device %s runs %s", words[d],
                 d == WIDE ? "narrow" : "generic", words[1 - d]);
        assert_non_null(strstr(told, expected));
        cl_int status;
        cl_program same = clCreateProgramWithBinary(context, 1, &rig->devices[d], &sizes[d],
                                                    &binary, &one, &status);
        OK(status);
        OK(clBuildProgram(same, 0, NULL, "", NULL, NULL));
        OK(clReleaseProgram(same));
        free(data[d]);
    }
}

static void binaries_are_for_one_size(void **state)
{
    struct rig *rig = *state;
    unsigned char *data[BOTH];
    size_t sizes[BOTH];
    cl_int status;
    const char *text = source;
    cl_context context = clCreateContext(NULL, BOTH, rig->devices, tell, NULL, &status);
    OK(status);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    OK(status);
    OK(clCompileProgram(program, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    binaries_of(program, data, sizes);
    check_binaries(context, rig, data, sizes);
    OK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    binaries_of(program, data, sizes);
    check_binaries(context, rig, data, sizes);
    OK(clReleaseProgram(program));
    OK(clReleaseContext(context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_tell),       cmocka_unit_test(kernels_have_its_sizes),
        cmocka_unit_test(pointers_in_memory), cmocka_unit_test(atomics_of_64_bits),
        cmocka_unit_test(ranges_fit),         cmocka_unit_test(binaries_are_for_one_size),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
