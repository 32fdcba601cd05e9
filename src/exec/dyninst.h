/*
 * Dynamic instructions: one instruction of one warp in execution, with its values.
 *
 * The functional interpreter commits every instruction at once. The timing model cannot: it reads
 * the operands when the instruction issues, accesses memory when the load/store unit reaches it,
 * and writes the registers at write-back. A dynamic instruction is the record in between:
 *
 *     dyninst_issue     reads lanes and operands, applies control flow and computes lane addresses;
 *                       the warp is at its next instruction afterwards
 *     dyninst_compute   results of anything but a memory access, into the record
 *     dyninst_access    performs the memory access; loaded values go into the record
 *     dyninst_commit    writes the record's results to the registers
 *
 * Invariants
 *  F1  Between dyninst_issue and dyninst_commit, a dynamic instruction neither reads nor writes the
 *      registers of its warps. Copies of it (dyninst_issue again with the same lanes, before the
 *      commit) see the same operands.
 *  F2  A dynamic instruction that is dropped instead of committed leaves registers unchanged.
 *  F3  Exceptions to F1, which take effect at issue: control flow (the path tree, EXEC stack ops),
 *      block barriers, system calls, and lanes of *other* paths that a .sync op releases.
 *  F4  A dynamic instruction with homes reads each lane from, and writes it to, that lane's home
 *      warp: same instruction, same lane number. If dyninst_issue_homes has issued it, only ops with
 *      OPF_LANE and no mask or scalar results, and memory accesses, may have homes. Instructions of
 *      re-formed warps always have them (reformed.h).
 *  F5  Global stores go to the core's memory_view if it has one, so that other cores see them after
 *      memory_view_publish; its own loads see them at once.
 *  F6  dyninst_issue and dyninst_issue_homes read registers through the warp's register view if it
 *      has one (warp.h); dyninst_start and dyninst_execute are for warps without one.
 *  F7  Exception to F1: results of dyninst_execute go directly to the registers if `committed` is
 *      set, those of loads when they access memory. Nothing can observe it if the issuer lets no
 *      instruction read or write a result's registers before dyninst_commit, and drops and inspects
 *      nothing. A committed instruction neither branches nor waits.
 *
 * Obligations of the issuer
 *  - Dependences: an instruction issues when everything that it reads and writes (inst_reads,
 *    inst_writes) has been committed, and nothing issues after a dynamic instruction whose plan
 *    says that it changes EXEC or MODE before that has been committed. A register may be written
 *    while a dynamic instruction that has read it is in flight.
 *  - A system call reads and writes memory when it issues: earlier accesses of its warp must have
 *    been performed, and the core's stores published. A barrier orders accesses: those before it
 *    come first.
 *  - Accesses of a warp are performed in order. Global atomics act on memory itself: earlier stores
 *    of the core must have been published. dyninst_access checks all lanes of an atomic and
 *    performs those that are not in global memory; dyninst_atomic performs the others.
 *  - Counting: exec.by_dyninst is set; each issue is counted once, for count_lanes(lanes) threads,
 *    by account_issued or account_inst. The issuer also counts exec.instructions.
 *  - Rows and records belong to the issuer. In a record that is moved, pointers into itself (src of
 *    masks, dst of masks and scalars) must be adjusted.
 */
#ifndef EXEC_DYNINST_H
#define EXEC_DYNINST_H

#include "exec/warp.h"

enum dyninst_kind {
    DYNINST_COMPUTE, /* dyninst_compute, then dyninst_commit */
    DYNINST_ACCESS,  /* dyninst_access (or dyninst_atomic for its lanes), then dyninst_commit */
    DYNINST_CONTROL, /* done at issue; nothing to commit (a call or jump may have a result) */
    DYNINST_WAITS,   /* a barrier or a wait for other lanes: done at issue; the path may wait */
};

enum {
    DYNINST_SCALARS = 32, /* words of scalar and mask results */
    DYNINST_GROUPS = MAX_LANES / STRIDE_LANES
};

/* In order of use: members that every instruction needs fill the first 128 bytes, those of strided
 * accesses the next 128. */
struct dyninst {
    struct warp *warp;         /* the home of all lanes, unless `homes` is set */
    struct warp *const *homes; /* NULL, or one for each lane (F4) */
    const struct inst *code;   /* the instruction under the warp's MODE */
    struct step *step;         /* the image's; an access without a view keeps its hint there */
    const struct dyninst_plan *plan;
    u32 inst;        /* its number in the program */
    u8 kind;         /* enum dyninst_kind */
    bool faulted;    /* the launch has stopped because of it */
    u8 work;         /* what is left to do: enum dyninst_work in dyninst_parts.h */
    bool committed;  /* its results go directly to the registers (F7) */
    lane_set lanes;  /* active lanes whose guard is true: these are counted */
    lane_set writes; /* lanes of rows that are committed: `lanes`, a named lane, or as a
                      * mechanism says */
    lane_set active; /* active lanes */
    u32 *rows;       /* dyninst_row_words() words, provided by the caller, 64-byte aligned */
    u32 *dst[2];     /* rows of warp_size words for the results. NULL: absent */
    u32 to[2];       /* the first register of each result: M0 may have changed it */
    u8 src_rows[4], dst_rows[2]; /* 0: not rows but masks or scalars, or a constant's row */
    /* accesses only */
    bool loads, stores;
    lane_set shared, global, local, constant; /* spaces of its lanes; disjoint. Lanes of `lanes`
                                               * in none are out of range where that is no fault */
    u32 bytes;                                /* per lane, contiguous from its address */
    bool atomic;
    bool scalar; /* one access of the warp, whatever lanes: lane 0 of `global` and `address` */
    bool pair;   /* `second` is valid: `bytes` each */
    bool strided;
    /* strided: these determine all addresses; dyninst_addresses computes them by lane */
    i32 stride[DYNINST_GROUPS];
    u64 first[DYNINST_GROUPS]; /* lane i of a group of STRIDE_LANES is at first + i * stride */
    /* any instruction */
    u32 *src[4];                  /* rows of the sources. NULL: absent */
    u32 masks[4][MAX_CHUNKS];     /* sources that are masks */
    u32 scalars[DYNINST_SCALARS]; /* mask and scalar results, in the order of inst_writes */
    /* accesses that are not strided */
    struct step own;        /* the access as a step with the record's operands */
    u64 address[MAX_LANES]; /* in the lane's space; global ones are device addresses */
    u64 second[MAX_LANES];  /* of the other element, for two-element accesses: dyninst_second */
};

/* Most words of rows that any instruction of the program needs. */
static inline u32 dyninst_row_words(const struct image *image)
{
    return image->dyninst_words;
}

/* Whether warp_settle would change nothing. */
static inline bool warp_is_settled(const struct warp *warp)
{
    if (warp->state != WARP_READY || warp->current == NO_PATH || warp->yield || !warp->view)
        return false;
    const struct path *path = &warp->paths[warp->current];
    return path->pc != path->rpc && !warp->exec->stopped;
}
/*
 * The next instruction of a warp, or NO_INST: the warp waits (warp->state), has ended, or the
 * launch has stopped. Settles merges of paths and picks the path.
 */
u32 warp_next_settled(struct warp *warp); /* for a warp that is not settled */
static inline u32 warp_next(struct warp *warp)
{
    return LIKELY(warp_is_settled(warp)) ? warp_path(warp)->pc : warp_next_settled(warp);
}
/* The same just after the issue of an instruction that neither branches nor waits: only a merge of
 * paths can intervene. */
static inline u32 warp_next_straight(struct warp *warp)
{
    const struct path *path = warp_path(warp);
    return LIKELY(path->pc != path->rpc) ? path->pc : warp_next_settled(warp);
}

/* f->rows must be set; everything else is filled. Registers are read through warp->registers. */
void dyninst_issue(struct dyninst *f, struct warp *warp, u32 inst);
/* The same for lanes of several warps that are all at `inst` under full masks: lane i belongs to
 * homes[i]. Does not advance the warps: dyninst_advance does. */
void dyninst_issue_homes(struct dyninst *f, struct warp *const *homes, u32 inst);
/* dyninst_issue for launches without mechanisms: operands are not in the record (`src` is not set),
 * and lane functions are computed at once. Must not be copied. */
void dyninst_start(struct dyninst *f, struct warp *warp, u32 inst);
void dyninst_advance(struct warp *warp, u32 inst);
/* The same instruction with the same operands; to->rows must be set. `from` must not have been
 * computed. Copies only compute: a copy of an access has its addresses and accesses nothing. Copies
 * must not be committed. */
void dyninst_copy(struct dyninst *to, const struct dyninst *from, u32 row_words);
/* Whether dyninst_again can repeat an instruction: it computes from its operands alone, special
 * registers among them. */
bool dyninst_repeats(const struct dyninst *f);
/* The instruction of another record once more, for the same lanes, with what its sources hold now;
 * f->rows must be set. Neither the warp nor its registers change. The registers that it reads must not have
 * been overwritten if the results are to be the same; it must not be committed. */
void dyninst_again(struct dyninst *f, const struct dyninst *of);
/* dyninst_issue for lanes of a warp's next instruction, which must be able to repeat, without advancing the
 * warp; it must not be committed. */
void dyninst_preview(struct dyninst *f, struct warp *warp, u32 inst, lane_set lanes);
/* Whether a copy has the same results or, for an access, the same addresses. */
bool dyninst_same(const struct dyninst *f, const struct dyninst *copy);
void dyninst_compute(struct dyninst *f);
/* Whether anything is left for dyninst_compute or dyninst_access. */
static inline bool dyninst_is_unfinished(const struct dyninst *f)
{
    return f->work != 0; /* WORK_NONE of dyninst_parts.h */
}
/* A mechanism has put its results into the record: nothing is left to compute. */
void dyninst_skip(struct dyninst *f);
/* A dynamic instruction that writes the value of a register, as the warp's view shows it, to all
 * lanes of its row. It has the number of another instruction; `code`, whose first result is the
 * register, must remain until it retires. The warp does not advance. */
void dyninst_rewrite(struct dyninst *f, struct warp *warp, u32 inst, const struct inst *code);
/* False: it has faulted, and nothing was accessed. */
struct memory_view;
bool dyninst_access(struct dyninst *f, struct memory_view *view);
/* For a load that was performed: its lanes in global memory, or a scalar load, read their values
 * again through this view. */
void dyninst_load_again(struct dyninst *f, struct memory_view *view);
/* Performs lanes of a global atomic when memory serves them; directly on memory. */
bool dyninst_atomic(struct dyninst *f, lane_set lanes);
void dyninst_commit(struct dyninst *f);
/* Copies a source of an instruction that has just issued, before anything else commits: rows of
 * warp_size words, or MAX_CHUNKS words of a mask. Returns the number of words. */
u32 dyninst_read_source(const struct dyninst *f, u32 k, u32 *to);
/* Lane addresses of an access. */
const u64 *dyninst_addresses(struct dyninst *f);
/* All texels of a lane of a texture or surface access, at most TEXTURE_TEXELS; returns how many.
 * Before the access has retired. */
u32 dyninst_texels(const struct dyninst *f, u32 lane, u64 *address);
/* The same of the second element of a pair. */
const u64 *dyninst_second(struct dyninst *f);

/*
 * What one core has stored in the current window and other cores do not see yet. Loads of the core
 * see it. Overlapping stores are kept in order.
 */
struct memory_view *memory_view_create(void);
void memory_view_destroy(struct memory_view *view);
/* Makes stores visible to all; the log is empty afterwards. */
void memory_view_publish(struct memory_view *view);
/* Drops the stores. */
void memory_view_clear(struct memory_view *view);
bool memory_view_empty(const struct memory_view *view);

#endif
