/*
 * Launches: numbers of work-items with offsets in up to three dimensions, local sizes given and
 * chosen, local arguments, arguments as they were, times, faults and going on, every error.
 */
#include "rig.h"

static const char source[] =
    "kernel void ids(global ulong *out, uint count)\n"
    "{\n"
    "    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - "
    "get_global_offset(1),\n"
    "           z = get_global_id(2) - get_global_offset(2);\n"
    "    size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;\n"
    "    global ulong *to = out + 32 * at;\n"
    "    if (at >= count) return;\n"
    "    for (int i = 0; i < 3; i++) {\n"
    "        to[i] = get_global_id(i); to[3 + i] = get_local_id(i); to[6 + i] = get_group_id(i);\n"
    "        to[9 + i] = get_global_size(i); to[12 + i] = get_local_size(i);\n"
    "        to[15 + i] = get_num_groups(i); to[18 + i] = get_global_offset(i);\n"
    "    }\n"
    "    to[21] = get_work_dim();\n"
    "    to[22] += 1;\n"
    "}\n"
    "#define ASK(to, d) (to)[0] = get_global_id(d); (to)[1] = get_local_id(d); \\\n"
    "    (to)[2] = get_group_id(d); (to)[3] = get_global_offset(d); \\\n"
    "    (to)[4] = get_global_size(d); (to)[5] = get_local_size(d); (to)[6] = get_num_groups(d)\n"
    "kernel void dimension(global ulong *out, uint d)\n"
    "{\n"
    "    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - "
    "get_global_offset(1);\n"
    "    global ulong *to = out + 21 * (y * get_global_size(0) + x);\n"
    "    ASK(to, d);\n"
    "    ASK(to + 7, 3);\n"
    "    ASK(to + 14, ~0u);\n"
    "}\n"
    "kernel void sizes(global ulong *out)\n"
    "{\n"
    "    if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)\n"
    "        for (int i = 0; i < 3; i++) out[i] = get_local_size(i);\n"
    "    atomic_inc((global uint *)(out + 3));\n"
    "}\n"
    "kernel void rows(global uint *out)\n"
    "{\n"
    "    atomic_add(out, (uint)get_group_id(1) & 7);\n"
    "}\n"
    "kernel void locals(global uint *out, local char *a, local double *b, local short *c)\n"
    "{\n"
    "    local uint own[32];\n"
    "    uint i = get_local_id(0), n = get_local_size(0);\n"
    "    own[i] = i; a[i] = i + 1; b[i] = i + 0.5; c[i] = i + 100;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    uint k = n - 1 - i;\n"
    "    out[get_global_id(0)] = own[k] + 1000 * a[k] + (uint)(2 * b[k]) * 1000000 + c[k];\n"
    "    if (!i) {\n"
    "        out[get_global_size(0)] = (uint)(uintptr_t)a % 16 + (uint)(uintptr_t)b % 16 +\n"
    "                                  (uint)(uintptr_t)c % 16;\n"
    "    }\n"
    "}\n"
    "kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }\n"
    "kernel void stray(global uint *out, uint at) { out[at] = 1; out[0] = 2; }\n"
    "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(global uint *out)\n"
    "{ out[get_global_id(0) + 8 * get_global_id(1)] = 1; }\n"
    "kernel void deep(local uint *a, global uint *out) { a[0] = 1; out[0] = a[0]; }\n";

static cl_program program;

static int setup(void **state)
{
    rig_setup(state);
    program = rig_build(((struct rig *)*state)->context, source, "");
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

struct range {
    cl_uint dims;
    size_t offset[3], global[3], local[3];
};

static void check_item(const struct range *r, const uint64_t *item, const size_t *at)
{
    for (cl_uint i = 0; i < 3; i++) {
        bool used = i < r->dims;
        size_t offset = used ? r->offset[i] : 0, local = used ? r->local[i] : 1;
        size_t global = used ? r->global[i] : 1;
        assert_int_equal(item[i], at[i] + offset);
        assert_int_equal(item[3 + i], at[i] % local);
        assert_int_equal(item[6 + i], at[i] / local);
        assert_int_equal(item[9 + i], global);
        assert_int_equal(item[12 + i], local);
        assert_int_equal(item[15 + i], global / local);
        assert_int_equal(item[18 + i], offset);
    }
    assert_int_equal(item[21], r->dims);
    assert_int_equal(item[22], 1);
}

/* Offsets beyond 32 bits, which cannot be passed to Southern Islands code, nor where size_t has 32
 * bits. */
static bool is_far(const struct range *r)
{
    return (r->offset[0] | r->offset[1] | r->offset[2]) >> 32;
}

static bool refuses_far(cl_device_id device)
{
    char name[64];
    cl_uint bits;
    OK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL));
    OK(clGetDeviceInfo(device, CL_DEVICE_ADDRESS_BITS, sizeof bits, &bits, NULL));
    return strstr(name, "64") || bits == 32;
}

static void check_range(struct rig *rig, cl_uint device, cl_kernel kernel, const struct range *r)
{
    size_t g[3] = {1, 1, 1};
    for (cl_uint i = 0; i < r->dims; i++)
        g[i] = r->global[i];
    cl_uint count = (cl_uint)(g[0] * g[1] * g[2]);
    size_t bytes = (size_t)count * 32 * sizeof(uint64_t);
    uint64_t *seen = calloc(1, bytes);
    cl_mem out = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, bytes, seen);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clSetKernelArg(kernel, 1, sizeof count, &count));
    OK(clEnqueueNDRangeKernel(rig->queues[device], kernel, r->dims, r->offset, r->global, r->local,
                              0, NULL, NULL));
    OK(clFinish(rig->queues[device]));
    rig_read(rig, out, seen, 0, bytes);
    for (size_t z = 0, i = 0; z < g[2]; z++)
        for (size_t y = 0; y < g[1]; y++)
            for (size_t x = 0; x < g[0]; x++, i++)
                check_item(r, seen + 32 * i, (const size_t[]){x, y, z});
    OK(clReleaseMemObject(out));
    free(seen);
}

static void ids(void **state)
{
    struct rig *rig = *state;
    static const struct range ranges[] = {
        {1, {0}, {100}, {100}},
        {1, {7}, {96}, {3}},
        {1, {(size_t)5 << 32}, {64}, {64}},
        {2, {0, 0}, {12, 10}, {4, 5}},
        {2, {3, 1000}, {40, 6}, {40, 1}},
        {2, {0, (size_t)1 << 40}, {2, 2}, {1, 2}},
        {3, {1, 2, 3}, {6, 4, 2}, {3, 2, 1}},
        {3, {9, 0, 70000}, {5, 7, 3}, {5, 1, 3}},
        {3, {0, 0, (size_t)3 << 33}, {1, 1, 64}, {1, 1, 64}},
        {3, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}},
    };
    cl_kernel kernel = create("ids");
    cl_uint none = 0;
    OK(clSetKernelArg(kernel, 0, sizeof(cl_mem), NULL));
    OK(clSetKernelArg(kernel, 1, sizeof none, &none));
    for (cl_uint device = 0; device < rig->device_count; device++)
        for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
            if (!is_far(&ranges[i]) || !refuses_far(rig->devices[device])) {
                check_range(rig, device, kernel, &ranges[i]);
                continue;
            }
            OK(clSetKernelArg(kernel, 0, sizeof(cl_mem), NULL));
            assert_int_equal(clEnqueueNDRangeKernel(rig->queues[device], kernel, ranges[i].dims,
                                                    ranges[i].offset, ranges[i].global, NULL, 0,
                                                    NULL, NULL),
                             CL_INVALID_GLOBAL_OFFSET);
        }
    OK(clReleaseKernel(kernel));
}

/* Whatever the dimension is known to be: where there is none, numbers are 0 and sizes 1. */
static void dimensions(void **state)
{
    struct rig *rig = *state;
    enum {
        ASKED = 7,
        ITEMS = 6 * 4
    };
    static const size_t offset[] = {5, 7}, global[] = {6, 4}, local[] = {3, 2};
    static const uint64_t none[ASKED] = {0, 0, 0, 0, 1, 1, 1};
    cl_kernel kernel = create("dimension");
    uint64_t seen[ITEMS][3][ASKED];
    cl_mem out = rig_buffer(rig, 0, sizeof seen, NULL);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    for (cl_uint device = 0; device < rig->device_count; device++)
        for (cl_uint d = 0; d < 6; d++) {
            cl_uint asked = d < 5 ? d : UINT32_MAX;
            OK(clSetKernelArg(kernel, 1, sizeof asked, &asked));
            OK(clEnqueueNDRangeKernel(rig->queues[device], kernel, 2, offset, global, local, 0,
                                      NULL, NULL));
            OK(clFinish(rig->queues[device]));
            rig_read(rig, out, seen, 0, sizeof seen);
            for (size_t i = 0; i < ITEMS; i++) {
                size_t at = d == 0 ? i % global[0] : i / global[0];
                uint64_t there[ASKED] = {at + offset[d % 2],
                                         at % local[d % 2],
                                         at / local[d % 2],
                                         offset[d % 2],
                                         global[d % 2],
                                         local[d % 2],
                                         global[d % 2] / local[d % 2]};
                assert_memory_equal(seen[i][0], d < 2 ? there : none, sizeof there);
                assert_memory_equal(seen[i][1], none, sizeof none);
                assert_memory_equal(seen[i][2], none, sizeof none);
            }
        }
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

/* What is chosen divides the range, is whole warps where that can be, and as large as can be. */
static void chosen(void **state)
{
    struct rig *rig = *state;
    cl_kernel kernel = create("sizes");
    cl_mem out = rig_buffer(rig, 0, 4 * sizeof(uint64_t), NULL);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    static const struct range ranges[] = {
        {1, {0}, {4096}},    {1, {0}, {100}},      {1, {0}, {1009}},       {1, {0}, {96}},
        {1, {0}, {1}},       {2, {0}, {1000, 3}},  {2, {0}, {31, 32}},     {2, {0}, {7, 11}},
        {3, {0}, {8, 8, 8}}, {3, {0}, {5, 6, 64}}, {3, {0}, {1024, 1, 1}}, {2, {0}, {3, 1024}},
    };
    for (cl_uint device = 0; device < rig->device_count; device++) {
        size_t most, lanes;
        OK(clGetKernelWorkGroupInfo(kernel, rig->devices[device], CL_KERNEL_WORK_GROUP_SIZE,
                                    sizeof most, &most, NULL));
        OK(clGetKernelWorkGroupInfo(kernel, rig->devices[device],
                                    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof lanes,
                                    &lanes, NULL));
        for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
            size_t g[3] = {1, 1, 1}, best = 0, whole = 0;
            uint64_t seen[4] = {0};
            memcpy(g, ranges[i].global, ranges[i].dims * sizeof *g);
            rig_write(rig, out, seen, 0, sizeof seen);
            OK(clEnqueueNDRangeKernel(rig->queues[device], kernel, ranges[i].dims, NULL, g, NULL, 0,
                                      NULL, NULL));
            OK(clFinish(rig->queues[device]));
            rig_read(rig, out, seen, 0, sizeof seen);
            assert_int_equal(seen[3], g[0] * g[1] * g[2]);
            for (size_t x = 1; x <= g[0]; x++)
                for (size_t y = 1; y <= g[1]; y++)
                    for (size_t z = 1; z <= g[2]; z++) {
                        size_t items = x * y * z;
                        if (items > most || g[0] % x || g[1] % y || g[2] % z)
                            continue;
                        best = items > best ? items : best;
                        whole = items % lanes == 0 && items > whole ? items : whole;
                    }
            assert_int_equal(seen[0] * seen[1] * seen[2], whole ? whole : best);
            for (int k = 0; k < 3; k++)
                assert_int_equal(g[k] % seen[k], 0);
        }
    }
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

/* More blocks in the second dimension than 16 bits count. */
static void many_rows(void **state)
{
    struct rig *rig = *state;
    enum {
        ROWS = 66000
    };
    uint32_t sum = 0, seen = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        sum += i & 7;
    cl_kernel kernel = create("rows");
    cl_mem out = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof seen, &seen);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 2, NULL, (size_t[]){1, ROWS}, (size_t[]){1, 1}, 0,
                              NULL, NULL));
    rig_read(rig, out, &seen, 0, sizeof seen);
    assert_int_equal(seen, sum);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

/* Three local arguments of odd sizes beside the kernel's own: none meets another. */
static void locals(void **state)
{
    struct rig *rig = *state;
    enum {
        N = 32,
        GLOBAL = 3 * N
    };
    uint32_t seen[GLOBAL + 1];
    cl_kernel kernel = create("locals");
    cl_mem out = rig_buffer(rig, 0, sizeof seen, NULL);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    for (int order = 0; order < 2; order++) {
        OK(clSetKernelArg(kernel, 1, order ? 33 : N, NULL));
        OK(clSetKernelArg(kernel, 2, N * sizeof(double), NULL));
        OK(clSetKernelArg(kernel, 3, order ? N * 2 + 2 : N * 2, NULL));
        for (cl_uint device = 0; device < rig->device_count; device++) {
            const size_t global = GLOBAL, local = N;
            memset(seen, 0xff, sizeof seen); /* what a launch that fails would leave */
            rig_write(rig, out, seen, 0, sizeof seen);
            OK(clEnqueueNDRangeKernel(rig->queues[device], kernel, 1, NULL, &global, &local, 0,
                                      NULL, NULL));
            OK(clFinish(rig->queues[device]));
            rig_read(rig, out, seen, 0, sizeof seen);
            for (uint32_t i = 0; i < GLOBAL; i++) {
                uint32_t k = N - 1 - i % N;
                assert_int_equal(seen[i], k + 1000 * (k + 1) + (2 * k + 1) * 1000000 + k + 100);
            }
            assert_int_equal(seen[GLOBAL], 0); /* aligned */
        }
    }
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

/* All the local memory there is can be had, and no more. */
static void all_local(void **state)
{
    struct rig *rig = *state;
    cl_ulong bytes;
    const size_t one = 1;
    uint32_t seen = 0;
    cl_kernel kernel = create("deep");
    cl_mem out = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof seen, &seen);
    OK(clGetDeviceInfo(rig->devices[0], CL_DEVICE_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL));
    OK(clSetKernelArg(kernel, 1, sizeof out, &out));
    OK(clSetKernelArg(kernel, 0, bytes, NULL));
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
    rig_read(rig, out, &seen, 0, sizeof seen);
    assert_int_equal(seen, 1);
    OK(clSetKernelArg(kernel, 0, bytes + 1, NULL));
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL),
                     CL_OUT_OF_RESOURCES);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

/* A launch that waits has the arguments of when it was enqueued. */
static void snapshot(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    const size_t one = 1;
    uint32_t zero = 0, value = 5, seen[2];
    cl_kernel kernel = create("add");
    cl_event gate = clCreateUserEvent(rig->context, &status);
    cl_mem first = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof zero, &zero);
    cl_mem second = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof zero, &zero);
    OK(clSetKernelArg(kernel, 0, sizeof first, &first));
    OK(clSetKernelArg(kernel, 1, sizeof value, &value));
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &one, NULL, 1, &gate, NULL));
    value = 70;
    OK(clSetKernelArg(kernel, 1, sizeof value, &value));
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &one, NULL, 1, &gate, NULL));
    OK(clSetKernelArg(kernel, 0, sizeof second, &second));
    OK(clEnqueueTask(rig->queue, kernel, 1, &gate, NULL));
    value = 9999;
    OK(clSetKernelArg(kernel, 1, sizeof value, &value));
    OK(clReleaseKernel(kernel));
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    rig_read(rig, first, &seen[0], 0, 4);
    rig_read(rig, second, &seen[1], 0, 4);
    assert_int_equal(seen[0], 75);
    assert_int_equal(seen[1], 70);
    OK(clReleaseEvent(gate));
    OK(clReleaseMemObject(first));
    OK(clReleaseMemObject(second));
}

static cl_ulong duration(struct rig *rig, cl_kernel kernel, size_t global)
{
    cl_event event;
    cl_ulong start, end;
    cl_command_type type;
    const size_t local = 32;
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &global, &local, 0, NULL, &event));
    OK(clWaitForEvents(1, &event));
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_COMMAND_NDRANGE_KERNEL);
    OK(clReleaseEvent(event));
    return end - start;
}

static void times(void **state)
{
    struct rig *rig = *state;
    enum {
        MANY = 1 << 16
    };
    uint32_t value = 1;
    cl_kernel kernel = create("add");
    cl_mem out = rig_buffer(rig, 0, MANY * sizeof value, NULL);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clSetKernelArg(kernel, 1, sizeof value, &value));
    cl_ulong few = duration(rig, kernel, 32), many = duration(rig, kernel, MANY);
    assert_true(few > 0);
    assert_true(many > 2 * few);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

static int told;

static void CL_CALLBACK tell(const char *text, const void *data, size_t bytes, void *user)
{
    assert_ptr_equal(user, &told);
    assert_non_null(strstr(text, "stray"));
    told++;
}

/* A context of one device with a kernel that writes beyond its buffer. */
struct stray {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem out; /* 16 words, zeros */
};

static struct stray stray_create(struct rig *rig, cl_uint device,
                                 cl_command_queue_properties properties)
{
    cl_int status;
    struct stray stray = {.device = rig->devices[device]};
    uint32_t zeros[16] = {0};
    stray.context = clCreateContext(NULL, 1, &stray.device, tell, &told, &status);
    OK(status);
    stray.queue = clCreateCommandQueue(stray.context, stray.device, properties, &status);
    OK(status);
    stray.kernel = rig_kernel(stray.context, source, "stray");
    stray.out = clCreateBuffer(stray.context, CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros, &status);
    OK(status);
    OK(clSetKernelArg(stray.kernel, 0, sizeof stray.out, &stray.out));
    told = 0;
    return stray;
}

static void stray_destroy(struct stray *stray)
{
    OK(clReleaseMemObject(stray->out));
    OK(clReleaseKernel(stray->kernel));
    OK(clReleaseCommandQueue(stray->queue));
    OK(clReleaseContext(stray->context));
}

static cl_event stray_launch(struct stray *stray, cl_command_queue queue, uint32_t at)
{
    const size_t one = 1;
    cl_event event;
    OK(clSetKernelArg(stray->kernel, 1, sizeof at, &at));
    OK(clEnqueueNDRangeKernel(queue, stray->kernel, 1, NULL, &one, NULL, 0, NULL, &event));
    return event;
}

static cl_int stray_read(struct stray *stray, cl_command_queue queue, uint32_t *seen)
{
    return clEnqueueReadBuffer(queue, stray->out, CL_TRUE, 0, 64, seen, 0, NULL, NULL);
}

static cl_int ended(cl_event event)
{
    cl_int status;
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    OK(clReleaseEvent(event));
    return status;
}

/* A launch beyond its buffer fails all that follows in its queue, and what waits elsewhere. */
static void faults(void **state)
{
    struct rig *rig = *state;
    const cl_int failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    for (cl_uint device = 0; device < rig->device_count; device++) {
        cl_int status;
        cl_event marker;
        uint32_t seen[16] = {0};
        struct stray stray = stray_create(rig, device, 0);
        cl_command_queue other = clCreateCommandQueue(stray.context, stray.device, 0, &status);
        cl_event event = stray_launch(&stray, stray.queue, 16);
        assert_int_equal(clWaitForEvents(1, &event), failed);
        assert_int_equal(told, 1);
        assert_int_equal(ended(stray_launch(&stray, stray.queue, 15)), CL_OUT_OF_RESOURCES);
        assert_int_equal(told, 1); /* it did not run */
        assert_int_equal(stray_read(&stray, stray.queue, seen), CL_OUT_OF_RESOURCES);
        FAILS(CL_OUT_OF_RESOURCES, clEnqueueMapBuffer(stray.queue, stray.out, CL_TRUE, CL_MAP_READ,
                                                      0, 64, 0, NULL, NULL, &why));
        assert_int_equal(clFinish(stray.queue), CL_OUT_OF_RESOURCES);
        /* A blocking call returns the error and so breaks no queue of its own; others do. */
        assert_int_equal(
            clEnqueueReadBuffer(other, stray.out, CL_TRUE, 0, 64, seen, 1, &event, NULL), failed);
        OK(stray_read(&stray, other, seen));
        assert_int_equal(seen[15], 0);
        OK(clEnqueueMarkerWithWaitList(other, 1, &event, &marker));
        assert_int_equal(ended(marker), failed);
        assert_int_equal(stray_read(&stray, other, seen), failed);
        assert_int_equal(clFinish(other), CL_OUT_OF_RESOURCES);
        assert_int_equal(ended(event), CL_OUT_OF_RESOURCES);
        /* In a new queue the program continues. */
        OK(clReleaseCommandQueue(other));
        other = clCreateCommandQueue(stray.context, stray.device, 0, &status);
        assert_int_equal(ended(stray_launch(&stray, other, 15)), CL_COMPLETE);
        OK(stray_read(&stray, other, seen));
        assert_int_equal(seen[15], 1);
        assert_int_equal(seen[0], 2);
        OK(clFinish(other));
        OK(clReleaseCommandQueue(other));
        stray_destroy(&stray);
    }
}

/* Out of order only what waits for all commands, or for a barrier that did, depends on a fault. */
static void faults_out_of_order(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    cl_event marker;
    uint32_t seen[16] = {0};
    struct stray stray = stray_create(rig, 0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_event gate = clCreateUserEvent(stray.context, &status), early;
    OK(status);
    OK(clEnqueueMarkerWithWaitList(stray.queue, 1, &gate, NULL));
    OK(clEnqueueMarkerWithWaitList(stray.queue, 0, NULL, &early));
    assert_int_equal(ended(stray_launch(&stray, stray.queue, 16)), CL_OUT_OF_RESOURCES);
    assert_int_equal(ended(stray_launch(&stray, stray.queue, 15)), CL_COMPLETE);
    OK(stray_read(&stray, stray.queue, seen));
    assert_int_equal(seen[15], 1);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    assert_int_equal(ended(early), CL_COMPLETE); /* it was enqueued before the fault */
    OK(clEnqueueMarkerWithWaitList(stray.queue, 0, NULL, &marker));
    assert_int_equal(ended(marker), CL_OUT_OF_RESOURCES);
    assert_int_equal(ended(stray_launch(&stray, stray.queue, 15)), CL_COMPLETE);
    assert_int_equal(clFinish(stray.queue), CL_OUT_OF_RESOURCES);
    OK(clEnqueueBarrierWithWaitList(stray.queue, 0, NULL, NULL));
    assert_int_equal(ended(stray_launch(&stray, stray.queue, 15)), CL_OUT_OF_RESOURCES);
    assert_int_equal(stray_read(&stray, stray.queue, seen), CL_OUT_OF_RESOURCES);
    OK(clReleaseEvent(gate));
    stray_destroy(&stray);
}

/* A buffer's part is where it should be, and its end is the buffer's. */
static void parts(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    const size_t count = 32;
    uint32_t seen[128] = {0}, value = 3;
    cl_buffer_region region = {256, 128};
    cl_kernel kernel = create("add");
    cl_mem buffer = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof seen, seen);
    cl_mem sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    OK(clSetKernelArg(kernel, 0, sizeof sub, &sub));
    OK(clSetKernelArg(kernel, 1, sizeof value, &value));
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL));
    rig_read(rig, buffer, seen, 0, sizeof seen);
    for (int i = 0; i < 128; i++)
        assert_int_equal(seen[i], i >= 64 && i < 96 ? 3 : 0);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(sub));
    OK(clReleaseMemObject(buffer));
}

static cl_int launch(struct rig *rig, cl_kernel kernel, cl_uint dims, const size_t *offset,
                     const size_t *global, const size_t *local)
{
    return clEnqueueNDRangeKernel(rig->queue, kernel, dims, offset, global, local, 0, NULL, NULL);
}

static void required(void **state)
{
    struct rig *rig = *state;
    cl_kernel kernel = create("fixed");
    cl_mem out = rig_buffer(rig, 0, 64 * sizeof(uint32_t), NULL);
    uint32_t zeros[64] = {0}, seen[64];
    rig_write(rig, out, zeros, 0, sizeof zeros);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    const size_t global[3] = {8, 8, 1};
    OK(launch(rig, kernel, 2, NULL, global, (size_t[]){4, 2}));
    rig_read(rig, out, seen, 0, sizeof seen);
    for (int i = 0; i < 64; i++)
        assert_int_equal(seen[i], 1);
    OK(launch(rig, kernel, 3, NULL, global, (size_t[]){4, 2, 1}));
    /* Without a size the required one is taken, if it divides the range and has no more sizes. */
    rig_write(rig, out, zeros, 0, sizeof zeros);
    OK(launch(rig, kernel, 2, NULL, global, NULL));
    rig_read(rig, out, seen, 0, sizeof seen);
    for (int i = 0; i < 64; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(launch(rig, kernel, 2, NULL, (size_t[]){8, 7}, NULL),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(rig, kernel, 2, NULL, (size_t[]){6, 8}, NULL),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(rig, kernel, 1, NULL, global, NULL), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(rig, kernel, 2, NULL, global, (size_t[]){2, 4}),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(rig, kernel, 1, NULL, global, (size_t[]){4}),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueTask(rig->queue, kernel, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

static void CL_CALLBACK native(void *args)
{
    fail();
}

static void wrong(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    const size_t global[3] = {64, 64, 64}, one[3] = {1, 1, 1}, zero[3] = {64, 0, 64};
    size_t most;
    uint32_t value = 0;
    cl_kernel kernel = create("add");
    cl_mem out = rig_buffer(rig, 0, 4 << 20, NULL);
    assert_int_equal(launch(rig, kernel, 1, NULL, global, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    assert_int_equal(launch(rig, kernel, 1, NULL, global, NULL), CL_INVALID_KERNEL_ARGS);
    OK(clSetKernelArg(kernel, 1, sizeof value, &value));
    OK(launch(rig, kernel, 1, NULL, global, NULL));
    OK(clGetDeviceInfo(rig->devices[0], CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));

    assert_int_equal(clEnqueueNDRangeKernel(NULL, kernel, 1, NULL, global, NULL, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(launch(rig, NULL, 1, NULL, global, NULL), CL_INVALID_KERNEL);
    assert_int_equal(launch(rig, (cl_kernel)out, 1, NULL, global, NULL), CL_INVALID_KERNEL);
    assert_int_equal(launch(rig, kernel, 0, NULL, global, NULL), CL_INVALID_WORK_DIMENSION);
    assert_int_equal(launch(rig, kernel, 4, NULL, global, NULL), CL_INVALID_WORK_DIMENSION);
    assert_int_equal(launch(rig, kernel, 1, NULL, NULL, NULL), CL_INVALID_GLOBAL_WORK_SIZE);
    assert_int_equal(launch(rig, kernel, 2, NULL, zero, NULL), CL_INVALID_GLOBAL_WORK_SIZE);
    OK(launch(rig, kernel, 1, NULL, zero, NULL)); /* the second size is ignored */
    assert_int_equal(launch(rig, kernel, 1, (size_t[]){(size_t)-63}, global, NULL),
                     CL_INVALID_GLOBAL_OFFSET);
    assert_int_equal(launch(rig, kernel, 1, NULL, global, zero + 1), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(rig, kernel, 1, NULL, global, (size_t[]){5}),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(rig, kernel, 1, NULL, one, (size_t[]){2}), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(rig, kernel, 3, NULL, global, global), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(rig, kernel, 1, NULL, (size_t[]){4 * most}, (size_t[]){2 * most}),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(
        clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, global, NULL, 1, NULL, NULL),
        CL_INVALID_EVENT_WAIT_LIST);

    cl_context other = clCreateContext(NULL, 1, rig->devices, NULL, NULL, &status);
    cl_command_queue theirs = clCreateCommandQueue(other, rig->devices[0], 0, &status);
    assert_int_equal(clEnqueueNDRangeKernel(theirs, kernel, 1, NULL, global, NULL, 0, NULL, NULL),
                     CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueTask(theirs, kernel, 0, NULL, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueTask(NULL, kernel, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueTask(rig->queue, NULL, 0, NULL, NULL), CL_INVALID_KERNEL);
    OK(clEnqueueTask(rig->queue, kernel, 0, NULL, NULL));
    assert_int_equal(
        clEnqueueNativeKernel(rig->queue, native, NULL, 0, 0, NULL, NULL, 0, NULL, NULL),
        CL_INVALID_OPERATION);
    OK(clReleaseCommandQueue(theirs));
    OK(clReleaseContext(other));
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids),      cmocka_unit_test(dimensions),
        cmocka_unit_test(chosen),   cmocka_unit_test(many_rows),
        cmocka_unit_test(locals),   cmocka_unit_test(all_local),
        cmocka_unit_test(snapshot), cmocka_unit_test(times),
        cmocka_unit_test(faults),   cmocka_unit_test(faults_out_of_order),
        cmocka_unit_test(parts),    cmocka_unit_test(required),
        cmocka_unit_test(wrong),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
