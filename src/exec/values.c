/* Uniform, affine, other: see values.h. */
#include "exec/values.h"

u32 values_width(const u32 dims[3], u32 warp_size, bool rows)
{
    const bool several = dims[1] > 1 || dims[2] > 1;
    return rows && several && is_pow2(dims[0]) && dims[0] <= warp_size ? dims[0] : warp_size;
}

static u64 value_at(const u32 *row, u32 words, u32 warp_size, u32 lane)
{
    return row[lane] | (words > 1 ? (u64)row[warp_size + lane] << 32 : 0);
}

/* ---- all lanes: vectors of neither kind mostly differ early; the rest is checked four at a time
 * ---- */

typedef u32 four __attribute__((vector_size(16), aligned(4), may_alias));

static inline bool is_zero(four bits)
{
    return !(bits[0] | bits[1] | bits[2] | bits[3]);
}

static bool same_words(const u32 *row, u32 count)
{
    if (row[1] != row[0] || row[count - 1] != row[0])
        return false;
    const four first = (four){} + row[0];
    four differ = {};
    for (u32 l = 0; l < count; l += 4)
        differ |= *(const four *)(row + l) ^ first;
    return is_zero(differ);
}

/* Whether each of `count` values is `by` more than the one `d` before it. */
static bool even_words(const u32 *row, u32 count, u32 d, u32 by)
{
    if (count > 1 && (row[d + 1] - row[1] != by || row[count - 1 + d] - row[count - 1] != by))
        return false;
    const four step = (four){} + by;
    four differ = {};
    u32 l = 0;
    for (; l + 4 <= count; l += 4)
        differ |= *(const four *)(row + l + d) - *(const four *)(row + l) - step;
    for (; l < count; l++)
        differ[0] |= row[l + d] - row[l] - by;
    return is_zero(differ);
}

static bool even_pairs(const u32 *row, u32 warp_size, u32 count, u32 d, u64 by)
{
    for (u32 l = 0; l < count; l++)
        if (value_at(row, 2, warp_size, l + d) - value_at(row, 2, warp_size, l) != by)
            return false;
    return true;
}

static bool all_affine(const u32 *row, u32 words, u32 width, u32 warp_size)
{
    const u64 base = value_at(row, words, warp_size, 0);
    const u32 first = width > 1 ? width - 1 : 0, rest = warp_size - width;
    const u64 a = first ? value_at(row, words, warp_size, 1) - base : 0;
    const u64 b = rest ? value_at(row, words, warp_size, width) - base : 0;
    if (words == 1)
        return even_words(row, first, 1, (u32)a) && even_words(row, rest, width, (u32)b);
    return even_pairs(row, warp_size, first, 1, a) && even_pairs(row, warp_size, rest, width, b);
}

/* ---- some lanes ---- */

/* The step between two values `d` lanes, or rows, apart (V1). */
static bool step_of(u64 difference, u32 words, u32 d, u64 *step)
{
    const i64 signed_difference = words > 1 ? (i64)difference : (i32)(u32)difference;
    *step = (u64)(signed_difference / (i64)d);
    return signed_difference % (i64)d == 0;
}

/* From the nearest two lanes in the same row. */
static bool find_a(const u32 *row, u32 words, lane_set lanes, u32 width, u32 warp_size, u64 *a)
{
    u32 least = width, from = 0;
    for (lane_set set = lanes; set & (set - 1); set &= set - 1) {
        const u32 l = first_lane(set), next = first_lane(set & (set - 1));
        if (l / width == next / width && next - l < least) {
            least = next - l;
            from = l;
        }
    }
    *a = 0;
    return least == width || step_of(value_at(row, words, warp_size, from + least) -
                                         value_at(row, words, warp_size, from),
                                     words, least, a);
}

static bool some_affine(const u32 *row, u32 words, lane_set lanes, u32 width, u32 warp_size)
{
    const u64 cut = words > 1 ? ~0ull : UINT32_MAX;
    u64 a, b = 0, bases[MAX_LANES], seen = 0; /* the base of each row with lanes */
    if (!find_a(row, words, lanes, width, warp_size, &a))
        return false;
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 l = first_lane(set), r = l / width;
        const u64 base = (value_at(row, words, warp_size, l) - a * (l % width)) & cut;
        if (seen >> r & 1 && bases[r] != base)
            return false;
        bases[r] = base;
        seen |= 1ull << r;
    }
    u32 least = UINT32_MAX, from = 0;
    for (u64 set = seen; set & (set - 1); set &= set - 1) {
        const u32 r = first_lane(set), next = first_lane(set & (set - 1));
        if (next - r < least) {
            least = next - r;
            from = r;
        }
    }
    if (least != UINT32_MAX && !step_of(bases[from + least] - bases[from], words, least, &b))
        return false;
    const u32 first = first_lane(seen);
    for (u64 set = seen; set; set &= set - 1) {
        const u32 r = first_lane(set);
        if (((bases[first] + b * (r - first)) & cut) != bases[r])
            return false;
    }
    return true;
}

static bool some_uniform(const u32 *row, u32 words, lane_set lanes, u32 warp_size)
{
    const u64 first = value_at(row, words, warp_size, first_lane(lanes));
    for (lane_set set = lanes; set; set &= set - 1)
        if (value_at(row, words, warp_size, first_lane(set)) != first)
            return false;
    return true;
}

bool values_uniform(const u32 *row, u32 words, u32 warp_size)
{
    return same_words(row, warp_size) && (words == 1 || same_words(row + warp_size, warp_size));
}

enum values values_of(const u32 *row, u32 words, lane_set lanes, u32 width, u32 warp_size)
{
    assert(words == 1 || words == 2);
    assert(is_pow2(width) && width <= warp_size);
    const lane_set all = warp_size == MAX_LANES ? ~0ull : (1ull << warp_size) - 1;
    bool uniform, affine;
    if (lanes == all) {
        uniform =
            same_words(row, warp_size) && (words == 1 || same_words(row + warp_size, warp_size));
        affine = uniform || all_affine(row, words, width, warp_size);
    } else {
        uniform = !lanes || some_uniform(row, words, lanes, warp_size);
        affine = uniform || some_affine(row, words, lanes, width, warp_size);
    }
    return uniform ? VALUES_UNIFORM : affine ? VALUES_AFFINE : VALUES_OTHER;
}
