/* Turns of a block by dynamic instructions: see turn.h. */
#include "turn.h"
#include "exec/dyninst_execute.h"

#include <stdlib.h>

struct turns turns;

bool __real_block_turn(struct thread_block *block);
bool __wrap_block_turn(struct thread_block *block);
void __real_account_finish(struct exec *exec);
void __wrap_account_finish(struct exec *exec);

enum {
    MAX_WARPS = 64,
    MAX_CORES = 64,
    PUBLISH_ONE_IN = 16, /* instructions after which a core's stores are published */
};

/* What a launch has of its own: made by its first turn, ended with its counts. */
struct issuer {
    struct exec *exec;
    u64 *warps, *threads;
    u32 row_words;
    struct memory_view *views[MAX_CORES];
};
static struct issuer issuer;

/* Instructions of a warp on their way, the oldest first. */
struct queue {
    struct dyninst insts[TURN_DEPTH];
    u32 count;
};
static struct queue queues[MAX_WARPS];

static u32 draw(u32 below)
{
    turns.random = turns.random * 1664525u + 1013904223u;
    return (turns.random >> 8) % below;
}

static void begin(struct exec *exec)
{
    const u32 insts = exec->image->program->inst_count;
    issuer.exec = exec;
    exec->by_dyninst = true;
    issuer.warps = calloc(insts, sizeof *issuer.warps);
    issuer.threads = calloc(insts, sizeof *issuer.threads);
    issuer.row_words = (dyninst_row_words(exec->image) + 15) / 16 * 16 + 16;
    for (u32 w = 0; w < MAX_WARPS; w++)
        for (u32 i = 0; i < TURN_DEPTH; i++)
            queues[w].insts[i].rows = aligned_alloc(64, issuer.row_words * sizeof(u32));
    for (u32 c = 0; c < MAX_CORES; c++)
        issuer.views[c] = turns.mode == TURN_MIXED ? memory_view_create() : NULL;
}

void __wrap_account_finish(struct exec *exec)
{
    __real_account_finish(exec);
    if (issuer.exec != exec)
        return;
    account_issued(exec, issuer.warps, issuer.threads);
    free(issuer.warps);
    free(issuer.threads);
    for (u32 w = 0; w < MAX_WARPS; w++)
        for (u32 i = 0; i < TURN_DEPTH; i++)
            free(queues[w].insts[i].rows);
    for (u32 c = 0; c < MAX_CORES; c++)
        memory_view_destroy(issuer.views[c]);
    issuer.exec = NULL;
}

static void publish(u32 core)
{
    if (issuer.views[core])
        memory_view_publish(issuer.views[core]);
}

/* The rest of a dynamic instruction. */
static void finish(struct dyninst *f)
{
    const u32 core = f->warp->block->core % MAX_CORES;
    if (f->faulted)
        return;
    if (f->kind == DYNINST_COMPUTE) {
        dyninst_compute(f);
    } else if (f->kind == DYNINST_ACCESS) {
        if (!dyninst_access(f, issuer.views[core]))
            return;
        if (f->atomic && f->global && !f->scalar) {
            publish(core);
            if (!dyninst_atomic(f, f->global))
                return;
        }
    }
    dyninst_commit(f);
}

static void finish_oldest(struct queue *queue)
{
    const struct dyninst done = queue->insts[0];
    finish(&queue->insts[0]);
    queue->count--;
    memmove(&queue->insts[0], &queue->insts[1], queue->count * sizeof done);
    for (u32 i = 0; i < queue->count; i++) { /* pointers into the record itself move with it */
        struct dyninst *f = &queue->insts[i], *was = f + 1;
        for (unsigned k = 0; k < 4; k++)
            if (f->code->src[k].kind == OPERAND_MASK)
                f->src[k] = f->masks[k];
        for (unsigned k = 0; k < 2; k++)
            if (f->dst[k] >= was->scalars && f->dst[k] < was->scalars + DYNINST_SCALARS)
                f->dst[k] = f->scalars + (f->dst[k] - was->scalars);
    }
    queue->insts[queue->count].rows = done.rows;
}

static void drain(struct queue *queue)
{
    while (queue->count)
        finish_oldest(queue);
}

/* Scalars and masks alias where lanes are 64. */
static bool overlap(struct operand a, struct operand b, bool explicit_exec)
{
    u32 first[2] = {a.index, b.index}, count[2] = {a.count, b.count}, kind[2] = {a.kind, b.kind};
    for (unsigned i = 0; i < 2; i++) {
        if (kind[i] == OPERAND_MASK && explicit_exec) {
            kind[i] = OPERAND_SCALAR;
            first[i] *= 2;
            count[i] = 2;
        }
        if (!count[i])
            count[i] = 4096;
    }
    return kind[0] == kind[1] && first[0] < first[1] + count[1] && first[1] < first[0] + count[0];
}

static bool is_register(struct operand o)
{
    return o.kind == OPERAND_VECTOR || o.kind == OPERAND_MASK || o.kind == OPERAND_SCALAR;
}

/* Whether an instruction needs what another has not written yet, or writes the same. */
static bool depends(const struct inst *inst, const struct inst *on, bool explicit_exec)
{
    struct operand written[INST_REFS], own[2 * INST_REFS];
    const u32 count = inst_writes(on, written);
    u32 refs = inst_reads(inst, own);
    refs += inst_writes(inst, own + refs);
    for (u32 i = 0; i < count; i++)
        for (u32 k = 0; k < refs; k++)
            if (is_register(written[i]) && is_register(own[k]) &&
                overlap(written[i], own[k], explicit_exec))
                return true;
    return false;
}

static bool is_ordered(const struct inst *inst)
{
    const u16 flags = op_info[inst->op].flags;
    return flags & (OPF_BRANCH | OPF_BARRIER | OPF_CROSS) || inst->op == OP_syscall ||
           inst->op == OP_sgetreg || inst->op == OP_fence || inst->op == OP_nanosleep;
}

/* Lets go what the next instruction has to wait for. */
static void make_way(struct queue *queue, const struct warp *warp, u32 inst)
{
    const struct inst *code = &warp->view->insts[inst];
    const bool explicit_exec = warp->exec->image->program->traits.explicit_exec;
    u32 depth = turns.mode == TURN_AT_ONCE ? 0 : 1 + draw(TURN_DEPTH - 1);
    if (is_ordered(code))
        drain(queue);
    if (code->op == OP_syscall)
        publish(warp->block->core % MAX_CORES);
    for (u32 i = 0; i < queue->count; i++)
        if (depends(code, queue->insts[i].code, explicit_exec) ||
            queue->insts[i].plan->changes_exec || queue->insts[i].plan->changes_mode) {
            drain(queue);
            break;
        }
    while (queue->count > depth)
        finish_oldest(queue);
}

/* The interpreter counts a stretch when it enters it, and looks at its budget there. */
static bool enters_stretch(const struct exec *exec, u32 inst, u32 *length)
{
    const struct stretch *stretch = image_stretch(exec->image, inst);
    *length = stretch->length;
    return stretch->first == inst;
}

/* One instruction of a warp: false when it cannot issue any, or has used its budget up. */
static bool issue(struct warp *warp, u64 end)
{
    struct exec *exec = warp->exec;
    struct queue *queue = &queues[warp->index];
    u32 inst = warp_next(warp), length;
    if (inst == NO_INST)
        return false;
    if (enters_stretch(exec, inst, &length)) {
        if (exec->instructions >= end)
            return false;
        exec->instructions += length;
    }
    make_way(queue, warp, inst);
    if (exec->stopped)
        return false;
    struct dyninst *f = &queue->insts[queue->count];
    const u32 way = draw(3);
    if (way == 0)
        dyninst_issue(f, warp, inst);
    else if (way == 1)
        dyninst_start(f, warp, inst);
    else
        dyninst_execute(f, warp, inst);
    issuer.warps[inst]++;
    issuer.threads[inst] += count_lanes(f->lanes);
    turns.issued++;
    queue->count++;
    if (turns.mode == TURN_AT_ONCE || f->kind > DYNINST_ACCESS)
        drain(queue);
    if (!draw(PUBLISH_ONE_IN))
        publish(warp->block->core % MAX_CORES);
    return !exec->stopped;
}

/* Instructions that a warp may issue in one go. */
static u64 allowance(struct exec *exec)
{
    const u64 limit = exec->limits->max_instructions;
    const u64 quantum = turns.mode == TURN_MIXED ? 1 + draw(4) : exec->limits->quantum;
    if (!limit || exec->instructions < limit)
        return limit ? MIN(quantum, limit - exec->instructions) : quantum;
    fault_stop(exec, OUTCOME_LIMIT,
               "stopped after %llu warp instructions (launch.max_instructions)",
               (unsigned long long)limit);
    return 0;
}

/* As the interpreter has it: a warp runs until it waits, or has run long enough. */
static bool run_warp(struct warp *warp)
{
    struct exec *exec = warp->exec;
    const u64 budget = allowance(exec), end = exec->instructions + budget;
    warp->slept = false;
    while (budget && !warp->slept && issue(warp, end))
        ;
    drain(&queues[warp->index]);
    exec->last = warp;
    return !warp->slept;
}

bool __wrap_block_turn(struct thread_block *block)
{
    struct exec *exec = block->exec;
    if (turns.mode == TURN_FUNCTIONAL)
        return __real_block_turn(block);
    if (issuer.exec != exec)
        begin(exec);
    const u64 budget = (u64)exec->limits->quantum * exec->warps, start = exec->instructions;
    bool awake = true;
    while (awake && !exec->stopped && exec->instructions - start < budget) {
        bool ran = false;
        awake = false;
        for (u32 k = 0; k < exec->warps && !exec->stopped; k++) {
            const u32 w = turns.mode == TURN_MIXED ? draw(exec->warps) : k;
            if (block->warps[w].state != WARP_READY)
                continue;
            ran = true;
            awake |= run_warp(&block->warps[w]);
            if (exec->poll)
                exec->poll(exec);
        }
        for (u32 w = 0; w < exec->warps && turns.mode == TURN_MIXED; w++)
            ran |= block->warps[w].state == WARP_READY;
        awake |= turns.mode == TURN_MIXED && ran;
        if (!ran && block->done_warps < exec->warps)
            awake = block_unblock(block);
    }
    publish(block->core % MAX_CORES);
    return block->done_warps == exec->warps;
}
