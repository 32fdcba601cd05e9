/*
 * Accesses through buffer descriptors: where each lane goes, which lanes are in range, and moving
 * what they load and store. buffer_locate is the one place that knows how addresses are made; after
 * it all accesses are alike.
 *
 * The address of a lane is base + scalar offset + buffer offset. The buffer offset is made of an
 * index (a register, the lane's number, or their sum) and an offset (a register plus the
 * instruction's constant): index * stride + offset, or, swizzled, with `index stride` records
 * interleaved by elements. With a 64-bit address in registers there is only base + scalar offset +
 * constant + address, and nothing is checked.
 *
 * Range, as the Southern Islands manual has it:
 *  - stride 0: out of range when scalar offset + buffer offset >= records (bytes). Each word of an
 *    access of several words is checked by itself; a texel and an atomic by their first byte.
 *  - otherwise: when the index >= records or, if the index comes from a register or from the lane,
 *    the offset >= stride; the whole access at once.
 * Loads out of range give 0, stores are dropped. What is in range but in no allocation is a fault.
 *
 * Chosen where the manual is silent: sums do not wrap at 32 bits (hardware is known to refuse a
 * negative offset register made good by the constant); an access is contiguous from its first
 * byte, swizzled or not; a scalar offset counts against plain buffers only.
 */
#include "exec/buffer.h"
#include "exec/scalars.h"

static u64 buffer_offset(const struct buffer *b, u64 index, u64 offset)
{
    if (!b->swizzled)
        return index * b->stride + offset;
    u64 group = index >> b->index_shift, place = index & ((1u << b->index_shift) - 1);
    u64 element = offset >> b->element_shift, within = offset & ((1u << b->element_shift) - 1);
    return (((group * b->stride) + (element << b->element_shift)) << b->index_shift) +
           (place << b->element_shift) + within;
}

void buffer_locate(struct warp *warp, const struct inst *inst, const struct step *step,
                   const struct chunk *chunk, u32 mask, struct buffer_access *access)
{
    u32 words[4];
    for (u32 k = 0; k < 4; k++)
        words[k] = scalar_read(warp, inst->src[1], k);
    const struct buffer b = buffer_unpack(words);
    const u32 stride = chunk->lanes.stride, flags = inst->key2, constant = (u16)inst->imm;
    const u32 *const zeros = warp->exec->image->constants; /* P3 */
    const u32 *const row = chunk_row(chunk, step, 0);
    access->buffer = b;
    access->scalar_offset = scalar_read(warp, inst->src[2], 0);
    access->inside = mask;
    access->checked = !(flags & BUFFER_ADDRESS);
    access->addresses = (struct addresses){.low = access->low,
                                           .high = access->high,
                                           .add = (i64)(b.base + access->scalar_offset),
                                           .wide = true,
                                           .space = SPACE_GLOBAL};
    if (!access->checked) {
        access->addresses.low = row;
        access->addresses.high = row + stride;
        access->addresses.add += constant;
        return;
    }
    const u32 *const index_row = flags & BUFFER_INDEX ? row : zeros;
    const u32 *const offset_row =
        flags & BUFFER_OFFSET ? row + (flags & BUFFER_INDEX ? stride : 0) : zeros;
    const bool indexed = flags & BUFFER_INDEX || b.add_lane;
    const u32 first = b.add_lane ? LANES * (u32)(chunk - warp->chunks) : 0;
    u32 inside = 0;
    for (u32 i = 0; i < LANES; i++) {
        const u32 index = index_row[i] + (b.add_lane ? first + i : 0);
        const u64 offset = (u64)offset_row[i] + constant, at = buffer_offset(&b, index, offset);
        const bool in = b.stride ? index < b.records && !(indexed && offset >= b.stride)
                                 : at + access->scalar_offset < b.records;
        access->low[i] = (u32)at;
        access->high[i] = (u32)(at >> 32);
        inside |= (u32)in << i;
    }
    access->inside &= inside;
}

u32 buffer_inside(const struct buffer_access *access, u32 further)
{
    if (!access->checked || access->buffer.stride)
        return access->inside;
    u32 inside = 0;
    for (u32 set = access->inside; set; set &= set - 1) {
        u32 lane = first_lane(set);
        u64 at = access->low[lane] | (u64)access->high[lane] << 32;
        inside |= (u32)(at + further + access->scalar_offset < access->buffer.records) << lane;
    }
    return inside;
}

bool buffer_explain(struct warp *warp, const struct buffer_access *access)
{
    const struct buffer *b = &access->buffer;
    if (access->checked)
        fault_add(
            warp, "through a buffer descriptor: base 0x%llx, stride %u, %u %s%s, scalar offset %u",
            (unsigned long long)b->base, b->stride, b->records, b->stride ? "records" : "bytes",
            b->swizzled ? ", swizzled" : "", access->scalar_offset);
    else
        fault_add(warp,
                  "through a buffer descriptor: base 0x%llx, scalar offset %u, no range check",
                  (unsigned long long)b->base, access->scalar_offset);
    return false;
}

/* Where a load's words go before they are in shared memory: one register. */
struct landing {
    u32 words[LANES];
};

/* Loads straight to shared memory: a word a lane, side by side from M0's place on. */
static bool land(struct warp *warp, u32 pc, struct chunk *chunk, const struct inst *inst, u32 mask,
                 const struct landing *landing)
{
    struct exec *exec = warp->exec;
    const u32 first = LANES * (u32)(chunk - warp->chunks);
    const u32 start = (scalar_read(warp, inst->src[3], 0) & 0xffff) + (u16)inst->imm;
    for (u32 set = mask; set; set &= set - 1) {
        const u32 lane = first_lane(set), at = start + 4 * (first + lane);
        const bool in = at + 4 <= exec->shared_bytes;
        if (!in && !exec->image->program->traits.window_faults)
            continue;
        if (!in || at & 3) {
            fault_at(
                warp, pc, first + lane, in ? OUTCOME_MISALIGNED : OUTCOME_OUT_OF_BOUNDS,
                "%s: write of 4 bytes at 0x%x in shared memory, of which the block has %u bytes",
                in ? "misaligned access" : "out of bounds", at, exec->shared_bytes);
            return false;
        }
        memcpy(warp->block->shared + at, &landing->words[lane], 4);
        if (exec->on_store)
            exec->on_store(exec, warp, first + lane, SPACE_SHARED, at, warp->block->shared + at, 4);
    }
    return true;
}

static bool is_store(const struct inst *inst)
{
    return inst->op == OP_buf_st;
}

/* One element of less than a word. */
static void move_narrow(struct warp *warp, const struct chunk *chunk, const struct inst *inst,
                        u32 *row, u32 mask, const struct addresses *addresses,
                        struct access *access)
{
    u32 bytes = type_bytes(inst->type);
    bool is_signed = loads_signed(inst), recorded = warp->exec->on_store;
    access_pointers(access, mask);
    for (u32 set = mask; set; set &= set - 1) {
        u32 lane = first_lane(set);
        if (!is_store(inst)) {
            row[lane] = load_narrow(access->at[lane], bytes, is_signed);
            continue;
        }
        memcpy(access->at[lane], &row[lane], bytes);
        if (recorded)
            access_record(warp, chunk, lane, addresses, access, bytes);
    }
}

static void move_words(struct warp *warp, const struct chunk *chunk, const struct inst *inst,
                       u32 *row, u32 words, u32 mask, const struct addresses *addresses,
                       struct access *access)
{
    if (LIKELY(!is_store(inst) || !warp->exec->on_store)) {
        access_move(warp, chunk, row, words, mask, access, is_store(inst));
        return;
    }
    access_pointers(access, mask);
    for (u32 set = mask; set; set &= set - 1) {
        access_move(warp, chunk, row, words, set & -set, access, true);
        access_record(warp, chunk, first_lane(set), addresses, access, 4 * words);
    }
}

/* The range ends within some lanes' words: each word is an access of its own. */
static bool move_apart(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 *row,
                       u32 words, u32 mask, const struct buffer_access *buffer)
{
    const struct inst *inst = warp_inst(warp, pc);
    struct access access[4];
    struct addresses addresses[4];
    u32 inside[4];
    assert(words <= 4);
    for (u32 j = 0; j < words; j++) {
        inside[j] = buffer_inside(buffer, 4 * j);
        addresses[j] = buffer->addresses;
        addresses[j].add += 4 * j;
        if (inside[j] && !access_find(warp, pc, step, chunk, &addresses[j], inside[j], 4,
                                      is_store(inst), &access[j]))
            return buffer_explain(warp, buffer);
    }
    for (u32 j = 0; j < words; j++) {
        u32 *to = row + j * chunk->lanes.stride;
        if (!is_store(inst))
            lanes_clear(to, 0, 1, mask & ~inside[j]);
        if (inside[j])
            move_words(warp, chunk, inst, to, 1, inside[j], &addresses[j], &access[j]);
    }
    return true;
}

/* Elements as they are: words, or one element of less. */
static bool move_raw(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 *row,
                     u32 mask, const struct buffer_access *buffer)
{
    const struct inst *inst = warp_inst(warp, pc);
    u32 total = type_bytes(inst->type) * MAX(inst->vector, 1), words = MAX(total / 4, 1);
    u32 inside = buffer->inside;
    if (words > 1 && UNLIKELY(buffer_inside(buffer, 4 * (words - 1)) != inside))
        return move_apart(warp, pc, step, chunk, row, words, mask, buffer);
    struct access access;
    if (inside && !access_find(warp, pc, step, chunk, &buffer->addresses, inside, total,
                               is_store(inst), &access))
        return buffer_explain(warp, buffer);
    if (!is_store(inst) && UNLIKELY(inside != mask))
        lanes_clear(row, chunk->lanes.stride, words, mask & ~inside);
    if (!inside)
        return true;
    if (total < 4)
        move_narrow(warp, chunk, inst, row, inside, &buffer->addresses, &access);
    else
        move_words(warp, chunk, inst, row, words, inside, &buffer->addresses, &access);
    return true;
}

/* Which component of a texel register i stands for, or a constant. */
enum {
    SELECT_ZERO,
    SELECT_ONE,
    SELECT_FIRST = 4
};
struct selection {
    struct texel_format format;
    u8 select[4];
    u32 registers, components; /* as many of the texel are touched */
    u32 bytes;
};

static bool select_texel(const struct inst *inst, const struct buffer *b, struct selection *s)
{
    bool typed = inst->key == BUFFER_TYPED;
    u32 data = typed ? inst->imm >> 16 & 15 : b->data_format;
    u32 number = typed ? inst->imm >> 20 & 7 : b->number_format;
    *s = (struct selection){.registers = MAX(inst->vector, 1)};
    if (!texel_format(data, number, &s->format))
        return false;
    for (u32 i = 0; i < s->registers; i++) {
        s->select[i] = (u8)(typed ? SELECT_FIRST + i : b->select >> 3 * i & 7);
        if (s->select[i] >= SELECT_FIRST)
            s->components = MAX(s->components, s->select[i] - SELECT_FIRST + 1u);
    }
    s->components = MIN(s->components, s->format.components);
    s->bytes = s->format.packed ? s->format.bytes
                                : s->components * (s->format.bytes / s->format.components);
    return true;
}

static void load_texel(const struct selection *s, const u8 *from, u32 *row, u32 stride)
{
    u32 value[4];
    for (u32 i = 0; i < s->registers; i++) {
        u32 component = s->select[i] - SELECT_FIRST;
        if (s->select[i] < SELECT_FIRST)
            value[i] = s->select[i] == SELECT_ONE ? texel_one(&s->format) : 0;
        else if (component >= s->format.components) /* a missing alpha is one */
            value[i] = component == 3 ? texel_one(&s->format) : 0;
        else
            value[i] = texel_load(&s->format, from, component);
    }
    for (u32 i = 0; i < s->registers; i++)
        row[i * stride] = value[i];
}

/* Components that no register gives stay as they are; in a packed texel they become 0. */
static void store_texel(const struct selection *s, u8 *to, const u32 *row, u32 stride)
{
    u32 packed = 0;
    for (u32 i = 0; i < s->registers; i++) {
        u32 component = s->select[i] - SELECT_FIRST;
        if (s->select[i] < SELECT_FIRST || component >= s->components)
            continue;
        u32 bits = texel_store(&s->format, row[i * stride], component);
        if (s->format.packed)
            packed |= bits << s->format.shift[component];
        else
            memcpy(to + s->format.shift[component] / 8, &bits, s->format.bits[component] / 8);
    }
    if (s->format.packed)
        memcpy(to, &packed, s->format.bytes);
}

static void clear_texel(const struct selection *s, u32 *row, u32 stride, u32 mask)
{
    for (u32 set = mask; set; set &= set - 1)
        for (u32 i = 0; i < s->registers; i++)
            row[i * stride + first_lane(set)] =
                s->select[i] == SELECT_ONE ? texel_one(&s->format) : 0;
}

static bool move_texels(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 *row,
                        u32 mask, const struct buffer_access *buffer)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u32 stride = chunk->lanes.stride;
    struct selection s;
    struct access access;
    u32 inside = select_texel(inst, &buffer->buffer, &s) && s.components ? buffer->inside : 0;
    if (inside && !access_find(warp, pc, step, chunk, &buffer->addresses, inside, s.bytes,
                               is_store(inst), &access))
        return buffer_explain(warp, buffer);
    if (!is_store(inst))
        clear_texel(&s, row, stride, mask & ~inside);
    if (inside)
        access_pointers(&access, inside);
    for (u32 set = inside; set; set &= set - 1) {
        u32 lane = first_lane(set);
        if (!is_store(inst)) {
            load_texel(&s, access.at[lane], row + lane, stride);
            continue;
        }
        store_texel(&s, access.at[lane], row + lane, stride);
        if (warp->exec->on_store)
            access_record(warp, chunk, lane, &buffer->addresses, &access, s.bytes);
    }
    return true;
}

bool buffer_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    bool to_shared = inst->op == OP_buf_ld && inst->key2 & BUFFER_LDS;
    struct landing landing = {0};
    struct buffer_access buffer;
    buffer_locate(warp, inst, step, chunk, mask, &buffer);
    u32 *row = to_shared ? landing.words : chunk_row(chunk, step, is_store(inst) ? 3 : SLOT_DST);
    bool done = inst->key == BUFFER_RAW ? move_raw(warp, pc, step, chunk, row, mask, &buffer)
                                        : move_texels(warp, pc, step, chunk, row, mask, &buffer);
    if (!done)
        return false;
    if (to_shared)
        return land(warp, pc, chunk, inst, mask, &landing);
    if (!is_store(inst) && inst->key2 & BUFFER_STATUS) { /* after the data: nothing failed */
        u32 words = MAX(type_bytes(inst->type) * MAX(inst->vector, 1) / 4, 1u);
        lanes_clear(row + words * chunk->lanes.stride, 0, 1, mask);
    }
    return true;
}
