/*
 * Textures and surfaces: what a handle stands for, where texels are, and what a fetch computes.
 *
 * A handle is a number from 1 on: an entry of the device's table, whose texels are in device memory.
 * A sampler is part of the entry, or a word of its own (enum sampler_bits) where PTX passes one.
 *
 * Invariants
 *  T1  A fetch reads at most TEXTURE_TEXELS texels; the weights of those that it reads, and of those
 *      beyond the border, sum to 1. Weights are products of numbers with 8 fractional bits, hence
 *      exact in f64.
 *  T2  Results depend on the handle, the coordinates and memory only: coordinates are computed in
 *      f64 in a fixed order, and nothing is asked of the host's libm.
 */
#ifndef EXEC_TEXTURE_H
#define EXEC_TEXTURE_H

#include "exec/buffer.h"
#include "ir/texture.h"

enum {
    TEXTURE_TEXELS = 16, /* 2 in each of three dimensions and of two levels */
    TEXTURE_LEVELS = 16,
    TEXTURE_SIDE = 131072, /* largest width of a texture of linear memory in texels is 2^27 */
    GOB_BYTES = 64,        /* a row of a block of texels (texture_place) */
    GOB_ROWS = 8,
    TEXTURE_PITCH_ALIGN = 32
};

struct texture {
    bool used;
    bool linear; /* rows and planes; otherwise blocks: see texture_place() */
    bool cube;
    u8 dimensions; /* 1 to 3; of a layer */
    u8 levels;
    u32 size[3];   /* texels of level 0; 1 where there is no such dimension */
    u32 layers;    /* 1: not layered. Of cubes: faces, six each */
    u32 sampler;   /* enum sampler_bits */
    u32 border[4]; /* bits of a register */
    f32 level_bias, level_min, level_max;
    u8 select[4];                 /* of each result: a component, CHANNEL_ZERO or CHANNEL_ONE */
    u32 data_type, channel_order; /* what txq and suq return */
    u64 address;
    u64 pitch, plane; /* linear: bytes from row to row, from plane or layer to the next */
    u64 layer_bytes;  /* of all levels */
    u64 level_offset[TEXTURE_LEVELS]; /* in a layer */
    struct texel_format format;
};
enum {
    CHANNEL_ZERO = 4,
    CHANNEL_ONE = 5
};

struct texture_table {
    struct texture *entries;
    u32 count, room;
};
/* 0: none is left. */
u64 texture_add(struct texture_table *table);
/* NULL: it is no handle. */
struct texture *texture_at(const struct texture_table *table, u64 handle);
/* The same of one that stands for an image. */
static inline const struct texture *texture_bound(const struct texture_table *table, u64 handle)
{
    const struct texture *texture = texture_at(table, handle);
    return texture && texture->format.bytes ? texture : NULL;
}
void texture_drop(struct texture_table *table, u64 handle);
void texture_table_free(struct texture_table *table);

/* Fills level_offset and layer_bytes of blocks, and returns the bytes of the whole texture. */
u64 texture_layout(struct texture *texture);
static inline u32 texture_extent(const struct texture *t, u32 dimension, u32 level)
{
    return MAX(t->size[dimension] >> level, 1);
}
/*
 * The address of a texel. Blocks of 64 bytes times 8 rows (GOB, "group of bytes": NVIDIA, Tegra X1
 * technical reference manual, section 20.1; the block linear layout with a block height of one) are
 * stored row by row of blocks, plane after plane. Within a block, 32 bytes are 16 bytes of two rows.
 */
u64 texture_place(const struct texture *t, u32 level, u32 layer, u32 x, u32 y, u32 z);

/* What one lane fetches. */
struct texture_plan {
    const struct texture *texture;
    u32 count;
    u32 weighted : 1; /* a sum of texels; otherwise the only texel itself */
    u32 gather : 1;   /* each texel gives one result */
    u32 component;    /* of a gather */
    u64 address[TEXTURE_TEXELS];
    f64 weight[TEXTURE_TEXELS];
    u32 outside; /* bits: texels beyond the border, which have no address */
};
/* The words of a lane's sources, as in ops.def. False: the handle is none. */
struct texture_words {
    u64 handle;
    u32 sampler, word[8];
};
bool texture_plan(const struct texture_table *table, const struct inst *inst,
                  const struct texture_words *words, struct texture_plan *plan);
/* The texel of a surface access; *inside false: it is dropped, or gives 0. */
bool surface_plan(const struct texture_table *table, const struct inst *inst,
                  const struct texture_words *words, u64 *address, bool *inside);

/* A lane's sources. */
void texture_read_words(const struct warp *warp, const struct step *step, const struct chunk *chunk,
                        const struct inst *inst, u32 lane, struct texture_words *words);
bool texture_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask);
void texture_query_step(struct warp *warp, struct step *step, struct chunk *chunk,
                        const struct inst *inst, u32 mask);
/* Where a lane's texels are, at most TEXTURE_TEXELS; returns how many. */
u32 texture_addresses(const struct warp *warp, const struct step *step, const struct chunk *chunk,
                      const struct inst *inst, u32 lane, u64 *address);
/* Bytes of a lane's access: those of a texel of the first lane's texture. */
u32 texture_bytes(const struct warp *warp, const struct step *step, const struct chunk *chunk,
                  const struct inst *inst, u32 mask);

#endif
