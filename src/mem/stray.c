/* Packets whose header has been flipped: see stray.h. */
#include "mem/stray.h"
#include "mem/content_parts.h"

struct stray *stray_take(struct memory_system *m, struct packet *packet)
{
    for (u32 i = 1; !packet->stray && i <= MOST_STRAYS; i++)
        if (!m->strays.all[i].used) {
            m->strays.all[i] = (struct stray){
                .used = true, .client = packet->client, .core = packet->core, .tag = packet->tag};
            packet->stray = (u8)i;
        }
    return packet->stray ? &m->strays.all[packet->stray] : NULL;
}

struct stray stray_of(const struct memory_system *m, const struct packet *packet)
{
    if (packet->stray)
        return m->strays.all[packet->stray];
    return (struct stray){.client = packet->client, .core = packet->core, .tag = packet->tag};
}

void stray_make_lost(struct memory_system *m, struct packet *packet)
{
    struct stray *stray = stray_take(m, packet);
    if (stray)
        stray->core = STRAY_LOST;
}

u32 stray_core(const struct memory_system *m, const struct packet *packet)
{
    const u32 core = m->strays.all[packet->stray].core;
    return core == packet->core || core < m->cores ? core : STRAY_LOST;
}

bool stray_is_lost(const struct memory_system *m, const struct packet *packet)
{
    return m->strays.all[packet->stray].core == STRAY_LOST;
}

void stray_lose(struct memory_system *m, const struct packet *packet)
{
    m->strays.all[packet->stray].used = false;
}

void stray_drop(struct memory_system *m, const struct packet *packet)
{
    stray_lose(m, packet);
    m->inside--;
}

struct stray stray_received(struct memory_system *m, const struct packet *packet)
{
    struct stray *stray = &m->strays.all[packet->stray];
    stray->used = false;
    return *stray;
}

/* ---- launches ---- */

/* Runs until nothing is under way, or for so long that the rest never ends. */
static void run_out(struct memory_system *m)
{
    enum {
        WINDOWS = 20000
    };
    fs next;
    for (u32 n = 0; n < WINDOWS && (next = memory_system_next(m)) != FS_NEVER; n++) {
        memory_system_run(m, next + m->window);
        for (u32 i = 0; i < m->cores; i++)
            m->replies[i].popped = m->replies[i].pushed;
        memory_system_meet(m, NULL);
    }
}

static bool mshrs_used(const struct memory_system *m)
{
    for (u32 i = 0; i < m->units; i++)
        if (cache_pending(m->slices[i]->cache))
            return true;
    return false;
}

static void forget_slice(struct l2_slice *slice)
{
    ring_clear(&slice->in);
    ring_clear(&slice->out);
    ring_clear(&slice->misses);
    ring_clear(&slice->to_dram);
    ring_clear(&slice->stores);
    ring_clear(&slice->from_dram);
    ring_clear(&slice->filled);
    memset(slice->parts, 0, MAX(slice->pool_count, slice->shared->params->mshrs));
    cache_cancel(slice->cache);
    l2_reset(slice);
}

/* What is left for ever. */
static void forget_rest(struct memory_system *m)
{
    const u32 places = m->core_ports + m->cluster_count;
    for (u32 i = 0; i < m->units; i++)
        forget_slice(m->slices[i]);
    for (u32 i = 0; i < m->l2_params.channels; i++) {
        m->channels[i].inside -= ring_count(&m->channels[i].delayed);
        m->channels[i].sending = 0;
        ring_clear(&m->channels[i].delayed);
    }
    network_destroy(m->up);
    network_destroy(m->down);
    m->up = network_create(&m->network_params, places, m->units, false, &m->stats.network);
    m->down = network_create(&m->network_params, places, m->units, true, &m->stats.network);
    m->network_wants = false;
    memset(m->waiting, 0, m->unit_words * sizeof *m->waiting);
    memset(m->closed, 0, m->units * sizeof *m->closed);
    if (m->content)
        content_forget(m->content);
    m->inside = 0;
    run_out(m);
}

void memory_system_forget_strays(struct memory_system *m)
{
    if (!m->strays.struck)
        return;
    run_out(m);
    if (m->inside || memory_system_next(m) != FS_NEVER || mshrs_used(m))
        forget_rest(m);
    m->strays = (struct strays){0};
}
