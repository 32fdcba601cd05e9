/*
 * Wait counters of warps, for launches in which no scoreboard covers memory results
 * (issue.memory_order).
 *
 * The destinations of memory accesses are not pending: a following instruction issues at once and
 * reads what the registers hold then. Only the counters (ir/waits.h) and the code's own waits order
 * accesses. A load writes its registers when its data arrive; until then they keep their old
 * values.
 *
 * Invariants
 *  C1  Vector memory accesses of a warp retire in order, and so do its accesses to shared memory:
 *      an access whose data arrive early waits for those before it; then all are written in the
 *      same cycle.
 *  C2  A counter is decremented when the registers have been written, or memory has the data: so a
 *      wait that is satisfied finds the effects complete.
 *  C3  No counter exceeds its maximum: an access that would exceed it waits at the head of its
 *      buffer.
 *
 * Deviations: the data of a store are read when it issues, so that overwriting their registers too
 * early does no harm here; the counter for it is decremented when the store leaves its collector.
 * Other hazards that the hardware leaves to software (lane reads after vector writes and the like)
 * do not occur: registers that units write are in the scoreboard.
 */
#include "core/gcn/waitcnt.h"
#include "ir/waits.h"

/* The queue of accesses that stay in order; NULL: a scalar load. */
static struct wait_queue *queue_of(struct waits *w, const struct inst_time *time)
{
    return time->counter == WAIT_VECTOR ? &w->vector
           : time->kind == TURN_SHARED  ? &w->shared
                                        : NULL;
}

void waitcnt_time(struct inst_time *time, const struct inst *inst)
{
    const struct wait_class class = wait_class_of(inst);
    if (!class.counter)
        return;
    time->counter = class.counter;
    time->counts = class.amount;
    if (class.data)
        time->flags |= TIME_DATA;
    if (inst->op == OP_swizzle) { /* it uses the path of shared memory, and its kind */
        time->pipe = PIPE_MEMORY;
        time->kind = TURN_SHARED;
    }
    if (inst_writes_exec(inst))
        return; /* later instructions need the new EXEC: it stays in the scoreboard */
    time->reserve_count = time->region_count = 0; /* checked, but not reserved */
    time->reserves = false;
}

void waitcnt_begin(struct core *core)
{
    core->issue.by_waitcnt =
        core->config.issue->memory_order == 1 && core->exec->image->program->traits.explicit_exec;
    core->detours |= core->issue.by_waitcnt ? DETOUR_WAITCNT : 0;
    if (core->issue.by_waitcnt)
        memset(core->issue.waits, 0, sizeof core->issue.waits);
}

void waitcnt_issue(struct core *core, struct inflight *inflight)
{
    struct waits *w = &core->issue.waits[inflight->slot];
    struct wait_queue *q = queue_of(w, inflight->time);
    inflight->counted = true;
    if (inflight->time->flags & TIME_DATA)
        w->data++;
    if (!q) {
        w->scalars += inflight->time->counts;
        return;
    }
    inflight->order = (u8)((q->first + q->used++) % WAIT_QUEUE);
    inflight->in_order = false;
    q->inflight[inflight->order] = inflight->index;
    q->counts[inflight->order] = inflight->time->counts;
    q->count += inflight->time->counts;
}

static bool queue_writes(const struct core *core, const struct wait_queue *q, u32 reg)
{
    for (u32 i = 0; i < q->used; i++) {
        const u32 at = (q->first + i) % WAIT_QUEUE;
        const struct operand o = core->inflight.all[q->inflight[at]].dyn.code->dst[0];
        if (o.kind == OPERAND_VECTOR && reg - o.index < o.count)
            return true;
    }
    return false;
}

bool core_load_pending(const struct core *core, u32 s, u32 reg)
{
    const struct waits *w = &core->issue.waits[s];
    return core->issue.by_waitcnt &&
           (queue_writes(core, &w->vector, reg) || queue_writes(core, &w->shared, reg));
}

void waitcnt_skip(struct core *core, u32 s, const struct inst_time *time)
{
    struct wait_queue *q = queue_of(&core->issue.waits[s], time);
    if (!q || !q->used)
        return;
    q->counts[(q->first + q->used - 1u) % WAIT_QUEUE]++;
    q->count++;
}

enum stall waitcnt_check(const struct core *core, u32 s, const struct inst_time *time)
{
    const struct waits *w = &core->issue.waits[s];
    const u32 vector = w->vector.count, others = w->shared.count + w->scalars;
    if (time->flags & TIME_COUNTERS) {
        const struct inst *inst = &core->exec->image->program->insts[core->slots[s].buffer[0]];
        const bool done = vector <= wait_left(inst, WAIT_VECTOR) &&
                          others <= wait_left(inst, WAIT_OTHERS) &&
                          w->data <= wait_left(inst, WAIT_DATA);
        return done ? STALL_NONE : STALL_WAIT;
    }
    const bool full = (time->counter == WAIT_VECTOR && vector >= WAIT_VECTOR_MOST) ||
                      (time->counter == WAIT_OTHERS && others + time->counts > WAIT_OTHERS_MOST) ||
                      (time->flags & TIME_DATA && w->data == WAIT_DATA_MOST);
    return full ? STALL_WAIT : STALL_NONE;
}

void waitcnt_read(struct core *core, const struct inflight *inflight)
{
    if (!inflight->counted || !(inflight->time->flags & TIME_DATA))
        return;
    core->issue.waits[inflight->slot].data--;
    slot_counted(core, inflight->slot);
}

void waitcnt_settle(struct core *core, struct inflight *inflight)
{
    struct waits *w = &core->issue.waits[inflight->slot];
    struct wait_queue *q = queue_of(w, inflight->time);
    if (!inflight->counted)
        return;
    inflight->counted = false;
    if (!q) {
        w->scalars -= inflight->time->counts;
        return;
    }
    assert(inflight->order == q->first && q->used);
    q->finished &= ~(1u << inflight->order);
    q->count -= q->counts[inflight->order];
    q->first = (u8)((q->first + 1) % WAIT_QUEUE);
    q->used--;
}

void waitcnt_retire(struct core *core, struct inflight *inflight,
                    void (*retire)(struct core *core, struct inflight *inflight))
{
    struct wait_queue *q = queue_of(&core->issue.waits[inflight->slot], inflight->time);
    if (!inflight->counted || !q) {
        retire(core, inflight);
        return;
    }
    q->finished |= 1u << inflight->order;
    while (q->finished >> q->first & 1) {
        const u32 at = q->first;
        struct inflight *next = core_inflight(core, q->inflight[at]);
        if (next != inflight && next->in_order)
            return; /* a mechanism holds it: it returns here by itself */
        next->in_order = true;
        retire(core, next);
        if (q->first == at)
            return;
    }
}
