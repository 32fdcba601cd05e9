/*
 * The mathematical functions of CUDA's device code, under the names that clang's headers call: __nv_*.
 *
 * Most are functions of OpenCL C, by Heddle's library (share/heddle/opencl) and libclc, which are linked
 * after this one. tests/cuda/math.cu measures their errors as CUDA programs see them.
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define GENERIC __generic

/* ---- functions that OpenCL C has under the same name ---- */

#define ONE(name, to)                       \
    float __nv_##name##f(float x)           \
    {                                       \
        return to(x);                       \
    }                                       \
    double __nv_##name(double x)            \
    {                                       \
        return to(x);                       \
    }
#define TWO(name, to)                       \
    float __nv_##name##f(float x, float y)  \
    {                                       \
        return to(x, y);                    \
    }                                       \
    double __nv_##name(double x, double y)  \
    {                                       \
        return to(x, y);                    \
    }
#define SAME(name) ONE(name, name)
SAME(acos) SAME(acosh) SAME(asin) SAME(asinh) SAME(atan) SAME(atanh) SAME(cbrt) SAME(ceil)
SAME(cos) SAME(cospi) SAME(erf) SAME(erfc) SAME(exp) SAME(exp10) SAME(exp2)
SAME(fabs) SAME(floor) SAME(lgamma) SAME(log10) SAME(log1p) SAME(log2) SAME(logb)
SAME(rint) SAME(round) SAME(sin) SAME(sinh) SAME(sinpi) SAME(tan) SAME(tanh) SAME(tgamma)
SAME(trunc)
ONE(nearbyint, rint)
TWO(atan2, atan2) TWO(copysign, copysign) TWO(fdim, fdim) TWO(fmax, fmax) TWO(fmin, fmin)
TWO(fmod, fmod) TWO(hypot, hypot) TWO(nextafter, nextafter) TWO(pow, pow)
TWO(remainder, remainder)

/* ---- functions whose errors in the library are above CUDA's limits ---- */

double __nv_cosh(double x)
{
    return cosh(x);
}
double __nv_expm1(double x)
{
    return expm1(x);
}

/* x as m * 2^e with m around 1: log x = e log 2 + log m, by a polynomial in m - 1. */
float __nv_logf(float x)
{
    const bool tiny = x < 0x1p-126f;
    const int bits = as_int(tiny ? x * 0x1p23f : x), up = (bits - 0x3f2aaaab) & ~0x7fffff;
    const float e = (float)(up >> 23) - (tiny ? 23.0f : 0.0f);
    const float f = as_float(bits - up) - 1.0f, s = f * f;
    float r = -0x1.0ae000p-3f, t = 0x1.208000p-3f;
    if (!(x > 0 && x < INFINITY))
        return x == 0 ? -INFINITY : x < 0 ? NAN : x + x;
    r = fma(r, s, -0x1.f198b2p-4f);
    t = fma(t, s, 0x1.1e5740p-3f);
    r = fma(r, s, -0x1.55b36cp-3f);
    t = fma(t, s, 0x1.99d8b2p-3f);
    r = fma(r, s, -0x1.fffe02p-3f);
    r = fma(t, f, r);
    r = fma(r, f, 0x1.5554fap-2f);
    r = fma(r, f, -0.5f);
    r = fma(r, s, f);
    return fma(e, 0x1.62e430p-1f, r);
}

/* The same for double: log m = f - f^2/2 + s (f^2/2 + R(s^2)) with s = f / (2 + f), the series of the
 * inverse hyperbolic tangent (as in W. Cody, W. Waite, 1980; coefficients of fdlibm). */
double __nv_log(double x)
{
    const bool tiny = x < 0x1p-1022;
    const ulong bits = as_ulong(tiny ? x * 0x1p54 : x);
    const long up = (long)(bits - 0x3fe6a09e667f3bcdul) & ~0xffffffffffffful;
    const double e = (double)(up >> 52) - (tiny ? 54.0 : 0.0);
    const double f = as_double(bits - (ulong)up) - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
    if (!(x > 0 && x < INFINITY))
        return x == 0 ? -INFINITY : x < 0 ? NAN : x + x;
    const double even = w * fma(w, fma(w, 1.531383769920937332e-01, 2.222219843214978396e-01),
                                3.999999999940941908e-01);
    const double odd =
        z * fma(w, fma(w, fma(w, 1.479819860511658591e-01, 1.818357216161805012e-01),
                       2.857142874366239149e-01), 6.666666666666735130e-01);
    const double half_square = 0.5 * f * f;
    const double low = fma(s, half_square + (even + odd), e * 1.90821492927058770002e-10);
    return fma(e, 6.93147180369123816490e-01, f - (half_square - low));
}

/* exp(x) - 1 as 2^i (exp(f) - 1) + (2^i - 1), with f the rest of x in units of log 2; the difference 2^i - 1
 * is kept in two parts. */
float __nv_expm1f(float x)
{
    const float j = rint(x * 1.442695f);
    const float f = fma(j, -1.42860677e-6f, fma(j, -6.93145752e-1f, x)), s = f * f;
    float r = 0x1.9de000p-13f;
    if (x == 0 || !(x > -18.0f && x < 89.0f)) /* below, -1 is nearest */
        return x == 0 ? x : x >= 89.0f ? INFINITY : x != x ? x : -1.0f;
    r = fma(r, f, 0x1.6d30bcp-10f);
    r = fma(r, f, 0x1.1111f6p-7f);
    r = fma(r, f, 0x1.55559ep-5f);
    r = fma(r, f, 0x1.55555cp-3f);
    r = fma(r, f, 0x1.fffffep-2f);
    if (j == 0)
        return fma(r, s, f);
    const float v = fma(r, s, j == 1 ? f + 0.5f : f);
    if (j == 1)
        return v + v;
    const float t = ldexp(0.5f, (int)j), y = t - 0.5f, rest = (t - y) - 0.5f;
    const float half_result = fma(v, t, rest) + y;
    return half_result + half_result;
}

/* exp(|x|) / 2 and the half of its inverse; the first is made with the exponent one less, so that it overflows
 * only where the result does. */
float __nv_coshf(float x)
{
    const float a = fabs(x), j = rint(a * 1.442695f);
    const float f = fma(j, -1.42860677e-6f, fma(j, -6.93145752e-1f, a));
    float r = 0x1.694000p-10f;
    if (!(a < 90.0f))
        return a != a ? a : INFINITY;
    r = fma(r, f, 0x1.125edcp-7f);
    r = fma(r, f, 0x1.555b5ap-5f);
    r = fma(r, f, 0x1.555450p-3f);
    r = fma(r, f, 0x1.fffff6p-2f);
    r = fma(r, f, 1.0f);
    r = fma(r, f, 1.0f);
    const float half_power = ldexp(r, (int)j - 1);
    return half_power < INFINITY ? half_power + 0.25f / half_power : half_power;
}

float __nv_sqrtf(float x)
{
    return __nvvm_sqrt_rn_f(x);
}
double __nv_sqrt(double x)
{
    return __nvvm_sqrt_rn_d(x);
}
float __nv_rsqrtf(float x)
{
    return 1 / __nvvm_sqrt_rn_f(x);
}
/* The rounded quotient is corrected by what is left of 1 - x * y * y. */
double __nv_rsqrt(double x)
{
    const double y = 1 / __nvvm_sqrt_rn_d(x);
    const double high = x * y, low = fma(x, y, -high);
    const double left = fma(-high, y, 1.0) - low * y;
    return x > 0x1p-900 && x < 0x1p900 ? fma(y, left / 2, y) : y;
}
ONE(rcbrt, 1 / cbrt)
TWO(rhypot, 1 / hypot)

float __nv_fmaf(float x, float y, float z)
{
    return fma(x, y, z);
}
double __nv_fma(double x, double y, double z)
{
    return fma(x, y, z);
}

/* ---- integers beside reals ---- */

#define MIXED(T, s, INT)                                          \
    T __nv_ldexp##s(T x, int n)                                   \
    {                                                             \
        return ldexp(x, n);                                       \
    }                                                             \
    T __nv_scalbn##s(T x, int n)                                  \
    {                                                             \
        return ldexp(x, n);                                       \
    }                                                             \
    T __nv_powi##s(T x, int n)                                    \
    {                                                             \
        return pown(x, n);                                        \
    }                                                             \
    int __nv_ilogb##s(T x)                                        \
    {                                                             \
        return ilogb(x);                                          \
    }                                                             \
    long __nv_llrint##s(T x)                                      \
    {                                                             \
        return convert_long_sat(rint(x));                         \
    }                                                             \
    long __nv_llround##s(T x)                                     \
    {                                                             \
        return convert_long_sat(round(x));                        \
    }                                                             \
    T __nv_frexp##s(T x, GENERIC int *n)                          \
    {                                                             \
        int exponent;                                             \
        const T part = frexp(x, &exponent);                       \
        *n = exponent;                                            \
        return part;                                              \
    }                                                             \
    T __nv_modf##s(T x, GENERIC T *whole)                         \
    {                                                             \
        *whole = trunc(x);                                        \
        return copysign(isinf(x) ? 0 : x - trunc(x), x);          \
    }                                                             \
    T __nv_remquo##s(T x, T y, GENERIC int *quotient)             \
    {                                                             \
        int bits;                                                 \
        const T rest = remquo(x, y, &bits);                       \
        *quotient = bits;                                         \
        return rest;                                              \
    }                                                             \
    void __nv_sincos##s(T x, GENERIC T *sine, GENERIC T *cosine)  \
    {                                                             \
        *sine = sin(x);                                           \
        *cosine = cos(x);                                         \
    }                                                             \
    void __nv_sincospi##s(T x, GENERIC T *sine, GENERIC T *cosine) \
    {                                                             \
        *sine = sinpi(x);                                         \
        *cosine = cospi(x);                                       \
    }                                                             \
    T __nv_norm3d##s(T x, T y, T z)                               \
    {                                                             \
        return hypot(hypot(x, y), z);                             \
    }                                                             \
    T __nv_rnorm3d##s(T x, T y, T z)                              \
    {                                                             \
        return 1 / hypot(hypot(x, y), z);                         \
    }                                                             \
    T __nv_norm4d##s(T x, T y, T z, T w)                          \
    {                                                             \
        return hypot(hypot(x, y), hypot(z, w));                   \
    }                                                             \
    T __nv_rnorm4d##s(T x, T y, T z, T w)                         \
    {                                                             \
        return 1 / hypot(hypot(x, y), hypot(z, w));               \
    }                                                             \
    T __nv_nan##s(GENERIC const char *text)                       \
    {                                                             \
        return nan((INT)0);                                       \
    }                                                             \
    T __nv_normcdf##s(T x)                                        \
    {                                                             \
        return erfc(-x * (T)M_SQRT1_2) / 2;                       \
    }
MIXED(float, f, uint)
MIXED(double, , ulong)

/* ---- classification ---- */

int __nv_finitef(float x) { return isfinite(x); }
int __nv_isfinited(double x) { return isfinite(x); }
int __nv_isinff(float x) { return isinf(x); }
int __nv_isinfd(double x) { return isinf(x); }
int __nv_isnanf(float x) { return isnan(x); }
int __nv_isnand(double x) { return isnan(x); }
int __nv_signbitf(float x) { return signbit(x); }
int __nv_signbitd(double x) { return signbit(x); }

/* ---- the fast forms, each an instruction or few ---- */

float __nv_fast_sinf(float x) { return __nvvm_sin_approx_f(x); }
float __nv_fast_cosf(float x) { return __nvvm_cos_approx_f(x); }
float __nv_fast_tanf(float x) { return __nvvm_sin_approx_f(x) / __nvvm_cos_approx_f(x); }
void __nv_fast_sincosf(float x, GENERIC float *sine, GENERIC float *cosine)
{
    *sine = __nvvm_sin_approx_f(x);
    *cosine = __nvvm_cos_approx_f(x);
}
float __nv_fast_log2f(float x) { return __nvvm_lg2_approx_f(x); }
float __nv_fast_logf(float x) { return __nvvm_lg2_approx_f(x) * M_LN2_F; }
float __nv_fast_log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.301029996f; }
float __nv_fast_expf(float x) { return __nvvm_ex2_approx_f(x * M_LOG2E_F); }
float __nv_fast_exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.321928095f); }
float __nv_fast_powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
float __nv_fast_fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
float __nv_saturatef(float x) { return __nvvm_saturate_f(x); }

/* ---- operations with a rounding mode ---- */

#define ROUNDED(nv, ptx)                                                                \
    float __nv_fadd_##nv(float x, float y) { return __nvvm_add_##ptx##_f(x, y); }       \
    float __nv_fsub_##nv(float x, float y) { return __nvvm_add_##ptx##_f(x, -y); }      \
    float __nv_fmul_##nv(float x, float y) { return __nvvm_mul_##ptx##_f(x, y); }       \
    float __nv_fdiv_##nv(float x, float y) { return __nvvm_div_##ptx##_f(x, y); }       \
    float __nv_frcp_##nv(float x) { return __nvvm_rcp_##ptx##_f(x); }                   \
    float __nv_fsqrt_##nv(float x) { return __nvvm_sqrt_##ptx##_f(x); }                 \
    float __nv_fmaf_##nv(float x, float y, float z) { return __nvvm_fma_##ptx##_f(x, y, z); } \
    float __nv_fmaf_ieee_##nv(float x, float y, float z) { return __nvvm_fma_##ptx##_f(x, y, z); } \
    double __nv_dadd_##nv(double x, double y) { return __nvvm_add_##ptx##_d(x, y); }    \
    double __nv_dsub_##nv(double x, double y) { return __nvvm_add_##ptx##_d(x, -y); }   \
    double __nv_dmul_##nv(double x, double y) { return __nvvm_mul_##ptx##_d(x, y); }    \
    double __nv_ddiv_##nv(double x, double y) { return __nvvm_div_##ptx##_d(x, y); }    \
    double __nv_drcp_##nv(double x) { return __nvvm_rcp_##ptx##_d(x); }                 \
    double __nv_dsqrt_##nv(double x) { return __nvvm_sqrt_##ptx##_d(x); }               \
    double __nv_fma_##nv(double x, double y, double z) { return __nvvm_fma_##ptx##_d(x, y, z); } \
    int __nv_float2int_##nv(float x) { return __nvvm_f2i_##ptx(x); }                    \
    uint __nv_float2uint_##nv(float x) { return __nvvm_f2ui_##ptx(x); }                 \
    long __nv_float2ll_##nv(float x) { return __nvvm_f2ll_##ptx(x); }                   \
    ulong __nv_float2ull_##nv(float x) { return __nvvm_f2ull_##ptx(x); }                \
    int __nv_double2int_##nv(double x) { return __nvvm_d2i_##ptx(x); }                  \
    uint __nv_double2uint_##nv(double x) { return __nvvm_d2ui_##ptx(x); }               \
    long __nv_double2ll_##nv(double x) { return __nvvm_d2ll_##ptx(x); }                 \
    ulong __nv_double2ull_##nv(double x) { return __nvvm_d2ull_##ptx(x); }              \
    float __nv_double2float_##nv(double x) { return __nvvm_d2f_##ptx(x); }              \
    float __nv_int2float_##nv(int x) { return __nvvm_i2f_##ptx(x); }                    \
    float __nv_uint2float_##nv(uint x) { return __nvvm_ui2f_##ptx(x); }                 \
    float __nv_ll2float_##nv(long x) { return __nvvm_ll2f_##ptx(x); }                   \
    float __nv_ull2float_##nv(ulong x) { return __nvvm_ull2f_##ptx(x); }                \
    double __nv_ll2double_##nv(long x) { return __nvvm_ll2d_##ptx(x); }                 \
    double __nv_ull2double_##nv(ulong x) { return __nvvm_ull2d_##ptx(x); }
ROUNDED(rn, rn)
ROUNDED(rz, rz)
ROUNDED(rd, rm)
ROUNDED(ru, rp)
float __nv_frsqrt_rn(float x) { return (float)(1 / __nvvm_sqrt_rn_d((double)x)); }
double __nv_int2double_rn(int x) { return x; }
double __nv_uint2double_rn(uint x) { return x; }

/* ---- bits ---- */

int __nv_float_as_int(float x) { return as_int(x); }
uint __nv_float_as_uint(float x) { return as_uint(x); }
float __nv_int_as_float(int x) { return as_float(x); }
float __nv_uint_as_float(uint x) { return as_float(x); }
long __nv_double_as_longlong(double x) { return as_long(x); }
double __nv_longlong_as_double(long x) { return as_double(x); }
int __nv_double2hiint(double x) { return (int)(as_ulong(x) >> 32); }
int __nv_double2loint(double x) { return (int)as_ulong(x); }
double __nv_hiloint2double(int high, int low) { return as_double((ulong)(uint)high << 32 | (uint)low); }
float __nv_half2float(ushort x)
{
    float y;
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}
ushort __nv_float2half_rn(float x)
{
    ushort y;
    __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}

/* ---- integers ---- */

int __nv_abs(int x) { return x < 0 ? -x : x; }
long __nv_llabs(long x) { return x < 0 ? -x : x; }
int __nv_min(int x, int y) { return min(x, y); }
int __nv_max(int x, int y) { return max(x, y); }
uint __nv_umin(uint x, uint y) { return min(x, y); }
uint __nv_umax(uint x, uint y) { return max(x, y); }
long __nv_llmin(long x, long y) { return min(x, y); }
long __nv_llmax(long x, long y) { return max(x, y); }
ulong __nv_ullmin(ulong x, ulong y) { return min(x, y); }
ulong __nv_ullmax(ulong x, ulong y) { return max(x, y); }
int __nv_clz(int x) { return clz(x); }
int __nv_clzll(long x) { return (int)clz(x); }
int __nv_popc(int x) { return popcount(x); }
int __nv_popcll(long x) { return (int)popcount(x); }
int __nv_ffs(int x) { return x ? 32 - clz(x & -x) : 0; }
int __nv_ffsll(long x) { return x ? 64 - (int)clz(x & -x) : 0; }
int __nv_brev(int x) { return __builtin_bitreverse32(x); }
long __nv_brevll(long x) { return __builtin_bitreverse64(x); }
int __nv_mulhi(int x, int y) { return mul_hi(x, y); }
uint __nv_umulhi(uint x, uint y) { return mul_hi(x, y); }
long __nv_mul64hi(long x, long y) { return mul_hi(x, y); }
ulong __nv_umul64hi(ulong x, ulong y) { return mul_hi(x, y); }
int __nv_mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
uint __nv_umul24(uint x, uint y) { return (x & 0xffffff) * (y & 0xffffff); }
uint __nv_sad(int x, int y, uint z) { return abs_diff(x, y) + z; }
uint __nv_usad(uint x, uint y, uint z) { return abs_diff(x, y) + z; }
int __nv_hadd(int x, int y) { return hadd(x, y); }
int __nv_rhadd(int x, int y) { return rhadd(x, y); }
uint __nv_uhadd(uint x, uint y) { return hadd(x, y); }
uint __nv_urhadd(uint x, uint y) { return rhadd(x, y); }
int __nv_byte_perm(int x, int y, int selector)
{
    int result;
    __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(selector));
    return result;
}
