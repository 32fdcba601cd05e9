/*
 * Device memory: allocations in address order, host storage behind each.
 *
 * Invariants
 *  M1  `live` is sorted by address. Addresses only grow while the space lasts, so an allocation is
 *      appended at the end and a lookup is one binary search.
 *  M2  Between two allocations lie at least GAP bytes that belong to neither.
 *  M3  Freed allocations stay in a ring of KEPT records for messages; their storage is gone.
 *  M4  No address reaches the generic windows (ir/special.h): the space ends at SPACE_END.
 *
 * Large storage is mapped, so that untouched pages cost nothing and are zero; small storage comes
 * from calloc, because a kernel may make tens of thousands of small heap blocks.
 */
#include "exec/memory.h"

#include "base/arena.h"
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GAP 4096ull
#define SPACE_END 0x700000000000ull
enum {
    KEPT = 1024,
    MAPPED_FROM = 128 * 1024
};

struct memory {
    VEC(struct allocation *) live; /* M1 */
    struct allocation freed[KEPT]; /* M3, a ring */
    u64 freed_count;               /* ever */
    u64 capacity, used;
    u64 next;    /* first address not yet given out */
    u64 numbers; /* allocations ever made */
    u64 generation;
};

struct memory *memory_create(u64 capacity_bytes)
{
    struct memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        abort();
    memory->capacity = capacity_bytes;
    memory->next = MEMORY_BASE;
    memory->generation = 1;
    return memory;
}

static u8 *storage_create(u64 bytes)
{
    if (bytes < MAPPED_FROM)
        return calloc(1, bytes);
    void *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return host == MAP_FAILED ? NULL : host;
}

static void storage_destroy(u8 *host, u64 bytes)
{
    if (bytes < MAPPED_FROM)
        free(host);
    else
        munmap(host, bytes);
}

/* What the host holds for an allocation: gathers of whole words may not leave it. */
static u64 storage_bytes(u64 size)
{
    return align_up(size, MEMORY_ALIGN);
}

void memory_destroy(struct memory *memory)
{
    if (!memory)
        return;
    for (u32 i = 0; i < memory->live.count; i++) {
        struct allocation *a = memory->live.data[i];
        storage_destroy(a->host, storage_bytes(a->size));
        free((char *)a->name);
        free(a);
    }
    for (u64 i = 0; i < MIN(memory->freed_count, (u64)KEPT); i++)
        free((char *)memory->freed[i].name);
    vec_free(&memory->live);
    free(memory);
}

u64 memory_allocate(struct memory *memory, u64 bytes, enum allocation_kind kind, const char *name,
                    struct error *error)
{
    if (bytes == 0 || bytes > MEMORY_MAX_ALLOCATION) {
        error_set(error, bytes ? ERROR_MEMORY : ERROR_USAGE, "",
                  "cannot allocate %" PRIu64 " bytes: expected 1 to %llu", bytes,
                  MEMORY_MAX_ALLOCATION);
        return 0;
    }
    if (bytes > memory->capacity - memory->used) {
        error_set(error, ERROR_MEMORY, "",
                  "device memory is exhausted: %" PRIu64 " bytes wanted, %" PRIu64 " of %" PRIu64
                  " free (gpu.memory_bytes)",
                  bytes, memory->capacity - memory->used, memory->capacity);
        return 0;
    }
    u64 span = align_up(bytes, MEMORY_ALIGN) + GAP;
    u8 *host = span <= SPACE_END - memory->next ? storage_create(storage_bytes(bytes)) : NULL;
    struct allocation *a = host ? calloc(1, sizeof *a) : NULL;
    if (!a) {
        if (host)
            storage_destroy(host, storage_bytes(bytes));
        error_set(error, ERROR_MEMORY, "", "the host has no %" PRIu64 " bytes left", bytes);
        return 0;
    }
    *a = (struct allocation){
        .address = memory->next,
        .size = bytes,
        .host = host,
        .kind = kind,
        .name = name ? strdup(name) : NULL,
        .number = ++memory->numbers,
    };
    *vec_push(&memory->live) = a;
    memory->next += span;
    memory->used += bytes;
    memory->generation++;
    return a->address;
}

/* The index of the last live allocation that starts at or before the address, or -1. */
static i64 last_before(const struct memory *memory, u64 address)
{
    i64 low = 0, high = (i64)memory->live.count - 1;
    while (low <= high) {
        i64 middle = (low + high) / 2;
        if (memory->live.data[middle]->address <= address)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return high;
}

bool memory_free(struct memory *memory, u64 address, struct error *error)
{
    i64 index = last_before(memory, address);
    struct allocation *a = index >= 0 ? memory->live.data[index] : NULL;
    if (!a || a->address != address)
        return error_set(error, ERROR_USAGE, "", "0x%" PRIx64 " is not the start of an allocation",
                         address);
    storage_destroy(a->host, storage_bytes(a->size));
    memory->used -= a->size;
    struct allocation *kept = &memory->freed[memory->freed_count++ % KEPT];
    if (memory->freed_count > KEPT)
        free((char *)kept->name);
    *kept = *a;
    kept->freed = true;
    kept->host = NULL;
    free(a);
    memory->live.count--;
    memmove(&memory->live.data[index], &memory->live.data[index + 1],
            (memory->live.count - (u32)index) * sizeof *memory->live.data);
    memory->generation++;
    return true;
}

void memory_set_read_only(struct memory *memory, u64 address)
{
    i64 index = last_before(memory, address);
    assert(index >= 0);
    memory->live.data[index]->read_only = true;
}

const struct allocation *memory_find(const struct memory *memory, u64 address, u64 bytes)
{
    i64 index = last_before(memory, address);
    if (index < 0)
        return NULL;
    const struct allocation *a = memory->live.data[index];
    u64 offset = address - a->address;
    return offset < a->size && bytes <= a->size - offset ? a : NULL;
}

/* Bytes between an address and an allocation, 0 inside. */
static u64 distance(const struct allocation *a, u64 address)
{
    if (address < a->address)
        return a->address - address;
    u64 offset = address - a->address;
    return offset < a->size ? 0 : offset - a->size + 1;
}

const struct allocation *memory_nearest(const struct memory *memory, u64 address)
{
    const struct allocation *best = NULL;
    i64 index = last_before(memory, address);
    for (i64 i = MAX(index, 0); i <= index + 1 && i < (i64)memory->live.count; i++) {
        const struct allocation *a = memory->live.data[i];
        if (!best || distance(a, address) < distance(best, address))
            best = a;
    }
    for (u64 i = 0; i < MIN(memory->freed_count, (u64)KEPT); i++) {
        const struct allocation *a = &memory->freed[i];
        if (!best || distance(a, address) < distance(best, address))
            best = a;
    }
    return best;
}

static const struct allocation *find_or_explain(const struct memory *memory, u64 address, u64 bytes,
                                                struct error *error)
{
    const struct allocation *a = memory_find(memory, address, bytes);
    if (a)
        return a;
    const struct allocation *near = memory_nearest(memory, address);
    if (near)
        error_set(error, ERROR_USAGE, "",
                  "%" PRIu64 " bytes at 0x%" PRIx64
                  " are not within one allocation; the nearest is "
                  "%s[0x%" PRIx64 ", +%" PRIu64 ")",
                  bytes, address, near->freed ? "freed " : "", near->address, near->size);
    else
        error_set(error, ERROR_USAGE, "",
                  "%" PRIu64 " bytes at 0x%" PRIx64 " are not within an allocation: there is none",
                  bytes, address);
    return NULL;
}

bool memory_read(const struct memory *memory, u64 address, void *to, u64 bytes, struct error *error)
{
    if (!bytes)
        return true;
    const struct allocation *a = find_or_explain(memory, address, bytes, error);
    if (a)
        memcpy(to, a->host + (address - a->address), bytes);
    return a;
}

bool memory_write(struct memory *memory, u64 address, const void *from, u64 bytes,
                  struct error *error)
{
    if (!bytes)
        return true;
    const struct allocation *a = find_or_explain(memory, address, bytes, error);
    if (a)
        memmove(a->host + (address - a->address), from, bytes);
    return a;
}

bool memory_fill(struct memory *memory, u64 address, const void *pattern, u64 pattern_bytes,
                 u64 bytes, struct error *error)
{
    if (!pattern_bytes || bytes % pattern_bytes)
        return error_set(error, ERROR_USAGE, "",
                         "a fill of %" PRIu64 " bytes is no multiple of its pattern of %" PRIu64,
                         bytes, pattern_bytes);
    if (!bytes)
        return true;
    const struct allocation *a = find_or_explain(memory, address, bytes, error);
    if (!a)
        return false;
    u8 *to = a->host + (address - a->address);
    if (pattern_bytes == 1) {
        memset(to, *(const u8 *)pattern, bytes);
        return true;
    }
    for (u64 done = 0; done < bytes; done += pattern_bytes)
        memcpy(to + done, pattern, pattern_bytes);
    return true;
}

const u64 *memory_generation(const struct memory *memory)
{
    return &memory->generation;
}

u64 memory_used(const struct memory *memory)
{
    return memory->used;
}
