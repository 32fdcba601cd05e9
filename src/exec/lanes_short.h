/*
 * Short ways through the commonest accesses: 32 lanes, all running. Part of the inner loops
 * (lanes_run.c, lanes_wave.c), compiled once per instruction set with them.
 *
 * Invariants
 *  R1  An access takes its short way only when all 32 lanes run and every lane is aligned and in
 *      range. Otherwise nothing has happened and the step is the caller's, who takes the long way
 *      through spaces.c: faults and mixtures of regions are found there only.
 */
#ifndef EXEC_LANES_SHORT_H
#define EXEC_LANES_SHORT_H

#include "exec/lanes_words.h"
#include "exec/warp.h"

/* Nothing in the high words and below 2^31: adding an i32 cannot carry into them unnoticed. */
ALWAYS_INLINE bool are_small(const struct chunk *chunk, const struct step *step)
{
    const eight *const low = (const eight *)chunk_row(chunk, step, 0);
    const eight *const high = (const eight *)((const u32 *)low + chunk->lanes.stride);
    const eight all = SPLAT(~0u);
    eight bits = {};
    for (unsigned k = 0; k < EIGHTS; k++)
        bits |= (low[k] & SIGN) | high[k];
    return !have_common(&bits, &all);
}

/* Offsets whose bits all lie below the largest power of two in the space need no comparison. */
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
 * share their high words; a low word before its start gives an offset past its end.
 */
ALWAYS_INLINE u8 *find_global(const struct chunk *chunk, const struct inst *inst,
                              const struct step *step, bool write, eight *at)
{
    const struct allocation *hint = step->hint;
    if (!hint || step->hint_generation != *chunk->generation || (write && hint->read_only))
        return NULL;
    const u32 *const low = chunk_row(chunk, step, 0);
    const eight *const high = (const eight *)(low + chunk->lanes.stride);
    const u64 start = hint->address - (u64)inst->imm;
    const u32 bytes = 4u * step->words, above = (u32)(start >> 32);
    if (hint->size < bytes || above != (start + hint->size) >> 32 ||
        !offsets_within(at, low, 0u - (u32)start, (u32)hint->size - bytes, bytes - 1))
        return NULL;
    const eight all = SPLAT(~0u);
    eight differ = {};
    for (unsigned k = 0; k < EIGHTS; k++)
        differ |= high[k] ^ above;
    return have_common(&differ, &all) ? NULL : hint->host;
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

#endif
