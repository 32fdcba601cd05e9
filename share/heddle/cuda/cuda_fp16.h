/* __half and __half2: 16-bit floating point. On the device, arithmetic is the instructions of PTX. */
#ifndef HEDDLE_CUDA_FP16_H
#define HEDDLE_CUDA_FP16_H

#define __CUDA_FP16_H__

#include "cuda_runtime.h"

#include "heddle_narrow.h"
#include <cstring>

struct __half;
static __host__ __device__ __forceinline__ __half __float2half_rn(float value);
static __host__ __device__ __forceinline__ __half __double2half(double value);
static __host__ __device__ __forceinline__ float __half2float(__half value);

struct __half_raw {
    unsigned short x;
};
struct __align__(2) __half {
    unsigned short __x;
    __half() = default;
    __host__ __device__ __half(__half_raw raw) : __x(raw.x) {}
    __host__ __device__ __half(float value) : __x(__float2half_rn(value).__x) {}
    __host__ __device__ __half(double value) : __x(__double2half(value).__x) {}
    __host__ __device__ __half(int value) : __x(__double2half(value).__x) {}
    __host__ __device__ __half(unsigned value) : __x(__double2half(value).__x) {}
    __host__ __device__ __half(short value) : __x(__float2half_rn(value).__x) {}
    __host__ __device__ __half(unsigned short value) : __x(__float2half_rn(value).__x) {}
    __host__ __device__ operator float() const { return __half2float(*this); }
    __host__ __device__ operator __half_raw() const { return {__x}; }
    __host__ __device__ __half &operator=(float value) { return *this = __float2half_rn(value); }
};
struct __align__(4) __half2 {
    __half x, y;
    __half2() = default;
    __host__ __device__ __half2(const __half &a, const __half &b) : x(a), y(b) {}
};
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

/* ---- conversions ---- */

#define HEDDLE_SF static __host__ __device__ __forceinline__
HEDDLE_SF __half __ushort_as_half(unsigned short bits)
{
    return __half(__half_raw{bits});
}
HEDDLE_SF __half __short_as_half(short bits)
{
    return __ushort_as_half((unsigned short)bits);
}
HEDDLE_SF unsigned short __half_as_ushort(__half value)
{
    return value.__x;
}
HEDDLE_SF short __half_as_short(__half value)
{
    return (short)value.__x;
}
HEDDLE_SF float __half2float(__half value)
{
#ifdef __CUDA_ARCH__
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.__x));
    return result;
#else
    const unsigned sign = (unsigned)(value.__x & 0x8000) << 16, bits = value.__x & 0x7fff;
    float result;
    unsigned word = bits >= 0x7c00 ? 0x7f800000 | (bits & 0x3ff) << 13 : (bits << 13) + (112u << 23);
    memcpy(&result, &word, sizeof result);
    if (bits < 0x400)
        result = (float)bits * 0x1p-24f;
    return sign ? -result : result;
#endif
}
#define HEDDLE_FROM_FLOAT(name, ptx, mode)                                  \
    HEDDLE_SF __half name(float value)                                      \
    {                                                                       \
        HEDDLE_NARROW_FLOAT(ptx, mode)                                      \
    }
#ifdef __CUDA_ARCH__
#define HEDDLE_NARROW_FLOAT(ptx, mode)                                      \
    unsigned short bits;                                                    \
    asm("cvt." ptx ".f16.f32 %0, %1;" : "=h"(bits) : "f"(value));           \
    return __ushort_as_half(bits);
#else
#define HEDDLE_NARROW_FLOAT(ptx, mode) return __ushort_as_half(heddle_narrow(value, 10, mode));
#endif
HEDDLE_FROM_FLOAT(__float2half_rn, "rn", HEDDLE_NEAREST)
HEDDLE_FROM_FLOAT(__float2half, "rn", HEDDLE_NEAREST)
HEDDLE_FROM_FLOAT(__float2half_rz, "rz", HEDDLE_ZERO)
HEDDLE_FROM_FLOAT(__float2half_rd, "rm", HEDDLE_DOWN)
HEDDLE_FROM_FLOAT(__float2half_ru, "rp", HEDDLE_UP)
#undef HEDDLE_FROM_FLOAT
#undef HEDDLE_NARROW_FLOAT
HEDDLE_SF __half __double2half(double value)
{
    return __ushort_as_half(heddle_narrow(value, 10, HEDDLE_NEAREST));
}
HEDDLE_SF __half2 __floats2half2_rn(float a, float b)
{
    return __half2(__float2half_rn(a), __float2half_rn(b));
}
HEDDLE_SF __half2 __float2half2_rn(float a)
{
    return __floats2half2_rn(a, a);
}
HEDDLE_SF __half2 __float22half2_rn(float2 a)
{
    return __floats2half2_rn(a.x, a.y);
}
HEDDLE_SF float2 __half22float2(__half2 a)
{
    return make_float2(__half2float(a.x), __half2float(a.y));
}
HEDDLE_SF __half2 make_half2(__half a, __half b)
{
    return __half2(a, b);
}
HEDDLE_SF __half2 __halves2half2(__half a, __half b)
{
    return __half2(a, b);
}
HEDDLE_SF __half2 __half2half2(__half a)
{
    return __half2(a, a);
}
HEDDLE_SF __half __low2half(__half2 a)
{
    return a.x;
}
HEDDLE_SF __half __high2half(__half2 a)
{
    return a.y;
}
HEDDLE_SF __half2 __low2half2(__half2 a)
{
    return __half2(a.x, a.x);
}
HEDDLE_SF __half2 __high2half2(__half2 a)
{
    return __half2(a.y, a.y);
}
HEDDLE_SF __half2 __lows2half2(__half2 a, __half2 b)
{
    return __half2(a.x, b.x);
}
HEDDLE_SF __half2 __highs2half2(__half2 a, __half2 b)
{
    return __half2(a.y, b.y);
}

/* Integers: exact as double up to 53 bits; longer ones are infinite as half anyway. */
#define HEDDLE_INTEGER(T, name)                                                    \
    HEDDLE_SF __half __##name##2half_rn(T value)                                   \
    {                                                                              \
        return __ushort_as_half(heddle_narrow((double)value, 10, HEDDLE_NEAREST)); \
    }                                                                              \
    HEDDLE_SF __half __##name##2half_rz(T value)                                   \
    {                                                                              \
        return __ushort_as_half(heddle_narrow((double)value, 10, HEDDLE_ZERO));    \
    }                                                                              \
    HEDDLE_SF __half __##name##2half_rd(T value)                                   \
    {                                                                              \
        return __ushort_as_half(heddle_narrow((double)value, 10, HEDDLE_DOWN));    \
    }                                                                              \
    HEDDLE_SF __half __##name##2half_ru(T value)                                   \
    {                                                                              \
        return __ushort_as_half(heddle_narrow((double)value, 10, HEDDLE_UP));      \
    }                                                                              \
    HEDDLE_SF T heddle_to_##name(float x)                                          \
    {                                                                              \
        const float least = (T)-1 < 0 ? -__builtin_ldexpf(1, 8 * sizeof(T) - 1) : 0; \
        const float end = __builtin_ldexpf(1, 8 * sizeof(T) - ((T)-1 < 0));        \
        const T most = (T)-1 < 0 ? (T)(((1ull << (8 * sizeof(T) - 2)) - 1) * 2 + 1) : (T)-1; \
        return x != x ? (T)0 : x <= least ? (T)least : x >= end ? most : (T)x;     \
    }                                                                              \
    HEDDLE_SF T __half2##name##_rn(__half a)                                       \
    {                                                                              \
        return heddle_to_##name(__builtin_rintf(__half2float(a)));                 \
    }                                                                              \
    HEDDLE_SF T __half2##name##_rz(__half a)                                       \
    {                                                                              \
        return heddle_to_##name(__builtin_truncf(__half2float(a)));                \
    }                                                                              \
    HEDDLE_SF T __half2##name##_rd(__half a)                                       \
    {                                                                              \
        return heddle_to_##name(__builtin_floorf(__half2float(a)));                \
    }                                                                              \
    HEDDLE_SF T __half2##name##_ru(__half a)                                       \
    {                                                                              \
        return heddle_to_##name(__builtin_ceilf(__half2float(a)));                 \
    }
HEDDLE_INTEGER(int, int)
HEDDLE_INTEGER(unsigned, uint)
HEDDLE_INTEGER(short, short)
HEDDLE_INTEGER(unsigned short, ushort)
HEDDLE_INTEGER(long long, ll)
HEDDLE_INTEGER(unsigned long long, ull)
#undef HEDDLE_INTEGER

/* ---- arithmetic ---- */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
#define HEDDLE_HALF_OP(name, ptx)                                                          \
    HEDDLE_SF __half heddle_half_##name(__half a, __half b)                                \
    {                                                                                      \
        unsigned short bits;                                                               \
        asm(ptx " %0, %1, %2;" : "=h"(bits) : "h"(a.__x), "h"(b.__x));                     \
        return __ushort_as_half(bits);                                                     \
    }
HEDDLE_HALF_OP(add, "add.rn.f16")
HEDDLE_HALF_OP(sub, "sub.rn.f16")
HEDDLE_HALF_OP(mul, "mul.rn.f16")
#undef HEDDLE_HALF_OP
HEDDLE_SF __half heddle_half_fma(__half a, __half b, __half c)
{
    unsigned short bits;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(bits) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
    return __ushort_as_half(bits);
}
#else
HEDDLE_SF __half heddle_half_add(__half a, __half b)
{
    return __float2half_rn(__half2float(a) + __half2float(b));
}
HEDDLE_SF __half heddle_half_sub(__half a, __half b)
{
    return __float2half_rn(__half2float(a) - __half2float(b));
}
HEDDLE_SF __half heddle_half_mul(__half a, __half b)
{
    return __float2half_rn(__half2float(a) * __half2float(b));
}
HEDDLE_SF __half heddle_half_fma(__half a, __half b, __half c)
{
    return __double2half(
        heddle_sum_to_odd((double)__half2float(a) * __half2float(b), __half2float(c)));
}
#endif

#define HEDDLE_F __half
#define HEDDLE_F2 __half2
#define HEDDLE_TO(x) __half2float(x)
#define HEDDLE_FROM(x) __float2half_rn(x)
#define HEDDLE_ADD heddle_half_add
#define HEDDLE_SUB heddle_half_sub
#define HEDDLE_MUL heddle_half_mul
#define HEDDLE_FMA heddle_half_fma
#define heddle_quotient heddle_half_quotient
#define heddle_saturate heddle_half_saturate
#include "heddle_small_float.h"
#undef HEDDLE_F
#undef HEDDLE_F2
#undef HEDDLE_TO
#undef HEDDLE_FROM
#undef HEDDLE_ADD
#undef HEDDLE_SUB
#undef HEDDLE_MUL
#undef HEDDLE_FMA
#undef heddle_quotient
#undef heddle_saturate
#undef HEDDLE_SF
#undef HEDDLE_SD

#endif
