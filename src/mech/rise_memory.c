/*
 * RP-FRISE at a memory controller: how long each request waits in its buffer, and the redundant cycles that
 * this gives, which the reply carries (see rise.c).
 *
 * A timer of 10 bits for each entry of the buffer starts at 0 when the request enters and stops when it is
 * served, that is with its first command. The latency is the mean time from entering to the last data of
 * the requests that were completed in the last full period.
 */
#include "mech/rise.h"

u32 rise_cycles(const struct rise_params *p, u64 waited, u32 latency)
{
    const u32 pending = (u32)MIN(waited, (u64)RISE_TIMER_MOST);
    if (pending <= p->threshold)
        return 0;
    if (latency >= p->reference)
        return pending;
    return (latency * pending + p->reference / 2) / p->reference; /* rounded; a shift */
}

static void started(void *user, const struct dram_event *event, struct payload *payload)
{
    struct rise_memory *m = user;
    const u64 waited = event->cycle - event->arrived;
    m->stats->timed++;
    m->stats->scaled += waited > m->params->threshold && m->latency < m->params->reference;
    payload->value = rise_cycles(m->params, waited, m->latency);
    payload->bits = RISE_TIMER_BITS;
}

static void served(void *user, const struct dram_event *event, struct payload *payload)
{
    struct rise_memory *m = user;
    if (event->cycle >= m->until) {
        if (m->count) {
            m->latency = (u32)MIN(m->sum / m->count, (u64)RISE_TIMER_MOST);
            m->stats->samples++;
            m->stats->sampled_latency += m->latency;
        }
        m->sum = m->count = 0;
        m->until = event->cycle - event->cycle % m->params->period + m->params->period;
    }
    m->sum += event->cycle + 1 - event->arrived;
    m->count++;
}

bool rise_dram(void *memory, u32 channel, struct dram_hooks *hooks)
{
    const struct rise_memory *m = memory;
    if (!m->params->request_pending || m->params->full)
        return false;
    *hooks = (struct dram_hooks){.user = memory, .started = started, .served = served};
    return true;
}
