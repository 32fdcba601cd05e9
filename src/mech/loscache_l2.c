/*
 * The L2's side of `loscache` (mech/loscache.c): counts in its tags, and gating.
 *
 * Invariants
 *  G1  `powered` is the number of lines with power at any time: those that hold data, or did until
 *      another line took their place.
 *  G2  An access counts once, at the event of its own packet, which l2_request has announced.
 *  G3  A line is gated when no access is being served (l2_free), and is gone then: the cache drops
 *      it, and writes dirty data back first.
 *  G4  `closed` of the oracle says of each line whether its last access was predicted to be the last.
 */
#include "mech/loscache.h"
#include <stdlib.h>

/* ---- power over time ---- */

static u64 time_now(const struct loscache_memory *m)
{
    return launch_time_at(&m->time, memory_system_now(m->system));
}

static void count_power(struct loscache_memory *m, u64 time)
{
    const u64 passed = time > m->counted_to ? time - m->counted_to : 0;
    m->line_fs += passed * m->slice_count * m->sets * m->ways;
    m->powered_fs += passed * m->powered;
    m->counted_to += passed;
}

static bool is_ideal(const struct loscache_memory *m)
{
    return m->params->gating == LOSCACHE_IDEAL;
}

static void power(struct loscache_memory *m, struct loscache_line *line, bool on)
{
    if (line->powered == on || is_ideal(m))
        return;
    count_power(m, time_now(m));
    line->powered = on;
    m->powered += on ? 1 : -1u;
    m->stats->wakeups += on;
}

/* ---- the oracle ---- */

/* The last predicted access to a line. */
static void close_prediction(struct loscache_memory *m, u64 address)
{
    const u32 number = line_table_number(&m->table, address);
    m->closed_now++;
    if (number == LINE_TABLE_NONE)
        m->stats->untracked++;
    else
        m->closed[number] = m->launch;
}

/* Another access to it: was there one that was predicted to be the last? */
static void reopen(struct loscache_memory *m, u64 address)
{
    const u32 number = line_table_number(&m->table, address);
    if (number == LINE_TABLE_NONE || !m->closed[number])
        return;
    if (m->closed[number] == m->launch) {
        m->stats->early++;
        m->early_now++;
    } else {
        m->stats->early_before++;
    }
    m->closed[number] = 0;
}

/* ---- accesses ---- */

void loscache_l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    struct loscache_memory *m = memory;
    struct loscache_slice *s = &m->slices[slice - m->first];
    s->announced = packet;
    if (packet->kind == PACKET_NOTE && packet->payload & PAYLOAD_NOTE) {
        const struct l2_place at = memory_system_place(m->system, packet->address);
        m->stats->probed++;
        if (at.way != L2_NO_WAY)
            packet->payload |= s->lines[at.set * m->ways + at.way].count;
        packet->payload_bits = LOSCACHE_BITS;
    }
    /* it is announced again if it has to wait */
    if (packet_same(packet, &s->asks) && packet->sent == s->asks.sent &&
        packet->address == s->asks.address)
        return;
    s->asks = *packet;
    s->counted = s->denied = false;
}

static bool has_prediction(const struct packet *packet)
{
    return packet->client == CLIENT_L1D || packet->client == CLIENT_READONLY ||
           packet->client == CLIENT_DIRECT;
}

static u32 prediction_of(const struct packet *packet)
{
    return has_prediction(packet) ? packet->payload & PAYLOAD_COUNT : 0;
}

/* The cache hook. An atomic changes its line in the L2, so it needs one. */
static bool allocates(void *user, u64 line)
{
    struct loscache_slice *s = user;
    const struct loscache_memory *m = s->memory;
    const u32 slice = m->first + (u32)(s - m->slices);
    if (!m->params->bypass || s->counted || s->asks.kind == PACKET_ATOMIC ||
        prediction_of(&s->asks) != 1 ||
        memory_system_address(m->system, slice, line) != s->asks.address)
        return true;
    s->denied = true;
    return false;
}

/* The tag of a gated line is hit: its data are needed again. The tag is used up. */
static bool hit_gated(struct loscache_slice *s, u64 address)
{
    const struct loscache_memory *m = s->memory;
    const u32 set = memory_system_place(m->system, address).set;
    struct loscache_line *lines = &s->lines[(size_t)set * m->ways];
    bool hit = false;
    assert(lines);
    for (u32 way = 0; way < m->ways; way++)
        if (lines[way].gated && lines[way].address == address) {
            lines[way].gated = false;
            hit = true;
        }
    return hit;
}

static void hold(struct loscache_memory *m, struct loscache_line *line, u64 address)
{
    power(m, line, true);
    *line = (struct loscache_line){.address = address,
                                   .accessed = time_now(m),
                                   .held = true,
                                   .powered = line->powered,
                                   .listed = line->listed};
}

/* Counts an access to a line. True: it was the last one, by its prediction. */
static bool count_access(struct loscache_memory *m, struct loscache_line *line, u32 predicted)
{
    const bool compare_first = m->params->order == LOSCACHE_COMPARE_FIRST;
    const bool last_before = predicted && line->count >= predicted;
    line->predicted = predicted ? (u8)predicted : line->predicted;
    m->stats->counted++;
    if (!(compare_first && last_before))
        line->count += line->count < LOSCACHE_MOST;
    return compare_first ? last_before : predicted && line->count >= predicted;
}

/* The packet that was announced accesses a line, which may have no place. */
static void access_line(struct loscache_slice *s, struct loscache_line *line)
{
    struct loscache_memory *m = s->memory;
    const u64 address = s->asks.address;
    const u32 predicted = prediction_of(&s->asks);
    const bool early = (!line || !line->held) && hit_gated(s, address);
    s->counted = true;
    reopen(m, address);
    if (early && has_prediction(&s->asks)) {
        m->stats->early_seen++;
        s->announced->payload |= PAYLOAD_EARLY;
    }
    if (!line) {
        m->stats->bypassed += s->denied;
        if (s->denied)
            close_prediction(m, address);
        return;
    }
    if (!line->held)
        hold(m, line, address);
    else if (is_ideal(m))
        m->powered_fs += time_now(m) - line->accessed;
    line->accessed = time_now(m);
    if (count_access(m, line, predicted))
        s->announced->payload |= PAYLOAD_LAST;
}

/* ---- gating ---- */

/* The line at a place is gated as soon as nothing is done with it. */
static void list_due(struct loscache_slice *s, u32 place)
{
    const struct loscache_memory *m = s->memory;
    struct loscache_line *line = &s->lines[place];
    line->due = true;
    if (!line->listed)
        s->due[s->due_count++] = place;
    line->listed = true;
    memory_system_ask(m->system, m->first + (u32)(s - m->slices));
}

void loscache_l2_reply(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    struct loscache_memory *m = memory;
    struct loscache_slice *s = &m->slices[slice - m->first];
    if (is_ideal(m) || !has_prediction(packet))
        return;
    if (packet->payload & PAYLOAD_LAST) {
        const struct l2_place at = memory_system_place(m->system, packet->address);
        const u32 place = at.set * m->ways + at.way;
        /* the line may have left and come again: then this was not its last access */
        if (at.way != L2_NO_WAY && s->lines[place].count >= prediction_of(packet))
            list_due(s, place);
    }
    packet->payload = packet->payload & PAYLOAD_EARLY;
    packet->payload_bits = !m->params->in_header;
}

/* Gates a line, if that is possible now. */
static enum l2_drop_answer gate(struct loscache_memory *m, const struct loscache_line *line)
{
    m->gating = true;
    const enum l2_drop_answer answer = memory_system_drop(m->system, line->address);
    m->gating = false;
    return answer;
}

void loscache_l2_free(void *memory, u32 slice, fs now, u64 cycle)
{
    struct loscache_memory *m = memory;
    struct loscache_slice *s = &m->slices[slice - m->first];
    u32 left = 0;
    for (u32 i = 0; i < s->due_count; i++) {
        struct loscache_line *line = &s->lines[s->due[i]];
        if (line->due && gate(m, line) == L2_DROP_NO_ROOM) {
            s->due[left++] = s->due[i];
            continue;
        }
        line->listed = false; /* a line in flight is listed again when it is filled */
    }
    s->due_count = left;
    if (left)
        memory_system_ask(m->system, slice);
}

/* A line leaves its place. */
static void leaves(struct loscache_memory *m, struct loscache_line *line, bool dirty)
{
    if (m->gating) {
        power(m, line, false);
        m->stats->gated++;
        m->stats->gated_dirty += dirty;
        line->gated = true;
    }
    if (line->due) /* it may also give way to another line before it is gated */
        close_prediction(m, line->address);
    else
        m->late_now += line->predicted != 0;
    line->held = line->due = false;
    line->count = line->predicted = 0;
}

void loscache_l2_event(void *memory, u32 slice, const struct cache_event *event)
{
    struct loscache_memory *m = memory;
    struct loscache_slice *s = &m->slices[slice - m->first];
    struct loscache_line *line = event->place == CACHE_NO_PLACE ? NULL : &s->lines[event->place];
    const u64 address = memory_system_address(m->system, slice, event->line);
    if (event->kind == CACHE_EVENT_DROPPED && line) { /* such a line always has a place */
        leaves(m, line, event->dirty != 0);
    } else if (event->kind == CACHE_EVENT_FILLED) {
        if (line && !line->held)
            hold(m, line, address); /* copied from the host, or allocated only now */
        else if (line && line->due)
            list_due(s, event->place);
    } else if (!s->counted && s->asks.address == address &&
               (event->kind == CACHE_EVENT_READ || s->asks.kind == PACKET_WRITE)) {
        access_line(s, line);
    }
}

/* ---- launches ---- */

/* Lines that a launch can name, and some more for local memory and the ends of allocations. */
static void make_table(struct loscache_memory *m, const struct exec *exec)
{
    enum {
        SPARE = 1 << 16
    };
    const u64 lines = memory_used(exec->memory) / memory_system_l2(m->system)->line_bytes + SPARE;
    struct line_table old = m->table;
    u32 *const closed = m->closed;
    if (lines <= old.room)
        return;
    line_table_make(&m->table, lines);
    m->closed = checked(calloc(m->table.room, sizeof *m->closed));
    for (u32 i = 0; i < old.count; i++)
        m->closed[line_table_number(&m->table, old.addresses[i])] = closed[i];
    line_table_free(&old);
    free(closed);
}

/* Predictions of the launch that did not come true. */
static void end_predictions(struct loscache_memory *m)
{
    for (u32 i = 0; i < m->slice_count; i++)
        for (u32 place = 0; place < m->sets * m->ways; place++) {
            struct loscache_line *line = &m->slices[i].lines[place];
            m->late_now += line->predicted != 0;
            line->predicted = 0;
        }
    m->stats->late += m->late_now;
    m->stats->correct += m->closed_now - m->early_now;
    m->stats->predictions += m->closed_now + m->late_now;
}

void loscache_launch_memory(void *memory, const struct exec *exec, bool begins, fs now)
{
    struct loscache_memory *m = memory;
    if (!begins) {
        end_predictions(m);
        return;
    }
    launch_time_begin(&m->time, now);
    m->counted_to = m->time.before;
    m->line_fs = m->powered_fs = 0; /* of the last stores of the launch before */
    m->closed_now = m->early_now = m->late_now = 0;
    m->launch++;
    make_table(m, exec);
}

void loscache_settle_memory(void *memory, fs now)
{
    struct loscache_memory *m = memory;
    count_power(m, launch_time_at(&m->time, now));
    m->time.settled = now;
    launch_sum_take(&m->line_fs, &m->stats->line_ps);
    launch_sum_take(&m->powered_fs, &m->stats->powered_ps);
}

/* ---- creation ---- */

void loscache_create_memory(void *memory, struct memory_system *system, u32 partition, u32 slices)
{
    struct loscache_memory *m = memory;
    const struct l2_params *l2 = memory_system_l2(system);
    m->system = system;
    m->first = partition * slices;
    m->slice_count = slices;
    m->sets = l2->sets;
    m->ways = l2->enabled ? l2->ways : 0;
    m->slices = mechanism_alloc(memory, slices * sizeof *m->slices);
    for (u32 i = 0; i < slices; i++) {
        const size_t places = (size_t)m->sets * m->ways + 1;
        m->slices[i].memory = m;
        m->slices[i].lines = mechanism_alloc(memory, places * sizeof *m->slices[i].lines);
        m->slices[i].due = mechanism_alloc(memory, places * sizeof *m->slices[i].due);
    }
}

void loscache_destroy_memory(void *memory)
{
    struct loscache_memory *m = memory;
    line_table_free(&m->table);
    free(m->closed);
}

bool loscache_l2(void *memory, u32 slice, struct cache_hooks *hooks)
{
    struct loscache_memory *m = memory;
    if (m->params->gating == LOSCACHE_IDEAL)
        return false;
    *hooks = (struct cache_hooks){.user = &m->slices[slice - m->first], .allocates = allocates};
    return true;
}
