/*
 * Accuracy of the math functions, measured on the first device.
 *
 *   test-opencl-math float|double [--count N] [--widths 1,4] [--relaxed] [--table] [NAME...]
 *
 * Each function is computed by a kernel for special and random arguments, with vectors of the
 * widths asked for, and compared with MPFR. Exit code 1: one is outside its limit (math.def). With
 * --table a line per function says the largest error, for docs/opencl-builtins.md.
 *
 * With --relaxed the program is built with -cl-fast-relaxed-math: signs of zeros, and infinities
 * and NaN as arguments or results, are the program's own risk and not looked at. Division and
 * square root of float may be approximations then, and so may be what is made of them.
 *
 * A device without CL_FP_DENORM may take subnormal arguments for zeros and may give zero where a
 * result is subnormal (7.5.3).
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include "inputs.h"

#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CORRECT 0.5
#define ANY 1e300
#define NONE -1.0

enum flags {
    EITHER_ZERO = 1,
    SMALL = 2,
    TINY = 4,
    DOUBLE_ZERO = 8
};

enum shapes {
    ONE,
    TWO,
    THREE,
    TO_INT,
    ONE_AND_INT,
    ONE_AND_OUT,
    ONE_AND_INT_OUT,
    TWO_AND_INT_OUT
};

static const struct function {
    const char *name, *call;
    enum shapes shape;
    reference *reference;
    double limits[2]; /* float, double */
    unsigned flags;
} functions[] = {
#define MATH(name, shape, call, ref, limit_float, limit_double, flags) \
    {#name, call, shape, ref_##ref, {limit_float, limit_double}, flags},
#include "math.def"
#undef MATH
};
enum {
    FUNCTIONS = sizeof functions / sizeof *functions,
    BATCH = 6,  /* functions in a program */
    BLOCK = 48, /* a count that all widths divide */
    SHOWN = 3   /* wrong results that are printed for a function */
};

struct run {
    bool is_double, flushes, table, relaxed;
    int count;
    int widths[6], width_count;
    struct arguments *inputs;
    void *columns[4]; /* x, y, z of the type, m */
    void *results[3]; /* value, second of the type, integer */
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem buffers[7]; /* columns, then results */
};

static void check(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", what, status);
    exit(1);
}

static bool has_integer_result(enum shapes shape)
{
    return shape == TO_INT || shape == ONE_AND_INT_OUT || shape == TWO_AND_INT_OUT;
}

static size_t column_bytes(const struct run *run, int column)
{
    bool is_int = column == 3 || column == 6;
    return (size_t)run->count * (is_int ? 4 : run->is_double ? 8 : 4);
}

/* ---- kernels ---- */

static int write_kernel(char *to, size_t size, const struct function *function, int width)
{
    const char *result = function->shape == TO_INT ? "k" : "r";
    if (width == 1)
        return snprintf(to, size,
                        "kernel void %s_1(global TYPE *a, global TYPE *b, global TYPE *c, "
                        "global int *n, global TYPE *u, global TYPE *v, global int *w)\n"
                        "{ size_t i = get_global_id(0); TYPE x = a[i], y = b[i], z = c[i], r = 0,"
                        " s = 0; int m = n[i], k = 0; %s = %s; u[i] = r; v[i] = s; w[i] = k; }\n",
                        function->name, result, function->call);
    return snprintf(to, size,
                    "kernel void %s_%d(global TYPE *a, global TYPE *b, global TYPE *c, "
                    "global int *n, global TYPE *u, global TYPE *v, global int *w)\n"
                    "{ size_t i = get_global_id(0); VEC(TYPE, %d) x = vload%d(i, a), "
                    "y = vload%d(i, b), z = vload%d(i, c), r = 0, s = 0; int%d m = vload%d(i, n), "
                    "k = 0; %s = %s; vstore%d(r, i, u); vstore%d(s, i, v); vstore%d(k, i, w); }\n",
                    function->name, width, width, width, width, width, width, width, result,
                    function->call, width, width, width);
}

static cl_program build(const struct run *run, const struct function *const *batch, int count)
{
    static char source[1 << 16];
    size_t used = 0;
    used += (size_t)snprintf(source, sizeof source,
                             "#define VEC(t, n) VEC_(t, n)\n"
                             "#define VEC_(t, n) t##n\n");
    for (int i = 0; i < count; i++)
        for (int w = 0; w < run->width_count; w++)
            used +=
                (size_t)write_kernel(source + used, sizeof source - used, batch[i], run->widths[w]);
    const char *text = source;
    cl_int status;
    cl_program program = clCreateProgramWithSource(run->context, 1, &text, NULL, &status);
    check(status, "clCreateProgramWithSource");
    char options[64];
    snprintf(options, sizeof options, "-DTYPE=%s%s", run->is_double ? "double" : "float",
             run->relaxed ? " -cl-fast-relaxed-math" : "");
    status = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    if (status != CL_SUCCESS) {
        static char log[20000];
        clGetProgramBuildInfo(program, run->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    check(status, "clBuildProgram");
    return program;
}

/* Results are poisoned first, so that what was not written is seen. */
static void launch(struct run *run, cl_program program, const struct function *function, int width)
{
    char name[64];
    cl_int status;
    snprintf(name, sizeof name, "%s_%d", function->name, width);
    cl_kernel kernel = clCreateKernel(program, name, &status);
    check(status, name);
    for (cl_uint i = 0; i < 7; i++) {
        size_t bytes = column_bytes(run, (int)i);
        if (i < 4)
            status = clEnqueueWriteBuffer(run->queue, run->buffers[i], CL_FALSE, 0, bytes,
                                          run->columns[i], 0, NULL, NULL);
        else
            status = clEnqueueFillBuffer(run->queue, run->buffers[i], &(cl_uchar){0xa5}, 1, 0,
                                         bytes, 0, NULL, NULL);
        check(status, "transfer");
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &run->buffers[i]), "clSetKernelArg");
    }
    size_t items = (size_t)(run->count / width);
    check(clEnqueueNDRangeKernel(run->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), name);
    for (int i = 0; i < 3; i++)
        check(clEnqueueReadBuffer(run->queue, run->buffers[4 + i], CL_TRUE, 0,
                                  column_bytes(run, 4 + i), run->results[i], 0, NULL, NULL),
              name);
    clReleaseKernel(kernel);
}

/* ---- comparing ---- */

static double value_at(const struct run *run, const void *column, int i)
{
    return run->is_double ? ((const double *)column)[i] : (double)((const float *)column)[i];
}

static bool correctly_rounded(const struct run *run, double error, double got)
{
    if (error != 0.5)
        return error < 0.5;
    double ulp = run->is_double ? nextafter(got, INFINITY) - got
                                : (double)(nextafterf((float)got, INFINITY) - (float)got);
    return isinf(got) || fmod(got / ulp, 2) == 0; /* halfway: the even one */
}

static bool subnormal(mpfr_t value, bool is_double)
{
    /* Rounding may lead from below the least normal number to it. */
    return mpfr_zero_p(value) ||
           (mpfr_regular_p(value) && mpfr_get_exp(value) <= (is_double ? -1021 : -125));
}

/* With relaxed mathematics AMD's libraries have coarser functions of float: 77 ULP were seen. */
static double limit_of(const struct run *run, const struct function *function)
{
    double limit = function->limits[run->is_double];
    return run->relaxed && !run->is_double && limit != CORRECT ? fmax(limit, 128) : limit;
}

/* A finite number that its type does not take for infinite. */
static bool within(mpfr_t value, bool is_double)
{
    return mpfr_number_p(value) &&
           (mpfr_zero_p(value) || mpfr_get_exp(value) < (is_double ? 1024 : 128));
}

/* How far one result is off, 0 where it is as good as it must be by a rule of its own. */
static double error_of(const struct run *run, const struct function *function, mpfr_t expected,
                       double got)
{
    double limit = limit_of(run, function);
    bool either = function->flags & (run->is_double ? EITHER_ZERO | DOUBLE_ZERO : EITHER_ZERO);
    if (run->relaxed && !within(expected, run->is_double))
        return 0;
    double error = error_in_ulp(expected, got, run->is_double, either || run->relaxed);
    if (limit == CORRECT && error == 0.5 && !correctly_rounded(run, error, got))
        error = 0.5000001;
    if (run->flushes && got == 0 && subnormal(expected, run->is_double))
        error = 0;
    return error;
}

static double compare(const struct run *run, const struct function *function,
                      const struct arguments *in, struct expected *expected, int i)
{
    double worst = 0;
    function->reference(expected, in);
    if (function->shape != TO_INT)
        worst = error_of(run, function, expected->value, value_at(run, run->results[0], i));
    if (function->shape == ONE_AND_OUT)
        worst = fmax(worst,
                     error_of(run, function, expected->second, value_at(run, run->results[1], i)));
    int integer = ((const int *)run->results[2])[i];
    if (has_integer_result(function->shape) && !expected->any_integer &&
        integer != expected->integer)
        worst = INFINITY;
    return worst;
}

static double flushed(double x)
{
    return fabs(x) < 0x1p-126 ? copysign(0, x) : x;
}

static double error_at(const struct run *run, const struct function *function,
                       struct expected *expected, int i)
{
    struct arguments in = run->inputs[i];
    if (run->relaxed && !(isfinite(in.x) && isfinite(in.y) && isfinite(in.z)))
        return 0;
    double error = compare(run, function, &in, expected, i);
    if (run->flushes && error > limit_of(run, function)) {
        in.x = flushed(in.x), in.y = flushed(in.y), in.z = flushed(in.z);
        error = fmin(error, compare(run, function, &in, expected, i));
    }
    return error;
}

static void show(const struct run *run, const struct function *function, struct expected *expected,
                 int i, int width, double error)
{
    const struct arguments *in = &run->inputs[i];
    function->reference(expected, in);
    fprintf(stderr, "%s (width %d) of %a %a %a %d: got %a %a %d,", function->name, width, in->x,
            in->y, in->z, in->m, value_at(run, run->results[0], i),
            value_at(run, run->results[1], i), ((int *)run->results[2])[i]);
    mpfr_fprintf(stderr, " expected %.16Ra", expected->value);
    if (function->shape == ONE_AND_OUT)
        mpfr_fprintf(stderr, " %.16Ra", expected->second);
    fprintf(stderr, " %d: %g ULP\n", expected->integer, error);
}

/* The largest error; the first that are beyond the limit are shown. */
static double measure(const struct run *run, const struct function *function, int width)
{
    struct expected expected;
    double worst = 0;
    int shown = 0;
    expected_init(&expected);
    for (int i = 0; i < run->count; i++) {
        double error = error_at(run, function, &expected, i);
        worst = fmax(worst, error);
        if (error > limit_of(run, function) && limit_of(run, function) != ANY && shown++ < SHOWN)
            show(run, function, &expected, i, width, error);
    }
    expected_clear(&expected);
    return worst;
}

/* ---- a run ---- */

static void make_inputs(struct run *run, const struct function *function)
{
    enum shapes s = function->shape;
    struct shape shape = {s == THREE                         ? 3
                          : s == TWO || s == TWO_AND_INT_OUT ? 2
                                                             : 1,
                          s == ONE_AND_INT};
    enum range range = function->flags & TINY    ? RANGE_TINY
                       : function->flags & SMALL ? RANGE_SMALL
                                                 : RANGE_ALL;
    inputs_make(run->inputs, run->count, shape, range, run->is_double, 1);
    for (int i = 0; i < run->count; i++) {
        const struct arguments *in = &run->inputs[i];
        double values[3] = {in->x, in->y, in->z};
        for (int v = 0; v < 3; v++)
            if (run->is_double)
                ((double *)run->columns[v])[i] = values[v];
            else
                ((float *)run->columns[v])[i] = (float)values[v];
        ((int *)run->columns[3])[i] = in->m;
    }
}

static int run_batch(struct run *run, const struct function *const *batch, int count)
{
    int failures = 0;
    if (!count)
        return 0;
    cl_program program = build(run, batch, count);
    for (int i = 0; i < count; i++) {
        double worst = 0, limit = limit_of(run, batch[i]);
        make_inputs(run, batch[i]);
        for (int w = 0; w < run->width_count; w++) {
            launch(run, program, batch[i], run->widths[w]);
            worst = fmax(worst, measure(run, batch[i], run->widths[w]));
        }
        bool failed = worst > limit && limit != ANY;
        failures += failed;
        if (run->table)
            printf("%s %s %g\n", run->is_double ? "double" : "float", batch[i]->name, worst);
        if (failed)
            fprintf(stderr, "%s: %g ULP, limit %g\n", batch[i]->name, worst, limit);
    }
    clReleaseProgram(program);
    fflush(stdout);
    return failures;
}

static void open_device(struct run *run)
{
    cl_platform_id platform;
    cl_device_fp_config config;
    char name[64];
    cl_int status;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL), "platform");
    if (strcmp(name, "Heddle")) {
        fprintf(stderr, "the platform is %s\n", name);
        exit(1);
    }
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &run->device, NULL), "clGetDeviceIDs");
    check(clGetDeviceInfo(run->device,
                          run->is_double ? CL_DEVICE_DOUBLE_FP_CONFIG : CL_DEVICE_SINGLE_FP_CONFIG,
                          sizeof config, &config, NULL),
          "clGetDeviceInfo");
    run->flushes = !(config & CL_FP_DENORM);
    run->context = clCreateContext(NULL, 1, &run->device, NULL, NULL, &status);
    check(status, "clCreateContext");
    run->queue = clCreateCommandQueue(run->context, run->device, 0, &status);
    check(status, "clCreateCommandQueue");
    for (int i = 0; i < 7; i++) {
        size_t bytes = column_bytes(run, i);
        run->buffers[i] = clCreateBuffer(run->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
        check(status, "clCreateBuffer");
        *(i < 4 ? &run->columns[i] : &run->results[i - 4]) = malloc(bytes);
    }
    run->inputs = malloc((size_t)run->count * sizeof *run->inputs);
}

static void close_device(struct run *run)
{
    for (int i = 0; i < 7; i++) {
        clReleaseMemObject(run->buffers[i]);
        free(i < 4 ? run->columns[i] : run->results[i - 4]);
    }
    free(run->inputs);
    clReleaseCommandQueue(run->queue);
    clReleaseContext(run->context);
}

static bool named(const char *name, char **names, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return true;
    return count == 0;
}

int main(int argc, char **argv)
{
    struct run run = {.is_double = argc > 1 && !strcmp(argv[1], "double"),
                      .count = 48 * 40,
                      .widths = {1},
                      .width_count = 1};
    int at = 2;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (!strcmp(argv[at], "--table")) {
            run.table = true;
        } else if (!strcmp(argv[at], "--relaxed")) {
            run.relaxed = true;
        } else if (!strcmp(argv[at], "--count") && at + 1 < argc) {
            run.count = (atoi(argv[++at]) + BLOCK - 1) / BLOCK * BLOCK;
        } else if (!strcmp(argv[at], "--widths") && at + 1 < argc) {
            run.width_count = 0;
            for (char *word = strtok(argv[++at], ","); word && run.width_count < 6;
                 word = strtok(NULL, ","))
                run.widths[run.width_count++] = atoi(word);
        } else {
            fprintf(stderr, "unknown option %s\n", argv[at]);
            return 2;
        }
    }
    const struct function *batch[BATCH];
    int waiting = 0, failures = 0;
    open_device(&run);
    for (int i = 0; i < FUNCTIONS; i++) {
        if (functions[i].limits[run.is_double] == NONE ||
            !named(functions[i].name, argv + at, argc - at))
            continue;
        batch[waiting++] = &functions[i];
        if (waiting == BATCH) {
            failures += run_batch(&run, batch, waiting);
            waiting = 0;
        }
    }
    failures += run_batch(&run, batch, waiting);
    close_device(&run);
    mpfr_free_cache();
    return failures ? 1 : 0;
}
