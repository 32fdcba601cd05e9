/*
 * Operations that only shared memory has: accesses of two elements, atomics between two places, and
 * the exchange of words between lanes through its crossbar, without accessing memory.
 *
 * Each element of a pair is in range or out of range by itself.
 *
 * Atomics between two places (atom_src2): imm is the instruction's 16-bit offset. With bit 15 clear
 * the place that is changed is the address; the other one is bits 0 to 14, signed, words later.
 * With bit 15 set it is bits 0 to 16 of the address, and bits 17 to 31, signed, are the distance.
 * Both are taken modulo 64 KiB and rounded down to a multiple of the element. A second place out of
 * range reads as 0.
 */
#include "exec/scalars.h"

enum {
    PAIR = 2
};

struct pair {
    struct addresses addresses[PAIR];
    struct access access[PAIR];
    u32 inside[PAIR];
    u32 bytes, words; /* of an element */
};

struct addresses pair_addresses(const struct warp *warp, const struct step *step,
                                const struct chunk *chunk, const struct inst *inst, u32 element)
{
    struct addresses addresses = access_addresses(warp, step, chunk, inst);
    addresses.add = (u32)(inst->imm >> 32 * element);
    return addresses;
}

static bool find_pair(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask,
                      struct pair *pair)
{
    const struct inst *inst = warp_inst(warp, pc);
    pair->bytes = type_bytes(inst->type);
    pair->words = MAX(pair->bytes / 4, 1);
    for (u32 e = 0; e < PAIR; e++) {
        struct addresses *addresses = &pair->addresses[e];
        *addresses = pair_addresses(warp, step, chunk, inst, e);
        pair->inside[e] = access_within(warp, addresses, mask, pair->bytes);
        if (pair->inside[e] && !access_find(warp, pc, step, chunk, addresses, pair->inside[e],
                                            pair->bytes, inst->op != OP_ld2, &pair->access[e]))
            return false;
    }
    return true;
}

static u64 read_element(const u32 *row, u32 stride, u32 words)
{
    return row[0] | (words > 1 ? (u64)row[stride] << 32 : 0);
}

/* Lane by lane, first element first; later lanes win. */
static void pair_lane(struct warp *warp, struct step *step, struct chunk *chunk, u32 lane,
                      struct pair *pair, bool exchange)
{
    u32 stride = chunk->lanes.stride;
    u64 old[PAIR] = {0};
    for (u32 e = 0; e < PAIR; e++) {
        if (!(pair->inside[e] >> lane & 1))
            continue;
        u64 value = read_element(chunk_row(chunk, step, 1 + e) + lane, stride, pair->words);
        u8 *at = pair->access[e].at[lane];
        memcpy(&old[e], at, pair->bytes);
        memcpy(at, &value, pair->bytes);
        if (exec_records(warp->exec))
            access_record(warp, chunk, lane, &pair->addresses[e], &pair->access[e], pair->bytes);
    }
    u32 *result = chunk_row(chunk, step, SLOT_DST);
    for (u32 e = 0; exchange && e < PAIR; e++)
        for (u32 j = 0; j < pair->words; j++)
            result[(e * pair->words + j) * stride + lane] = (u32)(old[e] >> 32 * (j & 1));
}

bool pair_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u32 stride = chunk->lanes.stride;
    struct pair pair;
    if (!find_pair(warp, pc, step, chunk, mask, &pair))
        return false;
    if (inst->op != OP_ld2) {
        for (u32 e = 0; e < PAIR; e++)
            if (pair.inside[e])
                access_pointers(&pair.access[e], pair.inside[e]);
        for (u32 set = mask; set; set &= set - 1)
            pair_lane(warp, step, chunk, first_lane(set), &pair, inst->op == OP_exch2);
        return true;
    }
    for (u32 e = 0; e < PAIR; e++) {
        u32 *row = chunk_row(chunk, step, SLOT_DST) + e * pair.words * stride;
        lanes_clear(row, stride, pair.words, mask & ~pair.inside[e]);
        if (pair.inside[e])
            access_move(warp, chunk, row, pair.words, pair.inside[e], &pair.access[e], false);
    }
    return true;
}

static i32 extend(u32 value, u32 bits)
{
    return (i32)(value << (32 - bits)) >> (32 - bits);
}

void src2_locate(const struct warp *warp, const struct step *step, const struct chunk *chunk,
                 const struct inst *inst, struct src2_places *places)
{
    const struct addresses given = access_addresses(warp, step, chunk, inst);
    const u32 bytes = type_bytes(inst->type), down = 0xffff & ~(bytes - 1);
    const u32 offset = (u16)inst->imm;
    for (u32 lane = 0; lane < LANES; lane++) {
        u32 address = given.low[lane];
        i32 distance = offset >> 15 ? extend(address >> 17, 15) : extend(offset, 15);
        places->to[lane] = (offset >> 15 ? address & 0x1ffff : address) & down;
        places->from[lane] = (places->to[lane] + 4 * (u32)distance) & down;
    }
    places->target = places->source = given;
    places->target.low = places->to;
    places->source.low = places->from;
    places->target.add = places->source.add = 0;
}

bool atomic_src2_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u32 bytes = type_bytes(inst->type);
    struct src2_places places;
    src2_locate(warp, step, chunk, inst, &places);
    const struct addresses *const target = &places.target, *const source = &places.source;
    const u32 written = access_within(warp, target, mask, bytes);
    const u32 read = access_within(warp, source, written, bytes);
    struct access at, other;
    if ((written && !access_find(warp, pc, step, chunk, target, written, bytes, true, &at)) ||
        (read && !access_find(warp, pc, step, chunk, source, read, bytes, false, &other)))
        return false;
    if (written)
        access_pointers(&at, written);
    if (read)
        access_pointers(&other, read);
    for (u32 set = written; set; set &= set - 1) {
        u32 lane = first_lane(set);
        u64 value = 0;
        if (read >> lane & 1)
            memcpy(&value, other.at[lane], bytes);
        atomic_update(inst, at.at[lane], bytes, value, 0);
        if (exec_records(warp->exec))
            access_record(warp, chunk, lane, target, &at, bytes);
    }
    return true;
}

/*
 * imm: with bit 15 clear, lanes of each 32 read the lane that results from applying and, or, xor
 * masks (5 bits each from bit 0 on) to their number; with it set, lanes of each 4 read the lane
 * that their 2 bits name. An inactive lane reads as 0.
 */
void swizzle_step(struct warp *warp, u32 pc, struct step *step, lane_set lanes)
{
    const u32 pattern = (u16)warp_inst(warp, pc)->imm;
    u32 values[MAX_LANES] = {0};
    for (lane_set set = lanes; set; set &= set - 1) {
        u32 lane = first_lane(set);
        values[lane] = chunk_row(&warp->chunks[lane / LANES], step, 0)[lane % LANES];
    }
    for (lane_set set = lanes; set; set &= set - 1) {
        u32 lane = first_lane(set), group = lane & ~31u;
        u32 from = group | ((((lane & pattern) | pattern >> 5) ^ pattern >> 10) & 31);
        if (pattern >> 15)
            from = (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3);
        chunk_row(&warp->chunks[lane / LANES], step, SLOT_DST)[lane % LANES] = values[from];
    }
}

bool append_step(struct warp *warp, u32 pc, struct step *step, lane_set lanes)
{
    const struct inst *inst = warp_inst(warp, pc);
    struct exec *exec = warp->exec;
    const bool faults = exec->image->program->traits.window_faults;
    u32 at = (step_scalar(warp, step, inst, 0, 0) & 0xffff) + (u16)inst->imm, old = 0;
    if (!lanes)
        return true;
    if (!faults)
        at &= ~3u;
    const bool in = (u64)at + 4 <= warp->block->shared_bytes;
    if (faults && (!in || at & 3)) {
        fault_at(warp, pc, first_lane(lanes), in ? OUTCOME_MISALIGNED : OUTCOME_OUT_OF_BOUNDS,
                 "%s: atomic of 4 bytes at 0x%x in shared memory, of which the block has %u bytes",
                 in ? "misaligned access" : "out of bounds", at, warp->block->shared_bytes);
        return false;
    }
    if (in) {
        u8 *place = warp->block->shared + at;
        memcpy(&old, place, sizeof old);
        const u32 now = inst->key ? old - count_lanes(lanes) : old + count_lanes(lanes);
        memcpy(place, &now, sizeof now);
        if (exec_records(exec))
            exec->watcher->stored(exec->watcher, warp, first_lane(lanes), SPACE_SHARED, at, place,
                                  sizeof now);
    }
    for (lane_set set = lanes; set; set &= set - 1) {
        u32 lane = first_lane(set);
        chunk_row(&warp->chunks[lane / LANES], step, SLOT_DST)[lane % LANES] = old;
    }
    return true;
}
