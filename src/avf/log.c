/* The log of a core: see avf.h. */
#include "avf/avf.h"

bool log_has_room(const struct avf *a)
{
    return a->count < a->params->window &&
           a->pool_used + ENTRY_WORDS <= a->params->window * POOL_WORDS &&
           (u32)core_cycle(a->core) - a->from < MOST_CYCLES;
}

struct avf_entry *log_add(struct avf *a, enum entry_kind kind)
{
    struct avf_entry *e = &a->entries[a->count++];
    const u32 now = (u32)core_cycle(a->core);
    *e = (struct avf_entry){.kind = (u8)kind,
                            .issued = now,
                            .read = now,
                            .acted = now,
                            .written = now,
                            .values = a->pool_used,
                            .reads = NOTHING};
    return e;
}

static void keep_addresses(struct avf *a, const u64 *address)
{
    u32 *const to = a->pool + a->pool_used;
    for (u32 lane = 0; lane < a->warp_size; lane += CELLS)
        for (u32 i = 0; i < CELLS; i++)
            to[lane + i] = (u32)address[lane + i];
    a->pool_used += a->warp_size;
}

static void keep_strides(struct avf *a, const struct dyninst *dyn)
{
    const u32 groups = a->warp_size / STRIDE_LANES;
    u32 *const to = a->pool + a->pool_used;
    for (u32 g = 0; g < groups; g++) {
        to[g] = (u32)dyn->first[g];
        to[groups + g] = (u32)dyn->stride[g];
    }
    a->pool_used += 2 * groups;
}

/* Addresses in shared memory, and of loads; or the values that the rule looks at. */
static void keep_values(struct avf *a, struct dyninst *dyn, const struct avf_inst *plan)
{
    struct avf_entry *e = &a->entries[a->count - 1];
    if (dyn->kind == DYNINST_ACCESS && (dyn->shared || dyn->loads) && !dyn->scalar) {
        e->addressed = true;
        e->strided = dyn->strided && !dyn->pair;
        if (e->strided)
            keep_strides(a, dyn);
        else
            keep_addresses(a, dyninst_addresses(dyn));
        if (dyn->pair)
            keep_addresses(a, dyninst_second(dyn));
        return;
    }
    for (u32 set = plan->values; set; set &= set - 1)
        a->pool_used += dyninst_read_source(dyn, first_bit(set), a->pool + a->pool_used);
}

void log_inst(struct avf *a, struct inflight *inflight)
{
    struct dyninst *dyn = &inflight->dyn;
    struct avf_entry *e = log_add(a, ENTRY_INST);
    e->inst = dyn->inst;
    e->slot = inflight->slot;
    e->place = core_slot(a->core, inflight->slot)->block;
    e->pipe = inflight->pipe;
    e->interval = inflight->interval;
    e->number = ++a->numbers[inflight->slot];
    /* a branch decides for all lanes that come to it, whatever its guard says */
    e->lanes = op_info[dyn->code->op].flags & OPF_BRANCH ? dyn->active : dyn->lanes;
    e->active = dyn->active;
    e->writes = dyn->writes;
    e->checked = inflight->checked;
    e->open = true;
    if (dyn->kind == DYNINST_ACCESS) {
        e->shared = dyn->shared;
        e->bytes = (u16)dyn->bytes;
    }
    front_issued(a, e);
    keep_values(a, dyn, &a->plan[dyn->inst]);
    a->entry_of[inflight_index(a->core, inflight)] = a->count - 1;
}

void log_drop(struct avf *a, u32 count)
{
    const u32 words = count < a->count ? a->entries[count].values : a->pool_used;
    a->count -= count;
    a->pool_used -= words;
    memmove(a->entries, a->entries + count, a->count * sizeof *a->entries);
    memmove(a->pool, a->pool + words, a->pool_used * sizeof *a->pool);
    for (u32 i = 0; i < a->count; i++)
        a->entries[i].values -= words;
    for (u32 i = 0; i < CORE_INFLIGHT; i++)
        if (a->entry_of[i] != NO_ENTRY)
            a->entry_of[i] = a->entry_of[i] < count ? NO_ENTRY : a->entry_of[i] - count;
}
