// Buffers of bytes and shorts: mixing with saturation, byte order, packed records, dithering.
kernel void mix_sound(global const short *a, global const short *b, global short *out, short gain,
                      int n)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = add_sat(a[i], (short)(b[i] * gain >> 8));
}

kernel void swap_bytes(global const uchar *in, global ushort *halves, global uchar *turned, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    halves[i] = in[2 * i] << 8 | in[2 * i + 1];
    uchar v = in[i];
    v = (v & 0xf0) >> 4 | (v & 0x0f) << 4;
    v = (v & 0xcc) >> 2 | (v & 0x33) << 2;
    turned[i] = (v & 0xaa) >> 1 | (v & 0x55) << 1;
}

// Records of 7 bytes: nothing is aligned.
struct __attribute__((packed)) record {
    uchar kind;
    short value;
    int weight;
};

kernel void records(global const struct record *in, global struct record *out, global int *sums,
                    int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    struct record r = in[i];
    r.value = -r.value;
    r.weight += r.kind;
    out[n - 1 - i] = r;
    sums[i] = r.value * (signed char)r.kind + (r.weight >> 3);
}

constant uchar bayer[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};

// Eight pixels of a row become the bits of a byte.
kernel void dither(global const uchar *in, global uchar *out, int w)
{
    int x = get_global_id(0), y = get_global_id(1);
    uchar bits = 0;
    for (int k = 0; k < 8; k++)
        bits |= (in[y * w + 8 * x + k] > bayer[y & 3][k & 3] * 16 + 8) << k;
    out[y * (w / 8) + x] = bits;
}

kernel void dot16(global const short *a, global const char *b, global int *out, int length)
{
    int i = get_global_id(0), sum = 0;
    for (int k = 0; k < length; k++)
        sum += a[i * length + k] * b[k];
    out[i] = sum;
}
