/*
 * The shortest paths between all pairs of nodes (Floyd and Warshall), a launch for each node that
 * they may pass. What is expected comes from another algorithm, Dijkstra's.
 */
#include "common/workload.h"
#include <stdlib.h>

enum {
    NODES,
    DEGREE,
    STEPS,
};

enum {
    FAR = 1 << 28, /* no path; twice it is still a number */
};

static const struct option_row options[] = {
    [NODES] = {"nodes", NULL, "nodes of the graph", 224, 64, 2, 4096},
    [DEGREE] = {"degree", NULL, "outgoing edges per node", 8, 0, 1, 4096},
    [STEPS] = {"steps", NULL, "nodes that paths may pass through, one launch each", 4096, 0, 1,
               4096},
    {0},
};

static const struct program program = {
    "floyd", "Finds the shortest paths between all pairs of nodes of a graph.", options};

/* Lengths of edges, FAR where there is none. */
static cl_int *random_graph(struct workload *w, size_t nodes, long degree)
{
    cl_int *lengths = zeroed(nodes * nodes, sizeof *lengths);
    for (size_t i = 0; i < nodes * nodes; i++)
        lengths[i] = FAR;
    for (size_t from = 0; from < nodes; from++) {
        for (long i = 0; i < degree; i++) {
            cl_int *edge = &lengths[from * nodes + random_below(w, (uint32_t)nodes)];
            cl_int length = 1 + (cl_int)random_below(w, 1000);
            *edge = length < *edge ? length : *edge;
        }
        lengths[from * nodes + from] = 0;
    }
    return lengths;
}

/* Dijkstra's algorithm from one node, on paths that pass only nodes before `steps`. */
static void expect(const cl_int *edges, size_t nodes, size_t steps, size_t from, cl_int *distance,
                   bool *done)
{
    for (size_t i = 0; i < nodes; i++) {
        distance[i] = edges[from * nodes + i];
        done[i] = false;
    }
    done[from] = true;
    for (;;) {
        size_t near = nodes;
        for (size_t i = 0; i < steps && i < nodes; i++)
            if (!done[i] && distance[i] < FAR && (near == nodes || distance[i] < distance[near]))
                near = i;
        if (near == nodes)
            return;
        done[near] = true;
        for (size_t i = 0; i < nodes; i++) {
            cl_int length = distance[near] + edges[near * nodes + i];
            distance[i] = length < distance[i] ? length : distance[i];
        }
    }
}

/* Pairs whose node on the way is not on a shortest path between them. */
static size_t wrong_ways(const cl_int *edges, const cl_int *expected, const cl_int *through,
                         size_t nodes)
{
    size_t wrong = 0;
    for (size_t i = 0; i < nodes * nodes; i++) {
        cl_int by = through[i];
        if (by < 0)
            wrong += expected[i] != edges[i];
        else if ((size_t)by >= nodes ||
                 expected[i] != expected[i / nodes * nodes + by] + expected[by * nodes + i % nodes])
            wrong++;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    size_t nodes = option(w, NODES), count = nodes * nodes;
    size_t steps = (size_t)option(w, STEPS) < nodes ? (size_t)option(w, STEPS) : nodes;
    cl_int *edges = random_graph(w, nodes, option(w, DEGREE));
    cl_int *through = zeroed(count, sizeof *through), *lengths = zeroed(count, sizeof *lengths);
    cl_int *expected = zeroed(count, sizeof *expected);
    bool *done = zeroed(nodes, sizeof *done);
    for (size_t i = 0; i < nodes; i++)
        expect(edges, nodes, steps, i, expected + i * nodes, done);
    for (size_t i = 0; i < count; i++)
        through[i] = -1; /* the edge itself */

    struct shape block = {"BLOCK", 16, 16};
    workload_build(w, &block, 1, NULL);
    cl_mem lengths_device = workload_input(w, edges, count * sizeof *edges);
    cl_mem through_device = workload_input(w, through, count * sizeof *through);
    cl_kernel kernel = workload_kernel(w, "shorten");
    cl_int size = (cl_int)nodes;
    for (cl_int by = 0; by < (cl_int)steps; by++) {
        workload_args(w, kernel, ARG(lengths_device), ARG(through_device), ARG(size), ARG(by));
        workload_launch(w, kernel, &block, pieces(nodes, block.x), pieces(nodes, block.y), 1);
    }

    workload_read(w, lengths_device, lengths, count * sizeof *lengths);
    workload_read(w, through_device, through, count * sizeof *through);
    check_ints(w, "lengths", lengths, expected, count);
    size_t wrong = wrong_ways(edges, expected, through, nodes);
    check_true(w, wrong == 0, "%zu pairs have a node on their way that is not on a shortest path",
               wrong);
    free(edges);
    free(through);
    free(lengths);
    free(expected);
    free(done);
    return workload_close(w);
}
