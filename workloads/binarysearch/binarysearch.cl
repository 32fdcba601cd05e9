/*
 * A block searches one key. In each round its threads look at as many evenly spaced elements of the
 * range that is left; the piece behind the last one which is not above the key is the next range.
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void search(__global const uint *sorted, __global const uint *keys, __global uint *places,
            uint count)
{
    __local uint seen[BLOCK_X + 1]; /* what the threads looked at; then one above every key */
    __local uint chosen;
    uint lane = get_local_id(0), key = keys[get_group_id(0)];
    uint start = 0, length = count; /* if the key is there, sorted[start] <= key */

    if (lane == 0)
        seen[BLOCK_X] = UINT_MAX;
    while (length > 1) {
        uint step = (length + BLOCK_X - 1) / BLOCK_X;
        uint offset = lane * step;
        seen[lane] = offset < length ? sorted[start + offset] : UINT_MAX;
        if (lane == 0)
            chosen = 0; /* of the first round: the key may be below all */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (seen[lane] <= key && seen[lane + 1] > key)
            chosen = offset;
        barrier(CLK_LOCAL_MEM_FENCE);
        start += chosen;
        length = min(step, length - chosen);
        barrier(CLK_LOCAL_MEM_FENCE); /* everybody has read chosen */
    }
    if (lane == 0)
        places[get_group_id(0)] = sorted[start] == key ? start : count;
}
