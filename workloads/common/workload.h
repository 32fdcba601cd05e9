/*
 * What every workload program shares: its options, the device, seeded inputs, buffers, launches,
 * the check of its results and the report. An application's library: on a failure it prints what
 * went wrong and exits. Nothing here knows a particular OpenCL implementation.
 *
 * A program's main reads
 *
 *     struct workload *w = workload_open(&program, argc, argv);
 *     ... make inputs with random_*, the expected result on the host ...
 *     workload_build(w, shapes, count, "-D RADIUS=%ld", radius);
 *     ... workload_input, workload_output, workload_launch, workload_read ...
 *     check_ints(...) or check_floats(...)
 *     return workload_close(w);
 *
 * 1. Exit codes: 0 passed, 1 a result was wrong, 2 the command line was, 3 OpenCL failed.
 * 2. The same options and seed give the same inputs on every device.
 * 3. A program that compared nothing does not pass.
 * 4. Calls are in order and finished when they return; kernel times are the device's own.
 */
#ifndef WORKLOADS_COMMON_WORKLOAD_H
#define WORKLOADS_COMMON_WORKLOAD_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORKLOAD_OPTIONS = 16, /* most options of a program */
    WORKLOAD_KERNELS = 16,
    WORKLOAD_SHAPES = 4,
    WORKLOAD_BUFFERS = 32,
};

enum option_rule {
    ANY_NUMBER,
    POWER_OF_TWO,
};

/* One row of a program's table; the row's index is the option's number. A row without a name ends
 * the table. An option with choices takes one of these words, and its value is the word's index. */
struct option_row {
    const char *name; /* "rows" is --rows N */
    const char *unit; /* of what N counts: "elements" */
    const char *help;
    long value;    /* the default */
    long quick;    /* with --quick; 0: the default */
    long min, max; /* inclusive */
    enum option_rule rule;
    long multiple;       /* N must be a multiple of it; 0: of nothing */
    const char *choices; /* words separated by '|' */
};

struct program {
    const char *name;
    const char *about; /* a sentence for --help */
    const struct option_row *options;
};

/* The shape of a block (work-group). In kernels its sizes are the macros NAME_X, NAME_Y and NAME_Z,
 * to be stated as reqd_work_group_size: from that workload_build sees which kernels use it. */
struct shape {
    const char *name;
    size_t x, y, z; /* a size of 0 is 1 */
};

/* What is known of a kernel, and what its launches took. */
struct kernel_times {
    cl_kernel kernel;
    char name[64];
    unsigned launches;
    double microseconds; /* from the device's profiling clock */
};

struct workload {
    const struct program *program;
    long values[WORKLOAD_OPTIONS]; /* of the program's options, by row */
    bool quick;
    bool corrupt; /* spoil one element before it is compared: tests of the check itself */
    const char *platform_wanted, *device_wanted;
    const char *output; /* file for the bytes of what is compared; NULL: none */
    uint64_t random;    /* state of the generator */

    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program code;
    struct shape shapes[WORKLOAD_SHAPES];
    unsigned shape_count;
    struct kernel_times kernels[WORKLOAD_KERNELS];
    unsigned kernel_count;
    cl_mem buffers[WORKLOAD_BUFFERS];
    unsigned buffer_count;
    double copied_bytes, copy_microseconds;

    unsigned compared, wrong; /* results compared, and of those not as expected */
};

/* Reads the command line, finds the device, opens context and queue. */
struct workload *workload_open(const struct program *program, int argc, char **argv);
/* The value of the program's option at that row of its table. */
long option(const struct workload *w, int row);
/* Prints the report, frees everything and gives the exit code. */
int workload_close(struct workload *w);

/* Builds NAME.cl for blocks of these shapes. Shapes too large for the device are halved (along the
 * larger side; a square along both) and written back, and so are those of kernels which turn out
 * to need too many registers. format gives further options for the compiler, NULL none. */
void workload_build(struct workload *w, struct shape *shapes, unsigned count, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));
/* The largest a block may be on this device, in threads. */
size_t workload_block_limit(const struct workload *w);

/* Inputs are copied to the device; outputs start as zero bytes. Freed by workload_close. */
cl_mem workload_input(struct workload *w, const void *data, size_t bytes);
cl_mem workload_output(struct workload *w, size_t bytes);
void workload_write(struct workload *w, cl_mem buffer, const void *data, size_t bytes);
void workload_read(struct workload *w, cl_mem buffer, void *data, size_t bytes);

/* A kernel of the built program; freed by workload_close. */
cl_kernel workload_kernel(struct workload *w, const char *name);
/* Sets all arguments: workload_args(w, kernel, ARG(buffer), ARG(count), ARG_LOCAL(bytes)). ARG
 * takes a variable of exactly the type which the kernel declares. */
struct argument {
    size_t bytes;
    const void *value; /* NULL: local memory */
};
#define ARG(variable)                 \
    {                                 \
        sizeof(variable), &(variable) \
    }
#define ARG_LOCAL(bytes) \
    {                    \
        (bytes), NULL    \
    }
#define workload_args(w, kernel, ...)                                    \
    workload_set_args(w, kernel, (const struct argument[]){__VA_ARGS__}, \
                      sizeof((const struct argument[]){__VA_ARGS__}) / sizeof(struct argument))
void workload_set_args(struct workload *w, cl_kernel kernel, const struct argument *arguments,
                       size_t count);
/* Runs a grid of x by y by z blocks of this shape and waits for its end. */
void workload_launch(struct workload *w, cl_kernel kernel, const struct shape *shape, size_t x,
                     size_t y, size_t z);
/* How many pieces of this size cover a length. */
size_t pieces(size_t length, size_t size);
/* calloc which does not fail. */
void *zeroed(size_t count, size_t bytes);

/* The generator: splitmix64, seeded by --seed. */
uint32_t random_bits(struct workload *w);
uint32_t random_below(struct workload *w, uint32_t limit);
float random_float(struct workload *w, float low, float high); /* low <= it < high */

/* Compare what the device computed with what the host did, print the first differences and count
 * them. Floats pass when |got - expected| <= relative * |expected| + absolute. */
void check_ints(struct workload *w, const char *what, void *got, const void *expected,
                size_t count); /* 32-bit */
void check_floats(struct workload *w, const char *what, float *got, const double *expected,
                  size_t count, double relative, double absolute);
/* For what no comparison of arrays says: condition must be true. */
void check_true(struct workload *w, bool condition, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Says what failed and exits with 3; cl_check does it unless status is CL_SUCCESS. */
_Noreturn void fail(const struct workload *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cl_check(const struct workload *w, cl_int status, const char *call);
const char *cl_error_name(cl_int status);

/* Of the harness itself: options.c, device.c. */
void options_read(struct workload *w, int argc, char **argv);
void options_print(const struct workload *w); /* ", rows 4, columns 5" */
void device_open(struct workload *w);

#endif
