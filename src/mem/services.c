/* Services of the memory side for mechanisms (mem/services.h). */
#include "core/trace.h"
#include "mem/system_parts.h"

u32 memory_system_slices(const struct memory_system *m)
{
    return m->units;
}

u32 memory_system_channels(const struct memory_system *m)
{
    return m->l2_params.channels;
}

const struct l2_params *memory_system_l2(const struct memory_system *m)
{
    return &m->l2_params;
}

const struct dram_params *memory_system_dram(const struct memory_system *m)
{
    return &m->dram_params;
}

u64 memory_system_dram_cycles(const struct memory_system *m, fs now)
{
    return m->dram.cycle + clock_cycles_until(&m->dram, now);
}

bool memory_system_fetch(const struct memory_system *m, const struct dram_event *request,
                         u32 *slice, u32 *mshr)
{
    *slice = request->channel * m->l2_params.slices + (request->tag >> TAG_SLICE_SHIFT);
    *mshr = request->tag & TAG_NO_FETCH;
    return l2_tag_waits(request->tag);
}

fs memory_system_now(const struct memory_system *m)
{
    return MIN(MIN(m->network.next, m->l2.next), m->dram.next);
}

void memory_system_watch(struct memory_system *m, struct trace_buffer *traces)
{
    m->traces = traces;
}

void memory_system_record(struct memory_system *m, u32 partition, const struct trace_event *event)
{
    struct trace_buffer *trace = m->traces ? &m->traces[partition] : NULL;
    if (trace && event->time >= trace->from && event->time < trace->to)
        *vec_push(&trace->list) = *event;
}

u64 memory_system_address(const struct memory_system *m, u32 slice, u64 line)
{
    const struct place place = {.channel = slice / m->l2_params.slices,
                                .slice = slice % m->l2_params.slices,
                                .in_slice = line};
    return address_of(&m->shared.map, &place);
}

u32 memory_system_waiters(const struct memory_system *m, const struct dram_event *request,
                          struct requester *waiters, u32 most)
{
    const u32 unit = request->channel * m->l2_params.slices + (request->tag >> TAG_SLICE_SHIFT);
    struct requester waiter;
    u32 count = 0;
    for (; l2_waiter_at(m->slices[unit], request->tag, count, &waiter); count++)
        if (count < most)
            waiters[count] = waiter;
    return count;
}

void memory_system_ask(struct memory_system *m, u32 slice)
{
    m->slices[slice]->asked = m->sweeps = true;
    call(&m->slice_calls, slice);
}

/* The slice of a device address, and its own address of the line. */
static u32 slice_of(const struct memory_system *m, u64 address, u64 *line)
{
    const struct place place = address_place(&m->shared.map, address);
    *line = place.in_slice & ~(u64)(m->l2_params.line_bytes - 1);
    return place.channel * m->l2_params.slices + place.slice;
}

struct l2_place memory_system_place(const struct memory_system *m, u64 address)
{
    struct l2_place place;
    u64 line;
    const u32 unit = slice_of(m, address, &line);
    place.set = cache_place_of(m->slices[unit]->cache, line, &place.way);
    return place;
}

enum l2_drop_answer memory_system_drop(struct memory_system *m, u64 address)
{
    static const enum l2_drop_answer answers[] = {
        [CACHE_DROPPED] = L2_DROP_DONE,
        [CACHE_ABSENT] = L2_DROP_ABSENT,
        [CACHE_UNDER_WAY] = L2_DROP_UNDER_WAY,
        [CACHE_DIRTY] = L2_DROP_NO_ROOM,
    };
    u64 line;
    const u32 unit = slice_of(m, address, &line);
    call(&m->slice_calls, unit);
    return answers[l2_drop(m->slices[unit], line)];
}

void memory_system_reserve(struct memory_system *m, u32 slice, u32 ways)
{
    l2_reserve(m->slices[slice], ways);
    m->sweeps = true;
    call(&m->slice_calls, slice);
}

bool memory_system_reserving(const struct memory_system *m, u32 slice)
{
    return m->slices[slice]->sweeps;
}
