/* Caches that the cores of a cluster share (mem/cluster.h). */
#include "mem/cluster.h"
#include "mem/l2.h"
#include "mem/mshr.h"
#include <stdio.h>

static void create_part(struct cluster_cache *part, struct arena *arena,
                        const struct cluster_config *config, struct cluster_counters *counters)
{
    part->cache = cache_create(&config->cache, &counters->cache);
    part->counters = counters;
    part->miss_queue = config->miss_queue;
    part->ports = config->ports;
    part->answer = CLUSTER_NOBODY;
    ring_create(&part->misses, arena, config->miss_queue);
    ring_create(&part->filled, arena, config->cache.mshrs);
    part->size = config->cache.mshrs * config->cache.merges;
    part->pool = arena_array(arena, struct packet, part->size);
    part->payloads = arena_array(arena, struct payload, config->cache.mshrs);
    part->free = arena_array(arena, u32, part->size);
    for (u32 i = part->size; i-- > 0;)
        part->free[part->free_count++] = i;
}

void cluster_create(struct cluster *cluster, struct arena *arena,
                    const struct cluster_config configs[CLUSTER_PARTS],
                    struct cluster_counters *const counters[CLUSTER_PARTS])
{
    for (u32 p = 0; p < CLUSTER_PARTS; p++)
        create_part(&cluster->parts[p], arena, &configs[p], counters[p]);
    cluster->next = FS_NEVER;
}

void cluster_destroy(struct cluster *cluster)
{
    for (u32 p = 0; p < CLUSTER_PARTS; p++)
        cache_destroy(cluster->parts[p].cache);
}

void cluster_flush(struct cluster *cluster)
{
    cache_invalidate(cluster->parts[CLUSTER_CONSTANT].cache);
}

/* ---- Replies ---- */

/* `payload`: that of its line. */
static bool reply(struct cluster *cluster, const struct packet *packet,
                  const struct payload *payload, fs now)
{
    struct port *port = &cluster->replies[packet->core];
    if (!port_room(port))
        return false;
    struct packet answer = *packet;
    answer.kind = PACKET_DATA;
    answer.bytes = (u16)(count_sectors(packet->sectors) * SECTOR_BYTES);
    if (UNLIKELY(payload->bits))
        packet_set_payload(&answer, payload);
    port_push(port, &answer, now);
    if (UNLIKELY(cluster->content != NULL))
        content_read_newest(cluster->content, packet);
    cluster->inside--;
    return true;
}

static void next_answer(struct cluster_cache *part)
{
    while (ring_count(&part->filled)) {
        if (cache_waiter(part->cache, *ring_head(&part->filled), &part->answer))
            return;
        ring_pop(&part->filled);
    }
    part->answer = CLUSTER_NOBODY;
}

/* Answers requests whose line has arrived, at most `limit`. Returns their number. */
static u32 answer(struct cluster *cluster, struct cluster_cache *part, u32 limit, fs now)
{
    u32 count = 0;
    for (; count < limit && part->answer != CLUSTER_NOBODY; count++) {
        const u32 mshr = *ring_head(&part->filled);
        if (!reply(cluster, &part->pool[part->answer], &part->payloads[mshr], now))
            break;
        part->free[part->free_count++] = part->answer;
        next_answer(part);
    }
    return count;
}

void cluster_fill(struct cluster *cluster, const struct packet *packet, fs now)
{
    struct cluster_cache *part =
        &cluster->parts[packet->client == CLIENT_FETCH ? CLUSTER_ICACHE : CLUSTER_CONSTANT];
    struct cache_out out;
    cache_fill(part->cache, packet->tag, &out);
    part->payloads[packet->tag] =
        (struct payload){packet->payload, packet->from_dram ? packet->payload_bits : 0};
    *ring_push(&part->filled) = packet->tag;
    if (part->answer == CLUSTER_NOBODY)
        next_answer(part);
    cluster->next = MIN(cluster->next, now + 1);
}

/* ---- Lookups ---- */

/* The cluster's own request for a line. */
static void fetch(struct cluster *cluster, struct cluster_cache *part, const struct packet *packet,
                  const struct cache_out *out)
{
    struct packet *request = ring_push(&part->misses);
    *request = *packet;
    request->sectors = out->sectors;
    request->tag = out->mshr;
    request->core = (u16)cluster->place;
}

/* False: it must be tried again. */
static bool look_up(struct cluster *cluster, struct cluster_cache *part,
                    const struct packet *packet, fs now)
{
    struct cache_out out;
    if (!port_room(&cluster->replies[packet->core]))
        return false;
    if (ring_count(&part->misses) >= part->miss_queue &&
        !cache_has(part->cache, packet->address, packet->sectors)) {
        part->counters->cache.stalls_queue++;
        return false;
    }
    /* if no entry is free, all places in MSHRs are taken as well: nothing will wait as number 0 */
    u32 waiter = part->free_count ? part->free[part->free_count - 1] : 0;
    switch (cache_read(part->cache, packet->address, packet->sectors, waiter, &out)) {
    case CACHE_HIT:
        cluster->inside++;
        return reply(cluster, packet, &(struct payload){0}, now);
    case CACHE_MISS:
        fetch(cluster, part, packet, &out);
        break;
    case CACHE_MERGED:
        break;
    default: /* refused */
        return false;
    }
    cluster->inside++;
    assert(part->free_count);
    part->pool[part->free[--part->free_count]] = *packet;
    return true;
}

static void look_up_all(struct cluster *cluster, struct cluster_cache *part, u32 limit, fs now)
{
    const u32 first = part->turn;
    for (u32 k = 0, core = first; k < cluster->cores && limit; k++) {
        struct port *port = &part->requests[core];
        core = core + 1 < cluster->cores ? core + 1 : 0;
        /* cores act after the network at the same time, so their packets are seen from the next
         * cycle on */
        const struct packet *packet =
            now > part->delay ? port_head(port, now - part->delay - 1) : NULL;
        if (!packet || !look_up(cluster, part, packet, now))
            continue;
        part->counters->queue_cycles += (now - port_next(port) - part->delay - 1) / cluster->period;
        port_pop(port);
        part->turn = core;
        limit--;
    }
}

/* The earliest time at which a request can be looked up. */
static fs next_look_up(const struct cluster *cluster, const struct cluster_cache *part)
{
    fs next = FS_NEVER;
    for (u32 i = 0; i < cluster->cores; i++)
        next = MIN(next, port_next(&part->requests[i]));
    return next == FS_NEVER ? next : next + part->delay + 1;
}

void cluster_tick(struct cluster *cluster, fs now)
{
    fs next = FS_NEVER;
    for (u32 p = 0; p < CLUSTER_PARTS; p++) {
        struct cluster_cache *part = &cluster->parts[p];
        u32 answered = answer(cluster, part, part->ports, now);
        look_up_all(cluster, part, part->ports - answered, now);
        next = MIN(next, next_look_up(cluster, part));
        if (ring_count(&part->misses) || part->answer != CLUSTER_NOBODY)
            next = now + 1;
    }
    cluster->next = MAX(next, now + 1);
}

/* ---- To the network ---- */

const struct packet *cluster_miss(struct cluster *cluster)
{
    for (u32 k = 0; k < CLUSTER_PARTS; k++) {
        u32 p = (cluster->sender + k) % CLUSTER_PARTS;
        if (!ring_count(&cluster->parts[p].misses))
            continue;
        cluster->sender = p;
        return ring_head(&cluster->parts[p].misses);
    }
    return NULL;
}

void cluster_sent(struct cluster *cluster)
{
    ring_pop(&cluster->parts[cluster->sender].misses);
    cluster->sender = (cluster->sender + 1) % CLUSTER_PARTS;
}

/* ---- Windows ---- */

void cluster_meet(struct cluster *cluster)
{
    for (u32 p = 0; p < CLUSTER_PARTS; p++) {
        struct cluster_cache *part = &cluster->parts[p];
        for (u32 i = 0; i < cluster->cores; i++)
            port_meet(&part->requests[i]);
        cluster->next = MIN(cluster->next, next_look_up(cluster, part));
    }
}

u32 cluster_unread(const struct cluster *cluster)
{
    u32 unread = 0;
    for (u32 p = 0; p < CLUSTER_PARTS; p++)
        for (u32 i = 0; i < cluster->cores; i++) {
            const struct port *port = &cluster->parts[p].requests[i];
            unread += port->pushed_seen - port->popped;
        }
    return unread;
}

/* ---- Explanations ---- */

/* The request as it waits for its line, or NULL. */
static const struct packet *waiting(const struct cluster_cache *part, const struct packet *request)
{
    for (u32 i = 0; i < part->size; i++) {
        bool free = false;
        for (u32 f = 0; f < part->free_count && !free; f++)
            free = part->free[f] == i;
        if (!free && packet_same(&part->pool[i], request))
            return &part->pool[i];
    }
    return NULL;
}

static u32 place_in(const struct port *port, const struct packet *request)
{
    for (u32 i = port->popped; i != port->pushed; i++)
        if (packet_same(&port->packets[i & (port->capacity - 1)], request))
            return i - port->popped;
    return CLUSTER_NOBODY;
}

bool cluster_find(const struct cluster *cluster, const struct packet *request, char *text,
                  size_t size, struct packet *fetch)
{
    const bool code = request->client == CLIENT_FETCH;
    const struct cluster_cache *part = &cluster->parts[code ? CLUSTER_ICACHE : CLUSTER_CONSTANT];
    const char *name = code ? "instruction cache" : "constant cache";
    u32 before = place_in(&part->requests[request->core - cluster->first], request);
    fetch->kind = PACKET_KINDS;
    if (before != CLUSTER_NOBODY)
        return snprintf(text, size,
                        "on its way to the %s of cluster %u, behind %u of the same core", name,
                        cluster->number, before) > 0;
    const struct packet *waits = waiting(part, request);
    if (!waits)
        return false;
    const char *where = "its reply waits";
    u32 mshr = cache_mshr_for(part->cache, waits->address);
    if (mshr != NO_MSHR) {
        *fetch = (struct packet){.core = (u16)cluster->place,
                                 .client = request->client,
                                 .tag = mshr,
                                 .kind = PACKET_READ};
        where = "waits for its line";
        for (u32 i = 0; i < ring_count(&part->misses); i++)
            if (packet_same(ring_at(&part->misses, i), fetch))
                where = "its line waits in the miss queue";
    }
    return snprintf(text, size, "%s of cluster %u: %s", name, cluster->number, where) > 0;
}
