/*
 * The check of the mechanism `redundancy`: verifies that marked instructions are redundant.
 *
 * A mark says that full warps that have taken the same path since the block began, or since its
 * last barrier of all threads, compute the same there (D1 of analysis/redundancy.h). Paths form a
 * tree: its roots are the block's start and its barriers, and a node is where a warp continues
 * after a branch. Warps at one node have executed exactly the same instructions since the root, and
 * each instruction of a node is executed once. The results of the first warp at a marked
 * instruction are kept with the node, word by word, and compared with those of the others.
 *
 * A warp leaves the tree when its lanes diverge or exit, until it passes the next such barrier with
 * all lanes. A load is checked by its addresses; its result may differ if a store has changed the
 * value in between (D2). Then the warp is not checked any more, since everything it computes from
 * that value may differ, too: `raced` counts this.
 *
 * A launch with a wrong mark runs to its end, with all statistics, and ends with the outcome
 * `check`, which reports the first ones.
 *
 * Invariants
 *  C1  A warp in the tree has all lanes active, and `here` of a node counts the warps and the
 *      instructions in flight that refer to it.
 *  C2  A node is kept as long as a warp is at it or can still reach it: from a node above it, or
 *      from before the barrier that is its root.
 *  C3  All lanes of a block pass the same barriers, so the barriers passed by the first lane of a
 *      warp are those of the warp, even if its lanes arrive one after another.
 */
#include "analysis/redundancy.h"
#include "exec/scalars.h"
#include "mech/redundancy.h"
#include <stdio.h>
#include <stdlib.h>

struct check_node {
    u32 link;   /* next child of the same parent, or next root */
    u32 parent; /* 0: a root, or not reachable from above any more */
    u32 child;
    u32 pc;          /* its first instruction */
    u32 here;        /* C1 */
    u32 first, last; /* list of results */
    u32 epoch;       /* of a root: barriers passed before it */
    bool root;
};

struct check_result {
    u32 next;
    u32 inst;
    u16 row; /* CHECK_ADDRESS or CHECK_RESULT, plus 16 * operand + register */
    u16 warp;
    u32 words[];
};

enum check_kind {
    CHECK_ADDRESS = 0,
    CHECK_RESULT = 256,
};

enum check_answer {
    ANSWER_SAME,
    ANSWER_KEPT,
    ANSWER_NO_ROOM,
    ANSWER_DIFFERS,
};

static struct check_node *node_at(const struct redundancy_core *r, u32 node)
{
    return cells_at(&r->nodes, node);
}

static struct check_result *result_at(const struct redundancy_core *r, u32 result)
{
    return cells_at(&r->results, result);
}

/* ---- the tree ---- */

/* Whether warps may still reach a root. */
static bool is_open(const struct redundancy_core *r, const struct redundancy_block *b,
                    const struct check_node *root)
{
    for (u32 w = 0; w < r->full; w++)
        if (!b->warps[w].ended && b->warps[w].epoch < root->epoch)
            return true;
    return false;
}

static void free_node(struct redundancy_core *r, u32 node)
{
    for (u32 result = node_at(r, node)->first, next; result; result = next) {
        next = result_at(r, result)->next;
        cells_give(&r->results, result);
    }
    cells_give(&r->nodes, node);
}

/* Frees a node that no warp is at or can reach, and all nodes below it for which this then
 * holds. */
static void collapse(struct redundancy_core *r, u32 node)
{
    node_at(r, node)->link = 0;
    for (u32 list = node; list;) {
        const u32 one = list;
        list = node_at(r, one)->link;
        for (u32 child = node_at(r, one)->child, next; child; child = next) {
            struct check_node *c = node_at(r, child);
            next = c->link;
            c->parent = 0;
            c->link = 0;
            if (c->here)
                continue;
            c->link = list;
            list = child;
        }
        free_node(r, one);
    }
}

static void collapse_roots(struct redundancy_core *r, struct redundancy_block *b)
{
    for (u32 *at = &b->roots; *at;) {
        struct check_node *root = node_at(r, *at);
        const u32 node = *at;
        if (root->here || is_open(r, b, root)) {
            at = &root->link;
            continue;
        }
        *at = root->link;
        collapse(r, node);
    }
}

static void release(struct redundancy_core *r, struct redundancy_block *b, u32 node)
{
    struct check_node *n = node_at(r, node);
    if (--n->here || n->parent)
        return;
    if (n->root)
        collapse_roots(r, b);
    else
        collapse(r, node);
}

static u32 make_node(struct redundancy_core *r, u32 *list, struct check_node node)
{
    const u32 cell = cells_take(&r->nodes);
    if (!cell) {
        r->stats->unchecked++;
        return 0;
    }
    node.link = *list;
    *node_at(r, cell) = node;
    *list = cell;
    return cell;
}

static u32 find_child(struct redundancy_core *r, u32 parent, u32 pc)
{
    for (u32 child = node_at(r, parent)->child; child; child = node_at(r, child)->link)
        if (node_at(r, child)->pc == pc)
            return child;
    return make_node(r, &node_at(r, parent)->child,
                     (struct check_node){.parent = parent, .pc = pc});
}

static u32 find_root(struct redundancy_core *r, struct redundancy_block *b, u32 epoch)
{
    for (u32 root = b->roots; root; root = node_at(r, root)->link)
        if (node_at(r, root)->epoch == epoch)
            return root;
    return make_node(r, &b->roots, (struct check_node){.root = true, .epoch = epoch});
}

/* Moves a warp to another node, or out of the tree (0). */
static void move(struct redundancy_core *r, struct redundancy_block *b, struct check_warp *w,
                 u32 to)
{
    const u32 from = w->node;
    w->node = to;
    w->hint = 0;
    if (to)
        node_at(r, to)->here++;
    if (from)
        release(r, b, from);
}

static void end_warp(struct redundancy_core *r, struct redundancy_block *b, struct check_warp *w)
{
    w->ended = true;
    move(r, b, w, 0);
    collapse_roots(r, b);
}

/* ---- results ---- */

static u32 find_result(const struct redundancy_core *r, const struct check_node *node, u32 hint,
                       u32 inst, u32 row)
{
    for (u32 pass = hint ? 0 : 1; pass < 2; pass++) /* first after the hint, where it mostly is */
        for (u32 at = pass ? node->first : result_at(r, hint)->next; at;
             at = result_at(r, at)->next) {
            if (result_at(r, at)->inst == inst && result_at(r, at)->row == row)
                return at;
        }
    return 0;
}

/* Compares words that warps should have in common, at most one per lane, or keeps them if they are
 * the first. */
static enum check_answer compare(struct redundancy_core *r, const struct warp *warp,
                                 struct check_inflight *inflight, u32 inst, u32 row,
                                 const u32 *words, u32 count)
{
    struct check_node *node = node_at(r, inflight->node);
    u32 at = find_result(r, node, inflight->hint, inst, row);
    if (at) {
        inflight->hint = at;
        return memcmp(result_at(r, at)->words, words, count * sizeof *words) ? ANSWER_DIFFERS
                                                                             : ANSWER_SAME;
    }
    at = cells_take(&r->results);
    if (!at)
        return ANSWER_NO_ROOM;
    struct check_result *result = result_at(r, at);
    result->next = 0;
    result->inst = inst;
    result->row = (u16)row;
    result->warp = (u16)warp->index;
    memcpy(result->words, words, count * sizeof *words);
    if (node->last)
        result_at(r, node->last)->next = at;
    else
        node->first = at;
    node->last = at;
    inflight->hint = at;
    return ANSWER_KEPT;
}

/* Records a wrong mark, once per instruction, up to LIES_TOLD; the hint is the result that
 * differs. */
static void note_lie(struct redundancy_core *r, const struct warp *warp,
                     const struct check_inflight *inflight, const u32 *words)
{
    const struct check_result *result = result_at(r, inflight->hint);
    for (u32 i = 0; i < r->lie_count; i++)
        if (r->lies[i].inst == result->inst)
            return;
    if (r->lie_count == LIES_TOLD)
        return;
    u32 at = 0;
    while (result->words[at] == words[at])
        at++;
    r->lies[r->lie_count++] = (struct check_lie){
        .block = warp->block->number,
        .inst = result->inst,
        .warps = {result->warp, warp->index},
        .values = {result->words[at], words[at]},
        .row = result->row,
        .at = (u8)at,
    };
}

/* The words of a vector operand's register, or of a mask or scalar operand. */
static const u32 *words_of(struct redundancy_core *r, const struct warp *warp, struct operand o,
                           u32 reg, u32 *count)
{
    const struct image *image = warp->exec->image;
    *count = r->warp_size;
    if (o.kind == OPERAND_VECTOR)
        return operand_rows(r, warp, o) + reg * r->warp_size;
    const bool mask = o.kind == OPERAND_MASK;
    const u32 first = mask ? o.index << (image->chunks - 1) : o.index;
    *count = mask ? image->chunks : o.count;
    for (u32 j = 0; j < *count; j++)
        r->scratch[j] = *scalar_word(warp, first + j);
    return r->scratch;
}

static bool is_kept(struct operand o)
{
    return o.kind == OPERAND_VECTOR || o.kind == OPERAND_MASK || o.kind == OPERAND_SCALAR;
}

/* Compares the address operands of a load. */
static enum check_answer compare_address(struct redundancy_core *r, const struct warp *warp,
                                         u32 inst, struct check_inflight *inflight)
{
    const struct inst *code = warp_inst(warp, inst);
    enum check_answer answer = ANSWER_SAME;
    u32 count;
    for (u32 k = 0; k < ARRAY_LEN(code->src); k++) {
        const u32 regs = code->src[k].kind == OPERAND_VECTOR ? code->src[k].count : 1;
        for (u32 j = 0; is_kept(code->src[k]) && j < regs; j++) {
            const u32 *words = words_of(r, warp, code->src[k], j, &count);
            const enum check_answer one =
                compare(r, warp, inflight, inst, CHECK_ADDRESS + 16 * k + j, words, count);
            if (one == ANSWER_DIFFERS)
                note_lie(r, warp, inflight, words);
            answer = MAX(answer, one);
        }
    }
    return answer;
}

/* Compares the results of an instruction; `lie`: a difference is a wrong mark. */
static enum check_answer compare_results(struct redundancy_core *r, const struct warp *warp,
                                         u32 inst, const struct dyninst *f, bool lie,
                                         struct check_inflight *inflight)
{
    const struct inst *code = warp_inst(warp, inst);
    enum check_answer answer = ANSWER_SAME;
    u32 count;
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++) {
        const struct operand o = code->dst[k];
        const u32 regs = o.kind == OPERAND_VECTOR ? o.count : 1;
        for (u32 j = 0; is_kept(o) && j < regs; j++) {
            const u32 *words = words_of(r, warp, o, j, &count);
            if (f && f->dst[k])
                words = f->dst[k] + j * r->warp_size;
            const enum check_answer one =
                compare(r, warp, inflight, inst, CHECK_RESULT + 16 * k + j, words, count);
            if (one == ANSWER_DIFFERS && lie)
                note_lie(r, warp, inflight, words);
            answer = MAX(answer, one);
        }
    }
    return answer;
}

static void count(struct redundancy_core *r, enum check_answer answer)
{
    struct redundancy_stats *stats = r->stats;
    stats->kept += answer == ANSWER_KEPT;
    stats->unchecked += answer == ANSWER_NO_ROOM;
    stats->checked += answer == ANSWER_SAME || answer == ANSWER_DIFFERS;
    stats->lies += answer == ANSWER_DIFFERS;
}

/* Whether the result of a load may change while the kernel runs. */
static bool may_race(const struct inst *code)
{
    return op_info[code->op].flags & OPF_LOAD && code->space != SPACE_PARAM &&
           code->space != SPACE_CONST;
}

/* ---- an instruction ---- */

static bool is_whole_barrier(const struct inst *code)
{
    enum {
        KEY_ARRIVE = 1 /* of OP_bar: does not wait */
    };
    if (code->op == OP_bar_whole)
        return true;
    return (code->op == OP_bar_popc || (code->op == OP_bar && code->key != KEY_ARRIVE)) &&
           code->src[1].kind == OPERAND_NONE;
}

/* Whether some lanes of the warp have exited, or all are about to. */
static bool is_exit(const struct redundancy_core *r, const struct warp *warp, u32 inst,
                    lane_set lanes)
{
    const struct inst *code = warp_inst(warp, inst);
    const bool exits = code->op == OP_exit || code->op == OP_end ||
                       (code->op == OP_ret && r->kinds[inst - r->first] == KIND_EFFECT);
    return warp->live != r->all || (exits && lanes == r->all);
}

static void pass_barrier(struct redundancy_core *r, struct redundancy_block *b,
                         struct check_warp *w, const struct inst *code, lane_set lanes)
{
    if (code->op != OP_bar_whole && !(lanes & 1))
        return; /* C3 */
    w->epoch++;
    move(r, b, w, lanes == r->all ? find_root(r, b, w->epoch) : 0);
    collapse_roots(r, b);
}

void check_before(struct redundancy_core *r, struct redundancy_block *b, struct warp *warp,
                  u32 inst, lane_set active, lane_set lanes, struct check_inflight *inflight)
{
    const struct inst *code = warp_inst(warp, inst);
    inflight->node = 0;
    const u32 index = inst - r->first;
    if (warp->index >= r->full || b->warps[warp->index].ended || index >= r->count)
        return;
    struct check_warp *w = &b->warps[warp->index];
    const bool branch = op_info[code->op].flags & OPF_BRANCH;
    if (w->node && active != r->all)
        move(r, b, w, 0);
    else if (w->node && w->branched)
        move(r, b, w, find_child(r, w->node, inst));
    w->branched = branch;
    if (is_whole_barrier(code))
        pass_barrier(r, b, w, code, lanes);
    else if (branch && is_exit(r, warp, inst, lanes))
        end_warp(r, b, w);
    if (!w->node || branch || !r->marked[index])
        return;
    *inflight = (struct check_inflight){w->node, w->hint};
    node_at(r, w->node)->here++;
    if (may_race(code) && compare_address(r, warp, inst, inflight) == ANSWER_DIFFERS) {
        count(r, ANSWER_DIFFERS);
        release(r, b, inflight->node);
        inflight->node = 0;
    }
    w->hint = inflight->hint;
}

void check_after(struct redundancy_core *r, struct redundancy_block *b, struct warp *warp, u32 inst,
                 const struct dyninst *f, struct check_inflight *inflight)
{
    if (!inflight->node)
        return;
    struct check_warp *w = &b->warps[warp->index];
    const bool races = may_race(warp_inst(warp, inst));
    enum check_answer answer = compare_results(r, warp, inst, f, !races, inflight);
    if (answer == ANSWER_DIFFERS && races) {
        r->stats->raced++;
        if (!w->ended)
            end_warp(r, b, w);
        answer = ANSWER_SAME;
    }
    count(r, answer);
    if (w->node == inflight->node)
        w->hint = inflight->hint;
    release(r, b, inflight->node);
    inflight->node = 0;
}

/* ---- blocks and launches ---- */

void check_block(struct redundancy_core *r, struct redundancy_block *b, bool started)
{
    if (!started) {
        for (u32 w = 0; w < r->full; w++)
            end_warp(r, b, &b->warps[w]);
        assert(!b->roots);
        return;
    }
    if (!b->warps)
        b->warps = checked(calloc(MAX(r->full, 1u), sizeof *b->warps));
    memset(b->warps, 0, r->full * sizeof *b->warps);
    for (u32 w = 0; w < r->full; w++)
        move(r, b, &b->warps[w], find_root(r, b, 0));
}

void check_launch(struct redundancy_core *r, bool begins)
{
    const struct exec *exec = r->exec;
    free(r->marked);
    r->marked = NULL;
    r->lie_count = 0;
    if (!begins || !r->params->check || !exec->marks)
        return;
    const u32 size = sizeof(struct check_result) + r->warp_size * (u32)sizeof(u32);
    if (r->results.base && r->results.size != size)
        check_destroy(r);
    if (!r->results.base) {
        cells_create(&r->results, size, r->params->results);
        cells_create(&r->nodes, sizeof(struct check_node), r->params->results);
        r->inflight = checked(calloc(CORE_INFLIGHT, sizeof *r->inflight));
    }
    cells_reset(&r->results);
    cells_reset(&r->nodes);
    r->marked = checked(calloc(MAX(r->count, 1u), 1));
    for (u32 i = 0; i < r->count; i++)
        r->marked[i] = redundancy_holds(exec->marks[r->first + i], exec->dims, r->warp_size);
}

void check_destroy(struct redundancy_core *r)
{
    cells_destroy(&r->results);
    cells_destroy(&r->nodes);
    free(r->inflight);
    free(r->marked);
    r->inflight = NULL;
    r->marked = NULL;
}

/* ---- the report ---- */

/* "lane 3 of register 1 of result 0" */
static void name_place(const struct exec *exec, const struct check_lie *lie, char *text,
                       size_t size)
{
    const struct inst *code = &exec->image->program->insts[lie->inst];
    const bool result = lie->row >= CHECK_RESULT;
    const u32 k = lie->row % CHECK_RESULT / 16, reg = lie->row % 16;
    const struct operand o = result ? code->dst[k] : code->src[k];
    const char *what = result ? "result" : "operand";
    const u32 differ = lie->values[0] ^ lie->values[1];
    if (o.kind == OPERAND_VECTOR)
        snprintf(text, size, "lane %u of register %u of %s %u", lie->at, reg, what, k);
    else if (o.kind == OPERAND_MASK)
        snprintf(text, size, "lane %u of %s %u, a mask",
                 lie->at * LANES + (u32)__builtin_ctz(differ), what, k);
    else
        snprintf(text, size, "scalar %u of %s %u", lie->at, what, k);
}

static void tell(const struct exec *exec, const struct check_lie *lie, char *text, size_t size)
{
    char place[768], where[64];
    const u64 x = lie->block % exec->grid[0], rest = lie->block / exec->grid[0];
    fault_place_text(exec, lie->inst, place, sizeof place);
    name_place(exec, lie, where, sizeof where);
    const size_t used = strlen(text);
    snprintf(text + used, size - used,
             "\n  %s, marked %s\n    in block (%u,%u,%u) %s is 0x%x in warp %u and 0x%x in warp %u",
             place, redundancy_name(exec->marks[lie->inst]), (u32)x, (u32)(rest % exec->grid[1]),
             (u32)(rest / exec->grid[1]), where, lie->values[0], lie->warps[0], lie->values[1],
             lie->warps[1]);
}

void check_report(struct redundancy_core *const *states, u32 count, struct exec *exec)
{
    char text[3072] = "";
    u64 lies = 0;
    u32 told = 0, inst = 0;
    for (u32 i = 0; i < count; i++) {
        lies += states[i]->lie_count;
        for (u32 j = 0; j < states[i]->lie_count && told < LIES_TOLD; j++, told++) {
            inst = told ? inst : states[i]->lies[j].inst;
            tell(exec, &states[i]->lies[j], text, sizeof text);
        }
    }
    if (lies)
        fault_check(exec, inst,
                    "warps of a block differ in instructions that are marked as redundant, in "
                    "kernel %s; the first (redundancy.lies counts all):%s",
                    exec->kernel->name, text);
}
