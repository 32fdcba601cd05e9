/*
 * What a warp waited for: a chain of causes, from recorded events alone. Each link names what happened
 * between two cycles; what the trace does not have is said, never assumed.
 */
#ifndef CAUSES_CHAIN_H
#define CAUSES_CHAIN_H

#include "causes/events.h"

enum {
    CHAIN_DEPTH = 6 /* of causes of causes */
};

struct cause {
    u64 from, to; /* cycles; equal: a moment. `to` NEVER: not within the trace */
    u32 depth;
    const char *text;
};

struct chain {
    const struct event_trace *trace;
    const struct traced_launch *launch;
    const struct event_list *core_events;
    u32 core;
    struct arena *arena;
    VEC(struct cause) causes;
};

/* A warp on a core at a time. */
struct traced_warp {
    const struct traced_launch *launch;
    u32 core, slot, warp;
    u64 block, from, to; /* cycles; `to` NEVER: until after the trace */
};
/* A warp's wait. */
struct wait {
    struct traced_warp warp;
    const struct traced_event *stall;
    u64 at; /* the cycle that was asked for */
    u64 to; /* NEVER: it does not end within the trace */
};

/* The launch at a cycle; NULL: the trace has none. */
const struct traced_launch *chain_launch(const struct event_trace *trace, u64 at);
/* False: no warp is known to be there. */
bool chain_warp(const struct event_trace *trace, const struct traced_launch *launch, u32 core,
                u32 slot, u64 at, struct traced_warp *warp);
/* The wait of a warp that includes a cycle. `wait->stall` is NULL if nothing of the warp is recorded so
 * early. */
void chain_wait(const struct event_trace *trace, const struct traced_warp *warp, u64 at,
                struct wait *wait);
/* The longest waits of a trace that end in it, longest first; their number. */
u32 chain_longest(const struct event_trace *trace, struct wait *list, u32 most);
/* Explains it, link by link; the texts live in `arena`. */
void chain_explain(struct chain *chain, struct arena *arena, const struct event_trace *trace,
                   const struct wait *wait);
void chain_free(struct chain *chain);

/* "warp slot 3's 'ld.global ...' (k.ptx:12)" and "'ld ...' (k.ptx:12)". */
const char *chain_inst(struct arena *arena, const struct traced_launch *launch, u32 inst);

/* ---- between chain.c and way.c ---- */
void chain_add(struct chain *chain, u32 depth, u64 from, u64 to, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* way.c: the way of an instruction in flight that was issued at `issue` or earlier, until its result is
 * written. */
void way_of(struct chain *chain, u32 depth, u32 id, u32 inst, u64 before);
/* The way of a request of the core, which its cache has sent at `from` or later; returns when the reply
 * came. */
u64 way_of_request(struct chain *chain, u32 depth, const struct traced_event *request);

#endif
