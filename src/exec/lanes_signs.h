/*
 * Twins of lane functions that apply the signs of their float operands (abs, then neg) on the fly:
 * two masks a source, read from the instruction once.
 */
#ifndef EXEC_LANES_SIGNS_H
#define EXEC_LANES_SIGNS_H

#include "exec/lanes_loop.h"

/* Of the word that holds the sign: a pair's is its high one. */
#define SIGNS(k)                                                \
    const u32 keep##k = l->inst->src[k].abs ? 0x7fffffff : ~0u, \
              flip##k = l->inst->src[k].neg ? 0x80000000 : 0;
#define SIGNED_w(k) ((s##k[i] & keep##k) ^ flip##k)
#define SIGNED_p(k) ((u64)((t##k[i] & keep##k) ^ flip##k) << 32 | s##k[i])

/* LANE(name_signed) of LANE(name), defined before with all operands of kind K. */
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
