/*
 * Test mechanism: every request that leaves a core, is looked up in the L2, arrives at DRAM or comes
 * back names its requester: core, slot, instruction and block, or says that it has none. At DRAM it
 * gives each request the device address as payload, which must come back with the line that was
 * asked for, once for each packet that waits.
 */
#include "seam/seam.h"

#define COMPONENT requester
#define COMPONENT_DEF "seam/requester.def"
#define COMPONENT_HELP "checks requesters, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    WAITERS = 64,
    CHANNELS = 64
};

/* Of a core. */
struct requester_state {
    MECHANISM_STATE(requester);
    bool note; /* one is under way */
};

/* Of the memory side. */
struct requester_memory {
    MECHANISM_STATE(requester);
    struct memory_system *system;
    fs now;              /* of the last call, and */
    u64 cycle[CHANNELS]; /* the cycle of each channel's last event */
};

/* It is an instruction of a warp of this core. */
static bool of_warp(const struct core *core, const struct requester *from)
{
    if (from->core != core_config(core)->index || from->inst >= core_inst_count(core) ||
        !(core_present(core) >> from->slot & 1))
        return false;
    return from->block == core_slot(core, from->slot)->warp->block->number;
}

static void packet(void *state, struct core *core, struct packet *packet)
{
    struct requester_state *r = state;
    const struct requester *from = &packet->from;
    switch ((enum requester_kind)from->kind) {
    case REQUESTER_ACCESS:
        r->stats->accesses++;
        r->stats->lies += !of_warp(core, from) || packet->client == CLIENT_FETCH;
        break;
    case REQUESTER_FETCH:
        r->stats->fetches++;
        r->stats->lies += !of_warp(core, from) || packet->client != CLIENT_FETCH;
        break;
    case REQUESTER_PREFETCH: /* its warp may have left meanwhile */
        r->stats->prefetches++;
        r->stats->lies += from->core != core_config(core)->index;
        break;
    case REQUESTER_NOTE:
        r->stats->notes++;
        r->stats->lies += from->core != core_config(core)->index || packet->kind != PACKET_NOTE;
        break;
    default:
        r->stats->lies++;
    }
}

static bool same(const struct requester *a, const struct requester *b)
{
    return a->inst == b->inst && a->block == b->block && a->core == b->core && a->slot == b->slot &&
           a->kind == b->kind;
}

static void reply(void *state, struct core *core, const struct packet *packet)
{
    struct requester_state *r = state;
    struct requester waiters[WAITERS];
    const u32 count = core_waiters(core, packet, waiters, WAITERS);
    r->stats->shared += count > 1;
    if (packet->client == CLIENT_MECHANISM) {
        r->note = false;
        r->stats->noted++;
    } else {
        for (u32 i = 0; i < MIN(count, (u32)WAITERS); i++)
            r->stats->lies += !of_warp(core, &waiters[i]);
    }
    /* who missed is the first one that waits */
    if (packet->from.kind == REQUESTER_ACCESS)
        r->stats->lies += !count || !same(&packet->from, &waiters[0]);
    else if (packet->from.kind == REQUESTER_FETCH) /* it may have gone elsewhere meanwhile */
        r->stats->lies += !count || packet->from.slot != waiters[0].slot;
    else
        r->stats->lies += packet->from.kind == REQUESTER_UNSET;
    if (!packet->from_dram)
        return;
    const u64 line = ~(u64)(core_config(core)->l2_line_bytes - 1);
    r->stats->received++;
    r->stats->lies +=
        (packet->payload & line) != packet->address || packet->payload_bits != r->params->bits;
}

static void control(void *state, struct core *core, u32 slot, u32 inst)
{
    struct requester_state *r = state;
    if (!r->note)
        r->note = core_send_note(core, 1 << 20, 0, 8);
}

/* ---- the memory side ---- */

static void create_memory(void *memory, struct memory_system *system, u32 partition, u32 slices)
{
    struct requester_memory *r = memory;
    r->system = system;
    r->stats->lies += !memory_system_slices(system) || !memory_system_channels(system);
}

/* The time passes. */
static void check_time(struct requester_memory *r, fs now)
{
    r->stats->lies += now < r->now || now != memory_system_now(r->system);
    r->now = now;
}

static void l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    struct requester_memory *r = memory;
    r->stats->at_l2++;
    r->stats->lies +=
        packet->from.kind == REQUESTER_UNSET || packet->from.kind >= REQUESTER_EVICTION;
    r->stats->lies += now < packet->sent || !cycle;
    check_time(r, now);
}

static void l2_reply(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    struct requester_memory *r = memory;
    r->stats->given += packet->from_dram;
    check_time(r, now);
}

/* `since`: cycles it must have been in the channel. */
static void check_event(struct requester_memory *r, const struct dram_event *event, u64 since)
{
    check_time(r, event->now);
    r->stats->lies += event->channel >= memory_system_channels(r->system) ||
                      event->cycle < event->arrived + since ||
                      event->cycle < r->cycle[event->channel % CHANNELS];
    r->cycle[event->channel % CHANNELS] = event->cycle - 1; /* `arrived` is ahead by one */
}

static void arrived(void *user, const struct dram_event *event)
{
    struct requester_memory *r = user;
    struct requester waiters[WAITERS];
    const u32 count = memory_system_waiters(r->system, event, waiters, WAITERS);
    const enum requester_kind kind = event->from.kind;
    check_event(r, event, 0);
    r->stats->merged += count > 1;
    r->stats->lies += kind == REQUESTER_UNSET || kind == REQUESTER_NOTE;
    if (!event->write) {
        r->stats->reads++;
        r->stats->lies += kind == REQUESTER_EVICTION || !count || !same(&event->from, &waiters[0]);
    } else {
        *(kind == REQUESTER_EVICTION ? &r->stats->evictions : &r->stats->stores) += 1;
    }
    for (u32 i = 0; i < MIN(count, (u32)WAITERS); i++)
        r->stats->lies += waiters[i].kind == REQUESTER_UNSET;
}

static void started(void *user, const struct dram_event *event, struct payload *payload)
{
    struct requester_memory *r = user;
    check_event(r, event, 0);
    r->stats->started++;
    r->stats->lies += payload->bits != 0 || event->from.kind == REQUESTER_UNSET;
    if (!r->params->late)
        *payload = (struct payload){event->address, (u16)r->params->bits};
}

static void served(void *user, const struct dram_event *event, struct payload *payload)
{
    struct requester_memory *r = user;
    check_event(r, event, 1);
    r->stats->served++;
    if (r->params->late)
        *payload = (struct payload){event->address, (u16)r->params->bits};
    r->stats->lies += payload->value != event->address;
}

static bool dram(void *memory, u32 channel, struct dram_hooks *hooks)
{
    *hooks = (struct dram_hooks){
        .user = memory, .arrived = arrived, .started = started, .served = served};
    return true;
}

const struct mechanism requester_mechanism = {
    MECHANISM_NAMED(requester, "every request is checked for its requester"),
    .state_size = sizeof(struct requester_state),
    .forgets = true,
    .packet = packet,
    .reply = reply,
    .control = control,
    .memory_size = sizeof(struct requester_memory),
    .create_memory = create_memory,
    .l2_request = l2_request,
    .l2_reply = l2_reply,
    .dram = dram,
};
