/*
 * DARSIE: instructions that all warps of a block execute with the same vectors of values are
 * fetched and executed by one warp; the others skip them before fetch and read its registers.
 *
 * These instructions are known at launch: an analysis of the code marks them, and the shape of the
 * block decides which marks hold (analysis/redundancy.h). The first warp that decodes such an
 * instruction leads it: it allocates an entry of the block's PC skip table (darsie_table.c) and,
 * for its results, registers from the block's freelist (darsie_rename.c). Other warps that reach
 * that PC skip it: their rename table then maps the register to that version. This is correct as
 * long as the warps take the same path (darsie_paths.c) and no store changes what they load
 * (darsie_loads.c).
 *
 * The leader's results are written only to physical registers of the block, and all warps,
 * including the leader, read them there. The warp's own register is stale until it is written or
 * copied to.
 */
#include "mech/darsie.h"
#include "analysis/redundancy.h"
#include "ir/scalars.h"
#include <stdlib.h>

#define COMPONENT darsie
#define COMPONENT_DEF "mech/darsie.def"
#define COMPONENT_HELP "skipping of instructions that are redundant in a block"
#include "base/component_table.h"

enum {
    MOST_VERSIONS = 4096, /* of a block, if `registers` sets no limit */
    BAR_ARRIVE = 1        /* key of a barrier that does not wait */
};

/* ---- instructions ---- */

/* Appends the ids (struct darsie_inst) of an operand's registers, masks or scalars; false: too
 * many. */
static bool add_ids(const struct darsie_core *d, struct operand o, u16 *list, u8 *count, u32 most)
{
    const struct exec *exec = core_exec(d->core);
    const bool explicit_exec = exec->image->program->traits.explicit_exec;
    u32 first = 0, n = o.count;
    switch (o.kind) {
    case OPERAND_VECTOR:
        first = o.index;
        break;
    case OPERAND_MASK:
        first = d->registers + (explicit_exec ? exec->masks + 2 * o.index : o.index);
        n = explicit_exec ? 2 : 1;
        break;
    case OPERAND_SCALAR:
        first = d->registers + exec->masks + o.index;
        break;
    default:
        return true;
    }
    if (!n || *count + n > most || first + n > d->id_count)
        return false;
    for (u32 i = 0; i < n; i++)
        list[(*count)++] = (u16)(first + i);
    return true;
}

static bool list_ids(const struct darsie_core *d, const struct inst *code, struct darsie_inst *info)
{
    struct operand list[INST_REFS];
    bool fits = true;
    for (u32 i = 0, n = inst_reads(code, list); i < n; i++)
        fits &= add_ids(d, list[i], info->source, &info->sources, DARSIE_SOURCES);
    for (u32 i = 0, n = inst_writes(code, list); i < n; i++)
        fits &= add_ids(d, list[i], info->target, &info->targets, DARSIE_TARGETS);
    return fits;
}

/* Whether all results of an instruction can be shared. */
static bool can_share(const struct darsie_core *d, const struct inst *code,
                      struct darsie_inst *info)
{
    const bool masks =
        d->params->masks && !core_exec(d->core)->image->program->traits.explicit_exec;
    struct operand list[INST_REFS];
    const u32 n = inst_writes(code, list);
    u32 results = 0;
    for (u32 i = 0; i < n; i++) {
        if (list[i].kind == OPERAND_MASK ? !masks : list[i].kind != OPERAND_VECTOR)
            return false;
        results += list[i].kind == OPERAND_VECTOR ? list[i].count : 0;
    }
    info->results = (u8)MIN(results, DARSIE_RESULTS);
    return n && results <= DARSIE_RESULTS;
}

/* The value of a constant source; 0 for an absent one. False: not known at launch. */
static bool constant_of(const struct exec *exec, struct operand o, u32 *value)
{
    *value = o.kind == OPERAND_CONST ? exec->image->constants[o.index * exec->image->warp_size] : 0;
    return o.kind == OPERAND_CONST || o.kind == OPERAND_NONE;
}

/* Whether an instruction is a barrier of all warps of the block. */
static bool is_whole_barrier(const struct exec *exec, const struct inst *code, u8 *number)
{
    u32 which, threads;
    *number = 0;
    if (code->op == OP_bar_whole)
        return true;
    if ((code->op != OP_bar && code->op != OP_bar_popc) || code->guard.kind != OPERAND_NONE ||
        (code->op == OP_bar && code->key == BAR_ARRIVE))
        return false;
    if (!constant_of(exec, code->src[0], &which) || !constant_of(exec, code->src[1], &threads) ||
        which >= BARRIERS)
        return false;
    *number = (u8)which;
    return !threads; /* with a thread count, a warp may arrive twice in place of another */
}

static bool can_part(const struct inst *code, const struct inst_time *time)
{
    if (!(time->flags & TIME_BRANCH))
        return false;
    switch (code->op) {
    case OP_exit:
    case OP_trap:
    case OP_end:
    case OP_strap:
        return false;
    case OP_bra:
    case OP_call:
    case OP_ret:
        return code->guard.kind != OPERAND_NONE;
    default:
        return true;
    }
}

static struct darsie_inst classify(const struct darsie_core *d, u32 inst)
{
    const struct exec *exec = core_exec(d->core);
    const struct inst *code = &exec->image->program->insts[inst];
    const struct inst_time *time = core_inst_time(d->core, inst);
    const u32 flags = op_info[code->op].flags;
    const enum redundancy mark = exec->marks ? exec->marks[inst] : REDUNDANT_NO;
    const u32 other = TIME_BRANCH | TIME_BARRIER | TIME_SERIAL | TIME_DRAIN | TIME_FENCE;
    struct darsie_inst info = {
        .marked = mark != REDUNDANT_NO && (mark != REDUNDANT_XY || d->params->second) &&
                  redundancy_holds(mark, exec->dims, d->warp_size),
        .branch = can_part(code, time),
        .load = flags & OPF_LOAD && code->space != SPACE_CONST && code->space != SPACE_PARAM,
    };
    info.barrier = is_whole_barrier(exec, code, &info.number);
    info.global = info.load && code->space != SPACE_SHARED;
    info.tells = code->op == OP_fence ||
                 (flags & (OPF_LOAD | OPF_STORE | OPF_ATOMIC) && code->space != SPACE_SHARED &&
                  code->space != SPACE_LOCAL && (flags & OPF_ATOMIC || code->mods & MOD_VOLATILE));
    const bool fits = list_ids(d, code, &info);
    info.skips = info.marked && can_share(d, code, &info) && fits && !(time->flags & other) &&
                 (!info.load || d->params->loads);
    return info;
}

/* ---- seams ---- */

static void skip_fetch(void *state, struct core *core, u64 wanting, struct skip_fetch *answer)
{
    struct darsie_core *d = state;
    if (UNLIKELY(d->deadline <= core_cycle(core)))
        paths_give_up(d, false);
    if (wanting & d->taking_part)
        table_skip_fetch(d, wanting & core_wanting(core), answer);
}

static bool may_skip_fetch(void *state, struct core *core, u32 slot, u32 inst)
{
    const struct darsie_core *d = state;
    return d->taking_part >> slot & 1 && d->insts[inst].skips && !table_comes_along(d, slot, inst);
}

static void fetched(void *state, struct core *core, u32 slot, u32 inst, u32 count, bool here)
{
    struct darsie_core *d = state;
    if (d->taking_part >> slot & 1)
        table_fetched(d, slot, inst, count);
}

static enum skip_answer skipped(void *state, struct core *core, u32 slot, u32 inst)
{
    return table_skip(state, slot, inst);
}

static enum issue_answer issue(void *state, struct core *core, u32 slot, u32 inst)
{
    struct darsie_core *d = state;
    struct darsie_slot *s = &d->slots[slot];
    const u32 reg = s->on ? rename_needs(d, s, inst) : UINT32_MAX;
    return reg == UINT32_MAX ? ISSUE_PLAIN : rename_copy(d, slot, inst, reg);
}

static void count_reads(struct darsie_core *d, const struct darsie_slot *s,
                        const struct inst_time *time)
{
    d->stats->rename_reads += time->read_count + time->result_count;
    for (u32 i = 0; i < time->read_count; i++)
        d->stats->shared_reads += in_set(s->apart, time->reads[i]);
}

/* At issue: the operands are in the record, nothing has been computed. */
static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    struct darsie_core *d = state;
    struct darsie_inflight *t = &d->inflight[inflight_index(core, inflight)];
    const struct darsie_slot *s = &d->slots[inflight->slot];
    if (inflight->injected)
        return 0;
    *t = (struct darsie_inflight){.entry = NO_ENTRY};
    if (!s->on)
        return 0;
    d->stats->instructions++;
    count_reads(d, s, inflight->time);
    if (d->insts[inflight->dyn.inst].marked) {
        d->stats->marked++;
        table_issued(d, inflight);
    }
    loads_issued(d, inflight);
    return 0;
}

/* A leader's results go to shared registers only. */
static void result(void *state, struct core *core, struct inflight *inflight)
{
    const struct darsie_core *d = state;
    if (d->inflight[inflight_index(core, inflight)].shared && !inflight->injected)
        inflight->dyn.writes = 0;
}

static struct memory_view *view(void *state, struct core *core, struct inflight *inflight,
                                struct memory_view *view)
{
    struct darsie_core *d = state;
    if (!inflight->injected)
        loads_acted(d, inflight);
    return view;
}

static void places(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places)
{
    rename_places(state, inflight, write, places);
}

/* Writes the leader's result to the physical registers and releases the warps that wait for it. */
static void publish(struct darsie_core *d, struct inflight *inflight,
                    const struct darsie_inflight *t)
{
    const struct dyninst *f = &inflight->dyn;
    struct darsie_slot *s = &d->slots[inflight->slot];
    struct darsie_block *b = &d->blocks[s->block];
    u32 n = 0;
    for (u32 k = 0; k < ARRAY_LEN(f->dst); k++)
        for (u32 j = 0; f->dst[k] && j < f->dst_rows[k]; j++, n++) {
            const u16 version = t->versions[n];
            memcpy(b->values + (size_t)version * d->warp_size, f->dst[k] + j * d->warp_size,
                   d->warp_size * sizeof(u32));
            if (s->on)
                rename_set(d, s, f->to[k] + j, version);
        }
    assert(n == t->shared);
    if (t->entry == NO_ENTRY) {
        rename_give(d, b, t->versions, t->shared);
        return;
    }
    struct darsie_entry *e = &b->entries[t->entry];
    for (u32 k = 0; k < ARRAY_LEN(f->dst); k++)
        for (u32 c = 0;
             f->code->dst[k].kind == OPERAND_MASK && c < core_exec(d->core)->image->chunks; c++) {
            assert(f->dst[k]);
            e->masks[k][c] = f->dst[k][c];
        }
    table_written(d, b, e);
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct darsie_core *d = state;
    struct darsie_inflight *t = &d->inflight[inflight_index(core, inflight)];
    struct darsie_slot *s = &d->slots[inflight->slot];
    const struct dyninst *f = &inflight->dyn;
    if (inflight->injected) {
        if (t->copy)
            rename_copied(d, inflight);
        t->copy = false;
        return;
    }
    if (t->stores)
        loads_acted(d, inflight);
    if (t->shared || t->entry != NO_ENTRY) {
        s->leading -= t->shared != 0;
        publish(d, inflight, t);
        t->shared = 0;
        t->entry = NO_ENTRY;
        return;
    }
    if (!s->on || f->kind > DYNINST_ACCESS || !f->writes)
        return;
    for (u32 k = 0; k < ARRAY_LEN(f->dst); k++)
        for (u32 j = 0; f->dst[k] && j < f->dst_rows[k]; j++)
            if (in_set(s->apart, f->to[k] + j)) {
                assert(f->writes == core_all_lanes(core)); /* R4 */
                rename_clear(d, s, f->to[k] + j);
            }
}

static void control(void *state, struct core *core, u32 slot, u32 inst)
{
    struct darsie_core *d = state;
    if (d->slots[slot].on)
        paths_control(d, slot, inst);
}

static bool stuck(void *state, struct core *core)
{
    return paths_give_up(state, true);
}

static void block(void *state, struct core *core, u32 block_slot, bool started)
{
    if (started)
        paths_start_block(state, block_slot);
    else
        paths_end_block(state, block_slot);
}

/* ---- launches and cores ---- */

/* Vector registers that the register file has left for each block, beside those of its warps, when
 * a core holds as many blocks as fit, or its share of the grid if that is less. */
static u32 registers_left(const struct core *core)
{
    const struct exec *exec = core_exec(core);
    const struct core_params *p = core_config(core)->core;
    const u64 each =
        exec->limits->registers ? exec->limits->registers : exec->kernel->total_registers;
    const u64 a_warp = align_up(each * p->warp_size, p->register_unit);
    const u64 shared = align_up(exec->shared_bytes, p->shared_unit);
    const u64 scalars = align_up(exec->kernel->scalars, p->scalar_unit);
    u64 blocks = MIN((u64)p->blocks, p->warps / exec->warps);
    blocks = MIN(blocks, p->threads / (exec->warps * p->warp_size));
    if (a_warp)
        blocks = MIN(blocks, p->registers / (a_warp * exec->warps));
    if (p->scalar_registers && scalars)
        blocks = MIN(blocks, p->scalar_registers / (scalars * exec->warps));
    if (shared)
        blocks = MIN(blocks, p->shared_bytes / shared);
    const u64 grid = (u64)exec->grid[0] * exec->grid[1] * exec->grid[2];
    blocks = MIN(blocks, (grid + core_config(core)->cores - 1) / core_config(core)->cores);
    blocks = MAX(blocks, 1);
    const u64 used = blocks * a_warp * exec->warps;
    return used >= p->registers ? 0 : (u32)((p->registers - used) / p->warp_size / blocks);
}

/* A bump allocator over `from`; with NULL it only adds up sizes. */
struct room {
    u8 *from;
    size_t used;
};

static void *take(struct room *at, size_t count, size_t bytes)
{
    void *memory = at->from ? at->from + at->used : NULL;
    at->used += align_up(count * bytes, 64);
    return memory;
}

/* Places the tables of all blocks and slots in one piece of memory and returns its size; with
 * `from` NULL it only computes the size. */
static size_t lay_out(struct darsie_core *d, u8 *from, u32 blocks, u32 insts)
{
    struct room at = {from, 0};
    d->insts = take(&at, insts, sizeof *d->insts);
    d->copies = take(&at, d->registers, sizeof *d->copies);
    for (u32 i = 0; i < CORE_WARPS; i++) {
        struct darsie_slot *s = &d->slots[i];
        s->apart = take(&at, d->words, sizeof *s->apart);
        s->map = take(&at, d->registers, sizeof *s->map);
        s->ids = take(&at, d->id_count, sizeof *s->ids);
    }
    for (u32 i = 0; i < blocks; i++) {
        struct darsie_block *b = &d->blocks[i];
        b->used = take(&at, d->entry_words, sizeof *b->used);
        b->entries = take(&at, d->entry_count, sizeof *b->entries);
        b->versions = take(&at, d->version_count, sizeof *b->versions);
        b->freelist = take(&at, d->version_count, sizeof *b->freelist);
        b->numbers = take(&at, d->registers, sizeof *b->numbers);
        if (d->params->sync == SYNC_NONE)
            b->ways = take(&at, DARSIE_WAYS, sizeof *b->ways);
        b->values = take(&at, (size_t)d->version_count * d->warp_size, sizeof *b->values);
    }
    return at.used;
}

static void free_tables(struct darsie_core *d)
{
    free(d->memory);
    d->memory = NULL;
    d->on = false;
    d->taking_part = 0;
    memset(d->slots, 0, sizeof d->slots);
    memset(d->blocks, 0, sizeof d->blocks);
}

static void fill_tables(struct darsie_core *d, u32 blocks)
{
    for (u32 i = 0; i < CORE_WARPS; i++) {
        struct darsie_slot *s = &d->slots[i];
        s->darsie = d;
        s->slot = i;
        s->view = (struct register_view){s->apart, s, rename_read, rename_whole};
    }
    for (u32 i = 0; i < blocks; i++) {
        struct darsie_block *b = &d->blocks[i];
        b->free_count = b->least_free = d->version_count;
        for (u32 v = 0; v < d->version_count; v++)
            b->freelist[v] = (u16)(d->version_count - 1 - v); /* the lowest is taken first */
    }
}

static void launch(void *state, struct core *core, bool begins)
{
    struct darsie_core *d = state;
    const struct exec *exec = core_exec(core);
    free_tables(d);
    d->core = core;
    if (!begins || !exec->marks || exec->warps < 2)
        return;
    const u32 insts = exec->image->program->inst_count;
    const u32 blocks = MIN(core_config(core)->core->blocks, (u32)CORE_BLOCKS);
    d->warp_size = core_warp_size(core);
    d->width = values_width(exec->dims, d->warp_size, d->params->affine_rows);
    d->registers = exec->register_rows;
    d->words = d->registers / 64 + 1;
    d->id_count = d->registers + exec->masks + SCALAR_COUNT;
    d->deadline = UINT64_MAX;
    d->next_id = 0;
    d->write_turn = 0;
    d->entry_count = d->params->entries ? d->params->entries : insts;
    d->entry_words = (d->entry_count + 63) / 64;
    d->version_count = d->params->registers
                           ? MIN(d->params->registers, registers_left(core))
                           : MIN(exec->warps * d->registers + insts, (u32)MOST_VERSIONS);
    const size_t bytes = lay_out(d, NULL, blocks, insts);
    d->memory = checked(aligned_alloc(64, align_up(bytes, 64)));
    memset(d->memory, 0, bytes);
    lay_out(d, d->memory, blocks, insts);
    fill_tables(d, blocks);
    for (u32 i = 0; i < insts; i++) {
        d->insts[i] = classify(d, i);
        d->on |= d->insts[i].skips;
    }
}

static u32 idle(const void *params)
{
    const struct darsie_params *p = params;
    return p->bank_conflicts ? 0 : 1u << SEAM_PLACES;
}

static void create(void *state, struct core *core)
{
    struct darsie_core *d = state;
    d->core = core;
    d->inflight = checked(calloc(CORE_INFLIGHT, sizeof *d->inflight));
}

static void destroy(void *state)
{
    struct darsie_core *d = state;
    free_tables(d);
    free(d->inflight);
}

static const char *const conflicts[] = {"uniform", "filter_cache", NULL};

const struct mechanism darsie_mechanism = {
    MECHANISM_NAMED(darsie, "instructions that are redundant in a block are skipped before fetch"),
    .source = "T. T. Yeh, R. N. Green, T. G. Rogers, \"Dimensionality-aware redundant SIMT "
              "instruction elimination\", ASPLOS 2020",
    .deviations = darsie_deviations,
    .conflicts = conflicts,
    .events = darsie_events,
    .marks = true,
    .state_size = sizeof(struct darsie_core),
    .create = create,
    .destroy = destroy,
    .idle = idle,
    .storage = darsie_storage,
    .launch = launch,
    .places = places,
    .block = block,
    .skip_fetch = skip_fetch,
    .may_skip_fetch = may_skip_fetch,
    .fetched = fetched,
    .skipped = skipped,
    .issue = issue,
    .operand = operand,
    .result = result,
    .view = view,
    .retired = retired,
    .control = control,
    .stuck = stuck,
};
