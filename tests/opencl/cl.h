/*
 * What tests of the OpenCL driver have in common: they are programs for the loader, which finds the
 * driver by OCL_ICD_VENDORS. A test gets a context and a queue of the first device.
 */
#ifndef TESTS_OPENCL_CL_H
#define TESTS_OPENCL_CL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define assert_cl(call) assert_int_equal(call, CL_SUCCESS)

enum {
    DEVICES = 4
};

struct world {
    cl_platform_id platform;
    cl_device_id devices[DEVICES];
    cl_uint device_count;
    cl_device_id device; /* the first */
    cl_context context;  /* of all */
    cl_command_queue queue;
};

static inline cl_command_queue world_queue(const struct world *world, cl_uint device,
                                           cl_command_queue_properties properties)
{
    cl_int status;
    cl_command_queue queue =
        clCreateCommandQueue(world->context, world->devices[device], properties, &status);
    assert_cl(status);
    return queue;
}

static inline int world_open(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    cl_int status;
    assert_cl(clGetPlatformIDs(1, &world->platform, NULL));
    assert_cl(clGetDeviceIDs(world->platform, CL_DEVICE_TYPE_ALL, DEVICES, world->devices,
                             &world->device_count));
    world->device = world->devices[0];
    world->context =
        clCreateContext(NULL, world->device_count, world->devices, NULL, NULL, &status);
    assert_cl(status);
    world->queue = world_queue(world, 0, CL_QUEUE_PROFILING_ENABLE);
    *state = world;
    return 0;
}

static inline int world_close(void **state)
{
    struct world *world = *state;
    assert_cl(clReleaseCommandQueue(world->queue));
    assert_cl(clReleaseContext(world->context));
    free(world);
    return 0;
}

static inline cl_int event_status(cl_event event)
{
    cl_int status = 1000;
    assert_cl(
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

static inline cl_ulong event_time(cl_event event, cl_profiling_info what)
{
    cl_ulong time = 0;
    assert_cl(clGetEventProfilingInfo(event, what, sizeof time, &time, NULL));
    return time;
}

static inline cl_event user_event(const struct world *world)
{
    cl_int status;
    cl_event event = clCreateUserEvent(world->context, &status);
    assert_cl(status);
    return event;
}

static inline cl_mem new_buffer(const struct world *world, size_t bytes)
{
    cl_int status;
    cl_mem buffer = clCreateBuffer(world->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    assert_cl(status);
    return buffer;
}

#endif
