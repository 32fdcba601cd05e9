/*
 * Uniform vector instructions: those whose operands are the same in all lanes of a warp run on one
 * lane, or not at all when another warp has just executed the same one with the same values.
 *
 * A register is uniform if it was written by a uniform instruction, or by a load in which all lanes
 * have the same address. An instruction is uniform if all its sources are (uniform registers,
 * constants, parameters, special registers that do not depend on the thread, predicates written by
 * uniform instructions) and all lanes of the warp are active. This follows from the tokens of its
 * registers at issue, when none of its operands is pending. Tokens change at write-back.
 *
 * A uniform register has one value in one place (uniform_place.c): in lane N = warp size - lanes of
 * a unit of its row, whose other lanes are stale, or in the scalar register file. Reads go through
 * the warp's register view and get the value in all lanes. A mask is one row of a warp: it only has
 * a token.
 *
 * A write to some lanes of a uniform register would lose the value of the others. It is preceded by
 * a copy to all lanes, which takes the scheduler's turn, the integer unit and a bank; the warp
 * waits for it as for any other pending register.
 *
 * Invariants
 *  U1  Between issue and write-back, the tokens of an instruction's operands do not change: the
 *      scoreboard allows one writer of a register, and readers have taken their values.
 *  U2  No partial write is committed to a register that has a token.
 *  U3  The result of a uniform instruction is the same in all lanes of its record.
 */
#include "mech/uniform.h"
#include "ir/special.h"
#include <stdlib.h>

#define COMPONENT uniform
#define COMPONENT_DEF "mech/uniform.def"
#define COMPONENT_HELP "uniform vector instructions"
#include "base/component_table.h"

/* ---- instructions ---- */

/* Whether a special register is the same in all lanes, for as long as the warp runs. */
static bool is_uniform_special(i64 special)
{
    switch (special) {
    case SPECIAL_tid_x ... SPECIAL_tid_z:
    case SPECIAL_laneid:
    case SPECIAL_warpid: /* a 64-lane warp has two */
    case SPECIAL_lanemask_eq ... SPECIAL_lanemask_gt:
    case SPECIAL_clock ... SPECIAL_pm64:
        return false;
    default:
        return true;
    }
}

static u32 result_count(const struct inst *inst)
{
    u32 count = 0;
    for (u32 k = 0; k < ARRAY_LEN(inst->dst); k++)
        count += inst->dst[k].kind == OPERAND_VECTOR ? inst->dst[k].count : 0;
    return count;
}

static enum uniform_kind kind_of(const struct inst *inst, bool params_uniform)
{
    const u16 flags = op_info[inst->op].flags;
    const bool constant = inst->space == SPACE_PARAM || inst->space == SPACE_CONST;
    if (result_count(inst) > UNIFORM_RESULTS)
        return KIND_OTHER;
    if (flags & OPF_LANE)
        return KIND_COMPUTE;
    if (inst->op == OP_sreg && is_uniform_special(inst->imm))
        return KIND_SPECIAL;
    if ((inst->op == OP_ld && (!constant || params_uniform)) || inst->op == OP_buf_ld)
        return KIND_LOAD;
    return KIND_OTHER;
}

static struct uniform_inst classify(const struct inst *inst, bool params_uniform)
{
    const struct op_info *info = &op_info[inst->op];
    struct uniform_inst class = {
        .kind = (u8)kind_of(inst, params_uniform),
        .vector = !(info->flags & OPF_SCALAR),
        .alu = !(info->flags & (OPF_SCALAR | OPF_BRANCH | OPF_BARRIER)) && info->unit != UNIT_MEM &&
               info->unit != UNIT_CTRL,
    };
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++) {
        class.vectors |= (u8)((inst->src[k].kind == OPERAND_VECTOR) << k);
        class.registers += inst->src[k].kind == OPERAND_VECTOR ? (u8)inst->src[k].count : 0;
    }
    class.registers += (u8)result_count(inst);
    return class;
}

static bool has_tokens(const struct uniform_slot *s, struct operand o)
{
    for (u32 j = 0; j < o.count; j++)
        if (!in_set(s->tokens, o.index + j))
            return false;
    return true;
}

bool uniform_sources(const struct uniform_core *u, const struct uniform_slot *s,
                     const struct inst *code)
{
    for (u32 k = 0; k < ARRAY_LEN(code->src); k++) {
        const struct operand o = code->src[k];
        switch (o.kind) {
        case OPERAND_VECTOR:
            if (!has_tokens(s, o))
                return false;
            break;
        case OPERAND_MASK:
            if (u->explicit_exec || !in_set(s->masks, o.index))
                return false;
            break;
        case OPERAND_LANEID:
            return false;
        default:
            break;
        }
    }
    return true;
}

/* Whether all lanes of a load have the same address, outside local memory. */
static bool one_address(const struct dyninst *f, lane_set all)
{
    if (f->pair || (f->global != all && f->shared != all && f->constant != all))
        return false;
    if (f->strided) {
        bool same = true;
        for (u32 g = 0; g < (f->plan->two ? DYNINST_GROUPS : DYNINST_GROUPS / 2); g++)
            same &= !f->stride[g] && f->first[g] == f->first[0];
        return same;
    }
    for (u32 lane = 1; lane < f->warp->exec->image->warp_size; lane++)
        if (f->address[lane] != f->address[0])
            return false;
    return true;
}

/* ---- copy on write ---- */

static bool reads_it(const struct inst *code, u32 reg)
{
    for (u32 k = 0; k < ARRAY_LEN(code->src); k++)
        if (code->src[k].kind == OPERAND_VECTOR && reg - code->src[k].index < code->src[k].count)
            return true;
    return false;
}

/* The first uniform register among the results, or UINT32_MAX. */
static u32 uniform_result(const struct uniform_slot *s, const struct inst *code)
{
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++)
        for (u32 j = 0; code->dst[k].kind == OPERAND_VECTOR && j < code->dst[k].count; j++)
            if (in_set(s->tokens, code->dst[k].index + j))
                return code->dst[k].index + j;
    return UINT32_MAX;
}

static enum issue_answer issue_copy(struct uniform_core *u, struct core *core, u32 slot, u32 inst,
                                    u32 reg)
{
    struct core_copy *copy = &u->slots[slot].copy;
    core_copy_make(copy, reg, core_config(core));
    struct inflight *inflight = core_copy_take(core, slot, inst, copy);
    if (!inflight)
        return ISSUE_WAIT;
    core_copy_issue(core, inflight, slot, copy);
    *(reads_it(&core_exec(core)->image->program->insts[inst], reg) ? &u->stats->copies_source
                                                                   : &u->stats->copies_other) += 1;
    return ISSUE_DONE;
}

static enum issue_answer issue(void *state, struct core *core, u32 slot, u32 inst)
{
    struct uniform_core *u = state;
    const struct inst *code = &core_exec(core)->image->program->insts[inst];
    const struct warp *warp = core_slot(core, slot)->warp;
    if (!u->changes)
        return ISSUE_PLAIN;
    if (u->params->irb_issue && reuse_remove(u, core, slot, inst))
        return ISSUE_DONE;
    const u32 reg = uniform_result(&u->slots[slot], code);
    if (LIKELY(reg == UINT32_MAX))
        return ISSUE_PLAIN;
    const struct step *step = &warp->view->steps[inst];
    const lane_set lanes = step_is_guarded(step) ? warp_guard(warp, step) : warp->active;
    if (!lanes || (lanes == core_all_lanes(core) && code->op != OP_writelane))
        return ISSUE_PLAIN;
    return issue_copy(u, core, slot, inst, reg);
}

/* ---- issue ---- */

/* Counts reads of uniform registers by an instruction that runs on all its lanes: each reads one
 * lane of the register file, or none. */
static void count_broadcasts(struct uniform_core *u, const struct core *core,
                             struct inflight *inflight, struct uniform_inflight *t)
{
    const struct inst *code = inflight->dyn.code;
    const struct uniform_slot *s = &u->slots[inflight->slot];
    const bool srf = u->params->design == DESIGN_SRF;
    const bool full = inflight->dyn.lanes == core_all_lanes(core);
    const u32 lanes = full ? core_warp_size(core) : count_lanes(inflight->dyn.lanes);
    u32 at = 0; /* index into the operands as collect_time() lists them */
    for (u32 k = 0; k < ARRAY_LEN(code->src); k++) {
        const struct operand o = code->src[k];
        const u32 step = o.count == 2 && core_config(core)->collect->pair_reads == 1 ? 2 : 1;
        if (o.kind != OPERAND_VECTOR)
            continue;
        for (u32 r = 0; r < o.count && at < inflight->time->read_count; r += step, at++) {
            if (!has_tokens(s, operand_make(OPERAND_VECTOR, o.index + r, step)))
                continue;
            u->stats->broadcasts += step;
            u->stats->srf_reads += srf ? step : 0;
            t->elsewhere |= (u16)((u32)srf << at);
            if (lanes)
                inflight->lane_reads = (u16)(inflight->lane_reads - lanes + !srf);
        }
    }
}

void uniform_convert(struct uniform_core *u, struct inflight *inflight, struct uniform_inflight *t,
                     u32 ops)
{
    const struct inst_time *time = inflight->time;
    const bool srf = u->params->design == DESIGN_SRF, two = u->params->protect;
    const u32 copies = srf ? two : 1u + two; /* of a value in the vector register file */
    inflight->interval = 1;
    inflight->lane_ops = (u16)ops;
    inflight->lane_reads = (u16)(time->read_count * copies);
    inflight->lane_writes = (u16)(time->result_count * copies);
    inflight->dyn.writes = srf && !two ? 0 : 1ull << u->lane;
    if (two && !srf)
        inflight->dyn.writes |= 1ull << u->second;
    if (!srf)
        return;
    t->elsewhere = two ? 0 : UINT16_MAX;
    u->stats->srf_reads += u->insts[inflight->dyn.inst].registers - time->result_count;
}

/* Handles a uniform instruction. Returns whether it runs on all its lanes nevertheless. */
static bool found_uniform(struct uniform_core *u, const struct core *core,
                          struct inflight *inflight, struct uniform_inflight *t)
{
    struct uniform_stats *stats = u->stats;
    const u32 mode = u->params->mode;
    stats->uniform++;
    stats->redundant_intra += core_warp_size(core) - 1;
    stats->redundant_combined += core_warp_size(core) - 1;
    if (u->changes && u->params->design == DESIGN_SRF &&
        !place_reserve(u, inflight->slot, inflight->dyn.code, t)) {
        stats->srf_full++;
        return true;
    }
    t->uniform = true;
    const bool hit = mode != MODE_INTRA && reuse_find(u, core, inflight, t);
    if (!u->changes || (mode == MODE_INTER && !hit))
        return true;
    stats->converted += !hit;
    uniform_convert(u, inflight, t, hit ? 0 : u->params->protect ? 2 : 1);
    if (hit ? u->params->parity : u->params->protect)
        stats->alu_protected += core_warp_size(core);
    return false;
}

/* Clears the tokens of masks written by an instruction that is not uniform. */
static void forget_masks(struct uniform_core *u, struct uniform_slot *s, const struct inst *code)
{
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++)
        if (code->dst[k].kind == OPERAND_MASK && !u->explicit_exec)
            set_take(s->masks, code->dst[k].index);
}

void uniform_count(struct uniform_core *u, u32 slot, const struct uniform_inst *info, u32 lanes)
{
    u->stats->instructions++;
    u->stats->vector_instructions += info->vector;
    u->stats->scalar_ops += lanes;
    u->stats->alu_ops += info->alu ? lanes : 0;
    *(u->params->design == DESIGN_SRF ? &u->stats->rename_reads : &u->stats->token_reads) +=
        info->registers;
    if (u->params->protect)
        cover_moved(u, slot);
}

static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    struct uniform_core *u = state;
    struct uniform_inflight *t = &u->inflight[inflight_index(core, inflight)];
    const struct dyninst *f = &inflight->dyn;
    const struct uniform_inst *info = &u->insts[f->inst];
    struct uniform_slot *s = &u->slots[inflight->slot];
    const bool full = f->lanes == core_all_lanes(core);
    t->watched = false;
    t->elsewhere = 0;
    if (UNLIKELY(inflight->injected)) {
        if (inflight->time == &s->copy.time) {
            const bool srf = u->params->design == DESIGN_SRF;
            inflight->lane_reads = !srf;
            t->elsewhere = srf;
            u->stats->srf_reads += srf;
        }
        return 0;
    }
    t->watched = true;
    t->uniform = t->load = t->stores = false;
    t->entry_count = 0;
    const u32 lanes = full ? core_warp_size(core) : count_lanes(f->lanes);
    uniform_count(u, inflight->slot, info, lanes);
    bool whole = true; /* the instruction runs on all its lanes */
    if (full && (info->kind == KIND_COMPUTE || info->kind == KIND_SPECIAL) && !f->homes &&
        uniform_sources(u, s, f->code))
        whole = found_uniform(u, core, inflight, t);
    else if (full && info->kind == KIND_LOAD && f->kind == DYNINST_ACCESS && !f->homes)
        t->load = one_address(f, core_all_lanes(core));
    if (!t->uniform && lanes)
        forget_masks(u, s, f->code);
    if (whole && u->changes && info->vectors)
        count_broadcasts(u, core, inflight, t);
    return 0;
}

/* ---- results ---- */

static void result(void *state, struct core *core, struct inflight *inflight)
{
    struct uniform_core *u = state;
    struct uniform_inflight *t = &u->inflight[inflight_index(core, inflight)];
    if (!t->watched)
        return;
    if (UNLIKELY(t->stores) && u->params->irb_early)
        reuse_store(u, core, inflight, t);
    if (!t->load || core_slot(core, inflight->slot)->ended)
        return;
    u->stats->broadcast_loads++;
    if (u->changes && u->params->design == DESIGN_SRF &&
        !place_reserve(u, inflight->slot, inflight->dyn.code, t)) {
        u->stats->srf_full++;
        return;
    }
    t->uniform = true;
    if (!u->changes || u->params->mode == MODE_INTER)
        return;
    const bool srf = u->params->design == DESIGN_SRF, two = u->params->protect;
    inflight->lane_writes = (u16)(inflight->time->result_count * (srf ? two : 1u + two));
    inflight->dyn.writes = srf && !two ? 0 : 1ull << u->lane;
    if (two && !srf)
        inflight->dyn.writes |= 1ull << u->second;
}

static void places(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places)
{
    struct uniform_core *u = state;
    const struct uniform_inflight *t = &u->inflight[inflight_index(core, inflight)];
    if (u->params->design != DESIGN_SRF || !u->changes)
        return;
    if (write) {
        if (t->watched && t->uniform && !inflight->dyn.writes)
            places->count = 0;
        return;
    }
    if (!t->elsewhere)
        return;
    u32 left = 0;
    for (u32 i = 0; i < places->count; i++) {
        if (t->elsewhere >> i & 1)
            continue;
        places->at[left++] = places->at[i];
    }
    places->count = left;
}

static void copied(struct uniform_core *u, struct core *core, const struct inflight *inflight)
{
    if (!inflight->dropped)
        place_clear(u, inflight->slot, inflight->dyn.code->dst[0].index);
    core_copy_retired(core, inflight);
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct uniform_core *u = state;
    struct uniform_inflight *t = &u->inflight[inflight_index(core, inflight)];
    const struct dyninst *f = &inflight->dyn;
    const u32 slot = inflight->slot;
    struct uniform_slot *s = &u->slots[slot];
    if (UNLIKELY(inflight->injected)) {
        if (inflight->time == &s->copy.time)
            copied(u, core, inflight);
        return;
    }
    if (!t->watched)
        return;
    t->watched = false;
    if (inflight->dropped || core_slot(core, slot)->ended) {
        place_release(u, t);
        return;
    }
    if (u->params->protect)
        cover_written(u, slot);
    if (t->uniform) {
        if (t->stores)
            reuse_store(u, core, inflight, t);
        place_set(u, inflight, t);
        return;
    }
    if (f->kind > DYNINST_ACCESS || !f->writes)
        return;
    for (u32 k = 0; k < ARRAY_LEN(f->dst); k++)
        for (u32 j = 0; f->dst[k] && j < f->dst_rows[k]; j++)
            if (UNLIKELY(in_set(s->tokens, f->to[k] + j))) {
                assert(!u->changes || f->writes == core_all_lanes(core)); /* U2 */
                place_clear(u, slot, f->to[k] + j);
            }
}

/* ---- blocks, launches, cores ---- */

static void control(void *state, struct core *core, u32 slot, u32 inst)
{
    struct uniform_core *u = state;
    if (!core_slot(core, slot)->warp || core_slot(core, slot)->ended)
        place_end(u, slot);
}

static void block(void *state, struct core *core, u32 block_slot, bool started)
{
    struct uniform_core *u = state;
    for (u64 set = core_block(core, block_slot)->slots; set; set &= set - 1)
        if (started)
            place_start(u, first_bit(set));
        else if (core_slot(core, first_bit(set))->block == block_slot) /* else it has been reused */
            place_end(u, first_bit(set));
}

static void launch(void *state, struct core *core, bool begins)
{
    struct uniform_core *u = state;
    const struct exec *exec = core_exec(core);
    const u32 size = core_warp_size(core);
    u->core = core;
    free(u->insts);
    free(u->removed_rows);
    u->insts = NULL;
    u->removed_rows = NULL;
    cover_launch(u, begins);
    place_launch(u, begins);
    if (!begins)
        return;
    const struct program *program = exec->image->program;
    u->changes = u->params->mode != MODE_OBSERVE;
    u->explicit_exec = program->traits.explicit_exec;
    u->lane = size - MIN(core_config(core)->units->sp_lanes, size);
    u->second = u->lane + 1 < size ? u->lane + 1 : u->lane - 1;
    u->irb = (struct irb){.count = u->params->irb_entries};
    u->insts = checked(calloc(MAX(program->inst_count, 1), sizeof *u->insts));
    u->removed_rows = checked(aligned_alloc(64, align_up(core_row_words(core), 16) * sizeof(u32)));
    for (u32 i = 0; i < program->inst_count; i++)
        u->insts[i] = classify(&program->insts[i], u->params->params_uniform);
}

static u32 idle(const void *params)
{
    const struct uniform_params *p = params;
    const bool changes = p->mode != MODE_OBSERVE;
    return (changes && p->design == DESIGN_SRF ? 0 : 1u << SEAM_PLACES) |
           (changes ? 0 : 1u << SEAM_ISSUE);
}

static void create(void *state, struct core *core)
{
    struct uniform_core *u = state;
    u->core = core;
    u->inflight = checked(calloc(CORE_INFLIGHT, sizeof *u->inflight));
    core_add_fetch_stages(core, u->params->rename_stage);
}

static void destroy(void *state)
{
    struct uniform_core *u = state;
    cover_launch(u, false);
    place_launch(u, false);
    free(u->insts);
    free(u->removed_rows);
    free(u->inflight);
}

/* ---- hardware costs ---- */

/* Vector registers of a core, from the machine's scoreboard row. */
static u64 vector_registers(const struct state_list *list)
{
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct state_row *row = &list->rows.data[i];
        if (!strcmp(row->unit, "issue") && !strcmp(row->name, "scoreboard") && row->bits == 1)
            return row->entries;
    }
    return 512; /* 64 KB of 32-lane registers, as published */
}

static void srf_storage(const struct uniform_params *p, struct state_list *list, u64 registers)
{
    const u32 number = state_index_bits(p->srf_entries);
    state_add(list, "uniform", "srf", p->srf_entries, 32 + p->parity, STATE_LIVE,
              "scalar register file");
    state_shape(list, (struct array_shape){.read_ports = 1, .write_ports = 1});
    state_add(list, "uniform", "rename", registers, number, STATE_LIVE,
              "rename table: index into the scalar register file (published without a valid bit)");
    state_shape(list, (struct array_shape){.read_ports = 3, .write_ports = 1});
    state_add(list, "uniform", "rename_valid", registers, 1, STATE_LIVE,
              "rename table: valid bits, not in the published size");
    state_shape(list, (struct array_shape){.read_ports = 3, .write_ports = 1});
    state_add(list, "uniform", "freelist", p->srf_entries, number, STATE_LIVE,
              "free list of the scalar register file, not in the published size");
}

static void storage(const void *params, struct state_list *list)
{
    const struct uniform_params *p = params;
    const u64 registers = vector_registers(list);
    const u32 lru = state_index_bits(p->irb_entries), values = p->irb_wide ? 64 : 32;
    if (p->mode == MODE_OBSERVE)
        return; /* no hardware */
    if (p->design == DESIGN_SRF) {
        srf_storage(p, list, registers);
    } else {
        state_add(list, "uniform", "tokens", registers, 1, STATE_LIVE,
                  "a token bit for each vector register");
        state_shape(list, (struct array_shape){.read_ports = 3, .write_ports = 1});
        if (p->parity)
            state_add(list, "uniform", "parity", registers, 1, STATE_LIVE,
                      "a parity bit for the value of each uniform register");
    }
    if (p->mode == MODE_INTRA)
        return;
    state_add(list, "uniform", "irb", p->irb_entries,
              IRB_TAG_BITS + IRB_OPCODE_BITS + (IRB_SOURCES + 1) * values + lru + p->parity,
              STATE_LIVE, "reuse buffer: partial PC, opcode, three sources, result, LRU order");
    state_shape(list, (struct array_shape){.searched = true});
}

static const struct energy_event events[] = {
    {"token_reads", "tokens", ENERGY_READ, .array = "uniform.tokens", .bits = 1},
    {"token_writes", "tokens", ENERGY_WRITE, .array = "uniform.tokens", .bits = 1},
    {"rename_reads", "renaming", ENERGY_READ, .array = "uniform.rename"},
    {"rename_writes", "renaming", ENERGY_WRITE, .array = "uniform.rename"},
    {"srf_reads", "scalar registers", ENERGY_READ, .array = "uniform.srf"},
    {"srf_writes", "scalar registers", ENERGY_WRITE, .array = "uniform.srf"},
    {"irb_probes", "reuse buffer", ENERGY_SEARCH, .array = "uniform.irb"},
    {"irb_writes", "reuse buffer", ENERGY_WRITE, .array = "uniform.irb"},
    {"protect_compares", "comparison", ENERGY_LOGIC, .pj = 0.07, .nm = 45,
     .source =
         "an integer addition of 32 bits takes 0.1 pJ at 45 nm (Horowitz, Computing's energy "
         "problem, ISSCC 2014); a comparison for equality is assumed to take two thirds of it"},
    {0},
};

static const char *const deviations[] = {
    "Any partial write to a uniform register is preceded by a copy, not only one whose destination "
    "is also a source: the others would corrupt the value as well. The two cases are counted "
    "separately.",
    "Kernel parameters and constants that all lanes load count as uniform (params_uniform); the "
    "published broadcast path serves shared and global memory.",
    "Each register of a 64-bit value is uniform or not by itself; a pair needs two entries of the "
    "scalar register file. The published reuse buffer holds 32-bit values: instructions with "
    "64-bit operands do not fit unless irb_wide is set.",
    "The reuse buffer compares the whole operation, where the published one has 8 bits of opcode, "
    "and is written when the result is; until then the same instruction of another warp misses.",
    "An entry of the scalar register file is freed when the new value is written, not when the "
    "instruction is renamed, so that no value is lost if the write does not happen.",
    "A uniform instruction occupies its unit for one cycle whatever its operation, including "
    "divisions.",
    "Cross-lane instructions (shuffles, votes) are never uniform; where their lanes may wait for "
    "others, uniform registers are written to all lanes for them without a copy in the pipeline.",
    "The number of reads of the scalar register file in a cycle is not limited.",
    NULL,
};

const struct mechanism uniform_mechanism = {
    MECHANISM_NAMED(uniform, "uniform vector instructions run on one lane, or not at all"),
    .source = "P. Xiang, Y. Yang, M. Mantor, N. Rubin, L. R. Hsu, H. Zhou, \"Exploiting uniform "
              "vector instructions for GPGPU performance, energy efficiency, and opportunistic "
              "reliability enhancement\", ICS 2013",
    .deviations = deviations,
    .events = events,
    .state_size = sizeof(struct uniform_core),
    .create = create,
    .destroy = destroy,
    .idle = idle,
    .storage = storage,
    .launch = launch,
    .places = places,
    .block = block,
    .issue = issue,
    .operand = operand,
    .result = result,
    .retired = retired,
    .control = control,
};
