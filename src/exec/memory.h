/*
 * Device memory: one 64-bit address space with live allocations.
 *
 * Allocations are never adjacent: each is followed by a gap, and addresses are not reused until the
 * space is exhausted, so that an access just past the end or to freed memory is always detected.
 * Only mapped allocations, whose addresses the caller chooses, may be adjacent. Host storage is
 * reserved lazily, and zero when new.
 */
#ifndef EXEC_MEMORY_H
#define EXEC_MEMORY_H

#include "base/error.h"

#define MEMORY_BASE 0x100000000ull /* first device address: small integers are never valid */
#define MEMORY_ALIGN 256u
#define MEMORY_MAX_ALLOCATION 0x7fffff00ull /* offsets within an allocation fit in 31 bits */

enum allocation_kind {
    ALLOC_BUFFER,
    ALLOC_VARIABLE,
    ALLOC_HEAP,
    ALLOC_CODE,
    ALLOC_LAUNCH, /* for the duration of one launch */
};

struct allocation {
    u64 address;
    u64 size;
    u8 *host;
    enum allocation_kind kind;
    bool freed;       /* kept for messages */
    bool read_only;   /* constants, code */
    const char *name; /* variable or buffer name for messages, or NULL */
    u64 number;       /* order of allocation, from 1 */
};

/* Data of the guest, not of the machine that runs it. */
static inline bool allocation_is_data(const struct allocation *a)
{
    return a->kind != ALLOC_CODE && a->kind != ALLOC_LAUNCH;
}

struct memory;

struct memory *memory_create(u64 capacity_bytes);
void memory_destroy(struct memory *memory);

/* 0 on failure: out of memory or too large. `name` is copied. */
u64 memory_allocate(struct memory *memory, u64 bytes, enum allocation_kind kind, const char *name,
                    struct error *error);
/* Reserves an address range of `bytes` with nothing in it or nearby; 0: none. It is never freed. */
u64 memory_reserve(struct memory *memory, u64 bytes, struct error *error);
/* Allocates at an address of the caller's choice, including 0 and everything below MEMORY_BASE. */
bool memory_map(struct memory *memory, u64 address, u64 bytes, enum allocation_kind kind,
                const char *name, struct error *error);
bool memory_free(struct memory *memory, u64 address, struct error *error);
void memory_set_read_only(struct memory *memory, u64 address);

/* The live allocation that contains [address, address + bytes), or NULL. Pointers stay valid until
 * the allocation is freed. */
const struct allocation *memory_find(const struct memory *memory, u64 address, u64 bytes);
/* Whether an address belongs to device memory: it is between addresses that were given out, or
 * within a page of a live allocation; and in no freed allocation. */
bool memory_has_address(const struct memory *memory, u64 address);
/* The allocation, live or freed, that contains an address, or the nearest one of data, or of any
 * kind if there is no data; NULL if there are none. */
const struct allocation *memory_nearest(const struct memory *memory, u64 address);

bool memory_read(const struct memory *memory, u64 address, void *to, u64 bytes,
                 struct error *error);
bool memory_write(struct memory *memory, u64 address, const void *from, u64 bytes,
                  struct error *error);
bool memory_fill(struct memory *memory, u64 address, const void *pattern, u64 pattern_bytes,
                 u64 bytes, struct error *error);

/* Changes whenever an allocation is made or freed: cached translations compare it. */
const u64 *memory_generation(const struct memory *memory);
u64 memory_used(const struct memory *memory);

#endif
