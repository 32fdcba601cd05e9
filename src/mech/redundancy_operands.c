/*
 * The operands of an instruction as vectors: see redundancy.c.
 *
 * They are read in place when the instruction is about to execute, or has issued and written
 * nothing yet. One hash represents them all: words are taken in pairs whose halves are multiplied
 * to 128 bits, each pair with its own keys, and folded. Two different vectors have the same hash
 * with a probability of about 2^-64, so no wrong count is to be expected in 10^18 comparisons.
 */
#include "exec/scalars.h"
#include "ir/special.h"
#include "mech/redundancy.h"

/* Digits of pi, 64 bits each: numbers without a pattern. */
static const u64 keys[16] = {
    0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89,
    0x452821e638d01377, 0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd, 0x3f84d5b5b5470917,
    0x9216d5d98979fb1b, 0xd1310ba698dfb5ac, 0x2ffd72dbd01adfb7, 0xb8e1afed6a267e96,
    0xba7c9045f12c7f99, 0x24a19947b3916cf7, 0x0801f2e2858efc16, 0x636920d871574e69,
};

static inline u64 fold(u64 a, u64 b)
{
    const u128 product = (u128)a * b;
    return (u64)product ^ (u64)(product >> 64);
}

static inline u64 hash_lanes(u64 hash, const u32 *lanes)
{
    typedef u64 word __attribute__((may_alias, aligned(4)));
    const word *w = (const word *)lanes;
    u64 sum = 0;
#pragma GCC unroll 8
    for (u32 i = 0; i < LANES / 2; i += 2)
        sum ^= fold(w[i] ^ keys[i], w[i + 1] ^ keys[i + 1]);
    return fold(hash ^ sum, keys[3]);
}

static u64 mix_word(u64 hash, u64 word)
{
    return fold(hash ^ word, keys[5]) + keys[7];
}

const u32 *operand_rows(struct redundancy_core *r, const struct warp *warp, struct operand o)
{
    const struct register_view *view = warp->registers;
    const u32 *rows = vector_row(warp, &warp->chunks[0], o.index);
    if (LIKELY(!view))
        return rows;
    for (u32 j = 0; j < o.count; j++) {
        u32 *to = r->scratch + j * r->warp_size;
        if (register_elsewhere(view, o.index + j))
            view->read(view, warp, o.index + j, to);
        else
            memcpy(to, rows + j * r->warp_size, r->warp_size * sizeof *to);
    }
    return r->scratch;
}

/* The lanes of a mask operand. */
static lane_set mask_of(const struct warp *warp, struct operand o)
{
    const struct image *image = warp->exec->image;
    lane_set mask = 0;
    for (u32 c = 0; c < image->chunks; c++) {
        const u32 scalar = (o.index << (image->chunks - 1)) + c;
        mask |= chunk_lanes(*(u32 *)(warp->chunks[0].base + scalar_offset(image, scalar)), c);
    }
    return mask;
}

/* The value of a special register, in all lanes. */
static const u32 *special_rows(struct redundancy_core *r, struct warp *warp, u32 inst)
{
    struct step step = warp->exec->image->steps[inst];
    step.select[SLOT_DST] = 0;
    for (u32 c = 0; c < warp->exec->image->chunks; c++) {
        step.row[SLOT_DST] = (uintptr_t)(r->scratch + c * LANES);
        special_step(warp, inst, &step, &warp->chunks[c], LANES_FULL);
    }
    return r->scratch;
}

static u64 hash_rows(u64 hash, const u32 *rows, u32 words)
{
    for (u32 at = 0; at < words; at += LANES)
        hash = hash_lanes(hash, rows + at);
    return hash;
}

u64 operands_hash(struct redundancy_core *r, struct warp *warp, u32 inst, enum redundancy_kind kind)
{
    const struct inst *code = warp_inst(warp, inst);
    u64 hash = keys[1];
    if (kind == KIND_SPECIAL)
        return hash_rows(hash, special_rows(r, warp, inst), code->dst[0].count * r->warp_size);
    for (u32 k = 0; k < ARRAY_LEN(code->src); k++) {
        const struct operand o = code->src[k];
        switch (o.kind) {
        case OPERAND_VECTOR:
            hash = hash_rows(hash, operand_rows(r, warp, o), o.count * r->warp_size);
            break;
        case OPERAND_MASK:
            hash = mix_word(hash, mask_of(warp, o));
            break;
        case OPERAND_SCALAR:
            for (u32 j = 0; j < o.count; j++)
                hash = mix_word(hash, scalar_read(warp, o, j));
            break;
        default: /* the same for all */
            break;
        }
    }
    if (kind == KIND_BRANCH && code->guard.kind != OPERAND_NONE)
        hash = mix_word(hash, mask_of(warp, code->guard));
    return hash;
}

/* ---- uniform, affine or other ---- */

/* Two registers are one 64-bit value; of more, each register is a value. */
static enum values class_of_rows(const struct redundancy_core *r, const u32 *rows, u32 count)
{
    const u32 words = count == 2 ? 2 : 1;
    enum values class = VALUES_UNIFORM;
    for (u32 j = 0; j < count && class != VALUES_OTHER; j += words) {
        const enum values one =
            values_of(rows + j * r->warp_size, words, r->all, r->width, r->warp_size);
        class = MAX(class, one);
    }
    return class;
}

static enum values class_of_mask(const struct redundancy_core *r, lane_set mask)
{
    return mask && mask != r->all ? VALUES_OTHER : VALUES_UNIFORM;
}

static enum values class_of(struct redundancy_core *r, const struct warp *warp, struct operand o)
{
    switch (o.kind) {
    case OPERAND_VECTOR:
        return class_of_rows(r, operand_rows(r, warp, o), o.count);
    case OPERAND_MASK:
        return class_of_mask(r, mask_of(warp, o));
    case OPERAND_LANEID:
        return VALUES_AFFINE;
    default:
        return VALUES_UNIFORM;
    }
}

static bool is_uniform(struct redundancy_core *r, const struct warp *warp, struct operand o)
{
    switch (o.kind) {
    case OPERAND_VECTOR: {
        const u32 *rows = operand_rows(r, warp, o);
        for (u32 j = 0; j < o.count; j++)
            if (!values_uniform(rows + j * r->warp_size, 1, r->warp_size))
                return false;
        return true;
    }
    case OPERAND_MASK:
        return class_of_mask(r, mask_of(warp, o)) == VALUES_UNIFORM;
    case OPERAND_LANEID:
        return false;
    default:
        return true;
    }
}

bool operands_uniform(struct redundancy_core *r, struct warp *warp, u32 inst,
                      enum redundancy_kind kind)
{
    const struct inst *code = warp_inst(warp, inst);
    if (kind == KIND_SPECIAL)
        return operands_class(r, warp, inst, kind) == VALUES_UNIFORM;
    for (u32 k = 0; k < ARRAY_LEN(code->src); k++)
        if (!is_uniform(r, warp, code->src[k]))
            return false;
    return kind != KIND_BRANCH || is_uniform(r, warp, code->guard);
}

enum values operands_class(struct redundancy_core *r, struct warp *warp, u32 inst,
                           enum redundancy_kind kind)
{
    const struct inst *code = warp_inst(warp, inst);
    if (kind == KIND_SPECIAL)
        return class_of_rows(r, special_rows(r, warp, inst), code->dst[0].count);
    enum values class = VALUES_UNIFORM;
    for (u32 k = 0; k < ARRAY_LEN(code->src) && class != VALUES_OTHER; k++) {
        const enum values one = class_of(r, warp, code->src[k]);
        class = MAX(class, one);
    }
    if (kind == KIND_BRANCH && code->guard.kind != OPERAND_NONE) {
        const enum values one = class_of_mask(r, mask_of(warp, code->guard));
        class = MAX(class, one);
    }
    return class;
}
