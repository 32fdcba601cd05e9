/*
 * Reads MessagePack in place, the part of it that code object metadata uses. A cursor never leaves
 * its bytes and never allocates: a claimed length that is not there is an error at the place where
 * the bytes end. (msgpack-c allocates arrays by their claimed length before it has seen them.)
 */
#ifndef ISA_SI_MSGPACK_H
#define ISA_SI_MSGPACK_H

#include "base/types.h"

enum msgpack_kind {
    MSGPACK_NIL,
    MSGPACK_BOOL,
    MSGPACK_UINT,
    MSGPACK_INT, /* negative */
    MSGPACK_FLOAT,
    MSGPACK_STRING,
    MSGPACK_BINARY, /* and extensions */
    MSGPACK_ARRAY,
    MSGPACK_MAP,
};

struct msgpack {
    const u8 *data;
    size_t size, at;
};

/* One value; the elements of an array or map follow it in the bytes. */
struct msgpack_value {
    enum msgpack_kind kind;
    u64 number;       /* bool, integers (two's complement), float bits */
    const char *text; /* string or binary, not terminated */
    u32 length;       /* its bytes; elements of an array; pairs of a map */
    size_t offset;    /* where it began */
};

/* False if the bytes end inside the value, or the first byte is not that of a value. */
bool msgpack_next(struct msgpack *in, struct msgpack_value *value);
/* Skips the elements of the value just read, however deep. */
bool msgpack_skip(struct msgpack *in, const struct msgpack_value *value);
bool msgpack_is(const struct msgpack_value *value, const char *text);

#endif
