/*
 * Machines with few registers: a kernel's largest block is what a core can hold, and is what
 * programs are told, allowed and given.
 */
#include "rig.h"

static const char source[] =
    "#ifdef SIZE\n"
    "__attribute__((reqd_work_group_size(SIZE, 1, 1)))\n"
    "#endif\n"
    "kernel void wide(global uint *out)\n"
    "{\n"
    "    uint i0 = get_local_id(0) & 3; /* so that vector registers hold it all */\n"
    "    uint4 a = vload4(i0, out), b = vload4(i0 ^ 1, out), c = vload4(i0 ^ 2, out),\n"
    "          d = vload4(i0 ^ 3, out);\n"
    "    for (uint i = 0; i < 3; i++) { a += b * c; b += c * d; c += d * a; d += a * b; }\n"
    "    out[16 + get_global_id(0)] = get_local_size(0) + (a.x ^ b.y ^ c.z ^ d.w);\n"
    "}\n";

static void few_registers(void **state)
{
    struct rig *rig = *state;
    size_t most, limit, lanes, global;
    OK(clGetDeviceInfo(rig->devices[0], CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    cl_kernel kernel = rig_kernel(rig->context, source, "wide");
    OK(clGetKernelWorkGroupInfo(kernel, NULL, CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit,
                                NULL));
    OK(clGetKernelWorkGroupInfo(kernel, NULL, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                sizeof lanes, &lanes, NULL));
    assert_in_range(limit, lanes, most - lanes);
    assert_int_equal(limit % lanes, 0);

    global = limit * (limit + lanes);
    uint32_t *seen = calloc(global + 16, sizeof *seen);
    cl_mem out = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, (global + 16) * sizeof *seen, seen);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &global, &limit, 0, NULL, NULL));
    rig_read(rig, out, seen, 16 * sizeof *seen, sizeof *seen);
    assert_int_equal(seen[0], limit);
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    rig_read(rig, out, seen, 16 * sizeof *seen, sizeof *seen);
    assert_int_equal(seen[0], limit);
    limit += lanes;
    assert_int_equal(
        clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &global, &limit, 0, NULL, NULL),
        CL_INVALID_WORK_GROUP_SIZE);
    free(seen);
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(kernel));
}

/* A kernel that requires a larger block gets fewer registers and spills. Code of Southern Islands
 * comes with its registers. */
static void required_size(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    cl_program program = rig_build(rig->context, source, "-DSIZE=256");
    cl_kernel kernel = clCreateKernel(program, "wide", &status);
    OK(status);
    const size_t size = 256;
    size_t lanes;
    uint32_t seen[16 + 256] = {0};
    OK(clGetKernelWorkGroupInfo(kernel, NULL, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                sizeof lanes, &lanes, NULL));
    cl_mem out = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof seen, seen);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    if (lanes == 32) {
        OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
        rig_read(rig, out, seen, 16 * sizeof *seen, sizeof *seen);
        assert_int_equal(seen[0], size);
    }
    OK(clReleaseMemObject(out));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_registers),
                                       cmocka_unit_test(required_size)};
    setenv("HEDDLE_SET", "core.registers=4096", 1);
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
