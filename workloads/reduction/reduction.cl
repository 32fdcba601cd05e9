/*
 * The sum of an array, block by block: each thread loads two elements, then half of the threads, a
 * quarter... add pairs in local memory. The sums of the blocks are an array for the next launch. The
 * number of threads is read at run time, so that the compiler keeps the loop.
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void sum_blocks(__global const int *numbers, __global int *sums, uint count)
{
    __local int part[BLOCK_X];
    uint lane = get_local_id(0), threads = get_local_size(0);
    uint first = get_group_id(0) * 2 * threads + lane, second = first + threads;

    part[lane] = (first < count ? numbers[first] : 0) + (second < count ? numbers[second] : 0);
    for (uint left = threads / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < left)
            part[lane] += part[lane + left];
    }
    if (lane == 0)
        sums[get_group_id(0)] = part[0];
}
