/* Backward liveness over bit sets, iterated in post-order. See liveness.h. */
#include "analysis/liveness.h"
#include <stdlib.h>

/* Finds global locations (V1): those that a block reads before it has written them for certain. */
static void find_globals(const struct code *code, const struct cfg *cfg, struct liveness *live)
{
    u32 *written = calloc(live->locations + 1, sizeof *written); /* block + 1 of the last kill */
    for (u32 i = 0; i < live->locations; i++)
        live->global_of[i] = UINT32_MAX;
    for (u32 b = 0; b < cfg->count; b++) {
        for (u32 i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++) {
            struct refs refs;
            inst_refs(code, &code->insts[i], &refs);
            for (u32 k = 0; k < refs.read_count; k++) {
                u32 location = refs.reads[k];
                if (written[location] == b + 1 || live->global_of[location] != UINT32_MAX)
                    continue;
                live->global_of[location] = live->globals;
                live->location[live->globals++] = location;
            }
            for (u32 k = 0; refs.kills && k < refs.write_count; k++)
                written[refs.writes[k]] = b + 1;
        }
    }
    free(written);
}

static void set_bit(u64 *set, u32 bit)
{
    set[bit / 64] |= 1ull << (bit % 64);
}

static bool get_bit(const u64 *set, u32 bit)
{
    return set[bit / 64] >> (bit % 64) & 1;
}

/* in = upward-exposed reads; kill = locations written before any read. */
static void local_sets(const struct code *code, const struct cfg_block *block,
                       const struct liveness *live, u64 *in, u64 *kill)
{
    for (u32 i = block->first; i < block->end; i++) {
        struct refs refs;
        inst_refs(code, &code->insts[i], &refs);
        for (u32 k = 0; k < refs.read_count; k++) {
            u32 bit = live->global_of[refs.reads[k]];
            if (bit != UINT32_MAX && !get_bit(kill, bit))
                set_bit(in, bit);
        }
        for (u32 k = 0; refs.kills && k < refs.write_count; k++) {
            u32 bit = live->global_of[refs.writes[k]];
            if (bit != UINT32_MAX && !get_bit(in, bit))
                set_bit(kill, bit);
        }
    }
}

static bool update(const struct cfg *cfg, struct liveness *live, const u64 *kill, u32 b)
{
    u32 words = live->words;
    u64 *out = live->out + (size_t)b * words, *in = live->in + (size_t)b * words;
    bool changed = false;
    for (u32 k = 0; k < cfg->blocks[b].successor_count; k++) {
        const u64 *next = live->in + (size_t)cfg->blocks[b].successors[k] * words;
        for (u32 w = 0; w < words; w++)
            out[w] |= next[w];
    }
    for (u32 w = 0; w < words; w++) {
        u64 now = in[w] | (out[w] & ~kill[(size_t)b * words + w]);
        changed |= now != in[w];
        in[w] = now;
    }
    return changed;
}

struct liveness *liveness_compute(struct arena *arena, const struct code *code,
                                  const struct cfg *cfg)
{
    struct liveness *live = arena_new(arena, struct liveness);
    live->locations = code->vectors + code->masks;
    live->global_of = arena_array(arena, u32, live->locations + 1);
    live->location = arena_array(arena, u32, live->locations + 1);
    find_globals(code, cfg, live);
    live->words = (live->globals + 63) / 64;
    size_t size = (size_t)live->words * cfg->count;
    live->in = arena_array(arena, u64, size + 1);
    live->out = arena_array(arena, u64, size + 1);
    u64 *kill = calloc(size + 1, sizeof *kill);
    for (u32 b = 0; b < cfg->count; b++)
        local_sets(code, &cfg->blocks[b], live, live->in + (size_t)b * live->words,
                   kill + (size_t)b * live->words);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = cfg->order_count; i-- > 0;)
            changed |= update(cfg, live, kill, cfg->order[i]);
    }
    /* unreachable blocks: their own reads and those of their successors, until stable */
    for (bool changed = cfg->order_count < cfg->count; changed;) {
        changed = false;
        for (u32 b = cfg->count; b-- > 0;)
            if (b && !cfg->blocks[b].enter)
                changed |= update(cfg, live, kill, b);
    }
    free(kill);
    return live;
}

struct live_set live_set_create(u32 locations)
{
    return (struct live_set){malloc((locations + 1) * sizeof(u32)),
                             calloc(locations + 1, sizeof(u32)), 0};
}

void live_set_free(struct live_set *set)
{
    free(set->items);
    free(set->place);
}

static void clear(struct live_set *set)
{
    for (u32 i = 0; i < set->count; i++)
        set->place[set->items[i]] = 0;
    set->count = 0;
}

void live_set_add(struct live_set *set, u32 location)
{
    if (set->place[location])
        return;
    set->items[set->count++] = location;
    set->place[location] = set->count;
}

void live_set_drop(struct live_set *set, u32 location)
{
    u32 place = set->place[location];
    if (!place)
        return;
    u32 last = set->items[--set->count];
    set->items[place - 1] = last;
    set->place[last] = place;
    set->place[location] = 0;
}

static void load(struct live_set *set, const struct liveness *live, const u64 *bits)
{
    clear(set);
    for (u32 w = 0; w < live->words; w++)
        for (u64 rest = bits[w]; rest; rest &= rest - 1)
            live_set_add(set, live->location[w * 64 + (u32)__builtin_ctzll(rest)]);
}

void live_set_at_end(struct live_set *set, const struct liveness *live, u32 block)
{
    load(set, live, live->out + (size_t)block * live->words);
}

void live_set_at_start(struct live_set *set, const struct liveness *live, u32 block)
{
    load(set, live, live->in + (size_t)block * live->words);
}

void live_set_step(struct live_set *set, const struct refs *refs)
{
    for (u32 k = 0; refs->kills && k < refs->write_count; k++)
        live_set_drop(set, refs->writes[k]);
    for (u32 k = 0; k < refs->read_count; k++)
        live_set_add(set, refs->reads[k]);
}
