/*
 * One instruction of one warp on its way, and the values it carries.
 *
 * The functional interpreter commits every instruction at once. A cycle-level machine cannot: it
 * reads the operands when the instruction issues, moves memory when the load/store unit comes to
 * it, and writes the registers at write-back. A dynamic instruction is the record in between:
 *
 *     dyninst_issue     lanes and operands are read, control flow takes effect, lane addresses are
 *                      made; the warp stands at its next instruction
 *     dyninst_compute   results of anything but a memory access, into the record
 *     dyninst_access    the memory access happens; what it loads goes into the record
 *     dyninst_commit    the record's results become the registers'
 *
 * Invariants
 *  F1  Between dyninst_issue and dyninst_commit nothing of a dynamic instruction reads or writes
 *      the registers of its warps. Copies of a dynamic instruction (dyninst_issue again with the
 *      same lanes, before the commit) see the same operands.
 *  F2  A dynamic instruction that is dropped instead of committed leaves registers as they were.
 *  F3  Exceptions to F1, which take effect at issue: control flow (the path tree, EXEC stack ops),
 *      block barriers, system calls, and lanes of *other* paths that a .sync op frees.
 *  F4  A dynamic instruction with homes reads each lane from, and writes it to, the warp the lane
 *      names: same instruction, same lane number. Only ops with OPF_LANE and no mask or scalar
 *      results, and memory accesses, may have homes.
 *  F5  Global stores go to the core's memory_view when it has one, so that other cores see them
 *      when memory_view_publish says so; its own loads see them at once.
 *  F6  What dyninst_issue and dyninst_issue_homes read of registers comes through the warp's
 *      register view when it has one (warp.h); dyninst_start is for warps without.
 *
 * What the issuer owes
 *  - Dependences: an instruction issues when all that it reads and writes (inst_reads, inst_writes)
 *    has been committed, and nothing issues behind a dynamic instruction whose plan says that it
 *    changes EXEC or MODE before its commit. A register may be written while a dynamic instruction
 *    that has read it is in flight.
 *  - A system call reads and writes memory when it issues: accesses of its warp come before it, and
 *    the core's stores are published. A barrier orders accesses: those before it come first.
 *  - Accesses of a warp act in order. Global atomics act on memory as it is: the core's own stores
 *    before them have been published. dyninst_access checks all lanes of an atomic and moves those
 *    that do not go to global memory; dyninst_atomic moves the others.
 *  - Counting: exec.by_dyninst is set; each issue counts once, for count_lanes(lanes) threads, by
 *    account_issued or account_inst. exec.instructions is the issuer's, too.
 *  - Rows and records belong to the issuer. A record that is moved takes pointers into itself along
 *    (src of masks, dst of masks and scalars).
 */
#ifndef EXEC_DYNINST_H
#define EXEC_DYNINST_H

#include "exec/warp.h"

enum dyninst_kind {
    DYNINST_COMPUTE, /* dyninst_compute, then dyninst_commit */
    DYNINST_ACCESS,  /* dyninst_access (or dyninst_atomic for its lanes), then dyninst_commit */
    DYNINST_CONTROL, /* all done at issue; nothing to commit (a call or jump may have a result) */
    DYNINST_WAITS, /* a barrier or a wait for other lanes: done at issue, the path may be parked */
};

enum {
    DYNINST_SCALARS = 32, /* words of scalar and mask results */
    DYNINST_GROUPS = MAX_LANES / STRIDE_LANES
};

/* In the order of use: what every instruction touches fills the first 128 bytes, what strided
 * accesses touch the next 128. */
struct dyninst {
    struct warp *warp;         /* the home of all lanes, unless `homes` is set */
    struct warp *const *homes; /* NULL, or one for each lane (F4) */
    const struct inst *code;   /* the instruction under the warp's MODE */
    struct step *step;         /* the image's; an access without a view keeps its hint there */
    const struct dyninst_plan *plan;
    u32 inst;        /* its number in the program */
    u8 kind;         /* enum dyninst_kind */
    bool faulted;    /* the launch has stopped because of it */
    u8 work;         /* what is left to do: dyninst.c */
    bool strided;    /* of an access: see `first` */
    lane_set lanes;  /* active lanes whose guard is true: what is counted */
    lane_set writes; /* lanes of rows that are committed: `lanes`, the one that is named, or what a
                      * mechanism says */
    lane_set active; /* active lanes */
    u32 *rows;       /* dyninst_row_words() words, given by the caller, 64-byte aligned */
    u32 *dst[2];     /* rows of warp_size words for the results. NULL: absent */
    u32 to[2];       /* the first register of each result: M0 may have moved it */
    u8 src_rows[4], dst_rows[2]; /* 0: not rows but masks or scalars, or a constant's row */
    /* accesses only */
    bool loads, stores;
    lane_set shared, global, local, constant; /* where its lanes go; disjoint. Lanes of `lanes` in
                                               * none are out of range where that is no fault */
    u32 bytes;                                /* that a lane moves, in one piece from its address */
    bool atomic;
    bool scalar; /* one access of the warp, whatever lanes run: lane 0 of `global` and `address` */
    bool pair;   /* `second` counts: bytes are of each */
    /* strided: these give all addresses, and dyninst_addresses those by lane: */
    i32 stride[DYNINST_GROUPS];
    u64 first[DYNINST_GROUPS]; /* lane i of a group of STRIDE_LANES is at first + i * stride */
    /* any instruction again */
    u32 *src[4];                  /* rows of the sources. NULL: absent */
    u32 masks[4][MAX_CHUNKS];     /* sources that are masks */
    u32 scalars[DYNINST_SCALARS]; /* mask and scalar results, in the order of inst_writes */
    /* accesses that are not strided */
    struct step own;        /* the access as a step whose operands are the record's */
    u64 address[MAX_LANES]; /* in the space the lane goes to; global ones are device addresses */
    u64 second[MAX_LANES];  /* of the other element, for two-element accesses: dyninst_second */
};

/* Words of rows that any instruction of the program needs at most. */
static inline u32 dyninst_row_words(const struct image *image)
{
    return image->dyninst_words;
}

/* Whether warp_settle would find the current path as it should be. */
static inline bool warp_is_settled(const struct warp *warp)
{
    if (warp->state != WARP_READY || warp->current == NO_PATH || warp->yield || !warp->view)
        return false;
    const struct path *path = &warp->paths[warp->current];
    return path->pc != path->rpc && !warp->exec->stopped;
}
/*
 * The instruction a warp would issue next, or NO_INST: it waits (warp->state), has ended, or the
 * launch has stopped. Settles merges of paths and picks the path.
 */
u32 warp_next_settled(struct warp *warp); /* of one that is not settled */
static inline u32 warp_next(struct warp *warp)
{
    return LIKELY(warp_is_settled(warp)) ? warp_path(warp)->pc : warp_next_settled(warp);
}

/* f->rows is set, all else is filled. Registers are read through warp->registers. */
void dyninst_issue(struct dyninst *f, struct warp *warp, u32 inst);
/* The same for lanes of several warps that all stand at `inst` under full masks: lane i is of
 * homes[i]. Advances none of them: dyninst_advance does. */
void dyninst_issue_homes(struct dyninst *f, struct warp *const *homes, u32 inst);
/* dyninst_issue for launches without mechanisms: operands are not in the record (`src` does not
 * count), and what a lane function computes is computed at once. Not to be copied. */
void dyninst_start(struct dyninst *f, struct warp *warp, u32 inst);
void dyninst_advance(struct warp *warp, u32 inst);
/* The same instruction with the same operands; to->rows is set. `from` has not been computed yet.
 * Copies compute only: that of an access has its addresses and moves nothing. They are not to be
 * committed. */
void dyninst_copy(struct dyninst *to, const struct dyninst *from, u32 row_words);
/* Whether a copy has come to the same results, or, of an access, has the same addresses. */
bool dyninst_same(const struct dyninst *f, const struct dyninst *copy);
void dyninst_compute(struct dyninst *f);
/* Whether there is anything left for dyninst_compute, or dyninst_access. */
static inline bool dyninst_is_unfinished(const struct dyninst *f)
{
    return f->work != 0; /* WORK_NONE of dyninst_parts.h */
}
/* Its results are in the record, put there by a mechanism: nothing is left to compute. */
void dyninst_skip(struct dyninst *f);
/* A dynamic instruction that writes the value of a register, as a warp's view has it, to all lanes
 * of its row. It goes under the number of another instruction; `code`, whose first result the
 * register is, stays until it retires. The warp does not move. */
void dyninst_rewrite(struct dyninst *f, struct warp *warp, u32 inst, const struct inst *code);
/* False: it has faulted and nothing has moved. */
struct memory_view;
bool dyninst_access(struct dyninst *f, struct memory_view *view);
/* A load that has acted: its lanes in global memory, or a scalar load, take their values once more,
 * as this view has them. */
void dyninst_load_again(struct dyninst *f, struct memory_view *view);
/* Lanes of a global atomic, when memory serves them; directly on memory. */
bool dyninst_atomic(struct dyninst *f, lane_set lanes);
void dyninst_commit(struct dyninst *f);
/* Lane addresses of an access. */
const u64 *dyninst_addresses(struct dyninst *f);
/* The same of the second element of a pair. */
const u64 *dyninst_second(struct dyninst *f);

/*
 * What one core has stored in the current window of time and others do not see yet. Loads of the
 * core look here. Overlapping stores are kept in order.
 */
struct memory_view *memory_view_create(void);
void memory_view_destroy(struct memory_view *view);
/* Stores become visible to all; the log is empty afterwards. */
void memory_view_publish(struct memory_view *view);
/* Stores are forgotten. */
void memory_view_clear(struct memory_view *view);
bool memory_view_empty(const struct memory_view *view);

#endif
