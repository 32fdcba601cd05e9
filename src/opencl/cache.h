/*
 * Compiler results, kept between processes: one file per result, named by the SHA-256 of all its
 * inputs.
 *
 * The files that a program includes are not known before it is compiled. So an entry lists them
 * with their hashes, and is valid only while these match.
 *
 * Invariants
 *  C1  An entry appears as a whole or not at all: it is written under another name and renamed.
 *  C2  An entry is checked against its hash when read; a damaged one counts as absent.
 *  C3  Nothing here fails: without a writable folder there is no cache.
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

/* Finds the entry of a key, allocated in the arena; false: none. */
bool cache_find(struct arena *arena, const char key[SHA256_TEXT], struct cache_entry *entry);
/* `files`: the included files, by the paths that the program uses. */
void cache_store(const char key[SHA256_TEXT], const struct cache_entry *entry,
                 const char *const *files, u32 file_count);

#endif
