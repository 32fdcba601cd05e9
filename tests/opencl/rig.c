#include "rig.h"

int rig_setup(void **state)
{
    static struct rig rig; /* one for each test program */
    cl_int status;
    char name[64];
    OK(clGetPlatformIDs(1, &rig.platform, NULL));
    OK(clGetPlatformInfo(rig.platform, CL_PLATFORM_NAME, sizeof name, name, NULL));
    assert_string_equal(name, "Heddle"); /* and not another driver of this host */
    OK(clGetDeviceIDs(rig.platform, CL_DEVICE_TYPE_ALL, RIG_DEVICES, rig.devices,
                      &rig.device_count));
    rig.context = clCreateContext(NULL, rig.device_count, rig.devices, NULL, NULL, &status);
    OK(status);
    for (cl_uint i = 0; i < rig.device_count; i++) {
        rig.queues[i] =
            clCreateCommandQueue(rig.context, rig.devices[i], CL_QUEUE_PROFILING_ENABLE, &status);
        OK(status);
    }
    rig.queue = rig.queues[0];
    *state = &rig;
    return 0;
}

int rig_teardown(void **state)
{
    struct rig *rig = *state;
    for (cl_uint i = 0; i < rig->device_count; i++)
        OK(clReleaseCommandQueue(rig->queues[i]));
    OK(clReleaseContext(rig->context));
    return 0;
}

cl_program rig_build(cl_context context, const char *source, const char *options)
{
    cl_int status;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    OK(status);
    status = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    if (status != CL_SUCCESS) {
        cl_device_id device;
        char log[4096] = "";
        OK(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, &device, NULL));
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        print_error("%s\n", log);
    }
    OK(status);
    return program;
}

cl_kernel rig_kernel(cl_context context, const char *source, const char *name)
{
    cl_int status;
    cl_program program = rig_build(context, source, "");
    cl_kernel kernel = clCreateKernel(program, name, &status);
    OK(status);
    OK(clReleaseProgram(program)); /* the kernel keeps it */
    return kernel;
}

cl_mem rig_buffer(struct rig *rig, cl_mem_flags flags, size_t bytes, void *host)
{
    cl_int status;
    cl_mem buffer = clCreateBuffer(rig->context, flags, bytes, host, &status);
    OK(status);
    assert_non_null(buffer);
    return buffer;
}

void rig_read(struct rig *rig, cl_mem buffer, void *to, size_t offset, size_t bytes)
{
    OK(clEnqueueReadBuffer(rig->queue, buffer, CL_TRUE, offset, bytes, to, 0, NULL, NULL));
}

void rig_write(struct rig *rig, cl_mem buffer, const void *from, size_t offset, size_t bytes)
{
    OK(clEnqueueWriteBuffer(rig->queue, buffer, CL_TRUE, offset, bytes, from, 0, NULL, NULL));
}

uint32_t rig_random(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes' generator */
    return (uint32_t)((uint64_t)*state * below >> 32);
}

void rig_noise(uint32_t *state, void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)to)[i] = (uint8_t)rig_random(state, 256);
}
