/*
 * Content: the data of caches, requests and queues to DRAM, in armed launches (timing.content, or a
 * mechanism that needs it). Without content, caches determine timing and memory holds the data;
 * with it, a load gets the bytes of the level that served it.
 *
 *     core: lines of L1 and read-only cache, staged loads     core/common/content.c
 *     entries: the data of a request, there and back          N2
 *     L2: lines, data fetched for MSHRs, write-backs          N3 to N5
 *     DRAM: the allocations of exec/memory.h, "the image"
 *
 * Invariants
 *  N1  Tags, queues, times and statistics never depend on content: an armed run takes the same time
 *      as an unarmed one, as long as the program computes the same.
 *  N2  The data of a request are in its entry, found by core, client and tag: those of a store from
 *      the head of the load/store unit on, those of a load once they have been read. From sending a
 *      request to the arrival of its reply, only the memory side accesses the entry.
 *  N3  A slice acts in the order in which packets reach its tags. A read that waits for DRAM keeps
 *      the bytes that were known then, and takes the others as DRAM delivers them: it never sees a
 *      later store.
 *  N4  A write changes the image, and a read reads it, when the request enters its DRAM channel.
 *      Requests of a slice stay in order up to that point.
 *  N5  Valid bytes of an L2 line are all bytes of its valid sectors and the written bytes of its
 *      dirty sectors. A victim takes its dirty sectors along: whole if valid, else the written
 *      bytes.
 *  N6  Between windows, what the slices stored in the last window is written into all copies that
 *      cores hold or are being sent, in the order of service; then atomics are performed, in that
 *      order, each on the newest copy of its sector, and update all others.
 *  N7  Outside launches the image is what the program has computed: at the end of a launch all
 *      dirty data are written to it, and at the start of one all lines get their bytes from it. So
 *      a bit flip in a clean line does not outlive its launch.
 *  N8  A write can leave a slice while an MSHR waits for its line: the line was allocated and evicted
 *      in the meantime (l2.allocate=fill), or a store bypasses the cache. The MSHR keeps those
 *      bytes: later reads get them, and so does the line when it is filled.
 *
 * Deviations
 *  - L1 copies of other cores follow the L2 at the end of each window at no cost: stale lines are
 *    not modelled (nor are they without content).
 *  - A read has its data from the moment it enters its DRAM channel, and a write is in the image
 *    from then on: bits in a channel's own queue are those of the image, or of the MSHR.
 *  - Constants, parameters, instructions and local memory carry no data: the first three do not
 *    change in a launch; local memory belongs to a block, and its loads get their values at the
 *    head of the load/store unit.
 *  - Caches that the cores of a cluster share hold no data: a scalar load that they answer gets the
 *    newest bytes of the memory side.
 *  - An atomic is performed at the end of the window in which its slice serves it (system.h, M2).
 *    If its line has left the slice by then, it acts where the line's data are.
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
    u32 line_bytes[CLIENTS]; /* size of an entry */
};

/* The data of a request. */
struct content_entry {
    u64 base;     /* address of its first byte, a multiple of a sector */
    u8 *bytes;    /* of a line, */
    u64 *mask;    /* with a bit for each valid byte */
    u32 size;     /* of the line: a power of two */
    bool entered; /* a store: it has reached its slice, or the image */
};

/* Content for a memory side, which owns it; call before the first launch. */
struct content *content_create(struct memory_system *memory_system,
                               const struct content_config *config);
void content_destroy(struct content *content);
/* The place of an address among the sectors of an entry. */
static inline u32 content_place(const struct content_entry *entry, u64 address)
{
    return (u32)(address & (entry->size - 1)) / SECTOR_BYTES;
}
/* A reply goes to another request, which gets the data of its sectors (mem/stray.h). */
void content_redirect(struct content *content, const struct packet *reply, u32 core, u32 client,
                      u32 tag);
/* NULL: requests of this client carry no data. */
struct content_entry *content_entry(const struct content *content, u32 core, u32 client, u32 tag);
/* A request begins: its entry, which holds nothing of the line yet. */
struct content_entry *content_begin(struct content *content, u32 core, u32 client, u32 tag,
                                    u64 line);

/* ---- a slice: called after its tags have acted (mem/l2.c) ---- */

/* The tags have accepted a packet: a read has hit, or waits for sectors in flight; a write is in
 * the line, or its request to DRAM has been made. */
void content_access(struct content *content, struct l2_slice *slice, const struct packet *packet);
/* A read that a cluster's cache answers gets the newest bytes of the memory side. */
void content_read_newest(struct content *content, const struct packet *packet);
/* The sectors that DRAM has delivered for an MSHR are in the line, if it is present. */
void content_fill(struct content *content, struct l2_slice *slice, u32 mshr, u32 sectors);
/* Stores the data of a request to DRAM for these sectors of a line and returns their number. For a
 * write: those of a packet that bypasses the cache; an atomic's follow at the end of the window. */
u32 content_request(struct content *content, struct l2_slice *slice, u64 line, u32 sectors,
                    const struct packet *write);
/* The same for the line that was evicted last: its dirty sectors. */
u32 content_victim(struct content *content, struct l2_slice *slice, u64 line, u32 sectors);
/* A request enters DRAM. */
void content_enter_dram(struct content *content, struct l2_slice *slice,
                        const struct l2_request *request);

/* ---- between windows ---- */

/* A change of memory: the bytes of a line that have a bit in the mask. */
struct content_change {
    u64 base;
    u32 bytes; /* of the line */
    const u8 *data;
    const u64 *mask;
};
/* At the start of a window: clears the list of stores. */
void content_window(struct content *content);
/* What slices stored in the last window, in order; `at` counts from 0. False: no more. */
bool content_stored(const struct content *content, u32 at, struct content_change *change);
/* Before and after an atomic acts on the image: puts the newest bytes of its sectors there; then
 * moves the result to where the newest bytes were, and restores the image. */
void content_lift(struct content *content, const struct packet *atomic);
void content_lower(struct content *content, const struct packet *atomic,
                   struct content_change *change);
/* For system calls: makes the image what the program would see, and undoes that. After the data of
 * the memory side, stores of cores that have not reached it must be added, in order. */
void content_expose(struct content *content);
void content_expose_store(struct content *content, const struct content_entry *entry);
void content_conceal(struct content *content);

/* ---- for fault campaigns ---- */

/* Called when the L2 is read, or written: a sector, and the bytes of it that are written (0: it is
 * read). NULL: no more. Only where there is an L2. */
typedef void content_touch_fn(void *user, u64 sector, u32 written);
void content_watch(struct content *content, content_touch_fn *touch, void *user);
/* Between windows: the newest bytes of a sector on the memory side, and replaces some of them where
 * they are. */
void content_newest(struct content *content, u64 sector, u8 bytes[SECTOR_BYTES]);
void content_replace(struct content *content, u64 sector, const u8 bytes[SECTOR_BYTES], u32 bits);

/* ---- launches ---- */

/* Writes all dirty data to the image. Nothing may be in flight. */
void content_flush(struct content *content);
/* Loads the bytes of all lines from the image: of the L2, or of a first-level cache. */
void content_reload(struct content *content);
void content_reload_cache(const struct content *content, const struct cache *cache);

/* ---- bytes by sectors ---- */

/* The mask bits of a sector's bytes. */
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
/* Copies the bytes of a sector that have a bit. */
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
