/* Re-formed warps: see reformed.h. */
#include "exec/reformed.h"
#include "analysis/lane_regions.h"
#include "exec/dyninst.h"
#include "exec/register_file.h"
#include "exec/scalars.h"

/* ---- forming ---- */

void warp_reform(struct warp *warp, struct reformed *reformed, struct warp *const *homes,
                 lane_set lanes, u32 pc, u32 rpc)
{
    warp->reformed = reformed;
    reformed->own = NULL;
    memset(reformed->homes, 0, sizeof reformed->homes);
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        assert(homes[lane]->live >> lane & 1);
        reformed->homes[lane] = homes[lane];
    }
    warp->state = lanes ? WARP_READY : WARP_WAITING;
    if (lanes)
        paths_reset(warp, lanes, pc, rpc);
    else
        paths_clear(warp);
}

void warp_restore(struct warp *warp, u32 pc)
{
    warp->reformed = NULL;
    warp->state = WARP_READY;
    if (warp->live)
        paths_reset(warp, warp->live, pc, NO_INST);
    else
        paths_clear(warp);
}

void reformed_exit(struct warp *warp, lane_set lanes)
{
    for (lane_set set = lanes; set; set &= set - 1)
        warp->reformed->homes[first_lane(set)]->live &= ~(set & -set);
}

/* ---- scalars of code with explicit EXEC ---- */

/* The home's scalars: those of a warp that has been re-formed, or is about to be. */
static u64 kept_pair(const struct reformed *home, u32 pair)
{
    return home->kept[2 * pair] | (u64)home->kept[2 * pair + 1] << 32;
}

static void keep_bits(struct reformed *home, u32 pair, u64 bits, lane_set lanes)
{
    const u64 value = (kept_pair(home, pair) & ~lanes) | (bits & lanes);
    home->kept[2 * pair] = (u32)value;
    home->kept[2 * pair + 1] = (u32)(value >> 32);
}

/* The homes of a warp's lanes get back what the region may have changed. */
static void give_back(const struct warp *warp, const struct lane_region *region)
{
    lane_set same, lanes = 0;
    for (u32 lane = 0; lane < MAX_LANES; lane++)
        lanes |= (lane_set)(warp->reformed->homes[lane] != NULL) << lane;
    for (; lanes; lanes &= ~same) {
        struct reformed *home = warp->reformed->homes[first_lane(lanes)]->kept;
        same = warp_same_home(warp, lanes);
        for (u64 set = region->masks; set; set &= set - 1)
            keep_bits(home, first_lane(set), scalar_pair(warp, 2 * first_lane(set)), same);
        for (u32 i = 0; i < SCALAR_COUNT; i++)
            if (region->values[i / 64] >> i % 64 & 1)
                home->kept[i] = *scalar_word(warp, i);
    }
}

void reformed_keep(struct warp *warp, struct reformed *reformed, const struct lane_region *region)
{
    if (warp->kept) {
        give_back(warp, region);
        return;
    }
    for (u32 i = 0; i < SCALAR_COUNT; i++)
        reformed->kept[i] = *scalar_word(warp, i);
    warp->kept = reformed;
}

void reformed_gather(struct warp *warp, struct warp *const *homes, lane_set lanes,
                     const struct lane_region *region)
{
    for (u32 i = 0; i < SCALAR_COUNT; i++)
        *scalar_word(warp, i) = homes[first_lane(lanes)]->kept->kept[i];
    for (u64 set = region->masks; set; set &= set - 1) {
        const u32 pair = first_lane(set);
        u64 bits = 0;
        for (lane_set left = lanes; left; left &= left - 1)
            bits |= kept_pair(homes[first_lane(left)]->kept, pair) & left & -left;
        scalar_set_pair(warp, 2 * pair, bits);
    }
}

void reformed_return(struct warp *warp)
{
    for (u32 i = 0; i < SCALAR_COUNT; i++)
        *scalar_word(warp, i) = warp->kept->kept[i];
    warp->kept = NULL;
}

/* ---- operands ---- */

static bool has_scalars(const struct warp *warp)
{
    return warp->exec->image->program->traits.explicit_exec;
}

/* The word with a mask's bits for a chunk. */
static u32 *mask_word(const struct image *image, void *base, u32 mask, u32 chunk)
{
    return (u32 *)((u8 *)base + scalar_offset(image, (mask << (image->chunks - 1)) + chunk));
}

static void gather_mask(const struct warp *warp, u32 mask)
{
    const struct image *image = warp->exec->image;
    for (u32 c = 0; c < image->chunks; c++) {
        u32 word = 0;
        for (u32 set = warp->chunks[c].active; set; set &= set - 1) {
            const struct warp *home = warp->reformed->homes[LANES * c + first_lane(set)];
            word |= *mask_word(image, home->chunks[0].base, mask, c) & set & -set;
        }
        *mask_word(image, warp->reformed->frame, mask, c) = word;
    }
}

static void gather_register(const struct warp *warp, u32 reg)
{
    const struct image *image = warp->exec->image;
    const size_t row = image->mask_rows + image->own_rows + reg;
    u32 *to = warp->reformed->frame + row * image->warp_size;
    for (lane_set set = warp->active; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        to[lane] = *register_word(warp->reformed->homes[lane], reg, lane);
    }
}

static void gather(const struct warp *warp, struct operand operand)
{
    for (u32 j = 0; operand.kind == OPERAND_VECTOR && j < operand.count; j++)
        gather_register(warp, operand.index + j);
    if (operand.kind == OPERAND_MASK && !has_scalars(warp))
        gather_mask(warp, operand.index);
}

static void use_rows(struct warp *warp, u8 *base)
{
    for (u32 c = 0; c < warp->exec->image->chunks; c++)
        warp->chunks[c].base = base + c * LANES * sizeof(u32);
}

void reformed_stage(struct warp *warp, const struct inst *code)
{
    struct reformed *r = warp->reformed;
    assert(!r->own && !(op_info[code->op].flags & OPF_CROSS)); /* V2, V5 */
    for (unsigned k = 0; k < ARRAY_LEN(code->src); k++)
        gather(warp, code->src[k]);
    gather(warp, code->guard);
    r->own = warp->chunks[0].base;
    if (has_scalars(warp)) {
        const struct image *image = warp->exec->image;
        memcpy(r->frame, r->own,
               (image->mask_rows + image->own_rows) * image->warp_size * sizeof(u32));
    }
    r->map = warp->map;
    r->registers = warp->registers;
    warp->map = NULL;
    warp->registers = NULL;
    use_rows(warp, (u8 *)r->frame);
}

void reformed_unstage(struct warp *warp)
{
    struct reformed *r = warp->reformed;
    if (!r->own)
        return;
    use_rows(warp, r->own);
    warp->map = r->map;
    warp->registers = r->registers;
    r->own = NULL;
}

/* ---- results ---- */

void reformed_issued(struct dyninst *f)
{
    f->homes = f->warp->reformed->homes;
}

void reformed_commit_mask(const struct dyninst *f, unsigned k)
{
    const struct image *image = f->warp->exec->image;
    for (u32 c = 0; c < image->chunks; c++)
        for (u32 set = lanes_of_chunk(f->lanes, c); set; set &= set - 1) {
            const struct warp *home = f->homes[LANES * c + first_lane(set)];
            u32 *to = mask_word(image, home->chunks[0].base, f->to[k], c);
            *to = (*to & ~(set & -set)) | (f->dst[k][c] & set & -set);
        }
}
