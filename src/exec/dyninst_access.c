/*
 * Memory accesses of dynamic instructions.
 *
 * Lane addresses and data movement are handled by the interpreter's routines (spaces.c, buffer.c,
 * lds.c, atomic.c, scalar_load.c): they find their operands through a step, and here the step's
 * operands are the record's. Addresses are computed at issue, so that transactions can be counted,
 * and again when memory is accessed, which costs less than keeping their parts. Those of evenly
 * spaced lanes are computed once: dyninst_strided.c.
 */
#include "exec/bounds.h"
#include "exec/buffer.h"
#include "exec/dyninst_parts.h"
#include "exec/memory_view.h"
#include "exec/scalars.h"
#include "exec/texture.h"

/* For 64 lanes: rows follow a chunk's base like registers; operands that are not rows have separate
 * addresses. */
static void place_wide(const struct dyninst *f, const struct warp *warp, struct step *step)
{
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        const bool rows =
            slot < SLOT_DST ? f->plan->vectors >> slot & 1 : f->dst_rows[slot - SLOT_DST];
        if (!rows)
            continue;
        step->select[slot] = ~0ull;
        step->row[slot] -= (uintptr_t)warp->chunks[0].base;
    }
}

void dyninst_step(const struct dyninst *f, const struct warp *warp, struct step *step)
{
    memset(step->select, 0, sizeof step->select);
    for (unsigned k = 0; k < 4; k++)
        step->row[k] = (uintptr_t)f->src[k];
    for (unsigned k = 0; k < 2; k++)
        step->row[SLOT_DST + k] = (uintptr_t)f->dst[k];
    step->shape = f->step->shape & SHAPE_KIND;
    step->words = f->step->words;
    step->wide = f->step->wide;
    step->hint = f->step->hint;
    step->hint_generation = f->step->hint_generation; /* or the other members of the union */
    if (UNLIKELY(warp->exec->image->chunks > 1))
        place_wide(f, warp, step);
}

/* ---- lane addresses ---- */

/* Sorts lanes of a chunk by space. Generic addresses in a window become those of the window's
 * space. */
static void sort_lanes(struct dyninst *f, enum space space, u64 *address, lane_set lanes,
                       bool plain)
{
    if (space == SPACE_GLOBAL || (space == SPACE_GENERIC && plain)) {
        f->global |= lanes;
    } else if (space == SPACE_SHARED) {
        f->shared |= lanes;
    } else if (space == SPACE_LOCAL) {
        f->local |= lanes;
    } else if (space != SPACE_GENERIC) {
        f->constant |= lanes;
    } else {
        for (lane_set set = lanes; set; set &= set - 1) {
            enum space at = window_space(f->warp->exec->image->windows, SPACE_GENERIC,
                                         &address[first_lane(set)]);
            *(at == SPACE_SHARED  ? &f->shared
              : at == SPACE_LOCAL ? &f->local
                                  : &f->global) |= set & -set;
        }
    }
}

static void take_addresses(struct dyninst *f, u32 c, const struct addresses *a, u32 inside)
{
    const u64 bits = access_all(f->warp, a, &f->address[LANES * c]);
    sort_lanes(f, a->space, f->address, chunk_lanes(inside, c),
               bits < f->warp->exec->image->windows->below);
}

/* The second of two elements: shared memory only. A lane with either element in range counts. */
static void take_second(struct dyninst *f, u32 c, const struct addresses *a, u32 inside)
{
    access_all(f->warp, a, &f->second[LANES * c]);
    sort_lanes(f, a->space, f->second, chunk_lanes(inside, c), true);
    f->pair = true;
}

/* The first texel of each lane; the others: dyninst_texels. */
static void locate_texels(struct dyninst *f, const struct step *step, u32 c, u32 mask)
{
    const struct chunk *chunk = &f->warp->chunks[c];
    f->bytes = texture_bytes(f->warp, step, chunk, f->code, mask);
    for (u32 set = mask; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        u64 address[TEXTURE_TEXELS];
        if (!texture_addresses(f->warp, step, chunk, f->code, lane, address))
            continue;
        f->address[LANES * c + lane] = address[0];
        f->global |= chunk_lanes(1u << lane, c);
    }
}

u32 dyninst_texels(const struct dyninst *f, u32 lane, u64 *address)
{
    const struct warp *warp = f->warp;
    return texture_addresses(warp, &f->own, &warp->chunks[lane / LANES], f->code, lane % LANES,
                             address);
}

static void locate_chunk(struct dyninst *f, struct step *step, u32 c, u32 mask)
{
    struct warp *warp = f->warp;
    struct chunk *chunk = &warp->chunks[c];
    const struct inst *inst = f->code;
    switch (inst->op) {
    case OP_buf_ld:
    case OP_buf_st:
    case OP_buf_atom: {
        struct buffer_access buffer;
        const u32 bytes = buffer_bytes(warp, inst, step);
        buffer_locate(warp, inst, step, chunk, mask, bytes, &buffer);
        if (inst->key != BUFFER_RAW && inst->op != OP_buf_atom)
            f->bytes = bytes;
        take_addresses(f, c, &buffer.addresses, f->bytes ? buffer.inside : 0);
        break;
    }
    case OP_tex:
    case OP_suld:
    case OP_sust:
        locate_texels(f, step, c, mask);
        break;
    case OP_ld2:
    case OP_st2:
    case OP_exch2: {
        const struct addresses first = pair_addresses(warp, step, chunk, inst, 0);
        const struct addresses second = pair_addresses(warp, step, chunk, inst, 1);
        take_addresses(f, c, &first, access_within(warp, &first, mask, f->bytes));
        take_second(f, c, &second, access_within(warp, &second, mask, f->bytes));
        break;
    }
    case OP_atom_src2: {
        struct src2_places places;
        src2_locate(warp, step, chunk, inst, &places);
        take_addresses(f, c, &places.target, access_within(warp, &places.target, mask, f->bytes));
        take_second(f, c, &places.source, 0);
        break;
    }
    default: {
        const struct addresses a = access_addresses(warp, step, chunk, inst);
        take_addresses(f, c, &a, access_within(warp, &a, mask, f->bytes));
    }
    }
}

static void locate_scalars(struct dyninst *f, const struct step *step)
{
    const struct scalar_place place = scalar_load_place(f->warp, f->inst, step);
    f->kind = DYNINST_ACCESS;
    f->work = WORK_SCALAR_LOAD;
    f->scalar = true;
    f->address[0] = place.address;
    f->bytes = 4 * place.inside;
    f->global = place.inside ? 1 : 0;
}

/* One word of shared memory for all lanes. */
static void locate_append(struct dyninst *f, const struct step *step)
{
    f->work = WORK_APPEND;
    f->scalar = true;
    f->address[0] = (step_scalar(f->warp, step, f->code, 0, 0) & 0xffff) + (u16)f->code->imm;
    f->bytes = 4;
    f->shared = 1;
}

void dyninst_locate(struct dyninst *f)
{
    const u16 flags = op_info[f->code->op].flags;
    struct step *step = &f->own;
    f->global = f->shared = f->local = f->constant = 0;
    f->loads = flags & OPF_LOAD;
    f->stores = flags & OPF_STORE;
    f->atomic = flags & OPF_ATOMIC;
    f->pair = f->scalar = f->strided = false;
    f->bytes = type_bytes(f->code->type) * MAX(f->code->vector, 1);
    dyninst_step(f, f->warp, step);
    if (flags & OPF_SCALAR) {
        locate_scalars(f, step);
        return;
    }
    if (!f->lanes) /* not an access after all */
        return;
    f->kind = DYNINST_ACCESS;
    f->work = WORK_ACCESS;
    if (f->code->op == OP_append) {
        locate_append(f, step);
        return;
    }
    for (u32 c = 0; c < f->warp->exec->image->chunks; c++)
        if (lanes_of_chunk(f->lanes, c))
            locate_chunk(f, step, c, lanes_of_chunk(f->lanes, c));
}

/* ---- moving ---- */

/* The allocation that an instruction used last: by this core if it has a view, else by any. */
static void take_hint(const struct dyninst *f, struct memory_view *view, struct step *step)
{
    if (step->shape == SHAPE_UNIFORM) /* the union holds something else */
        return;
    if (view) {
        const struct memory_hint *hint = memory_view_hint(view, f->inst);
        step->hint = hint->allocation;
        step->hint_generation = hint->generation;
    } else {
        step->hint = f->step->hint;
        step->hint_generation = f->step->hint_generation;
    }
}

static void keep_hint(const struct dyninst *f, struct memory_view *view, const struct step *step)
{
    if (step->shape == SHAPE_UNIFORM)
        return;
    if (view) {
        *memory_view_hint(view, f->inst) = (struct memory_hint){step->hint, step->hint_generation};
        return;
    }
    f->step->hint = step->hint;
    f->step->hint_generation = step->hint_generation;
}

/* A step of one chunk, under these lanes. */
typedef bool move_fn(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask);

static bool move_chunks(struct dyninst *f, struct warp *warp, struct step *step, lane_set lanes,
                        struct memory_view *view, move_fn *move)
{
    bool going = true;
    warp->memory_view = view;
    for (u32 c = 0; c < warp->exec->image->chunks && going; c++) {
        struct chunk *chunk = &warp->chunks[c];
        const u32 mask = lanes_of_chunk(lanes, c);
        if (!mask)
            continue;
        const struct memory_view_mark mark =
            view ? memory_view_mark(view) : (struct memory_view_mark){0};
        chunk_narrow(chunk, mask);
        going = move(warp, f->inst, step, chunk, mask);
        chunk_widen(chunk);
        if (!going && view)
            memory_view_rewind(view, mark);
    }
    warp->memory_view = NULL;
    return going;
}

/* The same for 64 lanes: only shared memory, for which there are no views. */
static bool move_wave_shortly(struct dyninst *f)
{
    const struct chunk *const chunks = f->warp->chunks;
    const unsigned shape = f->own.shape;
    return (shape == SHAPE_PAIR_LOAD || shape == SHAPE_SHARED_LOAD || shape == SHAPE_SHARED_STORE ||
            shape == SHAPE_PAIR_STORE) &&
           f->lanes == ~(lane_set)0 && (chunks[0].active & chunks[1].active) == LANES_FULL &&
           !f->homes && f->warp->exec->image->waves->shared(f->warp, f->code, &f->own);
}

/* The interpreter's fast path, if all lanes are active and see plain memory. */
static bool move_shortly(struct dyninst *f, const struct memory_view *view)
{
    struct chunk *chunk = &f->warp->chunks[0];
    const struct image *image = f->warp->exec->image;
    const unsigned shape = f->own.shape;
    if (image->chunks > 1)
        return move_wave_shortly(f);
    if (f->lanes != LANES_FULL || chunk->active != LANES_FULL || f->homes || shape >= SHAPE_OTHER)
        return false;
    if (view &&
        (shape == SHAPE_GLOBAL_STORE || (shape == SHAPE_GLOBAL_LOAD && !memory_view_empty(view))))
        return false;
    return image->loops->step(chunk, f->code, &f->own);
}

/* Lanes of one warp. For an atomic, lanes in global memory are only checked. */
static bool move_lanes(struct dyninst *f, struct warp *warp, lane_set lanes,
                       struct memory_view *view)
{
    struct step *step = &f->own;
    bool going;
    if (UNLIKELY(f->homes))
        dyninst_step(f, warp, step);
    take_hint(f, view, step);
    if (move_shortly(f, view))
        return true;
    if (f->work == WORK_APPEND) {
        going = append_step(warp, f->inst, step, lanes);
    } else if (f->atomic) {
        const lane_set global = lanes & f->global;
        going = (!global || move_chunks(f, warp, step, lanes, NULL, atomic_check)) &&
                move_chunks(f, warp, step, lanes & ~global, NULL, other_step);
    } else {
        going = move_chunks(f, warp, step, lanes, view, other_step);
    }
    keep_hint(f, view, step);
    return going;
}

static bool load_scalars(struct dyninst *f, struct memory_view *view)
{
    const struct scalar_place place = {f->address[0], f->code->dst[0].count, f->bytes / 4};
    take_hint(f, view, &f->own);
    f->warp->memory_view = view; /* for a load partly beyond an allocation */
    const u8 *from = scalar_load_find(f->warp, f->inst, &f->own, &place);
    f->warp->memory_view = NULL;
    if (!from && place.inside)
        return false;
    keep_hint(f, view, &f->own);
    memset(f->scalars, 0, place.words * sizeof *f->scalars);
    if (!from)
        return true;
    memcpy(f->scalars, from, f->bytes);
    if (view)
        memory_view_overlay(view, from, f->bytes, (u8 *)f->scalars);
    return true;
}

/* Lanes of a set whose home is the warp of its first lane. */
static lane_set same_home(const struct dyninst *f, lane_set lanes)
{
    lane_set same = 0;
    if (LIKELY(!f->homes))
        return lanes;
    for (lane_set set = lanes; set; set &= set - 1)
        if (f->homes[first_lane(set)] == f->homes[first_lane(lanes)])
            same |= set & -set;
    return same;
}

static struct warp *home_of(const struct dyninst *f, lane_set lanes)
{
    return f->homes ? f->homes[first_lane(lanes)] : f->warp;
}

bool dyninst_access(struct dyninst *f, struct memory_view *view)
{
    if (f->strided && !f->faulted) {
        if (LIKELY(dyninst_move_strided(f, view))) {
            f->work = WORK_NONE;
            return true;
        }
        dyninst_unfold(f);
    } else if (f->work == WORK_WORDS) {
        if (LIKELY(dyninst_move_words(f, view))) {
            f->work = WORK_NONE;
            return true;
        }
        f->work = WORK_ACCESS;
        dyninst_step(f, f->warp, &f->own);
    }
    if (f->work == WORK_SCALAR_LOAD) {
        f->faulted = !load_scalars(f, view);
    } else if (f->work != WORK_NONE) {
        lane_set group;
        f->warp->exec->acting = f;
        for (lane_set left = f->lanes; left && !f->faulted; left &= ~group) {
            group = same_home(f, left);
            f->faulted = !move_lanes(f, home_of(f, group), group, view);
        }
    }
    f->work = WORK_NONE;
    return !f->faulted;
}

void dyninst_load_again(struct dyninst *f, struct memory_view *view)
{
    struct bounds *const bounds = f->warp->exec->bounds;
    const lane_set lanes = f->global;
    lane_set group;
    assert(f->loads && !f->atomic);
    if (f->scalar) {
        load_scalars(f, view);
        return;
    }
    if (f->strided)
        dyninst_unfold(f);
    else
        dyninst_step(f, f->warp, &f->own);
    f->warp->exec->acting = f;
    if (bounds) /* counted before */
        bounds->checking = true;
    for (lane_set left = lanes; left; left &= ~group) {
        group = same_home(f, left);
        if (!move_lanes(f, home_of(f, group), group, view))
            assert(!"a load that has acted faults");
    }
    if (bounds)
        bounds->checking = false;
    f->work = WORK_NONE;
}

bool dyninst_atomic(struct dyninst *f, lane_set lanes)
{
    lane_set group;
    f->warp->exec->acting = f;
    for (lane_set left = lanes & f->global; left && !f->faulted; left &= ~group) {
        struct warp *warp = home_of(f, left);
        group = same_home(f, left);
        dyninst_step(f, warp, &f->own);
        take_hint(f, NULL, &f->own);
        f->faulted = !move_chunks(f, warp, &f->own, group, NULL, other_step);
        keep_hint(f, NULL, &f->own);
    }
    return !f->faulted;
}
