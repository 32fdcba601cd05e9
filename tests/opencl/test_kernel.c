/*
 * Kernels: creation, arguments of every kind, what is told of them, and every error.
 */
#include "rig.h"

static const char source[] =
    "typedef struct { char c; int i[3]; double d; } mixed;\n"
    "kernel void values(global ulong *out, char c, ushort s, int i, ulong l, float f, double d,\n"
    "                   uchar3 v3, float4 v4, ushort16 v16, mixed m)\n"
    "{\n"
    "    out[0] = c; out[1] = s; out[2] = i; out[3] = l; out[4] = as_uint(f); out[5] = "
    "as_ulong(d);\n"
    "    out[6] = v3.x + 256 * v3.y + 65536 * v3.z;\n"
    "    out[7] = as_uint(v4.x) ^ as_uint(v4.y) ^ as_uint(v4.z) ^ as_uint(v4.w);\n"
    "    ulong sum = 0;\n"
    "    for (int k = 0; k < 16; k++)\n"
    "        sum = sum * 31 + ((ushort *)&v16)[k];\n"
    "    out[8] = sum; out[9] = m.c; out[10] = m.i[0] + 10 * m.i[1] + 100 * m.i[2];\n"
    "    out[11] = as_ulong(m.d);\n"
    "}\n"
    "kernel void pointers(global int *out, constant int *in, local int *scratch,\n"
    "                     global const float * restrict volatile never)\n"
    "{\n"
    "    scratch[get_local_id(0)] = in[get_local_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    int n = get_local_size(0);\n"
    "    out[get_global_id(0)] = scratch[n - 1 - get_local_id(0)] + (never ? 1000 : 0);\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(8, 4, 2))) void fixed(global int *out)\n"
    "{\n"
    "    local int own[64];\n"
    "    own[get_local_id(0)] = 1;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[get_global_id(0)] = own[7 - get_local_id(0)];\n"
    "}\n"
    "kernel void nothing(void) {}\n";

enum {
    KERNELS = 4
};

struct mixed {
    char c;
    int i[3];
    double d;
};

static cl_program program;

static int setup(void **state)
{
    rig_setup(state);
    program = rig_build(((struct rig *)*state)->context, source, "-cl-kernel-arg-info");
    return 0;
}

static int teardown(void **state)
{
    OK(clReleaseProgram(program));
    return rig_teardown(state);
}

static cl_kernel create(const char *name)
{
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    OK(status);
    return kernel;
}

static void run(struct rig *rig, cl_uint device, cl_kernel kernel, size_t global, size_t local)
{
    OK(clEnqueueNDRangeKernel(rig->queues[device], kernel, 1, NULL, &global, &local, 0, NULL,
                              NULL));
    OK(clFinish(rig->queues[device]));
}

static uint64_t bits(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static uint32_t bits32(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static void values(void **state)
{
    struct rig *rig = *state;
    cl_kernel kernel = create("values");
    cl_mem out = rig_buffer(rig, 0, 12 * sizeof(uint64_t), NULL);
    cl_char c = -5;
    cl_ushort s = 60000;
    cl_int i = -70000;
    cl_ulong l = 0x123456789abcdef0;
    cl_float f = 1.5f;
    cl_double d = -2.75;
    cl_uchar3 v3 = {{1, 2, 3}};
    cl_float4 v4 = {{1.0f, 2.0f, 3.0f, 5.0f}};
    cl_ushort16 v16;
    struct mixed m = {-9, {3, 4, 5}, 1e100};
    uint64_t sum = 0, seen[12];
    for (int k = 0; k < 16; k++) {
        v16.s[k] = (cl_ushort)(k * 1000 + 7);
        sum = sum * 31 + v16.s[k];
    }
    const struct {
        size_t size;
        const void *value;
    } args[] = {{sizeof out, &out}, {1, &c},   {2, &s},    {4, &i},       {8, &l}, {4, &f}, {8, &d},
                {4, &v3},           {16, &v4}, {32, &v16}, {sizeof m, &m}};
    for (cl_uint k = 0; k < 11; k++) {
        OK(clSetKernelArg(kernel, k, args[k].size, args[k].value));
        assert_int_equal(clSetKernelArg(kernel, k, args[k].size + 1, args[k].value),
                         CL_INVALID_ARG_SIZE);
        assert_int_equal(clSetKernelArg(kernel, k, args[k].size - 1, args[k].value),
                         CL_INVALID_ARG_SIZE);
        assert_int_equal(clSetKernelArg(kernel, k, 0, args[k].value), CL_INVALID_ARG_SIZE);
        if (k)
            assert_int_equal(clSetKernelArg(kernel, k, args[k].size, NULL), CL_INVALID_ARG_VALUE);
    }
    const uint64_t expected[12] = {(uint64_t)-5,
                                   60000,
                                   (uint64_t)-70000,
                                   l,
                                   bits32(f),
                                   bits(d),
                                   0x030201,
                                   bits32(1.0f) ^ bits32(2.0f) ^ bits32(3.0f) ^ bits32(5.0f),
                                   sum,
                                   (uint64_t)-9,
                                   543,
                                   bits(1e100)};
    for (cl_uint device = 0; device < rig->device_count; device++) {
        memset(seen, 0, sizeof seen);
        rig_write(rig, out, seen, 0, sizeof seen);
        run(rig, device, kernel, 1, 1);
        rig_read(rig, out, seen, 0, sizeof seen);
        for (int k = 0; k < 12; k++)
            assert_int_equal(seen[k], expected[k]);
    }
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

static void pointers(void **state)
{
    struct rig *rig = *state;
    enum {
        N = 48
    };
    cl_int in[N], seen[2 * N];
    for (int i = 0; i < N; i++)
        in[i] = i * i;
    cl_kernel kernel = create("pointers");
    cl_mem out = rig_buffer(rig, 0, sizeof seen, NULL);
    cl_mem from = rig_buffer(rig, CL_MEM_COPY_HOST_PTR | CL_MEM_READ_ONLY, sizeof in, in);
    cl_mem none = NULL;
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clSetKernelArg(kernel, 1, sizeof from, &from));
    OK(clSetKernelArg(kernel, 2, sizeof in, NULL));
    for (int null = 0; null < 3; null++) {
        const void *const given[] = {&from, &none, NULL};
        OK(clSetKernelArg(kernel, 3, sizeof from, given[null]));
        for (cl_uint device = 0; device < rig->device_count; device++) {
            memset(seen, 0xff, sizeof seen);
            rig_write(rig, out, seen, 0, sizeof seen);
            run(rig, device, kernel, 2 * N, N);
            rig_read(rig, out, seen, 0, sizeof seen);
            for (int i = 0; i < 2 * N; i++)
                assert_int_equal(seen[i], in[N - 1 - i % N] + (null ? 0 : 1000));
        }
    }
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(from));
    OK(clReleaseMemObject(out));
}

/* Kernels may have arguments of which there are none here. */
static void images_and_samplers(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    cl_program other = rig_build(
        rig->context,
        "kernel void k(sampler_t s, read_only image2d_t i, global int *o) { *o = 1; }", "");
    cl_kernel kernel = clCreateKernel(other, "k", &status);
    OK(status);
    void *none = NULL;
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof none, &none), CL_INVALID_SAMPLER);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof none + 1, &none), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof none, &none), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 1, 0, &none), CL_INVALID_ARG_SIZE);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(other));
}

static void wrong_arguments(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    cl_context other = clCreateContext(NULL, 1, rig->devices, NULL, NULL, &status);
    cl_mem foreign = clCreateBuffer(other, 0, 64, NULL, &status);
    cl_mem out = rig_buffer(rig, 0, 64, NULL), none = NULL;
    cl_kernel kernel = create("pointers");
    assert_int_equal(clSetKernelArg(NULL, 0, sizeof out, &out), CL_INVALID_KERNEL);
    assert_int_equal(clSetKernelArg((cl_kernel)out, 0, sizeof out, &out), CL_INVALID_KERNEL);
    assert_int_equal(clSetKernelArg(kernel, 4, sizeof out, &out), CL_INVALID_ARG_INDEX);
    assert_int_equal(clSetKernelArg(kernel, (cl_uint)-1, sizeof out, &out), CL_INVALID_ARG_INDEX);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof foreign, &foreign), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof rig->queue, &rig->queue),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof out - 1, &out), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof out + 1, NULL), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 2, 64, &out), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 2, 0, NULL), CL_INVALID_ARG_SIZE);
    const size_t one = 1;
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clSetKernelArg(kernel, 1, sizeof out, &out));
    OK(clSetKernelArg(kernel, 3, sizeof out, &none));
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL),
                     CL_INVALID_KERNEL_ARGS);
    OK(clSetKernelArg(kernel, 2, 64, NULL));
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
    OK(clSetKernelArg(kernel, 2, 1 << 30, NULL)); /* more than the device has: reported at launch */
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL),
                     CL_OUT_OF_RESOURCES);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
    OK(clReleaseMemObject(foreign));
    OK(clReleaseContext(other));
}

static void creation(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    cl_uint count;
    cl_kernel kernels[KERNELS];
    const char *text = source;
    FAILS(CL_INVALID_PROGRAM, clCreateKernel(NULL, "values", &why));
    FAILS(CL_INVALID_PROGRAM, clCreateKernel((cl_program)rig->context, "values", &why));
    FAILS(CL_INVALID_VALUE, clCreateKernel(program, NULL, &why));
    FAILS(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "value", &why));
    FAILS(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "", &why));
    assert_null(clCreateKernel(program, "value", NULL));
    cl_program raw = clCreateProgramWithSource(rig->context, 1, &text, NULL, &status);
    FAILS(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(raw, "values", &why));
    assert_int_equal(clCreateKernelsInProgram(raw, 0, NULL, &count), CL_INVALID_PROGRAM_EXECUTABLE);
    OK(clReleaseProgram(raw));

    assert_int_equal(clCreateKernelsInProgram(NULL, 0, NULL, &count), CL_INVALID_PROGRAM);
    OK(clCreateKernelsInProgram(program, 0, NULL, &count));
    assert_int_equal(count, KERNELS);
    assert_int_equal(clCreateKernelsInProgram(program, KERNELS - 1, kernels, NULL),
                     CL_INVALID_VALUE);
    OK(clCreateKernelsInProgram(program, KERNELS, kernels, &count));
    char all[256] = "";
    for (int i = 0; i < KERNELS; i++) {
        char name[32];
        OK(clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL));
        strcat(strcat(all, name), " ");
        OK(clReleaseKernel(kernels[i]));
    }
    const char *const names[] = {"values ", "pointers ", "fixed ", "nothing "};
    for (int i = 0; i < KERNELS; i++)
        assert_non_null(strstr(all, names[i]));
    assert_int_equal(clRetainKernel(NULL), CL_INVALID_KERNEL);
    assert_int_equal(clReleaseKernel(NULL), CL_INVALID_KERNEL);
}

static void info(void **state)
{
    struct rig *rig = *state;
    cl_kernel kernel = create("pointers");
    char text[64];
    size_t bytes;
    cl_uint number;
    cl_context context;
    cl_program from;
    OK(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof text, text, &bytes));
    assert_string_equal(text, "pointers");
    assert_int_equal(bytes, sizeof "pointers");
    assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, bytes - 1, text, NULL),
                     CL_INVALID_VALUE);
    OK(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof number, &number, NULL));
    assert_int_equal(number, 4);
    OK(clRetainKernel(kernel));
    OK(clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof number, &number, NULL));
    assert_int_equal(number, 2);
    OK(clReleaseKernel(kernel));
    OK(clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof context, &context, NULL));
    assert_ptr_equal(context, rig->context);
    OK(clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof from, &from, NULL));
    assert_ptr_equal(from, program);
    OK(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    assert_string_equal(text, "");
    assert_int_equal(clGetKernelInfo(kernel, 0, sizeof text, text, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelInfo(NULL, CL_KERNEL_CONTEXT, 0, NULL, NULL), CL_INVALID_KERNEL);
    OK(clReleaseKernel(kernel));
    kernel = create("fixed");
    OK(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    assert_string_equal(text, "reqd_work_group_size(8,4,2)");
    OK(clReleaseKernel(kernel));
}

static void argument_info(void **state)
{
    static const struct {
        const char *name, *type;
        cl_kernel_arg_address_qualifier address;
        cl_kernel_arg_type_qualifier qualifiers;
    } expected[] = {
        {"out", "int*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_NONE},
        {"in", "int*", CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST},
        {"scratch", "int*", CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_TYPE_NONE},
        {"never", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL,
         CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT | CL_KERNEL_ARG_TYPE_VOLATILE},
    };
    cl_kernel kernel = create("pointers");
    char text[64];
    cl_kernel_arg_address_qualifier address;
    cl_kernel_arg_access_qualifier access;
    cl_kernel_arg_type_qualifier qualifiers;
    for (cl_uint i = 0; i < 4; i++) {
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
        assert_string_equal(text, expected[i].name);
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
        assert_string_equal(text, expected[i].type);
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address,
                              NULL));
        assert_int_equal(address, expected[i].address);
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access,
                              NULL));
        assert_int_equal(access, CL_KERNEL_ARG_ACCESS_NONE);
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers,
                              &qualifiers, NULL));
        /* clang leaves some of them out for pointers that are themselves qualified */
        assert_int_equal(qualifiers & expected[i].qualifiers, qualifiers);
    }
    assert_int_equal(clGetKernelArgInfo(kernel, 4, CL_KERNEL_ARG_NAME, 0, NULL, NULL),
                     CL_INVALID_ARG_INDEX);
    assert_int_equal(clGetKernelArgInfo(kernel, 0, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, 3, text, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clGetKernelArgInfo(NULL, 0, CL_KERNEL_ARG_NAME, 0, NULL, NULL),
                     CL_INVALID_KERNEL);
    OK(clReleaseKernel(kernel));
}

static void block_info(void **state)
{
    struct rig *rig = *state;
    cl_kernel fixed = create("fixed"), kernel = create("pointers");
    for (cl_uint i = 0; i < rig->device_count; i++) {
        cl_device_id device = rig->devices[i];
        size_t size, most, fixed_size[3], multiple;
        cl_ulong local, private;
        OK(clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
        OK(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size,
                                    NULL));
        assert_int_equal(size, most); /* it needs few registers */
        OK(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                    sizeof multiple, &multiple, NULL));
        assert_true(multiple == 32 || multiple == 64);
        OK(clGetKernelWorkGroupInfo(fixed, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                    sizeof fixed_size, fixed_size, NULL));
        assert_memory_equal(fixed_size, ((size_t[]){8, 4, 2}), sizeof fixed_size);
        OK(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                    sizeof fixed_size, fixed_size, NULL));
        assert_memory_equal(fixed_size, ((size_t[]){0, 0, 0}), sizeof fixed_size);
        OK(clGetKernelWorkGroupInfo(fixed, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local,
                                    NULL));
        assert_in_range(local, 1, 64 * 4); /* unused arguments may have been removed */
        OK(clSetKernelArg(kernel, 2, 100, NULL));
        OK(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local,
                                    NULL));
        assert_int_equal(local, 100);
        OK(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private,
                                    &private, NULL));
        assert_int_equal(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_GLOBAL_WORK_SIZE,
                                                  sizeof fixed_size, fixed_size, NULL),
                         CL_INVALID_VALUE);
        assert_int_equal(clGetKernelWorkGroupInfo(kernel, device, 0, 0, NULL, NULL),
                         CL_INVALID_VALUE);
    }
    size_t size;
    assert_int_equal(
        clGetKernelWorkGroupInfo(kernel, NULL, CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size, NULL),
        rig->device_count == 1 ? CL_SUCCESS : CL_INVALID_DEVICE);
    assert_int_equal(clGetKernelWorkGroupInfo(kernel, (cl_device_id)rig->context,
                                              CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, NULL),
                     CL_INVALID_DEVICE);
    assert_int_equal(
        clGetKernelWorkGroupInfo(NULL, rig->devices[0], CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, NULL),
        CL_INVALID_KERNEL);
    OK(clReleaseKernel(fixed));
    OK(clReleaseKernel(kernel));
}

static void CL_CALLBACK went(cl_mem mem, void *user)
{
    ++*(int *)user;
}

/* An argument is no reference (clSetKernelArg says so), but a command that uses it is. */
static void arguments_do_not_hold_buffers(void **state)
{
    struct rig *rig = *state;
    cl_int status, gone = 0, seen[8] = {0};
    cl_kernel kernel = create("fixed");
    cl_mem out = rig_buffer(rig, 0, 64 * sizeof(cl_int), NULL);
    cl_mem other = rig_buffer(rig, 0, 64 * sizeof(cl_int), NULL);
    cl_event gate = clCreateUserEvent(rig->context, &status);
    const size_t size[] = {8, 4, 2};
    OK(clSetMemObjectDestructorCallback(out, went, &gone));
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 3, NULL, size, size, 1, &gate, NULL));
    OK(clReleaseMemObject(out));
    assert_int_equal(gone, 0);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clFinish(rig->queue));
    assert_int_equal(gone, 1);
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 3, NULL, size, size, 0, NULL, NULL),
                     CL_INVALID_KERNEL_ARGS);
    OK(clSetKernelArg(kernel, 0, sizeof other, &other));
    OK(clSetKernelArg(kernel, 0, sizeof other, &other));
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 3, NULL, size, size, 0, NULL, NULL));
    rig_read(rig, other, seen, 0, sizeof seen);
    assert_int_equal(seen[0], 1);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(other));
    OK(clReleaseEvent(gate));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(pointers),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(images_and_samplers),
        cmocka_unit_test(creation),
        cmocka_unit_test(info),
        cmocka_unit_test(argument_info),
        cmocka_unit_test(block_info),
        cmocka_unit_test(arguments_do_not_hold_buffers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
