// Vector types: swizzles, conversions with saturation, vload/vstore, geometric functions.
kernel void swizzle(global const float4 *in, global float4 *out, global int4 *whole, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float4 v = in[i];
    float4 w = v.wzyx * 2.0f + v.xxyy;
    w.odd = v.lo;
    out[i] = w;
    whole[i] = convert_int4(v * 10.0f) + (int4)(1, 2, 3, 4) * (int4)(i);
}

kernel void saturate(global const int *in, global uchar4 *bytes, global short2 *shorts, int n)
{
    int i = get_global_id(0);
    if (4 * i >= n)
        return;
    int4 v = vload4(i, in);
    bytes[i] = convert_uchar4_sat(v);
    shorts[i] = convert_short2_sat(v.xz);
}

kernel void geometry(global const float *a, global const float *b, global float *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float4 u = (float4)(vload3(i, a), 0.0f), v = (float4)(vload3(i, b), 0.0f);
    float4 c = cross(u, v);
    vstore3(c.xyz, i, out);
    out[3 * n + i] = u.x * v.x + u.y * v.y + u.z * v.z;
}

kernel void packs(global const char4 *a, global const short4 *b, global long2 *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    char4 x = a[i];
    short4 y = b[i];
    int4 p = convert_int4(x) * convert_int4(y);
    x = x + (char4)(1) * x.yxwz;
    out[i] = (long2)((long)p.x * p.y + x.x, (long)p.z * p.w - x.w);
}
