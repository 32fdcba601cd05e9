/* Internals of the memory side's content, shared by content.c (during a launch) and content_image.c
 * (launch boundaries, system calls, faults). */
#ifndef MEM_CONTENT_PARTS_H
#define MEM_CONTENT_PARTS_H

#include "mem/content.h"
#include "mem/system_parts.h"

/* The data of a request on its way to DRAM. */
struct content_move {
    u64 line; /* L2 line; a device address */
    u32 sectors;
    u8 *bytes;  /* of a write: data of the line, */
    u64 *mask;  /* valid where this has a bit */
    bool store; /* a store, of this core and tag, that bypasses the L2 */
    u32 core, tag;
};

struct slice_content {
    struct content *content;
    struct l2_slice *slice;
    struct content_move *moves;
    u32 *free, free_count; /* a stack */
    u8 *brought;           /* by MSHR: the line that DRAM has delivered */
    u8 *newer;             /* by MSHR: bytes that left the slice after its request (N8), */
    u64 *newer_mask;       /* those with a bit here */
};

struct stored {
    u32 core, tag;
    u64 line; /* that was written */
};

/* Bytes of the image that were replaced for a system call. */
struct exposed {
    u64 sector;
    u8 bytes[SECTOR_BYTES]; /* their original values */
};

struct content {
    struct arena *arena;
    struct memory_system *memory_system;
    struct memory *memory;
    u32 line_bytes, words; /* of the L2; of a mask */
    u32 cores;
    struct content_entry *entries[CLIENTS]; /* by core, then tag */
    u32 entry_counts[CLIENTS];              /* of a core, */
    u32 *entry_tops[CLIENTS];               /* and of those how many have been used: tags below */
    u32 entry_words[CLIENTS];               /* of an entry's mask */
    u8 *entry_data[CLIENTS];
    u64 *entry_masks[CLIENTS];
    struct slice_content *slices;
    struct stored *stored; /* in this window, in order */
    u32 stored_count, stored_limit;
    u8 *lifted, *saved; /* an atomic's line: as the atomic sees it, and as the image has it */
    u64 *changed;
    VEC(struct exposed) exposed;
    content_touch_fn *touch; /* NULL: no mechanism watches */
    void *touch_user;
};

/* Nothing is on its way to DRAM any more (mem/stray.h). */
void content_forget(struct content *content);
/* content.c: a sector of the image; bytes outside allocations read as zeros. */
void image_read(const struct content *content, u64 sector, u8 *to);
void image_write(const struct content *content, u64 sector, const u8 *from, u32 bits);
/* cache_deliver_fn of a slice. */
void content_deliver(void *user, u32 waiter, u32 mshr, u32 sectors);
/* The valid bytes of a line's sector (N5). */
u32 content_known(const struct cache_line *line, u32 sector);
/* The bytes of a sector in DRAM or on the way to it. Returns the newest write on its way, or
 * NULL. */
struct content_move *content_below_l2(struct content *content, u64 line, u32 sector, u8 *bytes);
/* Visits the writes on their way from a slice to DRAM, oldest first. */
typedef void content_move_fn(void *user, struct content_move *move);
void content_each_write(struct content *content, u32 unit, content_move_fn *visit, void *user);
/* The device address of a slice's line. */
u64 content_address(const struct content *content, const struct l2_slice *slice, u64 line);

#define EACH_SECTOR(i, set) \
    for (u32 left_ = (set), i; left_ && (i = (u32)__builtin_ctz(left_), true); left_ &= left_ - 1)

#endif
