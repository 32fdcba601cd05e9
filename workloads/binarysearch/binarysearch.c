/*
 * Searches keys in a sorted array, a block a key: few threads, and loads that wait for each other.
 * The elements differ from each other and are below 2^32 - 1, so a place is either right or wrong.
 */
#include "common/workload.h"
#include <stdlib.h>

enum {
    ELEMENTS,
    KEYS,
};

static const struct option_row options[] = {
    [ELEMENTS] = {"elements", "integers", "length of the sorted array", 1048576, 65536, 1, 1 << 26},
    [KEYS] = {"keys", NULL, "number of keys to search for", 512, 256, 1, 1 << 20},
    {0},
};

static const struct program program = {"binarysearch", "Searches a sorted array for keys.",
                                       options};

/* The plainest search: from the first element on. */
static cl_uint place_of(const cl_uint *sorted, cl_uint count, cl_uint key)
{
    cl_uint i = 0;
    while (i < count && sorted[i] != key)
        i++;
    return i;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint count = (cl_uint)option(w, ELEMENTS), keys = (cl_uint)option(w, KEYS);
    cl_uint *sorted = zeroed(count, sizeof *sorted), *wanted = zeroed(keys, sizeof *wanted);
    cl_uint *expected = zeroed(keys, sizeof *expected), *places = zeroed(keys, sizeof *places);
    for (cl_uint i = 0, value = 1000; i < count; i++)
        sorted[i] = value += 1 + random_below(w, 60);
    for (cl_uint i = 0; i < keys; i++) { /* three of four are there; some are below or above all */
        if (random_below(w, 4))
            wanted[i] = sorted[random_below(w, count)];
        else
            wanted[i] = random_below(w, sorted[count - 1] + 2000);
        expected[i] = place_of(sorted, count, wanted[i]);
    }

    struct shape block = {"BLOCK", 64};
    workload_build(w, &block, 1, NULL);
    cl_mem sorted_device = workload_input(w, sorted, count * sizeof *sorted);
    cl_mem wanted_device = workload_input(w, wanted, keys * sizeof *wanted);
    cl_mem places_device = workload_output(w, keys * sizeof *places);
    cl_kernel search = workload_kernel(w, "search");
    workload_args(w, search, ARG(sorted_device), ARG(wanted_device), ARG(places_device),
                  ARG(count));
    workload_launch(w, search, &block, keys, 1, 1);

    workload_read(w, places_device, places, keys * sizeof *places);
    check_ints(w, "places", places, expected, keys);
    free(sorted);
    free(wanted);
    free(expected);
    free(places);
    return workload_close(w);
}
