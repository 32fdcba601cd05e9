/*
 * Device memory: one address space of 64 or 32 bits with live allocations.
 *
 * Allocations never touch: every one is followed by a gap, and addresses are not reused until the
 * space runs out, so an access just past the end is always caught, and one to freed memory is in a
 * space of 64 bits. One of 32 bits runs out in programs that allocate and free a lot: then addresses
 * are given out again from the start. Only mapped allocations, whose addresses the caller chooses,
 * may be neighbours. Host storage is reserved lazily, zero when fresh.
 */
#ifndef EXEC_MEMORY_H
#define EXEC_MEMORY_H

#include "base/error.h"

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
    bool shared;      /* the storage is the host's, which also frees it */
    const char *name; /* variable or buffer name for messages, or NULL */
    u64 number;       /* order of allocation, from 1 */
};

/* Data of the guest, not of the machine that runs it. */
static inline bool allocation_is_data(const struct allocation *a)
{
    return a->kind != ALLOC_CODE && a->kind != ALLOC_LAUNCH;
}

struct memory;

/* Bytes that `capacity_bytes` of memory can hold at addresses of 32 or 64 bits. */
u64 memory_room(u64 capacity_bytes, u32 address_bits);
struct memory *memory_create(u64 capacity_bytes, u32 address_bits);
/* The first address that is given out: small integers are never valid. */
u64 memory_base(const struct memory *memory);
void memory_destroy(struct memory *memory);

/* 0 on failure: out of memory or too large. `name` is copied. */
u64 memory_allocate(struct memory *memory, u64 bytes, enum allocation_kind kind, const char *name,
                    struct error *error);
/* Reserves an address range of `bytes` with nothing in it or nearby; 0: none. It is never freed. */
u64 memory_reserve(struct memory *memory, u64 bytes, struct error *error);
/* At an address of the caller's choice, 0 and everything below memory_base() included. */
bool memory_map(struct memory *memory, u64 address, u64 bytes, enum allocation_kind kind,
                const char *name, struct error *error);
/* A buffer whose storage is the host's, MEMORY_PADDING readable bytes after it included. It takes no
 * capacity. At an address of the caller's choice, or 0: at one that is chosen. Returns the address, or
 * 0 on failure. */
u64 memory_share(struct memory *memory, u64 address, u8 *host, u64 bytes, const char *name,
                 struct error *error);
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
/* The live allocations with data of the guest, by address: at most `most`, returns how many there
 * are. */
u32 memory_list(const struct memory *memory, const struct allocation **list, u32 most);
/* A hash of the addresses and contents of all live allocations but code. */
u64 memory_hash(const struct memory *memory);

#endif
