/*
 * Scores of the alignments of all beginnings of two sequences: a row and a column more than there
 * are letters. A block fills one tile from the row above it and the column left of it, diagonal by
 * diagonal, a column a thread. Blocks of a launch lie on a diagonal of the table of tiles.
 */
#define TILE BLOCK_X

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void diagonal(__global const int *matches, __global int *scores, int length, int penalty,
              int diagonal, int first)
{
    /* A column more than the tile and its border have keeps diagonals free of bank conflicts. */
    __local int cells[TILE + 1][TILE + 2], pairs[TILE][TILE];
    int x = get_local_id(0), side = length + 1;
    int tile = first + (int)get_group_id(0);
    int left = tile * TILE, top = (diagonal - tile) * TILE; /* of the border */

    for (int y = 0; y < TILE; y++)
        pairs[y][x] = matches[(top + y) * length + left + x];
    cells[0][x + 1] = scores[top * side + left + x + 1];
    cells[x + 1][0] = scores[(top + x + 1) * side + left];
    if (x == 0)
        cells[0][0] = scores[top * side + left];
    for (int step = 0; step < 2 * TILE - 1; step++) {
        int y = step - x;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (y >= 0 && y < TILE) {
            int gap = max(cells[y][x + 1], cells[y + 1][x]) - penalty;
            cells[y + 1][x + 1] = max(cells[y][x] + pairs[y][x], gap);
        }
    }
    for (int y = 0; y < TILE; y++) /* a thread stores the column which it made */
        scores[(top + y + 1) * side + left + x + 1] = cells[y + 1][x + 1];
}
