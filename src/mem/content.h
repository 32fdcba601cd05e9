/*
 * Content: the data of caches, requests and the queues to DRAM, for launches that are armed with it
 * (timing.content, or a mechanism that asks for it). Without it caches say when, and memory says
 * what; with it a load gets the bytes of the level that served it.
 *
 *     core: lines of L1 and read-only cache, staged loads     core/common/content.c
 *     entries: the data of a request, there and back          N2
 *     L2: lines, what MSHRs have been brought, write-backs     N3 to N5
 *     DRAM: the allocations of exec/memory.h, "the image"
 *
 * Invariants
 *  N1  Tags, queues, times and statistics never depend on content: an armed run takes the same time
 *      as one that is not, as long as the program computes the same.
 *  N2  The data of a request are in its entry, found by core, client and tag: those of a store from
 *      the head of the load/store unit on, those of a load once they have been read. From the
 *      sending of a request to the arrival of its answer only the memory side touches the entry.
 *  N3  A slice acts in the order in which packets reach its tags. A read that has to wait for DRAM
 *      keeps the bytes that were known then, and takes the others as DRAM delivers them: it never
 *      sees a store that came behind it.
 *  N4  The image is changed by a write, and looked at for a read, when the request enters its DRAM
 *      channel. Requests of a slice keep their order as far as that.
 *  N5  Of an L2 line, all bytes of complete sectors count, and bytes written of sectors with
 *      changes. A victim takes its changed sectors along: whole if complete, else the bytes written.
 *  N6  Between windows, what the slices have stored in this one is put into all copies that cores
 *      have, or are being sent, in the order of service; then atomics act, in that order, each on
 *      the newest copy of its sector, and change all others.
 *  N7  Outside of launches the image is what a program has computed: at the end of a launch all
 *      changes go there, and at the beginning of one all lines get their bytes from there. So a flip
 *      in a clean line does not outlive its launch.
 *  N8  A write can leave a slice while the MSHR of its line waits: a line that was allocated and
 *      evicted meanwhile (l2.allocate=fill), or a store that passes the cache. The MSHR keeps those
 *      bytes. Reads that come behind the write, and the line when it is filled, get them.
 *
 * Deviations
 *  - L1 copies of other cores follow the L2 at the end of each window at no cost: stale lines are
 *    not modelled (nor are they without content).
 *  - A read holds its data from the moment it enters its DRAM channel, and a write is in the image
 *    from then on: bits in a channel's own queue are those of the image, or of the MSHR.
 *  - Constants, parameters, instructions and local memory carry no data: the first three do not
 *    change in a launch; local memory is the block's own, and loads of it get their values at the
 *    head of the load/store unit.
 *  - Caches that cores of a cluster share hold no data: a scalar load that they answer gets the
 *    newest bytes of the memory side.
 *  - An atomic acts at the end of the window in which its slice serves it (system.h, M2). If its
 *    line has left the slice by then, it acts where the line's data are.
 */
#ifndef MEM_CONTENT_H
#define MEM_CONTENT_H

#include "mem/cache.h"

struct content;
struct l2_request;
struct l2_slice;
struct memory;
struct memory_system;

struct content_config {
    struct memory *memory;   /* the image */
    u32 entries[CLIENTS];    /* tags of each client of a core; 0: its requests carry no data */
    u32 line_bytes[CLIENTS]; /* of an entry */
};

/* The data of a request. */
struct content_entry {
    u64 base;     /* address of its first byte, a multiple of a sector */
    u8 *bytes;    /* of a line, */
    u64 *mask;    /* and a bit for each that counts */
    bool entered; /* a store: it has reached its slice, or the image */
};

/* Content for a memory side, which owns it; before the first launch. */
struct content *content_create(struct memory_system *memory_system,
                               const struct content_config *config);
void content_destroy(struct content *content);
/* NULL: requests of this client carry no data. */
struct content_entry *content_entry(const struct content *content, u32 core, u32 client, u32 tag);

/* ---- a slice: what its tags have done (mem/l2.c) ---- */

/* The tags have taken a packet: a read has hit, or waits for sectors under way; a write is in the
 * line, or its request to DRAM is made. */
void content_access(struct content *content, struct l2_slice *slice, const struct packet *packet);
/* A read that a cluster's cache answers gets the newest bytes of the memory side. */
void content_read_newest(struct content *content, const struct packet *packet);
/* Sectors that DRAM has delivered under an MSHR are in the line, if it is there. */
void content_fill(struct content *content, struct l2_slice *slice, u32 mshr, u32 sectors);
/* The data of a request to DRAM for these sectors of a line of the slice. Of a write: those of a
 * packet that passes the cache; an atomic's come at the end of the window. */
u32 content_request(struct content *content, struct l2_slice *slice, u64 line, u32 sectors,
                    const struct packet *write);
/* The same for what gave way last: the sectors with changes. */
u32 content_victim(struct content *content, struct l2_slice *slice, u64 line, u32 sectors);
/* A request enters DRAM. */
void content_enter_dram(struct content *content, struct l2_slice *slice,
                        const struct l2_request *request);

/* ---- between windows ---- */

/* A piece of memory that has changed: `bytes` of a line, those with a bit in the mask. */
struct content_change {
    u64 base;
    u32 bytes; /* of the line */
    const u8 *data;
    const u64 *mask;
};
/* A window begins: what slices store is counted anew. */
void content_window(struct content *content);
/* What slices have stored in the last window, in order; `at` counts from 0. False: no more. */
bool content_stored(const struct content *content, u32 at, struct content_change *change);
/* An atomic is about to act on the image: the newest bytes of its sectors are there for it.
 * Afterwards they are where they were newest, and the image is as before. */
void content_lift(struct content *content, const struct packet *atomic);
void content_lower(struct content *content, const struct packet *atomic,
                   struct content_change *change);
/* Makes the image what a program would see, for system calls, and takes that back; after the memory
 * side, stores of cores that have not reached it, in order. */
void content_expose(struct content *content);
void content_expose_store(struct content *content, const struct content_entry *entry);
void content_conceal(struct content *content);

/* ---- launches ---- */

/* All changes go to the image. Nothing is under way. */
void content_flush(struct content *content);
/* All lines of the L2 get their bytes from the image; all lines of a first-level cache. */
void content_reload(struct content *content);
void content_reload_cache(const struct content *content, const struct cache *cache);

/* ---- bytes by sectors ---- */

/* The bits of a sector's bytes. */
static inline u32 mask_sector(const u64 *mask, u32 sector)
{
    return (u32)(mask[sector / 2] >> sector % 2 * 32);
}
static inline void mask_add(u64 *mask, u32 sector, u32 bits)
{
    mask[sector / 2] |= (u64)bits << sector % 2 * 32;
}
static inline void mask_remove(u64 *mask, u32 sector, u32 bits)
{
    mask[sector / 2] &= ~((u64)bits << sector % 2 * 32);
}
/* The bytes of a sector with a bit. */
static inline void copy_bytes(u8 *to, const u8 *from, u32 bits)
{
    if (bits == UINT32_MAX) {
        memcpy(to, from, SECTOR_BYTES);
        return;
    }
    for (; bits; bits &= bits - 1)
        to[__builtin_ctz(bits)] = from[__builtin_ctz(bits)];
}

#endif
