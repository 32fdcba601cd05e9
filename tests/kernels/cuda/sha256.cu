// SHA-256 of one 64-byte message a thread, round constants in constant memory.
#include "cuda.h"

__constant__ unsigned round_constants[64];

__device__ unsigned rotate(unsigned x, int n)
{
    return x >> n | x << (32 - n);
}

__device__ __noinline__ void compress(unsigned *state, const unsigned *message)
{
    unsigned w[64];
    for (int k = 0; k < 16; k++)
        w[k] = __byte_perm(message[k], 0, 0x0123);
    for (int k = 16; k < 64; k++) {
        unsigned s0 = rotate(w[k - 15], 7) ^ rotate(w[k - 15], 18) ^ w[k - 15] >> 3;
        unsigned s1 = rotate(w[k - 2], 17) ^ rotate(w[k - 2], 19) ^ w[k - 2] >> 10;
        w[k] = w[k - 16] + s0 + w[k - 7] + s1;
    }
    unsigned v[8];
    for (int k = 0; k < 8; k++)
        v[k] = state[k];
#pragma unroll 1
    for (int k = 0; k < 64; k++) {
        unsigned e = v[4], a = v[0];
        unsigned t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                      ((e & v[5]) ^ (~e & v[6])) + round_constants[k] + w[k];
        unsigned t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        for (int j = 7; j > 0; j--)
            v[j] = v[j - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int k = 0; k < 8; k++)
        state[k] += v[k];
}

extern "C" __global__ void sha256(const unsigned *messages, unsigned *digests, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned tail[16] = {0x80};
    tail[15] = 0x00020000; /* 512 bits, big-endian */
    compress(state, messages + 16 * i);
    compress(state, tail);
    for (int k = 0; k < 8; k++)
        digests[8 * i + k] = __byte_perm(state[k], 0, 0x0123);
}
