/* SHA-256 (FIPS 180-4): names the exact inputs of a run in its manifest. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/types.h"

enum {
    SHA256_TEXT = 65 /* digits and the end */
};

struct sha256 {
    u32 state[8];
    u64 length; /* bytes so far */
    u8 block[64];
};

void sha256_start(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t bytes);
/* The digest as 64 hexadecimal digits; `hash` is spent. */
void sha256_text(struct sha256 *hash, char text[SHA256_TEXT]);

#endif
