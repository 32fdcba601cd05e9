/* Labels of separated threads, to the fixed point. See divergence.h. */
#include "analysis/divergence.h"

/* Finds blocks that may be in a cycle: an edge from this place in the order or a later one leads
 * back to this place or an earlier one. */
static void find_loops(struct divergence *p)
{
    const struct cfg *cfg = p->cfg;
    u32 first = cfg->order_count; /* earliest target of edges back, from this place or later ones */
    for (u32 n = cfg->order_count; n-- > 0;) {
        const struct cfg_block *block = &cfg->blocks[cfg->order[n]];
        for (u32 s = 0; s < block->successor_count; s++)
            if (p->position[block->successors[s]] <= n)
                first = MIN(first, p->position[block->successors[s]]);
        p->loops[cfg->order[n]] = first <= n;
    }
}

struct divergence *divergence_create(struct arena *arena, const struct cfg *cfg)
{
    struct divergence *p = arena_new(arena, struct divergence);
    p->cfg = cfg;
    p->label = arena_array(arena, u32, cfg->count);
    p->reached = arena_array(arena, u32, cfg->count);
    p->position = arena_array(arena, u32, cfg->count);
    p->cycles = arena_array(arena, u8, cfg->count);
    p->leads = arena_array(arena, u8, cfg->count);
    p->stack = arena_array(arena, u32, cfg->count + 1);
    p->loops = arena_array(arena, u8, cfg->count);
    p->pending = arena_array(arena, u64, cfg->count / 64 + 1);
    for (u32 b = 0; b < cfg->count; b++)
        p->label[b] = NO_LABEL;
    for (u32 n = 0; n < cfg->order_count; n++)
        p->position[cfg->order[n]] = n;
    find_loops(p);
    return p;
}

/* Calls `see` for each label that arrives at a block; false: `see` has refused one. */
static bool each_arrival(const struct divergence *p, u32 block,
                         bool (*see)(const struct divergence *p, u32 *seen, u32 label), u32 *seen)
{
    const struct cfg_block *to = &p->cfg->blocks[block];
    for (u32 k = 0; k < to->predecessor_count; k++) {
        u32 from = to->predecessors[k];
        const struct cfg_block *branch = &p->cfg->blocks[from];
        for (u32 s = 0; from == p->branch && s < branch->successor_count; s++)
            if (branch->successors[s] == block && !see(p, seen, p->cfg->count + s))
                return false;
        u32 label = p->label[from];
        if (from == p->branch && !p->rounds && !divergence_is_side(p, from)) /* M1 */
            label = NO_LABEL;
        if (from != p->stop && label != NO_LABEL && !see(p, seen, label))
            return false;
    }
    return true;
}

static bool see_same(const struct divergence *p, u32 *seen, u32 label)
{
    (void)p;
    if (*seen != NO_LABEL && *seen != label)
        return false;
    *seen = label;
    return true;
}

static bool see_side(const struct divergence *p, u32 *seen, u32 label)
{
    (void)seen;
    return label >= p->cfg->count;
}

bool divergence_is_first(const struct divergence *p, u32 meeting)
{
    return each_arrival(p, meeting, see_side, NULL);
}

static void want_successors(struct divergence *p, u32 block)
{
    const struct cfg_block *from = &p->cfg->blocks[block];
    for (u32 s = 0; s < from->successor_count; s++) {
        u32 place = p->position[from->successors[s]];
        p->pending_count += !(p->pending[place / 64] >> place % 64 & 1);
        p->pending[place / 64] |= 1ull << place % 64;
    }
}

static void visit(struct divergence *p, u32 block)
{
    u32 label = NO_LABEL;
    if (divergence_is_meeting(p, block))
        return; /* M2 */
    if (!each_arrival(p, block, see_same, &label))
        label = block;
    if (label == p->label[block])
        return;
    if (p->label[block] == NO_LABEL)
        p->reached[p->reached_count++] = block;
    p->label[block] = label;
    if (block != p->stop)
        want_successors(p, block);
}

/* Sets `from` for all labelled blocks from which a path leads to a block. */
static void walk_back(struct divergence *p, u32 to, u8 *from)
{
    u32 depth = 0;
    p->stack[depth++] = to;
    while (depth) {
        const struct cfg_block *block = &p->cfg->blocks[p->stack[--depth]];
        for (u32 k = 0; k < block->predecessor_count; k++) {
            u32 b = block->predecessors[k];
            if (from[b] || p->label[b] == NO_LABEL || b == p->stop)
                continue;
            from[b] = 1;
            p->stack[depth++] = b;
        }
    }
}

void divergence_cycles(struct divergence *p)
{
    walk_back(p, p->branch, p->cycles);
}

void divergence_find(struct divergence *p, u32 branch, bool rounds)
{
    for (u32 k = 0; k < p->reached_count; k++) {
        p->label[p->reached[k]] = NO_LABEL;
        p->leads[p->reached[k]] = p->cycles[p->reached[k]] = 0;
    }
    p->reached_count = 0;
    p->branch = branch;
    p->rounds = rounds;
    p->pending_count = 0;
    p->stop = p->cfg->blocks[branch].ipdom;
    want_successors(p, branch);
    const u32 words = p->cfg->count / 64 + 1;
    while (p->pending_count) {
        /* Passes in reverse post-order, so that most blocks are visited after all their labels have
         * arrived (M2); blocks earlier in the order wait for the next pass. */
        for (u32 w = 0; w < words; w++) {
            for (u64 ahead = ~0ull; p->pending[w] & ahead;) {
                u32 bit = (u32)__builtin_ctzll(p->pending[w] & ahead);
                ahead = ~0ull << bit << 1;
                p->pending[w] &= ~(1ull << bit);
                p->pending_count--;
                if (!p->pending_count && !p->loops[branch] && p->stop == NO_BLOCK)
                    p->stop = p->cfg->order[64 * w + bit]; /* M3 */
                visit(p, p->cfg->order[64 * w + bit]);
            }
        }
    }
    for (u32 k = 0; k < p->reached_count; k++)
        if (divergence_is_meeting(p, p->reached[k]))
            walk_back(p, p->reached[k], p->leads);
}
