/*
 * Sorts floats in two phases (Sintorn and Assarsson): a bucket sort with limits that make buckets of
 * about the same size, then a merge sort of each bucket in vectors of four.
 *
 * histogram                      from which the host derives the limits of the buckets
 * count, offsets, place          the bucket sort
 * sort_fours, merge, pack        the merge sort, and the removal of what buckets were padded with
 */

/* How many keys lie in each of BINS equal parts of the range from `low`. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void histogram(__global const float *keys, __global uint *bins, float low, float scale, uint count)
{
    __local uint own[BINS];
    uint threads = get_local_size(0);

    for (uint bin = get_local_id(0); bin < BINS; bin += threads)
        own[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        atomic_inc(&own[min((uint)((keys[i] - low) * scale), (uint)(BINS - 1))]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = get_local_id(0); bin < BINS; bin += threads)
        atomic_add(&bins[bin], own[bin]);
}

/* The bucket of a key: how many limits it is not below. There is one limit less than buckets. */
uint bucket_of(__global const float *limits, uint buckets, float key)
{
    uint low = 0, high = buckets - 1;

    while (low < high) {
        uint middle = (low + high) / 2;
        if (key < limits[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Finds the bucket of each key and its rank among the block's keys of that bucket. A block has
 * `share` keys per thread; counts is [blocks][buckets]. `restrict` tells the compiler that the limits
 * do not change, so that they may come through a cache for such data, as textures do. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void count(__global const float *keys, __global const float *restrict limits,
           __global uint *restrict in_bucket, __global uint *restrict ranks,
           __global uint *restrict counts, __local uint *own_counts, uint buckets, uint share,
           uint total)
{
    uint threads = get_local_size(0), start = get_group_id(0) * threads * share;
    uint end = min(start + threads * share, total);

    for (uint i = get_local_id(0); i < buckets; i += threads)
        own_counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = start + get_local_id(0); i < end; i += threads) {
        uint bucket = bucket_of(limits, buckets, keys[i]);
        in_bucket[i] = bucket;
        ranks[i] = atomic_inc(&own_counts[bucket]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < buckets; i += threads)
        counts[get_group_id(0) * buckets + i] = own_counts[i];
}

/* Turns each bucket's counts into where the blocks' parts of it begin; one bucket per thread. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void offsets(__global uint *counts, __global uint *sizes, uint buckets, uint blocks)
{
    uint bucket = get_global_id(0), sum = 0;

    if (bucket >= buckets)
        return;
    for (uint block = 0; block < blocks; block++) {
        uint here = counts[block * buckets + bucket];
        counts[block * buckets + bucket] = sum;
        sum += here;
    }
    sizes[bucket] = sum;
}

/* Moves keys into their buckets. The same blocks have the same keys as in count. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void place(__global const float *keys, __global float *placed, __global const uint *in_bucket,
           __global const uint *ranks, __global const uint *counts, __global const uint *starts,
           uint buckets, uint share, uint total)
{
    uint threads = get_local_size(0), start = get_group_id(0) * threads * share;
    uint end = min(start + threads * share, total);

    for (uint i = start + get_local_id(0); i < end; i += threads) {
        uint bucket = in_bucket[i];
        placed[4 * starts[bucket] + counts[get_group_id(0) * buckets + bucket] + ranks[i]] = keys[i];
    }
}

/* Sorts two halves that are sorted, the second in descending order. */
float4 sort_bitonic(float4 v)
{
    v = (float4)(fmin(v.xy, v.zw), fmax(v.xy, v.zw));
    return (float4)(fmin(v.x, v.y), fmax(v.x, v.y), fmin(v.z, v.w), fmax(v.z, v.w));
}

/* Sorts the keys of each vector. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void sort_fours(__global float4 *vectors, uint count)
{
    uint i = get_global_id(0);

    if (i < count) {
        float4 v = vectors[i];
        v = (float4)(fmin(v.x, v.y), fmax(v.x, v.y), fmax(v.z, v.w), fmin(v.z, v.w));
        vectors[i] = sort_bitonic(v);
    }
}

/* Merges two sorted lists of vectors that follow each other, of `length` vectors or what is left of
 * the bucket; one pair of lists per thread, `pairs` threads per bucket. Bucket b is the vectors
 * starts[b] up to, not including, starts[b + 1]. The lists are read as the limits are in count. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void merge(__global const float4 *restrict from, __global float4 *restrict to,
           __global const uint *starts, uint buckets, uint pairs, uint length)
{
    uint bucket = get_global_id(0) / pairs, pair = get_global_id(0) % pairs;

    if (bucket >= buckets)
        return;
    uint end = starts[bucket + 1], one = starts[bucket] + 2 * length * pair;
    if (one >= end)
        return;
    uint one_end = min(one + length, end), other = one_end, out = one;
    uint other_end = min(other + length, end);
    float4 rest = from[one++];
    while (one < one_end || other < other_end) {
        /* The list whose next key is the lower one. Without that key, the lower half of this vector
         * and the rest cannot be written. */
        bool first = other == other_end || (one < one_end && from[one].x < from[other].x);
        float4 next = first ? from[one++] : from[other++];
        to[out++] = sort_bitonic(fmin(rest, next.wzyx));
        rest = sort_bitonic(fmax(rest, next.wzyx));
    }
    to[out] = rest;
}

/* Puts the buckets together, without what they were padded with; one bucket per block. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void pack(__global const float *padded, __global float *sorted, __global const uint *starts,
          __global const uint *sizes, __global const uint *packed_starts)
{
    uint bucket = get_group_id(0);

    for (uint i = get_local_id(0); i < sizes[bucket]; i += get_local_size(0))
        sorted[packed_starts[bucket] + i] = padded[4 * starts[bucket] + i];
}
