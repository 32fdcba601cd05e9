/*
 * Aligns two sequences (Needleman and Wunsch): a table of scores in which each cell waits for three
 * neighbours. Tiles of it that lie on one diagonal are a launch, of one small block each.
 */
#include "common/workload.h"
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH,
    PENALTY,
};

enum {
    TILE = 16,    /* side of a tile, and threads of a block */
    LETTERS = 20, /* as proteins have */
};

static const struct option_row options[] = {
    [LENGTH] = {"length", "letters", "length of the sequences", 512, 256, TILE, 16384,
                .multiple = TILE},
    [PENALTY] = {"penalty", NULL, "gap penalty", 10, 0, 0, 1000},
    {0},
};

static const struct program program = {"nw", "Aligns two sequences (Needleman-Wunsch).", options};

/* How well each pair of letters of two random sequences matches. */
static cl_int *random_matches(struct workload *w, size_t length)
{
    cl_int alike[LETTERS][LETTERS];
    for (int i = 0; i < LETTERS; i++)
        for (int j = 0; j <= i; j++)
            alike[i][j] = alike[j][i] = (i == j ? 4 : -4) + (cl_int)random_below(w, 8);
    unsigned char *first = zeroed(length, 1), *second = zeroed(length, 1);
    for (size_t i = 0; i < length; i++) {
        first[i] = (unsigned char)random_below(w, LETTERS);
        second[i] = (unsigned char)random_below(w, LETTERS);
    }
    cl_int *matches = zeroed(length * length, sizeof *matches);
    for (size_t i = 0; i < length * length; i++)
        matches[i] = alike[first[i / length]][second[i % length]];
    free(first);
    free(second);
    return matches;
}

/* The table before it is filled: gaps only, along its first row and column. */
static cl_int *borders(size_t side, cl_int penalty)
{
    cl_int *scores = zeroed(side * side, sizeof *scores);
    for (size_t i = 1; i < side; i++)
        scores[i] = scores[i * side] = -(cl_int)i * penalty;
    return scores;
}

static cl_int larger(cl_int a, cl_int b)
{
    return a > b ? a : b;
}

/* Row by row. */
static void align(cl_int *scores, const cl_int *matches, size_t side, cl_int penalty)
{
    for (size_t i = 1; i < side; i++)
        for (size_t j = 1; j < side; j++) {
            cl_int *cell = scores + i * side + j;
            cl_int gap = larger(cell[-1], *(cell - side)) - penalty;
            *cell = larger(*(cell - side - 1) + matches[(i - 1) * (side - 1) + j - 1], gap);
        }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int length = (cl_int)option(w, LENGTH), penalty = (cl_int)option(w, PENALTY);
    size_t side = (size_t)length + 1, bytes = side * side * sizeof(cl_int);
    cl_int *matches = random_matches(w, length), *scores = borders(side, penalty);
    cl_int *expected = borders(side, penalty);
    align(expected, matches, side, penalty);

    struct shape block = {"BLOCK", TILE};
    workload_build(w, &block, 1, NULL);
    if (block.x != TILE)
        fail(w, "a tile needs a block of %d threads", TILE);
    cl_mem matches_device = workload_input(w, matches, (size_t)length * length * sizeof *matches);
    cl_mem scores_device = workload_input(w, scores, bytes);
    cl_kernel kernel = workload_kernel(w, "diagonal");
    cl_int tiles = length / TILE;
    for (cl_int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        cl_int first = diagonal < tiles ? 0 : diagonal - tiles + 1; /* column of tiles */
        workload_args(w, kernel, ARG(matches_device), ARG(scores_device), ARG(length), ARG(penalty),
                      ARG(diagonal), ARG(first));
        workload_launch(w, kernel, &block, diagonal + 1 - 2 * first, 1, 1);
    }

    workload_read(w, scores_device, scores, bytes);
    check_ints(w, "scores", scores, expected, side * side);
    free(matches);
    free(scores);
    free(expected);
    return workload_close(w);
}
