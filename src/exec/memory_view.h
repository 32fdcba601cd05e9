/*
 * Internals of a core's view of global memory (dyninst.h, F5), for the routines that locate and
 * move the data of lanes: they find host memory, and a view substitutes its own.
 */
#ifndef EXEC_MEMORY_VIEW_H
#define EXEC_MEMORY_VIEW_H

#include "exec/dyninst.h"

/*
 * Lanes of an access that were found in global memory. For a store: they will write into the log.
 * For a load: lanes that would read bytes in the log read a copy that includes them.
 */
void memory_view_redirect(struct memory_view *view, const struct lanes_memory *moves,
                          struct access *access, u32 lanes, u32 bytes, bool write);
/* Overlays a copy of host memory with the bytes in the log. */
void memory_view_overlay(const struct memory_view *view, const u8 *from, u32 bytes, u8 *copy);

/* The same for at most 64 bytes; returns a bit for each byte that came from the log. */
u64 memory_view_collect(const struct memory_view *view, const u8 *from, u32 bytes, u8 *copy);

/* Direct access: reserves room for stores; adds a store to host memory [to, to + bytes), whose data
 * go to the returned place; whether the log may hold some of these bytes. */
void memory_view_reserve(struct memory_view *view, u32 entries, size_t bytes);
u8 *memory_view_log(struct memory_view *view, u8 *to, u32 bytes);
bool memory_view_may_hold(const struct memory_view *view, const u8 *from, u32 bytes);

/* A place in the log: what was stored before it, and what is stored after it. */
struct memory_view_mark {
    u32 entries;
    size_t bytes;
};
struct memory_view_mark memory_view_mark(const struct memory_view *view);
/* Undoes the stores of an access that has faulted. */
void memory_view_rewind(struct memory_view *view, struct memory_view_mark mark);

/* Adjacent bytes in the log, in the order of the stores. */
struct memory_view_run {
    u8 *to; /* host memory that they are for */
    const u8 *data;
    u32 bytes;
};
/* The next run after a mark, which moves behind it. False: there is none. */
bool memory_view_next(const struct memory_view *view, struct memory_view_mark *at,
                      struct memory_view_run *run);
/* What loads through the view see under its own stores: the bytes in the log of `base`, before those of
 * memory. `base` has none itself, and must stay. NULL: only memory. */
void memory_view_set_base(struct memory_view *view, const struct memory_view *base);

/* The allocation that an instruction of this core used last. */
struct memory_hint {
    const struct allocation *allocation;
    u64 generation;
};
struct memory_hint *memory_view_hint(struct memory_view *view, u32 inst);

#endif
