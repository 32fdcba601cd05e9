/*
 * A small convolutional network for pictures of digits, a launch a layer. Blocks are as large as what
 * a layer makes of one picture: a map of 13x13, two maps of 5x5, a single neuron. A neuron's weights
 * begin with its bias. Whether threads share inputs or weights is left to the caches.
 */
#define FIRST_COUNT (FIRST_X * FIRST_Y)
#define SECOND_COUNT (SECOND_X * SECOND_Y)
#define TAPS (FILTER * FILTER)

/* The scaled hyperbolic tangent of LeCun. */
float squash(float sum)
{
    return 1.7159f * tanh(sum * 2 / 3);
}

/* A map of every picture's points, two apart. Block: a map of a picture. */
__kernel __attribute__((reqd_work_group_size(FIRST_X, FIRST_Y, 1)))
void first(__global const float *pictures, __global const float *weights, __global float *maps)
{
    int x = get_local_id(0), y = get_local_id(1), map = get_group_id(0);
    int picture = get_group_id(1), all = get_num_groups(0);
    __global const float *corner = pictures + (picture * SIDE + 2 * y) * SIDE + 2 * x;
    __global const float *weight = weights + map * (1 + TAPS);

    float sum = *weight++;
    for (int row = 0; row < FILTER; row++)
        for (int column = 0; column < FILTER; column++)
            sum += *weight++ * corner[row * SIDE + column];
    maps[(picture * all + map) * FIRST_COUNT + y * FIRST_X + x] = squash(sum);
}

/* Of all maps of the first layer, points two apart. Block: two maps of a picture, for which a thread
 * loads what they have in common once. */
__kernel __attribute__((reqd_work_group_size(SECOND_X, SECOND_Y, 1)))
void second(__global const float *from, __global const float *weights, __global float *maps)
{
    int x = get_local_id(0), y = get_local_id(1), map = 2 * get_group_id(0);
    int picture = get_group_id(1), all = 2 * get_num_groups(0);
    __global const float *corner = from + picture * MAPS * FIRST_COUNT + 2 * y * FIRST_X + 2 * x;
    __global const float *weight = weights + map * (1 + MAPS * TAPS);
    __global const float *other = weight + 1 + MAPS * TAPS;

    float sum = *weight++, other_sum = *other++;
    for (int before = 0; before < MAPS; before++, corner += FIRST_COUNT)
        for (int row = 0; row < FILTER; row++)
            for (int column = 0; column < FILTER; column++) {
                float point = corner[row * FIRST_X + column];
                sum += *weight++ * point;
                other_sum += *other++ * point;
            }
    maps += (picture * all + map) * SECOND_COUNT + y * SECOND_X + x;
    maps[0] = squash(sum);
    maps[SECOND_COUNT] = squash(other_sum);
}

/* A neuron of every picture that sees all of the layer before it. Block: a neuron of a picture. */
__kernel __attribute__((reqd_work_group_size(ONE_X, 1, 1)))
void whole(__global const float *from, __global const float *weights, __global float *to, int inputs)
{
    int neuron = get_group_id(0), picture = get_group_id(1), all = get_num_groups(0);
    __global const float *input = from + picture * inputs;
    __global const float *weight = weights + neuron * (1 + inputs);

    float sum = *weight++;
    for (int i = 0; i < inputs; i++)
        sum += weight[i] * input[i];
    to[picture * all + neuron] = squash(sum);
}
