/*
 * Loads to scalars, once for the warp, whatever lanes are active.
 *
 * The two lowest bits of base and offset are ignored. Through a descriptor, a word is out of range,
 * and reads as 0, if it does not end within the buffer's bytes: its records, times the stride if it
 * has one.
 */
#include "exec/bounds.h"
#include "exec/buffer.h"
#include "exec/scalars.h"

/* Host memory of a range in one allocation; tries the one that this step used last first. */
static const u8 *find(const struct warp *warp, struct step *step, u64 address, u32 bytes)
{
    const struct memory *memory = warp->exec->memory;
    const struct allocation *a = step->hint;
    if (!a || step->hint_generation != *memory_generation(memory) || address < a->address ||
        address - a->address > a->size || a->size - (address - a->address) < bytes) {
        a = memory_find(memory, address, bytes);
        if (!a)
            return NULL;
        step->hint = a;
        step->hint_generation = *memory_generation(memory);
    }
    return a->host + (address - a->address);
}

struct scalar_place scalar_load_place(const struct warp *warp, u32 pc, const struct step *step)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u64 offset = ((u64)inst->imm + step_scalar(warp, step, inst, 1, 0)) & ~3ull;
    struct scalar_place place = {.words = inst->dst[0].count, .inside = inst->dst[0].count};
    u32 words[4] = {0};
    for (u32 k = 0; k < MIN(inst->src[0].count, 4u); k++)
        words[k] = step_scalar(warp, step, inst, 0, k);
    u64 base = words[0] | (u64)words[1] << 32;
    if (inst->op == OP_ld_scalar_buffer) {
        const struct buffer b = buffer_unpack(words);
        const u64 bytes = b.stride ? (u64)b.records * b.stride : b.records;
        const u64 left = bytes > offset ? (bytes - offset) / 4 : 0;
        base = b.base;
        place.inside = (u32)MIN(left, place.words);
    }
    place.address = (base & ~3ull) + offset;
    return place;
}

const u8 *scalar_load_find(struct warp *warp, u32 pc, struct step *step,
                           const struct scalar_place *place)
{
    if (!place->inside)
        return NULL;
    const u8 *from = find(warp, step, place->address, 4 * place->inside);
    if (UNLIKELY(!from && warp->exec->bounds))
        from = bounds_pass_scalar(warp, pc, place->address, 4 * place->inside);
    if (!from)
        fault_memory(warp, pc, warp->active ? first_lane(warp->active) : 0, place->address,
                     4 * place->inside, 0);
    return from;
}

bool scalar_load_step(struct warp *warp, u32 pc, struct step *step)
{
    const struct scalar_place place = scalar_load_place(warp, pc, step);
    const u8 *from = scalar_load_find(warp, pc, step, &place);
    if (!from && place.inside)
        return false;
    for (u32 k = 0; k < place.words; k++) {
        u32 word = 0;
        if (k < place.inside)
            memcpy(&word, from + 4 * (size_t)k, sizeof word);
        scalar_write(warp, warp_inst(warp, pc)->dst[0], k, word);
    }
    return true;
}
