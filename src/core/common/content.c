/* Content of a core: see core/common/content.h. */
#include "core/common/content.h"
#include "core/mechanism.h"
#include "exec/memory_view.h"
#include <stdlib.h>

enum {
    LANE_BYTES = 64 /* most that a lane accesses */
};

/* Data that have arrived for a load. */
struct staged {
    u64 known[MAX_LANES]; /* bits: bytes of a lane that have arrived */
    u8 bytes[MAX_LANES][LANE_BYTES];
};

/* Stores that have reached the L2 since a line was requested. */
struct patch {
    u8 *bytes; /* of the line; */
    u64 *mask; /* valid where this has a bit */
};

/* One first-level cache. */
struct armed_cache {
    struct core *core;
    struct cache *cache;
    enum packet_client client;
    u32 line_bytes, words;
    struct patch *patches; /* by MSHR */
};

enum {
    ARMED_L1D,
    ARMED_READONLY,
    ARMED_CONSTANT, /* the constant cache, for scalar loads */
    ARMED_CACHES
};

struct core_content {
    struct content *content;
    struct memory_view *view; /* through which a load gets its values */
    struct staged *staged;    /* by instruction in flight */
    bool *waits;              /* by instruction in flight: a load without its values */
    u32 *stores;              /* requests that are not acknowledged, oldest first */
    bool *sent;               /* by request: a store that was sent to the network */
    u32 store_count;
    struct armed_cache caches[ARMED_CACHES];
    struct arena *arena;
};

static struct core_content *content_of(const struct core *core)
{
    return core->lsu.unit->content;
}

static struct armed_cache *cache_of(const struct core *core, enum packet_client client)
{
    return &content_of(core)->caches[client == CLIENT_L1D        ? ARMED_L1D
                                     : client == CLIENT_READONLY ? ARMED_READONLY
                                                                 : ARMED_CONSTANT];
}

static struct content_entry *entry_of(const struct core *core, enum packet_client client, u32 tag)
{
    return content_entry(content_of(core)->content, core->config.index, client, tag);
}

/* ---- creation ---- */

static void deliver(void *user, u32 waiter, u32 mshr, u32 sectors);

static void arm(struct core_content *content, struct core *core, enum packet_client client,
                u32 mshrs, u32 line_bytes)
{
    struct armed_cache *armed = cache_of(core, client);
    *armed = (struct armed_cache){
        .core = core,
        .cache = lsu_cache(core, client),
        .client = client,
        .line_bytes = line_bytes,
        .words = (line_bytes + 63) / 64,
        .patches = arena_array(content->arena, struct patch, mshrs),
    };
    for (u32 i = 0; i < mshrs; i++) {
        armed->patches[i].bytes = arena_array(content->arena, u8, line_bytes);
        armed->patches[i].mask = arena_array(content->arena, u64, armed->words);
    }
    cache_arm(armed->cache, deliver, armed);
}

void core_content_create(struct core *core)
{
    const struct core_config *c = &core->config;
    if (!c->content)
        return;
    struct core_content *content = checked(calloc(1, sizeof *content));
    core->lsu.unit->content = content;
    content->content = c->content;
    content->arena = arena_create();
    content->view = memory_view_create();
    content->staged = checked(calloc(CORE_INFLIGHT, sizeof *content->staged));
    content->waits = arena_array(content->arena, bool, CORE_INFLIGHT);
    content->stores = arena_array(content->arena, u32, LSU_REQUESTS);
    content->sent = arena_array(content->arena, bool, LSU_REQUESTS);
    arm(content, core, CLIENT_L1D, c->l1d->mshrs, c->l1d->line_bytes);
    arm(content, core, CLIENT_READONLY, c->readonly->mshrs, c->readonly->line_bytes);
    arm(content, core, CLIENT_CONSTANT, c->constant->mshrs, c->constant->line_bytes);
}

void core_content_destroy(struct core_content *content)
{
    if (!content)
        return;
    memory_view_destroy(content->view);
    free(content->staged);
    arena_destroy(content->arena);
    free(content);
}

void core_content_sizes(const struct core_config *config, struct content_config *sizes)
{
    sizes->entries[CLIENT_DIRECT] = LSU_REQUESTS;
    sizes->line_bytes[CLIENT_DIRECT] = config->l2_line_bytes;
    sizes->entries[CLIENT_L1D] = config->l1d->mshrs;
    sizes->line_bytes[CLIENT_L1D] = config->l1d->line_bytes;
    sizes->entries[CLIENT_READONLY] = config->readonly->mshrs;
    sizes->line_bytes[CLIENT_READONLY] = config->readonly->line_bytes;
    sizes->entries[CLIENT_CONSTANT] = config->constant->mshrs;
    sizes->line_bytes[CLIENT_CONSTANT] = config->constant->line_bytes;
}

/* ---- bytes of lanes ---- */

/* Offers bytes starting at address `base` to lanes of a load; only those with a bit in the mask
 * (NULL: all). Each lane takes the bytes that it lacks (CC1). */
static void stage(struct staged *staged, struct dyninst *f, lane_set lanes, u64 base, u32 count,
                  const u8 *bytes, const u64 *mask)
{
    const u64 *const address = dyninst_addresses(f);
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const u64 from = MAX(address[lane], base), to = MIN(address[lane] + f->bytes, base + count);
        for (u64 at = from; at < to; at++) {
            const u32 b = (u32)(at - base), mine = (u32)(at - address[lane]);
            if ((mask && !(mask[b / 64] >> b % 64 & 1)) || staged->known[lane] >> mine & 1)
                continue;
            staged->bytes[lane][mine] = bytes[b];
            staged->known[lane] |= 1ull << mine;
        }
    }
}

/* stage for one sector, if the instruction is a load that waits for values. */
static void stage_sector(struct core *core, u32 inflight, lane_set lanes, u64 sector,
                         const u8 *bytes, u32 bits)
{
    struct staged *staged = &content_of(core)->staged[inflight];
    const u64 mask = bits;
    if (content_of(core)->waits[inflight])
        stage(staged, &core_inflight(core, inflight)->dyn, lanes, sector, SECTOR_BYTES, bytes,
              &mask);
}

/* ---- the head ---- */

/* The lanes of a load that get their values from memory. A scalar load uses lane 0 and the constant
 * cache. */
static lane_set loaded_lanes(const struct core *core, const struct dyninst *f)
{
    if (f->kind != DYNINST_ACCESS || !f->loads || f->atomic)
        return 0;
    return !f->scalar ? f->global : f->shared || core->config.constant->perfect ? 0 : 1;
}

/* Stages what the core's own stores have for lanes of a load: the youngest first, since it wins. */
static void stage_own(struct core *core, struct staged *staged, struct dyninst *f, lane_set lanes,
                      u64 line, u32 bytes)
{
    const struct core_content *content = content_of(core);
    for (u32 i = content->store_count; i-- > 0;) {
        const struct content_entry *entry = entry_of(core, CLIENT_DIRECT, content->stores[i]);
        if (entry->base < line + bytes && line < entry->base + core->config.l2_line_bytes)
            stage(staged, f, lanes, entry->base, core->config.l2_line_bytes, entry->bytes,
                  entry->mask);
    }
}

void core_content_access(struct core *core, struct inflight *inflight)
{
    const struct lsu *lsu = core->lsu.unit;
    struct core_content *content = lsu->content;
    struct staged *staged = &content->staged[inflight_index(core, inflight)];
    struct dyninst *f = &inflight->dyn;
    const lane_set lanes = loaded_lanes(core, f);
    content->waits[inflight_index(core, inflight)] = lanes;
    if (f->stores && !lsu->count)
        memory_view_clear(core->view);
    if (!lanes)
        return;
    memset(staged->known, 0, sizeof staged->known);
    if (f->scalar)
        stage_own(core, staged, f, lanes, f->address[0], f->bytes);
    for (u32 t = 0; t < lsu->count && content->store_count; t++)
        stage_own(core, staged, f, lsu->list[t].lanes & lanes, lsu->list[t].line, lsu->list_bytes);
}

/* Copies the data of a store's transaction from the core's memory view. */
static void take_data(struct core *core, struct dyninst *f, const struct lsu_request *request,
                      struct content_entry *entry)
{
    const u64 *const address = dyninst_addresses(f);
    for (lane_set set = request->lanes & f->global; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const struct allocation *a = memory_find(core->exec->memory, address[lane], 1);
        u8 bytes[LANE_BYTES];
        if (!a)
            continue; /* out of bounds, which is no fault here */
        const u64 stored = memory_view_collect(core->view, a->host + (address[lane] - a->address),
                                               f->bytes, bytes);
        const u64 from = MAX(address[lane], request->line);
        const u64 to = MIN(address[lane] + f->bytes, request->line + request->bytes);
        for (u64 at = from; at < to; at++) {
            const u32 b = (u32)(at - entry->base), mine = (u32)(at - address[lane]);
            if (!(stored >> mine & 1))
                continue;
            entry->bytes[b] = bytes[mine];
            entry->mask[b / 64] |= 1ull << b % 64;
        }
    }
}

/* The bytes of a sector of its entry's line that a request changes: those of a store, or all that
 * an atomic may access. */
static u32 changes(const struct lsu_request *request, const struct content_entry *entry, u32 sector)
{
    if (request->kind != REQUEST_ATOMIC)
        return mask_sector(entry->mask, sector);
    const u32 first = (u32)(request->line - entry->base) / SECTOR_BYTES;
    return sector >= first && request->sectors >> (sector - first) & 1 ? UINT32_MAX : 0;
}

/* CC3, for the `older` stores that precede this request. */
static void overtake(struct core *core, const struct lsu_request *request,
                     struct content_entry *entry, u32 older)
{
    const struct core_content *content = content_of(core);
    while (older-- > 0) {
        struct content_entry *store = entry_of(core, CLIENT_DIRECT, content->stores[older]);
        if (content->sent[content->stores[older]] || store->base != entry->base)
            continue;
        for (u32 s = 0; s < core->config.l2_line_bytes / SECTOR_BYTES; s++) {
            const u32 bits = mask_sector(store->mask, s) & changes(request, entry, s);
            const u32 lacks = bits & ~mask_sector(entry->mask, s);
            copy_bytes(entry->bytes + (size_t)s * SECTOR_BYTES,
                       store->bytes + (size_t)s * SECTOR_BYTES, lacks);
            mask_add(entry->mask, s, lacks);
            mask_remove(store->mask, s, bits);
        }
    }
}

/* Clears the entry of a request. */
static struct content_entry *clear_entry(struct core *core, const struct lsu_request *request)
{
    const u32 line = core->config.l2_line_bytes;
    return content_begin(content_of(core)->content, core->config.index, CLIENT_DIRECT,
                         (u32)(request - core->lsu.unit->requests),
                         request->line & ~(u64)(line - 1));
}

void core_content_store(struct core *core, struct inflight *inflight,
                        const struct lsu_request *request)
{
    const struct lsu *lsu = core->lsu.unit;
    struct core_content *content = lsu->content;
    struct content_entry *entry = clear_entry(core, request);
    const u32 index = (u32)(request - lsu->requests);
    if (request->kind == REQUEST_ATOMIC)
        return;
    take_data(core, &inflight->dyn, request, entry);
    content->sent[index] = false;
    content->stores[content->store_count++] = index;
    if (lsu->next + 1 == lsu->count) /* stores travel as packets; they are not published */
        memory_view_clear(core->view);
}

void core_content_victim(struct core *core, const struct lsu_request *request)
{
    struct core_content *content = content_of(core);
    const u32 index = (u32)(request - core->lsu.unit->requests);
    clear_entry(core, request);
    content->sent[index] = false;
    content->stores[content->store_count++] = index;
}

void core_content_send(struct core *core, const struct lsu_request *request)
{
    struct core_content *content = content_of(core);
    const u32 index = (u32)(request - core->lsu.unit->requests);
    u32 older = content->store_count;
    if (request->kind == REQUEST_LOAD) {
        clear_entry(core, request);
        return;
    }
    /* later accesses to an atomic's sector wait at the head: all stores here are older */
    if (request->kind != REQUEST_ATOMIC)
        for (older = 0; content->stores[older] != index; older++)
            ;
    content->sent[index] = true;
    overtake(core, request, entry_of(core, CLIENT_DIRECT, index), older);
}

/* ---- first-level caches ---- */

/* A store has passed the L1: updates the bytes of a line that the L1 keeps. */
static void write_through(struct core *core, const struct lsu_request *request, u64 line,
                          u32 sectors)
{
    const struct lsu *lsu = core->lsu.unit;
    const struct content_entry *entry =
        entry_of(core, CLIENT_DIRECT, (u32)(request - lsu->requests));
    struct cache_line there;
    if (!cache_line_of(lsu->l1d, line, &there))
        return;
    for (u32 left = sectors & there.valid; left; left &= left - 1) {
        const u32 i = (u32)__builtin_ctz(left);
        const u32 at = (u32)(line + (u64)i * SECTOR_BYTES - entry->base) / SECTOR_BYTES;
        copy_bytes(there.bytes + (size_t)i * SECTOR_BYTES, entry->bytes + (size_t)at * SECTOR_BYTES,
                   mask_sector(entry->mask, at));
    }
}

void core_content_miss(struct core *core, enum packet_client client, u32 mshr, u64 line)
{
    const struct armed_cache *armed = cache_of(core, client);
    content_begin(content_of(core)->content, core->config.index, client, mshr, line);
    memset(armed->patches[mshr].mask, 0, armed->words * sizeof(u64));
}

/* A cache has accepted a load, for lanes of an instruction. */
static void looked_up(struct core *core, const struct armed_cache *armed, u32 inflight,
                      lane_set lanes, u64 line, u32 sectors)
{
    struct cache_line there = {0};
    const bool kept = cache_line_of(armed->cache, line, &there);
    for (u32 left = sectors; left; left &= left - 1) {
        const u32 i = (u32)__builtin_ctz(left);
        const size_t at = (size_t)i * SECTOR_BYTES;
        if (kept && there.valid >> i & 1) {
            stage_sector(core, inflight, lanes, line + at, there.bytes + at, UINT32_MAX);
            continue;
        }
        const u32 mshr = cache_mshr_of(armed->cache, line, i); /* CC2 */
        assert(mshr != UINT32_MAX || core->config.live);
        if (UNLIKELY(mshr == UINT32_MAX)) /* flipped bits: its data come from nowhere */
            continue;
        stage_sector(core, inflight, lanes, line + at, armed->patches[mshr].bytes + at,
                     mask_sector(armed->patches[mshr].mask, i));
    }
}

void core_content_looked_up(struct core *core, const struct lsu_request *request, u64 line,
                            u32 sectors, enum cache_result result, const struct cache_out *out)
{
    const struct armed_cache *armed =
        cache_of(core, request->readonly ? CLIENT_READONLY : CLIENT_L1D);
    if (request->kind != REQUEST_LOAD) {
        write_through(core, request, line, sectors);
        return;
    }
    if (result == CACHE_MISS)
        core_content_miss(core, armed->client, out->mshr, line);
    looked_up(core, armed, request->inflight,
              request->lanes & core_inflight(core, request->inflight)->dyn.global, line, sectors);
}

void core_content_constant(struct core *core, const struct inflight *inflight, u64 line,
                           u32 sectors, enum cache_result result, const struct cache_out *out)
{
    if (result == CACHE_MISS)
        core_content_miss(core, CLIENT_CONSTANT, out->mshr, line);
    if (inflight->dyn.scalar)
        looked_up(core, cache_of(core, CLIENT_CONSTANT), inflight_index(core, inflight), 1, line,
                  sectors);
}

/* Delivers the sectors of an MSHR, as memory has sent them, to a waiting load (CC1). */
static void deliver(void *user, u32 waiter, u32 mshr, u32 sectors)
{
    const struct armed_cache *armed = user;
    struct core *core = armed->core;
    const struct content_entry *entry = entry_of(core, armed->client, mshr);
    const struct lsu_request *request = &core->lsu.unit->requests[waiter];
    const bool constant = armed->client == CLIENT_CONSTANT; /* the waiter is an instruction */
    const u32 inflight = constant ? waiter : request->inflight;
    const struct dyninst *f = &core_inflight(core, inflight)->dyn;
    const lane_set lanes = !constant ? request->lanes & f->global : f->scalar ? 1 : 0;
    for (u32 left = sectors; left; left &= left - 1) {
        const u32 i = (u32)__builtin_ctz(left);
        const size_t at = (size_t)i * SECTOR_BYTES;
        assert(mask_sector(entry->mask, i) == UINT32_MAX || core->config.live);
        stage_sector(core, inflight, lanes, entry->base + at, entry->bytes + at, UINT32_MAX);
    }
}

void core_content_filled(struct core *core, enum packet_client client, u32 mshr, u64 line,
                         u32 sectors)
{
    const struct armed_cache *armed = cache_of(core, client);
    const struct content_entry *entry = entry_of(core, client, mshr);
    const struct patch *patch = &armed->patches[mshr];
    struct cache_line there;
    if (!cache_line_of(armed->cache, line, &there))
        return;
    for (u32 left = sectors; left; left &= left - 1) {
        const u32 i = (u32)__builtin_ctz(left);
        const size_t at = (size_t)i * SECTOR_BYTES;
        copy_bytes(there.bytes + at, entry->bytes + at, UINT32_MAX);
        copy_bytes(there.bytes + at, patch->bytes + at, mask_sector(patch->mask, i));
    }
}

/* ---- replies ---- */

void core_content_answered(struct core *core, const struct lsu_request *request)
{
    struct core_content *content = content_of(core);
    const u32 index = (u32)(request - core->lsu.unit->requests);
    if (request->kind == REQUEST_LOAD) {
        const struct content_entry *entry = entry_of(core, CLIENT_DIRECT, index);
        const lane_set lanes = request->lanes & core_inflight(core, request->inflight)->dyn.global;
        for (u32 i = 0; i < core->config.l2_line_bytes / SECTOR_BYTES; i++)
            stage_sector(core, request->inflight, lanes, entry->base + (u64)i * SECTOR_BYTES,
                         entry->bytes + (size_t)i * SECTOR_BYTES, mask_sector(entry->mask, i));
        return;
    }
    for (u32 i = 0; i < content->store_count; i++)
        if (content->stores[i] == index) {
            memmove(&content->stores[i], &content->stores[i + 1],
                    (--content->store_count - i) * sizeof *content->stores);
            return;
        }
}

void core_content_take(struct core *core, struct inflight *inflight)
{
    struct core_content *content = content_of(core);
    struct staged *staged = &content->staged[inflight_index(core, inflight)];
    struct dyninst *f = &inflight->dyn;
    bool *const waits = &content->waits[inflight_index(core, inflight)];
    if (f->kind != DYNINST_ACCESS || !*waits)
        return;
    *waits = false;
    if (f->faulted)
        return;
    const u64 *const address = dyninst_addresses(f);
    memory_view_clear(content->view);
    memory_view_reserve(content->view, MAX_LANES, (size_t)MAX_LANES * LANE_BYTES);
    for (lane_set set = loaded_lanes(core, f); set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const struct allocation *a = memory_find(core->exec->memory, address[lane], 1);
        if (!a)
            continue; /* out of bounds, which is no fault here */
        const u64 offset = address[lane] - a->address;
        const u32 inside = (u32)MIN(a->size - offset, f->bytes);
        assert(!(~staged->known[lane] & (~0ull >> (64 - inside))) || core->config.live);
        memcpy(memory_view_log(content->view, a->host + offset, inside), staged->bytes[lane],
               inside);
    }
    dyninst_load_again(f, content->view);
}

/* ---- between windows ---- */

/* Applies a change of a sector to a line that is present or in flight. */
static void change_sector(const struct armed_cache *armed, u64 sector, const u8 *bytes, u32 bits)
{
    const u64 line = sector & ~(u64)(armed->line_bytes - 1);
    const u32 i = (u32)(sector - line) / SECTOR_BYTES;
    const size_t at = (size_t)i * SECTOR_BYTES;
    struct cache_line there;
    if (cache_line_of(armed->cache, line, &there) && there.valid >> i & 1)
        copy_bytes(there.bytes + at, bytes, bits);
    const u32 mshr = cache_mshr_of(armed->cache, line, i);
    if (mshr == UINT32_MAX)
        return;
    copy_bytes(armed->patches[mshr].bytes + at, bytes, bits);
    mask_add(armed->patches[mshr].mask, i, bits);
}

void core_content_changed(struct core *core, const struct content_change *change)
{
    for (u32 i = 0; i < change->bytes / SECTOR_BYTES; i++) {
        const u32 bits = mask_sector(change->mask, i);
        for (u32 c = 0; bits && c < ARMED_CACHES; c++)
            change_sector(&content_of(core)->caches[c], change->base + (u64)i * SECTOR_BYTES,
                          change->data + (size_t)i * SECTOR_BYTES, bits);
    }
}

void core_content_expose(struct core *core)
{
    const struct core_content *content = content_of(core);
    for (u32 i = 0; i < content->store_count; i++)
        content_expose_store(content->content, entry_of(core, CLIENT_DIRECT, content->stores[i]));
}

void core_content_begin(struct core *core)
{
    struct core_content *content = content_of(core);
    content->store_count = 0;
    memory_view_clear(core->view);
    memset(content->waits, 0, CORE_INFLIGHT * sizeof *content->waits);
    for (u32 c = 0; c < ARMED_CACHES; c++)
        content_reload_cache(content->content, content->caches[c].cache);
}

bool core_l1_line(const struct core *core, enum packet_client cache, u32 set, u32 way,
                  struct cache_line *line)
{
    return content_of(core) && cache_line_at(lsu_cache(core, cache), set, way, line);
}
