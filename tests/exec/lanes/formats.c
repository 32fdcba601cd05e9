/* See formats.h. */
#include "formats.h"

const struct format_info formats[] = {
    [F16] = {"f16", 16, 11, -23, 16, 0x7c00, 0x7fff, 0x200, 0x7e00},
    [BF16] = {"bf16", 16, 8, -132, 128, 0x7f80, 0x7fff, 0x40, 0x7fc0},
    [F32] = {"f32", 32, 24, -148, 128, 0x7f800000, 0x7fffffff, 0x400000, 0x7fc00000},
    [F64] = {"f64", 64, 53, -1073, 1024, 0x7ffull << 52, 0xfff8000000000000, 1ull << 51,
             0x7ff8000000000000},
    [E4M3] = {"e4m3", 8, 4, -8, 9, 0x7f, 0x7f, 0, 0x7f},
    [E5M2] = {"e5m2", 8, 3, -15, 16, 0x7c, 0x7f, 2, 0x7e},
    [TF32] = {"tf32", 32, 11, -135, 128, 0x7f800000, 0x7fffe000, 0x400000, 0x7fc00000},
};

static u64 magnitude_of(enum format format, u64 bits)
{
    const unsigned n = formats[format].bits;
    return bits & ((n == 64 ? ~0ull : (1ull << n) - 1) >> 1);
}

bool is_nan(enum format format, u64 bits)
{
    const u64 magnitude = magnitude_of(format, bits);
    return format == E4M3 ? magnitude == 0x7f : magnitude > formats[format].infinity;
}

/* Unit of the fraction field: tf32 sits in the upper bits of a word. */
static unsigned low_zeros(enum format format)
{
    return format == TF32 ? 13 : 0;
}

double decode(enum format format, u64 bits)
{
    const struct format_info *f = &formats[format];
    const u64 magnitude = magnitude_of(format, bits) >> low_zeros(format);
    const double sign = bits >> (f->bits - 1) & 1 ? -1.0 : 1.0;
    if (is_nan(format, bits))
        return NAN;
    if (format != E4M3 && magnitude == f->infinity >> low_zeros(format))
        return sign * INFINITY;
    const unsigned fraction = f->precision - 1;
    const int e = (int)(magnitude >> fraction);
    const u64 low = magnitude & ((1ull << fraction) - 1);
    const double significand = (double)(e ? low | 1ull << fraction : low);
    /* The least subnormal is 2^(emin - 1). */
    return sign * ldexp(significand, f->emin - 1 + (e ? e - 1 : 0));
}

u64 encode(enum format format, double x)
{
    const struct format_info *f = &formats[format];
    const u64 sign = signbit(x) ? 1ull << (f->bits - 1) : 0;
    const unsigned fraction = f->precision - 1;
    if (isinf(x))
        return sign | f->infinity;
    if (x == 0)
        return sign;
    /* In units of the least subnormal, halving until the significand fits. */
    int e = 0;
    double units = fabs(x);
    int exponent;
    frexp(units, &exponent);
    if (exponent > f->emin + (int)fraction)
        e = exponent - f->emin - (int)fraction;
    const u64 significand = (u64)ldexp(units, -(f->emin - 1) - e);
    /* `e` steps above the subnormals' exponent; the hidden bit adds the first. */
    return sign | (((u64)e << fraction) + significand) << low_zeros(format);
}

u64 flush_bits(enum format format, u64 bits)
{
    const struct format_info *f = &formats[format];
    const u64 least_normal = 1ull << (f->precision - 1);
    return magnitude_of(format, bits) < least_normal ? bits & 1ull << (f->bits - 1) : bits;
}

mpfr_rnd_t mpfr_mode(enum rounding rounding)
{
    static const mpfr_rnd_t modes[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};
    return modes[rounding];
}

u64 round_to(enum format format, mpfr_t wide, mpfr_rnd_t mode)
{
    const struct format_info *f = &formats[format];
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t r;
    mpfr_init2(r, f->precision);
    mpfr_set_emin(f->emin);
    mpfr_set_emax(f->emax);
    int ternary = mpfr_set(r, wide, mode);
    ternary = mpfr_check_range(r, ternary, mode);
    mpfr_subnormalize(r, ternary, mode);
    const double value = mpfr_get_d(r, MPFR_RNDN);
    mpfr_clear(r);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    return encode(format, value);
}

u64 nan_of(enum format format, const u64 *operands, unsigned count, bool canonical)
{
    const struct format_info *f = &formats[format];
    if (canonical && format != F64)
        return f->nan;
    for (unsigned i = 0; i < count; i++)
        if (is_nan(format, operands[i]))
            return operands[i] | f->quiet;
    return canonical ? f->nan : f->default_nan;
}
