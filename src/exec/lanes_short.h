/*
 * Fast paths for the most common accesses of 32 lanes. Part of the inner loops (lanes_run.c,
 * lanes_wave.c), compiled once per instruction set with them.
 *
 * Invariants
 *  R1  An access takes its fast path only if every active lane is aligned and in range. Otherwise
 *      nothing has happened, and the caller takes the slow path through spaces.c: only there faults
 *      and accesses to several regions are detected.
 *  R2  Functions without `some` in their names are for the case that all 32 lanes are active.
 */
#ifndef EXEC_LANES_SHORT_H
#define EXEC_LANES_SHORT_H

#include "exec/lanes_words.h"
#include "exec/warp.h"

/* The high words are 0 and the low words below 2^31: adding an i32 cannot carry unnoticed. */
ALWAYS_INLINE bool rows_small(const eight *low, const eight *high)
{
    const eight all = SPLAT(~0u);
    eight bits = {};
    for (unsigned k = 0; k < EIGHTS; k++)
        bits |= (low[k] & SIGN) | high[k];
    return !have_common(&bits, &all);
}
ALWAYS_INLINE bool are_small(const struct chunk *chunk, const struct step *step)
{
    const u32 *const low = chunk_row(chunk, step, 0);
    return rows_small((const eight *)low, (const eight *)(low + chunk->lanes.stride));
}

/* Offsets with all bits below the largest power of two in the space need no comparison. */
ALWAYS_INLINE bool load_shared(struct chunk *chunk, const struct inst *inst,
                               const struct step *step)
{
    const eight *const low = (const eight *)chunk_row(chunk, step, 0);
    const eight check = SPLAT(chunk->shared_check);
    eight at[EIGHTS], bits = SPLAT(chunk->shared_none);
    for (unsigned k = 0; k < EIGHTS; k++) {
        at[k] = low[k] + (u32)inst->imm;
        bits |= at[k];
    }
    if (UNLIKELY(step->wide) && !are_small(chunk, step))
        return false;
    if (UNLIKELY(have_common(&bits, &check)) &&
        (chunk->shared_bytes < 4 ||
         !offsets_within(at, (const u32 *)low, (u32)inst->imm, chunk->shared_bytes - 4, 3)))
        return false;
    gather(chunk_row(chunk, step, SLOT_DST), chunk->shared, at);
    return true;
}

ALWAYS_INLINE bool store_shared(struct chunk *chunk, const struct inst *inst,
                                const struct step *step)
{
    eight at[EIGHTS];
    if (step->wide && !are_small(chunk, step))
        return false;
    if (chunk->shared_bytes < 4 ||
        !offsets_within(at, chunk_row(chunk, step, 0), (u32)inst->imm, chunk->shared_bytes - 4, 3))
        return false;
    store_word(chunk->shared, at, chunk_row(chunk, step, 1));
    return true;
}

/*
 * Offsets into the allocation this step touched last, or NULL. With imm taken off, its addresses
 * share their high words, if the step has any; a low word before its start gives an offset past its
 * end.
 */
ALWAYS_INLINE u8 *find_rows(const struct chunk *chunk, const struct inst *inst,
                            const struct step *step, u32 bytes, bool write, const u32 *low,
                            const eight *high, eight *at)
{
    const struct allocation *hint = step->hint;
    if (!hint || step->hint_generation != *chunk->generation || (write && hint->read_only))
        return NULL;
    const u64 start = hint->address - (u64)inst->imm;
    const u32 above = (u32)(start >> 32);
    if (hint->size < bytes || (step->wide && above != (start + hint->size) >> 32) ||
        !offsets_within(at, low, 0u - (u32)start, (u32)hint->size - bytes, bytes - 1))
        return NULL;
    if (!step->wide)
        return hint->host;
    const eight all = SPLAT(~0u);
    eight differ = {};
    for (unsigned k = 0; k < EIGHTS; k++)
        differ |= high[k] ^ above;
    return have_common(&differ, &all) ? NULL : hint->host;
}
ALWAYS_INLINE u8 *find_global(const struct chunk *chunk, const struct inst *inst,
                              const struct step *step, bool write, eight *at)
{
    const u32 *const low = chunk_row(chunk, step, 0);
    return find_rows(chunk, inst, step, 4u * step->words, write, low,
                     (const eight *)(low + chunk->lanes.stride), at);
}

ALWAYS_INLINE bool load_global(struct chunk *chunk, const struct inst *inst,
                               const struct step *step)
{
    eight at[EIGHTS];
    const u8 *const base = find_global(chunk, inst, step, false, at);
    if (base)
        load_words(chunk_row(chunk, step, SLOT_DST), base, at, chunk->lanes.stride, step->words);
    return base;
}

ALWAYS_INLINE bool store_global(struct chunk *chunk, const struct inst *inst,
                                const struct step *step)
{
    eight at[EIGHTS];
    u8 *const base = find_global(chunk, inst, step, true, at);
    if (base)
        store_word(base, at, chunk_row(chunk, step, 1));
    return base;
}

/* ---- under a mask: inactive lanes get the address of an active one ---- */

struct some_rows {
    eight low[EIGHTS], high[EIGHTS]; /* address words; high only where there is one */
};

ALWAYS_INLINE void fill_row(eight *to, const u32 *from, const eight *mask, u32 first)
{
    const eight other = SPLAT(from[first]);
    for (unsigned k = 0; k < EIGHTS; k++)
        to[k] = (((const eight *)from)[k] & mask[k]) | (other & ~mask[k]);
}

ALWAYS_INLINE void gather_some(u32 *dst, const u8 *base, const eight *at, const eight *mask)
{
    eight row[EIGHTS], *const to = (eight *)dst;
    gather((u32 *)row, base, at);
    for (unsigned k = 0; k < EIGHTS; k++)
        to[k] = (row[k] & mask[k]) | (to[k] & ~mask[k]);
}

ALWAYS_INLINE void store_some(u8 *base, const eight *at, const u32 *src, u32 lanes)
{
    const u32 *const offset = (const u32 *)at;
    for (; lanes; lanes &= lanes - 1) {
        const unsigned i = (unsigned)__builtin_ctz(lanes);
        memcpy(base + offset[i], &src[i], sizeof src[i]);
    }
}

/* A load from or a store to shared memory by the lanes of the mask, which is not empty. */
ALWAYS_INLINE bool shared_some(struct chunk *chunk, const struct inst *inst,
                               const struct step *step)
{
    const eight *const mask = (const eight *)chunk->lanes.lane_mask;
    const u32 first = (u32)__builtin_ctz(chunk->lanes.mask), *const low = chunk_row(chunk, step, 0);
    struct some_rows rows;
    eight at[EIGHTS];
    fill_row(rows.low, low, mask, first);
    if (step->wide) {
        fill_row(rows.high, low + chunk->lanes.stride, mask, first);
        if (!rows_small(rows.low, rows.high))
            return false;
    }
    if (chunk->shared_bytes < 4 ||
        !offsets_within(at, (const u32 *)rows.low, (u32)inst->imm, chunk->shared_bytes - 4, 3))
        return false;
    if ((step->shape & SHAPE_KIND) == SHAPE_SHARED_LOAD)
        gather_some(chunk_row(chunk, step, SLOT_DST), chunk->shared, at, mask);
    else
        store_some(chunk->shared, at, chunk_row(chunk, step, 1), chunk->lanes.mask);
    return true;
}

/* The same for global memory. */
ALWAYS_INLINE bool global_some(struct chunk *chunk, const struct inst *inst,
                               const struct step *step)
{
    const bool write = (step->shape & SHAPE_KIND) == SHAPE_GLOBAL_STORE;
    const eight *const mask = (const eight *)chunk->lanes.lane_mask;
    const u32 first = (u32)__builtin_ctz(chunk->lanes.mask), *const low = chunk_row(chunk, step, 0);
    const u32 stride = chunk->lanes.stride;
    struct some_rows rows;
    eight at[EIGHTS];
    fill_row(rows.low, low, mask, first);
    if (step->wide)
        fill_row(rows.high, low + stride, mask, first);
    u8 *const base =
        find_rows(chunk, inst, step, 4u * step->words, write, (const u32 *)rows.low, rows.high, at);
    if (!base)
        return false;
    if (write)
        store_some(base, at, chunk_row(chunk, step, 1), chunk->lanes.mask);
    for (u32 j = 0; !write && j < step->words; j++)
        gather_some(chunk_row(chunk, step, SLOT_DST) + j * stride, base + 4 * j, at, mask);
    return true;
}

#endif
