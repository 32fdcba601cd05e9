/*
 * Which registers hold a value that may still be read, in code with explicit EXEC.
 *
 * A vector write changes only the lanes in EXEC; the other lanes keep the old value, which may be
 * read when EXEC has grown again. So a vector register is live at a point in two ways: in the lanes
 * active there (`active`), and in the inactive lanes (`others`). Backward over an instruction:
 *
 *  N1  A read makes its register live in the active lanes. Cross-lane reads (readlane,
 *      readfirstlane, swizzle) make it live in both.
 *  N2  A write ends liveness in the active lanes, unless it writes a single lane or a register
 *      indexed at run time.
 *  N3  Where EXEC changes, a register that is live in either way after the change was live in
 *      either way before it. If EXEC can only lose lanes (EXEC and something), lanes inactive
 *      before are inactive after; if it can only gain lanes (EXEC or something), lanes active
 *      before are still active: see turn().
 *  N4  Where EXEC is the warp's initial one and never exceeds it (exec_flow.h), no instruction
 *      reads the inactive lanes, except of registers that N1's cross-lane instructions read.
 *  N5  Code after an indirect jump, or a join, may read everything.
 *
 * A register is dead where it is live in neither way: no continuation reads its value, in any lane.
 * Scalars are written as a whole, and masks are scalars. EXEC, which every vector instruction
 * reads, MODE and derived scalars have no liveness here.
 */
#ifndef ANALYSIS_LANE_LIVENESS_H
#define ANALYSIS_LANE_LIVENESS_H

#include "analysis/exec_flow.h"
#include "ir/scalars.h"

enum {
    LANE_VECTORS = 256, /* maximum number of vector registers */
    LANE_VECTOR_WORDS = LANE_VECTORS / 64,
    LANE_SCALAR_WORDS = (SCALAR_COUNT + 63) / 64
};

/* How an instruction changes EXEC (N3). */
enum exec_change {
    CHANGE_NONE,
    CHANGE_LOSES, /* the new EXEC is a subset of the old */
    CHANGE_WINS,  /* the new EXEC is a superset of the old */
    CHANGE_ANY
};
enum exec_change exec_change_of(const struct inst *inst);

struct lane_live {
    u64 active[LANE_VECTOR_WORDS], others[LANE_VECTOR_WORDS];
    u64 scalars[LANE_SCALAR_WORDS];
};

struct lane_liveness {
    struct lane_live *in, *out; /* by block */
    const struct code *code;
    const struct exec_flow *flow;   /* NULL: N4 does not hold */
    u64 crossed[LANE_VECTOR_WORDS]; /* registers that cross-lane instructions read (N4) */
};

struct lane_liveness *lane_liveness_compute(struct arena *arena, const struct code *code,
                                            const struct cfg *cfg, const struct exec_flow *flow);

/* Updates `live` from after an instruction to before it. */
void lane_live_step(const struct lane_liveness *liveness, u32 inst, struct lane_live *live);

static inline bool lane_live_vector(const struct lane_live *live, u32 index)
{
    return (live->active[index / 64] | live->others[index / 64]) >> (index % 64) & 1;
}
static inline bool lane_live_scalar(const struct lane_live *live, u32 index)
{
    return live->scalars[index / 64] >> (index % 64) & 1;
}
/* The number of live vector registers. */
static inline u32 lane_live_vectors(const struct lane_live *live)
{
    u32 count = 0;
    for (u32 w = 0; w < LANE_VECTOR_WORDS; w++)
        count += (u32)__builtin_popcountll(live->active[w] | live->others[w]);
    return count;
}

#endif
