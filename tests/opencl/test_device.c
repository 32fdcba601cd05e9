/*
 * What devices tell: every query of OpenCL 1.2 answers with its type's size and refuses less, and
 * the numbers are those of the machines in HEDDLE_MACHINE, as the library says them.
 */
#include "cl.h"

#include <heddle/heddle.h>
#include <stdio.h>

enum form {
    WORD,
    TEXT,
    LIST
};

static const struct question {
    cl_device_info name;
    enum form form;
    size_t size; /* of a word; of an element of a list */
} questions[] = {
    {CL_DEVICE_TYPE, WORD, sizeof(cl_device_type)},
    {CL_DEVICE_VENDOR_ID, WORD, sizeof(cl_uint)},
    {CL_DEVICE_MAX_COMPUTE_UNITS, WORD, sizeof(cl_uint)},
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, WORD, sizeof(cl_uint)},
    {CL_DEVICE_MAX_WORK_ITEM_SIZES, LIST, 3 * sizeof(size_t)},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, WORD, sizeof(size_t)},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, WORD, sizeof(cl_uint)},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, WORD, sizeof(cl_uint)},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, WORD, sizeof(cl_uint)},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, WORD, sizeof(cl_uint)},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, WORD, sizeof(cl_uint)},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, WORD, sizeof(cl_uint)},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, WORD, sizeof(cl_uint)},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, WORD, sizeof(cl_uint)},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, WORD, sizeof(cl_uint)},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, WORD, sizeof(cl_uint)},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, WORD, sizeof(cl_uint)},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, WORD, sizeof(cl_uint)},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, WORD, sizeof(cl_uint)},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, WORD, sizeof(cl_uint)},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, WORD, sizeof(cl_uint)},
    {CL_DEVICE_ADDRESS_BITS, WORD, sizeof(cl_uint)},
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, WORD, sizeof(cl_ulong)},
    {CL_DEVICE_IMAGE_SUPPORT, WORD, sizeof(cl_bool)},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, WORD, sizeof(cl_uint)},
    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, WORD, sizeof(cl_uint)},
    {CL_DEVICE_IMAGE2D_MAX_WIDTH, WORD, sizeof(size_t)},
    {CL_DEVICE_IMAGE2D_MAX_HEIGHT, WORD, sizeof(size_t)},
    {CL_DEVICE_IMAGE3D_MAX_WIDTH, WORD, sizeof(size_t)},
    {CL_DEVICE_IMAGE3D_MAX_HEIGHT, WORD, sizeof(size_t)},
    {CL_DEVICE_IMAGE3D_MAX_DEPTH, WORD, sizeof(size_t)},
    {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, WORD, sizeof(size_t)},
    {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, WORD, sizeof(size_t)},
    {CL_DEVICE_MAX_SAMPLERS, WORD, sizeof(cl_uint)},
    {CL_DEVICE_MAX_PARAMETER_SIZE, WORD, sizeof(size_t)},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, WORD, sizeof(cl_uint)},
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, WORD, sizeof(cl_uint)},
    {CL_DEVICE_SINGLE_FP_CONFIG, WORD, sizeof(cl_device_fp_config)},
    {CL_DEVICE_DOUBLE_FP_CONFIG, WORD, sizeof(cl_device_fp_config)},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, WORD, sizeof(cl_device_mem_cache_type)},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, WORD, sizeof(cl_uint)},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, WORD, sizeof(cl_ulong)},
    {CL_DEVICE_GLOBAL_MEM_SIZE, WORD, sizeof(cl_ulong)},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, WORD, sizeof(cl_ulong)},
    {CL_DEVICE_MAX_CONSTANT_ARGS, WORD, sizeof(cl_uint)},
    {CL_DEVICE_LOCAL_MEM_TYPE, WORD, sizeof(cl_device_local_mem_type)},
    {CL_DEVICE_LOCAL_MEM_SIZE, WORD, sizeof(cl_ulong)},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, WORD, sizeof(cl_bool)},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, WORD, sizeof(cl_bool)},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, WORD, sizeof(size_t)},
    {CL_DEVICE_ENDIAN_LITTLE, WORD, sizeof(cl_bool)},
    {CL_DEVICE_AVAILABLE, WORD, sizeof(cl_bool)},
    {CL_DEVICE_COMPILER_AVAILABLE, WORD, sizeof(cl_bool)},
    {CL_DEVICE_LINKER_AVAILABLE, WORD, sizeof(cl_bool)},
    {CL_DEVICE_EXECUTION_CAPABILITIES, WORD, sizeof(cl_device_exec_capabilities)},
    {CL_DEVICE_QUEUE_PROPERTIES, WORD, sizeof(cl_command_queue_properties)},
    {CL_DEVICE_BUILT_IN_KERNELS, TEXT, 0},
    {CL_DEVICE_PLATFORM, WORD, sizeof(cl_platform_id)},
    {CL_DEVICE_NAME, TEXT, 0},
    {CL_DEVICE_VENDOR, TEXT, 0},
    {CL_DRIVER_VERSION, TEXT, 0},
    {CL_DEVICE_PROFILE, TEXT, 0},
    {CL_DEVICE_VERSION, TEXT, 0},
    {CL_DEVICE_OPENCL_C_VERSION, TEXT, 0},
    {CL_DEVICE_EXTENSIONS, TEXT, 0},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, WORD, sizeof(size_t)},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, WORD, sizeof(cl_bool)},
    {CL_DEVICE_PARENT_DEVICE, WORD, sizeof(cl_device_id)},
    {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, WORD, sizeof(cl_uint)},
    {CL_DEVICE_PARTITION_PROPERTIES, LIST, sizeof(cl_device_partition_property)},
    {CL_DEVICE_PARTITION_AFFINITY_DOMAIN, WORD, sizeof(cl_device_affinity_domain)},
    {CL_DEVICE_PARTITION_TYPE, LIST, sizeof(cl_device_partition_property)},
    {CL_DEVICE_REFERENCE_COUNT, WORD, sizeof(cl_uint)},
};

static void asked(cl_device_id device, const struct question *question)
{
    unsigned char value[4097];
    size_t size = 0;
    assert_cl(clGetDeviceInfo(device, question->name, 0, NULL, &size));
    assert_in_range(size, question->form == TEXT ? 1 : question->size, sizeof value - 1);
    if (question->form != TEXT)
        assert_int_equal(size, question->size);
    memset(value, 0xa5, sizeof value);
    assert_cl(clGetDeviceInfo(device, question->name, size, value, NULL));
    assert_int_equal(value[size], 0xa5);
    if (question->form == TEXT)
        assert_int_equal(strlen((char *)value) + 1, size);
    size_t again = 0;
    assert_cl(clGetDeviceInfo(device, question->name, sizeof value, value, &again));
    assert_int_equal(again, size);
    /* Too small for it: nothing is written. */
    memset(value, 0xa5, sizeof value);
    assert_int_equal(clGetDeviceInfo(device, question->name, size - 1, value, NULL),
                     CL_INVALID_VALUE);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(value[i], 0xa5);
}

static void every_query_answers(void **state)
{
    const struct world *world = *state;
    for (cl_uint d = 0; d < world->device_count; d++)
        for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
            asked(world->devices[d], &questions[i]);
    assert_int_equal(clGetDeviceInfo(world->device, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceInfo(world->device, 0xffffffff, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceInfo(NULL, CL_DEVICE_TYPE, 0, NULL, NULL), CL_INVALID_DEVICE);
    assert_int_equal(clGetDeviceInfo((cl_device_id)world->context, CL_DEVICE_TYPE, 0, NULL, NULL),
                     CL_INVALID_DEVICE);
}

static uint64_t number(cl_device_id device, cl_device_info name)
{
    uint64_t value = 0; /* little-endian, as everything here */
    assert_cl(clGetDeviceInfo(device, name, sizeof value, &value, NULL));
    return value;
}

static void text(cl_device_id device, cl_device_info name, char buffer[4096])
{
    assert_cl(clGetDeviceInfo(device, name, 4096, buffer, NULL));
}

static void is_machine(cl_device_id device, const char *machine)
{
    struct hd_config *config = hd_config_create();
    struct hd_machine_info info;
    char buffer[4096];
    assert_true(hd_config_load(config, machine, NULL));
    assert_true(hd_config_info(config, &info, NULL));
    text(device, CL_DEVICE_NAME, buffer);
    assert_string_equal(buffer, machine);
    assert_int_equal(number(device, CL_DEVICE_TYPE), CL_DEVICE_TYPE_GPU);
    assert_int_equal(number(device, CL_DEVICE_MAX_COMPUTE_UNITS), info.cores);
    /* Some is kept for the driver, and buffers are as large as the largest allocation allows. */
    uint64_t whole = number(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    uint64_t few = 4 * info.allocation_bytes;
    assert_true(whole < info.memory_bytes || whole == few);
    assert_true(whole >= info.memory_bytes / 16 * 15 || whole == few);
    assert_true(number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE) <= info.allocation_bytes);
    assert_int_equal(number(device, CL_DEVICE_LOCAL_MEM_SIZE), info.block_shared_bytes);
    assert_int_equal(number(device, CL_DEVICE_LOCAL_MEM_TYPE), CL_LOCAL);
    assert_in_range(number(device, CL_DEVICE_MAX_CLOCK_FREQUENCY), (uint64_t)(info.core_mhz - 0.5),
                    (uint64_t)(info.core_mhz + 0.5));
    uint64_t block = info.lanes == 64 && info.block_threads > 256 ? 256 : info.block_threads;
    assert_int_equal(number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE), block);
    size_t sizes[3] = {0};
    assert_cl(clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL));
    assert_int_equal(sizes[0], block);
    assert_int_equal(sizes[2], block);
    uint64_t cache = info.l2_bytes ? info.l2_bytes : info.l1_bytes;
    assert_int_equal(number(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE), cache);
    assert_int_equal(number(device, CL_DEVICE_GLOBAL_MEM_CACHE_TYPE),
                     cache ? CL_READ_WRITE_CACHE : CL_NONE);
    if (cache)
        assert_int_equal(number(device, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE), info.line_bytes);
    assert_int_equal(number(device, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE), info.lanes);
    text(device, CL_DEVICE_PROFILE, buffer);
    assert_string_equal(buffer,
                        info.block_shared_bytes < 32768 ? "EMBEDDED_PROFILE" : "FULL_PROFILE");
    assert_int_equal(!!(number(device, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_DENORM),
                     info.lanes != 64);
    hd_config_destroy(config);
}

static void devices_are_the_machines(void **state)
{
    const struct world *world = *state;
    char names[256], *rest = names, *name;
    const char *value = getenv("HEDDLE_MACHINE");
    snprintf(names, sizeof names, "%s", value ? value : "generic");
    cl_uint count = 0;
    while ((name = strsep(&rest, ",")))
        is_machine(world->devices[count++], name);
    assert_int_equal(world->device_count, count);
}

/* OpenCL 1.2, table 4.3 for a full profile, chapter 10 for an embedded one. */
static void asks_enough_of_each(void **state)
{
    const struct world *world = *state;
    for (cl_uint i = 0; i < world->device_count; i++) {
        cl_device_id device = world->devices[i];
        char profile[4096];
        text(device, CL_DEVICE_PROFILE, profile);
        bool full = !strcmp(profile, "FULL_PROFILE");
        assert_true(number(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS) >= 3);
        assert_true(number(device, CL_DEVICE_MAX_PARAMETER_SIZE) >= (full ? 1024 : 256));
        assert_true(number(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE) >= (full ? 65536 : 1024));
        assert_true(number(device, CL_DEVICE_MAX_CONSTANT_ARGS) >= (full ? 8 : 4));
        assert_true(number(device, CL_DEVICE_LOCAL_MEM_SIZE) >= (full ? 32768 : 1024));
        assert_true(number(device, CL_DEVICE_PRINTF_BUFFER_SIZE) >= (full ? 1 << 20 : 1024));
        assert_true(number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE) * 4 >=
                    number(device, CL_DEVICE_GLOBAL_MEM_SIZE));
        cl_device_fp_config least = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
        assert_int_equal(number(device, CL_DEVICE_SINGLE_FP_CONFIG) & least, least);
    }
}

static void by_type(void **state)
{
    const struct world *world = *state;
    const struct {
        cl_device_type type;
        cl_int status;
        cl_uint count;
    } cases[] = {
        {CL_DEVICE_TYPE_ALL, CL_SUCCESS, world->device_count},
        {CL_DEVICE_TYPE_GPU, CL_SUCCESS, world->device_count},
        {CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_CPU, CL_SUCCESS, world->device_count},
        {CL_DEVICE_TYPE_DEFAULT, CL_SUCCESS, 1},
        {CL_DEVICE_TYPE_CPU, CL_DEVICE_NOT_FOUND, 0},
        {CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_NOT_FOUND, 0},
        {CL_DEVICE_TYPE_CUSTOM, CL_DEVICE_NOT_FOUND, 0},
        {0, CL_INVALID_DEVICE_TYPE, 77},
        {1 << 10, CL_INVALID_DEVICE_TYPE, 77},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cl_uint count = 77;
        assert_int_equal(clGetDeviceIDs(world->platform, cases[i].type, 0, NULL, &count),
                         cases[i].status);
        assert_int_equal(count, cases[i].count);
    }
    cl_device_id device;
    assert_int_equal(clGetDeviceIDs(world->platform, CL_DEVICE_TYPE_ALL, 0, &device, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceIDs(world->platform, CL_DEVICE_TYPE_ALL, 1, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(
        clGetDeviceIDs((cl_platform_id)world->context, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
        CL_INVALID_PLATFORM);
}

static void parts(void **state)
{
    const struct world *world = *state;
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_uint count = 0;
    cl_device_id part;
    assert_int_equal(clCreateSubDevices(world->device, equally, 1, &part, &count),
                     CL_INVALID_VALUE);
    assert_int_equal(clCreateSubDevices(world->device, NULL, 1, &part, &count), CL_INVALID_VALUE);
    assert_int_equal(clCreateSubDevices((cl_device_id)world->context, equally, 1, &part, &count),
                     CL_INVALID_DEVICE);
    for (int i = 0; i < 3; i++)
        assert_cl(clReleaseDevice(world->device));
    assert_cl(clRetainDevice(world->device));
    assert_int_equal(number(world->device, CL_DEVICE_REFERENCE_COUNT), 1);
    assert_int_equal(clRetainDevice((cl_device_id)world->queue), CL_INVALID_DEVICE);
    assert_int_equal(clReleaseDevice(NULL), CL_INVALID_DEVICE);
}

/* What is claimed of numbers is so: a product, a sum and a fused one whose results are denormal. */
static void denormals_are_as_claimed(void **state)
{
    const struct world *world = *state;
    const char *source = "kernel void tiny(global float *f, global double *d)\n"
                         "{\n"
                         "    f[0] = f[1] * f[2];\n"
                         "    f[3] = f[4] + f[5];\n"
                         "    f[6] = fma(f[1], f[2], f[7]);\n"
                         "    d[0] = d[1] * d[2];\n"
                         "}\n";
    cl_int status;
    cl_program program = clCreateProgramWithSource(world->context, 1, &source, NULL, &status);
    assert_cl(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "tiny", &status);
    assert_cl(status);
    cl_mem buffers[] = {new_buffer(world, 64), new_buffer(world, 64)};
    for (cl_uint i = 0; i < 2; i++)
        assert_cl(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]));
    for (cl_uint i = 0; i < world->device_count; i++) {
        float f[8] = {0, 1e-20f, 1e-20f, 0, 1.5e-38f, -1.4e-38f, 0, 1e-39f};
        double d[3] = {0, 1e-160, 1e-160};
        cl_command_queue queue = world_queue(world, i, 0);
        const size_t one = 1;
        assert_cl(clEnqueueWriteBuffer(queue, buffers[0], CL_TRUE, 0, sizeof f, f, 0, NULL, NULL));
        assert_cl(clEnqueueWriteBuffer(queue, buffers[1], CL_TRUE, 0, sizeof d, d, 0, NULL, NULL));
        assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
        assert_cl(clEnqueueReadBuffer(queue, buffers[0], CL_TRUE, 0, sizeof f, f, 0, NULL, NULL));
        assert_cl(clEnqueueReadBuffer(queue, buffers[1], CL_TRUE, 0, sizeof d, d, 0, NULL, NULL));
        bool kept = number(world->devices[i], CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_DENORM;
        assert_int_equal(f[0] != 0, kept);
        assert_int_equal(f[3] != 0, kept);
        assert_int_equal(f[6] != 0, kept);
        assert_true(d[0] != 0);
        assert_cl(clReleaseCommandQueue(queue));
    }
    for (int i = 0; i < 2; i++)
        assert_cl(clReleaseMemObject(buffers[i]));
    assert_cl(clReleaseKernel(kernel));
    assert_cl(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_query_answers),
        cmocka_unit_test(devices_are_the_machines),
        cmocka_unit_test(asks_enough_of_each),
        cmocka_unit_test(by_type),
        cmocka_unit_test(parts),
        cmocka_unit_test(denormals_are_as_claimed),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
