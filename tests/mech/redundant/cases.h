/*
 * Kernels that try to break mechanisms which share results between warps, read from *.ptx.in.
 *
 * A case begins with a line `//# NAME WORDS...`: shapes of blocks (16,16), grid=N, outcome=NAME,
 * and spin    how many instructions run depends on the order in which warps do warp32  it relies on
 * warps of 32 lanes cond    all shapes are such that nothing made of tid.x is the same in all warps
 * Lines that begin with `//+` stand outside of the kernel, the rest is its body. It finds ready
 *   %tx %ty %tz %nx %ny %nz   of the thread and the block;   %bx   the block
 *   %lin %warp %lane          the thread's number in its block, and where that puts it
 *   %n                        a parameter, 6
 *   %s                        base of 16 KB of shared memory
 *   %out                      16 bytes of its own;  %in  4 KB to read;  %room  64 KB, zero
 *   %flags                    4 KB, zero
 *   LANES                     of a warp
 * and %p, %r, %d, %f, %g of predicates, words, pairs, floats and doubles. What it leaves in %x is
 * stored at `done:`, which follows the body.
 */
#ifndef REDUNDANT_CASES_H
#define REDUNDANT_CASES_H

#include <heddle/heddle.h>

enum {
    MOST_SHAPES = 16,
    IN_BYTES = 4096,
    ROOM_BYTES = 65536,
    FLAG_BYTES = 4096,
};

struct redundant_case {
    char name[64];
    char *ptx;
    struct hd_dim shapes[MOST_SHAPES];
    unsigned shape_count, grid;
    char outcome[32], as[64];
    bool spin, races, clock, warp32;
};

struct redundant_cases {
    struct redundant_case *data;
    size_t count;
};

/* Those of all files of the folder, for warps of so many lanes; ends the program with a message
 * when one is wrong. */
struct redundant_cases cases_read(const char *folder, unsigned lanes);
void cases_free(struct redundant_cases *cases);

#endif
