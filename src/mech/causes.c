/*
 * Records the way of each instruction and of each memory request in a trace of events
 * (core/trace.h), from which `heddle why` finds what a warp waited for. An observer: results and
 * timing do not change. Without such a trace nothing is recorded.
 *
 * Seams: fetched, issued, collecting, collected, sent, retired, cache_event; on the memory side
 * l2_request, l2_event, l2_reply, dram. Waiting warps, bank conflicts of shared memory, and requests
 * that leave and reach a core are traced by the core itself.
 *
 * Invariants
 *  C1  An event says what happens, when and to whom, never why: conclusions are drawn by the reader.
 *  C2  What belongs to a packet is named by its sender, address and time of sending, which only one
 *      packet has; an instruction in flight by its record, which it has from its issue until it
 *      retires.
 *  C3  Buffers grow in a tick, as those of every trace do.
 */
#include "core/mechanism.h"

#define COMPONENT causes
#define COMPONENT_DEF "mech/causes.def"
#define COMPONENT_HELP "a trace of events, for `heddle why`"
#include "base/component_struct.h"
#include "base/component_table.h"

struct causes {
    MECHANISM_STATE(causes);
};

struct causes_memory {
    MECHANISM_STATE(causes);
    struct memory_system *system;
    u32 partition, slices;
    struct packet *asking; /* by slice: the packet that was announced last */
};

/* ---- cores ---- */

static void fetched(void *state, struct core *core, u32 slot, u32 inst, u32 count, bool here)
{
    core_trace(core, TRACE_FETCHED, slot, inst, count, 0);
}

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct causes *c = state;
    c->stats->instructions += !inflight->injected;
    core_trace(core, TRACE_ISSUED, inflight->slot, inflight->dyn.inst,
               inflight_index(core, inflight), inflight->pipe);
}

/* An event of an instruction in flight. */
static void note(struct core *core, enum trace_kind what, const struct inflight *inflight, u64 more)
{
    core_trace(core, what, inflight->slot, inflight->dyn.inst, inflight_index(core, inflight),
               more);
}

static void collecting(void *state, struct core *core, struct inflight *inflight)
{
    note(core, TRACE_COLLECTING, inflight, inflight->time->read_depth);
}

static void collected(void *state, struct core *core, struct inflight *inflight)
{
    note(core, TRACE_COLLECTED, inflight, 0);
}

static void sent(void *state, struct core *core, struct inflight *inflight, u32 request)
{
    if (inflight) /* otherwise a line that is written back */
        note(core, request == NO_TRANSACTION ? TRACE_LEFT : TRACE_SENT, inflight, request);
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    note(core, TRACE_RETIRED, inflight, 0);
}

static void cache_event(void *state, struct core *core, enum packet_client which,
                        const struct cache_event *event)
{
    const u32 mshr = event->mshr == CACHE_NO_PLACE ? TRACE_NO_MSHR : event->mshr;
    if (event->kind == CACHE_EVENT_FILLED) {
        core_trace(core, TRACE_CACHE_FILLED, which, mshr, event->line, 0);
    } else if (event->kind == CACHE_EVENT_READ) {
        const struct inflight *reader = core_reader(core, which, event->waiter);
        core_trace(core, TRACE_CACHE_READ, which, (u32)event->result | mshr << 8, event->line,
                   reader ? inflight_index(core, reader) : event->waiter);
    }
}

/* ---- the memory side ---- */

static void create_memory(void *memory, struct memory_system *system, u32 partition, u32 slices)
{
    struct causes_memory *m = memory;
    m->system = system;
    m->partition = partition;
    m->slices = slices;
    m->asking = mechanism_alloc(memory, slices * sizeof *m->asking);
}

static void record(struct causes_memory *m, const struct trace_event *event)
{
    memory_system_record(m->system, m->partition, event);
}

static struct trace_event packet_event(enum trace_kind what, const struct packet *packet, u32 slice,
                                       fs now)
{
    return (struct trace_event){.time = now,
                                .what = (u8)what,
                                .core = packet->core,
                                .value = packet->address,
                                .more = packet->sent,
                                .inst = slice};
}

static bool is_read_packet(const struct packet *packet)
{
    return packet->kind <= PACKET_ATOMIC;
}

static void l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    struct causes_memory *m = memory;
    struct packet *asking = &m->asking[slice - m->partition * m->slices];
    /* it is announced again if it has to wait */
    const bool again = packet_same(packet, asking) && packet->sent == asking->sent &&
                       packet->address == asking->address;
    *asking = *packet;
    if (again || !is_read_packet(packet))
        return;
    const struct trace_event event = packet_event(TRACE_L2_ARRIVED, packet, slice, now);
    record(m, &event);
}

static void l2_event(void *memory, u32 slice, const struct cache_event *what)
{
    struct causes_memory *m = memory;
    const struct packet *asking = &m->asking[slice - m->partition * m->slices];
    if (what->kind != CACHE_EVENT_READ || !is_read_packet(asking))
        return;
    struct trace_event event =
        packet_event(TRACE_L2_READ, asking, slice, memory_system_now(m->system));
    event.slot = (u8)what->result;
    record(m, &event);
}

static void l2_reply(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    const struct trace_event event = packet_event(TRACE_L2_REPLY, packet, slice, now);
    record(memory, &event);
}

static void dram_event(struct causes_memory *m, enum trace_kind what,
                       const struct dram_event *request)
{
    const struct trace_event event = {.time = request->now,
                                      .what = (u8)what,
                                      .core = request->from.core,
                                      .inst = request->from.inst,
                                      .slot = (u8)request->bank,
                                      .value = request->address,
                                      .more = (u64)request->channel << 48 |
                                              (u64)request->write << 47 | request->row};
    record(m, &event);
}

static void arrived(void *memory, const struct dram_event *event)
{
    dram_event(memory, TRACE_DRAM_ARRIVED, event);
}

static void started(void *memory, const struct dram_event *event, struct payload *payload)
{
    dram_event(memory, TRACE_DRAM_STARTED, event);
}

static void served(void *memory, const struct dram_event *event, struct payload *payload)
{
    dram_event(memory, TRACE_DRAM_SERVED, event);
}

static void command(void *memory, u64 cycle, enum dram_command command, u32 bank, u32 row)
{
    struct causes_memory *m = memory;
    if (command != DRAM_ACTIVATE && command != DRAM_PRECHARGE)
        return;
    const struct trace_event event = {.time = memory_system_now(m->system),
                                      .what = TRACE_DRAM_ROW,
                                      .inst = NO_INST,
                                      .slot = (u8)bank,
                                      .value = row,
                                      .more = (u64)m->partition << 48 | (command == DRAM_ACTIVATE)};
    record(m, &event);
}

static bool dram(void *memory, u32 channel, struct dram_hooks *hooks)
{
    hooks->user = memory;
    hooks->arrived = arrived;
    hooks->started = started;
    hooks->served = served;
    hooks->command = command;
    return true;
}

static const char *const deviations[] = {
    "Of the miaow pipeline it records stalls and requests only.",
    "The networks are not looked into: a request is known when it leaves its core, reaches its "
    "slice "
    "and comes back.",
    NULL,
};

const struct mechanism causes_mechanism = {
    MECHANISM_NAMED(causes, "records what happens to instructions and requests, for heddle why"),
    .source = "own",
    .deviations = deviations,
    .no_operands = true,
    .optional = 1u << SEAM_FETCHED | 1u << SEAM_COLLECTING | 1u << SEAM_COLLECTED |
                1u << SEAM_SENT | 1u << SEAM_RETIRED | 1u << SEAM_ISSUED,
    .optional_dram = true,
    .state_size = sizeof(struct causes),
    .memory_size = sizeof(struct causes_memory),
    .create_memory = create_memory,
    .fetched = fetched,
    .issued = issued,
    .collecting = collecting,
    .collected = collected,
    .sent = sent,
    .retired = retired,
    .cache_event = cache_event,
    .l2_request = l2_request,
    .l2_event = l2_event,
    .l2_reply = l2_reply,
    .dram = dram,
};
