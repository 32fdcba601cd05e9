#include "fat.h"

#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    HEAD = 16,
    ENTRY = 80 /* longer than the fields, as some compilers have it */
};

static void put(uint8_t *at, uint64_t value, size_t bytes)
{
    memcpy(at, &value, bytes);
}

void fat_begin(struct fat *fat)
{
    fat->data = calloc(1, HEAD);
    fat->bytes = HEAD;
    put(fat->data, 0xBA55ED50, 4);
    put(fat->data + 4, 1, 2);
    put(fat->data + 6, HEAD, 2);
}

static void add(struct fat *fat, unsigned kind, uint32_t arch, uint64_t flags, const void *payload,
                size_t packed, size_t size)
{
    size_t padded = (packed + 7) / 8 * 8;
    fat->data = realloc(fat->data, fat->bytes + ENTRY + padded);
    uint8_t *at = fat->data + fat->bytes;
    memset(at, 0, ENTRY + padded);
    put(at, kind, 2);
    put(at + 2, 0x101, 2);
    put(at + 4, ENTRY, 4);
    put(at + 8, padded, 8);
    put(at + 28, arch, 4);
    put(at + 40, flags, 8);
    if (flags) {
        put(at + 16, packed, 4);
        put(at + 56, size, 8);
    }
    memcpy(at + ENTRY, payload, packed);
    fat->bytes += ENTRY + padded;
    put(fat->data + 8, fat->bytes - HEAD, 8);
}

void fat_ptx(struct fat *fat, const char *text, uint32_t arch, enum fat_packing packing)
{
    size_t size = strlen(text) + 1, room = ZSTD_compressBound(size) + LZ4_compressBound((int)size);
    char *packed = malloc(room);
    if (packing == FAT_PLAIN)
        add(fat, 1, arch, 0, text, size, size);
    else if (packing == FAT_LZ4)
        add(fat, 1, arch, 0x2000, packed,
            (size_t)LZ4_compress_default(text, packed, (int)size, (int)room), size);
    else
        add(fat, 1, arch, 0x8000, packed, ZSTD_compress(packed, room, text, size, 3), size);
    free(packed);
}

void fat_code(struct fat *fat, uint32_t arch)
{
    static const char elf[64] = "\177ELF";
    add(fat, 2, arch, 0, elf, sizeof elf, sizeof elf);
}

char *fat_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !fread(text, 1, (1 << 20) - 1, file)) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}
