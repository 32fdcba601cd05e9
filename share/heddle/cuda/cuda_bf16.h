/* __nv_bfloat16 and __nv_bfloat162: the upper half of a float. Arithmetic is float's, rounded. */
#ifndef HEDDLE_CUDA_BF16_H
#define HEDDLE_CUDA_BF16_H

#define __CUDA_BF16_H__

#include "cuda_runtime.h"

#include "heddle_narrow.h"
#include <cstring>

struct __nv_bfloat16;
static __host__ __device__ __forceinline__ __nv_bfloat16 __float2bfloat16_rn(float value);
static __host__ __device__ __forceinline__ __nv_bfloat16 __double2bfloat16(double value);
static __host__ __device__ __forceinline__ float __bfloat162float(__nv_bfloat16 value);

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __align__(2) __nv_bfloat16 {
    unsigned short __x;
    __nv_bfloat16() = default;
    __host__ __device__ __nv_bfloat16(__nv_bfloat16_raw raw) : __x(raw.x) {}
    __host__ __device__ __nv_bfloat16(float value) : __x(__float2bfloat16_rn(value).__x) {}
    __host__ __device__ __nv_bfloat16(double value) : __x(__double2bfloat16(value).__x) {}
    __host__ __device__ __nv_bfloat16(int value) : __x(__double2bfloat16(value).__x) {}
    __host__ __device__ __nv_bfloat16(unsigned value) : __x(__double2bfloat16(value).__x) {}
    __host__ __device__ operator float() const { return __bfloat162float(*this); }
    __host__ __device__ operator __nv_bfloat16_raw() const { return {__x}; }
    __host__ __device__ __nv_bfloat16 &operator=(float value)
    {
        return *this = __float2bfloat16_rn(value);
    }
};
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    __host__ __device__ __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

/* ---- conversions ---- */

#define HEDDLE_SF static __host__ __device__ __forceinline__
HEDDLE_SF __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    return __nv_bfloat16(__nv_bfloat16_raw{bits});
}
HEDDLE_SF __nv_bfloat16 __short_as_bfloat16(short bits)
{
    return __ushort_as_bfloat16((unsigned short)bits);
}
HEDDLE_SF unsigned short __bfloat16_as_ushort(__nv_bfloat16 value)
{
    return value.__x;
}
HEDDLE_SF short __bfloat16_as_short(__nv_bfloat16 value)
{
    return (short)value.__x;
}
HEDDLE_SF float __bfloat162float(__nv_bfloat16 value)
{
    const unsigned word = (unsigned)value.__x << 16;
    float result;
    memcpy(&result, &word, sizeof result);
    return result;
}
HEDDLE_SF __nv_bfloat16 __float2bfloat16_rn(float value)
{
    unsigned word;
    memcpy(&word, &value, sizeof word);
    const unsigned rounded = (word + 0x7fff + (word >> 16 & 1)) >> 16;
    return __ushort_as_bfloat16((unsigned short)(value != value ? 0x7fff : rounded));
}
HEDDLE_SF __nv_bfloat16 __float2bfloat16(float value)
{
    return __float2bfloat16_rn(value);
}
HEDDLE_SF __nv_bfloat16 __float2bfloat16_rz(float value)
{
    return __ushort_as_bfloat16(heddle_narrow(value, 7, HEDDLE_ZERO));
}
HEDDLE_SF __nv_bfloat16 __float2bfloat16_rd(float value)
{
    return __ushort_as_bfloat16(heddle_narrow(value, 7, HEDDLE_DOWN));
}
HEDDLE_SF __nv_bfloat16 __float2bfloat16_ru(float value)
{
    return __ushort_as_bfloat16(heddle_narrow(value, 7, HEDDLE_UP));
}
HEDDLE_SF __nv_bfloat16 __double2bfloat16(double value)
{
    return __ushort_as_bfloat16(heddle_narrow(value, 7, HEDDLE_NEAREST));
}
HEDDLE_SF __nv_bfloat16 __int2bfloat16_rn(int value)
{
    return __double2bfloat16(value);
}
HEDDLE_SF int __bfloat162int_rn(__nv_bfloat16 value)
{
    return (int)__builtin_rintf(__bfloat162float(value));
}
HEDDLE_SF int __bfloat162int_rz(__nv_bfloat16 value)
{
    return (int)__bfloat162float(value);
}
HEDDLE_SF __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{
    return __nv_bfloat162(__float2bfloat16_rn(a), __float2bfloat16_rn(b));
}
HEDDLE_SF __nv_bfloat162 __float2bfloat162_rn(float a)
{
    return __floats2bfloat162_rn(a, a);
}
HEDDLE_SF __nv_bfloat162 __float22bfloat162_rn(float2 a)
{
    return __floats2bfloat162_rn(a.x, a.y);
}
HEDDLE_SF float2 __bfloat1622float2(__nv_bfloat162 a)
{
    return make_float2(__bfloat162float(a.x), __bfloat162float(a.y));
}
HEDDLE_SF __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __nv_bfloat162(a, b);
}
HEDDLE_SF __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __nv_bfloat162(a, b);
}
HEDDLE_SF __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a)
{
    return __nv_bfloat162(a, a);
}
HEDDLE_SF __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a)
{
    return a.x;
}
HEDDLE_SF __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a)
{
    return a.y;
}

/* ---- arithmetic ---- */

HEDDLE_SF __nv_bfloat16 heddle_bfloat_add(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(b));
}
HEDDLE_SF __nv_bfloat16 heddle_bfloat_sub(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __float2bfloat16_rn(__bfloat162float(a) - __bfloat162float(b));
}
HEDDLE_SF __nv_bfloat16 heddle_bfloat_mul(__nv_bfloat16 a, __nv_bfloat16 b)
{
    return __float2bfloat16_rn(__bfloat162float(a) * __bfloat162float(b));
}
HEDDLE_SF __nv_bfloat16 heddle_bfloat_fma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    return __double2bfloat16(
        heddle_sum_to_odd((double)__bfloat162float(a) * __bfloat162float(b), __bfloat162float(c)));
}

#define HEDDLE_F __nv_bfloat16
#define HEDDLE_F2 __nv_bfloat162
#define HEDDLE_TO(x) __bfloat162float(x)
#define HEDDLE_FROM(x) __float2bfloat16_rn(x)
#define HEDDLE_ADD heddle_bfloat_add
#define HEDDLE_SUB heddle_bfloat_sub
#define HEDDLE_MUL heddle_bfloat_mul
#define HEDDLE_FMA heddle_bfloat_fma
#define heddle_quotient heddle_bfloat_quotient
#define heddle_saturate heddle_bfloat_saturate
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
