/*
 * Speckle-reducing anisotropic diffusion (Yu and Acton, 2002): a step finds for each pixel how
 * freely brightness may flow there, little where the picture varies more than speckle does, and then
 * lets it flow. A pixel at the edge has itself as a neighbour there.
 *
 * Square blocks work in local memory and leave there what a later phase needs, so that threads can do
 * with few registers. Flat blocks read everything from global memory.
 */

/* How freely brightness flows at a pixel, 0 to 1, from its differences to the four neighbours. */
float freedom(float here, float north, float south, float west, float east, float speckle)
{
    float slope = (north * north + south * south + west * west + east * east) / (here * here);
    float bend = (north + south + west + east) / here;
    float scale = 1 + 0.25f * bend;
    float variation = (0.5f * slope - 0.0625f * bend * bend) / (scale * scale);

    return clamp(1 / (1 + (variation - speckle) / (speckle * (1 + speckle))), 0.0f, 1.0f);
}

__kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1)))
void tile_freedoms(__global const float *picture, __global float *freedoms, __global float *norths,
                   __global float *souths, __global float *wests, __global float *easts, int width,
                   int height, float speckle)
{
    __local float pixels[TILE_Y][TILE_X], free[TILE_Y][TILE_X];
    __local float north[TILE_Y][TILE_X], south[TILE_Y][TILE_X];
    __local float west[TILE_Y][TILE_X], east[TILE_Y][TILE_X];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1), i = row * width + column;
    bool inside = column < width && row < height;

    if (inside) {
        pixels[y][x] = picture[i];
        /* Neighbours in other tiles come from the picture. */
        if (y == 0)
            north[y][x] = picture[row > 0 ? i - width : i];
        if (y == TILE_Y - 1 || row == height - 1)
            south[y][x] = picture[row < height - 1 ? i + width : i];
        if (x == 0)
            west[y][x] = picture[column > 0 ? i - 1 : i];
        if (x == TILE_X - 1 || column == width - 1)
            east[y][x] = picture[column < width - 1 ? i + 1 : i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside) {
        float here = pixels[y][x];
        north[y][x] = (y > 0 ? pixels[y - 1][x] : north[y][x]) - here;
        south[y][x] = (y < TILE_Y - 1 && row < height - 1 ? pixels[y + 1][x] : south[y][x]) - here;
        west[y][x] = (x > 0 ? pixels[y][x - 1] : west[y][x]) - here;
        east[y][x] = (x < TILE_X - 1 && column < width - 1 ? pixels[y][x + 1] : east[y][x]) - here;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside)
        free[y][x] = freedom(pixels[y][x], north[y][x], south[y][x], west[y][x], east[y][x],
                             speckle);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside) {
        freedoms[i] = free[y][x];
        norths[i] = north[y][x];
        souths[i] = south[y][x];
        wests[i] = west[y][x];
        easts[i] = east[y][x];
    }
}

__kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1)))
void tile_flow(__global float *picture, __global const float *freedoms,
               __global const float *norths, __global const float *souths,
               __global const float *wests, __global const float *easts, int width, int height,
               float rate)
{
    __local float free[TILE_Y][TILE_X], below[TILE_Y][TILE_X], right[TILE_Y][TILE_X];
    __local float pixels[TILE_Y][TILE_X], flow[TILE_Y][TILE_X];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1), i = row * width + column;
    bool inside = column < width && row < height;

    if (inside) {
        pixels[y][x] = picture[i];
        free[y][x] = freedoms[i];
        if (y == TILE_Y - 1 || row == height - 1)
            below[y][x] = freedoms[row < height - 1 ? i + width : i];
        if (x == TILE_X - 1 || column == width - 1)
            right[y][x] = freedoms[column < width - 1 ? i + 1 : i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside) {
        float here = free[y][x];
        float south = y < TILE_Y - 1 && row < height - 1 ? free[y + 1][x] : below[y][x];
        float east = x < TILE_X - 1 && column < width - 1 ? free[y][x + 1] : right[y][x];
        flow[y][x] = here * norths[i] + south * souths[i] + here * wests[i] + east * easts[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside)
        picture[i] = pixels[y][x] + 0.25f * rate * flow[y][x];
}

__kernel __attribute__((reqd_work_group_size(FLAT_X, 1, 1)))
void flat_freedoms(__global const float *picture, __global float *freedoms, __global float *norths,
                   __global float *souths, __global float *wests, __global float *easts, int width,
                   int height, float speckle)
{
    int i = get_global_id(0), column = i % width, row = i / width;

    if (row >= height)
        return;
    float here = picture[i];
    float north = picture[row > 0 ? i - width : i] - here;
    float south = picture[row < height - 1 ? i + width : i] - here;
    float west = picture[column > 0 ? i - 1 : i] - here;
    float east = picture[column < width - 1 ? i + 1 : i] - here;
    freedoms[i] = freedom(here, north, south, west, east, speckle);
    norths[i] = north;
    souths[i] = south;
    wests[i] = west;
    easts[i] = east;
}

__kernel __attribute__((reqd_work_group_size(FLAT_X, 1, 1)))
void flat_flow(__global float *picture, __global const float *freedoms,
               __global const float *norths, __global const float *souths,
               __global const float *wests, __global const float *easts, int width, int height,
               float rate)
{
    int i = get_global_id(0), column = i % width, row = i / width;

    if (row >= height)
        return;
    float here = freedoms[i], south = freedoms[row < height - 1 ? i + width : i];
    float east = freedoms[column < width - 1 ? i + 1 : i];
    float flow = here * norths[i] + south * souths[i] + here * wests[i] + east * easts[i];
    picture[i] += 0.25f * rate * flow;
}
