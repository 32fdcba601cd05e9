/* The values of ops.def, in plain C. */
#include <math.h>
#include <string.h>

#include "program.h"

#define S32(x) ((i64)(int32_t)(u32)(x))

static float f32(u64 bits)
{
    u32 word = (u32)bits;
    float value;
    memcpy(&value, &word, 4);
    return value;
}

/* A NaN that was computed is the canonical one. */
static u64 f32_bits(float value)
{
    u32 word;
    memcpy(&word, &value, 4);
    return value != value ? 0x7fffffff : word;
}

static u64 f32_to_s32(float value)
{
    if (value != value)
        return 0;
    if (value >= 2147483648.0f)
        return 0x7fffffff;
    if (value < -2147483648.0f)
        return 0x80000000;
    return (u64)(int32_t)value;
}

static u64 dp4a(u64 a, u64 b, u64 c)
{
    for (unsigned k = 0; k < 32; k += 8)
        c += (a >> k & 255) * (b >> k & 255);
    return c;
}

static u64 reverse(u64 a)
{
    u64 r = 0;
    for (unsigned i = 0; i < 64; i++)
        r |= (a >> i & 1) << (63 - i);
    return r;
}

const struct op_row op_rows[] = {
#define OP(text, signature, value) {text, signature},
#include "ops.def"
#undef OP
};
const u32 op_count = sizeof op_rows / sizeof *op_rows;

typedef u64 value_fn(u64 a, u64 b, u64 c);
#define NAME2(line) value_##line
#define NAME(line) NAME2(line)
#define OP(text, signature, value)                 \
    static u64 NAME(__LINE__)(u64 a, u64 b, u64 c) \
    {                                              \
        (void)a, (void)b, (void)c;                 \
        return (u64)(value);                       \
    }
#include "ops.def"
#undef OP

static value_fn *const values[] = {
#define OP(text, signature, value) NAME(__LINE__),
#include "ops.def"
#undef OP
};

u64 op_value(u32 op, u64 a, u64 b, u64 c)
{
    return values[op](a, b, c);
}
