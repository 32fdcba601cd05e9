/*
 * Dynamic instructions that take effect at issue (F3 of dyninst.h), and those that are executed in
 * the registers at issue because they read more than their operands: their results then go into the
 * record, and the registers are restored.
 */
#include "exec/dyninst_parts.h"
#include "exec/reformed.h"
#include "exec/register_file.h"
#include "exec/scalars.h"
#include "exec/texture.h"

u32 warp_next_settled(struct warp *warp)
{
    const struct image *image = warp->exec->image;
    if (!warp_settle(warp))
        return NO_INST;
    const u32 pc = warp_path(warp)->pc;
    if (warp->view)
        return pc;
    if (!image->program->traits.explicit_exec)
        warp->view = image->views;
    else if (!wave_set_mode(warp, pc))
        return NO_INST;
    return pc;
}

void dyninst_control(struct dyninst *f)
{
    struct warp *warp = f->warp;
    f->kind = DYNINST_CONTROL;
    f->dst[0] = f->dst[1] = NULL;
    if (warp->exec->image->program->traits.explicit_exec)
        wave_control(warp, f->inst);
    else
        warp_control(warp, f->inst, f->lanes);
    f->faulted = warp->exec->stopped;
}

/* ---- registers that are not in their rows ---- */

enum {
    MOST_KEPT = 32 /* registers; further ones that an instruction reads are made whole */
};

struct kept {
    u32 count;
    u32 regs[MOST_KEPT];
    u32 rows[MOST_KEPT][MAX_LANES]; /* original contents */
};

static void make_whole(const struct dyninst *f, u32 reg)
{
    const struct register_view *view = f->warp->registers;
    u32 row[MAX_LANES];
    view->read(view, f->warp, reg, row);
    memcpy(vector_row(f->warp, &f->warp->chunks[0], reg), row,
           f->warp->exec->image->warp_size * sizeof *row);
    view->whole(view, f->warp, reg);
}

static void lend(const struct dyninst *f, u32 reg, struct kept *kept)
{
    const struct register_view *view = f->warp->registers;
    const size_t bytes = f->warp->exec->image->warp_size * sizeof(u32);
    u32 *own = vector_row(f->warp, &f->warp->chunks[0], reg), row[MAX_LANES];
    for (u32 i = 0; i < kept->count; i++)
        if (kept->regs[i] == reg)
            return;
    if (kept->count == MOST_KEPT) {
        make_whole(f, reg);
        return;
    }
    memcpy(kept->rows[kept->count], own, bytes);
    kept->regs[kept->count++] = reg;
    view->read(view, f->warp, reg, row);
    memcpy(own, row, bytes);
}

/* Restores the rows, or makes their current contents permanent (R3 of warp.h). */
static void give_back(const struct dyninst *f, const struct kept *kept, bool stays)
{
    const struct register_view *view = f->warp->registers;
    for (u32 i = 0; i < kept->count; i++)
        if (stays)
            view->whole(view, f->warp, kept->regs[i]);
        else
            memcpy(vector_row(f->warp, &f->warp->chunks[0], kept->regs[i]), kept->rows[i],
                   f->warp->exec->image->warp_size * sizeof(u32));
}

static COLD void act_viewed(struct dyninst *f, void (*act)(struct dyninst *f))
{
    const struct register_view *view = f->warp->registers;
    const bool crosses = op_info[f->code->op].flags & OPF_CROSS;
    const struct inst *code = f->code;
    struct kept kept;
    kept.count = 0;
    for (unsigned k = 0; k < ARRAY_LEN(code->dst) && f->plan->kind == PLAN_WHOLE; k++)
        for (u32 j = 0; code->dst[k].kind == OPERAND_VECTOR && j < code->dst[k].count; j++)
            if (register_elsewhere(view, code->dst[k].index + j))
                make_whole(f, code->dst[k].index + j);
    for (unsigned k = 0; k < ARRAY_LEN(code->src); k++)
        for (u32 j = 0; code->src[k].kind == OPERAND_VECTOR && j < code->src[k].count; j++)
            if (register_elsewhere(view, code->src[k].index + j))
                lend(f, code->src[k].index + j, &kept);
    act(f);
    /* lanes that wait for others read their registers when those arrive */
    give_back(f, &kept, crosses && f->kind == DYNINST_WAITS);
}

/* In the frame of a warp whose registers are mapped to other rows. */
static COLD void act_mapped(struct dyninst *f, void (*act)(struct dyninst *f))
{
    struct warp *const warp = f->warp;
    bool vectors = false;
    for (unsigned k = 0; k < ARRAY_LEN(f->code->src); k++)
        vectors |= f->code->src[k].kind == OPERAND_VECTOR;
    for (unsigned k = 0; k < ARRAY_LEN(f->code->dst); k++)
        vectors |= f->code->dst[k].kind == OPERAND_VECTOR;
    const bool opened = vectors && register_open(warp);
    act(f);
    if (opened)
        register_close(warp);
}

void dyninst_viewed(struct dyninst *f, void (*act)(struct dyninst *f))
{
    if (UNLIKELY(f->warp->map))
        act_mapped(f, act);
    else if (UNLIKELY(f->warp->registers))
        act_viewed(f, act);
    else
        act(f);
}

/* ---- execution in the registers ---- */

/* Exchanges words of a vector result in these lanes. */
static void exchange_rows(struct dyninst *f, unsigned k, lane_set lanes)
{
    const u32 size = f->warp->exec->image->warp_size;
    u32 *own = dyninst_target(f, f->warp, k), *kept = f->dst[k];
    for (u32 row = 0; row < f->dst_rows[k] * size; row += size)
        for (lane_set set = lanes; set; set &= set - 1) {
            const u32 at = row + first_lane(set), word = own[at];
            own[at] = kept[at];
            kept[at] = word;
        }
}

static void exchange_mask(struct dyninst *f, unsigned k, lane_set lanes)
{
    u32 *own = dyninst_target(f, f->warp, k), *kept = f->dst[k];
    for (u32 c = 0; c < f->warp->exec->image->chunks; c++) {
        const u32 differ = (own[LANES * c] ^ kept[c]) & lanes_of_chunk(lanes, c);
        own[LANES * c] ^= differ;
        kept[c] ^= differ;
    }
}

static void exchange_scalars(struct dyninst *f, unsigned k)
{
    for (u32 j = 0; j < f->plan->dst_words[k]; j++) {
        u32 *own = scalar_word(f->warp, f->to[k] + j), word = *own;
        *own = f->dst[k][j];
        f->dst[k][j] = word;
    }
}

/* Copies the contents of the result registers into the record. */
static void keep_results(struct dyninst *f)
{
    const struct image *image = f->warp->exec->image;
    for (unsigned k = 0; k < 2; k++) {
        if (!f->dst[k])
            continue;
        const u32 *own = dyninst_target(f, f->warp, k);
        if (f->dst_rows[k])
            memcpy(f->dst[k], own, f->dst_rows[k] * image->warp_size * sizeof *own);
        else if (f->code->dst[k].kind == OPERAND_MASK)
            for (u32 c = 0; c < image->chunks; c++)
                f->dst[k][c] = own[LANES * c];
        else
            for (u32 j = 0; j < f->plan->dst_words[k]; j++)
                f->dst[k][j] = *scalar_word(f->warp, f->to[k] + j);
    }
}

/* Exchanges them with the results computed since, in these lanes. */
static void exchange_results(struct dyninst *f, lane_set lanes)
{
    for (unsigned k = 0; k < 2; k++) {
        if (!f->dst[k])
            continue;
        if (f->dst_rows[k])
            exchange_rows(f, k, lanes);
        else if (f->code->dst[k].kind == OPERAND_MASK)
            exchange_mask(f, k, lanes);
        else
            exchange_scalars(f, k);
    }
}

/* ---- the whole warp ---- */

/*
 * Lanes that must wait, and all lanes that this instruction releases, get their results at once; a
 * group that is complete by itself has them in the record.
 */
static enum outcome_step cross(struct dyninst *f)
{
    keep_results(f);
    const enum outcome_step outcome = cross_step(f->warp, f->inst, f->lanes);
    if (outcome == STEP_NEXT) {
        exchange_results(f, f->lanes);
        f->kind = DYNINST_COMPUTE;
    }
    return outcome;
}

void dyninst_whole(struct dyninst *f)
{
    struct warp *warp = f->warp;
    const u16 op = f->code->op;
    enum outcome_step outcome = STEP_NEXT;
    f->kind = DYNINST_WAITS;
    warp_path(warp)->pc = f->inst;
    if (op == OP_bar_whole)
        outcome = barrier_step(warp, f->inst, warp->live | warp->active);
    else if (!f->lanes)
        f->kind = DYNINST_COMPUTE;
    else if (op == OP_syscall)
        outcome = system_step(warp, f->inst, f->lanes) ? STEP_NEXT : STEP_STOP;
    else if (op == OP_bar || op == OP_bar_popc)
        outcome = barrier_step(warp, f->inst, f->lanes);
    else
        outcome = cross(f);
    if (outcome == STEP_NEXT)
        warp_path(warp)->pc = f->inst + 1;
    f->faulted = outcome == STEP_STOP;
}

/* ---- the rest ---- */

/* The steps below write to the record directly. */
static void read_special_of_homes(const struct dyninst *f, struct step *step)
{
    lane_set group;
    for (lane_set left = f->lanes; left; left &= ~group) {
        struct warp *home = warp_home(f->warp, first_lane(left));
        group = warp_same_home(f->warp, left);
        dyninst_step(f, home, step);
        for (u32 c = 0; c < home->exec->image->chunks; c++) {
            struct chunk *chunk = &home->chunks[c];
            const u32 mask = lanes_of_chunk(group, c);
            chunk_narrow(chunk, mask);
            special_step(home, f->inst, step, chunk, mask);
            chunk_widen(chunk);
        }
    }
}

static void read_special(struct dyninst *f)
{
    struct step step = *f->step;
    memset(f->src, 0, sizeof f->src); /* there are none */
    if (UNLIKELY(f->warp->reformed != NULL)) {
        read_special_of_homes(f, &step);
        return;
    }
    dyninst_step(f, f->warp, &step);
    for (u32 c = 0; c < f->warp->exec->image->chunks; c++) {
        special_step(f->warp, f->inst, &step, &f->warp->chunks[c], LANES_FULL);
    }
}

static void ask_space(struct dyninst *f)
{
    struct step step;
    for (u32 c = 0; c < f->warp->exec->image->chunks; c++) {
        step = *f->step;
        if (!f->dst[0])
            continue;
        f->dst[0][c] = 0;
        step.select[SLOT_DST] = 0;
        step.row[SLOT_DST] = (uintptr_t)&f->dst[0][c];
        isspace_step(f->warp, &step, &f->warp->chunks[c], f->code, lanes_of_chunk(f->lanes, c));
    }
}

static void ask_texture(struct dyninst *f)
{
    struct step step = *f->step;
    step.select[SLOT_DST] = 0;
    for (u32 c = 0; f->dst[0] && c < f->warp->exec->image->chunks; c++) {
        step.row[SLOT_DST] = (uintptr_t)&f->dst[0][LANES * c];
        texture_query_step(f->warp, &step, &f->warp->chunks[c], f->code,
                           lanes_of_chunk(f->lanes, c));
    }
}

static bool move_vectors(struct dyninst *f)
{
    const u32 lanes = f->warp->exec->image->warp_size;
    u32 from;
    if (!moved_vectors(f->warp, f->inst, &from, &f->to[0]))
        return false;
    const u32 *row = vector_row(f->warp, &f->warp->chunks[0], from);
    if (f->code->op == OP_movrel_dst)
        row = chunk_row(&f->warp->chunks[0], f->step, 0);
    const bool scalar = f->code->op == OP_movrel_dst && f->code->src[0].kind != OPERAND_VECTOR;
    for (u32 lane = 0; lane < lanes; lane++)
        f->dst[0][lane] = scalar ? scalar_read(f->warp, f->code->src[0], 0) : row[lane];
    return true;
}

static bool run_in_place(struct dyninst *f)
{
    struct warp *warp = f->warp;
    struct step *step = f->step;
    bool going = true;
    keep_results(f);
    switch (f->code->op) {
    case OP_writelane:
        f->writes = 1ull << scalar_read(warp, f->code->src[1], 0) % warp->exec->image->warp_size;
        lane_scalar_step(warp, f->inst, step);
        break;
    case OP_readlane:
    case OP_readfirstlane:
        lane_scalar_step(warp, f->inst, step);
        break;
    case OP_swizzle:
        swizzle_step(warp, f->inst, step, f->lanes);
        break;
    default:
        going = scalar_step(warp, f->inst);
    }
    exchange_results(f, f->writes);
    return going;
}

/* Instructions without results: sleeps, fences, unsupported ones. */
static bool run_plain(struct dyninst *f)
{
    bool going = true;
    for (u32 c = 0; c < f->warp->exec->image->chunks && going; c++)
        if (lanes_of_chunk(f->lanes, c))
            going = other_step(f->warp, f->inst, f->step, &f->warp->chunks[c],
                               lanes_of_chunk(f->lanes, c));
    return going;
}

void dyninst_other(struct dyninst *f)
{
    bool going = true;
    switch (f->code->op) {
    case OP_sreg:
        read_special(f);
        break;
    case OP_isspacep:
        ask_space(f);
        break;
    case OP_txq:
        ask_texture(f);
        break;
    case OP_movrel_src:
    case OP_movrel_dst:
    case OP_movrel_both:
        going = move_vectors(f);
        break;
    case OP_smovrel_dst_b32:
    case OP_smovrel_dst_b64:
        going = moved_scalar(f->warp, f->inst, &f->to[0]) && run_in_place(f);
        break;
    case OP_writelane:
    case OP_swizzle:
        going = run_in_place(f);
        break;
    default:
        going = op_info[f->code->op].flags & OPF_SCALAR ? run_in_place(f) : run_plain(f);
    }
    f->faulted = !going;
}
