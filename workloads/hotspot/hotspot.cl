/*
 * Heat flow on a square chip. A block loads its cells with a margin of `pyramid` cells on all sides
 * and makes up to that many steps in local memory. Each step leaves one ring of cells less whose
 * neighbours are right; what remains after the last one is the block's own part of the chip.
 */
#define SIDE BLOCK_X

struct rates {
    float side, above, power, outside;
};

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void hotspot(__global const float *from, __global const float *power, __global float *to,
             struct rates rates, int side, int pyramid, int steps)
{
    __local float cells[SIDE][SIDE], heating[SIDE][SIDE];
    int x = get_local_id(0), y = get_local_id(1), own = SIDE - 2 * pyramid;
    int column = (int)get_group_id(0) * own + x - pyramid;
    int row = (int)get_group_id(1) * own + y - pyramid;
    bool inside = column >= 0 && column < side && row >= 0 && row < side;
    /* At the edge of the chip a cell is its own neighbour. */
    int west = column > 0 ? x - 1 : x, east = column < side - 1 ? x + 1 : x;
    int north = row > 0 ? y - 1 : y, south = row < side - 1 ? y + 1 : y;

    if (inside) {
        cells[y][x] = from[row * side + column];
        heating[y][x] = power[row * side + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step <= steps; step++) {
        bool right = inside && min(x, y) >= step && max(x, y) < SIDE - step;
        float now = 0;
        if (right) {
            now = cells[y][x];
            float around = cells[y][west] + cells[y][east] + cells[north][x] + cells[south][x];
            now += rates.side * (around - 4 * now) + rates.above * (rates.outside - now) +
                   rates.power * heating[y][x];
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* everybody has read the step before */
        if (right)
            cells[y][x] = now;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (inside && min(x, y) >= pyramid && max(x, y) < SIDE - pyramid)
        to[row * side + column] = cells[y][x];
}
