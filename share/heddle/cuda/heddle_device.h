/* Device functions of CUDA C++ that clang's headers leave to the toolkit: atomics, minima, addresses. */
#ifndef HEDDLE_DEVICE_H
#define HEDDLE_DEVICE_H

#define HEDDLE_FN static __device__ __forceinline__

/* ---- atomics ---- */

#define HEDDLE_ATOMIC_INT(name, T, builtin)                   \
    HEDDLE_FN T name(T *p, T v)                               \
    {                                                         \
        return builtin(p, v);                                 \
    }                                                         \
    HEDDLE_FN T name##_block(T *p, T v)                       \
    {                                                         \
        return builtin(p, v);                                 \
    }                                                         \
    HEDDLE_FN T name##_system(T *p, T v)                      \
    {                                                         \
        return builtin(p, v);                                 \
    }
/* The compiler's own atomics, relaxed, become one instruction of PTX each. */
#define HEDDLE_RELAXED(operation, p, v) __atomic_##operation(p, v, __ATOMIC_RELAXED)
#define HEDDLE_ADD(p, v) HEDDLE_RELAXED(fetch_add, p, v)
#define HEDDLE_SUB(p, v) HEDDLE_RELAXED(fetch_sub, p, v)
#define HEDDLE_AND(p, v) HEDDLE_RELAXED(fetch_and, p, v)
#define HEDDLE_OR(p, v) HEDDLE_RELAXED(fetch_or, p, v)
#define HEDDLE_XOR(p, v) HEDDLE_RELAXED(fetch_xor, p, v)
#define HEDDLE_MIN(p, v) HEDDLE_RELAXED(fetch_min, p, v)
#define HEDDLE_MAX(p, v) HEDDLE_RELAXED(fetch_max, p, v)
#define HEDDLE_EXCHANGE(p, v) HEDDLE_RELAXED(exchange_n, p, v)
#define HEDDLE_ATOMICS(T)                                 \
    HEDDLE_ATOMIC_INT(atomicAdd, T, HEDDLE_ADD)           \
    HEDDLE_ATOMIC_INT(atomicSub, T, HEDDLE_SUB)           \
    HEDDLE_ATOMIC_INT(atomicAnd, T, HEDDLE_AND)           \
    HEDDLE_ATOMIC_INT(atomicOr, T, HEDDLE_OR)             \
    HEDDLE_ATOMIC_INT(atomicXor, T, HEDDLE_XOR)           \
    HEDDLE_ATOMIC_INT(atomicMin, T, HEDDLE_MIN)           \
    HEDDLE_ATOMIC_INT(atomicMax, T, HEDDLE_MAX)           \
    HEDDLE_ATOMIC_INT(atomicExch, T, HEDDLE_EXCHANGE)     \
    HEDDLE_FN T atomicCAS(T *p, T compare, T v)           \
    {                                                     \
        __atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return compare;                                   \
    }                                                     \
    HEDDLE_FN T atomicCAS_block(T *p, T compare, T v)     \
    {                                                     \
        return atomicCAS(p, compare, v);                  \
    }                                                     \
    HEDDLE_FN T atomicCAS_system(T *p, T compare, T v)    \
    {                                                     \
        return atomicCAS(p, compare, v);                  \
    }
HEDDLE_ATOMICS(int)
HEDDLE_ATOMICS(unsigned)
HEDDLE_ATOMICS(long long)
HEDDLE_ATOMICS(unsigned long long)
HEDDLE_ATOMIC_INT(atomicAdd, float, __nvvm_atom_add_gen_f)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
HEDDLE_ATOMIC_INT(atomicAdd, double, __nvvm_atom_add_gen_d)
#endif
HEDDLE_FN unsigned atomicInc(unsigned *p, unsigned v)
{
    return __nvvm_atom_inc_gen_ui(p, v);
}
HEDDLE_FN unsigned atomicDec(unsigned *p, unsigned v)
{
    return __nvvm_atom_dec_gen_ui(p, v);
}
HEDDLE_FN unsigned atomicInc_system(unsigned *p, unsigned v)
{
    return atomicInc(p, v);
}
HEDDLE_FN unsigned atomicDec_system(unsigned *p, unsigned v)
{
    return atomicDec(p, v);
}
HEDDLE_FN float atomicExch(float *p, float v)
{
    return __uint_as_float(atomicExch((unsigned *)p, __float_as_uint(v)));
}

/* ---- arithmetic ---- */

#define HEDDLE_MIN_MAX(A, B, T)                \
    HEDDLE_FN T min(A a, B b)                  \
    {                                          \
        return (T)b < (T)a ? (T)b : (T)a;      \
    }                                          \
    HEDDLE_FN T max(A a, B b)                  \
    {                                          \
        return (T)a < (T)b ? (T)b : (T)a;      \
    }
/* Of a type and its unsigned form, and of both together. */
#define HEDDLE_MIN_MAX_BOTH(S, U)              \
    HEDDLE_MIN_MAX(U, U, U)                    \
    HEDDLE_MIN_MAX(S, U, U)                    \
    HEDDLE_MIN_MAX(U, S, U)
HEDDLE_MIN_MAX(long, long, long)
HEDDLE_MIN_MAX_BOTH(int, unsigned)
HEDDLE_MIN_MAX_BOTH(long, unsigned long)
HEDDLE_MIN_MAX_BOTH(long long, unsigned long long)
HEDDLE_FN double min(float a, double b)
{
    return fmin((double)a, b);
}
HEDDLE_FN double min(double a, float b)
{
    return fmin(a, (double)b);
}
HEDDLE_FN double max(float a, double b)
{
    return fmax((double)a, b);
}
HEDDLE_FN double max(double a, float b)
{
    return fmax(a, (double)b);
}
/* The functions of floats that clang's headers declare and leave to the toolkit. */
#define HEDDLE_FLOAT_1(T, name)        \
    HEDDLE_FN T name(float x)          \
    {                                  \
        return name##f(x);             \
    }
#define HEDDLE_FLOAT_2(name)           \
    HEDDLE_FN float name(float x, float y) \
    {                                  \
        return name##f(x, y);          \
    }
HEDDLE_FLOAT_1(float, acosh)
HEDDLE_FLOAT_1(float, asinh)
HEDDLE_FLOAT_1(float, atanh)
HEDDLE_FLOAT_1(float, cbrt)
HEDDLE_FLOAT_1(float, erf)
HEDDLE_FLOAT_1(float, erfc)
HEDDLE_FLOAT_1(float, exp2)
HEDDLE_FLOAT_1(float, expm1)
HEDDLE_FLOAT_1(float, lgamma)
HEDDLE_FLOAT_1(float, log1p)
HEDDLE_FLOAT_1(float, log2)
HEDDLE_FLOAT_1(float, logb)
HEDDLE_FLOAT_1(float, nearbyint)
HEDDLE_FLOAT_1(float, rint)
HEDDLE_FLOAT_1(float, round)
HEDDLE_FLOAT_1(float, tgamma)
HEDDLE_FLOAT_1(float, trunc)
HEDDLE_FLOAT_1(int, ilogb)
HEDDLE_FLOAT_1(long, lrint)
HEDDLE_FLOAT_1(long, lround)
HEDDLE_FLOAT_1(long long, llrint)
HEDDLE_FLOAT_1(long long, llround)
HEDDLE_FLOAT_2(copysign)
HEDDLE_FLOAT_2(fdim)
HEDDLE_FLOAT_2(fmax)
HEDDLE_FLOAT_2(fmin)
HEDDLE_FLOAT_2(hypot)
HEDDLE_FLOAT_2(nextafter)
HEDDLE_FLOAT_2(remainder)
HEDDLE_FN float fma(float x, float y, float z)
{
    return fmaf(x, y, z);
}
HEDDLE_FN float remquo(float x, float y, int *quotient)
{
    return remquof(x, y, quotient);
}
HEDDLE_FN float scalbn(float x, int n)
{
    return scalbnf(x, n);
}
HEDDLE_FN float scalbln(float x, long n)
{
    return scalblnf(x, n);
}
HEDDLE_FLOAT_1(float, rsqrt)
HEDDLE_FLOAT_1(float, rcbrt)
HEDDLE_FLOAT_1(float, sinpi)
HEDDLE_FLOAT_1(float, cospi)
HEDDLE_FLOAT_1(float, normcdf)
#undef HEDDLE_FLOAT_1
#undef HEDDLE_FLOAT_2

/* ---- addresses and waiting ---- */

HEDDLE_FN size_t __cvta_generic_to_shared(const void *p)
{
    return (size_t)(__attribute__((address_space(3))) const void *)p;
}
HEDDLE_FN void __nanosleep(unsigned nanoseconds)
{
    (void)nanoseconds; /* a hint; other warps run whenever this one is not chosen */
}

/* The host's min and max, which CUDA has without std::. */
#undef HEDDLE_FN
#define HEDDLE_FN static inline __host__
HEDDLE_MIN_MAX(int, int, int)
HEDDLE_MIN_MAX(long, long, long)
HEDDLE_MIN_MAX(long long, long long, long long)
HEDDLE_MIN_MAX_BOTH(int, unsigned)
HEDDLE_MIN_MAX_BOTH(long, unsigned long)
HEDDLE_MIN_MAX_BOTH(long long, unsigned long long)
HEDDLE_MIN_MAX(float, float, float)
HEDDLE_MIN_MAX(double, double, double)
HEDDLE_MIN_MAX(float, double, double)
HEDDLE_MIN_MAX(double, float, double)
#undef HEDDLE_MIN_MAX
#undef HEDDLE_MIN_MAX_BOTH
#undef HEDDLE_FN

#endif
