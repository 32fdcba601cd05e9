/*
 * Barriers in local memory through the OpenCL driver, with every clang that is installed, for PTX
 * with 64-bit and 32-bit addresses and for Southern Islands code. Each compiler has a process of its own (`test-barrier-opencl run`),
 * because the driver chooses it once.
 */
#include "interpreter.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the process that builds and runs ---- */

static int run_idiom(cl_context context, cl_command_queue queue, cl_program program, int which)
{
    unsigned in[ITEMS], out[ITEMS] = {0}, expected[ITEMS];
    const size_t items = ITEMS;
    cl_int status;
    interpreter_input(in);
    interpreter_run(which, expected, in);
    cl_kernel kernel = clCreateKernel(program, idiom_names[which], &status);
    cl_mem from = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof in, in, &status);
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof out, NULL, &status);
    if (clSetKernelArg(kernel, 0, sizeof to, &to) ||
        clSetKernelArg(kernel, 1, sizeof from, &from) ||
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL) ||
        clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL)) {
        printf("  %s does not run\n", idiom_names[which]);
        return 1;
    }
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
    if (!memcmp(out, expected, sizeof out))
        return 0;
    printf("  %s is wrong\n", idiom_names[which]);
    return 1;
}

static int run_all(void)
{
    const char *source = "#include \"idioms.cl\"\n";
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    char log[4096] = "";
    int wrong = 0;
    if (clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    if (clBuildProgram(program, 0, NULL, "-I" SOURCE_FOLDER, NULL, NULL)) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        printf("  does not build: %s\n", log);
        return 1;
    }
    for (int i = 0; i < IDIOM_COUNT; i++)
        wrong += run_idiom(context, queue, program, i);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return wrong != 0;
}

/* ---- compilers and machines ---- */

static int run_with(const char *self, const char *clang, const char *machine, int address_bits,
                    const char *rocm)
{
    int status;
    char settings[128];
    printf("%s on %s, %d-bit addresses%s\n", clang, machine, address_bits,
           rocm ? " with libclc" : "");
    fflush(stdout);
    /* the limit: wrong code may never end */
    snprintf(settings, sizeof settings, "launch.max_instructions=1000000;gpu.address_bits=%d",
             address_bits);
    setenv("HEDDLE_SET", settings, 1);
    setenv("HEDDLE_CLANG", clang, 1);
    setenv("HEDDLE_MACHINE", machine, 1);
    if (rocm)
        setenv("HEDDLE_ROCM", rocm, 1);
    else
        unsetenv("HEDDLE_ROCM");
    pid_t child = fork();
    if (!child) {
        execl(self, self, "run", (char *)NULL);
        _exit(99);
    }
    return waitpid(child, &status, 0) != child || status != 0;
}

int main(int argc, char **argv)
{
    char self[4096] = "", path[32];
    int tried = 0, failed = 0;
    if (argc == 2 && !strcmp(argv[1], "run"))
        return run_all();
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    setenv("HEDDLE_FUNCTIONAL", "1", 1);
    for (int version = 14; version < 40; version++) {
        snprintf(path, sizeof path, "/usr/bin/clang-%d", version);
        if (access(path, X_OK))
            continue;
        tried++;
        failed += run_with(self, path, "generic", 64, NULL);
        failed += run_with(self, path, "generic", 32, NULL);
        snprintf(path, sizeof path, "/usr/bin/ld.lld-%d", version);
        if (access(path, X_OK))
            continue;
        snprintf(path, sizeof path, "/usr/bin/clang-%d", version);
        failed += run_with(self, path, "generic64", 64, NULL);
        failed += run_with(self, path, "generic64", 64, "/nonexistent");
    }
    printf("%d compilers, %d failures\n", tried, failed);
    return !tried || failed;
}
