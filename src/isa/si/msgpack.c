/* MessagePack in place: see msgpack.h. */
#include "isa/si/msgpack.h"

/* A big-endian number of `bytes` bytes. */
static bool take(struct msgpack *in, u32 bytes, u64 *number)
{
    u64 sum = 0;
    if (in->size - in->at < bytes)
        return false;
    for (u32 i = 0; i < bytes; i++)
        sum = sum << 8 | in->data[in->at++];
    *number = sum;
    return true;
}

static bool take_text(struct msgpack *in, u64 length, enum msgpack_kind kind,
                      struct msgpack_value *value)
{
    if (in->size - in->at < length)
        return false;
    value->kind = kind;
    value->text = (const char *)in->data + in->at;
    value->length = (u32)length;
    in->at += length;
    return true;
}

static bool take_signed(struct msgpack *in, u32 bytes, struct msgpack_value *value)
{
    u64 number;
    if (!take(in, bytes, &number))
        return false;
    u32 unused = 64 - 8 * bytes;
    i64 extended = (i64)(number << unused) >> unused;
    value->kind = extended < 0 ? MSGPACK_INT : MSGPACK_UINT;
    value->number = (u64)extended;
    return true;
}

static bool take_number(struct msgpack *in, u32 bytes, enum msgpack_kind kind,
                        struct msgpack_value *value)
{
    value->kind = kind;
    return take(in, bytes, &value->number);
}

static bool take_long(struct msgpack *in, u32 length_bytes, u32 extra, enum msgpack_kind kind,
                      struct msgpack_value *value)
{
    u64 length;
    return take(in, length_bytes, &length) && take_text(in, length + extra, kind, value);
}

static bool take_count(struct msgpack *in, u32 length_bytes, enum msgpack_kind kind,
                       struct msgpack_value *value)
{
    u64 length;
    if (!take(in, length_bytes, &length))
        return false;
    value->kind = kind;
    value->length = (u32)length;
    return true;
}

/* Tags 0xc0 to 0xdf. */
static bool take_tagged(struct msgpack *in, u8 tag, struct msgpack_value *value)
{
    switch (tag) {
    case 0xc0:
        value->kind = MSGPACK_NIL;
        return true;
    case 0xc2:
    case 0xc3:
        value->kind = MSGPACK_BOOL;
        value->number = tag & 1;
        return true;
    case 0xc4:
    case 0xc5:
    case 0xc6:
        return take_long(in, 1u << (tag - 0xc4), 0, MSGPACK_BINARY, value);
    case 0xc7:
    case 0xc8:
    case 0xc9:
        return take_long(in, 1u << (tag - 0xc7), 1, MSGPACK_BINARY, value);
    case 0xca:
    case 0xcb:
        return take_number(in, 4u << (tag - 0xca), MSGPACK_FLOAT, value);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return take_number(in, 1u << (tag - 0xcc), MSGPACK_UINT, value);
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return take_signed(in, 1u << (tag - 0xd0), value);
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return take_text(in, 1 + (1u << (tag - 0xd4)), MSGPACK_BINARY, value);
    case 0xd9:
    case 0xda:
    case 0xdb:
        return take_long(in, 1u << (tag - 0xd9), 0, MSGPACK_STRING, value);
    case 0xdc:
    case 0xdd:
        return take_count(in, 2u << (tag - 0xdc), MSGPACK_ARRAY, value);
    case 0xde:
    case 0xdf:
        return take_count(in, 2u << (tag - 0xde), MSGPACK_MAP, value);
    default:
        return false; /* 0xc1 */
    }
}

bool msgpack_next(struct msgpack *in, struct msgpack_value *value)
{
    *value = (struct msgpack_value){.offset = in->at};
    if (in->at >= in->size)
        return false;
    u8 tag = in->data[in->at++];
    if (tag < 0x80 || tag >= 0xe0) {
        value->kind = tag < 0x80 ? MSGPACK_UINT : MSGPACK_INT;
        value->number = (u64)(i64)(i8)tag;
        return true;
    }
    if (tag < 0xa0) {
        value->kind = tag < 0x90 ? MSGPACK_MAP : MSGPACK_ARRAY;
        value->length = tag & 15;
        return true;
    }
    if (tag < 0xc0)
        return take_text(in, tag & 31, MSGPACK_STRING, value);
    return take_tagged(in, tag, value);
}

/* Counts the remaining values instead of recursing; each value takes at least a byte. */
bool msgpack_skip(struct msgpack *in, const struct msgpack_value *value)
{
    struct msgpack_value next = *value;
    u64 left = 0;
    for (;;) {
        left += next.kind == MSGPACK_ARRAY ? next.length : 0;
        left += next.kind == MSGPACK_MAP ? (u64)next.length * 2 : 0;
        if (!left)
            return true;
        left--;
        if (!msgpack_next(in, &next))
            return false;
    }
}

bool msgpack_is(const struct msgpack_value *value, const char *text)
{
    return value->kind == MSGPACK_STRING && value->length == strlen(text) &&
           !memcmp(value->text, text, value->length);
}
