/*
 * Colouring: optimistic (Briggs), with aligned groups.
 *
 * The number of registers starts at the largest number live at once and grows until everything has
 * a place. For each number two orders are tried: removal of nodes that surely find a place (the
 * classic one), and the order of definition, which is perfect for straight code without pairs.
 *
 *  R1  A base is a multiple of its group's alignment.
 *  R2  Single registers prefer holes beside occupied ones, so that aligned pairs stay free.
 *  R3  With kinds, groups of the other kind count neither as neighbours nor as members of the class:
 *      their registers are different ones anyway.
 */
#include "analysis/lifetimes.h"
#include "analysis/sides.h"
#include "isa/ptx/regalloc.h"
#include <stdlib.h>

#define COLORS_MAX 2048
#define WORDS (COLORS_MAX / 64)

struct coloring {
    struct graph *g;
    bool masks;
    const u8 *kinds; /* by group: whether it is long-lived; NULL: that does not matter */
    u8 kind;
    u32 limit;    /* registers now */
    u32 reserved; /* lowest registers, which are reserved */
    u32 *order;   /* groups, first to be coloured first */
    u32 count;
    u32 *list; /* all groups of the class */
    u32 *degree;
    u8 *removed;
    u32 *by_cost; /* groups, cheapest to spill first */
    f64 *price;
};

/* Whether a group is of the kind that is coloured (R3). */
static bool in_kind(const struct coloring *c, u32 group)
{
    return !c->kinds || c->kinds[group] == c->kind;
}

static bool in_class(const struct coloring *c, u32 which)
{
    const struct group *group = &c->g->groups[which];
    return group->count && group->is_mask == c->masks && group->members[0] != 0 &&
           in_kind(c, which);
}

/* The places of a group that a neighbour of `words` can block. */
static u32 blocks(const struct group *group, u32 words)
{
    return group->align >= words ? 1 : words / group->align;
}

static u32 places(const struct coloring *c, const struct group *group)
{
    if (c->limit < group->span + c->reserved)
        return 0;
    u32 first = (u32)align_up(c->reserved, group->align);
    return c->limit < first + group->span ? 0 : (c->limit - first - group->span) / group->align + 1;
}

static void count_degrees(struct coloring *c)
{
    struct graph *g = c->g;
    for (u32 i = 0; i < c->count; i++) {
        const struct group *group = &g->groups[c->list[i]];
        u32 degree = 0;
        for (u32 m = 0; m < group->count; m++) {
            const struct node *node = &g->nodes[group->members[m]];
            for (u32 k = 0; k < node->neighbour_count; k++) {
                const struct node *other = &g->nodes[node->neighbours[k]];
                degree += in_kind(c, other->group) ? blocks(group, other->words) : 0;
            }
        }
        c->degree[c->list[i]] = degree;
        c->removed[c->list[i]] = 0;
    }
}

static void remove_group(struct coloring *c, u32 which, u32 *stack, u32 *depth)
{
    struct graph *g = c->g;
    c->removed[which] = 1;
    for (u32 m = 0; m < g->groups[which].count; m++) {
        const struct node *node = &g->nodes[g->groups[which].members[m]];
        for (u32 k = 0; k < node->neighbour_count; k++) {
            u32 other = g->nodes[node->neighbours[k]].group;
            const struct group *group = &g->groups[other];
            if (c->removed[other] || other == which || !in_kind(c, other))
                continue;
            u32 room = places(c, group), before = c->degree[other];
            c->degree[other] -= blocks(group, node->words);
            if (before >= room && c->degree[other] < room)
                stack[(*depth)++] = other;
        }
    }
}

/* The classic order: easy nodes are removed first and coloured last. */
static void order_by_removal(struct coloring *c)
{
    u32 *stack = malloc((c->count + 1) * sizeof *stack), depth = 0, done = c->count, next = 0;
    count_degrees(c);
    for (u32 i = 0; i < c->count; i++)
        if (c->degree[c->list[i]] < places(c, &c->g->groups[c->list[i]]))
            stack[depth++] = c->list[i];
    while (done) {
        u32 which;
        if (depth) {
            which = stack[--depth];
        } else {
            while (c->removed[c->by_cost[next]])
                next++;
            which = c->by_cost[next];
        }
        if (c->removed[which])
            continue;
        c->order[--done] = which;
        remove_group(c, which, stack, &depth);
    }
    free(stack);
}

/* By first appearance, walking blocks in reverse post-order. */
static void order_by_definition(struct coloring *c)
{
    struct graph *g = c->g;
    u32 done = 0;
    for (u32 i = 0; i < c->count; i++)
        c->removed[c->list[i]] = 0;
    for (u32 i = 0; i < g->cfg->order_count; i++) {
        const struct cfg_block *block = &g->cfg->blocks[g->cfg->order[i]];
        for (u32 k = block->first; k < block->end; k++) {
            struct refs refs;
            inst_refs(&g->code, &g->code.insts[k], &refs);
            for (u32 w = 0; w < refs.read_count + refs.write_count; w++) {
                u32 n = w < refs.read_count ? refs.reads[w] : refs.writes[w - refs.read_count];
                u32 which = g->nodes[n].group;
                if (!in_class(c, which) || c->removed[which])
                    continue;
                c->removed[which] = 1;
                c->order[done++] = which;
            }
        }
    }
    for (u32 i = 0; i < c->count; i++)
        if (!c->removed[c->list[i]])
            c->order[done++] = c->list[i];
}

static void forbid(u64 *taken, i64 first, i64 end)
{
    for (i64 i = MAX(first, 0); i < end && i < COLORS_MAX; i++)
        taken[i / 64] |= 1ull << (i % 64);
}

/* Bases at which some member would overlap a coloured neighbour. */
static void find_taken(const struct coloring *c, const struct group *group, u64 *taken)
{
    const struct graph *g = c->g;
    memset(taken, 0, WORDS * sizeof *taken);
    for (u32 m = 0; m < group->count; m++) {
        const struct node *node = &g->nodes[group->members[m]];
        for (u32 k = 0; k < node->neighbour_count; k++) {
            const struct node *other = &g->nodes[node->neighbours[k]];
            if (other->color == NO_COLOR)
                continue;
            i64 at = (i64)other->color - node->offset;
            forbid(taken, at - node->words + 1, at + other->words);
        }
    }
}

static bool is_taken(const u64 *taken, u32 i)
{
    return taken[i / 64] >> (i % 64) & 1;
}

static u32 choose(const struct coloring *c, const struct group *group, const u64 *taken)
{
    const struct graph *g = c->g;
    for (u32 m = 0; m < group->count; m++) {
        const struct node *node = &g->nodes[group->members[m]];
        u32 hint = node->hint == NO_COLOR ? NO_COLOR : g->nodes[node->hint].color;
        if (hint == NO_COLOR || hint < node->offset + c->reserved)
            continue;
        u32 base = hint - node->offset;
        if (base % group->align == 0 && base + group->span <= c->limit && !is_taken(taken, base))
            return base;
    }
    u32 best = NO_COLOR;
    for (u32 base = (u32)align_up(c->reserved, group->align); base + group->span <= c->limit;
         base += group->align) {
        if (is_taken(taken, base))
            continue;
        u32 twin = base ^ group->align;
        if (c->masks || group->align > 2 || twin < c->reserved || twin + group->span > c->limit ||
            is_taken(taken, twin))
            return base;
        if (best == NO_COLOR)
            best = base;
    }
    return best;
}

static void clear_colors(struct coloring *c)
{
    for (u32 i = 0; i < c->count; i++) {
        const struct group *group = &c->g->groups[c->list[i]];
        for (u32 m = 0; m < group->count; m++)
            c->g->nodes[group->members[m]].color = NO_COLOR;
    }
}

/* Colours in order; groups without a place are marked in `failed` (if given) and left out. */
static bool select_colors(struct coloring *c, u8 *failed)
{
    u64 taken[WORDS];
    bool fine = true;
    clear_colors(c);
    for (u32 i = 0; i < c->count; i++) {
        const struct group *group = &c->g->groups[c->order[i]];
        find_taken(c, group, taken);
        u32 base = choose(c, group, taken);
        if (base == NO_COLOR) {
            fine = false;
            if (!failed)
                return false;
            failed[c->order[i]] = 1;
            continue;
        }
        for (u32 m = 0; m < group->count; m++) {
            struct node *node = &c->g->nodes[group->members[m]];
            node->color = base + node->offset;
        }
    }
    return fine;
}

static f64 group_price(const struct graph *g, const struct group *group)
{
    f64 cost = 0, degree = 1;
    for (u32 m = 0; m < group->count; m++) {
        const struct node *node = &g->nodes[group->members[m]];
        if (node->no_spill)
            return 1e300;
        cost += node->cost;
        degree += node->neighbour_count * node->words;
    }
    return cost / degree;
}

static int by_price(const void *a, const void *b, void *price)
{
    f64 x = ((f64 *)price)[*(const u32 *)a], y = ((f64 *)price)[*(const u32 *)b];
    if (x != y)
        return x < y ? -1 : 1;
    u32 i = *(const u32 *)a, k = *(const u32 *)b;
    return i < k ? -1 : i > k;
}

/* The cheapest coloured neighbour of a group that cannot be spilled itself: it is spilled
 * instead. */
static u32 cheapest_neighbour(const struct coloring *c, u32 which)
{
    const struct graph *g = c->g;
    u32 best = NO_COLOR;
    for (u32 m = 0; m < g->groups[which].count; m++) {
        const struct node *node = &g->nodes[g->groups[which].members[m]];
        for (u32 k = 0; k < node->neighbour_count; k++) {
            u32 other = g->nodes[node->neighbours[k]].group;
            if (c->price[other] < 1e300 && (best == NO_COLOR || c->price[other] < c->price[best]))
                best = other;
        }
    }
    return best;
}

static void mark_spills(struct coloring *c, const u8 *failed, u8 *spill)
{
    struct graph *g = c->g;
    for (u32 i = 0; i < c->count; i++) {
        u32 which = c->list[i];
        if (!failed[which])
            continue;
        if (c->price[which] >= 1e300)
            which = cheapest_neighbour(c, which);
        for (u32 m = 0; which != NO_COLOR && m < g->groups[which].count; m++)
            spill[g->groups[which].members[m]] = 1;
    }
}

static void prepare(struct coloring *c)
{
    struct graph *g = c->g;
    u32 n = g->group_count + 1;
    c->list = arena_array(g->arena, u32, n);
    c->order = arena_array(g->arena, u32, n);
    c->by_cost = arena_array(g->arena, u32, n);
    c->degree = arena_array(g->arena, u32, n);
    c->removed = arena_array(g->arena, u8, n);
    c->price = arena_array(g->arena, f64, n);
    for (u32 i = 0; i < g->group_count; i++) {
        if (!in_class(c, i))
            continue;
        c->list[c->count] = c->by_cost[c->count] = i;
        c->price[i] = group_price(g, &g->groups[i]);
        c->count++;
    }
    if (c->count)
        qsort_r(c->by_cost, c->count, sizeof(u32), by_price, c->price);
}

static u32 colors_used(const struct coloring *c)
{
    u32 used = c->reserved;
    for (u32 i = 0; i < c->count; i++) {
        const struct group *group = &c->g->groups[c->list[i]];
        for (u32 m = 0; m < group->count; m++) {
            const struct node *node = &c->g->nodes[group->members[m]];
            used = MAX(used, node->color + node->words);
        }
    }
    return used;
}

/* Colours with as few registers as possible, from `lowest` to `limit`. */
static bool color_with(struct coloring *c, u32 lowest, u32 limit, u32 *used)
{
    for (c->limit = MIN(lowest, limit); c->limit <= limit; c->limit++) {
        order_by_removal(c);
        if (!select_colors(c, NULL)) {
            order_by_definition(c);
            if (!select_colors(c, NULL))
                continue;
        }
        *used = colors_used(c);
        return true;
    }
    return false;
}

bool graph_color(struct graph *g, bool masks, u32 limit, u32 *used, u8 *spill)
{
    struct coloring c = {.g = g, .masks = masks};
    c.reserved = !masks && g->reserve_first;
    prepare(&c);
    u32 lowest = masks ? g->max_masks : g->max_live;
    limit = MIN(limit, COLORS_MAX - 32u);
    if (color_with(&c, lowest, limit, used))
        return true;
    if (!spill)
        return false;
    c.limit = limit;
    u8 *failed = calloc(g->group_count + 1, 1);
    order_by_removal(&c);
    select_colors(&c, failed);
    mark_spills(&c, failed, spill);
    free(failed);
    return false;
}

/* ---- kinds ---- */

/* The analysis keeps a number for each register and block. */
#define KINDS_MAX (1u << 25)

/* By group: whether a value in it may live longer than the limit. NULL: the code is too large. */
static u8 *find_kinds(struct graph *g, u32 life_limit)
{
    const struct code *code = &g->code;
    if ((u64)code->vectors * MAX(g->cfg->count, code->count / 16) > KINDS_MAX)
        return NULL;
    const struct lifetimes *l = lifetimes_compute(g->arena, code, g->cfg, NULL, NULL);
    u8 *kinds = arena_array(g->arena, u8, g->group_count + 1);
    for (u32 n = 0; n < code->vectors; n++)
        if (l->longest[n] > life_limit)
            kinds[g->nodes[n].group] = 1;
    return kinds;
}

/* By group: whether a value in it is used elsewhere than on sides of branches (analysis/sides.h).
 * NULL: it is not known, or none is used there only. */
static u8 *find_sides(struct graph *g)
{
    const struct code *code = &g->code;
    const struct sides *sides = sides_find(g->arena, code, g->cfg);
    u8 *kinds = sides ? arena_array(g->arena, u8, g->group_count + 1) : NULL;
    bool some = false;
    for (u32 n = 0; kinds && n < code->vectors; n++) {
        kinds[g->nodes[n].group] |= !sides->location[n];
        some |= sides->location[n];
    }
    return some ? kinds : NULL;
}

bool graph_color_kinds(struct graph *g, u32 limit, u32 life_limit, u32 *used)
{
    const u8 *kinds = life_limit ? find_kinds(g, life_limit) : find_sides(g);
    u32 first = g->reserve_first;
    limit = MIN(limit, COLORS_MAX - 32u);
    for (u32 kind = 2; kinds && kind-- > 0;) {
        struct coloring c = {.g = g, .kinds = kinds, .kind = (u8)kind, .reserved = first};
        prepare(&c);
        if (!color_with(&c, first, limit, &first))
            return false;
    }
    *used = first;
    return kinds;
}
