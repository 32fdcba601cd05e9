/*
 * Helpers of the kernel tests: memory, launches, comparisons. See kernels.h.
 */
#include "kernels.h"
#include <math.h>
#include <stdarg.h>

void fail(struct test *t, const char *format, ...)
{
    if (t->failed)
        return;
    t->failed = true;
    va_list args;
    va_start(args, format);
    vsnprintf(t->message, sizeof t->message, format, args);
    va_end(args);
}

static void fail_api(struct test *t, const char *call, const struct hd_error *error)
{
    fail(t, "%s: %s%s%s", call, error->place, error->place[0] ? ": " : "", error->message);
}

void *host(struct test *t, size_t bytes)
{
    void *p = calloc(1, bytes + 1);
    void **grown = realloc(t->memory, (t->memory_count + 1) * sizeof *grown);
    size_t *bytes_grown = realloc(t->memory_bytes, (t->memory_count + 1) * sizeof *bytes_grown);
    if (!p || !grown || !bytes_grown) {
        fprintf(stderr, "out of host memory\n");
        abort();
    }
    t->memory = grown;
    t->memory_bytes = bytes_grown;
    t->memory_bytes[t->memory_count] = bytes;
    t->memory[t->memory_count++] = p;
    return p;
}

u32 rnd(struct test *t)
{
    t->random = t->random * 1664525u + 1013904223u;
    u32 x = t->random;
    x ^= x >> 16;
    x *= 0x7feb352du;
    return x ^ x >> 15;
}

u64 rnd64(struct test *t)
{
    u64 high = rnd(t);
    return high << 32 | rnd(t);
}

float frnd(struct test *t, float lo, float hi)
{
    return lo + (hi - lo) * ((float)(rnd(t) >> 8) / 16777216.0f);
}

u32 *random_u32(struct test *t, size_t n)
{
    u32 *p = host(t, n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = rnd(t);
    return p;
}

u64 *random_u64(struct test *t, size_t n)
{
    u64 *p = host(t, n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = rnd64(t);
    return p;
}

u8 *random_u8(struct test *t, size_t n)
{
    u8 *p = host(t, n);
    for (size_t i = 0; i < n; i++)
        p[i] = (u8)(rnd(t) >> 11);
    return p;
}

float *random_f32(struct test *t, size_t n, float lo, float hi)
{
    float *p = host(t, n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = frnd(t, lo, hi);
    return p;
}

double *random_f64(struct test *t, size_t n, double lo, double hi)
{
    double *p = host(t, n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = lo + (hi - lo) * ((double)(rnd64(t) >> 11) / 9007199254740992.0);
    return p;
}

static hd_address allocate(struct test *t, size_t bytes)
{
    struct hd_error error;
    if (t->failed)
        return 0;
    hd_address address = hd_alloc(t->device, bytes, &error);
    if (address == 0)
        fail_api(t, "hd_alloc", &error);
    return address;
}

hd_address give(struct test *t, const void *data, size_t bytes)
{
    struct hd_error error;
    hd_address address = allocate(t, bytes);
    if (!t->failed && !hd_write(t->device, address, data, bytes, &error))
        fail_api(t, "hd_write", &error);
    return address;
}

static hd_address filled(struct test *t, size_t bytes, u8 value)
{
    struct hd_error error;
    hd_address address = allocate(t, bytes);
    if (!t->failed && !hd_fill(t->device, address, &value, 1, bytes, &error))
        fail_api(t, "hd_fill", &error);
    return address;
}

hd_address room(struct test *t, size_t bytes)
{
    return filled(t, bytes, 0xa5);
}

hd_address zeros(struct test *t, size_t bytes)
{
    return filled(t, bytes, 0);
}

void *take(struct test *t, hd_address from, size_t bytes)
{
    struct hd_error error;
    void *to = host(t, bytes);
    if (!t->failed && !hd_read(t->device, to, from, bytes, &error))
        fail_api(t, "hd_read", &error);
    return to;
}

void set_variable(struct test *t, const char *name, const void *data, size_t bytes)
{
    struct hd_error error;
    hd_address address;
    uint64_t size;
    if (t->failed)
        return;
    if (!hd_module_variable(t->module, name, &address, &size, &error))
        fail_api(t, "hd_module_variable", &error);
    else if (size != bytes)
        fail(t, "variable %s has %llu bytes, not %zu", name, (unsigned long long)size, bytes);
    else if (!hd_write(t->device, address, data, bytes, &error))
        fail_api(t, "hd_write", &error);
}

struct hd_arg local_at(struct test *t, const char *kernel, u32 offset)
{
    struct hd_error error;
    struct hd_kernel_info info = {0};
    struct hd_kernel *k = t->failed ? NULL : hd_kernel_find(t->module, kernel, &error);
    u64 *place = host(t, sizeof *place);
    if (k)
        hd_kernel_info(k, &info);
    *place = (info.shared_bytes + 15) / 16 * 16 + offset;
    return (struct hd_arg){place, t->si || t->narrow ? 4 : 8};
}

/* Addresses among the arguments of code with 32-bit addresses get its size. */
static void narrow_args(struct hd_kernel *kernel, struct hd_arg *args, size_t count)
{
    struct hd_kernel_info info;
    hd_kernel_info(kernel, &info);
    for (size_t i = 0; i < count && i < info.param_count; i++)
        if (args[i].size == sizeof(hd_address) && info.params[i].size == 4)
            args[i].size = 4;
}

void launch(struct test *t, const char *kernel, struct hd_dim grid, struct hd_dim block, u32 shared,
            struct hd_arg *args, size_t count)
{
    struct hd_error error;
    if (t->failed)
        return;
    struct hd_kernel *k = hd_kernel_find(t->module, kernel, &error);
    if (!k) {
        fail_api(t, "hd_kernel_find", &error);
        return;
    }
    if (t->narrow)
        narrow_args(k, args, count);
    if (!hd_launch(k, grid, block, shared, args, count, &t->result, &error))
        fail_api(t, "hd_launch", &error);
    else if (!t->fault && t->result.outcome != HD_DONE)
        fail(t, "%s ended with %s:\n%s", kernel, hd_outcome_name(t->result.outcome),
             t->result.explanation);
    else if (!t->fault && t->result.thread_instructions == 0)
        fail(t, "%s counted no instructions", kernel);
}

void same(struct test *t, const char *what, const void *got, const void *want, size_t n,
          size_t size)
{
    if (t->failed || memcmp(got, want, n * size) == 0)
        return;
    size_t wrong = 0, first = 0;
    for (size_t i = n; i-- > 0;)
        if (memcmp((const u8 *)got + i * size, (const u8 *)want + i * size, size) != 0) {
            wrong++;
            first = i;
        }
    u64 g = 0, w = 0;
    size_t shown = size < 8 ? size : 8;
    memcpy(&g, (const u8 *)got + first * size, shown);
    memcpy(&w, (const u8 *)want + first * size, shown);
    fail(t, "%s[%zu] is 0x%0*llx, not 0x%0*llx (%zu of %zu differ)", what, first, (int)shown * 2,
         (unsigned long long)g, (int)shown * 2, (unsigned long long)w, wrong, n);
}

static void near(struct test *t, const char *what, size_t i, double got, double want,
                 double relative, double absolute)
{
    if (isnan(got) && isnan(want))
        return;
    if (got == want || fabs(got - want) <= absolute + relative * fabs(want))
        return;
    fail(t, "%s[%zu] is %.9g, not %.9g", what, i, got, want);
}

void near32(struct test *t, const char *what, const float *got, const double *want, size_t n,
            size_t stride, double relative, double absolute)
{
    for (size_t i = 0; i < n && !t->failed; i++)
        near(t, what, i, got[i * stride], want[i], relative, absolute);
}

void near64(struct test *t, const char *what, const double *got, const double *want, size_t n,
            size_t stride, double relative, double absolute)
{
    for (size_t i = 0; i < n && !t->failed; i++)
        near(t, what, i, got[i * stride], want[i], relative, absolute);
}

void equals(struct test *t, const char *what, u64 got, u64 want)
{
    if (got != want)
        fail(t, "%s is %llu (0x%llx), not %llu (0x%llx)", what, (unsigned long long)got,
             (unsigned long long)got, (unsigned long long)want, (unsigned long long)want);
}
