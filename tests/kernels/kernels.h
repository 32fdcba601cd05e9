/*
 * Kernel tests: each runs a compiled kernel through the public API and compares what it wrote with
 * a plain C computation on the host.
 *
 * A case is a function of a `struct test`. Its helpers never return failure: the first one that
 * fails records why, the rest do nothing, so a case reads as straight code. Memory of host() and of
 * the device belongs to the test. Buffers from room() start filled with 0xa5, so that an element
 * the kernel did not write never looks right by accident.
 */
#ifndef KERNELS_H
#define KERNELS_H

#include <heddle/heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

struct test {
    struct hd_device *device;
    struct hd_module *module;
    const char *source; /* tests/kernels */
    u32 warp;           /* threads of a warp in this run */
    bool si;            /* a code object of Southern Islands, not PTX */
    bool narrow;        /* PTX with 32-bit addresses */
    bool timed;         /* in time */
    bool quick;         /* and not for long */
    const char *armed;  /* a setting: with content or live state; NULL: neither */
    u32 random;         /* generator state */
    bool failed;
    bool fault; /* the case expects a fault: launch() does not check the outcome */
    char message[8192];
    struct hd_result result; /* of the last launch */
    char output[16384];      /* what the guest printed */
    size_t output_length;
    void **memory;        /* host allocations */
    size_t *memory_bytes; /* of each */
    size_t memory_count;
};

enum case_flags {
    CASE_WARP32 = 1,   /* the kernel relies on warps of 32 */
    CASE_CLANG = 2,    /* only for the committed PTX: depends on how it was compiled */
    CASE_SI = 4,       /* no PTX: libclc for it lacks something */
    CASE_ROCM = 8,     /* only clang-19 with the ROCm library: libclc lacks something */
    CASE_ORDER = 16,   /* what it counts depends on the order in which warps run */
    CASE_LONG = 32,    /* runs long in time */
    CASE_WIDE = 64,    /* its blocks have 1,024 threads: more than some machines allow */
    CASE_LAYOUT = 128, /* its structures differ for 32-bit addresses, where clang aligns 64-bit
                        * members to 4 bytes, as on i386, and accesses them as if to 8 */
};

struct kernel_case {
    const char *file; /* below tests/kernels, without extension */
    const char *name;
    void (*run)(struct test *);
    u32 flags;
};
/* Each ends with a case without name. */
extern const struct kernel_case cuda_basic_cases[], cuda_number_cases[], cuda_flow_cases[],
    cuda_space_cases[], cuda_warp_cases[], opencl_cases[], opencl_number_cases[],
    opencl_program_cases[], opencl_more_cases[], opencl_memory_cases[], opencl_wide_cases[],
    opencl_flow_cases[], opencl_si_cases[], fault_cases[];

void fail(struct test *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

void *host(struct test *t, size_t bytes); /* zeroed */
u32 rnd(struct test *t);
u64 rnd64(struct test *t);
float frnd(struct test *t, float lo, float hi);
u32 *random_u32(struct test *t, size_t n);
u64 *random_u64(struct test *t, size_t n);
u8 *random_u8(struct test *t, size_t n);
float *random_f32(struct test *t, size_t n, float lo, float hi);
double *random_f64(struct test *t, size_t n, double lo, double hi);

hd_address give(struct test *t, const void *data, size_t bytes); /* a buffer with this content */
hd_address room(struct test *t, size_t bytes);                   /* a buffer of 0xa5 */
hd_address zeros(struct test *t, size_t bytes);
void *take(struct test *t, hd_address from, size_t bytes); /* a copy of device memory */
void set_variable(struct test *t, const char *name, const void *data, size_t bytes);

#define DIM(...) ((struct hd_dim){__VA_ARGS__})
#define D1(n) ((struct hd_dim){n, 1, 1})
#define D2(a, b) ((struct hd_dim){a, b, 1})
#define D3(a, b, c) ((struct hd_dim){a, b, c})
#define VALUE(type, v) ((struct hd_arg){&(type){v}, sizeof(type)})
#define PTR(v) VALUE(hd_address, v)
#define I32(v) VALUE(i32, v)
#define U32(v) VALUE(u32, v)
#define U64(v) VALUE(u64, v)
#define F32(v) VALUE(float, v)
#define BYTES(v) ((struct hd_arg){&(v), sizeof(v)})
/* An argument `local T *`: place `offset` of the shared memory the launch adds. That begins after
 * the kernel's own, at the next multiple of 16: launch with 16 bytes more than are used. */
struct hd_arg local_at(struct test *t, const char *kernel, u32 offset);
#define LAUNCH(t, kernel, grid, block, shared, ...)                        \
    launch(t, kernel, grid, block, shared, (struct hd_arg[]){__VA_ARGS__}, \
           sizeof((struct hd_arg[]){__VA_ARGS__}) / sizeof(struct hd_arg))
void launch(struct test *t, const char *kernel, struct hd_dim grid, struct hd_dim block, u32 shared,
            struct hd_arg *args, size_t count);

/* Exact: n elements of `size` bytes. */
void same(struct test *t, const char *what, const void *got, const void *want, size_t n,
          size_t size);
#define SAME(t, what, got, want, n)                                           \
    do {                                                                      \
        _Static_assert(sizeof *(got) == sizeof *(want), "the same elements"); \
        same(t, what, got, want, n, sizeof *(want));                          \
    } while (0)
/* |got - want| <= absolute + relative * |want|, or both NaN. */
void near32(struct test *t, const char *what, const float *got, const double *want, size_t n,
            size_t stride, double relative, double absolute);
void near64(struct test *t, const char *what, const double *got, const double *want, size_t n,
            size_t stride, double relative, double absolute);
/* One value. */
void equals(struct test *t, const char *what, u64 got, u64 want);

static inline u32 f32_bits(float v)
{
    u32 u;
    memcpy(&u, &v, 4);
    return u;
}
static inline float bits_f32(u32 u)
{
    float v;
    memcpy(&v, &u, 4);
    return v;
}
static inline u32 ceil_div(u32 a, u32 b)
{
    return (a + b - 1) / b;
}
static inline u32 rotl(u32 v, u32 n)
{
    return n == 0 ? v : v << n | v >> (32 - n);
}

#endif
