/* Rows of the register file and physical lanes, as mechanisms see and change them: mechanism.h. */
#include "core/live.h"
#include "core/mechanism.h"

/* Stops the launch: a mechanism has asked for something impossible. */
static void refuse(struct core *core, u32 slot, const char *what)
{
    const struct slot *s = &core->slots[slot];
    fault_check(core->exec, s->at == NO_INST ? core->exec->kernel->first : s->at,
                "a mechanism puts %s\n  for the warp in slot %u of core %u, block %llu", what, slot,
                core->config.index, (unsigned long long)s->warp->block->number);
    core->stopped = true;
}

void hooks_allocate(struct core *core, u64 slots)
{
    char why[160];
    for (; slots; slots &= slots - 1) {
        const u32 s = first_bit(slots);
        struct warp *warp = core->slots[s].warp;
        register_map_offer(core->registers, warp);
        u32 *rows = core->registers->maps[warp->frame].rows;
        EACH_USE(use, &core->hooks, allocate)
            use->mechanism->allocate(use->state, core, s, rows, core->exec->register_rows);
        if (!register_map_claim(core->registers, warp, why, sizeof why))
            refuse(core, s, why);
    }
}

static bool place(struct core *core, u32 slot, u32 reg, lane_set lanes, u32 row, bool with_value)
{
    char why[160];
    if (!core->slots[slot].warp->map) /* its allocation was refused */
        return false;
    if (register_map_place(core->slots[slot].warp, reg, lanes, row, with_value, why, sizeof why))
        return true;
    refuse(core, slot, why);
    return false;
}

bool core_move_lanes(struct core *core, u32 slot, u32 reg, lane_set lanes, u32 row)
{
    return place(core, slot, reg, lanes, row, true);
}

bool core_place_lanes(struct core *core, u32 slot, u32 reg, lane_set lanes, u32 row)
{
    return place(core, slot, reg, lanes, row, false);
}

u32 core_home_rows(const struct core *core, u32 slot, u32 *count)
{
    const struct register_file *file = core->registers;
    const u32 first = core->slots[slot].warp->frame * file->layout.rows;
    *count = file->layout.rows;
    return first < file->declared ? first : first + file->added;
}

lane_set core_row_lanes(const struct core *core, u32 row)
{
    const struct register_file *file = core->registers;
    if (file->mapped)
        return file->used[row];
    const u32 frame = row / file->layout.rows;
    for (u64 set = core->present; set; set &= set - 1)
        if (core->slots[first_bit(set)].warp->frame == frame &&
            row % file->layout.rows < core->exec->register_rows)
            return core->all_lanes;
    return 0;
}

u32 core_spare_rows(const struct core *core, u32 *rows, u32 most)
{
    u32 count = 0;
    for (u32 row = 0; row < core_rows(core); row++) {
        if (core_row_lanes(core, row))
            continue;
        if (count < most)
            rows[count] = row;
        count++;
    }
    return count;
}

u32 core_add_rows(struct core *core, u32 rows)
{
    return register_file_add(core->registers, rows);
}

void core_visit_registers(struct state_walk *walk, const struct state_row *row, void *owner,
                          u64 entry)
{
    const struct core *core = owner;
    const u64 lanes = core ? core->config.core->warp_size : 1;
    live_visit_registers(walk, row, owner, row->which * lanes + entry);
}

bool core_set_lanes(struct core *core, u32 slot, const u8 *physical)
{
    const u32 lanes = core->config.core->warp_size;
    lane_set seen = 0;
    for (u32 lane = 0; lane < lanes; lane++)
        seen |= physical[lane] < lanes ? 1ull << physical[lane] : 0;
    if (seen != core->all_lanes) {
        refuse(core, slot, "threads on lanes that are no permutation,");
        return false;
    }
    memcpy(core->lanes.physical[slot], physical, lanes);
    core->lanes.permuted |= bit(slot);
    return true;
}
