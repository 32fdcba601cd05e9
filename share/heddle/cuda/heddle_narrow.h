/* Rounding to formats of 16 bits, for host code and for what the device has no instruction for. */
#ifndef HEDDLE_NARROW_H
#define HEDDLE_NARROW_H

enum heddle_rounding { HEDDLE_NEAREST, HEDDLE_ZERO, HEDDLE_DOWN, HEDDLE_UP };

/* A double as a format with a sign, exponents of 8 or 5 bits, and `fraction` bits. */
static __host__ __device__ inline unsigned short heddle_narrow(double value, int fraction,
                                                               heddle_rounding mode)
{
    const int bias = fraction == 10 ? 15 : 127, top = 2 * bias + 1;
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    const unsigned sign = (unsigned)(bits >> 63) << 15;
    const int exponent = (int)(bits >> 52 & 2047) - 1023 + bias;
    unsigned long long part = bits & 0xfffffffffffffull;
    if ((bits >> 52 & 2047) == 2047)
        return (unsigned short)(part ? 0x7fff : sign | (unsigned)top << fraction);
    if (bits << 1 == 0)
        return (unsigned short)sign;
    /* what is dropped: more below the normal range */
    int drop = 52 - fraction;
    part |= 1ull << 52;
    if (exponent < 1)
        drop += 1 - exponent;
    const bool tiny = drop > 53;
    unsigned long long kept = tiny ? 0 : part >> drop;
    const unsigned long long rest = tiny ? 1 : part & ((1ull << drop) - 1);
    const unsigned long long half = tiny ? 2 : 1ull << (drop - 1);
    const bool up = mode == HEDDLE_NEAREST ? rest > half || (rest == half && (kept & 1))
                    : mode == HEDDLE_ZERO  ? false
                                           : rest && (mode == HEDDLE_DOWN) == (sign != 0);
    kept += up;
    if (exponent >= 1)
        kept += (unsigned long long)(exponent - 1) << fraction; /* a carry goes into the exponent */
    const unsigned long long most = (unsigned long long)top << fraction;
    if (kept >= most) /* the largest number, where infinity is not nearer by the mode */
        kept = mode == HEDDLE_NEAREST || up ? most
               : mode == HEDDLE_ZERO || (mode == HEDDLE_DOWN) != (sign != 0) ? most - 1
                                                                            : most;
    return (unsigned short)(sign | (unsigned)kept);
}

/* a * b + c as a double whose last bit is set if it is not exact, so that rounding it again is right.
 * The product must be exact. */
static __host__ __device__ inline double heddle_sum_to_odd(double product, double c)
{
    const double sum = product + c, back = sum - product;
    const double error = (product - (sum - back)) + (c - back);
    unsigned long long bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error == 0 || !(sum - sum == 0) || (bits & 1))
        return sum;
    bits += (error > 0) == (sum > 0) ? 1 : -1;
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

#endif
