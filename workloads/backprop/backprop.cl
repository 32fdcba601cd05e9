/*
 * The hidden layer of a neural network. A block has a tile of the weights: x are hidden units, y
 * are inputs. weights[i][h] leads from input i to hidden unit h.
 */

/* Sums up a tile's products at each of its hidden units; parts[k] are those of the k-th row of
 * tiles. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void forward(__global const float *input, __global const float *weights, __global float *parts,
             uint hidden)
{
    __local float values[BLOCK_Y], products[BLOCK_Y][BLOCK_X];
    uint x = get_local_id(0), y = get_local_id(1);
    uint unit = get_global_id(0), row = get_global_id(1);

    if (x == 0)
        values[y] = input[row];
    barrier(CLK_LOCAL_MEM_FENCE);
    products[y][x] = weights[row * hidden + unit] * values[y];
#pragma unroll 1 /* the published program computes the number of rounds at run time */
    for (uint rest = BLOCK_Y / 2; rest > 0; rest /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (y < rest)
            products[y][x] += products[y + rest][x];
    }
    if (y == 0) /* the thread that made the sum */
        parts[get_group_id(1) * hidden + unit] = products[0][x];
}

/* Moves the weights against the slope of the error, and on as they moved before. slopes has one for
 * each hidden unit, times the rate of learning. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void adjust(__global const float *input, __global const float *slopes, __global float *weights,
            __global float *changes, uint hidden, float momentum)
{
    uint unit = get_global_id(0), row = get_global_id(1), i = row * hidden + unit;
    float change = slopes[unit] * input[row] + momentum * changes[i];

    weights[i] += change;
    changes[i] = change;
}
