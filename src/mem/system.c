/*
 * The memory side in time (mem/system.h).
 *
 * A network edge: packets at outputs leave (requests into slices, replies into ports), then packets
 * enter, then both networks tick. So a packet that enters in cycle n of a network that takes k
 * ticks leaves it in cycle n + k.
 * Clusters go first: lines that arrive for them leave for cores a cycle later.
 * An L2 edge: the slices that have something to do, in order. A DRAM edge: the channels likewise.
 *
 * Unloaded, in cycles of equal clocks: a request that a core pushes at t enters the network at t +
 * 1 and leaves it at P = t + 1 + ticks; the tags see it at P + latency + 1, and its reply enters
 * the reply network at P + latency + 2. The two windows that ports add are subtracted from the
 * delay before the tags.
 *
 * Idle components are skipped. Slices and channels return the cycle in which they must be called
 * next; delays of equal length over all slices (or channels) end in the order in which they began,
 * so that one queue of alarms for each suffices. When nothing is due at the next edge, the clocks
 * advance to the first time at which something is.
 */
#include "base/hot.h"
#include "mem/packet_live.h"

/* ---- When slices and channels are called ---- */

/* Notes when the component called in this cycle must be called next. */
static inline void call_again(struct calls *calls, u32 who, u64 cycle, u64 next)
{
    if (next == cycle + 1) {
        call(calls, who);
    } else if (next != NO_CYCLE) {
        bit_set(calls->later, who);
        calls->cycle[who] = next;
        calls->first = MIN(calls->first, next);
    }
}

static inline void alarm_at(struct calls *calls, u32 who, fs time)
{
    *ring_push(&calls->alarms) = (struct alarm){time, who};
}

/* Components whose cycle has come are called at this edge. */
PART_OF void call_later(struct calls *calls, u64 cycle)
{
    calls->first = NO_CYCLE;
    FOR_MEMBERS(who, calls->later, calls->words) {
        if (calls->cycle[who] <= cycle)
            call(calls, (u32)who);
        else
            calls->first = MIN(calls->first, calls->cycle[who]);
    }
}

/* Collects the components to call at this edge; false: none. */
static inline bool calls_ring(struct calls *calls, u64 cycle, fs now, bool every)
{
    while (ring_count(&calls->alarms) && ring_head(&calls->alarms)->time <= now) {
        call(calls, ring_head(&calls->alarms)->who);
        ring_pop(&calls->alarms);
    }
    if (calls->first <= cycle)
        call_later(calls, cycle);
    if (UNLIKELY(every))
        for (u32 i = 0; i < calls->count; i++)
            call(calls, i);
    bool any = calls->any;
    calls->any = false;
    return any;
}

/* Takes a word of the components to call at this edge; they state their next cycle again. */
static inline u64 calls_take(struct calls *calls, u32 word)
{
    u64 due = calls->due[word];
    calls->due[word] = 0;
    calls->later[word] &= ~due;
    return due;
}

static inline bool calls_due(const struct calls *calls, u64 cycle, fs now)
{
    return calls->any || calls->first <= cycle ||
           (ring_count(&calls->alarms) && ring_head(&calls->alarms)->time <= now);
}

static fs calls_next(const struct calls *calls, const struct clock *clock)
{
    fs next = FS_NEVER;
    if (calls->any)
        return clock->next;
    if (calls->first != NO_CYCLE)
        next = clock->next + (calls->first - MIN(calls->first, clock->cycle)) * clock->period;
    return ring_count(&calls->alarms) ? MIN(next, ring_head(&calls->alarms)->time) : next;
}

/* ---- Network edges ---- */

/* Brings a network's time up to the current edge, before it is used. */
static void catch_up(struct network *network, u64 *done, u64 cycle)
{
    if (*done < cycle)
        network_skip(network, cycle - *done);
    *done = cycle;
}

PART_OF void deliver_requests(struct memory_system *m, fs now)
{
    const u64 *ready = network_ready(m->up);
    FOR_MEMBERS(unit, ready, m->unit_words) {
        struct l2_slice *slice = m->slices[unit];
        if (m->closed[unit])
            continue;
        if (!l2_room(slice, now)) {
            m->closed[unit] = true;
            continue;
        }
        const struct packet *packet = network_head(m->up, (u32)unit);
        fs ready_at = now + m->delay;
        l2_take(slice, packet, address_place(&m->shared.map, packet->address).in_slice, ready_at);
        alarm_at(&m->slice_calls, (u32)unit, ready_at + 1);
        catch_up(m->up, &m->up_done, m->network.cycle);
        network_pop(m->up, (u32)unit);
    }
}

/* A line for a cluster's cache has arrived. */
static void deliver_line(struct memory_system *m, const struct packet *packet, fs now)
{
    struct cluster *cluster = &m->clusters[packet->core - m->cores];
    cluster_fill(cluster, packet, now);
    m->cluster_next = MIN(m->cluster_next, cluster->next);
}

PART_OF void deliver_replies(struct memory_system *m, fs now)
{
    const u64 *ready = network_ready(m->down);
    FOR_MEMBERS(output, ready, m->port_words) {
        const struct packet *packet = network_head(m->down, (u32)output);
        const u32 core = UNLIKELY(packet->stray) ? stray_core(m, packet) : packet->core;
        if (UNLIKELY(core >= m->cores)) {
            if (packet->stray)
                stray_lose(m, packet);
            else
                deliver_line(m, packet, now);
        } else {
            struct port *port = &m->replies[core];
            if (!port_room(port))
                continue;
            port_push(port, packet, now);
        }
        catch_up(m->down, &m->down_done, m->network.cycle);
        network_pop(m->down, (u32)output);
        m->inside--;
    }
}

/* The network port of a core, or of a cluster, which are numbered after the cores. */
static u32 place_of(const struct memory_system *m, u32 sender)
{
    return LIKELY(sender < m->cores) ? sender / m->network_params.cores_per_port
                                     : m->core_ports + sender - m->cores;
}

PART_OF void enter_reply(struct memory_system *m, u32 unit)
{
    struct l2_slice *slice = m->slices[unit];
    const struct packet *packet = ring_head(&slice->out);
    const u32 core = UNLIKELY(packet->stray) ? stray_core(m, packet) : packet->core;
    if (UNLIKELY(core == STRAY_LOST)) {
        stray_drop(m, packet);
    } else {
        catch_up(m->down, &m->down_done, m->network.cycle);
        network_push(m->down, unit, place_of(m, core), packet);
    }
    if (ring_count(&slice->out) == m->l2_params.queue_out)
        call(&m->slice_calls, unit);
    ring_pop(&slice->out);
    if (!ring_count(&slice->out))
        bit_clear(m->waiting, unit);
}

PART_OF void enter_replies(struct memory_system *m)
{
    for (u32 w = 0; w < m->unit_words; w++) {
        const u64 waiting = m->waiting[w], full = network_full_inputs(m->down)[w];
        if (waiting & full)
            network_full(m->down, (u32)__builtin_popcountll(waiting & full));
        FOR_BITS(bit, waiting & ~full)
            enter_reply(m, w * 64 + (u32)bit);
    }
}

/* One packet of a core port enters, with cores taking turns. Returns the first arrival that is
 * left. */
PART_OF fs enter_request(struct memory_system *m, u32 at, fs now)
{
    u32 share = m->network_params.cores_per_port;
    u32 count = MIN(share, m->cores - at * share);
    bool entered = false;
    fs left = FS_NEVER;
    for (u32 i = 0, turn = m->turn[at]; i < count; i++, turn = turn + 1 < count ? turn + 1 : 0) {
        struct port *port = &m->requests[at * share + turn];
        const struct packet *packet = entered ? NULL : port_head(port, now - 1);
        if (packet) {
            struct place place = address_place(&m->shared.map, packet->address);
            catch_up(m->up, &m->up_done, m->network.cycle);
            network_push(m->up, at, place.channel * m->l2_params.slices + place.slice, packet);
            port_pop(port);
            m->inside++;
            m->turn[at] = (u8)(turn + 1 < count ? turn + 1 : 0);
            entered = true;
        }
        left = MIN(left, port_next(port));
    }
    return left;
}

PART_OF void enter_requests(struct memory_system *m, fs now)
{
    fs first = FS_NEVER;
    /* cores act after the network at the same time: what arrives now enters at the next edge */
    if (m->arrival >= now)
        return;
    FOR_MEMBERS(at, m->unread, m->port_words) {
        if (m->arrivals[at] < now) {
            if (network_room(m->up, (u32)at)) {
                m->arrivals[at] = enter_request(m, (u32)at, now);
                if (m->arrivals[at] == FS_NEVER)
                    bit_clear(m->unread, (u32)at);
            } else {
                network_full(m->up, 1);
            }
        }
        first = MIN(first, m->arrivals[at]);
    }
    m->arrival = first;
}

/* A request of a cluster enters the network. */
static void enter_miss(struct memory_system *m, struct cluster *cluster)
{
    const struct packet *packet = cluster_miss(cluster);
    if (!packet)
        return;
    u32 at = place_of(m, packet->core);
    if (!network_room(m->up, at)) {
        network_full(m->up, 1);
        return;
    }
    struct place place = address_place(&m->shared.map, packet->address);
    catch_up(m->up, &m->up_done, m->network.cycle);
    network_push(m->up, at, place.channel * m->l2_params.slices + place.slice, packet);
    cluster_sent(cluster);
    m->inside++;
}

static void clusters_edge(struct memory_system *m, fs now)
{
    fs first = FS_NEVER;
    for (u32 i = 0; i < m->cluster_count; i++) {
        struct cluster *cluster = &m->clusters[i];
        if (cluster->next <= now || UNLIKELY(m->every)) {
            enter_miss(m, cluster);
            cluster_tick(cluster, now);
        }
        first = MIN(first, cluster->next);
    }
    m->cluster_next = first;
}

PART_OF void tick(struct memory_system *m, struct network *network, u64 *done)
{
    if (!network_busy(network) && !m->every)
        return;
    catch_up(network, done, m->network.cycle);
    network_tick(network);
    *done = m->network.cycle + 1;
}

PART_OF void network_edge(struct memory_system *m, fs now)
{
    if (m->cluster_next <= now || UNLIKELY(m->every))
        clusters_edge(m, now);
    deliver_requests(m, now);
    deliver_replies(m, now);
    enter_replies(m);
    enter_requests(m, now);
    tick(m, m->up, &m->up_done);
    tick(m, m->down, &m->down_done);
    m->network_wants = network_busy(m->up) || network_busy(m->down) ||
                       any_bit(network_ready(m->up), m->unit_words) ||
                       any_bit(network_ready(m->down), m->port_words) ||
                       any_bit(m->waiting, m->unit_words);
}

/* ---- L2 edges ---- */

/* Lets a mechanism act on a slice. */
static void let_act(struct memory_system *m, u32 unit, fs now)
{
    const struct packet_hooks *hooks = &m->shared.hooks;
    m->slices[unit]->asked = false;
    if (hooks->free)
        hooks->free(hooks->user, unit, now, m->l2.cycle);
    call(&m->slice_calls, unit);
}

/* Calls slices whose reserved ways are being emptied, or that a mechanism has asked for. */
static COLD void sweep(struct memory_system *m, fs now)
{
    m->sweeps = false;
    for (u32 i = 0; i < m->units; i++) {
        if (m->slices[i]->sweeps) {
            m->sweeps |= l2_sweep(m->slices[i]);
            call(&m->slice_calls, i);
        }
        if (m->slices[i]->asked)
            let_act(m, i, now);
    }
}

PART_OF void l2_edge(struct memory_system *m, fs now)
{
    struct calls *calls = &m->slice_calls;
    u64 cycle = m->l2.cycle;
    if (!calls_ring(calls, cycle, now, m->every))
        return;
    for (u32 word = 0; word < calls->words; word++) {
        for (u64 bits = calls_take(calls, word); bits; bits &= bits - 1) {
            u32 unit = word * 64 + (u32)__builtin_ctzll(bits);
            struct l2_slice *slice = m->slices[unit];
            call_again(calls, unit, cycle, l2_tick(slice, cycle, now));
            m->closed[unit] = false;
            if (ring_count(&slice->out)) {
                bit_set(m->waiting, unit);
                m->network_wants = true;
            }
            if (ring_count(&slice->to_dram)) {
                m->channels[slice->channel].sending |= 1u << slice->number;
                call(&m->channel_calls, slice->channel);
            }
        }
    }
    if (UNLIKELY(m->sweeps))
        sweep(m, now);
}

/* ---- DRAM edges ---- */

/* Returns finished requests to the slices: at most one reply per cycle; writes need no reply. */
PART_OF void leave(struct memory_system *m, u32 number)
{
    struct channel *channel = &m->channels[number];
    u32 tag;
    while (dram_done(channel->dram, &tag)) {
        bool answer = l2_tag_waits(tag);
        u32 unit = number * m->l2_params.slices + (tag >> TAG_SLICE_SHIFT);
        if (answer) {
            if (!l2_dram_room(m->slices[unit]))
                return;
            l2_dram_done(m->slices[unit], tag);
            if (UNLIKELY(m->shared.dram_hooked))
                l2_dram_payload(m->slices[unit], tag, dram_payload(channel->dram));
            call(&m->slice_calls, unit);
        }
        dram_pop(channel->dram);
        channel->inside--;
        if (answer)
            return;
    }
}

/* One request leaves for DRAM; slices take turns. */
PART_OF void set_out(struct memory_system *m, u32 number, fs now)
{
    struct channel *channel = &m->channels[number];
    if (!channel->sending || channel->inside >= m->channel_limit)
        return;
    /* the next slice after the last one, wrapping around */
    u32 after = channel->sending & ~1u << channel->last;
    u32 turn = (u32)__builtin_ctz(after ? after : channel->sending);
    u32 unit = number * m->l2_params.slices + turn;
    struct l2_slice *slice = m->slices[unit];
    struct l2_request *request = ring_push(&channel->delayed);
    *request = *ring_head(&slice->to_dram);
    request->due = now + m->dram_delay;
    alarm_at(&m->channel_calls, number, request->due);
    if (ring_count(&slice->to_dram) == m->l2_params.queue_dram)
        call(&m->slice_calls, unit);
    ring_pop(&slice->to_dram);
    if (!ring_count(&slice->to_dram))
        channel->sending &= ~(1u << turn);
    channel->inside++;
    channel->last = turn;
}

/* The slice that sent a request of a channel. */
static struct l2_slice *request_slice(const struct memory_system *m, const struct channel *channel,
                                      const struct l2_request *request)
{
    const u32 number = (u32)(channel - m->channels);
    return m->slices[number * m->l2_params.slices + (request->tag >> TAG_SLICE_SHIFT)];
}

/* A request has entered DRAM under this number. */
static COLD void tell_arrived(struct memory_system *m, const struct channel *channel, u32 index,
                              const struct l2_request *request)
{
    struct requester from = l2_requester(request_slice(m, channel, request), request->tag);
    dram_tell_arrived(channel->dram, index, request->address, &from);
}

/* A request whose delay is over enters DRAM. True: another can follow in the next cycle. */
PART_OF bool enter_dram(struct memory_system *m, struct channel *channel, fs now)
{
    const struct l2_request *request = ring_head(&channel->delayed);
    if (!ring_count(&channel->delayed) || request->due > now)
        return false;
    if (!dram_room(channel->dram, request->write))
        return false;
    u32 index =
        dram_push(channel->dram, request->address, request->bytes, request->write, request->tag);
    if (UNLIKELY(m->shared.dram_hooked))
        tell_arrived(m, channel, index, request);
    if (UNLIKELY(channel->kept != NULL))
        live_enter_dram(channel, index, request_slice(m, channel, request), request);
    if (UNLIKELY(m->content != NULL))
        content_enter_dram(m->content, request_slice(m, channel, request), request);
    ring_pop(&channel->delayed);
    request = ring_head(&channel->delayed);
    return ring_count(&channel->delayed) && request->due <= now &&
           dram_room(channel->dram, request->write);
}

/* A cycle of a channel. Returns the next cycle in which it has something to do. Requests that must
 * wait for DRAM are retried in the cycle in which DRAM acts. */
PART_OF u64 channel_tick(struct memory_system *m, u32 number, u64 cycle, fs now)
{
    struct channel *channel = &m->channels[number];
    struct dram *dram = channel->dram;
    u32 tag;
    dram_skip(dram, cycle - channel->done);
    channel->done = cycle + 1;
    if (dram_done(dram, &tag))
        leave(m, number);
    dram_tick(dram);
    set_out(m, number, now);
    if (enter_dram(m, channel, now) || dram_done(dram, &tag) ||
        (channel->sending && channel->inside < m->channel_limit))
        return cycle + 1;
    u64 idle = dram_next(dram);
    return idle == UINT64_MAX ? NO_CYCLE : cycle + 1 + idle;
}

PART_OF void dram_edge(struct memory_system *m, fs now)
{
    struct calls *calls = &m->channel_calls;
    u64 cycle = m->dram.cycle;
    if (!calls_ring(calls, cycle, now, m->every))
        return;
    for (u32 word = 0; word < calls->words; word++) {
        for (u64 bits = calls_take(calls, word); bits; bits &= bits - 1) {
            u32 number = word * 64 + (u32)__builtin_ctzll(bits);
            call_again(calls, number, cycle, channel_tick(m, number, cycle, now));
        }
    }
}

/* ---- Time ---- */

/* The earliest time at which an edge could do anything. */
static fs wanted(const struct memory_system *m)
{
    fs next = MIN(calls_next(&m->slice_calls, &m->l2), calls_next(&m->channel_calls, &m->dram));
    next = MIN(next, m->cluster_next);
    if (m->network_wants)
        return MIN(next, m->network.next);
    return m->arrival == FS_NEVER ? next : MIN(next, m->arrival + 1);
}

void memory_system_advance(struct memory_system *m, fs time)
{
    clock_advance(&m->network, clock_cycles_until(&m->network, time));
    clock_advance(&m->l2, clock_cycles_until(&m->l2, time));
    clock_advance(&m->dram, clock_cycles_until(&m->dram, time));
}

HOT void memory_system_run(struct memory_system *m, fs end)
{
    fs first = wanted(m);
    m->shared.atomics.count = 0;
    m->ran = end;
    if (UNLIKELY(m->content != NULL))
        content_window(m->content);
    if (first >= end && !m->every)
        return; /* clocks are brought up to date when they are needed */
    if (!m->every)
        memory_system_advance(m, first);
    for (;;) {
        fs now = MIN(MIN(m->network.next, m->l2.next), m->dram.next);
        bool idle = !m->every;
        if (now >= end)
            return;
        /* ties: network, L2, DRAM */
        if (m->network.next == now) {
            if (!idle || m->network_wants || m->arrival < now || m->cluster_next <= now) {
                network_edge(m, now);
                idle = false;
            }
            clock_advance(&m->network, 1);
        }
        if (m->l2.next == now) {
            if (!idle || calls_due(&m->slice_calls, m->l2.cycle, now)) {
                l2_edge(m, now);
                idle = false;
            }
            clock_advance(&m->l2, 1);
        }
        if (m->dram.next == now) {
            if (!idle || calls_due(&m->channel_calls, m->dram.cycle, now)) {
                dram_edge(m, now);
                idle = false;
            }
            clock_advance(&m->dram, 1);
        }
        if (idle)
            memory_system_advance(m, MIN(wanted(m), end));
    }
}

static void meet_core(struct memory_system *m, u32 core)
{
    struct port *port = &m->requests[core];
    const u32 share = m->network_params.cores_per_port, at = share == 1 ? core : core / share;
    /* earlier packets are in `arrivals` already */
    if (port->pushed_seen != port->pushed) {
        u32 place = port->pushed_seen & (port->capacity - 1);
        m->arrivals[at] = MIN(m->arrivals[at], port->arrival[place]);
        m->arrival = MIN(m->arrival, m->arrivals[at]);
        bit_set(m->unread, at);
    }
    port_meet(port);
    port_meet(&m->replies[core]);
}

void memory_system_meet(struct memory_system *m, const u64 *cores)
{
    if (!cores)
        for (u32 i = 0; i < m->cores; i++)
            meet_core(m, i);
    else
        FOR_MEMBERS(i, cores, (m->cores + 63) / 64)
            meet_core(m, (u32)i);
    for (u32 i = 0; i < m->cluster_count; i++) {
        cluster_meet(&m->clusters[i]);
        m->cluster_next = MIN(m->cluster_next, m->clusters[i].next);
    }
}

fs memory_system_next(const struct memory_system *m)
{
    fs next = wanted(m);
    return next == FS_NEVER ? next : MAX(next, MIN(MIN(m->network.next, m->l2.next), m->dram.next));
}
