/*
 * Test mechanism: writes down every lookup and every arrival of instructions on each core, in
 * order, and what stood where then. It changes nothing. Put it first in a list.
 */
#ifndef WATCH_H
#define WATCH_H

#include "core/mechanism.h"

enum {
    WATCHED_CORES = 16
};

struct watched {
    u64 cycle, pc;
    u64 age; /* of the warp */
    u32 inst, slot;
    bool arrives; /* else it is looked up */
    u64 missed;  /* of a lookup: the cycle in which the slot last missed in the instruction cache */
    u64 wanting; /* slots that want instructions in a cycle whose lookup this is, bits */
    bool here;   /* an arrival past the instruction cache */
    /* of an arrival, found by looking everywhere: */
    u32 ago;          /* arrivals since another warp, still active, had it; 65: more than 64 */
    bool in_a_buffer; /* of another active warp */
};

struct watch_log {
    struct watched *events;
    size_t count, room;
};

/* By core and in order; a launch begins with an event without a warp (age UINT64_MAX). */
extern struct watch_log watch_logs[WATCHED_CORES];
extern const struct mechanism watch_mechanism;

void watch_forget(void);

#endif
