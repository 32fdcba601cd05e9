/*
 * The device a program runs on, and its kernels compiled for it.
 *
 * Kernels are found in NAME.cl: beside the executable (the build folder), else in the installed
 * data folder, seen from the executable so that a copied installation works, else where it was
 * installed.
 */
#include "common/workload.h"
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST = 16, /* platforms, and devices of a platform, looked at */
};

/* wanted is a number or a part of the name; NULL takes anything. */
static bool is_wanted(const char *wanted, unsigned index, const char *name)
{
    if (!wanted)
        return true;
    if (*wanted && strspn(wanted, "0123456789") == strlen(wanted))
        return strtoul(wanted, NULL, 10) == index;
    return strcasestr(name, wanted) != NULL;
}

static bool find_device(struct workload *w, cl_platform_id platform, const char *platform_name)
{
    cl_device_id devices[MOST];
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, devices, &count) != CL_SUCCESS)
        return false; /* a platform without devices */
    for (cl_uint i = 0; i < count && i < MOST; i++) {
        char name[256] = "";
        clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof name - 1, name, NULL);
        if (is_wanted(w->device_wanted, i, name)) {
            w->device = devices[i];
            printf("%s on %s (%s)\n", w->program->name, name, platform_name);
            return true;
        }
    }
    return false;
}

static void choose(struct workload *w)
{
    cl_platform_id platforms[MOST];
    cl_uint count = 0;
    cl_int status = clGetPlatformIDs(MOST, platforms, &count);
    if (status != CL_SUCCESS || count == 0)
        fail(w, "no OpenCL platform is installed (%s)", cl_error_name(status));
    for (cl_uint i = 0; i < count && i < MOST; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (is_wanted(w->platform_wanted, i, name) && find_device(w, platforms[i], name))
            return;
    }
    fail(w, "none of the %u OpenCL platforms has platform '%s', device '%s'", count,
         w->platform_wanted ? w->platform_wanted : "any",
         w->device_wanted ? w->device_wanted : "any");
}

void device_open(struct workload *w)
{
    cl_int status;
    choose(w);
    w->context = clCreateContext(NULL, 1, &w->device, NULL, NULL, &status);
    cl_check(w, status, "clCreateContext");
    w->queue = clCreateCommandQueue(w->context, w->device, CL_QUEUE_PROFILING_ENABLE, &status);
    cl_check(w, status, "clCreateCommandQueue");
}

size_t workload_block_limit(const struct workload *w)
{
    size_t limit = 1;
    cl_check(w,
             clGetDeviceInfo(w->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof limit, &limit, NULL),
             "clGetDeviceInfo");
    return limit;
}

/* The text of a file, or NULL when there is none. */
static char *text_of(const struct workload *w, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT)
        return NULL;
    char *text = NULL;
    size_t bytes = 0;
    if (!file || getdelim(&text, &bytes, '\0', file) < 0)
        fail(w, "%s: %s", path, strerror(errno));
    fclose(file);
    return text;
}

static char *source(const struct workload *w)
{
    char self[PATH_MAX] = "", path[2 * PATH_MAX];
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        fail(w, "/proc/self/exe: %s", strerror(errno));
    const char *folder = dirname(self), *name = w->program->name;
    snprintf(path, sizeof path, "%s/%s.cl", folder, name);
    char *text = text_of(w, path);
    if (!text) { /* PREFIX/libexec/heddle/workloads beside PREFIX/share */
        snprintf(path, sizeof path, "%s/" WORKLOADS_FROM_PROGRAM "/%s/%s.cl", folder, name, name);
        text = text_of(w, path);
    }
    if (!text) {
        snprintf(path, sizeof path, WORKLOADS_INSTALLED "/%s/%s.cl", name, name);
        text = text_of(w, path);
    }
    if (!text)
        fail(w, "%s.cl is neither in %s nor in " WORKLOADS_INSTALLED "/%s", name, folder, name);
    return text;
}

/* Every shape as macros, then what the program itself asks for. */
static void build_options(const struct workload *w, char *text, size_t room, const char *own)
{
    size_t used = snprintf(text, room, "-cl-std=CL1.2");
    for (unsigned i = 0; i < w->shape_count; i++) {
        const struct shape *shape = &w->shapes[i];
        used += snprintf(text + used, room - used, " -D %s_X=%zu -D %s_Y=%zu -D %s_Z=%zu",
                         shape->name, shape->x, shape->name, shape->y, shape->name, shape->z);
    }
    used += snprintf(text + used, room - used, " %s", own);
    if (used >= room)
        fail(w, "the compiler options are too long");
}

static void compile(struct workload *w, const char *text, const char *own)
{
    char options[1024];
    cl_int status;
    build_options(w, options, sizeof options, own);
    w->code = clCreateProgramWithSource(w->context, 1, &text, NULL, &status);
    cl_check(w, status, "clCreateProgramWithSource");
    status = clBuildProgram(w->code, 1, &w->device, options, NULL, NULL);
    if (status == CL_SUCCESS)
        return;
    size_t bytes = 0;
    clGetProgramBuildInfo(w->code, w->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *log = zeroed(bytes + 1, 1);
    clGetProgramBuildInfo(w->code, w->device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    fail(w, "%s.cl does not build: %s (%d)\n%s", w->program->name, cl_error_name(status), status,
         log);
}

static void get_kernels(struct workload *w)
{
    cl_kernel kernels[WORKLOAD_KERNELS];
    cl_int status = clCreateKernelsInProgram(w->code, WORKLOAD_KERNELS, kernels, &w->kernel_count);
    cl_check(w, status, "clCreateKernelsInProgram");
    for (unsigned i = 0; i < w->kernel_count; i++) {
        struct kernel_times *times = &w->kernels[i];
        times->kernel = kernels[i];
        cl_check(w,
                 clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof times->name,
                                 times->name, NULL),
                 "clGetKernelInfo");
    }
}

static void halve(struct shape *shape)
{
    size_t x = shape->x, y = shape->y, z = shape->z;
    if (x >= y && x >= z)
        shape->x = x / 2;
    if (y >= x && y >= z && y > 1)
        shape->y = y / 2;
    if (z > x && z > y)
        shape->z = z / 2;
}

static void fit_device(struct workload *w)
{
    size_t limit = workload_block_limit(w), sides[3] = {0};
    cl_check(w,
             clGetDeviceInfo(w->device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sides, sides, NULL),
             "clGetDeviceInfo");
    for (unsigned i = 0; i < w->shape_count; i++) {
        struct shape *shape = &w->shapes[i];
        shape->x = shape->x ? shape->x : 1;
        shape->y = shape->y ? shape->y : 1;
        shape->z = shape->z ? shape->z : 1;
        while (shape->x * shape->y * shape->z > limit || shape->x > sides[0] ||
               shape->y > sides[1] || shape->z > sides[2])
            halve(shape);
    }
}

/* Halves the shapes that a kernel requires but cannot run with; false when there were any. */
static bool kernels_fit(struct workload *w)
{
    bool fit = true;
    for (unsigned k = 0; k < w->kernel_count; k++) {
        size_t limit = 0, needs[3] = {0};
        cl_kernel kernel = w->kernels[k].kernel;
        cl_check(w,
                 clGetKernelWorkGroupInfo(kernel, w->device, CL_KERNEL_WORK_GROUP_SIZE,
                                          sizeof limit, &limit, NULL),
                 "clGetKernelWorkGroupInfo");
        cl_check(w,
                 clGetKernelWorkGroupInfo(kernel, w->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                          sizeof needs, needs, NULL),
                 "clGetKernelWorkGroupInfo");
        if (limit == 0)
            fail(w, "kernel %s fits no block at all", w->kernels[k].name);
        if (needs[0] * needs[1] * needs[2] <= limit)
            continue;
        for (unsigned i = 0; i < w->shape_count; i++) {
            struct shape *shape = &w->shapes[i];
            if (shape->x == needs[0] && shape->y == needs[1] && shape->z == needs[2]) {
                halve(shape);
                fit = false;
            }
        }
    }
    return fit;
}

static void drop_code(struct workload *w)
{
    for (unsigned i = 0; i < w->kernel_count; i++)
        clReleaseKernel(w->kernels[i].kernel);
    clReleaseProgram(w->code);
    w->kernel_count = 0;
}

void workload_build(struct workload *w, struct shape *shapes, unsigned count, const char *format,
                    ...)
{
    char own[512] = "";
    if (format) {
        va_list list;
        va_start(list, format);
        vsnprintf(own, sizeof own, format, list);
        va_end(list);
    }
    if (count > WORKLOAD_SHAPES)
        fail(w, "%u shapes; at most %d", count, WORKLOAD_SHAPES);
    memcpy(w->shapes, shapes, count * sizeof *shapes);
    w->shape_count = count;
    fit_device(w);
    char *text = source(w);
    for (;;) {
        compile(w, text, own);
        get_kernels(w);
        if (kernels_fit(w))
            break;
        drop_code(w);
    }
    free(text);
    memcpy(shapes, w->shapes, count * sizeof *shapes);
}
