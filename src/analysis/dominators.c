/*
 * Dominators, post-dominators and loop depths.
 *
 * Both trees by the iterative scheme of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
 * Algorithm", 2001): intersect the dominators of processed predecessors in reverse post-order until
 * nothing changes. Ordinary code settles in two passes.
 */
#include "analysis/cfg.h"
#include <stdlib.h>

/* A graph to find dominators in: the flow graph or its reverse, and its root. */
struct flow_graph {
    u32 count; /* nodes; `root` is one of them */
    u32 root;
    u32 **next, **previous;
    u32 *next_count, *previous_count;
};

struct tree {
    u32 *parent; /* immediate dominator; UINT32_MAX when not reached; the root is its own */
    u32 *order;  /* reached nodes in reverse post-order */
    u32 order_count;
};

static void post_order(const struct flow_graph *g, struct tree *tree, u32 *number)
{
    u32 *stack = malloc(g->count * sizeof *stack);
    u32 *edge = calloc(g->count, sizeof *edge);
    u8 *seen = calloc(g->count, 1);
    u32 depth = 0, done = 0;
    stack[depth++] = g->root;
    seen[g->root] = 1;
    while (depth) {
        u32 node = stack[depth - 1];
        if (edge[node] < g->next_count[node]) {
            u32 to = g->next[node][edge[node]++];
            if (!seen[to]) {
                seen[to] = 1;
                stack[depth++] = to;
            }
            continue;
        }
        number[node] = done;
        tree->order[done++] = node;
        depth--;
    }
    tree->order_count = done;
    for (u32 i = 0; i < done / 2; i++) {
        u32 swap = tree->order[i];
        tree->order[i] = tree->order[done - 1 - i];
        tree->order[done - 1 - i] = swap;
    }
    free(stack);
    free(edge);
    free(seen);
}

static u32 intersect(const u32 *parent, const u32 *number, u32 a, u32 b)
{
    while (a != b) {
        while (number[a] < number[b])
            a = parent[a];
        while (number[b] < number[a])
            b = parent[b];
    }
    return a;
}

static void dominators(const struct flow_graph *g, struct tree *tree)
{
    u32 *number = calloc(g->count, sizeof *number);
    post_order(g, tree, number);
    for (u32 i = 0; i < g->count; i++)
        tree->parent[i] = UINT32_MAX;
    tree->parent[g->root] = g->root;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 1; i < tree->order_count; i++) {
            u32 node = tree->order[i], parent = UINT32_MAX;
            for (u32 k = 0; k < g->previous_count[node]; k++) {
                u32 from = g->previous[node][k];
                if (tree->parent[from] == UINT32_MAX)
                    continue;
                parent =
                    parent == UINT32_MAX ? from : intersect(tree->parent, number, parent, from);
            }
            changed |= tree->parent[node] != parent;
            tree->parent[node] = parent;
        }
    }
    free(number);
}

static struct flow_graph graph_create(u32 count, u32 root)
{
    return (struct flow_graph){count,
                               root,
                               calloc(count, sizeof(u32 *)),
                               calloc(count, sizeof(u32 *)),
                               calloc(count, sizeof(u32)),
                               calloc(count, sizeof(u32))};
}

static void graph_free(struct flow_graph *g)
{
    free(g->next);
    free(g->previous);
    free(g->next_count);
    free(g->previous_count);
}

static struct tree tree_create(u32 count)
{
    return (struct tree){calloc(count, sizeof(u32)), calloc(count, sizeof(u32)), 0};
}

static void tree_free(struct tree *tree)
{
    free(tree->parent);
    free(tree->order);
}

/* Numbers the dominator tree depth first, so that domination is interval inclusion. */
static void number_tree(struct cfg *cfg)
{
    u32 n = cfg->count;
    u32 *child = malloc(n * sizeof *child), *sibling = malloc(n * sizeof *sibling);
    for (u32 b = 0; b < n; b++)
        child[b] = sibling[b] = NO_BLOCK;
    for (u32 i = cfg->order_count; i-- > 1;) {
        u32 b = cfg->order[i], parent = cfg->blocks[b].idom;
        sibling[b] = child[parent];
        child[parent] = b;
    }
    u32 *stack = malloc((n + 1) * sizeof *stack), depth = 0, clock = 0;
    stack[depth++] = 0;
    cfg->blocks[0].enter = ++clock;
    while (depth) {
        u32 b = stack[depth - 1];
        if (child[b] != NO_BLOCK) {
            u32 c = child[b];
            child[b] = sibling[c];
            cfg->blocks[c].enter = ++clock;
            stack[depth++] = c;
            continue;
        }
        cfg->blocks[b].leave = ++clock;
        depth--;
    }
    free(stack);
    free(child);
    free(sibling);
}

/* Adds one to the loop depth of all blocks of each natural loop; loops with the same header count
 * once. */
static void loop_depths(struct cfg *cfg)
{
    u32 n = cfg->count;
    u32 *stack = malloc((n + 1) * sizeof *stack), *mark = calloc(n, sizeof *mark);
    for (u32 h = 0; h < n; h++) {
        u32 depth = 0;
        for (u32 k = 0; k < cfg->blocks[h].predecessor_count; k++) {
            u32 from = cfg->blocks[h].predecessors[k];
            if (!cfg_dominates(cfg, h, from) || mark[from] == h + 1)
                continue;
            mark[from] = h + 1;
            stack[depth++] = from;
        }
        if (!depth)
            continue;
        bool header_seen = mark[h] == h + 1;
        mark[h] = h + 1;
        if (!header_seen)
            cfg->blocks[h].loop_depth++;
        while (depth) {
            u32 b = stack[--depth];
            cfg->blocks[b].loop_depth++;
            if (b == h)
                continue;
            for (u32 k = 0; k < cfg->blocks[b].predecessor_count; k++) {
                u32 from = cfg->blocks[b].predecessors[k];
                if (mark[from] != h + 1 && cfg->blocks[from].enter) {
                    mark[from] = h + 1;
                    stack[depth++] = from;
                }
            }
        }
    }
    free(stack);
    free(mark);
}

static void forward(struct cfg *cfg, struct arena *arena)
{
    struct flow_graph g = graph_create(cfg->count, 0);
    for (u32 b = 0; b < cfg->count; b++) {
        g.next[b] = cfg->blocks[b].successors;
        g.next_count[b] = cfg->blocks[b].successor_count;
        g.previous[b] = cfg->blocks[b].predecessors;
        g.previous_count[b] = cfg->blocks[b].predecessor_count;
    }
    struct tree tree = tree_create(cfg->count);
    dominators(&g, &tree);
    cfg->order = arena_array(arena, u32, cfg->count);
    cfg->order_count = tree.order_count;
    memcpy(cfg->order, tree.order, tree.order_count * sizeof(u32));
    for (u32 b = 0; b < cfg->count; b++)
        cfg->blocks[b].idom = b ? tree.parent[b] : NO_BLOCK;
    tree_free(&tree);
    graph_free(&g);
}

static void reach_backward(const struct cfg *cfg, u32 from, u8 *reached, u32 *stack)
{
    u32 depth = 0;
    stack[depth++] = from;
    reached[from] = 1;
    while (depth) {
        const struct cfg_block *block = &cfg->blocks[stack[--depth]];
        for (u32 k = 0; k < block->predecessor_count; k++) {
            u32 p = block->predecessors[k];
            if (!reached[p]) {
                reached[p] = 1;
                stack[depth++] = p;
            }
        }
    }
}

/* Blocks with an edge to the virtual exit: real ones, and one for each endless loop (G3). */
static u32 find_exits(const struct cfg *cfg, u32 *exits)
{
    u32 n = cfg->count, count = 0;
    u8 *reached = calloc(n, 1);
    u32 *stack = malloc((n + 1) * sizeof *stack);
    for (u32 b = 0; b < n; b++) {
        if (!cfg->blocks[b].exits)
            continue;
        exits[count++] = b;
        if (!reached[b])
            reach_backward(cfg, b, reached, stack);
    }
    for (u32 b = n; b-- > 0;) {
        if (reached[b])
            continue;
        exits[count++] = b;
        reach_backward(cfg, b, reached, stack);
    }
    free(reached);
    free(stack);
    return count;
}

static void backward(struct cfg *cfg)
{
    u32 n = cfg->count, exit = n;
    u32 *exits = malloc((n + 1) * sizeof *exits);
    u32 exit_count = find_exits(cfg, exits);
    struct flow_graph g = graph_create(n + 1, exit);
    /* previous = successors in the flow graph; blocks that exit get one more */
    u32 **longer = calloc(exit_count + 1, sizeof *longer);
    for (u32 b = 0; b < n; b++) {
        g.next[b] = cfg->blocks[b].predecessors;
        g.next_count[b] = cfg->blocks[b].predecessor_count;
        g.previous[b] = cfg->blocks[b].successors;
        g.previous_count[b] = cfg->blocks[b].successor_count;
    }
    for (u32 i = 0; i < exit_count; i++) {
        u32 b = exits[i], count = g.previous_count[b];
        longer[i] = malloc((count + 1) * sizeof(u32));
        if (count)
            memcpy(longer[i], g.previous[b], count * sizeof(u32));
        longer[i][count] = exit;
        g.previous[b] = longer[i];
        g.previous_count[b]++;
    }
    g.next[exit] = exits;
    g.next_count[exit] = exit_count;
    struct tree tree = tree_create(n + 1);
    dominators(&g, &tree);
    for (u32 b = 0; b < n; b++)
        cfg->blocks[b].ipdom = tree.parent[b] == exit ? NO_BLOCK : tree.parent[b];
    tree_free(&tree);
    graph_free(&g);
    for (u32 i = 0; i < exit_count; i++)
        free(longer[i]);
    free(longer);
    free(exits);
}

void cfg_dominators(struct cfg *cfg, struct arena *arena)
{
    forward(cfg, arena);
    number_tree(cfg);
    loop_depths(cfg);
    backward(cfg);
}
