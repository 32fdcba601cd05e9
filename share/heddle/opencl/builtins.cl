/*
 * Functions of OpenCL C 1.2 that libclc lacks for our targets or does wrong; compiled when Heddle
 * is built, and linked before libclc, whose functions of the same names are then left out. With
 * HD_ROCM for AMD's device libraries in libclc's place.
 *
 * A function that is defined here hides the compiler's own declarations of its name, so that its
 * other overloads must be declared where they are called.
 */
#define HD_LIBRARY
#include "builtins.h"

#define OVERLOAD __attribute__((overloadable))
#define PURE __attribute__((overloadable, const))

/* Functions of vectors by those of scalars. R: type of the result; A, B: of the arguments. */
#define WIDEN_1(R, name, A)                                                                \
    PURE R##2 name(A##2 x) { return (R##2)(name(x.lo), name(x.hi)); }                      \
    PURE R##3 name(A##3 x) { return (R##3)(name(x.xy), name(x.z)); }                       \
    PURE R##4 name(A##4 x) { return (R##4)(name(x.lo), name(x.hi)); }                      \
    PURE R##8 name(A##8 x) { return (R##8)(name(x.lo), name(x.hi)); }                      \
    PURE R##16 name(A##16 x) { return (R##16)(name(x.lo), name(x.hi)); }
#define WIDEN_2(R, name, A, B)                                                             \
    PURE R##2 name(A##2 x, B##2 y) { return (R##2)(name(x.lo, y.lo), name(x.hi, y.hi)); }  \
    PURE R##3 name(A##3 x, B##3 y) { return (R##3)(name(x.xy, y.xy), name(x.z, y.z)); }    \
    PURE R##4 name(A##4 x, B##4 y) { return (R##4)(name(x.lo, y.lo), name(x.hi, y.hi)); }  \
    PURE R##8 name(A##8 x, B##8 y) { return (R##8)(name(x.lo, y.lo), name(x.hi, y.hi)); }  \
    PURE R##16 name(A##16 x, B##16 y) { return (R##16)(name(x.lo, y.lo), name(x.hi, y.hi)); }
#define WIDEN_3_FROM(T, name, n)                                                           \
    PURE T##n name(T##n x, T##n y, T##n z)                                                 \
    {                                                                                      \
        return (T##n)(name(x.lo, y.lo, z.lo), name(x.hi, y.hi, z.hi));                     \
    }
#define WIDEN_3(T, name)                                                                \
    WIDEN_3_FROM(T, name, 2)                                                               \
    PURE T##3 name(T##3 x, T##3 y, T##3 z)                                                 \
    {                                                                                      \
        return (T##3)(name(x.xy, y.xy, z.xy), name(x.z, y.z, z.z));                        \
    }                                                                                      \
    WIDEN_3_FROM(T, name, 4)                                                               \
    WIDEN_3_FROM(T, name, 8)                                                               \
    WIDEN_3_FROM(T, name, 16)
/* Conversions have their width in the name. */
#define CONVERT_2(T, s, A, n, low, high)                                                   \
    PURE T##n convert_##T##n##s(A##n x)                                                    \
    {                                                                                      \
        return (T##n)(convert_##T##low##s(x.lo), convert_##T##high##s(x.hi));              \
    }
#define WIDEN_CONVERT(T, s, A)                                                             \
    CONVERT_2(T, s, A, 2, , )                                                              \
    PURE T##3 convert_##T##3##s(A##3 x)                                                    \
    {                                                                                      \
        return (T##3)(convert_##T##2##s(x.xy), convert_##T##s(x.z));                       \
    }                                                                                      \
    CONVERT_2(T, s, A, 4, 2, 2)                                                            \
    CONVERT_2(T, s, A, 8, 4, 4)                                                            \
    CONVERT_2(T, s, A, 16, 8, 8)

/* Addresses in inline assembly of PTX: register constraint and type. */
#if __SIZEOF_POINTER__ == 4
#define ADDRESS "r"
#define ADDRESS_TYPE "u32"
#else
#define ADDRESS "l"
#define ADDRESS_TYPE "u64"
#endif

#include "workitem.cl"
#ifndef HD_ROCM
#include "barrier.cl"
#endif
#include "integer.cl"
#include "convert.cl"
#ifndef HD_ROCM
#include "half.cl"
#endif
#include "async.cl"
#include "math.cl"
#ifdef __NVPTX__
#include "atomic.cl"
#include "image.cl"
#include "native.cl"
#endif
#ifdef HD_ROCM
#include "rocm.cl"
#endif
#include "print.cl"
