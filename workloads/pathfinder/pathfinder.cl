/*
 * The least cost of reaching each cell of a row, from that of the three cells next to it in the row
 * before. A block loads one row with a margin of `pyramid` columns on both sides and makes up to as
 * many rows in local memory; each of them has one column less on both sides whose cost is right.
 * Rows are read from one array and written to the other, so there is one barrier each.
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void rows(__global const int *costs, __global const int *from, __global int *to, int columns,
          int row, int count, int pyramid)
{
    __local int sums[2][BLOCK_X];
    int lane = get_local_id(0), source = 0;
    int column = (int)get_group_id(0) * (BLOCK_X - 2 * pyramid) + lane - pyramid;
    bool inside = column >= 0 && column < columns;
    int left = column > 0 ? lane - 1 : lane, right = column < columns - 1 ? lane + 1 : lane;

    if (inside)
        sums[0][lane] = from[column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 1; i <= count; i++, source ^= 1) {
        if (inside && lane >= i && lane < BLOCK_X - i) {
            int least = min(sums[source][lane], min(sums[source][left], sums[source][right]));
            sums[source ^ 1][lane] = least + costs[(row + i - 1) * columns + column];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (inside && lane >= pyramid && lane < BLOCK_X - pyramid)
        to[column] = sums[source][lane];
}
