/*
 * A block transforms a tile of 8x8 pixels, a thread a pixel: along the rows, then the columns.
 * table[u][x] is the wave of frequency u at place x.
 */
#define SIDE 8

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void transform(__global const float *from, __global float *to, __constant float *table, uint width)
{
    __local float pixels[SIDE][SIDE], rows[SIDE][SIDE], waves[SIDE][SIDE];
    uint x = get_local_id(0), y = get_local_id(1);
    uint place = get_global_id(1) * width + get_global_id(0);
    float sum = 0;

    waves[x][y] = table[y * SIDE + x]; /* turned: threads of a row then read neighbours */
    pixels[y][x] = from[place];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < SIDE; k++)
        sum += pixels[y][k] * waves[k][x];
    rows[y][x] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0;
    for (uint k = 0; k < SIDE; k++)
        sum += waves[k][y] * rows[k][x];
    to[place] = sum;
}
