/*
 * Variants of lane functions that apply the signs of their floating-point operands (abs, then neg)
 * on the fly: two masks per source, read from the instruction once.
 */
#ifndef EXEC_LANES_SIGNS_H
#define EXEC_LANES_SIGNS_H

#include "exec/lanes_loop.h"

/* For the word that holds the sign: the high one of a pair. */
#define SIGNS(k)                                                \
    const u32 keep##k = l->inst->src[k].abs ? 0x7fffffff : ~0u, \
              flip##k = l->inst->src[k].neg ? 0x80000000 : 0;
#define SIGNED_w(k) ((s##k[i] & keep##k) ^ flip##k)
#define SIGNED_p(k) ((u64)((t##k[i] & keep##k) ^ flip##k) << 32 | s##k[i])

/* LANE(name_signed) for LANE(name), which must be defined before, with all operands of kind K. */
#define SIGNED2(name, K)                                                       \
    void LANE(name##_signed)(struct lanes * l)                                 \
    {                                                                          \
        LANE_KEYS ROW_##K(0) ROW_##K(1) SIGNS(0) SIGNS(1) OUT_##K LANE_LOOPS(  \
            K, LANE(name##_one)(key, imm, mode, SIGNED_##K(0), SIGNED_##K(1))) \
    }
#define SIGNED3(name, K)                                                                          \
    void LANE(name##_signed)(struct lanes * l)                                                    \
    {                                                                                             \
        LANE_KEYS ROW_##K(0) ROW_##K(1) ROW_##K(2) SIGNS(0) SIGNS(1) SIGNS(2) OUT_##K LANE_LOOPS( \
            K, LANE(name##_one)(key, imm, mode, SIGNED_##K(0), SIGNED_##K(1), SIGNED_##K(2)))     \
    }

#endif
