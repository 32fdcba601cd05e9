/*
 * Reads, writes, copies and fills against a model in host memory, in random shapes; overlap against
 * a count of bytes; every error.
 */
#include "rig.h"

enum {
    BYTES = 1 << 14,
    SHAPES = 120
};

struct side {
    size_t origin[3], row, slice; /* pitches as given; 0: the least */
};

struct box {
    size_t region[3];
    struct side buffer, other;
};

static size_t row_of(const struct side *side, const size_t *region)
{
    return side->row ? side->row : region[0];
}

static size_t slice_of(const struct side *side, const size_t *region)
{
    return side->slice ? side->slice : row_of(side, region) * region[1];
}

static size_t at(const struct side *side, const size_t *region, size_t x, size_t y, size_t z)
{
    return (side->origin[2] + z) * slice_of(side, region) +
           (side->origin[1] + y) * row_of(side, region) + side->origin[0] + x;
}

static size_t end_of(const struct side *side, const size_t *region)
{
    return at(side, region, region[0] - 1, region[1] - 1, region[2] - 1) + 1;
}

static void random_side(uint32_t *random, struct side *side, const size_t *region)
{
    *side = (struct side){{rig_random(random, 9), rig_random(random, 4), rig_random(random, 3)}};
    if (rig_random(random, 3))
        side->row = region[0] + rig_random(random, 12);
    if (rig_random(random, 3))
        side->slice = row_of(side, region) * (region[1] + rig_random(random, 3));
}

static struct box random_box(uint32_t *random)
{
    struct box box;
    do {
        for (int i = 0; i < 3; i++)
            box.region[i] = 1 + rig_random(random, i ? 8 : 40);
        random_side(random, &box.buffer, box.region);
        random_side(random, &box.other, box.region);
    } while (end_of(&box.buffer, box.region) > BYTES || end_of(&box.other, box.region) > BYTES);
    return box;
}

static void model_copy(uint8_t *to, const struct side *to_side, const uint8_t *from,
                       const struct side *from_side, const size_t *region)
{
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++)
            for (size_t x = 0; x < region[0]; x++)
                to[at(to_side, region, x, y, z)] = from[at(from_side, region, x, y, z)];
}

static void lines(void **state)
{
    struct rig *rig = *state;
    uint32_t random = 1;
    static uint8_t model[2][BYTES], seen[BYTES];
    cl_mem buffers[2];
    for (int i = 0; i < 2; i++) {
        rig_noise(&random, model[i], BYTES);
        buffers[i] = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, BYTES, model[i]);
    }
    for (int i = 0; i < SHAPES; i++) {
        int a = (int)rig_random(&random, 2);
        size_t bytes = 1 + rig_random(&random, BYTES),
               from = rig_random(&random, BYTES - bytes + 1),
               to = rig_random(&random, BYTES - bytes + 1);
        rig_noise(&random, seen, bytes);
        memcpy(model[a] + to, seen, bytes);
        rig_write(rig, buffers[a], seen, to, bytes);
        OK(clEnqueueCopyBuffer(rig->queue, buffers[a], buffers[!a], from, to, bytes, 0, NULL,
                               NULL));
        memcpy(model[!a] + to, model[a] + from, bytes);
        rig_read(rig, buffers[!a], seen, from, bytes);
        assert_memory_equal(seen, model[!a] + from, bytes);
    }
    for (int i = 0; i < 2; i++) {
        rig_read(rig, buffers[i], seen, 0, BYTES);
        assert_memory_equal(seen, model[i], BYTES);
        OK(clReleaseMemObject(buffers[i]));
    }
}

static void boxes(void **state)
{
    struct rig *rig = *state;
    uint32_t random = 2;
    static uint8_t model[2][BYTES], host[BYTES], expected[BYTES], seen[BYTES];
    cl_mem buffers[2];
    for (int i = 0; i < 2; i++) {
        rig_noise(&random, model[i], BYTES);
        buffers[i] = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, BYTES, model[i]);
    }
    for (int i = 0; i < SHAPES; i++) {
        struct box b = random_box(&random);
        rig_noise(&random, host, BYTES);
        OK(clEnqueueWriteBufferRect(rig->queue, buffers[0], CL_TRUE, b.buffer.origin,
                                    b.other.origin, b.region, b.buffer.row, b.buffer.slice,
                                    b.other.row, b.other.slice, host, 0, NULL, NULL));
        model_copy(model[0], &b.buffer, host, &b.other, b.region);
        b = random_box(&random);
        OK(clEnqueueCopyBufferRect(rig->queue, buffers[0], buffers[1], b.buffer.origin,
                                   b.other.origin, b.region, b.buffer.row, b.buffer.slice,
                                   b.other.row, b.other.slice, 0, NULL, NULL));
        model_copy(model[1], &b.other, model[0], &b.buffer, b.region);
        b = random_box(&random);
        memcpy(expected, host, BYTES);
        OK(clEnqueueReadBufferRect(rig->queue, buffers[1], CL_TRUE, b.buffer.origin, b.other.origin,
                                   b.region, b.buffer.row, b.buffer.slice, b.other.row,
                                   b.other.slice, host, 0, NULL, NULL));
        model_copy(expected, &b.other, model[1], &b.buffer, b.region);
        assert_memory_equal(host, expected, BYTES); /* nothing outside the box */
    }
    for (int i = 0; i < 2; i++) {
        rig_read(rig, buffers[i], seen, 0, BYTES);
        assert_memory_equal(seen, model[i], BYTES);
        OK(clReleaseMemObject(buffers[i]));
    }
}

/* Within one buffer: what overlaps is refused, exactly, and the rest is copied. */
static void overlaps(void **state)
{
    struct rig *rig = *state;
    uint32_t random = 3;
    static uint8_t model[BYTES], seen[BYTES], touched[BYTES];
    int refused = 0;
    rig_noise(&random, model, BYTES);
    cl_mem buffer = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, BYTES, model);
    for (int i = 0; i < 4 * SHAPES; i++) {
        struct box b = random_box(&random);
        b.other.row = b.buffer.row = row_of(&b.buffer, b.region);
        b.other.slice = b.buffer.slice = slice_of(&b.buffer, b.region);
        if (end_of(&b.other, b.region) > BYTES || end_of(&b.buffer, b.region) > BYTES)
            continue;
        memset(touched, 0, BYTES);
        bool meet = false;
        for (int side = 0; side < 2; side++)
            for (size_t z = 0; z < b.region[2]; z++)
                for (size_t y = 0; y < b.region[1]; y++)
                    for (size_t x = 0; x < b.region[0]; x++)
                        meet |= touched[at(side ? &b.other : &b.buffer, b.region, x, y, z)]++ > 0;
        cl_int status = clEnqueueCopyBufferRect(
            rig->queue, buffer, buffer, b.buffer.origin, b.other.origin, b.region, b.buffer.row,
            b.buffer.slice, b.other.row, b.other.slice, 0, NULL, NULL);
        assert_int_equal(status, meet ? CL_MEM_COPY_OVERLAP : CL_SUCCESS);
        refused += meet;
        if (!meet)
            model_copy(model, &b.other, model, &b.buffer, b.region);
    }
    assert_true(refused > SHAPES / 4 && refused < 4 * SHAPES);
    rig_read(rig, buffer, seen, 0, BYTES);
    assert_memory_equal(seen, model, BYTES);
    OK(clReleaseMemObject(buffer));
}

/* Parts of one buffer overlap as the buffer does. */
static void overlapping_parts(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    cl_mem buffer = rig_buffer(rig, 0, BYTES, NULL);
    cl_buffer_region first = {0, 1024}, second = {512, 1024};
    cl_mem a = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &first, &status);
    cl_mem b = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &second, &status);
    cl_command_queue queue = rig->queue;
    assert_int_equal(clEnqueueCopyBuffer(queue, a, b, 0, 0, 513, 0, NULL, NULL),
                     CL_MEM_COPY_OVERLAP);
    OK(clEnqueueCopyBuffer(queue, a, b, 0, 0, 512, 0, NULL, NULL));
    assert_int_equal(clEnqueueCopyBuffer(queue, a, b, 512, 0, 1, 0, NULL, NULL),
                     CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueCopyBuffer(queue, buffer, b, 512, 0, 1, 0, NULL, NULL),
                     CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueCopyBuffer(queue, buffer, buffer, 0, 99, 100, 0, NULL, NULL),
                     CL_MEM_COPY_OVERLAP);
    OK(clEnqueueCopyBuffer(queue, buffer, buffer, 0, 100, 100, 0, NULL, NULL));
    OK(clEnqueueCopyBuffer(queue, buffer, buffer, 100, 0, 100, 0, NULL, NULL));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
    OK(clReleaseMemObject(buffer));
}

static void fills(void **state)
{
    struct rig *rig = *state;
    uint32_t random = 4;
    static uint8_t model[BYTES], seen[BYTES];
    rig_noise(&random, model, BYTES);
    cl_mem buffer = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, BYTES, model);
    for (size_t size = 1; size <= 128; size *= 2)
        for (int i = 0; i < 8; i++) {
            uint8_t pattern[128];
            size_t units = BYTES / size, count = rig_random(&random, (uint32_t)units + 1),
                   first = rig_random(&random, (uint32_t)(units - count) + 1);
            rig_noise(&random, pattern, size);
            OK(clEnqueueFillBuffer(rig->queue, buffer, pattern, size, first * size, count * size, 0,
                                   NULL, NULL));
            for (size_t k = first * size; k < (first + count) * size; k++)
                model[k] = pattern[k % size];
            rig_read(rig, buffer, seen, 0, BYTES);
            assert_memory_equal(seen, model, BYTES);
        }
    char pattern[256] = "";
    for (size_t size = 0; size <= 256; size++) {
        bool good = size && !(size & (size - 1)) && size <= 128;
        assert_int_equal(
            clEnqueueFillBuffer(rig->queue, buffer, pattern, size, 0, 2 * size, 0, NULL, NULL),
            good ? CL_SUCCESS : CL_INVALID_VALUE);
    }
    static const size_t wrong[][3] = {
        {4, 2, 4}, {4, 4, 2}, {4, BYTES, 4}, {4, 0, BYTES + 4}, {4, (size_t)-4, 8}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(clEnqueueFillBuffer(rig->queue, buffer, pattern, wrong[i][0], wrong[i][1],
                                             wrong[i][2], 0, NULL, NULL),
                         CL_INVALID_VALUE);
    assert_int_equal(clEnqueueFillBuffer(rig->queue, buffer, NULL, 4, 0, 4, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueFillBuffer(rig->queue, NULL, pattern, 4, 0, 4, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueFillBuffer(NULL, buffer, pattern, 4, 0, 4, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    OK(clReleaseMemObject(buffer));
}

static void wrong_lines(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    char host[64];
    cl_command_queue queue = rig->queue;
    cl_context other = clCreateContext(NULL, 1, rig->devices, NULL, NULL, &status);
    OK(status);
    cl_mem buffer = rig_buffer(rig, 0, 64, NULL);
    cl_mem foreign = clCreateBuffer(other, 0, 64, NULL, &status);
    cl_event event = NULL, theirs = clCreateUserEvent(other, &status);
    static const size_t ranges[][2] = {{0, 65}, {64, 1}, {1, 64}, {(size_t)-1, 2}, {0, 0}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        size_t offset = ranges[i][0], bytes = ranges[i][1];
        assert_int_equal(
            clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset, bytes, host, 0, NULL, NULL),
            CL_INVALID_VALUE);
        assert_int_equal(
            clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, bytes, host, 0, NULL, NULL),
            CL_INVALID_VALUE);
        assert_int_equal(
            clEnqueueCopyBuffer(queue, buffer, buffer, offset, 0, bytes, 0, NULL, NULL),
            CL_INVALID_VALUE);
        assert_int_equal(
            clEnqueueCopyBuffer(queue, buffer, buffer, 0, offset, bytes, 0, NULL, NULL),
            CL_INVALID_VALUE);
    }
    assert_int_equal(clEnqueueReadBuffer(NULL, buffer, CL_TRUE, 0, 1, host, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueReadBuffer(queue, NULL, CL_TRUE, 0, 1, host, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueReadBuffer(queue, (cl_mem)queue, CL_TRUE, 0, 1, host, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueReadBuffer(queue, foreign, CL_TRUE, 0, 1, host, 0, NULL, NULL),
                     CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, NULL, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, NULL, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, host, 1, NULL, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, host, 0, &theirs, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, host, 1, &event, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, host, 1, &theirs, NULL),
                     CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueCopyBuffer(queue, buffer, NULL, 0, 0, 1, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueCopyBuffer(queue, NULL, buffer, 0, 0, 1, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueCopyBuffer(queue, buffer, foreign, 0, 0, 1, 0, NULL, NULL),
                     CL_INVALID_CONTEXT);
    OK(clReleaseEvent(theirs));
    OK(clReleaseMemObject(foreign));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseContext(other));
}

struct wrong_box {
    size_t origin[3], region[3], row, slice;
};

/* The buffer has 4,096 bytes; the same box is wrong on either side, and for all three. */
static void wrong_boxes(void **state)
{
    struct rig *rig = *state;
    static char host[4096];
    static const size_t zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    static const struct wrong_box boxes_[] = {
        {{0, 0, 0}, {0, 1, 1}, 0, 0},
        {{0, 0, 0}, {1, 0, 1}, 0, 0},
        {{0, 0, 0}, {1, 1, 0}, 0, 0},
        {{0, 0, 0}, {8, 1, 1}, 7, 0},
        {{0, 0, 0}, {8, 2, 1}, 8, 15},
        {{0, 0, 0}, {8, 2, 2}, 8, 17},
        {{0, 0, 0}, {4097, 1, 1}, 0, 0},
        {{0, 0, 0}, {16, 16, 17}, 0, 0},
        {{1, 0, 0}, {16, 16, 16}, 0, 0},
        {{0, 1, 0}, {16, 16, 16}, 0, 0},
        {{0, 0, 1}, {16, 16, 16}, 0, 0},
        {{(size_t)-1, 0, 0}, {2, 1, 1}, 0, 0},
        {{0, (size_t)-1, 0}, {2, 1, 1}, 0, 0},
        {{0, 0, (size_t)-1}, {2, 1, 1}, 0, 0},
        {{0, 0, 0}, {(size_t)-1, (size_t)-1, (size_t)-1}, 0, 0},
    };
    cl_command_queue queue = rig->queue;
    cl_mem buffer = rig_buffer(rig, 0, 4096, NULL), to = rig_buffer(rig, 0, 4096, NULL);
    for (size_t i = 0; i < sizeof boxes_ / sizeof *boxes_; i++) {
        const struct wrong_box *b = &boxes_[i];
        assert_int_equal(clEnqueueReadBufferRect(queue, buffer, CL_TRUE, b->origin, zero, b->region,
                                                 b->row, b->slice, 0, 0, host, 0, NULL, NULL),
                         CL_INVALID_VALUE);
        assert_int_equal(clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, b->origin, zero,
                                                  b->region, b->row, b->slice, 0, 0, host, 0, NULL,
                                                  NULL),
                         CL_INVALID_VALUE);
        assert_int_equal(clEnqueueCopyBufferRect(queue, buffer, to, b->origin, zero, b->region,
                                                 b->row, b->slice, 0, 0, 0, NULL, NULL),
                         CL_INVALID_VALUE);
        assert_int_equal(clEnqueueCopyBufferRect(queue, to, buffer, zero, b->origin, b->region, 0,
                                                 0, b->row, b->slice, 0, NULL, NULL),
                         CL_INVALID_VALUE);
    }
    static const size_t two[3] = {2, 2, 2};
    assert_int_equal(clEnqueueReadBufferRect(queue, buffer, CL_TRUE, zero, zero, two, 0, 0, 1, 0,
                                             host, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadBufferRect(queue, buffer, CL_TRUE, NULL, zero, one, 0, 0, 0, 0,
                                             host, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, zero, NULL, one, 0, 0, 0, 0,
                                              host, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, zero, zero, NULL, 0, 0, 0, 0,
                                              host, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadBufferRect(queue, buffer, CL_TRUE, zero, zero, one, 0, 0, 0, 0,
                                             NULL, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(
        clEnqueueCopyBufferRect(queue, buffer, to, zero, zero, NULL, 0, 0, 0, 0, 0, NULL, NULL),
        CL_INVALID_VALUE);
    assert_int_equal(clEnqueueCopyBufferRect(queue, buffer, buffer, zero, (size_t[]){0, 8, 0}, two,
                                             8, 0, 16, 0, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(
        clEnqueueCopyBufferRect(queue, buffer, NULL, zero, zero, one, 0, 0, 0, 0, 0, NULL, NULL),
        CL_INVALID_MEM_OBJECT);
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(to));
}

static cl_ulong duration(cl_event event)
{
    cl_ulong start, end;
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    OK(clReleaseEvent(event));
    return end - start;
}

/* Twice the bytes take longer by as much as the same again; the host's copies begin with a wait. */
static void times(void **state)
{
    struct rig *rig = *state;
    enum {
        N = 1 << 20
    };
    static uint8_t host[2 * N];
    cl_mem buffer = rig_buffer(rig, 0, 2 * N, NULL), to = rig_buffer(rig, 0, 2 * N, NULL);
    cl_event once, twice, copy_once, copy_twice, fill;
    rig_write(rig, buffer, host, 0, 2 * N);
    rig_write(rig, to, host, 0, 2 * N);
    OK(clEnqueueWriteBuffer(rig->queue, buffer, CL_TRUE, 0, N, host, 0, NULL, &once));
    OK(clEnqueueReadBuffer(rig->queue, buffer, CL_TRUE, 0, 2 * N, host, 0, NULL, &twice));
    OK(clEnqueueCopyBuffer(rig->queue, buffer, to, 0, 0, N, 0, NULL, &copy_once));
    OK(clEnqueueCopyBuffer(rig->queue, buffer, to, 0, 0, 2 * N, 0, NULL, &copy_twice));
    OK(clEnqueueFillBuffer(rig->queue, buffer, "x", 1, 0, N, 0, NULL, &fill));
    OK(clFinish(rig->queue));
    cl_ulong a = duration(once), b = duration(twice), c = duration(copy_once),
             d = duration(copy_twice);
    assert_in_range(d, 2 * c - 2, 2 * c + 2); /* each in whole nanoseconds, rounded up */
    assert_in_range(b - a, c - 2, c + 2);
    assert_true(a > c);
    assert_int_equal(duration(fill), c);
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),       cmocka_unit_test(boxes),
        cmocka_unit_test(overlaps),    cmocka_unit_test(overlapping_parts),
        cmocka_unit_test(fills),       cmocka_unit_test(wrong_lines),
        cmocka_unit_test(wrong_boxes), cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
