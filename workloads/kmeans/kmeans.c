/*
 * Clusters points around centres: the device finds the nearest centre of each point, the host moves
 * the centres. Features and centres are integers of 0 to 255, held as floats: so distances are
 * exact and the nearest centre is the same everywhere.
 */
#include "common/workload.h"
#include <stdlib.h>
#include <string.h>

enum {
    POINTS,
    FEATURES,
    CLUSTERS,
    ROUNDS,
    BLOCK,
};

enum {
    MOST_FEATURES = 256, /* 256 squares of 255 are below 2^24 */
};

static const struct option_row options[] = {
    [POINTS] = {"points", NULL, "number of points", 16384, 2000, 1, 1 << 22},
    [FEATURES] = {"features", NULL, "features per point", 34, 0, 1, MOST_FEATURES},
    [CLUSTERS] = {"clusters", NULL, "number of clusters", 5, 0, 1, 64},
    [ROUNDS] = {"rounds", NULL, "number of iterations", 3, 2, 1, 1000},
    [BLOCK] = {"block", "threads", "block size", 256, 0, 1, 1024, POWER_OF_TWO},
    {0},
};

static const struct program program = {"kmeans", "Clusters points by k-means.", options};

struct points {
    size_t count, features, clusters;
    float *values; /* [count][features] */
};

/* Points lie around as many places as there are clusters. */
static struct points random_points(struct workload *w)
{
    struct points all = {option(w, POINTS), option(w, FEATURES), option(w, CLUSTERS), NULL};
    float *places = zeroed(all.clusters * all.features, sizeof *places);
    all.values = zeroed(all.count * all.features, sizeof *all.values);
    for (size_t i = 0; i < all.clusters * all.features; i++)
        places[i] = (float)random_below(w, 128);
    for (size_t i = 0; i < all.count; i++) {
        const float *place = places + random_below(w, (uint32_t)all.clusters) * all.features;
        for (size_t f = 0; f < all.features; f++)
            all.values[i * all.features + f] = place[f] + (float)random_below(w, 128);
    }
    free(places);
    return all;
}

/* Centres become the rounded means of their points; those without points stay. */
static void move_centres(const struct points *all, const cl_uint *nearest, float *centres)
{
    size_t features = all->features;
    long *sums = zeroed(all->clusters * features, sizeof *sums);
    long *members = zeroed(all->clusters, sizeof *members);
    for (size_t i = 0; i < all->count; i++) {
        members[nearest[i]]++;
        for (size_t f = 0; f < features; f++)
            sums[nearest[i] * features + f] += (long)all->values[i * features + f];
    }
    for (size_t k = 0; k < all->clusters * features; k++)
        if (members[k / features])
            centres[k] = (float)((sums[k] + members[k / features] / 2) / members[k / features]);
    free(sums);
    free(members);
}

/* The nearest centre in integers; of several the first. */
static void assign(const struct points *all, const float *centres, cl_uint *nearest)
{
    for (size_t i = 0; i < all->count; i++) {
        long least = -1;
        for (size_t c = 0; c < all->clusters; c++) {
            long distance = 0;
            for (size_t f = 0; f < all->features; f++) {
                long away =
                    (long)all->values[i * all->features + f] - (long)centres[c * all->features + f];
                distance += away * away;
            }
            if (least < 0 || distance < least) {
                least = distance;
                nearest[i] = (cl_uint)c;
            }
        }
    }
}

static void assign_on_device(struct workload *w, const struct points *all, float *centres,
                             cl_uint *nearest)
{
    cl_uint count = (cl_uint)all->count, features = (cl_uint)all->features;
    cl_uint clusters = (cl_uint)all->clusters;
    size_t bytes = all->count * features * sizeof(float);
    struct shape block = {"BLOCK", option(w, BLOCK)};
    workload_build(w, &block, 1, NULL);
    size_t blocks = pieces(count, block.x);
    cl_mem points = workload_input(w, all->values, bytes), by_feature = workload_output(w, bytes);
    cl_mem centres_device = workload_output(w, clusters * features * sizeof *centres);
    cl_mem nearest_device = workload_output(w, count * sizeof *nearest);
    cl_kernel turn = workload_kernel(w, "turn"), kernel = workload_kernel(w, "assign");
    workload_args(w, turn, ARG(points), ARG(by_feature), ARG(count), ARG(features));
    workload_launch(w, turn, &block, blocks, 1, 1);
    workload_args(w, kernel, ARG(by_feature), ARG(centres_device), ARG(nearest_device), ARG(count),
                  ARG(features), ARG(clusters));
    for (long round = 0; round < option(w, ROUNDS); round++) {
        workload_write(w, centres_device, centres, clusters * features * sizeof *centres);
        workload_launch(w, kernel, &block, blocks, 1, 1);
        workload_read(w, nearest_device, nearest, count * sizeof *nearest);
        move_centres(all, nearest, centres);
    }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    struct points all = random_points(w);
    size_t bytes = all.clusters * all.features * sizeof(float);
    float *start = zeroed(1, bytes), *centres = zeroed(1, bytes);
    cl_uint *nearest = zeroed(all.count, sizeof *nearest);
    cl_uint *expected = zeroed(all.count, sizeof *expected);
    for (size_t c = 0; c < all.clusters; c++) /* they start at points */
        memcpy(start + c * all.features, all.values + c % all.count * all.features,
               all.features * sizeof *start);
    memcpy(centres, start, bytes);
    assign_on_device(w, &all, centres, nearest);

    for (long round = 0; round < option(w, ROUNDS); round++) {
        assign(&all, start, expected);
        move_centres(&all, expected, start);
    }
    check_ints(w, "nearest centres", nearest, expected, all.count);
    check_ints(w, "centres", centres, start, all.clusters * all.features); /* the same bits */
    free(all.values);
    free(start);
    free(centres);
    free(nearest);
    free(expected);
    return workload_close(w);
}
