/*
 * Services of the memory side for mechanisms, in calls for their state there (memory_size;
 * create_memory passes the memory side). A state belongs to a partition, a channel with its slices,
 * and may use these functions for its own partition only.
 *
 * Slices of the L2 are numbered through all channels: slice s belongs to channel s / slices per
 * channel. Cache hooks of a slice (struct cache_hooks) name lines by the slice's own addresses;
 * packets and DRAM events use device addresses.
 */
#ifndef MEM_SERVICES_H
#define MEM_SERVICES_H

#include "mem/dram.h"

struct memory_system;

u32 memory_system_slices(const struct memory_system *m);
u32 memory_system_channels(const struct memory_system *m);
const struct l2_params *memory_system_l2(const struct memory_system *m);
const struct dram_params *memory_system_dram(const struct memory_system *m);
/* Cycles of the DRAM clock before a time, counted from the creation of the memory side. */
u64 memory_system_dram_cycles(const struct memory_system *m, fs now);
/* The time of the current clock edge, for hooks that do not receive it. */
fs memory_system_now(const struct memory_system *m);
/* Records an event of a partition in the trace of events, if there is one. */
struct trace_event;
void memory_system_record(struct memory_system *m, u32 partition, const struct trace_event *event);
/* The device address of a slice's own address. */
u64 memory_system_address(const struct memory_system *m, u32 slice, u64 line);
/* The requesters whose packets wait at the L2 for a request in DRAM, first the one that missed,
 * then those that merged with it. Writes at most `most` of them and returns their number. Later
 * packets may still merge until the L2 has filled the line. */
u32 memory_system_waiters(const struct memory_system *m, const struct dram_event *request,
                          struct requester *waiters, u32 most);

/* The slice, and its MSHR, for which a request is in DRAM; false: nothing waits for it. Not without
 * an L2. */
bool memory_system_fetch(const struct memory_system *m, const struct dram_event *request,
                         u32 *slice, u32 *mshr);

/*
 * Writes a line of the L2 back if it is dirty, and drops it: the next access misses. `address` is a
 * device address anywhere in it. The write-back takes an entry of the slice's miss queue, like an
 * eviction. Must not be called from cache hooks, which run in the middle of an access.
 */
enum l2_drop_answer {
    L2_DROP_DONE,
    L2_DROP_ABSENT,    /* no such line */
    L2_DROP_UNDER_WAY, /* refused: sectors are in flight from DRAM */
    L2_DROP_NO_ROOM,   /* refused: the line is dirty and the miss queue has no room */
};
enum l2_drop_answer memory_system_drop(struct memory_system *m, u64 address);
/* Has the seam l2_free called for a slice: at the end of the L2 cycle in which it is called, or, from
 * l2_free itself, at the end of the next one. */
void memory_system_ask(struct memory_system *m, u32 slice);
/* The set of a slice that the line of a device address belongs to, and the way that holds it. */
struct l2_place {
    u32 set, way; /* L2_NO_WAY: it is not there */
};
#define L2_NO_WAY UINT32_MAX
struct l2_place memory_system_place(const struct memory_system *m, u64 address);
/*
 * For mechanisms with hooks at the L2: from now on the last `ways` ways of each set of a slice take
 * no lines. Their lines are dropped, at most one per cycle, and dirty data are written back as
 * there is room; lines in flight are dropped as soon as they are filled. Until then they can be
 * hit; the hook `evicted` is called for each. If fewer ways are reserved than before, the others
 * can be used at once. The call never waits; memory_system_reserving: lines are still in reserved
 * ways.
 */
void memory_system_reserve(struct memory_system *m, u32 slice, u32 ways);
bool memory_system_reserving(const struct memory_system *m, u32 slice);

/*
 * With content (`content` of struct mechanism): the line at a set and way of a slice, with its
 * device address; its bytes may be changed. False: no line is there. memory_system_lose: the line's
 * dirty data are lost, and it gets the bytes that DRAM has or is being sent; its tags do not
 * change.
 */
struct cache_line;
bool memory_system_line(const struct memory_system *m, u32 slice, u32 set, u32 way,
                        struct cache_line *line);
void memory_system_lose(struct memory_system *m, u32 slice, u32 set, u32 way);

#endif
