/*
 * Requests on their way: MSHRs of first-level caches, packets in the network and at the L2's queues,
 * and requests that wait in the L2 for DRAM.
 *
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

/* A store or atomic, or its reply, has been in flight. */
static void count_sure(u64 *held, u64 *ace, u32 bytes, u64 cycles)
{
    *held += 8ull * bytes * cycles;
    *ace += 8ull * bytes * cycles;
}

static bool is_read(const struct packet *packet)
{
    return packet->kind == PACKET_READ;
}

void packets_arrived(struct avf *a, struct avf_fetch *fetch, const struct packet *packet, u64 now)
{
    const u64 sent = a->device->base + core_cycles_until(a->core, packet->sent);
    const u64 cycles = now > sent ? now - sent : 0;
    if (!is_read(packet))
        count_sure(&a->stats->requests_held, &a->stats->requests_ace,
                   PACKET_HEADER_BYTES + packet->bytes, cycles);
    else if (fetch)
        fetch->request_cycles += (u32)cycles;
    if (fetch)
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
        count_sure(&a->stats->replies_held, &a->stats->replies_ace,
                   PACKET_HEADER_BYTES + packet->bytes, cycles);
        return;
    }
    fetch->reply_cycles += (u32)cycles;
    fetch->reply_bits += 8 * packet->bytes;
    fetch->reply_data += 8 * packet->bytes * cycles;
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
    if (core_has_common_stages(a->core))
        a->stats->mshr_all += cycles * (c->l1d->mshrs + c->icache->mshrs + c->constant->mshrs +
                                        (c->readonly->enabled ? c->readonly->mshrs : 0));
}
