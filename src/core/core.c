/*
 * The core as a whole: its blocks and warps, the records of what is under way, and time.
 */
#include "core/core.h"
#include "core/common/slots.h"
#include "core/requests.h"
#include "ir/waits.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    INFLIGHT = CORE_INFLIGHT
};

/* ---- records ---- */

/* Cycles until something on the wheel is due; WHEEL: nothing is. */
u64 wheel_next(const struct core *core)
{
    _Static_assert(WHEEL == 64 * 64, "a word says which words of the wheel are used");
    const u32 now = (u32)(core_cycle(core) % WHEEL), w = now / 64;
    if (!core->wheel_words)
        return WHEEL;
    u64 word = core->wheel_used[w] & ~(bit(now % 64) - 1);
    if (word)
        return first_bit(word) - now % 64;
    /* the words after this one, around, and this one's lower part last */
    const u64 above = core->wheel_words & ~(bit(w) | (bit(w) - 1));
    const u32 next = first_bit(above ? above : core->wheel_words);
    return (next * 64 + first_bit(core->wheel_used[next]) + WHEEL - now) % WHEEL;
}

/* ---- create and destroy ---- */

static void core_create_stages(struct core *core)
{
    const struct core_config *config = &core->config;
    const u32 tags[CLIENTS] = {
        [CLIENT_FETCH] = config->icache->mshrs,
        [CLIENT_L1D] = config->l1d->mshrs,
        [CLIENT_CONSTANT] = config->constant->mshrs,
        [CLIENT_READONLY] = config->readonly->mshrs,
        [CLIENT_DIRECT] = 1,
        [CLIENT_MECHANISM] = 1,
    };
    for (u32 i = 0; i < config->issue->schedulers; i++)
        for (u32 s = i; s < CORE_WARPS; s += config->issue->schedulers) {
            core->schedulers[i].slots |= bit(s);
            core->scheduler_of[s] = (u16)(1u << i);
        }
    core->all_schedulers = (1u << config->issue->schedulers) - 1;
    fetch_create(core);
    execute_create(core);
    collect_create(core);
    lsu_create(core);
    for (u32 c = 0; c < CLIENTS; c++)
        core->awaiting[c] = checked(calloc(tags[c], 1));
}

struct core *core_create(const struct core_config *config)
{
    struct core *core = checked(aligned_alloc(64, align_up(sizeof *core, 64)));
    memset(core, 0, sizeof *core);
    core->config = *config;
    core->groups = config->issue->sub_cores ? config->issue->schedulers : 1;
    core->slots = checked(aligned_alloc(64, CORE_WARPS * sizeof *core->slots));
    memset(core->slots, 0, CORE_WARPS * sizeof *core->slots);
    core_create_stages(core);
    miaow_create(core);
    core->view = memory_view_create();
    core->inflight = checked(aligned_alloc(64, align_up(INFLIGHT * sizeof *core->inflight, 64)));
    core->inflight_free = checked(calloc(INFLIGHT / 64, sizeof(u64)));
    memset(core->inflight_free, 0xff, INFLIGHT / 8);
    hooks_create(core, config->mechanisms, config->mechanism_count);
    return core;
}

void core_destroy(struct core *core)
{
    if (!core)
        return;
    hooks_destroy(core);
    for (u32 c = 0; c < CLIENTS; c++)
        free(core->awaiting[c]);
    miaow_destroy(core);
    lsu_destroy(core);
    fetch_destroy(core);
    memory_view_destroy(core->view);
    free(core->slots);
    free(core->inflight);
    free(core->inflight_free);
    free(core->rows);
    free(core->pending);
    free(core);
}

void core_begin(struct core *core, struct exec *exec, const struct inst_time *times,
                struct inst_profile *profile, fs now)
{
    core->exec = exec;
    core->times = times;
    core->profile = profile;
    core->stopped = false;
    core->inst_count = exec->image->program->inst_count;
    core->greedy = schedule_is_greedy(core);
    core->in_turn = core->config.issue->turns == 1 && !core->miaow;
    core->take_turns = core->in_turn ? gcn_issue : issue_turns;
    memset(core->kind_free, 0, sizeof core->kind_free);
    core->all_lanes = ~0ull >> (64 - core->config.core->warp_size);
    core->asleep = core->idle_set = 0;
    core->quiet_until = 0;
    /* rr's turn passes in every cycle, and some mechanisms want to be asked in every one */
    core->sleeps = !schedule_passes(core) && !(core->hooks.seams & SEAMS_EVERY_CYCLE);
    core->finished_count = 0;
    core->began = core->last_left = now;
    core->warp_cycles = 0;
    clock_start(&core->clock, core->config.mhz, now);
    core->counts = core->config.issue->memory_order == 1 &&
                   exec->image->program->traits.explicit_exec && !core->miaow;
    core->hooks.seams &= ~SEAMS_OWN;
    core->hooks.seams |= (u32)(core->in_turn || core->miaow) << SEAM_WAYS | (u32)core->counts
                                                                                << SEAM_COUNTS;
    for (u32 i = 0; core->counts && i < INFLIGHT; i++)
        core->inflight[i].counted = false;
    memset(core->waits, 0, sizeof core->waits);
    core->scoreboard_words = time_scoreboard_words(exec->image->program, exec->kernel);
    core->pending = checked(calloc(CORE_WARPS, 2 * core->scoreboard_words * sizeof(u64)));
    core->row_words = (u32)align_up(dyninst_row_words(exec->image), 16); /* 64 bytes */
    core->rows =
        checked(aligned_alloc(64, align_up((size_t)core->row_words * INFLIGHT, 16) * sizeof(u32)));
    for (u32 s = 0; s < CORE_WARPS; s++)
        core->slots[s] = (struct slot){
            .pending = core->pending + (size_t)s * 2 * core->scoreboard_words,
            .at = NO_INST,
        };
    for (u32 g = 0; g < core->groups; g++)
        memset(core->group[g].unit_free, 0, sizeof core->group[g].unit_free);
    memset(core->bus, 0, sizeof core->bus);
    for (u32 i = 0; i < core->config.issue->schedulers; i++) {
        core->schedulers[i].last = CORE_WARPS;
        core->schedulers[i].free = 0;
    }
    core->last_fetched = CORE_WARPS;
    for (u32 i = 0; i < core->turn_count; i++)
        core->turns[i].next = 0;
    lsu_begin(core);
    if (core->miaow)
        miaow_begin(core);
    hooks_launch(core, true);
}

/* What is left of a launch that stopped goes, so that the next one finds the core empty. */
static void drop_all(struct core *core)
{
    fetch_destroy(core);
    lsu_destroy(core);
    for (u32 c = 0; c < CLIENTS; c++)
        free(core->awaiting[c]);
    const size_t kept = offsetof(struct core, present);
    memset((u8 *)core + kept, 0, offsetof(struct core, inflight) - kept);
    memset(core->blocks, 0, sizeof core->blocks);
    core->block_count = 0;
    core_create_stages(core);
    memset(core->inflight_free, 0xff, INFLIGHT / 8);
    core->inflight_count = 0;
    hooks_set_caches(core);
}

void core_end(struct core *core)
{
    hooks_launch(core, false);
    core->mechanism_work = 0;
    if (core->stopped || core->present || core->inflight_count)
        drop_all(core);
    free(core->pending);
    free(core->rows);
    core->pending = NULL;
    core->rows = NULL;
    core->exec = NULL;
}

void core_drain(struct core *core, fs end)
{
    while (port_head(core->config.replies, end))
        port_pop(core->config.replies);
}

void core_settle(struct core *core, fs end)
{
    u64 cycles =
        end > core->began ? (end - core->began + core->clock.period - 1) / core->clock.period : 0;
    u64 slots = cycles - core_cycle(core); /* may be negative */
    slots *= core->config.issue->turns == 1 ? 1 : core->config.issue->schedulers;
    core->stats.issue.slots += slots;
    core->stats.issue.idle_empty += slots;
}

void core_take_counts(struct core *core, struct core_counts *counts)
{
    assert(!(core->clear & (core->waiting | core->ended | core->redirected | ~core->buffered)));
    issue_charge_idle(core);
    const struct units_params *u = core->config.units;
    struct units_stats *units = &core->stats.units;
    const u64 cycles = core->stats.issue.cycles;
    core->stats.issue.lane_slots = core->stats.issue.instructions * core->config.core->warp_size;
    units->sp_cycles = cycles * u->sp;
    units->int_cycles = cycles * u->integer;
    units->fp64_cycles = cycles * u->fp64;
    units->sfu_cycles = cycles * u->sfu;
    units->scalar_cycles = cycles * u->scalar;
    *counts = core->stats;
    memset(&core->stats, 0, sizeof core->stats);
}

void core_flush(struct core *core)
{
    lsu_flush(core);
}

/* ---- warps and blocks ---- */

/* Waits for instructions under way, by fences and counters. */
static enum stall check_waits(const struct core *core, u32 s, const struct inst_time *time)
{
    const struct slot *slot = &core->slots[s];
    const u32 accesses = slot->vector_accesses + slot->scalar_accesses;
    if (time->flags & TIME_BLOCK_BARRIER && slot->unacted && !core->counts)
        return STALL_WAIT;
    if (time->flags & TIME_DRAIN && slot->in_flight > (core->counts ? accesses : 0))
        return STALL_WAIT;
    if (time->flags & TIME_FENCE && (slot->stores || accesses))
        return STALL_WAIT;
    if (core->counts)
        return waitcnt_check(core, s, time);
    if (time->flags & TIME_COUNTERS) {
        const struct inst *inst = &core->exec->image->program->insts[slot->buffer[0]];
        const u32 vector = wait_left(inst, WAIT_VECTOR), others = wait_left(inst, WAIT_OTHERS);
        if ((slot->vector_accesses + slot->stores > vector && vector != WAIT_VECTOR_MOST) ||
            (slot->scalar_accesses > others && others != WAIT_OTHERS_MOST))
            return STALL_WAIT;
    }
    return STALL_NONE;
}

/* The head is known and the warp stands there: may it issue? */
static enum stall check_head(const struct core *core, u32 s, const struct inst_time *time)
{
    const struct slot *slot = &core->slots[s];
    enum stall stall = time->flags & TIME_NEAR ? slot_check_plain(core, slot, time)
                                               : scoreboard_check(core, slot, time);
    if (stall != STALL_NONE)
        return stall;
    const u32 limit = core->config.issue->in_flight_per_warp;
    if (limit && slot->in_flight >= limit)
        return STALL_WAIT;
    if (LIKELY(!(time->flags & (TIME_FENCE | TIME_COUNTERS | TIME_DRAIN | TIME_BLOCK_BARRIER)) &&
               !time->counter))
        return STALL_NONE;
    return check_waits(core, s, time);
}

enum stall slot_check_all(struct core *core, u32 s, const struct inst_time *time)
{
    enum stall stall = check_head(core, s, time);
    if (stall != STALL_NONE || !(time->flags & TIME_SERIAL))
        return stall;
    core->serial |= bit(s);
    return STALL_WAIT;
}

void slot_update(struct core *core, u32 s)
{
    assert(!(core->clear & bit(s)));
    slot_sort(core, s, &core->slots[s]);
}

void slot_recheck(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    const enum stall before = slot->blocked;
    core->serial &= ~bit(s);
    const enum stall stall = UNLIKELY(slot->skipped & 1) ? slot_check_mark(core, slot, slot->time)
                                                         : slot_check(core, s, slot, slot->time);
    if (stall == before)
        return;
    core->blocked[before] &= ~bit(s);
    slot_wake(core, s);
    slot_place(core, slot, bit(s), stall);
}

void slot_maybe_leave(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    if (slot->in_flight || slot->stores || slot->barred & BARRED_MISSING || slot->decoding)
        return;
    struct resident *block = &core->blocks[slot->block];
    assert(!(core->held & bit(s)));
    core->stats.fetch.left += slot->buffered - slot_marks(core, slot);
    core_trace(core, TRACE_WARP_END, s, NO_INST, block->block->number << 16 | slot->warp->index, 0);
    core->warp_cycles += core_cycle(core) - slot->started;
    core->last_left = core->clock.next + core->clock.period;
    slot->warp = NULL;
    slot->buffered = 0;
    slot->skipped = 0;
    slot->limit = core->fetch_limit;
    core->present &= ~bit(s);
    core->clear &= ~bit(s);
    core->ended &= ~bit(s);
    core->redirected &= ~bit(s);
    core->branching &= ~bit(s);
    core->fetchable &= ~bit(s);
    slot->at = NO_INST;
    slot_update(core, s);
    core->waiting &= ~bit(s);
    if (--block->left)
        return;
    core_trace(core, TRACE_BLOCK_END, slot->block, NO_INST, block->block->number, 0);
    core->finished[core->finished_count++] = slot->block;
    if (core_hooked(core, SEAM_BLOCK))
        hooks_block(core, slot->block, false);
}

/* The warp has ended: nothing more is fetched for it. */
static void end_slot(struct core *core, u32 s)
{
    core->slots[s].ended = true;
    core->ended |= bit(s);
    slot_wake(core, s);
    core->fetchable &= ~bit(s);
    core->redirected &= ~bit(s);
    slot_maybe_leave(core, s);
}

/* All warps of the block wait: lanes at reconvergence points go on alone, as without time. */
static void release_lanes(struct core *core, const struct resident *block)
{
    for (u64 set = block->slots & core->present & ~core->ended; set; set &= set - 1)
        if (core->slots[first_bit(set)].at != NO_INST ||
            core->slots[first_bit(set)].warp->state != WARP_WAITING)
            return;
    for (u64 set = block->slots & core->present & ~core->ended; set; set &= set - 1) {
        struct warp *warp = core->slots[first_bit(set)].warp;
        if (paths_release(warp))
            warp->state = WARP_READY;
    }
}

void block_update(struct core *core, u32 s)
{
    const struct resident *block = &core->blocks[core->slots[s].block];
    if (core->slots[s].at == NO_INST)
        release_lanes(core, block);
    for (u64 set = block->slots & core->present & ~core->ended; set; set &= set - 1) {
        u32 other = first_bit(set);
        struct slot *slot = &core->slots[other];
        if (slot->at != NO_INST)
            continue;
        slot_wake(core, other); /* where it waits may have changed */
        if (slot->warp->state == WARP_DONE) {
            end_slot(core, other);
            continue;
        }
        if (slot->warp->state != WARP_READY)
            continue;
        slot->at = warp_next(slot->warp);
        if (slot->at == NO_INST) {
            if (slot->warp->state == WARP_DONE)
                end_slot(core, other);
            continue;
        }
        if (slot->at != (slot->buffered ? slot->buffer[0] : slot->fetch_at))
            core->redirected |= bit(other);
        slot_update(core, other);
        fetch_want(core, other);
    }
}

bool core_has_room(const struct core *core)
{
    u32 warps = core->exec->warps;
    return core->block_count < MIN(core->config.core->blocks, CORE_BLOCKS) &&
           (u32)__builtin_popcountll(core->present) + warps <=
               MIN(core->config.core->warps, CORE_WARPS);
}

static void start_slot(struct core *core, u32 s, u32 place, struct warp *warp)
{
    struct slot *slot = &core->slots[s];
    u64 *pending = slot->pending;
    memset(pending, 0, 2 * core->scoreboard_words * sizeof(u64));
    *slot = (struct slot){
        .pending = pending,
        .warp = warp,
        .block = (u8)place,
        .age = core->ages++,
        .started = core_cycle(core),
    };
    slot->at = warp_next(warp);
    slot->fetch_at = slot->at;
    slot->limit = core->fetch_limit;
    for (u32 pipe = 0; pipe < PIPES; pipe++)
        core->heads[pipe] &= ~bit(s);
    core->heads[slot->head] |= bit(s);
    core->present |= bit(s);
    const u64 who = warp->block->number << 16 | warp->index;
    core_trace(core, TRACE_WARP_START, s, slot->at, who, 0);
    if (core->miaow)
        miaow_start(core, s);
    else
        core_trace(core, TRACE_DISPATCH, s, slot->at, who,
                   slot->at == NO_INST ? 0 : program_offset(core->exec->image->program, slot->at));
    slot_update(core, s);
    fetch_want(core, s);
}

u32 core_start_block(struct core *core, struct thread_block *block, bool copy)
{
    u32 place = 0;
    core->quiet_until = 0;
    while (core->blocks[place].block)
        place++;
    struct resident *r = &core->blocks[place];
    *r = (struct resident){.block = block, .left = block->warp_count, .started = core_cycle(core)};
    r->copy = copy;
    core->block_count++;
    core_trace(core, TRACE_BLOCK_START, place, NO_INST, block->number, 0);
    u64 free_slots = ~core->present;
    for (u32 w = 0; w < block->warp_count; w++, free_slots &= free_slots - 1) {
        u32 s = first_bit(free_slots);
        r->slots |= bit(s);
        start_slot(core, s, place, &block->warps[w]);
    }
    if (core_hooked(core, SEAM_BLOCK))
        hooks_block(core, place, true);
    return place;
}

/* ---- time ---- */

void core_take_replies(struct core *core)
{
    for (struct packet *p; (p = port_head(core->config.replies, core->clock.next));) {
        requests_answered(core, p);
        port_pop(core->config.replies);
    }
}

void core_trace_stalls(struct core *core)
{
    for (u64 set = core->present; set; set &= set - 1) {
        u32 s = first_bit(set);
        struct slot *slot = &core->slots[s];
        enum stall stall = core_waits(core, s);
        u32 inst = core_stands(core, s);
        if (stall == slot->stall && (stall == STALL_NONE || inst == slot->stall_inst))
            continue;
        slot->stall = (u8)stall;
        slot->stall_inst = inst;
        core_trace(core, TRACE_WARP_STALL, s, inst, stall, 0);
    }
}

static void tick(struct core *core)
{
    if (port_next(core->config.replies) <= core->clock.next)
        core_take_replies(core);
    write_back_tick(core);
    if (core->collected_groups)
        execute_tick(core);
    lsu_tick(core);
    if (core->issued_groups || core->collectors_reading ||
        core->collectors_ready & ~core->collectors_stuck)
        collect_tick(core);
    core->banks_written = 0;
    issue_tick(core);
    if (core->fetchable || core->decode_head != core->decode_tail ||
        core->miss_head != core->miss_tail)
        fetch_tick(core);
    if (UNLIKELY(core->watched)) {
        if (core->spans)
            core_trace_stalls(core);
        if (core->steps)
            trace_steps(core);
    }
    clock_advance(&core->clock, 1);
}

/* Whether anything could happen before something arrives or comes due. */
static inline bool is_quiet(const struct core *core)
{
    if (core->asleep != core->all_schedulers && (core->sleeps || core->clear & ~core->branching))
        return false;
    return !(core->issued_groups | core->collected_groups | core->access_groups) &&
           !core->mechanism_work && !(core->collectors_ready | core->redirected) &&
           !(core->skipping & core->clear & ~core->branching) && !core->collectors_reading &&
           fetch_idle(core) && lsu_idle(core);
}

/* The first cycle at which something in a quiet core comes due; UINT64_MAX: nothing does. */
static u64 due_cycle(const struct core *core)
{
    const u64 wheel = wheel_next(core), lsu = lsu_next(core), fetch = fetch_next(core);
    const u64 due = wheel < WHEEL ? core_cycle(core) + wheel : UINT64_MAX;
    return MIN(due, MIN(lsu, fetch));
}

void core_run(struct core *core, fs end)
{
    if (UNLIKELY(core->miaow)) {
        miaow_run(core, end);
        return;
    }
    if (UNLIKELY(core->mechanism_work)) /* a mechanism may have begun something between windows */
        core->quiet_until = 0;
    while (core->clock.next < end && !core->stopped) {
        if (core->quiet_until <= core_cycle(core) && is_quiet(core)) {
            core->quiet_until = due_cycle(core);
            if (UNLIKELY(core->hooks.seams & ~SEAMS_OWN) && core->quiet_until == UINT64_MAX)
                hold_stuck(core);
        }
        if (core->quiet_until > core_cycle(core)) {
            const fs until = MIN(end, port_next(core->config.replies));
            u64 cycles = clock_cycles_until(&core->clock, until);
            cycles = MIN(cycles, core->quiet_until - core_cycle(core));
            issue_charge(core, cycles);
            if (core->lsu_due <= core_cycle(core))
                lsu_charge(core, cycles);
            clock_advance(&core->clock, cycles);
            if (core->clock.next >= end)
                return;
        }
        core->quiet_until = 0;
        tick(core);
    }
}

fs core_next(const struct core *core)
{
    if (core->stopped)
        return FS_NEVER;
    if (!core->present && !core->inflight_count) /* it does not run: its clock stands */
        return port_next(core->config.replies);
    if (UNLIKELY(core->miaow))
        return miaow_next(core);
    const u64 now = core_cycle(core);
    u64 due = core->quiet_until;
    if (due <= now || core->mechanism_work) {
        if (!is_quiet(core))
            return core->clock.next;
        due = due_cycle(core);
    }
    const fs next = port_next(core->config.replies);
    if (due == UINT64_MAX)
        return next;
    return MIN(next, core->clock.next + (due > now ? due - now : 0) * core->clock.period);
}

/* ---- explanations ---- */

enum stall core_waits(const struct core *core, u32 s)
{
    const u64 mask = bit(s);
    if (UNLIKELY(core->miaow))
        return miaow_waits(core, s);
    if (!(core->present & mask))
        return STALL_EMPTY;
    if (core->ended & mask)
        return STALL_MEMORY;
    if (core->held & mask)
        return STALL_HELD;
    if (core->waiting & mask)
        return STALL_BARRIER;
    if (core->branching & mask)
        return STALL_BRANCH;
    for (enum stall stall = STALL_RAW; stall <= STALL_WAIT; stall++)
        if (core->blocked[stall] & mask)
            return stall;
    return core->buffered & mask ? STALL_NONE : STALL_FETCH;
}

u32 core_stands(const struct core *core, u32 s)
{
    const struct slot *slot = &core->slots[s];
    const struct warp *warp = slot->warp;
    if (slot->at != NO_INST || core->ended & bit(s))
        return slot->at;
    return warp->order_count ? warp->paths[warp->order[0]].pc : NO_INST;
}

void core_explain(const struct core *core, u32 s, struct core_wait *wait)
{
    const struct slot *slot = &core->slots[s];
    const struct warp *warp = slot->warp;
    *wait = (struct core_wait){.inst = slot->at, .writer = NO_INST};
    for (u32 i = 0; wait->inst == NO_INST && i < warp->order_count; i++) {
        const struct path *path = &warp->paths[warp->order[i]];
        wait->inst = path->pc;
        wait->barrier = path->barrier;
    }
    wait->has_request = lsu_request_of(core, s, &wait->request);
    if (slot->stores)
        snprintf(wait->more, sizeof wait->more, "%u stores are not acknowledged", slot->stores);
    if (slot->at == NO_INST || !(slot->buffered || core->miaow))
        return;
    const struct inst_time *time = &core->times[slot->at];
    for (u32 i = 0; i < INFLIGHT; i++) {
        const struct inflight *inflight = &core->inflight[i];
        if (core->inflight_free[i / 64] >> i % 64 & 1 || inflight->slot != s)
            continue;
        const struct inst_time *other = inflight->time;
        for (u32 w = 0; w < other->reserve_count; w++)
            for (u32 d = 0; d < time->dependence_count; d++) {
                u64 both = other->dependences[w].bits & time->dependences[d].bits;
                if (other->dependences[w].word != time->dependences[d].word || !both)
                    continue;
                u32 number = other->dependences[w].word * 64 + first_bit(both);
                wait->writer = inflight->dyn.inst;
                if (number < warp->exec->register_rows)
                    snprintf(wait->reg, sizeof wait->reg, "R%u", number);
                return;
            }
    }
}

bool core_unblock(struct core *core)
{
    if (hooks_stuck(core))
        return true;
    bool any = false;
    for (u32 b = 0; b < CORE_BLOCKS; b++) {
        const struct resident *r = &core->blocks[b];
        if (!r->block || !block_unblock(r->block))
            continue;
        any = true;
        core->quiet_until = 0;
        if (r->slots & core->present)
            block_update(core, first_bit(r->slots & core->present));
    }
    return any;
}
