/*
 * Scalar functions: see scalar.h.
 *
 * Sources are read before anything is written, since a destination may be a source. SCC, if an op
 * has it, is the second destination: the op's row in ops.def gives its meaning.
 */
#include "exec/scalar.h"

#include "exec/image.h"
#include "ir/scalars.h"

static inline u32 get32(const struct lanes *l, unsigned k)
{
    return l->src[k][0];
}
static inline u64 get64(const struct lanes *l, unsigned k)
{
    return l->src[k][0] | (u64)l->src[k][LANES] << 32;
}
static inline void put32(const struct lanes *l, u32 value)
{
    l->dst[0][0] = value;
}
static inline void put64(const struct lanes *l, u64 value)
{
    l->dst[0][0] = (u32)value;
    l->dst[0][LANES] = (u32)(value >> 32);
}

/* clang-format off */
#define TYPE_x u32
#define TYPE_y u64
#define GET_x(k) get32(l, k)
#define GET_y(k) get64(l, k)
#define PUT_x put32
#define PUT_y put64
/* clang-format on */

/* d = expr of a, b, c; the second form also sets SCC to `flag`, an expression of these and r. */
#define SOURCES1(A) const TYPE_##A a = GET_##A(0);
#define SOURCES2(A, B) SOURCES1(A) const TYPE_##B b = GET_##B(1);
#define SOURCES3(A, B, C) SOURCES2(A, B) const TYPE_##C c = GET_##C(2);
#define PLAIN(name, D, sources, expr)          \
    static void scalar_##name(struct lanes *l) \
    {                                          \
        sources PUT_##D(l, (TYPE_##D)(expr));  \
    }
#define FLAGGED(name, D, sources, expr, flag)  \
    static void scalar_##name(struct lanes *l) \
    {                                          \
        sources const TYPE_##D r = (expr);     \
        l->dst[1][0] = (flag) ? 1 : 0;         \
        PUT_##D(l, r);                         \
    }

PLAIN(smov_b32, x, SOURCES1(x), a)
PLAIN(smov_b64, y, SOURCES1(y), a)
PLAIN(sselect_b32, x, SOURCES3(x, x, x), c ? a : b)
PLAIN(sselect_b64, y, SOURCES3(y, y, x), c ? a : b)

/* Overflow: the operands' signs agree (for a difference: differ) and that of the result does
 * not. */
#define OVERFLOWS(a, b, r) ((~((a) ^ (b)) & ((a) ^ (r))) >> 31)
FLAGGED(sadd_u32, x, SOURCES2(x, x), a + b, r < a)
FLAGGED(ssub_u32, x, SOURCES2(x, x), a - b, a < b)
FLAGGED(sadd_s32, x, SOURCES2(x, x), a + b, OVERFLOWS(a, b, r))
FLAGGED(ssub_s32, x, SOURCES2(x, x), a - b, OVERFLOWS(a, ~b, r))
FLAGGED(saddc_u32, x, SOURCES3(x, x, x), a + b + c, ((u64)a + b + c) >> 32)
FLAGGED(ssubc_u32, x, SOURCES3(x, x, x), a - b - c, a < (u64)b + c)
FLAGGED(smin_s32, x, SOURCES2(x, x), (i32)a < (i32)b ? a : b, (i32)a < (i32)b)
FLAGGED(smin_u32, x, SOURCES2(x, x), a < b ? a : b, a < b)
FLAGGED(smax_s32, x, SOURCES2(x, x), (i32)a > (i32)b ? a : b, (i32)a > (i32)b)
FLAGGED(smax_u32, x, SOURCES2(x, x), a > b ? a : b, a > b)
PLAIN(smul_s32, x, SOURCES2(x, x), a *b)
FLAGGED(sabs_s32, x, SOURCES1(x), (i32)a < 0 ? 0 - a : a, r)
FLAGGED(sabsdiff_s32, x, SOURCES2(x, x), (i32)(a - b) < 0 ? b - a : a - b, r)

#define LOGIC(name, expr)                                 \
    FLAGGED(name##_b32, x, SOURCES2(x, x), expr, r)       \
    FLAGGED(name##_b64, y, SOURCES2(y, y), expr, r)       \
    static void scalar_##name##_saveexec(struct lanes *l) \
    {                                                     \
        SOURCES2(y, y) const u64 r = (expr);              \
        u32 *const exec = (u32 *)l->src[1];               \
        exec[0] = (u32)r;                                 \
        exec[LANES] = (u32)(r >> 32);                     \
        l->dst[1][0] = r ? 1 : 0;                         \
        put64(l, b);                                      \
    }
LOGIC(sand, a &b)
LOGIC(sor, a | b)
LOGIC(sxor, a ^ b)
LOGIC(sandn2, a & ~b)
LOGIC(sorn2, a | ~b)
LOGIC(snand, ~(a &b))
LOGIC(snor, ~(a | b))
LOGIC(sxnor, ~(a ^ b))
FLAGGED(snot_b32, x, SOURCES1(x), ~a, r)
FLAGGED(snot_b64, y, SOURCES1(y), ~a, r)

FLAGGED(sshl_b32, x, SOURCES2(x, x), a << (b & 31), r)
FLAGGED(sshl_b64, y, SOURCES2(y, x), a << (b & 63), r)
FLAGGED(sshr_u32, x, SOURCES2(x, x), a >> (b & 31), r)
FLAGGED(sshr_u64, y, SOURCES2(y, x), a >> (b & 63), r)
FLAGGED(sshr_s32, x, SOURCES2(x, x), (u32)((i32)a >> (b & 31)), r)
FLAGGED(sshr_s64, y, SOURCES2(y, x), (u64)((i64)a >> (b & 63)), r)
PLAIN(sbits_b32, x, SOURCES2(x, x), ((1u << (a & 31)) - 1) << (b & 31))
PLAIN(sbits_b64, y, SOURCES2(x, x), ((1ull << (a & 63)) - 1) << (b & 63))

/* Fields: bits beyond the register read as zeros or, if signed, as the sign. */
static u64 field(u64 value, u32 offset, u32 width, u32 bits, bool is_signed)
{
    if (!width)
        return 0;
    u64 rest =
        is_signed ? (u64)((i64)(value << (64 - bits)) >> (64 - bits) >> offset) : value >> offset;
    if (width >= bits)
        return rest;
    rest <<= 64 - width;
    return is_signed ? (u64)((i64)rest >> (64 - width)) : rest >> (64 - width);
}
#define WIDTH(b) ((b) >> 16 & 127)
FLAGGED(sfield_u32, x, SOURCES2(x, x), (u32)field(a, b & 31, WIDTH(b), 32, false), r)
FLAGGED(sfield_s32, x, SOURCES2(x, x), (u32)field(a, b & 31, WIDTH(b), 32, true), r)
FLAGGED(sfield_u64, y, SOURCES2(y, x), field(a, b & 63, WIDTH(b), 64, false), r)
FLAGGED(sfield_s64, y, SOURCES2(y, x), field(a, b & 63, WIDTH(b), 64, true), r)

/* All lanes of every quad that has a lane. */
static u64 whole_quads(u64 lanes)
{
    u64 any = lanes | lanes >> 1;
    any = (any | any >> 2) & 0x1111111111111111;
    return any * 15;
}
/* One bit for each quad that has a lane. */
static u64 quads(u64 lanes)
{
    u64 mask = 0;
    for (u32 q = 0; q < 16; q++)
        mask |= (u64)((lanes >> 4 * q & 15) != 0) << q;
    return mask;
}
FLAGGED(swqm_b32, x, SOURCES1(x), (u32)whole_quads(a), r)
FLAGGED(swqm_b64, y, SOURCES1(y), whole_quads(a), r)
FLAGGED(squadmask_b32, x, SOURCES1(x), (u32)quads(a), r)
FLAGGED(squadmask_b64, y, SOURCES1(y), quads(a), r)

static u64 reverse(u64 value, u32 bits)
{
    u64 r = 0;
    for (u32 i = 0; i < bits; i++)
        r |= (value >> i & 1) << (bits - 1 - i);
    return r;
}
static u32 lowest_one(u64 value)
{
    return value ? (u32)__builtin_ctzll(value) : UINT32_MAX;
}
static u32 leading_zeros(u64 value, u32 bits)
{
    return value ? (u32)__builtin_clzll(value) - (64 - bits) : UINT32_MAX;
}
#define COUNT(x) ((u32)__builtin_popcountll(x))
PLAIN(sbrev_b32, x, SOURCES1(x), reverse(a, 32))
PLAIN(sbrev_b64, y, SOURCES1(y), reverse(a, 64))
FLAGGED(sbcnt0_b32, x, SOURCES1(x), COUNT((u32)~a), r)
FLAGGED(sbcnt0_b64, x, SOURCES1(y), COUNT(~a), r)
FLAGGED(sbcnt1_b32, x, SOURCES1(x), COUNT(a), r)
FLAGGED(sbcnt1_b64, x, SOURCES1(y), COUNT(a), r)
PLAIN(sff0_b32, x, SOURCES1(x), lowest_one((u32)~a))
PLAIN(sff0_b64, x, SOURCES1(y), lowest_one(~a))
PLAIN(sff1_b32, x, SOURCES1(x), lowest_one(a))
PLAIN(sff1_b64, x, SOURCES1(y), lowest_one(a))
PLAIN(sflbit_b32, x, SOURCES1(x), leading_zeros(a, 32))
PLAIN(sflbit_b64, x, SOURCES1(y), leading_zeros(a, 64))
PLAIN(sflbit_s32, x, SOURCES1(x), leading_zeros((i32)a < 0 ? (u32)~a : a, 32))
PLAIN(sflbit_s64, x, SOURCES1(y), leading_zeros((i64)a < 0 ? ~a : a, 64))
PLAIN(ssext_s8, x, SOURCES1(x), (i8)a)
PLAIN(ssext_s16, x, SOURCES1(x), (i16)a)
PLAIN(sbitset0_b32, x, SOURCES2(x, x), b & ~(1u << (a & 31)))
PLAIN(sbitset0_b64, y, SOURCES2(x, y), b & ~(1ull << (a & 63)))
PLAIN(sbitset1_b32, x, SOURCES2(x, x), b | 1u << (a & 31))
PLAIN(sbitset1_b64, y, SOURCES2(x, y), b | 1ull << (a & 63))

static bool compare(i64 a, i64 b, enum compare key)
{
    switch (key) {
    case CMP_EQ:
        return a == b;
    case CMP_NE:
        return a != b;
    case CMP_LT:
        return a < b;
    case CMP_LE:
        return a <= b;
    case CMP_GT:
        return a > b;
    default:
        return a >= b;
    }
}
PLAIN(scmp_s32, x, SOURCES2(x, x), compare((i32)a, (i32)b, l->inst->key))
PLAIN(scmp_u32, x, SOURCES2(x, x), compare(a, b, l->inst->key))
PLAIN(sbitcmp0_b32, x, SOURCES2(x, x), !(a >> (b & 31) & 1))
PLAIN(sbitcmp0_b64, x, SOURCES2(y, x), !(a >> (b & 63) & 1))
PLAIN(sbitcmp1_b32, x, SOURCES2(x, x), a >> (b & 31) & 1)
PLAIN(sbitcmp1_b64, x, SOURCES2(y, x), a >> (b & 63) & 1)

lane_fn *scalar_function(enum op op)
{
    static lane_fn *const functions[OP_COUNT] = {
#define ROW(name) [OP_##name] = scalar_##name
#define ROWS(name) ROW(name##_b32), ROW(name##_b64)
#define LOGICS(name) ROWS(name), ROW(name##_saveexec)
        ROWS(smov),      ROWS(sselect),   ROW(sadd_u32),   ROW(ssub_u32),   ROW(sadd_s32),
        ROW(ssub_s32),   ROW(saddc_u32),  ROW(ssubc_u32),  ROW(smin_s32),   ROW(smin_u32),
        ROW(smax_s32),   ROW(smax_u32),   ROW(smul_s32),   ROW(sabs_s32),   ROW(sabsdiff_s32),
        LOGICS(sand),    LOGICS(sor),     LOGICS(sxor),    LOGICS(sandn2),  LOGICS(sorn2),
        LOGICS(snand),   LOGICS(snor),    LOGICS(sxnor),   ROWS(snot),      ROWS(sshl),
        ROW(sshr_u32),   ROW(sshr_u64),   ROW(sshr_s32),   ROW(sshr_s64),   ROWS(sbits),
        ROW(sfield_u32), ROW(sfield_s32), ROW(sfield_u64), ROW(sfield_s64), ROWS(swqm),
        ROWS(squadmask), ROWS(sbrev),     ROWS(sbcnt0),    ROWS(sbcnt1),    ROWS(sff0),
        ROWS(sff1),      ROWS(sflbit),    ROW(sflbit_s32), ROW(sflbit_s64), ROW(ssext_s8),
        ROW(ssext_s16),  ROWS(sbitset0),  ROWS(sbitset1),  ROW(scmp_s32),   ROW(scmp_u32),
        ROWS(sbitcmp0),  ROWS(sbitcmp1),
    };
    return functions[op];
}
