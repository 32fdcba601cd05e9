/*
 * Formats of buffers: every component value of every narrow format by its definition, stores as the
 * inverse of loads, and the instructions that use them.
 */
#include "rig.h"

#include "exec/buffer.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    UNORM,
    SNORM,
    USCALED,
    SSCALED,
    UINT,
    SINT,
    SNORM_OGL,
    FLOAT
};

/* Bits of the components from the lowest bit on, as their names say when read backwards. */
static const char *const layouts[15] = {
    "",        "8",        "16",          "8 8",        "32",
    "16 16",   "11 11 10", "10 11 11",    "2 10 10 10", "10 10 10 2",
    "8 8 8 8", "32 32",    "16 16 16 16", "32 32 32",   "32 32 32 32"};

static u32 widths(u32 data, u32 out[4])
{
    u32 count = 0;
    for (const char *c = layouts[data]; *c;) {
        char *end;
        out[count++] = (u32)strtoul(c, &end, 10);
        c = end;
    }
    return count;
}

static f32 as_float(u32 bits)
{
    f32 value;
    memcpy(&value, &bits, 4);
    return value;
}
static u32 of_float(f32 value)
{
    u32 bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* A float of 5 exponent bits without sign, or f16. */
static f32 small_float(u32 raw, u32 bits)
{
    u32 fraction_bits = bits == 16 ? 10 : bits - 5, sign = bits == 16 ? raw >> 15 : 0;
    u32 exponent = raw >> fraction_bits & 31, fraction = raw & ((1u << fraction_bits) - 1);
    f64 value = exponent == 0 ? ldexp(fraction, -14 - (int)fraction_bits)
                              : ldexp((1u << fraction_bits) + fraction,
                                      (int)exponent - 15 - (int)fraction_bits);
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    return (f32)(sign ? -value : value);
}

static u32 model_load(u32 raw, u32 bits, u32 number)
{
    f64 top = ldexp(1, (int)bits) - 1, half = ldexp(1, (int)bits - 1) - 1;
    f64 value = raw >> (bits - 1) & 1 ? raw - ldexp(1, (int)bits) : raw;
    if (bits == 32) /* integers and floats only: any other format leaves the word */
        return raw;
    switch (number) {
    case UNORM:
        return of_float((f32)(raw / top));
    case SNORM:
        return of_float((f32)fmax(value / half, -1));
    case SNORM_OGL:
        return of_float((f32)((2 * value + 1) / top));
    case USCALED:
        return of_float((f32)raw);
    case SSCALED:
        return of_float((f32)value);
    case SINT:
        return (u32)(i32)value;
    case FLOAT:
        return bits == 32 ? raw : bits < 10 ? 0 : of_float(small_float(raw, bits));
    default:
        return raw;
    }
}

static u32 get_bits(const u8 *from, u32 shift, u32 bits)
{
    u32 value = 0;
    for (u32 i = 0; i < bits; i++)
        value |= (u32)(from[(shift + i) / 8] >> (shift + i) % 8 & 1) << i;
    return value;
}

static void put_bits(u8 *to, u32 shift, u32 bits, u32 value)
{
    for (u32 i = 0; i < bits; i++) {
        u8 bit = (u8)(1u << (shift + i) % 8);
        to[(shift + i) / 8] = (u8)((to[(shift + i) / 8] & ~bit) | (value >> i & 1 ? bit : 0));
    }
}

static bool same(u32 a, u32 b, u32 number)
{
    bool both_nan = number == FLOAT && isnan(as_float(a)) && isnan(as_float(b));
    return a == b || both_nan;
}

/* Whether a store of what was loaded gives the same bits again. */
static bool is_reversible(u32 raw, u32 bits, u32 number)
{
    bool lowest = raw == 1u << (bits - 1); /* of a signed component */
    if (number == SNORM)
        return bits < 24 && !lowest;
    if (number == FLOAT && bits < 32)
        return !isnan(small_float(raw, bits));
    return bits < 24 || number == UINT || number == SINT || number == FLOAT;
}

static void components(void **unused)
{
    u64 state = 31;
    for (u32 data = 1; data < 15; data++)
        for (u32 number = 0; number < 8; number++) {
            u32 width[4], count = widths(data, width), shift = 0;
            struct texel_format format;
            bool known = texel_format(data, number, &format);
            for (u32 c = 0; c < count && number == FLOAT; c++)
                if (width[c] < 10) { /* no such float */
                    assert_false(known);
                    number = 8;
                }
            if (number == 8)
                break;
            assert_true(known);
            assert_int_equal(format.components, count);
            for (u32 c = 0; c < count; shift += width[c++])
                for (u32 k = 0; k<65536; k += width[c]> 16 ? 7 : 1) {
                    u8 bytes[16];
                    u32 raw = width[c] < 16 ? k & ((1u << width[c]) - 1) : k;
                    if (width[c] == 32)
                        raw = (u32)rig_random(&state);
                    for (u32 i = 0; i < 16; i++)
                        bytes[i] = (u8)rig_random(&state);
                    put_bits(bytes, shift, width[c], raw);
                    u32 word = texel_load(&format, bytes, c);
                    if (!same(word, model_load(raw, width[c], number), number))
                        fail_msg("format %u %u: %x loads as %08x", data, number, raw, word);
                    if (is_reversible(raw, width[c], number) &&
                        texel_store(&format, word, c) != raw)
                        fail_msg("format %u %u: %08x stores as %x, not %x", data, number, word,
                                 texel_store(&format, word, c), raw);
                    if (width[c] < 16 && k >> width[c])
                        break;
                }
        }
}

static u32 stored(u32 data, u32 number, f32 value)
{
    struct texel_format format;
    assert_true(texel_format(data, number, &format));
    return texel_store(&format, of_float(value), 0);
}

static void rounding_and_clamps(void **unused)
{
    assert_int_equal(stored(1, UNORM, 0.5f), 128); /* 127.5 to even */
    assert_int_equal(stored(1, UNORM, 2), 255);
    assert_int_equal(stored(1, UNORM, -2), 0);
    assert_int_equal(stored(1, UNORM, NAN), 0);
    assert_int_equal(stored(1, SNORM, -2), 0x81);
    assert_int_equal(stored(1, SNORM, 0.5f), 64); /* 63.5 to even */
    assert_int_equal(stored(2, USCALED, 70000), 0xffff);
    assert_int_equal(stored(2, SSCALED, -70000), 0x8000);
    assert_int_equal(stored(2, FLOAT, 1), 0x3c00);
    assert_int_equal(stored(2, FLOAT, 65519), 0x7bff);
    assert_int_equal(stored(2, FLOAT, 65520), 0x7c00);
    assert_int_equal(stored(6, FLOAT, 1), 0x3c0); /* 11 bits */
    assert_int_equal(stored(6, FLOAT, -1), 0);
    assert_int_equal(stored(6, FLOAT, INFINITY), 0x7c0);
    assert_int_equal(stored(6, FLOAT, 65023), 0x7bf); /* the largest is 65024 */
    assert_int_equal(stored(6, FLOAT, 65279), 0x7bf);
    assert_int_equal(stored(6, FLOAT, 65280), 0x7c0);
    assert_int_equal(stored(6, FLOAT, 1 + 0x1p-7f), 0x3c0); /* halfway, to even */
    assert_int_equal(stored(6, FLOAT, 1 + 3 * 0x1p-7f), 0x3c2);
    assert_int_equal(stored(6, FLOAT, 0x1p-20f), 1);
    assert_int_equal(stored(7, FLOAT, 1), 0x1e0); /* 10 bits */
    struct texel_format format;
    texel_format(1, UINT, &format);
    assert_int_equal(texel_store(&format, 300, 0), 255);
    texel_format(1, SINT, &format);
    assert_int_equal(texel_store(&format, (u32)-200, 0), 0x80);
    assert_int_equal(texel_store(&format, 200, 0), 0x7f);
    assert_false(texel_format(0, UINT, &format));
    assert_false(texel_format(15, UINT, &format));
}

enum {
    DESCRIPTOR = 8,
    DATA = 4
};

/* Loads and stores of every format, by descriptor with selectors or by the instruction. */
static void instructions(void **unused)
{
    u64 state = 32;
    for (u32 round = 0; round < 3000; round++) {
        u32 data = 1 + (u32)(rig_random(&state) % 14), number = (u32)(rig_random(&state) % 8);
        u32 width[4], count = widths(data, width), registers = 1 + (u32)(rig_random(&state) % 4);
        bool typed = round & 1, store = round & 2, usable = true;
        u32 select = rig_random(&state) & 0xfff;
        for (u32 c = 0; c < count; c++)
            usable &= number != FLOAT || width[c] >= 10;
        struct inst inst = {.op = store ? OP_buf_st : OP_buf_ld,
                            .key = typed ? BUFFER_TYPED : BUFFER_DESCRIPTOR,
                            .key2 = BUFFER_INDEX,
                            .type = TYPE_B32,
                            .vector = (u8)registers,
                            .src = {V(0, 1), S(DESCRIPTOR, 4)}};
        if (typed)
            inst.imm = data << 16 | number << 20;
        (store ? inst.src : inst.dst)[store ? 3 : 0] = V(DATA, registers);
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, true, SIMD_PORTABLE);
        rig_fill(&rig, &state);
        u32 descriptor[4] = {(u32)rig.address, (u32)(rig.address >> 32) | 16 << 16, 60,
                             select | (typed ? 0 : number << 12 | data << 15)};
        for (u32 k = 0; k < 4; k++)
            *rig_scalar(&rig, DESCRIPTOR + k) = descriptor[k];
        for (u32 lane = 0; lane < 64; lane++)
            *rig_vector(&rig, 0, lane) = (lane * 7) % 64; /* some beyond the 60 records */
        static u8 before[RIG_BYTES];
        memcpy(before, rig.bytes, RIG_BYTES);
        struct texel_format format;
        texel_format(data, number, &format);
        assert_true(rig_run(&rig, ~0ull));
        for (u32 lane = 0; lane < 64; lane++) {
            u32 index = (lane * 7) % 64, one = number == UINT || number == SINT ? 1 : 0x3f800000;
            u32 values[8] = {0, one, 0, 0, 0, 0, 0, one}, shift = 0;
            bool inside = index < 60 && usable;
            for (u32 c = 0; c < count; shift += width[c++]) {
                values[4 + c] =
                    model_load(get_bits(before + 16 * index, shift, width[c]), width[c], number);
                u32 word = c < registers ? *rig_vector(&rig, DATA + c, lane) : 0;
                if (store && inside)
                    put_bits(before + 16 * index, shift, width[c],
                             c < registers ? texel_store(&format, word, c) : 0);
            }
            for (u32 i = 0; i < registers && !store; i++) {
                u32 wanted = inside ? values[typed ? 4 + i : select >> 3 * i & 7] : 0;
                if (!same(*rig_vector(&rig, DATA + i, lane), wanted, number))
                    fail_msg("format %u %u, lane %u, register %u: %08x, not %08x", data, number,
                             lane, i, *rig_vector(&rig, DATA + i, lane), wanted);
            }
        }
        assert_memory_equal(before, rig.bytes, RIG_BYTES);
        rig_end(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components),
        cmocka_unit_test(rounding_and_clamps),
        cmocka_unit_test(instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
