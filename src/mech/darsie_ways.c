/*
 * Ways that warps of a block have come, for the mechanism `darsie` without barriers behind branches
 * (sync=none): those that have taken the same branches since the block's last barrier share.
 *
 * A way is a node of a tree: its parent is the way before its last branch, its `target` where that
 * branch went. Each warp stands at a node. A warp may still come to an entry of another way if it
 * stands at an ancestor of that.
 *
 * Invariants
 *  W1  Of two children of a node, the targets differ: equal ways are one node.
 *  W2  A node exists as long as a warp stands there, or it has children or entries. A node with no
 *      warp at it or above it is no longer a place where ways can join, and is left out when it has
 *      only one child: the tree is as deep as the first warp is ahead of the last one.
 *  W3  When there is no room for another way, the warp leaves the majority path.
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

/* Nobody needs it, or those above it. */
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

/* W2: a warp has gone from a node to its child. */
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
    for (u32 i = 1; i < DARSIE_WAYS; i++) /* an idealisation: there may be many */
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
