/*
 * Many independent Mersenne twisters, a thread each, and normal numbers made of what they give.
 *
 * A block's threads have 128 matrices that differ, so their twisters do; blocks start them from
 * seeds of their own. Each twister passes 2^607 - 1 states, so that pieces of a sequence that two
 * blocks use do not meet. scripts/find-twisters found the matrices and checks them.
 */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    NUMBERS,
    GENERATORS,
};

enum {
    MATRICES = 128,
    WORDS = 19, /* of the state of a twister, of which a bit is not used */
    MIDDLE = 9,
};

static const struct option_row options[] = {
    [NUMBERS] = {"numbers", NULL, "smallest number of random numbers to generate", 4800000, 98304,
                 1, 1 << 28},
    [GENERATORS] = {"generators", NULL, "number of generators, one per thread", 4096, 0, MATRICES,
                    1 << 20, .multiple = MATRICES},
    {0},
};

static const struct program program = {
    "mersenne", "Generates normally distributed numbers with many Mersenne twisters.", options};

/* What a twister's matrix has as its last row: makes its period 2^607 - 1. */
static const cl_uint matrices[MATRICES] = {
    0x8c6b153f, 0x95e6d2dc, 0x8aa1ee2a, 0xe84f853e, 0xb13bf8fd, 0xca7617fc, 0x8f6dca2f, 0xa30dfe44,
    0x89d7e103, 0xcd6d740f, 0x92b3594b, 0xd999957e, 0xe12399e5, 0xc3dd6c8e, 0xd1c95b7d, 0xdc574cbc,
    0xe8f76a7e, 0xc989f59a, 0xffb1df18, 0xe38db50a, 0xb3d4cbaf, 0x9624eb39, 0xed4bb4ce, 0xe211059b,
    0xbe320198, 0xb10f9635, 0xa8ae8daa, 0xd2ea7f65, 0xd88ca88c, 0x9c5f514e, 0xb6298f9b, 0x9f3fefdc,
    0x819f3149, 0xc808152a, 0xe52cf394, 0xdf41e28a, 0x80aadde1, 0xa85a3fc9, 0xb4fc400a, 0x946ddb82,
    0xa5c08891, 0xd21d41cd, 0xed2853c7, 0xbaa5f531, 0xcdcd70fd, 0x9c9a50fc, 0x977c6e11, 0xe062ae4c,
    0xa6155cb4, 0xa2e4ba0b, 0xc8cd71f2, 0xd86cb7e8, 0x86bc07c2, 0x826f0a5d, 0xf041cbca, 0x926adaba,
    0xfd5adb5a, 0xbf8a83eb, 0xcd0fcd74, 0xeb8e610d, 0xe32a946a, 0xf3714ebb, 0x9effe772, 0xd93f8420,
    0xbf726d87, 0xbd5df3da, 0x8a313215, 0xa79853f1, 0xf441bf32, 0xd88e1bee, 0xdad44e6d, 0x881cf3be,
    0xba18a008, 0xa75dab44, 0xf4cbc230, 0xb493481a, 0x9b116df1, 0xcb88c184, 0x85fd1021, 0xf730b5c0,
    0x9df94c2b, 0x9a559cf1, 0x81d94162, 0xe23d3363, 0xe1a8992d, 0x840d0a55, 0xf8f7120f, 0xb8f6614d,
    0xe8b9192f, 0xa3a32f74, 0x90c9303e, 0xdcd49e74, 0xd9e7d638, 0xf9f4ea92, 0xc4bda2de, 0xdc2418a7,
    0xbd859b49, 0x81f4eaca, 0x9eb50f5f, 0xa8d2b936, 0xbfa239e8, 0x8a27b1f4, 0x889464e1, 0xd8b59f5f,
    0xef8fe120, 0x8b0e68a0, 0xb051e531, 0xab843fbd, 0xa2a571e8, 0xbe6ae39a, 0x9c65fb57, 0xde5415b6,
    0xd9e57cb3, 0xdca6a7a7, 0x9633bd6d, 0xee507142, 0x8a653bee, 0x937af029, 0xb152f2c9, 0x841f7e14,
    0xd1c49a1a, 0x9cada32a, 0xd6ce751b, 0xd417f318, 0xd3786290, 0xc4fc8b47, 0x8a0b0071, 0xab6f3ccd,
};

/* A twister as its definition says: the whole sequence in one array, whatever its length. */
static void twist(cl_uint matrix, cl_uint seed, cl_uint *sequence, size_t length)
{
    sequence[0] = seed;
    for (cl_uint i = 1; i < WORDS; i++)
        sequence[i] = 1812433253u * (sequence[i - 1] ^ sequence[i - 1] >> 30) + i;
    for (size_t i = 0; i < length; i++) {
        cl_uint mixed = (sequence[i] & ~1u) | (sequence[i + 1] & 1);
        sequence[i + WORDS] = sequence[i + MIDDLE] ^ mixed >> 1 ^ matrix * (mixed & 1);
    }
}

/* An even number between 0 and 1. */
static double even(cl_uint x)
{
    x ^= x >> 11;
    x ^= (x << 7) & 0x9d2c5680;
    x ^= (x << 15) & 0xefc60000;
    x ^= x >> 18;
    return ((x >> 9) + 0.5) / (1 << 23);
}

/* The numbers of a thread, which are a column of the device's. */
static void expect(const cl_uint *sequence, size_t rows, size_t column, size_t columns,
                   double *expected)
{
    for (size_t i = 0; i < rows; i += 2) {
        double radius = sqrt(-2 * log(even(sequence[WORDS + i])));
        double angle = 2 * M_PI * (even(sequence[WORDS + i + 1]) - 0.5);
        expected[i * columns + column] = radius * cos(angle);
        expected[(i + 1) * columns + column] = radius * sin(angle);
    }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    size_t generators = option(w, GENERATORS);
    cl_uint rows = (cl_uint)(2 * pieces(option(w, NUMBERS), 2 * generators));
    size_t count = generators * rows;
    cl_uint *seeds = zeroed(generators, sizeof *seeds);
    cl_uint *chosen = zeroed(generators, sizeof *chosen);
    for (size_t i = 0; i < generators; i++) {
        seeds[i] = random_bits(w);
        chosen[i] = matrices[i % MATRICES];
    }

    struct shape block = {"BLOCK", 128};
    workload_build(w, &block, 1, NULL);
    cl_mem matrices_device = workload_input(w, chosen, generators * sizeof *chosen);
    cl_mem seeds_device = workload_input(w, seeds, generators * sizeof *seeds);
    cl_mem numbers_device = workload_output(w, count * sizeof(float));
    cl_kernel kernel = workload_kernel(w, "twist");
    workload_args(w, kernel, ARG(matrices_device), ARG(seeds_device), ARG(numbers_device),
                  ARG(rows));
    workload_launch(w, kernel, &block, generators / block.x, 1, 1);
    kernel = workload_kernel(w, "make_normal");
    workload_args(w, kernel, ARG(numbers_device), ARG(rows));
    workload_launch(w, kernel, &block, generators / block.x, 1, 1);

    float *numbers = zeroed(count, sizeof *numbers);
    double *expected = zeroed(count, sizeof *expected);
    cl_uint *sequence = zeroed(rows + WORDS, sizeof *sequence);
    workload_read(w, numbers_device, numbers, count * sizeof *numbers);
    for (size_t i = 0; i < generators; i++) {
        twist(chosen[i], seeds[i], sequence, rows);
        expect(sequence, rows, i, generators, expected);
    }
    /* Sine and cosine are the device's own, which may be off by 2^-20 or so; the radius is less
     * than 6. */
    check_floats(w, "numbers", numbers, expected, count, 0, 0x1p-17);
    free(seeds);
    free(chosen);
    free(numbers);
    free(expected);
    free(sequence);
    return workload_close(w);
}
