/*
 * The cheapest way through a grid from its first row to its last, a step of at most one column
 * aside in each row. A launch makes several rows, for which blocks compute their surroundings as
 * well.
 */
#include "common/workload.h"
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS,
    ROWS,
    PYRAMID,
    BLOCK,
};

static const struct option_row options[] = {
    [COLUMNS] = {"columns", NULL, "columns of the grid", 7500, 0, 1, 1 << 24},
    [ROWS] = {"rows", NULL, "rows of the grid", 260, 21, 2, 65536},
    [PYRAMID] = {"pyramid", NULL, "rows per launch", 20, 0, 1, 31},
    [BLOCK] = {"block", "threads", "block size", 256, 0, 64, 1024, POWER_OF_TWO},
    {0},
};

static const struct program program = {"pathfinder",
                                       "Finds the cheapest path through a grid of costs.", options};

/* What it costs at least to reach each cell of the row behind this one. */
static void next_row(const cl_int *from, cl_int *to, const cl_int *costs, size_t columns)
{
    for (size_t x = 0; x < columns; x++) {
        cl_int least = from[x];
        if (x > 0 && from[x - 1] < least)
            least = from[x - 1];
        if (x + 1 < columns && from[x + 1] < least)
            least = from[x + 1];
        to[x] = costs[x] + least;
    }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int columns = (cl_int)option(w, COLUMNS), rows = (cl_int)option(w, ROWS);
    cl_int pyramid = (cl_int)option(w, PYRAMID);
    size_t count = (size_t)columns * rows, row_bytes = columns * sizeof(cl_int);
    cl_int *costs = zeroed(count, sizeof *costs);
    for (size_t i = 0; i < count; i++)
        costs[i] = (cl_int)random_below(w, 10);

    struct shape block = {"BLOCK", option(w, BLOCK)};
    workload_build(w, &block, 1, NULL);
    if ((size_t)pyramid > (block.x - 1) / 2)
        fail(w, "blocks of %zu threads are too small for %d rows a launch", block.x, pyramid);
    size_t blocks = pieces(columns, block.x - 2 * (size_t)pyramid);
    cl_mem costs_device = workload_input(w, costs, count * sizeof *costs);
    cl_mem from = workload_input(w, costs, row_bytes), to = workload_output(w, row_bytes);
    cl_kernel kernel = workload_kernel(w, "rows");
    for (cl_int row = 1; row < rows; row += pyramid) {
        cl_int now = rows - row < pyramid ? rows - row : pyramid;
        workload_args(w, kernel, ARG(costs_device), ARG(from), ARG(to), ARG(columns), ARG(row),
                      ARG(now), ARG(pyramid));
        workload_launch(w, kernel, &block, blocks, 1, 1);
        cl_mem other = from;
        from = to;
        to = other;
    }

    cl_int *got = zeroed(columns, sizeof *got), *before = zeroed(columns, sizeof *before);
    cl_int *expected = zeroed(columns, sizeof *expected);
    memcpy(expected, costs, row_bytes);
    for (cl_int row = 1; row < rows; row++) {
        memcpy(before, expected, row_bytes);
        next_row(before, expected, costs + (size_t)row * columns, columns);
    }
    workload_read(w, from, got, row_bytes);
    check_ints(w, "costs of the last row", got, expected, columns);
    free(costs);
    free(got);
    free(before);
    free(expected);
    return workload_close(w);
}
