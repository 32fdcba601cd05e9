/* The op table as data, and facts about element types. */
#include "base/events.h"
#include "ir/inst.h"

const struct op_info op_info[OP_COUNT] = {
#include "ir/op_rows.h"
};

enum {
    SIGNED = 1,
    FLOAT = 2
};

static const struct {
    const char *name;
    u8 bytes;
    u8 flags;
} types[TYPE_COUNT] = {
    [TYPE_NONE] = {"", 0, 0},
    [TYPE_U8] = {"u8", 1, 0},
    [TYPE_S8] = {"s8", 1, SIGNED},
    [TYPE_U16] = {"u16", 2, 0},
    [TYPE_S16] = {"s16", 2, SIGNED},
    [TYPE_U32] = {"u32", 4, 0},
    [TYPE_S32] = {"s32", 4, SIGNED},
    [TYPE_U64] = {"u64", 8, 0},
    [TYPE_S64] = {"s64", 8, SIGNED},
    [TYPE_B8] = {"b8", 1, 0},
    [TYPE_B16] = {"b16", 2, 0},
    [TYPE_B32] = {"b32", 4, 0},
    [TYPE_B64] = {"b64", 8, 0},
    [TYPE_B128] = {"b128", 16, 0},
    [TYPE_F16] = {"f16", 2, FLOAT},
    [TYPE_F16X2] = {"f16x2", 4, FLOAT},
    [TYPE_BF16] = {"bf16", 2, FLOAT},
    [TYPE_BF16X2] = {"bf16x2", 4, FLOAT},
    [TYPE_TF32] = {"tf32", 4, FLOAT},
    [TYPE_E4M3X2] = {"e4m3x2", 2, FLOAT},
    [TYPE_E5M2X2] = {"e5m2x2", 2, FLOAT},
    [TYPE_F32] = {"f32", 4, FLOAT},
    [TYPE_F64] = {"f64", 8, FLOAT},
    [TYPE_PRED] = {"pred", 1, 0},
    [TYPE_U16X2] = {"u16x2", 4, 0},
    [TYPE_S16X2] = {"s16x2", 4, SIGNED},
};

u32 type_bytes(enum type type)
{
    return types[type].bytes;
}

const char *type_name(enum type type)
{
    return types[type].name;
}

bool type_is_signed(enum type type)
{
    return types[type].flags & SIGNED;
}

bool type_is_float(enum type type)
{
    return types[type].flags & FLOAT;
}
