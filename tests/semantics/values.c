/*
 * Operand values: for every kind the places where arithmetic changes its mind (signs, limits,
 * NaNs quiet and signalling with payloads, subnormals, halfway cases), crossed over the operands,
 * then random values of which a part is near such a place. Seeded by the form's text, so that a
 * form sees the same values whatever else is in the tables.
 */
#include "form.h"

static const u64 edges16[] = {0,      1,      2,      3,      7,      8,      0x0f,   0x10,
                              0x55,   0x7f,   0x80,   0xff,   0x100,  0x3fff, 0x4000, 0x5555,
                              0x7ffe, 0x7fff, 0x8000, 0x8001, 0xaaaa, 0xff80, 0xfffe, 0xffff};
static const u64 edges32[] = {
    0,          1,          2,          3,          10,         31,         32,         0x7f,
    0x80,       0xff,       0x100,      0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffff,
    0x800000,   0x1000000,  0x1ffffff,  0x55555555, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001,
    0xaaaaaaaa, 0xff800000, 0xffff8000, 0xffffff80, 0xfffffffe, 0xffffffff};
static const u64 edges64[] = {0,
                              1,
                              2,
                              7,
                              63,
                              0xff,
                              0x7fff,
                              0xffff,
                              0x7fffffff,
                              0x80000000,
                              0xffffffff,
                              0x100000000,
                              0x100000001,
                              0x1fffffffffffff,
                              0x20000000000001,
                              0x5555555555555555,
                              0x7fffffffffffffbf,
                              0x7fffffffffffffff,
                              0x8000000000000000,
                              0x8000000000000001,
                              0xaaaaaaaaaaaaaaaa,
                              0xfffffc0000000001,
                              0xffffffff00000000,
                              0xffffffff7fffffff,
                              0xffffffff80000000,
                              0xffffffffffff8000,
                              0xffffffffffffffff};
/* Zero, subnormals, normals, one and its neighbours, integers' limits, largest, infinity, NaNs. */
static const u64 edges_f32[] = {
    0,          1,          0x007fffff, 0x00400000, 0x00800000, 0x00800001, 0x00ffffff, 0x33800000,
    0x34000000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000,
    0x40000000, 0x40200000, 0x40400000, 0x437f8000, 0x477fefff, 0x477ff000, 0x47000000, 0x4b000001,
    0x4b800000, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000, 0x5f800000,
    0x7e800000, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fc12345, 0x7fa00000,
    0x38800000, 0x387fffff, 0x33000000, 0x33000001, 0x38801000};
static const u64 edges_f64[] = {0,
                                1,
                                0x000fffffffffffff,
                                0x0008000000000000,
                                0x0010000000000000,
                                0x0010000000000001,
                                0x36a0000000000000,
                                0x3690000000000000,
                                0x3690000000000001,
                                0x380fffffffffffff,
                                0x3810000000000000,
                                0x3ca0000000000000,
                                0x3fdfffffffffffff,
                                0x3fe0000000000000,
                                0x3fefffffffffffff,
                                0x3ff0000000000000,
                                0x3ff0000000000001,
                                0x3ff0000010000000,
                                0x3ff0000030000000,
                                0x3ff8000000000000,
                                0x4000000000000000,
                                0x4004000000000000,
                                0x400c000000000000,
                                0x40dfffe000000000,
                                0x40effd0000000000,
                                0x40effe0000000000,
                                0x41dfffffffc00000,
                                0x41dfffffffe00000,
                                0x41e0000000000000,
                                0x41efffffffe00000,
                                0x41f0000000000000,
                                0x4330000000000001,
                                0x43dfffffffffffff,
                                0x43e0000000000000,
                                0x43f0000000000000,
                                0x47efffffe0000000,
                                0x47effffff0000000,
                                0x7fd0000000000000,
                                0x7fefffffffffffff,
                                0x7ff0000000000000,
                                0x7ff0000000000001,
                                0x7ff8000000000000,
                                0x7ff8000123456789,
                                0x7ff4000000000000};
static const u64 edges_f16[] = {0,      1,      0x01ff, 0x0200, 0x03ff, 0x0400, 0x0401,
                                0x1400, 0x3800, 0x37ff, 0x3bff, 0x3c00, 0x3c01, 0x3e00,
                                0x4000, 0x4100, 0x4200, 0x5bf8, 0x6400, 0x7800, 0x7bff,
                                0x7c00, 0x7c01, 0x7e00, 0x7e55, 0x7d00};
static const u64 edges_bf16[] = {0,      1,      0x003f, 0x0040, 0x007f, 0x0080, 0x0081,
                                 0x3380, 0x3f00, 0x3eff, 0x3f7f, 0x3f80, 0x3f81, 0x3fc0,
                                 0x4000, 0x4020, 0x4040, 0x42fe, 0x4b00, 0x7e80, 0x7f7f,
                                 0x7f80, 0x7f81, 0x7fc0, 0x7fd5, 0x7fa0};
static const u64 edges_shift[] = {
    0,  1,  2,  7,  8,  15,  16,  17,  23,  24,  31,      32,         33,         47,
    48, 63, 64, 65, 95, 127, 128, 255, 256, 257, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
/* For crosses of three and more operands. */
static const u64 few_f32[] = {0,          1,          0x007fffff, 0x00800000,
                              0x3f800000, 0x3f800001, 0x3fffffff, 0x34000000,
                              0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc12345};
static const u64 few_f64[] = {0,
                              1,
                              0x000fffffffffffff,
                              0x0010000000000000,
                              0x3ff0000000000000,
                              0x3ff0000000000001,
                              0x3fffffffffffffff,
                              0x3cb0000000000000,
                              0x7fefffffffffffff,
                              0x7ff0000000000000,
                              0x7ff0000000000001,
                              0x7ff8000123456789};
static const u64 few_f16[] = {0,      1,      0x3ff,  0x400,  0x3c00, 0x3c01,
                              0x3fff, 0x7bff, 0x7c00, 0x7c01, 0x7e55};
static const u64 few_bf16[] = {0,      1,      0x7f,   0x80,   0x3f80, 0x3f81,
                               0x3fff, 0x7f7f, 0x7f80, 0x7f81, 0x7fd5};

u64 rng_next(struct rng *rng)
{
    u64 z = rng->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

#define GIVE(array) (*edges = array, sizeof array / sizeof *array)
size_t values_edges(enum kind kind, bool few, const u64 **edges)
{
    switch (kind) {
    case K_F32:
    case K_TF32:
        return few ? GIVE(few_f32) : GIVE(edges_f32);
    case K_F64:
        return few ? GIVE(few_f64) : GIVE(edges_f64);
    case K_F16:
    case K_F16X2:
        return few ? GIVE(few_f16) : GIVE(edges_f16);
    case K_BF16:
    case K_BF16X2:
        return few ? GIVE(few_bf16) : GIVE(edges_bf16);
    case K_SHIFT:
        return GIVE(edges_shift);
    case K_U64:
    case K_S64:
    case K_B64:
        return GIVE(edges64);
    case K_U8:
    case K_S8:
    case K_B8:
    case K_U16:
    case K_S16:
    case K_B16:
    case K_E4M3X2:
    case K_E5M2X2:
        return GIVE(edges16);
    case K_PRED: {
        static const u64 both[] = {0, 1};
        return GIVE(both);
    }
    default:
        return GIVE(edges32);
    }
}

/* The edge tables of floats hold positive values; the sign is crossed here. */
static u64 edge(enum kind kind, bool few, size_t index)
{
    const u64 *edges;
    size_t n = values_edges(kind, few, &edges);
    unsigned bits = kind == K_F16X2 || kind == K_BF16X2 ? 16 : kind_bits(kind);
    if (!kind_float(kind) || kind == K_E4M3X2 || kind == K_E5M2X2)
        return edges[index % n];
    return edges[index % n] | (u64)(index / n % 2) << (bits - 1);
}

static size_t edge_count(enum kind kind, bool few)
{
    const u64 *edges;
    size_t n = values_edges(kind, few, &edges);
    return kind_float(kind) && kind != K_E4M3X2 && kind != K_E5M2X2 ? 2 * n : n;
}

static u64 float_random(enum kind kind, struct rng *rng)
{
    u64 bits = rng_next(rng), how = rng_next(rng) % 8;
    unsigned width = kind == K_F16X2 || kind == K_BF16X2 ? 16 : kind_bits(kind);
    unsigned mantissa = kind == K_F64                      ? 52
                        : width == 32                      ? 23
                        : kind == K_F16 || kind == K_F16X2 ? 10
                                                           : 7;
    u64 bias = (1ull << (width - mantissa - 2)) - 1;
    if (how == 0) /* an edge, some last places away */
        return edge(kind, false, bits >> 8) + (bits & 7) - 3;
    if (how < 5) { /* near one, so that operands meet; short mantissas make halfway cases */
        u64 exponent = bias - 12 + (bits >> 32) % 25;
        u64 fraction = low(rng_next(rng), mantissa);
        if (how == 4)
            fraction &= ~low(~0ull, mantissa * 2 / 3);
        return (bits & 1) << (width - 1) | exponent << mantissa | fraction;
    }
    return low(bits, width);
}

static u64 random_value(enum kind kind, struct rng *rng)
{
    u64 bits = rng_next(rng);
    switch (kind) {
    case K_F16X2:
    case K_BF16X2: {
        u64 first = low(float_random(kind, rng), 16);
        return first | low(float_random(kind, rng), 16) << 16;
    }
    case K_F16:
    case K_BF16:
    case K_F32:
    case K_TF32:
    case K_F64:
        return float_random(kind, rng);
    case K_SHIFT:
        return bits % 3 ? bits >> 32 & 0x7f : bits >> 32;
    case K_LANE:
        return bits >> 32 & 31;
    case K_OFFSET:
        return (u64)((i64)(bits >> 32) % 67 - 33);
    case K_SELECTOR:
        return bits % 2 ? bits >> 32 & 0x7777 : bits >> 32;
    case K_PRED:
        return bits >> 63;
    default: { /* a length, then that many bits; a third of them negative */
        unsigned width = kind_bits(kind) < 16 ? 16 : kind_bits(kind);
        unsigned length = (unsigned)(bits % width) + 1;
        u64 value = low(rng_next(rng), length);
        return bits >> 40 & 1 ? value : low(~value, width);
    }
    }
}

static u64 edge_value(enum kind kind, bool few, size_t index, struct rng *rng)
{
    u64 value = edge(kind, few, index);
    switch (kind) {
    case K_F16X2:
    case K_BF16X2: /* the other half: any edge */
        return value | edge(kind, false, rng_next(rng) >> 20) << 16;
    case K_LANE:
        return index & 31;
    case K_OFFSET:
        return (u64)((i64)(index % 67) - 33);
    default:
        return value;
    }
}

/* The cross product when it fits in three quarters of n, otherwise a random sample of it. */
void values_fill(const struct form *f, u64 *const *src, size_t n)
{
    struct rng rng = {0};
    for (const char *p = f->text; *p; p++)
        rng.state = rng.state * 0x100000001b3ull + (u8)*p;
    bool few = f->src_count > 2;
    size_t cross = 1;
    for (unsigned k = 0; k < f->src_count; k++)
        if (cross <= n)
            cross *= edge_count(f->src[k], few);
    size_t limit = n - n / 4;
    for (size_t i = 0; i < n; i++) {
        size_t index = cross <= limit ? i : rng_next(&rng) >> 8;
        for (unsigned k = 0; k < f->src_count; k++) {
            size_t edges = edge_count(f->src[k], few);
            size_t mine = cross <= limit ? index % edges : (index = rng_next(&rng) >> 8) % edges;
            index /= edges;
            bool random = i >= (cross < limit ? cross : limit);
            u64 value =
                random ? random_value(f->src[k], &rng) : edge_value(f->src[k], few, mine, &rng);
            unsigned bits = kind_register(f->src[k]);
            src[k][i] = bits == 1 ? value & 1 : low(value, bits);
        }
    }
}
