/*
 * A small OpenCL program for tests of `heddle run -- PROGRAM`: what it does is its first word.
 *
 *   silent       prints nothing
 *   ok           three launches of two kernels, checked
 *   exit N       the same, then ends with that code
 *   abort        the same, then abort; kill: SIGKILL; quick: _exit(3) without any clean-up
 *   crash        SIGSEGV before anything; bug: abort as if an assertion of the driver's had failed
 *   fault        a launch out of bounds, then good ones in a new queue
 *   notice       a launch out of bounds, whose error the next read returns
 *   beyond       a launch that goes four elements beyond its buffer, then a good one
 *   unread       a launch whose outcome it never asks for
 *   many N       that many pairs of small launches of two kernels, the last of a third one out of
 *                bounds; then, with the word quick, _exit without any clean-up
 *   endless      a launch that never ends; spin: one that reads the same word for ever
 *   platforms    looks at the platforms only
 *   fork         two processes with a launch each
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] =
    "__kernel void twice(__global int *data) { data[get_global_id(0)] *= 2; }\n"
    "__kernel void more(__global int *data, int n) { data[get_global_id(0)] += n; }\n"
    "__kernel void wild(__global int *data, long n) { data[get_global_id(0) + n] = 1; }\n"
    "__kernel void endless(volatile __global int *data) { while (data[0] >= 0) data[1]++; }\n"
    "__kernel void spin(volatile __global int *data) { while (data[0] >= 0); }\n";

enum {
    N = 256
};

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_program program;
static cl_mem buffer;
static bool silent;

static void need(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "guest: %s: error %d\n", what, status);
    exit(9);
}

static void open_all(void)
{
    cl_platform_id platform;
    cl_int status;
    int data[N];
    for (int i = 0; i < N; i++)
        data[i] = i;
    need(clGetPlatformIDs(1, &platform, NULL), "platform");
    need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    need(status, "context");
    queue = clCreateCommandQueue(context, device, 0, &status);
    need(status, "queue");
    const char *text = source;
    program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    need(status, "program");
    need(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, &status);
    need(status, "buffer");
}

static cl_int launch(const char *name, size_t size, const void *argument)
{
    cl_int status;
    size_t global = N;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    need(status, name);
    need(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "argument");
    if (size)
        need(clSetKernelArg(kernel, 1, size, argument), "argument");
    need(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "enqueue");
    status = clFinish(queue);
    clReleaseKernel(kernel);
    return status;
}

static void work(void)
{
    int data[N], n = 5;
    launch("twice", 0, NULL);
    launch("more", sizeof n, &n);
    launch("twice", 0, NULL);
    need(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL), "read");
    for (int i = 0; i < N; i++)
        if (data[i] != (2 * i + 5) * 2) {
            printf("guest: wrong at %d: %d\n", i, data[i]);
            exit(1);
        }
    if (!silent)
        puts("guest: right");
    fflush(stdout);
}

/* Two kernels in turn, without waiting. */
static void many(int pairs)
{
    cl_int status;
    size_t global = 32;
    int n = 1;
    cl_kernel twice = clCreateKernel(program, "twice", &status);
    cl_kernel more = clCreateKernel(program, "more", &status);
    need(clSetKernelArg(twice, 0, sizeof buffer, &buffer), "argument");
    need(clSetKernelArg(more, 0, sizeof buffer, &buffer), "argument");
    need(clSetKernelArg(more, 1, sizeof n, &n), "argument");
    for (int i = 0; i < pairs; i++) {
        clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 0, NULL, NULL);
        clEnqueueNDRangeKernel(queue, more, 1, NULL, &global, NULL, 0, NULL, NULL);
    }
    long far = 1L << 30;
    launch("wild", sizeof far, &far);
}

/* What src/host/bug.c does, in its own words. */
static void fail_in_driver(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%ld.jsonl", getenv("HEDDLE_SESSION"), (long)getpid());
    FILE *record = fopen(path, "a");
    if (record) {
        fputs("{\"event\": \"bug\", \"text\": \"file.c:1: f: assertion 'x' failed\"}\n", record);
        fclose(record);
    }
    abort();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "ok";
    cl_uint platforms;
    silent = !strcmp(what, "silent");
    if (!strcmp(what, "platforms"))
        return clGetPlatformIDs(0, NULL, &platforms) != CL_SUCCESS;
    if (!strcmp(what, "fork")) {
        if (fork() == 0)
            execl(argv[0], argv[0], "ok", (char *)NULL);
        wait(NULL);
    }
    if (!strcmp(what, "crash"))
        raise(SIGSEGV);
    open_all();
    if (!strcmp(what, "bug"))
        fail_in_driver();
    if (!strcmp(what, "many")) {
        many(argc > 2 ? atoi(argv[2]) : 1);
        if (argc > 3)
            _exit(0);
        return 0;
    }
    if (!strcmp(what, "endless"))
        launch("endless", 0, NULL);
    if (!strcmp(what, "spin"))
        launch("spin", 0, NULL);
    if (!strcmp(what, "fault") || !strcmp(what, "notice")) {
        long far = 1L << 30;
        launch("wild", sizeof far, &far);
    }
    if (!strcmp(what, "beyond")) { /* by four elements */
        long few = 4;
        launch("wild", sizeof few, &few);
    }
    if (!strcmp(what, "unread")) {
        launch("twice", 0, NULL);
        return 0;
    }
    if (!strcmp(what, "fault"))
        queue = clCreateCommandQueue(context, device, 0, NULL);
    work();
    if (!strcmp(what, "abort"))
        abort();
    if (!strcmp(what, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(what, "quick"))
        _exit(3);
    return !strcmp(what, "exit") && argc > 2 ? atoi(argv[2]) : 0;
}
