/*
 * Spilling ahead of colouring, for functions with far more values alive than there are registers.
 *
 * The interference graph grows as instructions times live values, so such a function would take
 * gigabytes before the first value is spilled. One walk over the code chooses instead: wherever
 * more than three quarters of the registers are taken, the cheapest live values are spilled until
 * only a quarter is taken.
 *
 *  H1  Only functions with more than CROWD words alive, and four times the registers, are touched:
 *      below that colouring copes and chooses better.
 */
#include "isa/ptx/regalloc.h"
#include <stdlib.h>

#define CROWD 1024
#define MASKS_MAX 2000 /* regalloc_color.c has room for a few more; masks are not spilled */

struct crowd {
    struct fn *fn;
    struct code code;
    struct cfg *cfg;
    struct liveness *liveness;
    struct live_set live;
    f64 *cost;        /* by location: uses weighed by loop depth */
    u8 *spill;        /* by virtual register, or NULL while measuring */
    u32 words, masks; /* live now, without spilled values */
    u32 most_words, most_masks;
    u32 limit;
};

static u32 words_of(const struct crowd *c, u32 location)
{
    if (!location || location >= c->code.vectors || (c->spill && c->spill[location]))
        return 0;
    return c->fn->vregs.data[location].words;
}

static void weigh(struct crowd *c)
{
    static const f64 weight[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    for (u32 b = 0; b < c->cfg->count; b++) {
        const struct cfg_block *block = &c->cfg->blocks[b];
        f64 cost = weight[MIN(block->loop_depth, ARRAY_LEN(weight) - 1)];
        for (u32 i = block->first; i < block->end; i++) {
            struct refs refs;
            inst_refs(&c->code, &c->code.insts[i], &refs);
            for (u32 k = 0; k < refs.read_count; k++)
                c->cost[refs.reads[k]] += cost;
            for (u32 k = 0; k < refs.write_count; k++)
                c->cost[refs.writes[k]] += cost;
        }
    }
}

static int by_cost(const void *a, const void *b, void *cost)
{
    u32 i = *(const u32 *)a, k = *(const u32 *)b;
    f64 x = ((f64 *)cost)[i], y = ((f64 *)cost)[k];
    if (x != y)
        return x < y ? -1 : 1;
    return i < k ? -1 : i > k;
}

/* Spills the cheapest values until only a quarter of the registers is taken. */
static void evict(struct crowd *c)
{
    u32 *list = malloc((c->live.count + 1) * sizeof *list), count = 0;
    for (u32 i = 0; i < c->live.count; i++) {
        u32 location = c->live.items[i];
        if (words_of(c, location) && !c->fn->vregs.data[location].no_spill)
            list[count++] = location;
    }
    qsort_r(list, count, sizeof *list, by_cost, c->cost);
    for (u32 i = 0; i < count && c->words > c->limit / 4; i++) {
        c->words -= words_of(c, list[i]);
        c->spill[list[i]] = 1;
    }
    free(list);
}

static void step(struct crowd *c, const struct inst *inst)
{
    struct refs refs;
    inst_refs(&c->code, inst, &refs);
    for (u32 k = 0; refs.kills && k < refs.write_count; k++) {
        u32 location = refs.writes[k];
        if (!live_set_has(&c->live, location))
            continue;
        c->words -= words_of(c, location);
        c->masks -= location >= c->code.vectors;
        live_set_drop(&c->live, location);
    }
    for (u32 k = 0; k < refs.read_count; k++) {
        u32 location = refs.reads[k];
        if (live_set_has(&c->live, location))
            continue;
        c->words += words_of(c, location);
        c->masks += location >= c->code.vectors;
        live_set_add(&c->live, location);
    }
    c->most_words = MAX(c->most_words, c->words);
    c->most_masks = MAX(c->most_masks, c->masks);
}

static void walk(struct crowd *c)
{
    for (u32 b = 0; b < c->cfg->count; b++) {
        const struct cfg_block *block = &c->cfg->blocks[b];
        live_set_at_end(&c->live, c->liveness, b);
        c->words = c->masks = 0;
        for (u32 i = 0; i < c->live.count; i++) {
            c->words += words_of(c, c->live.items[i]);
            c->masks += c->live.items[i] >= c->code.vectors;
        }
        for (u32 i = block->end;; i--) {
            if (c->spill && c->words > c->limit / 4 * 3)
                evict(c);
            if (i == block->first)
                break;
            step(c, &c->code.insts[i - 1]);
        }
    }
}

bool spill_ahead(struct fn *fn, u32 limit)
{
    struct arena *arena = arena_create();
    struct crowd c = {.fn = fn, .code = fn_code(fn), .limit = limit};
    u32 locations = c.code.vectors + c.code.masks;
    c.cfg = cfg_build(arena, &c.code);
    c.liveness = liveness_compute(arena, &c.code, c.cfg);
    c.live = live_set_create(locations);
    walk(&c);
    if (c.most_words > CROWD && c.most_words / 4 > limit) {
        c.cost = arena_array(arena, f64, locations + 1);
        c.spill = arena_array(arena, u8, locations + 1);
        weigh(&c);
        walk(&c);
        spill_webs(fn, c.spill);
    }
    live_set_free(&c.live);
    arena_destroy(arena);
    return c.most_masks <= MASKS_MAX;
}
