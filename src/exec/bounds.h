/*
 * Out-of-bounds accesses that do not end the launch: memory.bounds=warn.
 *
 * Invariants
 *  B1  Only accesses that would fault as out of bounds pass: global memory, aligned, at a device
 *      memory address (memory_has_address). Freed and read-only memory, misaligned accesses and
 *      addresses outside device memory fault as usual, and so do shared, local and parameter
 *      memory.
 *  B2  Bytes beyond an allocation read as zero and are not written. An access that begins inside
 *      reads and writes the bytes that are inside. An atomic with any byte outside reads zero and
 *      changes nothing.
 *  B3  Each access of a lane counts once, and the report does not depend on the order in which
 *      cores run: it names the lowest thread.
 */
#ifndef EXEC_BOUNDS_H
#define EXEC_BOUNDS_H

#include "base/arena.h"
#include "exec/lanes.h"
#include "exec/params.h"

enum {
    BOUNDS_LANE_BYTES = 64 /* most that a lane accesses, as in memory_view.c */
};

struct exec;
struct warp;
struct chunk;
struct addresses;
struct access;

/* An instruction with out-of-bounds accesses. */
struct outside_place {
    u32 inst;
    u64 count; /* accesses of lanes */
    u64 block; /* of the lowest thread, */
    u32 thread;
    u64 address; /* and its address */
    u32 bytes;
};

struct bounds {
    struct memory_stats stats;
    VEC(struct outside_place) places;
    bool checking; /* an atomic in timing mode is only checked; it is performed, and not counted
                    * again, later */
    u8 scratch[LANES][BOUNDS_LANE_BYTES]; /* read and written by lanes that are outside */
    char *text;                           /* malloc'd by bounds_text */
};

struct bounds *bounds_create(void);
void bounds_destroy(struct bounds *bounds);
/* Adds counts and places of a core; each core has its own during a timed launch (B3). */
void bounds_add(struct bounds *sum, const struct bounds *core);
/*
 * Lanes that were not found in memory and that pass (B1) get a place to act on (access->at), and
 * are added to access->outside if that is not device memory. Returns the lanes that do not pass.
 */
u32 bounds_pass(struct warp *warp, u32 pc, const struct chunk *chunk,
                const struct addresses *addresses, u32 bad, u32 bytes, bool write,
                struct access *access);
/* The same for a scalar load: where its words are, or NULL if it does not pass. */
const u8 *bounds_pass_scalar(struct warp *warp, u32 pc, u64 address, u32 bytes);
/* Whether a lane's store went to scratch bytes, and not to device memory. */
bool bounds_dropped(const struct exec *exec, const u8 *at);
/* One or more lines for each place, in program order; "" if there is none. Valid until the next
 * call. */
const char *bounds_text(const struct exec *exec);
/* Clears the counts and places of a launch after they were reported. */
void bounds_forget(struct bounds *bounds);

#endif
