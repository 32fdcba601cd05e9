/*
 * The stages of the common pipeline: the functions that they call of each other. Other pipelines
 * use the stages that they do not replace.
 */
#ifndef CORE_COMMON_COMMON_H
#define CORE_COMMON_COMMON_H

#include "core/gcn/waitcnt.h"
#include "core/mechanism.h"

extern const struct pipeline common_pipeline;

/* pipeline.c: also for pipelines that use these stages with their own issue. */
void common_create(struct core *core);
void common_destroy(struct core *core);
void common_begin(struct core *core);
void common_start_warp(struct core *core, u32 slot);
void common_restart(struct core *core, u32 slot);
void common_run(struct core *core, fs end);
fs common_next(const struct core *core);
enum stall common_waits(const struct core *core, u32 slot);
/* The timing properties of an instruction, except pipe and cost. */
void common_time_rest(struct inst_time *time, const struct timed_code *code, u32 i);
/* storage.c */
void common_storage(struct state_list *list, const struct core_config *config);
void common_logic(struct logic_list *list, const struct core_config *config);

/* hold.c */
/* Marks in a slot's buffer. */
static inline u32 slot_marks(const struct core *core, const struct slot *slot)
{
    return (u32)(slot->limit - core->fetch.limit);
}
/* The branch of a held slot has been resolved. */
void hold_resolved(struct core *core, u32 slot);
/* If nothing will happen on a core without mechanisms, lets them release what they hold. */
bool hold_stuck(struct core *core);
/* fetch.c */
void fetch_create(struct core *core);
void fetch_destroy(struct core *core);
/* Sets the members of `times`, one entry per instruction of an image, that fetch uses. */
void fetch_time(struct inst_time *times, const struct image *image,
                const struct core_config *config);
/* The line of an MSHR has arrived. */
void fetch_reply(struct core *core, u32 mshr);
void fetch_redirect(struct core *core, u32 slot);
static inline bool fetch_idle(const struct core *core)
{
    return !core->fetch.wanting && core->fetch.decode_head == core->fetch.decode_tail;
}
/* The earliest cycle at which fetch may have something to do without an event. */
static inline u64 fetch_next(const struct core *core)
{
    const u32 at = core->fetch.miss_head % ARRAY_LEN(core->fetch.misses);
    return core->fetch.miss_head == core->fetch.miss_tail ? UINT64_MAX
                                                          : core->fetch.misses[at].ready;
}
/* Whether the next address may be the wrong one to fetch: the last instruction in the slot's buffer
 * is a branch, or a branch is unresolved or has just been redirected. */
bool fetch_behind_branch(const struct core *core, u32 slot);
/* The slot's buffer has changed: sets whether it wants more. */
static inline void fetch_want_more(struct core *core, u32 s)
{
    const struct slot *slot = &core->slots[s];
    const bool wants = !slot->barred && !slot->decoding && !slot->ended &&
                       slot->fetch_at < core->inst_count &&
                       !(core->config.fetch->branch == 1 && fetch_behind_branch(core, s));
    core->fetch.wanting = (core->fetch.wanting & ~bit(s)) | (u64)wants << s;
}
static inline void fetch_want(struct core *core, u32 s)
{
    if (core->slots[s].buffered > core->slots[s].limit)
        core->fetch.wanting &= ~bit(s);
    else
        fetch_want_more(core, s);
}

/* issue.c */
/* Schedulers take their turns. The tick does it itself on the plain way (issue_tick.h). */
void issue_turns(struct core *core);
/* Charges idle cycles of schedulers up to now. */
void issue_charge_idle(struct core *core);
/* Charges `cycles` in which nothing could change. */
void issue_charge(struct core *core, u64 cycles);
/* schedule.c: the scheduling policy. */
bool schedule_is_greedy(const struct core *core);
/* The slot of the oldest warp of a non-empty set, unless a flipped bit has changed ages (live.h). */
static inline u32 schedule_oldest(const struct core *core, u64 set)
{
    u32 i = 0;
    while (!(core->cohorts[i] & set))
        i++;
    return first_bit(core->cohorts[i] & set);
}
/* Picks a warp of the non-empty set `ready`; CORE_WARPS: none may issue. */
u32 schedule_pick(struct core *core, u32 scheduler, u64 ready);
/* The scheduler has issued nothing for `cycles`. */
void schedule_pass(struct core *core, u32 scheduler, u64 cycles);
/* Whether the turn passes on when nothing issues. */
bool schedule_passes(const struct core *core);

/* scoreboard.c: registers beyond the first words. */
void scoreboard_reserve_far(const struct core *core, struct slot *slot,
                            const struct inst_time *time);
void scoreboard_release_far(const struct core *core, struct slot *slot,
                            const struct inst_time *time);
static inline void scoreboard_reserve(struct core *core, struct slot *slot,
                                      const struct inst_time *time)
{
    u64 *const pending = slot->pending, *const memory = pending + core->issue.scoreboard_words;
    near_add(core, pending, time->near_writes);
    if (time->flags & TIME_LOAD)
        near_add(core, memory, time->near_writes);
    if (UNLIKELY(time->far_writes))
        scoreboard_reserve_far(core, slot, time);
    slot->region_count += time->region_count;
}
static inline void scoreboard_release(struct core *core, struct slot *slot,
                                      const struct inst_time *time)
{
    u64 *const pending = slot->pending, *const memory = pending + core->issue.scoreboard_words;
    near_remove(core, pending, time->near_writes);
    if (time->flags & TIME_LOAD)
        near_remove(core, memory, time->near_writes);
    if (UNLIKELY(time->far_writes))
        scoreboard_release_far(core, slot, time);
    slot->region_count -= time->region_count;
}
/* STALL_NONE: no pending register prevents the instruction from issuing. */
enum stall scoreboard_check(const struct core *core, const struct slot *slot,
                            const struct inst_time *time);

/* collect.c */
void collect_create(struct core *core);
/* The banks of an instruction's registers. */
void collect_time(struct inst_time *time, const struct inst *inst,
                  const struct core_config *config);
/* Whether a step would change anything but counters. */
static inline bool collect_active(const struct core *core)
{
    return core->collect.issued_groups || core->collect.reading_count ||
           core->collect.ready & ~core->collect.stuck;
}
/* Charges `cycles` in which none would have. */
static inline void collect_charge(struct core *core, u64 cycles)
{
    core->stats.collect.full_cycles += cycles * core->config.collect->steps * core->collect.starved;
}
/* Counts the register reads of an instruction that takes no collector. */
void collect_count(struct core *core, struct inflight *inflight);
static inline bool collect_room(const struct core *core, u32 group, enum pipe pipe)
{
    return !(core->collect.full_pipes[group] >> pipe & 1);
}
static inline void collect_push(struct core *core, struct inflight *inflight)
{
    const u32 g = LIKELY(core->groups == 1) ? 0 : inflight->group, pipe = inflight->pipe;
    struct core_group *group = &core->collect.group[g];
    HELD(group);
    struct latch *latch = &group->issued[pipe];
    latch_push(latch, inflight_index(core, inflight));
    core->collect.issued_groups |= core->collect.starved_groups | 1u << g;
    group->issued_pipes |= (u8)(1u << pipe);
    if (latch->count >= latch->limit)
        core->collect.full_pipes[g] |= (u8)(1u << pipe);
}
/* collect_push, as the pipeline's `enter`. */
void collect_push_any(struct core *core, struct inflight *inflight);
/* Bank of a register. */
static inline u32 collect_bank(const struct core *core, u32 slot, u32 group, u32 reg)
{
    return group * core->collect.banks_per_group + (slot + reg) % core->collect.banks_per_group;
}
/* A register's bank access, as offered to mechanisms. */
static inline struct bank_access collect_place(const struct core *core,
                                               const struct inflight *inflight, u32 reg)
{
    const u32 bank = collect_bank(core, inflight->slot, inflight->group, reg);
    return (struct bank_access){.banks = core_bank_mask(core, bank), .reg = (u16)reg, .cycles = 1};
}
/* Banks that are busy with a write of more than one cycle. */
static inline u64 collect_busy(struct core *core)
{
    for (u64 set = core->collect.busy; set; set &= set - 1)
        if (core->collect.busy_until[first_bit(set)] <= core_cycle(core))
            core->collect.busy &= ~(set & -set);
    return core->collect.busy;
}
/* collect_bank for a set of banks of slot 0, which are rotated by the slot's number: those of the
 * slot within its group, and among all. */
static inline u64 collect_rotated(const struct core *core, u32 slot, u64 set)
{
    const u32 up = core->collect.bank_turns[slot].up, down = core->collect.bank_turns[slot].down;
    return (set << up | set >> 1 >> down) & core->collect.group_banks;
}
static inline u64 collect_banks(const struct core *core, u32 slot, u64 set)
{
    return collect_rotated(core, slot, set) << core->collect.bank_turns[slot].base;
}

/* execute.c */
void execute_create(struct core *core);
void execute_begin(struct core *core);
/* Counts an instruction that enters a unit. */
void execute_count(struct core *core, const struct inflight *inflight);

/* writeback.c */
void write_back_begin(struct core *core);
/* Writes back the results on the wheel that are due in this cycle. */
void write_back_due(struct core *core);
/* Writes the instruction's results and frees its record; warps that waited for it may continue. */
void inflight_retire(struct core *core, struct inflight *inflight);

/* lsu.c and lsu_requests.c */
void lsu_create(struct core *core);
void lsu_destroy(struct core *core);
void lsu_begin(struct core *core);
/* Performs an access on memory. False: it has faulted, and the core stops. */
bool lsu_act(struct core *core, struct inflight *inflight);
/* An access enters the latch before the unit. */
static inline void lsu_enter(struct core *core, struct inflight *inflight)
{
    latch_push(&core->collect.group[inflight->group].collected[PIPE_MEMORY],
               inflight_index(core, inflight));
    core->collect.access_groups |= 1u << inflight->group;
}
void lsu_finish(struct core *core);
static inline void lsu_write_back(struct core *core)
{
    if (core->lsu.done <= core_cycle(core))
        lsu_finish(core);
}
static inline void write_back_tick(struct core *core)
{
    const u32 at = core_cycle(core) % WHEEL;
    if (core->wheel.used[at / 64] >> at % 64 & 1)
        write_back_due(core);
    lsu_write_back(core);
}
void lsu_reply(struct core *core, const struct packet *packet);
/* Nothing waits but the access at the head, and that for a cache which has refused another. */
bool lsu_blocked(const struct core *core);
/* Whether it has nothing to do by itself. */
static inline bool lsu_idle(const struct core *core)
{
    return core->lsu.held ? core->lsu.due <= core_cycle(core) && lsu_blocked(core)
                          : !core->collect.access_groups;
}
/* The next due cycle of the caches' pipes, without accesses that their cache has refused: while the
 * unit is idle, these are refused again until a reply arrives. */
u64 lsu_due_again(const struct core *core);
/* The earliest cycle at which an idle load/store unit may have something to do without an event. */
static inline u64 lsu_next(const struct core *core)
{
    const u64 due = core->lsu.due > core_cycle(core) ? core->lsu.due : lsu_due_again(core);
    return MIN(due, core->lsu.done);
}
/* Charges `cycles` in which the unit was idle. */
void lsu_charge(struct core *core, u64 cycles);
void lsu_flush(struct core *core);
/* A first-level cache by client: CLIENT_L1D, CLIENT_CONSTANT, CLIENT_READONLY. */
struct cache *lsu_cache(const struct core *core, enum packet_client client);
/* The requester of a request that waits in an MSHR. */
struct requester lsu_requester(const struct core *core, u32 request);
/* An outstanding request of an instruction of the slot; false: none. */
bool lsu_request_of(const struct core *core, u32 slot, struct packet *request);

/* issue.c, for pipelines that choose an instruction's unit themselves. core_issue_direct issues an
 * instruction of a slot's warp in this record; false: the launch has stopped. core_act executes one
 * that takes no unit: it takes effect at once, and is done. */
bool core_issue_direct(struct core *core, struct inflight *inflight, u32 slot, u32 inst);
/* The lose seam, for the same: whether the instruction is lost. */
bool core_lose_direct(struct core *core, u32 slot, u32 inst);
void core_act(struct core *core, struct inflight *inflight, u32 slot, u32 inst);
/* The issue slot of this cycle was used, or not and why; slot: one to which the reason applies. */
void issue_used(struct core *core);
void issue_idle(struct core *core, enum stall stall, u32 slot);

#endif
