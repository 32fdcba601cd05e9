/*
 * A block a pair of vectors: each thread sums every product that is as many places on as there are
 * threads, then the block adds up the partial sums as a tree, half as many threads each time. The
 * number of threads is read at run time, so that the compiler keeps the loops.
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void scalar_product(__global const float *a, __global const float *b, __global float *products,
                    uint length)
{
    __local float sums[BLOCK_X];
    uint lane = get_local_id(0), threads = get_local_size(0), vector = get_group_id(0);
    uint end = (vector + 1) * length;
    float sum = 0;

    for (uint i = vector * length + lane; i < end; i += threads)
        sum += a[i] * b[i];
    sums[lane] = sum;
    for (uint left = threads / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < left)
            sums[lane] += sums[lane + left];
    }
    if (lane == 0)
        products[vector] = sums[0];
}
