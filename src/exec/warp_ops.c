/*
 * Instructions across the lanes of a warp: shuffle, vote, match, reduction, election, warp barrier.
 *
 * They work within 32 lanes (see special.c). Lanes with the same member mask form a group; without
 * a member mask, the lanes of the path do. A group executes when all live lanes that its mask names
 * are there. Otherwise it waits, split from the lanes of its path that can continue, until the
 * others reach an instruction with the same op, qualifiers and member mask, at the same place in
 * the program or not; then all of them execute it together, each with its own registers.
 *
 * Deviations: a shuffle from a lane that does not participate gives the lane its own value (PTX
 * leaves it undefined). A lane that is not in its own member mask participates nevertheless.
 */
#include "exec/register_file.h"

/* Lanes that execute one instruction of a group, which may be spread over several instructions. */
struct group_part {
    u32 pc, mask;
};

struct lane_group {
    struct chunk *chunk;
    struct group_part parts[LANES];
    u32 count;
    u32 mask;                                         /* of all parts */
    _Alignas(64) u32 a[2][LANES], b[LANES], c[LANES]; /* sources by lane, set by gather */
    u32 predicate;                                    /* a mask source */
    u32 result[LANES];
    u32 flags; /* a mask result */
};

static int member_slot(const struct inst *inst)
{
    switch (inst->op) {
    case OP_vote:
    case OP_ballot:
    case OP_match_any:
    case OP_match_all:
    case OP_redux:
        return 1;
    case OP_shfl:
        return 3;
    case OP_bar_warp:
    case OP_elect:
        return 0;
    default:
        return -1;
    }
}

static const u32 *member_row(const struct warp *warp, const struct chunk *chunk, u32 pc)
{
    int slot = member_slot(warp_inst(warp, pc));
    return slot < 0 ? NULL : chunk_row(chunk, &warp->exec->image->steps[pc], (unsigned)slot);
}

/* dst = src in the lanes of mask; a row that the op does not have is zeros, in all parts. */
static inline void copy_lanes(u32 *dst, const u32 *src, u32 mask)
{
    if (!src)
        memset(dst, 0, LANES * sizeof *dst);
    else if (mask == LANES_FULL)
        memcpy(dst, src, LANES * sizeof *dst);
    else
        for (u32 set = mask; set; set &= set - 1)
            dst[first_lane(set)] = src[first_lane(set)];
}

static void gather(const struct warp *warp, struct lane_group *g)
{
    u32 stride = warp->exec->image->warp_size;
    if (g->mask != LANES_FULL) {
        memset(g->a, 0, sizeof g->a);
        memset(g->b, 0, sizeof g->b);
        memset(g->c, 0, sizeof g->c);
    }
    for (u32 i = 0; i < g->count; i++) {
        const struct inst *inst = warp_inst(warp, g->parts[i].pc);
        const struct step *step = &warp->exec->image->steps[g->parts[i].pc];
        const u32 *a = chunk_row(g->chunk, step, 0);
        if (inst->op == OP_vote || inst->op == OP_ballot) {
            u32 source = a ? *a ^ (inst->src[0].neg ? LANES_FULL : 0) : 0;
            g->predicate |= source & g->parts[i].mask;
            continue;
        }
        if (!a)
            continue;
        u32 mask = g->parts[i].mask;
        copy_lanes(g->a[0], a, mask);
        copy_lanes(g->a[1], inst->src[0].count > 1 ? a + stride : NULL, mask);
        if (inst->op != OP_shfl)
            continue;
        copy_lanes(g->b, chunk_row(g->chunk, step, 1), mask);
        copy_lanes(g->c, chunk_row(g->chunk, step, 2), mask);
    }
}

static void scatter(struct warp *warp, const struct lane_group *g)
{
    u32 stride = warp->exec->image->warp_size;
    for (u32 i = 0; i < g->count; i++) {
        const struct inst *inst = warp_inst(warp, g->parts[i].pc);
        const struct step *step = &warp->exec->image->steps[g->parts[i].pc];
        u32 mask = g->parts[i].mask;
        for (unsigned k = 0; k < 2; k++) {
            u32 *to = chunk_row(g->chunk, step, SLOT_DST + k);
            if (!to)
                continue;
            if (inst->dst[k].kind == OPERAND_MASK) {
                *to = (*to & ~mask) | (g->flags & mask);
                continue;
            }
            copy_lanes(to, g->result, mask);
            for (u32 j = 1; j < inst->dst[k].count; j++)
                copy_lanes(to + j * stride, warp->exec->image->constants, mask); /* zeros (P3 of
                                                                                  * ir/program.h) */
        }
    }
}

static void vote(struct lane_group *g, u32 key)
{
    bool all = g->predicate == g->mask, any = g->predicate != 0;
    bool result = key == 0 ? all : key == 1 ? any : all || !any;
    g->flags = result ? g->mask : 0;
}

static void match(struct lane_group *g, bool all)
{
    u32 same_as_first = 0;
    for (u32 set = g->mask; set; set &= set - 1) {
        u32 lane = first_lane(set), same = 0;
        for (u32 others = g->mask; others; others &= others - 1) {
            u32 other = first_lane(others);
            same |= (u32)(g->a[0][other] == g->a[0][lane] && g->a[1][other] == g->a[1][lane])
                    << other;
        }
        g->result[lane] = same;
        if (lane == first_lane(g->mask))
            same_as_first = same;
    }
    if (!all)
        return;
    bool agree = same_as_first == g->mask;
    g->flags = agree ? g->mask : 0;
    for (u32 lane = 0; lane < LANES; lane++)
        g->result[lane] = agree ? g->mask : 0;
}

static u32 reduce_two(const struct inst *inst, u32 a, u32 b)
{
    bool is_signed = type_is_signed(inst->type);
    switch (inst->key) {
    case ATOMIC_ADD:
        return a + b;
    case ATOMIC_MIN:
        return (is_signed ? (i32)a < (i32)b : a < b) ? a : b;
    case ATOMIC_MAX:
        return (is_signed ? (i32)a > (i32)b : a > b) ? a : b;
    case ATOMIC_AND:
        return a & b;
    case ATOMIC_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void spread(struct lane_group *g, u32 value)
{
    for (u32 lane = 0; lane < LANES; lane++)
        g->result[lane] = value;
}

static void reduce(struct lane_group *g, const struct inst *inst)
{
    u32 value = g->a[0][first_lane(g->mask)];
    for (u32 set = g->mask & (g->mask - 1); set; set &= set - 1)
        value = reduce_two(inst, value, g->a[0][first_lane(set)]);
    spread(g, value);
}

static void group_run(struct warp *warp, struct lane_group *g)
{
    assert(g->count);
    const struct inst *inst = warp_inst(warp, g->parts[0].pc);
    gather(warp, g);
    switch (inst->op) {
    case OP_vote:
        vote(g, inst->key);
        break;
    case OP_ballot:
        spread(g, g->predicate);
        break;
    case OP_shfl:
        g->flags =
            warp->exec->image->moves->shuffle(inst->key, g->result, g->a[0], g->b, g->c, g->mask);
        break;
    case OP_match_any:
        match(g, false);
        break;
    case OP_match_all:
        match(g, true);
        break;
    case OP_redux:
        reduce(g, inst);
        break;
    case OP_activemask:
        spread(g, g->mask);
        break;
    case OP_elect:
        spread(g, first_lane(g->mask));
        g->flags = g->mask & -g->mask;
        break;
    default: /* bar.warp.sync: nothing but the meeting */
        return;
    }
    scatter(warp, g);
}

static void group_begin(struct lane_group *g, struct chunk *chunk)
{
    g->chunk = chunk;
    g->count = g->mask = g->predicate = g->flags = 0;
}

static void group_add(struct lane_group *g, u32 pc, u32 mask)
{
    g->parts[g->count++] = (struct group_part){pc, mask};
    g->mask |= mask;
}

/* A ballot of lanes that are all at one instruction: there is nothing to gather. */
static void ballot(struct chunk *chunk, const struct inst *inst, const struct step *step, u32 mask)
{
    const u32 *predicate = chunk_row(chunk, step, 0);
    u32 *to = chunk_row(chunk, step, SLOT_DST);
    const u32 votes = predicate ? (*predicate ^ (inst->src[0].neg ? LANES_FULL : 0)) & mask : 0;
    if (mask == LANES_FULL)
        for (u32 lane = 0; lane < LANES; lane++)
            to[lane] = votes;
    else
        for (u32 set = mask; set; set &= set - 1)
            to[first_lane(set)] = votes;
}

static void run_one(struct warp *warp, u32 pc, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    if (inst->op == OP_ballot && inst->dst[0].kind == OPERAND_VECTOR && inst->dst[0].count == 1) {
        ballot(chunk, inst, &warp->exec->image->steps[pc], mask);
        return;
    }
    struct lane_group g;
    group_begin(&g, chunk);
    group_add(&g, pc, mask);
    group_run(warp, &g);
}

/* Lanes of `mask` with the same member mask as its first lane. */
static u32 same_members(const u32 *members, u32 mask)
{
    u32 value = members[first_lane(mask)], same = 0, differ = 0;
    for (u32 lane = 0; lane < LANES; lane++)
        differ |= members[lane] ^ value;
    if (LIKELY(!differ))
        return mask;
    for (u32 lane = 0; lane < LANES; lane++)
        same |= (u32)(members[lane] == value) << lane;
    return same & mask;
}

/* Executes every complete group of the path; returns the lanes that must wait. */
static lane_set run_complete(struct warp *warp, u32 pc, lane_set lanes)
{
    lane_set waiting = 0;
    const struct inst *inst = warp_inst(warp, pc);
    const int slot = member_slot(inst);
    const bool differ = slot >= 0 && inst->src[slot].kind != OPERAND_CONST;
    const struct step *step = &warp->exec->image->steps[pc];
    for (u32 c = 0; c < warp->exec->image->chunks; c++) {
        struct chunk *chunk = &warp->chunks[c];
        const u32 *members = slot < 0 ? NULL : chunk_row(chunk, step, (unsigned)slot);
        u32 group;
        for (u32 left = lanes_of_chunk(lanes, c); left; left &= ~group) {
            group = members && differ ? same_members(members, left) : left;
            u32 needed = members ? members[first_lane(group)] & lanes_of_chunk(warp->live, c) : 0;
            if (needed & ~group)
                waiting |= chunk_lanes(group, c);
            else
                run_one(warp, pc, chunk, group);
        }
    }
    return waiting;
}

static bool same_operation(const struct inst *a, const struct inst *b)
{
    return a->op == b->op && a->key == b->key && a->key2 == b->key2 && a->type == b->type;
}

/* Executes the group of a waiting leaf if it is complete now. */
static bool join(struct warp *warp, u32 leaf)
{
    const struct path *first = &warp->paths[leaf];
    u32 c = lanes_of_chunk(first->mask, 0) ? 0 : 1;
    struct lane_group g;
    u32 leaves[LANES];
    group_begin(&g, &warp->chunks[c]);
    for (u32 i = 0; i < warp->order_count; i++) {
        const struct path *path = &warp->paths[warp->order[i]];
        if (path->state != PATH_SYNC || path->members != first->members ||
            !lanes_of_chunk(path->mask, c) ||
            !same_operation(warp_inst(warp, path->pc), warp_inst(warp, first->pc)))
            continue;
        leaves[g.count] = warp->order[i];
        group_add(&g, path->pc, lanes_of_chunk(path->mask, c));
    }
    if (first->members & lanes_of_chunk(warp->live, c) & ~g.mask)
        return false;
    const u32 count = g.count;
    const bool opened = register_open(warp);
    group_run(warp, &g);
    if (opened)
        register_close(warp);
    for (u32 i = 0; i < count; i++)
        paths_advance(warp, &warp->paths[leaves[i]]);
    return true;
}

/* Lanes have exited or wait: some group may be complete. */
void cross_retry(struct warp *warp)
{
    for (u32 i = 0; i < warp->order_count; i++)
        if (warp->paths[warp->order[i]].state == PATH_SYNC)
            join(warp, warp->order[i]);
}

/* Splits the waiting lanes into leaves of one chunk and one member mask each, which wait. */
static void park_groups(struct warp *warp, u32 pc, lane_set waiting)
{
    lane_set going = warp->active & ~waiting;
    if (going) {
        u32 leaf = paths_split(warp, going);
        paths_advance(warp, &warp->paths[leaf]);
    }
    for (u32 c = 0; c < warp->exec->image->chunks; c++) {
        const u32 *members = member_row(warp, &warp->chunks[c], pc);
        u32 group;
        for (u32 left = lanes_of_chunk(waiting, c); left; left &= ~group) {
            group = same_members(members, left);
            u32 leaf = chunk_lanes(group, c) == warp_path(warp)->mask
                           ? warp->current
                           : paths_split(warp, chunk_lanes(group, c));
            struct path *path = &warp->paths[leaf];
            path->members = members[first_lane(group)];
            path->state = PATH_SYNC;
        }
    }
    paths_park(warp, PATH_SYNC);
}

enum outcome_step cross_step(struct warp *warp, u32 pc, lane_set lanes)
{
    lane_set waiting = run_complete(warp, pc, lanes);
    if (!waiting)
        return STEP_NEXT;
    park_groups(warp, pc, waiting);
    cross_retry(warp);
    if (warp->current == NO_PATH)
        paths_select(warp);
    return STEP_PARK;
}
