/* Labels of parted threads, to the fixed point. See parting.h. */
#include "analysis/parting.h"

struct parting *parting_create(struct arena *arena, const struct cfg *cfg)
{
    struct parting *p = arena_new(arena, struct parting);
    p->cfg = cfg;
    p->label = arena_array(arena, u32, cfg->count);
    p->reached = arena_array(arena, u32, cfg->count);
    p->position = arena_array(arena, u32, cfg->count);
    p->cycles = arena_array(arena, u8, cfg->count);
    p->leads = arena_array(arena, u8, cfg->count);
    p->stack = arena_array(arena, u32, cfg->count + 1);
    p->pending = arena_array(arena, u64, cfg->count / 64 + 1);
    for (u32 b = 0; b < cfg->count; b++)
        p->label[b] = NO_LABEL;
    for (u32 n = 0; n < cfg->order_count; n++)
        p->position[cfg->order[n]] = n;
    return p;
}

/* Calls for each label that arrives at a block; false: one of them was refused. */
static bool each_arrival(const struct parting *p, u32 block,
                         bool (*see)(const struct parting *p, u32 *seen, u32 label), u32 *seen)
{
    const struct cfg_block *to = &p->cfg->blocks[block];
    for (u32 k = 0; k < to->predecessor_count; k++) {
        u32 from = to->predecessors[k];
        const struct cfg_block *branch = &p->cfg->blocks[from];
        for (u32 s = 0; from == p->branch && s < branch->successor_count; s++)
            if (branch->successors[s] == block && !see(p, seen, p->cfg->count + s))
                return false;
        u32 label = p->label[from];
        if (from == p->branch && !p->rounds && !parting_is_side(p, from)) /* M1 */
            label = NO_LABEL;
        if (from != p->stop && label != NO_LABEL && !see(p, seen, label))
            return false;
    }
    return true;
}

static bool see_same(const struct parting *p, u32 *seen, u32 label)
{
    (void)p;
    if (*seen != NO_LABEL && *seen != label)
        return false;
    *seen = label;
    return true;
}

static bool see_side(const struct parting *p, u32 *seen, u32 label)
{
    (void)seen;
    return label >= p->cfg->count;
}

bool parting_is_first(const struct parting *p, u32 meeting)
{
    return each_arrival(p, meeting, see_side, NULL);
}

static void want_successors(struct parting *p, u32 block)
{
    const struct cfg_block *from = &p->cfg->blocks[block];
    for (u32 s = 0; s < from->successor_count; s++) {
        u32 place = p->position[from->successors[s]];
        p->pending[place / 64] |= 1ull << place % 64;
    }
}

static void visit(struct parting *p, u32 block)
{
    u32 label = NO_LABEL;
    if (parting_is_meeting(p, block))
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

/* Sets `from` for all blocks with a label from which a way leads to a block. */
static void walk_back(struct parting *p, u32 to, u8 *from)
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

void parting_cycles(struct parting *p)
{
    memset(p->cycles, 0, p->cfg->count);
    walk_back(p, p->branch, p->cycles);
}

void parting_find(struct parting *p, u32 branch, bool rounds)
{
    for (u32 k = 0; k < p->reached_count; k++)
        p->label[p->reached[k]] = NO_LABEL;
    p->reached_count = 0;
    p->branch = branch;
    p->rounds = rounds;
    p->stop = p->cfg->blocks[branch].ipdom;
    want_successors(p, branch);
    const u32 words = p->cfg->count / 64 + 1;
    for (bool again = true; again;) {
        again = false;
        /* Passes in the order, so that most blocks have all that arrives when they are seen (M2):
         * what lies behind waits for the next pass. */
        for (u32 w = 0; w < words; w++) {
            for (u64 ahead = ~0ull; p->pending[w] & ahead;) {
                u32 bit = (u32)__builtin_ctzll(p->pending[w] & ahead);
                ahead = ~0ull << bit << 1;
                p->pending[w] &= ~(1ull << bit);
                visit(p, p->cfg->order[64 * w + bit]);
            }
        }
        for (u32 w = 0; w < words; w++)
            again |= p->pending[w] != 0;
    }
    memset(p->leads, 0, p->cfg->count);
    for (u32 k = 0; k < p->reached_count; k++)
        if (parting_is_meeting(p, p->reached[k]))
            walk_back(p, p->reached[k], p->leads);
}
