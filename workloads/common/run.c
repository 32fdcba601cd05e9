/* Buffers, arguments and launches, with the times the device gives for them. */
#include "common/workload.h"
#include <string.h>

size_t pieces(size_t length, size_t size)
{
    return (length + size - 1) / size;
}

/* What a finished command took; waits for it and frees the event. */
static double microseconds(const struct workload *w, cl_event event, const char *what)
{
    cl_ulong start = 0, end = 0;
    cl_int status = clWaitForEvents(1, &event), outcome = CL_COMPLETE;
    if (clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof outcome, &outcome, NULL) ==
            CL_SUCCESS &&
        outcome < 0)
        fail(w, "%s ended with %s (%d)", what, cl_error_name(outcome), outcome);
    cl_check(w, status, "clWaitForEvents");
    cl_check(w,
             clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
             "clGetEventProfilingInfo");
    cl_check(w, clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
             "clGetEventProfilingInfo");
    clReleaseEvent(event);
    return (double)(end - start) / 1e3;
}

static cl_mem buffer(struct workload *w, size_t bytes)
{
    cl_int status;
    if (w->buffer_count == WORKLOAD_BUFFERS)
        fail(w, "more than %d buffers", WORKLOAD_BUFFERS);
    cl_mem made = clCreateBuffer(w->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    cl_check(w, status, "clCreateBuffer");
    return w->buffers[w->buffer_count++] = made;
}

cl_mem workload_input(struct workload *w, const void *data, size_t bytes)
{
    cl_mem made = buffer(w, bytes);
    workload_write(w, made, data, bytes);
    return made;
}

cl_mem workload_output(struct workload *w, size_t bytes)
{
    cl_mem made = buffer(w, bytes);
    cl_event event;
    cl_check(w, clEnqueueFillBuffer(w->queue, made, &(cl_uchar){0}, 1, 0, bytes, 0, NULL, &event),
             "clEnqueueFillBuffer");
    microseconds(w, event, "the fill");
    return made;
}

void workload_write(struct workload *w, cl_mem to, const void *data, size_t bytes)
{
    cl_event event;
    cl_check(w, clEnqueueWriteBuffer(w->queue, to, CL_TRUE, 0, bytes, data, 0, NULL, &event),
             "clEnqueueWriteBuffer");
    w->copy_microseconds += microseconds(w, event, "the copy to the device");
    w->copied_bytes += (double)bytes;
}

void workload_read(struct workload *w, cl_mem from, void *data, size_t bytes)
{
    cl_event event;
    cl_check(w, clEnqueueReadBuffer(w->queue, from, CL_TRUE, 0, bytes, data, 0, NULL, &event),
             "clEnqueueReadBuffer");
    w->copy_microseconds += microseconds(w, event, "the copy from the device");
    w->copied_bytes += (double)bytes;
}

cl_kernel workload_kernel(struct workload *w, const char *name)
{
    for (unsigned i = 0; i < w->kernel_count; i++)
        if (!strcmp(w->kernels[i].name, name))
            return w->kernels[i].kernel;
    fail(w, "%s.cl has no kernel %s", w->program->name, name);
}

void workload_set_args(struct workload *w, cl_kernel kernel, const struct argument *arguments,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cl_int status = clSetKernelArg(kernel, (cl_uint)i, arguments[i].bytes, arguments[i].value);
        if (status != CL_SUCCESS)
            fail(w, "clSetKernelArg of argument %zu (%zu bytes) failed: %s (%d)", i,
                 arguments[i].bytes, cl_error_name(status), status);
    }
}

void workload_launch(struct workload *w, cl_kernel kernel, const struct shape *shape, size_t x,
                     size_t y, size_t z)
{
    struct kernel_times *times = w->kernels;
    while (times->kernel != kernel)
        times++;
    const size_t block[3] = {shape->x, shape->y, shape->z};
    const size_t grid[3] = {x * block[0], y * block[1], z * block[2]};
    cl_uint dimensions = grid[2] > 1 ? 3 : grid[1] > 1 ? 2 : 1;
    cl_event event;
    cl_int status =
        clEnqueueNDRangeKernel(w->queue, kernel, dimensions, NULL, grid, block, 0, NULL, &event);
    if (status != CL_SUCCESS)
        fail(w, "launching %s with %zux%zux%zu blocks of %zux%zux%zu failed: %s (%d)", times->name,
             x, y, z, block[0], block[1], block[2], cl_error_name(status), status);
    times->microseconds += microseconds(w, event, times->name);
    times->launches++;
}
