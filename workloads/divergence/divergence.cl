/*
 * A loop with a region of LENGTH vector instructions on either side of a branch. In each turn a thread
 * takes the branch if a pseudo-random byte of its own is below `share`: so share of 256 threads do,
 * others in each turn. The four sums of a thread are independent of each other from step to step.
 */
/* Keeps the compiler from computing both sides of a short branch and choosing. */
#define SIDE __asm__ volatile("")
#define ONE_SIDE a = a * 3 + d, b = b * 3 + a, c = c * 3 + b, d = d * 3 + c
#define OTHER_SIDE a = (a ^ d) * 5, b = (b ^ a) * 5, c = (c ^ b) * 5, d = (d ^ c) * 5

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void diverge(__global uint *out, uint share, uint turns)
{
    uint i = get_global_id(0), r = i * 1664525u + 1013904223u;
    uint a = get_local_id(0), b = i, c = 3, d = 4;
    for (uint turn = 0; turn < turns; turn++) {
        r = r * 1664525u + 1013904223u;
        if ((r >> 24) < share) {
            SIDE;
#pragma unroll
            for (int step = 0; step < LENGTH / 8; step++)
                ONE_SIDE;
        } else {
            SIDE;
#pragma unroll
            for (int step = 0; step < LENGTH / 8; step++)
                OTHER_SIDE;
        }
    }
    out[i] = a ^ b ^ c ^ d;
}
