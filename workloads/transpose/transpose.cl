/*
 * A block turns one tile in local memory, so that it reads rows and writes rows. A column more than
 * the tile has keeps the reading of its columns free of bank conflicts.
 */
#define TILE BLOCK_X

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void transpose(__global const float *from, __global float *to, uint rows, uint columns)
{
    __local float tile[TILE][TILE + 1];
    uint x = get_local_id(0), y = get_local_id(1);
    uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;

    if (left + x < columns && top + y < rows)
        tile[y][x] = from[(top + y) * columns + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (top + x < rows && left + y < columns)
        to[(left + y) * rows + top + x] = tile[x][y];
}
