/* Sorts integers with a bitonic network: what is compared never depends on the keys. */
#include "common/workload.h"
#include <stdlib.h>

enum {
    KEYS,
    BLOCK,
};

static const struct option_row options[] = {
    [KEYS] = {"keys", "integers", "number of keys to sort", 65536, 8192, 1024, 1 << 26,
              POWER_OF_TWO},
    [BLOCK] = {"block", "threads", "block size", 512, 0, 1, 512, POWER_OF_TWO},
    {0},
};

static const struct program program = {"bitonicsort", "Sorts integers with a bitonic network.",
                                       options};

static int by_value(const void *a, const void *b)
{
    cl_uint x = *(const cl_uint *)a, y = *(const cl_uint *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint count = (cl_uint)option(w, KEYS);
    cl_uint *keys = zeroed(count, sizeof *keys), *expected = zeroed(count, sizeof *expected);
    for (cl_uint i = 0; i < count; i++)
        expected[i] = keys[i] = random_bits(w);
    qsort(expected, count, sizeof *expected, by_value);

    struct shape block = {"BLOCK", option(w, BLOCK)};
    workload_build(w, &block, 1, NULL);
    cl_uint section = (cl_uint)(2 * block.x); /* keys of a block */
    size_t blocks = count / section;
    cl_mem keys_device = workload_input(w, keys, count * sizeof *keys);
    cl_kernel sort = workload_kernel(w, "sort_sections");
    cl_kernel merge_apart = workload_kernel(w, "merge_apart");
    cl_kernel merge_sections = workload_kernel(w, "merge_sections");
    workload_args(w, sort, ARG(keys_device));
    workload_launch(w, sort, &block, blocks, 1, 1);
    for (cl_uint size = 2 * section; size <= count; size *= 2) {
        for (cl_uint stride = size / 2; stride >= section; stride /= 2) {
            workload_args(w, merge_apart, ARG(keys_device), ARG(size), ARG(stride));
            workload_launch(w, merge_apart, &block, blocks, 1, 1);
        }
        workload_args(w, merge_sections, ARG(keys_device), ARG(size));
        workload_launch(w, merge_sections, &block, blocks, 1, 1);
    }

    workload_read(w, keys_device, keys, count * sizeof *keys);
    check_ints(w, "sorted", keys, expected, count);
    free(keys);
    free(expected);
    return workload_close(w);
}
