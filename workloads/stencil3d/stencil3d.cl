/*
 * A stencil of seven points in a box. A block covers twice as many columns along x as it has
 * threads there, two per thread, and walks along z. The plane at z lies in local memory; the points
 * behind and ahead of it stay in registers. What lies beyond the block's part of the plane comes
 * from global memory. The faces of the box keep their values, which both arrays have.
 */

/* The sum of the four neighbours in the plane. `column` and `row` are the point's place in the
 * block's part of it, which has `columns` x `rows` points; i is its place in the box. */
float neighbours(__local const float *plane, __global const float *from, int i, int column, int row,
                 int columns, int rows, int width)
{
    int at = row * columns + column;
    float left = column > 0 ? plane[at - 1] : from[i - 1];
    float right = column < columns - 1 ? plane[at + 1] : from[i + 1];
    float above = row > 0 ? plane[at - columns] : from[i - width];
    float below = row < rows - 1 ? plane[at + columns] : from[i + width];

    return left + right + above + below;
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void stencil(__global const float *from, __global float *to, __local float *plane, int width,
             int height, int depth, float around, float centre)
{
    int row = get_local_id(1), rows = get_local_size(1), columns = 2 * get_local_size(0);
    int column = get_local_id(0), column2 = column + get_local_size(0);
    int x = get_group_id(0) * columns + column, x2 = x + get_local_size(0);
    int y = get_group_id(1) * rows + row;
    int i = y * width + x, i2 = y * width + x2, step = width * height;
    bool inside = x < width && y < height, inside2 = x2 < width && y < height;
    bool inner_row = y > 0 && y < height - 1;
    bool inner = inner_row && x > 0 && x < width - 1;
    bool inner2 = inner_row && x2 > 0 && x2 < width - 1;
    float behind = 0, here = 0, ahead = 0, behind2 = 0, here2 = 0, ahead2 = 0;

    if (inside) {
        behind = from[i];
        here = from[i + step];
    }
    if (inside2) {
        behind2 = from[i2];
        here2 = from[i2 + step];
    }
    for (int z = 1; z < depth - 1; z++) {
        i += step;
        i2 += step;
        plane[row * columns + column] = here;
        plane[row * columns + column2] = here2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (inside)
            ahead = from[i + step];
        if (inner)
            to[i] = around * (neighbours(plane, from, i, column, row, columns, rows, width) +
                              behind + ahead) - centre * here;
        if (inside2)
            ahead2 = from[i2 + step];
        if (inner2)
            to[i2] = around * (neighbours(plane, from, i2, column2, row, columns, rows, width) +
                               behind2 + ahead2) - centre * here2;
        barrier(CLK_LOCAL_MEM_FENCE); /* all have read the plane */
        behind = here;
        here = ahead;
        behind2 = here2;
        here2 = ahead2;
    }
}
