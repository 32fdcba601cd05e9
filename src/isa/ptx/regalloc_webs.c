/*
 * Webs: a PTX register that is used for several unrelated values becomes several virtual registers.
 *
 * Two definitions belong together when some use can see both. Where a register is live into a
 * block, all definitions that reach the block's entry do, so one value per (block, live register)
 * joins them: an exact answer without reaching definitions. A guarded definition joins what it
 * leaves behind in other lanes.
 */
#include "isa/ptx/regalloc.h"
#include <stdlib.h>

struct webs {
    struct fn *fn;
    struct code code;
    struct cfg *cfg;
    struct liveness *live;
    u8 *split;    /* by location: has several definitions */
    u32 *current; /* by location: its current value */
    u32 *entry;   /* by block: first value of its live-in split locations */
    u32 *parent;  /* union-find over values */
    u32 value_count;
    u32 *web; /* by value root, then by unsplit location: new number + 1 */
    u32 *whole;
    VEC(struct vreg) vregs;
    u32 masks;
    bool renaming;
};

static u32 find(u32 *parent, u32 v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

static void join(struct webs *w, u32 a, u32 b)
{
    if (!w->renaming)
        w->parent[find(w->parent, a)] = find(w->parent, b);
}

/* Walks the split locations live into a block in a fixed order: makes their values current, or
 * joins them with what is current. */
static u32 each_live_in(struct webs *w, u32 block, u32 first, bool unite)
{
    const u64 *bits = w->live->in + (size_t)block * w->live->words;
    u32 value = first;
    for (u32 k = 0; k < w->live->words; k++) {
        for (u64 rest = bits[k]; rest; rest &= rest - 1) {
            u32 location = w->live->location[k * 64 + (u32)__builtin_ctzll(rest)];
            if (!w->split[location])
                continue;
            if (unite)
                join(w, value, w->current[location]);
            else
                w->current[location] = value;
            value++;
        }
    }
    return value;
}

static u32 new_number(struct webs *w, u32 location, u32 *slot)
{
    if (*slot)
        return *slot - 1;
    u32 number;
    if (location >= w->code.vectors) {
        number = w->masks++;
    } else {
        struct vreg *vreg = vec_push(&w->vregs);
        *vreg = w->fn->vregs.data[location];
        number = w->vregs.count - 1;
    }
    *slot = number + 1;
    return number;
}

static u32 renamed(struct webs *w, u32 location)
{
    if (!w->split[location])
        return new_number(w, location, &w->whole[location]);
    return new_number(w, location, &w->web[find(w->parent, w->current[location])]);
}

static void rename_operand(struct webs *w, struct operand *o)
{
    if (o->kind == OPERAND_VECTOR)
        o->index = renamed(w, o->index);
    else if (o->kind == OPERAND_MASK)
        o->index = renamed(w, w->code.vectors + o->index);
}

static void rename_operands(struct webs *w, struct inst *inst, struct operand *list, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        if (inst->spare && &list[i] == inst_tuple_operand(inst)) {
            struct tuple *tuple = &w->fn->tuples.data[inst->spare];
            for (u32 k = 0; k < tuple->count; k++)
                tuple->registers[k] = renamed(w, tuple->registers[k]);
            continue;
        }
        rename_operand(w, &list[i]);
    }
}

/* One walk over a block: the first time values are joined, the second time operands renamed. */
static void walk_block(struct webs *w, u32 b, u32 *value)
{
    each_live_in(w, b, w->entry[b], false);
    for (u32 i = w->cfg->blocks[b].first; i < w->cfg->blocks[b].end; i++) {
        struct inst *inst = &w->fn->insts.data[i];
        struct refs refs;
        inst_refs(&w->code, inst, &refs);
        if (w->renaming) {
            rename_operands(w, inst, inst->src, ARRAY_LEN(inst->src));
            rename_operand(w, &inst->guard);
        }
        for (u32 k = 0; k < refs.write_count; k++) {
            u32 location = refs.writes[k];
            if (!w->split[location])
                continue;
            if (!refs.kills)
                join(w, *value, w->current[location]);
            w->current[location] = (*value)++;
        }
        if (w->renaming)
            rename_operands(w, inst, inst->dst, ARRAY_LEN(inst->dst));
    }
    for (u32 k = 0; !w->renaming && k < w->cfg->blocks[b].successor_count; k++) {
        u32 next = w->cfg->blocks[b].successors[k];
        each_live_in(w, next, w->entry[next], true);
    }
}

/* Locations with more than one definition, counting the initial value. */
static u32 find_split(struct webs *w)
{
    u32 locations = w->code.vectors + w->code.masks, writes = 0;
    u8 *defined = calloc(locations + 1, 1);
    struct live_set entry = live_set_create(locations);
    live_set_at_start(&entry, w->live, 0);
    for (u32 i = 0; i < entry.count; i++)
        defined[entry.items[i]] = 1;
    live_set_free(&entry);
    for (u32 i = 0; i < w->code.count; i++) {
        struct refs refs;
        inst_refs(&w->code, &w->code.insts[i], &refs);
        for (u32 k = 0; k < refs.write_count; k++) {
            w->split[refs.writes[k]] |= defined[refs.writes[k]];
            defined[refs.writes[k]] = 1;
        }
        writes += refs.write_count;
    }
    w->split[0] = 0; /* the stack pointer is one register throughout */
    free(defined);
    return writes;
}

void split_webs(struct fn *fn)
{
    struct arena *arena = arena_create();
    struct webs w = {.fn = fn, .code = fn_code(fn)};
    u32 locations = w.code.vectors + w.code.masks;
    w.cfg = cfg_build(arena, &w.code);
    w.live = liveness_compute(arena, &w.code, w.cfg);
    w.split = calloc(locations + 1, 1);
    w.current = calloc(locations + 1, sizeof(u32));
    w.entry = calloc(w.cfg->count + 1, sizeof(u32));
    w.whole = calloc(locations + 1, sizeof(u32));
    u32 writes = find_split(&w), values = 0;
    for (u32 b = 0; b < w.cfg->count; b++) {
        w.entry[b] = values;
        values = each_live_in(&w, b, values, false);
    }
    w.value_count = values + writes;
    w.parent = malloc((w.value_count + 1) * sizeof(u32));
    w.web = calloc(w.value_count + 1, sizeof(u32));
    for (u32 i = 0; i <= w.value_count; i++)
        w.parent[i] = i;
    new_number(&w, 0, &w.whole[0]);
    for (int pass = 0; pass < 2; pass++) {
        u32 value = values;
        w.renaming = pass;
        for (u32 b = 0; b < w.cfg->count; b++)
            walk_block(&w, b, &value);
    }
    free(fn->vregs.data);
    fn->vregs.data = w.vregs.data;
    fn->vregs.count = w.vregs.count;
    fn->vregs.capacity = w.vregs.capacity;
    fn->masks = w.masks;
    free(w.split);
    free(w.current);
    free(w.entry);
    free(w.whole);
    free(w.parent);
    free(w.web);
    arena_destroy(arena);
}
