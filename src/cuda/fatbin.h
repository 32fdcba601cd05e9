/*
 * Fat binaries: device code for several architectures in one container.
 *
 * A container has the magic number 0xBA55ED50, u16 version, u16 header bytes and u64 bytes of entries,
 * which follow. An entry begins with u16 kind (1: PTX, 2: machine code); of its header, u32 bytes are
 * at 4, of its payload u64 bytes at 8, the compressed size (u32) at 16, the architecture (u32, 61) at
 * 28, flags (u64) at 40 and the size when decompressed (u64) at 56.
 * Containers may follow each other.
 *
 * `heddle nvcc -rdc=true` marks relocatable code by FATBIN_MARK in the second half of the first entry's
 * u32 at 0, where NVIDIA's compilers have a version.
 */
#ifndef CUDA_FATBIN_H
#define CUDA_FATBIN_H

#include "base/arena.h"
#include "base/error.h"

enum {
    FATBIN_PTX = 1,
    FATBIN_CODE = 2, /* for one architecture: an ELF file */
    FATBIN_KINDS,
    FATBIN_MARK = 0x4844
};

struct fatbin_entry {
    u32 kind;         /* of the container, so perhaps none of the above */
    u32 arch;         /* 61 */
    const char *text; /* PTX: decompressed and terminated; NULL for other kinds */
    size_t bytes;
};

struct fatbin {
    VEC(struct fatbin_entry) entries; /* in their order. vec_free them */
};

/* Bytes of the container at `data`, of which `most` can be read; 0: there is none. */
size_t fatbin_size(const void *data, size_t most);
/* Whether the container at `data`, if there is one, is marked as relocatable code. */
bool fatbin_marked(const void *data);
/* Appends the entries of the containers in `bytes` bytes; texts are allocated in the arena. */
bool fatbin_read(struct fatbin *fatbin, struct arena *arena, const void *data, size_t bytes,
                 struct error *error);
/* The PTX for a device of a compute capability (61): the newest that it runs, else the oldest there
 * is, since Heddle runs any. NULL: there is none. */
const struct fatbin_entry *fatbin_ptx(const struct fatbin *fatbin, u32 capability);

#endif
