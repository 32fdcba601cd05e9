/* Compaction of diverged warps: who waits for whom, and the seams. See compaction.h. */
#include "mech/compaction.h"

/* ---- units ---- */

static struct compaction_unit *unit_of(struct compaction *c, u32 slot)
{
    return &c->units[c->unit_of[slot]];
}

/* Slots of the unit's warps that have not ended; an ended warp's slot may have another block's. */
static u64 live_slots(const struct compaction *c, const struct compaction_unit *u)
{
    u64 slots = u->slots & core_present(c->core) & ~core_ended(c->core);
    for (u64 set = slots; set; set &= set - 1)
        if (core_slot(c->core, first_bit(set))->block != u->place)
            slots &= ~(set & -set);
    return slots;
}

static void set_arrived(struct compaction *c, struct compaction_unit *u, u64 arrived)
{
    const u64 unit = bit((u32)(u - c->units));
    u->arrived = arrived;
    c->waiting = arrived ? c->waiting | unit : c->waiting & ~unit;
}

/* ---- decisions ---- */

/* Whether the next step of a group can be taken. */
static bool is_idle(const struct compaction *c, const struct compaction_unit *u)
{
    for (u64 set = u->group; set; set &= set - 1)
        if (core_slot(c->core, first_bit(set))->in_flight)
            return false;
    return true;
}

static void advance(struct compaction *c, struct compaction_unit *u)
{
    if (!u->draining || !is_idle(c, u))
        return;
    u->draining = false;
    c->stats->drained += core_cycle(c->core) - u->drains_since;
    if (u->held) {
        compaction_places(c, u->held);
        c->stats->apart += c->apart;
        c->stats->groups += !u->depth;
        compaction_push(c, u);
    } else {
        u->depth--;
    }
    compaction_start_top(c, u);
}

static void drain(struct compaction *c, struct compaction_unit *u)
{
    u->draining = true;
    u->drains_since = core_cycle(c->core);
    advance(c, u);
}

/* All warps that wait are at branches: whether they are to be formed anew. */
static bool should_form(struct compaction *c, const struct compaction_unit *u, u64 slots)
{
    if (!compaction_places(c, slots) || !compaction_fits(c, u)) {
        c->stats->overflows++;
        return false;
    }
    if (c->place_count == 1) {
        c->stats->agreed++;
        return false;
    }
    if (c->params->when == WHEN_GAIN && compaction_warps(c) >= c->apart) {
        c->stats->kept++;
        return false;
    }
    return true;
}

/* All warps of a group are settled. */
static void decide(struct compaction *c, struct compaction_unit *u)
{
    if (!u->held || should_form(c, u, u->held)) {
        drain(c, u);
        return;
    }
    const u64 held = u->held;
    u->settled &= ~held;
    u->held = 0;
    compaction_release(c, held);
}

/* The slots among those that have arrived that wait at the branch where most of them do. */
static u64 most(const struct compaction *c, u64 arrived)
{
    u64 best = 0;
    for (u64 left = arrived; left;) {
        u64 same = 0;
        for (u64 set = left; set; set &= set - 1)
            if (c->branch_of[first_bit(set)] == c->branch_of[first_bit(left)])
                same |= set & -set;
        left &= ~same;
        if (__builtin_popcountll(same) > __builtin_popcountll(best))
            best = same;
    }
    return best;
}

/* No warp waits at home any longer: those that are at the same branch become a group. */
static void gather(struct compaction *c, struct compaction_unit *u)
{
    const u64 arrived = u->arrived, best = u->group ? 0 : most(c, arrived);
    set_arrived(c, u, 0);
    compaction_release(c, arrived & ~best);
    if (!best || !should_form(c, u, best)) {
        compaction_release(c, best);
        return;
    }
    u->region = c->branches[c->branch_of[first_bit(best)]].region;
    if (u->region && !compaction_alike(c, best, u->region)) {
        c->stats->unlike++;
        compaction_release(c, best);
        return;
    }
    u->group = u->held = u->settled = best;
    drain(c, u);
}

static void check(struct compaction *c, struct compaction_unit *u)
{
    if (u->group && !u->draining && u->settled == u->group)
        decide(c, u);
    const u64 waits = u->arrived | (core_waiting(c->core) & ~u->group);
    if (u->arrived && !(u->awaited & live_slots(c, u) & ~waits))
        gather(c, u);
}

/* ---- branches ---- */

/* Whether all threads of a slot's warp are where the branch has sent them. */
static bool is_together(const struct compaction *c, u32 slot, u32 inst, u32 *places)
{
    struct target targets[MAX_LANES];
    const struct compaction_branch *branch = &c->branches[inst];
    *places = compaction_lane_places(c, slot, inst, targets);
    for (u32 i = 0; i < *places; i++)
        if (targets[i].pc != inst + 1 && targets[i].pc != branch->target &&
            targets[i].pc != branch->reconverge)
            return false;
    return *places != 0;
}

static void wait_here(struct compaction *c, u32 slot, u32 inst)
{
    c->stats->arrivals++;
    c->branch_of[slot] = inst;
    c->since[slot] = core_cycle(c->core);
    core_hold(c->core, bit(slot));
}

/* A warp of a group has executed a branch, or has no lanes left. */
static void settle(struct compaction *c, struct compaction_unit *u, u32 slot, u32 inst)
{
    u32 places;
    if (core_is_empty(c->core, slot)) {
        c->since[slot] = core_cycle(c->core);
        u->settled |= bit(slot);
    } else if (c->branches[inst].waits && is_together(c, slot, inst, &places)) {
        wait_here(c, slot, inst);
        u->held |= bit(slot);
        u->settled |= bit(slot);
    } else {
        c->stats->passed += c->branches[inst].waits;
    }
}

/* Whether a warp of the unit waits at home at this branch. */
static bool is_waited_at(const struct compaction *c, const struct compaction_unit *u, u32 inst)
{
    for (u64 set = u->arrived; set; set &= set - 1)
        if (c->branch_of[first_bit(set)] == inst)
            return true;
    return false;
}

/* A warp at home has executed a branch. */
static void arrive(struct compaction *c, struct compaction_unit *u, u32 slot, u32 inst)
{
    u32 places;
    const bool together = is_together(c, slot, inst, &places);
    if (!together || (places == 1 && c->params->wait == WAIT_DIVERGENT)) {
        if (is_waited_at(c, u, inst))
            u->awaited &= ~bit(slot);
        c->stats->passed++;
        return;
    }
    if (!u->arrived) {
        u->awaited = live_slots(c, u);
        u->since = core_cycle(c->core);
    }
    wait_here(c, slot, inst);
    set_arrived(c, u, u->arrived | bit(slot));
}

void compaction_control(void *state, struct core *core, u32 slot, u32 inst)
{
    struct compaction *c = state;
    struct compaction_unit *u = unit_of(c, slot);
    if (!c->branches || !u->on)
        return;
    if (u->group >> slot & 1)
        settle(c, u, slot, inst);
    else if (c->branches[inst].waits && live_slots(c, u) >> slot & 1)
        arrive(c, u, slot, inst);
    check(c, u);
    u->on &= live_slots(c, u) != 0;
}

/* ---- time ---- */

static void start_formed(struct compaction *c)
{
    for (u64 set = c->forming; set; set &= set - 1)
        if (c->released_at[first_bit(set)] <= core_cycle(c->core)) {
            c->forming &= ~(set & -set);
            compaction_release(c, set & -set);
        }
    if (!c->forming)
        core_want_cycles(c->core, -1);
}

bool compaction_insert(void *state, struct core *core, u32 scheduler)
{
    struct compaction *c = state;
    if (c->forming)
        start_formed(c);
    if (!c->params->patience)
        return false;
    for (u64 set = c->waiting; set; set &= set - 1) {
        struct compaction_unit *u = &c->units[first_bit(set)];
        if (core_cycle(core) - u->since >= c->params->patience) {
            c->stats->impatient++;
            gather(c, u);
        }
    }
    return false;
}

void compaction_retired(void *state, struct core *core, struct inflight *inflight)
{
    struct compaction *c = state;
    struct compaction_unit *u = unit_of(c, inflight->slot);
    if (u->on && u->draining)
        advance(c, u);
}

bool compaction_stuck(void *state, struct core *core)
{
    struct compaction *c = state;
    const u64 waiting = c->waiting;
    for (u64 set = waiting; set; set &= set - 1) {
        c->stats->unstuck++;
        gather(c, &c->units[first_bit(set)]);
    }
    return waiting != 0;
}

/* ---- instructions of re-formed warps ---- */

/* Threads of an instruction that are at home in another register file. */
static u32 remote_threads(const struct compaction *c, const struct inflight *inflight)
{
    const u32 groups = core_config(c->core)->issue->schedulers;
    u32 threads = 0;
    for (lane_set set = inflight->dyn.lanes; set; set &= set - 1)
        threads +=
            core_home(c->core, inflight->slot, first_lane(set)) % groups != inflight->slot % groups;
    return threads;
}

void compaction_issued(void *state, struct core *core, struct inflight *inflight)
{
    struct compaction *c = state;
    if (!core_is_reformed(core, inflight->slot) || inflight->injected)
        return;
    const u32 threads = count_lanes(inflight->dyn.lanes);
    const u32 registers = inflight->time->read_count + inflight->time->result_count;
    c->stats->instructions++;
    c->stats->threads += threads;
    c->stats->base_reads++;
    c->stats->base_lanes += threads * registers;
    if (core_config(core)->issue->sub_cores)
        c->stats->remote_lanes += remote_threads(c, inflight) * registers;
}

void compaction_bank(void *state, struct core *core, const struct inflight *inflight, bool write,
                     struct places *places)
{
    struct compaction *c = state;
    if (c->params->banks == BANKS_LANE || !core_is_reformed(core, inflight->slot))
        return;
    for (u32 i = 0; i < places->count; i++) {
        places->at[i].banks = 0;
        for (u64 set = c->homes[inflight->slot]; set; set &= set - 1)
            places->at[i].banks |=
                core_bank_mask(core, core_register_bank(core, first_bit(set), places->at[i].reg));
    }
}

/* ---- launches and blocks ---- */

bool compaction_serves(const void *params, const struct core_config *machine, struct error *error)
{
    return true;
}

u32 compaction_idle(const void *params)
{
    const struct compaction_params *p = params;
    return p->banks == BANKS_LANE ? 1u << SEAM_PLACES : 0;
}

void compaction_create(void *state, struct core *core)
{
    ((struct compaction *)state)->core = core;
}

static void forget_branches(struct compaction *c)
{
    if (c->arena)
        arena_destroy(c->arena);
    c->arena = NULL;
    c->branches = NULL;
}

void compaction_destroy(void *state)
{
    forget_branches(state);
}

void compaction_launch(void *state, struct core *core, bool begins)
{
    struct compaction *c = state;
    u64 branches = 0, refused = 0;
    forget_branches(c);
    memset(c->units, 0, sizeof c->units);
    c->forming = c->waiting = 0;
    if (!begins)
        return;
    c->arena = arena_create();
    c->branches = compaction_regions(c->arena, c->params, core_exec(core), &branches, &refused);
    if (core_config(core)->index)
        return;
    c->stats->branches += branches;
    c->stats->refused += refused;
}

/* Warps are together if they are neighbours, and share a register file. */
static u32 key_of(const struct compaction *c, u32 slot)
{
    const struct issue_params *issue = core_config(c->core)->issue;
    const u32 groups = issue->sub_cores && !c->params->across ? issue->schedulers : 1;
    return core_slot(c->core, slot)->warp->index / c->params->warps * groups + slot % groups;
}

static void start_unit(struct compaction *c, u32 place, u64 slots)
{
    u32 unit = NO_UNIT;
    for (u32 i = 0; slots & (slots - 1) && i < CORE_WARPS && unit == NO_UNIT; i++)
        if (!c->units[i].on)
            unit = i;
    for (u64 set = slots; set; set &= set - 1)
        c->unit_of[first_bit(set)] = (u8)unit;
    if (unit != NO_UNIT)
        c->units[unit] = (struct compaction_unit){.on = true, .place = (u8)place, .slots = slots};
}

void compaction_block(void *state, struct core *core, u32 place, bool started)
{
    struct compaction *c = state;
    const u64 slots = core_block(core, place)->slots;
    if (!started) {
        for (u32 i = 0; i < CORE_WARPS; i++)
            if (c->units[i].on && c->units[i].place == place)
                c->units[i].on = false;
        return;
    }
    for (u64 left = slots; left;) {
        u64 same = 0;
        for (u64 set = left; set; set &= set - 1)
            if (key_of(c, first_bit(set)) == key_of(c, first_bit(left)))
                same |= set & -set;
        left &= ~same;
        start_unit(c, place, same);
    }
}
