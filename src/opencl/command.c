/* To be written. */
#include "opencl/opencl.h"

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarker(cl_command_queue command_queue, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue command_queue,
                                                       cl_uint num_events,
                                                       const cl_event *event_list)
{
    return CL_INVALID_OPERATION;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue command_queue)
{
    return CL_INVALID_OPERATION;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue command_queue,
                                                            cl_uint num_events_in_wait_list,
                                                            const cl_event *event_wait_list,
                                                            cl_event *event)
{
    return CL_INVALID_OPERATION;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue command_queue,
                                                             cl_uint num_events_in_wait_list,
                                                             const cl_event *event_wait_list,
                                                             cl_event *event)
{
    return CL_INVALID_OPERATION;
}

cl_int command_check(cl_command_queue queue, cl_uint wait_count, const cl_event *waits)
{
    return CL_INVALID_COMMAND_QUEUE;
}

cl_int command_enqueue(struct command *command, cl_command_queue queue, cl_command_type type,
                       cl_uint wait_count, const cl_event *waits, bool blocking, cl_event *event)
{
    return CL_INVALID_OPERATION;
}

void command_run_ready(cl_device_id device)
{
}
