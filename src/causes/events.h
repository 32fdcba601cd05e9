/*
 * A trace of events (docs/events.md) in memory: what `heddle run --trace FILE.jsonl` has written.
 *
 * Members that a line does not have are NONE, so that a hand-written trace cannot lead astray.
 */
#ifndef CAUSES_EVENTS_H
#define CAUSES_EVENTS_H

#include "base/arena.h"
#include "base/error.h"

enum {
    EVENTS_CORES = 4096,
    EVENTS_INSTS = 1 << 22,
};
#define NONE UINT32_MAX
#define NEVER UINT64_MAX

enum event_kind {
#define TRACE_KIND(NAME, name) EVENT_##NAME,
#include "base/trace_kinds.def"
#undef TRACE_KIND
    EVENT_KINDS
};

/* In the order of the causes of docs/observing.md. */
enum why {
    WHY_NONE,
    WHY_EMPTY,
    WHY_FETCH,
    WHY_BRANCH,
    WHY_BARRIER,
    WHY_RAW,
    WHY_WAW,
    WHY_MEMORY,
    WHY_WAIT,
    WHY_UNIT,
    WHY_COLLECTOR,
    WHY_HELD,
    WHYS
};
extern const char *const why_names[WHYS];

enum need {
    NEED_REGISTER,
    NEED_ROOM,
    NEED_BARRIER,
    NEED_LINE,
    NEEDS
};
enum result {
    RESULT_HIT,
    RESULT_MERGED,
    RESULT_MISS,
    RESULT_NO_LINE,
    RESULT_NO_MSHR,
    RESULT_NO_MERGE,
    RESULTS
};
enum from {
    FROM_INSTRUCTION,
    FROM_L1,
    FROM_CONSTANT,
    FROM_READONLY,
    FROM_NONE,
    FROM_OTHER,
    FROMS
};

struct traced_event {
    u64 at; /* core cycle */
    u64 address, sent;
    u64 number;     /* block, register, barrier, cycles, count or row */
    u32 slot, inst; /* `slot` also: place of a block, bank */
    u32 id;         /* record of an instruction in flight */
    u32 tag;        /* of a request; MSHR; slice; channel; scheduler */
    u16 core;
    u8 what; /* enum event_kind */
    u8 code; /* enum why, need, result */
    u8 from; /* enum from: the cache */
    u8 flag; /* write, open; of ISSUED: to memory */
    u16 warp;
};

struct traced_code {
    u64 pc;
    const char *line, *text; /* NULL: unknown */
};

struct event_list {
    VEC(u32) at; /* indices of events, in order of time */
};

/* A launch, or the part of it that was traced. */
struct traced_launch {
    const char *kernel;
    u64 number, start, from, to; /* cycles of the first and the last event */
    u64 grid[3];
    u64 l1_mshrs, l1_latency, l2_line;
    bool ended;                /* the trace goes to the end of the launch */
    u32 first, count;          /* its events */
    struct traced_code *codes; /* by instruction */
    u32 code_count;
    struct event_list *cores; /* by core */
    u32 core_count;
    struct event_list channels; /* of all DRAM channels */
};

struct event_trace {
    struct arena *arena;
    VEC(struct traced_event) events;
    VEC(struct traced_launch) launches;
};

/* `path` is for messages; the text is changed. */
bool events_parse(struct event_trace *trace, struct arena *arena, const char *path, char *text,
                  size_t length, struct error *error);
bool events_read(struct event_trace *trace, struct arena *arena, const char *path,
                 struct error *error);
void events_free(struct event_trace *trace);

/* What an event must be like: `kinds` is a set of KIND(), the other members are IS(value), or 0: any. */
struct want {
    u64 kinds;
    u64 slot, id, tag, inst, from, address, sent;
};
#define IS(value) ((u64)(value) + 1)
#define WANT(...) (&(const struct want){__VA_ARGS__})
#define KIND(NAME) (1ull << EVENT_##NAME)

/* The first event of a list at `from` or later, or the last one at `to` or earlier, that is as
 * wanted; NULL: none. */
const struct traced_event *event_next(const struct event_trace *trace,
                                      const struct event_list *list, u64 from,
                                      const struct want *want);
const struct traced_event *event_last(const struct event_trace *trace,
                                      const struct event_list *list, u64 to,
                                      const struct want *want);
/* The first one after another event of the list: in a cycle, events are in the order in which they
 * happened. */
const struct traced_event *event_after(const struct event_trace *trace,
                                       const struct event_list *list,
                                       const struct traced_event *after, const struct want *want);
bool event_is(const struct traced_event *event, const struct want *want);
/* The position in a list of the first event at a time or later. */
u32 event_position(const struct event_trace *trace, const struct event_list *list, u64 at);
static inline const struct traced_event *event_at(const struct event_trace *trace,
                                                  const struct event_list *list, u32 position)
{
    return &trace->events.data[list->at.data[position]];
}
/* Events of a core; an empty list if there are none. */
const struct event_list *events_of_core(const struct traced_launch *launch, u32 core);

#endif
