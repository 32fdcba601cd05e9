/*
 * Names of traced events, and the steps of instructions in the common stages. See trace.h.
 *
 * In the common stages, an instruction's words are fetched when the cache has delivered them, and
 * decoded when they enter the buffer. An instruction reaches issue when it is at the head of its
 * buffer and is its warp's next one. Done and write are both in the cycle of write-back.
 */
#include "core/mechanism.h"
#include "ir/scalars.h"

const char *const stall_names[STALLS] = {
    [STALL_NONE] = "none",     [STALL_EMPTY] = "empty",         [STALL_FETCH] = "fetch",
    [STALL_BRANCH] = "branch", [STALL_BARRIER] = "barrier",     [STALL_RAW] = "raw",
    [STALL_WAW] = "waw",       [STALL_MEMORY] = "memory",       [STALL_WAIT] = "wait",
    [STALL_UNIT] = "unit",     [STALL_COLLECTOR] = "collector", [STALL_HELD] = "held",
};

const char *const trace_names[TRACE_KINDS] = {
    [TRACE_DISPATCH] = "dispatch", [TRACE_FETCH] = "fetch", [TRACE_DECODE] = "decode",
    [TRACE_TO_ISSUE] = "to_issue", [TRACE_ISSUE] = "issue", [TRACE_DONE] = "done",
    [TRACE_WRITE] = "write",
};

const char *const trace_place_names[AT_PLACES] = {
    [AT_DISPATCHER] = "dispatcher",
    [AT_FETCH] = "fetch",
    [AT_DECODE] = "decode",
    [AT_SALU] = "salu",
    [AT_SIMD] = "simd",
    [AT_SIMF] = "simf",
    [AT_LSU] = "lsu",
    [AT_LSUV] = "lsuv",
    [AT_LSUS] = "lsus",
    [AT_SP] = "sp",
    [AT_INT] = "int",
    [AT_FP64] = "fp64",
    [AT_SFU] = "sfu",
    [AT_MEMORY] = "memory",
    [AT_SCALAR] = "scalar",
    [AT_SGPR] = "sgpr",
    [AT_VGPR] = "vgpr",
    [AT_SCC] = "scc",
    [AT_VCC] = "vcc",
    [AT_EXEC] = "exec",
    [AT_M0] = "m0",
    [AT_MODE] = "mode",
};

void core_watch(struct core *core, struct trace_buffer *spans, struct trace_buffer *steps,
                struct core_watcher *watcher)
{
    core->trace.spans = spans;
    core->trace.steps = steps;
    core->trace.watcher = watcher;
    core->trace.on = spans || steps;
    core->trace.told = 0;
    core->trace.fetched = core->fetch.decode_tail;
    core->detours &= ~(u32)(DETOUR_SEAMS | DETOUR_COPIES);
    core->detours |= core->hooks.seams || core_followed(core) ? DETOUR_SEAMS : 0;
    core->detours |=
        (core->hooks.seams && core->hooks.operands) || core_followed(core) ? DETOUR_COPIES : 0;
}

/* ---- steps of the common stages ---- */

static u64 address_of(const struct core *core, u32 inst)
{
    return program_offset(core->exec->image->program, inst);
}

static void trace_words(struct core *core, enum trace_kind what, enum trace_place place, u32 s,
                        u32 inst)
{
    const u64 end = address_of(core, inst + 1);
    for (u64 at = address_of(core, inst); at < end; at += 4)
        core_trace(core, what, s, inst, trace_at(place), at);
}

void trace_decoded(struct core *core, u32 s, u32 inst, u32 count)
{
    for (u32 i = 0; i < count; i++)
        trace_words(core, TRACE_DECODE, AT_DECODE, s, inst + i);
}

static enum trace_place place_of(u32 pipe)
{
    static const u8 places[PIPES] = {
        [PIPE_SP] = AT_SP,   [PIPE_INT] = AT_INT,       [PIPE_FP64] = AT_FP64,
        [PIPE_SFU] = AT_SFU, [PIPE_MEMORY] = AT_MEMORY, [PIPE_SCALAR] = AT_SCALAR,
    };
    return places[pipe];
}

/* The pipe of a group, if there are several groups; there is one load/store unit. */
static u64 pipe_at(const struct core *core, u32 pipe, u32 group)
{
    return core->groups > 1 && pipe != PIPE_MEMORY ? trace_at_number(place_of(pipe), group)
                                                   : trace_at(place_of(pipe));
}

static void trace_head(struct core *core, u32 s, u32 inst)
{
    const u32 group = core->groups > 1 ? s % core->groups : 0;
    core->trace.told |= bit(s);
    core_trace(core, TRACE_TO_ISSUE, s, inst, pipe_at(core, core->times[inst].pipe, group),
               address_of(core, inst));
}

void trace_issued(struct core *core, const struct inflight *inflight)
{
    const u32 s = inflight->slot, inst = inflight->dyn.inst;
    if (inflight->injected)
        return;
    if (core->pipeline->traces_steps) {
        if (core->trace.watcher)
            core->trace.watcher->issued(core->trace.watcher, core, inflight);
        return;
    }
    if (!(core->trace.told & bit(s))) /* it reached issue in this cycle */
        trace_head(core, s, inst);
    core->trace.told &= ~bit(s);
    core_trace(core, TRACE_ISSUE, s, inst, pipe_at(core, inflight->pipe, inflight->group),
               address_of(core, inst));
    if (core->trace.watcher)
        core->trace.watcher->issued(core->trace.watcher, core, inflight);
}

enum trace_place trace_register(struct operand o)
{
    if (o.kind == OPERAND_VECTOR)
        return AT_VGPR;
    const u32 scalar = o.kind == OPERAND_MASK ? 2u * o.index : o.index;
    switch (scalar) {
    case SCALAR_VCC:
    case SCALAR_VCC + 1:
        return AT_VCC;
    case SCALAR_EXEC:
    case SCALAR_EXEC + 1:
        return AT_EXEC;
    case SCALAR_SCC:
        return AT_SCC;
    case SCALAR_M0:
        return AT_M0;
    case SCALAR_MODE:
        return AT_MODE;
    default:
        return AT_SGPR;
    }
}

void trace_retired(struct core *core, const struct inflight *inflight)
{
    const u32 s = inflight->slot, inst = inflight->dyn.inst;
    const u64 address = address_of(core, inst);
    if (inflight->injected)
        return;
    if (core->pipeline->traces_steps) {
        if (core->trace.watcher)
            core->trace.watcher->retired(core->trace.watcher, core, inflight);
        return;
    }
    u64 unit = pipe_at(core, inflight->pipe, inflight->group);
    if (inflight->pipe != PIPE_MEMORY && core->groups == 1 && core->units.count[inflight->pipe] > 1)
        unit = trace_at_number(place_of(inflight->pipe), inflight->unit);
    core_trace(core, TRACE_DONE, s, inst, unit, address);
    struct operand list[INST_REFS];
    const u32 count = inflight->dropped ? 0 : inst_writes(inflight->dyn.code, list);
    for (u32 i = 0; i < count; i++)
        core_trace(core, TRACE_WRITE, s, inst, trace_at(trace_register(list[i])), address);
    if (core->trace.watcher)
        core->trace.watcher->retired(core->trace.watcher, core, inflight);
}

/* Records the fetches and heads of buffers of this cycle, which the stages do not trace
 * themselves. */
void trace_steps(struct core *core)
{
    for (; core->trace.fetched != core->fetch.decode_tail; core->trace.fetched++) {
        const u32 at = core->trace.fetched % ARRAY_LEN(core->fetch.decode);
        const u32 inst = core->fetch.decode[at].inst;
        const u32 count = core->fetch.decode[at].served == NO_INST ? core->times[inst].fetched : 1;
        for (u32 i = 0; i < count; i++)
            trace_words(core, TRACE_FETCH, AT_FETCH, core->fetch.decode[at].slot, inst + i);
    }
    for (u64 set = core->present & core->issue.buffered &
                   ~(core->ended | core->trace.told | core->issue.skipping);
         set; set &= set - 1)
        trace_head(core, first_bit(set), core->slots[first_bit(set)].at);
}

/* ---- traces of events ---- */

void trace_present(struct core *core)
{
    struct trace_buffer *spans = core->trace.spans;
    if (core->clock.next < spans->from)
        return;
    spans->begun = true;
    for (u32 b = 0; b < CORE_BLOCKS; b++)
        if (core->blocks[b].block && core->clock.next > core->blocks[b].started)
            core_trace(core, TRACE_BLOCK_HERE, b, NO_INST, core->blocks[b].block->number, 0);
    for (u64 set = core->present; set; set &= set - 1) {
        const u32 s = first_bit(set);
        const struct warp *warp = core->slots[s].warp;
        core->slots[s].stall = STALL_NONE; /* told again */
        if (core->slots[s].started < core_cycle(core))
            core_trace(core, TRACE_WARP_HERE, s, core->slots[s].at,
                       warp->block->number << 16 | warp->index, trace_scheduler(core, s));
    }
}

enum stall trace_stall(const struct core *core, u32 s)
{
    const enum stall stall = core_waits(core, s);
    if (stall != STALL_NONE || !core->pipeline->content || core->slots[s].at == NO_INST)
        return stall;
    if (core->pipeline->busy && core->pipeline->busy(core, trace_scheduler(core, s)) >> s & 1)
        return STALL_UNIT;
    return core_room(core, s, core->slots[s].at) ? STALL_NONE : STALL_UNIT;
}

static void trace_need(struct core *core, u32 s, u64 need, const struct inflight *inflight)
{
    core_trace(core, TRACE_NEEDS, s, inflight->dyn.inst, need, inflight->index);
}

static void need_all(struct core *core, u32 s, const struct latch *latch)
{
    for (u32 i = 0; i < latch->count; i++)
        trace_need(core, s, NEED_ROOM, core_inflight(core, latch->inflight[i]));
}

/* The instructions before the units of the pipe that a slot's instruction needs. */
static void need_room(struct core *core, u32 s)
{
    const u32 pipe = core->times[core->slots[s].at].pipe,
              g = core->groups > 1 ? s % core->groups : 0;
    const struct collect_stage *collect = &core->collect;
    need_all(core, s, &collect->group[g].collected[pipe]);
    for (u32 c = 0; c < collect->turn_count; c++)
        for (u64 set = collect->turns[c].collectors & ~collect->free; set; set &= set - 1) {
            const struct collector *one = &collect->collectors[first_bit(set)];
            if (one->pipe == pipe && (core->groups == 1 || one->group == g))
                trace_need(core, s, NEED_ROOM, core_inflight(core, one->inflight));
        }
    need_all(core, s, &collect->group[g].issued[pipe]);
}

void trace_needs(struct core *core, u32 s, enum stall stall)
{
    const struct slot *slot = &core->slots[s];
    const u32 vectors = slot->warp->exec->register_rows;
    const struct inflight *writer;
    struct core_wait wait;
    u32 at = 0, number;
    switch (stall) {
    case STALL_RAW:
    case STALL_WAW:
    case STALL_MEMORY:
        while (slot->at != NO_INST && (writer = core_next_writer(core, s, &at, &number)))
            trace_need(core, s, NEED_REGISTER | (u64)(number < vectors ? number : NO_VECTOR) << 8,
                       writer);
        break;
    case STALL_UNIT:
        if (core->pipeline->content)
            need_room(core, s);
        break;
    case STALL_BARRIER:
        core_explain(core, s, &wait);
        core_trace(core, TRACE_NEEDS, s, NO_INST, NEED_BARRIER, wait.barrier);
        break;
    case STALL_FETCH:
        if (slot->barred & BARRED_MISSING && slot->fetch_at < core->inst_count)
            core_trace(core, TRACE_NEEDS, s, slot->fetch_at, NEED_LINE,
                       core->times[slot->fetch_at].line);
        break;
    default:
        break;
    }
}
