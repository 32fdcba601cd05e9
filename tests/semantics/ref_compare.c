/* Comparisons and choices. Floats are compared through MPFR, integers in 128 bits. */
#include "fp.h"
#include "references.h"

/* -1, 0, 1, or 2 when unordered. */
static int order(enum kind kind, u64 a, u64 b, bool ftz)
{
    unsigned n = kind_bits(kind);
    if (!kind_float(kind)) {
        i128 x = kind_signed(kind) ? (i128)sext(a, n) : (i128)low(a, n);
        i128 y = kind_signed(kind) ? (i128)sext(b, n) : (i128)low(b, n);
        return (x > y) - (x < y);
    }
    if (ftz) {
        a = fp_flush(kind, a);
        b = fp_flush(kind, b);
    }
    if (fp_is_nan(kind, a) || fp_is_nan(kind, b))
        return 2;
    mpfr_t x, y;
    mpfr_inits2(FP_PRECISION, x, y, (mpfr_ptr)0);
    fp_load(x, kind, a);
    fp_load(y, kind, b);
    int result = mpfr_cmp(x, y);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return (result > 0) - (result < 0);
}

static bool holds(enum comparison cmp, int order)
{
    bool unordered = order == 2;
    switch (cmp) {
    case C_EQ:
        return order == 0;
    case C_NE:
        return !unordered && order != 0;
    case C_LT:
        return order == -1;
    case C_LE:
        return order == -1 || order == 0;
    case C_GT:
        return order == 1;
    case C_GE:
        return order == 1 || order == 0;
    case C_EQU:
        return unordered || order == 0;
    case C_NEU:
        return order != 0;
    case C_LTU:
        return unordered || order == -1;
    case C_LEU:
        return order != 1;
    case C_GTU:
        return unordered || order == 1;
    case C_GEU:
        return order != -1;
    case C_NUM:
        return !unordered;
    default:
        return unordered;
    }
}

static bool combine(char op, bool a, bool b)
{
    return op == 'a' ? a && b : op == 'o' ? a || b : op == 'x' ? a != b : a;
}

static bool compare(const struct form *f, enum kind kind, u64 a, u64 b)
{
    return holds(f->cmp, order(kind, a, b, f->ftz));
}

/* A packed pair gives one predicate a half. */
void ref_setp(const struct form *f, const u64 *s, u64 *d)
{
    enum kind kind = fp_element(f->type);
    if (kind != f->type) {
        for (unsigned h = 0; h < 2; h++) {
            bool t = compare(f, kind, s[0] >> (16 * h) & 0xffff, s[1] >> (16 * h) & 0xffff);
            d[h] = combine(f->bool_op, t, s[2]);
        }
        return;
    }
    d[0] = combine(f->bool_op, compare(f, kind, s[0], s[1]), f->bool_op ? s[2] : 0);
}

/* setp p|q */
void ref_setp_pair(const struct form *f, const u64 *s, u64 *d)
{
    bool t = compare(f, f->type, s[0], s[1]);
    d[0] = combine(f->bool_op, t, f->bool_op ? s[2] : 0);
    d[1] = combine(f->bool_op, !t, f->bool_op ? s[2] : 0);
}

/* ... with !c */
void ref_setp_not(const struct form *f, const u64 *s, u64 *d)
{
    u64 t[3] = {s[0], s[1], !s[2]};
    ref_setp(f, t, d);
}

static u64 truth(enum kind kind, bool t)
{
    if (!t)
        return 0;
    return kind_float(kind) ? fp_one(kind) : low(~0ull, kind_bits(kind));
}

void ref_set(const struct form *f, const u64 *s, u64 *d)
{
    enum kind from = fp_element(f->type), to = fp_element(f->stype);
    if (from == f->type) {
        bool t = combine(f->bool_op, compare(f, from, s[0], s[1]), f->bool_op ? s[2] : 0);
        d[0] = truth(to, t);
        return;
    }
    d[0] = 0;
    for (unsigned h = 0; h < 2; h++) {
        bool t = compare(f, from, s[0] >> (16 * h) & 0xffff, s[1] >> (16 * h) & 0xffff);
        d[0] |= (truth(to, combine(f->bool_op, t, f->bool_op ? s[2] : 0)) & 0xffff) << (16 * h);
    }
}

void ref_selp(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = s[2] ? s[0] : s[1];
}

/* c >= 0 ? a : b; minus zero counts as zero, an unordered c takes b. */
void ref_slct(const struct form *f, const u64 *s, u64 *d)
{
    int c = order(f->type, s[2], 0, f->ftz);
    d[0] = c == 0 || c == 1 ? s[0] : s[1];
}

void ref_testp(const struct form *f, const u64 *s, u64 *d)
{
    enum kind k = f->type;
    bool nan = fp_is_nan(k, s[0]), infinite = fp_is_infinite(k, s[0]);
    bool subnormal = fp_is_subnormal(k, s[0]);
    d[0] = form_has(f, "finite")       ? !nan && !infinite
           : form_has(f, "infinite")   ? infinite
           : form_has(f, "number")     ? !nan
           : form_has(f, "notanumber") ? nan
           : form_has(f, "normal")     ? !nan && !infinite && !subnormal /* zeros are normal */
                                       : subnormal;
}

void ref_copysign(const struct form *f, const u64 *s, u64 *d)
{
    u64 sign = fp_sign_bit(f->type);
    d[0] = (s[0] & sign) | (s[1] & (sign - 1));
}
