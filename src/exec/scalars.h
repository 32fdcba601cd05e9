/*
 * Reading and writing a warp's scalars outside scalar functions. Constants can be read like
 * scalars.
 */
#ifndef EXEC_SCALARS_H
#define EXEC_SCALARS_H

#include "exec/warp.h"
#include "ir/scalars.h"

static inline u32 *scalar_word(const struct warp *warp, u32 scalar)
{
    return (u32 *)(warp->chunks[0].base + scalar_offset(warp->exec->image, scalar));
}

/* Word `word` of an operand; an absent operand reads 0. */
static inline u32 scalar_read(const struct warp *warp, struct operand o, u32 word)
{
    const struct image *image = warp->exec->image;
    if (o.kind == OPERAND_CONST)
        return image->constants[(o.index + word) * image->warp_size];
    return o.kind == OPERAND_SCALAR ? *scalar_word(warp, o.index + word) : 0;
}
/*
 * Word `word` of a scalar source of a step. An instruction in flight has its sources in a record
 * (select 0), laid out like scalars starting at an even one (S3 of image.h).
 */
static inline u32 step_scalar(const struct warp *warp, const struct step *step,
                              const struct inst *inst, unsigned slot, u32 word)
{
    const struct operand o = inst->src[slot];
    if (LIKELY(o.kind != OPERAND_SCALAR || step->select[slot]))
        return scalar_read(warp, o, word);
    return ((const u32 *)step->row[slot])[word / 2 + LANES * (word & 1)];
}
static inline u64 scalar_read64(const struct warp *warp, struct operand o)
{
    return scalar_read(warp, o, 0) | (u64)scalar_read(warp, o, 1) << 32;
}
static inline void scalar_write(const struct warp *warp, struct operand o, u32 word, u32 value)
{
    *scalar_word(warp, o.index + word) = value;
}

static inline u64 scalar_pair(const struct warp *warp, u32 scalar)
{
    return *scalar_word(warp, scalar) | (u64)*scalar_word(warp, scalar + 1) << 32;
}
static inline void scalar_set_pair(const struct warp *warp, u32 scalar, u64 value)
{
    *scalar_word(warp, scalar) = (u32)value;
    *scalar_word(warp, scalar + 1) = (u32)(value >> 32);
}

#endif
