/*
 * Ways, the paths that warps of a block have taken, for the mechanism `darsie` with sync=none:
 * warps that have taken the same branches since the block's last barrier share results.
 *
 * A way is a node of a tree: its parent is the way before its last branch, its `target` the target
 * of that branch. Each warp is at a node. A warp may still reach an entry of another way if it is
 * at an ancestor of that way.
 *
 * Invariants
 *  W1  The children of a node have different targets: equal ways are one node.
 *  W2  A node exists as long as a warp is at it, or it has children or entries. A node with no warp
 *      at it or above it is no longer a place where ways can join, and is spliced out when it has
 *      only one child: the depth of the tree is bounded by how far the first warp is ahead of the
 *      last.
 *  W3  When no node is free, the warp leaves the majority path.
 */
#include "mech/darsie.h"

static struct darsie_way *way_at(const struct darsie_block *b, u32 way)
{
    return &b->ways[way];
}

void ways_start(struct darsie_core *d, struct darsie_block *b)
{
    b->ways_free = 0;
    for (u32 i = DARSIE_WAYS; i-- > 1;) {
        b->ways[i].parent = b->ways_free;
        b->ways_free = i;
    }
    b->ways[1] = (struct darsie_way){.warps = b->majority};
    b->ways_free = 2;
    for (u64 set = b->majority; set; set &= set - 1)
        d->slots[b->slots[first_bit(set)]].way = 1;
}

/* Frees a node that is no longer needed, and its ancestors likewise. */
static void prune(struct darsie_block *b, u32 way)
{
    while (way) {
        struct darsie_way *w = way_at(b, way);
        const u32 parent = w->parent;
        if (w->warps || w->children || w->entries)
            return;
        if (parent)
            b->ways[parent].children--;
        w->parent = b->ways_free;
        b->ways_free = way;
        way = parent;
    }
}

/* Splices out a node whose last warp has moved to its child (W2). */
static void leave_out(struct darsie_block *b, u32 way, u32 child)
{
    struct darsie_way *w = way_at(b, way);
    if (w->children != 1 || w->entries)
        return;
    for (u32 at = way; at; at = b->ways[at].parent)
        if (b->ways[at].warps)
            return;
    b->ways[child].parent = w->parent;
    w->parent = b->ways_free;
    b->ways_free = way;
}

static u32 child_of(struct darsie_block *b, u32 way, u32 target)
{
    for (u32 i = 1; i < DARSIE_WAYS; i++) /* an idealisation: a linear search over all ways */
        if (b->ways[i].parent == way && b->ways[i].target == target &&
            (b->ways[i].warps || b->ways[i].children || b->ways[i].entries))
            return i;
    const u32 child = b->ways_free;
    if (!child)
        return 0;
    b->ways_free = b->ways[child].parent;
    b->ways[child] = (struct darsie_way){.parent = way, .target = target};
    b->ways[way].children++;
    return child;
}

bool ways_move(struct darsie_core *d, struct darsie_slot *s, u32 target)
{
    struct darsie_block *b = block_of(d, s);
    const u32 from = s->way, to = child_of(b, from, target);
    if (!to)
        return false;
    b->ways[from].warps &= ~bit(s->warp);
    b->ways[to].warps |= bit(s->warp);
    s->way = to;
    leave_out(b, from, to);
    return true;
}

void ways_leave(struct darsie_core *d, struct darsie_slot *s)
{
    struct darsie_block *b = block_of(d, s);
    if (!s->way)
        return;
    b->ways[s->way].warps &= ~bit(s->warp);
    prune(b, s->way);
    s->way = 0;
}

void ways_entry(struct darsie_block *b, u32 way, bool made)
{
    if (made) {
        b->ways[way].entries++;
    } else {
        b->ways[way].entries--;
        prune(b, way);
    }
}

u64 ways_before(const struct darsie_block *b, u32 way)
{
    u64 warps = 0;
    for (way = b->ways[way].parent; way; way = b->ways[way].parent)
        warps |= b->ways[way].warps;
    return warps;
}
