/*
 * Dynamic instructions: issue and commit, and computation by lane and scalar functions. See
 * dyninst.h.
 *
 * The record holds, in this order: a row of warp_size words for each vector register that is read,
 * then for each that is written. Scalar sources of lane functions are spread to rows; those of
 * scalar functions and descriptors take 64 words, laid out like scalars starting at an even one (S3
 * of image.h), so that the same functions read them. Constants are not copied.
 *
 * Lane functions compute all lanes, whichever are active: the commit selects those that count.
 */
#include "base/hot.h"
#include "exec/dyninst_execute.h"
#include "exec/dyninst_parts.h"
#include "exec/reformed.h"
#include "exec/register_file.h"
#include "exec/scalars.h"

typedef u32 four __attribute__((vector_size(16), aligned(16), may_alias));

static const u32 all_lanes[LANES] __attribute__((aligned(64))) = {
    ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
    ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};

/* Copies a register, 32 lanes `rows` times. A call would cost more than wider moves save. */
static inline void copy_rows(u32 *to, const u32 *from, u32 rows)
{
    do {
        const four *const x = (const four *)from;
        four *const y = (four *)to;
        const four a = x[0], b = x[1], c = x[2], d = x[3];
        const four e = x[4], f = x[5], g = x[6], h = x[7];
        y[0] = a, y[1] = b, y[2] = c, y[3] = d;
        y[4] = e, y[5] = f, y[6] = g, y[7] = h;
        to += LANES;
        from += LANES;
    } while (--rows);
}

/* ---- operands ---- */

static u32 *spread(u32 *to, const struct warp *warp, struct operand o, u32 warp_size)
{
    for (u32 j = 0; j < o.count; j++, to += warp_size) {
        const four value = (four){} + scalar_read(warp, o, j);
        for (u32 i = 0; i < warp_size; i += 4)
            *(four *)(to + i) = value;
    }
    return to;
}

/* A scalar source: spread to every lane for a lane function, otherwise laid out like scalars. */
static u32 *take_scalar(const struct dyninst *f, u32 *next, struct operand o)
{
    if (op_info[f->code->op].flags & OPF_LANE)
        return spread(next, f->warp, o, f->warp->exec->image->warp_size);
    for (u32 j = 0; j < MIN(o.count, 4u); j++)
        next[j / 2 + LANES * (j & 1)] = scalar_read(f->warp, o, j);
    return next + DYNINST_SCALAR_WORDS;
}

/* Takes masks and scalars among the sources. */
static u32 *take_others(struct dyninst *f, u32 *next)
{
    const u32 chunks = f->warp->exec->image->chunks;
    for (u32 set = f->plan->masks; set; set &= set - 1) {
        const unsigned k = first_lane(set);
        for (u32 c = 0; c < chunks; c++)
            f->masks[k][c] = f->src[k][LANES * c];
        f->src[k] = f->masks[k];
    }
    for (u32 set = f->plan->scalars; set; set &= set - 1) {
        const unsigned k = first_lane(set);
        f->src[k] = next;
        next = take_scalar(f, next, f->code->src[k]);
    }
    return next;
}

/* The addresses of the sources, as in chunk_row. */
static inline void place_registers(const struct dyninst *f, const u32 **src)
{
    typedef u64 pair __attribute__((vector_size(16), aligned(8), may_alias));
    const struct step *step = f->step;
    const pair base = (pair){} + (uintptr_t)f->warp->chunks[0].base;
    for (unsigned k = 0; k < 4; k += 2)
        *(pair *)&src[k] = (*(const pair *)&step->select[k] & base) + *(const pair *)&step->row[k];
}

/* Reads registers that are not in their rows. */
static __attribute__((noinline)) void view_sources(const struct dyninst *f,
                                                   const struct register_view *view)
{
    const u32 lanes = f->warp->exec->image->warp_size;
    for (u32 set = f->plan->vectors; set; set &= set - 1) {
        const unsigned k = (unsigned)__builtin_ctz(set);
        for (u32 j = 0; j < f->src_rows[k]; j++)
            if (register_elsewhere(view, f->code->src[k].index + j))
                view->read(view, f->warp, f->code->src[k].index + j, f->src[k] + j * lanes);
    }
}

/* Copies the sources; returns the next free place in the record. */
static inline u32 *take_sources(struct dyninst *f)
{
    const struct dyninst_plan *plan = f->plan;
    const u32 chunks = f->warp->exec->image->chunks;
    u32 *next = f->rows;
    place_registers(f, (const u32 **)f->src);
    memcpy(f->src_rows, plan->src_rows, sizeof f->src_rows);
    for (u32 set = plan->vectors; set; set &= set - 1) {
        const unsigned k = (unsigned)__builtin_ctz(set);
        const u32 rows = plan->src_rows[k] * chunks;
        copy_rows(next, f->src[k], rows);
        f->src[k] = next;
        next += LANES * rows;
    }
    return UNLIKELY(plan->masks | plan->scalars) ? take_others(f, next) : next;
}

/* Places of the results. Scalars and masks are in the order of inst_writes. */
static inline void place_results(struct dyninst *f, u32 *next)
{
    const struct dyninst_plan *plan = f->plan;
    memcpy(f->dst_rows, plan->dst_rows, sizeof f->dst_rows);
    f->to[0] = f->code->dst[0].index;
    if (LIKELY(plan->plain)) {
        f->dst[0] = next;
        f->dst[1] = NULL;
        return;
    }
    const u32 lanes = f->warp->exec->image->warp_size;
    f->to[1] = f->code->dst[1].index;
    for (unsigned k = 0; k < 2; k++) {
        const u32 rows = plan->dst_rows[k];
        u32 *scalars = f->scalars + (k ? plan->dst_words[0] : 0);
        f->dst[k] = rows ? next : plan->dst_words[k] ? scalars : NULL;
        next += rows * lanes;
    }
}

u32 dyninst_read_source(const struct dyninst *f, u32 k, u32 *to)
{
    const struct operand o = f->code->src[k];
    const struct image *image = f->warp->exec->image;
    const struct register_view *view = f->warp->registers;
    const u32 words = o.count * image->warp_size;
    const u32 *src[4];
    place_registers(f, src);
    if (f->plan->masks >> k & 1) {
        for (u32 c = 0; c < MAX_CHUNKS; c++)
            to[c] = c < image->chunks ? src[k][LANES * c] : 0;
        return MAX_CHUNKS;
    }
    if (f->plan->scalars >> k & 1) { /* `to` need not be aligned as spread() wants it */
        for (u32 i = 0; i < words; i++)
            to[i] = scalar_read(f->warp, o, i / image->warp_size);
        return words;
    }
    memcpy(to, src[k], words * sizeof *to);
    for (u32 j = 0; UNLIKELY(view) && f->plan->vectors >> k & 1 && j < o.count; j++)
        if (register_elsewhere(view, o.index + j))
            view->read(view, f->warp, o.index + j, to + j * image->warp_size);
    return words;
}

/* ---- lane functions ---- */

/* Pointers of the other chunk: masks are `apart` words apart. */
static void place_other(const struct dyninst *f, struct lanes *l, u32 apart)
{
    for (unsigned k = 0; k < 4; k++)
        if (l->src[k])
            l->src[k] += f->plan->masks >> k & 1 ? apart : LANES;
    for (unsigned k = 0; k < 2; k++)
        if (f->dst[k])
            l->dst[k] = f->dst[k] + (f->dst_rows[k] ? LANES : 1);
}

/* With explicit EXEC, a mask result is 0 in other lanes, and EXEC itself may be a result. */
static void finish_masks(struct dyninst *f)
{
    const unsigned k = f->code->dst[1].kind == OPERAND_MASK;
    assert(f->dst[k]);
    u32 *exec = f->dst[k] + MAX_CHUNKS;
    for (u32 c = 0; c < MAX_CHUNKS; c++) {
        f->dst[k][c] &= lanes_of_chunk(f->active, c);
        if (f->code->mods & MOD_EXEC)
            exec[c] = f->dst[k][c];
    }
}

static inline void call_lanes(struct dyninst *f, struct lanes *l, u32 apart)
{
    if (LIKELY(f->warp->exec->image->chunks == 1)) {
        if (LIKELY(f->lanes))
            f->step->fn(l);
        return;
    }
    memset(f->scalars, 0, 2 * MAX_CHUNKS * sizeof *f->scalars);
    if (lanes_of_chunk(f->lanes, 0))
        f->step->fn(l);
    place_other(f, l, apart);
    if (lanes_of_chunk(f->lanes, 1))
        f->step->fn(l);
    if ((f->step->shape & SHAPE_KIND) == SHAPE_MASKS)
        finish_masks(f);
}

static inline struct lanes lanes_of(const struct dyninst *f)
{
    return (struct lanes){.inst = f->code,
                          .mask = LANES_FULL,
                          .stride = f->warp->exec->image->warp_size,
                          .lane_mask = all_lanes};
}

/* From the record, where masks are side by side. */
static void compute_lanes(struct dyninst *f)
{
    struct lanes l = lanes_of(f);
    for (unsigned k = 0; k < 4; k++)
        l.src[k] = f->src[k];
    for (unsigned k = 0; k < 2; k++)
        l.dst[k] = f->dst[k];
    call_lanes(f, &l, 1);
}

/* From the registers (S3 of image.h); only scalar sources must be spread. */
static inline void run_lanes(struct dyninst *f)
{
    struct lanes l = lanes_of(f);
    u32 *next = f->rows;
    place_registers(f, l.src);
    for (u32 set = f->plan->scalars; UNLIKELY(set); set &= set - 1) {
        l.src[first_lane(set)] = next;
        next = take_scalar(f, next, f->code->src[first_lane(set)]);
    }
    place_results(f, next);
    l.dst[0] = f->dst[0];
    l.dst[1] = f->dst[1];
    call_lanes(f, &l, LANES);
}

/* ---- scalar functions ---- */

/* Scalar functions write the halves of a pair LANES words apart. */
static inline void call_scalar(struct dyninst *f, struct lanes *l)
{
    u32 results[2][LANES + 1], *next = f->scalars;
    l->inst = f->code;
    l->dst[0] = results[0];
    l->dst[1] = results[1];
    f->step->fn(l);
    for (unsigned k = 0; k < 2; k++)
        for (u32 j = 0; j < f->plan->dst_words[k]; j++)
            *next++ = results[k][LANES * j];
}

/* From the record. */
static void compute_scalar(struct dyninst *f)
{
    struct lanes l = {.src = {f->src[0], f->src[1], f->src[2], f->src[3]}};
    call_scalar(f, &l);
    if (f->code->mods & MOD_EXEC) { /* left in place of the second source */
        u32 *const exec = f->scalars + f->plan->dst_words[0] + f->plan->dst_words[1];
        exec[0] = f->src[1][0];
        exec[1] = f->src[1][LANES];
    }
}

/* From the registers. False: it would write there, too. */
static bool run_scalar(struct dyninst *f)
{
    struct lanes l;
    if (f->code->mods & MOD_EXEC)
        return false;
    place_registers(f, l.src);
    place_results(f, f->rows);
    call_scalar(f, &l);
    return true;
}

/* ---- issue ---- */

/* For dyninst_issue: through the warp's view. */
static inline u32 *read_sources(struct dyninst *f)
{
    u32 *next = take_sources(f);
    if (UNLIKELY(f->warp->registers))
        view_sources(f, f->warp->registers);
    return next;
}

static void issue_rest(struct dyninst *f)
{
    struct warp *warp = f->warp;
    switch (f->plan->kind) {
    case PLAN_CONTROL:
        dyninst_viewed(f, dyninst_control);
        break;
    case PLAN_WHOLE:
        place_results(f, f->rows);
        dyninst_viewed(f, dyninst_whole);
        break;
    case PLAN_SCALAR:
        place_results(f, read_sources(f));
        f->work = WORK_SCALAR;
        break;
    case PLAN_ACCESS:
        place_results(f, read_sources(f));
        dyninst_locate(f);
        break;
    default:
        place_results(f, f->rows);
        dyninst_viewed(f, dyninst_other);
    }
    /* The first two determine themselves where the path continues. */
    if (f->plan->kind != PLAN_CONTROL && f->plan->kind != PLAN_WHOLE)
        warp_path(warp)->pc = f->inst + 1;
}

static inline void issue(struct dyninst *f, struct warp *warp, u32 inst)
{
    dyninst_begin(f, warp, inst);
    warp->instructions++;
    if (UNLIKELY(f->step->shape & SHAPE_DERIVED))
        scalar_derive(warp);
    if (UNLIKELY(f->plan->kind != PLAN_LANES)) {
        issue_rest(f);
        return;
    }
    place_results(f, read_sources(f));
    f->work = WORK_LANES;
    warp_path(warp)->pc = inst + 1;
}

void dyninst_issue(struct dyninst *f, struct warp *warp, u32 inst)
{
    if (LIKELY(!warp->reformed)) {
        issue(f, warp, inst);
        return;
    }
    reformed_stage(warp, &warp->view->insts[inst]);
    issue(f, warp, inst);
    reformed_unstage(warp);
    reformed_issued(f);
}

/* For an access with evenly spaced lanes: no source but the data of a store is needed, and a load
 * has its results in the record's first rows, which are likely to be in the host's cache. What
 * dyninst_unfold needs comes after them. */
static inline void place_folded(struct dyninst *f)
{
    if (f->stores) {
        f->src[1] = chunk_row(&f->warp->chunks[0], f->step, 1);
        if (f->plan->vectors >> 1 & 1) {
            copy_rows(f->rows, f->src[1], 1);
            f->src[1] = f->rows;
        }
    }
    place_results(f, f->rows);
}

static void start(struct dyninst *f)
{
    if (UNLIKELY(f->step->shape & SHAPE_DERIVED))
        scalar_derive(f->warp);
    if (LIKELY(f->plan->kind == PLAN_LANES)) {
        run_lanes(f);
    } else if (f->plan->folds && dyninst_fold(f)) {
        place_folded(f);
    } else if (f->plan->kind == PLAN_ACCESS) {
        place_results(f, take_sources(f));
        if (!(f->plan->folds && dyninst_list(f)) &&
            !(f->plan->folds_buffer && dyninst_fold_buffer(f)) &&
            !(f->plan->folds_shared && dyninst_fold_shared(f)))
            dyninst_locate(f);
    } else if (f->plan->kind != PLAN_SCALAR || !run_scalar(f)) {
        issue_rest(f);
        return;
    }
    warp_path(f->warp)->pc = f->inst + 1;
}

void dyninst_start(struct dyninst *f, struct warp *warp, u32 inst)
{
    dyninst_begin(f, warp, inst);
    warp->instructions++;
    start(f);
}

/* ---- directly in the registers (F7): 32 lanes ---- */

void dyninst_execute_some(struct dyninst *f, struct chunk *chunk)
{
    if (!f->lanes)
        return;
    chunk_narrow(chunk, (u32)f->lanes);
    chunk_place(chunk, f->step);
    f->step->fn(&chunk->lanes);
    chunk_widen(chunk);
}

/* A special register. */
static void execute_special(struct dyninst *f, struct chunk *chunk)
{
    const u32 mask = (u32)f->lanes;
    f->committed = true;
    if (!mask)
        return;
    chunk_narrow(chunk, mask);
    if (!f->warp->exec->image->loops->step(chunk, f->code, f->step))
        special_step(f->warp, f->inst, f->step, chunk, mask);
    chunk_widen(chunk);
}

/* An access of words. */
PART_OF void execute_access(struct dyninst *f)
{
    if (dyninst_fold(f)) {
        place_folded(f);
        if (f->loads && f->lanes != LANES_FULL) /* a parameter: the row of all lanes is loaded */
            return;
    } else {
        place_results(f, take_sources(f));
        if (!dyninst_list(f)) {
            dyninst_locate(f);
            return;
        }
    }
    if (f->loads)
        f->dst[0] = chunk_row(&f->warp->chunks[0], f->step, SLOT_DST);
    f->committed = true;
}

HOT void dyninst_execute_rest(struct dyninst *f)
{
    if (f->plan->folds) {
        execute_access(f);
    } else if (f->code->op == OP_sreg && !f->plan->two) {
        execute_special(f, &f->warp->chunks[0]);
    } else {
        start(f);
        return;
    }
    warp_path(f->warp)->pc = f->inst + 1;
}

void dyninst_advance(struct warp *warp, u32 inst)
{
    warp->instructions++;
    warp_path(warp)->pc = inst + 1;
}

/* ---- repetitions ---- */

bool dyninst_repeats(const struct dyninst *f)
{
    return f->kind == DYNINST_COMPUTE && !f->homes && !f->faulted &&
           (f->plan->kind == PLAN_LANES || f->plan->kind == PLAN_OTHER);
}

/* After dyninst_begin, with lanes that are set. */
static void read_again(struct dyninst *f)
{
    if (UNLIKELY(f->step->shape & SHAPE_DERIVED))
        scalar_derive(f->warp);
    if (f->plan->kind == PLAN_LANES) {
        place_results(f, read_sources(f));
        f->work = WORK_LANES;
        return;
    }
    place_results(f, f->rows);
    dyninst_viewed(f, dyninst_other);
}

void dyninst_again(struct dyninst *f, const struct dyninst *of)
{
    assert(dyninst_repeats(of));
    dyninst_begin(f, of->warp, of->inst);
    f->active = of->active;
    f->lanes = f->writes = of->lanes;
    read_again(f);
}

void dyninst_preview(struct dyninst *f, struct warp *warp, u32 inst, lane_set lanes)
{
    dyninst_begin(f, warp, inst);
    assert(dyninst_repeats(f));
    f->lanes &= lanes;
    f->writes = f->lanes;
    read_again(f);
}

/* ---- copies ---- */

/* A pointer into the record, adjusted to the copy. */
static u32 *moved(const struct dyninst *to, const struct dyninst *from, u32 *p, u32 words)
{
    if ((uintptr_t)p - (uintptr_t)from < sizeof *from)
        return (u32 *)((u8 *)to + ((u8 *)p - (const u8 *)from));
    if ((uintptr_t)p - (uintptr_t)from->rows < words * sizeof(u32))
        return to->rows + (p - from->rows);
    return p;
}

void dyninst_copy(struct dyninst *to, const struct dyninst *from, u32 words)
{
    u32 *const rows = to->rows;
    *to = *from;
    to->rows = rows;
    memcpy(rows, from->rows, words * sizeof(u32));
    for (unsigned k = 0; k < 4; k++)
        to->src[k] = moved(to, from, from->src[k], words);
    for (unsigned k = 0; k < 2; k++)
        to->dst[k] = moved(to, from, from->dst[k], words);
    if (from->kind == DYNINST_ACCESS) {
        to->kind = DYNINST_COMPUTE;
        to->work = WORK_NONE;
    }
}

bool dyninst_same(const struct dyninst *f, const struct dyninst *copy)
{
    assert(f->kind != DYNINST_ACCESS || !f->strided);
    const u32 lanes = f->warp->exec->image->warp_size;
    if (f->kind == DYNINST_ACCESS) {
        for (lane_set set = f->global | f->shared | f->local; set; set &= set - 1)
            if (f->address[first_lane(set)] != copy->address[first_lane(set)])
                return false;
        return true;
    }
    for (unsigned k = 0; k < 2; k++) {
        for (u32 at = 0; at < f->dst_rows[k] * lanes; at++)
            if (f->writes >> at % lanes & 1 && f->dst[k][at] != copy->dst[k][at])
                return false;
        if (f->plan->dst_words[k] &&
            memcmp(f->dst[k], copy->dst[k], f->plan->dst_words[k] * sizeof(u32)))
            return false;
    }
    return true;
}

/* ---- lanes of several warps ---- */

static u32 home_mask(const struct dyninst *f, struct operand o, u32 c)
{
    const struct image *image = f->warp->exec->image;
    u32 mask = 0;
    for (u32 i = 0; i < LANES; i++) {
        const struct warp *home = f->homes[LANES * c + i];
        if (!home)
            continue;
        const u32 scalar = (o.index << (image->chunks - 1)) + c;
        mask |= *(u32 *)(home->chunks[0].base + scalar_offset(image, scalar)) & 1u << i;
    }
    return mask;
}

static u32 home_word(const struct warp *home, u32 reg, u32 lane)
{
    u32 row[MAX_LANES];
    if (LIKELY(!home->registers || !register_elsewhere(home->registers, reg)))
        return vector_row(home, &home->chunks[0], reg)[lane];
    home->registers->read(home->registers, home, reg, row);
    return row[lane];
}

static u32 *take_home_rows(const struct dyninst *f, u32 *next, struct operand o)
{
    const u32 lanes = f->warp->exec->image->warp_size;
    for (u32 j = 0; j < o.count; j++, next += lanes)
        for (u32 lane = 0; lane < lanes; lane++) {
            const struct warp *home = f->homes[lane];
            next[lane] = !home                      ? 0
                         : o.kind == OPERAND_SCALAR ? scalar_read(home, o, j)
                                                    : home_word(home, o.index + j, lane);
        }
    return next;
}

static u32 *take_home_sources(struct dyninst *f)
{
    const struct image *image = f->warp->exec->image;
    u32 *next = f->rows;
    for (unsigned k = 0; k < 4; k++) {
        const struct operand o = f->code->src[k];
        f->src_rows[k] = 0;
        f->src[k] = o.kind == OPERAND_NONE ? NULL : chunk_row(&f->warp->chunks[0], f->step, k);
        if (o.kind == OPERAND_MASK) {
            for (u32 c = 0; c < image->chunks; c++)
                f->masks[k][c] = home_mask(f, o, c);
            f->src[k] = f->masks[k];
        } else if (o.kind == OPERAND_VECTOR || o.kind == OPERAND_SCALAR) {
            assert(o.kind == OPERAND_VECTOR || op_info[f->code->op].flags & OPF_LANE);
            f->src[k] = next;
            f->src_rows[k] = (u8)o.count;
            next = take_home_rows(f, next, o);
        }
    }
    return next;
}

void dyninst_issue_homes(struct dyninst *f, struct warp *const *homes, u32 inst)
{
    lane_set lanes = 0;
    u32 count = 0;
    for (u32 lane = 0; !count || lane < count; lane++) {
        if (!homes[lane])
            continue;
        count = homes[lane]->exec->image->warp_size;
        lanes |= 1ull << lane;
    }
    dyninst_begin(f, homes[first_lane(lanes)], inst);
    f->homes = homes;
    f->active = f->lanes = lanes;
    if (step_is_guarded(f->step))
        for (u32 c = 0; c < f->warp->exec->image->chunks; c++) {
            const u32 guard = home_mask(f, f->code->guard, c) ^ (0u - f->step->guard_not);
            f->lanes &= ~chunk_lanes(~guard, c);
        }
    f->writes = f->lanes;
    place_results(f, take_home_sources(f));
    if (f->plan->kind == PLAN_LANES)
        f->work = WORK_LANES;
    else
        dyninst_locate(f);
}

/* ---- compute ---- */

void dyninst_compute(struct dyninst *f)
{
    if (LIKELY(f->work == WORK_LANES))
        compute_lanes(f);
    else if (f->work == WORK_SCALAR)
        compute_scalar(f);
    f->work = WORK_NONE;
}

void dyninst_skip(struct dyninst *f)
{
    assert(f->kind == DYNINST_COMPUTE);
    f->work = WORK_NONE;
}

void dyninst_rewrite(struct dyninst *f, struct warp *warp, u32 inst, const struct inst *code)
{
    static const struct dyninst_plan plan = {.kind = PLAN_LANES, .dst_rows = {1}, .row_count = 1};
    const u32 reg = code->dst[0].index, lanes = warp->exec->image->warp_size;
    dyninst_begin(f, warp, inst);
    f->code = code;
    f->plan = &plan;
    f->lanes = f->active = f->writes = ~0ull >> (MAX_LANES - lanes);
    memset(f->src, 0, sizeof f->src);
    memset(f->src_rows, 0, sizeof f->src_rows);
    place_results(f, f->rows);
    register_read(warp, reg, f->dst[0]);
}

/* ---- commit ---- */

static inline void blend(u32 *to, const u32 *from, const u32 *mask)
{
#pragma GCC unroll 8
    for (u32 i = 0; i < LANES; i += 4) {
        const four m = *(const four *)(mask + i), old = *(const four *)(to + i);
        *(four *)(to + i) = (*(const four *)(from + i) & m) | (old & ~m);
    }
}

static inline void commit_rows(struct dyninst *f, unsigned k)
{
    struct warp *warp = f->warp;
    const struct image *image = warp->exec->image;
    const u32 lanes = image->warp_size, words = f->dst_rows[k] * lanes;
    for (u32 j = 0; UNLIKELY(warp->map) && j < f->dst_rows[k]; j++)
        register_write(warp, f->to[k] + j, f->dst[k] + j * lanes, f->writes);
    if (UNLIKELY(warp->map))
        return;
    u32 *to = dyninst_target(f, warp, k);
    if (f->writes == (~0ull >> (MAX_LANES - lanes))) {
        copy_rows(to, f->dst[k], f->dst_rows[k] * image->chunks);
        return;
    }
    if (!(f->writes & (f->writes - 1))) { /* one lane or none */
        for (u32 at = f->writes ? first_lane(f->writes) : words; at < words; at += lanes)
            to[at] = f->dst[k][at];
        return;
    }
    for (u32 c = 0; c < warp->exec->image->chunks; c++) {
        struct chunk *chunk = &warp->chunks[c];
        const u32 mask = lanes_of_chunk(f->writes, c);
        if (!mask)
            continue;
        chunk_narrow(chunk, mask);
        for (u32 at = LANES * c; at < words; at += lanes)
            blend(to + at, f->dst[k] + at, chunk->lanes.lane_mask);
        chunk_widen(chunk);
    }
}

static void commit_homes(struct dyninst *f, unsigned k)
{
    const u32 lanes = f->warp->exec->image->warp_size;
    for (lane_set set = f->writes; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        for (u32 j = 0; j < f->dst_rows[k]; j++)
            *register_word(f->homes[lane], f->to[k] + j, lane) = f->dst[k][j * lanes + lane];
    }
}

/* With explicit EXEC a mask is written as a whole. `writes` applies to rows only. */
static void commit_mask(struct dyninst *f, unsigned k)
{
    const struct image *image = f->warp->exec->image;
    if (UNLIKELY(f->homes != NULL) && !image->program->traits.explicit_exec) {
        reformed_commit_mask(f, k);
        return;
    }
    u32 *to = dyninst_target(f, f->warp, k);
    for (u32 c = 0; c < image->chunks; c++) {
        const u32 keep = image->program->traits.explicit_exec ? 0 : ~lanes_of_chunk(f->lanes, c);
        to[LANES * c] = (to[LANES * c] & keep) | (f->dst[k][c] & ~keep);
    }
}

/* Scalars that affect the warp itself: EXEC and MODE. */
static void commit_changes(struct dyninst *f)
{
    struct warp *warp = f->warp;
    if (f->code->mods & MOD_EXEC) {
        assert(warp->exec->image->chunks);
        const u32 *exec = f->scalars + f->plan->dst_words[0] + f->plan->dst_words[1];
        scalar_set_pair(warp, SCALAR_EXEC, exec[0] | (u64)exec[1] << 32);
    }
    if (f->plan->changes_exec)
        warp_set_active(warp);
    if (f->plan->changes_mode && !wave_set_mode(warp, f->inst))
        f->faulted = true;
}

static __attribute__((noinline)) void commit_rest(struct dyninst *f)
{
    for (unsigned k = 0; k < 2; k++) {
        if (!f->dst[k])
            continue;
        if (LIKELY(f->dst_rows[k])) {
            if (UNLIKELY(f->homes))
                commit_homes(f, k);
            else
                commit_rows(f, k);
        } else if (f->code->dst[k].kind == OPERAND_MASK) {
            commit_mask(f, k);
        } else {
            for (u32 j = 0; j < f->plan->dst_words[k]; j++)
                *scalar_word(f->warp, f->to[k] + j) = f->dst[k][j];
        }
    }
    if (UNLIKELY(f->plan->changes_exec | f->plan->changes_mode))
        commit_changes(f);
}

void dyninst_commit(struct dyninst *f)
{
    const struct dyninst_plan *plan = f->plan;
    if (f->committed || f->kind > DYNINST_ACCESS || f->faulted)
        return;
    if (LIKELY(plan->plain) && f->writes == (plan->two ? ~0ull : LANES_FULL) && !f->homes &&
        LIKELY(!f->warp->map))
        copy_rows(chunk_row(&f->warp->chunks[0], f->step, SLOT_DST), f->dst[0], plan->row_count);
    else
        commit_rest(f);
}
