/*
 * Sums of absolute differences for motion search: each block of the current picture against a
 * reference picture at every displacement of up to RANGE pixels in both directions. Pixels outside
 * the reference are those at its edge. Sums of 4x4 pixels come from the pixels; those of larger
 * blocks come from sums of smaller ones. A block's sums lie one behind the other, by displacement.
 * `restrict` tells the compiler that the reference does not change, so that it may come through a
 * cache for such data, as textures do.
 */
#define SIDE (2 * RANGE + 1)
#define POSITIONS (SIDE * SIDE)

/* One 4x4 block per work-group, `share` displacements per thread. */
__kernel __attribute__((reqd_work_group_size(SEARCH_X, 1, 1)))
void sad_4x4(__global const uchar *current, __global const uchar *restrict reference,
             __global ushort *restrict sums, int width, int height, int share)
{
    __local int own[16];
    int left = get_group_id(0) * 4, top = get_group_id(1) * 4;
    int block = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    int first = get_local_id(0) * share, last = min(first + share, POSITIONS);

    for (int i = get_local_id(0); i < 16; i += get_local_size(0))
        own[i] = current[(top + i / 4) * width + left + i % 4];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int position = first; position < last; position++) {
        int x = left + position % SIDE - RANGE, y = top + position / SIDE - RANGE, sum = 0;
        for (int i = 0; i < 4; i++) {
            __global const uchar *row = reference + clamp(y + i, 0, height - 1) * width;
            for (int j = 0; j < 4; j++)
                sum += abs(own[4 * i + j] - row[clamp(x + j, 0, width - 1)]);
        }
        sums[block * POSITIONS + position] = sum;
    }
}

/* Joins the four blocks of a square to two wide ones, two tall ones and the square itself.
 * (column, row) is the square's place, of `columns` in a row. */
void join(__global const ushort *from, __global ushort *wide, __global ushort *tall,
          __global ushort *square, int column, int row, int columns, int position)
{
    int upper = (2 * row * 2 * columns + 2 * column) * POSITIONS + position;
    int lower = upper + 2 * columns * POSITIONS;
    int a = from[upper], b = from[upper + POSITIONS];
    int c = from[lower], d = from[lower + POSITIONS];

    wide[(2 * row * columns + column) * POSITIONS + position] = a + b;
    wide[((2 * row + 1) * columns + column) * POSITIONS + position] = c + d;
    tall[(row * 2 * columns + 2 * column) * POSITIONS + position] = a + c;
    tall[(row * 2 * columns + 2 * column + 1) * POSITIONS + position] = b + d;
    square[(row * columns + column) * POSITIONS + position] = a + b + c + d;
}

/* A work-group has 16x16 pixels, and each row of its threads a quarter of them. */
__kernel __attribute__((reqd_work_group_size(QUARTERS_X, QUARTERS_Y, 1)))
void sad_8x8(__global const ushort *from, __global ushort *wide, __global ushort *tall,
             __global ushort *square)
{
    for (int quarter = get_local_id(1); quarter < 4; quarter += get_local_size(1))
        for (int position = get_local_id(0); position < POSITIONS; position += get_local_size(0))
            join(from, wide, tall, square, 2 * get_group_id(0) + quarter % 2,
                 2 * get_group_id(1) + quarter / 2, 2 * get_num_groups(0), position);
}

__kernel __attribute__((reqd_work_group_size(WHOLE_X, 1, 1)))
void sad_16x16(__global const ushort *from, __global ushort *wide, __global ushort *tall,
               __global ushort *square)
{
    for (int position = get_local_id(0); position < POSITIONS; position += get_local_size(0))
        join(from, wide, tall, square, get_group_id(0), get_group_id(1), get_num_groups(0),
             position);
}
