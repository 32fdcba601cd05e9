/*
 * Buffers that go from device to device: in one thread, and by threads that want the same buffers
 * on different devices at once, while others make and free memory. Built with -Db_sanitize=thread
 * it also finds what they share without the driver's lock.
 */
#include "rig.h"

#include <pthread.h>

enum {
    ITEMS = 512,
    ROUNDS = 40,
    BYTES = ITEMS * sizeof(uint32_t)
};

static const char source[] =
    "kernel void mix(global uint *out, global const uint *a, global const uint *b, uint c)\n"
    "{ size_t i = get_global_id(0); out[i] = a[i] * 3 + b[i] * 5 + c; }\n"
    "kernel void step(global uint *data, uint c)\n"
    "{ size_t i = get_global_id(0); data[i] = data[i] * 7 + c; }\n";

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

/* Every device in turn continues with what the last one left, in the whole buffer and in a part of
 * it. */
static void in_turn(void **state)
{
    struct rig *rig = *state;
    cl_int status;
    const size_t items = ITEMS, half = ITEMS / 2;
    uint32_t random = 1, model[ITEMS], seen[ITEMS];
    rig_noise(&random, model, BYTES);
    cl_kernel kernel = clCreateKernel(program, "step", &status);
    OK(status);
    cl_mem buffer = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, BYTES, model);
    cl_buffer_region region = {BYTES / 2, BYTES / 2};
    cl_mem sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        cl_command_queue queue = rig->queues[i % rig->device_count];
        bool part = i % 3 == 2;
        OK(clSetKernelArg(kernel, 0, sizeof sub, part ? &sub : &buffer));
        OK(clSetKernelArg(kernel, 1, sizeof i, &i));
        OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, part ? &half : &items, NULL, 0, NULL,
                                  NULL));
        for (uint32_t k = part ? ITEMS / 2 : 0; k < ITEMS; k++)
            model[k] = model[k] * 7 + i;
        OK(clFinish(queue));
    }
    rig_read(rig, buffer, seen, 0, BYTES);
    assert_memory_equal(seen, model, BYTES);
    OK(clReleaseMemObject(sub));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseKernel(kernel));
}

struct worker {
    pthread_t thread;
    struct rig *rig;
    cl_uint device, number;
    cl_mem shared[2];
    const uint32_t *content[2];
    const char *wrong; /* cmocka's asserts are for the main thread */
};

#define NEED(worker, condition)           \
    do {                                  \
        if (!(condition)) {               \
            (worker)->wrong = #condition; \
            return false;                 \
        }                                 \
    } while (0)

static bool mix(struct worker *w, cl_kernel kernel, uint32_t round)
{
    cl_int status;
    const size_t items = ITEMS;
    uint32_t c = round * 16 + w->number, seen[ITEMS];
    int first = (int)(w->number % 2); /* other threads use them in the opposite order */
    cl_mem out = clCreateBuffer(w->rig->context, 0, BYTES, NULL, &status);
    cl_command_queue queue = w->rig->queues[w->device];
    NEED(w, status == CL_SUCCESS);
    NEED(w, clSetKernelArg(kernel, 0, sizeof out, &out) == CL_SUCCESS);
    NEED(w, clSetKernelArg(kernel, 1, sizeof out, &w->shared[first]) == CL_SUCCESS);
    NEED(w, clSetKernelArg(kernel, 2, sizeof out, &w->shared[!first]) == CL_SUCCESS);
    NEED(w, clSetKernelArg(kernel, 3, sizeof c, &c) == CL_SUCCESS);
    NEED(w,
         clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL) == CL_SUCCESS);
    NEED(w, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, BYTES, seen, 0, NULL, NULL) == CL_SUCCESS);
    for (int i = 0; i < ITEMS; i++)
        NEED(w, seen[i] == w->content[first][i] * 3 + w->content[!first][i] * 5 + c);
    NEED(w, clReleaseMemObject(out) == CL_SUCCESS);
    return true;
}

static void *work(void *user)
{
    struct worker *w = user;
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, "mix", &status);
    if (!kernel)
        w->wrong = "clCreateKernel";
    for (uint32_t i = 0; kernel && i < ROUNDS && mix(w, kernel, i); i++)
        ;
    if (kernel)
        clReleaseKernel(kernel);
    return NULL;
}

static void at_once(void **state)
{
    enum {
        WORKERS = 4
    };
    struct rig *rig = *state;
    struct worker workers[WORKERS] = {0};
    static uint32_t content[2][ITEMS];
    uint32_t random = 2;
    cl_mem shared[2];
    for (int i = 0; i < 2; i++) {
        rig_noise(&random, content[i], BYTES);
        shared[i] = rig_buffer(rig, CL_MEM_COPY_HOST_PTR | CL_MEM_READ_ONLY, BYTES, content[i]);
    }
    for (cl_uint i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.rig = rig,
                                     .device = i % rig->device_count,
                                     .number = i,
                                     .shared = {shared[0], shared[1]},
                                     .content = {content[0], content[1]}};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (cl_uint i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].wrong)
            fail_msg("thread %u: %s", i, workers[i].wrong);
    }
    for (int i = 0; i < 2; i++) {
        uint32_t seen[ITEMS];
        rig_read(rig, shared[i], seen, 0, BYTES);
        assert_memory_equal(seen, content[i], BYTES);
        OK(clReleaseMemObject(shared[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_turn),
        cmocka_unit_test(at_once),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
