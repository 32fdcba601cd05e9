/* Reads and requests of a core, and how they end in the L2: see lines.h. */
#include "avf/avf.h"
#include <stdlib.h>

enum {
    LSU_TAGS = 4096 /* of requests that bypass the caches */
};

/* ---- fetches ---- */

static u32 take_fetch(struct avf_requests *r, u64 line)
{
    u32 index = r->fetch_free;
    if (index != NOTHING)
        r->fetch_free = r->fetches[index].next;
    else if (r->fetch_fresh < r->fetch_count)
        index = r->fetch_fresh++;
    else
        return NOTHING;
    r->fetches[index] = (struct avf_fetch){.line = line, .refs = 1};
    return index;
}

/* The bytes of a part of the L2, which begins `offset` bytes after the fetch's line. */
static struct byte_set part_of(const struct byte_set *set, i64 offset)
{
    struct byte_set part = {0};
    if (!offset)
        return *set;
    for (i64 b = 0; b < LINE_BYTES; b++)
        if (b + offset >= 0 && b + offset < LINE_BYTES && byte_set_has(set, (u32)(b + offset)))
            part.words[b / 64] |= 1ull << b % 64;
    return part;
}

/* All reads are decided: so are those of the L2. */
static void resolve(struct avf *a, u32 index)
{
    struct avf_requests *r = &a->requests;
    struct avf_fetch *fetch = &r->fetches[index];
    packets_resolved(a, fetch);
    for (u32 i = 0; i < fetch->parts; i++) {
        const i64 offset = (i64)(fetch->part[i].line - fetch->line);
        const struct byte_need need = {part_of(&fetch->need.sure, offset),
                                       part_of(&fetch->need.maybe, offset)};
        lines_decide(&a->device->l2, fetch->part[i].stay, fetch->part[i].era, &need,
                     fetch->part[i].cycle);
    }
    fetch->refs = 0;
    fetch->next = r->fetch_free;
    r->fetch_free = index;
}

static void release(struct avf *a, u32 index, const struct byte_need *need)
{
    struct avf_fetch *fetch = &a->requests.fetches[index];
    if (need) {
        byte_set_add(&fetch->need.sure, &need->sure);
        byte_set_add(&fetch->need.maybe, &need->maybe);
    }
    if (!--fetch->refs)
        resolve(a, index);
}

static void stay_decided(void *user, u32 fetch, const struct byte_need *need, u32 sectors)
{
    struct avf *a = user;
    a->requests.fetches[fetch].refs -= sectors - 1;
    release(a, fetch, need);
}

/* ---- reads ---- */

/* Where a read was served from: a stay, or a fetch. */
static void decide_read(struct avf *a, const struct avf_read *read, const struct byte_need *need)
{
    packets_queued(a, read->queued, need);
    if (read->stay != NOTHING)
        lines_decide(&a->requests.caches[read->cache], read->stay, read->era, need, read->cycle);
    else
        release(a, read->fetch, need);
}

/* A load of the log has read from a line. */
static void add_read(struct avf *a, struct inflight *load, struct avf_read read)
{
    struct avf_requests *r = &a->requests;
    const struct byte_need all = {.maybe = byte_set_of(read.sectors)};
    const u32 at = load ? a->entry_of[inflight_index(a->core, load)] : NO_ENTRY;
    const bool room = r->read_free != NOTHING || r->read_fresh < r->read_count;
    if (at == NO_ENTRY || load->injected || load->dyn.homes || !room) {
        decide_read(a, &read, &all);
        return;
    }
    struct avf_entry *e = &a->entries[at];
    const u32 index = r->read_free != NOTHING ? r->read_free : r->read_fresh++;
    if (index == r->read_free)
        r->read_free = r->reads[index].next;
    read.next = e->reads;
    read.whole = load->dyn.local || load->dyn.pair;
    e->reads = index;
    r->reads[index] = read;
}

/* ---- what the caches of a core do ---- */

static void cache_was_read(struct avf *a, enum packet_client which, const struct cache_event *event,
                           u64 now)
{
    struct avf_requests *r = &a->requests;
    struct avf_lines *lines = &r->caches[which];
    if (event->result == CACHE_HIT) /* perhaps of an earlier launch */
        lines_present(lines, event->place, event->sectors, a->device->base);
    if (event->result == CACHE_HIT && which == CLIENT_FETCH) { /* instructions are needed */
        lines_needed(lines, event->place, event->sectors, now);
        return;
    }
    u32 *const sent =
        which == CLIENT_L1D || which == CLIENT_READONLY ? &r->sent[event->waiter] : NULL;
    struct avf_read read = {.line = event->line,
                            .queued = sent && *sent ? (u32)core_cycle(a->core) + 1 - *sent : 0,
                            .cycle = now,
                            .sectors = event->sectors,
                            .stay = lines_read(lines, event->place, event->sectors, now),
                            .fetch = NOTHING,
                            .cache = (u8)which};
    if (sent)
        *sent = 0;
    if (event->result == CACHE_MISS) {
        const u32 fetch = r->of[which][event->mshr] = take_fetch(r, event->line);
        if (fetch != NOTHING)
            r->fetches[fetch].missed = now + 1; /* not 0 */
    }
    if (read.stay != NOTHING)
        read.era = lines->stays[read.stay].era;
    else if (event->mshr != CACHE_NO_PLACE)
        read.fetch = r->of[which][event->mshr];
    if (read.stay == NOTHING && read.fetch == NOTHING) { /* no room */
        const struct byte_need all = {.maybe = byte_set_of(event->sectors)};
        packets_queued(a, read.queued, &all);
        return;
    }
    if (read.stay == NOTHING)
        r->fetches[read.fetch].refs++;
    if (which == CLIENT_FETCH) {
        const struct byte_need all = {.sure = byte_set_of(event->sectors)};
        decide_read(a, &read, &all);
        return;
    }
    add_read(a, core_reader(a->core, which, event->waiter), read);
}

static void cache_was_filled(struct avf *a, enum packet_client which,
                             const struct cache_event *event, u64 now)
{
    struct avf_requests *r = &a->requests;
    u32 fetch = NOTHING;
    if (event->mshr != CACHE_NO_PLACE) {
        fetch = r->of[which][event->mshr];
        r->of[which][event->mshr] = NOTHING;
    }
    if (event->place < r->caches[which].places) {
        if (fetch != NOTHING)
            r->fetches[fetch].refs += count_sectors(event->sectors);
        lines_filled(&r->caches[which], event->place, event->sectors, fetch, now);
    }
    if (fetch == NOTHING)
        return;
    if (r->fetches[fetch].missed)
        r->fetches[fetch].mshr_cycles = (u32)(now + 1 - r->fetches[fetch].missed);
    release(a, fetch, NULL);
}

void reads_cache_event(void *state, struct core *core, enum packet_client which,
                       const struct cache_event *event)
{
    struct avf *a = state;
    struct avf_lines *lines = &a->requests.caches[which];
    const u64 now = a->device->base + core_cycle(core);
    if (!lines->places || !a->device->running)
        return;
    switch (event->kind) {
    case CACHE_EVENT_READ:
        cache_was_read(a, which, event, now);
        break;
    case CACHE_EVENT_FILLED:
        cache_was_filled(a, which, event, now);
        break;
    case CACHE_EVENT_WRITTEN:
        if (event->dirty)
            lines_written(lines, event->place, event->dirty, now);
        break;
    case CACHE_EVENT_DROPPED:
        lines_left(lines, event->place, event->dirty, now);
        break;
    }
}

void reads_sent(void *state, struct core *core, struct inflight *inflight, u32 request)
{
    struct avf *a = state;
    if (request != NO_TRANSACTION) {
        a->requests.sent[request] = (u32)core_cycle(core) + 1; /* not 0 */
        return;
    }
    const u32 at = a->entry_of[inflight_index(core, inflight)];
    if (at != NO_ENTRY && !inflight->injected && !inflight->dyn.homes)
        a->entries[at].sent = (u32)core_cycle(core);
}

void reads_packet(void *state, struct core *core, struct packet *packet)
{
    struct avf *a = state;
    struct avf_requests *r = &a->requests;
    const u64 now = a->device->base + core_cycle(core);
    if (packet->client == CLIENT_MECHANISM)
        return;
    if (packet->kind != PACKET_READ) {
        packets_sent(a, NULL, packet, now);
        return;
    }
    if (packet->client == CLIENT_DIRECT)
        r->of[CLIENT_DIRECT][packet->tag] = take_fetch(r, packet->address);
    const u32 fetch = r->of[packet->client][packet->tag];
    packets_sent(a, fetch == NOTHING ? NULL : &r->fetches[fetch], packet, now);
    if (packet->client != CLIENT_DIRECT || fetch == NOTHING)
        return;
    r->fetches[fetch].refs++;
    add_read(
        a, core_reader(core, CLIENT_DIRECT, packet->tag),
        (struct avf_read){
            .line = packet->address, .sectors = packet->sectors, .stay = NOTHING, .fetch = fetch});
}

void reads_reply(void *state, struct core *core, const struct packet *packet)
{
    struct avf *a = state;
    struct avf_requests *r = &a->requests;
    if (packet->client == CLIENT_MECHANISM)
        return;
    const u32 fetch = packet->kind == PACKET_DATA ? r->of[packet->client][packet->tag] : NOTHING;
    packets_returned(a, fetch == NOTHING ? NULL : &r->fetches[fetch], packet,
                     a->device->base + core_cycle(core));
    if (packet->client != CLIENT_DIRECT || fetch == NOTHING)
        return;
    r->of[CLIENT_DIRECT][packet->tag] = NOTHING;
    release(a, fetch, NULL);
}

/* ---- what the L2 does ---- */

static u64 device_cycle(const struct avf_device *d)
{
    if (!d->running) /* copies of the host */
        return d->base;
    return d->base + core_cycles_until(d->cores[0]->core, memory_system_now(d->system));
}

/* The fetch that a packet is for, or NOTHING. */
static u32 fetch_of(const struct avf_device *d, const struct packet *packet, bool read)
{
    return read ? d->cores[packet->core]->requests.of[packet->client][packet->tag] : NOTHING;
}

static struct avf_fetch *fetch_at(const struct avf_device *d, u32 core, u32 fetch)
{
    return fetch == NOTHING ? NULL : &d->cores[core]->requests.fetches[fetch];
}

/* Packets of cores; those of clusters and mechanisms are not followed. */
static bool is_followed_packet(const struct avf_device *d, const struct packet *packet)
{
    return packet->core < d->core_count && packet->client != CLIENT_MECHANISM;
}

void reads_l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    struct avf_device *d = mechanism_device(memory);
    struct packet *seen = &d->seen[slice];
    d->asks.fetch = NOTHING;
    d->asks.line = packet->address;
    if (!is_followed_packet(d, packet))
        return;
    d->asks.core = packet->core;
    d->asks.fetch = fetch_of(d, packet, packet->kind == PACKET_READ);
    /* it is called again for a packet that has to wait */
    if (seen->sent == packet->sent && seen->core == packet->core &&
        seen->client == packet->client && seen->tag == packet->tag &&
        seen->address == packet->address)
        return;
    *seen = *packet;
    packets_arrived(d->cores[packet->core], fetch_at(d, packet->core, d->asks.fetch), packet,
                    device_cycle(d));
}

void reads_l2_reply(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    struct avf_device *d = mechanism_device(memory);
    if (is_followed_packet(d, packet))
        packets_replied(d->cores[packet->core],
                        fetch_at(d, packet->core, fetch_of(d, packet, packet->kind == PACKET_DATA)),
                        packet, device_cycle(d));
}

void reads_add_part(struct avf_device *d, struct avf_fetch *fetch, u64 line, u32 stay, u32 sectors,
                    u64 now)
{
    const struct byte_need all = {.sure = byte_set_of(sectors)};
    const u32 era = d->l2.stays[stay].era;
    if (!fetch || fetch->parts == FETCH_PARTS) {
        lines_decide(&d->l2, stay, era, &all, now);
        return;
    }
    fetch->part[fetch->parts].line = line;
    fetch->part[fetch->parts].cycle = now;
    fetch->part[fetch->parts].stay = stay;
    fetch->part[fetch->parts++].era = era;
}

/* A packet has been looked up: its fetch decides later; atomics, instructions and what clusters
 * read are needed. */
static void l2_was_read(struct avf_device *d, u32 slice, const struct cache_event *event, u32 place,
                        u64 now)
{
    const u32 stay = lines_read(&d->l2, place, event->sectors, now);
    struct avf_fetch *fetch = fetch_at(d, d->asks.core, d->asks.fetch);
    if (fetch)
        fetch->waits |= event->result != CACHE_HIT;
    if (event->result != CACHE_HIT && event->mshr != CACHE_NO_PLACE)
        dram_wait(d, slice, event);
    if (stay != NOTHING)
        reads_add_part(d, fetch, d->asks.line, stay, event->sectors, now);
}

void reads_l2_event(void *memory, u32 slice, const struct cache_event *event)
{
    struct avf_device *d = mechanism_device(memory);
    if (!d->l2.places || !d->cores)
        return;
    const u64 now = device_cycle(d);
    const u32 place =
        event->place == CACHE_NO_PLACE ? NOTHING : slice * d->slice_places + event->place;
    if (event->kind == CACHE_EVENT_READ)
        l2_was_read(d, slice, event, place, now);
    else if (event->kind == CACHE_EVENT_FILLED)
        dram_filled(d, slice, place, event, now);
    else if (place == NOTHING)
        return;
    else if (event->kind == CACHE_EVENT_WRITTEN)
        lines_written(&d->l2, place, event->dirty, now);
    else
        lines_left(&d->l2, place, event->dirty, now);
}

/* ---- decisions ---- */

/* Bytes that a lane needs of what it loads, from its address on; `full`: all bits of its result are
 * needed. */
static u32 lane_bytes(const struct avf *a, const struct avf_entry *e, const struct inst *inst,
                      u32 lane, bool full)
{
    const u32 bytes = MIN(type_bytes(inst->type), 4u), row = e->slot * a->registers;
    u32 set = 0;
    if (full)
        return (1u << e->bytes) - 1;
    for (u32 i = 0; i < inst->dst[0].count; i++) {
        const u32 bits = avf_loaded_bits(
            inst, tracked_bits(&a->vectors, row + inst->dst[0].index + i, lane), bytes);
        for (u32 b = 0; b < bytes; b++)
            set |= (u32)((bits >> 8 * b & 0xff) != 0) << (i * bytes + b);
    }
    return set;
}

/* Groups of lanes that load side by side and need all that they load. Returns their lanes. */
static lane_set add_groups(const struct avf *a, const struct avf_entry *e, lane_set lanes,
                           const struct avf_read *read, struct byte_set *set)
{
    const u32 groups = a->warp_size / STRIDE_LANES;
    const u32 *const first = a->pool + e->values, *const stride = first + groups;
    lane_set added = 0;
    for (u32 g = 0; e->strided && g < groups; g++) {
        const lane_set group = 0xffffull << g * STRIDE_LANES;
        if (group & ~lanes || (stride[g] && stride[g] != e->bytes))
            continue;
        byte_set_add_range(set, (i32)(first[g] - (u32)read->line),
                           stride[g] ? STRIDE_LANES * e->bytes : e->bytes);
        added |= group;
    }
    return added;
}

/* Whether the bytes of its result are known: those of loads to vector registers, in order. */
static bool is_followed(const struct inst *inst, const struct avf_entry *e,
                        const struct avf_read *read)
{
    return !read->whole && (inst->op == OP_ld || inst->op == OP_buf_ld) && e->addressed &&
           inst->dst[0].kind == OPERAND_VECTOR && inst->dst[0].count <= 4 &&
           e->bytes == inst->dst[0].count * MIN(type_bytes(inst->type), 4u);
}

void reads_back(struct avf *a, const struct avf_entry *e, lane_set lanes, lane_set unsure,
                lane_set full)
{
    struct avf_requests *r = &a->requests;
    const struct inst *inst = &a->insts[e->inst];
    const lane_set whole = lanes & full & ~unsure;
    u32 next;
    for (u32 index = e->reads; index != NOTHING; index = next) {
        struct avf_read *read = &r->reads[index];
        const struct byte_set all = byte_set_of(read->sectors);
        struct byte_need need = {0};
        next = read->next;
        if (!lanes || !is_followed(inst, e, read)) {
            if (lanes)
                *(lanes & ~unsure ? &need.sure : &need.maybe) = all;
        } else {
            lane_set set = lanes & ~add_groups(a, e, whole, read, &need.sure);
            for (; set; set &= set - 1) {
                const u32 lane = first_lane(set);
                const i64 at = (i32)(avf_address(a, e, 0, lane) - (u32)read->line);
                if (at > -LANE_BYTES && at < LINE_BYTES)
                    byte_set_add_some(unsure >> lane & 1 ? &need.maybe : &need.sure, at,
                                      lane_bytes(a, e, inst, lane, full >> lane & 1));
            }
            byte_set_keep(&need.sure, &all); /* other lanes read other lines */
            byte_set_keep(&need.maybe, &all);
        }
        decide_read(a, read, &need);
        read->next = r->read_free;
        r->read_free = index;
    }
}

/* ---- launches ---- */

/* A cache; one that holds no lines is not followed. */
static void create_cache(struct avf_requests *r, const struct core *core, enum packet_client which,
                         const struct cache_config *c, u32 tags)
{
    enum {
        SPARE = 512
    };
    lines_create(&r->caches[which],
                 c->passing || !core_has_common_stages(core) ? 0 : (u64)c->sets * c->ways,
                 c->line_bytes, SPARE);
    r->tags[which] = tags;
}

static void reset(struct avf_requests *r)
{
    r->read_free = r->fetch_free = NOTHING;
    r->read_fresh = r->fetch_fresh = 0;
    for (u32 c = 0; c < CLIENTS; c++)
        memset(r->of[c], 0xff, r->tags[c] * sizeof *r->of[c]);
    for (u32 c = 0; c < CLIENTS; c++)
        memset(r->replied[c], 0, r->tags[c] * sizeof *r->replied[c]);
    memset(r->sent, 0, LSU_TAGS * sizeof *r->sent);
}

void reads_create(struct avf *a, struct core *core)
{
    struct avf_requests *r = &a->requests;
    const struct core_config *c = core_config(core);
    struct cache_config constant = CACHE_CONFIG(c->constant, WRITE_EVICT);
    struct cache_config icache = CACHE_CONFIG(c->icache, WRITE_EVICT);
    struct cache_config l1d = CACHE_CONFIG(c->l1d, WRITE_EVICT);
    struct cache_config readonly = CACHE_CONFIG(c->readonly, WRITE_EVICT);
    l1d.passing = !c->l1d->global && !c->l1d->local;
    readonly.passing = !c->readonly->enabled;
    constant.passing = !c->constant->keeps || c->constant->perfect;
    icache.passing = !c->icache->keeps || c->icache->perfect;
    create_cache(r, core, CLIENT_FETCH, &icache, c->icache->mshrs);
    create_cache(r, core, CLIENT_L1D, &l1d, c->l1d->mshrs);
    create_cache(r, core, CLIENT_CONSTANT, &constant, c->constant->mshrs);
    create_cache(r, core, CLIENT_READONLY, &readonly, c->readonly->mshrs);
    r->tags[CLIENT_DIRECT] = LSU_TAGS;
    r->read_count = r->fetch_count = a->params->window;
    for (u32 i = 0; i <= CLIENT_READONLY; i++) /* a line keeps its fetch */
        r->fetch_count += r->caches[i].places;
    r->reads = mechanism_alloc(a, r->read_count * sizeof *r->reads);
    r->fetches = mechanism_alloc(a, r->fetch_count * sizeof *r->fetches);
    r->sent = mechanism_alloc(a, LSU_TAGS * sizeof *r->sent);
    for (u32 i = 0; i < CLIENTS; i++) {
        r->of[i] = mechanism_alloc(a, (r->tags[i] + 1) * sizeof *r->of[i]);
        r->replied[i] = mechanism_alloc(a, (r->tags[i] + 1) * sizeof *r->replied[i]);
        if (i <= CLIENT_READONLY) {
            r->caches[i].decided = stay_decided;
            r->caches[i].user = a;
        }
    }
    reset(r);
}

void reads_destroy(struct avf *a)
{
    for (u32 i = 0; i <= CLIENT_READONLY; i++)
        lines_destroy(&a->requests.caches[i]);
}

void reads_end(struct avf *a, u64 cycle)
{
    struct avf_requests *r = &a->requests;
    for (u32 i = 0; i <= CLIENT_READONLY; i++)
        lines_end(&r->caches[i], cycle);
    for (u32 i = 0; i < r->fetch_fresh; i++)
        if (r->fetches[i].refs) { /* a prefetch, or the launch was stopped */
            r->fetches[i].need.maybe = byte_set_of(~0u);
            resolve(a, i);
        }
    reset(r);
}
