/*
 * Stores of half that round towards 0, up or down: libclc stores 0 for small numbers that must become
 * the least subnormal half. All from bits, so that no rounding or flushing of the machine is met.
 */

/* Bits of a half from those of a float that is not negative; `away`: from 0 what is between two. */
static ushort half_of_bits(uint bits, bool away)
{
    if (bits >= 0x7f800000) /* infinite, or not a number */
        return bits == 0x7f800000 ? 0x7c00 : 0x7e00;
    if (bits >= 0x47800000) /* 65536 */
        return away ? 0x7c00 : 0x7bff;
    int exponent = (int)(bits >> 23);
    uint drop = exponent > 112 ? 13u : (uint)min(126 - max(exponent, 1), 31);
    uint fraction = exponent ? (bits & 0x7fffff) | 0x800000 : bits;
    uint kept = exponent > 112 ? (bits >> 13) - (112 << 10) : fraction >> drop;
    return (ushort)(kept + (away && fraction & ((1u << drop) - 1)));
}

/* Bits of a float beside the size of a double, whose last bit says that it is not exactly that. */
static uint float_beside(double x)
{
    ulong bits = as_ulong(x) & LONG_MAX;
    int exponent = (int)(bits >> 52) - 896;
    if (exponent > 254)
        return bits > 0x7ff0000000000000 ? 0x7fc00000 : bits == 0x7ff0000000000000 ? 0x7f800000
                                                                                   : 0x7f7fffff;
    if (exponent < 1)
        return bits != 0;
    return (uint)exponent << 23 | (uint)(bits >> 29 & 0x7fffff) | ((bits & 0x1fffffff) != 0);
}

static OVERLOAD ushort half_of(float x, bool up, bool down)
{
    bool negative = as_int(x) < 0;
    return half_of_bits(as_uint(x) & INT_MAX, negative ? down : up) | (negative ? 0x8000 : 0);
}

static OVERLOAD ushort half_of(double x, bool up, bool down)
{
    bool negative = as_long(x) < 0;
    return half_of_bits(float_beside(x), negative ? down : up) | (negative ? 0x8000 : 0);
}

#define ROUND_HALF(type, mode, up, down)             \
    static OVERLOAD ushort half_##mode(type x)       \
    {                                                \
        return half_of(x, up, down);                 \
    }                                                \
    WIDEN_1_STATIC(ushort, half_##mode, type)
#define WIDEN_1_STATIC(R, name, A)                                                          \
    static OVERLOAD R##2 name(A##2 x) { return (R##2)(name(x.lo), name(x.hi)); }            \
    static OVERLOAD R##3 name(A##3 x) { return (R##3)(name(x.xy), name(x.z)); }             \
    static OVERLOAD R##4 name(A##4 x) { return (R##4)(name(x.lo), name(x.hi)); }            \
    static OVERLOAD R##8 name(A##8 x) { return (R##8)(name(x.lo), name(x.hi)); }            \
    static OVERLOAD R##16 name(A##16 x) { return (R##16)(name(x.lo), name(x.hi)); }

#define STORE_HALF(type, mode, space)                                                       \
    OVERLOAD void vstore_half_##mode(type x, size_t i, space half *p)                       \
    {                                                                                       \
        ((space ushort *)p)[i] = half_##mode(x);                                            \
    }                                                                                       \
    OVERLOAD void vstorea_half_##mode(type x, size_t i, space half *p)                      \
    {                                                                                       \
        ((space ushort *)p)[i] = half_##mode(x);                                            \
    }                                                                                       \
    STORE_HALVES(type, mode, space, 2)                                                      \
    OVERLOAD void vstore_half3_##mode(type##3 x, size_t i, space half *p)                   \
    {                                                                                       \
        vstore3(half_##mode(x), i, (space ushort *)p);                                      \
    }                                                                                       \
    OVERLOAD void vstorea_half3_##mode(type##3 x, size_t i, space half *p)                  \
    {                                                                                       \
        vstore3(half_##mode(x), 0, (space ushort *)p + 4 * i);                              \
    }                                                                                       \
    STORE_HALVES(type, mode, space, 4)                                                      \
    STORE_HALVES(type, mode, space, 8)                                                      \
    STORE_HALVES(type, mode, space, 16)
#define STORE_HALVES(type, mode, space, n)                                                  \
    OVERLOAD void vstore_half##n##_##mode(type##n x, size_t i, space half *p)               \
    {                                                                                       \
        vstore##n(half_##mode(x), i, (space ushort *)p);                                    \
    }                                                                                       \
    OVERLOAD void vstorea_half##n##_##mode(type##n x, size_t i, space half *p)              \
    {                                                                                       \
        ((space ushort##n *)p)[i] = half_##mode(x);                                         \
    }

#define STORES_OF_HALF(type, mode, up, down) \
    ROUND_HALF(type, mode, up, down)         \
    STORE_HALF(type, mode, global)           \
    STORE_HALF(type, mode, local)            \
    STORE_HALF(type, mode, private)
STORES_OF_HALF(float, rtz, false, false)
STORES_OF_HALF(float, rtp, true, false)
STORES_OF_HALF(float, rtn, false, true)
STORES_OF_HALF(double, rtz, false, false)
STORES_OF_HALF(double, rtp, true, false)
STORES_OF_HALF(double, rtn, false, true)
