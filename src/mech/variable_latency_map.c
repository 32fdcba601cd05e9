/* Which bank and row hold a register: see variable_latency.c. */
#include "mech/variable_latency.h"

/* Warps that a core holds at most in this launch. */
static u32 resident_warps(const struct core *core)
{
    const struct exec *exec = core_exec(core);
    const struct core_params *p = core_config(core)->core;
    const u32 cores = core_config(core)->cores;
    const u64 a_warp = align_up((u64)exec->register_rows * p->warp_size, p->register_unit);
    const u64 shared = align_up(exec->shared_bytes, p->shared_unit);
    const u64 grid = (u64)exec->grid[0] * exec->grid[1] * exec->grid[2];
    u64 blocks = MIN((u64)p->blocks, p->warps / exec->warps);
    blocks = MIN(blocks, p->threads / (exec->warps * p->warp_size));
    blocks = MIN(blocks, p->registers / (MAX(a_warp, 1) * exec->warps));
    if (shared)
        blocks = MIN(blocks, p->shared_bytes / shared);
    blocks = MIN(blocks, (grid + cores - 1) / cores);
    return (u32)MAX(blocks, 1) * exec->warps;
}

/* Registers of a warp that go to fast banks: all, if there is room for those of all warps. */
static u32 near_registers(const struct variable_latency *v, const struct core *core)
{
    const u32 room = v->of_kind[BANK_FAST] * v->entries, warps = resident_warps(core);
    if (v->params->mapping != MAPPING_FAST_FIRST || !room)
        return 0;
    return (u64)warps * core_exec(core)->register_rows <= room ? UINT32_MAX : room / warps;
}

/* Banks for registers that belong into hybrid ones: as many as their share of all registers, in
 * pairs. */
static u32 hybrid_banks(const struct variable_latency *v, const struct core *core)
{
    const u32 most = parts_most_hybrid(v), all = core_exec(core)->register_rows;
    u32 special = 0;
    if (!v->params->hybrid)
        return 0;
    for (u32 reg = 0; reg < all; reg++)
        special += map_special(v, reg);
    return MIN(all ? v->banks * special / all & ~1u : 0, most);
}

void map_launch(struct variable_latency *v, const struct core *core)
{
    const struct exec *exec = core_exec(core);
    memset(v->special, 0, sizeof v->special);
    memset(v->next, 0, sizeof v->next);
    v->narrow =
        v->params->hybrid && parts_most_hybrid(v) && 2 * exec->threads <= core_warp_size(core);
    if (v->params->hybrid && !v->narrow && parts_most_hybrid(v))
        sides_launch(v, core);
    parts_arrange(v, core, hybrid_banks(v, core));
    v->near = near_registers(v, core);
    v->stats->hybrid_banks += v->of_kind[BANK_HYBRID];
}

/* ---- registers ---- */

static u32 one_of(const struct variable_latency *v, enum bank_kind kind, u32 number)
{
    return v->list[kind][number % v->of_kind[kind]];
}

/* The bank for a register: equation 5.1 of the text, among all banks or those of a kind. */
static u32 bank_of(const struct variable_latency *v, u32 slot, u32 reg)
{
    const u32 number = slot + reg, fast = v->of_kind[BANK_FAST], slow = v->of_kind[BANK_SLOW];
    if (v->near) {
        if (reg < v->near || !slow)
            return one_of(v, BANK_FAST, number);
        return one_of(v, BANK_SLOW, number);
    }
    if (!v->of_kind[BANK_HYBRID] || v->narrow)
        return number % v->banks;
    if (map_special(v, reg) || !(fast + slow))
        return one_of(v, BANK_HYBRID, number);
    const u32 pure = number % (fast + slow);
    return pure < fast ? v->list[BANK_FAST][pure] : v->list[BANK_SLOW][pure - fast];
}

static bool is_free(const struct core *core, const u32 *rows, u32 taken, u32 row)
{
    for (u32 i = 0; i < taken; i++)
        if (rows[i] == row)
            return false;
    return !core_row_lanes(core, row);
}

/* A free row of a bank; NO_ROW: it is full. `rows`: those that the warp has got already. */
static u32 free_row(const struct variable_latency *v, const struct core *core, const u32 *rows,
                    u32 taken, u32 bank)
{
    for (u32 entry = 0; entry < v->entries; entry++)
        if (is_free(core, rows, taken, entry * v->banks + bank))
            return entry * v->banks + bank;
    return NO_ROW;
}

/* The row for a register: in its bank, else in the next one of the same kind that has room, else in
 * any. Rows beyond those that the machine declares have no bank: they are used when all others are
 * taken. */
static u32 row_for(struct variable_latency *v, const struct core *core, u32 slot, u32 reg,
                   const u32 *rows)
{
    const u32 first = bank_of(v, slot, reg);
    assert(v->banks);
    for (u32 step = 0; step < 2 * v->banks; step++) {
        const u32 bank = (first + step) % v->banks;
        if ((v->kind[bank] == v->kind[first]) != (step < v->banks))
            continue;
        const u32 row = free_row(v, core, rows, reg, bank);
        if (row == NO_ROW)
            continue;
        v->stats->displaced += step > 0;
        return row;
    }
    for (u32 row = v->banks * v->entries; row < core_rows(core); row++)
        if (is_free(core, rows, reg, row))
            return row;
    return NO_ROW;
}

void map_allocate(struct variable_latency *v, struct core *core, u32 slot, u32 *rows, u32 count)
{
    for (u32 reg = 0; reg < count; reg++) {
        rows[reg] = row_for(v, core, slot, reg, rows);
        v->stats->allocated++;
        v->stats->special += map_special(v, reg) && v->of_kind[BANK_HYBRID];
        v->stats->slow_allocated += rows[reg] < v->banks * v->entries && v->slow_rows[rows[reg]];
    }
}

void map_lanes(struct variable_latency *v, struct core *core, u32 slot)
{
    const u8 *physical = v->lanes[core_slot(core, slot)->warp->index % MAX_WARPS_OF_BLOCK];
    bool moved = false;
    if (!v->of_kind[BANK_HYBRID] || v->narrow)
        return;
    for (u32 lane = 0; lane < core_warp_size(core); lane++)
        moved |= physical[lane] != lane;
    v->stats->compacted += moved;
    if (moved)
        core_set_lanes(core, slot, physical);
}
