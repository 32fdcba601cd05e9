/*
 * Classifies a vector of values by how they vary from lane to lane.
 *
 *   VALUES_UNIFORM  the same in all lanes
 *   VALUES_AFFINE   not uniform, and v(l) = base + a * (l mod w) + b * (l div w)
 *   VALUES_OTHER    neither
 *
 * The width w is usually that of the warp: then affine means one base and one stride, and tid.x of
 * a block of 16 x 16 is not affine in a warp of 32 lanes, where it counts to 15 twice. A mechanism
 * may be told to accept a second stride from row to row of the block. Then w is the number of
 * threads in such a row if rows fill a warp evenly; both coordinates of a thread in a block of 16 x
 * 16 are affine, and so are their sums and their products with uniform values. Arithmetic is of
 * integers modulo 2^32, of a pair of registers modulo 2^64.
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

/* The width w for blocks of this shape: the warp size; with `rows`, dim x if it is a power of two
 * not above the warp size and the block has more than one dimension. */
u32 values_width(const u32 dims[3], u32 warp_size, bool rows);

/* Values of 32 bits or, with `words` 2, of 64 bits, with the upper words `warp_size` words after
 * the lower ones, as in rows of registers. */
enum values values_of(const u32 *row, u32 words, lane_set lanes, u32 width, u32 warp_size);
/* Whether all lanes are equal. */
bool values_uniform(const u32 *row, u32 words, u32 warp_size);

#endif
