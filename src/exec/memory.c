/*
 * Device memory: allocations in address order, host storage behind each.
 *
 * Invariants
 *  M1  `live` is sorted by address, so that a lookup is one binary search. Addresses that are given
 *      out increase until the space is used up, then start again from its base; they avoid live ones.
 *  M2  Around an allocation that was not mapped, at least GAP bytes belong to none. Mapped
 *      allocations overlap nothing.
 *  M3  Freed allocations remain in a ring of KEPT records for messages; their storage is released.
 *  M4  No address given out reaches the generic windows (ir/special.h): the space ends below them.
 *      Generic addresses cannot reach what is mapped there.
 *
 * Large storage is mapped, so that unused pages cost nothing and are zero; small storage comes from
 * calloc, because a kernel may allocate tens of thousands of small heap blocks.
 */
#include "exec/memory.h"

#include "base/arena.h"
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GAP 4096ull

struct address_space {
    u64 base, end;
};
static const struct address_space space_64 = {0x100000000, 0x700000000000};
static const struct address_space space_32 = {0x1000000, 0xfe000000};

enum {
    KEPT = 1024,
    LANE_BYTES = 64, /* most that a lane accesses */
    MAPPED_FROM = 128 * 1024
};

struct memory {
    VEC(struct allocation *) live; /* M1 */
    struct allocation freed[KEPT]; /* M3, a ring */
    u64 freed_count;               /* ever */
    const struct address_space *space;
    u64 capacity, used;
    u64 next;    /* where the next allocation is tried */
    u64 top;     /* no address from here on was given out */
    u64 numbers; /* allocations ever made */
    u64 generation;
};

static const struct address_space *space_of(u32 address_bits)
{
    return address_bits == 32 ? &space_32 : &space_64;
}

u64 memory_room(u64 capacity_bytes, u32 address_bits)
{
    const struct address_space *space = space_of(address_bits);
    return MIN(capacity_bytes, space->end - space->base);
}

u64 memory_base(const struct memory *memory)
{
    return memory->space->base;
}

struct memory *memory_create(u64 capacity_bytes, u32 address_bits)
{
    struct memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        host_memory_exhausted();
    memory->space = space_of(address_bits);
    memory->capacity = memory_room(capacity_bytes, address_bits);
    memory->next = memory->top = memory->space->base;
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

/* Host storage of an allocation: gathers of whole words must not leave it, nor a lane that begins
 * inside (bounds.h). */
static u64 storage_bytes(u64 size)
{
    return align_up(size + LANE_BYTES - 1, MEMORY_ALIGN);
}

static void destroy_own(const struct allocation *a)
{
    if (!a->shared)
        storage_destroy(a->host, storage_bytes(a->size));
}

void memory_destroy(struct memory *memory)
{
    if (!memory)
        return;
    for (u32 i = 0; i < memory->live.count; i++) {
        struct allocation *a = memory->live.data[i];
        destroy_own(a);
        free((char *)a->name);
        free(a);
    }
    for (u64 i = 0; i < MIN(memory->freed_count, (u64)KEPT); i++)
        free((char *)memory->freed[i].name);
    vec_free(&memory->live);
    free(memory);
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

static u64 last_byte(const struct allocation *a)
{
    return a->address + (a->size - 1);
}

static bool check_size(const struct memory *memory, u64 bytes, struct error *error)
{
    if (bytes == 0 || bytes > MEMORY_MAX_ALLOCATION)
        return error_set(error, bytes ? ERROR_MEMORY : ERROR_USAGE, "",
                         "cannot allocate %" PRIu64 " bytes: expected 1 to %llu", bytes,
                         MEMORY_MAX_ALLOCATION);
    if (bytes > memory->capacity - memory->used)
        return error_set(error, ERROR_MEMORY, "",
                         "device memory is exhausted: %" PRIu64 " bytes requested, %" PRIu64
                         " of %" PRIu64 " free (gpu.memory_bytes)",
                         bytes, memory->capacity - memory->used, memory->capacity);
    return true;
}

/* Inserts an allocation into `live`; its range must be free. */
static void insert_at(struct memory *memory, u64 address, u8 *host, u64 bytes,
                      enum allocation_kind kind, const char *name, bool shared)
{
    struct allocation *a = checked(calloc(1, sizeof *a));
    *a = (struct allocation){
        .address = address,
        .size = bytes,
        .host = host,
        .kind = kind,
        .shared = shared,
        .name = name ? strdup(name) : NULL,
        .number = ++memory->numbers,
    };
    u32 index = (u32)(last_before(memory, address) + 1);
    (void)vec_push(&memory->live);
    struct allocation **at = &memory->live.data[index];
    memmove(at + 1, at, (memory->live.count - 1 - index) * sizeof *at);
    *at = a;
    memory->used += shared ? 0 : bytes;
    memory->generation++;
}

/* Inserts an allocation with storage of its own. */
static bool insert(struct memory *memory, u64 address, u64 bytes, enum allocation_kind kind,
                   const char *name, struct error *error)
{
    u8 *host = storage_create(storage_bytes(bytes));
    if (!host)
        return error_set(error, ERROR_MEMORY, "", "the host cannot provide %" PRIu64 " bytes",
                         bytes);
    insert_at(memory, address, host, bytes, kind, name, false);
    return true;
}

/* Moves `next` to the first place from there on where `span` bytes and what lies before them are
 * free. */
static bool find_room(struct memory *memory, u64 span)
{
    const u64 end = memory->space->end;
    while (span <= end - memory->next) {
        i64 index = last_before(memory, memory->next + span - 1);
        const struct allocation *a = index >= 0 ? memory->live.data[index] : NULL;
        if (!a || last_byte(a) < memory->next - GAP)
            return true;
        if (last_byte(a) >= end - 2 * GAP)
            return false;
        memory->next = align_up(last_byte(a) + 1 + GAP, MEMORY_ALIGN);
    }
    return false;
}

/* find_room() from the base on. */
static bool find_room_again(struct memory *memory, u64 span)
{
    memory->next = memory->space->base;
    return find_room(memory, span);
}

static u64 reserve(struct memory *memory, u64 bytes, struct error *error)
{
    u64 span = align_up(bytes, MEMORY_ALIGN) + GAP;
    if (!find_room(memory, span) && !find_room_again(memory, span)) {
        error_set(error, ERROR_MEMORY, "", "the address space has no room for %" PRIu64 " bytes",
                  bytes);
        return 0;
    }
    u64 address = memory->next;
    memory->next += span;
    memory->top = MAX(memory->top, memory->next);
    return address;
}

u64 memory_reserve(struct memory *memory, u64 bytes, struct error *error)
{
    return check_size(memory, bytes, error) ? reserve(memory, bytes, error) : 0;
}

u64 memory_allocate(struct memory *memory, u64 bytes, enum allocation_kind kind, const char *name,
                    struct error *error)
{
    u64 address = memory_reserve(memory, bytes, error);
    return address && insert(memory, address, bytes, kind, name, error) ? address : 0;
}

static bool check_free(const struct memory *memory, u64 address, u64 bytes, struct error *error)
{
    if (bytes - 1 > UINT64_MAX - address)
        return error_set(error, ERROR_USAGE, "",
                         "%" PRIu64 " bytes at 0x%" PRIx64 " reach beyond the last address", bytes,
                         address);
    i64 index = last_before(memory, address + (bytes - 1));
    const struct allocation *a = index >= 0 ? memory->live.data[index] : NULL;
    if (a && last_byte(a) >= address)
        return error_set(error, ERROR_USAGE, "",
                         "%" PRIu64 " bytes at 0x%" PRIx64 " overlap [0x%" PRIx64 ", +%" PRIu64
                         "), which is in use",
                         bytes, address, a->address, a->size);
    return true;
}

bool memory_map(struct memory *memory, u64 address, u64 bytes, enum allocation_kind kind,
                const char *name, struct error *error)
{
    return check_size(memory, bytes, error) && check_free(memory, address, bytes, error) &&
           insert(memory, address, bytes, kind, name, error);
}

u64 memory_share(struct memory *memory, u64 address, u8 *host, u64 bytes, const char *name,
                 struct error *error)
{
    if (!bytes || bytes > MEMORY_MAX_ALLOCATION) {
        error_set(error, ERROR_USAGE, "", "cannot share %" PRIu64 " bytes: expected 1 to %llu",
                  bytes, MEMORY_MAX_ALLOCATION);
        return 0;
    }
    if (!address)
        address = reserve(memory, bytes, error);
    else if (!check_free(memory, address, bytes, error))
        return 0;
    if (address)
        insert_at(memory, address, host, bytes, ALLOC_BUFFER, name, true);
    return address;
}

bool memory_free(struct memory *memory, u64 address, struct error *error)
{
    i64 index = last_before(memory, address);
    struct allocation *a = index >= 0 ? memory->live.data[index] : NULL;
    if (!a || a->address != address)
        return error_set(error, ERROR_USAGE, "", "0x%" PRIx64 " is not the start of an allocation",
                         address);
    destroy_own(a);
    memory->used -= a->shared ? 0 : a->size;
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

bool memory_has_address(const struct memory *memory, u64 address)
{
    const i64 index = last_before(memory, address);
    const struct allocation *before = index >= 0 ? memory->live.data[index] : NULL;
    const struct allocation *behind =
        index + 1 < (i64)memory->live.count ? memory->live.data[index + 1] : NULL;
    for (u64 i = 0; i < MIN(memory->freed_count, (u64)KEPT); i++)
        if (address - memory->freed[i].address < memory->freed[i].size)
            return before && address - before->address < before->size;
    return (address >= memory->space->base && address < memory->top) ||
           (before && address <= last_byte(before) + GAP) ||
           (behind && behind->address - address <= GAP);
}

/* Bytes between an address and an allocation; 0 inside. */
static u64 distance(const struct allocation *a, u64 address)
{
    if (address < a->address)
        return a->address - address;
    u64 offset = address - a->address;
    return offset < a->size ? 0 : offset - a->size + 1;
}

/* Whether `a` explains an address better than `best`, which may be NULL. */
static bool is_nearer(const struct allocation *a, const struct allocation *best, u64 address)
{
    if (!best || distance(best, address) == 0)
        return !best;
    if (distance(a, address) == 0 || allocation_is_data(a) != allocation_is_data(best))
        return distance(a, address) == 0 || allocation_is_data(a);
    return distance(a, address) < distance(best, address);
}

const struct allocation *memory_nearest(const struct memory *memory, u64 address)
{
    const struct allocation *best = NULL;
    const i64 index = last_before(memory, address), count = (i64)memory->live.count;
    i64 below = index, above = index + 1;
    while (below > 0 && !allocation_is_data(memory->live.data[below]))
        below--;
    while (above < count - 1 && !allocation_is_data(memory->live.data[above]))
        above++;
    const i64 places[] = {index, index + 1, below, above};
    for (u32 i = 0; i < ARRAY_LEN(places); i++)
        if (places[i] >= 0 && places[i] < count &&
            is_nearer(memory->live.data[places[i]], best, address))
            best = memory->live.data[places[i]];
    for (u64 i = 0; i < MIN(memory->freed_count, (u64)KEPT); i++)
        if (is_nearer(&memory->freed[i], best, address))
            best = &memory->freed[i];
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

/* Repeats a pattern. Programs fill whole buffers with patterns of a few bytes, so what has been
 * written is copied, in pieces that stay in the host's cache. */
static void repeat(u8 *to, const u8 *pattern, u64 pattern_bytes, u64 bytes)
{
    static const u64 PIECE = 32768;
    if (!memcmp(pattern, pattern + 1, pattern_bytes - 1)) { /* all its bytes are equal */
        memset(to, *pattern, bytes);
        return;
    }
    memcpy(to, pattern, pattern_bytes);
    u64 done = pattern_bytes, ready = pattern_bytes; /* whole patterns at `to` */
    while (done < bytes) {
        u64 next = MIN(ready, bytes - done);
        memcpy(to + done, to, next);
        done += next;
        if (ready < PIECE)
            ready = done;
    }
}

bool memory_fill(struct memory *memory, u64 address, const void *pattern, u64 pattern_bytes,
                 u64 bytes, struct error *error)
{
    if (!pattern_bytes || bytes % pattern_bytes)
        return error_set(error, ERROR_USAGE, "",
                         "a fill of %" PRIu64 " bytes is not a multiple of its pattern of %" PRIu64,
                         bytes, pattern_bytes);
    if (!bytes)
        return true;
    const struct allocation *a = find_or_explain(memory, address, bytes, error);
    if (!a)
        return false;
    repeat(a->host + (address - a->address), pattern, pattern_bytes, bytes);
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

u32 memory_list(const struct memory *memory, const struct allocation **list, u32 most)
{
    u32 count = 0;
    for (u32 i = 0; i < memory->live.count; i++)
        if (allocation_is_data(memory->live.data[i]) && count++ < most)
            list[count - 1] = memory->live.data[i];
    return count;
}

/* ---- hashes ---- */

#define HASH_FACTOR 0x9E3779B97F4A7C15ull /* odd: multiplying by it loses nothing */

/* Four sums side by side: the host multiplies them at once. */
static u64 hash_bytes(u64 hash, const u8 *data, u64 bytes)
{
    u64 sums[4] = {hash, hash + 1, hash + 2, hash + 3}, words[4];
    for (; bytes >= sizeof words; bytes -= sizeof words, data += sizeof words) {
        memcpy(words, data, sizeof words);
        for (u32 i = 0; i < 4; i++) {
            sums[i] = (sums[i] ^ words[i]) * HASH_FACTOR;
            sums[i] ^= sums[i] >> 32;
        }
    }
    memset(words, 0, sizeof words);
    memcpy(words, data, bytes);
    for (u32 i = 0; i < 4; i++) {
        hash = (hash ^ sums[i] ^ words[i]) * HASH_FACTOR;
        hash ^= hash >> 32;
    }
    return hash;
}

u64 memory_hash(const struct memory *memory)
{
    u64 hash = 0;
    for (u32 i = 0; i < memory->live.count; i++) {
        const struct allocation *a = memory->live.data[i];
        if (a->kind == ALLOC_CODE)
            continue;
        hash = hash_bytes(hash, (const u8 *)&a->address, sizeof a->address);
        hash = hash_bytes(hash, a->host, a->size);
    }
    return hash;
}
