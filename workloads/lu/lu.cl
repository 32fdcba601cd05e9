/*
 * LU decomposition without pivots, in place, tile by tile. Three launches per tile of the diagonal:
 * the tile itself, then the tiles right of it and below it, then all that remains. L has ones on
 * its diagonal, which are not stored.
 */
#define TILE DIAGONAL_X

/* The tile at the diagonal, a row of U and a column of L at a time: one thread for each column of
 * the row, then one for each row of the column. One block only. */
__kernel __attribute__((reqd_work_group_size(DIAGONAL_X, 1, 1)))
void diagonal(__global float *matrix, int size, int start)
{
    __local float tile[TILE][TILE];
    int x = get_local_id(0), side = get_local_size(0);
    __global float *corner = matrix + start * size + start;

    for (int y = 0; y < side; y++)
        tile[y][x] = corner[y * size + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < side; k++) {
        if (x >= k)
            for (int j = 0; j < k; j++)
                tile[k][x] -= tile[k][j] * tile[j][x];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (x > k) {
            for (int j = 0; j < k; j++)
                tile[x][k] -= tile[x][j] * tile[j][k];
            tile[x][k] /= tile[k][k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int y = 0; y < side; y++)
        corner[y * size + x] = tile[y][x];
}

/* A tile of the row of tiles right of the diagonal and its mirror image below it. The first half of
 * the block has a column of the one each, the second half a row of the other. */
__kernel __attribute__((reqd_work_group_size(PERIMETER_X, 1, 1)))
void perimeter(__global float *matrix, int size, int start)
{
    __local float corner[TILE][TILE], right[TILE][TILE], below[TILE][TILE];
    int side = get_local_size(0) / 2, x = get_local_id(0) % side;
    bool is_row = get_local_id(0) >= side; /* of the tile below; else a column of the right one */
    int away = start + ((int)get_group_id(0) + 1) * side;

    for (int y = is_row; y < side; y += 2)
        corner[y][x] = matrix[(start + y) * size + start + x];
    for (int y = 0; y < side; y++)
        if (!is_row)
            right[y][x] = matrix[(start + y) * size + away + x];
        else
            below[y][x] = matrix[(away + y) * size + start + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!is_row) {
        for (int i = 1; i < side; i++)
            for (int j = 0; j < i; j++)
                right[i][x] -= corner[i][j] * right[j][x];
    } else {
        for (int i = 0; i < side; i++) {
            for (int j = 0; j < i; j++)
                below[x][i] -= below[x][j] * corner[j][i];
            below[x][i] /= corner[i][i];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int y = 0; y < side; y++)
        if (!is_row)
            matrix[(start + y) * size + away + x] = right[y][x];
        else
            matrix[(away + y) * size + start + x] = below[y][x];
}

/* All other tiles: less the product of the tile left in its row and the tile above in its column. */
__kernel __attribute__((reqd_work_group_size(INTERNAL_X, INTERNAL_Y, 1)))
void internal(__global float *matrix, int size, int start)
{
    __local float left[TILE][TILE], above[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1), side = get_local_size(0);
    int column = start + ((int)get_group_id(0) + 1) * side + x;
    int row = start + ((int)get_group_id(1) + 1) * side + y;
    float sum = 0;

    left[y][x] = matrix[row * size + start + x];
    above[y][x] = matrix[(start + y) * size + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < side; i++)
        sum += left[y][i] * above[i][x];
    matrix[row * size + column] -= sum;
}
