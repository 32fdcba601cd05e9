/*
 * How lane functions are written: once, as an expression for one lane.
 *
 * A file of lane functions is compiled once per build (instruction set, NaN rule); LANE_PREFIX
 * names the build and LANE(op) the function. LANE1 to LANE4 take the operand kinds of ops.def ('w'
 * a word, 'p' a pair) and an expression of a, b, c, d and of the instruction's key, imm and
 * rounding (mode).
 *
 * Invariants
 *  B1  A loop reads all sources of lane i before it writes lane i, and no lane reads another's
 *      (EACH_LANE declares this to the compiler): in-place operands and swapped halves of pairs are
 *      safe.
 *  B2  Nothing here depends on the instruction set: builds differ only in compiler options, apart
 *      from helpers with a portable variant.
 */
#ifndef EXEC_LANES_LOOP_H
#define EXEC_LANES_LOOP_H

#include "exec/lanes.h"

#define LANE_JOIN2(a, b) a##b
#define LANE_JOIN(a, b) LANE_JOIN2(a, b)
#define LANE(name) LANE_JOIN(LANE_PREFIX, name)

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#if defined(__clang__)
#define EACH_LANE \
    _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < LANES; i++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (unsigned i = 0; i < LANES; i++)
#endif

/* 1 << lane, in memory: a vector shift by lane number is not available everywhere. */
static const u32 lane_bit[LANES] __attribute__((aligned(32), unused)) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

ALWAYS_INLINE u32 mix(u32 m, u32 yes, u32 no)
{
    return (yes & m) | (no & ~m);
}
/* Selects by a word of a lane mask: a comparison and a blend where vectors have one. */
ALWAYS_INLINE u32 choose(u32 m, u32 yes, u32 no)
{
    return m ? yes : no;
}
/* Sets the bits of a mask destination. */
ALWAYS_INLINE void put_mask(const struct lanes *l, unsigned k, u32 bits)
{
    if (l->dst[k])
        *l->dst[k] = mix(l->mask, bits, *l->dst[k]);
}

/* clang-format off */
#define TYPE_w u32
#define TYPE_p u64
#define ROW_w(k) const u32 *const s##k = l->src[k];
#define ROW_p(k) const u32 *const s##k = l->src[k], *const t##k = s##k + l->stride;
#define GET_w(k) s##k[i]
#define GET_p(k) ((u64)t##k[i] << 32 | s##k[i])
#define OUT_w u32 *const d0 = l->dst[0];
#define OUT_p u32 *const d0 = l->dst[0], *const e0 = d0 + l->stride;
#define PUT_w(r) d0[i] = (r);
#define PUT_p(r) { u64 r_ = (r); d0[i] = (u32)r_; e0[i] = (u32)(r_ >> 32); }
#define MIX_w(r) { u32 r_ = (r); d0[i] = choose(m[i], r_, d0[i]); }
#define MIX_p(r) { u64 r_ = (r); u32 m_ = m[i]; d0[i] = choose(m_, (u32)r_, d0[i]);                   \
                   e0[i] = choose(m_, (u32)(r_ >> 32), e0[i]); }
/* clang-format on */

/* The two loops: all lanes, or under the lane mask. */
#define LANE_LOOPS(D, value)               \
    if (LIKELY(l->mask == LANES_FULL)) {   \
        EACH_LANE                          \
        {                                  \
            PUT_##D(value)                 \
        }                                  \
    } else {                               \
        const u32 *const m = l->lane_mask; \
        EACH_LANE                          \
        {                                  \
            MIX_##D(value)                 \
        }                                  \
    }

#define LANE_KEYS                                                                    \
    const u32 key = l->inst->key, imm = (u32)l->inst->imm, mode = l->inst->rounding; \
    (void)key, (void)imm, (void)mode;

#define LANE1(name, D, A, expr)                                                                  \
    ALWAYS_INLINE TYPE_##D LANE(name##_one)(u32 key, u32 imm, u32 mode, TYPE_##A a)              \
    {                                                                                            \
        return (TYPE_##D)(expr);                                                                 \
    }                                                                                            \
    void LANE(name)(struct lanes * l)                                                            \
    {                                                                                            \
        LANE_KEYS ROW_##A(0) OUT_##D LANE_LOOPS(D, LANE(name##_one)(key, imm, mode, GET_##A(0))) \
    }

#define LANE2(name, D, A, B, expr)                                                              \
    ALWAYS_INLINE TYPE_##D LANE(name##_one)(u32 key, u32 imm, u32 mode, TYPE_##A a, TYPE_##B b) \
    {                                                                                           \
        return (TYPE_##D)(expr);                                                                \
    }                                                                                           \
    void LANE(name)(struct lanes * l)                                                           \
    {                                                                                           \
        LANE_KEYS ROW_##A(0) ROW_##B(1) OUT_##D LANE_LOOPS(                                     \
            D, LANE(name##_one)(key, imm, mode, GET_##A(0), GET_##B(1)))                        \
    }

#define LANE3(name, D, A, B, C, expr)                                                           \
    ALWAYS_INLINE TYPE_##D LANE(name##_one)(u32 key, u32 imm, u32 mode, TYPE_##A a, TYPE_##B b, \
                                            TYPE_##C c)                                         \
    {                                                                                           \
        return (TYPE_##D)(expr);                                                                \
    }                                                                                           \
    void LANE(name)(struct lanes * l)                                                           \
    {                                                                                           \
        LANE_KEYS ROW_##A(0) ROW_##B(1) ROW_##C(2) OUT_##D LANE_LOOPS(                          \
            D, LANE(name##_one)(key, imm, mode, GET_##A(0), GET_##B(1), GET_##C(2)))            \
    }

#define LANE4(name, D, A, B, C, E, expr)                                                         \
    ALWAYS_INLINE TYPE_##D LANE(name##_one)(u32 key, u32 imm, u32 mode, TYPE_##A a, TYPE_##B b,  \
                                            TYPE_##C c, TYPE_##E d)                              \
    {                                                                                            \
        return (TYPE_##D)(expr);                                                                 \
    }                                                                                            \
    void LANE(name)(struct lanes * l)                                                            \
    {                                                                                            \
        LANE_KEYS ROW_##A(0) ROW_##B(1) ROW_##C(2) ROW_##E(3) OUT_##D LANE_LOOPS(                \
            D, LANE(name##_one)(key, imm, mode, GET_##A(0), GET_##B(1), GET_##C(2), GET_##E(3))) \
    }

/*
 * Pairs whose halves need not be joined: `low` and `high` are expressions of what `loads` declares.
 * Eight lanes per vector instead of four, and no shuffling.
 */
#define LANE_HALVES(name, rows, loads, low, high)                           \
    void LANE(name)(struct lanes * l)                                       \
    {                                                                       \
        rows OUT_p;                                                         \
        const u32 *const m = l->lane_mask;                                  \
        if (LIKELY(l->mask == LANES_FULL)) {                                \
            EACH_LANE                                                       \
            {                                                               \
                loads;                                                      \
                const u32 rl = (low), rh = (high);                          \
                d0[i] = rl, e0[i] = rh;                                     \
            }                                                               \
        } else {                                                            \
            EACH_LANE                                                       \
            {                                                               \
                loads;                                                      \
                const u32 rl = (low), rh = (high);                          \
                const u32 ol = d0[i], oh = e0[i];                           \
                d0[i] = choose(m[i], rl, ol), e0[i] = choose(m[i], rh, oh); \
            }                                                               \
        }                                                                   \
    }
#define LANE_COMMA ,
/* For pairs al, ah and bl, bh; a pair; a pair and a word n; words; words and a pair. */
#define LANE_HALVES2(name, low, high)                                                            \
    LANE_HALVES(name, ROW_p(0) ROW_p(1),                                                         \
                const u32 al = s0[i] LANE_COMMA ah = t0[i] LANE_COMMA bl = s1[i] LANE_COMMA bh = \
                    t1[i],                                                                       \
                low, high)
#define LANE_HALVES1(name, low, high) \
    LANE_HALVES(name, ROW_p(0), const u32 al = s0[i] LANE_COMMA ah = t0[i], low, high)
#define LANE_HALVES_SHIFT(name, low, high) \
    LANE_HALVES(name, ROW_p(0) ROW_w(1),   \
                const u32 al = s0[i] LANE_COMMA ah = t0[i] LANE_COMMA n = s1[i], low, high)
#define LANE_HALVES_WORDS(name, low, high) \
    LANE_HALVES(name, ROW_w(0) ROW_w(1), const u32 a = s0[i] LANE_COMMA b = s1[i], low, high)
#define LANE_HALVES_MAD(name, low, high)                                                       \
    LANE_HALVES(name, ROW_w(0) ROW_w(1) ROW_p(2),                                              \
                const u32 a = s0[i] LANE_COMMA b = s1[i] LANE_COMMA cl = s2[i] LANE_COMMA ch = \
                    t2[i],                                                                     \
                low, high)

#endif
