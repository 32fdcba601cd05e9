/*
 * How many of the instructions that warps execute are redundant: the limit study behind skipping
 * them.
 *
 * Executions are matched by instruction and number: the n-th execution of an instruction by one
 * warp is compared with the n-th by all other warps. Such an instance is redundant
 *
 *   in the grid   if all full warps of the grid execute it with the same operands,
 *   in the block  if all full warps of the block do, and there are at least two; it is
 *                 uniform, affine or unstructured as its operands are (exec/values.h),
 *   in the warp   if its operands are the same in all lanes.
 *
 * Operands are the registers and masks that an instruction reads, as whole vectors: the address of
 * a load, the condition of a branch, address and data of a store. A read of a special register
 * counts by its value; constants and parameters are the same for all. Not redundant are
 * instructions with inactive lanes, by divergence or guard; instructions of partial warps; and
 * those that each warp must execute for their effect: barriers, fences, atomics, exits. All count
 * as executed.
 *
 * In: each instruction before it executes, in timing mode (operand) or functional mode (observe).
 * Out: statistics.
 *
 * Invariants
 *  R1  See redundancy.h.
 *  R2  Nothing is changed: registers, memory and timing are as without the mechanism.
 *  R3  An instance whose warps differ stays so, and one that finds no room is never redundant. So a
 *      count may be too low, never too high.
 *  R4  No count depends on the order in which warps, blocks or cores run.
 */
#include "mech/redundancy.h"
#include <stdlib.h>
#include <sys/mman.h>

#define COMPONENT redundancy
#define COMPONENT_DEF "mech/redundancy.def"
#define COMPONENT_HELP "instructions that warps execute with the same operands"
#include "base/component_table.h"

/* ---- cells ---- */

void cells_create(struct cells *cells, u32 size, u32 most)
{
    cells->size = size;
    cells->most = most;
    cells->bytes = (size_t)size * ((size_t)most + 1);
    cells->base = mmap(NULL, cells->bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (cells->base == MAP_FAILED)
        host_memory_exhausted();
    cells_reset(cells);
}

void cells_destroy(struct cells *cells)
{
    if (cells->base)
        munmap(cells->base, cells->bytes);
    cells->base = NULL;
}

void cells_reset(struct cells *cells)
{
    cells->used = cells->free = 0;
}

u32 cells_take(struct cells *cells)
{
    const u32 cell = cells->free;
    if (cell) {
        cells->free = *(const u32 *)cells_at(cells, cell);
        return cell;
    }
    return cells->used < cells->most ? ++cells->used : 0;
}

void cells_give(struct cells *cells, u32 cell)
{
    *(u32 *)cells_at(cells, cell) = cells->free;
    cells->free = cell;
}

static struct instance *instance_at(const struct redundancy_core *r, u32 cell)
{
    return cells_at(&r->instances, cell);
}

static struct grid_instance *grid_at(const struct redundancy_core *r, u32 cell)
{
    return cells_at(&r->grid, cell);
}

/* ---- instructions ---- */

static enum redundancy_kind kind_of(const struct program *program, u32 inst)
{
    const u32 op = program->insts[inst].op, flags = op_info[op].flags;
    switch (op) {
    case OP_syscall:
        return KIND_SYSTEM;
    case OP_sreg:
        return KIND_SPECIAL;
    case OP_ret: /* from a kernel: an exit */
        return program_function_at(program, inst)->is_kernel ? KIND_EFFECT : KIND_BRANCH;
    case OP_exit:
    case OP_end:
    case OP_trap:
    case OP_strap:
    case OP_fork: /* from here on: they read state that is not an operand */
    case OP_join:
    case OP_sgetreg:
    case OP_movrel_src:
    case OP_movrel_both:
    case OP_smovrel_src_b32:
    case OP_smovrel_src_b64:
        return KIND_EFFECT;
    default:
        return flags & (OPF_ATOMIC | OPF_BARRIER | OPF_EFFECT) ? KIND_EFFECT
               : flags & OPF_BRANCH                            ? KIND_BRANCH
               : flags & OPF_LOAD                              ? KIND_LOAD
               : flags & OPF_STORE                             ? KIND_STORE
                                                               : KIND_PLAIN;
    }
}

/* Finds the range of instructions that a launch may execute. */
static void find_range(struct redundancy_core *r, const struct exec *exec)
{
    const struct function *kernel = exec->kernel;
    const bool alone = kernel->reachable_count <= 1 && !kernel->recursive && !kernel->open;
    r->first = alone ? kernel->first : 0;
    r->count = (alone ? kernel->end : exec->image->program->inst_count) - r->first;
}

/* ---- the grid ---- */

/* A block is done with its next instance of an instruction: merges it into the grid's. */
static void meet_grid(struct redundancy_core *r, struct instances *list, u32 index,
                      const struct instance *instance, bool same)
{
    u32 cell = list->grid ? grid_at(r, list->grid)->next : r->grid_first[index];
    if (!cell) {
        cell = r->grid_cut[index] ? 0 : cells_take(&r->grid);
        if (!cell) {
            r->grid_cut[index] = true;
            r->stats->unmatched += instance->arrived;
            return;
        }
        *grid_at(r, cell) = (struct grid_instance){.hash = instance->hash, .same = true};
        if (r->grid_last[index])
            grid_at(r, r->grid_last[index])->next = cell;
        else
            r->grid_first[index] = cell;
        r->grid_last[index] = cell;
    }
    struct grid_instance *grid = grid_at(r, cell);
    grid->blocks++;
    grid->same &= same && instance->hash == grid->hash;
    list->grid = cell;
}

/* Merges the next grid instance of an instruction over all cores. False: no core has one. */
static bool grid_next(struct redundancy_core *const *states, u32 count, u32 *at, u64 blocks,
                      bool *redundant)
{
    const struct grid_instance *first = NULL;
    u64 seen = 0;
    *redundant = true;
    for (u32 i = 0; i < count; i++) {
        if (!at[i])
            continue;
        const struct grid_instance *grid = grid_at(states[i], at[i]);
        first = first ? first : grid;
        seen += grid->blocks;
        *redundant &= grid->same && grid->hash == first->hash;
        at[i] = grid->next;
    }
    *redundant &= seen == blocks;
    return first;
}

static void launch_done(void *const *all, u32 count, struct exec *exec)
{
    struct redundancy_core *const *states = (struct redundancy_core *const *)all;
    const u64 blocks = (u64)exec->grid[0] * exec->grid[1] * exec->grid[2];
    const u64 warps = blocks * states[0]->full;
    u32 *at = checked(calloc(count, sizeof *at));
    bool redundant;
    for (u32 index = 0; index < states[0]->count && warps > 1; index++) {
        for (u32 i = 0; i < count; i++)
            at[i] = states[i]->grid_first[index];
        while (grid_next(states, count, at, blocks, &redundant))
            states[0]->stats->grid += redundant ? warps : 0;
    }
    free(at);
    check_report(states, count, exec);
}

/* ---- the block ---- */

static void count_block(struct redundancy_core *r, const struct instance *instance, u32 index)
{
    struct redundancy_stats *stats = r->stats;
    const u32 warps = r->full;
    stats->block += warps;
    *(instance->class == VALUES_UNIFORM  ? &stats->block_uniform
      : instance->class == VALUES_AFFINE ? &stats->block_affine
                                         : &stats->block_unstructured) += warps;
    stats->block_loads += r->kinds[index] == KIND_LOAD ? warps : 0;
    stats->block_stores += r->kinds[index] == KIND_STORE ? warps : 0;
    stats->block_branches += r->kinds[index] == KIND_BRANCH ? warps : 0;
}

/* All full warps have executed an instance: earlier ones are not needed any more (R1). */
static void complete(struct redundancy_core *r, struct instances *list, u32 index, u32 cell)
{
    const struct instance *instance = instance_at(r, cell);
    if (instance->same && r->full > 1)
        count_block(r, instance, index);
    meet_grid(r, list, index, instance, instance->same);
    while (list->first != cell) {
        const u32 next = instance_at(r, list->first)->next;
        cells_give(&r->instances, list->first);
        list->first = next;
    }
}

/* The instance that a warp executes now, after `before`; 0: no room for it. */
static u32 find_instance(struct redundancy_core *r, struct instances *list, u32 before)
{
    u32 cell = before ? instance_at(r, before)->next : list->first;
    if (LIKELY(cell) || list->cut)
        return cell;
    cell = cells_take(&r->instances);
    if (!cell) {
        list->cut = true;
        return 0;
    }
    *instance_at(r, cell) = (struct instance){.same = true};
    if (list->last)
        instance_at(r, list->last)->next = cell;
    else
        list->first = cell;
    list->last = cell;
    return cell;
}

static void end_block(struct redundancy_core *r, struct redundancy_block *b)
{
    for (u32 index = 0; index < r->count; index++) {
        struct instances *list = &b->lists[index];
        for (u32 cell = list->first, next; cell; cell = next) {
            const struct instance *instance = instance_at(r, cell);
            next = instance->next;
            if (instance->arrived < r->full) {
                r->stats->block_some +=
                    instance->same && instance->arrived > 1 ? instance->arrived : 0;
                meet_grid(r, list, index, instance, false);
            }
            cells_give(&r->instances, cell);
        }
    }
}

/* ---- an instruction ---- */

/* Compares the operands of a full warp with the instance's. Returns whether they are uniform. */
static bool compare(struct redundancy_core *r, struct warp *warp, u32 inst,
                    enum redundancy_kind kind, struct instance *instance)
{
    if (instance && instance->same) {
        const u64 hash = operands_hash(r, warp, inst, kind);
        if (!instance->arrived) {
            instance->hash = hash;
            instance->class = (u8)operands_class(r, warp, inst, kind);
            return instance->class == VALUES_UNIFORM;
        }
        if (LIKELY(hash == instance->hash))
            return instance->class == VALUES_UNIFORM;
        instance->same = false;
    }
    return operands_uniform(r, warp, inst, kind);
}

static void examine(struct redundancy_core *r, struct warp *warp, u32 inst, lane_set active,
                    lane_set lanes)
{
    struct redundancy_stats *stats = r->stats;
    struct redundancy_block *b = block_of(r, warp);
    const u32 index = inst - r->first;
    const enum redundancy_kind kind = index < r->count ? r->kinds[index] : KIND_EFFECT;
    if (kind == KIND_SYSTEM || !b)
        return;
    stats->instructions++;
    if (warp->members != r->all) {
        stats->partial++;
        return;
    }
    if (kind == KIND_EFFECT) {
        stats->effects++;
        return;
    }
    const bool full = (kind == KIND_BRANCH ? active : lanes) == r->all;
    u32 *at = &b->at[(size_t)warp->index * r->count + index];
    const u32 cell = find_instance(r, &b->lists[index], *at);
    struct instance *instance = cell ? instance_at(r, cell) : NULL;
    stats->unmatched += !cell;
    stats->lone += r->full == 1;
    stats->diverged += !full;
    if (full)
        stats->warp += compare(r, warp, inst, kind, instance);
    if (!cell)
        return;
    *at = cell;
    instance->same &= full;
    if (++instance->arrived == r->full)
        complete(r, &b->lists[index], index, cell);
}

/* ---- launches and blocks ---- */

static void free_block(struct redundancy_block *b)
{
    free(b->warps);
    free(b->lists);
    free(b->at);
    free(b);
}

/* Frees all state of the last launch. */
static void forget(struct redundancy_core *r)
{
    for (u32 i = 0; i < r->block_count; i++)
        if (r->blocks[i])
            free_block(r->blocks[i]);
    while (r->free_blocks) {
        struct redundancy_block *next = r->free_blocks->next;
        free_block(r->free_blocks);
        r->free_blocks = next;
    }
    free(r->blocks);
    free(r->kinds);
    free(r->grid_first);
    free(r->grid_last);
    free(r->grid_cut);
    r->blocks = NULL;
    r->block_count = 0;
    r->kinds = r->grid_cut = NULL;
    r->grid_first = r->grid_last = NULL;
    r->exec = NULL;
}

static void observe_launch(void *state, struct exec *exec, bool begins)
{
    struct redundancy_core *r = state;
    forget(r);
    if (!begins) {
        check_launch(r, false);
        return;
    }
    if (!r->instances.base) {
        cells_create(&r->instances, sizeof(struct instance), r->params->instances);
        cells_create(&r->grid, sizeof(struct grid_instance), r->params->instances);
    }
    cells_reset(&r->instances);
    cells_reset(&r->grid);
    r->exec = exec;
    r->warp_size = exec->image->warp_size;
    r->all = ~0ull >> (MAX_LANES - r->warp_size);
    r->width = values_width(exec->dims, r->warp_size, r->params->affine_rows);
    r->full = exec->threads / r->warp_size;
    find_range(r, exec);
    const size_t count = MAX(r->count, 1u);
    r->kinds = checked(calloc(count, 1));
    r->grid_cut = checked(calloc(count, 1));
    r->grid_first = checked(calloc(count, sizeof *r->grid_first));
    r->grid_last = checked(calloc(count, sizeof *r->grid_last));
    for (u32 i = 0; i < r->count; i++)
        r->kinds[i] = (u8)kind_of(exec->image->program, r->first + i);
    check_launch(r, true);
}

static struct redundancy_block *start_block(struct redundancy_core *r)
{
    struct redundancy_block *b = r->free_blocks;
    const size_t insts = MAX(r->count, 1u), warps = r->exec->warps;
    if (b) {
        r->free_blocks = b->next;
        memset(b->lists, 0, insts * sizeof *b->lists);
        memset(b->at, 0, insts * warps * sizeof *b->at);
        return b;
    }
    b = checked(calloc(1, sizeof *b));
    b->lists = checked(calloc(insts, sizeof *b->lists));
    b->at = checked(calloc(insts * warps, sizeof *b->at));
    return b;
}

static void observe_block(void *state, struct thread_block *block, bool started)
{
    struct redundancy_core *r = state;
    const u32 slot = block->slot;
    if (!started) {
        struct redundancy_block *b = r->blocks[slot];
        end_block(r, b);
        if (r->marked)
            check_block(r, b, false);
        r->blocks[slot] = NULL;
        b->next = r->free_blocks;
        r->free_blocks = b;
        return;
    }
    if (slot >= r->block_count) {
        r->blocks = checked(realloc(r->blocks, (slot + 1) * sizeof *r->blocks));
        memset(r->blocks + r->block_count, 0, (slot + 1 - r->block_count) * sizeof *r->blocks);
        r->block_count = slot + 1;
    }
    r->blocks[slot] = start_block(r);
    if (r->marked)
        check_block(r, r->blocks[slot], true);
}

static void observe(void *state, struct warp *warp, u32 inst)
{
    struct redundancy_core *r = state;
    const struct step *step = &warp->exec->image->steps[inst];
    if (UNLIKELY(step->shape & SHAPE_DERIVED))
        scalar_derive(warp);
    const lane_set lanes = step_is_guarded(step) ? warp_guard(warp, step) : warp->active;
    examine(r, warp, inst, warp->active, lanes);
    if (UNLIKELY(r->marked))
        check_before(r, block_of(r, warp), warp, inst, warp->active, lanes, r->inflight);
}

static void observed(void *state, struct warp *warp, u32 inst)
{
    struct redundancy_core *r = state;
    if (UNLIKELY(r->marked))
        check_after(r, block_of(r, warp), warp, inst, NULL, r->inflight);
}

/* ---- timing mode ---- */

static void launch(void *state, struct core *core, bool begins)
{
    observe_launch(state, core_exec(core), begins);
}

static void block(void *state, struct core *core, u32 block_slot, bool started)
{
    const struct resident *resident = core_block(core, block_slot);
    if (!resident->copy) /* a block's redundant copy is not part of the program */
        observe_block(state, resident->block, started);
}

static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    struct redundancy_core *r = state;
    const struct dyninst *f = &inflight->dyn;
    if (inflight->injected || f->homes)
        return 0;
    examine(r, f->warp, f->inst, f->active, f->lanes);
    if (r->marked && block_of(r, f->warp))
        check_before(r, block_of(r, f->warp), f->warp, f->inst, f->active, f->lanes,
                     &r->inflight[inflight_index(core, inflight)]);
    return 0;
}

static void result(void *state, struct core *core, struct inflight *inflight)
{
    struct redundancy_core *r = state;
    const struct dyninst *f = &inflight->dyn;
    if (r->marked && !inflight->injected && !f->homes && block_of(r, f->warp))
        check_after(r, block_of(r, f->warp), f->warp, f->inst, f,
                    &r->inflight[inflight_index(core, inflight)]);
}

static u32 idle(const void *params)
{
    return ((const struct redundancy_params *)params)->check ? 0 : 1u << SEAM_RESULT;
}

static void destroy(void *state)
{
    struct redundancy_core *r = state;
    forget(r);
    cells_destroy(&r->instances);
    cells_destroy(&r->grid);
    check_destroy(r);
}

/* Instructions that these mechanisms skip are not seen, so executions could not be matched. */
static const char *const conflicts[] = {"dac_ideal", "darsie", NULL};

static const char *const deviations[] = {
    "The paper does not say how executions are matched. Here the n-th execution of an instruction "
    "by one warp is matched with the n-th by another, whatever paths they took.",
    "An instruction that some warps of a block do not execute is not redundant; block_some counts "
    "those that the other warps execute with the same operands.",
    "A block with one full warp has nothing to share: its instructions count in the grid and in "
    "the warp only.",
    "Masks are uniform if all lanes have the same bit, else unstructured.",
    "Operands are compared by 64-bit hashes.",
    NULL,
};

const struct mechanism redundancy_mechanism = {
    MECHANISM_NAMED(redundancy, "counts instructions that the warps of a block, or of the grid, "
                                "execute with the same operands"),
    .source = "the limit study (figures 1 and 2) of T. Yeh, R. N. Green, T. G. Rogers, "
              "\"Dimensionality-aware redundant SIMT instruction elimination\", ASPLOS 2020",
    .deviations = deviations,
    .conflicts = conflicts,
    .state_size = sizeof(struct redundancy_core),
    .marks = true,
    .destroy = destroy,
    .idle = idle,
    .launch = launch,
    .block = block,
    .operand = operand,
    .result = result,
    .launch_done = launch_done,
    .observe_launch = observe_launch,
    .observe_block = observe_block,
    .observe = observe,
    .observed = observed,
};
