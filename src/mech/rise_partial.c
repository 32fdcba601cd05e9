/*
 * Partial-RISE: lanes that an instruction leaves idle execute it for other threads (see rise.c).
 *
 * When a result is written, its warp can issue again. If another ready warp of the scheduler is at the same instruction,
 * and one of the two leaves lanes idle in which the other one has threads, they are partners: the former issues next, with those
 * threads as guests in its idle lanes, and then the latter. The guests' results wait in the buffer for those of their own
 * warp. A warp with fewer threads than lanes has its own threads as guests.
 *
 * Guests compute from the registers of their warp, one instruction before it issues itself: it is ready, so that nothing
 * changes these in between.
 *
 * Invariants
 *  P1  A slot has one guest at most. Its state is GUEST_NONE unless its instruction is next or in flight; while it
 *      is in flight, later instructions of the slot have none.
 *  P2  Words of the buffer belong to guests that wait.
 */
#include "mech/rise.h"
#include <stdlib.h>

/* ---- lanes ---- */

/* The physical lanes of threads. */
static lane_set places_of(const struct rise *r, u32 slot, lane_set lanes)
{
    lane_set set = 0;
    for (; lanes; lanes &= lanes - 1)
        set |= 1ull << core_lane(r->core, slot, first_lane(lanes));
    return set;
}

/* Threads of `guest` whose lanes the host's warp leaves idle. */
static lane_set fitting(const struct rise *r, u32 host, lane_set active, u32 guest)
{
    if (active == core_all_lanes(r->core))
        return 0;
    const lane_set taken = places_of(r, host, active);
    lane_set lanes = core_slot(r->core, guest)->warp->active;
    for (lane_set set = lanes; set; set &= set - 1)
        if (taken >> core_lane(r->core, guest, first_lane(set)) & 1)
            lanes &= ~(set & -set);
    return lanes;
}

void rise_shuffle(struct rise *r, u32 slot)
{
    u8 lanes[MAX_LANES] = {0};
    for (u32 i = 0; i < core_warp_size(r->core); i++) { /* Fisher and Yates */
        const u32 other = (u32)mechanism_random_below(r, i + 1);
        lanes[i] = lanes[other];
        lanes[other] = (u8)i;
    }
    core_set_lanes(r->core, slot, lanes);
}

/* ---- guests ---- */

/* The record of a slot's guest, free to be filled; NULL: it is in use. */
static struct rise_guest *guest_of(struct rise *r, u32 slot)
{
    struct rise_guest *guest = &r->guests[slot];
    if (guest->state != GUEST_NONE)
        return NULL;
    guest->dyn.rows = r->rows + (size_t)slot * core_row_words(r->core);
    return guest;
}

static void board(struct rise *r, struct inflight *host, struct rise_guest *guest, u32 slot)
{
    const u32 lanes = count_lanes(guest->dyn.lanes);
    dyninst_compute(&guest->dyn);
    guest->state = GUEST_COMPUTES;
    guest->words = (u16)rise_words(&guest->dyn);
    r->hosted[inflight_index(r->core, host)] = (u8)slot;
    r->stats->guest_lanes += lanes;
    host->lane_ops += (u16)lanes;
    host->lane_reads += (u16)(lanes * host->time->read_count);
}

/* Threads of a warp without enough of them are guests of itself: those of the first lanes, if not all fit. */
static bool take_inside(struct rise *r, struct inflight *inflight)
{
    const struct dyninst *dyn = &inflight->dyn;
    const u32 s = inflight->slot, width = core_warp_size(r->core);
    const u32 room = width - count_lanes(dyn->active);
    struct rise_guest *guest;
    if (!r->params->inside || dyn->warp->members == core_all_lanes(r->core) || !dyn->lanes ||
        !(guest = guest_of(r, s)))
        return false;
    dyninst_copy(&guest->dyn, dyn, core_row_words(r->core));
    guest->lanes = dyn->lanes;
    while (count_lanes(guest->lanes) > room)
        guest->lanes &= ~(1ull << (63 - __builtin_clzll(guest->lanes)));
    guest->dyn.lanes = guest->lanes;
    guest->inside = true;
    board(r, inflight, guest, s);
    r->stats->paired_inside++;
    return true;
}

/* Whether a slot is ready and at an instruction. */
static bool is_ready_at(const struct rise *r, u32 slot, u32 inst)
{
    return core_slot(r->core, slot)->at == inst &&
           core_able(r->core, core_scheduler_of(r->core, slot)) >> slot & 1;
}

/* The partner's threads become guests of an instruction that issues. */
static void take_partner(struct rise *r, struct inflight *host)
{
    const u32 s = host->slot, other = r->partner[s];
    struct rise_guest *guest;
    r->paired &= ~bit(s);
    const bool there = is_ready_at(r, other, host->dyn.inst) && !rise_is_redundant(r, other) &&
                       host->dyn.plan->kind == PLAN_LANES && (guest = guest_of(r, other));
    const lane_set lanes = there ? fitting(r, s, host->dyn.active, other) : 0;
    if (!lanes) {
        r->stats->missed++;
        return;
    }
    dyninst_preview(&guest->dyn, core_slot(r->core, other)->warp, host->dyn.inst, lanes);
    guest->lanes = lanes;
    guest->inside = false;
    board(r, host, guest, other);
    r->next |= bit(other);
}

/* The results of a guest are no longer compared. */
static void dismiss(struct rise *r, struct rise_guest *guest)
{
    if (guest->state == GUEST_WAITS)
        r->buffered -= guest->words;
    guest->state = guest->state == GUEST_COMPUTES ? GUEST_STRAY : GUEST_NONE;
    guest->joined = false;
}

void rise_partial_pass(struct rise *r, u32 slot)
{
    r->next &= ~bit(slot);
    if (r->guests[slot].state != GUEST_STRAY && !r->guests[slot].joined)
        dismiss(r, &r->guests[slot]);
}

void rise_partial_start(struct rise *r, u32 slot)
{
    r->paired &= ~bit(slot);
    r->next &= ~bit(slot);
    if (r->guests[slot].state != GUEST_STRAY)
        dismiss(r, &r->guests[slot]);
}

/* The instruction of the slot has a guest that was, or is, computed elsewhere. */
static void join(struct rise *r, struct inflight *inflight)
{
    struct rise_guest *guest = &r->guests[inflight->slot];
    if (guest->dyn.inst != inflight->dyn.inst) { /* the warp went elsewhere */
        dismiss(r, guest);
        return;
    }
    guest->joined = true;
    guest->lanes &= inflight->dyn.lanes;
    inflight->checked = guest->lanes;
    r->stats->paired += !guest->inside;
    r->records[inflight_index(r->core, inflight)] =
        (struct rise_record){.role = ROLE_GUEST,
                             .words = (u8)guest->words,
                             .copy = NO_INFLIGHT,
                             .issued = core_slot(r->core, inflight->slot)->issued};
}

void rise_partial_issue(struct rise *r, struct inflight *inflight)
{
    const u32 s = inflight->slot;
    struct rise_guest *guest = &r->guests[s];
    r->next &= ~bit(s);
    if (guest->state == GUEST_LOST && !guest->joined)
        guest->state = GUEST_NONE;
    if (guest->joined || (guest->state == GUEST_NONE && !take_inside(r, inflight))) {
        if (r->paired >> s & 1)
            take_partner(r, inflight);
        return;
    }
    if (guest->state == GUEST_COMPUTES || guest->state == GUEST_WAITS)
        join(r, inflight);
}

void rise_partial_due(struct rise *r, u32 index)
{
    const u32 slot = r->hosted[index];
    if (LIKELY(slot == NO_SLOT))
        return;
    struct rise_guest *guest = &r->guests[slot];
    r->hosted[index] = NO_SLOT;
    if (guest->state == GUEST_STRAY)
        guest->state = GUEST_NONE;
    if (guest->state != GUEST_COMPUTES || guest->inside)
        return;
    if (r->buffered + guest->words > r->params->buffers) {
        guest->state = GUEST_LOST;
        r->stats->lost++;
        return;
    }
    guest->state = GUEST_WAITS;
    r->buffered += guest->words;
    r->stats->buffer_words += guest->words * count_lanes(guest->lanes);
}

/* ---- partners ---- */

/* Looks for a partner of a warp that has just become ready. */
static void search(struct rise *r, u32 s)
{
    const struct slot *slot = core_slot(r->core, s);
    const lane_set all = core_all_lanes(r->core);
    u64 ready = core_able(r->core, core_scheduler_of(r->core, s));
    if (!(ready >> s & 1) || (r->paired | r->next) >> s & 1 || rise_is_redundant(r, s))
        return;
    r->stats->searches++;
    for (ready &= ~(bit(s) | r->paired | r->next); ready; ready &= ready - 1) {
        const u32 other = first_bit(ready);
        const struct slot *found = core_slot(r->core, other);
        if (found->at != slot->at || (slot->warp->active & found->warp->active) == all ||
            rise_is_redundant(r, other))
            continue;
        const bool hosts = fitting(r, s, slot->warp->active, other) != 0;
        if (!hosts && !fitting(r, other, found->warp->active, s))
            continue;
        const u32 host = hosts ? s : other;
        r->partner[host] = (u8)(hosts ? other : s);
        r->paired |= bit(host);
        r->stats->found++;
        return;
    }
}

void rise_partial_retired(struct rise *r, const struct inflight *inflight)
{
    const u32 s = inflight->slot;
    struct rise_guest *guest = &r->guests[s];
    const struct rise_record *own = &r->records[inflight_index(r->core, inflight)];
    const struct slot *slot = core_slot(r->core, s);
    rise_partial_due(r, inflight_index(r->core, inflight)); /* a load, which is not asked before */
    if (inflight->injected)
        return;
    if (own->role == ROLE_GUEST) {
        dismiss(r, guest);
        guest->state = GUEST_NONE;
    }
    if (r->params->partial && !r->params->full && slot->warp == inflight->dyn.warp &&
        !slot->ended && slot->at != NO_INST &&
        core_exec(r->core)->image->program->insts[slot->at].dst[0].kind != OPERAND_NONE &&
        slot->warp->view->plans[slot->at].kind == PLAN_LANES)
        search(r, s);
}

void rise_pick(void *state, struct core *core, u32 scheduler, struct pick *pick)
{
    const struct rise *r = state;
    const u64 mine = core_scheduler_slots(core, scheduler);
    const u64 next = r->next & mine & core_ready(core, scheduler);
    pick->prefer |= next ? next : r->paired & mine;
}

/* ---- launches ---- */

void rise_partial_launch(struct rise *r, bool begins)
{
    free(r->rows);
    r->rows = NULL;
    memset(r->hosted, NO_SLOT, sizeof r->hosted);
    if (begins && !r->params->full)
        r->rows = checked(
            aligned_alloc(64, (size_t)CORE_WARPS * core_row_words(r->core) * sizeof *r->rows));
}
