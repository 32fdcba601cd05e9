/*
 * The two matrix-vector products of a step of the biconjugate gradient method. The matrix is stored
 * by rows: threads of times_matrix read along a row each, those of times_transpose read neighbours.
 */

/* q = A p, one row per thread. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void times_matrix(__global const float *matrix, __global const float *p, __global float *q,
                  int rows, int columns)
{
    int row = get_group_id(0) * get_local_size(0) + get_local_id(0);

    if (row < rows) {
        q[row] = 0;
        for (int column = 0; column < columns; column++)
            q[row] += matrix[row * columns + column] * p[column];
    }
}

/* s = transpose(A) r, one column per thread. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void times_transpose(__global const float *matrix, __global const float *r, __global float *s,
                     int rows, int columns)
{
    int column = get_group_id(0) * get_local_size(0) + get_local_id(0);

    if (column < columns) {
        s[column] = 0;
        for (int row = 0; row < rows; row++)
            s[column] += matrix[row * columns + column] * r[row];
    }
}
