/* Fat binaries: see fatbin.h. Input is untrusted: nothing is read beyond the given bytes. */
#include "cuda/fatbin.h"

#include <inttypes.h>
#include <lz4.h>
#include <zstd.h>

enum {
    MAGIC = 0xBA55ED50,
    HEAD_BYTES = 16,
    ENTRY_BYTES = 64, /* that all fields lie in */
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_LZ4_OLD = 0x1000,  /* another compression, of CUDA before 11: not supported */
    TEXT_LIMIT = 256 << 20, /* a larger PTX file is taken for damage, */
    RATIO_LIMIT = 1000      /* and so is one that was compressed to less than this part */
};

static u64 number(const u8 *at, u32 bytes)
{
    u64 value = 0;
    memcpy(&value, at, bytes);
    return value;
}

size_t fatbin_size(const void *data, size_t most)
{
    const u8 *at = data;
    if (most < HEAD_BYTES || number(at, 4) != MAGIC)
        return 0;
    const u64 head = number(at + 6, 2), entries = number(at + 8, 8);
    return head >= HEAD_BYTES && head <= most && entries <= most - head ? head + entries : 0;
}

bool fatbin_marked(const void *data)
{
    const size_t bytes = data ? fatbin_size(data, SIZE_MAX / 2) : 0;
    const u64 head = bytes ? number((const u8 *)data + 6, 2) : 0;
    return bytes >= head + ENTRY_BYTES && number((const u8 *)data + head + 2, 2) == FATBIN_MARK;
}

static bool decompress(char *to, size_t size, const u8 *from, size_t bytes, u64 flags)
{
    if (flags & FLAG_ZSTD)
        return ZSTD_decompress(to, size, from, bytes) == size;
    return LZ4_decompress_safe((const char *)from, to, (int)bytes, (int)size) == (int)size;
}

/* Sets an entry's text from its payload. */
static bool read_text(struct fatbin_entry *entry, struct arena *arena, const u8 *header,
                      const u8 *payload, u64 bytes, struct error *error)
{
    const u64 flags = number(header + 40, 8), packed = number(header + 16, 4);
    const bool compressed = flags & (FLAG_LZ4 | FLAG_ZSTD);
    const u64 size = compressed ? number(header + 56, 8) : bytes;
    if (flags & FLAG_LZ4_OLD)
        return error_set(error, ERROR_UNSUPPORTED, "fat binary",
                         "PTX compressed by CUDA before 11: expected LZ4, zstd or plain text");
    const u64 kept = compressed && packed ? packed : bytes;
    if (size > TEXT_LIMIT || kept > bytes || kept > TEXT_LIMIT || size / RATIO_LIMIT > kept)
        return error_set(error, ERROR_INPUT, "fat binary",
                         "a PTX text of %" PRIu64 " bytes in %" PRIu64 ": the binary is damaged",
                         size, bytes);
    char *text = arena_array(arena, char, size + 1);
    if (!compressed)
        memcpy(text, payload, bytes);
    else if (!decompress(text, size, payload, kept, flags))
        return error_set(error, ERROR_INPUT, "fat binary",
                         "a PTX text cannot be decompressed: the binary is damaged");
    text[size] = '\0';
    entry->text = text;
    entry->bytes = strlen(text);
    return true;
}

static bool read_entries(struct fatbin *fatbin, struct arena *arena, const u8 *at, u64 left,
                         struct error *error)
{
    while (left) {
        const u64 head = left >= ENTRY_BYTES ? number(at + 4, 4) : 0;
        const u64 payload = head ? number(at + 8, 8) : 0;
        if (head < ENTRY_BYTES || head > left || payload > left - head)
            return error_set(error, ERROR_INPUT, "fat binary",
                             "an entry reaches beyond its container: the binary is damaged");
        struct fatbin_entry entry = {.kind = (u32)number(at, 2), .arch = (u32)number(at + 28, 4)};
        if (entry.kind == FATBIN_PTX && !read_text(&entry, arena, at, at + head, payload, error))
            return false;
        *(struct fatbin_entry *)vec_push(&fatbin->entries) = entry;
        at += head + payload;
        left -= head + payload;
    }
    return true;
}

bool fatbin_read(struct fatbin *fatbin, struct arena *arena, const void *data, size_t bytes,
                 struct error *error)
{
    const u8 *at = data;
    while (bytes) {
        const size_t size = fatbin_size(at, bytes);
        if (!size)
            return error_set(error, ERROR_INPUT, "fat binary",
                             "expected a container with the magic number 0x%x", (u32)MAGIC);
        const u64 head = number(at + 6, 2);
        if (!read_entries(fatbin, arena, at + head, size - head, error))
            return false;
        at += size;
        bytes -= size;
    }
    return true;
}

const struct fatbin_entry *fatbin_ptx(const struct fatbin *fatbin, u32 capability)
{
    const struct fatbin_entry *best = NULL;
    for (u32 i = 0; i < fatbin->entries.count; i++) {
        const struct fatbin_entry *entry = &fatbin->entries.data[i];
        if (!entry->text)
            continue;
        const bool runs = entry->arch <= capability;
        const bool better = !best || (runs ? best->arch > capability || entry->arch > best->arch
                                           : best->arch > entry->arch);
        if (better)
            best = entry;
    }
    return best;
}
