/*
 * Separable convolution: along the rows, then along the columns. Outside the picture is 0. A thread
 * computes RESULTS pixels that lie a block apart, so that a block's threads always touch neighbours;
 * with them the block loads one block of pixels more on either side, which covers the radius.
 */

__kernel __attribute__((reqd_work_group_size(ROWS_X, ROWS_Y, 1)))
void convolve_rows(__global const float *from, __global float *to, __constant float *weights,
                   int width, int height)
{
    __local float pixels[ROWS_Y][(RESULTS + 2) * ROWS_X];
    int x = get_local_id(0), y = get_local_id(1);
    int left = (int)get_group_id(0) * RESULTS * ROWS_X - ROWS_X; /* of what is loaded */
    int row = get_global_id(1);

    for (int i = 0; i < RESULTS + 2; i++) {
        int column = left + i * ROWS_X + x;
        bool inside = column >= 0 && column < width && row < height;
        pixels[y][i * ROWS_X + x] = inside ? from[row * width + column] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 1; i <= RESULTS; i++) {
        int place = i * ROWS_X + x;
        float sum = 0;
        for (int k = -RADIUS; k <= RADIUS; k++)
            sum += weights[k + RADIUS] * pixels[y][place + k];
        if (left + place < width && row < height)
            to[row * width + left + place] = sum;
    }
}

__kernel __attribute__((reqd_work_group_size(COLUMNS_X, COLUMNS_Y, 1)))
void convolve_columns(__global const float *from, __global float *to, __constant float *weights,
                      int width, int height)
{
    __local float pixels[(RESULTS + 2) * COLUMNS_Y][COLUMNS_X];
    int x = get_local_id(0), y = get_local_id(1);
    int top = (int)get_group_id(1) * RESULTS * COLUMNS_Y - COLUMNS_Y;
    int column = get_global_id(0);

    for (int i = 0; i < RESULTS + 2; i++) {
        int row = top + i * COLUMNS_Y + y;
        bool inside = row >= 0 && row < height && column < width;
        pixels[i * COLUMNS_Y + y][x] = inside ? from[row * width + column] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 1; i <= RESULTS; i++) {
        int place = i * COLUMNS_Y + y;
        float sum = 0;
        for (int k = -RADIUS; k <= RADIUS; k++)
            sum += weights[k + RADIUS] * pixels[place + k][x];
        if (top + place < height && column < width)
            to[(top + place) * width + column] = sum;
    }
}
