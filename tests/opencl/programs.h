/* What tests of programs share: making, building, asking and running them. */
#ifndef TESTS_OPENCL_PROGRAMS_H
#define TESTS_OPENCL_PROGRAMS_H

#include "cl.h"

#include <stdio.h>

static inline cl_program from_source(const struct world *world, const char *source)
{
    cl_int status;
    cl_program program = clCreateProgramWithSource(world->context, 1, &source, NULL, &status);
    assert_cl(status);
    return program;
}

static inline cl_build_status build_status(cl_program program, cl_device_id device)
{
    cl_build_status status = 77;
    assert_cl(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status,
                                    &status, NULL));
    return status;
}

static inline cl_program_binary_type binary_type(cl_program program, cl_device_id device)
{
    cl_program_binary_type type = 77;
    assert_cl(
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    return type;
}

/* Text of a build; it lives until the next call. */
static inline const char *build_text(cl_program program, cl_device_id device,
                                     cl_program_build_info what)
{
    static char text[1 << 16];
    size_t bytes = 0;
    assert_cl(clGetProgramBuildInfo(program, device, what, sizeof text, text, &bytes));
    assert_int_equal(strlen(text) + 1, bytes);
    return text;
}

static inline const char *build_log(cl_program program, cl_device_id device)
{
    return build_text(program, device, CL_PROGRAM_BUILD_LOG);
}

/* The same without what later compilers put before lines of the source: "   12 | ". */
static inline const char *plain_log(cl_program program, cl_device_id device)
{
    static char plain[1 << 16];
    char *out = plain;
    for (const char *at = build_log(program, device); *at;) {
        const char *end = strchrnul(at, '\n');
        size_t gutter = strspn(at, " 0123456789");
        if (!strncmp(at + gutter, "| ", 2))
            at += gutter + 2;
        out += sprintf(out, "%.*s", (int)(end - at + (*end == '\n')), at);
        at = end + (*end == '\n');
    }
    *out = 0;
    return plain;
}

static inline cl_program built(const struct world *world, const char *source, const char *options)
{
    cl_program program = from_source(world, source);
    cl_int status = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    if (status != CL_SUCCESS)
        for (cl_uint i = 0; i < world->device_count; i++)
            print_message("%s\n", build_log(program, world->devices[i]));
    assert_cl(status);
    return program;
}

/* Runs a kernel that has one argument, a buffer, on a device; what it leaves there. */
static inline void run_on(const struct world *world, cl_uint device, cl_program program,
                          const char *name, size_t items, void *data, size_t bytes)
{
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    assert_cl(status);
    cl_command_queue queue = world_queue(world, device, 0);
    cl_mem buffer = new_buffer(world, bytes);
    assert_cl(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL));
    assert_cl(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
    assert_cl(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL));
    assert_cl(clReleaseMemObject(buffer));
    assert_cl(clReleaseKernel(kernel));
    assert_cl(clReleaseCommandQueue(queue));
}

/* The same, for the one number that a kernel leaves. */
static inline cl_int answer_of(const struct world *world, cl_uint device, cl_program program,
                               const char *name)
{
    cl_int data = -1;
    run_on(world, device, program, name, 1, &data, sizeof data);
    return data;
}

#endif
