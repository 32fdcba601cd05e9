// flags: -Xclang -target-cpu -Xclang sm_60
// 64-bit integers: shifts by variable amounts, products, comparisons, conversions.
kernel void shifts(global const ulong *a, global const uint *by, global ulong *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    ulong x = a[i];
    uint s = by[i] & 63;
    global ulong *o = out + 8 * i;
    o[0] = x << s;
    o[1] = x >> s;
    o[2] = (long)x >> s;
    o[3] = rotate(x, (ulong)s);
    o[4] = x << 32 | x >> 33;
    o[5] = (x & (1ul << s)) ? ~x : x ^ s;
    o[6] = clz(x) * 100 + popcount(x);
    o[7] = upsample((uint)x, (uint)(x >> 7)) + abs((long)x);
}

kernel void products(global const long *a, global const long *b, global long *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    long x = a[i], y = b[i];
    global long *o = out + 10 * i;
    o[0] = x * y;
    o[1] = (long)(int)x * (int)y;
    o[2] = (ulong)(uint)x * (uint)y;
    o[3] = mul_hi(x, y);
    o[4] = mul_hi((ulong)x, (ulong)y);
    o[5] = min(x, y) - max((ulong)x, (ulong)y);
    o[6] = x < y ? x : y - x;
    o[7] = (ulong)x < (ulong)y ? 1 : (x == y) + 2;
    o[8] = sub_sat(x, y);
    o[9] = add_sat((ulong)x, (ulong)y);
}

kernel void conversions(global const long *a, global const double *d, global ulong *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    global ulong *o = out + 10 * i;
    o[0] = as_ulong((double)a[i]);
    o[1] = as_ulong((double)(ulong)a[i]);
    o[2] = as_uint((float)a[i]);
    o[3] = as_uint((float)(ulong)a[i]);
    o[4] = (long)d[i];
    o[5] = (ulong)fabs(d[i]);
    o[6] = (long)(float)d[i];
    o[7] = (ulong)fabs((float)d[i]);
    o[8] = as_uint((float)d[i]);
    o[9] = (uint)fabs(d[i] * 1e-9) + ((ulong)(int)(d[i] * 1e-9) << 32);
}

// 256-bit sums and differences in words of 32 bits: carries from word to word.
kernel void carries(global const uint *a, global const uint *b, global uint *out)
{
    int i = get_global_id(0);
    ulong carry = 0;
    long borrow = 0;
    for (int k = 0; k < 8; k++) {
        carry += (ulong)a[8 * i + k] + b[8 * i + k];
        out[16 * i + k] = carry;
        carry >>= 32;
        borrow += (long)a[8 * i + k] - b[8 * i + k];
        out[16 * i + 8 + k] = borrow;
        borrow >>= 32;
    }
}
