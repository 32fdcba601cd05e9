/*
 * Accesses beyond buffers that do not end the launch: memory.bounds=warn.
 *
 * Invariants
 *  B1  Only what would fault as out of bounds passes: global memory, aligned, at an address that
 *      device memory has (memory_has_address). Freed and read-only memory, misaligned accesses and
 *      addresses of nowhere fault as ever, and so do shared, local and parameter memory.
 *  B2  Bytes beyond an allocation read as zero and are not written. An access that begins inside
 *      reads and writes the bytes that are inside. An atomic of which any byte is beyond reads zero
 *      and changes nothing.
 *  B3  Each access of a lane counts once, and what is told of a place does not depend on the order
 *      in which cores run: the thread that is named is the lowest.
 */
#ifndef EXEC_BOUNDS_H
#define EXEC_BOUNDS_H

#include "base/arena.h"
#include "exec/lanes.h"
#include "exec/params.h"

enum {
    BOUNDS_LANE_BYTES = 64 /* most that a lane moves, as in memory_view.c */
};

struct exec;
struct warp;
struct chunk;
struct addresses;
struct access;

/* An instruction that went beyond a buffer. */
struct outside_place {
    u32 inst;
    u64 count; /* accesses of lanes */
    u64 block; /* of the lowest thread; */
    u32 thread;
    u64 address; /* its address */
    u32 bytes;
};

struct bounds {
    struct memory_stats stats;
    VEC(struct outside_place) places;
    bool checking; /* an atomic in time is checked; it acts, and is not counted, later */
    u8 scratch[LANES][BOUNDS_LANE_BYTES]; /* what lanes that are outside read and write */
    char *text;                           /* malloc'd by bounds_text */
};

struct bounds *bounds_create(void);
void bounds_destroy(struct bounds *bounds);
/* Adds counts and places of a core, which has its own while a launch runs in time (B3). */
void bounds_add(struct bounds *sum, const struct bounds *core);
/*
 * Of lanes that were not found, those that pass (B1) get a place to act on (access->at), and are
 * in access->outside when that is not memory of the device. Returns the lanes that do not pass.
 */
u32 bounds_pass(struct warp *warp, u32 pc, const struct chunk *chunk,
                const struct addresses *addresses, u32 bad, u32 bytes, bool write,
                struct access *access);
/* The same for a scalar load: where its words are, or NULL when it does not pass. */
const u8 *bounds_pass_scalar(struct warp *warp, u32 pc, u64 address, u32 bytes);
/* Whether a lane's store went to scratch bytes, and not to device memory. */
bool bounds_dropped(const struct exec *exec, const u8 *at);
/* A line or more for each place, in program order; "" when there is none. The text lives until the
 * next one. */
const char *bounds_text(const struct exec *exec);
/* Counts and places of a launch, once they are told. */
void bounds_forget(struct bounds *bounds);

#endif
