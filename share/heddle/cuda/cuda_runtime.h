/*
 * CUDA C++ for clang without a CUDA toolkit: what nvcc includes before every program.
 *
 * `heddle nvcc` includes it on its own. Functions of the device language come from clang's headers for
 * CUDA, which are part of clang; their __nv_* functions come from Heddle's libdevice.bc. What those
 * headers leave to the toolkit is here: types, launches, atomics, templates of the runtime.
 *
 * In host code that is compiled by itself (a .cpp file) only the types and the C functions are there.
 */
#ifndef HEDDLE_CUDA_RUNTIME_H
#define HEDDLE_CUDA_RUNTIME_H

#include "vector_types.h"

#if defined(__clang__) && defined(__CUDA__)

#include <__clang_cuda_math_forward_declares.h>
#define __CUDACC__
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h> /* its names come into the global scope before there are more of them in std */
#include <string.h>
#include <time.h>

#define CUDA_VERSION 12000 /* as CUDART_VERSION: what clang's headers suppose */
#include "cuda_runtime_api.h"

#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>

#pragma push_macro("__THROW")
#undef __THROW
#define __THROW
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
#pragma pop_macro("__THROW")

extern "C" {
__device__ int vprintf(const char *format, const char *values);
__device__ void free(void *pointer) __attribute__((nothrow));
__device__ void *malloc(size_t bytes) __attribute__((nothrow, malloc));
__device__ int printf(const char *format, ...);
__device__ __attribute__((noreturn)) void __assertfail(const char *message, const char *file,
                                                       unsigned line, const char *function,
                                                       size_t char_size);
__device__ static inline void __assert_fail(const char *message, const char *file, unsigned line,
                                            const char *function) noexcept
{
    __assertfail(message, file, line, function, sizeof(char));
}
}
namespace std
{
__device__ static inline void free(void *pointer)
{
    ::free(pointer);
}
__device__ static inline void *malloc(size_t bytes)
{
    return ::malloc(bytes);
}
} // namespace std

#define HEDDLE_INDEX(type)                         \
    __device__ inline type::operator dim3() const  \
    {                                              \
        return dim3(x, y, z);                      \
    }                                              \
    __device__ inline type::operator uint3() const \
    {                                              \
        return {x, y, z};                          \
    }
HEDDLE_INDEX(__cuda_builtin_threadIdx_t)
HEDDLE_INDEX(__cuda_builtin_blockIdx_t)
HEDDLE_INDEX(__cuda_builtin_blockDim_t)
HEDDLE_INDEX(__cuda_builtin_gridDim_t)
#undef HEDDLE_INDEX

typedef unsigned cuuint32_t;
#include <__clang_cuda_cmath.h>
#include <__clang_cuda_intrinsics.h>

#include "heddle_device.h"
#include "heddle_templates.h"
#include "heddle_textures.h"

#ifdef __HEDDLE_RELOCATABLE__
/* The compiler registers no device code of a file without kernels and variables. */
static __device__ __attribute__((used)) char heddle_part;
#endif

#else
#include "cuda_runtime_api.h"
#endif
#endif
