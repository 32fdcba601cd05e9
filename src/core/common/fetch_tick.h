/*
 * A cycle of fetch and decode: see fetch.c. In a header, because the tick of the common pipeline has
 * it compiled in.
 */
#ifndef CORE_FETCH_TICK_H
#define CORE_FETCH_TICK_H

#include "core/common/slots.h"
#include "core/requests.h"

enum {
    DECODES = ARRAY_LEN(((struct core *)0)->fetch.decode),
    MISSES = ARRAY_LEN(((struct core *)0)->fetch.misses)
};

/* ---- fetch.c: less common ways ---- */

/* Of `count` instructions, the number up to and including the first branch. */
u32 fetch_until_branch(const struct core *core, u32 inst, u32 count);
/* The number before the first one that must not be fetched; the first of them has been asked about
 * already. */
u32 fetch_until_refused(struct core *core, u32 slot, u32 inst, u32 count);
/* The number before the first one about which skip_fetch must be asked. */
u32 fetch_until_skipped(struct core *core, u32 slot, u32 inst, u32 count);
void fetch_tell(struct core *core, u32 slot, u32 inst, u32 count, bool here);
/* Discards instructions that arrived after their warp went elsewhere. */
void fetch_throw_away(struct core *core, u32 slot, u32 count);
/* Accepts an instruction that a mechanism has supplied instead of the requested one. */
bool fetch_take_other(struct core *core, u32 slot, u32 inst, u32 served);
/* Decodes what has just been looked up: no stages are between instruction cache and buffers. */
void fetch_decode_at_once(struct core *core);
/* Requests a line. */
void fetch_send_miss(struct core *core, u32 slot, u64 line, const struct cache_out *out);
/* Lines of a cache with a fixed latency arrive. */
void fetch_take_misses(struct core *core);
/* Of a non-empty set, the slots in the group of the one fetched for last, if there are any. */
u64 fetch_of_last_group(const struct core *core, u64 set);
/* Mechanisms decide on slots that want instructions; returns those that may still fetch. */
u64 fetch_skip_slots(struct core *core, u64 left);
/* A mechanism may supply the next instruction, have it skipped, or hold it back. */
enum fetch_answer fetch_ask_mechanisms(struct core *core, u32 slot);

/* ---- the cycle ---- */

/* `served`: as in struct fetch_stage. */
PART_OF void deliver(struct core *core, u32 s, u32 inst, u32 served)
{
    struct slot *slot = &core->slots[s];
    const bool here = served != NO_INST;
    u32 count = here ? 1 : core->times[inst].fetched;
    slot->decoding = false;
    if (slot->ended || slot->fetch_at != inst ||
        (UNLIKELY(here && served != inst) && !fetch_take_other(core, s, inst, served))) {
        if (core_hooked(core, SEAM_FETCHED))
            fetch_tell(core, s, inst, count, here);
        fetch_throw_away(core, s, count);
        return;
    }
    count = MIN(count, core->config.fetch->buffer + slot_marks(core, slot) - slot->buffered);
    if (core->config.fetch->branch == 1)
        count = fetch_until_branch(core, inst, count);
    if (core_hooked(core, SEAM_FETCH))
        count = fetch_until_refused(core, s, inst, count);
    if (core_hooked(core, SEAM_SKIP_FETCH))
        count = fetch_until_skipped(core, s, inst, count);
    const u32 wanted = inst;
    inst = here ? served : inst;
    u32 *const to = slot->buffer + slot->buffered;
    for (u32 i = 0; i < count; i++)
        to[i] = inst + i;
    slot->buffered += (u8)count;
    core->stats.fetch.instructions += count;
    core->stats.fetch.buffered += count;
    slot->fetch_at = inst + count;
    if (UNLIKELY(core->detours & DETOUR_SEAMS)) {
        if (core_hooked(core, SEAM_FETCHED))
            fetch_tell(core, s, wanted, count, here);
        if (core->trace.steps)
            trace_decoded(core, s, inst, count);
    }
    if (to == slot->buffer) { /* the buffer has a new head */
        slot_sort(core, s, slot);
        if (UNLIKELY(core->issue.crowded) && core->issue.clear & bit(s))
            slot_prefetch(core, slot);
    }
    if (slot->buffered <= slot->limit) /* otherwise it wants none, as while it was decoding */
        fetch_want_more(core, s);
}

PART_OF void decode(struct core *core)
{
    while (core->fetch.decode_head != core->fetch.decode_tail) {
        u32 at = core->fetch.decode_head % DECODES;
        if (core->fetch.decode[at].ready > core_cycle(core))
            return;
        core->fetch.decode_head++;
        deliver(core, core->fetch.decode[at].slot, core->fetch.decode[at].inst,
                core->fetch.decode[at].served);
    }
}

PART_OF void decode_push(struct core *core, u32 s, u32 inst, u32 served)
{
    u32 at = core->fetch.decode_tail++ % DECODES;
    core->slots[s].decoding = true;
    core->fetch.decode[at].inst = inst;
    core->fetch.decode[at].slot = s;
    core->fetch.decode[at].served = served;
    core->fetch.decode[at].ready =
        core_cycle(core) + core->config.fetch->decode_cycles + core->fetch.extra_stages;
    core->stats.fetch.fetches++;
}

/* False: nothing more can be fetched in this cycle. */
PART_OF bool look_up(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    const u32 inst = slot->fetch_at;
    const u64 line = core->times[inst].line;
    if (core->config.icache->perfect) {
        core->fetch.wanting &= ~bit(s);
        decode_push(core, s, inst, NO_INST);
        return true;
    }
    if (core->config.icache->miss_cycles
            ? core->fetch.miss_tail - core->fetch.miss_head == MISSES
            : !port_room_for(core->config.fetch_requests, core->fetch.line_packets)) {
        core->stats.icache.stalls_queue++;
        return false;
    }
    struct cache_out out;
    const enum cache_result result =
        cache_read(core->fetch.cache, line, core->fetch.line_sectors, s, &out);
    if (LIKELY(result == CACHE_HIT)) {
        core->fetch.wanting &= ~bit(s);
        decode_push(core, s, inst, NO_INST);
        return true;
    }
    if (cache_refuses(result))
        return false;
    if (result == CACHE_MISS)
        fetch_send_miss(core, s, line, &out);
    slot->barred |= BARRED_MISSING;
    slot->missed_at = core_cycle(core);
    core->fetch.wanting &= ~bit(s);
    return true;
}

/* Looks up instructions for warps that want them. */
PART_OF void serve(struct core *core)
{
    u64 left = core->fetch.wanting;
    core->fetch.arrived &= left;
    if (core_hooked(core, SEAM_SKIP_FETCH))
        left = fetch_skip_slots(core, left);
    for (u32 n = 0; n < core->config.fetch->per_cycle && left; n++) {
        u32 from = core->fetch.last + 1;
        u64 set = core->fetch.arrived & left ? core->fetch.arrived & left : left;
        if (core->config.fetch->policy == 1)
            set = fetch_of_last_group(core, set);
        u64 above = from < CORE_WARPS ? set & ~(bit(from) - 1) : 0;
        u32 s = first_bit(above ? above : set);
        left &= ~bit(s);
        core->fetch.arrived &= ~bit(s);
        if (core_hooked(core, SEAM_FETCH)) {
            enum fetch_answer answer = fetch_ask_mechanisms(core, s);
            n -= answer == FETCH_SKIP || answer == FETCH_HOLD; /* these use no turn */
            if (answer != FETCH_SERVE)
                continue;
        }
        core->fetch.last = s;
        if (!look_up(core, s))
            break;
    }
    if (!core->config.fetch->decode_cycles && !core->fetch.extra_stages)
        fetch_decode_at_once(core);
}

PART_OF void fetch_tick(struct core *core)
{
    if (core->fetch.miss_head != core->fetch.miss_tail)
        fetch_take_misses(core);
    decode(core);
    if (core->fetch.wanting)
        serve(core);
}

#endif
