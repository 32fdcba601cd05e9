/*
 * Compaction of code with explicit EXEC (Southern Islands): the branches on EXEC whose region any warp
 * may execute (analysis/lane_regions.h), and what a warp's threads do at one.
 *
 * Such a branch leaves a region out if no lane of the warp is active. All lanes of the warp go one way;
 * in terms of threads, those that are active execute the region, and the others are where it ends. So a
 * compiler's `if` with `else` has two regions, one after the other, at whose branches warps wait.
 */
#include "mech/compaction.h"

u32 compaction_lane_places(const struct compaction *c, u32 slot, u32 branch, struct target *places)
{
    const struct compaction_branch *b = &c->branches[branch];
    const u32 count = core_lane_places(c->core, slot, places);
    if (!b->region || count != 1 || places[0].pc == b->reconverge)
        return count;
    const lane_set active = core_active(c->core, slot) & places[0].mask;
    places[1] = (struct target){places[0].mask & ~active, b->reconverge};
    places[0].mask = active;
    return places[1].mask ? 2 : 1;
}

bool compaction_alike(const struct compaction *c, u64 slots, const struct lane_region *region)
{
    const struct warp *first = core_slot(c->core, first_bit(slots))->warp;
    for (u64 set = slots & (slots - 1); set; set &= set - 1) {
        const struct warp *warp = core_slot(c->core, first_bit(set))->warp;
        for (u32 i = 0; i < SCALAR_COUNT; i++)
            if (region->needs[i / 64] >> i % 64 & 1 &&
                *scalar_word(warp, i) != *scalar_word(first, i))
                return false;
    }
    return true;
}

static void find_in_function(struct arena *arena, const struct compaction_params *params,
                             const struct program *program, const struct function *function,
                             struct compaction_branch *found, u64 *branches, u64 *refused)
{
    const struct code code = code_of(program, function);
    if (!code.count)
        return;
    const struct cfg *cfg = cfg_build(arena, &code);
    struct lane_regions *regions = lane_regions_create(arena, &code, cfg, function->open);
    struct lane_region region;
    for (u32 b = 0; regions && b < cfg->count; b++) {
        if (!lane_regions_is_branch(regions, b))
            continue;
        const u32 inst = function->first + cfg->blocks[b].end - 1;
        *branches += 1;
        if (!lane_regions_find(regions, b, &region) || (region.shared && !params->shared) ||
            (region.scalars && !params->scalars)) {
            *refused += 1;
            continue;
        }
        struct lane_region *kept = arena_new(arena, struct lane_region);
        *kept = region;
        found[inst] = (struct compaction_branch){.waits = true,
                                                 .target = (u32)program->insts[inst].imm,
                                                 .reconverge = function->first + region.meet,
                                                 .region = kept};
    }
}

void compaction_lane_regions(struct arena *arena, const struct compaction_params *params,
                             const struct program *program, struct compaction_branch *found,
                             u64 *branches, u64 *refused)
{
    for (u32 f = 0; f < program->function_count; f++)
        find_in_function(arena, params, program, &program->functions[f], found, branches, refused);
}
