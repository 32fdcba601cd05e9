/* Integer functions. */
#define MAD_HI(type)                         \
    PURE type mad_hi(type a, type b, type c) \
    {                                        \
        return mul_hi(a, b) + c;             \
    }
#define ALL_WIDTHS(make, type) \
    make(type)                 \
    make(type##2)              \
    make(type##3)              \
    make(type##4)              \
    make(type##8)              \
    make(type##16)
#define ALL_INTEGERS(make)   \
    ALL_WIDTHS(make, char)   \
    ALL_WIDTHS(make, uchar)  \
    ALL_WIDTHS(make, short)  \
    ALL_WIDTHS(make, ushort) \
    ALL_WIDTHS(make, int)    \
    ALL_WIDTHS(make, uint)   \
    ALL_WIDTHS(make, long)   \
    ALL_WIDTHS(make, ulong)
ALL_INTEGERS(MAD_HI)

/* libclc overflows where the difference of 0 and the least number does. */
PURE int sub_sat(int a, int b)
{
    long difference = (long)a - b;
    return difference < INT_MIN ? INT_MIN : difference > INT_MAX ? INT_MAX : (int)difference;
}
WIDEN_2(int, sub_sat, int, int)

PURE long sub_sat(long a, long b)
{
    long difference = (long)((ulong)a - (ulong)b);
    bool over = ((a ^ b) & (a ^ difference)) < 0; /* signs differ, and the result's is b's */
    return !over ? difference : a < 0 ? LONG_MIN : LONG_MAX;
}
WIDEN_2(long, sub_sat, long, long)

/* The product in 128 bits, the sum too, then what of it fits. */
PURE long mad_sat(long a, long b, long c)
{
    ulong low = (ulong)a * (ulong)b, sum = low + (ulong)c;
    long high = mul_hi(a, b) + (c >> 63) + (sum < low);
    return high == (long)sum >> 63 ? (long)sum : high < 0 ? LONG_MIN : LONG_MAX;
}
WIDEN_3(long, mad_sat)

#ifdef __NVPTX__
/* By any number of bits. The back end's rotation of 64 bits wants a number below 64, and the
 * compiler leaves a mask out that it takes for needless, unless it cannot see it. */
#define ROTATE(type)                                            \
    PURE type rotate(type x, type bits)                         \
    {                                                           \
        ulong y = (ulong)x;                                     \
        uint n = (uint)bits & 63;                               \
        __asm__("" : "+r"(n));                                  \
        return (type)(y << n | y >> (-n & 63));                 \
    }                                                           \
    WIDEN_2(type, rotate, type, type)
ROTATE(long)
ROTATE(ulong)
#endif
