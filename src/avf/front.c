/*
 * What an instruction passes before its unit: instruction buffers, the control state of its warp (PC,
 * active lanes, divergence stack) and operand collectors.
 *
 *  - A buffered instruction counts from its arrival to its issue. All its bits are needed if it is; of
 *    a dead one, those that name operation and destination (Mukherjee et al., 2003): wrong ones would
 *    make it another instruction, or overwrite another register. Instructions that are flushed never
 *    issue, and count as nothing.
 *  - The PC of a warp is needed up to its last instruction.
 *  - Active lanes, of programs without EXEC: a bit is needed up to the last instruction that needs its
 *    guard in this lane (flow.c); sinks need all. Divergence and reconvergence compute masks from
 *    masks, so nothing in between overwrites a bit.
 *  - An entry of the divergence stack is needed for as long as it is in use: its lanes continue where
 *    it says. The entry of the lanes that run is one of them, which a warp has without divergence, too.
 *    One that is popped counts until the next instruction of its warp issues.
 *  - An operand in a collector counts from the cycle after the collector is taken, in which the first
 *    banks can be read, to dispatch. Of its bits those count that the instruction needs.
 *
 * Deviation: operands that wait for a bank count as if they had been there.
 */
#include "avf/avf.h"

enum {
    SOURCES = 3,    /* of a collector, as in core/common/storage.c */
    LONG_BITS = 64, /* an instruction of PTX code, or a long one */
    LONG_DEAD_BITS = 10 + 8,
    SHORT_DEAD_BITS = 7 + 8, /* operation and destination: of Fermi and VOP3,
                                                       * and of VOP2 */
};

void front_fetched(void *state, struct core *core, u32 slot, u32 inst, u32 count, bool here)
{
    struct avf *a = state;
    if (core_slot(core, slot)->fetch_at != inst + count) /* discarded */
        return;
    for (u32 i = inst; i < inst + count; i++)
        a->arrived[slot][i % ARRAY_LEN(a->arrived[slot])] = (u32)core_cycle(core);
}

void front_issued(struct avf *a, struct avf_entry *e)
{
    const u32 now = e->issued, cycles = now - a->stepped[e->slot];
    const struct warp *warp = core_slot(a->core, e->slot)->warp;
    e->fetched = a->arrived[e->slot][e->inst % ARRAY_LEN(a->arrived[e->slot])];
    a->stats->pc_ace += cycles;
    if (!a->exec_masks)
        a->stats->stack_ace += (u64)cycles * a->depth[e->slot];
    a->depth[e->slot] = warp ? warp->path_live : 0;
    a->stepped[e->slot] = now;
}

void front_start(struct avf *a, u64 slots)
{
    for (; slots; slots &= slots - 1) {
        const u32 slot = first_bit(slots);
        a->stepped[slot] = (u32)core_cycle(a->core);
        a->depth[slot] = 1;
    }
}

void front_back(struct avf *a, const struct avf_entry *e, enum front_need need)
{
    struct avf_stats *s = a->stats;
    if (e->fetched) {
        const u64 cycles = e->issued - e->fetched;
        const u32 bits = a->plan[e->inst].bits;
        const u32 dead = bits >= LONG_BITS ? LONG_DEAD_BITS : SHORT_DEAD_BITS;
        s->buffer_held += cycles * bits;
        s->buffer_ace += cycles * (need == FRONT_DEAD ? dead : bits);
        s->buffer_undecided += need == FRONT_UNDECIDED ? cycles * (bits - dead) : 0;
    }
    if (e->collected) {
        const u64 cycles = e->collected - e->collecting;
        s->collector_held += cycles * a->plan[e->inst].operands * a->warp_size * 32;
        s->collector_ace += cycles * a->source_bits;
        s->collector_undecided += need == FRONT_UNDECIDED ? cycles * a->source_bits : 0;
    }
}

void front_need_active(struct avf *a, const struct avf_entry *e, lane_set lanes, lane_set unsure)
{
    for (u32 i = 0; i < a->chunks; i++) {
        const u32 bits = lanes_of_chunk(lanes, i), perhaps = lanes_of_chunk(unsure, i);
        tracked_need(&a->active, e->slot * a->chunks + i, bits != 0, bits, perhaps != 0,
                     avf_cycles(a, e->issued));
    }
}

/* The warps of these slots start, or the log begins. */
void front_close(struct avf *a, u64 slots, u32 cycle)
{
    for (; slots; slots &= slots - 1)
        for (u32 i = 0; i < a->chunks; i++) {
            const struct ended ended =
                tracked_write(&a->active, first_bit(slots) * a->chunks + i, 1, cycle);
            if (a->accounting)
                a->stats->mask_ace += ended.ace;
        }
}

void front_count_resident(struct avf *a, u64 cycles, u64 warps)
{
    a->stats->pc_held += cycles * warps;
    a->stats->mask_held += a->exec_masks ? 0 : cycles * warps * a->warp_size;
}

/* All entries and bits of a core, for `cycles`. */
void front_count(struct avf *a, u64 cycles)
{
    const struct core_config *c = core_config(a->core);
    const struct collect_params *p = c->collect;
    const struct core_params *sizes = c->core;
    const u64 collectors = p->generic ? p->generic : (u64)p->sp + p->fp64 + p->sfu + p->memory;
    struct avf_stats *s = a->stats;
    s->pc_all += cycles * sizes->warps;
    if (!a->exec_masks) {
        s->mask_all += cycles * sizes->warps * a->warp_size;
        s->stack_all += cycles * sizes->warps * a->warp_size;
    }
    if (!core_has_common_stages(a->core))
        return;
    s->buffer_all += cycles * sizes->warps * c->fetch->buffer * LONG_BITS;
    s->collector_all += cycles * collectors * SOURCES * a->warp_size * 32;
}
