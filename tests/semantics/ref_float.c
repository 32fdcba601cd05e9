/*
 * Exactly rounded arithmetic, by MPFR, for every format and half of a packed pair.
 */
#include "fp.h"
#include "references.h"

enum arithmetic {
    ADD,
    SUB,
    MUL,
    FMA,
    DIV,
    RCP,
    SQRT
};

static int compute(enum arithmetic op, mpfr_t r, mpfr_t *x, mpfr_rnd_t round)
{
    switch (op) {
    case ADD:
        return mpfr_add(r, x[0], x[1], round);
    case SUB:
        return mpfr_sub(r, x[0], x[1], round);
    case MUL:
        return mpfr_mul(r, x[0], x[1], round);
    case FMA:
        return mpfr_fma(r, x[0], x[1], x[2], round);
    case DIV:
        return mpfr_div(r, x[0], x[1], round);
    case RCP:
        return mpfr_ui_div(r, 1, x[0], round);
    default:
        return mpfr_sqrt(r, x[0], round);
    }
}

static u64 arithmetic(const struct form *f, enum kind kind, enum arithmetic op, const u64 *s)
{
    mpfr_t x[3], r;
    mpfr_inits2(FP_PRECISION, x[0], x[1], x[2], r, (mpfr_ptr)0);
    for (unsigned k = 0; k < f->src_count; k++)
        fp_load(x[k], kind, f->ftz ? fp_flush(kind, s[k]) : s[k]);
    int inexact = compute(op, r, x, MPFR_RNDZ);
    if (mpfr_zero_p(r) && !inexact) /* an exact zero's sign depends on the direction */
        compute(op, r, x, f->round == R_M ? MPFR_RNDD : MPFR_RNDN);
    u64 bits = fp_store(kind, r, inexact != 0, f->round);
    mpfr_clears(x[0], x[1], x[2], r, (mpfr_ptr)0);
    if (f->ftz)
        bits = fp_flush(kind, bits);
    if (f->sat)
        bits = fp_saturate(kind, bits);
    if (f->relu && fp_is_negative(kind, bits) && !fp_is_nan(kind, bits))
        bits = 0;
    return bits;
}

static void both_halves(const struct form *f, enum arithmetic op, const u64 *s, u64 *d)
{
    enum kind kind = fp_element(f->type);
    if (kind == f->type) {
        d[0] = arithmetic(f, kind, op, s);
        return;
    }
    d[0] = 0;
    for (unsigned h = 0; h < 2; h++) {
        u64 t[MAX_SRC];
        for (unsigned k = 0; k < f->src_count; k++)
            t[k] = s[k] >> (16 * h) & 0xffff;
        d[0] |= arithmetic(f, kind, op, t) << (16 * h);
    }
}

void ref_fadd(const struct form *f, const u64 *s, u64 *d)
{
    both_halves(f, ADD, s, d);
}

void ref_fsub(const struct form *f, const u64 *s, u64 *d)
{
    both_halves(f, SUB, s, d);
}

void ref_fmul(const struct form *f, const u64 *s, u64 *d)
{
    both_halves(f, MUL, s, d);
}

void ref_fma(const struct form *f, const u64 *s, u64 *d)
{
    both_halves(f, FMA, s, d);
}

void ref_fdiv(const struct form *f, const u64 *s, u64 *d)
{
    both_halves(f, DIV, s, d);
}

void ref_frcp(const struct form *f, const u64 *s, u64 *d)
{
    both_halves(f, RCP, s, d);
}

void ref_fsqrt(const struct form *f, const u64 *s, u64 *d)
{
    both_halves(f, SQRT, s, d);
}

/* Minus zero is below plus zero: sign and magnitude order the bits. */
static bool below(enum kind kind, u64 a, u64 b)
{
    bool na = fp_is_negative(kind, a), nb = fp_is_negative(kind, b);
    return na != nb ? na : na ? a > b : a < b;
}

static u64 choose(const struct form *f, enum kind kind, u64 a, u64 b, bool least)
{
    if (fp_is_nan(kind, a) || fp_is_nan(kind, b)) {
        if (f->nan || (fp_is_nan(kind, a) && fp_is_nan(kind, b)))
            return fp_nan(kind);
        return fp_is_nan(kind, a) ? b : a;
    }
    return below(kind, a, b) == least ? a : b;
}

static u64 min_max(const struct form *f, enum kind kind, const u64 *s, bool least)
{
    u64 sign = fp_sign_bit(kind), signs = 0, t[3];
    bool magnitudes = form_has(f, "abs");
    for (unsigned k = 0; k < f->src_count; k++) {
        t[k] = f->ftz ? fp_flush(kind, s[k]) : s[k];
        signs ^= t[k] & sign;
        if (magnitudes)
            t[k] &= ~sign;
    }
    u64 r = choose(f, kind, t[0], t[1], least);
    if (f->src_count == 3)
        r = choose(f, kind, r, t[2], least);
    if (f->xorsign && !fp_is_nan(kind, r))
        r |= signs;
    return r;
}

static void min_max_halves(const struct form *f, const u64 *s, u64 *d, bool least)
{
    enum kind kind = fp_element(f->type);
    if (kind == f->type) {
        d[0] = min_max(f, kind, s, least);
        return;
    }
    u64 first[2] = {s[0] & 0xffff, s[1] & 0xffff}, second[2] = {s[0] >> 16, s[1] >> 16};
    d[0] = min_max(f, kind, first, least) | min_max(f, kind, second, least) << 16;
}

void ref_fmin(const struct form *f, const u64 *s, u64 *d)
{
    min_max_halves(f, s, d, true);
}

void ref_fmax(const struct form *f, const u64 *s, u64 *d)
{
    min_max_halves(f, s, d, false);
}

/* max.abs.f32 of three, behind a move that the opcode of the form names. */
void ref_fmax3_abs(const struct form *f, const u64 *s, u64 *d)
{
    u64 m[3];
    for (unsigned k = 0; k < 3; k++)
        m[k] = s[k] & ~fp_sign_bit(K_F32);
    d[0] = s[0];
    d[1] = choose(f, K_F32, choose(f, K_F32, m[0], m[1], false), m[2], false);
}

static void change_sign(const struct form *f, const u64 *s, u64 *d, bool negate)
{
    enum kind kind = fp_element(f->type);
    unsigned width = fp_width(kind);
    d[0] = 0;
    for (unsigned at = 0; at < kind_bits(f->type); at += width) {
        u64 t = low(s[0] >> at, width);
        t = f->ftz ? fp_flush(kind, t) : t;
        t = negate ? t ^ fp_sign_bit(kind) : t & ~fp_sign_bit(kind);
        d[0] |= t << at;
    }
}

void ref_fabs(const struct form *f, const u64 *s, u64 *d)
{
    change_sign(f, s, d, false);
}

void ref_fneg(const struct form *f, const u64 *s, u64 *d)
{
    change_sign(f, s, d, true);
}

/* Two f32 in 64 bits. */
void ref_f32x2(const struct form *f, const u64 *s, u64 *d)
{
    enum arithmetic op = f->text[0] == 'a'   ? ADD
                         : f->text[0] == 's' ? SUB
                         : f->text[0] == 'm' ? MUL
                                             : FMA;
    d[0] = 0;
    for (unsigned h = 0; h < 2; h++) {
        u64 part[3] = {0};
        for (unsigned k = 0; k < f->src_count; k++)
            part[k] = s[k] >> (32 * h) & 0xffffffff;
        d[0] |= arithmetic(f, K_F32, op, part) << (32 * h);
    }
}
