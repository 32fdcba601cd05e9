// flags: -Xclang -target-cpu -Xclang sm_60
// Division and remainder of every width and signedness, by variables and by constants.
#define BOTH(T, a, b) ((T)((T)(a) / (T)(b)) * 7 + (T)((T)(a) % (T)(b)))

kernel void divide32(global const int *a, global const int *b, global int *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    int x = a[i], y = b[i];
    uint ux = x, uy = y;
    global int *o = out + 10 * i;
    o[0] = x / y;
    o[1] = x % y;
    o[2] = ux / uy;
    o[3] = ux % uy;
    o[4] = BOTH(char, x, y | 1);
    o[5] = BOTH(uchar, x, y | 1);
    o[6] = BOTH(short, x, y | 1);
    o[7] = BOTH(ushort, x, y | 1);
    o[8] = x / 7 + x % 1000 + x / -16;
    o[9] = ux / 7 + ux % 1000 + ux / 641;
}

kernel void divide64(global const long *a, global const long *b, global long *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    long x = a[i], y = b[i];
    ulong ux = x, uy = y;
    global long *o = out + 7 * i;
    o[0] = x / y;
    o[1] = x % y;
    o[2] = ux / uy;
    o[3] = ux % uy;
    o[4] = x / 10 + x % 1000000007l;
    o[5] = ux / 10 + ux % 1000000007ul;
    o[6] = x / (int)(y | 1) + (int)x / (y | 1);
}

// Powers modulo a number: 64-bit remainders in a loop each work-item leaves in its own time.
kernel void power_mod(global const uint *base, global const uint *exponent,
                      global const uint *modulus, global uint *out)
{
    int i = get_global_id(0);
    ulong r = 1, b = base[i] % modulus[i];
    for (uint e = exponent[i]; e; e >>= 1) {
        if (e & 1)
            r = r * b % modulus[i];
        b = b * b % modulus[i];
    }
    out[i] = r % modulus[i];
}

// Decimal digits of 64-bit numbers, the sign in front.
kernel void digits(global const long *in, global uchar *out)
{
    global uchar *text = out + 21 * get_global_id(0);
    long v = in[get_global_id(0)];
    ulong left = v < 0 ? -(ulong)v : (ulong)v;
    int at = 20;
    text[at] = 0;
    do {
        text[--at] = '0' + left % 10;
        left /= 10;
    } while (left);
    if (v < 0)
        text[--at] = '-';
    while (at > 0)
        text[--at] = ' ';
}
