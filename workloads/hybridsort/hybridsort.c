/*
 * Sorts floats: into buckets first, whose limits come from a histogram, then each bucket by merging
 * vectors of four.
 */
#include "common/workload.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEYS,
    BUCKETS,
};

enum {
    BINS = 1024, /* of the histogram */
    SHARE = 8,   /* keys of a thread that counts */
};

static const struct option_row options[] = {
    [KEYS] = {"keys", "floats", "number of keys to sort", 65536, 5000, 1, 1 << 24},
    [BUCKETS] = {"buckets", NULL, "number of buckets", 256, 32, 1, 1024},
    {0},
};

static const struct program program = {
    "hybridsort", "Sorts floats into buckets and merges each bucket.", options};

/* A sort under way. */
struct sort {
    struct shape block;
    cl_uint keys, buckets, blocks; /* blocks: of count and place */
    cl_mem keys_device, in_bucket, ranks, counts, sizes;
    cl_uint *bucket_sizes;
    cl_uint *starts, *packed_starts; /* in vectors with padding, in keys without; [buckets + 1] */
};

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* Limits between buckets, so that each gets as many keys as the next if keys are spread evenly
 * within the histogram's bins. */
static void find_limits(const struct sort *s, const cl_uint *bins, float *limits)
{
    double below = 0; /* keys in bins before this one */
    for (cl_uint bin = 0, bucket = 0; bin < BINS; below += bins[bin++])
        for (; bucket + 1 < s->buckets; bucket++) {
            double wanted = (double)s->keys * (bucket + 1) / s->buckets - below;
            if (wanted > bins[bin])
                break;
            limits[bucket] = (float)((bin + wanted / bins[bin]) / BINS);
        }
}

/* The histogram and, from it, the limits of the buckets. Keys lie between 0 and 1. */
static cl_mem choose_limits(struct workload *w, const struct sort *s)
{
    cl_uint bins[BINS];
    cl_float low = 0, scale = BINS;
    cl_mem bins_device = workload_output(w, sizeof bins);
    cl_kernel histogram = workload_kernel(w, "histogram");
    workload_args(w, histogram, ARG(s->keys_device), ARG(bins_device), ARG(low), ARG(scale),
                  ARG(s->keys));
    workload_launch(w, histogram, &s->block, s->blocks, 1, 1);
    workload_read(w, bins_device, bins, sizeof bins);
    float *limits = zeroed(s->buckets, sizeof *limits);
    find_limits(s, bins, limits);
    cl_mem device = workload_input(w, limits, s->buckets * sizeof *limits);
    free(limits);
    return device;
}

static void count_keys(struct workload *w, struct sort *s, cl_mem limits)
{
    cl_kernel count = workload_kernel(w, "count"), offsets = workload_kernel(w, "offsets");
    cl_uint share = SHARE;
    size_t local = s->buckets * sizeof(cl_uint);
    s->in_bucket = workload_output(w, s->keys * sizeof(cl_uint));
    s->ranks = workload_output(w, s->keys * sizeof(cl_uint));
    s->counts = workload_output(w, s->blocks * local);
    s->sizes = workload_output(w, local);
    workload_args(w, count, ARG(s->keys_device), ARG(limits), ARG(s->in_bucket), ARG(s->ranks),
                  ARG(s->counts), ARG_LOCAL(local), ARG(s->buckets), ARG(share), ARG(s->keys));
    workload_launch(w, count, &s->block, s->blocks, 1, 1);
    workload_args(w, offsets, ARG(s->counts), ARG(s->sizes), ARG(s->buckets), ARG(s->blocks));
    workload_launch(w, offsets, &s->block, pieces(s->buckets, s->block.x), 1, 1);
    workload_read(w, s->sizes, s->bucket_sizes, local);
    for (cl_uint i = 0; i < s->buckets; i++) {
        s->starts[i + 1] = s->starts[i] + (cl_uint)pieces(s->bucket_sizes[i], 4);
        s->packed_starts[i + 1] = s->packed_starts[i] + s->bucket_sizes[i];
    }
}

/* The keys in their buckets, padded to vectors with the largest number. */
static cl_mem place_keys(struct workload *w, const struct sort *s, cl_mem starts)
{
    size_t padded = 4 * (size_t)s->starts[s->buckets];
    float *padding = zeroed(padded, sizeof *padding);
    for (size_t i = 0; i < padded; i++)
        padding[i] = FLT_MAX;
    cl_mem placed = workload_input(w, padding, padded * sizeof *padding);
    cl_kernel place = workload_kernel(w, "place");
    cl_uint share = SHARE;
    workload_args(w, place, ARG(s->keys_device), ARG(placed), ARG(s->in_bucket), ARG(s->ranks),
                  ARG(s->counts), ARG(starts), ARG(s->buckets), ARG(share), ARG(s->keys));
    workload_launch(w, place, &s->block, s->blocks, 1, 1);
    free(padding);
    return placed;
}

/* Returns the buffer with the sorted buckets. */
static cl_mem merge_buckets(struct workload *w, const struct sort *s, cl_mem from, cl_mem starts)
{
    cl_uint vectors = s->starts[s->buckets], largest = 0;
    for (cl_uint i = 0; i < s->buckets; i++)
        if (s->starts[i + 1] - s->starts[i] > largest)
            largest = s->starts[i + 1] - s->starts[i];
    cl_kernel fours = workload_kernel(w, "sort_fours"), merge = workload_kernel(w, "merge");
    cl_mem to = workload_output(w, vectors * sizeof(cl_float4));
    workload_args(w, fours, ARG(from), ARG(vectors));
    workload_launch(w, fours, &s->block, pieces(vectors, s->block.x), 1, 1);
    for (cl_uint length = 1; length < largest; length *= 2) {
        cl_uint pairs = (cl_uint)pieces(largest, 2 * (size_t)length);
        workload_args(w, merge, ARG(from), ARG(to), ARG(starts), ARG(s->buckets), ARG(pairs),
                      ARG(length));
        workload_launch(w, merge, &s->block, pieces((size_t)s->buckets * pairs, s->block.x), 1, 1);
        cl_mem other = from;
        from = to;
        to = other;
    }
    return from;
}

static void sort_on_device(struct workload *w, struct sort *s, float *keys)
{
    workload_build(w, &s->block, 1, "-D BINS=%d", BINS);
    s->blocks = (cl_uint)pieces(s->keys, s->block.x * SHARE);
    s->keys_device = workload_input(w, keys, s->keys * sizeof *keys);
    count_keys(w, s, choose_limits(w, s));
    size_t bytes = ((size_t)s->buckets + 1) * sizeof *s->starts;
    cl_mem starts = workload_input(w, s->starts, bytes);
    cl_mem packed_starts = workload_input(w, s->packed_starts, bytes);
    cl_mem merged = merge_buckets(w, s, place_keys(w, s, starts), starts);
    cl_kernel pack = workload_kernel(w, "pack");
    workload_args(w, pack, ARG(merged), ARG(s->keys_device), ARG(starts), ARG(s->sizes),
                  ARG(packed_starts));
    workload_launch(w, pack, &s->block, s->buckets, 1, 1);
    workload_read(w, s->keys_device, keys, s->keys * sizeof *keys);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    struct sort s = {.block = {"BLOCK", 256},
                     .keys = (cl_uint)option(w, KEYS),
                     .buckets = (cl_uint)option(w, BUCKETS)};
    s.bucket_sizes = zeroed(s.buckets, sizeof(cl_uint));
    s.starts = zeroed((size_t)s.buckets + 1, sizeof(cl_uint));
    s.packed_starts = zeroed((size_t)s.buckets + 1, sizeof(cl_uint));
    float *keys = zeroed(s.keys, sizeof *keys), *expected = zeroed(s.keys, sizeof *expected);
    for (cl_uint i = 0; i < s.keys; i++) {
        float x = random_float(w, 0, 1);
        expected[i] = keys[i] = x * x; /* more small keys than large ones */
    }
    sort_on_device(w, &s, keys);

    qsort(expected, s.keys, sizeof *expected, by_value);
    check_ints(w, "sorted", keys, expected, s.keys); /* the same bits */
    free(keys);
    free(expected);
    free(s.bucket_sizes);
    free(s.starts);
    free(s.packed_starts);
    return workload_close(w);
}
