/*
 * Classifies a vector of values by how they vary from lane to lane.
 *
 *   VALUES_UNIFORM  the same in all lanes
 *   VALUES_AFFINE   not uniform, and v(l) = base + a * (l mod w) + b * (l div w)
 *   VALUES_OTHER    neither
 *
 * where w, the width, is the number of threads in a row of the block if such rows fill a warp
 * evenly; otherwise it is the warp size, and there are only base and a. So both coordinates of a
 * thread in a block of 16 x 16 are affine, and so are sums and products of them with uniform
 * values. Arithmetic is on integers modulo 2^32, or modulo 2^64 for a pair of registers.
 *
 *  V1  Only lanes of the given set count. If the set does not have all lanes, a follows from the
 *      nearest two lanes of a row and b from the nearest two rows, as the signed difference over
 *      the distance if there is no remainder; a set without two lanes in a row is taken with a = 0.
 *      One lane, or none, is uniform.
 *  V2  Kinds are ordered by how general they are: several operands have the most general kind.
 */
#ifndef EXEC_VALUES_H
#define EXEC_VALUES_H

#include "exec/warp.h"

enum values {
    VALUES_UNIFORM,
    VALUES_AFFINE,
    VALUES_OTHER,
};

/* The width for blocks of this shape: dim x if it is a power of two of at most the warp size and
 * the block has more than one dimension. */
u32 values_width(const u32 dims[3], u32 warp_size);

/* Values of 32 bits or, with `words` 2, of 64 bits, with the upper words `warp_size` words after
 * the lower ones, as in rows of registers. */
enum values values_of(const u32 *row, u32 words, lane_set lanes, u32 width, u32 warp_size);
/* Whether all lanes are equal. */
bool values_uniform(const u32 *row, u32 words, u32 warp_size);

#endif
