/*
 * Commands: which of them can run, and running them; markers and barriers.
 *
 * A command can run when its device is not in use, all events in its wait list have ended, and its
 * queue's order allows it: an in-order queue runs only its first command, an out-of-order queue any
 * command that is not behind a barrier. Of all commands that can run, on any device, the one
 * enqueued first runs.
 *
 * Times: a command starts when its device is free, but not before the events it waited for have
 * ended, on whatever device. Durations are rounded up to whole nanoseconds, the unit that programs
 * see, so a command never begins before the previous one has ended.
 *
 * Failures: a command that fails by itself (a kernel fault, no memory left on a device) breaks its
 * queue, unless the call that enqueued it is blocking and returns the error. In a broken queue,
 * commands that depend on the failed one fail, too: in order, everything after it; out of order,
 * barriers and markers that wait for all earlier commands, and everything enqueued after such a
 * barrier. A queue stays broken, as with other drivers; a new queue is not. A failure also
 * propagates through wait lists into other queues, and breaks those. An error that the program
 * itself sets on a user event fails the commands that wait for it and breaks no queue.
 *
 * Invariants
 *  C1  A command stays in its queue until it has ended, also while it runs; its queue, its event
 *      and the events it waits for live as long.
 *  C2  A command that is to fail because of another never acts: it fails as soon as the error is
 *      known.
 *  C3  No failure goes unreported, unless the program has caused it itself: blocking calls and
 *      clFinish of a broken queue return an error.
 */
#include "opencl/opencl.h"

cl_int command_check(cl_command_queue queue, cl_uint wait_count, const cl_event *waits)
{
    if (!object_is(queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!wait_count != !waits)
        return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < wait_count; i++)
        if (!object_is(waits[i], KIND_EVENT))
            return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < wait_count; i++)
        if (waits[i]->context != queue->context)
            return CL_INVALID_CONTEXT;
    return CL_SUCCESS;
}

/* ---- selection ---- */

/* The error that a command inherits from earlier ones; CL_SUCCESS: it may act. */
static cl_int inherited(const struct queue_command *command)
{
    const struct _cl_command_queue *queue = command->queue;
    for (u32 i = 0; i < command->wait_count; i++)
        if (command->waits[i]->status < 0)
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    bool depends = command->number > queue->broken_from ||
                   (command->after_all && command->number > queue->failed);
    return depends ? queue->failure : CL_SUCCESS;
}

static bool waits_ended(const struct queue_command *command)
{
    for (u32 i = 0; i < command->wait_count; i++)
        if (command->waits[i]->status > CL_COMPLETE)
            return inherited(command) != CL_SUCCESS; /* C2 */
    return true;
}

static struct queue_command *ready_in(cl_command_queue queue)
{
    bool out_of_order = queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    for (struct queue_command *command = queue->first; command; command = command->next) {
        bool first = command == queue->first;
        if ((first || !command->after_all) && waits_ended(command))
            return command;
        if (!out_of_order || command->barrier)
            return NULL;
    }
    return NULL;
}

static struct queue_command *ready_anywhere(void)
{
    struct queue_command *best = NULL;
    cl_platform_id platform = platform_get();
    for (u32 i = 0; i < platform->device_count; i++) {
        cl_device_id device = platform->devices[i];
        for (cl_command_queue queue = device->queues; queue && !device->busy; queue = queue->next) {
            struct queue_command *command = ready_in(queue);
            if (command && (!best || command->number < best->number))
                best = command;
        }
    }
    return best;
}

/* ---- running ---- */

static void remove_from_queue(struct queue_command *command)
{
    cl_command_queue queue = command->queue;
    struct queue_command *before = NULL;
    for (struct queue_command *at = queue->first; at != command; at = at->next)
        before = at;
    *(before ? &before->next : &queue->first) = command->next;
    if (queue->last == command)
        queue->last = before;
}

static void destroy(struct queue_command *command)
{
    cl_command_queue queue = command->queue;
    cl_event event = command->event, *waits = command->waits;
    u32 wait_count = command->wait_count;
    if (command->destroy)
        command->destroy(command);
    else
        free(command);
    for (u32 i = 0; i < wait_count; i++)
        object_release(waits[i]);
    free(waits);
    object_release(event);
    object_release(queue);
}

static void advance(cl_device_id device, u64 ps)
{
    device->now_ps = align_up(device->now_ps + ps, 1000);
}

static void start(struct queue_command *command)
{
    cl_device_id device = command->queue->device;
    cl_event event = command->event;
    for (u32 i = 0; i < command->wait_count; i++)
        device->now_ps = MAX(device->now_ps, command->waits[i]->times[3] * 1000);
    if (event->status == CL_QUEUED) {
        event->times[1] = device_now(device);
        event_set(event, CL_SUBMITTED);
    }
    event->times[2] = device_now(device);
    event_set(event, CL_RUNNING);
}

static cl_int act(struct queue_command *command)
{
    cl_device_id device = command->queue->device;
    u64 ps = 0;
    cl_int status = CL_SUCCESS;
    if (command->run) {
        driver_unlock();
        status = command->run(command, &ps);
        driver_lock();
    }
    advance(device, ps);
    command->event->times[3] = device_now(device);
    return status;
}

/* Whether a failed command failed by itself, or because of one that did, and not because of the
 * status that the program gave to a user event. */
static bool is_fault(const struct queue_command *command)
{
    bool by_event = false;
    for (u32 i = 0; i < command->wait_count; i++) {
        if (command->waits[i]->fault)
            return true;
        by_event |= command->waits[i]->status < 0;
    }
    return !by_event;
}

static void break_queue(const struct queue_command *command, cl_int status)
{
    cl_command_queue queue = command->queue;
    bool out_of_order = queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    if (!queue->failure)
        queue->failure = status;
    queue->failed = MIN(queue->failed, command->number);
    if (!out_of_order || command->barrier)
        queue->broken_from = MIN(queue->broken_from, command->number);
}

bool command_run_one(void)
{
    struct queue_command *command = ready_anywhere();
    if (!command)
        return false;
    cl_device_id device = command->queue->device;
    device->busy = true;
    cl_int status = inherited(command);
    if (status == CL_SUCCESS) {
        start(command);
        status = act(command);
    }
    command->event->fault = status < 0 && is_fault(command);
    if (command->event->fault && !command->blocking)
        break_queue(command, status);
    device->busy = false;
    remove_from_queue(command);
    event_set(command->event, status);
    destroy(command);
    return true;
}

void command_run_ready(void)
{
    while (command_run_one())
        ;
}

/* ---- enqueueing ---- */

cl_int command_enqueue(struct queue_command *command, cl_command_queue queue, cl_command_type type,
                       cl_uint wait_count, const cl_event *waits, bool blocking, cl_event *event)
{
    cl_event own = event_of_command(queue, type);
    command->next = NULL;
    command->queue = queue;
    command->event = own;
    command->wait_count = wait_count;
    command->waits = wait_count ? checked(calloc(wait_count, sizeof(cl_event))) : NULL;
    for (u32 i = 0; i < wait_count; i++) {
        command->waits[i] = waits[i];
        object_retain(waits[i]);
    }
    command->number = ++platform_get()->commands;
    command->blocking = blocking;
    object_retain(queue);
    if (queue->last)
        queue->last->next = command;
    else
        queue->first = command;
    queue->last = command;

    object_retain(own); /* one reference for this call, passed on to the program */
    command_run_ready();
    cl_int status = CL_SUCCESS;
    if (blocking) {
        queue_submit(own->queue);
        event_wait(own);
        status = MIN(own->status, CL_SUCCESS);
    }
    if (event)
        *event = own;
    else
        object_release(own);
    return status;
}

static cl_int enqueue_sync(cl_command_queue queue, cl_command_type type, bool barrier,
                           cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    LOCKED;
    cl_int status = command_check(queue, wait_count, waits);
    if (status != CL_SUCCESS)
        return status;
    struct queue_command *command = checked(calloc(1, sizeof *command));
    command->after_all = !wait_count;
    command->barrier = barrier;
    return command_enqueue(command, queue, type, wait_count, waits, false, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue command_queue,
                                                            cl_uint num_events_in_wait_list,
                                                            const cl_event *event_wait_list,
                                                            cl_event *event)
{
    return enqueue_sync(command_queue, CL_COMMAND_MARKER, false, num_events_in_wait_list,
                        event_wait_list, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue command_queue,
                                                             cl_uint num_events_in_wait_list,
                                                             const cl_event *event_wait_list,
                                                             cl_event *event)
{
    return enqueue_sync(command_queue, CL_COMMAND_BARRIER, true, num_events_in_wait_list,
                        event_wait_list, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarker(cl_command_queue command_queue, cl_event *event)
{
    if (object_is(command_queue, KIND_QUEUE) && !event)
        return CL_INVALID_VALUE;
    return enqueue_sync(command_queue, CL_COMMAND_MARKER, false, 0, NULL, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue command_queue)
{
    return enqueue_sync(command_queue, CL_COMMAND_BARRIER, true, 0, NULL, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue command_queue,
                                                       cl_uint num_events,
                                                       const cl_event *event_list)
{
    if (object_is(command_queue, KIND_QUEUE) && (!num_events || !event_list))
        return CL_INVALID_VALUE;
    cl_int status =
        enqueue_sync(command_queue, CL_COMMAND_BARRIER, true, num_events, event_list, NULL);
    return status == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : status;
}
