/*
 * Arenas: a chain of growing chunks, freed together. Large requests get a chunk of their own. Small
 * chunks are cleared as they are used: most arenas are short-lived and never fill one. Large chunks
 * are pages that come cleared from the host. (calloc would clear them once more whenever free() has
 * made malloc keep blocks of their size.)
 */
#include "base/arena.h"

#include "base/guard.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    FIRST_CHUNK = 16 * 1024,
    CLEARED_FROM = 128 * 1024,
    LARGEST_CHUNK = 1024 * 1024,
    DEFAULT_ALIGN = 16
};

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size; /* bytes of `data` */
    bool cleared;      /* all unused bytes are zero */
    _Alignas(DEFAULT_ALIGN) u8 data[];
};

struct arena {
    struct arena_chunk *chunks; /* the current chunk first */
    size_t next_size;
};

/* The only mutable state of this file: set once, when the process is about to end. */
static volatile sig_atomic_t exhausted;

void host_memory_exhausted(void)
{
    exhausted = 1;
    abort();
}

bool host_memory_was_exhausted(void)
{
    return exhausted;
}

struct arena *arena_create(void)
{
    struct arena *arena = checked(calloc(1, sizeof *arena));
    arena->next_size = FIRST_CHUNK;
    return arena;
}

struct arena *arena_create_large(size_t bytes)
{
    struct arena *arena = arena_create();
    arena->next_size = MAX(bytes, (size_t)CLEARED_FROM);
    return arena;
}

void arena_destroy(struct arena *arena)
{
    if (!arena)
        return;
    for (struct arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        if (chunk->cleared && !GUARDED)
            munmap(chunk, sizeof *chunk + chunk->size);
        else
            free(chunk);
    }
    free(arena);
}

/* Cleared memory. The leak check of AddressSanitizer does not look for pointers in pages of mmap. */
static void *cleared_pages(size_t bytes)
{
    if (GUARDED)
        return checked(calloc(1, bytes));
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return checked(pages == MAP_FAILED ? NULL : pages);
}

static struct arena_chunk *add_chunk(struct arena *arena, size_t bytes)
{
    size_t size = MAX(bytes, arena->next_size);
    bool cleared = size >= CLEARED_FROM;
    struct arena_chunk *chunk =
        cleared ? cleared_pages(sizeof *chunk + size) : checked(malloc(sizeof *chunk + size));
    *chunk = (struct arena_chunk){.next = arena->chunks, .size = size, .cleared = cleared};
    arena->chunks = chunk;
    arena->next_size = MIN(arena->next_size * 2, (size_t)LARGEST_CHUNK);
    return chunk;
}

void *arena_alloc_aligned(struct arena *arena, size_t bytes, size_t align)
{
    assert(is_pow2(align));
    struct arena_chunk *chunk = arena->chunks;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (chunk) {
            size_t start =
                align_up((uintptr_t)chunk->data + chunk->used, align) - (uintptr_t)chunk->data;
            if (start <= chunk->size && bytes <= chunk->size - start) {
                chunk->used = start + bytes;
                if (!chunk->cleared)
                    memset(chunk->data + start, 0, bytes);
                return chunk->data + start;
            }
        }
        chunk = add_chunk(arena, bytes + align);
    }
    abort();
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    return arena_alloc_aligned(arena, bytes, DEFAULT_ALIGN);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc_aligned(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_dotted(struct arena *arena, const char *unit, const char *name)
{
    char *text = arena_alloc_aligned(arena, strlen(unit) + strlen(name) + 2, 1);
    stpcpy(stpcpy(stpcpy(text, unit), "."), name);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    assert(format); /* else gcc's sanitizer builds warn of a null format */
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = arena_alloc_aligned(arena, (size_t)length + 1, 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

void *vec_grow(void *data, u32 *capacity, u32 needed, size_t element_size)
{
    u64 wanted = MAX(MAX((u64)*capacity * 2, needed), 8);
    if (wanted > UINT32_MAX)
        abort();
    *capacity = (u32)wanted;
    return checked(realloc(data, wanted * element_size));
}
