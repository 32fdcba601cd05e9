/*
 * The potential at the points of a grid, summed over all charges directly. A thread has POINTS
 * points of a row, a block's width apart; what it computes of a charge's row serves them all.
 * A charge: its x and y, the square of its height above the grid, its strength.
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void potential(__constant float4 *charges, __global float *map, uint count, uint width, uint height,
               float spacing)
{
    uint column = get_group_id(0) * POINTS * BLOCK_X + get_local_id(0), row = get_global_id(1);
    float x = column * spacing, y = row * spacing;
    float sums[POINTS] = {0};

    for (uint i = 0; i < count; i++) {
        float4 charge = charges[i];
        float dx = x - charge.x, dy = y - charge.y;
        float across = dy * dy + charge.z;
#pragma unroll
        for (uint k = 0; k < POINTS; k++, dx += BLOCK_X * spacing)
            sums[k] += charge.w * native_rsqrt(dx * dx + across);
    }
#pragma unroll
    for (uint k = 0; k < POINTS; k++)
        if (column + k * BLOCK_X < width && row < height)
            map[row * width + column + k * BLOCK_X] = sums[k];
}
