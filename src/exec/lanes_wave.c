/*
 * The inner loop for code with explicit EXEC: whole warps, lane and scalar functions in turn,
 * continuing through branches, which are taken by the whole warp and never diverge.
 *
 * Compiled once per instruction set, like lanes_run.c.
 */
#include "exec/lanes_access.h"
#include "exec/lanes_build.h"
#include "ir/scalars.h"

/* Spreads scalar sources of a lane function to all lanes of their rows. */
ALWAYS_INLINE void spread(const struct warp *warp, const struct step *step, u32 row_words)
{
    u8 *const base = warp->chunks[0].base;
    for (u32 set = step->scalars; set; set &= set - 1) {
        const unsigned k = (unsigned)__builtin_ctz(set);
        const u32 *const from = (const u32 *)(base + step->scalar_at[k]);
        eight *const to = (eight *)(base + step->row[k]);
        const eight low = (eight){} + from[0];
        for (unsigned i = 0; i < row_words / 8; i++)
            to[i] = low;
        if (step->wide_scalars >> k & 1) {
            const eight high = (eight){} + from[LANES];
            for (unsigned i = 0; i < row_words / 8; i++)
                to[row_words / 8 + i] = high;
        }
    }
}

ALWAYS_INLINE void run_chunk(struct chunk *chunk, const struct inst *inst, const struct step *step)
{
    chunk->lanes.inst = inst;
    chunk_place(chunk, step);
    step->fn(&chunk->lanes);
}

ALWAYS_INLINE void run_lanes(struct warp *warp, const struct inst *inst, const struct step *step)
{
    if (UNLIKELY(step->scalars))
        spread(warp, step, MAX_LANES);
    if (LIKELY(warp->chunks[0].active))
        run_chunk(&warp->chunks[0], inst, step);
    if (LIKELY(warp->chunks[1].active))
        run_chunk(&warp->chunks[1], inst, step);
}

/* Mask results: inactive lanes get 0, even if no lane is active. */
ALWAYS_INLINE void run_masks(struct warp *warp, const struct inst *inst, const struct step *step)
{
    run_lanes(warp, inst, step);
    for (unsigned c = 0; c < MAX_CHUNKS; c++) {
        const struct chunk *const chunk = &warp->chunks[c];
        const unsigned slot = SLOT_DST + (inst->dst[1].kind == OPERAND_MASK);
        u32 *const mask = chunk_row(chunk, step, slot);
        *mask &= chunk->active;
        if (UNLIKELY(inst->mods & MOD_EXEC))
            *(u32 *)(chunk->base + scalar_offset(warp->exec->image, SCALAR_EXEC)) = *mask;
    }
}

/* One kind of access by both chunks, each by its fast path, `call` with a constant `all`, or by the
 * slow path. False: it has faulted. */
#define EACH_CHUNK(call)                                                          \
    for (unsigned c = 0; c < MAX_CHUNKS; c++) {                                   \
        struct chunk *const chunk = &warp->chunks[c];                             \
        bool done = false;                                                        \
        if (LIKELY(chunk->active == LANES_FULL)) {                                \
            const bool all = true;                                                \
            done = (call);                                                        \
        } else if (chunk->active) {                                               \
            const bool all = false;                                               \
            done = (call);                                                        \
        } else {                                                                  \
            continue;                                                             \
        }                                                                         \
        const u32 pc = (u32)(step - warp->view->steps);                           \
        if (UNLIKELY(!done) && !other_step(warp, pc, step, chunk, chunk->active)) \
            return false;                                                         \
    }                                                                             \
    return true

/* The slot of the scalar that limits the space. */
ALWAYS_INLINE unsigned shared_limit(bool store, bool pair)
{
    return !store ? 1 : pair ? 3 : 2;
}

ALWAYS_INLINE bool run_shared(struct warp *warp, const struct inst *inst, struct step *step,
                              u32 words, bool store, bool pair)
{
    const struct shared_way way =
        find_shared(warp, inst, step, words, shared_limit(store, pair), pair);
    if (store) {
        EACH_CHUNK(way.may && shared_store(chunk, step, &way, words, pair, all));
    }
    EACH_CHUNK(way.may && shared_load(chunk, step, &way, words, pair, all));
}

ALWAYS_INLINE bool run_buffer(struct warp *warp, const struct inst *inst, struct step *step,
                              u32 words, bool store)
{
    const struct buffer_way way = find_way(warp, inst, step);
    EACH_CHUNK(buffer_words(chunk, step, &way, LANES * c, words, store, all));
}

#define ACCESS(name, call)                                                                 \
    static __attribute__((noinline)) bool name(struct warp *warp, const struct inst *inst, \
                                               struct step *step)                          \
    {                                                                                      \
        const u32 one = 1, many = step->words;                                             \
        return LIKELY(many == 1) ? call(one) : call(many);                                 \
    }
#define SHARED_LOAD(words) run_shared(warp, inst, step, words, false, false)
#define SHARED_STORE(words) run_shared(warp, inst, step, words, true, false)
#define PAIR_LOAD(words) run_shared(warp, inst, step, words, false, true)
#define PAIR_STORE(words) run_shared(warp, inst, step, words, true, true)
#define BUFFER_LOAD(words) run_buffer(warp, inst, step, words, false)
#define BUFFER_STORE(words) run_buffer(warp, inst, step, words, true)
ACCESS(shared_loads, SHARED_LOAD)
ACCESS(shared_stores, SHARED_STORE)
ACCESS(pair_loads, PAIR_LOAD)
ACCESS(pair_stores, PAIR_STORE)
ACCESS(buffer_loads, BUFFER_LOAD)
ACCESS(buffer_stores, BUFFER_STORE)

ALWAYS_INLINE struct step *run_steps(struct warp *warp, const struct inst *inst, struct step *step,
                                     const struct step *last)
{
    struct chunk *const first = &warp->chunks[0];
    for (; step != last; inst++, step++) {
        switch (step->shape) {
        case SHAPE_LANE:
            run_lanes(warp, inst, step);
            break;
        case SHAPE_SCALAR:
            run_chunk(first, inst, step);
            break;
        case SHAPE_MASKS:
            run_masks(warp, inst, step);
            break;
        case SHAPE_SHARED_LOAD:
            if (UNLIKELY(!shared_loads(warp, inst, step)))
                return step;
            break;
        case SHAPE_SHARED_STORE:
            if (UNLIKELY(!shared_stores(warp, inst, step)))
                return step;
            break;
        case SHAPE_PAIR_LOAD:
            if (UNLIKELY(!pair_loads(warp, inst, step)))
                return step;
            break;
        case SHAPE_PAIR_STORE:
            if (UNLIKELY(!pair_stores(warp, inst, step)))
                return step;
            break;
        case SHAPE_BUFFER_LOAD:
            if (UNLIKELY(!buffer_loads(warp, inst, step)))
                return step;
            break;
        case SHAPE_BUFFER_STORE:
            if (UNLIKELY(!buffer_stores(warp, inst, step)))
                return step;
            break;
        default:
            return step;
        }
    }
    return step;
}

static struct step *LANE(wave_steps)(struct warp *warp, const struct inst *inst, struct step *step,
                                     const struct step *last)
{
    return run_steps(warp, inst, step, last);
}

static struct step *LANE(wave_blocks)(struct warp *warp, struct stretch **at, struct step *step,
                                      u64 limit)
{
    struct exec *const exec = warp->exec;
    struct stretch *stretch = *at;
    const struct inst *inst = &stretch->insts[step - stretch->steps];
    const u64 left = exec->instructions < limit ? limit - exec->instructions : 0;
    u64 entered = 0;
    for (;;) {
        step = run_steps(warp, inst, step, stretch->last);
        if (UNLIKELY(step != stretch->last || entered >= left || stretch->changes_mode))
            break;
        struct stretch *next = stretch + 1;
        if (stretch->kind == STRETCH_JUMPS)
            next = stretch->taken;
        else if (stretch->kind == STRETCH_TESTS)
            next = warp_branch_taken(warp, stretch) ? stretch->taken : next;
        else if (stretch->kind != STRETCH_FALLS)
            break;
        if (stretch->changes_exec)
            warp_set_active(warp);
        stretch = next;
        stretch->warps++;
        stretch->threads += warp->active_count;
        entered += stretch->length;
        step = stretch->steps;
        inst = stretch->insts;
    }
    if (entered) {
        exec->instructions += entered;
        warp->instructions += entered + (*at)->length - stretch->length;
        warp_path(warp)->pc = stretch->first;
        *at = stretch;
    }
    return step;
}

static bool LANE(wave_shared)(struct warp *warp, const struct inst *inst, const struct step *step)
{
    const bool pair = step->shape == SHAPE_PAIR_LOAD || step->shape == SHAPE_PAIR_STORE;
    const bool store = step->shape == SHAPE_SHARED_STORE || step->shape == SHAPE_PAIR_STORE;
    const u32 words = step->words;
    const struct shared_way way =
        find_shared(warp, inst, step, words, shared_limit(store, pair), pair);
    bool done = way.may;
    for (unsigned c = 0; c < MAX_CHUNKS && done; c++) {
        struct chunk *const chunk = &warp->chunks[c];
        done = store                ? shared_store(chunk, step, &way, words, pair, true)
               : words == 1 && pair ? shared_load(chunk, step, &way, 1, true, true)
               : words == 1         ? shared_load(chunk, step, &way, 1, false, true)
                                    : shared_load(chunk, step, &way, words, pair, true);
    }
    return done;
}

const struct lanes_waves LANE(waves) = {LANE(wave_steps), LANE(wave_blocks), LANE(wave_shared)};
