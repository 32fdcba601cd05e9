/*
 * Exclusive prefix sums. A block sums a section of two elements a thread in local memory, in place:
 * up a tree of partial sums, then down again. Sections of a large array first leave their totals;
 * these are scanned in turn and added to every element of the sections behind.
 */
#define SECTION (2 * BLOCK_X)
/* An element's place: every 16th word is left free, so that the tree's strides of powers of two
 * spread over the banks of local memory. */
#define PLACE(i) ((i) + ((i) >> 4))

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void scan_sections(__global const uint *from, __global uint *to, __global uint *totals, uint count)
{
    __local uint sums[PLACE(SECTION)];
    uint lane = get_local_id(0), start = get_group_id(0) * SECTION;
    uint low = start + lane, high = low + BLOCK_X;
    uint stride = 1;

    sums[PLACE(lane)] = low < count ? from[low] : 0;
    sums[PLACE(lane + BLOCK_X)] = high < count ? from[high] : 0;
    for (uint pairs = BLOCK_X; pairs > 0; pairs /= 2, stride *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < pairs) {
            uint right = (2 * lane + 2) * stride - 1;
            sums[PLACE(right)] += sums[PLACE(right - stride)];
        }
    }
    if (lane == 0) { /* the thread which made the root replaces it */
        totals[get_group_id(0)] = sums[PLACE(SECTION - 1)];
        sums[PLACE(SECTION - 1)] = 0;
    }
    for (uint pairs = 1; pairs <= BLOCK_X; pairs *= 2) {
        stride /= 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < pairs) {
            uint right = (2 * lane + 2) * stride - 1;
            uint left_sum = sums[PLACE(right - stride)];
            sums[PLACE(right - stride)] = sums[PLACE(right)];
            sums[PLACE(right)] += left_sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (low < count)
        to[low] = sums[PLACE(lane)];
    if (high < count)
        to[high] = sums[PLACE(lane + BLOCK_X)];
}

/* Adds to each section what all sections before it sum up to. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void add_offsets(__global uint *sums, __global const uint *offsets, uint count)
{
    uint i = get_group_id(0) * SECTION + get_local_id(0);
    uint offset = offsets[get_group_id(0)];

    if (i < count)
        sums[i] += offset;
    if (i + BLOCK_X < count)
        sums[i + BLOCK_X] += offset;
}
