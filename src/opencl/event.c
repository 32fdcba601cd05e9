/*
 * Events of commands, and user events.
 *
 * Invariants
 *  E1  A status only decreases: queued, submitted, running, complete or an error; it changes only
 *      in event_set, which wakes waiting threads.
 *  E2  A callback is called once, with the status it was registered for, or with the error.
 */
#include "opencl/opencl.h"

static cl_event event_create(cl_context context, cl_command_queue queue, cl_command_type type,
                             cl_int status)
{
    cl_event event = object_create(KIND_EVENT, sizeof *event);
    event->context = context;
    event->queue = queue;
    event->type = type;
    event->status = status;
    object_retain(context);
    if (queue)
        object_retain(queue);
    return event;
}

cl_event event_of_command(cl_command_queue queue, cl_command_type type)
{
    cl_event event = event_create(queue->context, queue, type, CL_QUEUED);
    event->times[0] = device_now(queue->device);
    return event;
}

void destroy_event(void *object)
{
    cl_event event = object;
    while (event->callbacks) {
        struct event_callback *callback = event->callbacks;
        event->callbacks = callback->next;
        free(callback);
    }
    if (event->queue)
        object_release(event->queue);
    object_release(event->context);
}

/* Posts the callbacks whose status is reached, in the order of registration. */
static void call_due(cl_event event)
{
    bool posted = false;
    struct event_callback **link = &event->callbacks;
    while (*link) {
        struct event_callback *callback = *link;
        if (event->status > callback->status) {
            link = &callback->next;
            continue;
        }
        *link = callback->next;
        callback_post(event, event->status < 0 ? event->status : callback->status, callback);
        posted = true;
    }
    if (posted)
        callback_settle();
}

void event_set(cl_event event, cl_int status)
{
    event->status = status;
    driver_changed();
    call_due(event);
}

void event_wait(cl_event event)
{
    while (event->status > CL_COMPLETE)
        if (!command_run_one())
            driver_wait();
}

CL_API_ENTRY cl_int CL_API_CALL clWaitForEvents(cl_uint num_events, const cl_event *event_list)
{
    if (!num_events || !event_list)
        return CL_INVALID_VALUE;
    LOCKED;
    for (cl_uint i = 0; i < num_events; i++)
        if (!object_is(event_list[i], KIND_EVENT))
            return CL_INVALID_EVENT;
    for (cl_uint i = 1; i < num_events; i++)
        if (event_list[i]->context != event_list[0]->context)
            return CL_INVALID_CONTEXT;
    for (cl_uint i = 0; i < num_events; i++)
        object_retain(event_list[i]);
    for (cl_uint i = 0; i < num_events; i++)
        if (event_list[i]->queue)
            queue_submit(event_list[i]->queue);
    cl_int status = CL_SUCCESS;
    for (cl_uint i = 0; i < num_events; i++) {
        event_wait(event_list[i]);
        if (event_list[i]->status < 0)
            status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    for (cl_uint i = 0; i < num_events; i++)
        object_release(event_list[i]);
    return status;
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info param_name,
                                               size_t param_value_size, void *param_value,
                                               size_t *param_value_size_ret)
{
    LOCKED;
    if (!object_is(event, KIND_EVENT))
        return CL_INVALID_EVENT;
    struct query query = {param_value_size, param_value, param_value_size_ret};
    switch (param_name) {
    case CL_EVENT_COMMAND_QUEUE:
        return QUERY_VALUE(&query, cl_command_queue, event->queue);
    case CL_EVENT_CONTEXT:
        return QUERY_VALUE(&query, cl_context, event->context);
    case CL_EVENT_COMMAND_TYPE:
        return QUERY_VALUE(&query, cl_command_type, event->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
        return QUERY_VALUE(&query, cl_int, event->status);
    case CL_EVENT_REFERENCE_COUNT:
        return QUERY_VALUE(&query, cl_uint, event->object.references);
    default:
        return CL_INVALID_VALUE;
    }
}

CL_API_ENTRY cl_int CL_API_CALL clRetainEvent(cl_event event)
{
    LOCKED;
    if (!object_is(event, KIND_EVENT))
        return CL_INVALID_EVENT;
    object_retain(event);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseEvent(cl_event event)
{
    LOCKED;
    if (!object_is(event, KIND_EVENT))
        return CL_INVALID_EVENT;
    object_release(event);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event,
                                                        cl_profiling_info param_name,
                                                        size_t param_value_size, void *param_value,
                                                        size_t *param_value_size_ret)
{
    LOCKED;
    if (!object_is(event, KIND_EVENT))
        return CL_INVALID_EVENT;
    if (!event->queue || !(event->queue->properties & CL_QUEUE_PROFILING_ENABLE) ||
        event->status != CL_COMPLETE)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    struct query query = {param_value_size, param_value, param_value_size_ret};
    switch (param_name) {
    case CL_PROFILING_COMMAND_QUEUED:
    case CL_PROFILING_COMMAND_SUBMIT:
    case CL_PROFILING_COMMAND_START:
    case CL_PROFILING_COMMAND_END:
        return QUERY_VALUE(&query, cl_ulong,
                           event->times[param_name - CL_PROFILING_COMMAND_QUEUED]);
    default:
        return CL_INVALID_VALUE;
    }
}

CL_API_ENTRY cl_int CL_API_CALL clSetEventCallback(
    cl_event event, cl_int command_exec_callback_type,
    void(CL_CALLBACK *pfn_notify)(cl_event event, cl_int status, void *user_data), void *user_data)
{
    LOCKED;
    if (!object_is(event, KIND_EVENT))
        return CL_INVALID_EVENT;
    if (!pfn_notify || command_exec_callback_type < CL_COMPLETE ||
        command_exec_callback_type > CL_SUBMITTED)
        return CL_INVALID_VALUE;
    struct event_callback *callback = checked(calloc(1, sizeof *callback));
    callback->status = command_exec_callback_type;
    callback->call = pfn_notify;
    callback->user = user_data;
    struct event_callback **link = &event->callbacks;
    while (*link)
        link = &(*link)->next;
    *link = callback;
    object_retain(event);
    call_due(event);
    object_release(event);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int *errcode_ret)
{
    LOCKED;
    if (!object_is(context, KIND_CONTEXT))
        return failed(errcode_ret, CL_INVALID_CONTEXT);
    return made(errcode_ret, event_create(context, NULL, CL_COMMAND_USER, CL_SUBMITTED));
}

CL_API_ENTRY cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int execution_status)
{
    LOCKED;
    if (!object_is(event, KIND_EVENT) || event->type != CL_COMMAND_USER)
        return CL_INVALID_EVENT;
    if (execution_status > CL_COMPLETE)
        return CL_INVALID_VALUE;
    if (event->status <= CL_COMPLETE)
        return CL_INVALID_OPERATION;
    object_retain(event);
    event_set(event, execution_status);
    command_run_ready();
    object_release(event);
    return CL_SUCCESS;
}
