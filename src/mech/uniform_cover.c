/*
 * How much of the register file the mechanism `uniform` protects: over all cycles, live vector
 * registers, and those of them with two copies.
 *
 * Which registers of a warp are live follows from its PCs (analysis/liveness.h): those of all its
 * paths, and of the parent paths that wait for reconvergence or return. A register with a pending
 * write holds no live value. The sets of a slot change when its warp issues, a result is written or
 * a token changes; the cycles since the last change are counted then.
 *
 * Deviation: with explicit EXEC a register is live if any lane may read it.
 */
#include "analysis/lane_liveness.h"
#include "analysis/liveness.h"
#include "mech/uniform.h"
#include <stdlib.h>

static void *allocate(size_t count, size_t bytes)
{
    void *memory = checked(calloc(MAX(count, 1), bytes));
    return memory;
}

/* ---- which registers are live before each instruction ---- */

static void keep_set(struct uniform_cover *c, u32 inst, const struct live_set *set, u32 vectors)
{
    u64 *to = c->before + (size_t)inst * c->words;
    for (u32 i = 0; i < set->count; i++)
        if (set->items[i] < vectors && set->items[i] / 64 < c->words)
            set_put(to, set->items[i]);
}

static void analyse(struct uniform_cover *c, struct arena *arena, const struct code *code)
{
    const struct cfg *cfg = cfg_build(arena, code);
    const struct liveness *live = liveness_compute(arena, code, cfg);
    struct live_set set = live_set_create(code->vectors + code->masks);
    for (u32 b = 0; b < cfg->count; b++) {
        live_set_at_end(&set, live, b);
        for (u32 i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
            struct refs refs;
            inst_refs(code, &code->insts[i], &refs);
            live_set_step(&set, &refs);
            keep_set(c, code->base + i, &set, code->vectors);
        }
    }
    live_set_free(&set);
}

static void analyse_lanes(struct uniform_cover *c, struct arena *arena, const struct code *code)
{
    const struct cfg *cfg = cfg_build(arena, code);
    const struct lane_liveness *live = lane_liveness_compute(arena, code, cfg, NULL);
    for (u32 b = 0; b < cfg->count; b++) {
        struct lane_live now = live->out[b];
        for (u32 i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
            lane_live_step(live, i, &now);
            u64 *to = c->before + (size_t)(code->base + i) * c->words;
            for (u32 w = 0; w < MIN(c->words, (u32)LANE_VECTOR_WORDS); w++)
                to[w] |= now.active[w] | now.others[w];
        }
    }
}

void cover_launch(struct uniform_core *u, bool begins)
{
    struct uniform_cover *c = &u->cover;
    free(c->before);
    free(c->read);
    free(c->now);
    *c = (struct uniform_cover){0};
    if (!begins || !u->params->protect)
        return;
    const struct exec *exec = core_exec(u->core);
    const struct program *program = exec->image->program;
    struct arena *arena = arena_create();
    c->words = exec->register_rows / 64 + 1;
    c->before = allocate((size_t)program->inst_count * c->words, sizeof *c->before);
    c->read = allocate((size_t)CORE_WARPS * c->words, sizeof *c->read);
    c->now = allocate((size_t)CORE_WARPS * c->words, sizeof *c->now);
    for (u32 i = 0; i < program->function_count; i++) {
        const struct code code = code_of(program, &program->functions[i]);
        (code.explicit_exec ? analyse_lanes : analyse)(c, arena, &code);
    }
    arena_destroy(arena);
}

/* ---- over time ---- */

void cover_count(struct uniform_core *u, u32 slot)
{
    struct uniform_cover *c = &u->cover;
    const u64 now = core_cycle(u->core), cycles = now - c->since[slot];
    const u64 *live = c->now + (size_t)slot * c->words, *tokens = u->slots[slot].tokens;
    c->since[slot] = now;
    if (!(c->active >> slot & 1) || !cycles)
        return;
    for (u32 w = 0; w < c->words; w++) {
        u->stats->live_cycles += cycles * (u32)__builtin_popcountll(live[w]);
        u->stats->live_protected += cycles * (u32)__builtin_popcountll(live[w] & tokens[w]);
    }
}

void cover_written(struct uniform_core *u, u32 slot)
{
    struct uniform_cover *c = &u->cover;
    const u64 *pending = core_slot(u->core, slot)->pending,
              *read = c->read + (size_t)slot * c->words;
    cover_count(u, slot);
    for (u32 w = 0; w < c->words; w++)
        c->now[(size_t)slot * c->words + w] =
            read[w] & (w < core_scoreboard_words(u->core) ? ~pending[w] : ~0ull);
}

static void add_live(const struct uniform_cover *c, const struct program *program, u64 *live,
                     u32 pc)
{
    for (u32 w = 0; pc < program->inst_count && w < c->words; w++)
        live[w] |= c->before[(size_t)pc * c->words + w];
}

void cover_moved(struct uniform_core *u, u32 slot)
{
    struct uniform_cover *c = &u->cover;
    const struct warp *warp = core_slot(u->core, slot)->warp;
    const struct program *program = warp->exec->image->program;
    u64 *live = c->read + (size_t)slot * c->words;
    c->active |= bit(slot);
    memset(live, 0, c->words * sizeof *live);
    for (u32 i = 0; i < warp->order_count; i++) {
        u32 at = warp->order[i];
        for (; at != NO_PATH; at = warp->paths[at].parent)
            add_live(c, program, live, warp->paths[at].pc);
    }
    cover_written(u, slot);
}

void cover_end(struct uniform_core *u, u32 slot)
{
    cover_count(u, slot);
    u->cover.active &= ~bit(slot);
}
