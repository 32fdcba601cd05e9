/*
 * c = a b by tiles: a block computes one tile of c and walks along a row of tiles of a and a column
 * of tiles of b. Each is brought to local memory by the whole block and read from there TILE times.
 * Tiles that stick out of the matrices are filled up with zeros.
 */
#define TILE BLOCK_X

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void multiply(__global const float *a, __global const float *b, __global float *c, uint rows,
              uint columns, uint inner)
{
    __local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    uint x = get_local_id(0), y = get_local_id(1);
    uint column = get_group_id(0) * TILE + x, row = get_group_id(1) * TILE + y;
    float sum = 0;

    for (uint start = 0; start < inner; start += TILE) {
        a_tile[y][x] = row < rows && start + x < inner ? a[row * inner + start + x] : 0;
        b_tile[y][x] = column < columns && start + y < inner ? b[(start + y) * columns + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++)
            sum += a_tile[y][k] * b_tile[k][x];
        barrier(CLK_LOCAL_MEM_FENCE); /* everybody has read the tiles */
    }
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
}
