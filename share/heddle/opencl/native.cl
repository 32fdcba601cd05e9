/* native_ and half_ functions on PTX: what libclc has does not get through the back end. */

/* One instruction of the machine each, or little more. */
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

#define VECTORS(name) WIDEN_1(float, name, float)
#define VECTORS_TWO(name) WIDEN_2(float, name, float, float)
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
