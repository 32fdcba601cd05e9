/*
 * What __half and __nv_bfloat16 have in common: included by cuda_fp16.h and cuda_bf16.h, each time with
 *
 *   HEDDLE_F, HEDDLE_F2     the type, and the pair of it
 *   HEDDLE_TO, HEDDLE_FROM  to float, and from it to the nearest
 *   HEDDLE_ADD, _SUB, _MUL, _FMA  on two or three of it, each rounded once
 *
 * defined. A quotient, a root or a sum of values with p bits that is rounded to 2p + 2 bits or more first
 * is the right one when it is rounded again, so that float serves for both.
 */
#define HEDDLE_SF static __host__ __device__ __forceinline__
#define HEDDLE_SD static __device__ __forceinline__

/* ---- arithmetic ---- */

#define HEDDLE_BOTH(name, name2, expression)                    \
    HEDDLE_SF HEDDLE_F name(HEDDLE_F a, HEDDLE_F b)             \
    {                                                           \
        return expression(a, b);                                \
    }                                                           \
    HEDDLE_SF HEDDLE_F2 name2(HEDDLE_F2 a, HEDDLE_F2 b)         \
    {                                                           \
        return HEDDLE_F2(expression(a.x, b.x), expression(a.y, b.y)); \
    }
HEDDLE_SF HEDDLE_F heddle_quotient(HEDDLE_F a, HEDDLE_F b)
{
    return HEDDLE_FROM(HEDDLE_TO(a) / HEDDLE_TO(b));
}
HEDDLE_SF HEDDLE_F heddle_saturate(HEDDLE_F a)
{
    const float x = HEDDLE_TO(a);
    return HEDDLE_FROM(x > 0 ? x < 1 ? x : 1.0f : 0.0f); /* NaN becomes 0 */
}
#define HEDDLE_ADD_SAT(a, b) heddle_saturate(HEDDLE_ADD(a, b))
#define HEDDLE_SUB_SAT(a, b) heddle_saturate(HEDDLE_SUB(a, b))
#define HEDDLE_MUL_SAT(a, b) heddle_saturate(HEDDLE_MUL(a, b))
HEDDLE_BOTH(__hadd, __hadd2, HEDDLE_ADD)
HEDDLE_BOTH(__hsub, __hsub2, HEDDLE_SUB)
HEDDLE_BOTH(__hmul, __hmul2, HEDDLE_MUL)
HEDDLE_BOTH(__hadd_rn, __hadd2_rn, HEDDLE_ADD)
HEDDLE_BOTH(__hsub_rn, __hsub2_rn, HEDDLE_SUB)
HEDDLE_BOTH(__hmul_rn, __hmul2_rn, HEDDLE_MUL)
HEDDLE_BOTH(__hadd_sat, __hadd2_sat, HEDDLE_ADD_SAT)
HEDDLE_BOTH(__hsub_sat, __hsub2_sat, HEDDLE_SUB_SAT)
HEDDLE_BOTH(__hmul_sat, __hmul2_sat, HEDDLE_MUL_SAT)
HEDDLE_BOTH(__hdiv, __h2div, heddle_quotient)

HEDDLE_SF HEDDLE_F __hfma(HEDDLE_F a, HEDDLE_F b, HEDDLE_F c)
{
    return HEDDLE_FMA(a, b, c);
}
HEDDLE_SF HEDDLE_F2 __hfma2(HEDDLE_F2 a, HEDDLE_F2 b, HEDDLE_F2 c)
{
    return HEDDLE_F2(HEDDLE_FMA(a.x, b.x, c.x), HEDDLE_FMA(a.y, b.y, c.y));
}
HEDDLE_SF HEDDLE_F __hfma_sat(HEDDLE_F a, HEDDLE_F b, HEDDLE_F c)
{
    return heddle_saturate(HEDDLE_FMA(a, b, c));
}
HEDDLE_SF HEDDLE_F2 __hfma2_sat(HEDDLE_F2 a, HEDDLE_F2 b, HEDDLE_F2 c)
{
    return HEDDLE_F2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
HEDDLE_SF HEDDLE_F heddle_bits(unsigned short bits, HEDDLE_F)
{
    HEDDLE_F value;
    value.__x = bits;
    return value;
}
HEDDLE_SF HEDDLE_F __hneg(HEDDLE_F a)
{
    return heddle_bits(a.__x ^ 0x8000, a);
}
HEDDLE_SF HEDDLE_F __habs(HEDDLE_F a)
{
    return heddle_bits(a.__x & 0x7fff, a);
}
HEDDLE_SF HEDDLE_F2 __hneg2(HEDDLE_F2 a)
{
    return HEDDLE_F2(__hneg(a.x), __hneg(a.y));
}
HEDDLE_SF HEDDLE_F2 __habs2(HEDDLE_F2 a)
{
    return HEDDLE_F2(__habs(a.x), __habs(a.y));
}

/* ---- comparisons: false with NaN, but those with u ---- */

#define HEDDLE_COMPARE(name, name2, condition)                  \
    HEDDLE_SF bool __h##name(HEDDLE_F a, HEDDLE_F b)            \
    {                                                           \
        const float x = HEDDLE_TO(a), y = HEDDLE_TO(b);         \
        return condition;                                       \
    }                                                           \
    HEDDLE_SF HEDDLE_F2 __h##name2(HEDDLE_F2 a, HEDDLE_F2 b)    \
    {                                                           \
        return HEDDLE_F2(HEDDLE_FROM(__h##name(a.x, b.x)), HEDDLE_FROM(__h##name(a.y, b.y))); \
    }                                                           \
    HEDDLE_SF bool __hb##name2(HEDDLE_F2 a, HEDDLE_F2 b)        \
    {                                                           \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);      \
    }                                                           \
    HEDDLE_SF unsigned __h##name2##_mask(HEDDLE_F2 a, HEDDLE_F2 b) \
    {                                                           \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0); \
    }
HEDDLE_COMPARE(eq, eq2, x == y)
HEDDLE_COMPARE(ne, ne2, x < y || x > y)
HEDDLE_COMPARE(lt, lt2, x < y)
HEDDLE_COMPARE(le, le2, x <= y)
HEDDLE_COMPARE(gt, gt2, x > y)
HEDDLE_COMPARE(ge, ge2, x >= y)
HEDDLE_COMPARE(equ, equ2, !(x < y || x > y))
HEDDLE_COMPARE(neu, neu2, !(x == y))
HEDDLE_COMPARE(ltu, ltu2, !(x >= y))
HEDDLE_COMPARE(leu, leu2, !(x > y))
HEDDLE_COMPARE(gtu, gtu2, !(x <= y))
HEDDLE_COMPARE(geu, geu2, !(x < y))
#undef HEDDLE_COMPARE
HEDDLE_SF bool __hisnan(HEDDLE_F a)
{
    return HEDDLE_TO(a) != HEDDLE_TO(a);
}
HEDDLE_SF HEDDLE_F2 __hisnan2(HEDDLE_F2 a)
{
    return HEDDLE_F2(HEDDLE_FROM(__hisnan(a.x)), HEDDLE_FROM(__hisnan(a.y)));
}
HEDDLE_SF int __hisinf(HEDDLE_F a)
{
    const float x = HEDDLE_TO(a);
    return x == __builtin_inff() ? 1 : x == -__builtin_inff() ? -1 : 0;
}
/* The number, if one is NaN; -0 is less than +0. */
HEDDLE_SF HEDDLE_F heddle_less(HEDDLE_F a, HEDDLE_F b)
{
    if (__hisnan(a) || __hisnan(b))
        return __hisnan(a) ? b : a;
    return HEDDLE_TO(a) < HEDDLE_TO(b) || (HEDDLE_TO(a) == HEDDLE_TO(b) && a.__x >> 15) ? a : b;
}
HEDDLE_SF HEDDLE_F heddle_more(HEDDLE_F a, HEDDLE_F b)
{
    if (__hisnan(a) || __hisnan(b))
        return __hisnan(a) ? b : a;
    return HEDDLE_TO(a) > HEDDLE_TO(b) || (HEDDLE_TO(a) == HEDDLE_TO(b) && b.__x >> 15) ? a : b;
}
HEDDLE_SF HEDDLE_F heddle_less_nan(HEDDLE_F a, HEDDLE_F b)
{
    return __hisnan(a) || __hisnan(b) ? HEDDLE_FROM(__builtin_nanf("")) : heddle_less(a, b);
}
HEDDLE_SF HEDDLE_F heddle_more_nan(HEDDLE_F a, HEDDLE_F b)
{
    return __hisnan(a) || __hisnan(b) ? HEDDLE_FROM(__builtin_nanf("")) : heddle_more(a, b);
}
HEDDLE_BOTH(__hmin, __hmin2, heddle_less)
HEDDLE_BOTH(__hmax, __hmax2, heddle_more)
HEDDLE_BOTH(__hmin_nan, __hmin2_nan, heddle_less_nan)
HEDDLE_BOTH(__hmax_nan, __hmax2_nan, heddle_more_nan)

/* ---- pairs ---- */

HEDDLE_SF HEDDLE_F2 __lowhigh2highlow(HEDDLE_F2 a)
{
    return HEDDLE_F2(a.y, a.x);
}
HEDDLE_SF float __low2float(HEDDLE_F2 a)
{
    return HEDDLE_TO(a.x);
}
HEDDLE_SF float __high2float(HEDDLE_F2 a)
{
    return HEDDLE_TO(a.y);
}

/* ---- functions, by those of float: on the device only ---- */

#define HEDDLE_UNARY(name, expression)             \
    HEDDLE_SD HEDDLE_F h##name(HEDDLE_F a)         \
    {                                              \
        const float x = HEDDLE_TO(a);              \
        return HEDDLE_FROM(expression);            \
    }                                              \
    HEDDLE_SD HEDDLE_F2 h2##name(HEDDLE_F2 a)      \
    {                                              \
        return HEDDLE_F2(h##name(a.x), h##name(a.y)); \
    }
HEDDLE_UNARY(sqrt, sqrtf(x))
HEDDLE_UNARY(rsqrt, rsqrtf(x))
HEDDLE_UNARY(rcp, 1.0f / x)
HEDDLE_UNARY(exp, expf(x))
HEDDLE_UNARY(exp2, exp2f(x))
HEDDLE_UNARY(exp10, exp10f(x))
HEDDLE_UNARY(log, logf(x))
HEDDLE_UNARY(log2, log2f(x))
HEDDLE_UNARY(log10, log10f(x))
HEDDLE_UNARY(sin, sinf(x))
HEDDLE_UNARY(cos, cosf(x))
HEDDLE_UNARY(tanh, tanhf(x))
HEDDLE_UNARY(ceil, ceilf(x))
HEDDLE_UNARY(floor, floorf(x))
HEDDLE_UNARY(trunc, truncf(x))
HEDDLE_UNARY(rint, rintf(x))
#undef HEDDLE_UNARY

/* ---- operators ---- */

#define HEDDLE_OPERATORS(T, suffix)                                                         \
    HEDDLE_SF T operator+(T a, T b) { return __hadd##suffix(a, b); }                        \
    HEDDLE_SF T operator-(T a, T b) { return __hsub##suffix(a, b); }                        \
    HEDDLE_SF T operator*(T a, T b) { return __hmul##suffix(a, b); }                        \
    HEDDLE_SF T &operator+=(T &a, T b) { return a = a + b; }                                \
    HEDDLE_SF T &operator-=(T &a, T b) { return a = a - b; }                                \
    HEDDLE_SF T &operator*=(T &a, T b) { return a = a * b; }                                \
    HEDDLE_SF T operator-(T a) { return __hneg##suffix(a); }                                \
    HEDDLE_SF T operator+(T a) { return a; }
HEDDLE_OPERATORS(HEDDLE_F, )
HEDDLE_OPERATORS(HEDDLE_F2, 2)
#undef HEDDLE_OPERATORS
HEDDLE_SF HEDDLE_F operator/(HEDDLE_F a, HEDDLE_F b) { return __hdiv(a, b); }
HEDDLE_SF HEDDLE_F2 operator/(HEDDLE_F2 a, HEDDLE_F2 b) { return __h2div(a, b); }
HEDDLE_SF HEDDLE_F &operator/=(HEDDLE_F &a, HEDDLE_F b) { return a = a / b; }
HEDDLE_SF HEDDLE_F2 &operator/=(HEDDLE_F2 &a, HEDDLE_F2 b) { return a = a / b; }
HEDDLE_SF HEDDLE_F &operator++(HEDDLE_F &a) { return a = a + HEDDLE_FROM(1.0f); }
HEDDLE_SF HEDDLE_F &operator--(HEDDLE_F &a) { return a = a - HEDDLE_FROM(1.0f); }
HEDDLE_SF bool operator==(HEDDLE_F a, HEDDLE_F b) { return __heq(a, b); }
HEDDLE_SF bool operator!=(HEDDLE_F a, HEDDLE_F b) { return __hneu(a, b); }
HEDDLE_SF bool operator<(HEDDLE_F a, HEDDLE_F b) { return __hlt(a, b); }
HEDDLE_SF bool operator<=(HEDDLE_F a, HEDDLE_F b) { return __hle(a, b); }
HEDDLE_SF bool operator>(HEDDLE_F a, HEDDLE_F b) { return __hgt(a, b); }
HEDDLE_SF bool operator>=(HEDDLE_F a, HEDDLE_F b) { return __hge(a, b); }

/* ---- warps and atomics: by the bits ---- */

#define HEDDLE_SHUFFLE(name, L)                                                             \
    HEDDLE_SD HEDDLE_F name(unsigned mask, HEDDLE_F a, L lane, int width = 32)              \
    {                                                                                       \
        return heddle_bits((unsigned short)name(mask, (unsigned)a.__x, lane, width), a);    \
    }                                                                                       \
    HEDDLE_SD HEDDLE_F2 name(unsigned mask, HEDDLE_F2 a, L lane, int width = 32)            \
    {                                                                                       \
        return HEDDLE_F2(name(mask, a.x, lane, width), name(mask, a.y, lane, width));       \
    }
HEDDLE_SHUFFLE(__shfl_sync, int)
HEDDLE_SHUFFLE(__shfl_up_sync, unsigned)
HEDDLE_SHUFFLE(__shfl_down_sync, unsigned)
HEDDLE_SHUFFLE(__shfl_xor_sync, int)
#undef HEDDLE_SHUFFLE
HEDDLE_SD HEDDLE_F2 atomicAdd(HEDDLE_F2 *to, HEDDLE_F2 value)
{
    unsigned seen = *(volatile unsigned *)to, before;
    do {
        HEDDLE_F2 sum;
        before = seen;
        memcpy(&sum, &before, sizeof sum);
        sum = __hadd2(sum, value);
        unsigned bits;
        memcpy(&bits, &sum, sizeof bits);
        seen = atomicCAS((unsigned *)to, before, bits);
    } while (seen != before);
    HEDDLE_F2 old;
    memcpy(&old, &before, sizeof old);
    return old;
}
HEDDLE_SD HEDDLE_F atomicAdd(HEDDLE_F *to, HEDDLE_F value)
{
    unsigned *word = (unsigned *)((size_t)to & ~(size_t)3);
    const unsigned shift = (size_t)to & 2 ? 16 : 0;
    unsigned seen = *(volatile unsigned *)word, before;
    do {
        before = seen;
        const HEDDLE_F sum = __hadd(heddle_bits((unsigned short)(before >> shift), value), value);
        seen = atomicCAS(word, before, (before & ~(0xffffu << shift)) | (unsigned)sum.__x << shift);
    } while (seen != before);
    return heddle_bits((unsigned short)(before >> shift), value);
}

#undef HEDDLE_BOTH
#undef HEDDLE_ADD_SAT
#undef HEDDLE_SUB_SAT
#undef HEDDLE_MUL_SAT
