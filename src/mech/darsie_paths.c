/*
 * The majority path of a block, for the mechanism `darsie`.
 *
 * Warps of a block share results only while they take the same path. After every conditional
 * branch, the warps on the majority path wait for each other; then the path that most of them have
 * taken (among equals, that of the lowest warp) is the majority path. The others have left it: they
 * copy their shared registers to their own and skip nothing until a barrier of the whole block,
 * after which all full, convergent warps are back.
 *
 * Invariants
 *  P1  Warps on the majority path are full and convergent, and have executed the same instructions
 *      since `start`, as far as each has advanced.
 *  P2  Warps held after a branch are in `arrived`, and are not held for another reason.
 *  P3  Entries of the skip table belong to the majority's current way: they are removed when it
 *      ends.
 */
#include "mech/darsie.h"

/* Whether the warp is full and all its lanes are on one path. */
static bool is_whole(const struct darsie_core *d, const struct warp *warp)
{
    return warp->live == core_all_lanes(d->core) && warp->order_count == 1 &&
           warp->paths[warp->order[0]].mask == core_all_lanes(d->core);
}

static void begin_way(struct darsie_core *d, struct darsie_block *b)
{
    table_flush(d, b);
    b->way++;
    if (b->ways)
        ways_start(d, b);
    d->stats->majority_writes++;
    for (u64 set = b->majority; set; set &= set - 1) {
        const u32 warp = first_bit(set);
        struct darsie_slot *s = &d->slots[b->slots[warp]];
        s->way = b->ways ? s->way : b->way;
        s->private = s->probed = 0;
        b->start[warp] = core_slot(d->core, b->slots[warp])->warp->instructions;
    }
}

void paths_unstall(struct darsie_core *d, struct darsie_block *b, u64 warps)
{
    const u64 ready = b->stalled & warps;
    b->stalled &= ~ready;
    core_release_fetch(d->core, slots_of(b, ready));
}

/* The warp stops leading: its results in flight go to its own registers. */
static void abdicate(struct darsie_core *d, struct darsie_block *b, struct darsie_slot *s)
{
    EACH_ENTRY(e, d, b)
    if (e->leader == s->warp && !e->written)
        table_remove(d, b, e);
    for (u32 i = 0; s->leading && i < CORE_INFLIGHT; i++) {
        struct inflight *inflight = core_inflight(d->core, i);
        struct darsie_inflight *t = &d->inflight[i];
        if (!t->shared || !inflight_is_taken(d->core, i) || inflight->slot != s->slot)
            continue;
        rename_give(d, b, t->versions, t->shared);
        t->shared = 0;
        s->leading--;
        inflight->dyn.writes = core_all_lanes(d->core);
    }
}

void paths_leave(struct darsie_core *d, struct darsie_slot *s)
{
    struct darsie_block *b = block_of(d, s);
    if (!(b->majority >> s->warp & 1))
        return;
    b->majority &= ~bit(s->warp);
    b->arrived &= ~bit(s->warp);
    d->taking_part &= ~bit(s->slot);
    d->stats->majority_writes++;
    if (b->live >> s->warp & 1) {
        abdicate(d, b, s);
        s->leaving = true;
    }
    table_forget(d, b, s->warp);
    if (b->ways)
        ways_leave(d, s);
    paths_unstall(d, b, bit(s->warp));
}

/* ---- after a branch ---- */

static void stop_waiting(struct darsie_core *d, struct darsie_block *b, u64 warps)
{
    for (u64 set = warps; set; set &= set - 1)
        d->stats->gather_waits += core_cycle(d->core) - d->slots[b->slots[first_bit(set)]].waits;
    core_release(d->core, slots_of(b, warps));
}

/* The largest set of warps that took the same path. */
static u64 most(const struct darsie_core *d, const struct darsie_block *b)
{
    u64 best = 0;
    for (u64 left = b->majority; left;) {
        const u32 at = core_slot(d->core, b->slots[first_bit(left)])->at;
        u64 same = 0;
        for (u64 set = left; set; set &= set - 1)
            same |= (u64)(core_slot(d->core, b->slots[first_bit(set)])->at == at) << first_bit(set);
        left &= ~same;
        if (__builtin_popcountll(same) > __builtin_popcountll(best))
            best = same;
    }
    return best;
}

/* All awaited warps have arrived: chooses the new majority. */
static void part(struct darsie_core *d, struct darsie_block *b)
{
    const u64 best = most(d, b), arrived = b->arrived;
    d->stats->gathers++;
    b->arrived = 0;
    for (u64 set = b->majority & ~best; set; set &= set - 1) {
        d->stats->minorities++;
        paths_leave(d, &d->slots[b->slots[first_bit(set)]]);
    }
    begin_way(d, b);
    stop_waiting(d, b, arrived);
}

static void maybe_part(struct darsie_core *d, struct darsie_block *b)
{
    if (b->arrived && !(b->majority & ~b->arrived))
        part(d, b);
}

static void arrive(struct darsie_core *d, struct darsie_slot *s)
{
    struct darsie_block *b = block_of(d, s);
    const u64 now = core_cycle(d->core);
    if (!b->arrived) {
        b->since = now;
        d->deadline = MIN(d->deadline, now + d->params->patience);
    }
    b->arrived |= bit(s->warp);
    s->waits = now;
    if (b->majority & ~b->arrived)
        core_hold(d->core, bit(s->slot));
    else
        part(d, b);
}

/* sync=none: the warp's way is another one after a branch. */
static void go_on(struct darsie_core *d, struct darsie_slot *s)
{
    struct darsie_block *b = block_of(d, s);
    const struct slot *slot = core_slot(d->core, s->slot);
    if (!ways_move(d, s, slot->at)) {
        d->stats->ways_full++;
        paths_leave(d, s);
        return;
    }
    s->private = s->probed = 0;
    b->start[s->warp] = slot->warp->instructions;
    table_moved(d, b, s->warp);
}

bool paths_give_up(struct darsie_core *d, bool stuck)
{
    const u64 now = core_cycle(d->core);
    bool any = false;
    d->deadline = UINT64_MAX;
    for (u32 i = 0; i < CORE_BLOCKS; i++) {
        struct darsie_block *b = &d->blocks[i];
        if (!b->on)
            continue;
        if (stuck) {
            any |= table_give_up(d, b) || b->stalled;
            paths_unstall(d, b, b->stalled);
        }
        if (!b->arrived)
            continue;
        if (!stuck && now < b->since + d->params->patience) {
            d->deadline = MIN(d->deadline, b->since + d->params->patience);
            continue;
        }
        const u64 gone = b->arrived;
        any = true;
        d->stats->gather_exits += (u64)__builtin_popcountll(b->majority & ~gone);
        for (u64 set = gone; set; set &= set - 1)
            paths_leave(d, &d->slots[b->slots[first_bit(set)]]);
        stop_waiting(d, b, gone);
    }
    return any;
}

/* ---- barriers and ends ---- */

/* All warps of the block have passed a barrier. */
static void rejoin(struct darsie_core *d, struct darsie_block *b)
{
    assert(!b->arrived);
    for (u64 set = b->live; set; set &= set - 1) {
        struct darsie_slot *s = &d->slots[b->slots[first_bit(set)]];
        if (!is_whole(d, core_slot(d->core, s->slot)->warp)) {
            paths_leave(d, s);
            continue;
        }
        d->stats->rejoined += !(b->majority >> s->warp & 1);
        b->majority |= bit(s->warp);
        d->taking_part |= bit(s->slot);
    }
    begin_way(d, b);
}

/* Whether a barrier of the whole block has just released its warps. */
static bool opened(const struct darsie_core *d, u32 block_slot, struct darsie_block *b)
{
    const struct thread_block *block = core_block(d->core, block_slot)->block;
    bool any = false;
    for (u32 set = b->open & ~block->barriers_used; set; set &= set - 1)
        any |= !block->barriers[first_lane(set)].threads; /* 0: all threads */
    b->open &= block->barriers_used;
    return any;
}

static void end(struct darsie_core *d, struct darsie_slot *s)
{
    struct darsie_block *b = block_of(d, s);
    b->live &= ~bit(s->warp);
    b->live_slots &= ~bit(s->slot);
    paths_leave(d, s);
    rename_end(d, s);
    s->on = false;
    maybe_part(d, b);
}

void paths_control(struct darsie_core *d, u32 slot, u32 inst)
{
    struct darsie_slot *s = &d->slots[slot];
    struct darsie_block *b = block_of(d, s);
    const struct darsie_inst *info = &d->insts[inst];
    const struct warp *warp = core_slot(d->core, slot)->warp;
    for (u64 set = b->live_slots & (core_ended(d->core) | ~core_present(d->core)); set;
         set &= set - 1)
        end(d, &d->slots[first_bit(set)]);
    if (info->barrier)
        b->open |= 1u << info->number;
    if (b->open && opened(d, s->block, b) && b->live)
        rejoin(d, b);
    if (s->on && b->majority >> s->warp & 1 && !info->barrier) {
        if (!is_whole(d, warp) && core_slot(d->core, slot)->at != NO_INST) {
            d->stats->divergences++;
            paths_leave(d, s);
            maybe_part(d, b);
        } else if (info->branch && b->ways) {
            go_on(d, s);
        } else if (info->branch) {
            arrive(d, s);
        }
    }
    u64 waiting = 0;
    for (u64 set = b->stalled; set; set &= set - 1)
        waiting |= (core_waiting(d->core) >> b->slots[first_bit(set)] & 1) << first_bit(set);
    paths_unstall(d, b, b->stalled & ~waiting);
}

/* ---- blocks ---- */

void paths_start_block(struct darsie_core *d, u32 block_slot)
{
    struct darsie_block *b = &d->blocks[block_slot];
    const u64 slots = core_block(d->core, block_slot)->slots;
    b->warps = (u32)__builtin_popcountll(slots);
    b->on = d->on && b->warps > 1;
    b->live = b->live_slots = b->majority = b->arrived = b->stalled = 0;
    b->open = 0;
    b->unacted = 0;
    for (u64 set = slots; set; set &= set - 1) {
        struct darsie_slot *s = &d->slots[first_bit(set)];
        const struct warp *warp = core_slot(d->core, s->slot)->warp;
        s->on = b->on;
        s->block = (u8)block_slot;
        if (!b->on)
            continue;
        s->warp = (u8)warp->index;
        b->slots[s->warp] = (u8)s->slot;
        b->live |= bit(s->warp);
        b->live_slots |= bit(s->slot);
        s->leading = 0;
        rename_start(d, s);
        if (!is_whole(d, warp))
            continue;
        b->majority |= bit(s->warp);
        d->taking_part |= bit(s->slot);
    }
    if (b->on)
        begin_way(d, b);
}

void paths_end_block(struct darsie_core *d, u32 block_slot)
{
    struct darsie_block *b = &d->blocks[block_slot];
    if (!b->on)
        return;
    for (u64 set = b->live_slots; set; set &= set - 1)
        end(d, &d->slots[first_bit(set)]);
    table_flush(d, b);
    assert(!b->live && !b->majority && b->free_count == d->version_count); /* R2 */
    b->on = false;
}
