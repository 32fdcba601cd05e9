/*
 * Convolution of a volume with a kernel of 3x3x3 points, eleven of them not zero: the centre, its
 * neighbours in y and the eight corners. A launch computes one plane, one point per thread, all
 * read from global memory. The faces of the volume stay zero.
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void convolve_plane(__global const float *volume, __global float *result, int width, int height,
                    int depth, int z)
{
    int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
    int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
    int row = width, plane = width * height;

    if (x < 1 || x >= width - 1 || y < 1 || y >= height - 1 || z < 1 || z >= depth - 1)
        return;
    int i = z * plane + y * row + x;
    result[i] = 2.00f * volume[i - plane - row - 1] + 0.50f * volume[i + plane - row - 1] -
                3.25f * volume[i - plane + row - 1] - 0.75f * volume[i + plane + row - 1] +
                5.00f * volume[i - row] + 6.50f * volume[i] - 8.75f * volume[i + row] -
                1.50f * volume[i - plane - row + 1] + 7.25f * volume[i + plane - row + 1] +
                4.50f * volume[i - plane + row + 1] - 9.00f * volume[i + plane + row + 1];
}
