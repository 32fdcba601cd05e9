/*
 * The interference graph, and tuples as groups of nodes with fixed relative places.
 *
 * Two values interfere when one is defined while the other is live in the same lane. Liveness is
 * per lane (analysis/liveness.h): a definition in one path of a divergent branch cannot harm a
 * value that other lanes hold in the same register, because it writes only its own lanes' columns.
 * So nothing is added for divergence.
 *
 *  B1  A plain copy does not make its two sides interfere.
 *  B2  Values live at the entry interfere with each other: a kernel finds zeros in its registers.
 *  B3  Both results of one instruction interfere, used or not.
 */
#include "isa/ptx/regalloc.h"
#include <stdlib.h>

#define EDGE_WORDS_MAX (1u << 27) /* half a gigabyte: thousands of values live at once */

struct edges {
    VEC(u32) pairs; /* a, b, a, b, ... */
};

static void add_edge(struct graph *g, struct edges *e, u32 a, u32 b)
{
    u32 vectors = g->code.vectors;
    g->too_large |= e->pairs.count >= EDGE_WORDS_MAX;
    if (g->too_large || a == b || !a || !b || (a < vectors) != (b < vectors))
        return;
    *(u32 *)vec_push(&e->pairs) = a;
    *(u32 *)vec_push(&e->pairs) = b;
}

static bool is_copy(const struct inst *inst)
{
    return (inst->op == OP_mov_b32 || inst->op == OP_mov_b64 || inst->op == OP_mov_mask) &&
           inst->guard.kind == OPERAND_NONE && !inst->src[0].neg &&
           inst->src[0].kind == inst->dst[0].kind;
}

static void define(struct graph *g, struct edges *e, const struct inst *inst,
                   const struct refs *refs, const struct live_set *live)
{
    u32 source = is_copy(inst) ? refs->reads[0] : NO_COLOR;
    for (u32 k = 0; k < refs->write_count; k++) {
        u32 to = refs->writes[k];
        for (u32 i = 0; i < live->count; i++)
            if (live->items[i] != source)
                add_edge(g, e, to, live->items[i]);
        for (u32 i = 0; i < k; i++)
            add_edge(g, e, to, refs->writes[i]);
    }
    if (source != NO_COLOR) {
        g->nodes[source].hint = refs->writes[0];
        g->nodes[refs->writes[0]].hint = source;
    }
}

static void measure(struct graph *g, const struct live_set *live, const struct refs *defs)
{
    u32 words = 0, masks = 0;
    for (u32 i = 0; i < live->count; i++) {
        if (live->items[i] >= g->code.vectors)
            masks++;
        else if (live->items[i])
            words += g->nodes[live->items[i]].words;
    }
    for (u32 k = 0; defs && k < defs->write_count; k++) {
        u32 to = defs->writes[k];
        bool again = live_set_has(live, to) || !to;
        for (u32 i = 0; i < k; i++)
            again |= defs->writes[i] == to;
        if (again)
            continue;
        if (to >= g->code.vectors)
            masks++;
        else
            words += g->nodes[to].words;
    }
    g->max_live = MAX(g->max_live, words);
    g->max_masks = MAX(g->max_masks, masks);
}

static void walk_block(struct graph *g, struct edges *e, struct live_set *live, u32 b)
{
    static const f64 weight[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    const struct cfg_block *block = &g->cfg->blocks[b];
    f64 cost = weight[MIN(block->loop_depth, ARRAY_LEN(weight) - 1)];
    live_set_at_end(live, g->live, b);
    for (u32 i = block->end; i-- > block->first;) {
        const struct inst *inst = &g->code.insts[i];
        struct refs refs;
        inst_refs(&g->code, inst, &refs);
        measure(g, live, &refs);
        define(g, e, inst, &refs, live);
        live_set_step(live, &refs);
        for (u32 k = 0; k < refs.read_count; k++)
            g->nodes[refs.reads[k]].cost += cost;
        for (u32 k = 0; k < refs.write_count; k++)
            g->nodes[refs.writes[k]].cost += cost;
    }
    measure(g, live, NULL);
    if (b)
        return;
    for (u32 i = 0; i < live->count; i++)
        for (u32 k = 0; k < i; k++)
            add_edge(g, e, live->items[i], live->items[k]);
}

static int by_number(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return x < y ? -1 : x > y;
}

static void make_lists(struct graph *g, const struct edges *e)
{
    u32 *count = calloc(g->node_count + 1, sizeof *count);
    for (u32 i = 0; i < e->pairs.count; i++)
        count[e->pairs.data[i]]++;
    for (u32 n = 0; n < g->node_count; n++)
        g->nodes[n].neighbours = arena_array(g->arena, u32, count[n] + 1);
    for (u32 i = 0; i < e->pairs.count; i++) {
        struct node *node = &g->nodes[e->pairs.data[i]];
        node->neighbours[node->neighbour_count++] = e->pairs.data[i ^ 1];
    }
    for (u32 n = 0; n < g->node_count; n++) {
        struct node *node = &g->nodes[n];
        qsort(node->neighbours, node->neighbour_count, sizeof(u32), by_number);
        u32 kept = 0;
        for (u32 i = 0; i < node->neighbour_count; i++)
            if (!kept || node->neighbours[kept - 1] != node->neighbours[i])
                node->neighbours[kept++] = node->neighbours[i];
        node->neighbour_count = kept;
    }
    free(count);
}

void graph_build(struct graph *g, struct arena *arena, struct fn *fn)
{
    *g = (struct graph){.arena = arena, .fn = fn, .code = fn_code(fn)};
    g->node_count = g->code.vectors + g->code.masks;
    g->cfg = cfg_build(arena, &g->code);
    g->live = liveness_compute(arena, &g->code, g->cfg);
    g->nodes = arena_array(arena, struct node, g->node_count + 1);
    g->reserve_first = !fn->out->is_kernel || fn->has_calls;
    for (u32 n = 0; n < g->node_count; n++) {
        bool vector = n < g->code.vectors;
        g->nodes[n].words = vector ? fn->vregs.data[n].words : 1;
        g->nodes[n].no_spill = !vector || fn->vregs.data[n].no_spill;
        g->nodes[n].hint = g->nodes[n].color = NO_COLOR;
    }
    struct edges e = {0};
    struct live_set live = live_set_create(g->node_count);
    for (u32 b = 0; b < g->cfg->count && !g->too_large; b++)
        walk_block(g, &e, &live, b);
    live_set_free(&live);
    if (!g->too_large)
        make_lists(g, &e);
    vec_free(&e.pairs);
    g->max_live += g->reserve_first;
}

/* ---- groups ---- */

#define SPAN_MAX 16

static bool interferes(const struct graph *g, u32 a, u32 b)
{
    const struct node *node = &g->nodes[a];
    return bsearch(&b, node->neighbours, node->neighbour_count, sizeof(u32), by_number);
}

/* Whether the groups can overlap with b's base `shift` words after a's. */
static bool compatible(const struct graph *g, const struct group *a, const struct group *b,
                       int shift)
{
    for (u32 i = 0; i < a->count; i++) {
        const struct node *x = &g->nodes[a->members[i]];
        for (u32 k = 0; k < b->count; k++) {
            const struct node *y = &g->nodes[b->members[k]];
            int gap = shift + y->offset - x->offset;
            if (gap < x->words && -gap < y->words && interferes(g, a->members[i], b->members[k]))
                return false;
        }
    }
    return true;
}

static void move_group(struct graph *g, struct group *group, u32 by)
{
    for (u32 i = 0; i < group->count; i++)
        g->nodes[group->members[i]].offset = (u8)(g->nodes[group->members[i]].offset + by);
    group->span = (u8)(group->span + by);
}

/* Merges b into a with b's base `shift` words after a's; both keep their alignment. */
static bool unite(struct graph *g, u32 ga, u32 gb, int shift)
{
    struct group *a = &g->groups[ga], *b = &g->groups[gb];
    if (shift < 0 || (shift == 0 && b->align > a->align)) {
        struct group *swap = a;
        a = b;
        b = swap;
        ga = gb;
        shift = -shift;
    }
    u32 align = MAX(a->align, b->align);
    if ((u32)shift % MIN(a->align, b->align) || !compatible(g, a, b, shift))
        return false;
    /* the stricter alignment must still hold: lift a if it is b's */
    u32 lift = b->align > a->align ? (align - (u32)shift % align) % align : 0;
    if (lift % a->align || (a->align >= b->align && (u32)shift % b->align))
        return false;
    if (MAX(a->span + lift, lift + (u32)shift + b->span) > SPAN_MAX)
        return false;
    move_group(g, a, lift);
    move_group(g, b, lift + (u32)shift);
    u32 *members = arena_array(g->arena, u32, a->count + b->count);
    memcpy(members, a->members, a->count * sizeof(u32));
    memcpy(members + a->count, b->members, b->count * sizeof(u32));
    for (u32 i = 0; i < b->count; i++)
        g->nodes[b->members[i]].group = ga;
    a->members = members;
    a->count += b->count;
    a->align = (u8)align;
    a->span = MAX(a->span, b->span);
    b->count = 0;
    return true;
}

/* Makes the place of a member a multiple of `align`. */
static bool align_member(struct graph *g, u32 n, u32 align)
{
    struct group *group = &g->groups[g->nodes[n].group];
    u32 offset = g->nodes[n].offset;
    if (group->align >= align)
        return offset % align == 0;
    u32 lift = (align - offset % align) % align;
    if (lift % group->align || group->span + lift > SPAN_MAX)
        return false;
    move_group(g, group, lift);
    group->align = (u8)align;
    return true;
}

/* Returns the elements (as bits) that do not fit and need copies. */
static u32 group_tuple(struct graph *g, const struct tuple *tuple)
{
    u32 words = g->nodes[tuple->registers[0]].words, bad = 0;
    u32 first = tuple->registers[0];
    if (!align_member(g, first, words * tuple->count))
        return 1;
    for (u32 i = 1; i < tuple->count; i++) {
        u32 n = tuple->registers[i];
        u32 a = g->nodes[first].group, b = g->nodes[n].group;
        int place = g->nodes[first].offset + (int)(i * words);
        if (a == b ? g->nodes[n].offset != place : !unite(g, a, b, place - g->nodes[n].offset))
            bad |= 1u << i;
    }
    return bad;
}

static void single_groups(struct graph *g)
{
    g->groups = arena_array(g->arena, struct group, g->node_count + 1);
    g->group_count = g->node_count;
    u32 *members = arena_array(g->arena, u32, g->node_count + 1);
    for (u32 n = 0; n < g->node_count; n++) {
        members[n] = n;
        g->nodes[n].group = n;
        g->groups[n] = (struct group){&members[n], 1, g->nodes[n].words, g->nodes[n].words,
                                      n >= g->code.vectors};
    }
}

static struct inst copy_of(struct fn *fn, u32 to, u32 from)
{
    struct inst inst = {.vector = 1};
    inst.op = fn->vregs.data[from].words == 2 ? OP_mov_b64 : OP_mov_b32;
    inst.dst[0] = vreg_operand(fn, to);
    inst.src[0] = vreg_operand(fn, from);
    return inst;
}

/* Gives the marked elements of each tuple registers of their own. */
static void add_copies(struct fn *fn, const u32 *bad)
{
    struct rewrite r = rewrite_begin(fn);
    for (u32 i = 0; i < r.count; i++) {
        rewrite_mark(&r, i);
        struct inst inst = fn->insts.data[i];
        bool stored = !inst_loads_tuple(&inst); /* the tuple is read */
        u32 marks = inst.spare ? bad[inst.spare] : 0;
        struct inst copies[TUPLE_MAX];
        u32 count = 0;
        for (u32 k = 0; marks >> k; k++) {
            if (!(marks >> k & 1))
                continue;
            u32 *element = &fn->tuples.data[inst.spare].registers[k], old = *element;
            u32 fresh = vreg_new(fn, fn->vregs.data[old].words, TYPE_NONE);
            fn->vregs.data[fresh].in_tuple = true;
            *element = fresh;
            copies[count] = stored ? copy_of(fn, fresh, old) : copy_of(fn, old, fresh);
            copies[count].location = inst.location;
            if (!stored)
                copies[count].guard = inst.guard;
            count++;
        }
        for (u32 k = 0; stored && k < count; k++)
            rewrite_add(&r, &copies[k]);
        rewrite_add(&r, &inst);
        for (u32 k = 0; !stored && k < count; k++)
            rewrite_add(&r, &copies[k]);
    }
    rewrite_end(&r);
}

bool graph_group(struct graph *g)
{
    struct fn *fn = g->fn;
    single_groups(g);
    u32 *bad = calloc(fn->tuples.count + 1, sizeof *bad);
    bool fine = true;
    for (u32 i = 0; i < g->code.count; i++) {
        u32 t = g->code.insts[i].spare;
        if (!t)
            continue;
        const struct tuple *tuple = &fn->tuples.data[t];
        bad[t] = group_tuple(g, tuple);
        /* a copy does not fit either: copy all other elements, too */
        for (u32 k = 0; k < tuple->count; k++)
            if (bad[t] >> k & 1 && fn->vregs.data[tuple->registers[k]].in_tuple)
                for (u32 j = 0; j < tuple->count; j++)
                    bad[t] |= 1u << j;
        fine &= !bad[t];
    }
    if (!fine)
        add_copies(fn, bad);
    free(bad);
    return fine;
}
