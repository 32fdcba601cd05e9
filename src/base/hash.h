/* SHA-256 (FIPS 180-4): names the exact inputs of a run in its manifest. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/types.h"

enum {
    SHA256_BYTES = 32,
    SHA256_TEXT = 65
};

struct sha256 {
    u32 state[8];
    u64 length; /* bytes so far */
    u8 block[64];
};

void sha256_start(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t bytes);
void sha256_finish(struct sha256 *hash, u8 digest[SHA256_BYTES]);

/* All at once, as 64 hexadecimal digits. */
void sha256_text(const void *data, size_t bytes, char text[SHA256_TEXT]);

#endif
