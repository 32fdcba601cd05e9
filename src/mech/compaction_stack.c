/*
 * The stack of a group and the formation of warps: see compaction.h.
 *
 * Warps are formed lane by lane: the threads of a lane, in the order of their homes, go to the first
 * warps of the group. So there are as many warps as the fullest lane has threads, and a warp whose
 * threads are all at home is formed as it was.
 */
#include "mech/compaction.h"

/* ---- places ---- */

static struct compaction_place *place_at(struct compaction *c, u32 branch, u32 pc)
{
    for (u32 i = 0; i < c->place_count; i++)
        if (c->places[i].pc == pc && c->places[i].branch == branch)
            return &c->places[i];
    if (c->place_count == MOST_PLACES)
        return NULL;
    struct compaction_place *place = &c->places[c->place_count++];
    *place = (struct compaction_place){.branch = branch, .pc = pc};
    return place;
}

static void add_lanes(const struct compaction *c, struct compaction_place *place, u32 slot,
                      lane_set lanes)
{
    for (lane_set set = lanes; set; set &= set - 1)
        place->lanes[core_home(c->core, slot, first_lane(set))] |= set & -set;
}

bool compaction_places(struct compaction *c, u64 slots)
{
    struct target targets[MAX_LANES];
    c->place_count = c->apart = 0;
    for (u64 set = slots; set; set &= set - 1) {
        const u32 slot = first_bit(set), branch = c->branch_of[slot];
        const u32 count = compaction_lane_places(c, slot, branch, targets);
        for (u32 i = 0; i < count; i++) {
            struct compaction_place *place = place_at(c, branch, targets[i].pc);
            if (!place)
                return false;
            add_lanes(c, place, slot, targets[i].mask);
            c->apart += targets[i].pc != c->branches[branch].reconverge;
        }
    }
    return true;
}

/* The number of threads in the fullest lane. */
static u32 fullest(const lane_set *lanes, u64 homes)
{
    u32 count[MAX_LANES] = {0}, most = 0;
    for (u64 set = homes; set; set &= set - 1)
        for (lane_set left = lanes[first_bit(set)]; left; left &= left - 1) {
            count[first_lane(left)]++;
            most = MAX(most, count[first_lane(left)]);
        }
    return most;
}

u32 compaction_warps(const struct compaction *c)
{
    u32 warps = 0;
    for (u32 i = 0; i < c->place_count; i++)
        if (c->places[i].pc != c->branches[c->places[i].branch].reconverge)
            warps += fullest(c->places[i].lanes, ~0ull);
    return warps;
}

/* ---- the stack ---- */

static void push(struct compaction *c, struct compaction_unit *u, u32 pc, u32 rpc,
                 const lane_set *lanes)
{
    assert(u->depth < STACK_ENTRIES);
    u->stack[u->depth] = (struct compaction_entry){pc, rpc};
    for (u64 set = u->group; set; set &= set - 1)
        c->stack[u->depth][first_bit(set)] = lanes[first_bit(set)];
    c->stats->stack_writes += (u32)__builtin_popcountll(u->group);
    u->depth++;
}

bool compaction_fits(const struct compaction *c, const struct compaction_unit *u)
{
    return u->depth + 1 + 2 * c->place_count <= STACK_ENTRIES;
}

/* Whether place i is the first of its branch. */
static bool is_first(const struct compaction *c, u32 i)
{
    for (u32 j = 0; j < i; j++)
        if (c->places[j].branch == c->places[i].branch)
            return false;
    return true;
}

/* The ways after a branch: the fall-through is executed first, as it is without compaction. `outer`
 * is where the entry ends that the threads are part of. */
static void push_ways(struct compaction *c, struct compaction_unit *u, u32 branch, u32 outer)
{
    const u32 meet = c->branches[branch].reconverge, rpc = meet == NO_INST ? outer : meet;
    for (u32 falls = 0; falls < 2; falls++)
        for (u32 i = 0; i < c->place_count; i++) {
            const struct compaction_place *place = &c->places[i];
            if (place->branch == branch && place->pc != rpc && (place->pc == branch + 1) == falls)
                push(c, u, place->pc, rpc, place->lanes);
        }
}

/* Where the ways of a branch meet, unless the outer entry ends there, too. */
static void push_meeting(struct compaction *c, struct compaction_unit *u, u32 branch, u32 outer)
{
    const u32 meet = c->branches[branch].reconverge;
    lane_set lanes[CORE_WARPS] = {0};
    if (meet == NO_INST || meet == outer)
        return;
    for (u32 i = 0; i < c->place_count; i++)
        for (u64 set = u->group; set && c->places[i].branch == branch; set &= set - 1)
            lanes[first_bit(set)] |= c->places[i].lanes[first_bit(set)];
    for (u64 set = u->held; set; set &= set - 1)
        c->stats->apart += c->branch_of[first_bit(set)] == branch;
    push(c, u, meet, outer, lanes);
}

void compaction_push(struct compaction *c, struct compaction_unit *u)
{
    u32 outer = NO_INST;
    if (u->depth) {
        outer = u->stack[--u->depth].rpc;
    } else { /* a new group: all its branches are the same one */
        lane_set lanes[CORE_WARPS] = {0};
        for (u64 set = u->group; set; set &= set - 1)
            lanes[first_bit(set)] = core_slot(c->core, first_bit(set))->warp->live;
        outer = c->branches[c->places[0].branch].reconverge;
        push(c, u, outer, NO_INST, lanes);
    }
    for (u32 i = 0; i < c->place_count; i++)
        if (is_first(c, i)) {
            push_meeting(c, u, c->places[i].branch, outer);
            push_ways(c, u, c->places[i].branch, outer);
        }
}

/* ---- forming ---- */

void compaction_release(struct compaction *c, u64 slots)
{
    for (u64 set = slots; set; set &= set - 1)
        c->stats->waited += core_cycle(c->core) - c->since[first_bit(set)];
    core_release(c->core, slots);
}

/* A formed warp starts when its turn has come. */
static void start_later(struct compaction *c, u32 slot, u32 number)
{
    const u32 cycles = (number + 1) * c->params->form_cycles;
    if (!cycles) {
        compaction_release(c, bit(slot));
        return;
    }
    if (!c->forming)
        core_want_cycles(c->core, 1);
    c->forming |= bit(slot);
    c->released_at[slot] = core_cycle(c->core) + cycles;
}

/* Gives the slots of a group the live threads of the entry on top. */
static void form(struct compaction *c, struct compaction_unit *u)
{
    const struct compaction_entry *entry = &u->stack[u->depth - 1];
    const lane_set *stack = c->stack[u->depth - 1];
    u8 homes[CORE_WARPS][MAX_LANES], slots[CORE_WARPS];
    lane_set lanes[CORE_WARPS] = {0};
    u32 next[MAX_LANES] = {0}, count = 0;
    for (u64 set = u->group; set; set &= set - 1)
        slots[count++] = (u8)first_bit(set);
    for (u32 i = 0; i < count; i++) {
        const u32 home = slots[i];
        c->homes[home] = 0;
        for (lane_set set = stack[home] & core_slot(c->core, home)->warp->live; set;
             set &= set - 1) {
            const u32 lane = first_lane(set), n = next[lane]++;
            homes[n][lane] = (u8)home;
            lanes[n] |= set & -set;
            c->homes[slots[n]] |= bit(home);
        }
    }
    c->stats->stack_reads += count;
    c->stats->compactions++;
    u->held = u->settled = 0;
    for (u32 i = 0; i < count; i++) {
        core_hold(c->core, bit(slots[i]));
        core_reform(c->core, slots[i], homes[i], lanes[i], u->region, entry->pc, entry->rpc);
        if (lanes[i]) {
            c->stats->formed++;
            c->stats->base_writes++;
            start_later(c, slots[i], i);
        } else {
            u->settled |= bit(slots[i]);
            core_release(c->core, bit(slots[i]));
        }
    }
}

/* All ways have ended: every thread of the group continues at home. */
static void go_home(struct compaction *c, struct compaction_unit *u)
{
    const u64 group = u->group;
    const u32 pc = u->stack[0].pc;
    u->group = u->held = u->settled = 0;
    u->depth = 0;
    for (u64 set = group; set; set &= set - 1) {
        const u32 slot = first_bit(set);
        assert(pc != NO_INST || !core_slot(c->core, slot)->warp->live);
        c->homes[slot] = 0;
        c->stats->waited += core_cycle(c->core) - c->since[slot];
        core_restore(c->core, slot, pc);
    }
}

static bool has_live_lanes(const struct compaction *c, const struct compaction_unit *u)
{
    for (u64 set = u->group; set; set &= set - 1)
        if (c->stack[u->depth - 1][first_bit(set)] & core_slot(c->core, first_bit(set))->warp->live)
            return true;
    return false;
}

void compaction_start_top(struct compaction *c, struct compaction_unit *u)
{
    if (u->region)
        core_keep(c->core, u->group, u->region);
    while (u->depth > 1 && !has_live_lanes(c, u))
        u->depth--;
    if (u->depth > 1)
        form(c, u);
    else
        go_home(c, u);
}
