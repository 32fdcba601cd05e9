/*
 * An image: a program made ready to run on one device.
 *
 * For each instruction there is a step: the lane function and where its operands lie, as a base
 * (vector registers, masks, constants) and a byte offset, so that the interpreter adds two numbers
 * an operand. Constants are rows of one word a lane.
 *
 * Invariants
 *  S1  steps[i] belongs to program->insts[i].
 *  S2  An absent operand has base BASE_NONE (a null pointer) and offset 0.
 */
#ifndef EXEC_IMAGE_H
#define EXEC_IMAGE_H

#include "exec/lanes.h"
#include "exec/memory.h"
#include "ir/program.h"

enum base {
    BASE_NONE,
    BASE_VECTOR,
    BASE_MASK,
    BASE_CONST,
    BASE_COUNT
};

/* What the interpreter does with a step. */
enum shape {
    SHAPE_LANE_1, /* a lane function with one source and one destination, and so on */
    SHAPE_LANE_2,
    SHAPE_LANE_3,
    SHAPE_LANE_ALL,    /* a lane function with more operands */
    SHAPE_SHARED_LOAD, /* one 32-bit word from shared memory */
    SHAPE_OTHER,       /* 32 lanes at a time, anything else */
    SHAPE_WHOLE,       /* the whole warp at once; it may have to wait */
    SHAPE_GUARDED = 8, /* a flag: some lanes may sit out */
};

enum {
    SLOT_DST = 4,
    SLOTS = 6
}; /* slots 0 to 3 are the sources */

struct step {
    lane_fn *fn;
    u32 offset[SLOTS]; /* bytes from the base */
    u8 base[SLOTS];    /* enum base */
    u8 shape;
    u8 spare;
    u32 guard_offset;              /* bytes from the masks' base */
    u32 guard_flip;                /* all ones when the guard is complemented */
    const struct allocation *hint; /* the allocation this access touched last */
    u64 hint_generation;           /* memory_generation when it did */
};
_Static_assert(sizeof(struct step) == 64, "a step is a cache line");

/* What the interpreter needs of a basic block. */
struct stretch {
    u32 first, end;
    u32 straight_end; /* without the branch at its end */
    u32 reconverge;
    enum {
        STRETCH_FALLS,    /* it ends without a branch */
        STRETCH_BRANCHES, /* in a plain branch, guarded or not, */
        STRETCH_OTHER,    /* in another instruction that changes the PC */
    } kind;
    u32 target; /* of the plain branch */
};

struct image {
    const struct program *program;
    struct stretch *stretches; /* by basic block */
    struct step *steps;
    u32 *constants;   /* rows of warp_size words */
    u64 code_address; /* of instruction 0 */
    u32 warp_size;
    u32 chunks; /* warp_size / 32 */
    const struct lanes_memory *moves;
    u64 *variable_addresses; /* by variable; 0 for an extern one */
};

static inline bool step_is_guarded(const struct step *step)
{
    return step->shape & SHAPE_GUARDED;
}

/* `constants` are the program's with fixups applied. The program outlives the image. */
struct image *image_create(const struct program *program, const u32 *constants, u64 code_address,
                           u32 warp_size, enum simd simd);
void image_destroy(struct image *image);

static inline u64 image_pc(const struct image *image, u32 inst)
{
    return image->code_address + (u64)inst * image->program->traits.inst_bytes;
}

#endif
