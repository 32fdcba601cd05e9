/*
 * A histogram of 64 bins. Each thread counts into bytes of its own in local memory, so that nobody
 * waits for anybody; then each thread adds up one bin over the block, and a second kernel adds up
 * each bin over the blocks.
 */
#define BINS 64

/* A thread counts PER_THREAD words of four values: below 256 of them, or a byte would overflow. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void count_private(__global const uint *values, __global uint *parts, uint words)
{
    __local uchar counts[BINS * BLOCK_X]; /* bin by bin, a byte a thread */
    uint lane = get_local_id(0);
    uint start = get_group_id(0) * BLOCK_X * PER_THREAD + lane;

    for (uint bin = 0; bin < BINS; bin++)
        counts[bin * BLOCK_X + lane] = 0;
    for (uint i = 0; i < PER_THREAD; i++) {
        uint at = start + i * BLOCK_X;
        if (at < words) {
            uint word = values[at];
            for (uint byte = 0; byte < 4; byte++, word >>= 8)
                counts[(word & (BINS - 1)) * BLOCK_X + lane]++;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = lane; bin < BINS; bin += BLOCK_X) {
        uint sum = 0;
        for (uint i = 0; i < BLOCK_X; i++) /* each starts elsewhere: other banks */
            sum += counts[bin * BLOCK_X + (i + lane * 4) % BLOCK_X];
        parts[get_group_id(0) * BINS + bin] = sum;
    }
}

/* A block a bin: its threads sum that bin of all parts, then each other's sums. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void merge(__global const uint *parts, __global uint *histogram, uint count)
{
    __local uint sums[BLOCK_X];
    uint lane = get_local_id(0), bin = get_group_id(0), sum = 0;

    for (uint part = lane; part < count; part += BLOCK_X)
        sum += parts[part * BINS + bin];
    sums[lane] = sum;
#pragma unroll 1 /* compilers of the papers unrolled only loops that count in steps */
    for (uint left = BLOCK_X / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < left)
            sums[lane] += sums[lane + left];
    }
    if (lane == 0)
        histogram[bin] = sums[0];
}
