/* Attributes, vector types and their functions make_*: the same in host and device code. */
#ifndef HEDDLE_VECTOR_TYPES_H
#define HEDDLE_VECTOR_TYPES_H

#include <stddef.h>

#if defined(__clang__) && defined(__CUDA__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __launch_bounds__(...)
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define CUDARTAPI_CDECL

#define HEDDLE_VECTOR_1(T, N, A) \
    struct N##1                  \
    {                            \
        T x;                     \
    };
#define HEDDLE_VECTOR_2(T, N, A) \
    struct __align__(A) N##2     \
    {                            \
        T x, y;                  \
    };
#define HEDDLE_VECTOR_3(T, N, A) \
    struct N##3                  \
    {                            \
        T x, y, z;               \
    };
#define HEDDLE_VECTOR_4(T, N, A) \
    struct __align__(A) N##4     \
    {                            \
        T x, y, z, w;            \
    };
#ifdef __cplusplus
#define HEDDLE_MAKE static __inline__ __host__ __device__
#define HEDDLE_TYPEDEF(N)
#define HEDDLE_VECTOR_MAKE(T, N)                     \
    HEDDLE_MAKE N##1 make_##N##1(T x)                \
    {                                                \
        return {x};                                  \
    }                                                \
    HEDDLE_MAKE N##2 make_##N##2(T x, T y)           \
    {                                                \
        return {x, y};                               \
    }                                                \
    HEDDLE_MAKE N##3 make_##N##3(T x, T y, T z)      \
    {                                                \
        return {x, y, z};                            \
    }                                                \
    HEDDLE_MAKE N##4 make_##N##4(T x, T y, T z, T w) \
    {                                                \
        return {x, y, z, w};                         \
    }
#else
#define HEDDLE_VECTOR_MAKE(T, N) \
    typedef struct N##1 N##1;    \
    typedef struct N##2 N##2;    \
    typedef struct N##3 N##3;    \
    typedef struct N##4 N##4;
#endif
#define HEDDLE_VECTORS(T, N, A2, A4) \
    HEDDLE_VECTOR_1(T, N, 1)         \
    HEDDLE_VECTOR_2(T, N, A2)        \
    HEDDLE_VECTOR_3(T, N, 1)         \
    HEDDLE_VECTOR_4(T, N, A4)        \
    HEDDLE_VECTOR_MAKE(T, N)
HEDDLE_VECTORS(signed char, char, 2, 4)
HEDDLE_VECTORS(unsigned char, uchar, 2, 4)
HEDDLE_VECTORS(short, short, 4, 8)
HEDDLE_VECTORS(unsigned short, ushort, 4, 8)
HEDDLE_VECTORS(int, int, 8, 16)
HEDDLE_VECTORS(unsigned, uint, 8, 16)
HEDDLE_VECTORS(long, long, 16, 16)
HEDDLE_VECTORS(unsigned long, ulong, 16, 16)
HEDDLE_VECTORS(long long, longlong, 16, 16)
HEDDLE_VECTORS(unsigned long long, ulonglong, 16, 16)
HEDDLE_VECTORS(float, float, 8, 16)
HEDDLE_VECTORS(double, double, 16, 16)

#ifdef __cplusplus
struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)
        : x(x_), y(y_), z(z_)
    {
    }
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    __host__ __device__ constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
};
#else
typedef struct dim3 {
    unsigned x, y, z;
} dim3;
#endif
#endif
