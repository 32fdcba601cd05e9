/*
 * Texture fetches: from coordinates to texels and their weights, as the CUDA C++ Programming Guide
 * specifies them (appendix "Texture Fetching").
 *
 * Chosen where the guide is silent: the 8 fractional bits of a position are rounded to nearest,
 * halves up; texels of weight 0 are not read; NaN coordinates are 0; layers are clamped; faces of
 * cubes are filtered each for itself, with coordinates clamped to the face; the level of a fetch
 * with gradients is the logarithm of the longer one, truncated to 8 fractional bits.
 */
#include "exec/texture.h"

#define FAR 0x1p30 /* positions beyond are as good as this one */

static f64 coordinate(u32 word, enum type type)
{
    f32 value;
    if (type != TYPE_F32)
        return (i32)word;
    memcpy(&value, &word, sizeof value);
    return value != value ? 0 : (f64)value;
}

static f64 limited(f64 value, f64 low, f64 high)
{
    return value < low ? low : value > high ? high : value;
}

/* For values within +-2^62. */
static f64 floor_of(f64 value)
{
    const f64 whole = (f64)(i64)value;
    return whole - (whole > value);
}

/* An f32 within [0, 1] by repetition or reflection; numbers that large have no fraction. */
static f64 repeated(f64 c)
{
    return c > -FAR && c < FAR ? c - floor_of(c) : 0;
}
static f64 reflected(f64 c)
{
    if (!(c > -FAR && c < FAR))
        return 0;
    const f64 away = c - 2 * floor_of(c / 2 + 0.5);
    return away < 0 ? -away : away;
}

/* The texels of one dimension: one, or two with weights 1 - part/256 and part/256. */
struct texel_axis {
    i64 at[2];
    bool outside[2];
    u32 part;
};

static i64 addressed(i64 at, i64 count, enum sampler_address mode, bool *outside)
{
    *outside = mode == ADDRESS_BORDER && (at < 0 || at >= count);
    if (mode == ADDRESS_WRAP)
        at = at < 0 ? at + count : at >= count ? at - count : at;
    return at < 0 ? 0 : at >= count ? count - 1 : at;
}

/* `c`: the coordinate; `pair`: two texels, for filtering or a gather. */
static struct texel_axis axis_of(f64 c, u32 count, bool normalized, enum sampler_address mode,
                                 bool pair)
{
    struct texel_axis axis = {0};
    if (!normalized && (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR))
        mode = ADDRESS_CLAMP;
    if (mode == ADDRESS_WRAP)
        c = repeated(c);
    else if (mode == ADDRESS_MIRROR)
        c = reflected(c);
    const f64 place = limited(normalized ? c * count : c, -FAR, FAR);
    if (pair) {
        const i64 fixed = (i64)floor_of((place - 0.5) * 256 + 0.5);
        axis.part = (u32)(fixed & 255);
        axis.at[0] = (fixed - axis.part) / 256;
        axis.at[1] = axis.at[0] + 1;
    } else {
        axis.at[0] = axis.at[1] = (i64)floor_of(place);
    }
    for (u32 k = 0; k < 2; k++)
        axis.at[k] = addressed(axis.at[k], count, mode, &axis.outside[k]);
    return axis;
}

/* The face of a cube that a direction meets, and where, from 0 to 1. */
static u32 cube_face(const f64 r[3], f64 st[2])
{
    const f64 x = r[0], y = r[1], z = r[2];
    const f64 ax = x < 0 ? -x : x, ay = y < 0 ? -y : y, az = z < 0 ? -z : z;
    f64 s, t, m;
    u32 face;
    if (ax >= ay && ax >= az) {
        face = x < 0;
        s = x < 0 ? z : -z;
        t = -y;
        m = ax;
    } else if (ay >= az) {
        face = 2 + (y < 0);
        s = x;
        t = y < 0 ? -z : z;
        m = ay;
    } else {
        face = 4 + (z < 0);
        s = z < 0 ? -x : x;
        t = -y;
        m = az;
    }
    st[0] = m > 0 ? (s / m + 1) / 2 : 0.5;
    st[1] = m > 0 ? (t / m + 1) / 2 : 0.5;
    return face;
}

/* ---- levels ---- */

/* log2 with 8 fractional bits, truncated; of a positive finite number. */
static f64 log2_of(f64 value)
{
    u64 bits;
    memcpy(&bits, &value, sizeof bits);
    const i64 exponent = (i64)(bits >> 52 & 0x7ff) - 1023;
    u64 mantissa = (bits & ((1ull << 52) - 1)) >> 21 | 1u << 31; /* in [1, 2), times 2^31 */
    u32 part = 0;
    for (u32 i = 0; i < 8; i++) {
        mantissa = mantissa * mantissa >> 31;
        part = 2 * part + (u32)(mantissa >> 32);
        mantissa >>= mantissa >> 32;
    }
    return (f64)exponent + part / 256.0;
}

static f64 gradient_level(const struct texture *t, const struct inst *inst, u32 sampler,
                          const u32 *words)
{
    const u32 dimensions = texture_dimensions(inst->key);
    f64 longest = 0;
    for (u32 g = 0; g < 2; g++) {
        f64 square = 0;
        for (u32 d = 0; d < dimensions; d++) {
            f64 step = coordinate(words[g * dimensions + d], TYPE_F32);
            step = limited(step, -FAR, FAR) * (sampler & SAMPLER_NORMALIZED ? t->size[d] : 1);
            square += step * step;
        }
        longest = MAX(longest, square);
    }
    return longest > 0 ? log2_of(longest) / 2 : -FAR;
}

/* Two levels with weights 1 - *part/256 and *part/256, or the same one twice. */
static void levels_of(const struct texture *t, const struct inst *inst, u32 sampler,
                      const u32 *words, u32 level[2], u32 *part)
{
    f64 wanted = 0;
    level[0] = level[1] = *part = 0;
    if (inst->key2 == LEVEL_GIVEN)
        wanted = coordinate(words[0], TYPE_F32);
    else if (inst->key2 == LEVEL_GRADIENT)
        wanted = gradient_level(t, inst, sampler, words);
    if (t->levels == 1 || (inst->key2 != LEVEL_GIVEN && inst->key2 != LEVEL_GRADIENT))
        return;
    wanted = limited(wanted + (f64)t->level_bias, (f64)t->level_min, (f64)t->level_max);
    wanted = limited(wanted, 0, t->levels - 1);
    if (!(sampler & SAMPLER_LEVELS_LINEAR)) {
        level[0] = level[1] = (u32)(wanted + 0.5);
        return;
    }
    const u32 fixed = (u32)(wanted * 256 + 0.5);
    *part = fixed % 256;
    level[0] = fixed / 256;
    level[1] = MIN(level[0] + 1, t->levels - 1u);
}

/* ---- texels ---- */

static void add_texel(struct texture_plan *plan, bool outside, u64 address, f64 weight)
{
    plan->outside |= (u32)outside << plan->count;
    plan->address[plan->count] = address;
    plan->weight[plan->count++] = weight;
}

static u32 weight_of(const struct texel_axis *axis, u32 k)
{
    return k ? axis->part : 256 - axis->part;
}

/* The texels of one level, `share` of 256 each. */
static void add_level(struct texture_plan *plan, const struct texel_axis axis[3], u32 level,
                      u32 layer, u32 share)
{
    for (u32 i = 0; i < 8; i++) {
        const u32 k[3] = {i & 1, i >> 1 & 1, i >> 2};
        f64 weight = share / 256.0;
        bool outside = false;
        for (u32 d = 0; d < 3; d++) {
            weight *= weight_of(&axis[d], k[d]) / 256.0;
            outside |= axis[d].outside[k[d]];
        }
        if (weight > 0)
            add_texel(plan, outside,
                      texture_place(plan->texture, level, layer, (u32)axis[0].at[k[0]],
                                    (u32)axis[1].at[k[1]], (u32)axis[2].at[k[2]]),
                      weight);
    }
}

/* The four texels of a bilinear fetch, counterclockwise from the lower left one. */
static void add_gather(struct texture_plan *plan, const struct texel_axis axis[3], u32 layer)
{
    static const u8 order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (u32 i = 0; i < 4; i++) {
        const u32 x = order[i][0], y = order[i][1];
        add_texel(plan, axis[0].outside[x] || axis[1].outside[y],
                  texture_place(plan->texture, 0, layer, (u32)axis[0].at[x], (u32)axis[1].at[y], 0),
                  1);
    }
    plan->gather = true;
}

static bool is_filtered(const struct texture *t, u32 sampler, enum type coordinates)
{
    return sampler & SAMPLER_LINEAR && coordinates == TYPE_F32 && t->format.number != NUMBER_UINT &&
           t->format.number != NUMBER_SINT;
}

/* Beyond the end, linear memory reads 0 whatever the sampler says. */
static enum sampler_address mode_of(const struct texture *t, u32 sampler, u32 dimension)
{
    return t->linear && t->dimensions == 1 ? ADDRESS_BORDER : sampler_address(sampler, dimension);
}

bool texture_plan(const struct texture_table *table, const struct inst *inst,
                  const struct texture_words *words, struct texture_plan *plan)
{
    const struct texture *t = texture_bound(table, words->handle);
    if (!t)
        return false;
    const u32 sampler = inst->imm & TEX_SAMPLER ? words->sampler : t->sampler;
    const u32 layered = texture_is_layered(inst->key), cube = texture_is_cube(inst->key);
    const u32 count = texture_coordinates(inst->key) - layered;
    const bool gathers = inst->key2 >= LEVEL_GATHER;
    const bool filters = gathers || is_filtered(t, sampler, inst->stype);
    const bool normalized = cube || (sampler & SAMPLER_NORMALIZED && inst->stype == TYPE_F32);
    u32 level[2], part;
    f64 c[3] = {0};
    i64 layer = layered ? (i32)words->word[0] : 0;
    *plan = (struct texture_plan){.texture = t};
    for (u32 d = 0; d < count; d++)
        c[d] = coordinate(words->word[layered + d], inst->stype);
    layer = cube && layer ? 6 * layer : layer;
    if (cube)
        layer += cube_face((f64[3]){c[0], c[1], c[2]}, c);
    layer = layer < 0 ? 0 : MIN(layer, (i64)t->layers - 1);
    levels_of(t, inst, sampler, &words->word[layered + count], level, &part);
    for (u32 l = 0; l < (part ? 2 : 1); l++) {
        struct texel_axis axis[3] = {0};
        for (u32 d = 0; d < texture_dimensions(inst->key); d++)
            axis[d] = axis_of(c[d], texture_extent(t, d, level[l]), normalized,
                              cube ? ADDRESS_CLAMP : mode_of(t, sampler, d), filters);
        if (gathers)
            add_gather(plan, axis, (u32)layer);
        else
            add_level(plan, axis, level[l], (u32)layer, l ? part : 256 - part);
    }
    plan->component = gathers ? inst->key2 - LEVEL_GATHER : 0;
    plan->weighted = !gathers && (filters || part);
    return true;
}
