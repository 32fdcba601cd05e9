/*
 * Wait counters: how code that orders memory itself (traits.waits) knows that data have come.
 *
 * Each access counts up when it issues and down when it is done; a wait instruction names the most
 * that may be left. Facts of Southern Islands, from AMD's instruction set architecture manual and
 * LLVM's guide to its AMDGPU back end:
 *
 *   vmcnt    accesses of lanes to memory, loads and stores alike. They are done in their order: a
 *            load when its registers are written, a store when memory has it.
 *   lgkmcnt  shared memory, done in their order; scalar loads, done in any order, which count twice
 *            if they load more than a word; ds_swizzle and s_memtime are of these two.
 *   expcnt   stores of lanes to memory: when their data have been read, the registers may be
 *            written again.
 */
#ifndef IR_WAITS_H
#define IR_WAITS_H

#include "ir/inst.h"

enum wait_counter {
    WAIT_NONE,
    WAIT_VECTOR, /* vmcnt */
    WAIT_OTHERS, /* lgkmcnt */
    WAIT_DATA,   /* expcnt: beside WAIT_VECTOR */
    WAIT_COUNTERS
};

/* What the counters can hold: an access that would not fit waits. */
enum {
    WAIT_VECTOR_MOST = 15,
    WAIT_OTHERS_MOST = 31,
    WAIT_DATA_MOST = 7
};

struct wait_class {
    u8 counter;   /* enum wait_counter */
    u8 amount;    /* by which it counts */
    bool data;    /* it counts as WAIT_DATA, too, for its source WAIT_DATA_SOURCE */
    bool ordered; /* it is done after those of its counter before it that are ordered */
};
enum {
    WAIT_DATA_SOURCE = 3 /* of accesses through a descriptor (ops.def) */
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

/* What a wait instruction lets be left, by counter. */
static inline u32 wait_left(const struct inst *inst, enum wait_counter counter)
{
    const u32 imm = (u32)inst->imm;
    return counter == WAIT_VECTOR ? imm & 15 : counter == WAIT_DATA ? imm >> 4 & 7 : imm >> 8 & 31;
}

#endif
