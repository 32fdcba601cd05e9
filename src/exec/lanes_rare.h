/*
 * Fast paths for less common accesses of 32 lanes: local memory, vectors, bytes and half-words,
 * atomics of one word. Part of lanes_run.c, compiled once per instruction set with it.
 *
 * R1 of lanes_short.h holds for them, and they work under any mask: inactive lanes get the address
 * of an active one.
 */
#ifndef EXEC_LANES_RARE_H
#define EXEC_LANES_RARE_H

#include "exec/lanes_short.h"

/* The address words of the lanes: those in the registers or, under a mask, filled up. */
struct address_rows {
    const u32 *low, *high; /* high only where step->wide */
    struct some_rows filled;
};

ALWAYS_INLINE void find_address_rows(struct address_rows *rows, const struct chunk *chunk,
                                     const struct step *step)
{
    static const u32 zeros[LANES];
    const u32 *const low = step_has(step, 0) ? chunk_row(chunk, step, 0) : zeros;
    const u32 *const high = low + chunk->lanes.stride;
    rows->low = low;
    rows->high = high;
    if (chunk->lanes.mask == LANES_FULL)
        return;
    const eight *const mask = (const eight *)chunk->lanes.lane_mask;
    const u32 first = (u32)__builtin_ctz(chunk->lanes.mask);
    fill_row(rows->filled.low, low, mask, first);
    rows->low = (const u32 *)rows->filled.low;
    if (!step->wide)
        return;
    fill_row(rows->filled.high, high, mask, first);
    rows->high = (const u32 *)rows->filled.high;
}

/* Computes offsets into a space of `size` bytes. */
ALWAYS_INLINE bool find_window(const struct address_rows *rows, const struct inst *inst,
                               const struct step *step, u32 size, u32 bytes, eight *at)
{
    return size >= bytes &&
           (!step->wide || rows_small((const eight *)rows->low, (const eight *)rows->high)) &&
           offsets_within(at, rows->low, (u32)inst->imm, size - bytes, bytes - 1);
}

/* The region that all lanes are in, and their offsets; NULL if it is not a single one. */
ALWAYS_INLINE u8 *find_places(const struct chunk *chunk, const struct inst *inst,
                              const struct step *step, u32 bytes, bool write, eight *at)
{
    static const eight lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    struct address_rows rows;
    find_address_rows(&rows, chunk, step);
    switch (inst->space) {
    case SPACE_SHARED:
        return find_window(&rows, inst, step, chunk->shared_bytes, bytes, at) ? chunk->shared
                                                                              : NULL;
    case SPACE_LOCAL:
        if (!find_window(&rows, inst, step, chunk->local_bytes, bytes, at))
            return NULL;
        for (unsigned k = 0; k < EIGHTS; k++)
            at[k] += (lanes + 8 * k) * chunk->local_stride;
        return chunk->local;
    default:
        return find_rows(chunk, inst, step, bytes, write, rows.low, (const eight *)rows.high, at);
    }
}

/* ---- words ---- */

/* Lane by lane: words may overlap, and later lanes win. */
ALWAYS_INLINE void store_vectors(u8 *base, const eight *at, const u32 *src, u32 stride, u32 words,
                                 u32 lanes)
{
    const u32 *const offset = (const u32 *)at;
    for (; lanes; lanes &= lanes - 1) {
        const unsigned i = (unsigned)__builtin_ctz(lanes);
        for (u32 j = 0; j < words; j++)
            memcpy(base + offset[i] + 4 * j, &src[j * stride + i], sizeof *src);
    }
}

ALWAYS_INLINE bool move_words(struct chunk *chunk, const struct inst *inst, const struct step *step)
{
    eight at[EIGHTS];
    const bool write = inst->op == OP_st, all = chunk->lanes.mask == LANES_FULL;
    const u32 stride = chunk->lanes.stride, words = step->words;
    u8 *const base = find_places(chunk, inst, step, 4 * words, write, at);
    if (!base)
        return false;
    const u32 *const src = chunk_row(chunk, step, 1);
    u32 *const dst = chunk_row(chunk, step, SLOT_DST);
    if (write && words == 1 && all)
        store_word(base, at, src);
    else if (write && words == 4)
        store_vectors(base, at, src, stride, 4, chunk->lanes.mask);
    else if (write)
        store_vectors(base, at, src, stride, words, chunk->lanes.mask);
    else if (all)
        load_words(dst, base, at, stride, words);
    for (u32 j = 0; !write && !all && j < words; j++)
        gather_some(dst + j * stride, base + 4 * j, at, (const eight *)chunk->lanes.lane_mask);
    return true;
}

/* ---- bytes and half-words ---- */

/* Whether the lanes' elements are contiguous, in lane order. */
ALWAYS_INLINE bool follow_each_other(const eight *at, u32 bytes)
{
    static const eight lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    const eight first = SPLAT(at[0][0]), all = SPLAT(~0u);
    eight differ = {};
    for (unsigned k = 0; k < EIGHTS; k++)
        differ |= (at[k] - first) ^ ((lanes + 8 * k) * bytes);
    return !have_common(&differ, &all);
}

ALWAYS_INLINE void read_narrows(u32 *row, const u8 *base, const eight *at, u32 bytes)
{
    const u32 *const offset = (const u32 *)at;
    u8 one[LANES];
    u16 two[LANES];
    if (follow_each_other(at, bytes)) {
        memcpy(bytes == 1 ? (void *)one : (void *)two, base + offset[0], LANES * bytes);
        for (unsigned i = 0; i < LANES; i++)
            row[i] = bytes == 1 ? one[i] : two[i];
        return;
    }
    for (unsigned i = 0; i < LANES; i++) {
        memcpy(bytes == 1 ? (void *)&one[i] : (void *)&two[i], base + offset[i], bytes);
        row[i] = bytes == 1 ? one[i] : two[i];
    }
}

ALWAYS_INLINE void load_narrows(struct chunk *chunk, const struct inst *inst, u32 *dst,
                                const u8 *base, const eight *at, u32 bytes)
{
    const u32 shift = loads_signed(inst) ? 32 - 8 * bytes : 0, *const mask = chunk->lanes.lane_mask;
    u32 row[LANES];
    read_narrows(row, base, at, bytes);
    for (unsigned i = 0; i < LANES; i++)
        dst[i] = mix(mask[i], (u32)((i32)(row[i] << shift) >> shift), dst[i]);
}

ALWAYS_INLINE void store_narrows(u8 *base, const eight *at, const u32 *src, u32 lanes, u32 bytes)
{
    const u32 *const offset = (const u32 *)at;
    if (lanes == LANES_FULL && bytes == 1 && follow_each_other(at, bytes)) {
        u8 one[LANES];
        for (unsigned i = 0; i < LANES; i++)
            one[i] = (u8)src[i];
        memcpy(base + offset[0], one, sizeof one);
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        const unsigned i = (unsigned)__builtin_ctz(lanes);
        memcpy(base + offset[i], &src[i], bytes);
    }
}

ALWAYS_INLINE bool move_narrows(struct chunk *chunk, const struct inst *inst,
                                const struct step *step, u32 bytes)
{
    eight at[EIGHTS];
    const bool write = inst->op == OP_st;
    u8 *const base = find_places(chunk, inst, step, bytes, write, at);
    if (base && write)
        store_narrows(base, at, chunk_row(chunk, step, 1), chunk->lanes.mask, bytes);
    else if (base)
        load_narrows(chunk, inst, chunk_row(chunk, step, SLOT_DST), base, at, bytes);
    return base;
}

/* ---- atomics ---- */

ALWAYS_INLINE bool update_atomic(struct chunk *chunk, const struct inst *inst,
                                 const struct step *step)
{
    eight at[EIGHTS];
    u8 *const base = find_places(chunk, inst, step, 4, true, at);
    if (base)
        atomic_words(inst, base, (const u32 *)at, chunk->lanes.mask, chunk_row(chunk, step, 1),
                     chunk_row(chunk, step, 2), chunk_row(chunk, step, SLOT_DST),
                     inst->space != SPACE_SHARED);
    return base;
}

#endif
