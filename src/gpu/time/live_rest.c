/*
 * Hashes of what rows of the state registry do not have: see live.h.
 *
 * Two runs of one process image that differ by a flipped bit go on alike if these hashes and those of
 * the rows agree. What no hash has: caches of clusters and their requests. They leave traces in hashed
 * state as soon as they arrive; so a fault campaign compares more than once (fault/follow.c).
 */
#include "gpu/device.h"
#include "gpu/time/live.h"
#include "gpu/time/parts.h"

static u64 hash_core(u64 hash, const struct core *core)
{
    const u64 present = core->present & ~core->ended;
    const bool plain = !core->hooks.seams; /* no mechanism replaces the row with the registers */
    hash = hash_word(hash_word(hash, core->present), core->ended);
    for (u64 set = present; set; set &= set - 1) {
        const struct warp *warp = core->slots[first_bit(set)].warp;
        hash = hash_word(hash, plain ? warp_hash_plain(warp) : warp_hash(warp));
    }
    return hash;
}

u64 live_hash_rest(const struct timed_run *run)
{
    const struct timing *t = run->timing;
    u64 hash = hash_word(hash_word(run->next, run->done), run->copies);
    for (u32 i = 0; i < t->core_count; i++)
        hash = hash_core(hash_word(hash, run->resident[i]), t->cores[i]);
    return hash_word(hash, memory_system_hash(t->memory_system));
}

u64 live_hash_memory(const struct timed_run *run)
{
    return memory_hash(run->timing->device->memory);
}
