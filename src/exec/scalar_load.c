/*
 * Loads to scalars, once for the warp, whatever lanes run.
 *
 * The two lowest bits of base and offset do not count. Through a descriptor a word is out of range,
 * and reads as 0, when it does not end within the buffer's bytes: its records, times the stride if
 * it has one.
 */
#include "exec/buffer.h"
#include "exec/scalars.h"

/* Host memory of a range that one allocation holds, by way of the one this step touched last. */
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

bool scalar_load_step(struct warp *warp, u32 pc, struct step *step)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u64 offset = ((u64)inst->imm + scalar_read(warp, inst->src[1], 0)) & ~3ull;
    const u32 words = inst->dst[0].count;
    const u8 *from = NULL;
    u32 inside = words;
    u64 base;
    if (inst->op == OP_ld_scalar_buffer) {
        u32 descriptor[4];
        for (u32 k = 0; k < 4; k++)
            descriptor[k] = scalar_read(warp, inst->src[0], k);
        const struct buffer b = buffer_unpack(descriptor);
        const u64 bytes = b.stride ? (u64)b.records * b.stride : b.records;
        const u64 left = bytes > offset ? (bytes - offset) / 4 : 0;
        base = b.base;
        inside = (u32)MIN(left, words);
    } else {
        base = scalar_read64(warp, inst->src[0]);
    }
    const u64 address = (base & ~3ull) + offset;
    if (inside) {
        from = find(warp, step, address, 4 * inside);
        if (!from) {
            fault_memory(warp, pc, warp->active ? first_lane(warp->active) : 0, address, 4 * inside,
                         0);
            return false;
        }
    }
    for (u32 k = 0; k < words; k++) {
        u32 word = 0;
        if (k < inside)
            memcpy(&word, from + 4 * (size_t)k, sizeof word);
        scalar_write(warp, inst->dst[0], k, word);
    }
    return true;
}
