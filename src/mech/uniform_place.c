/*
 * Where the mechanism `uniform` keeps uniform registers: in one lane of their row, under a token,
 * or in the scalar register file, to which a table by physical register renames them.
 *
 * Invariants
 *  P1  A register has its bit in `tokens` exactly while its value is kept in that one place;
 *      dynamic instructions then read it through the slot's view. The other lanes of its row are
 *      stale.
 *  P2  With the scalar register file, a register has an entry exactly while it has its bit. An
 *      entry is free, belongs to one register, or is reserved for the result of one instruction in
 *      flight.
 */
#include "mech/uniform.h"
#include <stdlib.h>

/* ---- reading ---- */

static u32 *row_of(const struct warp *warp, u32 reg)
{
    return register_row(warp, reg);
}

/* Chooses between two copies that differ by parity. */
static u32 choose(const struct uniform_slot *s, u32 reg, u32 value, u32 copy)
{
    struct uniform_core *u = s->uniform;
    if (LIKELY(value == copy))
        return value;
    u->stats->protect_mismatches++;
    const bool right = __builtin_parity(value) == in_set(s->parity, reg);
    return u->params->parity && !right ? copy : value;
}

static void read_uniform(const struct register_view *view, const struct warp *warp, u32 reg,
                         u32 *to)
{
    const struct uniform_slot *s = view->user;
    const struct uniform_core *u = s->uniform;
    const u32 *row = row_of(warp, reg), lanes = warp->exec->image->warp_size;
    u32 value;
    if (u->params->design == DESIGN_SRF) {
        value = u->srf[s->entry[reg]];
        if (u->params->protect)
            value = choose(s, reg, value, row[u->lane]);
    } else {
        value = row[u->lane];
        if (u->params->protect)
            value = choose(s, reg, value, row[u->second]);
    }
    for (u32 lane = 0; lane < lanes; lane++)
        to[lane] = value;
}

/* The register has been written to all its lanes for an instruction outside `struct dyninst`. */
static void made_whole(const struct register_view *view, struct warp *warp, u32 reg)
{
    const struct uniform_slot *s = view->user;
    s->uniform->stats->made_whole++;
    place_clear(s->uniform, s->slot, reg);
}

/* ---- the scalar register file ---- */

static u16 take_entry(struct uniform_core *u)
{
    if (!u->srf_free_count)
        return NO_ENTRY;
    const u16 entry = u->srf_free[--u->srf_free_count];
    const u32 used = u->params->srf_entries - u->srf_free_count;
    u->stats->srf_allocations++;
    if (used > u->srf_peak) {
        u->stats->srf_peak += used - u->srf_peak;
        u->srf_peak = used;
    }
    return entry;
}

static void give_entry(struct uniform_core *u, u16 entry)
{
    u->srf_free[u->srf_free_count++] = entry;
}

bool place_reserve(struct uniform_core *u, u32 slot, const struct inst *code,
                   struct uniform_inflight *t)
{
    const u16 *map = u->slots[slot].entry;
    t->entry_count = t->taken = 0;
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++)
        for (u32 j = 0; code->dst[k].kind == OPERAND_VECTOR && j < code->dst[k].count; j++) {
            const u16 own = map[code->dst[k].index + j];
            const u16 entry = own != NO_ENTRY ? own : take_entry(u);
            if (entry == NO_ENTRY) {
                place_release(u, t);
                t->entry_count = 0;
                return false;
            }
            t->taken |= (u8)((own == NO_ENTRY) << t->entry_count);
            t->entries[t->entry_count++] = entry;
        }
    return true;
}

/* Not by the registers' entries: the warp may have ended, and its slot may have another one. */
void place_release(struct uniform_core *u, const struct uniform_inflight *t)
{
    for (u32 n = 0; n < t->entry_count; n++)
        if (t->taken >> n & 1)
            give_entry(u, t->entries[n]);
}

/* ---- registers become uniform or ordinary ---- */

/* Counts a write to the token file or the rename table. */
static void count_write(const struct uniform_core *u)
{
    *(u->params->design == DESIGN_SRF ? &u->stats->rename_writes : &u->stats->token_writes) += 1;
}

void place_clear(struct uniform_core *u, u32 slot, u32 reg)
{
    struct uniform_slot *s = &u->slots[slot];
    if (u->params->protect)
        cover_count(u, slot);
    u->stats->tokens_cleared++;
    count_write(u);
    set_take(s->tokens, reg);
    if (s->entry[reg] == NO_ENTRY)
        return;
    give_entry(u, s->entry[reg]);
    s->entry[reg] = NO_ENTRY;
}

static void set_register(struct uniform_core *u, struct uniform_slot *s, u32 reg, u32 value,
                         u16 entry)
{
    set_put(s->tokens, reg);
    if (__builtin_parity(value))
        set_put(s->parity, reg);
    else
        set_take(s->parity, reg);
    u->stats->tokens_set++;
    count_write(u);
    if (entry == NO_ENTRY)
        return;
    s->entry[reg] = entry;
    u->srf[entry] = value;
    u->stats->srf_writes++;
}

static void compare_copies(struct uniform_core *u, const u32 *row)
{
    u->stats->protect_compares++;
    u->stats->protect_mismatches += row[u->lane] != row[u->second];
}

void place_set(struct uniform_core *u, struct inflight *inflight, const struct uniform_inflight *t)
{
    struct dyninst *f = &inflight->dyn;
    struct uniform_slot *s = &u->slots[inflight->slot];
    const u32 lanes = f->warp->exec->image->warp_size;
    const bool compare = u->params->protect && u->changes && inflight->lane_ops == 2;
    u32 n = 0;
    if (u->params->protect)
        cover_count(u, inflight->slot);
    for (u32 k = 0; k < ARRAY_LEN(f->dst); k++) {
        for (u32 j = 0; j < f->dst_rows[k]; j++, n++) {
            const u32 *row = f->dst[k] + j * lanes;
            if (compare)
                compare_copies(u, row);
            set_register(u, s, f->to[k] + j, row[u->lane],
                         n < t->entry_count ? t->entries[n] : (u16)NO_ENTRY);
        }
        if (f->code->dst[k].kind == OPERAND_MASK && !u->explicit_exec) {
            set_put(s->masks, f->to[k]);
            count_write(u);
        }
    }
}

/* ---- warps ---- */

void place_start(struct uniform_core *u, u32 slot)
{
    struct uniform_slot *s = &u->slots[slot];
    struct warp *warp = core_slot(u->core, slot)->warp;
    memset(s->tokens, 0, u->words * sizeof *s->tokens);
    memset(s->masks, 0, u->mask_words * sizeof *s->masks);
    if (u->changes)
        register_keep(warp, &s->view);
}

void place_end(struct uniform_core *u, u32 slot)
{
    struct uniform_slot *s = &u->slots[slot];
    if (u->params->protect)
        cover_end(u, slot);
    for (u32 w = 0; w < u->words; w++)
        for (u64 set = s->tokens[w]; set; set &= set - 1) {
            const u32 reg = w * 64 + first_bit(set);
            if (s->entry[reg] == NO_ENTRY)
                continue;
            give_entry(u, s->entry[reg]);
            s->entry[reg] = NO_ENTRY;
        }
    memset(s->tokens, 0, u->words * sizeof *s->tokens);
}

static void free_sets(struct uniform_core *u)
{
    free(u->slots[0].tokens);
    free(u->slots[0].entry);
    u->slots[0].tokens = NULL;
    u->slots[0].entry = NULL;
}

static void *allocate(size_t count, size_t bytes)
{
    void *memory = checked(calloc(MAX(count, 1), bytes));
    return memory;
}

void place_launch(struct uniform_core *u, bool begins)
{
    const struct exec *exec = core_exec(u->core);
    free_sets(u);
    if (!begins)
        return;
    const u32 registers = exec->register_rows;
    u->words = registers / 64 + 1;
    u->mask_words = exec->masks / 64 + 1;
    const u32 each = 2 * u->words + u->mask_words;
    u64 *sets = allocate((size_t)CORE_WARPS * each, sizeof *sets);
    u16 *entries = allocate((size_t)CORE_WARPS * registers, sizeof *entries);
    memset(entries, 0xff, (size_t)CORE_WARPS * registers * sizeof *entries); /* NO_ENTRY */
    for (u32 i = 0; i < CORE_WARPS; i++) {
        struct uniform_slot *s = &u->slots[i];
        s->uniform = u;
        s->slot = i;
        s->tokens = sets + (size_t)i * each;
        s->parity = s->tokens + u->words;
        s->masks = s->parity + u->words;
        s->entry = entries + (size_t)i * registers;
        s->view = (struct register_view){s->tokens, s, read_uniform, made_whole};
    }
    u->srf_peak = 0;
    u->srf_free_count = u->params->srf_entries;
    for (u32 i = 0; i < u->srf_free_count; i++)
        u->srf_free[i] = (u16)(u->srf_free_count - 1 - i); /* the lowest is taken first */
}
