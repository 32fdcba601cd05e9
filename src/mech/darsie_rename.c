/*
 * Registers that warps of a block share, for the mechanism `darsie`: the freelist, the version
 * table and the rename table.
 *
 * A version of a register is a physical register of its block, written by the leader of an
 * instruction; its number counts the versions of that register in that block. A warp's rename table
 * says which version it reads, if any: its own register is then stale.
 *
 * Invariants
 *  R1  A register of a warp is `apart` exactly while its rename table has a version, and the warp
 *      is among the users of that version.
 *  R2  A version is free exactly when it has no users and is not offered: no entry refers to it and
 *      no leader is going to write it.
 *  R3  A version in use is not written again, so slow readers find the value they were given.
 *  R4  No partial write is committed to a register that is apart: it is copied before.
 */
#include "mech/darsie.h"

static void count_free(struct darsie_core *d, struct darsie_block *b)
{
    if (b->free_count >= b->least_free)
        return;
    d->stats->versions_peak += b->least_free - b->free_count;
    b->least_free = b->free_count;
}

static void maybe_free(struct darsie_block *b, u16 version)
{
    struct darsie_version *v = &b->versions[version];
    if (!v->users && !v->offered)
        b->freelist[b->free_count++] = version;
}

bool rename_take(struct darsie_core *d, struct darsie_block *b, const struct inst *code,
                 u16 *versions)
{
    u32 n = 0;
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++)
        for (u32 j = 0; code->dst[k].kind == OPERAND_VECTOR && j < code->dst[k].count; j++, n++) {
            const u32 reg = code->dst[k].index + j;
            if (!b->free_count) {
                rename_give(d, b, versions, n);
                return false;
            }
            versions[n] = b->freelist[--b->free_count];
            struct darsie_version *v = &b->versions[versions[n]];
            assert(!v->users && !v->offered); /* R2 */
            *v = (struct darsie_version){
                .reg = (u16)reg, .number = b->numbers[reg]++, .offered = true};
        }
    d->stats->versions += n;
    d->stats->version_writes += n;
    count_free(d, b);
    return true;
}

void rename_give(struct darsie_core *d, struct darsie_block *b, const u16 *versions, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        b->versions[versions[i]].offered = false;
        maybe_free(b, versions[i]);
    }
}

static void drop(struct darsie_block *b, struct darsie_slot *s, u32 reg)
{
    const u16 version = s->map[reg];
    assert(b->versions[version].users >> s->warp & 1 && b->versions[version].reg == reg);
    b->versions[version].users &= ~bit(s->warp);
    s->map[reg] = NO_VERSION;
    maybe_free(b, version);
}

void rename_set(struct darsie_core *d, struct darsie_slot *s, u32 reg, u16 version)
{
    struct darsie_block *b = block_of(d, s);
    assert(b->versions[version].reg == reg);
    b->versions[version].users |= bit(s->warp);
    if (s->map[reg] != NO_VERSION)
        drop(b, s, reg);
    s->map[reg] = version;
    set_put(s->apart, reg);
    d->stats->rename_writes++;
}

void rename_clear(struct darsie_core *d, struct darsie_slot *s, u32 reg)
{
    drop(block_of(d, s), s, reg);
    set_take(s->apart, reg);
    d->stats->rename_writes++;
}

void rename_start(struct darsie_core *d, struct darsie_slot *s)
{
    struct warp *warp = core_slot(d->core, s->slot)->warp;
    memset(s->apart, 0, d->words * sizeof *s->apart);
    memset(s->map, 0xff, d->registers * sizeof *s->map); /* NO_VERSION */
    memset(s->ids, 0, d->id_count * sizeof *s->ids);
    s->leaving = false;
    s->private = s->probed = 0;
    register_keep(warp, &s->view);
}

void rename_end(struct darsie_core *d, struct darsie_slot *s)
{
    for (u32 w = 0; w < d->words; w++)
        for (u64 set = s->apart[w]; set; set &= set - 1)
            drop(block_of(d, s), s, w * 64 + first_bit(set));
    memset(s->apart, 0, d->words * sizeof *s->apart);
    s->leaving = false;
}

/* ---- reading ---- */

void rename_read(const struct register_view *view, const struct warp *warp, u32 reg, u32 *row)
{
    const struct darsie_slot *s = view->user;
    const struct darsie_core *d = s->darsie;
    memcpy(row, d->blocks[s->block].values + (size_t)s->map[reg] * d->warp_size,
           d->warp_size * sizeof *row);
}

/* The register has been written to all its lanes for an instruction outside `struct dyninst`. */
void rename_whole(const struct register_view *view, struct warp *warp, u32 reg)
{
    struct darsie_slot *s = view->user;
    s->darsie->stats->made_whole++;
    rename_clear(s->darsie, s, reg);
}

/* The bank of a physical register: the registers of the blocks are interleaved over all banks. */
static u64 bank_of(const struct darsie_core *d, const struct darsie_slot *s, u16 version)
{
    const u32 number = (u32)s->block * d->version_count + version;
    return core_bank_mask(d->core, number % core_banks(d->core));
}

void rename_places(struct darsie_core *d, const struct inflight *inflight, bool write,
                   struct places *places)
{
    const struct darsie_slot *s = &d->slots[inflight->slot];
    const struct darsie_inflight *t = &d->inflight[inflight_index(d->core, inflight)];
    if (!s->on || inflight->injected)
        return;
    for (u32 i = 0; i < places->count; i++) {
        const u32 reg = places->at[i].reg;
        if (write && i < t->shared)
            places->at[i].banks = bank_of(d, s, t->versions[i]);
        else if (!write && reg < d->registers && in_set(s->apart, reg))
            places->at[i].banks = bank_of(d, s, s->map[reg]);
    }
}

/* ---- copies ---- */

static u32 first_apart(const struct darsie_core *d, const struct darsie_slot *s)
{
    for (u32 w = 0; w < d->words; w++)
        for (u64 set = s->apart[w]; set; set &= set - 1) {
            const u32 reg = w * 64 + first_bit(set);
            if (!in_set(core_slot(d->core, s->slot)->pending, reg) &&
                !core_load_pending(d->core, s->slot, reg))
                return reg;
        }
    return UINT32_MAX;
}

u32 rename_needs(struct darsie_core *d, struct darsie_slot *s, u32 inst)
{
    const struct inst *code = &core_exec(d->core)->image->program->insts[inst];
    const struct warp *warp = core_slot(d->core, s->slot)->warp;
    if (s->leaving || core_inst_time(d->core, inst)->flags & TIME_DRAIN) {
        const u32 reg = first_apart(d, s);
        /* registers whose copy is in flight are pending */
        s->leaving &= reg != UINT32_MAX;
        return reg;
    }
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++)
        for (u32 j = 0; code->dst[k].kind == OPERAND_VECTOR && j < code->dst[k].count; j++) {
            const u32 reg = code->dst[k].index + j;
            if (reg >= d->registers || !in_set(s->apart, reg))
                continue;
            const struct step *step = &warp->view->steps[inst];
            const lane_set lanes = step_is_guarded(step) ? warp_guard(warp, step) : warp->active;
            if (lanes && (lanes != core_all_lanes(d->core) || code->op == OP_writelane))
                return reg;
        }
    return UINT32_MAX;
}

enum issue_answer rename_copy(struct darsie_core *d, u32 slot, u32 inst, u32 reg)
{
    struct core_copy *copy = &d->copies[reg];
    if (operand_is(copy->inst.dst[0], OPERAND_NONE))
        core_copy_make(copy, reg, core_config(d->core));
    struct inflight *inflight = core_copy_take(d->core, slot, inst, copy);
    if (!inflight)
        return ISSUE_WAIT;
    struct darsie_inflight *t = &d->inflight[inflight_index(d->core, inflight)];
    *t = (struct darsie_inflight){.entry = NO_ENTRY, .copy = true};
    core_copy_issue(d->core, inflight, slot, copy);
    d->stats->copies++;
    d->stats->shared_reads++;
    return ISSUE_DONE;
}

void rename_copied(struct darsie_core *d, const struct inflight *inflight)
{
    struct darsie_slot *s = &d->slots[inflight->slot];
    const u32 reg = inflight->dyn.code->dst[0].index;
    if (s->on && in_set(s->apart, reg))
        rename_clear(d, s, reg);
    core_copy_retired(d->core, inflight);
}
