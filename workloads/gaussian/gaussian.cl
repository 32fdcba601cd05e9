/*
 * One column of Gaussian elimination in all rows but its own (Jordan's way), an element a thread.
 * The column itself is not needed again, so its threads keep the right sides in step. Nothing that
 * a launch reads of other rows is written by it: the pivot's row stays as it is.
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void eliminate(__global float *matrix, __global float *right, int size, int column)
{
    __local float factors[BLOCK_Y], pivots[BLOCK_X];
    int x = get_global_id(0), y = get_global_id(1);
    int own_x = get_local_id(0), own_y = get_local_id(1);

    if (own_x == 0 && y < size)
        factors[own_y] = matrix[y * size + column] / matrix[column * size + column];
    if (own_y == 0 && x < size)
        pivots[own_x] = x == column ? right[column] : matrix[column * size + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < column || x >= size || y >= size || y == column)
        return;
    __global float *element = x == column ? right + y : matrix + y * size + x;
    *element -= factors[own_y] * pivots[own_x];
}
