/*
 * Idempotent regions: where code must be cut so that what has run since the last cut can run again and
 * leave the same result, however far it has come.
 *
 * A region is what runs between two cuts. It can run again if it overwrites nothing that it has read
 * before it wrote it: no register, and no memory.
 *
 *  I1  An instruction that overwrites what an earlier one of its region has read begins a region.
 *  I2  One that overwrites what it reads itself, or that acts on more than registers and memory of
 *      its own (atomics, barriers, calls, ends, system calls), is a region of its own. It can run again as
 *      long as it has not been committed.
 *  I3  A region ends when all its instructions are known to be right: results after a cut are not
 *      committed before. Otherwise I1 does not hold for instructions that finish out of order.
 *  I4  A load may read what any lane stores to the same memory; global, shared and local memory are
 *      apart, generic addresses may be any of them. Constants and parameters are never stored to.
 *  I5  A write under a guard, of one lane, or to a register that is indexed at run time may leave the
 *      old value: what is read afterwards counts as read before. With explicit EXEC, vector
 *      instructions read EXEC, so that it is the same for all of a region that has some, and what a
 *      region has not written in inactive lanes it does not write there later; what reads other
 *      lanes may read one that was not written.
 *  I6  Other warps change nothing meanwhile that a region reads: threads communicate across barriers
 *      and atomics only, which are regions of their own.
 *  I7  Without explicit EXEC, lanes of a warp run one after the other where they have parted. The
 *      regions of some may end while others are within one, and going back would begin in the middle
 *      of it, where something may be read that was written before. So each basic block begins a
 *      region, and votes and shuffles, at which lanes may wait for others, are regions of their own.
 *
 * A cut before an instruction is one for every way that leads there. After M. de Kruijf and
 * K. Sankaralingam, "Idempotent code generation", CGO 2013, and iGPU (J. Menon, M. de Kruijf,
 * K. Sankaralingam, ISCA 2012), whose compilers rename registers to have fewer cuts; here the code is
 * as it is.
 */
#ifndef ANALYSIS_REGIONS_H
#define ANALYSIS_REGIONS_H

#include "analysis/cfg.h"

enum region_cut {
    REGION_NONE,
    REGION_ENTRY,    /* of the function, or where code goes on that is not known */
    REGION_PATH,     /* of a basic block, where lanes may part or meet (I7) */
    REGION_REGISTER, /* it overwrites a register that its region has read */
    REGION_MEMORY,   /* it may overwrite memory that its region has read */
    REGION_ALONE,    /* it is a region of its own (I2), */
    REGION_AFTER,    /* or follows one */
    REGION_CUTS
};

struct regions {
    u8 *cut;                 /* by instruction: enum region_cut; REGION_NONE: no cut before it */
    bool *alone;             /* by instruction: a region of its own */
    u32 counts[REGION_CUTS]; /* instructions by cut */
};

struct regions *regions_compute(struct arena *arena, const struct code *code, const struct cfg *cfg,
                                bool open);
/* Regions of a function of a finished program; indices are relative to it. */
struct regions *regions_of(struct arena *arena, const struct program *program,
                           const struct function *function);

const char *region_cut_name(enum region_cut cut);

/* program_listing() with the cuts (listing.c). */
char *regions_listing(const struct program *program, const char *kernel);

#endif
