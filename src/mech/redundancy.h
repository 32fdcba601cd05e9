/* What the files of the mechanism redundancy share: see redundancy.c. */
#ifndef MECH_REDUNDANCY_H
#define MECH_REDUNDANCY_H

#include "core/mechanism.h"
#include "exec/values.h"

#define COMPONENT redundancy
#define COMPONENT_DEF "mech/redundancy.def"
#include "base/component_struct.h"

/*
 * Cells of one size by number, from 1 on: 0 is none. Their memory is reserved when they are made
 * and taken from the system when it is first written, so that nothing is allocated meanwhile. The
 * first word of a cell that is free links it to others.
 */
struct cells {
    u8 *base;
    size_t bytes;   /* reserved */
    u32 size, most; /* bytes of a cell; how many */
    u32 used, free; /* taken so far at least once; the first that was given back */
};
void cells_create(struct cells *cells, u32 size, u32 most);
void cells_destroy(struct cells *cells);
/* All are free. */
void cells_reset(struct cells *cells);
/* 0: there is none left. Its bytes are not set. */
u32 cells_take(struct cells *cells);
void cells_give(struct cells *cells, u32 cell);
static inline void *cells_at(const struct cells *cells, u32 cell)
{
    return cells->base + (size_t)cell * cells->size;
}

/* What can be said of an instruction before it runs. */
enum redundancy_kind {
    KIND_PLAIN,
    KIND_LOAD,
    KIND_STORE,
    KIND_BRANCH,
    KIND_SPECIAL, /* a special register, by its value */
    KIND_EFFECT,  /* each warp has to execute it */
    KIND_SYSTEM,  /* a call of the system: not counted */
};

/*
 * An instance: the n-th execution of an instruction by the warps of a block. Instances of an
 * instruction form a list in the order of n.
 *
 *  R1  Warps come to the instances of an instruction in order, so when all have come to one, all
 *      have come to those before it: of these, none is kept.
 */
struct instance {
    u32 next;
    u16 arrived; /* warps */
    u8 class;    /* enum values, of the first that came */
    bool same;   /* all that came had all lanes on and the same operands */
    u64 hash;    /* of the first one's */
};

/* The same of all blocks of the grid that have ended with it, by core. */
struct grid_instance {
    u32 next;
    u32 blocks;
    u64 hash;
    u64 same; /* a flag */
};

/* Of an instruction, in a block. */
struct instances {
    u32 first, last;
    u32 grid; /* of the grid: the last that this block has come to */
    u32 cut;  /* a flag: there was no room for one more, the list does not go on */
};

/* A warp, for the check: redundancy_check.c. */
struct check_warp {
    u32 node;      /* where it is; 0: it has left */
    u32 hint;      /* the result it has last looked at there */
    u32 epoch;     /* barriers of the whole block that it has passed */
    bool branched; /* its last instruction was a branch */
    bool ended;    /* it does not come again */
};

struct redundancy_block {
    struct redundancy_block *next; /* of those that are free */
    struct instances *lists;       /* by instruction */
    u32 *at;                       /* by warp and instruction: the last instance it came to, or 0 */
    struct check_warp *warps;
    u32 roots; /* of paths: a list */
};

/* An instruction that has come to its operands and whose results are yet to come, for the check. */
struct check_inflight {
    u32 node; /* 0: it is not checked */
    u32 hint;
};

enum {
    LIES_TOLD = 4 /* that are explained */
};

struct check_lie {
    u64 block;
    u32 inst, warps[2], values[2]; /* the one that came first, and the other */
    u16 row;                       /* which operand or result */
    u8 at;                         /* the word of it: a lane's, or a scalar */
};

struct redundancy_core {
    MECHANISM_STATE(redundancy);
    const struct exec *exec;
    lane_set all;
    u32 warp_size, width;             /* of values.h */
    u32 full;                         /* warps of a block that have all lanes */
    u32 first, count;                 /* instructions that are looked at */
    u8 *kinds;                        /* enum redundancy_kind, by instruction from the first on */
    struct redundancy_block **blocks; /* by slot */
    u32 block_count;
    struct redundancy_block *free_blocks;
    struct cells instances, grid;
    u32 *grid_first, *grid_last; /* by instruction */
    u8 *grid_cut;
    u32 scratch[16 * MAX_LANES]; /* operands that are not in their rows */
    /* the check */
    u8 *marked; /* by instruction from the first on; NULL: nothing is checked */
    struct cells nodes, results;
    struct check_inflight *inflight; /* by inflight of the core; without time there is one */
    u32 lie_count;
    struct check_lie lies[LIES_TOLD];
};

static inline struct redundancy_block *block_of(const struct redundancy_core *r,
                                                const struct warp *warp)
{
    const u32 slot = warp->block->slot;
    return slot < r->block_count ? r->blocks[slot] : NULL;
}

/* redundancy_operands.c */
/* A number that says which vectors an instruction reads, before it has written anything. */
u64 operands_hash(struct redundancy_core *r, struct warp *warp, u32 inst,
                  enum redundancy_kind kind);
enum values operands_class(struct redundancy_core *r, struct warp *warp, u32 inst,
                           enum redundancy_kind kind);
/* Whether they are uniform. */
bool operands_uniform(struct redundancy_core *r, struct warp *warp, u32 inst,
                      enum redundancy_kind kind);
/* All lanes of a register, wherever its value is. */
const u32 *operand_rows(struct redundancy_core *r, const struct warp *warp, struct operand o);

/* redundancy_check.c; all but the first and the last only while `marked` is not NULL. */
void check_launch(struct redundancy_core *r, bool begins);
void check_block(struct redundancy_core *r, struct redundancy_block *b, bool started);
/* A warp comes to an instruction, of which these lanes run, out of those that are active. */
void check_before(struct redundancy_core *r, struct redundancy_block *b, struct warp *warp,
                  u32 inst, lane_set active, lane_set lanes, struct check_inflight *inflight);
/* Its results are in the record, or without one in the warp's registers. */
void check_after(struct redundancy_core *r, struct redundancy_block *b, struct warp *warp, u32 inst,
                 const struct dyninst *f, struct check_inflight *inflight);
/* Tells what was found. */
void check_gather(struct redundancy_core *const *states, u32 count, struct exec *exec);
void check_destroy(struct redundancy_core *r);

#endif
