// flags: -Xclang -target-cpu -Xclang sm_60
// Integer built-ins: saturation, halving, rotation, high products, counts, 24-bit forms. From sm_32
// on, since clang 14 rotates wrongly by variable amounts for what is older.
kernel void builtins(global const int *a, global const int *b, global int *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    int x = a[i], y = b[i];
    uint ux = x, uy = y;
    global int *o = out + 18 * i;
    o[0] = add_sat(x, y);
    o[1] = add_sat(ux, uy);
    o[2] = sub_sat(x, y);
    o[3] = sub_sat(ux, uy);
    o[4] = hadd(x, y);
    o[5] = rhadd(ux, uy);
    o[6] = rotate(ux, uy & 31);
    o[7] = mul_hi(x, y);
    o[8] = mul_hi(ux, uy);
    o[9] = popcount(ux);
    o[10] = clz(x);
    o[11] = mul24(x >> 8, y >> 8);
    o[12] = abs_diff(x >> 1, y >> 1); // ROCm's is wrong where the difference overflows
    o[13] = abs(x);
    o[14] = max(x, y) - min(ux, uy);
    o[15] = clamp(x, -1000, 1000);
    o[16] = upsample((short)x, (ushort)y);
    o[17] = bitselect(x, y, 0x0ff00ff0);
}

kernel void longs(global const long *a, global const long *b, global long *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    long x = a[i], y = b[i];
    global long *o = out + 7 * i;
    o[0] = x * y + (x / y) - (x % y);
    o[1] = mul_hi(x, y);
    o[2] = mul_hi((ulong)x, (ulong)y);
    o[3] = add_sat(x, y);
    o[4] = rotate((ulong)x, 13ul) ^ rotate((ulong)y, 51ul);
    o[5] = clz(x) + popcount(y);
    o[6] = (long)((ulong)x / 1000003ul);
}

kernel void small(global const char *a, global const ushort *b, global int *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    char x = a[i], z = a[n - 1 - i];
    ushort y = b[i];
    out[4 * i] = add_sat(x, z);
    out[4 * i + 1] = (uchar)(x * z) / (uchar)(z | 1);
    out[4 * i + 2] = (ushort)(y << 3) >> 1;
    out[4 * i + 3] = (x < z) ? -(int)y : (short)y;
}
