/* The number of rounds after which a point leaves the circle of radius 2, in numbers with 26 bits after
 * the point. Neighbouring threads leave the loop after different numbers of rounds. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void mandelbrot(__global uint *out, int width, int height, int rounds)
{
    int column = get_global_id(0), row = get_global_id(1), round = 0;
    long x0 = ((long)column * 3 << 26) / width - (2l << 26);
    long y0 = ((long)row * 2 << 26) / height - (1l << 26), x = 0, y = 0;
    if (column >= width || row >= height)
        return;
    while (round < rounds) {
        long xx = x * x >> 26, yy = y * y >> 26;
        if (xx + yy > 4l << 26)
            break;
        y = (x * y >> 25) + y0;
        x = xx - yy + x0;
        round++;
    }
    out[row * width + column] = round;
}
