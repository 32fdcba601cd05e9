/*
 * Fat binaries made by tests, after the description in cuda/fatbin.h and independent of its code.
 */
#ifndef TESTS_CUDA_FAT_H
#define TESTS_CUDA_FAT_H

#include <stddef.h>
#include <stdint.h>

enum fat_packing {
    FAT_PLAIN,
    FAT_LZ4,
    FAT_ZSTD
};

struct fat {
    uint8_t *data;
    size_t bytes;
};

/* An empty container. */
void fat_begin(struct fat *fat);
/* Adds PTX for an architecture (61), compressed or not. */
void fat_ptx(struct fat *fat, const char *text, uint32_t arch, enum fat_packing packing);
/* Adds machine code, which Heddle does not read. */
void fat_code(struct fat *fat, uint32_t arch);
/* The text of a file, terminated; ends the test program if it cannot be read. */
char *fat_file(const char *path);

#endif
