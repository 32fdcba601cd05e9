/*
 * Inputs, the comparison of results, and the report.
 *
 * --corrupt spoils the middle element of the first array compared: by its lowest bit for integers,
 * by the top bit of the exponent for floats. A check which does not see that is no check.
 */
#include "common/workload.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN = 5, /* differences printed of each array */
};

uint32_t random_bits(struct workload *w)
{
    uint64_t z = w->random += 0x9e3779b97f4a7c15; /* splitmix64, Steele and others 2014 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)((z ^ z >> 31) >> 32);
}

uint32_t random_below(struct workload *w, uint32_t limit)
{
    return (uint32_t)((uint64_t)random_bits(w) * limit >> 32);
}

float random_float(struct workload *w, float low, float high)
{
    return low + (high - low) * ((float)(random_bits(w) >> 8) * 0x1p-24f);
}

static void spoil(struct workload *w, void *array, size_t count, uint32_t bits)
{
    uint32_t word;
    char *element = (char *)array + count / 2 * sizeof word;
    if (!w->corrupt || count == 0)
        return;
    w->corrupt = false;
    memcpy(&word, element, sizeof word);
    word ^= bits;
    memcpy(element, &word, sizeof word);
}

/* The results as they are compared, one array behind the other. */
static void write_output(const struct workload *w, const void *array, size_t bytes)
{
    if (!w->output)
        return;
    FILE *file = fopen(w->output, w->compared ? "a" : "w");
    if (!file || fwrite(array, 1, bytes, file) != bytes || fclose(file))
        fail(w, "%s: %s", w->output, strerror(errno));
}

static void summary(struct workload *w, const char *what, size_t count, size_t wrong)
{
    w->compared++;
    if (wrong) {
        w->wrong++;
        printf("%s: %zu of %zu values are wrong\n", what, wrong, count);
    }
}

void check_ints(struct workload *w, const char *what, void *got, const void *expected, size_t count)
{
    const int32_t *mine = got, *theirs = expected;
    size_t wrong = 0;
    spoil(w, got, count, 1);
    write_output(w, got, count * sizeof *mine);
    for (size_t i = 0; i < count; i++)
        if (mine[i] != theirs[i] && wrong++ < SHOWN)
            printf("%s[%zu] is %d (%#x), expected %d (%#x)\n", what, i, mine[i], (unsigned)mine[i],
                   theirs[i], (unsigned)theirs[i]);
    summary(w, what, count, wrong);
    if (!wrong)
        printf("%s: %zu values as expected\n", what, count);
}

void check_floats(struct workload *w, const char *what, float *got, const double *expected,
                  size_t count, double relative, double absolute)
{
    size_t wrong = 0;
    double worst = 0; /* in tolerances */
    spoil(w, got, count, 0x40000000);
    write_output(w, got, count * sizeof *got);
    for (size_t i = 0; i < count; i++) {
        double away = fabs(got[i] - expected[i]);
        double allowed = relative * fabs(expected[i]) + absolute;
        if (away <= allowed) {
            worst = allowed > 0 && away / allowed > worst ? away / allowed : worst;
        } else if (wrong++ < SHOWN) { /* not a number comes here too */
            printf("%s[%zu] is %.9g, expected %.9g: off by %.3g, %.3g allowed\n", what, i, got[i],
                   expected[i], away, allowed);
        }
    }
    summary(w, what, count, wrong);
    if (!wrong)
        printf("%s: %zu values within %g relative + %g (at worst %.0f %% of that)\n", what, count,
               relative, absolute, 100 * worst);
}

void check_true(struct workload *w, bool condition, const char *format, ...)
{
    va_list list;
    w->compared++;
    if (condition)
        return;
    w->wrong++;
    printf("wrong: ");
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

static void print_times(const struct workload *w)
{
    for (unsigned i = 0; i < w->kernel_count; i++) {
        const struct kernel_times *times = &w->kernels[i];
        if (times->launches)
            printf("kernel %-20s %4u launch%s %12.3f us\n", times->name, times->launches,
                   times->launches == 1 ? ",  " : "es,", times->microseconds);
    }
    printf("copies %.0f bytes, %.3f us\n", w->copied_bytes, w->copy_microseconds);
}

static void print_shape(const struct shape *shape)
{
    printf("%zu", shape->x);
    if (shape->y > 1 || shape->z > 1)
        printf("x%zu", shape->y);
    if (shape->z > 1)
        printf("x%zu", shape->z);
}

static void release(struct workload *w)
{
    for (unsigned i = 0; i < w->buffer_count; i++)
        clReleaseMemObject(w->buffers[i]);
    for (unsigned i = 0; i < w->kernel_count; i++)
        clReleaseKernel(w->kernels[i].kernel);
    if (w->code)
        clReleaseProgram(w->code);
    clReleaseCommandQueue(w->queue);
    clReleaseContext(w->context);
    free(w);
}

struct workload *workload_open(const struct program *program, int argc, char **argv)
{
    struct workload *w = zeroed(1, sizeof *w);
    w->program = program;
    options_read(w, argc, argv);
    device_open(w);
    return w;
}

int workload_close(struct workload *w)
{
    if (w->compared == 0)
        fail(w, "nothing was checked");
    int code = w->wrong ? 1 : 0;
    print_times(w);
    printf("%s: %s (block ", w->program->name, code ? "FAILED" : "passed");
    for (unsigned i = 0; i < w->shape_count; i++) {
        printf("%s", i ? " and " : "");
        print_shape(&w->shapes[i]);
    }
    options_print(w);
    puts(")");
    release(w);
    return code;
}
