// Coding: CRC-32 with a table in constant memory, base64, run lengths, Gray code, Hilbert curve.
kernel void crc32(global const uchar *data, global uint *out, constant uint *table, int length)
{
    uint c = 0xffffffffu;
    for (int k = 0; k < length; k++)
        c = table[(c ^ data[get_global_id(0) * length + k]) & 0xff] ^ c >> 8;
    out[get_global_id(0)] = ~c;
}

constant char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

kernel void base64(global const uchar *in, global char *out, int length)
{
    int i = get_global_id(0), left = length - 3 * i;
    if (left <= 0)
        return;
    uint word = in[3 * i] << 16;
    if (left > 1)
        word |= in[3 * i + 1] << 8;
    if (left > 2)
        word |= in[3 * i + 2];
    for (int k = 0; k < 4; k++)
        out[4 * i + k] = k <= left ? alphabet[word >> (18 - 6 * k) & 63] : '=';
}

// Each work-item writes its run where the sums of the runs before it say.
kernel void expand(global const uchar2 *runs, global uchar *out, int count)
{
    int i = get_global_id(0);
    if (i >= count)
        return;
    int place = 0;
    for (int k = 0; k < i; k++)
        place += runs[k].x;
    for (int k = 0; k < runs[i].x; k++)
        out[place + k] = runs[i].y;
}

kernel void gray(global const ulong *in, global ulong *coded, global ulong *decoded)
{
    int i = get_global_id(0);
    ulong g = in[i] ^ in[i] >> 1, v = g;
    for (uint s = 1; s < 64; s *= 2)
        v ^= v >> s;
    coded[i] = g;
    decoded[i] = v;
}

kernel void hilbert(global int2 *out, int order)
{
    int i = get_global_id(0), at = i;
    int x = 0, y = 0;
    for (int s = 1; s < 1 << order; s *= 2) {
        int rx = at / 2 & 1, ry = (at ^ rx) & 1;
        if (ry == 0) {
            if (rx == 1) {
                x = s - 1 - x;
                y = s - 1 - y;
            }
            int t = x;
            x = y;
            y = t;
        }
        x += s * rx;
        y += s * ry;
        at /= 4;
    }
    out[i] = (int2)(x, y);
}
