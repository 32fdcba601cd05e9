/*
 * Logic, shifts, fields and moves, bit by bit where the manual defines them so.
 */
#include "references.h"

static bool bit(u64 value, unsigned index)
{
    return index < 64 && value >> index & 1;
}

void ref_and(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = s[0] & s[1];
}

void ref_or(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = s[0] | s[1];
}

void ref_xor(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = s[0] ^ s[1];
}

void ref_not(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = low(~s[0], kind_bits(f->type));
}

void ref_cnot(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = s[0] == 0;
}

void ref_shl(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type);
    d[0] = s[1] >= n ? 0 : low(s[0] << s[1], n);
}

void ref_shr(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type);
    bool fill = kind_signed(f->type) && bit(s[0], n - 1);
    d[0] = 0;
    for (unsigned i = 0; i < n; i++)
        d[0] |= (u64)(i + s[1] < n ? bit(s[0], (unsigned)(i + s[1])) : fill) << i;
}

static unsigned funnel_count(const struct form *f, u64 count)
{
    return f->wrap ? count & 31 : count > 32 ? 32 : (unsigned)count;
}

void ref_shf_l(const struct form *f, const u64 *s, u64 *d)
{
    u128 both = (u128)(s[1] << 32 | s[0]) << funnel_count(f, s[2]);
    d[0] = low((u64)(both >> 32), 32);
}

void ref_shf_r(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = low((s[1] << 32 | s[0]) >> funnel_count(f, s[2]), 32);
}

void ref_popc(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = 0;
    for (unsigned i = 0; i < 64; i++)
        d[0] += bit(s[0], i);
}

void ref_clz(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type);
    for (d[0] = 0; d[0] < n && !bit(s[0], n - 1 - (unsigned)d[0]);)
        d[0]++;
}

void ref_bfind(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type);
    u64 a = kind_signed(f->type) && bit(s[0], n - 1) ? low(~s[0], n) : s[0];
    d[0] = 0xffffffff;
    for (unsigned i = 0; i < n; i++)
        if (bit(a, i))
            d[0] = f->shiftamt ? n - 1 - i : i;
}

void ref_brev(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type);
    d[0] = 0;
    for (unsigned i = 0; i < n; i++)
        d[0] |= (u64)bit(s[0], n - 1 - i) << i;
}

void ref_bfe(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type), pos = s[1] & 0xff, len = s[2] & 0xff;
    unsigned last = pos + len - 1 < n - 1 ? pos + len - 1 : n - 1;
    bool fill = kind_signed(f->type) && len != 0 && bit(s[0], last);
    d[0] = 0;
    for (unsigned i = 0; i < n; i++)
        d[0] |= (u64)(i < len && pos + i < n ? bit(s[0], pos + i) : fill) << i;
}

void ref_bfi(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->type), pos = s[2] & 0xff, len = s[3] & 0xff;
    d[0] = s[1];
    for (unsigned i = 0; i < len && pos + i < n; i++)
        d[0] = (d[0] & ~(1ull << (pos + i))) | (u64)bit(s[0], i) << (pos + i);
}

void ref_fns(const struct form *f, const u64 *s, u64 *d)
{
    int position = (int)s[1], offset = (int)(uint32_t)s[2];
    d[0] = 0xffffffff;
    if (offset == 0) {
        if (bit(s[0], (unsigned)position))
            d[0] = (u64)position;
        return;
    }
    int left = offset < 0 ? -offset : offset, step = offset < 0 ? -1 : 1;
    for (; position >= 0 && position < 32; position += step)
        if (bit(s[0], (unsigned)position) && --left == 0) {
            d[0] = (u64)position;
            return;
        }
}

static u64 lop3(u64 a, u64 b, u64 c, unsigned table)
{
    u64 result = 0;
    for (unsigned i = 0; i < 32; i++)
        result |= (u64)bit(table, bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i)) << i;
    return result;
}

void ref_lop3(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = lop3(s[0], s[1], s[2], f->number);
}

/* lop3.BoolOp: p = (result != 0) op q */
void ref_lop3_pred(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = lop3(s[0], s[1], s[2], f->number);
    d[1] = f->bool_op == 'a' ? d[0] != 0 && s[3] : d[0] != 0 || s[3];
}

/* Byte k of the result is byte select[k] of {b, a}; the manual's table for the modes. */
void ref_prmt(const struct form *f, const u64 *s, u64 *d)
{
    static const u8 ecl[4][4] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}};
    static const u8 ecr[4][4] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
    static const u8 rc16[4][4] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}};
    u64 bytes = s[1] << 32 | s[0];
    unsigned c = s[2] & 3;
    d[0] = 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned select = s[2] >> (4 * k) & 15;
        if (form_has(f, "f4e"))
            select = c + k;
        else if (form_has(f, "b4e"))
            select = (c - k) & 7;
        else if (form_has(f, "rc8"))
            select = c;
        else if (form_has(f, "ecl"))
            select = ecl[c][k];
        else if (form_has(f, "ecr"))
            select = ecr[c][k];
        else if (form_has(f, "rc16"))
            select = rc16[c][k];
        u64 byte = bytes >> (8 * (select & 7)) & 0xff;
        if (select & 8) /* replicate the sign; only the default mode has selectors of 4 bits */
            byte = byte & 0x80 ? 0xff : 0;
        d[0] |= byte << (8 * k);
    }
}

void ref_szext(const struct form *f, const u64 *s, u64 *d)
{
    u64 n = f->wrap ? s[1] & 31 : s[1];
    if (n == 0)
        d[0] = 0;
    else if (n >= 32)
        d[0] = s[0];
    else
        d[0] =
            low(kind_signed(f->type) ? (u64)sext(s[0], (unsigned)n) : low(s[0], (unsigned)n), 32);
}

void ref_bmsk(const struct form *f, const u64 *s, u64 *d)
{
    u64 from = f->wrap ? s[0] & 31 : s[0], count = f->wrap ? s[1] & 31 : s[1];
    d[0] = 0;
    for (u64 i = 0; i < 32; i++)
        d[0] |= (u64)(i >= from && i - from < count) << i;
}

void ref_mov(const struct form *f, const u64 *s, u64 *d)
{
    d[0] = s[0];
}

/* Sources into one destination, least significant first. */
void ref_pack(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->dst[0]) / f->src_count;
    d[0] = 0;
    for (unsigned k = 0; k < f->src_count; k++)
        d[0] |= low(s[k], n) << (k * n);
}

void ref_unpack(const struct form *f, const u64 *s, u64 *d)
{
    unsigned n = kind_bits(f->src[0]) / f->dst_count;
    for (unsigned k = 0; k < f->dst_count; k++)
        d[k] = low(s[0] >> (k * n), n);
}
