/*
 * Loads of the mechanism `darsie`: what removes them from the skip table, and which instructions
 * that depend on them may be skipped.
 *
 * A load gives all warps the same value only if no store changes it between the first and the last
 * of them. As published, any store or atomic of the block removes the block's loads from its table,
 * when it issues and when it accesses memory, and in between loads are neither led nor followed;
 * atomics, fences and volatile accesses on a core remove all its loads of global memory.
 *
 * Loads that are not shared are executed by each warp, perhaps at different times and with
 * different values; instructions that depend on them are still marked as redundant. So each
 * register that depends on a load has a load id (0: it depends on none): that of the entry if the
 * warp led or followed it, else a new one. Only warps whose sources have the leader's ids can use
 * an entry.
 *
 * With stores=ignore, plain stores remove nothing. A warp that skips a load then compares the entry
 * with what it would have loaded, and keeps its own value if they differ.
 *
 * Invariants
 *  L1  Two warps on the same way with the same id in a register have the same value there.
 *      (Registers that no mark reaches may have any id: no marked instruction reads them.)
 *  L2  Ids change in program order, when an instruction issues or is skipped.
 */
#include "mech/darsie.h"

static void invalidate(struct darsie_core *d, struct darsie_block *b, bool only_global)
{
    EACH_ENTRY(e, d, b)
    {
        const struct darsie_inst *info = &d->insts[e->inst];
        if (!(only_global ? info->global : info->load))
            continue;
        *(only_global ? &d->stats->invalidated_global : &d->stats->invalidated) += 1;
        table_remove(d, b, e);
    }
}

void loads_issued(struct darsie_core *d, struct inflight *inflight)
{
    const struct dyninst *f = &inflight->dyn;
    struct darsie_inflight *t = &d->inflight[inflight_index(d->core, inflight)];
    struct darsie_block *b = block_of(d, &d->slots[inflight->slot]);
    if (UNLIKELY(d->insts[f->inst].tells))
        for (u32 i = 0; i < CORE_BLOCKS; i++)
            if (d->blocks[i].on)
                invalidate(d, &d->blocks[i], true);
    if (f->kind != DYNINST_ACCESS || !(f->stores || f->atomic) || !(f->global | f->shared) ||
        (d->params->stores == STORES_IGNORE && !f->atomic))
        return;
    t->stores = true;
    b->unacted++;
    invalidate(d, b, false);
}

void loads_acted(struct darsie_core *d, struct inflight *inflight)
{
    struct darsie_inflight *t = &d->inflight[inflight_index(d->core, inflight)];
    struct darsie_block *b = block_of(d, &d->slots[inflight->slot]);
    if (!t->stores)
        return;
    t->stores = false;
    b->unacted--;
    invalidate(d, b, false);
}

/* Performs the load that a warp is about to skip, into a record that is returned and already free
 * again; NULL: no free record. */
static struct inflight *try_load(struct darsie_core *d, u32 slot, u32 inst)
{
    struct core *core = d->core;
    struct warp *warp = core_slot(core, slot)->warp;
    struct inflight *inflight = inflight_take(core);
    if (!inflight)
        return NULL;
    dyninst_issue(&inflight->dyn, warp, inst);
    warp->instructions--; /* not issued: the skip is counted by the core */
    if (!dyninst_access(&inflight->dyn, core_view(core)))
        core_stop(core); /* the load would have faulted */
    inflight_give(core, inflight);
    return inflight;
}

enum loads_answer loads_compare(struct darsie_core *d, struct darsie_slot *s,
                                const struct darsie_entry *e)
{
    const struct darsie_block *b = block_of(d, s);
    if (d->params->stores == STORES_OBEY || !d->insts[e->inst].load)
        return LOADS_FRESH;
    /* earlier stores of the warp, or the load's own address, may be in flight */
    if (core_slot(d->core, s->slot)->unacted || !core_registers_ready(d->core, s->slot, e->inst))
        return LOADS_WAIT;
    const struct inflight *inflight = try_load(d, s->slot, e->inst);
    if (!inflight)
        return LOADS_WAIT;
    const struct dyninst *f = &inflight->dyn;
    const size_t bytes = d->warp_size * sizeof(u32);
    bool same = true;
    u32 n = 0;
    for (u32 k = 0; k < ARRAY_LEN(f->dst); k++)
        for (u32 j = 0; f->dst[k] && j < f->dst_rows[k]; j++, n++)
            same &= !memcmp(f->dst[k] + j * d->warp_size,
                            b->values + (size_t)e->versions[n] * d->warp_size, bytes);
    if (same)
        return LOADS_FRESH;
    for (u32 k = 0; k < ARRAY_LEN(f->dst); k++)
        for (u32 j = 0; f->dst[k] && j < f->dst_rows[k]; j++) {
            const u32 reg = f->to[k] + j;
            register_write(f->warp, reg, f->dst[k] + j * d->warp_size, core_all_lanes(d->core));
            if (in_set(s->apart, reg))
                rename_clear(d, s, reg);
        }
    d->stats->stale++;
    return LOADS_STALE;
}

bool loads_same(const struct darsie_core *d, const struct darsie_slot *s,
                const struct darsie_entry *e)
{
    const struct darsie_inst *info = &d->insts[e->inst];
    for (u32 i = 0; i < info->sources; i++)
        if (s->ids[info->source[i]] != e->from[i])
            return false;
    return true;
}

void loads_passed(struct darsie_core *d, struct darsie_slot *s, u32 inst,
                  const struct darsie_entry *e)
{
    const struct darsie_inst *info = &d->insts[inst];
    u32 id = e ? e->id : 0;
    if (!e) {
        bool depends = info->load;
        for (u32 i = 0; i < info->sources; i++)
            depends |= s->ids[info->source[i]] != 0;
        id = depends ? ++d->next_id : 0;
    }
    for (u32 i = 0; i < info->targets; i++)
        s->ids[info->target[i]] = id;
}
