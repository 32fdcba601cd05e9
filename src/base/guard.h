/*
 * Memory that may not be touched for a while. In a build with AddressSanitizer an access to it
 * stops the program with a report (use-after-poison); in other builds these do nothing.
 */
#ifndef BASE_GUARD_H
#define BASE_GUARD_H

#include "base/types.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARDED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define GUARDED 1
#endif

#ifdef GUARDED
#include <sanitizer/asan_interface.h>
#else
#define GUARDED 0
#endif

/* A build with ThreadSanitizer, which looks for races. */
#define RACES_FOUND 0
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef RACES_FOUND
#define RACES_FOUND 1
#endif
#endif

/* From here on it may not be touched. */
static inline void guard_close(const void *memory, size_t bytes)
{
#if GUARDED
    __asan_poison_memory_region(memory, bytes);
#endif
}
static inline void guard_open(const void *memory, size_t bytes)
{
#if GUARDED
    __asan_unpoison_memory_region(memory, bytes);
#endif
}

#endif
