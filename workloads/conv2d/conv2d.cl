/*
 * Separable convolution, a thread a pixel, along the rows and then along the columns. All pixels
 * are read from global memory, at the edge the nearest one of the picture. A texture would clamp
 * coordinates by itself; our device has no images, so here it takes instructions. `restrict` tells
 * the compiler that the picture does not change, so that it may come through a cache for such data.
 */

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void convolve_rows(__global const float *restrict from, __global float *restrict to,
                   __constant float *weights, int width, int height)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;

    if (column >= width || row >= height)
        return;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[RADIUS - k] * from[row * width + clamp(column + k, 0, width - 1)];
    to[row * width + column] = sum;
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void convolve_columns(__global const float *restrict from, __global float *restrict to,
                      __constant float *weights, int width, int height)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;

    if (column >= width || row >= height)
        return;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[RADIUS - k] * from[clamp(row + k, 0, height - 1) * width + column];
    to[row * width + column] = sum;
}
