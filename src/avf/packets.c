/*
 * Requests on their way: the load/store unit and its queues, MSHRs of first-level caches, packets in
 * the network and at the L2's queues, and requests that wait in the L2 for DRAM.
 *
 *  - An access is in the load/store unit from its collector (from issue on pipelines without) until
 *    its last transaction has left the head, or it has accessed shared memory or constants. A lane's
 *    address and data are needed if its result is; those of stores, atomics and barriers always.
 *  - A transaction is then in a pipe to the tags of a first-level cache, and if it misses, writes, or
 *    bypasses the caches, in the queue to the network. What a load's transaction brings decides
 *    whether it is needed.
 *  - A packet is in flight from its core to the tags of the L2, through the network and the slice's
 *    input queue; its reply from there to the core. Both have a header, and data: stores bring them,
 *    replies to reads the sectors. The header of a read is needed if one byte of it is (lines.h), its
 *    data byte by byte. Stores, atomics and their replies are needed as a whole.
 *  - An MSHR counts from the miss to the fill, if what it brings is needed; so does a read that waits in
 *    the L2 for DRAM, from the tags to its reply.
 *
 * Not counted: packets of clusters and of mechanisms.
 */
#include "avf/avf.h"

/* A packet without a record has been in flight: a store or atomic, or its reply, which are needed; or
 * (`undecided` is not NULL) a read for which there was no room (M3 of lines.h). */
static void count_other(u64 *held, u64 *ace, u64 *undecided, u32 bytes, u64 cycles)
{
    *held += 8ull * bytes * cycles;
    *ace += 8ull * bytes * cycles;
    if (undecided)
        *undecided += 8ull * bytes * cycles;
}

static bool is_read(const struct packet *packet)
{
    return packet->kind == PACKET_READ;
}

void packets_arrived(struct avf *a, struct avf_fetch *fetch, const struct packet *packet, u64 now)
{
    const u64 sent = a->device->base + core_cycles_until(a->core, packet->sent);
    const u64 cycles = now > sent ? now - sent : 0;
    if (!fetch) {
        count_other(&a->stats->requests_held, &a->stats->requests_ace,
                    is_read(packet) ? &a->stats->requests_undecided : NULL,
                    PACKET_HEADER_BYTES + packet->bytes, cycles);
        return;
    }
    fetch->request_cycles += (u32)cycles;
    fetch->arrived = now;
}

void packets_replied(struct avf *a, struct avf_fetch *fetch, const struct packet *packet, u64 now)
{
    a->requests.replied[packet->client][packet->tag] = now;
    if (fetch && fetch->waits) {
        fetch->wait_cycles += (u32)(now - fetch->arrived);
        fetch->waits = false;
    }
}

void packets_returned(struct avf *a, struct avf_fetch *fetch, const struct packet *packet, u64 now)
{
    u64 *const replied = &a->requests.replied[packet->client][packet->tag];
    const u64 cycles = *replied && now > *replied ? now - *replied : 0;
    *replied = 0;
    if (!fetch) {
        const bool read = packet->kind == PACKET_DATA && !packet->returns;
        count_other(&a->stats->replies_held, &a->stats->replies_ace,
                    read ? &a->stats->replies_undecided : NULL, PACKET_HEADER_BYTES + packet->bytes,
                    cycles);
        return;
    }
    fetch->reply_cycles += (u32)cycles;
    fetch->reply_bits += 8 * packet->bytes;
    fetch->reply_data += 8 * packet->bytes * cycles;
}

void packets_queued(struct avf *a, u32 cycles, const struct byte_need *need)
{
    const bool sure = byte_set_any(&need->sure), needed = sure || byte_set_any(&need->maybe);
    a->stats->queue_held += cycles;
    a->stats->queue_ace += needed ? cycles : 0;
    a->stats->queue_undecided += needed && !sure ? cycles : 0;
}

void packets_sent(struct avf *a, struct avf_fetch *fetch, const struct packet *packet, u64 now)
{
    u32 *const sent = &a->requests.sent[packet->tag];
    u32 cycles = 0;
    if (packet->client == CLIENT_DIRECT) {
        cycles = *sent ? (u32)core_cycle(a->core) + 1 - *sent : 0;
        *sent = 0;
    } else if (fetch && fetch->missed && packet->client != CLIENT_FETCH &&
               packet->client != CLIENT_CONSTANT) { /* these do not use the queue */
        cycles = (u32)(now + 1 - fetch->missed);
    }
    if (fetch) { /* once: all packets of a line leave together */
        fetch->queue_cycles = cycles;
    } else if (packet->kind != PACKET_READ) {
        a->stats->queue_held += cycles;
        a->stats->queue_ace += cycles;
    }
}

void packets_access(struct avf *a, const struct avf_entry *e, lane_set ace, lane_set unsure)
{
    const u64 cycles = e->sent - (e->collected ? e->collected : e->issued);
    const bool scalar = a->plan[e->inst].scalar; /* one access for all lanes */
    a->stats->lsu_held += cycles * (scalar ? 1 : count_lanes(e->lanes));
    a->stats->lsu_ace += cycles * (scalar ? ace != 0 : count_lanes(ace));
    a->stats->lsu_undecided += cycles * (scalar ? unsure != 0 : count_lanes(unsure));
}

static u32 count_bytes(const struct byte_set *set)
{
    u32 count = 0;
    for (u32 i = 0; i < ARRAY_LEN(set->words); i++)
        count += count_lanes(set->words[i]);
    return count;
}

/* Needed bytes of the replies, times cycles; those of several replies count as spread evenly. */
static u64 data_cycles(const struct avf_fetch *fetch, const struct byte_set *need)
{
    return fetch->reply_bits ? fetch->reply_data * 8 * count_bytes(need) / fetch->reply_bits : 0;
}

void packets_resolved(struct avf *a, const struct avf_fetch *fetch)
{
    struct avf_stats *s = a->stats;
    struct byte_set all = fetch->need.sure;
    byte_set_add(&all, &fetch->need.maybe);
    const bool needed = byte_set_any(&all), sure = byte_set_any(&fetch->need.sure);
    const u64 header = 8 * PACKET_HEADER_BYTES;
    s->requests_held += header * fetch->request_cycles;
    s->requests_ace += needed ? header * fetch->request_cycles : 0;
    s->requests_undecided += needed && !sure ? header * fetch->request_cycles : 0;
    const u64 data = data_cycles(fetch, &all);
    s->replies_held += header * fetch->reply_cycles + fetch->reply_data;
    s->replies_ace += (needed ? header * fetch->reply_cycles : 0) + data;
    s->replies_undecided += (needed && !sure ? header * fetch->reply_cycles : 0) + data -
                            data_cycles(fetch, &fetch->need.sure);
    packets_queued(a, fetch->queue_cycles, &fetch->need);
    s->mshr_held += fetch->mshr_cycles;
    s->mshr_ace += needed ? fetch->mshr_cycles : 0;
    s->mshr_undecided += needed && !sure ? fetch->mshr_cycles : 0;
    s->l2_waits_held += fetch->wait_cycles;
    s->l2_waits_ace += needed ? fetch->wait_cycles : 0;
    s->l2_waits_undecided += needed && !sure ? fetch->wait_cycles : 0;
}

void packets_count(struct avf *a, u64 cycles)
{
    const struct core_config *c = core_config(a->core);
    const u64 pipes = (c->l1d->global || c->l1d->local ? c->l1d->latency * c->l1d->banks : 0) +
                      (c->readonly->enabled ? c->readonly->latency : 0);
    const u32 latches = c->issue->sub_cores ? c->issue->schedulers : 1;
    if (!core_has_common_stages(a->core))
        return;
    a->stats->lsu_all += cycles * (latches + 1) * a->warp_size;
    a->stats->queue_all += cycles * (pipes + c->l1d->miss_queue);
    a->stats->mshr_all += cycles * (c->l1d->mshrs + c->icache->mshrs + c->constant->mshrs +
                                    (c->readonly->enabled ? c->readonly->mshrs : 0));
}
