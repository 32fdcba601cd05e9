/*
 * Follows points from frame to frame, a block a point. In the first frame the surroundings of each
 * point become its template, shifted to a mean of 0 and scaled to a length of 1. In every later one
 * a thread correlates it with the pixels around one place near where the point was, and the place of
 * the highest correlation wins.
 */

/* RADIUS is that of templates, REACH how far a point moves at most between frames, in pixels. */
#define SIDE (2 * RADIUS + 1)   /* of a template */
#define PLACES (2 * REACH + 1)  /* along a side of where a point may be */
#define WIDE (SIDE + 2 * REACH) /* side of the window of pixels around all of these */
#define ROW 32                  /* threads that load pixels of the same row */

/* Outside, a frame goes on as at its edge. */
float pixel(__global const float *frame, int width, int height, int x, int y)
{
    return frame[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void take_templates(__global const float *frame, __global const int2 *points,
                    __global float *templates, int width, int height)
{
    __local float sums[BLOCK_X], squares[BLOCK_X];
    int lane = get_local_id(0);
    int2 point = points[get_group_id(0)];
    __global float *own = templates + get_group_id(0) * SIDE * SIDE;
    float sum = 0, square = 0;

    for (int i = lane; i < SIDE * SIDE; i += BLOCK_X) {
        int x = point.x - RADIUS + i % SIDE, y = point.y - RADIUS + i / SIDE;
        float value = pixel(frame, width, height, x, y);
        own[i] = value;
        sum += value;
        square += value * value;
    }
    sums[lane] = sum;
    squares[lane] = square;
#pragma unroll 1 /* compilers of the papers unrolled only loops that count in steps */
    for (int apart = BLOCK_X / 2; apart > 0; apart /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < apart) {
            sums[lane] += sums[lane + apart];
            squares[lane] += squares[lane + apart];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float mean = sums[0] / (SIDE * SIDE);
    float scale = 1 / sqrt(squares[0] - sums[0] * mean);
    for (int i = lane; i < SIDE * SIDE; i += BLOCK_X)
        own[i] = (own[i] - mean) * scale;
}

/* How well the pixels of a window from this place on correlate with a template, -1 to 1. */
float correlation(__local const float (*template)[SIDE], __local const float *pixels)
{
    float sum = 0, square = 0, product = 0;

#pragma unroll 1 /* a row is long enough, and a large template would make long code */
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            float value = pixels[y * WIDE + x];
            sum += value;
            square += value * value;
            product += template[y][x] * value;
        }
    return product / sqrt(square - sum * sum / (SIDE * SIDE));
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void track(__global const float *frame, __global const float *templates, __global int2 *points,
           __global float *scores, int width, int height)
{
    __local float template[SIDE][SIDE], window[WIDE][WIDE], best[BLOCK_X];
    __local int where[BLOCK_X];
    int lane = get_local_id(0);
    int2 point = points[get_group_id(0)], corner = point - RADIUS - REACH;
    float highest = -2;
    int found = 0;

    for (int i = lane; i < SIDE * SIDE; i += BLOCK_X)
        template[i / SIDE][i % SIDE] = templates[get_group_id(0) * SIDE * SIDE + i];
    for (int y = lane / ROW; y < WIDE; y += BLOCK_X / ROW)
        for (int x = lane % ROW; x < WIDE; x += ROW)
            window[y][x] = pixel(frame, width, height, corner.x + x, corner.y + y);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = lane; i < PLACES * PLACES; i += BLOCK_X) {
        float score = correlation(template, &window[i / PLACES][i % PLACES]);
        if (score > highest) {
            highest = score;
            found = i;
        }
    }
    best[lane] = highest;
    where[lane] = found;
#pragma unroll 1 /* as above */
    for (int apart = BLOCK_X / 2; apart > 0; apart /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < apart && best[lane + apart] > best[lane]) {
            best[lane] = best[lane + apart];
            where[lane] = where[lane + apart];
        }
    }
    if (lane == 0) {
        int2 step = (int2)(where[0] % PLACES, where[0] / PLACES) - REACH;
        points[get_group_id(0)] = point + step;
        scores[get_group_id(0)] = best[0];
    }
}
