/*
 * Integer arithmetic, from the PTX manual's definitions: everything in 128 bits, cut at the end.
 */
#include "references.h"

#include <string.h>

static i128 value(enum kind kind, u64 bits)
{
    unsigned n = kind_bits(kind);
    return kind_signed(kind) ? (i128)sext(bits, n) : (i128)low(bits, n);
}

static u64 fit(enum kind kind, i128 v)
{
    return low((u64)v, kind_bits(kind));
}

static i128 clamp(enum kind kind, i128 v)
{
    unsigned n = kind_bits(kind);
    i128 top = ((i128)1 << (kind_signed(kind) ? n - 1 : n)) - 1;
    i128 bottom = kind_signed(kind) ? -top - 1 : 0;
    return v < bottom ? bottom : v > top ? top : v;
}

/* A 16-bit half of a packed pair. */
static i128 half(enum kind kind, u64 bits, unsigned index)
{
    u64 h = bits >> (16 * index) & 0xffff;
    return kind_signed(kind) ? (i128)sext(h, 16) : (i128)h;
}

static bool packed(enum kind kind)
{
    return kind == K_U16X2 || kind == K_S16X2;
}

void ref_add(const struct form *f, const u64 *s, u64 *d)
{
    if (packed(f->type)) {
        d[0] = (s[0] + s[1]) & 0xffff;
        d[0] |= (((s[0] >> 16) + (s[1] >> 16)) & 0xffff) << 16;
        return;
    }
    i128 v = value(f->type, s[0]) + value(f->type, s[1]);
    d[0] = fit(f->type, f->sat ? clamp(f->type, v) : v);
}

void ref_sub(const struct form *f, const u64 *s, u64 *d)
{
    i128 v = value(f->type, s[0]) - value(f->type, s[1]);
    d[0] = fit(f->type, f->sat ? clamp(f->type, v) : v);
}

/* The product, all of it; 64-bit signed products need care: their sum with c stays below 2^127. */
static i128 product(enum kind kind, u64 a, u64 b)
{
    return kind_signed(kind) ? value(kind, a) * value(kind, b)
                             : (i128)((u128)value(kind, a) * (u128)value(kind, b));
}

/* The half of the product that .lo or .hi names. */
static i128 part(const struct form *f, i128 p)
{
    unsigned n = kind_bits(f->type);
    if (!f->hi)
        return value(f->type, (u64)p);
    u64 upper = (u64)((u128)p >> n);
    return value(f->type, low(upper, n));
}

void ref_mul(const struct form *f, const u64 *s, u64 *d)
{
    i128 p = product(f->type, s[0], s[1]);
    d[0] = f->wide ? fit(f->dst[0], p) : fit(f->type, part(f, p));
}

void ref_mad(const struct form *f, const u64 *s, u64 *d)
{
    i128 p = product(f->type, s[0], s[1]);
    if (f->wide) {
        d[0] = low((u64)p + s[2], kind_bits(f->dst[0]));
        return;
    }
    i128 v = part(f, p) + value(f->type, s[2]);
    d[0] = fit(f->type, f->sat ? clamp(f->type, v) : v);
}

/* Bits 0..31 or 16..47 of the 48-bit product of 24-bit operands. */
static i128 product24(const struct form *f, const u64 *s)
{
    i128 p = kind_signed(f->type) ? (i128)sext(s[0], 24) * sext(s[1], 24)
                                  : (i128)low(s[0], 24) * (i128)low(s[1], 24);
    return value(f->type, (u64)(f->hi ? p >> 16 : p));
}

void ref_mul24(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = fit(f->type, product24(f, s));
}

void ref_mad24(const struct form *f, const u64 *s, u64 *d)
{
    i128 v = product24(f, s) + value(f->type, s[2]);
    d[0] = fit(f->type, f->sat ? clamp(f->type, v) : v);
}

/* Division by zero is machine-specific in the manual: all ones here, and the dividend as the
 * remainder. */
void ref_div(const struct form *f, const u64 *s, u64 *d)
{
    i128 a = value(f->type, s[0]), b = value(f->type, s[1]);
    d[0] = fit(f->type, b == 0 ? -1 : a / b);
}

void ref_rem(const struct form *f, const u64 *s, u64 *d)
{
    i128 a = value(f->type, s[0]), b = value(f->type, s[1]);
    d[0] = fit(f->type, b == 0 ? a : a % b);
}

void ref_abs(const struct form *f, const u64 *s, u64 *d)
{
    i128 a = value(f->type, s[0]);
    d[0] = fit(f->type, a < 0 ? -a : a);
}

void ref_neg(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = fit(f->type, -value(f->type, s[0]));
}

static i128 choose(const struct form *f, i128 a, i128 b, bool least)
{
    i128 v = (a < b) == least ? a : b;
    return f->relu && v < 0 ? 0 : v;
}

static void min_max(const struct form *f, const u64 *s, u64 *d, bool least)
{
    if (!packed(f->type)) {
        d[0] = fit(f->type, choose(f, value(f->type, s[0]), value(f->type, s[1]), least));
        return;
    }
    d[0] = 0;
    for (unsigned h = 0; h < 2; h++) {
        i128 v = choose(f, half(f->type, s[0], h), half(f->type, s[1], h), least);
        d[0] |= (u64)(v & 0xffff) << (16 * h);
    }
}

void ref_min(const struct form *f, const u64 *s, u64 *d)
{
    min_max(f, s, d, true);
}

void ref_max(const struct form *f, const u64 *s, u64 *d)
{
    min_max(f, s, d, false);
}

void ref_sad(const struct form *f, const u64 *s, u64 *d)
{
    i128 a = value(f->type, s[0]), b = value(f->type, s[1]);
    d[0] = fit(f->type, (i128)s[2] + (a < b ? b - a : a - b));
}

/* add.cc d0, s0, s1; addc.cc d1, s2, s3; addc d2, s4, s5 */
void ref_add_chain(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type), carry = 0;
    for (unsigned k = 0; k < 3; k++) {
        u128 sum = (u128)s[2 * k] + s[2 * k + 1] + carry;
        d[k] = low((u64)sum, n);
        carry = (unsigned)(sum >> n) & 1;
    }
}

void ref_sub_chain(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type), borrow = 0;
    for (unsigned k = 0; k < 3; k++) {
        i128 difference = (i128)s[2 * k] - (i128)s[2 * k + 1] - borrow;
        d[k] = low((u64)difference, n);
        borrow = difference < 0;
    }
}

/* Subtraction adds the complement; one flag, that addition's carry, goes through all three. */
void ref_mixed_chain(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type), carry = 1;
    for (unsigned k = 0; k < 3; k++) {
        u128 sum = (u128)s[2 * k] + low(k == 1 ? s[3] : ~s[2 * k + 1], n) + carry;
        d[k] = low((u64)sum, n);
        carry = (unsigned)(sum >> n) & 1;
    }
}

/* mad.part.cc d0, s0, s1, s2; madc.part.cc d1, s3, s4, s5; addc d2, s0, 0: the carries of the
 * unsigned addition of c to the chosen half of the product. */
void ref_mad_chain(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type), carry = 0;
    for (unsigned k = 0; k < 2; k++) {
        i128 p = product(f->type, s[3 * k], s[3 * k + 1]);
        u128 sum = (u128)fit(f->type, part(f, p)) + s[3 * k + 2] + carry;
        d[k] = low((u64)sum, n);
        carry = (unsigned)(sum >> n) & 1;
    }
    d[2] = low(s[0] + carry, n);
}

/* A double-width multiply-add by a chain: (d1:d0) = s0 * s1 + (s3:s2). */
void ref_mad_full(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type);
    u128 sum = (u128)s[0] * s[1] + ((u128)s[3] << n | s[2]);
    d[0] = low((u64)sum, n);
    d[1] = low((u64)(sum >> n), n);
}

/* Two instructions that share operands; kept in the table for in-place use of registers. */
void ref_pair(const struct form *f, const u64 *s, u64 *d)
{
    u64 sum = fit(f->type, (i128)s[0] + s[1]);
    d[0] = fit(f->type, (i128)sum - s[1] + sum);
}

/* |a - b| of bytes or halves, each in its place or all added to c. */
void ref_absdiff(const struct form *f, const u64 *s, u64 *d)
{
    bool adds = strstr(f->text, ".add"), is_signed = kind_signed(f->type);
    unsigned bits = strstr(f->text, "vabsdiff4") ? 8 : 16;
    d[0] = adds ? s[2] : 0;
    for (unsigned at = 0; at < 32; at += bits) {
        u64 a = low(s[0] >> at, bits), b = low(s[1] >> at, bits);
        i64 x = is_signed ? sext(a, bits) : (i64)a, y = is_signed ? sext(b, bits) : (i64)b;
        u64 difference = (u64)(x > y ? x - y : y - x);
        d[0] += adds ? difference : difference << at;
    }
    d[0] = low(d[0], 32);
}

void ref_dp4a(const struct form *f, const u64 *s, u64 *d)
{
    i64 sum = (i64)s[2];
    for (unsigned k = 0; k < 4; k++) {
        u64 a = s[0] >> (8 * k) & 0xff, b = s[1] >> (8 * k) & 0xff;
        sum += (kind_signed(f->stype) ? sext(a, 8) : (i64)a) *
               (kind_signed(f->type) ? sext(b, 8) : (i64)b);
    }
    d[0] = low((u64)sum, 32);
}

void ref_dp2a(const struct form *f, const u64 *s, u64 *d)
{
    i64 sum = (i64)s[2];
    for (unsigned k = 0; k < 2; k++) {
        u64 a = s[0] >> (16 * k) & 0xffff, b = s[1] >> (8 * (k + (f->hi ? 2 : 0))) & 0xff;
        sum += (kind_signed(f->stype) ? sext(a, 16) : (i64)a) *
               (kind_signed(f->type) ? sext(b, 8) : (i64)b);
    }
    d[0] = low((u64)sum, 32);
}
