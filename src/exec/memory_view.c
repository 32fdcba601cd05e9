/*
 * A core's view of global memory: a log of its stores (dyninst.h, F5).
 *
 * Entries are runs of bytes in the order of the stores; later ones win. Lanes that write adjacent
 * bytes share an entry. A filter with a bit for every hashed sector of 32 bytes, and the extent of
 * all stores, tell quickly that nothing of a load is in the log.
 *
 * Invariants
 *  V1  records[i].at increases, and records do not overlap in `data`.
 *  V2  A byte of memory that some entry holds is in [low, high), and its sector's filter bit is
 *      set.
 */
#include "exec/memory_view.h"

#include <stdlib.h>

enum {
    SECTOR_SHIFT = 5, /* 32 bytes */
    FILTER_BITS = 4096,
    HINTS = 64,
    LANE_BYTES = 64 /* most that a lane accesses: 8 elements of 8 bytes */
};

struct record {
    u8 *to;
    size_t at; /* in data */
    u32 bytes;
};

struct memory_view {
    struct record *records;
    u32 count, capacity;
    u8 *data;
    size_t used, room;
    const struct memory_view *base; /* its bytes lie under those of this log; NULL: none */
    uintptr_t low, high;            /* V2 */
    u64 filter[FILTER_BITS / 64];
    struct memory_hint hints[HINTS];
    u8 staged[LANES][LANE_BYTES]; /* copies for lanes of the current load */
};

struct memory_view *memory_view_create(void)
{
    struct memory_view *view = calloc(1, sizeof *view);
    if (!view)
        host_memory_exhausted();
    view->low = UINTPTR_MAX;
    return view;
}

void memory_view_destroy(struct memory_view *view)
{
    if (!view)
        return;
    free(view->records);
    free(view->data);
    free(view);
}

bool memory_view_empty(const struct memory_view *view)
{
    return !view->count && (!view->base || !view->base->count);
}

void memory_view_set_base(struct memory_view *view, const struct memory_view *base)
{
    assert(!base || !base->base);
    view->base = base;
}

void memory_view_publish(struct memory_view *view)
{
    if (!view->count)
        return;
    for (u32 i = 0; i < view->count; i++)
        memcpy(view->records[i].to, view->data + view->records[i].at, view->records[i].bytes);
    memory_view_clear(view);
}

void memory_view_clear(struct memory_view *view)
{
    view->count = 0;
    view->used = 0;
    view->low = UINTPTR_MAX;
    view->high = 0;
    memset(view->filter, 0, sizeof view->filter);
}

struct memory_view_mark memory_view_mark(const struct memory_view *view)
{
    return (struct memory_view_mark){view->count, view->used};
}

/* Filter and extent do not change: they may cover more than the log holds. */
void memory_view_rewind(struct memory_view *view, struct memory_view_mark mark)
{
    view->count = mark.entries;
    view->used = mark.bytes;
    struct record *last = view->count ? &view->records[view->count - 1] : NULL;
    if (last && last->at + last->bytes > view->used)
        last->bytes = (u32)(view->used - last->at);
}

struct memory_hint *memory_view_hint(struct memory_view *view, u32 inst)
{
    return &view->hints[inst % HINTS];
}

void memory_view_reserve(struct memory_view *view, u32 entries, size_t bytes)
{
    if (view->count + entries > view->capacity) {
        view->capacity = MAX(2 * view->capacity, view->count + entries + 64);
        view->records = realloc(view->records, view->capacity * sizeof *view->records);
    }
    if (view->used + bytes > view->room) {
        view->room = MAX(2 * view->room, view->used + bytes + 4096);
        view->data = realloc(view->data, view->room);
    }
    if (!view->records || !view->data)
        host_memory_exhausted();
}

static void mark_sectors(struct memory_view *view, const u8 *to, u32 bytes)
{
    const uintptr_t first = (uintptr_t)to, end = first + bytes;
    view->low = MIN(view->low, first);
    view->high = MAX(view->high, end);
    for (uintptr_t s = first >> SECTOR_SHIFT; s <= (end - 1) >> SECTOR_SHIFT; s++)
        view->filter[s % FILTER_BITS / 64] |= 1ull << s % 64;
}

static bool log_may_hold(const struct memory_view *view, const u8 *from, u32 bytes)
{
    const uintptr_t first = (uintptr_t)from, end = first + bytes;
    if (first >= view->high || end <= view->low)
        return false;
    for (uintptr_t s = first >> SECTOR_SHIFT; s <= (end - 1) >> SECTOR_SHIFT; s++)
        if (view->filter[s % FILTER_BITS / 64] >> s % 64 & 1)
            return true;
    return false;
}

bool memory_view_may_hold(const struct memory_view *view, const u8 *from, u32 bytes)
{
    return log_may_hold(view, from, bytes) || (view->base && log_may_hold(view->base, from, bytes));
}

/* Bytes of a record, as far as they overlap with [from, from + bytes), go into the copy. Returns a
 * bit for each of the first 64 bytes that did. */
static u64 overlay_record(const struct memory_view *view, const struct record *e, const u8 *from,
                          u32 bytes, u8 *copy)
{
    const uintptr_t start = MAX((uintptr_t)e->to, (uintptr_t)from);
    const uintptr_t end = MIN((uintptr_t)e->to + e->bytes, (uintptr_t)from + bytes);
    if (start >= end)
        return 0;
    const u64 first = start - (uintptr_t)from;
    memcpy(copy + first, view->data + e->at + (start - (uintptr_t)e->to), end - start);
    return first < 64 ? ~0ull >> (64 - MIN(end - start, 64 - first)) << first : 0;
}

static u64 overlay_log(const struct memory_view *view, const u8 *from, u32 bytes, u8 *copy)
{
    u64 held = 0;
    if (!view->count || !log_may_hold(view, from, bytes))
        return 0;
    for (u32 i = 0; i < view->count; i++)
        held |= overlay_record(view, &view->records[i], from, bytes, copy);
    return held;
}

void memory_view_overlay(const struct memory_view *view, const u8 *from, u32 bytes, u8 *copy)
{
    if (view->base)
        overlay_log(view->base, from, bytes, copy);
    overlay_log(view, from, bytes, copy);
}

u64 memory_view_collect(const struct memory_view *view, const u8 *from, u32 bytes, u8 *copy)
{
    const u64 below = view->base ? overlay_log(view->base, from, bytes, copy) : 0;
    assert(bytes <= 64);
    return below | overlay_log(view, from, bytes, copy);
}

bool memory_view_next(const struct memory_view *view, struct memory_view_mark *at,
                      struct memory_view_run *run)
{
    if (at->bytes == view->used)
        return false;
    assert(view->records);
    /* The last entry before the mark may have been extended after it. */
    const struct record *e = at->entries ? &view->records[at->entries - 1] : NULL;
    if (!e || e->at + e->bytes == at->bytes)
        e = &view->records[at->entries++];
    const u32 skip = (u32)(at->bytes - e->at);
    *run = (struct memory_view_run){e->to + skip, view->data + at->bytes, e->bytes - skip};
    at->bytes = e->at + e->bytes;
    return true;
}

/* Adds an entry, or extends the last one if the store continues it. */
u8 *memory_view_log(struct memory_view *view, u8 *to, u32 bytes)
{
    assert(view->records);
    struct record *last = view->count ? &view->records[view->count - 1] : NULL;
    const size_t at = view->used;
    view->used += bytes;
    if (last && last->to + last->bytes == to && last->at + last->bytes == at)
        last->bytes += bytes;
    else
        view->records[view->count++] = (struct record){to, at, bytes};
    mark_sectors(view, to, bytes);
    return view->data + at;
}

static void redirect_store(struct memory_view *view, const struct lanes_memory *moves,
                           struct access *access, u32 lanes, u32 bytes)
{
    memory_view_reserve(view, LANES, LANES * (size_t)bytes);
    if (access->base && lanes == LANES_FULL && moves->adjacent(access->offset, bytes)) {
        u8 *to = access->base + access->offset[0];
        access->base = memory_view_log(view, to, LANES * bytes);
        for (u32 lane = 0; lane < LANES; lane++)
            access->offset[lane] = lane * bytes;
        return;
    }
    access_apart(access, lanes);
    for (u32 set = lanes; set; set &= set - 1)
        access->at[first_lane(set)] = memory_view_log(view, access->at[first_lane(set)], bytes);
}

static void redirect_load(struct memory_view *view, const struct lanes_memory *moves,
                          struct access *access, u32 lanes, u32 bytes)
{
    if (memory_view_empty(view))
        return;
    u32 held = 0;
    if (access->base && lanes == LANES_FULL && moves->adjacent(access->offset, bytes) &&
        !memory_view_may_hold(view, access->base + access->offset[0], LANES * bytes))
        return;
    for (u32 set = lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const u8 *from = access->base ? access->base + access->offset[lane] : access->at[lane];
        held |= (u32)memory_view_may_hold(view, from, bytes) << lane;
    }
    if (!held)
        return;
    access_apart(access, lanes);
    for (u32 set = held; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        memcpy(view->staged[lane], access->at[lane], bytes);
        memory_view_overlay(view, access->at[lane], bytes, view->staged[lane]);
        access->at[lane] = view->staged[lane];
    }
}

void memory_view_redirect(struct memory_view *view, const struct lanes_memory *moves,
                          struct access *access, u32 lanes, u32 bytes, bool write)
{
    assert(bytes <= LANE_BYTES);
    if (write)
        redirect_store(view, moves, access, lanes, bytes);
    else
        redirect_load(view, moves, access, lanes, bytes);
}
