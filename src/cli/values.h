/*
 * Numbers on the command line, converted to the guest's bytes.
 *
 * A scalar is `type:number` with u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64. Integers are decimal,
 * 0x, 0b or octal, and must fit. Floats are decimal or hexadecimal, inf or nan, and are rounded
 * once, to nearest even, from the exact number written; a finite one that overflows is an error.
 */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "base/error.h"
#include "heddle/heddle.h"

struct scalar {
    const char *type; /* "u32" */
    u32 size;         /* bytes */
    bool is_float;
    u8 data[8]; /* little-endian */
};

/* `type` need not be terminated. NULL when there is no such type. */
const char *scalar_type(const char *type, size_t length);
/* The error message says what is expected; it has no place. */
bool scalar_parse(const char *type, const char *text, struct scalar *scalar, struct error *error);

/* "X[,Y[,Z]]", each at least 1 */
bool dim_parse(const char *text, struct hd_dim *dim, struct error *error);
/* "4,2" */
const char *dim_text(struct hd_dim dim, char *buffer, size_t size);

#endif
