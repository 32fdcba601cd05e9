/* Events: what they tell, user events, callbacks, profiling, and how errors get about. */
#include "cl.h"

#include <stdatomic.h>
#include <time.h>

static cl_event marker(cl_command_queue queue, cl_uint count, const cl_event *waits)
{
    cl_event event = NULL;
    assert_cl(clEnqueueMarkerWithWaitList(queue, count, waits, &event));
    assert_non_null(event);
    return event;
}

static void release(cl_uint count, cl_event *events)
{
    for (cl_uint i = 0; i < count; i++)
        assert_cl(clReleaseEvent(events[i]));
}

static void tells(void **state)
{
    const struct world *world = *state;
    cl_event event = marker(world->queue, 0, NULL);
    cl_command_queue queue = NULL;
    cl_context context = NULL;
    cl_command_type type = 0;
    cl_uint references = 0;
    size_t size = 0;
    assert_cl(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, &size));
    assert_ptr_equal(queue, world->queue);
    assert_int_equal(size, sizeof queue);
    assert_cl(clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, NULL));
    assert_ptr_equal(context, world->context);
    assert_cl(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_COMMAND_MARKER);
    assert_cl(clRetainEvent(event));
    assert_cl(
        clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL));
    assert_int_equal(references, 2);
    assert_cl(clReleaseEvent(event));
    assert_int_equal(event_status(event), CL_COMPLETE);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_CONTEXT, 1, &context, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetEventInfo(event, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_cl(clReleaseEvent(event));
}

static void wrong_handles(void **state)
{
    const struct world *world = *state;
    cl_event wrong = (cl_event)world->context, good = marker(world->queue, 0, NULL);
    const cl_event mixed[] = {good, wrong};
    assert_int_equal(clGetEventInfo(wrong, CL_EVENT_CONTEXT, 0, NULL, NULL), CL_INVALID_EVENT);
    assert_int_equal(clRetainEvent(wrong), CL_INVALID_EVENT);
    assert_int_equal(clReleaseEvent(wrong), CL_INVALID_EVENT);
    assert_int_equal(clReleaseEvent(NULL), CL_INVALID_EVENT);
    assert_int_equal(clGetEventProfilingInfo(wrong, CL_PROFILING_COMMAND_END, 0, NULL, NULL),
                     CL_INVALID_EVENT);
    assert_int_equal(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
    assert_int_equal(clWaitForEvents(1, NULL), CL_INVALID_VALUE);
    assert_int_equal(clWaitForEvents(0, &good), CL_INVALID_VALUE);
    assert_int_equal(clWaitForEvents(2, mixed), CL_INVALID_EVENT);
    assert_int_equal(clEnqueueMarkerWithWaitList(world->queue, 2, mixed, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueMarkerWithWaitList(world->queue, 1, NULL, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueBarrierWithWaitList(world->queue, 0, &good, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueMarkerWithWaitList((cl_command_queue)good, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueMarker(world->queue, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueWaitForEvents(world->queue, 0, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueWaitForEvents(world->queue, 2, mixed), CL_INVALID_EVENT);
    assert_int_equal(clEnqueueBarrier((cl_command_queue)good), CL_INVALID_COMMAND_QUEUE);
    assert_cl(clReleaseEvent(good));
}

static void of_another_context(void **state)
{
    const struct world *world = *state;
    cl_context other = clCreateContext(NULL, 1, &world->device, NULL, NULL, NULL);
    cl_int status;
    cl_event events[] = {clCreateUserEvent(other, &status), user_event(world)};
    assert_cl(status);
    assert_int_equal(clEnqueueMarkerWithWaitList(world->queue, 1, events, NULL),
                     CL_INVALID_CONTEXT);
    assert_int_equal(clWaitForEvents(2, events), CL_INVALID_CONTEXT);
    release(2, events);
    assert_cl(clReleaseContext(other));
}

static void user_events(void **state)
{
    const struct world *world = *state;
    cl_event user = user_event(world);
    cl_command_type type = 0;
    cl_command_queue queue = world->queue;
    assert_int_equal(event_status(user), CL_SUBMITTED);
    assert_cl(clGetEventInfo(user, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_COMMAND_USER);
    assert_cl(clGetEventInfo(user, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL));
    assert_null(queue);
    assert_int_equal(clSetUserEventStatus(user, CL_RUNNING), CL_INVALID_VALUE);
    assert_int_equal(clSetUserEventStatus(user, CL_SUBMITTED), CL_INVALID_VALUE);

    /* What waits stays queued, is submitted by a flush, and runs when it may. */
    cl_event second = marker(world->queue, 1, &user), third = marker(world->queue, 0, NULL);
    assert_int_equal(event_status(second), CL_QUEUED);
    assert_cl(clFlush(world->queue));
    assert_int_equal(event_status(second), CL_SUBMITTED);
    assert_int_equal(event_status(third), CL_SUBMITTED);
    assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
    assert_int_equal(event_status(user), CL_COMPLETE);
    assert_int_equal(event_status(second), CL_COMPLETE);
    assert_int_equal(event_status(third), CL_COMPLETE);

    assert_int_equal(clSetUserEventStatus(user, CL_COMPLETE), CL_INVALID_OPERATION);
    assert_int_equal(clSetUserEventStatus(user, -1), CL_INVALID_OPERATION);
    assert_int_equal(clSetUserEventStatus(second, CL_COMPLETE), CL_INVALID_EVENT);
    assert_int_equal(clSetUserEventStatus((cl_event)world->queue, CL_COMPLETE), CL_INVALID_EVENT);
    cl_int status = 0;
    assert_null(clCreateUserEvent((cl_context)world->queue, &status));
    assert_int_equal(status, CL_INVALID_CONTEXT);
    release(3, (cl_event[]){user, second, third});
}

/* Those that wait for it fail, and those that wait for them; nothing else does. */
static void errors_reach_what_waits(void **state)
{
    const struct world *world = *state;
    const cl_int failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    cl_command_queue other = world_queue(world, world->device_count - 1, 0);
    cl_event user = user_event(world), never = user_event(world);
    cl_event direct = marker(world->queue, 1, &user);
    cl_event through = marker(other, 1, &direct);
    cl_event behind = marker(world->queue, 0, NULL); /* in order, but it does not wait for it */
    cl_event both = marker(other, 2, (cl_event[]){never, through});
    assert_cl(clSetUserEventStatus(user, -77));
    assert_int_equal(event_status(user), -77);
    assert_int_equal(event_status(direct), failed);
    assert_int_equal(event_status(through), failed);
    assert_int_equal(event_status(behind), CL_COMPLETE);
    assert_int_equal(event_status(both), failed);
    assert_int_equal(clWaitForEvents(1, &user), failed);
    assert_int_equal(clWaitForEvents(2, (cl_event[]){behind, through}), failed);
    assert_cl(clWaitForEvents(1, &behind));
    assert_cl(clFinish(world->queue));
    assert_cl(clFinish(other));
    /* And commands enqueued afterwards. */
    cl_event late = marker(world->queue, 1, &through);
    assert_int_equal(event_status(late), failed);
    assert_int_equal(clGetEventProfilingInfo(late, CL_PROFILING_COMMAND_END, 0, NULL, NULL),
                     CL_PROFILING_INFO_NOT_AVAILABLE);
    release(7, (cl_event[]){user, never, direct, through, behind, both, late});
    assert_cl(clReleaseCommandQueue(other));
}

static void a_blocking_command_tells_the_error(void **state)
{
    const struct world *world = *state;
    cl_mem buffer = new_buffer(world, 64);
    cl_event user = user_event(world), event = NULL;
    int value;
    assert_cl(clSetUserEventStatus(user, -5));
    assert_int_equal(clEnqueueReadBuffer(world->queue, buffer, CL_TRUE, 0, sizeof value, &value, 1,
                                         &user, &event),
                     CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_cl(clReleaseEvent(user));
    if (event)
        assert_cl(clReleaseEvent(event));
    assert_cl(clReleaseMemObject(buffer));
}

/* ---- callbacks ---- */

enum {
    CALLS = 64
};

static struct calls {
    struct {
        cl_event event;
        cl_int status;
        intptr_t who;
    } list[CALLS];
    atomic_size_t count;
    cl_command_queue queue; /* to enqueue to, from within */
} calls;

static void CL_CALLBACK called(cl_event event, cl_int status, void *user)
{
    size_t count = calls.count;
    calls.list[count].event = event;
    calls.list[count].status = status;
    calls.list[count].who = (intptr_t)user;
    calls.count = count + 1;
}

/* On a host with much else to do they may come late, but they come, and no more than these. */
static void assert_calls(size_t count)
{
    for (int i = 0; i < 10000 && calls.count < count; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(calls.count, count);
}

static void on(cl_event event, cl_int status, intptr_t who)
{
    assert_cl(clSetEventCallback(event, status, called, (void *)who));
}

static void callbacks_in_order(void **state)
{
    const struct world *world = *state;
    calls.count = 0;
    cl_event user = user_event(world);
    cl_event first = marker(world->queue, 1, &user), second = marker(world->queue, 0, NULL);
    on(second, CL_COMPLETE, 9);
    on(first, CL_COMPLETE, 3);
    on(first, CL_COMPLETE, 4);
    on(first, CL_RUNNING, 2);
    on(first, CL_SUBMITTED, 1);
    assert_calls(0);
    assert_cl(clFlush(world->queue));
    assert_calls(1);
    assert_int_equal(calls.list[0].status, CL_SUBMITTED);
    assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
    const intptr_t order[] = {1, 2, 3, 4, 9};
    const cl_int statuses[] = {CL_SUBMITTED, CL_RUNNING, CL_COMPLETE, CL_COMPLETE, CL_COMPLETE};
    assert_calls(5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(calls.list[i].who, order[i]);
        assert_int_equal(calls.list[i].status, statuses[i]);
        assert_ptr_equal(calls.list[i].event, i < 4 ? first : second);
    }
    release(3, (cl_event[]){user, first, second});
}

static void callbacks_of_the_past(void **state)
{
    const struct world *world = *state;
    calls.count = 0;
    cl_event event = marker(world->queue, 0, NULL);
    for (cl_int status = CL_SUBMITTED; status >= CL_COMPLETE; status--) {
        on(event, status, status);
        assert_calls(3 - status);
        assert_int_equal(calls.list[calls.count - 1].status, status);
    }
    assert_int_equal(clSetEventCallback(event, CL_COMPLETE, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetEventCallback(event, CL_QUEUED, called, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetEventCallback(event, -1, called, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetEventCallback((cl_event)world->queue, CL_COMPLETE, called, NULL),
                     CL_INVALID_EVENT);
    assert_calls(3);
    assert_cl(clReleaseEvent(event));
}

static void callbacks_get_the_error(void **state)
{
    const struct world *world = *state;
    calls.count = 0;
    cl_event user = user_event(world), event = marker(world->queue, 1, &user);
    on(event, CL_SUBMITTED, 1);
    on(event, CL_COMPLETE, 2);
    on(user, CL_COMPLETE, 3);
    assert_cl(clSetUserEventStatus(user, -42));
    assert_calls(3);
    assert_int_equal(calls.list[0].status, -42);
    assert_int_equal(calls.list[0].who, 3);
    for (int i = 1; i < 3; i++)
        assert_int_equal(calls.list[i].status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    release(2, (cl_event[]){user, event});
}

static void CL_CALLBACK enqueues(cl_event event, cl_int status, void *user)
{
    called(event, status, user);
    if ((intptr_t)user == 0 || calls.count == CALLS)
        return;
    cl_event next = NULL;
    if (clEnqueueMarkerWithWaitList(calls.queue, 0, NULL, &next) != CL_SUCCESS)
        return;
    clSetEventCallback(next, CL_COMPLETE, enqueues, (void *)((uintptr_t)user - 1));
    clReleaseEvent(next);
}

/* One after the other, each from the callback of the one before. */
static void callbacks_may_enqueue(void **state)
{
    const struct world *world = *state;
    calls.count = 0;
    calls.queue = world->queue;
    cl_event user = user_event(world), event = marker(world->queue, 1, &user);
    assert_cl(clSetEventCallback(event, CL_COMPLETE, enqueues, (void *)50));
    assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
    assert_calls(51);
    assert_int_equal(calls.list[50].who, 0);
    release(2, (cl_event[]){user, event});
}

/* ---- profiling ---- */

static void times_rise(void **state)
{
    const struct world *world = *state;
    enum {
        BYTES = 1 << 16
    };
    cl_mem buffer = new_buffer(world, BYTES);
    unsigned char *bytes = calloc(1, BYTES);
    cl_event events[3];
    for (int i = 0; i < 3; i++)
        assert_cl(clEnqueueWriteBuffer(world->queue, buffer, CL_FALSE, 0, BYTES, bytes, 0, NULL,
                                       &events[i]));
    assert_cl(clFinish(world->queue));
    for (int i = 0; i < 3; i++) {
        cl_ulong queued = event_time(events[i], CL_PROFILING_COMMAND_QUEUED);
        cl_ulong submitted = event_time(events[i], CL_PROFILING_COMMAND_SUBMIT);
        cl_ulong started = event_time(events[i], CL_PROFILING_COMMAND_START);
        cl_ulong ended = event_time(events[i], CL_PROFILING_COMMAND_END);
        assert_true(queued <= submitted && submitted <= started && started < ended);
        if (i > 0)
            assert_true(started >= event_time(events[i - 1], CL_PROFILING_COMMAND_END));
    }
    cl_ulong time;
    assert_int_equal(clGetEventProfilingInfo(events[0], CL_PROFILING_COMMAND_END, 1, &time, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clGetEventProfilingInfo(events[0], 0, sizeof time, &time, NULL),
                     CL_INVALID_VALUE);
    free(bytes);
    release(3, events);
    assert_cl(clReleaseMemObject(buffer));
}

static void times_that_there_are_not(void **state)
{
    const struct world *world = *state;
    cl_command_queue plain = world_queue(world, 0, 0);
    cl_event user = user_event(world);
    cl_event events[] = {user, marker(plain, 0, NULL), marker(world->queue, 1, &user)};
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, 0, NULL, NULL),
            CL_PROFILING_INFO_NOT_AVAILABLE);
    assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
    assert_int_equal(clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_END, 0, NULL, NULL),
                     CL_PROFILING_INFO_NOT_AVAILABLE);
    assert_cl(clGetEventProfilingInfo(events[2], CL_PROFILING_COMMAND_END, 0, NULL, NULL));
    release(3, events);
    assert_cl(clReleaseCommandQueue(plain));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells),
        cmocka_unit_test(wrong_handles),
        cmocka_unit_test(of_another_context),
        cmocka_unit_test(user_events),
        cmocka_unit_test(errors_reach_what_waits),
        cmocka_unit_test(a_blocking_command_tells_the_error),
        cmocka_unit_test(callbacks_in_order),
        cmocka_unit_test(callbacks_of_the_past),
        cmocka_unit_test(callbacks_get_the_error),
        cmocka_unit_test(callbacks_may_enqueue),
        cmocka_unit_test(times_rise),
        cmocka_unit_test(times_that_there_are_not),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
