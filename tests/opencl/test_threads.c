/*
 * Programs with several threads: each with a queue of its own, all with one, threads that wait for
 * what others set, and callbacks that need a lock which the program holds. Built with
 * -Db_sanitize=thread it also finds what threads share without the driver's lock.
 */
#include "cl.h"

#include <pthread.h>

enum {
    THREADS = 6,
    ROUNDS = 30,
    WORDS = 256
};

struct worker {
    pthread_t thread;
    const struct world *world;
    cl_command_queue queue;
    cl_mem buffers[2];
    cl_event gate; /* not NULL: to wait for */
    uint32_t number;
    const char *wrong; /* cmocka's asserts are for the main thread only */
};

#define NEED(worker, condition)           \
    do {                                  \
        if (!(condition)) {               \
            (worker)->wrong = #condition; \
            return false;                 \
        }                                 \
    } while (0)

/* There, across and back, chained by events. */
static bool round_trip(struct worker *worker, uint32_t round)
{
    uint32_t out[WORDS], in[WORDS] = {0};
    cl_event written, copied;
    for (uint32_t i = 0; i < WORDS; i++)
        out[i] = worker->number << 24 | round << 12 | i;
    NEED(worker, clEnqueueWriteBuffer(worker->queue, worker->buffers[0], CL_FALSE, 0, sizeof out,
                                      out, !!worker->gate, worker->gate ? &worker->gate : NULL,
                                      &written) == CL_SUCCESS);
    NEED(worker, clEnqueueCopyBuffer(worker->queue, worker->buffers[0], worker->buffers[1], 0, 0,
                                     sizeof out, 1, &written, &copied) == CL_SUCCESS);
    NEED(worker, clEnqueueReadBuffer(worker->queue, worker->buffers[1], CL_TRUE, 0, sizeof in, in,
                                     1, &copied, NULL) == CL_SUCCESS);
    NEED(worker, memcmp(in, out, sizeof in) == 0);
    NEED(worker, clWaitForEvents(1, &written) == CL_SUCCESS);
    NEED(worker, clReleaseEvent(written) == CL_SUCCESS && clReleaseEvent(copied) == CL_SUCCESS);
    return true;
}

static void *work(void *user)
{
    struct worker *worker = user;
    for (uint32_t i = 0; i < ROUNDS && round_trip(worker, i); i++)
        ;
    return NULL;
}

/* `shared`: one queue for all, out of order; else one each, over all devices. */
static void together(const struct world *world, bool shared, cl_event gate)
{
    struct worker workers[THREADS] = {0};
    cl_command_queue common = world_queue(world, 0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct worker *worker = &workers[i];
        worker->world = world;
        worker->number = i;
        worker->gate = gate;
        worker->queue = shared ? common : world_queue(world, i % world->device_count, 0);
        for (int b = 0; b < 2; b++)
            worker->buffers[b] = new_buffer(world, WORDS * sizeof(uint32_t));
        assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
    }
    if (gate)
        assert_cl(clSetUserEventStatus(gate, CL_COMPLETE));
    for (uint32_t i = 0; i < THREADS; i++) {
        struct worker *worker = &workers[i];
        pthread_join(worker->thread, NULL);
        if (worker->wrong)
            fail_msg("thread %u: %s", i, worker->wrong);
        for (int b = 0; b < 2; b++)
            assert_cl(clReleaseMemObject(worker->buffers[b]));
        if (!shared)
            assert_cl(clReleaseCommandQueue(worker->queue));
    }
    assert_cl(clReleaseCommandQueue(common));
}

static void queue_each(void **state)
{
    together(*state, false, NULL);
}

static void one_queue(void **state)
{
    together(*state, true, NULL);
}

static void held_back(void **state)
{
    cl_event gate = user_event(*state);
    together(*state, false, gate);
    assert_cl(clReleaseEvent(gate));
    gate = user_event(*state);
    together(*state, true, gate);
    assert_cl(clReleaseEvent(gate));
}

/* ---- waiting for another thread ---- */

struct waiter {
    cl_command_queue queue;
    cl_event event;
    cl_int status;
};

static void *finish(void *user)
{
    struct waiter *waiter = user;
    waiter->status = clFinish(waiter->queue);
    return NULL;
}

static void *wait_for(void *user)
{
    struct waiter *waiter = user;
    waiter->status = clWaitForEvents(1, &waiter->event);
    return NULL;
}

static void set_by_another(void **state)
{
    const struct world *world = *state;
    for (cl_int code = -1; code <= 0; code++) {
        cl_event gate = user_event(world), held;
        assert_cl(clEnqueueMarkerWithWaitList(world->queue, 1, &gate, &held));
        struct waiter waiters[3] = {{world->queue, NULL, 99}, {NULL, held, 99}, {NULL, gate, 99}};
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, i ? wait_for : finish, &waiters[i]),
                             0);
        assert_cl(clSetUserEventStatus(gate, code));
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(waiters[0].status, CL_SUCCESS);
        for (int i = 1; i < 3; i++)
            assert_int_equal(waiters[i].status,
                             code ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS);
        assert_cl(clReleaseEvent(gate));
        assert_cl(clReleaseEvent(held));
    }
}

/* ---- a lock that the program and its callback share ---- */

struct notice {
    pthread_mutex_t lock;
    pthread_cond_t come;
    int count;
};

static void CL_CALLBACK notify(cl_event event, cl_int status, void *user)
{
    struct notice *notice = user;
    pthread_mutex_lock(&notice->lock);
    notice->count++;
    pthread_cond_signal(&notice->come);
    pthread_mutex_unlock(&notice->lock);
}

static void lock_held_while_setting(void **state)
{
    const struct world *world = *state;
    struct notice notice = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    for (int i = 0; i < 3; i++) {
        cl_event event;
        pthread_mutex_lock(&notice.lock);
        assert_cl(clEnqueueMarkerWithWaitList(world->queue, 0, NULL, &event));
        assert_cl(clSetEventCallback(event, CL_COMPLETE, notify, &notice));
        assert_cl(clFinish(world->queue));
        while (notice.count <= i)
            pthread_cond_wait(&notice.come, &notice.lock);
        pthread_mutex_unlock(&notice.lock);
        assert_cl(clReleaseEvent(event));
    }
}

static void callback_waits_for_a_command(void **state)
{
    const struct world *world = *state;
    struct notice notice = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    cl_event gate = user_event(world), held;
    assert_cl(clEnqueueMarkerWithWaitList(world->queue, 1, &gate, &held));
    assert_cl(clSetEventCallback(held, CL_SUBMITTED, notify, &notice));
    pthread_mutex_lock(&notice.lock);
    assert_cl(clFlush(world->queue)); /* the callback waits for the lock */
    assert_cl(clSetUserEventStatus(gate, CL_COMPLETE));
    assert_cl(clFinish(world->queue)); /* but commands do not wait for it */
    assert_int_equal(event_status(held), CL_COMPLETE);
    while (!notice.count)
        pthread_cond_wait(&notice.come, &notice.lock);
    pthread_mutex_unlock(&notice.lock);
    assert_cl(clReleaseEvent(gate));
    assert_cl(clReleaseEvent(held));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_each),
        cmocka_unit_test(one_queue),
        cmocka_unit_test(held_back),
        cmocka_unit_test(set_by_another),
        cmocka_unit_test(lock_held_while_setting),
        cmocka_unit_test(callback_waits_for_a_command),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
