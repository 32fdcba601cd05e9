/*
 * Compares, at every marked instruction, what the warps of a block compute.
 *
 * It knows nothing of how marks are made, and shares no code with mechanisms that use them. Two
 * executions of an instruction are the same one if the warps have all lanes and have issued the
 * same instructions since their last barrier of the whole block, or since the block began. A warp
 * that lanes have left, even for a while, is out until the next such barrier. Results are compared,
 * of loads from memory that may change the addresses.
 *
 * The way that a warp has come is kept as a hash of 64 bits: two ways that collide would look like
 * a lie, never hide one.
 */
#include "witness.h"

#include "analysis/redundancy.h"
#include "core/mechanism.h"
#include "gpu/device.h"
#include <stdlib.h>

#define COMPONENT witness
#define COMPONENT_DEF "mech/redundant/witness.def"
#define COMPONENT_HELP "marks of redundant instructions are checked, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    MOST_BUILT_IN = 64
};

struct witness {
    MECHANISM_STATE(witness);
    struct way {
        u64 hash;    /* of all that the warp has issued since the last barrier of its block */
        u32 barrier; /* how many those were */
        bool out;
    } ways[CORE_WARPS];
    u64 keys[CORE_INFLIGHT]; /* of a marked instruction under way; 0: of another */
    struct seen {
        u64 key, value;
    } * table; /* open, at most half full */
    u64 capacity, used;
};

static u64 mix(u64 hash, u64 value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static void destroy(void *state)
{
    free(((struct witness *)state)->table);
}

static void launch(void *state, struct core *core, bool begins)
{
    struct witness *w = state;
    for (u64 i = 0; i < w->capacity; i++)
        w->table[i].key = 0;
    w->used = 0;
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    struct witness *w = state;
    for (u64 set = core_block(core, place)->slots; started && set; set &= set - 1)
        w->ways[first_bit(set)] = (struct way){0};
}

static struct seen *find(struct witness *w, u64 key)
{
    u64 at = key % w->capacity;
    while (w->table[at].key && w->table[at].key != key)
        at = (at + 1) % w->capacity;
    return &w->table[at];
}

static void grow(struct witness *w)
{
    struct witness old = *w;
    w->capacity = old.capacity ? 2 * old.capacity : 4096;
    w->table = calloc(w->capacity, sizeof *w->table);
    if (!w->table)
        abort();
    for (u64 i = 0; i < old.capacity; i++)
        if (old.table[i].key)
            *find(w, old.table[i].key) = old.table[i];
    free(old.table);
}

static void judge(struct witness *w, u64 key, u64 value, u32 inst)
{
    if (2 * w->used >= w->capacity)
        grow(w);
    struct seen *seen = find(w, key);
    if (!seen->key) {
        *seen = (struct seen){key, value};
        w->used++;
        return;
    }
    w->stats->compared++;
    if (seen->value == value)
        return;
    w->stats->lies++;
    if (!w->stats->first)
        w->stats->first = inst + 1;
}

static bool is_block_barrier(const struct inst *code)
{
    return code->op == OP_bar_whole || code->op == OP_bar_popc ||
           (code->op == OP_bar && code->key != 1);
}

/* In the order in which the warp issues, before anything is computed. */
static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    struct witness *w = state;
    const struct dyninst *f = &inflight->dyn;
    const struct exec *exec = core_exec(core);
    u64 *key = &w->keys[inflight_index(core, inflight)];
    struct way *way = &w->ways[inflight->slot];
    *key = 0;
    if (inflight->injected)
        return 0;
    way->out |= f->active != core_all_lanes(core);
    way->hash = mix(way->hash, f->inst + 1);
    if (!way->out && exec->marks && f->lanes == core_all_lanes(core) &&
        redundancy_holds(exec->marks[f->inst], exec->dims, exec->image->warp_size)) {
        *key = mix(mix(way->hash, f->warp->block->number), way->barrier) | 1;
        w->stats->marked++;
    }
    /* one of some of its threads is taken for one of all: then less is compared */
    if (is_block_barrier(f->code) && (f->code->op == OP_bar_whole || !f->code->src[1].kind))
        *way = (struct way){.barrier = way->barrier + 1};
    return 0;
}

static u64 results_of(const struct core *core, const struct dyninst *f)
{
    u64 value = 1;
    for (u32 k = 0; k < 2; k++) {
        u32 words = f->dst_rows[k] * core_exec(core)->image->warp_size;
        if (f->dst[k] && !words)
            words = f->code->dst[k].kind == OPERAND_MASK ? core_exec(core)->image->chunks
                                                         : f->code->dst[k].count;
        for (u32 i = 0; f->dst[k] && i < words; i++)
            value = mix(value, f->dst[k][i]);
    }
    return value;
}

static void result(void *state, struct core *core, struct inflight *inflight)
{
    struct witness *w = state;
    struct dyninst *f = &inflight->dyn;
    const u64 key = w->keys[inflight_index(core, inflight)];
    if (!key)
        return;
    u64 value = 2;
    if (f->kind == DYNINST_ACCESS && !f->scalar) {
        const u64 *addresses = dyninst_addresses(f);
        for (u32 i = 0; i < core_exec(core)->image->warp_size; i++)
            value = mix(value, addresses[i]);
    } else {
        value = results_of(core, f);
    }
    judge(w, key, value, f->inst);
}

static const struct mechanism witness_mechanism = {
    MECHANISM_NAMED(witness, "compares what warps of a block compute at marked instructions"),
    .state_size = sizeof(struct witness),
    .marks = true,
    .destroy = destroy,
    .launch = launch,
    .block = block,
    .operand = operand,
    .result = result,
};

const struct mechanism *const *witness_mechanisms(void)
{
    static const struct mechanism *all[MOST_BUILT_IN + 2] = {&witness_mechanism};
    for (u32 i = 0; i < MOST_BUILT_IN && mechanisms_built_in[i]; i++)
        all[i + 1] = mechanisms_built_in[i];
    return all;
}

struct hd_config *witness_config(void)
{
    return config_with(witness_mechanisms());
}
