/*
 * What the memory side does for mechanisms, in calls for their state there (memory_size,
 * create_memory, which gives them the memory side). A state belongs to a partition, a channel with
 * its slices, and asks for these only.
 *
 * Slices of the L2 are numbered through all channels: slice s belongs to channel s / slices of a
 * channel. Cache hooks of a slice (struct cache_hooks) name lines by the slice's own addresses,
 * packets and DRAM events by device addresses.
 */
#ifndef MEM_SERVICES_H
#define MEM_SERVICES_H

#include "mem/dram.h"

struct memory_system;

u32 memory_system_slices(const struct memory_system *m);
u32 memory_system_channels(const struct memory_system *m);
/* The time of the clock edge at hand, for hooks that are not given it. */
fs memory_system_now(const struct memory_system *m);
/* The device address of a slice's own address. */
u64 memory_system_address(const struct memory_system *m, u32 slice, u64 line);
/* Those whose packets wait at the L2 for a request that is in DRAM, first the one that missed, then
 * those that merged with it: at most `most` of them. Returns how many there are. Later packets may
 * still merge until the L2 has filled the line. */
u32 memory_system_waiters(const struct memory_system *m, const struct dram_event *request,
                          struct requester *waiters, u32 most);

/*
 * Writes a line of the L2 back if it has changes, and drops it: the next access misses. `address` is
 * a device address anywhere in it. What it writes takes a place in the slice's miss queue, as an
 * eviction does. Not to be called from cache hooks, which are called in the middle of an access.
 */
enum l2_drop_answer {
    L2_DROP_DONE,
    L2_DROP_ABSENT,    /* no such line */
    L2_DROP_UNDER_WAY, /* refused: sectors of it are under way from DRAM */
    L2_DROP_NO_ROOM,   /* refused: the line has changes, and the miss queue no room for them */
};
enum l2_drop_answer memory_system_drop(struct memory_system *m, u64 address);
/*
 * For mechanisms that have hooks at the L2: so many ways of each set of a slice, the last ones, take
 * no lines from now on. What is in them is dropped, at most one line a cycle, and changes are written
 * back as there is room; lines under way leave as soon as they are filled. Until then they can be
 * hit; the hook `evicted` tells of each. Fewer ways than before are free at once. A change waits for
 * nothing; memory_system_reserving: lines are still in these ways.
 */
void memory_system_reserve(struct memory_system *m, u32 slice, u32 ways);
bool memory_system_reserving(const struct memory_system *m, u32 slice);

/*
 * With content (`content` of struct mechanism): a line of a slice by its place, `address` that of the
 * device; its bytes may be changed. False: no line is there. memory_system_lose: its changes are lost,
 * and it has the bytes that DRAM has or is being sent; its tags do not change.
 */
struct cache_line;
bool memory_system_line(const struct memory_system *m, u32 slice, u32 set, u32 way,
                        struct cache_line *line);
void memory_system_lose(struct memory_system *m, u32 slice, u32 set, u32 way);

#endif
