/*
 * Fast paths of dynamic instructions: words of evenly spaced lanes, or anywhere in one allocation.
 *
 * Most accesses of full warps are described by the first address and the distance of each group of
 * 16 lanes. These are determined once, at issue; then bounds, bank conflicts and transactions
 * follow from a few numbers, and neither addresses nor the registers they come from are kept by
 * lane.
 *
 * Invariants
 *  E1  Only words in one region, with all lanes aligned and in range, are moved here. In all other
 *      cases nothing has happened: dyninst_unfold puts the record into the state that
 *      dyninst_locate would have left, and the slow path detects faults and accesses to several
 *      regions. Accesses through descriptors are folded only for 64-bit addresses, which have no
 *      range of their own.
 *  E2  The sums of first and distances wrap only where the lanes' own sums would.
 */
#include "base/hot.h"
#include "exec/buffer.h"
#include "exec/dyninst_parts.h"
#include "exec/memory_view.h"
#include "exec/scalars.h"

#define PART static inline __attribute__((always_inline))

static inline i64 to_last(const struct dyninst *f, u32 g)
{
    return (i64)(STRIDE_LANES - 1) * f->stride[g];
}

/* Describes the lanes' addresses by groups; false: not possible. */
static inline bool find_groups(struct dyninst *f)
{
    const struct step *step = f->step;
    const u32 *low = chunk_row(&f->warp->chunks[0], step, 0);
    const u32 *high = step->wide ? low + LANES : NULL;
    const u64 imm = (u64)f->code->imm, above = high ? (u64)high[0] << 32 : 0;
    u32 first[EVEN_GROUPS];
    u64 beyond = 0;
    if (!f->warp->exec->image->moves->find_strides(low, high, first, (u32 *)f->stride))
        return false;
    for (u32 g = 0; g < EVEN_GROUPS; g++) {
        if (!high) { /* 32-bit sums; those that wrap are out of range anyway */
            f->first[g] = (u32)(first[g] + imm);
            continue;
        }
        beyond |= (u64)(first[g] + to_last(f, g)) >> 32;
        f->first[g] = (above | first[g]) + imm;
    }
    if (f->code->space == SPACE_GENERIC) { /* not into the windows */
        const u64 below = f->warp->exec->image->windows->below;
        for (u32 g = 0; g < EVEN_GROUPS; g++)
            beyond |= (f->first[g] | (f->first[g] + (u64)to_last(f, g))) >= below;
    }
    return !beyond;
}

static inline void begin_access(struct dyninst *f, bool stores)
{
    f->kind = DYNINST_ACCESS;
    f->work = WORK_ACCESS;
    f->strided = true;
    f->stores = stores;
    f->loads = !stores;
    f->atomic = f->pair = f->scalar = false;
    f->bytes = 4u * f->step->words;
    f->local = 0;
}

/* The words that the access will move some cycles later come into the host's caches meanwhile. The
 * addresses have not been checked: they are integers. */
static COLD void prefetch_shared(const struct dyninst *f)
{
    const uintptr_t shared = (uintptr_t)f->warp->chunks[0].shared;
    for (u32 g = 0; g < EVEN_GROUPS; g++)
        __builtin_prefetch((const void *)(shared + f->first[g]));
}

HOT bool dyninst_fold(struct dyninst *f)
{
    const enum space space = f->code->space;
    const lane_set lanes = f->lanes;
    if (f->plan->shape == SHAPE_UNIFORM && lanes) { /* whatever lanes are active */
        f->first[0] = f->first[1] = (u64)f->code->imm;
        f->stride[0] = f->stride[1] = 0;
    } else if (lanes != LANES_FULL || !find_groups(f)) {
        return false;
    }
    begin_access(f, f->code->op == OP_st);
    f->shared = space == SPACE_SHARED ? lanes : 0;
    f->global = space == SPACE_GLOBAL || space == SPACE_GENERIC ? lanes : 0;
    f->constant = f->shared | f->global ? 0 : lanes;
    if (f->shared && UNLIKELY(f->warp->exec->crowded))
        prefetch_shared(f);
    return true;
}

/* The high words of addresses that are in the record: zeros where there are none. */
static const u32 *high_words(const struct dyninst *f)
{
    return f->step->wide ? f->src[0] + LANES : f->warp->exec->image->constants; /* P3 */
}

bool dyninst_list(struct dyninst *f)
{
    const struct image *image = f->warp->exec->image;
    const bool global = f->code->space == SPACE_GLOBAL || f->code->space == SPACE_GENERIC;
    if (!global || !f->lanes ||
        image->moves->join64(f->address, f->src[0], high_words(f), (u64)f->code->imm,
                             f->step->wide ? UINT64_MAX : UINT32_MAX) >= image->windows->below)
        return false;
    begin_access(f, f->code->op == OP_st);
    f->strided = false;
    f->work = WORK_WORDS;
    f->global = f->lanes;
    f->shared = f->constant = 0;
    return true;
}

/* The first word of a source that is a scalar or a constant. */
static inline u32 scalar_source(const struct dyninst *f, unsigned k)
{
    const struct operand o = f->code->src[k];
    return o.kind == OPERAND_SCALAR ? f->src[k][0] : scalar_read(f->warp, o, 0);
}

/* The offset of the 64-bit addresses of an access through a descriptor. */
static u64 buffer_start(const struct dyninst *f)
{
    const u32 *scalars = f->src[1];
    const u32 words[4] = {scalars[0], scalars[LANES], scalars[1], scalars[LANES + 1]};
    return buffer_base(words) + (u16)f->code->imm + scalar_source(f, 2);
}

bool dyninst_fold_buffer(struct dyninst *f)
{
    const u32 *low = f->src[0], *high = low + MAX_LANES;
    const u64 start = buffer_start(f);
    u32 first[DYNINST_GROUPS];
    u64 wrong = f->lanes != ~0ull;
    for (u32 c = 0; c < MAX_CHUNKS; c++, low += LANES, high += LANES) {
        const u32 at = EVEN_GROUPS * c;
        if (!f->warp->exec->image->moves->find_strides(low, high, first + at,
                                                       (u32 *)f->stride + at))
            return false;
        for (u32 g = at; g < at + EVEN_GROUPS; g++) {
            f->first[g] = ((u64)high[0] << 32 | first[g]) + start;
            wrong |= (u64)(first[g] + to_last(f, g)) >> 32;
            wrong |= (f->first[g] | (u32)f->stride[g]) & 3; /* low bits might be ignored */
        }
    }
    if (wrong)
        return false;
    begin_access(f, f->code->op == OP_buf_st);
    f->global = ~0ull;
    f->shared = f->constant = 0;
    return true;
}

/* Offset of an element of an access to shared memory. */
static inline u32 element_offset(const struct dyninst *f, u32 element)
{
    return (u32)(f->code->imm >> 32 * element);
}

bool dyninst_fold_shared(struct dyninst *f)
{
    const bool pair = f->plan->shape == SHAPE_PAIR_LOAD;
    const u32 near = element_offset(f, 0), other = pair ? element_offset(f, 1) : near;
    const u32 bytes = 4u * f->step->words, size = f->warp->chunks[0].shared_bytes;
    const unsigned limiter = access_limit(f->code);
    const u32 limit = limiter == SLOT_DST ? UINT32_MAX : scalar_source(f, limiter);
    const u64 end = (u64)MAX(near, other) + bytes; /* of an address of 0 */
    u64 wrong = (near | other) & (bytes - 1);
    if (f->lanes != ~0ull || end > size || limit < size)
        return false;
    for (u32 c = 0; c < MAX_CHUNKS; c++) {
        u32 first[EVEN_GROUPS], *const stride = (u32 *)f->stride + EVEN_GROUPS * c;
        if (!f->warp->exec->image->moves->find_strides(f->src[0] + LANES * c, NULL, first, stride))
            return false;
        for (u32 i = 0; i < EVEN_GROUPS; i++) {
            const u32 g = EVEN_GROUPS * c + i;
            const u64 last = first[i] + (u64)to_last(f, g); /* huge if it is negative */
            wrong |= MAX(first[i], last) > size - end;
            wrong |= (first[i] | stride[i]) & (bytes - 1);
            f->first[g] = (u64)first[i] + near;
        }
    }
    if (wrong)
        return false;
    begin_access(f, f->code->op == OP_st);
    f->pair = pair;
    f->shared = ~0ull;
    f->global = f->constant = 0;
    return true;
}

const u64 *dyninst_addresses(struct dyninst *f)
{
    typedef u64 pair __attribute__((vector_size(16), aligned(8), may_alias));
    if (!f->strided)
        return f->address;
    const bool wraps = !f->step->wide && !f->plan->two; /* descriptors have 64-bit addresses */
    const pair keep = (pair){} + (wraps ? UINT32_MAX : UINT64_MAX);
    for (u32 g = 0; g < (f->plan->two ? DYNINST_GROUPS : EVEN_GROUPS); g++) {
        const u64 apart = (u64)(i64)f->stride[g];
        pair at = {f->first[g], f->first[g] + apart};
        for (u32 i = 0; i < STRIDE_LANES; i += 2, at += 2 * apart)
            *(pair *)&f->address[STRIDE_LANES * g + i] = at & keep;
    }
    return f->address;
}

const u64 *dyninst_second(struct dyninst *f)
{
    if (f->strided) {
        const u64 *first = dyninst_addresses(f);
        for (u32 lane = 0; lane < MAX_LANES; lane++)
            f->second[lane] = first[lane] + element_offset(f, 1) - element_offset(f, 0);
    }
    return f->second;
}

void dyninst_unfold(struct dyninst *f)
{
    if (f->plan->two) { /* its operands are in the record */
        dyninst_locate(f);
        return;
    }
    dyninst_addresses(f);
    f->strided = false;
    const u32 before = f->stores ? f->plan->src_rows[1] : f->dst_rows[0]; /* rows: place_folded */
    f->src[0] = f->plan->src_rows[0] ? f->rows + LANES * before : NULL;
    f->src[1] = f->stores ? f->src[1] : NULL;
    f->src[2] = f->src[3] = NULL;
    if (f->src[0])
        for (u32 lane = 0; lane < LANES; lane++) {
            const u64 row = f->address[lane] - (u64)f->code->imm;
            f->src[0][lane] = (u32)row;
            if (f->step->wide)
                f->src[0][LANES + lane] = (u32)(row >> 32);
        }
    dyninst_step(f, f->warp, &f->own);
}

/* The host addresses of the groups' first words, in a region of `size` bytes. */
PART bool find_places(const struct dyninst *f, u32 groups, u64 start, u64 size, u8 *memory, u8 **at)
{
    const u32 align = groups > EVEN_GROUPS ? 4 : f->bytes; /* as in access_align */
    u64 wrong = size < f->bytes;
    for (u32 g = 0; g < groups; g++) {
        const u64 first = f->first[g] - start, last = first + (u64)to_last(f, g);
        wrong |= MAX(first, last) + f->bytes > size;
        wrong |= (first | last) >> 63; /* so that the sums do not wrap */
        wrong |= (f->first[g] | (u64)(i64)f->stride[g]) & (align - 1);
        /* Integers: a wrong address may be outside the memory. */
        at[g] = (u8 *)((uintptr_t)memory + first);
    }
    return !wrong;
}

/* Global memory as the core sees it: stores go into the log, and loaded bytes must not be in it. */
static bool view_places(const struct dyninst *f, u32 groups, struct memory_view *view, u8 **at)
{
    enum {
        FAR = 512 /* bytes: if further apart, checking each lane is faster */
    };
    if (f->stores) {
        for (u32 g = 0; g < groups; g++)
            if (f->stride[g] != 4)
                return false;
        if (exec_records(f->warp->exec)) /* not here: nothing may be in the log */
            return false;
        memory_view_reserve(view, groups, MAX_LANES * sizeof(u32));
        for (u32 g = 0; g < groups; g++)
            at[g] = memory_view_log(view, at[g], STRIDE_LANES * sizeof(u32));
        return true;
    }
    for (u32 g = 0; g < groups && !memory_view_empty(view); g++) {
        const i64 last = to_last(f, g);
        const u32 span = (u32)(last < 0 ? -last : last) + f->bytes;
        if (span > FAR || memory_view_may_hold(view, at[g] + MIN(last, 0), span))
            return false;
    }
    return true;
}

static struct memory_hint hint_of(const struct dyninst *f, struct memory_view *view)
{
    return view ? *memory_view_hint(view, f->inst)
                : (struct memory_hint){f->step->hint, f->step->hint_generation};
}

/* The allocation that the instruction used last, if it may be used. */
static inline const struct allocation *find_hint(const struct dyninst *f, struct memory_view *view)
{
    const struct memory_hint hint = hint_of(f, view);
    const struct allocation *found = hint.allocation;
    return found && hint.generation == *f->warp->chunks[0].generation &&
                   !(f->stores && found->read_only)
               ? found
               : NULL;
}

PART bool find_global(const struct dyninst *f, u32 groups, struct memory_view *view, u8 **at)
{
    const struct allocation *found = find_hint(f, view);
    return found && find_places(f, groups, found->address, found->size, found->host, at) &&
           (!view || !f->global || view_places(f, groups, view, at));
}

/* Parameters: the same for all lanes, and read-only. */
static bool find_uniform(const struct dyninst *f, u8 **at)
{
    const struct chunk *chunk = &f->warp->chunks[0];
    at[0] = at[1] = (u8 *)chunk->uniforms + f->step->uniform;
    return f->step->uniform + f->bytes <= chunk->uniform_bytes;
}

/* Those of 64 lanes are in range: dyninst_fold_shared. */
PART bool find_shared(const struct dyninst *f, u32 groups, u8 **at)
{
    const struct chunk *chunk = &f->warp->chunks[0];
    if (groups == EVEN_GROUPS)
        return find_places(f, groups, 0, chunk->shared_bytes, chunk->shared, at);
    for (u32 g = 0; g < groups; g++)
        at[g] = chunk->shared + f->first[g];
    return true;
}

/* The words of an element of all lanes; leaves `at` behind it. */
PART void load_element(const struct dyninst *f, u32 groups, u32 *row, u8 **at)
{
    const struct lanes_memory *moves = f->warp->exec->image->moves;
    for (u32 j = 0; j < f->step->words; j++, row += STRIDE_LANES * groups)
        for (u32 g = 0; g < groups; g += EVEN_GROUPS) {
            moves->load_strided(row + STRIDE_LANES * g, (const u8 *const *)at + g, f->stride + g);
            at[g] += sizeof(u32);
            at[g + 1] += sizeof(u32);
        }
}

/* `groups` is a constant where this is expanded. */
PART bool move_groups(struct dyninst *f, u32 groups, struct memory_view *view)
{
    u8 *at[DYNINST_GROUPS];
    bool found;
    if (f->shared)
        found = find_shared(f, groups, at);
    else if (f->plan->shape == SHAPE_UNIFORM)
        found = find_uniform(f, at);
    else
        found = find_global(f, groups, view, at);
    if (!found || (f->stores && exec_records(f->warp->exec)))
        return false;
    if (f->stores) {
        const u32 *data = f->src[groups > EVEN_GROUPS && !f->shared ? 3 : 1];
        for (u32 g = 0; g < groups; g += EVEN_GROUPS)
            f->warp->exec->image->moves->store_strided(at + g, f->stride + g,
                                                       data + STRIDE_LANES * g);
        return true;
    }
    load_element(f, groups, f->dst[0], at);
    if (groups == EVEN_GROUPS || !f->pair)
        return true;
    for (u32 g = 0; g < groups; g++)
        at[g] = (u8 *)f->warp->chunks[0].shared + f->first[g] +
                ((i64)element_offset(f, 1) - element_offset(f, 0));
    load_element(f, groups, f->dst[0] + STRIDE_LANES * groups * f->step->words, at);
    return true;
}

HOT bool dyninst_move_strided(struct dyninst *f, struct memory_view *view)
{
    return UNLIKELY(f->plan->two) ? move_groups(f, DYNINST_GROUPS, view)
                                  : move_groups(f, EVEN_GROUPS, view);
}

bool dyninst_move_words(struct dyninst *f, struct memory_view *view)
{
    struct warp *warp = f->warp;
    struct chunk *chunk = &warp->chunks[0];
    const struct lanes_memory *moves = warp->exec->image->moves;
    const struct allocation *found = find_hint(f, view);
    const u32 *low = f->src[0], lanes = (u32)f->lanes;
    struct access access;
    if (!found || found->size < f->bytes || (f->stores && exec_records(warp->exec)) ||
        moves->translate64(access.offset, low, high_words(f), f->code->imm, found->address,
                           (u32)found->size, f->bytes, lanes) != lanes)
        return false;
    access.base = found->host;
    if (view)
        memory_view_redirect(view, moves, &access, lanes, f->bytes, f->stores);
    chunk_narrow(chunk, lanes);
    access_move(warp, chunk, f->stores ? f->src[1] : f->dst[0], f->step->words, lanes, &access,
                f->stores);
    chunk_widen(chunk);
    return true;
}
