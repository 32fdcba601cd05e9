/*
 * Which instructions every warp of a block executes with the same vector of values.
 *
 * The class of a value says what it may depend on. All classes are of values as functions of the
 * lane: a uniform value is only a special case.
 *
 *   REDUNDANT      the same vector in all warps of a block, whatever the block's shape ("DR")
 *   REDUNDANT_X    the same if rows of threads along x fill warps evenly ("CR"): depends on tid.x
 *   REDUNDANT_XY   the same if planes of threads along x and y do ("CY"): depends on tid.y
 *   REDUNDANT_NO   nothing is known ("V")
 *
 * They are ordered: what holds for a class holds for those above it, and a result has the lowest
 * class of all values that it depends on.
 *
 *  D1  "The same" refers to full warps that have taken the same path since the block began or since
 *      its last barrier of all threads, at the same execution of the instruction. It holds even if
 *      they had taken different paths before that barrier.
 *  D2  A load is the same if its address is, as long as no store changes the value in between: a
 *      mechanism that skips loads has to watch stores, and must not treat as the same what was
 *      computed from loads that were not. Volatile loads, atomics and local memory never are.
 *  D3  A mark on an instruction says that all its results are the same. Guarded instructions, and
 *      those that do anything but write results, have no mark.
 *  D4  A missed mark is a lost opportunity, a wrong one a bug.
 */
#ifndef ANALYSIS_REDUNDANCY_H
#define ANALYSIS_REDUNDANCY_H

#include "analysis/cfg.h"

enum redundancy {
    REDUNDANT_NO,
    REDUNDANT_XY,
    REDUNDANT_X,
    REDUNDANT,
};

/* The mark (enum redundancy) of each instruction of the program, as part of this kernel: those of
 * other functions are REDUNDANT_NO. Allocated in `arena`. */
u8 *redundancy_marks(struct arena *arena, const struct program *program,
                     const struct function *kernel);

/* Whether a mark holds in blocks of this shape. */
bool redundancy_holds(enum redundancy mark, const u32 block[3], u32 warp_size);

/* "DR", "CR", "CY", "V". */
const char *redundancy_name(enum redundancy mark);

#endif
