/* What instructions of textures and surfaces have in `key`, `key2` and `imm`: see ops.def. */
#ifndef IR_TEXTURE_H
#define IR_TEXTURE_H

#include "base/types.h"

/* key of tex, suld and sust. */
enum texture_shape {
    TEXTURE_1D,
    TEXTURE_2D,
    TEXTURE_3D,
    TEXTURE_1D_LAYERS,
    TEXTURE_2D_LAYERS,
    TEXTURE_CUBE,
    TEXTURE_CUBE_LAYERS,
    TEXTURE_SHAPES
};

/* key2 of tex. */
enum texture_level {
    LEVEL_BASE,     /* level 0 */
    LEVEL_GIVEN,    /* a word behind the coordinates: the level, f32 */
    LEVEL_GRADIENT, /* dx of all coordinates, then dy of all, f32 */
    LEVEL_GATHER    /* + component: four texels, one component of each */
};
/* imm of tex: flags. */
enum {
    TEX_SAMPLER = 1 /* the first word is a sampler */
};

/* imm of suld and sust: flags. */
enum {
    SURFACE_FORMATTED = 1 /* x counts texels, and words are converted by the surface's format */
};
/* key2 of suld and sust: coordinates out of range. */
enum surface_clamp {
    SURFACE_TRAP,
    SURFACE_CLAMP,
    SURFACE_ZERO /* loads give 0, stores are dropped */
};

/* key of txq. */
enum texture_query {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_LEVELS,
    QUERY_SAMPLES,
    QUERY_LAYERS,
    QUERY_DATA_TYPE,
    QUERY_CHANNEL_ORDER,
    QUERY_NORMALIZED,
    QUERY_FILTER,
    QUERY_ADDRESS_X, /* , y, z */
    QUERY_ADDRESS_Y,
    QUERY_ADDRESS_Z,
    TEXTURE_QUERIES
};

/* A sampler as a word. */
enum sampler_bits {
    SAMPLER_NORMALIZED = 1,
    SAMPLER_LINEAR = 2,
    SAMPLER_LEVELS_LINEAR = 4,
    SAMPLER_ADDRESS = 8 /* times enum sampler_address of x; of y and z: 3 and 6 bits further */
};
enum sampler_address {
    ADDRESS_WRAP,
    ADDRESS_CLAMP, /* to the edge */
    ADDRESS_MIRROR,
    ADDRESS_BORDER
};
static inline enum sampler_address sampler_address(u32 sampler, u32 dimension)
{
    return (enum sampler_address)(sampler / SAMPLER_ADDRESS >> 3 * dimension & 7);
}

/* Words of the coordinates of a shape, its layer included. */
static inline u32 texture_coordinates(enum texture_shape shape)
{
    static const u8 words[TEXTURE_SHAPES] = {1, 2, 3, 2, 3, 3, 4};
    return words[shape];
}
static inline bool texture_is_layered(enum texture_shape shape)
{
    return shape == TEXTURE_1D_LAYERS || shape == TEXTURE_2D_LAYERS || shape == TEXTURE_CUBE_LAYERS;
}
static inline bool texture_is_cube(enum texture_shape shape)
{
    return shape == TEXTURE_CUBE || shape == TEXTURE_CUBE_LAYERS;
}
/* Dimensions of a layer, or of a cube's face. */
static inline u32 texture_dimensions(enum texture_shape shape)
{
    return shape == TEXTURE_3D ? 3 : shape == TEXTURE_1D || shape == TEXTURE_1D_LAYERS ? 1 : 2;
}

#endif
