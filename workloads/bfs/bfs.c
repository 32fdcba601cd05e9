/* Breadth-first search of a random graph, level by level: loads that follow no pattern. */
#include "common/workload.h"
#include <stdlib.h>
#include <string.h>

enum {
    NODES,
    EDGES,
    BLOCK,
};

static const struct option_row options[] = {
    [NODES] = {"nodes", NULL, "nodes of the graph", 4096, 0, 1, 1 << 24},
    [EDGES] = {"edges", NULL, "mean number of edges per node", 6, 0, 1, 64},
    [BLOCK] = {"block", "threads", "block size", 512, 0, 32, 1024, POWER_OF_TWO},
    {0},
};

static const struct program program = {
    "bfs", "Breadth-first search of a random graph from its first node.", options};

#define UNSEEN UINT32_MAX

struct graph {
    cl_uint nodes;
    cl_uint *first; /* of each node's edges; then the number of all */
    cl_uint *to;    /* where they lead */
};

static struct graph random_graph(struct workload *w, cl_uint nodes, cl_uint mean)
{
    struct graph graph = {nodes, zeroed(nodes + 1, sizeof *graph.first), NULL};
    for (cl_uint i = 0; i < nodes; i++)
        graph.first[i + 1] = graph.first[i] + 1 + random_below(w, 2 * mean - 1);
    graph.to = zeroed(graph.first[nodes], sizeof *graph.to);
    for (cl_uint i = 0; i < graph.first[nodes]; i++)
        graph.to[i] = random_below(w, nodes);
    return graph;
}

/* The steps from node 0 to every node, by a queue. */
static cl_uint *search(const struct graph *graph)
{
    cl_uint *steps = zeroed(graph->nodes, sizeof *steps),
            *queue = zeroed(graph->nodes, sizeof *queue);
    memset(steps, 0xff, graph->nodes * sizeof *steps);
    steps[0] = 0;
    for (cl_uint head = 0, tail = 1; head < tail; head++) {
        cl_uint node = queue[head];
        for (cl_uint i = graph->first[node]; i < graph->first[node + 1]; i++) {
            cl_uint next = graph->to[i];
            if (steps[next] == UNSEEN) {
                steps[next] = steps[node] + 1;
                queue[tail++] = next;
            }
        }
    }
    free(queue);
    return steps;
}

/* Two launches a level, until one finds nothing new. */
static void levels(struct workload *w, const struct shape *block, const struct graph *graph,
                   cl_mem steps)
{
    cl_uint nodes = graph->nodes, more = 1;
    cl_uint *marked = zeroed(nodes, sizeof *marked);
    marked[0] = 1;
    cl_mem first = workload_input(w, graph->first, (nodes + 1) * sizeof *graph->first);
    cl_mem to = workload_input(w, graph->to, graph->first[nodes] * sizeof *graph->to);
    cl_mem frontier = workload_input(w, marked, nodes * sizeof *marked);
    cl_mem seen = workload_input(w, marked, nodes * sizeof *marked);
    cl_mem reached = workload_output(w, nodes * sizeof *marked);
    cl_mem again = workload_output(w, sizeof more);
    cl_kernel expand = workload_kernel(w, "expand"), advance = workload_kernel(w, "advance");
    workload_args(w, expand, ARG(first), ARG(to), ARG(frontier), ARG(seen), ARG(reached),
                  ARG(steps), ARG(nodes));
    workload_args(w, advance, ARG(frontier), ARG(seen), ARG(reached), ARG(again), ARG(nodes));
    while (more) {
        more = 0;
        workload_write(w, again, &more, sizeof more);
        workload_launch(w, expand, block, pieces(nodes, block->x), 1, 1);
        workload_launch(w, advance, block, pieces(nodes, block->x), 1, 1);
        workload_read(w, again, &more, sizeof more);
    }
    free(marked);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint nodes = (cl_uint)option(w, NODES);
    struct graph graph = random_graph(w, nodes, (cl_uint)option(w, EDGES));
    cl_uint *expected = search(&graph), *steps = zeroed(nodes, sizeof *steps);
    memset(steps, 0xff, nodes * sizeof *steps);
    steps[0] = 0;

    struct shape block = {"BLOCK", option(w, BLOCK)};
    workload_build(w, &block, 1, NULL);
    cl_mem steps_device = workload_input(w, steps, nodes * sizeof *steps);
    levels(w, &block, &graph, steps_device);

    workload_read(w, steps_device, steps, nodes * sizeof *steps);
    check_ints(w, "steps", steps, expected, nodes);
    free(graph.first);
    free(graph.to);
    free(expected);
    free(steps);
    return workload_close(w);
}
