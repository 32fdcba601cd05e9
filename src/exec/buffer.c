/*
 * Accesses through buffer descriptors: the address of each lane, which lanes are in range, and
 * moving what they load and store. Only buffer_locate computes addresses; after it all accesses are
 * alike.
 *
 * The address of a lane is base + scalar offset + buffer offset. The buffer offset consists of an
 * index (a register, the lane's number, or their sum) and an offset (a register plus the
 * instruction's constant): index * stride + offset, or, swizzled, with `index stride` records
 * interleaved by elements. With a 64-bit address in registers it is only base + scalar offset +
 * constant + address, and nothing is checked.
 *
 * Range, according to the Southern Islands manual:
 *  - stride 0: out of range if scalar offset + buffer offset do not end within `records` bytes.
 *    Each word of an access of several words is checked by itself; a texel and an atomic as a
 *    whole.
 *  - otherwise: if the index >= records or, if the index comes from a register or from the lane,
 *    the offset >= stride; the whole access at once.
 * Loads out of range give 0, stores are dropped. An address in range but in no allocation is a
 * fault. Where misalignment is no fault, the low bits of an address (not of its parts) are ignored.
 *
 * Chosen where the manual is silent: the offset (register plus constant) wraps at 32 bits, nothing
 * else does; an access is contiguous from its first byte, swizzled or not; a scalar offset counts
 * only for plain buffers; a texel is moved as a whole, components without a register are stored as
 * 0, and stores ignore the selectors.
 */
#include "exec/buffer.h"
#include "exec/memory_view.h"
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
                   const struct chunk *chunk, u32 mask, u32 bytes, struct buffer_access *access)
{
    u32 words[4];
    for (u32 k = 0; k < 4; k++)
        words[k] = step_scalar(warp, step, inst, 1, k);
    const struct buffer b = buffer_unpack(words);
    const u32 stride = chunk->lanes.stride, flags = inst->key2, constant = (u16)inst->imm;
    const u32 *const zeros = warp->exec->image->constants; /* P3 of ir/program.h */
    const u32 *const row = chunk_row(chunk, step, 0);
    access->buffer = b;
    access->scalar_offset = step_scalar(warp, step, inst, 2, 0);
    access->inside = mask;
    access->checked = !(flags & BUFFER_ADDRESS);
    access->addresses = (struct addresses){.low = access->low,
                                           .high = access->high,
                                           .add = (i64)(b.base + access->scalar_offset),
                                           .wide = true,
                                           .space = SPACE_GLOBAL};
    if (!warp->exec->image->program->traits.window_faults && bytes)
        access->addresses.ignored = access_align(inst, bytes) - 1;
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
        const u32 offset = offset_row[i] + constant;
        u64 at = buffer_offset(&b, index, offset);
        at -= (at + (u64)access->addresses.add) & access->addresses.ignored;
        const bool in = b.stride ? index < b.records && !(indexed && offset >= b.stride)
                                 : at + access->scalar_offset + bytes <= b.records;
        access->low[i] = (u32)at;
        access->high[i] = (u32)(at >> 32);
        inside |= (u32)in << i;
    }
    access->inside &= inside;
}

u32 buffer_inside(const struct buffer_access *access, u32 bytes)
{
    if (!access->checked || access->buffer.stride)
        return access->inside;
    u32 inside = 0;
    for (u32 set = access->inside; set; set &= set - 1) {
        u32 lane = first_lane(set);
        u64 at = access->low[lane] | (u64)access->high[lane] << 32;
        inside |= (u32)(at + access->scalar_offset + bytes <= access->buffer.records) << lane;
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

/* A load's words on their way to shared memory: one register. */
struct landing {
    u32 words[LANES];
};

/* Loads directly to shared memory: one word per lane, side by side from M0's address on. */
static bool land(struct warp *warp, u32 pc, const struct step *step, const struct chunk *chunk,
                 u32 mask, const struct landing *landing)
{
    const struct inst *inst = warp_inst(warp, pc);
    struct exec *exec = warp->exec;
    const u32 first = LANES * (u32)(chunk - warp->chunks);
    const u32 start = (step_scalar(warp, step, inst, 3, 0) & 0xffff) + (u16)inst->imm;
    const u32 ignored = exec->image->program->traits.window_faults ? 0 : 3;
    for (u32 set = mask; set; set &= set - 1) {
        const u32 lane = first_lane(set), at = (start + 4 * (first + lane)) & ~ignored;
        const bool in = at + 4 <= warp->block->shared_bytes;
        if (!in && !exec->image->program->traits.window_faults)
            continue;
        if (!in || at & 3) {
            fault_at(
                warp, pc, first + lane, in ? OUTCOME_MISALIGNED : OUTCOME_OUT_OF_BOUNDS,
                "%s: write of 4 bytes at 0x%x in shared memory, of which the block has %u bytes",
                in ? "misaligned access" : "out of bounds", at, warp->block->shared_bytes);
            return false;
        }
        memcpy(warp->block->shared + at, &landing->words[lane], 4);
        if (exec_records(exec))
            exec->watcher->stored(exec->watcher, warp, first + lane, SPACE_SHARED, at,
                                  warp->block->shared + at, 4);
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
    bool is_signed = loads_signed(inst), recorded = exec_records(warp->exec);
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
    if (LIKELY(!is_store(inst) || !exec_records(warp->exec))) {
        access_move(warp, chunk, row, words, mask, access, is_store(inst));
        return;
    }
    access_pointers(access, mask);
    for (u32 set = mask; set; set &= set - 1) {
        access_move(warp, chunk, row, words, set & -set, access, true);
        access_record(warp, chunk, first_lane(set), addresses, access, 4 * words);
    }
}

/*
 * The range ends within some lanes' words: each word is a separate access. A core's memory view
 * sees them lane by lane, in the order in which they act, so that later lanes win.
 */
static bool move_apart(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 *row,
                       u32 words, u32 mask, const struct buffer_access *buffer)
{
    const struct inst *inst = warp_inst(warp, pc);
    struct memory_view *const view = warp->memory_view;
    struct access access[4];
    struct addresses addresses[4];
    u32 inside[4], outside[4] = {0};
    bool found = true;
    assert(words <= 4);
    warp->memory_view = NULL;
    for (u32 j = 0; j < words && found; j++) {
        inside[j] = buffer_inside(buffer, 4 * (j + 1));
        addresses[j] = buffer->addresses;
        addresses[j].add += 4 * j;
        if (!inside[j])
            continue;
        found = access_find(warp, pc, step, chunk, &addresses[j], inside[j], 4, is_store(inst),
                            &access[j]);
        outside[j] = access[j].base ? 0 : access[j].outside;
        access_apart(&access[j], found ? inside[j] : 0);
    }
    warp->memory_view = view;
    if (!found)
        return buffer_explain(warp, buffer);
    if (!is_store(inst))
        lanes_clear(row, chunk->lanes.stride, words, mask);
    for (u32 set = buffer->inside; set; set &= set - 1)
        for (u32 j = 0; j < words; j++) {
            const u32 lane = inside[j] & set & -set;
            if (lane && view && !(outside[j] & lane))
                memory_view_redirect(view, warp->exec->image->moves, &access[j], lane, 4,
                                     is_store(inst));
            if (lane)
                move_words(warp, chunk, inst, row + j * chunk->lanes.stride, 1, lane, &addresses[j],
                           &access[j]);
        }
    return true;
}

/* Elements without conversion: words, or one element of less than a word. */
static bool move_raw(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 *row,
                     u32 mask, const struct buffer_access *buffer)
{
    const struct inst *inst = warp_inst(warp, pc);
    u32 total = type_bytes(inst->type) * MAX(inst->vector, 1), words = MAX(total / 4, 1);
    u32 inside = buffer->inside;
    if (words > 1 && UNLIKELY(buffer_inside(buffer, 4 * words) != inside))
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

/* What the registers of a load get: a component of the texel, or a constant. */
enum {
    SELECT_ZERO,
    SELECT_ONE,
    SELECT_FIRST = 4
};

/* `format.bytes` is 0 if there is no such format. */
static struct texel_format find_format(const struct inst *inst, const struct warp *warp,
                                       const struct step *step)
{
    u32 word = (u32)(inst->imm >> 16);
    u32 data = word & 15, number = word >> 4 & 7;
    if (inst->key == BUFFER_DESCRIPTOR) {
        word = step_scalar(warp, step, inst, 1, 3);
        data = word >> 15 & 15;
        number = word >> 12 & 7;
    }
    struct texel_format format;
    if (!texel_format(data, number, &format))
        format.bytes = 0;
    return format;
}

static void load_texel(const struct texel_format *format, u32 select, const u8 *from, u32 *row,
                       u32 stride, u32 registers)
{
    for (u32 i = 0; i < registers; i++) {
        u32 which = select >> 3 * i & 7, component = which - SELECT_FIRST;
        bool one = which == SELECT_ONE; /* a missing fourth component is also one */
        if (which >= SELECT_FIRST && component < format->components)
            row[i * stride] = texel_load(format, from, component);
        else
            row[i * stride] = one || component == 3 ? texel_one(format) : 0;
    }
}

static void store_texel(const struct texel_format *format, u8 *to, const u32 *row, u32 stride,
                        u32 registers)
{
    u32 words[4] = {0};
    for (u32 i = 0; i < MIN(registers, format->components); i++)
        words[format->shift[i] / 32] |= texel_store(format, row[i * stride], i)
                                        << format->shift[i] % 32;
    memcpy(to, words, format->bytes);
}

static bool move_texels(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 *row,
                        u32 mask, const struct texel_format *format,
                        const struct buffer_access *buffer)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u32 stride = chunk->lanes.stride, registers = MAX(inst->vector, 1);
    const u32 in_order = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    const u32 select = inst->key == BUFFER_TYPED ? in_order : buffer->buffer.select;
    const u32 inside = format->bytes ? buffer->inside : 0; /* no such format: never in range */
    struct access access;
    if (inside && !access_find(warp, pc, step, chunk, &buffer->addresses, inside, format->bytes,
                               is_store(inst), &access))
        return buffer_explain(warp, buffer);
    if (!is_store(inst))
        lanes_clear(row, stride, registers, mask & ~inside);
    if (inside)
        access_pointers(&access, inside);
    for (u32 set = inside; set; set &= set - 1) {
        u32 lane = first_lane(set);
        if (!is_store(inst)) {
            load_texel(format, select, access.at[lane], row + lane, stride, registers);
            continue;
        }
        store_texel(format, access.at[lane], row + lane, stride, registers);
        if (exec_records(warp->exec))
            access_record(warp, chunk, lane, &buffer->addresses, &access, format->bytes);
    }
    return true;
}

u32 buffer_bytes(const struct warp *warp, const struct inst *inst, const struct step *step)
{
    if (inst->op == OP_buf_atom)
        return type_bytes(inst->type);
    if (inst->key != BUFFER_RAW)
        return find_format(inst, warp, step).bytes;
    return MIN(type_bytes(inst->type), 4u);
}

bool buffer_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    bool to_shared = inst->op == OP_buf_ld && inst->key2 & BUFFER_LDS;
    bool raw = inst->key == BUFFER_RAW, done;
    struct landing landing = {0};
    struct buffer_access buffer;
    struct texel_format format;
    if (!raw)
        format = find_format(inst, warp, step);
    buffer_locate(warp, inst, step, chunk, mask, buffer_bytes(warp, inst, step), &buffer);
    u32 *row = to_shared ? landing.words : chunk_row(chunk, step, is_store(inst) ? 3 : SLOT_DST);
    done = raw ? move_raw(warp, pc, step, chunk, row, mask, &buffer)
               : move_texels(warp, pc, step, chunk, row, mask, &format, &buffer);
    if (!done)
        return false;
    if (to_shared)
        return land(warp, pc, step, chunk, mask, &landing);
    if (!is_store(inst) && inst->key2 & BUFFER_STATUS) { /* after the data: nothing failed */
        u32 words = MAX(type_bytes(inst->type) * MAX(inst->vector, 1) / 4, 1u);
        lanes_clear(row + words * chunk->lanes.stride, 0, 1, mask);
    }
    return true;
}
