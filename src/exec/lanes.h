/*
 * Lane functions: what an instruction computes, lane by lane.
 *
 * A lane function works on 32 lanes: a 64-wide warp calls it twice. It gets only pointers, so that
 * the same code serves functional execution (pointers into the register file), timing (pointers
 * into the in-flight record) and re-formed groups (pointers into gathered copies).
 *
 * Invariants
 *  L1  src[k] points at 32 lanes of a word (constants are expanded to 32 lanes); word j of a
 *      several-word operand is at src[k] + j * stride. A mask operand points at one u32.
 *  L2  dst[k] is either equal to or disjoint from every source row: in-place is allowed,
 *      register by register. A function that writes one row before it has read another must take
 *      care of pairs itself (R4:R5 = f(R5)): read lane i of all sources, then write lane i.
 *  L3  Only lanes in `mask` are written; in a mask destination, only its bits. Vector results are
 *      computed under `lane_mask` (32 words of 0 or ~0) or, when mask is all ones, without it.
 *  L4  An absent operand's pointer is NULL.
 *  L5  Mask sources honour inst->src[k].neg: use lane_mask_source().
 *  L6  Same results in every build, on every host: no libm, no contraction, explicit order.
 */
#ifndef EXEC_LANES_H
#define EXEC_LANES_H

#include "ir/inst.h"

#define LANES 32u
#define LANES_FULL 0xffffffffu

struct lanes {
    const struct inst *inst;
    u32 mask;
    u32 stride;           /* words from one register of an operand to the next: the warp size */
    const u32 *lane_mask; /* 32-byte aligned */
    const u32 *src[4];
    u32 *dst[2];
};

static inline u32 lane_mask_source(const struct lanes *l, unsigned k)
{
    return *l->src[k] ^ (l->inst->src[k].neg ? LANES_FULL : 0);
}

/* Expands a mask to 32 words of 0 or ~0. */
void lanes_expand(u32 mask, u32 *lane_mask);

enum simd {
    SIMD_PORTABLE,
    SIMD_AVX2
};
/* The best instruction set of this host. */
enum simd simd_best(void);

/* The function for this instruction: by op, types and modifiers. NULL only if op lacks OPF_LANE or
 * the conversion does not exist. */
lane_fn *lanes_resolve(const struct inst *inst, enum simd simd, bool canonical_nan);

/* Half of a chunk's lanes, processed together: blocks are often 16 wide. */
enum {
    STRIDE_LANES = 16,
    EVEN_GROUPS = 32 / STRIDE_LANES
};

/* The key of a shuffle. */
enum shuffle {
    SHUFFLE_UP,
    SHUFFLE_DOWN,
    SHUFFLE_BUTTERFLY,
    SHUFFLE_INDEX
};

/*
 * Memory moves, the same in both builds. `offset` holds 32 byte offsets from `base`; lanes outside
 * `mask` are neither read nor written. Elements narrower than 32 bits are extended as `type` says.
 */
struct lanes_memory {
    void (*gather32)(u32 *dst, const u8 *base, const u32 *offset, u32 mask, const u32 *lane_mask);
    void (*scatter32)(u8 *base, const u32 *offset, const u32 *src, u32 mask);
    /* offset[i] = address - lo for 64-bit lane addresses (low and high words) plus imm. Returns the
     * lanes (of `mask`) for which address lies in [lo, lo + size - bytes] and is a multiple of
     * `bytes` (a power of two); offsets of other lanes are set to 0. size is below 2^31. */
    u32 (*translate64)(u32 *offset, const u32 *low, const u32 *high, i64 imm, u64 lo, u32 size,
                       u32 bytes, u32 mask);
    /* The same for 32-bit lane addresses in a space of `size` bytes that starts at 0; the sum with
     * imm wraps at 32 bits. */
    u32 (*translate32)(u32 *offset, const u32 *address, i64 imm, u32 size, u32 bytes, u32 mask);
    /* Zeros whole lines of 64 bytes. */
    void (*clear)(u8 *at, size_t bytes);
    /* Whether each lane's offset is `bytes` after that of the lane before. */
    bool (*adjacent)(const u32 *offset, u32 bytes);
    /* address[i] = ((low[i], high[i]) + add) & keep. Returns the OR of all of them. */
    u64 (*join64)(u64 *address, const u32 *low, const u32 *high, u64 add, u64 keep);
    /* Whether word i of each group is first + i * apart, and all 32 words of `high`, unless NULL,
     * are equal. */
    bool (*find_strides)(const u32 *low, const u32 *high, u32 *first, u32 *apart);
    /* Moves words at such addresses, starting at `first` of each group. Later lanes win. */
    void (*load_strided)(u32 *dst, const u8 *const *first, const i32 *apart);
    void (*store_strided)(u8 *const *first, const i32 *apart, const u32 *src);
    /* lanes_expand */
    void (*expand)(u32 mask, u32 *lane_mask);
    /* A PTX shuffle among the lanes of `mask`: a by lane, b and c its operands. Returns the lanes
     * with a source in range. Lanes outside the mask are computed too, from whatever is there. */
    u32 (*shuffle)(enum shuffle kind, u32 *result, const u32 *a, const u32 *b, const u32 *c,
                   u32 mask);
};
const struct lanes_memory *lanes_memory(enum simd simd);

/* The interpreter's inner loops: lanes_run.c. */
struct chunk;
struct step;
struct stretch;
struct warp;
struct lanes_loops {
    /* Runs a step of one chunk under the chunk's mask if it is a lane function or can take its fast
     * path. False: nothing has happened. inst belongs to step. */
    bool (*step)(struct chunk *chunk, const struct inst *inst, const struct step *step);
    /* Runs the current path of a 32-wide warp from a step on, through branches that do not diverge,
     * while fewer than `limit` instructions have been issued. NULL: the path cannot continue, or
     * needs the caller's attention; otherwise the next step, in *stretch, of a path that has
     * changed. */
    struct step *(*blocks)(struct warp *warp, struct stretch **stretch, struct step *step,
                           u64 limit);
};
const struct lanes_loops *lanes_loops(enum simd simd);

/* The same for code with explicit EXEC, a whole warp at a time: lanes_wave.c. If an access faults,
 * the returned step is the faulting one and the launch has stopped. */
struct lanes_waves {
    struct step *(*steps)(struct warp *warp, const struct inst *inst, struct step *step,
                          const struct step *last);
    struct step *(*blocks)(struct warp *warp, struct stretch **stretch, struct step *step,
                           u64 limit);
    /* An access of all lanes to shared memory, by the fast path only. False: nothing has happened;
     * the slow path must perform it. */
    bool (*shared)(struct warp *warp, const struct inst *inst, const struct step *step);
};
const struct lanes_waves *lanes_waves(enum simd simd);

/* Floating-point atomics, with the same rules as the lane functions (round to nearest). */
u32 atomic_add_f32(u32 a, u32 b, bool ftz);
u64 atomic_add_f64(u64 a, u64 b);
u16 atomic_add_f16(u16 a, u16 b);
u16 atomic_add_bf16(u16 a, u16 b);

#endif
