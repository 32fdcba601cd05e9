/* The table of textures, the places of texels, and surface accesses: see texture.h. */
#include "exec/texture.h"

#include <stdlib.h>

enum {
    MOST_TEXTURES = 1 << 20 /* as many as the headers that a handle of current GPUs can name */
};

u64 texture_add(struct texture_table *table)
{
    u32 at = 0;
    while (at < table->count && table->entries[at].used)
        at++;
    if (at == MOST_TEXTURES)
        return 0;
    if (at == table->room) {
        table->room = MAX(2 * table->room, 16u);
        table->entries = checked(realloc(table->entries, table->room * sizeof *table->entries));
    }
    table->count = MAX(table->count, at + 1);
    table->entries[at] = (struct texture){.used = true};
    return at + 1;
}

struct texture *texture_at(const struct texture_table *table, u64 handle)
{
    if (!handle || handle > table->count || !table->entries[handle - 1].used)
        return NULL;
    return &table->entries[handle - 1];
}

void texture_drop(struct texture_table *table, u64 handle)
{
    struct texture *texture = texture_at(table, handle);
    if (texture)
        texture->used = false;
}

void texture_table_free(struct texture_table *table)
{
    free(table->entries);
    *table = (struct texture_table){0};
}

/* ---- places ---- */

static u32 blocks_across(const struct texture *t, u32 level)
{
    return (texture_extent(t, 0, level) * t->format.bytes + GOB_BYTES - 1) / GOB_BYTES;
}

static u64 plane_bytes(const struct texture *t, u32 level)
{
    const u32 down = (texture_extent(t, 1, level) + GOB_ROWS - 1) / GOB_ROWS;
    return (u64)blocks_across(t, level) * down * (GOB_BYTES * GOB_ROWS);
}

u64 texture_layout(struct texture *t)
{
    u64 end = 0;
    for (u32 level = 0; level < t->levels; level++) {
        t->level_offset[level] = end;
        end += plane_bytes(t, level) * texture_extent(t, 2, level);
    }
    t->layer_bytes = end;
    return end * t->layers;
}

u64 texture_place(const struct texture *t, u32 level, u32 layer, u32 x, u32 y, u32 z)
{
    const u64 at = (u64)x * t->format.bytes;
    if (t->linear)
        return t->address + ((u64)layer + z) * t->plane + y * t->pitch + at;
    const u64 block = (u64)(y / GOB_ROWS) * blocks_across(t, level) + at / GOB_BYTES;
    const u32 across = at % GOB_BYTES, row = y % GOB_ROWS;
    return t->address + layer * t->layer_bytes + t->level_offset[level] +
           z * plane_bytes(t, level) + block * (GOB_BYTES * GOB_ROWS) + across / 32 * 256 +
           row / 2 * 64 + across % 32 / 16 * 32 + row % 2 * 16 + across % 16;
}

/* ---- sources ---- */

/* Word `j` of `count` in the slots from `first` on: ops.def. */
static u32 word_at(const struct chunk *chunk, const struct step *step, u32 first, u32 j, u32 count,
                   u32 stride, u32 lane)
{
    const bool pairs = count > 4 - first;
    const u32 slot = first + (pairs ? j / 2 : j);
    return chunk_row(chunk, step, slot)[(pairs ? j % 2 : 0) * stride + lane];
}

static u32 source_words(const struct inst *inst)
{
    const u32 coordinates = texture_coordinates(inst->key);
    if (inst->op != OP_tex)
        return coordinates;
    const u32 more = inst->key2 == LEVEL_GIVEN      ? 1
                     : inst->key2 == LEVEL_GRADIENT ? 2 * texture_dimensions(inst->key)
                                                    : 0;
    return !!(inst->imm & TEX_SAMPLER) + coordinates + more;
}

void texture_read_words(const struct warp *warp, const struct step *step, const struct chunk *chunk,
                        const struct inst *inst, u32 lane, struct texture_words *words)
{
    const u32 stride = warp->exec->image->warp_size, first = inst->op == OP_sust ? 2 : 1;
    const u32 *handle = chunk_row(chunk, step, 0);
    *words = (struct texture_words){.handle = handle[lane]};
    if (inst->src[0].count > 1)
        words->handle |= (u64)handle[stride + lane] << 32;
    if (inst->op == OP_txq)
        return;
    const u32 count = source_words(inst), sampler = inst->imm & TEX_SAMPLER;
    for (u32 j = 0; j < count; j++) {
        const u32 word = word_at(chunk, step, first, j, count, stride, lane);
        if (inst->op == OP_tex && sampler && !j)
            words->sampler = word;
        else
            words->word[j - (inst->op == OP_tex && sampler)] = word;
    }
}

/* ---- surfaces ---- */

/* A coordinate within `count`; false: it is outside. */
static bool clamped(i64 *at, i64 count, enum surface_clamp clamp)
{
    if (*at >= 0 && *at < count)
        return true;
    *at = *at < 0 ? 0 : count - 1;
    return clamp == SURFACE_CLAMP;
}

bool surface_plan(const struct texture_table *table, const struct inst *inst,
                  const struct texture_words *words, u64 *address, bool *inside)
{
    const struct texture *t = texture_bound(table, words->handle);
    const u32 layered = texture_is_layered(inst->key), size = t ? t->format.bytes : 1;
    const u32 bytes = inst->imm & SURFACE_FORMATTED ? size : type_bytes(inst->type) * inst->vector;
    i64 at[3] = {0}, layer = layered ? (i32)words->word[0] : 0;
    if (!t)
        return false;
    for (u32 d = 0; d < texture_dimensions(inst->key); d++)
        at[d] = (i32)words->word[layered + d];
    if (inst->imm & SURFACE_FORMATTED)
        at[0] *= size;
    /* the first byte may be anywhere in the row that leaves room for all of them */
    *inside = clamped(&at[0], MAX((i64)t->size[0] * size - bytes + 1, 0), inst->key2);
    *inside &= clamped(&at[1], t->size[1], inst->key2);
    *inside &= clamped(&at[2], t->size[2], inst->key2);
    *inside &= clamped(&layer, t->layers, inst->key2) && at[0] >= 0;
    if (*inside)
        *address = texture_place(t, 0, (u32)layer, (u32)at[0] / size, (u32)at[1], (u32)at[2]) +
                   (u32)at[0] % size;
    return true;
}
