/*
 * The core as a whole: blocks and warps, the records of instructions in flight, and time.
 */
#include "core/common/slots.h"
#include "core/live.h"
#include "core/requests.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- records ---- */

/* Cycles until something on the wheel is due; WHEEL: nothing is. */
u64 wheel_next(const struct core *core)
{
    _Static_assert(WHEEL == 64 * 64, "a word says which words of the wheel are used");
    const u32 now = (u32)(core_cycle(core) % WHEEL), w = now / 64;
    if (!core->wheel.words)
        return WHEEL;
    u64 word = core->wheel.used[w] & ~(bit(now % 64) - 1);
    if (word)
        return first_bit(word) - now % 64;
    /* then the words after this one, wrapping around, with the lower part of this one last */
    const u64 above = core->wheel.words & ~(bit(w) | (bit(w) - 1));
    const u32 next = first_bit(above ? above : core->wheel.words);
    return (next * 64 + first_bit(core->wheel.used[next]) + WHEEL - now) % WHEEL;
}

/* ---- create and destroy ---- */

/* Creates the pipeline and the counters of its outstanding packets. */
static void create_pipeline(struct core *core)
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
    core->pipeline->create(core);
    for (u32 c = 0; c < CLIENTS; c++)
        core->awaiting[c] = checked(calloc(tags[c], 1));
}

struct core *core_create(const struct core_config *config)
{
    struct core *core;
    struct arena *arena = arena_create_large(sizeof *core + CORE_WARPS * sizeof *core->slots +
                                             CORE_INFLIGHT * sizeof *core->inflight.all + 4096);
    core = arena_alloc_aligned(arena, sizeof *core, 64);
    core->arena = arena;
    core->config = *config;
    core->groups = config->issue->sub_cores ? config->issue->schedulers : 1;
    core->slots = arena_alloc_aligned(arena, CORE_WARPS * sizeof *core->slots, 64);
    core->registers = register_file_create(config->core->warp_size,
                                           config->core->registers / config->core->warp_size,
                                           config->core->scalar_registers, config->mechanism_count);
    core->pipeline = pipeline_of(config->core);
    core->live = config->live ? live_create_core(arena) : NULL;
    create_pipeline(core);
    core->view = memory_view_create();
    core->inflight.all = arena_alloc_aligned(arena, CORE_INFLIGHT * sizeof *core->inflight.all, 64);
    core->inflight.free = arena_array(arena, u64, CORE_INFLIGHT / 64);
    memset(core->inflight.free, 0xff, CORE_INFLIGHT / 8);
    hooks_create(core, config->mechanisms, config->mechanism_count);
    return core;
}

static void destroy_pipeline(struct core *core)
{
    for (u32 c = 0; c < CLIENTS; c++)
        free(core->awaiting[c]);
    core->pipeline->destroy(core);
}

void core_destroy(struct core *core)
{
    if (!core)
        return;
    hooks_destroy(core);
    destroy_pipeline(core);
    memory_view_destroy(core->view);
    register_file_destroy(core->registers);
    free(core->inflight.rows);
    reform_end(core);
    restart_end(core);
    free(core->issue.pending);
    arena_destroy(core->arena);
}

void core_begin(struct core *core, struct exec *exec, struct inst_time *times,
                struct inst_profile *profile, fs now)
{
    core->exec = exec;
    core->times = times;
    core->profile = profile;
    core->stopped = false;
    core->inst_count = exec->image->program->inst_count;
    core->all_lanes = ~0ull >> (64 - core->config.core->warp_size);
    core->quiet_until = 0;
    core->finished_count = 0;
    core->began = core->last_left = now;
    core->warp_cycles = 0;
    core->detours = (core->hooks.seams ? DETOUR_SEAMS : 0) | (core->config.live ? DETOUR_LIVE : 0) |
                    (core->hooks.seams && core->hooks.operands ? DETOUR_COPIES : 0);
    core->at.call = NULL;
    clock_start(&core->clock, core->config.mhz, now);
    const u32 bits = time_scoreboard_bits(exec->image->program, exec->kernel);
    core->issue.scoreboard_words = MAX((bits + 63) / 64, NEAR_WORDS);
    core->issue.wide = bits > 64;
    core->issue.pending =
        checked(calloc(CORE_WARPS, 2 * core->issue.scoreboard_words * sizeof(u64)));
    core->inflight.row_words = (u32)align_up(dyninst_row_words(exec->image), 16); /* 64 bytes */
    core->inflight.rows = checked(aligned_alloc(
        64, align_up((size_t)core->inflight.row_words * CORE_INFLIGHT, 16) * sizeof(u32)));
    for (u32 s = 0; s < CORE_WARPS; s++)
        core->slots[s] = (struct slot){
            .pending = core->issue.pending + (size_t)s * 2 * core->issue.scoreboard_words,
            .at = NO_INST,
        };
    live_begin(core);
    reform_begin(core);
    restart_begin(core);
    core->pipeline->begin(core);
    hooks_launch(core, true);
}

/* Removes what a stopped launch has left, so that the next launch finds an empty core. */
static void drop_all(struct core *core)
{
    destroy_pipeline(core);
    memset(&core->wheel, 0, sizeof core->wheel);
    memset(&core->issue, 0, sizeof core->issue);
    memset(&core->collect, 0, sizeof core->collect);
    for (u32 i = 0; i < CORE_INFLIGHT; i++)
        core->inflight.all[i].counted = core->inflight.all[i].astray = false;
    create_pipeline(core);
    memset(core->blocks, 0, sizeof core->blocks);
    core->block_count = 0;
    core->lanes.permuted = 0;
    core->present = core->ended = core->ages = 0;
    core->cohort_count = 0;
    core->finished_count = 0;
    memset(core->inflight.free, 0xff, CORE_INFLIGHT / 8);
    core->inflight.count = 0;
    hooks_set_caches(core);
}

void core_end(struct core *core)
{
    hooks_launch(core, false);
    core->mechanism_work = 0;
    free(core->issue.pending);
    free(core->inflight.rows);
    reform_end(core);
    restart_end(core);
    core->issue.pending = NULL;
    core->inflight.rows = NULL;
    if (core->stopped || core->present || core->inflight.count)
        drop_all(core);
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
    u64 slots = 0; /* may be negative */
    for (u32 i = 0; i < core->config.issue->schedulers; i++)
        slots += core->pipeline->slots(core, i, core_cycle(core), cycles);
    core->stats.issue.slots += slots;
    core->stats.issue.idle_empty += slots;
    for (u64 set = core->present; set; set &= set - 1) { /* the launch has stopped */
        const struct slot *slot = &core->slots[first_bit(set)];
        core->stats.fetch.left += slot->buffered - slot_marks(core, slot);
    }
}

void core_take_counts(struct core *core, struct core_counts *counts)
{
    assert(!(core->issue.clear &
             (core->issue.waiting | core->ended | core->issue.redirected | ~core->issue.buffered)));
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

/* Takes a slot out of its cohort. */
static void leave_cohort(struct core *core, u32 s)
{
    u32 i = 0;
    while (!(core->cohorts[i] >> s & 1))
        i++;
    core->cohorts[i] &= ~bit(s);
    if (core->cohorts[i])
        return;
    core->cohort_count--;
    memmove(&core->cohorts[i], &core->cohorts[i + 1],
            (core->cohort_count - i) * sizeof *core->cohorts);
}

void slot_maybe_leave(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    if (slot->in_flight || slot->stores || slot->barred & BARRED_MISSING || slot->decoding)
        return;
    struct resident *block = &core->blocks[slot->block];
    assert(!(core->issue.held & bit(s)));
    core->stats.fetch.left += slot->buffered - slot_marks(core, slot);
    core_trace(core, TRACE_WARP_END, s, NO_INST, block->block->number << 16 | slot->warp->index, 0);
    core->warp_cycles += core_cycle(core) - slot->started;
    core->last_left = core->clock.next + core->clock.period;
    slot->warp = NULL;
    core->lanes.permuted &= ~bit(s);
    slot->buffered = 0;
    slot->skipped = 0;
    slot->limit = core->fetch.limit;
    core->present &= ~bit(s);
    leave_cohort(core, s);
    core->issue.clear &= ~bit(s);
    core->ended &= ~bit(s);
    core->issue.redirected &= ~bit(s);
    core->issue.branching &= ~bit(s);
    core->fetch.wanting &= ~bit(s);
    slot->at = NO_INST;
    slot_update(core, s);
    core->issue.waiting &= ~bit(s);
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
    core->fetch.wanting &= ~bit(s);
    core->issue.redirected &= ~bit(s);
    slot_maybe_leave(core, s);
}

/* If all warps of the block wait, lanes at reconvergence points continue alone, as in functional
 * mode. */
static void release_lanes(struct core *core, const struct resident *block)
{
    for (u64 set = block->slots & core->present & ~core->ended; set; set &= set - 1)
        if (core->slots[first_bit(set)].at != NO_INST ||
            core->slots[first_bit(set)].warp->state != WARP_WAITING ||
            core->slots[first_bit(set)].warp->reformed)
            return;
    for (u64 set = block->slots & core->present & ~core->ended; set; set &= set - 1) {
        struct warp *warp = core->slots[first_bit(set)].warp;
        if (paths_release(warp))
            warp->state = WARP_READY;
    }
}

void slot_continue(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    slot_wake(core, s); /* what it waits for may have changed */
    if (slot->warp->state == WARP_DONE) {
        end_slot(core, s);
        return;
    }
    if (slot->warp->state != WARP_READY)
        return;
    slot->at = warp_next(slot->warp);
    if (slot->at == NO_INST) {
        if (slot->warp->state == WARP_DONE)
            end_slot(core, s);
        return;
    }
    if (slot->at != (slot->buffered ? slot->buffer[0] : slot->fetch_at))
        core->issue.redirected |= bit(s);
    slot_update(core, s);
    fetch_want(core, s);
}

void block_update(struct core *core, u32 s)
{
    const struct resident *block = &core->blocks[core->slots[s].block];
    if (core->slots[s].at == NO_INST)
        release_lanes(core, block);
    for (u64 set = block->slots & core->present & ~core->ended; set; set &= set - 1)
        if (core->slots[first_bit(set)].at == NO_INST)
            slot_continue(core, first_bit(set));
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
    memset(pending, 0, 2 * core->issue.scoreboard_words * sizeof(u64));
    *slot = (struct slot){
        .pending = pending,
        .warp = warp,
        .block = (u8)place,
        .age = core->ages++,
        .started = core_cycle(core),
    };
    slot->at = warp_next(warp);
    slot->fetch_at = slot->at;
    slot->limit = core->fetch.limit;
    for (u32 pipe = 0; pipe < PIPES; pipe++)
        core->issue.heads[pipe] &= ~bit(s);
    core->issue.heads[slot->head] |= bit(s);
    core->present |= bit(s);
    core_trace(core, TRACE_WARP_START, s, slot->at, warp->block->number << 16 | warp->index,
               trace_scheduler(core, s));
    if (UNLIKELY(core->live != NULL))
        live_started(core, s);
    core->pipeline->start_warp(core, s);
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
    u64 *const cohort = &core->cohorts[core->cohort_count++];
    *cohort = 0;
    for (u32 w = 0; w < block->warp_count; w++, free_slots &= free_slots - 1) {
        u32 s = first_bit(free_slots);
        r->slots |= bit(s);
        *cohort |= bit(s);
        start_slot(core, s, place, &block->warps[w]);
    }
    for (u32 b = 0; b < CORE_BLOCKS; b++) /* K9 */
        if (b != place)
            core->blocks[b].slots &= ~r->slots;
    if (core_hooked(core, SEAM_ALLOCATE))
        hooks_allocate(core, r->slots);
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
    const bool causes = core->trace.spans->causes;
    if (causes && !core->trace.spans->begun)
        trace_present(core);
    for (u64 set = core->present; set; set &= set - 1) {
        u32 s = first_bit(set);
        struct slot *slot = &core->slots[s];
        enum stall stall = causes ? trace_stall(core, s) : core_waits(core, s);
        u32 inst = core_stands(core, s);
        if (stall == slot->stall && (stall == STALL_NONE || inst == slot->stall_inst))
            continue;
        slot->stall = (u8)stall;
        slot->stall_inst = inst;
        core_trace(core, TRACE_WARP_STALL, s, inst, stall, 0);
        if (causes)
            trace_needs(core, s, stall);
    }
}

void core_call_at(struct core *core, fs time, void (*call)(void *user, struct core *core),
                  void *user)
{
    core->at.time = time;
    core->at.call = call;
    core->at.user = user;
}

/* Runs up to the time of the call, and makes it. */
static COLD void run_to_call(struct core *core, fs end)
{
    while (core->at.call && core->at.time < end && !core->stopped) {
        void (*const call)(void *, struct core *) = core->at.call;
        core->pipeline->run(core, core->at.time);
        core->at.call = NULL; /* the function may ask for another call */
        call(core->at.user, core);
    }
}

void core_run(struct core *core, fs end)
{
    if (UNLIKELY(core->at.call != NULL))
        run_to_call(core, end);
    core->pipeline->run(core, end);
}

fs core_next(const struct core *core)
{
    if (core->stopped)
        return FS_NEVER;
    if (!core->present && !core->inflight.count) /* it does not run, and its clock stands still */
        return port_next(core->config.replies);
    return core->pipeline->next(core);
}

/* ---- explanations ---- */

enum stall core_waits(const struct core *core, u32 s)
{
    return core->pipeline->waits(core, s);
}

u32 core_stands(const struct core *core, u32 s)
{
    const struct slot *slot = &core->slots[s];
    const struct warp *warp = slot->warp;
    if (slot->at != NO_INST || core->ended & bit(s))
        return slot->at;
    return warp->order_count ? warp->paths[warp->order[0]].pc : NO_INST;
}

/* The first scoreboard bit that both instructions use, one of which will write it; UINT32_MAX: none. */
static u32 common_register(const struct inst_time *writer, const struct inst_time *other)
{
    for (u32 w = 0; w < writer->reserve_count; w++)
        for (u32 d = 0; d < other->dependence_count; d++) {
            const u64 both = writer->dependences[w].bits & other->dependences[d].bits;
            if (writer->dependences[w].word == other->dependences[d].word && both)
                return writer->dependences[w].word * 64 + first_bit(both);
        }
    return UINT32_MAX;
}

const struct inflight *core_next_writer(const struct core *core, u32 s, u32 *at, u32 *number)
{
    const struct inst_time *time = &core->times[core->slots[s].at];
    for (; *at < CORE_INFLIGHT; ++*at) {
        const struct inflight *inflight = &core->inflight.all[*at];
        if (core->inflight.free[*at / 64] >> *at % 64 & 1 || inflight->slot != s)
            continue;
        *number = common_register(inflight->time, time);
        if (*number != UINT32_MAX) {
            ++*at;
            return inflight;
        }
    }
    return NULL;
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
    const enum stall stall = core_waits(core, s);
    if (stall != STALL_RAW && stall != STALL_WAW && stall != STALL_MEMORY)
        return;
    u32 at = 0, number;
    const struct inflight *writer = core_next_writer(core, s, &at, &number);
    if (!writer)
        return;
    wait->writer = writer->dyn.inst;
    if (number < warp->exec->register_rows)
        snprintf(wait->reg, sizeof wait->reg, "R%u", number);
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
