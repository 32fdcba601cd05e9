/*
 * The memory side in time (mem/memside.h).
 *
 * A network edge: packets that stand at outputs leave (requests into slices, replies into ports),
 * then packets enter, then both networks tick. So what enters in cycle n of a network that takes k
 * ticks leaves it in cycle n + k.
 * An L2 edge: the slices that have something to do, in order. A DRAM edge: the channels likewise.
 *
 * Unloaded, in cycles of equal clocks: a request that a core pushes at t enters the network at t +
 * 1 and leaves it at P = t + 1 + ticks; the tags see it at P + latency + 1, and its answer enters
 * the reply network at P + latency + 2. The two windows that ports add are taken out of the delay
 * before the tags.
 *
 * Nothing is done for what is idle. Slices and channels say in which cycle they want to be called;
 * delays of equal length over all slices (and channels) end in the order they began, so that one
 * queue each of who is to be woken suffices. When nobody wants the next edge, clocks are advanced
 * to the first time somebody does.
 */
#include "mem/memside_parts.h"

/* ---- Who is called when ---- */

static inline void call(struct calls *calls, u32 who, u64 cycle)
{
    if (!(calls->mask[who / 64] >> (who % 64) & 1) || calls->cycle[who] > cycle)
        calls->cycle[who] = cycle;
    bit_set(calls->mask, who);
    calls->first = MIN(calls->first, cycle);
}

/* What the one that was called wants next. */
static void call_again(struct calls *calls, u32 who, u64 cycle)
{
    if (cycle == NO_CYCLE) {
        bit_clear(calls->mask, who);
        return;
    }
    calls->cycle[who] = cycle;
    calls->first = MIN(calls->first, cycle);
}

static void alarm_at(struct calls *calls, u32 who, fs time)
{
    *ring_push(&calls->alarms) = (struct alarm){time, who};
}

/* Alarms up to now call their owners. */
static void alarms_ring(struct calls *calls, u64 cycle, fs now)
{
    while (ring_count(&calls->alarms) && ring_head(&calls->alarms)->time <= now) {
        call(calls, ring_head(&calls->alarms)->who, cycle);
        ring_pop(&calls->alarms);
    }
}

static inline bool calls_due(const struct calls *calls, u64 cycle, fs now)
{
    return calls->first <= cycle ||
           (ring_count(&calls->alarms) && ring_head(&calls->alarms)->time <= now);
}

static fs calls_next(const struct calls *calls, const struct clock *clock)
{
    fs next = FS_NEVER;
    if (calls->first != NO_CYCLE)
        next = clock->next + (calls->first - MIN(calls->first, clock->cycle)) * clock->period;
    return ring_count(&calls->alarms) ? MIN(next, ring_head(&calls->alarms)->time) : next;
}

/* ---- Network edges ---- */

/* A network's time is brought up to the edge at hand before it is touched. */
static void catch_up(struct network *network, u64 *done, u64 cycle)
{
    if (*done < cycle)
        network_skip(network, cycle - *done);
    *done = cycle;
}

static void deliver_requests(struct memside *m, fs now)
{
    const u64 *ready = network_ready(m->up);
    FOR_BITS(unit, ready, m->unit_words)
    {
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

static void deliver_replies(struct memside *m, fs now)
{
    const u64 *ready = network_ready(m->down);
    FOR_BITS(output, ready, m->port_words)
    {
        const struct packet *packet = network_head(m->down, (u32)output);
        struct port *port = &m->replies[packet->core];
        if (!port_room(port))
            continue;
        port_push(port, packet, now);
        catch_up(m->down, &m->down_done, m->network.cycle);
        network_pop(m->down, (u32)output);
        m->inside--;
    }
}

static void enter_replies(struct memside *m)
{
    FOR_BITS(unit, m->waiting, m->unit_words)
    {
        struct l2_slice *slice = m->slices[unit];
        if (!network_room(m->down, (u32)unit)) {
            network_full(m->down);
            continue;
        }
        const struct packet *packet = ring_head(&slice->out);
        catch_up(m->down, &m->down_done, m->network.cycle);
        network_push(m->down, (u32)unit, packet->core / m->network_params.cores_per_port, packet);
        if (ring_count(&slice->out) == m->l2_params.queue_out)
            call(&m->slice_calls, (u32)unit, m->l2.cycle);
        ring_pop(&slice->out);
        if (!ring_count(&slice->out))
            bit_clear(m->waiting, (u32)unit);
    }
}

/* One packet of a core port enters, the cores taking turns. Gives the first arrival that is left.
 */
static fs enter_request(struct memside *m, u32 at, fs now)
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

static void enter_requests(struct memside *m, fs now)
{
    fs first = FS_NEVER;
    /* cores act after the network in an instant: what arrives now enters at the next edge */
    if (m->arrival >= now)
        return;
    FOR_BITS(at, m->unread, m->port_words)
    {
        if (m->arrivals[at] < now) {
            if (network_room(m->up, (u32)at)) {
                m->arrivals[at] = enter_request(m, (u32)at, now);
                if (m->arrivals[at] == FS_NEVER)
                    bit_clear(m->unread, (u32)at);
            } else {
                network_full(m->up);
            }
        }
        first = MIN(first, m->arrivals[at]);
    }
    m->arrival = first;
}

static void tick(struct memside *m, struct network *network, u64 *done)
{
    if (!network_busy(network) && !m->every)
        return;
    catch_up(network, done, m->network.cycle);
    network_tick(network);
    *done = m->network.cycle + 1;
}

static void network_edge(struct memside *m, fs now)
{
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

static void l2_edge(struct memside *m, fs now)
{
    struct calls *calls = &m->slice_calls;
    u64 cycle = m->l2.cycle;
    alarms_ring(calls, cycle, now);
    if (m->every)
        for (u32 i = 0; i < m->units; i++)
            call(calls, i, cycle);
    if (calls->first > cycle)
        return;
    calls->first = NO_CYCLE;
    FOR_BITS(unit, calls->mask, calls->words)
    {
        struct l2_slice *slice = m->slices[unit];
        if (calls->cycle[unit] > cycle) {
            calls->first = MIN(calls->first, calls->cycle[unit]);
            continue;
        }
        call_again(calls, (u32)unit, l2_tick(slice, cycle, now));
        m->closed[unit] = false;
        if (ring_count(&slice->out)) {
            bit_set(m->waiting, (u32)unit);
            m->network_wants = true;
        }
        if (ring_count(&slice->to_dram))
            call(&m->channel_calls, (u32)unit / m->l2_params.slices, m->dram.cycle);
    }
}

/* ---- DRAM edges ---- */

/* What DRAM has done goes back: at most one answer a cycle; writes that nobody waits for vanish. */
static void leave(struct memside *m, u32 number)
{
    struct channel *channel = &m->channels[number];
    u32 tag;
    while (dram_done(channel->dram, &tag)) {
        bool answer = (tag & TAG_NO_FETCH) != TAG_NO_FETCH;
        u32 unit = number * m->l2_params.slices + (tag >> TAG_SLICE_SHIFT);
        if (answer) {
            if (!l2_dram_room(m->slices[unit]))
                return;
            l2_dram_done(m->slices[unit], tag);
            call(&m->slice_calls, unit, m->l2.cycle);
        }
        dram_pop(channel->dram);
        channel->inside--;
        if (answer)
            return;
    }
}

/* One request of the slices, which take turns, sets out for DRAM. */
static void set_out(struct memside *m, u32 number, fs now)
{
    struct channel *channel = &m->channels[number];
    u32 slices = m->l2_params.slices;
    if (channel->inside >= m->channel_limit)
        return;
    for (u32 i = 0, turn = channel->last; i < slices; i++) {
        turn = turn + 1 < slices ? turn + 1 : 0;
        struct l2_slice *slice = m->slices[number * slices + turn];
        if (!ring_count(&slice->to_dram))
            continue;
        struct l2_request *request = ring_push(&channel->delayed);
        *request = *ring_head(&slice->to_dram);
        request->due = now + m->dram_delay;
        alarm_at(&m->channel_calls, number, now + m->dram_delay);
        if (ring_count(&slice->to_dram) == m->l2_params.queue_dram)
            call(&m->slice_calls, number * slices + turn, m->l2.cycle);
        ring_pop(&slice->to_dram);
        channel->inside++;
        channel->last = turn;
        return;
    }
}

/* One whose delay is over enters DRAM. */
static void enter_dram(struct channel *channel, fs now)
{
    const struct l2_request *request = ring_head(&channel->delayed);
    if (!ring_count(&channel->delayed) || request->due > now)
        return;
    if (!dram_room(channel->dram, request->write))
        return;
    dram_push(channel->dram, request->address, request->bytes, request->write, request->tag);
    ring_pop(&channel->delayed);
}

/* The next cycle in which it has something to do. What cannot go on before DRAM has done something
 * waits for the cycle in which DRAM does. */
static u64 channel_next(const struct memside *m, u32 number, u64 cycle, fs now)
{
    const struct channel *channel = &m->channels[number];
    u32 tag;
    if (dram_done(channel->dram, &tag))
        return cycle + 1;
    if (ring_count(&channel->delayed) && ring_head(&channel->delayed)->due <= now &&
        dram_room(channel->dram, ring_head(&channel->delayed)->write))
        return cycle + 1;
    if (channel->inside < m->channel_limit)
        for (u32 i = 0; i < m->l2_params.slices; i++)
            if (ring_count(&m->slices[number * m->l2_params.slices + i]->to_dram))
                return cycle + 1;
    u64 idle = dram_next(channel->dram);
    return idle == UINT64_MAX ? NO_CYCLE : cycle + 1 + idle;
}

static void dram_edge(struct memside *m, fs now)
{
    struct calls *calls = &m->channel_calls;
    u64 cycle = m->dram.cycle;
    alarms_ring(calls, cycle, now);
    if (m->every)
        for (u32 i = 0; i < m->l2_params.channels; i++)
            call(calls, i, cycle);
    if (calls->first > cycle)
        return;
    calls->first = NO_CYCLE;
    FOR_BITS(number, calls->mask, calls->words)
    {
        struct channel *channel = &m->channels[number];
        if (calls->cycle[number] > cycle) {
            calls->first = MIN(calls->first, calls->cycle[number]);
            continue;
        }
        dram_skip(channel->dram, cycle - channel->done);
        leave(m, (u32)number);
        if (dram_next(channel->dram))
            dram_skip(channel->dram, 1);
        else
            dram_tick(channel->dram);
        channel->done = cycle + 1;
        set_out(m, (u32)number, now);
        enter_dram(channel, now);
        call_again(calls, (u32)number, channel_next(m, (u32)number, cycle, now));
    }
}

/* ---- Time ---- */

/* The first time at which an edge could do anything. */
static fs wanted(const struct memside *m)
{
    fs next = MIN(calls_next(&m->slice_calls, &m->l2), calls_next(&m->channel_calls, &m->dram));
    if (m->network_wants)
        return MIN(next, m->network.next);
    return m->arrival == FS_NEVER ? next : MIN(next, m->arrival + 1);
}

void memside_advance(struct memside *m, fs time)
{
    clock_advance(&m->network, clock_cycles_until(&m->network, time));
    clock_advance(&m->l2, clock_cycles_until(&m->l2, time));
    clock_advance(&m->dram, clock_cycles_until(&m->dram, time));
}

void memside_run(struct memside *m, fs end)
{
    fs first = wanted(m);
    m->shared.atomics.count = 0;
    if (first >= end && !m->every)
        return; /* clocks are behind until somebody wants them */
    if (!m->every)
        memside_advance(m, first);
    for (;;) {
        fs now = MIN(MIN(m->network.next, m->l2.next), m->dram.next);
        bool idle = !m->every;
        if (now >= end)
            return;
        /* ties: network, L2, DRAM */
        if (m->network.next == now) {
            if (!idle || m->network_wants || m->arrival < now) {
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
            memside_advance(m, MIN(wanted(m), end));
    }
}

void memside_meet(struct memside *m)
{
    u32 share = m->network_params.cores_per_port;
    for (u32 i = 0; i < m->cores; i++) {
        struct port *port = &m->requests[i];
        u32 at = share == 1 ? i : i / share;
        /* what was known before is in `arrivals` */
        if (port->pushed_seen != port->pushed) {
            u32 place = port->pushed_seen & (port->capacity - 1);
            m->arrivals[at] = MIN(m->arrivals[at], port->arrival[place]);
            m->arrival = MIN(m->arrival, m->arrivals[at]);
            bit_set(m->unread, at);
        }
        port_meet(port);
        port_meet(&m->replies[i]);
    }
}

fs memside_next(const struct memside *m)
{
    fs next = wanted(m);
    return next == FS_NEVER ? next : MAX(next, MIN(MIN(m->network.next, m->l2.next), m->dram.next));
}
