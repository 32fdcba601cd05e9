/* The memory side: creation, launches, host copies, statistics and explanations (mem/system.h). */
#include "mem/packet_live.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- Creation ---- */

fs memory_system_window(const struct memory_system_params *params)
{
    return params->network->window * clock_period(params->network_mhz);
}

i64 memory_system_delay(const struct memory_system_params *params)
{
    return (i64)(params->l2->latency * clock_period(params->l2_mhz)) -
           2 * (i64)memory_system_window(params);
}

i64 memory_system_shared_delay(const struct memory_system_params *params, u32 latency)
{
    return (i64)((latency - 1) * clock_period(params->network_mhz)) -
           2 * (i64)memory_system_window(params);
}

static void calls_create(struct calls *calls, struct arena *arena, u32 count, u64 alarms)
{
    calls->count = count;
    calls->words = (count + 63) / 64;
    calls->due = arena_array(arena, u64, calls->words);
    calls->later = arena_array(arena, u64, calls->words);
    calls->cycle = arena_array(arena, u64, count);
    calls->first = NO_CYCLE;
    ring_create(&calls->alarms, arena, alarms);
}

static void create_parts(struct memory_system *m)
{
    u64 delay_cycles = m->delay / clock_period(m->network_mhz) + 2;
    m->channel_limit = m->dram_params.queue + m->dram_params.return_queue;
    m->slices = arena_array(m->arena, struct l2_slice *, m->units);
    for (u32 i = 0; i < m->units; i++)
        m->slices[i] = l2_create(&m->shared, m->arena, i % m->l2_params.slices, delay_cycles,
                                 m->channel_limit);
    for (u32 i = 0; i < m->units; i++) {
        m->slices[i]->unit = i;
        m->slices[i]->channel = i / m->l2_params.slices;
    }
    calls_create(&m->slice_calls, m->arena, m->units, (u64)m->units * m->slices[0]->in.places);
    m->channels = arena_array(m->arena, struct channel, m->l2_params.channels);
    for (u32 i = 0; i < m->l2_params.channels; i++) {
        m->channels[i].system = m;
        m->channels[i].dram = dram_create(&m->dram_params, &m->stats.dram);
        dram_set_place(m->channels[i].dram, i, &m->shared.map, &m->dram.next);
        ring_create(&m->channels[i].delayed, m->arena, m->channel_limit);
    }
    calls_create(&m->channel_calls, m->arena, m->l2_params.channels,
                 (u64)m->l2_params.channels * m->channel_limit);
}

static struct port *port_array(struct memory_system *m, u32 count)
{
    return arena_alloc_aligned(m->arena, count * sizeof(struct port), _Alignof(struct port));
}

/* Creates the clusters and their ports. */
static void create_clusters(struct memory_system *m, const struct memory_system_params *params)
{
    const struct cluster_config configs[] = {CLUSTER_CONFIG(params->cluster_icache),
                                             CLUSTER_CONFIG(params->cluster_constant)};
    struct cluster_counters *const counters[] = {
        (struct cluster_counters *)&m->stats.cluster_icache,
        (struct cluster_counters *)&m->stats.cluster_constant};
    const fs period = clock_period(m->network_mhz);
    m->shared_requests = port_array(m, CLUSTER_PARTS * m->cores);
    m->clusters = arena_array(m->arena, struct cluster, m->cluster_count);
    for (u32 i = 0; i < m->cluster_count; i++) {
        struct cluster *cluster = &m->clusters[i];
        cluster->number = i;
        cluster->first = i * m->cluster_size;
        cluster->cores = MIN(m->cluster_size, m->cores - cluster->first);
        cluster->place = m->cores + i;
        cluster->period = period;
        cluster->replies = m->replies;
        for (u32 p = 0; p < CLUSTER_PARTS; p++) {
            struct cluster_cache *part = &cluster->parts[p];
            part->delay = (fs)memory_system_shared_delay(params, configs[p].latency);
            part->requests = &m->shared_requests[p * m->cores + cluster->first];
            /* like other ports, plus what is between the port and the tags */
            u32 limit = 2 * m->network_params.window + 2 + (u32)(part->delay / period);
            for (u32 c = 0; c < cluster->cores; c++)
                port_create(&part->requests[c], limit, m->window);
        }
        cluster_create(cluster, m->arena, configs, counters);
    }
}

static void create_ports(struct memory_system *m)
{
    /* A packet pushed in a window is read in the next, and the sender knows this after that: two
     * windows at one packet per cycle, plus packets at the edges of a window. Both caches of a
     * cluster may reply in addition to the network. */
    u32 limit = 2 * m->network_params.window + 2;
    u32 answers = m->cluster_count ? 1 + CLUSTER_PARTS : 1;
    m->requests = port_array(m, m->cores);
    m->replies = port_array(m, m->cores);
    for (u32 i = 0; i < m->cores; i++) {
        port_create(&m->requests[i], limit, m->window);
        port_create(&m->replies[i], answers * limit, m->window);
    }
    m->core_ports =
        (m->cores + m->network_params.cores_per_port - 1) / m->network_params.cores_per_port;
    u32 places = m->core_ports + m->cluster_count; /* in the network */
    m->port_words = (places + 63) / 64;
    m->unread = arena_array(m->arena, u64, m->port_words);
    m->turn = arena_array(m->arena, u8, m->core_ports);
    m->arrivals = arena_array(m->arena, fs, m->core_ports);
    for (u32 i = 0; i < m->core_ports; i++)
        m->arrivals[i] = FS_NEVER;
    m->unit_words = (m->units + 63) / 64;
    m->closed = arena_array(m->arena, bool, m->units);
    m->waiting = arena_array(m->arena, u64, m->unit_words);
    m->up = network_create(&m->network_params, places, m->units, false, &m->stats.network);
    m->down = network_create(&m->network_params, places, m->units, true, &m->stats.network);
}

struct memory_system *memory_system_create(const struct memory_system_params *params)
{
    struct arena *arena = arena_create_large(0);
    struct memory_system *m = arena_new(arena, struct memory_system);
    m->arena = arena;
    m->network_params = *params->network;
    m->l2_params = *params->l2;
    m->dram_params = *params->dram;
    m->network_mhz = params->network_mhz;
    m->l2_mhz = params->l2_mhz;
    m->dram_mhz = params->dram_mhz;
    m->cores = params->cores;
    m->units = params->l2->channels * params->l2->slices;
    m->window = memory_system_window(params);
    m->delay = (fs)memory_system_delay(params);
    m->shared = (struct l2_shared){
        .params = &m->l2_params,
        .map = {.channels = params->l2->channels,
                .slices = params->l2->slices,
                .piece = params->l2->interleave_bytes,
                .slice_piece = params->l2->slice_bytes,
                .hashed = params->l2->placement == 1},
        .stats = &m->stats.l2,
        .period = clock_period(params->l2_mhz),
        .clock = &m->l2,
        .system = m,
    };
    m->dram_delay = params->dram->latency * m->shared.period;
    m->arrival = FS_NEVER;
    m->cluster_next = FS_NEVER;
    m->cluster_size = params->cluster;
    m->cluster_count = memory_system_clusters(params);
    create_ports(m);
    if (m->cluster_count)
        create_clusters(m, params);
    create_parts(m);
    memory_system_start(m, 0);
    return m;
}

void memory_system_destroy(struct memory_system *m)
{
    if (!m)
        return;
    for (u32 i = 0; i < m->cores; i++) {
        port_destroy(&m->requests[i]);
        port_destroy(&m->replies[i]);
    }
    for (u32 i = 0; i < m->cluster_count; i++)
        cluster_destroy(&m->clusters[i]);
    for (u32 i = 0; m->cluster_count && i < CLUSTER_PARTS * m->cores; i++)
        port_destroy(&m->shared_requests[i]);
    for (u32 i = 0; i < m->units; i++)
        l2_destroy(m->slices[i]);
    for (u32 i = 0; i < m->l2_params.channels; i++)
        dram_destroy(m->channels[i].dram);
    network_destroy(m->up);
    network_destroy(m->down);
    vec_free(&m->shared.atomics);
    content_destroy(m->content);
    arena_destroy(m->arena);
}

struct content *memory_system_arm(struct memory_system *m, const struct content_config *config)
{
    assert(!m->content);
    m->content = m->shared.content = content_create(m, config);
    for (u32 i = 0; i < m->cluster_count; i++)
        m->clusters[i].content = m->content;
    return m->content;
}

void memory_system_make_live(struct memory_system *m)
{
    live_create_dram(m);
}

struct l2_slice *memory_system_slice(struct memory_system *m, u32 slice)
{
    return m->slices[slice];
}

void *memory_system_channel(struct memory_system *m, u32 channel)
{
    return &m->channels[channel];
}

struct port *memory_system_requests(struct memory_system *m, u32 core)
{
    return &m->requests[core];
}

struct port *memory_system_replies(struct memory_system *m, u32 core)
{
    return &m->replies[core];
}

struct port *memory_system_shared(struct memory_system *m, u32 core, enum packet_client client)
{
    u32 part = client == CLIENT_FETCH ? CLUSTER_ICACHE : CLUSTER_CONSTANT;
    return m->cluster_count ? &m->shared_requests[part * m->cores + core] : &m->requests[core];
}

void memory_system_set_packet_hooks(struct memory_system *m, const struct packet_hooks *hooks)
{
    m->shared.hooks = *hooks;
}

void memory_system_set_l2_hooks(struct memory_system *m, u32 slice, const struct cache_hooks *hooks)
{
    cache_set_hooks(m->slices[slice]->cache, hooks);
}

void memory_system_observe_l2(struct memory_system *m, u32 slice, cache_observe_fn *observe,
                              void *user)
{
    cache_observe(m->slices[slice]->cache, observe, user);
}

void memory_system_add_dram_hooks(struct memory_system *m, u32 channel,
                                  const struct dram_hooks *hooks)
{
    dram_add_hooks(m->channels[channel].dram, hooks);
    m->shared.dram_hooked = true;
}

void memory_system_tick_all(struct memory_system *m)
{
    m->every = true;
}

/* ---- Launches ---- */

/* Completes what a launch has left in flight, without notifying anything: write-backs, and requests
 * of cores that a fault has stopped. */
static void drain(struct memory_system *m)
{
    fs next;
    while ((next = memory_system_next(m)) != FS_NEVER) {
        memory_system_run(m, next + m->window);
        for (u32 i = 0; i < m->cores; i++)
            m->replies[i].popped = m->replies[i].pushed;
        memory_system_meet(m, NULL);
    }
}

static void port_reset(struct port *port)
{
    port->pushed = port->pushed_seen = port->popped = port->popped_seen = 0;
    port->next = FS_NEVER;
}

void memory_system_start(struct memory_system *m, fs now)
{
    memory_system_meet(m, NULL);
    drain(m);
    assert(!m->inside);
    clock_start(&m->network, m->network_mhz, now);
    clock_start(&m->l2, m->l2_mhz, now);
    clock_start(&m->dram, m->dram_mhz, now);
    memset(m->counted, 0, sizeof m->counted);
    m->up_done = m->down_done = 0;
    m->network_wants = false;
    m->shared.atomics.count = 0;
    for (u32 i = 0; i < m->cores; i++) {
        port_reset(&m->requests[i]);
        port_reset(&m->replies[i]);
    }
    for (u32 i = 0; m->cluster_count && i < CLUSTER_PARTS * m->cores; i++)
        port_reset(&m->shared_requests[i]);
    for (u32 i = 0; i < m->units; i++)
        l2_reset(m->slices[i]);
    for (u32 i = 0; i < m->l2_params.channels; i++)
        m->channels[i].done = 0;
}

const struct packet *memory_system_atomics(const struct memory_system *m, u32 *count)
{
    *count = m->shared.atomics.count;
    return m->shared.atomics.data;
}

/* Edges before `now` that no earlier statistics counted. */
static u64 count_cycles(const struct clock *clock, fs now, u64 *counted)
{
    u64 cycles = clock->cycle + clock_cycles_until(clock, now), more = cycles - *counted;
    *counted = cycles;
    return more;
}

void memory_system_take_stats(struct memory_system *m, fs now, struct memory_system_stats *stats)
{
    memory_system_advance(m, MIN(now, memory_system_next(m)));
    for (u32 i = 0; i < m->units; i++)
        l2_settle(m->slices[i], m->l2.cycle);
    m->stats.network.cycles = count_cycles(&m->network, now, &m->counted[0]);
    m->stats.l2.slice_cycles = count_cycles(&m->l2, now, &m->counted[1]) * m->units;
    m->stats.dram.channel_cycles =
        count_cycles(&m->dram, now, &m->counted[2]) * m->l2_params.channels;
    *stats = m->stats;
    memset(&m->stats, 0, sizeof m->stats);
}

/* ---- Host copies ---- */

/* As in GPGPU-Sim: in order of addresses, each sector is present and clean afterwards; lines that
 * it evicts are lost. This is not part of a launch: nothing is counted. */
void memory_system_copied(struct memory_system *m, u64 address, u64 bytes)
{
    const struct l2_params *l2 = &m->l2_params;
    if (!l2->fill_on_copy || !l2->enabled || !bytes)
        return;
    /* Only the end of a long copy can remain. Lines spread evenly over sets, but not strictly in
     * turn when hashed: four times the capacity is more than enough. */
    u64 fits = (u64)m->units * l2->sets * l2->ways * l2->line_bytes, end = address + bytes;
    if (bytes > 4 * fits)
        address = end - 4 * fits;
    struct l2_stats saved = m->stats.l2;
    for (u64 line = address & ~(u64)(l2->line_bytes - 1); line < end; line += l2->line_bytes) {
        struct place place = address_place(&m->shared.map, line);
        struct cache_out out = {0};
        u32 first = line < address ? (u32)(address - line) / SECTOR_BYTES : 0;
        u32 last = (u32)(MIN(end - line, (u64)l2->line_bytes) - 1) / SECTOR_BYTES;
        u32 sectors = (u32)(((u64)2 << last) - ((u64)1 << first));
        cache_place(m->slices[place.channel * l2->slices + place.slice]->cache, place.in_slice,
                    sectors, &out);
    }
    m->stats.l2 = saved;
}

void memory_system_invalidate(struct memory_system *m)
{
    for (u32 i = 0; i < m->units; i++)
        cache_invalidate(m->slices[i]->cache);
}

void memory_system_flush(struct memory_system *m)
{
    for (u32 i = 0; i < m->cluster_count; i++)
        cluster_flush(&m->clusters[i]);
}

/* ---- Explanations ---- */

static bool in_port(const struct port *port, const struct packet *request)
{
    for (u32 i = port->popped; i != port->pushed; i++)
        if (packet_same(&port->packets[i & (port->capacity - 1)], request))
            return true;
    return false;
}

/* Where the data that a request waits for are; "" if unknown. */
static void find_data(const struct memory_system *m, u32 unit, const struct packet *request,
                      char *text, size_t size)
{
    const struct l2_slice *slice = m->slices[unit];
    const struct channel *channel = &m->channels[unit / m->l2_params.slices];
    char where[128];
    text[0] = 0;
    for (u32 i = 0; i < ring_count(&slice->misses); i++)
        if (l2_fetches(slice, request, ring_at(&slice->misses, i)->tag))
            snprintf(text, size, ", in the miss queue");
    for (u32 i = 0; i < ring_count(&slice->to_dram); i++)
        if (l2_fetches(slice, request, ring_at(&slice->to_dram, i)->tag))
            snprintf(text, size, ", in the queue to its channel");
    for (u32 i = 0; i < ring_count(&channel->delayed); i++)
        if (l2_fetches(slice, request, ring_at(&channel->delayed, i)->tag))
            snprintf(text, size, ", on the way there");
    for (u32 entry = 0; !text[0] && entry < MAX(slice->pool_count, m->l2_params.mshrs); entry++)
        for (u32 sectors = 1; slice->parts[entry] && sectors <= 32; sectors++) {
            u32 tag = slice->number << TAG_SLICE_SHIFT | sectors << TAG_SECTORS_SHIFT | entry;
            if (l2_fetches(slice, request, tag) &&
                dram_find(channel->dram, tag, where, sizeof where))
                snprintf(text, size, ": %s", where);
        }
}

/* A request to caches of a cluster, and where its line is. */
static bool find_shared(const struct memory_system *m, const struct packet *request, char *text,
                        size_t size)
{
    char where[128], line[320];
    struct packet fetch;
    if (!cluster_find(&m->clusters[request->core / m->cluster_size], request, where, sizeof where,
                      &fetch))
        return false;
    if (fetch.kind != PACKET_KINDS && memory_system_find(m, &fetch, line, sizeof line))
        return snprintf(text, size, "%s: %s", where, line) > 0;
    return snprintf(text, size, "%s", where) > 0;
}

bool memory_system_find(const struct memory_system *m, const struct packet *request, char *text,
                        size_t size)
{
    char where[128];
    const bool of_core = request->core < m->cores;
    if (m->cluster_count && of_core &&
        (request->client == CLIENT_FETCH || request->client == CLIENT_CONSTANT)) {
        if (find_shared(m, request, text, size))
            return true;
    } else if (of_core && in_port(&m->requests[request->core], request)) {
        return snprintf(text, size, "on its way from core %u to the network", request->core) > 0;
    }
    if (network_find(m->up, request->core, request->client, request->tag, where, sizeof where))
        return snprintf(text, size, "request network, %s", where) > 0;
    if (network_find(m->down, request->core, request->client, request->tag, where, sizeof where))
        return snprintf(text, size, "reply network, %s", where) > 0;
    if (of_core && in_port(&m->replies[request->core], request))
        return snprintf(text, size, "its reply is on its way to core %u", request->core) > 0;
    for (u32 i = 0; i < m->units; i++) {
        char data[160] = "";
        if (!l2_find(m->slices[i], request, where, sizeof where))
            continue;
        if (strstr(where, "DRAM"))
            find_data(m, i, request, data, sizeof data);
        return snprintf(text, size, "L2 slice %u of channel %u: %s%s", i % m->l2_params.slices,
                        i / m->l2_params.slices, where, data) > 0;
    }
    return false;
}

u32 memory_system_pending(const struct memory_system *m)
{
    u32 unread = 0;
    for (u32 i = 0; i < m->cores; i++)
        unread += m->requests[i].pushed_seen - m->requests[i].popped;
    for (u32 i = 0; i < m->cluster_count; i++)
        unread += m->clusters[i].inside + cluster_unread(&m->clusters[i]);
    return m->inside + unread;
}
