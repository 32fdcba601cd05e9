/*
 * One step of Maxwell's equations in two dimensions by finite differences: the electric field along
 * y, then along x, then the magnetic field, one launch each and one cell per thread. A thread reads
 * its neighbours from global memory. Every array is [height][width].
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void electric_y(__global const float *source, __global float *ey, __global const float *hz,
                int width, int height, int step)
{
    int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
    int y = get_group_id(1) * get_local_size(1) + get_local_id(1);

    if (x < width && y < height) {
        int i = y * width + x;
        if (y == 0)
            ey[i] = source[step];
        else
            ey[i] = ey[i] - 0.5f * (hz[i] - hz[i - width]);
    }
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void electric_x(__global float *ex, __global const float *hz, int width, int height)
{
    int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
    int y = get_group_id(1) * get_local_size(1) + get_local_id(1);

    if (x > 0 && x < width && y < height) {
        int i = y * width + x;
        ex[i] = ex[i] - 0.5f * (hz[i] - hz[i - 1]);
    }
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void magnetic(__global const float *ex, __global const float *ey, __global float *hz, int width,
              int height)
{
    int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
    int y = get_group_id(1) * get_local_size(1) + get_local_id(1);

    if (x < width - 1 && y < height - 1) {
        int i = y * width + x;
        hz[i] = hz[i] - 0.7f * (ex[i + 1] - ex[i] + ey[i + width] - ey[i]);
    }
}
