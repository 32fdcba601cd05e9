/*
 * Command queues. Order, in or out of order, is enforced by the selection of commands (command.c).
 */
#include "opencl/opencl.h"

static cl_command_queue queue_create(cl_context context, cl_device_id device,
                                     cl_command_queue_properties properties)
{
    cl_command_queue queue = object_create(KIND_QUEUE, sizeof *queue);
    queue->context = context;
    queue->device = device;
    queue->properties = properties;
    queue->failed = queue->broken_from = UINT64_MAX;
    queue->next = device->queues;
    device->queues = queue;
    object_retain(context);
    return queue;
}

void destroy_queue(void *object)
{
    cl_command_queue queue = object, *link = &queue->device->queues;
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    object_release(queue->context);
}

void queue_submit(cl_command_queue queue)
{
    u64 last = platform_get()->commands;
    object_retain(queue);
    struct queue_command *command = queue->first;
    while (command && command->number <= last) {
        cl_event event = command->event;
        if (event->status != CL_QUEUED) {
            command = command->next;
            continue;
        }
        event->times[1] = device_now(queue->device);
        object_retain(event);
        event_set(event, CL_SUBMITTED);
        object_release(event);
        command = queue->first; /* the lock was released: other threads may have run some */
    }
    object_release(queue);
}

void queue_finish(cl_command_queue queue)
{
    u64 last = platform_get()->commands;
    object_retain(queue);
    queue_submit(queue);
    while (queue->first && queue->first->number <= last)
        if (!command_run_one())
            driver_wait();
    object_release(queue);
}

static cl_int check(cl_context context, cl_device_id device)
{
    if (!object_is(context, KIND_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!object_is(device, KIND_DEVICE) || !context_has_device(context, device))
        return CL_INVALID_DEVICE;
    return CL_SUCCESS;
}

static bool known(cl_command_queue_properties properties)
{
    return !(properties & ~(cl_command_queue_properties)(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
                                                         CL_QUEUE_PROFILING_ENABLE));
}

CL_API_ENTRY cl_command_queue CL_API_CALL
clCreateCommandQueue(cl_context context, cl_device_id device,
                     cl_command_queue_properties properties, cl_int *errcode_ret)
{
    LOCKED;
    cl_int status = check(context, device);
    if (status != CL_SUCCESS)
        return failed(errcode_ret, status);
    if (!known(properties))
        return failed(errcode_ret, CL_INVALID_VALUE);
    return made(errcode_ret, queue_create(context, device, properties));
}

/* An OpenCL 2.0 function, but programs call it on any device, and it needs nothing that a 1.2 queue
 * does not have. */
CL_API_ENTRY cl_command_queue CL_API_CALL
clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                   const cl_queue_properties *properties, cl_int *errcode_ret)
{
    LOCKED;
    cl_int status = check(context, device);
    if (status != CL_SUCCESS)
        return failed(errcode_ret, status);
    cl_command_queue_properties bits = 0;
    for (; properties && *properties; properties += 2) {
        if (properties[0] != CL_QUEUE_PROPERTIES)
            return failed(errcode_ret, properties[0] == CL_QUEUE_SIZE ? CL_INVALID_QUEUE_PROPERTIES
                                                                      : CL_INVALID_VALUE);
        bits = properties[1];
    }
    if (!known(bits))
        return failed(errcode_ret, CL_INVALID_QUEUE_PROPERTIES);
    return made(errcode_ret, queue_create(context, device, bits));
}

CL_API_ENTRY cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue command_queue)
{
    LOCKED;
    if (!object_is(command_queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    object_retain(command_queue);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue command_queue)
{
    LOCKED;
    if (!object_is(command_queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    queue_submit(command_queue);
    object_release(command_queue);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue command_queue,
                                                      cl_command_queue_info param_name,
                                                      size_t param_value_size, void *param_value,
                                                      size_t *param_value_size_ret)
{
    LOCKED;
    cl_command_queue queue = command_queue;
    if (!object_is(queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    struct query query = {param_value_size, param_value, param_value_size_ret};
    switch (param_name) {
    case CL_QUEUE_CONTEXT:
        return QUERY_VALUE(&query, cl_context, queue->context);
    case CL_QUEUE_DEVICE:
        return QUERY_VALUE(&query, cl_device_id, queue->device);
    case CL_QUEUE_REFERENCE_COUNT:
        return QUERY_VALUE(&query, cl_uint, queue->object.references);
    case CL_QUEUE_PROPERTIES:
        return QUERY_VALUE(&query, cl_command_queue_properties, queue->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

/* Only OpenCL 1.0 devices must allow a change of queue properties. */
CL_API_ENTRY cl_int CL_API_CALL
clSetCommandQueueProperty(cl_command_queue command_queue, cl_command_queue_properties properties,
                          cl_bool enable, cl_command_queue_properties *old_properties)
{
    LOCKED;
    if (!object_is(command_queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    return known(properties) ? CL_INVALID_OPERATION : CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clFlush(cl_command_queue command_queue)
{
    LOCKED;
    if (!object_is(command_queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    object_retain(command_queue);
    queue_submit(command_queue);
    command_run_ready();
    object_release(command_queue);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clFinish(cl_command_queue command_queue)
{
    LOCKED;
    if (!object_is(command_queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    object_retain(command_queue);
    queue_finish(command_queue);
    cl_int failure = command_queue->failure;
    object_release(command_queue);
    return failure ? CL_OUT_OF_RESOURCES : CL_SUCCESS; /* an error that clFinish may return */
}
