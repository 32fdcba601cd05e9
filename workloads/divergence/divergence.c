/*
 * The program with which the authors of MIAOW study thread block compaction: a loop with a divergent
 * region that is padded with vector instructions; the number of instructions and the share of threads
 * that diverge are options.
 */
#include "common/workload.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    BLOCKS,
    LENGTH,
    SHARE,
    TURNS,
};

static const struct option_row options[] = {
    [BLOCKS] = {"blocks", NULL, "blocks of 256 threads", 90, 10, 1, 65536},
    [LENGTH] = {"length", NULL, "vector instructions on either side of the branch", 32, 0, 8, 512,
                .multiple = 8},
    [SHARE] = {"share", NULL, "threads of 256 that take the branch", 128, 0, 0, 256},
    [TURNS] = {"turns", NULL, "rounds of the loop", 20, 8, 1, 1000},
    {0},
};

static const struct program program = {
    "divergence", "Multiplies and adds on either side of a divergent branch.", options};

static cl_uint expected_of(cl_uint i, cl_uint lane, cl_uint share, cl_uint turns, cl_uint steps)
{
    cl_uint r = i * 1664525u + 1013904223u, a = lane, b = i, c = 3, d = 4;
    for (cl_uint turn = 0; turn < turns; turn++) {
        r = r * 1664525u + 1013904223u;
        const bool one = r >> 24 < share;
        for (cl_uint step = 0; step < steps; step++) {
            a = one ? a * 3 + d : (a ^ d) * 5;
            b = one ? b * 3 + a : (b ^ a) * 5;
            c = one ? c * 3 + b : (c ^ b) * 5;
            d = one ? d * 3 + c : (d ^ c) * 5;
        }
    }
    return a ^ b ^ c ^ d;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    const cl_uint share = (cl_uint)option(w, SHARE), turns = (cl_uint)option(w, TURNS);
    const size_t blocks = (size_t)option(w, BLOCKS);
    struct shape block = {"BLOCK", 256};
    workload_build(w, &block, 1, "-D LENGTH=%ld", option(w, LENGTH));
    const size_t threads = blocks * block.x;
    cl_mem out = workload_output(w, threads * sizeof(cl_uint));
    cl_kernel kernel = workload_kernel(w, "diverge");
    workload_args(w, kernel, ARG(out), ARG(share), ARG(turns));
    workload_launch(w, kernel, &block, blocks, 1, 1);

    cl_uint *found = zeroed(threads, sizeof *found), *expected = zeroed(threads, sizeof *expected);
    for (size_t i = 0; i < threads; i++)
        expected[i] = expected_of((cl_uint)i, (cl_uint)(i % block.x), share, turns,
                                  (cl_uint)option(w, LENGTH) / 8);
    workload_read(w, out, found, threads * sizeof *found);
    check_ints(w, "sums of threads", found, expected, threads);
    printf("%zu threads, %ld instructions on either side, taken by %u of 256\n", threads,
           option(w, LENGTH), share);
    free(found);
    free(expected);
    return workload_close(w);
}
