/*
 * One warp of 64 lanes with registers, shared memory and a buffer, to try single memory
 * instructions on: by the step functions, or by the inner loop with its short ways.
 */
#ifndef TESTS_EXEC_RIG_H
#define TESTS_EXEC_RIG_H

#include "exec/scalars.h"

enum {
    RIG_REGISTERS = 32,
    RIG_BYTES = 16384, /* of the buffer */
    RIG_SHARED = 1024
};

struct rig {
    struct program program;
    struct function function;
    struct block blocks[1];
    u32 block_of[2];
    struct inst insts[2];
    u32 constants[16];
    struct location location;
    struct launch_params limits;
    struct image *image;
    struct memory *memory;
    struct exec exec;
    struct thread_block *block;
    struct warp *warp;
    struct step *step; /* of the instruction */
    bool inner;        /* run it as the inner loop does, by its short way if it has one */
    u64 address;       /* of the buffer */
    u8 *bytes;         /* its host memory */
};

/* The buffer, then all else, ready to run one instruction; registers and memories hold zeros. */
void rig_open(struct rig *rig);
void rig_start(struct rig *rig, struct inst inst, bool window_faults, enum simd simd);
void rig_end(struct rig *rig);
u32 *rig_vector(struct rig *rig, u32 reg, u32 lane);
u32 *rig_scalar(struct rig *rig, u32 scalar);
/* False: it faulted; rig->exec.fault says how. */
bool rig_run(struct rig *rig, u64 lanes);
void rig_fill(struct rig *rig, u64 *state); /* registers and memories, at random */

u64 rig_random(u64 *state);

#define V(i, n) operand_make(OPERAND_VECTOR, (i), (n))
#define S(i, n) operand_make(OPERAND_SCALAR, (i), (n))

#endif
