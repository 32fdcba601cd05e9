/*
 * A program in C++ with the Khronos bindings: objects, exceptions, a functor for a kernel, events
 * and callbacks, on whatever device the loader finds first.
 */
#define CL_HPP_CL_1_2_DEFAULT_BUILD /* else the bindings ask for OpenCL C 2.0 */
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <cstdio>
#include <numeric>
#include <vector>

static const char source[] = "kernel void axpy(float a, global const float *x, global float *y)\n"
                             "{ size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }\n";

static void CL_CALLBACK note(cl_event, cl_int status, void *user)
{
    *static_cast<cl_int *>(user) = status;
}

static bool refuses_wrong_source(const cl::Context &context)
{
    cl::Program wrong(context, "kernel void bad(global int *x) { x[0] = nowhere; }");
    try {
        wrong.build();
    } catch (const cl::BuildError &error) {
        return error.getBuildLog().at(0).second.find("nowhere") != std::string::npos;
    }
    return false;
}

int main()
try {
    const int n = 1000;
    cl::Context context(CL_DEVICE_TYPE_GPU);
    cl::CommandQueue queue(context, CL_QUEUE_PROFILING_ENABLE);
    std::vector<float> x(n), y(n, 1);
    std::iota(x.begin(), x.end(), 0.0f);
    cl::Buffer xs(context, x.begin(), x.end(), true), ys(context, y.begin(), y.end(), false);
    cl::Program program(context, source, true);
    cl::KernelFunctor<float, cl::Buffer, cl::Buffer> axpy(program, "axpy");
    cl_int seen = -1;
    cl::Event done = axpy(cl::EnqueueArgs(queue, cl::NDRange(n)), 2, xs, ys);
    done.setCallback(CL_COMPLETE, note, &seen);
    done.wait();
    cl::copy(queue, ys, y.begin(), y.end());
    for (int i = 0; i < n; i++)
        if (y[i] != 2.0f * static_cast<float>(i) + 1) {
            std::printf("wrong at %d: %g\n", i, static_cast<double>(y[i]));
            return 1;
        }
    if (done.getProfilingInfo<CL_PROFILING_COMMAND_END>() <=
        done.getProfilingInfo<CL_PROFILING_COMMAND_START>()) {
        std::puts("the launch took no time");
        return 1;
    }
    queue.finish();
    if (seen != CL_COMPLETE || !refuses_wrong_source(context)) {
        std::puts("no callback, or a wrong program was built");
        return 1;
    }
    std::puts("right");
    return 0;
} catch (const cl::Error &error) {
    std::printf("%s: %d\n", error.what(), error.err());
    return 1;
}
