/*
 * Fast paths of code with scalars: shared memory with one or two addresses per lane, and buffers.
 * Part of lanes_wave.c, compiled once per instruction set with it.
 *
 * As in lanes_short.h, an access takes its fast path only if every active lane is aligned and in
 * range (R1), but here some lanes may be inactive: `all` says that none is, and is a constant where
 * these functions are expanded.
 */
#ifndef EXEC_LANES_ACCESS_H
#define EXEC_LANES_ACCESS_H

#include "exec/buffer.h"
#include "exec/lanes_words.h"

#ifdef __AVX2__
ALWAYS_INLINE void gather_some(u32 *dst, const u8 *base, const eight *at, const struct chunk *chunk)
{
    const __m256i *const on = (const __m256i *)chunk->active_mask;
    for (unsigned k = 0; k < EIGHTS; k++) {
        const __m256i old = _mm256_loadu_si256((const __m256i *)dst + k);
        const __m256i r =
            _mm256_mask_i32gather_epi32(old, (const int *)base, (__m256i)at[k], on[k], 1);
        _mm256_storeu_si256((__m256i *)dst + k, r);
    }
}
#else
ALWAYS_INLINE void gather_some(u32 *dst, const u8 *base, const eight *at, const struct chunk *chunk)
{
    for (u32 set = chunk->active; set; set &= set - 1) {
        const unsigned i = (unsigned)__builtin_ctz(set);
        memcpy(&dst[i], base + ((const u32 *)at)[i], sizeof dst[i]);
    }
}
#endif

/* Whether no active lane has bits of `refuse`, or is beyond `limit`, which is below 2^31; SIGN must
 * be refused or impossible. */
ALWAYS_INLINE bool are_within(const eight *at, const struct chunk *chunk, bool all, u32 limit,
                              u32 refuse)
{
    const eight *const on = (const eight *)chunk->active_mask;
    const eight every = SPLAT(~0u);
    eight bits = {}, over = {};
    for (unsigned k = 0; k < EIGHTS; k++) {
        bits |= all ? at[k] : (eight)(at[k] & on[k]);
        over |= all ? (eight)(limit - at[k]) : (eight)((limit - at[k]) & on[k]);
    }
    const eight wrong = (bits & refuse) | (over & SIGN);
    return !have_common(&wrong, &every);
}

ALWAYS_INLINE void load_places(u32 *dst, const u8 *base, const eight *at, const struct chunk *chunk,
                               bool all, u32 words)
{
    const u32 stride = chunk->lanes.stride;
    for (u32 j = 0; j < words; j++) {
        if (all)
            gather(dst + j * stride, base + 4 * j, at);
        else
            gather_some(dst + j * stride, base + 4 * j, at, chunk);
    }
}

/* Lane by lane: later lanes win. */
ALWAYS_INLINE void store_places(u8 *base, const eight *at, const u32 *src,
                                const struct chunk *chunk, bool all, u32 words)
{
    const u32 *const offset = (const u32 *)at;
    const u32 stride = chunk->lanes.stride;
    if (all && words == 1) {
        store_word(base, at, src);
        return;
    }
    for (u32 set = chunk->active; set; set &= set - 1) {
        const unsigned i = (unsigned)__builtin_ctz(set);
        for (u32 j = 0; j < words; j++)
            memcpy(base + offset[i] + 4 * j, &src[j * stride + i], sizeof *src);
    }
}

/* What all lanes of an access to shared memory have in common: its elements are at first + row and,
 * for a pair, at second + row. */
struct shared_way {
    u8 *first, *second;
    u32 room; /* the largest row that is in range */
    u32 refuse;
    bool may; /* there is such a row, and stores are not observed */
};

/* `limit`: the slot of the scalar that limits the space. It must not exclude any of it. */
ALWAYS_INLINE struct shared_way find_shared(const struct warp *warp, const struct inst *inst,
                                            const struct step *step, u32 words, unsigned limit,
                                            bool pair)
{
    const struct chunk *const chunk = &warp->chunks[0];
    const u32 first = (u32)inst->imm, second = pair ? (u32)(inst->imm >> 32) : first;
    const u32 far = MAX(first, second), bytes = 4 * words, size = chunk->shared_bytes;
    const bool whole = !step_has(step, limit) || *chunk_row(chunk, step, limit) >= size;
    return (struct shared_way){
        .first = chunk->shared + first,
        .second = chunk->shared + second,
        .room = size - bytes - far,
        .refuse = SIGN | (bytes - 1),
        .may = whole && (u64)far + bytes <= size && !((first | second) & (bytes - 1)) &&
               !exec_records(warp->exec),
    };
}

ALWAYS_INLINE void load_row(eight *at, const struct chunk *chunk, const struct step *step)
{
    const eight *const row = (const eight *)chunk_row(chunk, step, 0);
    for (unsigned k = 0; k < EIGHTS; k++)
        at[k] = row[k];
}

ALWAYS_INLINE bool shared_load(struct chunk *chunk, const struct step *step,
                               const struct shared_way *way, u32 words, bool pair, bool all)
{
    eight at[EIGHTS];
    u32 *const dst = chunk_row(chunk, step, SLOT_DST);
    load_row(at, chunk, step);
    if (!are_within(at, chunk, all, way->room, way->refuse))
        return false;
    load_places(dst, way->first, at, chunk, all, words);
    if (pair)
        load_places(dst + words * chunk->lanes.stride, way->second, at, chunk, all, words);
    return true;
}

ALWAYS_INLINE bool shared_store(struct chunk *chunk, const struct step *step,
                                const struct shared_way *way, u32 words, bool pair, bool all)
{
    eight at[EIGHTS];
    const u32 *const a = chunk_row(chunk, step, 1), *const b = chunk_row(chunk, step, 2);
    const u32 *const offset = (const u32 *)at, stride = chunk->lanes.stride;
    load_row(at, chunk, step);
    if (!are_within(at, chunk, all, way->room, way->refuse))
        return false;
    if (!pair) {
        store_places(way->first, at, a, chunk, all, words);
        return true;
    }
    for (u32 set = chunk->active; set; set &= set - 1) { /* later lanes win */
        const unsigned i = (unsigned)__builtin_ctz(set);
        for (u32 j = 0; j < words; j++)
            memcpy(way->first + offset[i] + 4 * j, &a[j * stride + i], sizeof *a);
        for (u32 j = 0; j < words; j++)
            memcpy(way->second + offset[i] + 4 * j, &b[j * stride + i], sizeof *b);
    }
    return true;
}

/* What all lanes of a buffer access have in common. */
struct buffer_way {
    enum {
        WAY_LONG,    /* none of the others */
        WAY_ADDRESS, /* a 64-bit address */
        WAY_PLAIN,   /* a plain array of bytes, an offset in a register */
        WAY_SIDE,    /* swizzled by words, 64 lanes side by side: a constant offset, */
        WAY_SPREAD,  /* or one in a register */
    } kind;
    u32 constant;
    u64 address; /* base + scalar offset and, unless words are side by side, the constant */
    u64 end;     /* where the range ends */
};

ALWAYS_INLINE struct buffer_way find_way(const struct warp *warp, const struct inst *inst,
                                         const struct step *step)
{
    enum {
        SIDE_BY_SIDE = 1u << 23 | 3u << 21 | 1u << 19, /* lane added, 64 records, 4 bytes */
        LAYOUT = 0x1fu << 19
    };
    /* Scalars 2n and 2n + 1 are a chunk's width apart (S3): two words from each half. */
    const struct chunk *const first = &warp->chunks[0];
    const u32 *const scalars = chunk_row(first, step, 1);
    const u32 words[4] = {scalars[0], scalars[LANES], scalars[1], scalars[LANES + 1]};
    const u32 offset = step_has(step, 2) ? *chunk_row(first, step, 2) : 0;
    const u32 modes = inst->key2 & (BUFFER_INDEX | BUFFER_OFFSET | BUFFER_ADDRESS);
    const u64 base = buffer_base(words) + offset;
    const bool swizzled = words[1] >> 31, strided = words[1] & 0x3fff0000;
    const bool add_lane = words[3] >> 23 & 1;
    struct buffer_way way = {.constant = (u16)inst->imm, .end = buffer_base(words) + words[2]};
    way.address = base + way.constant;
    if (exec_records(warp->exec) || inst->src[1].index & 3 || inst->src[1].kind != OPERAND_SCALAR)
        way.kind = WAY_LONG;
    else if (modes == BUFFER_ADDRESS)
        way.kind = WAY_ADDRESS;
    else if (strided || modes & BUFFER_INDEX)
        way.kind = WAY_LONG;
    else if (!swizzled && !add_lane && modes == BUFFER_OFFSET)
        way.kind = WAY_PLAIN;
    else if (swizzled && (words[3] & LAYOUT) == SIDE_BY_SIDE && step->words == 1) {
        way.kind = modes == BUFFER_OFFSET ? WAY_SPREAD : WAY_SIDE;
        way.address = base;
    }
    return way;
}

/* Whether every active lane's word is this value. */
ALWAYS_INLINE bool are_all(const u32 *row, u32 value, const struct chunk *chunk, bool all)
{
    const eight *const high = (const eight *)row, *const on = (const eight *)chunk->active_mask;
    const eight every = SPLAT(~0u);
    eight differ = {};
    for (unsigned k = 0; k < EIGHTS; k++)
        differ |= all ? (eight)(high[k] ^ value) : (eight)((high[k] ^ value) & on[k]);
    return !have_common(&differ, &every);
}

/* The highest offset into an allocation that an access through the descriptor may have; the
 * descriptor's range may end earlier. False if there is none. */
ALWAYS_INLINE bool find_limit(const struct allocation *hint, const struct buffer_way *way,
                              u32 bytes, u32 *limit)
{
    const i64 room = (i64)(way->end - hint->address);
    if (hint->size < bytes || room < (i64)bytes)
        return false;
    *limit = (u32)MIN(hint->size, (u64)room) - bytes;
    return true;
}

/* Computes offsets into the allocation that this step used last. */
ALWAYS_INLINE bool find_places(eight *at, const struct chunk *chunk, const struct step *step,
                               const struct buffer_way *way, u32 first_lane_here, u32 words,
                               bool all)
{
    static const eight lanes = {0, 4, 8, 12, 16, 20, 24, 28};
    const struct allocation *const hint = step->hint;
    const u32 *const row = chunk_row(chunk, step, 0);
    const u32 bytes = 4 * words;
    u32 limit;
    load_row(at, chunk, step);
    if (way->kind == WAY_ADDRESS) {
        const u64 start = hint->address - way->address; /* of the registers' values */
        const u32 above = (u32)(start >> 32);
        for (unsigned k = 0; k < EIGHTS; k++)
            at[k] -= (u32)start;
        return hint->size >= bytes && above == (start + hint->size) >> 32 &&
               are_within(at, chunk, all, (u32)hint->size - bytes, SIGN | 3) &&
               are_all(row + chunk->lanes.stride, above, chunk, all);
    }
    const u64 skip = way->address - hint->address;
    if (skip & 3 || skip >> 31 || !find_limit(hint, way, bytes, &limit) || limit < skip)
        return false;
    limit -= (u32)skip;          /* of the following offsets, which must not wrap */
    if (way->kind == WAY_SPREAD) /* lane l's word w is word 64 w + l */
        for (unsigned k = 0; k < EIGHTS; k++) {
            const eight offset = at[k] + way->constant, wrong = offset & 0xff000003;
            at[k] = (offset << 6) + (lanes + 4 * first_lane_here + 32 * k);
            at[k] |= wrong | wrong << 31 | wrong << 30; /* too far, or misaligned */
        }
    if (!are_within(at, chunk, all, limit, SIGN | 3))
        return false;
    for (unsigned k = 0; k < EIGHTS; k++)
        at[k] += (u32)skip;
    return true;
}

/* Scratch memory at a constant offset: the words of 32 lanes are side by side. */
ALWAYS_INLINE bool buffer_side(struct chunk *chunk, const struct step *step,
                               const struct buffer_way *way, u32 first_lane_here, bool store,
                               bool all)
{
    const struct allocation *const hint = step->hint;
    const u64 at = way->address + ((u64)way->constant << 6) + 4 * first_lane_here - hint->address;
    u32 limit;
    if (at & 3 || way->constant & 3 || !find_limit(hint, way, LANES * 4, &limit) || at > limit)
        return false;
    u32 *const memory = (u32 *)(hint->host + at);
    u32 *const row = chunk_row(chunk, step, store ? 3 : SLOT_DST);
    u32 *const to = store ? memory : row;
    const u32 *const from = store ? row : memory;
    if (all) {
        memcpy(to, from, LANES * sizeof *to);
        return true;
    }
    for (unsigned i = 0; i < LANES; i++)
        to[i] = choose(chunk->active_mask[i], from[i], to[i]);
    return true;
}

ALWAYS_INLINE bool buffer_words(struct chunk *chunk, const struct step *step,
                                const struct buffer_way *way, u32 first_lane_here, u32 words,
                                bool store, bool all)
{
    const struct allocation *const hint = step->hint;
    eight at[EIGHTS];
    if (way->kind == WAY_LONG || !hint || step->hint_generation != *chunk->generation ||
        (store && hint->read_only) || hint->address & 3)
        return false;
    if (way->kind == WAY_SIDE)
        return buffer_side(chunk, step, way, first_lane_here, store, all);
    if (!find_places(at, chunk, step, way, first_lane_here, words, all))
        return false;
    if (store)
        store_places(hint->host, at, chunk_row(chunk, step, 3), chunk, all, words);
    else if (all && words == 1)
        load_words(chunk_row(chunk, step, SLOT_DST), hint->host, at, 0, 1);
    else
        load_places(chunk_row(chunk, step, SLOT_DST), hint->host, at, chunk, all, words);
    return true;
}

#endif
