/*
 * Fourier transforms of POINTS = 8^n complex numbers, a block a transform, eight points a thread
 * (Stockham's order: no bit reversal). A pass combines transforms of `done` points into ones of
 * 8 * done. Between passes the points change threads through local memory. Loops over the eight are
 * unrolled, so that the points are kept in registers.
 */
#define THREADS (POINTS / 8)
/* A word is left free after every eight, so that stores eight apart meet different banks. */
#define PLACE(i) ((i) + ((i) >> 3))

float2 times(float2 a, float2 b)
{
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* a, b = a + b, a - b */
void butterfly(float2 *a, float2 *b)
{
    float2 difference = *a - *b;
    *a += *b;
    *b = difference;
}

float2 times_minus_i(float2 a)
{
    return (float2)(a.y, -a.x);
}

/* Four points in place; results 1 and 2 change places. */
void transform4(float2 *a, float2 *b, float2 *c, float2 *d)
{
    butterfly(a, c);
    butterfly(b, d);
    *d = times_minus_i(*d);
    butterfly(a, b);
    butterfly(c, d);
}

/* Eight points in place; result r ends up at index r with its three bits reversed. */
void transform8(float2 *v)
{
    float2 turn = (float2)(M_SQRT1_2_F, -M_SQRT1_2_F); /* an eighth of a circle */

#pragma unroll
    for (uint i = 0; i < 4; i++)
        butterfly(&v[i], &v[i + 4]);
    v[5] = times(v[5], turn);
    v[6] = times_minus_i(v[6]);
    v[7] = times_minus_i(times(v[7], turn));
    transform4(&v[0], &v[1], &v[2], &v[3]);
    transform4(&v[4], &v[5], &v[6], &v[7]);
}

uint reversed(uint r)
{
    return (r & 1) << 2 | (r & 2) | r >> 2;
}

/* turns[i] = exp(-2 pi i sqrt(-1) / POINTS) */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void transform(__global const float2 *from, __global float2 *to, __global const float2 *turns)
{
    __local float real[PLACE(POINTS)], imaginary[PLACE(POINTS)];
    uint lane = get_local_id(0), start = get_group_id(0) * POINTS;
    float2 v[8];

#pragma unroll
    for (uint r = 0; r < 8; r++)
        v[r] = from[start + lane + r * THREADS];
    for (uint done = 1;; done *= 8) {
        uint k = lane % done;
#pragma unroll
        for (uint r = 1; r < 8; r++) /* turns[0] is 1: the first pass changes nothing */
            v[r] = times(v[r], turns[r * k * (THREADS / done)]);
        transform8(v);
        if (done == THREADS)
            break;
        barrier(CLK_LOCAL_MEM_FENCE); /* everybody has read the pass before */
#pragma unroll
        for (uint r = 0; r < 8; r++) {
            uint i = PLACE((lane - k) * 8 + k + r * done);
            real[i] = v[reversed(r)].x;
            imaginary[i] = v[reversed(r)].y;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint r = 0; r < 8; r++) {
            uint i = PLACE(lane + r * THREADS);
            v[r] = (float2)(real[i], imaginary[i]);
        }
    }
#pragma unroll
    for (uint r = 0; r < 8; r++)
        to[start + lane + r * THREADS] = v[reversed(r)];
}
