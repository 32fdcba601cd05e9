/*
 * Decoupled affine computation, idealised: instructions whose sources are uniform or affine run
 * once for a block, in the warp that reaches them first, and are removed before fetch for its other
 * warps. It is a comparator, not a design: it costs nothing, and no warp waits for another.
 *
 * Tags (dac_ideal_tags.c) record at issue which registers are uniform or affine. For an instruction
 * about to be fetched, the tags are advanced over the instructions that precede it in the warp's
 * buffer. The nth execution of an instruction by one warp corresponds to the nth by every other
 * warp of its block. The first warp to reach it leads: it fetches and executes as usual. The other
 * warps skip the instruction: they put a mark in their buffer. When the mark reaches the head, the
 * instruction is computed from the warp's own registers at no cost, so results are right whatever
 * the tags say.
 *
 * A skipped load accesses memory when its mark is at the head: after all earlier stores of its
 * warp, and with no atomic of the core in flight.
 *
 * Seams: launch, block, skip_fetch, may_skip_fetch, skipped, issued, retired, view.
 *
 * Invariants
 *  D1  Only full warps with all lanes on one path lead or skip instructions, and no instruction
 *      after an unissued branch is skipped.
 *  D2  A slot's tags reflect all instructions that its warp has issued or skipped, in order.
 *  D3  What fetch predicts (a sum that may wrap around is affine) is checked again at the head: an
 *      instruction that was skipped wrongly is fetched after all.
 */
#include "mech/dac_ideal.h"
#include "exec/values.h"
#include "ir/program.h"
#include <stdlib.h>

#define COMPONENT dac_ideal
#define COMPONENT_DEF "mech/dac_ideal.def"
#define COMPONENT_HELP "affine computation once per block, idealised"
#include "base/component_table.h"

struct dac_ideal {
    MECHANISM_STATE(dac_ideal);
    u32 rows;       /* registers of a slot's tags, plus one (T2) */
    u32 mask_words; /* 64-bit words of a slot's masks */
    u32 width;      /* values_width */
    bool explicit_exec;
    struct dac_inst *insts; /* by instruction */
    u8 *wrong;              /* by instruction: a result predicted to be affine was not, once */
    u8 *tags;               /* by slot and register */
    u64 *masks;             /* by slot: uniform masks, one bit each */
    u32 *counts;            /* by slot and instruction: executions */
    u32 *led;               /* by block and instruction: executions with a leader */
    u8 *leads;              /* by slot and instruction: the slot leads its next execution */
    u8 threads[CORE_WARPS][DAC_COORDINATES]; /* by warp of a block: tags of coordinates */
    u32 refetch[CORE_WARPS];    /* by slot: an instruction that must be fetched, or NO_INST */
    u32 unacted[CORE_WARPS];    /* by slot: stores and atomics that have not accessed memory */
    u32 atomics;                /* atomics of the core to global memory in flight */
    bool atomic[CORE_INFLIGHT]; /* by inflight: counted in `atomics` */
    struct dyninst dyn;         /* the skipped instruction that is being computed */
    u32 *dyninst_rows;
};

enum decision {
    DECIDED_FETCH,
    DECIDED_SKIP,
    DECIDED_HOLD
};

/* ---- fetch: lead, skip or execute ---- */

static struct dac_view view_of(const struct dac_ideal *d, u32 slot, bool ahead)
{
    struct dac_view view; /* not initialised: `changes` is large, and empty while `count` is 0 */
    view.tags = d->tags + (size_t)slot * d->rows;
    view.masks = d->masks + (size_t)slot * d->mask_words;
    view.ahead = ahead;
    view.full = false;
    view.no_masks = d->explicit_exec;
    view.warp = d->params->scope == SCOPE_WARP;
    view.count = 0;
    return view;
}

/* Whether one execution serves all warps of the block. */
static bool is_removed(const struct dac_ideal *d, const struct dac_inst *info,
                       struct dac_verdict verdict)
{
    if (!info->removable || verdict.sources < TAG_AFFINE)
        return false;
    if (verdict.sources == TAG_UNIFORM)
        return true;
    return !info->load &&
           (d->params->results == RESULTS_ANY || info->compare || verdict.result == TAG_AFFINE);
}

/* Whether the warp is full and all its lanes are on one path. */
static bool is_whole(const struct dac_ideal *d, const struct core *core, const struct warp *warp)
{
    if (d->explicit_exec)
        return warp->active == core_all_lanes(core);
    return warp->order_count == 1 && warp->paths[warp->order[0]].mask == core_all_lanes(core);
}

/* Whether the warp's lanes reconverge at `inst`, which it is to fetch, or before it. */
static bool is_joined(const struct dac_ideal *d, const struct slot *slot, u32 inst)
{
    if (d->explicit_exec || slot->at == NO_INST || slot->warp->current == NO_PATH)
        return false;
    const u32 meet = warp_path(slot->warp)->rpc;
    return meet >= slot->at && meet <= inst;
}

/* Advances the view's tags over the slot's buffer and the instructions to be fetched before `inst`.
 * Returns true if one of them must issue before anything after it is skipped. */
static bool look_ahead(const struct dac_ideal *d, const struct core *core, u32 s, u32 inst,
                       struct dac_view *view)
{
    const struct slot *slot = core_slot(core, s);
    const u32 count = slot->buffered + (inst - slot->fetch_at);
    bool blocked = false;
    for (u32 i = 0; i < count; i++) {
        const u32 at = i < slot->buffered ? slot->buffer[i] : slot->fetch_at + i - slot->buffered;
        const struct dac_inst *info = &d->insts[at];
        const struct inst *code = &core_exec(core)->image->program->insts[at];
        struct dac_verdict verdict =
            dac_judge(view, info, code, d->threads[slot->warp->index % CORE_WARPS]);
        if (code->guard.kind != OPERAND_NONE ||
            (info->checked && d->wrong[at] && verdict.result == TAG_AFFINE))
            verdict.result = TAG_NONE;
        dac_write(view, code, verdict.result);
        blocked |= info->blocks;
    }
    return blocked;
}

/* Makes the slot the leader of its next execution of an instruction. */
static void lead(struct dac_ideal *d, const struct core *core, u32 s, u32 inst)
{
    const size_t own = (size_t)s * core_inst_count(core) + inst;
    d->led[(size_t)core_slot(core, s)->block * core_inst_count(core) + inst] = d->counts[own] + 1;
    d->leads[own] = 1;
}

/* Whether the slot's next execution of an instruction has or had a leader. */
static bool has_leader(const struct dac_ideal *d, const struct core *core, u32 s, u32 inst)
{
    return d->counts[(size_t)s * core_inst_count(core) + inst] <
           d->led[(size_t)core_slot(core, s)->block * core_inst_count(core) + inst];
}

/* Whether the slot is to lead (if possible), skip or just fetch the next instruction. */
static enum decision decide(struct dac_ideal *d, const struct core *core, u32 s, u32 inst)
{
    const struct slot *slot = core_slot(core, s);
    const struct dac_inst *info = &d->insts[inst];
    if (!info->removable || d->refetch[s] == inst ||
        d->leads[(size_t)s * core_inst_count(core) + inst])
        return DECIDED_FETCH;
    const bool whole = is_whole(d, core, slot->warp);
    if (!whole && !is_joined(d, slot, inst))
        return DECIDED_FETCH;
    struct dac_view view = view_of(d, s, true);
    const bool blocked = look_ahead(d, core, s, inst, &view);
    const struct dac_verdict verdict =
        dac_judge(&view, info, &core_exec(core)->image->program->insts[inst],
                  d->threads[slot->warp->index % CORE_WARPS]);
    if (view.full || !is_removed(d, info, verdict))
        return DECIDED_FETCH;
    if (has_leader(d, core, s, inst))
        return blocked || !whole ? DECIDED_HOLD : DECIDED_SKIP;
    if (!blocked) /* else it may become the leader at issue */
        lead(d, core, s, inst);
    return DECIDED_FETCH;
}

static void skip_fetch(void *state, struct core *core, u64 wanting, struct skip_fetch *answer)
{
    for (u64 set = wanting; set; set &= set - 1) {
        const u32 s = first_bit(set);
        const enum decision decision = decide(state, core, s, core_slot(core, s)->fetch_at);
        answer->skip |= decision == DECIDED_SKIP ? bit(s) : 0;
        answer->hold |= decision == DECIDED_HOLD ? bit(s) : 0;
    }
}

static bool may_skip_fetch(void *state, struct core *core, u32 slot, u32 inst)
{
    return decide(state, core, slot, inst) != DECIDED_FETCH;
}

/* ---- results ---- */

/* Whether result `k` is uniform or affine as its tag says. */
static bool is_true(const struct dac_ideal *d, const struct core *core, const struct dyninst *f,
                    u32 k, enum dac_tag result)
{
    const struct operand o = f->code->dst[k];
    const u32 lanes = core_warp_size(core);
    if (o.kind == OPERAND_MASK) {
        const u64 mask = f->dst[k][0] | (lanes > LANES ? (u64)f->dst[k][1] << 32 : 0);
        return result != TAG_UNIFORM || d->explicit_exec || !(mask & core_all_lanes(core)) ||
               (mask & core_all_lanes(core)) == core_all_lanes(core);
    }
    if (o.kind != OPERAND_VECTOR || (result == TAG_AFFINE && k))
        return true;
    const u32 words = result == TAG_AFFINE ? o.count : 1;
    const enum values most = result == TAG_AFFINE ? VALUES_AFFINE : VALUES_UNIFORM;
    for (u32 j = 0; j < o.count; j += words)
        if (values_of(f->dst[k] + j * lanes, words, core_all_lanes(core), d->width, lanes) > most)
            return false;
    return true;
}

/* The tag of the results, checked against their values; a load that has not accessed memory
 * (`acted`) is checked by its addresses. */
static enum dac_tag check_tag(struct dac_ideal *d, const struct core *core, struct dyninst *f,
                              const struct dac_inst *info, enum dac_tag result, bool acted)
{
    if (result == TAG_NONE)
        return result;
    if (info->load && (f->kind != DYNINST_ACCESS || f->local))
        return TAG_NONE;
    if (info->checked && result == TAG_AFFINE && !is_true(d, core, f, 0, result)) {
        d->wrong[f->inst] = 1;
        return TAG_NONE;
    }
    if (!d->params->verify)
        return result;
    bool holds = true;
    if (info->load && !acted)
        for (u32 lane = 1; lane < core_warp_size(core); lane++)
            holds &= dyninst_addresses(f)[lane] == dyninst_addresses(f)[0];
    else
        for (u32 k = 0; k < ARRAY_LEN(f->dst); k++)
            holds &= !f->dst[k] || is_true(d, core, f, k, result);
    d->stats->untrue += !holds;
    return result;
}

/* ---- issue ---- */

static void count_lead(struct dac_ideal *d, const struct core *core, u32 s, u32 inst)
{
    if (!has_leader(d, core, s, inst))
        lead(d, core, s, inst);
    *(d->leads[(size_t)s * core_inst_count(core) + inst] ? &d->stats->led : &d->stats->missed) += 1;
}

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct dac_ideal *d = state;
    struct dyninst *f = &inflight->dyn;
    const u32 s = inflight->slot;
    const struct dac_inst *info = &d->insts[f->inst];
    struct dac_view view = view_of(d, s, false);
    if (inflight->injected)
        return;
    d->stats->instructions++;
    d->atomic[inflight_index(core, inflight)] = f->kind == DYNINST_ACCESS && f->atomic && f->global;
    d->atomics += d->atomic[inflight_index(core, inflight)];
    d->unacted[s] += f->kind == DYNINST_ACCESS && (f->stores || f->atomic);
    if (d->refetch[s] == f->inst)
        d->refetch[s] = NO_INST;
    if (inflight->time->flags & TIME_DRAIN) {
        memset(view.tags, TAG_NONE, d->rows);
    } else if (f->lanes == core_all_lanes(core) && f->code->guard.kind == OPERAND_NONE) {
        const struct dac_verdict verdict =
            dac_judge(&view, info, f->code, d->threads[f->warp->index % CORE_WARPS]);
        dac_write(&view, f->code, check_tag(d, core, f, info, verdict.result, false));
        if (is_removed(d, info, verdict))
            count_lead(d, core, s, f->inst);
    } else { /* guarded or divergent: look_ahead() assumes TAG_NONE, too */
        dac_write(&view, f->code, TAG_NONE);
    }
    d->counts[(size_t)s * core_inst_count(core) + f->inst]++;
    d->leads[(size_t)s * core_inst_count(core) + f->inst] = 0;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct dac_ideal *d = state;
    d->atomics -= d->atomic[inflight_index(core, inflight)];
    d->atomic[inflight_index(core, inflight)] = false;
}

/* An access is about to be performed. */
static struct memory_view *view(void *state, struct core *core, struct inflight *inflight,
                                struct memory_view *memory)
{
    struct dac_ideal *d = state;
    d->unacted[inflight->slot] -=
        !inflight->injected && (inflight->dyn.stores || inflight->dyn.atomic);
    return memory;
}

/* ---- skipped instructions ---- */

static void count_skip(struct dac_ideal *d, const struct dac_inst *info, enum dac_tag sources)
{
    struct dac_ideal_stats *stats = d->stats;
    stats->instructions++;
    stats->skipped++;
    if (info->load)
        stats->skipped_loads++;
    else if (info->compare)
        stats->skipped_compares++;
    else
        *(sources == TAG_UNIFORM ? &stats->skipped_uniform : &stats->skipped_affine) += 1;
}

/* Executes a skipped instruction functionally; the core then advances the warp. Returns false, with
 * nothing done, for a load of local memory, where each lane has its own value. */
static bool run(struct dac_ideal *d, struct core *core, struct warp *warp, u32 inst)
{
    struct dyninst *f = &d->dyn;
    f->rows = d->dyninst_rows;
    dyninst_issue(f, warp, inst);
    warp->instructions--;
    if (f->kind == DYNINST_ACCESS && f->local) {
        warp_path(warp)->pc = inst;
        return false;
    }
    if (f->kind == DYNINST_ACCESS && !f->faulted)
        dyninst_access(f, core_view(core));
    else
        dyninst_compute(f);
    dyninst_commit(f);
    if (core_exec(core)->stopped)
        core_stop(core);
    return true;
}

/* A skipped load waits for earlier stores of its warp and for atomics, which access memory late. */
static bool must_wait(const struct dac_ideal *d, u32 slot, const struct inst *code)
{
    if (code->space == SPACE_PARAM || code->space == SPACE_CONST)
        return false;
    return d->unacted[slot] || (d->atomics && code->space != SPACE_SHARED);
}

static enum skip_answer fetch_after_all(struct dac_ideal *d, u32 slot, u32 inst)
{
    d->refetch[slot] = inst;
    d->stats->refetched++;
    return SKIP_FETCH;
}

static enum skip_answer skipped(void *state, struct core *core, u32 s, u32 inst)
{
    struct dac_ideal *d = state;
    const struct slot *slot = core_slot(core, s);
    const struct dac_inst *info = &d->insts[inst];
    const struct inst *code = &core_exec(core)->image->program->insts[inst];
    struct dac_view tags = view_of(d, s, false);
    const struct dac_verdict verdict =
        dac_judge(&tags, info, code, d->threads[slot->warp->index % CORE_WARPS]);
    if (!is_whole(d, core, slot->warp) || !is_removed(d, info, verdict))
        return fetch_after_all(d, s, inst);
    if (!core_registers_ready(core, s, inst) || (info->load && must_wait(d, s, code))) {
        d->stats->waits++;
        return SKIP_WAIT;
    }
    if (!run(d, core, slot->warp, inst))
        return fetch_after_all(d, s, inst);
    dac_write(&tags, code, check_tag(d, core, &d->dyn, info, verdict.result, true));
    d->counts[(size_t)s * core_inst_count(core) + inst]++;
    count_skip(d, info, verdict.sources);
    return SKIP_DONE;
}

/* ---- blocks and launches ---- */

/* Tags the registers in which warps start with their threads' coordinates. */
static void tag_entry(struct dac_ideal *d, const struct core *core, u32 s)
{
    const struct exec *exec = core_exec(core);
    const struct warp *warp = core_slot(core, s)->warp;
    const u32 lanes = core_warp_size(core);
    for (u32 k = 0; k < 3 && k < exec->register_rows; k++) {
        u32 row[MAX_LANES];
        register_read(warp, k, row);
        if (values_of(row, 1, core_all_lanes(core), d->width, lanes) != VALUES_OTHER)
            d->tags[(size_t)s * d->rows + k] = TAG_AFFINE;
    }
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    struct dac_ideal *d = state;
    if (!started)
        return;
    const size_t insts = core_inst_count(core);
    memset(d->led + place * insts, 0, insts * sizeof *d->led);
    for (u64 set = core_block(core, place)->slots; set; set &= set - 1) {
        const u32 s = first_bit(set);
        memset(d->counts + s * insts, 0, insts * sizeof *d->counts);
        memset(d->leads + s * insts, 0, insts);
        memset(d->tags + (size_t)s * d->rows, TAG_NONE, d->rows);
        memset(d->masks + (size_t)s * d->mask_words, 0, d->mask_words * sizeof *d->masks);
        d->refetch[s] = NO_INST;
        d->unacted[s] = 0;
        if (core_exec(core)->entry)
            tag_entry(d, core, s);
    }
}

/* Tags of the threads' coordinates, for each warp of a block. */
static void tag_threads(struct dac_ideal *d, const struct core *core)
{
    const struct exec *exec = core_exec(core);
    const u32 lanes = core_warp_size(core);
    u32 numbers[MAX_LANES]; /* %laneid restarts at 0 in the second half of a 64-lane warp */
    for (u32 l = 0; l < lanes; l++)
        numbers[l] = l % LANES;
    const u8 lane = values_of(numbers, 1, core_all_lanes(core), d->width, lanes) == VALUES_OTHER
                        ? TAG_NONE
                        : TAG_AFFINE;
    for (u32 w = 0; w < MIN(exec->warps, (u32)CORE_WARPS); w++) {
        for (u32 k = 0; k < 3; k++) {
            const enum values values = values_of(exec->tids[k] + (size_t)w * lanes, 1,
                                                 core_all_lanes(core), d->width, lanes);
            const bool same =
                d->params->scope == SCOPE_WARP ? values == VALUES_UNIFORM : exec->dims[k] == 1;
            d->threads[w][k] = same ? TAG_UNIFORM : values != VALUES_OTHER ? TAG_AFFINE : TAG_NONE;
        }
        d->threads[w][DAC_LANE] = lane;
    }
}

static void release(struct dac_ideal *d)
{
    free(d->insts);
    free(d->wrong);
    free(d->tags);
    free(d->masks);
    free(d->counts);
    free(d->led);
    free(d->leads);
    free(d->dyninst_rows);
    d->insts = NULL;
    d->wrong = d->tags = d->leads = NULL;
    d->masks = NULL;
    d->counts = d->led = d->dyninst_rows = NULL;
}

static void launch(void *state, struct core *core, bool begins)
{
    struct dac_ideal *d = state;
    const struct exec *exec = core_exec(core);
    release(d);
    d->atomics = 0;
    memset(d->atomic, 0, sizeof d->atomic);
    if (!begins)
        return;
    const struct program *program = exec->image->program;
    const size_t insts = core_inst_count(core);
    d->explicit_exec = program->traits.explicit_exec;
    d->width = values_width(exec->dims, core_warp_size(core), d->params->affine_rows);
    d->rows = exec->register_rows + 1;
    d->mask_words = exec->masks / 64 + 1;
    d->insts = checked(calloc(MAX(insts, 1u), sizeof *d->insts));
    d->wrong = checked(calloc(MAX(insts, 1u), 1));
    d->tags = checked(calloc(CORE_WARPS, d->rows));
    d->masks = checked(calloc((size_t)CORE_WARPS * d->mask_words, sizeof *d->masks));
    d->counts = checked(calloc(CORE_WARPS * MAX(insts, 1u), sizeof *d->counts));
    d->led = checked(calloc(CORE_BLOCKS * MAX(insts, 1u), sizeof *d->led));
    d->leads = checked(calloc(CORE_WARPS * MAX(insts, 1u), 1));
    d->dyninst_rows = checked(aligned_alloc(64, align_up(core_row_words(core), 16) * sizeof(u32)));
    for (u32 i = 0; i < insts; i++)
        d->insts[i] = dac_classify(&program->insts[i], core_inst_time(core, i),
                                   d->explicit_exec && (inst_writes_exec(&program->insts[i]) ||
                                                        inst_writes_mode(&program->insts[i])),
                                   d->params->loads);
    tag_threads(d, core);
}

static void destroy(void *state)
{
    release(state);
}

static const char *const conflicts[] = {"darsie", "filter_cache", "uniform", NULL};

static const char *const deviations[] = {
    "An idealisation, like that of Yeh et al.: there is no second instruction stream, no queue "
    "between the two streams and no compiler. Removed instructions cost no time and no energy, "
    "finding and computing affine values is free, and no warp waits for another.",
    "An affine value has one base and one stride over the lanes of a warp; `affine_rows` adds a "
    "stride from row to row of the block. Whether a value is uniform in its block follows from how "
    "it was computed; it is not compared between warps.",
    "A warp that finds no leader executes the instruction itself. So does a warp whose instruction "
    "follows a branch that has not issued, or whose lanes are not all active.",
    "A removed load returns what memory holds when its warp reaches it, with no delay.",
    "Yeh et al. do not say what happens to instructions that read affine values and write others. "
    "Here they are removed, too, unless `results` says otherwise.",
    NULL,
};

const struct mechanism dac_ideal_mechanism = {
    MECHANISM_NAMED(dac_ideal,
                    "uniform and affine instructions run once per block, at no other cost"),
    .source = "K. Wang, C. Lin, \"Decoupled affine computation for SIMT GPUs\", ISCA 2017, as "
              "idealised by T. T. Yeh, R. N. Green, T. G. Rogers, \"Dimensionality-aware redundant "
              "SIMT instruction elimination\", ASPLOS 2020",
    .deviations = deviations,
    .conflicts = conflicts,
    .state_size = sizeof(struct dac_ideal),
    .destroy = destroy,
    .launch = launch,
    .block = block,
    .skip_fetch = skip_fetch,
    .may_skip_fetch = may_skip_fetch,
    .skipped = skipped,
    .issued = issued,
    .retired = retired,
    .view = view,
};
