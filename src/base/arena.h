/*
 * Arenas: memory that is freed all at once, named by lifetime (program, launch, campaign).
 * Allocation never returns NULL for lack of host memory: it aborts, as a simulator cannot recover.
 * Sizes from untrusted input are checked by the callers.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/types.h"
#include <stdlib.h>

/* Aborts the process: the host has no memory left. */
void host_memory_exhausted(void) __attribute__((noreturn));
/* Whether host_memory_exhausted has ended the process, for handlers of SIGABRT. */
bool host_memory_was_exhausted(void);
/* Checks the result of malloc etc.: aborts instead of returning NULL. */
static inline void *checked(void *memory)
{
    if (UNLIKELY(!memory))
        host_memory_exhausted();
    return memory;
}

struct arena;

struct arena *arena_create(void);
/* For objects of many kilobytes: memory comes cleared from the host, and pages that are never used
 * cost nothing. `bytes` is the room of the first chunk, or 0. */
struct arena *arena_create_large(size_t bytes);
void arena_destroy(struct arena *arena); /* NULL is fine */

void *arena_alloc(struct arena *arena, size_t bytes); /* zeroed, 16-byte aligned */
void *arena_alloc_aligned(struct arena *arena, size_t bytes, size_t align);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_dotted(struct arena *arena, const char *unit, const char *name); /* "unit.name" */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_alloc((arena), sizeof(type) * (count)))

/*
 * A growing array in malloc memory: `struct { type *data; u32 count, capacity; }`.
 * vec_push returns a pointer to the new, zeroed element.
 */
void *vec_grow(void *data, u32 *capacity, u32 needed, size_t element_size);
#define VEC(type)            \
    struct {                 \
        type *data;          \
        u32 count, capacity; \
    }
#define vec_push(vec)                                                                     \
    ((vec)->count == (vec)->capacity                                                      \
         ? (void)((vec)->data = vec_grow((vec)->data, &(vec)->capacity, (vec)->count + 1, \
                                         sizeof *(vec)->data))                            \
         : (void)0,                                                                       \
     memset(&(vec)->data[(vec)->count], 0, sizeof *(vec)->data), &(vec)->data[(vec)->count++])
#define vec_free(vec) (free((vec)->data), (vec)->data = NULL, (vec)->count = (vec)->capacity = 0)

#endif
