/*
 * Non-local means (Buades, Coll and Morel, 2005): a pixel becomes the mean of those around it, each
 * weighted by how much its surroundings look like the pixel's own. A thread a pixel; all pixels are
 * read from global memory, at the edge the nearest one of the picture. `restrict` tells the
 * compiler that it does not change, so that it may come through a cache for such data, as textures
 * do.
 *
 * WINDOW is how far the pixels are that count, PATCH how far the surroundings reach.
 */

float pixel(__global const float *restrict picture, int width, int height, int x, int y)
{
    return picture[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void denoise(__global const float *restrict from, __global float *restrict to, int width,
             int height, float sharpness, float nearness)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0, weights = 0;

    if (x >= width || y >= height)
        return;
    for (int j = -WINDOW; j <= WINDOW; j++)
        for (int i = -WINDOW; i <= WINDOW; i++) {
            float apart = 0;
            for (int n = -PATCH; n <= PATCH; n++)
                for (int m = -PATCH; m <= PATCH; m++) {
                    float difference = pixel(from, width, height, x + i + m, y + j + n) -
                                       pixel(from, width, height, x + m, y + n);
                    apart += difference * difference;
                }
            float weight = native_exp(-(apart * sharpness + (i * i + j * j) * nearness));
            sum += weight * pixel(from, width, height, x + i, y + j);
            weights += weight;
        }
    to[y * width + x] = sum / weights;
}
