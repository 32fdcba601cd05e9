/*
 * Buffers: flags, sizes, host pointers, sub-buffers, what is told of them, destructors, migration.
 */
#include "rig.h"

#define SIZE 4096

static const cl_mem_flags accesses[] = {CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY};
static const cl_mem_flags hosts[] = {0, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY,
                                     CL_MEM_HOST_NO_ACCESS};
static const cl_mem_flags memories[] = {0, CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR,
                                        CL_MEM_ALLOC_HOST_PTR,
                                        CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR};

#define EACH(item, array) (size_t item = 0; item < sizeof(array) / sizeof *(array); item++)

/* A copy on the device, as the host may have no access to the buffer itself. */
static void content(struct rig *rig, cl_mem buffer, void *to)
{
    cl_mem seen = rig_buffer(rig, 0, SIZE, NULL);
    OK(clEnqueueCopyBuffer(rig->queue, buffer, seen, 0, 0, SIZE, 0, NULL, NULL));
    rig_read(rig, seen, to, 0, SIZE);
    OK(clReleaseMemObject(seen));
}

static void all_flags(void **state)
{
    struct rig *rig = *state;
    uint32_t random = 1;
    static uint8_t host[SIZE], before[SIZE], after[SIZE];
    for
        EACH(a, accesses)
        for
            EACH(h, hosts)
            for
                EACH(m, memories)
                {
                    cl_mem_flags flags = accesses[a] | hosts[h] | memories[m], told;
                    bool given = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
                    rig_noise(&random, host, SIZE);
                    memcpy(before, host, SIZE);
                    cl_mem buffer = rig_buffer(rig, flags, SIZE, given ? host : NULL);
                    if (!(flags & CL_MEM_USE_HOST_PTR))
                        memset(host, 0, SIZE); /* it was copied */
                    OK(clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof told, &told, NULL));
                    assert_int_equal(told, flags);
                    if (given) {
                        content(rig, buffer, after);
                        assert_memory_equal(after, before, SIZE);
                    }
                    cl_int may_read = flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY)
                                          ? CL_INVALID_OPERATION
                                          : CL_SUCCESS;
                    cl_int may_write = flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY)
                                           ? CL_INVALID_OPERATION
                                           : CL_SUCCESS;
                    assert_int_equal(clEnqueueReadBuffer(rig->queue, buffer, CL_TRUE, 0, SIZE,
                                                         after, 0, NULL, NULL),
                                     may_read);
                    assert_int_equal(clEnqueueWriteBuffer(rig->queue, buffer, CL_TRUE, 0, SIZE,
                                                          before, 0, NULL, NULL),
                                     may_write);
                    OK(clReleaseMemObject(buffer));
                }
}

static void wrong_creation(void **state)
{
    struct rig *rig = *state;
    cl_context context = rig->context;
    char host[16] = "";
    cl_ulong most = 0, largest = 0;
    for (cl_uint i = 0; i < rig->device_count; i++) {
        OK(clGetDeviceInfo(rig->devices[i], CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest,
                           NULL));
        most = largest > most ? largest : most;
    }
    FAILS(CL_INVALID_CONTEXT, clCreateBuffer(NULL, 0, 16, NULL, &why));
    FAILS(CL_INVALID_CONTEXT, clCreateBuffer((cl_context)rig->queue, 0, 16, NULL, &why));
    static const cl_mem_flags wrong[] = {
        CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
        CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
        CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
        CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
        1 << 6,
        (cl_mem_flags)1 << 40,
    };
    for
        EACH(i, wrong)
    FAILS(CL_INVALID_VALUE, clCreateBuffer(context, wrong[i], 16, host, &why));
    FAILS(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, 0, NULL, &why));
    FAILS(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, most + 1, NULL, &why));
    FAILS(CL_INVALID_HOST_PTR, clCreateBuffer(context, 0, 16, host, &why));
    FAILS(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_ALLOC_HOST_PTR, 16, host, &why));
    FAILS(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 16, NULL, &why));
    FAILS(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 16, NULL, &why));
    assert_null(clCreateBuffer(NULL, 0, 16, NULL, NULL));
    assert_int_equal(clRetainMemObject(NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clReleaseMemObject(NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clReleaseMemObject((cl_mem)context), CL_INVALID_MEM_OBJECT);
}

/* Memory ends: not all that may be asked for singly can be had together. */
static void no_memory(void **state)
{
    struct rig *rig = *state;
    enum {
        MANY = 64
    };
    cl_ulong whole, largest;
    cl_mem buffers[MANY];
    cl_int status = CL_SUCCESS;
    if (rig->device_count > 1)
        return; /* memory is taken when it is used */
    OK(clGetDeviceInfo(rig->devices[0], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof whole, &whole, NULL));
    OK(clGetDeviceInfo(rig->devices[0], CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest,
                       NULL));
    cl_uint count = 0;
    while (count < MANY &&
           (buffers[count] = clCreateBuffer(rig->context, 0, largest, NULL, &status)))
        count++;
    assert_int_equal(status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_true(count >= 1 && count <= whole / largest);
    while (count)
        OK(clReleaseMemObject(buffers[--count]));
    cl_mem again = rig_buffer(rig, 0, largest, NULL);
    OK(clReleaseMemObject(again));
}

#define TOLD(type, buffer, name, expected)                                               \
    do {                                                                                 \
        type told;                                                                       \
        size_t bytes;                                                                    \
        OK(clGetMemObjectInfo(buffer, name, sizeof told, &told, &bytes));                \
        assert_int_equal(bytes, sizeof told);                                            \
        assert_true(told == (type)(expected));                                           \
        assert_int_equal(clGetMemObjectInfo(buffer, name, sizeof told - 1, &told, NULL), \
                         CL_INVALID_VALUE);                                              \
        OK(clGetMemObjectInfo(buffer, name, 0, NULL, &bytes));                           \
    } while (0)

static void info(void **state)
{
    struct rig *rig = *state;
    static uint8_t host[SIZE];
    cl_int status;
    cl_mem buffer = rig_buffer(rig, CL_MEM_USE_HOST_PTR | CL_MEM_READ_ONLY, SIZE, host);
    cl_buffer_region region = {1024, 256};
    cl_mem sub = clCreateSubBuffer(buffer, CL_MEM_HOST_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION,
                                   &region, &status);
    OK(status);
    TOLD(cl_mem_object_type, buffer, CL_MEM_TYPE, CL_MEM_OBJECT_BUFFER);
    TOLD(size_t, buffer, CL_MEM_SIZE, SIZE);
    TOLD(void *, buffer, CL_MEM_HOST_PTR, host);
    TOLD(cl_uint, buffer, CL_MEM_MAP_COUNT, 0);
    TOLD(cl_context, buffer, CL_MEM_CONTEXT, rig->context);
    TOLD(cl_mem, buffer, CL_MEM_ASSOCIATED_MEMOBJECT, NULL);
    TOLD(size_t, buffer, CL_MEM_OFFSET, 0);
    TOLD(cl_mem_flags, sub, CL_MEM_FLAGS,
         CL_MEM_USE_HOST_PTR | CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY);
    TOLD(size_t, sub, CL_MEM_SIZE, 256);
    TOLD(void *, sub, CL_MEM_HOST_PTR, host + 1024);
    TOLD(cl_mem, sub, CL_MEM_ASSOCIATED_MEMOBJECT, buffer);
    TOLD(size_t, sub, CL_MEM_OFFSET, 1024);
    TOLD(cl_uint, sub, CL_MEM_REFERENCE_COUNT, 1);
    OK(clRetainMemObject(sub));
    TOLD(cl_uint, sub, CL_MEM_REFERENCE_COUNT, 2);
    OK(clReleaseMemObject(sub));
    TOLD(cl_uint, sub, CL_MEM_REFERENCE_COUNT, 1);
    assert_int_equal(clGetMemObjectInfo(buffer, 0x1234, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetMemObjectInfo(NULL, CL_MEM_SIZE, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(sub));
    cl_mem plain = rig_buffer(rig, 0, SIZE, NULL);
    TOLD(void *, plain, CL_MEM_HOST_PTR, NULL);
    TOLD(cl_mem_flags, plain, CL_MEM_FLAGS, CL_MEM_READ_WRITE);
    OK(clReleaseMemObject(plain));
}

/* Every part is its buffer's, in both directions, also when the buffer's handle has gone. */
static void sub_buffers(void **state)
{
    struct rig *rig = *state;
    enum {
        PARTS = 8,
        PART = SIZE / PARTS
    };
    uint32_t random = 2;
    static uint8_t model[SIZE], seen[SIZE];
    cl_mem buffer = rig_buffer(rig, 0, SIZE, NULL), parts[PARTS];
    rig_noise(&random, model, SIZE);
    rig_write(rig, buffer, model, 0, SIZE);
    for (size_t i = 0; i < PARTS; i++) {
        cl_int status;
        cl_buffer_region region = {i * PART, PART};
        parts[i] = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
        OK(status);
        rig_read(rig, parts[i], seen, 0, PART);
        assert_memory_equal(seen, model + i * PART, PART);
        rig_noise(&random, model + i * PART, PART);
        rig_write(rig, parts[i], model + i * PART, 0, PART);
    }
    rig_read(rig, buffer, seen, 0, SIZE);
    assert_memory_equal(seen, model, SIZE);
    assert_int_equal(
        clEnqueueReadBuffer(rig->queue, parts[0], CL_TRUE, 0, PART + 1, seen, 0, NULL, NULL),
        CL_INVALID_VALUE);
    OK(clReleaseMemObject(buffer));
    rig_read(rig, parts[PARTS - 1], seen, 0, PART);
    assert_memory_equal(seen, model + (PARTS - 1) * PART, PART);
    for (size_t i = 0; i < PARTS; i++)
        OK(clReleaseMemObject(parts[i]));
}

static cl_int part_status(cl_mem buffer, cl_mem_flags flags, size_t origin, size_t size)
{
    cl_int status;
    cl_buffer_region region = {origin, size};
    cl_mem sub = clCreateSubBuffer(buffer, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    assert_int_equal(!sub, status != CL_SUCCESS);
    if (sub)
        OK(clReleaseMemObject(sub));
    return status;
}

/* Which flags may follow which. */
static void sub_buffer_flags(void **state)
{
    struct rig *rig = *state;
    static const cl_mem_flags own[] = {0, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY};
    for
        EACH(a, accesses)
        for
            EACH(h, hosts)
            for
                EACH(o, own)
                for
                    EACH(p, hosts)
                    {
                        cl_mem buffer = rig_buffer(rig, accesses[a] | hosts[h], SIZE, NULL);
                        bool access =
                            !own[o] || accesses[a] == CL_MEM_READ_WRITE || own[o] == accesses[a];
                        bool host = !hosts[p] || hosts[p] == CL_MEM_HOST_NO_ACCESS || !hosts[h] ||
                                    hosts[p] == hosts[h];
                        assert_int_equal(part_status(buffer, own[o] | hosts[p], 0, 128),
                                         access && host ? CL_SUCCESS : CL_INVALID_VALUE);
                        OK(clReleaseMemObject(buffer));
                    }
}

static void wrong_sub_buffers(void **state)
{
    struct rig *rig = *state;
    cl_mem buffer = rig_buffer(rig, 0, SIZE, NULL);
    cl_buffer_region region = {0, 128};
    cl_uint bits;
    OK(clGetDeviceInfo(rig->devices[0], CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL));
    assert_int_equal(part_status(buffer, 0, bits / 8, 1), CL_SUCCESS);
    assert_int_equal(part_status(buffer, 0, bits / 8 - 1, 1), CL_MISALIGNED_SUB_BUFFER_OFFSET);
    assert_int_equal(part_status(buffer, 0, 1, 1), CL_MISALIGNED_SUB_BUFFER_OFFSET);
    assert_int_equal(part_status(buffer, 0, 0, 0), CL_INVALID_BUFFER_SIZE);
    assert_int_equal(part_status(buffer, 0, 0, SIZE), CL_SUCCESS);
    assert_int_equal(part_status(buffer, 0, 0, SIZE + 1), CL_INVALID_VALUE);
    assert_int_equal(part_status(buffer, 0, SIZE, 128), CL_INVALID_VALUE);
    assert_int_equal(part_status(buffer, 0, (size_t)-128, 256), CL_INVALID_VALUE);
    for
        EACH(m, memories)
    if (memories[m])
        assert_int_equal(part_status(buffer, memories[m], 0, 128), CL_INVALID_VALUE);
    FAILS(CL_INVALID_MEM_OBJECT,
          clCreateSubBuffer(NULL, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &why));
    FAILS(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, 0, &region, &why));
    FAILS(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, &why));
    cl_int status;
    cl_mem sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    assert_int_equal(part_status(sub, 0, 0, 64), CL_INVALID_MEM_OBJECT); /* a part of a part */
    OK(clReleaseMemObject(sub));
    OK(clReleaseMemObject(buffer));
}

static char calls[16];

static void CL_CALLBACK called(cl_mem mem, void *user)
{
    strncat(calls, user, 1);
}

/* Latest first, when the last user has gone: a kernel's argument or a sub-buffer is one. */
static void destructors(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    cl_buffer_region region = {0, 128};
    calls[0] = '\0';
    cl_mem buffer = rig_buffer(rig, 0, SIZE, NULL);
    OK(clSetMemObjectDestructorCallback(buffer, called, "a"));
    OK(clSetMemObjectDestructorCallback(buffer, called, "b"));
    OK(clSetMemObjectDestructorCallback(buffer, called, "c"));
    cl_mem sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    OK(clSetMemObjectDestructorCallback(sub, called, "s"));
    OK(clRetainMemObject(buffer));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(buffer));
    assert_string_equal(calls, "");
    OK(clReleaseMemObject(sub));
    assert_string_equal(calls, "scba");
    assert_int_equal(clSetMemObjectDestructorCallback(NULL, called, NULL), CL_INVALID_MEM_OBJECT);
    buffer = rig_buffer(rig, 0, SIZE, NULL);
    assert_int_equal(clSetMemObjectDestructorCallback(buffer, NULL, NULL), CL_INVALID_VALUE);
    OK(clReleaseMemObject(buffer));
}

/* A command that waits keeps its buffer alive. */
static void released_early(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    cl_event gate = clCreateUserEvent(rig->context, &status), done;
    uint32_t value = 0x12345678, seen = 0;
    calls[0] = '\0';
    cl_mem buffer = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof value, &value);
    OK(clSetMemObjectDestructorCallback(buffer, called, "x"));
    OK(clEnqueueReadBuffer(rig->queue, buffer, CL_FALSE, 0, sizeof seen, &seen, 1, &gate, &done));
    OK(clReleaseMemObject(buffer));
    assert_string_equal(calls, "");
    assert_int_equal(seen, 0);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clWaitForEvents(1, &done));
    assert_int_equal(seen, value);
    OK(clFinish(rig->queue));
    assert_string_equal(calls, "x");
    OK(clReleaseEvent(gate));
    OK(clReleaseEvent(done));
}

static void migration(void **state)
{
    struct rig *rig = *state;
    uint32_t random = 3;
    uint8_t model[256], seen[256];
    rig_noise(&random, model, sizeof model);
    cl_mem buffer = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof model, model);
    cl_mem none[] = {buffer, NULL};
    cl_event event;
    cl_command_type type;
    for (cl_uint i = 0; i < 3 * rig->device_count; i++) {
        cl_command_queue queue = rig->queues[i % rig->device_count];
        OK(clEnqueueMigrateMemObjects(queue, 1, &buffer, i % 2 ? CL_MIGRATE_MEM_OBJECT_HOST : 0, 0,
                                      NULL, NULL));
        OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof seen, seen, 0, NULL, NULL));
        assert_memory_equal(seen, model, sizeof model);
        rig_noise(&random, model, sizeof model);
        OK(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof model, model, 0, NULL, NULL));
    }
    OK(clEnqueueMigrateMemObjects(rig->queue, 1, &buffer, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
                                  0, NULL, &event));
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_COMMAND_MIGRATE_MEM_OBJECTS);
    OK(clReleaseEvent(event));
    assert_int_equal(clEnqueueMigrateMemObjects(NULL, 1, &buffer, 0, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueMigrateMemObjects(rig->queue, 0, &buffer, 0, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueMigrateMemObjects(rig->queue, 1, NULL, 0, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueMigrateMemObjects(rig->queue, 1, &buffer, 1 << 2, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueMigrateMemObjects(rig->queue, 2, none, 0, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueMigrateMemObjects(rig->queue, 1, &buffer, 0, 1, NULL, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    OK(clReleaseMemObject(buffer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_flags),         cmocka_unit_test(wrong_creation),
        cmocka_unit_test(no_memory),         cmocka_unit_test(info),
        cmocka_unit_test(sub_buffers),       cmocka_unit_test(sub_buffer_flags),
        cmocka_unit_test(wrong_sub_buffers), cmocka_unit_test(destructors),
        cmocka_unit_test(released_early),    cmocka_unit_test(migration),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
