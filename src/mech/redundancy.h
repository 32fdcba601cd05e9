/* What the files of the mechanism redundancy share: see redundancy.c. */
#ifndef MECH_REDUNDANCY_H
#define MECH_REDUNDANCY_H

#include "core/mechanism.h"
#include "exec/values.h"

#define COMPONENT redundancy
#define COMPONENT_DEF "mech/redundancy.def"
#include "base/component_struct.h"

/*
 * A pool of cells of one size, numbered from 1; 0 is none. Its memory is reserved at creation and
 * committed by the system on first write, so nothing is allocated during a run. The first word of a
 * free cell is the number of the next free one.
 */
struct cells {
    u8 *base;
    size_t bytes;   /* reserved */
    u32 size, most; /* bytes of a cell; number of cells */
    u32 used, free; /* cells ever taken; the first free cell among them, or 0 */
};
void cells_create(struct cells *cells, u32 size, u32 most);
void cells_destroy(struct cells *cells);
/* Frees all cells. */
void cells_reset(struct cells *cells);
/* Takes an uninitialised cell; 0: none is left. */
u32 cells_take(struct cells *cells);
void cells_give(struct cells *cells, u32 cell);
static inline void *cells_at(const struct cells *cells, u32 cell)
{
    return cells->base + (size_t)cell * cells->size;
}

/* Static kind of an instruction. */
enum redundancy_kind {
    KIND_PLAIN,
    KIND_LOAD,
    KIND_STORE,
    KIND_BRANCH,
    KIND_SPECIAL, /* a read of a special register: compared by its value */
    KIND_EFFECT,  /* each warp must execute it */
    KIND_SYSTEM,  /* a system call: not counted */
};

/*
 * An instance: the n-th execution of an instruction by the warps of a block. Instances of an
 * instruction form a list in the order of n.
 *
 *  R1  Warps execute the instances of an instruction in order. When all warps have executed one,
 *      all have executed the earlier ones, which are freed.
 */
struct instance {
    u32 next;
    u16 arrived; /* warps that have executed it */
    u8 class;    /* enum values, of the first warp's operands */
    bool same;   /* all warps so far had all lanes active and the same operands */
    u64 hash;    /* of the first warp's operands */
};

/* An instance merged over all blocks that a core has finished. */
struct grid_instance {
    u32 next;
    u32 blocks;
    u64 hash;
    u64 same; /* boolean */
};

/* The instances of an instruction in a block. */
struct instances {
    u32 first, last;
    u32 grid; /* the last grid instance that this block was merged into */
    u32 cut;  /* boolean: out of room, the list is not continued */
};

/* A warp in the check: redundancy_check.c. */
struct check_warp {
    u32 node;      /* its node of the tree; 0: it has left the tree */
    u32 hint;      /* the last result compared at that node */
    u32 epoch;     /* barriers of the whole block passed */
    bool branched; /* its last instruction was a branch */
    bool ended;    /* no longer checked */
};

struct redundancy_block {
    struct redundancy_block *next; /* next free block */
    struct instances *lists;       /* by instruction */
    u32 *at;                       /* by warp and instruction: its last instance, or 0 */
    struct check_warp *warps;
    u32 roots; /* roots of the tree: a list */
};

/* An instruction in the check, between its operands and its results. */
struct check_inflight {
    u32 node; /* 0: not checked */
    u32 hint;
};

enum {
    LIES_TOLD = 4 /* wrong marks that are reported per core */
};

struct check_lie {
    u64 block;
    u32 inst, warps[2], values[2]; /* of the first warp, and of the one that differs */
    u16 row;                       /* which operand or result */
    u8 at;                         /* lane, or index of the scalar */
};

struct redundancy_core {
    MECHANISM_STATE(redundancy);
    const struct exec *exec;
    lane_set all;
    u32 warp_size, width;             /* width: see exec/values.h */
    u32 full;                         /* full warps of a block */
    u32 first, count;                 /* range of instructions examined */
    u8 *kinds;                        /* enum redundancy_kind, by instruction from `first` */
    struct redundancy_block **blocks; /* by slot */
    u32 block_count;
    struct redundancy_block *free_blocks;
    struct cells instances, grid;
    u32 *grid_first, *grid_last; /* by instruction */
    u8 *grid_cut;
    u32 scratch[16 * MAX_LANES]; /* operands gathered from elsewhere */
    /* the check */
    u8 *marked; /* by instruction from `first`; NULL: no check */
    struct cells nodes, results;
    struct check_inflight *inflight; /* by inflight; in functional mode only the first is used */
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
/* A hash of the vectors that an instruction reads, before it has written anything. */
u64 operands_hash(struct redundancy_core *r, struct warp *warp, u32 inst,
                  enum redundancy_kind kind);
enum values operands_class(struct redundancy_core *r, struct warp *warp, u32 inst,
                           enum redundancy_kind kind);
/* Whether all operands are uniform. */
bool operands_uniform(struct redundancy_core *r, struct warp *warp, u32 inst,
                      enum redundancy_kind kind);
/* All lanes of a register operand, wherever its value is kept. */
const u32 *operand_rows(struct redundancy_core *r, const struct warp *warp, struct operand o);

/* redundancy_check.c; functions but the first and the last two require `marked`. */
void check_launch(struct redundancy_core *r, bool begins);
void check_block(struct redundancy_core *r, struct redundancy_block *b, bool started);
/* A warp is about to execute an instruction in `lanes`, out of `active` ones. */
void check_before(struct redundancy_core *r, struct redundancy_block *b, struct warp *warp,
                  u32 inst, lane_set active, lane_set lanes, struct check_inflight *inflight);
/* The instruction's results are in the record `f`, or, if NULL, in the warp's registers. */
void check_after(struct redundancy_core *r, struct redundancy_block *b, struct warp *warp, u32 inst,
                 const struct dyninst *f, struct check_inflight *inflight);
/* Reports wrong marks at the end of a launch. */
void check_report(struct redundancy_core *const *states, u32 count, struct exec *exec);
void check_destroy(struct redundancy_core *r);

#endif
