/*
 * Guest printf: a C format and a packed argument buffer, both in guest memory and not trusted.
 */
#ifndef EXEC_FORMAT_H
#define EXEC_FORMAT_H

#include "base/types.h"

/* Copies guest memory; false if it cannot be read. */
typedef bool format_reader(void *context, u64 address, void *to, u64 bytes);

struct format_result {
    bool ok;
    u64 bad_address; /* if not ok: the address that could not be read */
    u32 arguments;   /* consumed */
    size_t length;   /* of the text, without the terminator */
};

enum {
    FORMAT_MAX = 65536
}; /* longest output of one call; the rest is cut off */

/*
 * Formats into `text` of FORMAT_MAX bytes. Arguments are packed as variadic calls of the GPU pack
 * them: each at its own alignment, 4 bytes for int and char, 8 for long long and double,
 * `word_bytes` (4 or 8) for long, sizes and pointers. Unknown conversions, %n among them, are copied
 * as they are.
 */
struct format_result format_guest(format_reader *read, void *context, u64 format, u64 arguments,
                                  u32 word_bytes, char *text);

/* A guest string, cut at `size` - 1 bytes; false if it cannot be read. */
bool format_string(format_reader *read, void *context, u64 address, char *text, size_t size);

#endif
