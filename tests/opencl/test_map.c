/*
 * Mapping: what is seen and what is written, several maps at once, pointers, errors.
 */
#include "rig.h"

enum {
    BYTES = 8192
};

static const cl_mem_flags memories[] = {0, CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR,
                                        CL_MEM_ALLOC_HOST_PTR,
                                        CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR};

static uint8_t *map(struct rig *rig, cl_mem buffer, cl_map_flags flags, size_t offset, size_t bytes)
{
    cl_int status = 1;
    uint8_t *host = clEnqueueMapBuffer(rig->queue, buffer, CL_TRUE, flags, offset, bytes, 0, NULL,
                                       NULL, &status);
    OK(status);
    assert_non_null(host);
    return host;
}

static void unmap(struct rig *rig, cl_mem buffer, void *host)
{
    OK(clEnqueueUnmapMemObject(rig->queue, buffer, host, 0, NULL, NULL));
    OK(clFinish(rig->queue));
}

static void random_maps(void **state)
{
    struct rig *rig = *state;
    uint32_t random = 1;
    static uint8_t model[BYTES], host[BYTES] __attribute__((aligned(128))), seen[BYTES];
    for (size_t m = 0; m < sizeof memories / sizeof *memories; m++) {
        cl_mem_flags flags = memories[m];
        rig_noise(&random, model, BYTES);
        memcpy(host, model, BYTES);
        bool given = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
        cl_mem buffer = rig_buffer(rig, flags, BYTES, given ? host : NULL);
        if (!given)
            rig_write(rig, buffer, model, 0, BYTES);
        for (int i = 0; i < 48; i++) {
            static const cl_map_flags modes[] = {CL_MAP_READ, CL_MAP_WRITE,
                                                 CL_MAP_READ | CL_MAP_WRITE,
                                                 CL_MAP_WRITE_INVALIDATE_REGION};
            cl_map_flags mode = modes[i % 4];
            size_t offset = rig_random(&random, BYTES),
                   bytes = 1 + rig_random(&random, (uint32_t)(BYTES - offset));
            uint8_t *at = map(rig, buffer, mode, offset, bytes);
            if (flags & CL_MEM_USE_HOST_PTR)
                assert_ptr_equal(at, host + offset);
            assert_int_equal((uintptr_t)at % 128, offset % 128);
            if (mode != CL_MAP_WRITE_INVALIDATE_REGION)
                assert_memory_equal(at, model + offset, bytes);
            if (mode != CL_MAP_READ) {
                rig_noise(&random, at, bytes);
                memcpy(model + offset, at, bytes);
            }
            unmap(rig, buffer, at);
            size_t changed = rig_random(&random, BYTES); /* and the device continues with it */
            OK(clEnqueueFillBuffer(rig->queue, buffer, "#", 1, changed, 1, 0, NULL, NULL));
            model[changed] = '#';
        }
        rig_read(rig, buffer, seen, 0, BYTES);
        assert_memory_equal(seen, model, BYTES);
        OK(clReleaseMemObject(buffer));
    }
}

/* A mapping that is so large that its memory comes another way. */
static void large(void **state)
{
    enum {
        BUFFER = 36 << 20,
        OFFSET = 77
    };
    struct rig *rig = *state;
    cl_mem buffer = rig_buffer(rig, 0, BUFFER, NULL);
    OK(clEnqueueFillBuffer(rig->queue, buffer, "abcd", 4, 0, BUFFER, 0, NULL, NULL));
    for (int again = 0; again < 2; again++) {
        uint8_t last, *at = map(rig, buffer, CL_MAP_READ | CL_MAP_WRITE, OFFSET, BUFFER - OFFSET);
        assert_int_equal((uintptr_t)at % 128, OFFSET % 128);
        for (size_t i = 0; i < BUFFER - OFFSET - 1; i += 4093)
            assert_int_equal(at[i], "abcd"[(i + OFFSET) % 4]);
        at[BUFFER - OFFSET - 1] = (uint8_t)again;
        unmap(rig, buffer, at);
        rig_read(rig, buffer, &last, BUFFER - 1, 1);
        assert_int_equal(last, again);
    }
    OK(clReleaseMemObject(buffer));
}

static cl_uint map_count(cl_mem buffer)
{
    cl_uint count;
    OK(clGetMemObjectInfo(buffer, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    return count;
}

/* Parts mapped for writing at once, and one part mapped twice for reading. */
static void several(void **state)
{
    struct rig *rig = *state;
    enum {
        PARTS = 8,
        PART = BYTES / PARTS
    };
    static uint8_t host[BYTES], seen[BYTES];
    for (int use = 0; use < 2; use++) {
        memset(host, 0, BYTES);
        cl_mem buffer =
            rig_buffer(rig, use ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR, BYTES, host);
        uint8_t *parts[PARTS];
        for (int i = 0; i < PARTS; i++)
            parts[i] = map(rig, buffer, CL_MAP_WRITE, (size_t)i * PART, PART);
        assert_int_equal(map_count(buffer), PARTS);
        for (int i = PARTS; i--;)
            memset(parts[i], 'a' + i, PART);
        for (int i = 0; i < PARTS; i++)
            unmap(rig, buffer, parts[i ^ 3]);
        assert_int_equal(map_count(buffer), 0);
        uint8_t *first = map(rig, buffer, CL_MAP_READ, 0, BYTES),
                *second = map(rig, buffer, CL_MAP_READ, 0, BYTES);
        assert_memory_equal(first, second, BYTES);
        assert_int_equal(map_count(buffer), 2);
        unmap(rig, buffer, first);
        assert_int_equal(second[PART], 'b');
        unmap(rig, buffer, second);
        assert_int_equal(clEnqueueUnmapMemObject(rig->queue, buffer, second, 0, NULL, NULL),
                         CL_INVALID_VALUE);
        rig_read(rig, buffer, seen, 0, BYTES);
        for (int i = 0; i < BYTES; i++)
            assert_int_equal(seen[i], 'a' + i / PART);
        OK(clReleaseMemObject(buffer));
    }
}

/* The pointer is there before the content; an unmap that waits writes when its time has come. */
static void waiting(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    uint32_t value = 1, seen;
    cl_mem buffer = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof value, &value);
    cl_event gate = clCreateUserEvent(rig->context, &status), mapped, unmapped;
    uint32_t *at = clEnqueueMapBuffer(rig->queue, buffer, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                      sizeof value, 1, &gate, &mapped, &status);
    OK(status);
    assert_non_null(at);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clWaitForEvents(1, &mapped));
    assert_int_equal(*at, 1);
    *at = 2;
    OK(clReleaseEvent(gate));
    gate = clCreateUserEvent(rig->context, &status);
    OK(clEnqueueUnmapMemObject(rig->queue, buffer, at, 1, &gate, &unmapped));
    assert_int_equal(map_count(buffer), 0);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    rig_read(rig, buffer, &seen, 0, sizeof seen);
    assert_int_equal(seen, 2);
    cl_command_type types[2];
    OK(clGetEventInfo(mapped, CL_EVENT_COMMAND_TYPE, sizeof types[0], &types[0], NULL));
    OK(clGetEventInfo(unmapped, CL_EVENT_COMMAND_TYPE, sizeof types[1], &types[1], NULL));
    assert_int_equal(types[0], CL_COMMAND_MAP_BUFFER);
    assert_int_equal(types[1], CL_COMMAND_UNMAP_MEM_OBJECT);
    OK(clReleaseEvent(gate));
    OK(clReleaseEvent(mapped));
    OK(clReleaseEvent(unmapped));
    OK(clReleaseMemObject(buffer));
}

/* An unmap that overtakes its map, and a map that never happens. */
static void careless(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    cl_command_queue other = clCreateCommandQueue(rig->context, rig->devices[0], 0, &status);
    cl_event gate = clCreateUserEvent(rig->context, &status);
    cl_mem buffer = rig_buffer(rig, 0, 64, NULL);
    void *at = clEnqueueMapBuffer(rig->queue, buffer, CL_FALSE, CL_MAP_READ, 0, 64, 1, &gate, NULL,
                                  &status);
    OK(status);
    OK(clEnqueueUnmapMemObject(other, buffer, at, 0, NULL, NULL));
    OK(clFinish(other));
    OK(clSetUserEventStatus(gate, -7));
    OK(clFinish(rig->queue));
    assert_null(clEnqueueMapBuffer(rig->queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 1, &gate, NULL,
                                   &status));
    assert_int_equal(status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(map_count(buffer), 0);
    map(rig, buffer, CL_MAP_WRITE, 0, 64); /* and is forgotten */
    OK(clReleaseMemObject(buffer));
    OK(clReleaseEvent(gate));
    OK(clReleaseCommandQueue(other));
}

static void parts(void **state)
{
    struct rig *rig = *state;
    static uint8_t host[BYTES];
    cl_int status;
    uint8_t seen;
    cl_buffer_region region = {1024, 1024};
    cl_mem buffer = rig_buffer(rig, CL_MEM_USE_HOST_PTR, BYTES, host);
    cl_mem sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    OK(status);
    uint8_t *at = map(rig, sub, CL_MAP_WRITE, 8, 16);
    assert_ptr_equal(at, host + 1032);
    at[3] = 77;
    assert_int_equal(clEnqueueUnmapMemObject(rig->queue, buffer, at, 0, NULL, NULL),
                     CL_INVALID_VALUE); /* it is the part's */
    unmap(rig, sub, at);
    rig_read(rig, buffer, &seen, 1035, 1);
    assert_int_equal(seen, 77);
    OK(clReleaseMemObject(sub));
    OK(clReleaseMemObject(buffer));
}

#define MAPS(queue, buffer, flags, offset, bytes) \
    clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, offset, bytes, 0, NULL, NULL, &why)

static void wrong(void **state)
{
    struct rig *rig = *state;
    cl_command_queue queue = rig->queue;
    cl_mem buffer = rig_buffer(rig, 0, 64, NULL);
    FAILS(CL_INVALID_COMMAND_QUEUE, MAPS(NULL, buffer, CL_MAP_READ, 0, 64));
    FAILS(CL_INVALID_MEM_OBJECT, MAPS(queue, NULL, CL_MAP_READ, 0, 64));
    FAILS(CL_INVALID_VALUE, MAPS(queue, buffer, CL_MAP_READ, 0, 65));
    FAILS(CL_INVALID_VALUE, MAPS(queue, buffer, CL_MAP_READ, 64, 1));
    FAILS(CL_INVALID_VALUE, MAPS(queue, buffer, CL_MAP_READ, 0, 0));
    FAILS(CL_INVALID_VALUE, MAPS(queue, buffer, CL_MAP_READ, (size_t)-1, 2));
    FAILS(CL_INVALID_VALUE, MAPS(queue, buffer, 1 << 3, 0, 64));
    FAILS(CL_INVALID_VALUE,
          MAPS(queue, buffer, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 64));
    FAILS(CL_INVALID_VALUE,
          MAPS(queue, buffer, CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION, 0, 64));
    FAILS(CL_INVALID_EVENT_WAIT_LIST,
          clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 1, NULL, NULL, &why));
    assert_int_equal(clEnqueueUnmapMemObject(NULL, buffer, buffer, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueUnmapMemObject(queue, NULL, buffer, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueUnmapMemObject(queue, buffer, buffer, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueUnmapMemObject(queue, buffer, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clReleaseMemObject(buffer));
    static const struct {
        cl_mem_flags flags;
        cl_map_flags may;
    } hosts[] = {{CL_MEM_HOST_READ_ONLY, CL_MAP_READ},
                 {CL_MEM_HOST_WRITE_ONLY, CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION},
                 {CL_MEM_HOST_NO_ACCESS, 0}};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        buffer = rig_buffer(rig, hosts[i].flags, 64, NULL);
        for (cl_map_flags flags = CL_MAP_READ; flags <= CL_MAP_WRITE_INVALIDATE_REGION;
             flags <<= 1) {
            if (flags & hosts[i].may)
                unmap(rig, buffer, map(rig, buffer, flags, 0, 64));
            else
                FAILS(CL_INVALID_OPERATION, MAPS(queue, buffer, flags, 0, 64));
        }
        OK(clReleaseMemObject(buffer));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_maps), cmocka_unit_test(large),    cmocka_unit_test(several),
        cmocka_unit_test(waiting),     cmocka_unit_test(careless), cmocka_unit_test(parts),
        cmocka_unit_test(wrong),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
