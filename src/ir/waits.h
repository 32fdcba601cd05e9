/*
 * Wait counters: how code that orders its memory accesses (traits.explicit_exec) knows that data
 * have arrived.
 *
 * Each access increments a counter when it issues and decrements it when it is done; a wait
 * instruction gives the largest value that may remain. Facts of Southern Islands, from AMD's
 * instruction set architecture manual and LLVM's guide to its AMDGPU back end:
 *
 *   vmcnt    vector memory accesses, loads and stores alike. They are done in order: a load when
 *            its registers are written, a store when memory has it.
 *   lgkmcnt  shared memory, done in order; scalar loads, done in any order, which count twice if
 *            they load more than a word. ds_swizzle counts as the former, s_memtime as the latter.
 *   expcnt   vector stores: when their data have been read, the registers may be written again.
 */
#ifndef IR_WAITS_H
#define IR_WAITS_H

#include "ir/inst.h"

enum wait_counter {
    WAIT_NONE,
    WAIT_VECTOR, /* vmcnt */
    WAIT_OTHERS, /* lgkmcnt */
    WAIT_DATA,   /* expcnt: in addition to WAIT_VECTOR */
    WAIT_COUNTERS
};

/* Maxima of the counters: an access that would exceed them waits. */
enum {
    WAIT_VECTOR_MOST = 15,
    WAIT_OTHERS_MOST = 31,
    WAIT_DATA_MOST = 7
};

struct wait_class {
    u8 counter;   /* enum wait_counter */
    u8 amount;    /* increment of the counter */
    bool data;    /* it also counts as WAIT_DATA, for its source WAIT_DATA_SOURCE */
    bool ordered; /* it is done after earlier ordered accesses of its counter */
};
enum {
    WAIT_DATA_SOURCE = 3 /* the data source of accesses through a descriptor (ops.def) */
};

static inline struct wait_class wait_class_of(const struct inst *inst)
{
    const struct op_info *info = &op_info[inst->op];
    if (inst->op == OP_swizzle)
        return (struct wait_class){WAIT_OTHERS, 1, false, true};
    if (info->unit != UNIT_MEM || inst->op == OP_fence || inst->op == OP_prefetch)
        return (struct wait_class){0};
    if (info->flags & OPF_SCALAR)
        return (struct wait_class){WAIT_OTHERS, inst->dst[0].count > 1 ? 2 : 1, false, false};
    if (inst->space == SPACE_SHARED)
        return (struct wait_class){WAIT_OTHERS, 1, false, true};
    return (struct wait_class){WAIT_VECTOR, 1, info->flags & OPF_STORE, true};
}

/* The value of a counter that a wait instruction waits for. */
static inline u32 wait_left(const struct inst *inst, enum wait_counter counter)
{
    const u32 imm = (u32)inst->imm;
    return counter == WAIT_VECTOR ? imm & 15 : counter == WAIT_DATA ? imm >> 4 & 7 : imm >> 8 & 31;
}

#endif
