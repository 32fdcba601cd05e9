/*
 * Instructions of the mechanism `uniform` that hit in its reuse buffer: they take the result from
 * there and pass through their unit in one cycle, or (irb_issue) end at issue.
 */
#include "mech/uniform.h"

/* Fills an instruction's record with a result from the buffer. */
static void take_result(struct dyninst *f, u64 result)
{
    const u32 lanes = f->warp->exec->image->warp_size;
    dyninst_skip(f);
    for (u32 j = 0; j < f->dst_rows[0]; j++)
        for (u32 lane = 0; lane < lanes; lane++)
            f->dst[0][j * lanes + lane] = (u32)(result >> 32 * j);
    if (f->code->dst[0].kind == OPERAND_MASK)
        for (u32 c = 0; c < f->warp->exec->image->chunks; c++)
            f->dst[0][c] = result ? ~0u : 0;
}

static void count_hit(struct uniform_core *u, const struct core *core, u32 slot,
                      const struct irb_entry *entry)
{
    struct uniform_stats *stats = u->stats;
    stats->irb_hits++;
    stats->irb_own_hits += entry->slot == slot && entry->age == core_slot(core, slot)->age;
    stats->redundant_inter += core_warp_size(core);
    stats->redundant_combined++;
}

bool reuse_find(struct uniform_core *u, const struct core *core, struct inflight *inflight,
                struct uniform_inflight *t)
{
    struct uniform_stats *stats = u->stats;
    const struct irb_entry *entry;
    const struct irb_key key = irb_key(&inflight->dyn, u->lane, u->params->irb_wide);
    if (!key.code) {
        stats->irb_unfit++;
        return false;
    }
    stats->irb_probes++;
    const enum irb_answer answer = irb_probe(&u->irb, &key, u->params->parity, &entry);
    if (answer != IRB_HIT) {
        stats->irb_mismatches += answer == IRB_MISMATCH;
        stats->irb_parity_errors += answer == IRB_ERROR;
        t->stores = true;
        t->key = key;
        return false;
    }
    count_hit(u, core, inflight->slot, entry);
    if (!u->changes)
        return true;
    take_result(&inflight->dyn, entry->result);
    inflight->latency = 1;
    inflight->passes = true;
    return true;
}

static u64 result_value(const struct uniform_core *u, const struct dyninst *f)
{
    const u32 lanes = f->warp->exec->image->warp_size;
    if (f->code->dst[0].kind == OPERAND_MASK)
        return f->dst[0][u->lane / LANES] >> u->lane % LANES & 1;
    return f->dst[0][u->lane] | (f->dst_rows[0] > 1 ? (u64)f->dst[0][lanes + u->lane] << 32 : 0);
}

void reuse_store(struct uniform_core *u, const struct core *core, const struct inflight *inflight,
                 struct uniform_inflight *t)
{
    u->stats->irb_writes++;
    irb_store(&u->irb, &t->key, result_value(u, &inflight->dyn), inflight->slot,
              core_slot(core, inflight->slot)->age);
    t->stores = false;
}

/* ---- at issue ---- */

/* Undoes dyninst_issue(). */
static bool give_up(struct warp *warp, u32 inst)
{
    warp->instructions--;
    warp_path(warp)->pc = inst;
    return false;
}

/* Writes the result to its place; the register reads and writes are counted for an injected
 * instruction. */
static void write_result(struct uniform_core *u, struct core *core, struct inflight *inflight,
                         struct uniform_inflight *t)
{
    uniform_convert(u, inflight, t, 0);
    inflight_count_work(core, inflight, false);
    dyninst_commit(&inflight->dyn);
    inflight_count_work(core, inflight, true);
    place_set(u, inflight, t);
    if (u->params->protect)
        cover_written(u, inflight->slot);
}

static void count_removed(struct uniform_core *u, const struct core *core, u32 slot, u32 inst)
{
    const u32 lanes = core_warp_size(core);
    uniform_count(u, slot, &u->insts[inst], lanes);
    u->stats->uniform++;
    u->stats->irb_probes++;
    u->stats->irb_removed++;
    u->stats->redundant_intra += lanes - 1;
    u->stats->redundant_combined += lanes - 1;
    u->stats->alu_protected += u->params->parity ? lanes : 0;
}

bool reuse_remove(struct uniform_core *u, struct core *core, u32 slot, u32 inst)
{
    struct warp *warp = core_slot(core, slot)->warp;
    struct inflight *inflight = &u->removed;
    struct uniform_inflight t = {0};
    const struct irb_entry *entry;
    const u8 kind = u->insts[inst].kind;
    const struct step *step = &warp->view->steps[inst];
    const lane_set lanes = step_is_guarded(step) ? warp_guard(warp, step) : warp->active;
    if (u->params->mode == MODE_INTRA || (kind != KIND_COMPUTE && kind != KIND_SPECIAL) ||
        lanes != core_all_lanes(core) ||
        !uniform_sources(u, &u->slots[slot], &warp->view->insts[inst]))
        return false;
    inflight->dyn.rows = u->removed_rows;
    inflight->time = core_inst_time(core, inst);
    inflight->slot = (u8)slot;
    inflight->injected = true;
    dyninst_issue(&inflight->dyn, warp, inst);
    const struct irb_key key = irb_key(&inflight->dyn, u->lane, u->params->irb_wide);
    if (!key.code || irb_probe(&u->irb, &key, u->params->parity, &entry) != IRB_HIT)
        return give_up(warp, inst); /* counted when the instruction is executed */
    if (u->params->design == DESIGN_SRF && !place_reserve(u, slot, inflight->dyn.code, &t))
        return give_up(warp, inst);
    count_removed(u, core, slot, inst);
    count_hit(u, core, slot, entry);
    take_result(&inflight->dyn, entry->result);
    write_result(u, core, inflight, &t);
    core_step(core, slot, inst);
    return true;
}
