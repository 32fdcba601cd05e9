/*
 * The maps of the mechanism `gr_guard`: which rows of the register file are faulty, dead and lent,
 * and which row has the entries of another.
 *
 * Invariants
 *  M1  The entries of a live register are in its own row, except `moved`, which are in `patch`.
 *      `moved` has at least the faulty entries of its row and those that were lent when it was
 *      written. A dead register has no patch.
 *  M2  Only dead rows are lent, each to one register at a time. A row that is written while it is
 *      lent stays lent: its register goes elsewhere with these entries.
 *  M3  The lanes of lent entries belong to the borrower in the register file's own map. The register
 *      of a lent row has these lanes nowhere, or in its patch.
 *  M4  The maps change only in these functions, and each register's place in the register file with
 *      them.
 */
#include "mech/gr_guard.h"

#include <stdlib.h>

lane_set guard_lanes(entry_set entries)
{
    lane_set lanes = 0;
    for (u32 set = entries; set; set &= set - 1)
        lanes |= ((1ull << ENTRY_LANES) - 1) << first_bit(set) * ENTRY_LANES;
    return lanes;
}

entry_set guard_entries(lane_set lanes)
{
    u32 entries = 0;
    for (u32 e = 0; e < MOST_ENTRIES; e++)
        entries |= (u32)((lanes >> e * ENTRY_LANES & ((1u << ENTRY_LANES) - 1)) != 0) << e;
    return (entry_set)entries;
}

/* ---- sets of rows ---- */

static u32 place_in_set(const struct gr_guard *g, u32 row)
{
    return row % g->banks * g->span * 64 + row / g->banks;
}

static void change(u64 *set, u32 at, bool in)
{
    if (in)
        set[at / 64] |= 1ull << at % 64;
    else
        set[at / 64] &= ~(1ull << at % 64);
}

static void set_dead(struct gr_guard *g, u32 at, bool is_dead)
{
    struct guard_row *row = &g->rows[at];
    const u32 faulty = count_entries(row->faulty), good = g->entries - faulty;
    if (row->is_dead == is_dead)
        return;
    guard_count_time(g);
    row->is_dead = is_dead;
    change(g->dead, place_in_set(g, at), is_dead);
    g->stats->dead_writes++;
    g->live += is_dead ? -(u64)g->entries : g->entries;
    g->live_faulty += is_dead ? -(u64)faulty : faulty;
    g->dead_good += is_dead ? good : -(u64)good;
}

static void set_owner(struct gr_guard *g, u32 at, u32 frame, u32 reg)
{
    struct guard_row *row = &g->rows[at];
    guard_count_time(g);
    g->allocated += frame != NO_FRAME ? g->entries : -(u64)g->entries;
    row->frame = (u8)frame;
    row->reg = (u16)reg;
    row->readers = 0;
    row->dying = false;
    change(g->owned, place_in_set(g, at), frame != NO_FRAME);
}

void guard_count_time(struct gr_guard *g)
{
    const u64 now = core_cycle(g->core), cycles = now - g->since;
    struct gr_guard_stats *s = g->stats;
    const u64 all = (u64)g->count * g->entries;
    g->since = now;
    s->entry_cycles += cycles * all;
    s->live_cycles += cycles * g->live;
    s->live_faulty_cycles += cycles * g->live_faulty;
    s->needing_cycles += cycles * g->needing;
    s->dead_good_cycles += cycles * g->dead_good;
    s->unallocated_cycles += cycles * (all - g->allocated);
    s->spill_line_cycles += cycles * g->spills;
    s->reserved_cycles += cycles * g->reserved;
}

/* ---- the register file's map ---- */

/* Puts entries of the register that a row belongs to into a row, or nowhere. */
static void put(struct gr_guard *g, const struct guard_row *row, entry_set entries, u32 to,
                bool with_value)
{
    char why[160];
    if (!entries || row->frame == NO_FRAME || !g->warps[row->frame]->map)
        return;
    if (register_map_place(g->warps[row->frame], row->reg, guard_lanes(entries), to, with_value,
                           why, sizeof why))
        return;
    fault_check(core_exec(g->core), core_exec(g->core)->kernel->first, "gr_guard puts %s", why);
    core_stop(g->core);
}

/* ---- lines and memory ---- */

static void use_line(struct gr_guard *g, u32 line, bool used)
{
    guard_count_time(g);
    change(g->taken, line, used);
    if (line >= g->line_count)
        return;
    g->spills += used ? 1 : -1u;
    if (g->spills > g->peak) {
        g->peak = g->spills;
        g->stats->spill_peak++;
    }
    if (g->reserved == (g->spills != 0))
        return;
    g->reserved = g->spills != 0;
    core_reserve_ways(g->core, CLIENT_L1D, g->reserved);
}

/* A line of the reserved way, or else a place in memory. */
static u32 spill(struct gr_guard *g)
{
    u32 line = g->params->spill ? 0 : g->line_count;
    while (g->taken[line / 64] >> line % 64 & 1)
        line++;
    *(line < g->line_count ? &g->stats->spills : &g->stats->memory_spills) += 1;
    use_line(g, line, true);
    return g->lines + line;
}

/* ---- patches ---- */

/* The lowest row of a bank that is dead, not lent and good in these entries; `unallocated`: that
 * belongs to no warp. */
static u32 lowest_row(const struct gr_guard *g, u32 bank, entry_set need, bool unallocated)
{
    for (u32 w = bank * g->span; w < (bank + 1) * g->span; w++) {
        u64 found = g->dead[w] & ~g->lent[w];
        if (unallocated)
            found &= ~g->owned[w];
        for (u32 set = need; set; set &= set - 1)
            found &= ~g->faulty[first_bit(set)][w];
        if (found)
            return ((w - bank * g->span) * 64 + first_bit(found)) * g->banks + bank;
    }
    return NO_ROW;
}

static u32 search_bank(struct gr_guard *g, u32 bank, entry_set need)
{
    const struct gr_guard_params *p = g->params;
    u32 found = NO_ROW;
    g->stats->bank_searches++;
    g->stats->entry_searches += count_entries(need);
    if (p->patches == GUARD_UNALLOCATED || p->order == GUARD_UNALLOCATED)
        found = lowest_row(g, bank, need, true);
    if (found == NO_ROW && p->patches == GUARD_DEAD)
        found = lowest_row(g, bank, need, false);
    return found;
}

static u32 search(struct gr_guard *g, u32 row, entry_set need)
{
    g->stats->selections++;
    for (u32 i = 0; i < g->banks; i++) {
        const u32 found = search_bank(g, (row + i) % g->banks, need);
        if (found == NO_ROW)
            continue;
        *(i ? &g->stats->other_bank : &g->stats->same_bank) += 1;
        return found;
    }
    return spill(g);
}

static void lend(struct gr_guard *g, u32 at, entry_set entries, u32 borrower)
{
    struct guard_row *row = &g->rows[at];
    assert(row->is_dead && !row->is_lent && !(row->faulty & entries));
    put(g, row, entries, NO_ROW, false);
    row->lent = entries;
    row->borrower = borrower;
    row->is_lent = true;
    change(g->lent, place_in_set(g, at), true);
    g->stats->patch_writes++;
}

/* A lent row is free again. */
static void take_back(struct gr_guard *g, u32 at)
{
    struct guard_row *row = &g->rows[at];
    put(g, row, row->lent & (entry_set)~row->moved, at, false);
    row->lent = 0;
    row->is_lent = false;
    change(g->lent, place_in_set(g, at), false);
    g->stats->patch_writes++;
}

/* The entries of a live register that cannot be in its row go elsewhere. */
static void patch(struct gr_guard *g, u32 at, bool with_value)
{
    struct guard_row *row = &g->rows[at];
    const entry_set need = row->faulty | row->lent;
    if (!need || !g->params->protect)
        return;
    guard_count_time(g);
    g->needing += g->entries;
    row->patch = search(g, at, need);
    row->moved = need;
    g->stats->index_writes++;
    if (row->patch < g->count)
        lend(g, row->patch, need, at);
    put(g, row, need, row->patch, with_value);
}

/* The patch of a register ends; its value is lost. */
static void release(struct gr_guard *g, u32 at)
{
    struct guard_row *row = &g->rows[at];
    const u32 from = row->patch;
    if (from == NO_ROW)
        return;
    guard_count_time(g);
    g->needing -= g->entries;
    g->stats->releases++;
    put(g, row, row->moved & (entry_set)~row->lent, at, false);
    put(g, row, row->moved & row->lent, NO_ROW, false);
    row->patch = NO_ROW;
    row->moved = 0;
    if (from < g->count)
        take_back(g, from);
    else
        use_line(g, from - g->lines, false);
}

void guard_mark_dead(struct gr_guard *g, u32 at)
{
    if (g->rows[at].is_dead)
        return;
    release(g, at);
    set_dead(g, at, true);
    g->stats->dead_marks++;
}

void guard_write(struct gr_guard *g, u32 at, bool whole)
{
    struct guard_row *row = &g->rows[at];
    if (UNLIKELY(row->dying)) { /* readers have their values, but not from the banks yet */
        row->dying = false;
        guard_mark_dead(g, at);
    }
    if (!row->is_dead && !whole)
        return;
    release(g, at);
    set_dead(g, at, false);
    patch(g, at, false);
}

/* ---- cells ---- */

static void fail_lanes(struct gr_guard *g, u32 at, lane_set lanes)
{
    u32 *words = core_row(g->core, at);
    for (; lanes; lanes &= lanes - 1) {
        const u32 lane = first_bit(lanes), cell = at * g->entries * ENTRY_LANES + lane;
        const u32 word = (words[lane] & ~g->fails[cell]) | g->preferred[cell];
        g->stats->changed_bits += (u32)__builtin_popcount(word ^ words[lane]);
        words[lane] = word;
    }
}

void guard_fail(struct gr_guard *g, u32 at)
{
    const struct guard_row *row = &g->rows[at];
    const entry_set own = row->faulty & (entry_set)~row->moved;
    if (UNLIKELY(own))
        fail_lanes(g, at, guard_lanes(own));
    if (row->patch < g->count && UNLIKELY(g->rows[row->patch].faulty & row->moved))
        fail_lanes(g, row->patch, guard_lanes(g->rows[row->patch].faulty & row->moved));
}

/* ---- warps ---- */

/*
 * A starting warp gets the rows of its frame, even if some are lent: the register file gives it
 * whole rows, so the borrowers' lanes make way (to rows that exist for this purpose only) and
 * return in guard_started. Registers are put so that each is in the bank that the machine has it
 * in.
 */
void guard_allocate(struct gr_guard *g, u32 slot, u32 *rows, u32 count)
{
    u32 size;
    const u32 first = core_home_rows(g->core, slot, &size), banks = g->banks;
    if (g->starting != NO_FRAME)
        guard_started(g);
    if (first + size > g->count || count > MOST_STAGED) {
        fault_check(core_exec(g->core), core_exec(g->core)->kernel->first,
                    "gr_guard protects the %u registers of a core: a warp needs registers %u to "
                    "%u (launch.registers is smaller than what the kernel uses?), and at most %u "
                    "of its own",
                    g->count, first, first + size - 1, MOST_STAGED);
        core_stop(g->core);
        return;
    }
    struct warp *warp = core_slot(g->core, slot)->warp;
    g->starting = warp->frame;
    g->warps[warp->frame] = warp;
    const u32 turn = core_register_bank(g->core, slot, 0) + banks - first % banks;
    for (u32 r = 0; r < count; r++) {
        const u32 base = r - r % banks;
        const u32 at = first + (base + banks > size ? r : base + (r + turn) % banks);
        struct guard_row *row = &g->rows[at];
        g->staged[r] = NO_ROW;
        if (row->lent) {
            g->staged[r] = row->borrower;
            put(g, &g->rows[row->borrower], row->lent, g->staging + r, true);
        }
        rows[r] = g->home[warp->frame * g->registers + r] = at;
        set_owner(g, at, warp->frame, r);
    }
}

static bool live_at_entry(const struct gr_guard *g, u32 reg)
{
    return reg < g->last->registers && g->last->entry[reg / 64] >> reg % 64 & 1;
}

void guard_started(struct gr_guard *g)
{
    const u32 frame = g->starting;
    g->starting = NO_FRAME;
    if (frame == NO_FRAME)
        return;
    for (u32 r = 0; r < g->registers; r++) /* before any of them can be lent */
        if (live_at_entry(g, r))
            set_dead(g, guard_home(g, g->warps[frame], r), false);
    for (u32 r = 0; r < g->registers; r++) {
        const u32 at = guard_home(g, g->warps[frame], r);
        struct guard_row *row = &g->rows[at];
        if (!row->is_dead)
            patch(g, at, true);
        put(g, row, row->lent & (entry_set)~row->moved, NO_ROW, false);
        if (g->staged[r] != NO_ROW)
            put(g, &g->rows[g->staged[r]], row->lent, at, true);
    }
}

void guard_ended(struct gr_guard *g, const struct warp *warp)
{
    for (u32 r = 0; g->warps[warp->frame] && r < g->registers; r++) {
        const u32 at = guard_home(g, warp, r);
        release(g, at);
        set_dead(g, at, true);
        put(g, &g->rows[at], (entry_set)~0u, NO_ROW, false);
        set_owner(g, at, NO_FRAME, 0);
    }
    g->warps[warp->frame] = NULL;
}

/* ---- faults ---- */

static void fail_cell(struct gr_guard *g, u32 at, u32 entry, u32 cell, bool value)
{
    const u32 word = (at * g->entries + entry) * ENTRY_LANES + cell / 32;
    g->fails[word] |= 1u << cell % 32;
    g->preferred[word] |= (u32)value << cell % 32;
}

/* Draws the failing cells of a core, which stay as long as the device. */
static void draw(struct gr_guard *g)
{
    const struct gr_guard_params *p = g->params;
    struct rng rng;
    rng_stream(&rng, core_exec(g->core)->limits->seed, 0, "cells", core_config(g->core)->index,
               "gr_guard");
    for (u32 at = 0; at < g->count; at++)
        for (u32 e = 0; e < g->entries; e++) {
            const f64 kind = rng_unit(&rng) * 100;
            const u32 a = (u32)rng_below(&rng, ENTRY_BITS),
                      b = (u32)rng_below(&rng, ENTRY_BITS - 1);
            const u64 values = rng_next(&rng);
            if (kind < p->faulty + p->single)
                fail_cell(g, at, e, a, values & 1);
            if (kind < p->faulty)
                fail_cell(g, at, e, (a + 1 + b) % ENTRY_BITS, values >> 1 & 1);
        }
}

/* The V_min, in units of the chip's record, above which cells fail: that of the weakest of the
 * given share of all cells, or the supply, relative to the weakest cell. */
static u32 limit_of(const struct gr_guard *g, const struct chip *chip)
{
    const struct file_plan *plan = &chip->plan;
    const u32 entries = plan->banks * plan->entries;
    u32 *count = checked(calloc(UINT16_MAX + 1, sizeof *count)), limit = UINT16_MAX;
    u64 cells = (u64)((f64)file_plan_cells(plan) * plan->cores * g->params->failing / 100);
    for (u32 c = 0; c < plan->cores; c++)
        for (u32 i = 0; i < chip->cores[c].first[entries]; i++)
            count[chip->cores[c].cells[i].vmin]++;
    while (limit && (g->params->failing > 0 ? cells >= count[limit] : !count[limit]))
        cells -= count[limit--];
    free(count);
    return g->params->failing > 0 ? limit : (u32)(limit * g->params->vdd);
}

/* The failing cells of a register's row on a chip: check bits are those of the entry's code. */
static void fail_row(struct gr_guard *g, const struct chip *chip, u32 limit, u32 at)
{
    const struct file_plan *plan = &chip->plan;
    const struct chip_core *part = core_chip_core(g->core);
    const u32 columns = file_plan_columns(plan);
    for (u32 c = 0; c < columns; c++) {
        const u32 place = entry_index(plan, at % g->banks * columns + c, at / g->banks);
        const u32 count = part->first[place + 1] - part->first[place];
        const struct weak_cell *cells = chip_cells(part, place);
        for (u32 i = 0; i < count && cells[i].vmin > limit; i++) {
            const u32 bit = cell_bit(&cells[i]), word = c * plan->words + bit / 32;
            if (bit < plan->words * 32)
                fail_cell(g, at, word / ENTRY_LANES, word % ENTRY_LANES * 32 + bit % 32,
                          cell_reads(&cells[i]));
            else
                g->check_fails[at * g->entries + c]++;
        }
    }
}

static void take_chip(struct gr_guard *g, const struct chip *chip)
{
    const u32 limit = limit_of(g, chip);
    if (limit < chip->floor * VMIN_ONE ||
        (chip->plan.check_bits && chip->plan.words != ENTRY_LANES)) {
        fault_check(core_exec(g->core), core_exec(g->core)->kernel->first,
                    "gr_guard needs a chip that lists all cells with a V_min above %g V (its list "
                    "ends at %g V: heddle chip --keep), and check bits, if any, of entries of %d "
                    "bits (it has entries of %u)",
                    (f64)limit / VMIN_ONE, chip->floor, ENTRY_BITS, chip->plan.words * 32);
        core_stop(g->core);
        return;
    }
    for (u32 at = 0; at < g->count; at++)
        fail_row(g, chip, limit, at);
}

/* Sorts entries by their failing cells. */
static void sort_entries(struct gr_guard *g)
{
    for (u32 at = 0; at < g->count; at++)
        for (u32 e = 0; e < g->entries; e++) {
            const u32 *fails = &g->fails[(at * g->entries + e) * ENTRY_LANES];
            u32 bits = g->check_fails[at * g->entries + e];
            for (u32 i = 0; i < ENTRY_LANES; i++)
                bits += (u32)__builtin_popcount(fails[i]);
            const bool repairs = bits == 1 && g->params->ecc, faulty = bits && !repairs;
            g->rows[at].single |= (entry_set)(repairs << e);
            g->rows[at].faulty |= (entry_set)(faulty << e);
            change(g->faulty[e], place_in_set(g, at), faulty);
        }
}

/* ---- launches ---- */

void guard_create(struct gr_guard *g, struct core *core)
{
    const struct core_config *config = core_config(core);
    g->core = core;
    g->entries = core_warp_size(core) / ENTRY_LANES;
    g->count = core_rows(core);
    g->banks = core_banks(core);
    g->span = (g->count / g->banks + 64) / 64;
    g->line_count = g->params->spill ? config->l1d->sets : 0;
    g->lines = core_add_rows(core, g->line_count + g->count + MOST_STAGED);
    g->memory = g->lines + g->line_count;
    g->staging = g->memory + g->count;
    const size_t words = (size_t)g->banks * g->span,
                 cells = (size_t)g->count * core_warp_size(core);
    g->rows = mechanism_alloc(g, g->count * sizeof *g->rows);
    g->fails = mechanism_alloc(g, cells * sizeof *g->fails);
    g->preferred = mechanism_alloc(g, cells * sizeof *g->preferred);
    g->check_fails = mechanism_alloc(g, (size_t)g->count * g->entries);
    g->dead = mechanism_alloc(g, words * sizeof *g->dead);
    g->lent = mechanism_alloc(g, words * sizeof *g->lent);
    g->owned = mechanism_alloc(g, words * sizeof *g->owned);
    g->taken = mechanism_alloc(g, ((g->line_count + g->count) / 64 + 1) * sizeof *g->taken);
    for (u32 e = 0; e < g->entries; e++)
        g->faulty[e] = mechanism_alloc(g, words * sizeof *g->faulty[e]);
}

void guard_reset(struct gr_guard *g)
{
    const size_t words = (size_t)g->banks * g->span;
    if (!g->made) {
        if (core_chip(g->core))
            take_chip(g, core_chip(g->core));
        else
            draw(g);
        sort_entries(g);
        g->made = true;
    }
    memset(g->dead, 0, words * sizeof *g->dead);
    memset(g->lent, 0, words * sizeof *g->lent);
    memset(g->owned, 0, words * sizeof *g->owned);
    memset(g->taken, 0, ((g->line_count + g->count) / 64 + 1) * sizeof *g->taken);
    memset(g->warps, 0, sizeof g->warps);
    g->starting = NO_FRAME;
    g->spills = g->peak = 0;
    g->live = g->live_faulty = g->needing = g->dead_good = g->allocated = 0;
    g->since = core_cycle(g->core);
    for (u32 at = 0; at < g->count; at++) {
        struct guard_row *row = &g->rows[at];
        *row = (struct guard_row){
            .faulty = row->faulty, .single = row->single, .frame = NO_FRAME, .patch = NO_ROW};
        row->is_dead = true;
        change(g->dead, place_in_set(g, at), true);
        g->dead_good += g->entries - count_entries(row->faulty);
    }
}
