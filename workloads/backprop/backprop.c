/*
 * One step of training a neural network with a hidden layer and one output: the layer's sums and
 * the change of its weights on the device, the little that lies between them on the host.
 */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    INPUTS,
    HIDDEN,
    BLOCK,
};

enum {
    TILE = 16, /* inputs and hidden units of a block at most */
};

static const struct option_row options[] = {
    [INPUTS] = {"inputs", "units", "size of the input layer", 1024, 0, TILE, 1 << 20,
                .multiple = TILE},
    [HIDDEN] = {"hidden", "units", "size of the hidden layer", 16, 0, TILE, 1024, .multiple = TILE},
    [BLOCK] = {"block", "threads", "side of a block", 16, 0, 1, 16, POWER_OF_TWO},
    {0},
};

static const struct program program = {
    "backprop", "A training step of a neural network with one hidden layer.", options};

static const float rate = 0.3f, momentum = 0.3f;
static const double target = 0.1; /* what the output should be */

struct network {
    cl_uint inputs, hidden;
    float *input;   /* their values, of 0 to 1 */
    float *weights; /* from an input to a hidden unit: [inputs][hidden] */
    float *changes; /* of the weights in the step before */
    float *out;     /* weights from the hidden units to the output */
};

static float *random_floats(struct workload *w, size_t count, float low, float high)
{
    float *numbers = zeroed(count, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = random_float(w, low, high);
    return numbers;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* From the sums at the hidden units to the slopes of the error along them. */
static double *slopes(const struct network *net, const double *sums)
{
    double *delta = zeroed(net->hidden, sizeof *delta), sum = 0;
    for (cl_uint h = 0; h < net->hidden; h++)
        sum += net->out[h] * sigmoid(sums[h]);
    double result = sigmoid(sum), wrong = result * (1 - result) * (target - result);
    for (cl_uint h = 0; h < net->hidden; h++) {
        double unit = sigmoid(sums[h]);
        delta[h] = unit * (1 - unit) * net->out[h] * wrong;
    }
    return delta;
}

/* The whole step on the host: the sums, and the weights in place of what weights gets. */
static void train(const struct network *net, double *sums, double *weights)
{
    for (cl_uint i = 0; i < net->inputs; i++)
        for (cl_uint h = 0; h < net->hidden; h++)
            sums[h] += (double)net->weights[(size_t)i * net->hidden + h] * net->input[i];
    double *delta = slopes(net, sums);
    for (cl_uint i = 0; i < net->inputs; i++)
        for (cl_uint h = 0; h < net->hidden; h++) {
            size_t k = (size_t)i * net->hidden + h;
            weights[k] = net->weights[k] + rate * delta[h] * net->input[i] +
                         momentum * (double)net->changes[k];
        }
    free(delta);
}

/* The step with the device: it leaves the sums there were and the new weights. */
static void train_on_device(struct workload *w, const struct network *net, float *sums,
                            float *weights)
{
    cl_uint inputs = net->inputs, hidden = net->hidden;
    size_t bytes = (size_t)inputs * hidden * sizeof(float);
    struct shape block = {"BLOCK", option(w, BLOCK), option(w, BLOCK)};
    workload_build(w, &block, 1, NULL);
    size_t across = hidden / block.x, down = inputs / block.y;
    float *parts = zeroed(down * hidden, sizeof *parts);
    cl_mem input = workload_input(w, net->input, inputs * sizeof *net->input);
    cl_mem weights_device = workload_input(w, net->weights, bytes);
    cl_mem changes = workload_input(w, net->changes, bytes);
    cl_mem parts_device = workload_output(w, down * hidden * sizeof *parts);
    cl_mem delta_device = workload_output(w, hidden * sizeof(float));

    cl_kernel forward = workload_kernel(w, "forward"), adjust = workload_kernel(w, "adjust");
    workload_args(w, forward, ARG(input), ARG(weights_device), ARG(parts_device), ARG(hidden));
    workload_launch(w, forward, &block, across, down, 1);
    workload_read(w, parts_device, parts, down * hidden * sizeof *parts);
    double *exact = zeroed(hidden, sizeof *exact);
    for (size_t i = 0; i < down * hidden; i++)
        exact[i % hidden] += parts[i];
    double *delta = slopes(net, exact);
    float *delta_float = zeroed(hidden, sizeof *delta_float);
    for (cl_uint h = 0; h < hidden; h++) {
        sums[h] = (float)exact[h];
        delta_float[h] = (float)(rate * delta[h]);
    }
    workload_write(w, delta_device, delta_float, hidden * sizeof *delta_float);
    workload_args(w, adjust, ARG(input), ARG(delta_device), ARG(weights_device), ARG(changes),
                  ARG(hidden), ARG(momentum));
    workload_launch(w, adjust, &block, across, down, 1);
    workload_read(w, weights_device, weights, bytes);
    free(parts);
    free(exact);
    free(delta);
    free(delta_float);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint inputs = (cl_uint)option(w, INPUTS), hidden = (cl_uint)option(w, HIDDEN);
    size_t count = (size_t)inputs * hidden;
    float largest = 1 / sqrtf((float)inputs);
    struct network net = {inputs,
                          hidden,
                          random_floats(w, inputs, 0, 1),
                          random_floats(w, count, -largest, largest),
                          random_floats(w, count, -largest / 8, largest / 8),
                          random_floats(w, hidden, -1, 1)};
    double *sums = zeroed(hidden, sizeof *sums), *weights = zeroed(count, sizeof *weights);
    train(&net, sums, weights);

    float *sums_got = zeroed(hidden, sizeof *sums_got);
    float *weights_got = zeroed(count, sizeof *weights_got);
    train_on_device(w, &net, sums_got, weights_got);
    /* A block rounds a product and four sums of it, and we the total: of terms that are `largest`
     * at most each. */
    double off = 6 * 0x1p-24 * inputs * largest;
    check_floats(w, "sums", sums_got, sums, hidden, 0, off);
    /* Slopes are off by less than a quarter of what the sums are. A weight itself has two products
     * and two sums rounded, none larger than twice the largest weight or than the slope. */
    check_floats(w, "weights", weights_got, weights, count, 0,
                 rate * off / 4 + 8 * 0x1p-24 * (largest + rate / 16));
    free(net.input);
    free(net.weights);
    free(net.changes);
    free(net.out);
    free(sums);
    free(weights);
    free(sums_got);
    free(weights_got);
    return workload_close(w);
}
