// Hashes and ciphers: xxHash32, ChaCha20, a substitution-permutation cipher with tables.
#define P1 2654435761u
#define P2 2246822519u
#define P3 3266489917u
#define P4 668265263u
#define P5 374761393u

kernel void xxhash(global const uchar *data, global const int *length, global uint *out, int stride)
{
    int i = get_global_id(0), n = length[i], at = 0;
    global const uchar *p = data + i * stride;
    uint h;
    if (n >= 16) {
        uint v[4] = {P1 + P2, P2, 0, 0u - P1};
        for (; at + 16 <= n; at += 16)
            for (int k = 0; k < 4; k++) {
                uint w = p[at + 4 * k] | p[at + 4 * k + 1] << 8 | p[at + 4 * k + 2] << 16 |
                         (uint)p[at + 4 * k + 3] << 24;
                v[k] = rotate(v[k] + w * P2, 13u) * P1;
            }
        h = rotate(v[0], 1u) + rotate(v[1], 7u) + rotate(v[2], 12u) + rotate(v[3], 18u);
    } else {
        h = P5;
    }
    h += n;
    for (; at + 4 <= n; at += 4) {
        uint w = p[at] | p[at + 1] << 8 | p[at + 2] << 16 | (uint)p[at + 3] << 24;
        h = rotate(h + w * P3, 17u) * P4;
    }
    for (; at < n; at++)
        h = rotate(h + p[at] * P5, 11u) * P1;
    h ^= h >> 15;
    h *= P2;
    h ^= h >> 13;
    h *= P3;
    out[i] = h ^ h >> 16;
}

#define QUARTER(a, b, c, d)                                                                        \
    a += b, d = rotate(d ^ a, 16u), c += d, b = rotate(b ^ c, 12u), a += b,                        \
        d = rotate(d ^ a, 8u), c += d, b = rotate(b ^ c, 7u)

kernel void chacha20(global const uint *key, global uint *out, uint counter)
{
    uint s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    for (int k = 0; k < 8; k++)
        s[4 + k] = key[k];
    s[12] = counter + get_global_id(0);
    s[13] = 0x09000000;
    s[14] = 0x4a000000;
    s[15] = 0;
    for (int k = 0; k < 16; k++)
        x[k] = s[k];
    for (int r = 0; r < 10; r++) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
    for (int k = 0; k < 16; k++)
        out[16 * get_global_id(0) + k] = x[k] + s[k];
}

// The 4-bit boxes of the PRESENT cipher's kind: substitute, then move bits.
constant uchar box[16] = {12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2};

kernel void substitute(global const ulong *in, global ulong *out, ulong key)
{
    ulong v = in[get_global_id(0)];
    for (int r = 0; r < 31; r++) {
        ulong s = 0, moved = 0;
        v ^= key * (r + 1);
        for (int k = 0; k < 16; k++)
            s |= (ulong)box[v >> 4 * k & 15] << 4 * k;
        for (int k = 0; k < 63; k++)
            moved |= (s >> k & 1) << (16 * k % 63);
        v = moved | (s & 1ul << 63);
    }
    out[get_global_id(0)] = v;
}
