/* The container of built programs: see binary.h. */
#include "opencl/binary.h"

#include "base/hash.h"
#include "opencl/opencl.h"

enum {
    FORMAT = 1
};
static const char MAGIC[8] = "HeddleCL";

struct binary_head {
    char magic[8];
    u32 format, type, target, zero;
    u64 bytes[SECTION_COUNT];
};

struct file {
    struct binary_head head;
    char hash[SHA256_TEXT - 1]; /* SHA-256 in hexadecimal digits */
};

static void hash_all(const struct file *file, const u8 *sections, size_t bytes,
                     char text[SHA256_TEXT])
{
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, &file->head, sizeof file->head);
    sha256_add(&hash, sections, bytes);
    sha256_text(&hash, text);
}

u8 *binary_write(const struct binary *binary, size_t *bytes)
{
    struct file file = {.head = {.format = FORMAT, .type = binary->type, .target = binary->target}};
    memcpy(file.head.magic, MAGIC, sizeof MAGIC);
    size_t total = 0;
    for (u32 i = 0; i < SECTION_COUNT; i++)
        total += file.head.bytes[i] = binary->sections[i].bytes;
    u8 *data = checked(malloc(sizeof file + total)), *at = data + sizeof file;
    for (u32 i = 0; i < SECTION_COUNT; i++) {
        if (binary->sections[i].bytes)
            memcpy(at, binary->sections[i].data, binary->sections[i].bytes);
        at += binary->sections[i].bytes;
    }
    char text[SHA256_TEXT];
    hash_all(&file, data + sizeof file, total, text);
    memcpy(file.hash, text, sizeof file.hash);
    memcpy(data, &file, sizeof file);
    *bytes = sizeof file + total;
    return data;
}

/* Whether the sections match the program's type. */
static bool plausible(const struct binary *binary)
{
    bool bitcode = binary->sections[SECTION_BITCODE].bytes != 0;
    bool code = binary->sections[SECTION_CODE].bytes != 0;
    bool kernels = binary->sections[SECTION_KERNELS].bytes != 0;
    if (binary->target < CODE_PTX || binary->target >= CODE_TARGETS_END)
        return false;
    switch (binary->type) {
    case CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT:
    case CL_PROGRAM_BINARY_TYPE_LIBRARY:
        return bitcode && !code && !kernels;
    case CL_PROGRAM_BINARY_TYPE_EXECUTABLE:
        return code && !bitcode;
    default:
        return false;
    }
}

bool binary_read(struct binary *binary, const void *data, size_t bytes)
{
    struct file file;
    if (bytes < sizeof file)
        return false;
    memcpy(&file, data, sizeof file);
    if (memcmp(file.head.magic, MAGIC, sizeof MAGIC) || file.head.format != FORMAT ||
        file.head.zero)
        return false;
    *binary = (struct binary){.type = file.head.type, .target = file.head.target};
    const u8 *sections = (const u8 *)data + sizeof file, *at = sections;
    size_t left = bytes - sizeof file;
    for (u32 i = 0; i < SECTION_COUNT; i++) {
        if (file.head.bytes[i] > left)
            return false;
        binary->sections[i].data = at;
        binary->sections[i].bytes = (size_t)file.head.bytes[i];
        at += file.head.bytes[i];
        left -= (size_t)file.head.bytes[i];
    }
    char text[SHA256_TEXT];
    hash_all(&file, sections, bytes - sizeof file - left, text);
    return !left && !memcmp(file.hash, text, sizeof file.hash) && plausible(binary);
}
