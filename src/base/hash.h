/* SHA-256 (FIPS 180-4): identifies the exact inputs of a run in its manifest. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/types.h"

enum {
    SHA256_TEXT = 65 /* hexadecimal digits and NUL */
};

struct sha256 {
    u32 state[8];
    bool portable; /* for tests: without instructions that only some processors have */
    u64 length;    /* bytes so far */
    u8 block[64];
};

void sha256_start(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t bytes);
/* The digest as 64 hexadecimal digits; `hash` must be started again afterwards. */
void sha256_text(struct sha256 *hash, char text[SHA256_TEXT]);

#endif
