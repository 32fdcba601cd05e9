/*
 * Each inner point of a box becomes the mean of its six neighbours. A block has a column of the box
 * and walks along z with three planes of it in local memory, each with a border of one point; the
 * plane that is left behind makes room for the next. A thread brings its own point of a plane, and
 * the first threads one of the border as well. Of the planes behind and ahead threads read only
 * what they brought themselves, so one barrier a plane is enough.
 */
#define ROW (BLOCK_X + 2)
#define PLANE (ROW * (BLOCK_Y + 2))

/* The point of the border that is this thread's, from the block's first point: above, below, left
 * and right of the block; corners are not needed. Other threads get a point of the block. */
int2 border_point(void)
{
    int x = get_local_id(0), y = get_local_id(1), side = y * BLOCK_X + x - 2 * BLOCK_X;

    if (y < 2)
        return (int2)(x, y == 0 ? -1 : BLOCK_Y);
    if (side < 2 * BLOCK_Y)
        return (int2)(side < BLOCK_Y ? -1 : BLOCK_X, side % BLOCK_Y);
    return (int2)(x, y);
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void relax(__global const float *from, __global float *to, int width, int height, int depth)
{
    __local float planes[3][PLANE];
    int x = get_global_id(0), y = get_global_id(1);
    int i = (get_local_id(1) + 1) * ROW + get_local_id(0) + 1;
    int2 border = border_point();
    int border_i = (border.y + 1) * ROW + border.x + 1;
    border += (int2)(get_group_id(0) * BLOCK_X, get_group_id(1) * BLOCK_Y);
    bool inside = x < width && y < height;
    bool inner = inside && x > 0 && x < width - 1 && y > 0 && y < height - 1;
    bool borders = border.x >= 0 && border.x < width && border.y >= 0 && border.y < height;
    int point = y * width + x, border_away = border.y * width + border.x - point;
    __local float *behind = planes[0], *here = planes[1], *ahead = planes[2];

    if (inside)
        here[i] = from[point];
    if (borders)
        here[border_i] = from[point + border_away];
    for (int z = 0; z < depth; z++, point += width * height) {
        if (inside && z < depth - 1)
            ahead[i] = from[point + width * height];
        if (borders && z < depth - 1)
            ahead[border_i] = from[point + width * height + border_away];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (inside) {
            float value = here[i];
            if (inner && z > 0 && z < depth - 1)
                value = (here[i - 1] + here[i + 1] + here[i - ROW] + here[i + ROW] + behind[i] +
                         ahead[i]) * (1 / 6.0f);
            to[point] = value;
        }
        __local float *oldest = behind;
        behind = here;
        here = ahead;
        ahead = oldest;
    }
}
