/*
 * GR-Guard: a register file below its safe voltage (Tan, dissertation, 2016, chapter 6). Some cells
 * do not hold what is written to them. An entry of 128 bits with one failing bit is repaired by a
 * code; one with more is faulty. A vector register is a row of the register file, 8 entries at the
 * same place of 8 consecutive banks (a WRG). The faulty entries of a register that holds a value are
 * patched by the entries in the same position of a register that is dead, its value having been
 * read for the last time. If no register can patch another, a line of a reserved way of the L1 does.
 *
 * Two bits of each instruction say whether its first two register operands are dead after it. They
 * count if all threads of the warp execute the instruction. A register gets its patch when it is
 * written, and loses it when it dies or is written again in all lanes.
 *
 * Values really are where the maps say (M1 to M4 of gr_guard_maps.c): a patched entry is read from
 * and written to the row that patches it, and a failing cell always reads as its preferred value. A
 * wrong map makes programs compute wrong values.
 *
 * In time, a patch in the bank of its register is one more access to that bank; a patch in another
 * bank is a request of its own, made when the register's own banks have been read. Writes do not
 * delay results: the search takes place while the other entries are written, and the patch is
 * written in the next cycle.
 *
 * Seams: launch, allocate, block, issue, operand, places, collecting, collected, write_back,
 * retired, cache, settle.
 *
 * Invariants
 *  R1  A register is marked dead when the instruction that reads it last, and all those before it,
 *      have read it from its banks; or when it is written, if that is earlier.
 *  R2  Before an instruction reads a register, the failing cells of the entries that hold it take
 *      their preferred values.
 */
#include "mech/gr_guard.h"

#define COMPONENT gr_guard
#define COMPONENT_DEF "mech/gr_guard.def"
#define COMPONENT_HELP "patches for register files below their safe voltage"
#include "base/component_table.h"

enum {
    DEAD_OPERANDS = 2 /* register operands of an instruction that have a dead bit */
};

static struct guard_inflight *record_of(struct gr_guard *g, const struct inflight *inflight)
{
    return &g->inflight[inflight_index(g->core, inflight)];
}

static const struct inst *code_at(const struct core *core, u32 inst)
{
    return &core_exec(core)->image->program->insts[inst];
}

/* ---- launches and warps ---- */

static void create(void *state, struct core *core)
{
    guard_create(state, core);
}

static void forget(struct gr_guard *g)
{
    arena_destroy(g->arena);
    g->arena = NULL;
    g->last = NULL;
}

static void destroy(void *state)
{
    forget(state);
}

static void launch(void *state, struct core *core, bool begins)
{
    struct gr_guard *g = state;
    forget(g);
    if (!begins)
        return;
    g->registers = core_exec(core)->register_rows;
    guard_reset(g);
}

/* For the first warp of the launch on this core. */
static void analyse(struct gr_guard *g)
{
    const struct exec *exec = core_exec(g->core);
    g->arena = arena_create();
    g->last = last_reads_of(g->arena, exec->image->program, exec->kernel);
    g->home = arena_array(g->arena, u32, (size_t)MOST_FRAMES * MAX(g->registers, 1));
}

static void allocate(void *state, struct core *core, u32 slot, u32 *rows, u32 count)
{
    struct gr_guard *g = state;
    if (!g->arena)
        analyse(g);
    guard_allocate(g, slot, rows, count);
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    struct gr_guard *g = state;
    if (started) {
        guard_started(g);
        return;
    }
    const struct thread_block *left = core_block(core, place)->block;
    for (u32 w = 0; w < left->warp_count; w++)
        guard_ended(g, &left->warps[w]);
}

/* ---- reading ---- */

/* The registers of a source operand: the first in *first, and their number; 0: it is none. */
static u32 source_registers(const struct warp *warp, const struct inst *code, u32 k, u32 *first)
{
    const struct operand o = code->src[k];
    *first = o.index;
    if (o.kind != OPERAND_VECTOR)
        return 0;
    if (o.count)
        return o.count;
    *first += scalar_read(warp, code->src[1], 0); /* indexed at run time */
    return 1;
}

/* A result that is written when the instruction issues gets its place before. */
static void write_at_issue(struct gr_guard *g, const struct warp *warp, u32 inst)
{
    const struct inst *code = code_at(g->core, inst);
    const u8 kind = warp->view->plans[inst].kind;
    if (kind != PLAN_CONTROL && kind != PLAN_WHOLE)
        return;
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++)
        for (u32 r = 0; code->dst[k].kind == OPERAND_VECTOR && r < code->dst[k].count; r++)
            guard_write(g, guard_home(g, warp, code->dst[k].index + r), false);
}

static enum issue_answer issue(void *state, struct core *core, u32 slot, u32 inst)
{
    struct gr_guard *g = state;
    const struct inst *code = code_at(core, inst);
    const struct warp *warp = core_slot(core, slot)->warp;
    u32 first;
    for (u32 k = 0; k < ARRAY_LEN(code->src); k++) {
        const u32 count = source_registers(warp, code, k, &first);
        for (u32 r = first; r - first < count && r < g->registers; r++)
            guard_fail(g, guard_home(g, warp, r));
    }
    write_at_issue(g, warp, inst);
    return ISSUE_PLAIN;
}

/* Notes which sources are dead when they have been read. */
static void note_dead(struct gr_guard *g, const struct dyninst *dyn)
{
    const u8 dead = g->last->dead[dyn->inst];
    const bool all = dyn->active == dyn->warp->live;
    for (u32 k = 0, seen = 0; k < ARRAY_LEN(dyn->code->src) && seen < DEAD_OPERANDS; k++) {
        const struct operand o = dyn->code->src[k];
        if (o.kind != OPERAND_VECTOR)
            continue;
        seen++;
        if (!(dead >> k & 1))
            continue;
        *(all ? &g->stats->dead_bits : &g->stats->divergent_bits) += 1;
        for (u32 r = o.index; all && r - o.index < o.count; r++)
            g->rows[guard_home(g, dyn->warp, r)].dying = true;
    }
}

static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    struct gr_guard *g = state;
    struct guard_inflight *record = record_of(g, inflight);
    const struct dyninst *dyn = &inflight->dyn;
    *record = (struct guard_inflight){.reads = true};
    for (u32 k = 0; k < ARRAY_LEN(dyn->code->src); k++)
        for (u32 r = 0; dyn->code->src[k].kind == OPERAND_VECTOR && r < dyn->code->src[k].count;
             r++)
            g->rows[guard_home(g, dyn->warp, dyn->code->src[k].index + r)].readers++;
    note_dead(g, dyn);
    return 0;
}

/* An instruction has read its sources from their banks (R1). */
static void have_read(struct gr_guard *g, const struct inflight *inflight)
{
    const struct inst *code = inflight->dyn.code;
    struct guard_inflight *record = record_of(g, inflight);
    if (!record->reads)
        return;
    record->reads = false;
    for (u32 k = 0; k < ARRAY_LEN(code->src); k++)
        for (u32 r = 0; code->src[k].kind == OPERAND_VECTOR && r < code->src[k].count; r++) {
            const u32 at = guard_home(g, inflight->dyn.warp, code->src[k].index + r);
            struct guard_row *row = &g->rows[at];
            if (!row->readers || --row->readers || !row->dying)
                continue;
            row->dying = false;
            guard_mark_dead(g, at);
        }
}

static void collected(void *state, struct core *core, struct inflight *inflight)
{
    have_read(state, inflight);
}

/* Instructions without collectors. */
static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct gr_guard *g = state;
    if (g->warps[inflight->dyn.warp->frame])
        have_read(g, inflight);
}

/* ---- writing ---- */

static enum write_back_answer write_back(void *state, struct core *core, struct inflight *inflight)
{
    struct gr_guard *g = state;
    const struct dyninst *dyn = &inflight->dyn;
    struct guard_inflight *record = record_of(g, inflight);
    const bool whole = !(dyn->warp->live & ~dyn->writes);
    if (record->written || !dyn->writes)
        return WRITE_BACK_COMMIT;
    record->written = true;
    for (u32 k = 0; k < ARRAY_LEN(dyn->dst); k++)
        for (u32 r = 0; dyn->dst[k] && r < dyn->dst_rows[k]; r++)
            guard_write(g, guard_home(g, dyn->warp, dyn->to[k] + r), whole);
    return WRITE_BACK_COMMIT;
}

/* ---- banks ---- */

/* The banks of some entries of a row. */
static u64 banks_of(const struct gr_guard *g, u32 row, entry_set entries)
{
    const u64 all = core_bank_mask(g->core, row % g->banks);
    const u32 count = (u32)__builtin_popcountll(all);
    u64 banks = 0;
    for (u32 set = entries; set; set &= set - 1)
        banks |= 1ull << (first_bit(set) * count / g->entries + first_bit(all));
    return banks;
}

static void count_access(struct gr_guard *g, const struct guard_row *row, entry_set entries,
                         bool write)
{
    struct gr_guard_stats *s = g->stats;
    const entry_set moved = row->moved & entries, own = entries & (entry_set)~row->moved;
    s->accesses += count_entries(entries);
    s->normal += count_entries(own);
    s->faulty_reads += count_entries(entries);
    s->patch_reads++;
    s->index_reads += moved != 0;
    if (!write) {
        s->exposed += count_entries(own & row->faulty);
        s->repaired += count_entries(own & row->single);
    }
    if (row->patch >= g->count) {
        const bool line = row->patch < g->memory;
        *(line ? &s->spilled : &s->in_memory) += count_entries(moved);
        *(write ? &s->spill_writes : &s->spill_reads) += line && moved;
        return;
    }
    s->patched += count_entries(moved & row->faulty);
    s->occupied += count_entries(moved & (entry_set)~row->faulty);
    if (!write)
        s->repaired += count_entries(moved & g->rows[row->patch].single);
}

/* The places of a register's access. `i`: its entry in the list; `entries`: those that are used. */
static void place(struct gr_guard *g, u32 at, entry_set entries, bool write, struct places *places,
                  u32 i)
{
    const struct guard_row *row = &g->rows[at];
    const entry_set moved = row->moved & entries;
    if (!moved || row->patch >= g->count)
        return;
    const u64 banks = banks_of(g, row->patch, moved);
    const bool same = row->patch % g->banks == at % g->banks;
    if (!write && !same)
        places->at[i].then |= banks;
    else if (places->count < PLACES)
        places->at[places->count++] = (struct bank_access){
            .banks = banks, .reg = places->at[i].reg, .cycles = (u8)(1 + write)};
}

static void places_of_reads(struct gr_guard *g, const struct inflight *inflight,
                            struct places *places)
{
    const struct inst *code = inflight->dyn.code;
    const entry_set entries = guard_entries(inflight->dyn.lanes);
    const u32 own = places->count;
    u32 at = 0; /* in the list, which collect_time() makes */
    for (u32 k = 0; k < ARRAY_LEN(code->src); k++) {
        const struct operand o = code->src[k];
        const u32 step = o.count == 2 && core_config(g->core)->collect->pair_reads == 1 ? 2 : 1;
        if (o.kind != OPERAND_VECTOR)
            continue;
        for (u32 r = 0; r < o.count && at < own; r += step, at++) {
            const u32 first = guard_home(g, inflight->dyn.warp, o.index + r);
            places->at[at].banks = core_bank_mask(g->core, first % g->banks);
            for (u32 n = 0; n < step; n++) {
                const u32 row = guard_home(g, inflight->dyn.warp, o.index + r + n);
                count_access(g, &g->rows[row], entries, false);
                place(g, row, entries, false, places, at);
            }
        }
    }
}

static void places_of_writes(struct gr_guard *g, const struct inflight *inflight,
                             struct places *places)
{
    const entry_set entries = guard_entries(inflight->dyn.writes);
    const u32 own = places->count;
    for (u32 i = 0; i < own; i++) {
        const u32 row = guard_home(g, inflight->dyn.warp, places->at[i].reg);
        places->at[i].banks = core_bank_mask(g->core, row % g->banks);
        if (!places->waited)
            count_access(g, &g->rows[row], entries, true);
        place(g, row, entries, true, places, i);
    }
}

static void places(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places)
{
    if (write)
        places_of_writes(state, inflight, places);
    else
        places_of_reads(state, inflight, places);
}

/* The additional latency of a register that no other patches. */
static u32 spilled_latency(const struct gr_guard *g, const struct guard_row *row)
{
    if (row->patch >= g->memory)
        return g->params->memory_cycles;
    return g->params->line_cycles ? g->params->line_cycles : core_config(g->core)->l1d->latency;
}

/* Reads of spilled registers take as long as a hit in the L1, or longer. */
static void collecting(void *state, struct core *core, struct inflight *inflight)
{
    struct gr_guard *g = state;
    const struct inst *code = inflight->dyn.code;
    const entry_set entries = guard_entries(inflight->dyn.lanes);
    u32 cycles = 0;
    for (u32 k = 0; k < ARRAY_LEN(code->src); k++)
        for (u32 r = 0; code->src[k].kind == OPERAND_VECTOR && r < code->src[k].count; r++) {
            const struct guard_row *row =
                &g->rows[guard_home(g, inflight->dyn.warp, code->src[k].index + r)];
            if (row->moved & entries && row->patch >= g->count && row->patch != NO_ROW)
                cycles = MAX(cycles, spilled_latency(g, row));
        }
    inflight->extra = (u16)(inflight->extra + cycles);
}

/* ---- the L1 ---- */

static bool cache(void *state, struct core *core, enum packet_client which,
                  struct cache_hooks *hooks)
{
    const struct gr_guard *g = state;
    *hooks = (struct cache_hooks){.user = state};
    return which == CLIENT_L1D && g->line_count;
}

static void settle(void *state, struct core *core, fs now)
{
    guard_count_time(state);
}

/* ---- what it needs ---- */

static bool serves(const void *params, const struct core_config *machine, struct error *error)
{
    const struct gr_guard_params *p = params;
    const struct core_params *sizes = machine->core;
    const u32 bytes = sizes->warp_size * 4;
    if (p->faulty + p->single > 100)
        return error_set(error, ERROR_USAGE, "",
                         "gr_guard.faulty and gr_guard.single are %g and %g %% of all entries: "
                         "together at most 100 were expected",
                         p->faulty, p->single);
    if (machine->issue->sub_cores)
        return error_set(error, ERROR_USAGE, "",
                         "mechanism gr_guard needs banks that all warps share: "
                         "issue.sub_cores=false");
    if (p->spill && p->protect && (machine->l1d->line_bytes < bytes || machine->l1d->ways < 2))
        return error_set(error, ERROR_USAGE, "",
                         "mechanism gr_guard spills registers of %u bytes into one way of the L1, "
                         "which has %u ways of lines of %u bytes: set gr_guard.spill=false",
                         bytes, machine->l1d->ways, machine->l1d->line_bytes);
    return true;
}

/* These mechanisms keep registers in a form or in places of their own, issue for several warps, or
 * study values by place. */
static const char *const conflicts[] = {"avf", "dac_ideal", "darsie", "uniform", NULL};

const struct mechanism gr_guard_mechanism = {
    MECHANISM_NAMED(gr_guard, "registers below their safe voltage are patched by dead registers"),
    .source = "J. Tan, \"Architectural approaches to design reliable and energy-efficient GPUs\", "
              "dissertation, University of Houston, 2016, chapter 6",
    .deviations = guard_deviations,
    .conflicts = conflicts,
    .events = guard_events,
    .supplies = guard_supplies,
    .may_chip = true,
    .state_size = sizeof(struct gr_guard),
    .random = true,
    .create = create,
    .destroy = destroy,
    .serves = serves,
    .storage = guard_storage,
    .launch = launch,
    .allocate = allocate,
    .block = block,
    .issue = issue,
    .operand = operand,
    .places = places,
    .collecting = collecting,
    .collected = collected,
    .write_back = write_back,
    .retired = retired,
    .cache = cache,
    .settle = settle,
};
