/*
 * Functions of OpenCL C 1.2 that libclc lacks for our targets; compiled when Heddle is built, and
 * linked before libclc, whose functions of the same names are then left out.
 */
#include "builtins.h"

#define OVERLOAD __attribute__((overloadable))
#define PURE __attribute__((overloadable, const))

#ifdef __NVPTX__
/* ---- work-items: %envreg0 is the number of dimensions, 1 to 6 the offsets, low words first ---- */

#define ENVREG(n)                                       \
    ({                                                  \
        uint hd_word;                                   \
        __asm__("mov.u32 %0, %%envreg" #n ";" : "=r"(hd_word)); \
        hd_word;                                        \
    })

PURE uint get_work_dim(void)
{
    return ENVREG(0);
}

PURE size_t get_global_offset(uint dimension)
{
    switch (dimension) {
    case 0: return upsample(ENVREG(2), ENVREG(1));
    case 1: return upsample(ENVREG(4), ENVREG(3));
    case 2: return upsample(ENVREG(6), ENVREG(5));
    default: return 0;
    }
}

PURE size_t get_global_id(uint dimension)
{
    return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension) +
           get_global_offset(dimension);
}
#endif

/* ---- integers ---- */

#define MAD_HI(type)                         \
    PURE type mad_hi(type a, type b, type c) \
    {                                        \
        return mul_hi(a, b) + c;             \
    }
#define ALL_WIDTHS(make, type) \
    make(type)                 \
    make(type##2)              \
    make(type##3)              \
    make(type##4)              \
    make(type##8)              \
    make(type##16)
#define ALL_INTEGERS(make)   \
    ALL_WIDTHS(make, char)   \
    ALL_WIDTHS(make, uchar)  \
    ALL_WIDTHS(make, short)  \
    ALL_WIDTHS(make, ushort) \
    ALL_WIDTHS(make, int)    \
    ALL_WIDTHS(make, uint)   \
    ALL_WIDTHS(make, long)   \
    ALL_WIDTHS(make, ulong)
ALL_INTEGERS(MAD_HI)

/* ---- vectors of three, which lie like those of four ---- */

static size_t work_item(void)
{
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
           get_local_id(0);
}

static size_t work_items(void)
{
    return get_local_size(0) * get_local_size(1) * get_local_size(2);
}

#define COPY_3(type, to, from)                                                                \
    OVERLOAD event_t async_work_group_copy(to type##3 *out, const from type##3 *in, size_t n, \
                                           event_t event)                                     \
    {                                                                                         \
        for (size_t i = work_item(); i < n; i += work_items())                                \
            ((to type##4 *)out)[i] = ((const from type##4 *)in)[i];                           \
        return event;                                                                         \
    }
#define VECTORS_3(type)                                                                       \
    COPY_3(type, local, global)                                                               \
    COPY_3(type, global, local)                                                               \
    OVERLOAD event_t async_work_group_strided_copy(local type##3 *out, const global type##3 *in, \
                                                   size_t n, size_t stride, event_t event)    \
    {                                                                                         \
        for (size_t i = work_item(); i < n; i += work_items())                                \
            ((local type##4 *)out)[i] = ((const global type##4 *)in)[i * stride];             \
        return event;                                                                         \
    }                                                                                         \
    OVERLOAD event_t async_work_group_strided_copy(global type##3 *out, const local type##3 *in, \
                                                   size_t n, size_t stride, event_t event)    \
    {                                                                                         \
        for (size_t i = work_item(); i < n; i += work_items())                                \
            ((global type##4 *)out)[i * stride] = ((const local type##4 *)in)[i];             \
        return event;                                                                         \
    }                                                                                         \
    OVERLOAD void prefetch(const global type##3 *p, size_t n)                                 \
    {                                                                                         \
    }
VECTORS_3(char)
VECTORS_3(uchar)
VECTORS_3(short)
VECTORS_3(ushort)
VECTORS_3(int)
VECTORS_3(uint)
VECTORS_3(long)
VECTORS_3(ulong)
VECTORS_3(float)
VECTORS_3(double)

/* ---- common functions ---- */

#define SMOOTHSTEP(type)                                                      \
    PURE type smoothstep(double edge0, double edge1, type x)                  \
    {                                                                         \
        type t = clamp((x - (type)edge0) / ((type)edge1 - (type)edge0), 0.0, 1.0); \
        return t * t * (3.0 - 2.0 * t);                                       \
    }
SMOOTHSTEP(double2)
SMOOTHSTEP(double3)
SMOOTHSTEP(double4)
SMOOTHSTEP(double8)
SMOOTHSTEP(double16)

#ifdef __NVPTX__
/* ---- 64-bit atomics: libclc has those of 32 bits ---- */

#define ATOM(type, space, name, operation)                                 \
    OVERLOAD type name(volatile space type *p, type value)                 \
    {                                                                      \
        return operation(p, value);                                        \
    }
/* For these the compiler has nothing. */
#define ATOM_PTX(type, space, name, instruction)                           \
    OVERLOAD type name(volatile space type *p, type value)                 \
    {                                                                      \
        type old;                                                          \
        __asm__ volatile("atom." #space "." instruction " %0, [%1], %2;"   \
                         : "=l"(old)                                       \
                         : "l"(p), "l"(value)                              \
                         : "memory");                                      \
        return old;                                                        \
    }
#define ATOMS(type, space)                                         \
    ATOM(type, space, atom_add, __sync_fetch_and_add)                      \
    ATOM(type, space, atom_sub, __sync_fetch_and_sub)                      \
    ATOM(type, space, atom_xchg, __sync_swap)                              \
    ATOM(type, space, atom_and, __sync_fetch_and_and)                      \
    ATOM(type, space, atom_or, __sync_fetch_and_or)                        \
    ATOM(type, space, atom_xor, __sync_fetch_and_xor)                      \
    OVERLOAD type atom_inc(volatile space type *p)                         \
    {                                                                      \
        return __sync_fetch_and_add(p, 1);                                 \
    }                                                                      \
    OVERLOAD type atom_dec(volatile space type *p)                         \
    {                                                                      \
        return __sync_fetch_and_sub(p, 1);                                 \
    }                                                                      \
    OVERLOAD type atom_cmpxchg(volatile space type *p, type old, type new) \
    {                                                                      \
        return __sync_val_compare_and_swap(p, old, new);                   \
    }
ATOMS(long, global)
ATOMS(ulong, global)
ATOMS(long, local)
ATOMS(ulong, local)
#define shared local /* PTX's word for it, in the instruction's name */
ATOM_PTX(long, global, atom_min, "min.s64")
ATOM_PTX(long, global, atom_max, "max.s64")
ATOM_PTX(ulong, global, atom_min, "min.u64")
ATOM_PTX(ulong, global, atom_max, "max.u64")
ATOM_PTX(long, shared, atom_min, "min.s64")
ATOM_PTX(long, shared, atom_max, "max.s64")
ATOM_PTX(ulong, shared, atom_min, "min.u64")
ATOM_PTX(ulong, shared, atom_max, "max.u64")
#undef shared

/* ---- native functions: one instruction of the machine each, or little more ---- */

#define NATIVE(name, instruction)                               \
    PURE float name(float x)                                    \
    {                                                           \
        float y;                                                \
        __asm__(instruction ".f32 %0, %1;" : "=f"(y) : "f"(x)); \
        return y;                                               \
    }
NATIVE(native_sin, "sin.approx")
NATIVE(native_cos, "cos.approx")
NATIVE(native_exp2, "ex2.approx")
NATIVE(native_log2, "lg2.approx")
NATIVE(native_sqrt, "sqrt.approx")
NATIVE(native_rsqrt, "rsqrt.approx")
NATIVE(native_recip, "rcp.approx")

PURE float native_divide(float x, float y)
{
    float q;
    __asm__("div.full.f32 %0, %1, %2;" : "=f"(q) : "f"(x), "f"(y));
    return q;
}

PURE float native_tan(float x)
{
    return native_divide(native_sin(x), native_cos(x));
}

PURE float native_exp(float x)
{
    return native_exp2(x * M_LOG2E_F);
}

PURE float native_exp10(float x)
{
    return native_exp2(x * (M_LN10_F / M_LN2_F));
}

PURE float native_log(float x)
{
    return native_log2(x) * M_LN2_F;
}

PURE float native_log10(float x)
{
    return native_log2(x) * (M_LN2_F / M_LN10_F);
}

PURE float native_powr(float x, float y)
{
    return native_exp2(y * native_log2(x));
}

/* The half functions may be no better, but must be right to 8192 ULP everywhere in their range,
 * which the instructions are not: they are the full ones. */
PURE float half_sin(float x)
{
    return sin(x);
}

PURE float half_cos(float x)
{
    return cos(x);
}

PURE float half_tan(float x)
{
    return tan(x);
}

PURE float half_exp(float x)
{
    return exp(x);
}

PURE float half_exp2(float x)
{
    return exp2(x);
}

PURE float half_exp10(float x)
{
    return exp10(x);
}

PURE float half_log(float x)
{
    return log(x);
}

PURE float half_log2(float x)
{
    return log2(x);
}

PURE float half_log10(float x)
{
    return log10(x);
}

PURE float half_powr(float x, float y)
{
    return powr(x, y);
}

PURE float half_sqrt(float x)
{
    return sqrt(x);
}

PURE float half_rsqrt(float x)
{
    return rsqrt(x);
}

PURE float half_recip(float x)
{
    return 1.0f / x;
}

PURE float half_divide(float x, float y)
{
    return x / y;
}

#define WIDER(type, half_type, name)                      \
    PURE type name(type x)                                \
    {                                                     \
        return (type)(name(x.lo), name(x.hi));            \
    }
#define WIDER_TWO(type, half_type, name)                  \
    PURE type name(type x, type y)                        \
    {                                                     \
        return (type)(name(x.lo, y.lo), name(x.hi, y.hi)); \
    }
#define VECTORS(name)                                     \
    WIDER(float2, float, name)                            \
    PURE float3 name(float3 x)                            \
    {                                                     \
        return (float3)(name(x.xy), name(x.z));           \
    }                                                     \
    WIDER(float4, float2, name)                           \
    WIDER(float8, float4, name)                           \
    WIDER(float16, float8, name)
#define VECTORS_TWO(name)                                  \
    WIDER_TWO(float2, float, name)                         \
    PURE float3 name(float3 x, float3 y)                   \
    {                                                      \
        return (float3)(name(x.xy, y.xy), name(x.z, y.z)); \
    }                                                      \
    WIDER_TWO(float4, float2, name)                        \
    WIDER_TWO(float8, float4, name)                        \
    WIDER_TWO(float16, float8, name)
#define BOTH(make, name) \
    make(native_##name)  \
    make(half_##name)
BOTH(VECTORS, sin)
BOTH(VECTORS, cos)
BOTH(VECTORS, tan)
BOTH(VECTORS, exp)
BOTH(VECTORS, exp2)
BOTH(VECTORS, exp10)
BOTH(VECTORS, log)
BOTH(VECTORS, log2)
BOTH(VECTORS, log10)
BOTH(VECTORS, sqrt)
BOTH(VECTORS, rsqrt)
BOTH(VECTORS, recip)
BOTH(VECTORS_TWO, divide)
BOTH(VECTORS_TWO, powr)
#endif

/* ---- printf: the head of the buffer is u32 bytes used, u32 bytes there are ---- */

enum {
    PRINT_SIGNED = 1,
    PRINT_UNSIGNED,
    PRINT_FLOAT,
    PRINT_POINTER
};
#define TAG(kind, bytes, count) ((kind) << 16 | (bytes) << 8 | (count))

static hd_print_place print_buffer(void)
{
#ifdef __NVPTX__
    return (hd_print_place)upsample(ENVREG(8), ENVREG(7));
#else
    return *(constant hd_print_place *)(__builtin_amdgcn_implicitarg_ptr() + 24);
#endif
}

/* An address that the host can read. */
static ulong constant_address(const volatile constant void *p)
{
#ifdef __NVPTX__
    ulong address;
    __asm__("cvta.const.u64 %0, %1;" : "=l"(address) : "l"(p));
    return address;
#else
    return (ulong)p;
#endif
}

/* Where the arguments go; NULL: the buffer is full, which a record of 0 bytes then tells. */
hd_print_place hd_print_begin(constant const char *format, uint bytes)
{
    hd_print_place buffer = print_buffer();
    if (!buffer || buffer[0] > buffer[1])
        return 0;
    uint total = 16 + bytes, at = atomic_add(buffer, total);
    if (at > buffer[1] || buffer[1] - at < total) {
        if (at < buffer[1])
            buffer[at / 4] = 0;
        return 0;
    }
    hd_print_place record = buffer + at / 4;
    record[0] = total;
    record[1] = 0;
    *(global ulong *)(record + 2) = constant_address(format);
    return record + 4;
}

#define PUT(kind, type, element, n, store)                                     \
    OVERLOAD hd_print_place hd_print_put(hd_print_place at, type value)        \
    {                                                                          \
        if (!at)                                                               \
            return at;                                                         \
        at[0] = TAG(kind, sizeof(element), n);                                 \
        at[1] = 0;                                                             \
        store;                                                                 \
        return at + 2 + (sizeof(type) + 7) / 8 * 2;                            \
    }
#define PUT_VALUES(kind, type)                                                             \
    PUT(kind, type, type, 1, *(global type *)(at + 2) = value)                             \
    PUT(kind, type##2, type, 2, vstore2(value, 0, (global type *)(at + 2)))                \
    PUT(kind, type##3, type, 3, vstore3(value, 0, (global type *)(at + 2)))                \
    PUT(kind, type##4, type, 4, vstore4(value, 0, (global type *)(at + 2)))                \
    PUT(kind, type##8, type, 8, vstore8(value, 0, (global type *)(at + 2)))                \
    PUT(kind, type##16, type, 16, vstore16(value, 0, (global type *)(at + 2)))
PUT_VALUES(PRINT_SIGNED, char)
PUT_VALUES(PRINT_UNSIGNED, uchar)
PUT_VALUES(PRINT_SIGNED, short)
PUT_VALUES(PRINT_UNSIGNED, ushort)
PUT_VALUES(PRINT_SIGNED, int)
PUT_VALUES(PRINT_UNSIGNED, uint)
PUT_VALUES(PRINT_SIGNED, long)
PUT_VALUES(PRINT_UNSIGNED, ulong)
PUT_VALUES(PRINT_FLOAT, float)
PUT_VALUES(PRINT_FLOAT, double)

#define PUT_POINTER(space, address)                                                               \
    OVERLOAD hd_print_place hd_print_put(hd_print_place at, const volatile space void *value)     \
    {                                                                                             \
        if (!at)                                                                                  \
            return at;                                                                            \
        at[0] = TAG(PRINT_POINTER, 8, 1);                                                         \
        at[1] = 0;                                                                                \
        *(global ulong *)(at + 2) = (ulong)(address);                                             \
        return at + 2 + (sizeof value + 7) / 8 * 2;                                               \
    }
PUT_POINTER(global, value)
PUT_POINTER(local, value)
PUT_POINTER(constant, constant_address(value))
PUT_POINTER(private, value)
