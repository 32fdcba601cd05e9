/*
 * An image: a program prepared to run on one device.
 *
 * For each instruction there is a step: the lane function and the locations of its operands. A
 * warp's registers and masks are rows of one word per lane that start at the warp's base; constants
 * are such rows as well, at addresses of their own. An operand is at (base & select) + row, so that
 * the interpreter locates all six with a few vector operations.
 *
 * Invariants
 *  S1  steps[i] belongs to program->insts[i].
 *  S2  An absent operand has row 0 and select 0: a null pointer.
 *  S3  Mask rows come first, then rows for the engine's own use (enum own_row), then registers.
 *      Mask m of a warp is word m % 32 of row m / 32; chunk 1 of a 64-wide warp is 32 words further
 *      in every row, of masks as of registers. So scalars 2m and 2m + 1 are mask m.
 *  S4  Within a stretch, the active lanes and MODE of a warp do not change: an instruction that may
 *      change one of them is the last of its stretch.
 */
#ifndef EXEC_IMAGE_H
#define EXEC_IMAGE_H

#include "exec/lanes.h"
#include "exec/memory.h"
#include "ir/program.h"

/*
 * What the interpreter does with a step. Shapes before SHAPE_OTHER have a fast path in lanes_run.c
 * for the case that all lanes are active and nothing unusual happens.
 */
enum shape {
    SHAPE_LANE,         /* a lane function */
    SHAPE_SHARED_LOAD,  /* a word from shared memory */
    SHAPE_SHARED_STORE, /* a word to it */
    SHAPE_GLOBAL_LOAD,  /* words from an allocation, at an address of the program's size */
    SHAPE_GLOBAL_STORE, /* a word to one */
    SHAPE_UNIFORM,      /* the same words for every lane: a parameter, a special register */
    SHAPE_THREAD,       /* a coordinate of the thread */
    SHAPE_MASKS,        /* a lane function with mask results: other lanes' bits become 0 */
    SHAPE_SCALAR,       /* a scalar function */
    SHAPE_BUFFER_LOAD,  /* words through a buffer descriptor */
    SHAPE_BUFFER_STORE,
    SHAPE_PAIR_LOAD, /* two elements from shared memory */
    SHAPE_PAIR_STORE,
    SHAPE_OTHER,        /* 32 lanes at a time, anything else */
    SHAPE_WHOLE,        /* the whole warp at once; it may have to wait */
    SHAPE_WORDS,        /* words in any space: local memory, vectors of shared memory, stores of */
    SHAPE_NARROWS,      /* vectors to global memory; a byte or a half-word; and an atomic of a */
    SHAPE_ATOMIC,       /* word: only the functional interpreter has fast paths for these */
    SHAPE_KIND = 31,    /* the shapes above, without the flags below */
    SHAPE_GUARDED = 32, /* flag: some lanes may be inactive */
    SHAPE_DERIVED = 64, /* flag: reads scalars that are computed when read */
};

/* Rows between masks and registers, when the program has scalars. */
enum own_row {
    ROW_SPREAD = 0,              /* scalar sources of a lane function: two rows each, 4 sources */
    ROW_LANEID = ROW_SPREAD + 8, /* 0, 1, 2 .. */
    OWN_ROWS = ROW_LANEID + 1
};

/* Words that are the same for a whole block, at chunk.uniforms; the parameters follow. */
enum uniform {
    UNIFORM_NTID,
    UNIFORM_CTAID = UNIFORM_NTID + 3,
    UNIFORM_NCTAID = UNIFORM_CTAID + 3,
    UNIFORM_PARAMS = 12, /* 16-byte aligned */
};

enum {
    SLOT_DST = 4,
    SLOTS = 6
}; /* slots 0 to 3 are the sources */

struct step {
    _Alignas(64) u64 row[SLOTS]; /* bytes from the warp's base, or an address */
    lane_fn *fn;
    u32 guard_offset; /* bytes from the warp's base */
    u8 guard_not : 1; /* 1 when the guard is complemented */
    u8 scalars : 4;   /* scalar sources (bits) to be spread to ROW_SPREAD */
    u8 shape;         /* enum shape */
    u8 words;         /* of the data of a memory or uniform shape */
    union {
        bool wide;       /* its addresses have 64 bits */
        u8 wide_scalars; /* lane functions: those of `scalars` that are pairs */
    };
    u64 select[SLOTS]; /* all ones: relative to the warp's base */
    union {
        struct {
            const struct allocation *hint; /* the allocation that this access used last */
            u64 hint_generation;           /* memory_generation at that time */
        };
        u32 uniform; /* SHAPE_UNIFORM: bytes from chunk.uniforms; SHAPE_THREAD: which coordinate */
        u16 scalar_at[4]; /* lane functions: bytes from the warp's base, for `scalars` */
    };
};
_Static_assert(sizeof(struct step) == 128, "a step is two cache lines");

/*
 * A basic block, or the part of one after an instruction as in S4: what the interpreter needs, and
 * how often it was entered in this launch. Stretches are in address order.
 */
struct stretch {
    struct step *steps, *last; /* its first step, and the branch at its end or one past it */
    const struct inst *insts;  /* of steps[0] */
    struct stretch *taken;     /* the target of the plain branch */
    u64 warps, threads;        /* entries by paths, by lanes */
    u32 length;                /* instructions */
    u32 first, straight_end;   /* the instructions of `steps` and `last` */
    u32 target;                /* of the plain branch */
    u32 reconverge;
    enum {
        STRETCH_BRANCHES, /* it ends in a plain branch with a guard, */
        STRETCH_JUMPS,    /* without one, */
        STRETCH_FALLS,    /* in no branch, */
        STRETCH_TESTS,    /* in a branch of the whole warp that tests a scalar, */
        STRETCH_OTHER,    /* in another instruction that changes the PC */
    } kind;
    bool changes_exec, changes_mode; /* its last instruction does (S4) */
};

/* What a dynamic instruction (dyninst.h) needs to know of an instruction at issue. */
enum plan_kind {
    PLAN_LANES,   /* a lane function */
    PLAN_SCALAR,  /* a scalar function */
    PLAN_ACCESS,  /* memory */
    PLAN_CONTROL, /* a branch */
    PLAN_WHOLE,   /* the whole warp at once; it may have to wait */
    PLAN_OTHER,
};
struct dyninst_plan {
    u8 kind;
    bool changes_exec : 1, changes_mode : 1;
    bool plain : 1;              /* its only results are one operand's vector registers */
    bool folds : 1;              /* an access whose lanes may form groups: dyninst_strided.c */
    bool folds_buffer : 1;       /* the same through a descriptor, by 64-bit addresses */
    bool folds_shared : 1;       /* the same of 64 lanes in shared memory */
    bool two;                    /* warps have two chunks */
    u8 shape;                    /* of its step, without flags */
    u8 vectors, masks, scalars;  /* sources (bits) that are these */
    u8 src_rows[4], dst_rows[2]; /* vector registers */
    u8 dst_words[2];             /* results that are masks or scalars, in dyninst.scalars */
    u8 row_count;                /* of dst_rows, times chunks */
};
enum {
    DYNINST_SCALAR_WORDS = 2 * LANES /* of a dynamic instruction's record, per scalar source */
};
_Static_assert(sizeof(struct dyninst_plan) == 16, "four plans a line");

/* The code as executed under one MODE. A program without MODE has one view. */
struct view {
    struct view *_Atomic next;
    u32 mode; /* the bits that arithmetic depends on */
    const struct inst *insts;
    struct step *steps;
    struct dyninst_plan *plans;
    struct stretch *stretches;
};

struct image {
    const struct program *program;
    const struct windows *windows; /* of its generic addresses */
    struct view *views;            /* the oldest first; threads may add one at once (image_view) */
    u32 view_count;
    u32 settled;         /* view_count at the last image_settle */
    _Atomic bool adding; /* a thread is adding one: locks view_count and the end of the list */
    struct step *steps;  /* of any view: all have the same operands */
    u32 stretch_count;
    u32 *stretch_of;       /* by instruction */
    u32 *constants;        /* rows of warp_size words */
    u32 *scalar_constants; /* sources of scalar functions, laid out like scalars (S3) */
    u64 code_address;      /* of instruction 0 */
    u32 warp_size;
    u32 chunks;              /* warp_size / 32 */
    u32 mask_rows, own_rows; /* S3 */
    u32 dyninst_words;       /* dyninst_row_words */
    enum simd simd;
    const struct lanes_memory *moves;
    const struct lanes_loops *loops;
    const struct lanes_waves *waves;
    u64 *variable_addresses; /* by variable; 0 for an extern one */
};

static inline bool step_is_guarded(const struct step *step)
{
    return step->shape & SHAPE_GUARDED;
}
static inline bool step_has(const struct step *step, unsigned slot)
{
    return step->row[slot] | step->select[slot];
}

/* atomic.c: whether atomic_words handles this atomic. */
bool atomic_is_word(const struct inst *inst);

/* `constants` are the program's with fixups applied. The program must outlive the image. */
struct image *image_create(const struct program *program, const u32 *constants, u64 code_address,
                           u32 warp_size, enum simd simd);
void image_destroy(struct image *image);
/* Replaces a spare instruction (program_reserve) of which nothing is in flight; `offset` is its PC
 * as a byte offset, and `target` the instruction that it branches to, if it branches. Threads may
 * replace different ones at once. False: it needs more values than a record has room for. */
bool image_replace(struct image *image, u32 inst, const struct redecoded *from, u64 offset,
                   u32 target);

/* The view for these bits of MODE, created if there is none; NULL: too many. May be called by
 * several threads. */
struct view *image_view(struct image *image, u32 mode);
/* Between windows, or after every call if there are no windows: all views count from now on. So the
 * limit does not depend on the order of calls within a window. */
static inline void image_settle(struct image *image)
{
    image->settled = image->view_count;
}

/* The stretch of an instruction. */
static inline const struct stretch *image_stretch(const struct image *image, u32 inst)
{
    return &image->views->stretches[image->stretch_of[inst]];
}

/* Bytes from a warp's base (S3). */
static inline u32 scalar_offset(const struct image *image, u32 scalar)
{
    u32 mask = scalar >> (image->chunks - 1), chunk = scalar & (image->chunks - 1);
    return (mask / LANES * image->warp_size + mask % LANES + LANES * chunk) * (u32)sizeof(u32);
}
static inline u32 own_row_offset(const struct image *image, u32 row)
{
    return (image->mask_rows + row) * image->warp_size * (u32)sizeof(u32);
}

static inline u64 image_pc(const struct image *image, u32 inst)
{
    return image->code_address + program_offset(image->program, inst);
}

#endif
