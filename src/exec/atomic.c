/*
 * Atomics: lanes act one after the other in lane order, so that racing atomics are deterministic.
 *
 * An operation without a destination is a reduction. Packed 16-bit floats are two additions, each
 * element atomic by itself according to PTX; here both happen at once.
 */
#include "exec/bounds.h"
#include "exec/buffer.h"
#include "exec/warp.h"

/* Operands and the memory word of one lane, zero-extended. */
struct update {
    u64 old[2], value[2], other[2]; /* value: operand b (compared); other: c of cas, mskor */
    bool ftz;
};

static u64 sign_extend(u64 value, u32 bytes)
{
    u32 shift = 64 - 8 * bytes;
    return (u64)((i64)(value << shift) >> shift);
}

static u64 add(enum type type, u64 a, u64 b, bool ftz)
{
    switch (type) {
    case TYPE_F32:
        return atomic_add_f32((u32)a, (u32)b, ftz);
    case TYPE_F64:
        return atomic_add_f64(a, b);
    case TYPE_F16:
        return atomic_add_f16((u16)a, (u16)b);
    case TYPE_BF16:
        return atomic_add_bf16((u16)a, (u16)b);
    case TYPE_F16X2:
        return atomic_add_f16((u16)a, (u16)b) | (u32)atomic_add_f16((u16)(a >> 16), (u16)(b >> 16))
                                                    << 16;
    case TYPE_BF16X2:
        return atomic_add_bf16((u16)a, (u16)b) |
               (u32)atomic_add_bf16((u16)(a >> 16), (u16)(b >> 16)) << 16;
    default:
        return a + b;
    }
}

static bool less(enum type type, u64 a, u64 b, u32 bytes)
{
    if (type_is_signed(type))
        return (i64)sign_extend(a, bytes) < (i64)sign_extend(b, bytes);
    return a < b;
}

static f64 as_number(u64 bits, u32 bytes)
{
    f32 narrow;
    f64 wide;
    u32 word = (u32)bits;
    memcpy(&narrow, &word, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return bytes == 4 ? (f64)narrow : wide;
}

/* Whether a compare-and-swap writes. As floats: zeros are equal, and NaN equals nothing. */
static bool compares(const struct inst *inst, const struct update *u, u32 bytes)
{
    if (inst->key == ATOMIC_FCAS)
        return as_number(u->old[0], bytes) == as_number(u->value[0], bytes);
    return u->old[0] == u->value[0] && u->old[1] == u->value[1];
}

/* The new low 64 bits of memory; the caller handles exchanges and compares of 128 bits. */
static u64 combine(const struct inst *inst, const struct update *u, u32 bytes)
{
    u64 old = u->old[0], value = u->value[0];
    switch (inst->key) {
    case ATOMIC_ADD:
        return add(inst->type, old, value, u->ftz);
    case ATOMIC_MIN:
        return less(inst->type, value, old, bytes) ? value : old;
    case ATOMIC_MAX:
        return less(inst->type, old, value, bytes) ? value : old;
    case ATOMIC_AND:
        return old & value;
    case ATOMIC_OR:
        return old | value;
    case ATOMIC_XOR:
        return old ^ value;
    case ATOMIC_INC:
        return old >= value ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > value ? value : old - 1;
    case ATOMIC_SUB:
        return old - value;
    case ATOMIC_RSUB:
        return value - old;
    case ATOMIC_MSKOR:
        return (old & ~value) | u->other[0];
    case ATOMIC_FMIN: /* a comparison with NaN is false: memory stays */
        return as_number(value, bytes) < as_number(old, bytes) ? value : old;
    case ATOMIC_FMAX:
        return as_number(value, bytes) > as_number(old, bytes) ? value : old;
    default: /* exchange */
        return value;
    }
}

static void update_memory(const struct inst *inst, struct update *u, u8 *at, u32 bytes)
{
    u32 low = MIN(bytes, 8u), high = bytes - low;
    memcpy(&u->old[0], at, low);
    memcpy(&u->old[1], at + low, high);
    u64 next[2] = {0, u->value[1]};
    if (inst->key == ATOMIC_CAS || inst->key == ATOMIC_FCAS) {
        if (!compares(inst, u, bytes))
            return;
        next[0] = u->other[0];
        next[1] = u->other[1];
    } else {
        next[0] = combine(inst, u, bytes);
    }
    memcpy(at, &next[0], low);
    memcpy(at + low, &next[1], high);
}

u64 atomic_update(const struct inst *inst, u8 *at, u32 bytes, u64 value, u64 other)
{
    struct update u = {.value = {value}, .other = {other}};
    update_memory(inst, &u, at, bytes);
    return u.old[0];
}

/* Element `element` of an operand, `bytes` wide, for one lane. */
static void read_operand(u64 *value, const u32 *row, u32 stride, u32 element, u32 lane, u32 bytes)
{
    value[0] = value[1] = 0;
    if (!row)
        return;
    u32 words = (bytes + 3) / 4;
    for (u32 j = 0; j < words; j++)
        value[j / 2] |= (u64)row[(element * words + j) * stride + lane] << 32 * (j % 2);
    if (bytes < 4)
        value[0] &= (1ull << 8 * bytes) - 1;
}

/* add.f32 flushes subnormals in global memory but not in shared memory, as in the PTX manual. */
static bool flushes(const struct warp *warp, const struct inst *inst, const u8 *at)
{
    u64 offset = (uintptr_t)at - (uintptr_t)warp->block->shared;
    bool in_shared = warp->block->shared && offset < warp->block->shared_bytes;
    return inst->type == TYPE_F32 && !in_shared;
}

bool atomic_is_word(const struct inst *inst)
{
    bool known = !type_is_float(inst->type) || (inst->type == TYPE_F32 && inst->key == ATOMIC_ADD);
    known &= inst->key != ATOMIC_FMIN && inst->key != ATOMIC_FMAX && inst->key != ATOMIC_FCAS;
    return known && type_bytes(inst->type) == 4 && inst->vector <= 1;
}

/* atomic_add_f32; nearly all numbers, and their sums, are normal. */
static inline u32 add_f32(u32 a, u32 b, bool ftz)
{
    enum {
        EXPONENT = 0x7f800000
    };
    f32 x, y;
    u32 sum;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&sum, &x, sizeof sum);
    const bool normal = a & EXPONENT && b & EXPONENT && sum & EXPONENT;
    return LIKELY(normal && (sum & EXPONENT) != EXPONENT) ? sum : atomic_add_f32(a, b, ftz);
}

#define EACH_WORD(next)                                         \
    for (u32 set = mask; set; set &= set - 1) {                 \
        const u32 lane = first_lane(set), value = values[lane]; \
        u8 *const at = base + offset[lane];                     \
        u32 old;                                                \
        memcpy(&old, at, sizeof old);                           \
        const u32 new = (next);                                 \
        memcpy(at, &new, sizeof new);                           \
        to[lane] = old;                                         \
    }                                                           \
    return

/* The most common atomics, without a decision per lane: `combine` for 32 bits. */
void atomic_words(const struct inst *inst, u8 *base, const u32 *offset, u32 mask, const u32 *values,
                  const u32 *others, u32 *result, bool ftz)
{
    const u32 flip = type_is_signed(inst->type) ? 1u << 31 : 0; /* maps signed order to unsigned */
    u32 nowhere[LANES], *const to = result ? result : nowhere;
    switch (inst->key) {
    case ATOMIC_ADD:
        if (inst->type == TYPE_F32) {
            EACH_WORD(add_f32(old, value, ftz));
        }
        EACH_WORD(old + value);
    case ATOMIC_MIN:
        EACH_WORD((value ^ flip) < (old ^ flip) ? value : old);
    case ATOMIC_MAX:
        EACH_WORD((value ^ flip) > (old ^ flip) ? value : old);
    case ATOMIC_AND:
        EACH_WORD(old & value);
    case ATOMIC_OR:
        EACH_WORD(old | value);
    case ATOMIC_XOR:
        EACH_WORD(old ^ value);
    case ATOMIC_INC:
        EACH_WORD(old >= value ? 0 : old + 1);
    case ATOMIC_DEC:
        EACH_WORD(old == 0 || old > value ? value : old - 1);
    case ATOMIC_SUB:
        EACH_WORD(old - value);
    case ATOMIC_RSUB:
        EACH_WORD(value - old);
    case ATOMIC_MSKOR:
        EACH_WORD((old & ~value) | others[lane]);
    case ATOMIC_CAS:
        EACH_WORD(old == value ? others[lane] : old);
    default: /* exchange */
        EACH_WORD(value);
    }
}

/* Rows of an atomic's operands and results; absent ones are NULL. */
struct rows {
    const u32 *value, *other; /* as in struct update */
    u32 *result, *high;
};

static struct rows atomic_rows(const struct inst *inst, const struct step *step,
                               const struct chunk *chunk)
{
    u32 stride = chunk->lanes.stride, words = (type_bytes(inst->type) + 3) / 4;
    bool compares_too = inst->key == ATOMIC_CAS || inst->key == ATOMIC_FCAS;
    struct rows rows = {chunk_row(chunk, step, 1), chunk_row(chunk, step, 2),
                        chunk_row(chunk, step, SLOT_DST), NULL};
    if (inst->op == OP_atom_b128) { /* two operands in one row, two results in two */
        rows.other = inst->key == ATOMIC_CAS ? rows.value + 4 * stride : NULL;
        rows.high = chunk_row(chunk, step, SLOT_DST + 1);
    } else if (inst->op == OP_buf_atom) { /* the new value, then the value to compare */
        const u32 *data = chunk_row(chunk, step, 3);
        rows.value = compares_too ? data + words * stride : data;
        rows.other = compares_too ? data : NULL;
    }
    return rows;
}

static void update_lane(struct warp *warp, const struct inst *inst, u32 stride,
                        const struct rows *rows, u8 *at, u32 lane)
{
    u32 bytes = type_bytes(inst->type), words = (bytes + 3) / 4;
    for (u32 e = 0; e < MAX(inst->vector, 1); e++) {
        struct update u = {.ftz = flushes(warp, inst, at)};
        read_operand(u.value, rows->value, stride, e, lane, bytes);
        read_operand(u.other, rows->other, stride, e, lane, bytes);
        update_memory(inst, &u, at + e * bytes, bytes);
        for (u32 j = 0; j < MIN(words, 2u) && rows->result; j++)
            rows->result[(e * words + j) * stride + lane] = (u32)(u.old[0] >> 32 * j);
        for (u32 j = 0; j < 2 && rows->high; j++)
            rows->high[j * stride + lane] = (u32)(u.old[1] >> 32 * j);
    }
}

/* Lanes that are out of range change nothing and get zeros. */
static bool update_lanes(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk,
                         const struct addresses *addresses, u32 mask, u32 inside)
{
    const struct inst *inst = warp_inst(warp, pc);
    u32 bytes = type_bytes(inst->type) * MAX(inst->vector, 1), stride = chunk->lanes.stride;
    struct access access;
    if (inside && !access_find(warp, pc, step, chunk, addresses, inside, bytes, true, &access))
        return false;
    const struct rows rows = atomic_rows(inst, step, chunk);
    if (UNLIKELY(inside != mask) && rows.result)
        lanes_clear(rows.result, stride, inst->dst[0].count, mask & ~inside);
    if (!inside)
        return true;
    bool recorded = exec_records(warp->exec);
    if (atomic_is_word(inst) && !recorded && access.base) {
        atomic_words(inst, access.base, access.offset, inside, rows.value, rows.other, rows.result,
                     flushes(warp, inst, access.base + access.offset[first_lane(inside)]));
        return true;
    }
    access_pointers(&access, inside);
    for (u32 set = inside; set; set &= set - 1) {
        u32 lane = first_lane(set);
        update_lane(warp, inst, stride, &rows, access.at[lane], lane);
        if (recorded)
            access_record(warp, chunk, lane, addresses, &access, bytes);
    }
    return true;
}

bool atomic_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    if (inst->op == OP_exch2)
        return pair_step(warp, pc, step, chunk, mask);
    if (inst->op == OP_atom_src2)
        return atomic_src2_step(warp, pc, step, chunk, mask);
    if (inst->op == OP_buf_atom) {
        struct buffer_access buffer;
        buffer_locate(warp, inst, step, chunk, mask, type_bytes(inst->type), &buffer);
        return update_lanes(warp, pc, step, chunk, &buffer.addresses, mask, buffer.inside) ||
               buffer_explain(warp, &buffer);
    }
    struct addresses addresses = access_addresses(warp, step, chunk, inst);
    u32 bytes = type_bytes(inst->type) * MAX(inst->vector, 1);
    u32 inside = access_within(warp, &addresses, mask, bytes);
    return update_lanes(warp, pc, step, chunk, &addresses, mask, inside);
}

static bool check_lanes(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    u32 bytes = type_bytes(inst->type) * MAX(inst->vector, 1), inside;
    struct access access;
    if (inst->op == OP_buf_atom) {
        struct buffer_access buffer;
        buffer_locate(warp, inst, step, chunk, mask, type_bytes(inst->type), &buffer);
        inside = buffer.inside;
        return !inside ||
               access_find(warp, pc, step, chunk, &buffer.addresses, inside, bytes, true,
                           &access) ||
               buffer_explain(warp, &buffer);
    }
    const struct addresses addresses = access_addresses(warp, step, chunk, inst);
    inside = access_within(warp, &addresses, mask, bytes);
    return !inside || access_find(warp, pc, step, chunk, &addresses, inside, bytes, true, &access);
}

bool atomic_check(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    struct bounds *const bounds = warp->exec->bounds;
    if (LIKELY(!bounds))
        return check_lanes(warp, pc, step, chunk, mask);
    bounds->checking = true;
    const bool found = check_lanes(warp, pc, step, chunk, mask);
    bounds->checking = false;
    return found;
}
