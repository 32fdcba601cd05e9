/*
 * Recognises digits by a convolutional network of four layers, each a launch with blocks of another
 * shape, the last two of a single thread. The weights are random, so what it takes a picture for
 * means nothing; the work does not depend on it.
 */
#include "common/workload.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PICTURES,
    MAPS,
    NEURONS,
};

enum {
    SIDE = 29,   /* of a picture: a filter of 5 at every second point gives 13, and from that 5 */
    FILTER = 5,  /* side of a filter */
    FIRST = 13,  /* side of a map of the first layer */
    SECOND = 5,  /* and of the second */
    BEFORE = 6,  /* maps of the first layer */
    DIGITS = 10, /* neurons of the last */
};

static const struct option_row options[] = {
    [PICTURES] = {"pictures", NULL, "number of images", 28, 2, 1, 4096},
    [MAPS] = {"maps", NULL, "feature maps of the second layer", 50, 10, 2, 256, .multiple = 2},
    [NEURONS] = {"neurons", NULL, "neurons of the third layer", 100, 0, 1, 1024},
    {0},
};

static const struct program program = {
    "digits", "Recognises images of digits with a convolutional network.", options};

enum {
    LAYERS = 4,
};

struct layer {
    const char *name;
    size_t maps, side; /* what it makes; a neuron is a map of side 1 */
    size_t inputs;     /* of a neuron */
    float *weights;    /* of each map: bias, then one for each input */
    float *outputs;    /* by picture and map, as the device found them */
};

static size_t outputs(const struct layer *layer)
{
    return layer->maps * layer->side * layer->side;
}

/* Strokes of a digit as pocket calculators show it: above, middle, below, then the upper and lower
 * ones on the left, then on the right. */
static const char strokes[DIGITS][8] = {"1011111", "0000011", "1110110", "1110011", "0101011",
                                        "1111001", "1111101", "1000011", "1111111", "1111011"};

static bool is_stroke(const char *digit, int x, int y)
{
    bool across = x >= 9 && x <= 19, upper = y >= 4 && y <= 14, lower = y >= 14 && y <= 24;
    return (digit[0] == '1' && across && abs(y - 4) < 2) ||
           (digit[1] == '1' && across && abs(y - 14) < 2) ||
           (digit[2] == '1' && across && abs(y - 24) < 2) ||
           (digit[3] == '1' && upper && abs(x - 9) < 2) ||
           (digit[4] == '1' && lower && abs(x - 9) < 2) ||
           (digit[5] == '1' && upper && abs(x - 19) < 2) ||
           (digit[6] == '1' && lower && abs(x - 19) < 2);
}

/* Digits at random, moved a little, with noise. */
static float *random_pictures(struct workload *w, size_t count)
{
    float *pictures = zeroed(count * SIDE * SIDE, sizeof *pictures), *point = pictures;
    for (size_t i = 0; i < count; i++) {
        const char *digit = strokes[random_below(w, DIGITS)];
        int right = (int)random_below(w, 5) - 2, down = (int)random_below(w, 5) - 2;
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                *point++ = (is_stroke(digit, x - right, y - down) ? 1.0f : -1.0f) +
                           random_float(w, -0.2f, 0.2f);
    }
    return pictures;
}

static void make_layers(struct workload *w, struct layer *layers)
{
    size_t maps = (size_t)option(w, MAPS), neurons = (size_t)option(w, NEURONS);
    layers[0] = (struct layer){"first layer", BEFORE, FIRST, FILTER * FILTER, NULL, NULL};
    layers[1] = (struct layer){"second layer", maps, SECOND, BEFORE * FILTER * FILTER, NULL, NULL};
    layers[2] = (struct layer){"third layer", neurons, 1, maps * SECOND * SECOND, NULL, NULL};
    layers[3] = (struct layer){"digits", DIGITS, 1, neurons, NULL, NULL};
    for (struct layer *layer = layers; layer < layers + LAYERS; layer++) {
        size_t weights = layer->maps * (1 + layer->inputs);
        float most = sqrtf(3 / (float)layer->inputs); /* so that sums are of the inputs' size */
        layer->weights = zeroed(weights, sizeof *layer->weights);
        for (size_t i = 0; i < weights; i++)
            layer->weights[i] = random_float(w, -most, most);
        layer->outputs =
            zeroed((size_t)option(w, PICTURES) * outputs(layer), sizeof *layer->outputs);
    }
}

/* One neuron on the host, that of map at (x, y); from are `maps` maps with this side. size is
 * the sum of the terms' sizes. */
static double neuron(const struct layer *layer, size_t map, size_t x, size_t y, const float *from,
                     size_t maps, size_t side, double *size)
{
    const float *weights = layer->weights + map * (1 + layer->inputs);
    size_t filter = layer->side > 1 ? FILTER : side, tap = 1;
    double sum = weights[0];
    *size = fabs(sum);
    for (size_t before = 0; before < maps; before++)
        for (size_t row = 0; row < filter; row++)
            for (size_t column = 0; column < filter; column++) {
                double term = (double)weights[tap++] *
                              from[(before * side + 2 * y + row) * side + 2 * x + column];
                sum += term;
                *size += fabs(term);
            }
    return 1.7159 * tanh(2 * sum / 3);
}

/* Compares a layer with what the host makes of the layer before it. That one was compared itself,
 * so errors need not be followed through the network. */
static void check_layer(struct workload *w, const struct layer *layer, const float *from,
                        size_t maps, size_t side)
{
    size_t pictures = (size_t)option(w, PICTURES), done = 0;
    double *expected = zeroed(pictures * outputs(layer), sizeof *expected), most = 0, size;
    for (size_t picture = 0; picture < pictures; picture++, from += maps * side * side)
        for (size_t map = 0; map < layer->maps; map++)
            for (size_t y = 0; y < layer->side; y++)
                for (size_t x = 0; x < layer->side; x++) {
                    expected[done++] = neuron(layer, map, x, y, from, maps, side, &size);
                    most = fmax(most, size);
                }
    /* A product and a sum are rounded for each input, and the tangent rises by 8/7 at most; OpenCL
     * allows five units in the last place to it. */
    double terms = (double)layer->inputs + 1;
    check_floats(w, layer->name, layer->outputs, expected, done, 0,
                 (terms * most * 8 / 7 + 16 * 1.7159) * 0x1p-24);
    free(expected);
}

/* Runs the network; grids are a block for each map (or two) and picture. */
static void recognise(struct workload *w, struct layer *layers, const float *pictures)
{
    enum {
        MAP13,
        MAP5,
        ONE
    };
    struct shape shapes[] = {{"FIRST", FIRST, FIRST}, {"SECOND", SECOND, SECOND}, {"ONE", 1}};
    static const char *const kernels[LAYERS] = {"first", "second", "whole", "whole"};
    static const int shape_of[LAYERS] = {MAP13, MAP5, ONE, ONE};
    workload_build(w, shapes, 3, "-D SIDE=%d -D FILTER=%d -D MAPS=%d", SIDE, FILTER, BEFORE);
    if (shapes[MAP13].x != FIRST)
        fail(w, "a map needs a block of %dx%d threads", FIRST, FIRST);
    size_t count = (size_t)option(w, PICTURES);
    cl_mem from = workload_input(w, pictures, count * SIDE * SIDE * sizeof *pictures);
    for (int i = 0; i < LAYERS; i++) {
        struct layer *layer = &layers[i];
        size_t bytes = count * outputs(layer) * sizeof(float);
        cl_mem weights =
            workload_input(w, layer->weights, layer->maps * (1 + layer->inputs) * sizeof(float));
        cl_mem to = workload_output(w, bytes);
        cl_kernel kernel = workload_kernel(w, kernels[i]);
        cl_int inputs = (cl_int)layer->inputs;
        if (shape_of[i] == ONE)
            workload_args(w, kernel, ARG(from), ARG(weights), ARG(to), ARG(inputs));
        else
            workload_args(w, kernel, ARG(from), ARG(weights), ARG(to));
        size_t blocks = shape_of[i] == MAP5 ? layer->maps / 2 : layer->maps;
        workload_launch(w, kernel, &shapes[shape_of[i]], blocks, count, 1);
        workload_read(w, to, layer->outputs, bytes);
        from = to;
    }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    float *pictures = random_pictures(w, (size_t)option(w, PICTURES));
    struct layer layers[LAYERS];
    make_layers(w, layers);
    recognise(w, layers, pictures);
    check_layer(w, &layers[0], pictures, 1, SIDE);
    for (int i = 1; i < LAYERS; i++)
        check_layer(w, &layers[i], layers[i - 1].outputs, layers[i - 1].maps, layers[i - 1].side);
    for (int i = 0; i < LAYERS; i++) {
        free(layers[i].weights);
        free(layers[i].outputs);
    }
    free(pictures);
    return workload_close(w);
}
