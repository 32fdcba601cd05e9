/*
 * Results of the compiler, kept between processes: one file a result, named by the SHA-256 of all
 * that went into it.
 *
 * Files that a program includes are not known before it is compiled. So an entry remembers which
 * they were and their hashes, and counts only as long as these are what they were.
 *
 * Invariants
 *  C1  An entry appears whole or not at all: it is written under another name and renamed.
 *  C2  What is read is checked against its hash; what is wrong in any way is not there.
 *  C3  Nothing here fails: without a folder that can be written there is no cache.
 */
#ifndef OPENCL_CACHE_H
#define OPENCL_CACHE_H

#include "base/arena.h"
#include "base/hash.h"

struct cache_entry {
    const char *log;
    const u8 *binary;
    size_t bytes;
};

/* The entry of a key; NULL-binary and false: none. Both are of the arena. */
bool cache_find(struct arena *arena, const char key[SHA256_TEXT], struct cache_entry *entry);
/* `files`: what was included, as the program sees them. */
void cache_store(const char key[SHA256_TEXT], const struct cache_entry *entry,
                 const char *const *files, u32 file_count);

#endif
