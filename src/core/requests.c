#include "core/requests.h"
#include "core/live.h"
#include "mem/content.h"
#include "mem/stray.h"

static COLD void tell_packet(struct core *core, struct packet *packet)
{
    EACH_USE(use, &core->hooks, packet)
        use->mechanism->packet(use->state, core, packet);
}

static struct port *port_of(const struct core *core, u32 client)
{
    return client == CLIENT_FETCH      ? core->config.fetch_requests
           : client == CLIENT_CONSTANT ? core->config.constant_requests
                                       : core->config.requests;
}

PART_OF void send(struct core *core, struct packet *packet, u32 line_bytes)
{
    const u32 far = core->config.l2_line_bytes;
    if (line_bytes < far) {
        packet->sectors <<= (packet->address & (far - 1)) / SECTOR_BYTES;
        packet->address &= ~(u64)(far - 1);
    }
    packet->sent = core->clock.next;
    packet->core = (u16)core->config.index;
    if (core_hooked(core, SEAM_PACKET))
        tell_packet(core, packet);
    if (UNLIKELY(core->live != NULL) && packet->client == CLIENT_DIRECT)
        live_flip_sent(core, packet->tag);
    port_push(port_of(core, packet->client), packet, core->clock.next);
    core->stats.lsu.requests++;
    core_trace(core, TRACE_REQUEST_SENT, packet->kind, packet->from.inst, packet->address,
               traced_request(packet->client, packet->tag, packet->from.slot));
}

void requests_send(struct core *core, struct packet *packet, u32 line_bytes)
{
    send(core, packet, line_bytes);
}

void requests_read(struct core *core, enum packet_client client, u64 line, u32 line_bytes,
                   u32 sectors, u32 tag, const struct requester *from)
{
    const u32 far = MIN(core->config.l2_line_bytes, line_bytes), each = far / SECTOR_BYTES;
    const u32 mask = each >= 32 ? ~0u : (1u << each) - 1;
    for (u32 at = 0; at < line_bytes; at += far, sectors >>= each < 32 ? each : 31) {
        if (!(sectors & mask))
            continue;
        struct packet packet = {
            .address = line + at,
            .sectors = sectors & mask,
            .tag = tag,
            .from = *from,
            .kind = PACKET_READ,
            .client = (u8)client,
        };
        core->awaiting[client][tag]++;
        send(core, &packet, far);
    }
}

bool core_send_note(struct core *core, u64 address, u64 payload, u16 bits)
{
    if (!requests_room(core, 1))
        return false;
    struct packet packet = {
        .address = address & ~(u64)(core->config.l2_line_bytes - 1),
        .payload = payload,
        .sectors = 1,
        .from = {NO_INST, NO_REQUESTER, (u16)core->config.index, UINT8_MAX, REQUESTER_NOTE},
        .kind = PACKET_NOTE,
        .client = CLIENT_MECHANISM,
        .payload_bits = bits,
    };
    requests_send(core, &packet, core->config.l2_line_bytes);
    return true;
}

/* What waits in an MSHR: a request of the load/store unit, an instruction in flight, or a slot. */
static struct requester waiter_of(const struct core *core, enum packet_client client, u32 waiter)
{
    if (client == CLIENT_FETCH)
        return requester_of(core, waiter, core->slots[waiter].fetch_at, REQUESTER_FETCH);
    if (client != CLIENT_CONSTANT)
        return lsu_requester(core, waiter);
    const struct inflight *inflight = &core->inflight.all[waiter];
    return requester_of(core, inflight->slot, inflight->dyn.inst, REQUESTER_ACCESS);
}

u32 core_waiters(const struct core *core, const struct packet *answer, struct requester *waiters,
                 u32 most)
{
    const enum packet_client client = answer->client;
    u32 count = 0, waiter;
    if (client == CLIENT_DIRECT || client == CLIENT_MECHANISM) {
        if (most)
            waiters[0] = answer->from;
        return 1;
    }
    const struct cache *cache =
        client == CLIENT_FETCH ? core->fetch.cache : lsu_cache(core, client);
    for (; cache_waiter_at(cache, answer->tag, count, &waiter); count++)
        if (count < most)
            waiters[count] = waiter_of(core, client, waiter);
    return count;
}

static COLD void tell_reply(struct core *core, const struct packet *packet)
{
    EACH_USE(use, &core->hooks, reply)
        use->mechanism->reply(use->state, core, packet);
}

static void count_latency(struct core *core, fs sent)
{
    struct lsu_stats *s = &core->stats.lsu;
    u64 cycles = (core->clock.next - sent) / core->clock.period;
    s->replies++;
    s->latency_cycles += cycles;
    if (cycles < 128)
        s->latency_below_128++;
    else if (cycles < 256)
        s->latency_below_256++;
    else if (cycles < 512)
        s->latency_below_512++;
    else if (cycles < 1024)
        s->latency_below_1024++;
    else if (cycles < 2048)
        s->latency_below_2048++;
    else
        s->latency_above++;
}

/* Whether a request with this tag is under way. */
static bool is_awaited(const struct core *core, u32 client, u32 tag)
{
    const struct core_config *c = &core->config;
    const u32 mshrs[CLIENTS] = {[CLIENT_FETCH] = c->icache->mshrs,
                                [CLIENT_L1D] = c->l1d->mshrs,
                                [CLIENT_CONSTANT] = c->constant->mshrs,
                                [CLIENT_READONLY] = c->readonly->mshrs};
    if (client == CLIENT_DIRECT)
        return live_is_sent(core, tag);
    return client < CLIENTS && tag < mshrs[client] && core->awaiting[client][tag];
}

/* With live state: a reply may have come to the wrong core or request, or to one that was answered
 * before. False: nothing waits for it. */
static COLD bool receive(struct core *core, struct packet *reply)
{
    if (reply->stray) {
        const struct stray stray = stray_received(core->config.memory_system, reply);
        if (!is_awaited(core, stray.client, stray.tag))
            return false;
        if (core->config.content)
            content_redirect(core->config.content, reply, core->config.index, stray.client,
                             stray.tag);
        reply->core = (u16)core->config.index;
        reply->client = stray.client;
        reply->tag = stray.tag;
        reply->kind = stray.client == CLIENT_DIRECT ? reply->kind : PACKET_DATA;
    } else if (reply->client == CLIENT_MECHANISM) {
        return true;
    } else if (!is_awaited(core, reply->client, reply->tag)) {
        return false;
    }
    if (reply->client == CLIENT_DIRECT)
        live_flip_sent(core, reply->tag);
    return true;
}

void requests_answered(struct core *core, const struct packet *packet)
{
    struct packet reply;
    if (UNLIKELY(core->live != NULL)) {
        reply = *packet;
        if (!receive(core, &reply))
            return;
        packet = &reply;
    }
    count_latency(core, packet->sent);
    core_trace(core, TRACE_REQUEST_DONE, packet->kind, packet->from.inst, packet->address,
               packet->sent);
    if (core_hooked(core, SEAM_REPLY))
        tell_reply(core, packet);
    if (packet->client == CLIENT_MECHANISM)
        return;
    if (packet->client != CLIENT_DIRECT && packet->kind == PACKET_DATA &&
        --core->awaiting[packet->client][packet->tag])
        return;
    if (packet->client == CLIENT_FETCH)
        fetch_reply(core, packet->tag);
    else
        lsu_reply(core, packet);
}
