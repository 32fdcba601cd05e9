/*
 * Write-back: results that are due in this cycle are written to the registers, and instructions
 * that waited for them may issue in the same cycle.
 *
 * Without mechanisms, results of units are always written when they are due (their bus was reserved
 * when they started); a bank that is written serves no read in that cycle. Results of loads use the
 * load/store unit's write-back ports.
 */
#include "base/hot.h"
#include "core/common/content.h"
#include "core/common/slots.h"
#include "core/live.h"

/* ---- with mechanisms that change `places` ---- */

void write_back_begin(struct core *core)
{
    struct execute_stage *units = &core->units;
    memset(&units->buses, 0, sizeof units->buses);
    memset(&units->ports, 0, sizeof units->ports);
    units->waits = (struct write_waits){0};
    units->held_for = 0;
    core->collect.busy = core->collect.readable = 0;
}

/* The buses or ports that an instruction's result uses. */
static struct buses *buses_of(struct core *core, const struct inflight *inflight, u32 *count)
{
    const bool port = inflight->pipe == PIPE_MEMORY;
    *count = MIN(port ? core->config.lsu->write_back_ports : core->config.units->result_buses,
                 (u32)MOST_BUSES);
    return port ? &core->units.ports : &core->units.buses;
}

/* A free bus or port; NULL: none. While none is occupied for long, one is always free: results that
 * leave units in a cycle were counted when they entered. */
static u64 *free_bus(struct core *core, const struct inflight *inflight)
{
    u32 count, best = 0;
    struct buses *buses = buses_of(core, inflight, &count);
    for (u32 b = 1; b < count; b++)
        if (buses->taken[b] < buses->taken[best])
            best = b;
    return buses->until > core_cycle(core) && buses->taken[best] > core_cycle(core)
               ? NULL
               : &buses->taken[best];
}

static void take_bus(struct core *core, struct inflight *inflight, u64 *bus, u32 cycles)
{
    u32 count;
    struct buses *buses = buses_of(core, inflight, &count);
    const u64 now = core_cycle(core), taken = MAX(*bus, now + 1); /* later if it is shared */
    inflight->bus = (u8)(bus - buses->taken);
    if (buses->until <= now && cycles == 1 && !inflight->waited)
        return;
    *bus = MAX(*bus, now + cycles);
    buses->until = MAX(buses->until, *bus);
    if (inflight->pipe == PIPE_MEMORY)
        return;
    for (u64 i = taken - now; i < cycles; i++) { /* units delay their starts */
        wheel_list(core, i);
        core->units.bus[(now + i) % WHEEL]++;
    }
}

/* Postpones the result by a cycle, ahead of results that are due then; instructions behind it in
 * its unit wait, too. */
static void wait_to_write(struct core *core, struct inflight *inflight)
{
    struct execute_stage *units = &core->units;
    const u64 next = core_cycle(core) + 1;
    struct inflight_list *list = wheel_list(core, 1);
    const u16 index = (u16)inflight_index(core, inflight);
    u16 *after = units->held_for == next ? &core->inflight.all[units->held].next : &list->first;
    inflight->next = *after;
    if (*after == NO_INFLIGHT)
        list->last = index;
    *after = index;
    units->held_for = next;
    units->held = index;
    inflight->waited = true;
    if (inflight->pipe != PIPE_MEMORY && !inflight->passes) {
        u64 *free_at =
            &core->collect.group[inflight->group].unit_free[inflight->pipe][inflight->unit];
        *free_at = MAX(*free_at, next);
    }
}

static bool banks_are_free(struct core *core, const struct places *places)
{
    const u64 taken = core->collect.banks_written | collect_busy(core);
    for (u32 i = 0; i < places->count; i++)
        if (places->at[i].banks & taken)
            return false;
    return true;
}

static void write_banks(struct core *core, const struct places *places)
{
    const u64 now = core_cycle(core);
    for (u32 i = 0; i < places->count; i++) {
        const struct bank_access *place = &places->at[i];
        const bool stays = place->cycles > 1 || places->arbitrate;
        for (u64 set = stays ? place->banks : 0; set; set &= set - 1) {
            u64 *until = &core->collect.busy_until[first_bit(set)];
            const bool more = places->arbitrate && core->collect.busy & set & -set;
            *until = (more ? *until : now) + place->cycles;
            core->collect.busy |= set & -set;
        }
        core->collect.readable &= ~place->banks;
        *(places->write_ports ? &core->collect.readable : &core->collect.banks_written) |=
            place->banks;
    }
}

/* The bus or port that a result takes; NULL: none is free. */
static u64 *choose_bus(struct core *core, const struct inflight *inflight,
                       const struct places *places)
{
    u32 count;
    struct buses *buses = buses_of(core, inflight, &count);
    if (!places->shares_bus)
        return free_bus(core, inflight);
    assert(places->bus < count && buses->taken[places->bus] > core_cycle(core));
    return &buses->taken[places->bus];
}

/* False: the result has to wait. */
static __attribute__((noinline)) bool claim_places(struct core *core, struct inflight *inflight)
{
    const struct inst *code = inflight->dyn.code;
    struct places places = {.waited = inflight->waited, .bus_cycles = 1};
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++)
        for (u32 r = 0; code->dst[k].kind == OPERAND_VECTOR && r < code->dst[k].count; r++)
            places.at[places.count++] = collect_place(core, inflight, code->dst[k].index + r);
    EACH_USE(use, &core->hooks, places)
        use->mechanism->places(use->state, core, inflight, true, &places);
    u64 *const bus = places.bus_cycles ? choose_bus(core, inflight, &places) : NULL;
    const bool no_bank = places.arbitrate && !banks_are_free(core, &places);
    if (no_bank || (places.bus_cycles && !bus)) {
        *(no_bank ? &core->units.waits.banks : &core->units.waits.buses) += 1;
        wait_to_write(core, inflight);
        return false;
    }
    if (bus)
        take_bus(core, inflight, bus, places.bus_cycles);
    core->stats.collect.writes += places.count;
    write_banks(core, &places);
    return true;
}

/* ---- without them ---- */

PART_OF void claim_banks(struct core *core, const struct inflight *inflight,
                         const struct inst_time *time)
{
    core->stats.collect.writes += time->result_count;
    core->collect.banks_written |= collect_banks(core, inflight->slot, time->result_banks);
}

static COLD enum write_back_answer ask_mechanisms(struct core *core, struct inflight *inflight)
{
    enum write_back_answer answer = WRITE_BACK_COMMIT;
    EACH_USE(use, &core->hooks, write_back) {
        enum write_back_answer one = use->mechanism->write_back(use->state, core, inflight);
        if (one == WRITE_BACK_HOLD)
            return one;
        if (one == WRITE_BACK_DROP)
            answer = one;
    }
    return answer;
}

static void tell_retired(struct core *core, struct inflight *inflight)
{
    EACH_USE(use, &core->hooks, retired)
        use->mechanism->retired(use->state, core, inflight);
}

/* Releases what the instruction held; its warp may be able to continue. `own`: it is known to be an
 * instruction of the warp. */
PART_OF void settle(struct core *core, struct inflight *inflight, const struct inst_time *time,
                    bool own)
{
    struct slot *slot = &core->slots[inflight->slot];
    slot->in_flight--;
    own |= !inflight->injected;
    if (own)
        scoreboard_release(core, slot, time);
    if (inflight->memory_wait) {
        if (inflight->memory_wait == WAITS_AS_SCALAR)
            slot->scalar_accesses--;
        else
            slot->vector_accesses--;
    }
    if (UNLIKELY(core->issue.branching >> inflight->slot & 1) && time->flags & TIME_BRANCH && own) {
        if (UNLIKELY(core->issue.held >> inflight->slot & 1)) {
            hold_resolved(core, inflight->slot);
        } else {
            core->issue.branching &= ~bit(inflight->slot);
            slot_wake(core, inflight->slot);
            fetch_want(core, inflight->slot);
        }
    }
    slot_written(core, inflight->slot, slot, time);
    if (slot->ended)
        slot_maybe_leave(core, inflight->slot);
}

/* retire_plain plus mechanisms and traces. */
static __attribute__((noinline)) void retire_hooked(struct core *core, struct inflight *inflight)
{
    enum write_back_answer answer = inflight->annulled ? WRITE_BACK_DROP : WRITE_BACK_COMMIT;
    if (UNLIKELY(core->live != NULL))
        live_written(core, inflight);
    if (core_hooked(core, SEAM_RESULT) && !inflight->has_result)
        hooks_result(core, inflight);
    if (core_hooked(core, SEAM_WRITE_BACK) && !inflight->waited && !inflight->annulled) {
        answer = ask_mechanisms(core, inflight);
        if (answer == WRITE_BACK_HOLD) {
            wheel_add(core, inflight, 1);
            return;
        }
    }
    if (LIKELY(answer == WRITE_BACK_COMMIT)) {
        if (!core_hooked(core, SEAM_PLACES))
            claim_banks(core, inflight, inflight->time);
        else if (!claim_places(core, inflight))
            return;
        dyninst_commit(&inflight->dyn);
    }
    inflight->dropped = answer == WRITE_BACK_DROP;
    inflight_count_work(core, inflight, true);
    if (core_followed(core)) /* before its warp may be gone */
        trace_retired(core, inflight);
    if (core->issue.by_waitcnt)
        waitcnt_settle(core, inflight);
    settle(core, inflight, inflight->time, false);
    if (core_hooked(core, SEAM_RETIRED))
        tell_retired(core, inflight);
    inflight_give(core, inflight);
}

/* `detours`: the core has some. */
PART_OF void retire_plain(struct core *core, struct inflight *inflight, bool detours)
{
    const struct inst_time *time = inflight->time;
    claim_banks(core, inflight, time);
    if (!inflight->dyn.committed)
        dyninst_commit(&inflight->dyn);
    if (detours && core->issue.by_waitcnt && inflight->counted)
        waitcnt_settle(core, inflight);
    settle(core, inflight, time, !detours);
    inflight_give(core, inflight);
}

static void retire_counted(struct core *core, struct inflight *inflight)
{
    if (UNLIKELY(core->live != NULL))
        live_written(core, inflight);
    if (UNLIKELY(core->watch != NULL))
        core->watch->written(core->watch->user, core, inflight);
    retire_plain(core, inflight, true);
}

static __attribute__((noinline)) void retire_specially(struct core *core, struct inflight *inflight)
{
    void (*const retire)(struct core *, struct inflight *) =
        core->detours & DETOUR_SEAMS ? retire_hooked : retire_counted;
    if (UNLIKELY(core->detours & DETOUR_CONTENT))
        core_content_take(core, inflight);
    if (UNLIKELY(inflight->astray)) {
        live_retire(core, inflight, retire);
        return;
    }
    if (core->issue.by_waitcnt && inflight->counted)
        waitcnt_retire(core, inflight, retire);
    else
        retire(core, inflight);
}

PART_OF void retire_any(struct core *core, struct inflight *inflight)
{
    if (UNLIKELY(core->detours))
        retire_specially(core, inflight);
    else
        retire_plain(core, inflight, false);
}

HOT void inflight_retire(struct core *core, struct inflight *inflight)
{
    retire_any(core, inflight);
}

HOT void write_back_due(struct core *core)
{
    const u32 at = core_cycle(core) % WHEEL;
    struct inflight_list list = core->wheel.lists[at];
    core->units.bus[at] = 0;
    core->wheel.lists[at].first = NO_INFLIGHT;
    if (!(core->wheel.used[at / 64] &= ~bit(at % 64)))
        core->wheel.words &= ~bit(at / 64);
    for (struct inflight *inflight; (inflight = list_pop(core, &list));)
        retire_any(core, inflight);
}
