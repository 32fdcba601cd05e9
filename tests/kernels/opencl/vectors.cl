// Wide and odd vectors: char16, int3, short8, double2; swizzles, masks, selects, reinterpretation.
kernel void bytes16(global const char16 *a, global const char16 *b, global char16 *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    char16 x = a[i], y = b[i];
    char16 z = x.s0246813579bdface + y.sfedcba9876543210 * (char16)(3);
    z.s0f = y.s88;
    z.even ^= x.odd;
    out[3 * i] = z;
    out[3 * i + 1] = max(x, y) - min(x, y.hi.s0123456701234567);
    out[3 * i + 2] = select(x, y, x < y) | (x == y) | (char16)(x.s7);
}

kernel void triples(global const int *a, global const int3 *b, global int *out, global int3 *whole,
                    int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    int3 x = vload3(i, a), y = b[i];
    int3 c = x.yzx * y.zxy - x.zxy * y.yzx;
    vstore3(c, i, out);
    whole[i] = (x > y) ? x : y.zyx;
    out[3 * n + i] = any(x == y.yyy) * 2 + all(x < y + 100);
}

kernel void mixed(global const short8 *a, global const double2 *d, global int4 *out,
                  global ulong2 *bits, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    short8 x = a[i];
    int4 lo = convert_int4(x.lo), hi = convert_int4(x.hi);
    out[i] = (lo * hi >> (int4)(1, 2, 3, 4)) + convert_int4(as_ushort4(x.even)) + (lo.wzyx & hi);
    double2 e = d[i].yx * 2.0 + d[i];
    bits[i] = as_ulong2(e) ^ (ulong2)((ulong)as_uint2(d[i].x).y, as_ulong(x.lo));
}

// Colours: RGBA bytes to HSV-like fixed point and a weighted grey.
kernel void colours(global const uchar4 *in, global uchar4 *out, global ushort *grey, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    uchar4 c = in[i];
    uchar most = max(max(c.x, c.y), c.z), least = min(min(c.x, c.y), c.z);
    int range = most - least, hue = 0;
    if (range)
        hue = most == c.x   ? 43 * (c.y - c.z) / range
              : most == c.y ? 85 + 43 * (c.z - c.x) / range
                            : 171 + 43 * (c.x - c.y) / range;
    out[i] = (uchar4)(hue, most ? 255 * range / most : 0, most, c.w);
    grey[i] = (c.x * 77 + c.y * 151 + c.z * 28) >> 1;
}
