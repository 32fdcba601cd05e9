/*
 * The stages of the common pipeline, each with what the others call of it. Other pipelines use
 * those that are not their own.
 */
#ifndef CORE_COMMON_COMMON_H
#define CORE_COMMON_COMMON_H

#include "core/gcn/waitcnt.h"
#include "core/mechanism.h"

extern const struct pipeline common_pipeline;

/* pipeline.c: for pipelines that put these stages behind their own issue. */
void common_create(struct core *core);
void common_destroy(struct core *core);
void common_begin(struct core *core);
void common_start_warp(struct core *core, u32 slot);
void common_run(struct core *core, fs end);
fs common_next(const struct core *core);
enum stall common_waits(const struct core *core, u32 slot);
/* All of an instruction's times but place and cost. */
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
/* A branch of a held slot is resolved. */
void hold_resolved(struct core *core, u32 slot);
/* Nothing will happen on a core by itself: mechanisms may let go what they hold. */
bool hold_stuck(struct core *core);
/* fetch.c */
void fetch_create(struct core *core);
void fetch_destroy(struct core *core);
void fetch_tick(struct core *core);
/* What `times`, an entry for each instruction of an image, have to say of fetching it. */
void fetch_time(struct inst_time *times, const struct image *image,
                const struct core_config *config);
/* The line under an MSHR has arrived. */
void fetch_reply(struct core *core, u32 mshr);
void fetch_redirect(struct core *core, u32 slot);
static inline bool fetch_idle(const struct core *core)
{
    return !core->fetch.wanting && core->fetch.decode_head == core->fetch.decode_tail;
}
/* The first cycle at which it may have something to do by itself. */
static inline u64 fetch_next(const struct core *core)
{
    const u32 at = core->fetch.miss_head % ARRAY_LEN(core->fetch.misses);
    return core->fetch.miss_head == core->fetch.miss_tail ? UINT64_MAX
                                                          : core->fetch.misses[at].ready;
}
/* Whether, behind a branch in a slot's buffer or one that is being resolved or has just been, the
 * next address is not where to go. */
bool fetch_behind_branch(const struct core *core, u32 slot);
/* The slot's buffer has changed: does it want more? */
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
/* Schedulers take their turns, beginning with this one. */
void issue_turns(struct core *core, u32 first);
static inline void issue_tick(struct core *core)
{
    const u32 first = core->issue.first;
    core->issue.first = first + 1 == core->config.issue->schedulers ? 0 : first + 1;
    core->stats.issue.cycles += core->present != 0;
    if (core->issue.asleep != core->issue.all || core->issue.redirected | core->issue.skipping)
        core->pipeline->issue(core, first);
}
/* Charges the cycles in which schedulers were idle up to now. */
void issue_charge_idle(struct core *core);
/* Charges `cycles` in which nothing could change. */
void issue_charge(struct core *core, u64 cycles);
/* schedule.c: what a policy wants. */
bool schedule_is_greedy(const struct core *core);
/* A warp of the set `ready`, which is not empty; CORE_WARPS: none may. */
u32 schedule_pick(struct core *core, u32 scheduler, u64 ready);
/* It has issued nothing for `cycles`. */
void schedule_pass(struct core *core, u32 scheduler, u64 cycles);
/* Whether the turn passes when nothing is issued. */
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
    near_add(pending, time->near_writes);
    if (time->flags & TIME_LOAD)
        near_add(memory, time->near_writes);
    if (UNLIKELY(time->far_writes))
        scoreboard_reserve_far(core, slot, time);
    slot->region_count += time->region_count;
}
static inline void scoreboard_release(struct core *core, struct slot *slot,
                                      const struct inst_time *time)
{
    u64 *const pending = slot->pending, *const memory = pending + core->issue.scoreboard_words;
    near_remove(pending, time->near_writes);
    if (time->flags & TIME_LOAD)
        near_remove(memory, time->near_writes);
    if (UNLIKELY(time->far_writes))
        scoreboard_release_far(core, slot, time);
    slot->region_count -= time->region_count;
}
/* STALL_NONE: the instruction may issue as far as registers go. */
enum stall scoreboard_check(const struct core *core, const struct slot *slot,
                            const struct inst_time *time);

/* collect.c */
void collect_create(struct core *core);
/* Where the registers of an instruction are. */
void collect_time(struct inst_time *time, const struct inst *inst,
                  const struct core_config *config);
void collect_tick(struct core *core);
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
/* Counts the registers that an instruction reads which needs no collector. */
void collect_count(struct core *core, struct inflight *inflight);
static inline bool collect_room(const struct core *core, u32 group, enum pipe pipe)
{
    return !(core->collect.full_pipes[group] >> pipe & 1);
}
static inline void collect_push(struct core *core, struct inflight *inflight)
{
    const u32 g = inflight->group, pipe = inflight->pipe;
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
/* Where an instruction finds a register, as mechanisms are told. */
static inline struct bank_access collect_place(const struct core *core,
                                               const struct inflight *inflight, u32 reg)
{
    const u32 bank = collect_bank(core, inflight->slot, inflight->group, reg);
    return (struct bank_access){core_bank_mask(core, bank), (u16)reg, 1};
}
/* Banks that are busy with a write which takes more than a cycle. */
static inline u64 collect_busy(struct core *core)
{
    for (u64 set = core->collect.busy; set; set &= set - 1)
        if (core->collect.busy_until[first_bit(set)] <= core_cycle(core))
            core->collect.busy &= ~(set & -set);
    return core->collect.busy;
}
/* The same as collect_bank for a set of them: slot 0's banks, turned by the slot's number within its group. */
static inline u64 collect_banks(const struct core *core, u32 slot, u64 set)
{
    const u32 up = core->collect.bank_turns[slot].up, down = core->collect.bank_turns[slot].down;
    return ((set << up | set >> 1 >> down) & core->collect.group_banks)
           << core->collect.bank_turns[slot].base;
}

/* execute.c */
void execute_create(struct core *core);
void execute_begin(struct core *core);
/* Counts an instruction that a unit takes. */
void execute_count(struct core *core, const struct inflight *inflight);
void execute_tick(struct core *core);

/* writeback.c */
void write_back_begin(struct core *core);
/* Results on the wheel that are due in this cycle are written. */
void write_back_due(struct core *core);
/* The instruction is done: its results are written, what waited for it may go on. */
void inflight_retire(struct core *core, struct inflight *inflight);

/* lsu.c */
void lsu_create(struct core *core);
void lsu_destroy(struct core *core);
void lsu_begin(struct core *core);
void lsu_work(struct core *core);
/* Memory acts for an access. False: it has faulted, and the core stops. */
bool lsu_act(struct core *core, struct inflight *inflight);
/* An access takes its place before the unit. */
static inline void lsu_enter(struct core *core, struct inflight *inflight)
{
    latch_push(&core->collect.group[inflight->group].collected[PIPE_MEMORY],
               inflight_index(core, inflight));
    core->collect.access_groups |= 1u << inflight->group;
}
static inline void lsu_tick(struct core *core)
{
    if (core->lsu.held | core->collect.access_groups || core->lsu.due <= core_cycle(core))
        lsu_work(core);
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
/* lsu_due without accesses that their cache has refused: while the unit is idle, they are refused
 * again until an answer comes. */
u64 lsu_due_again(const struct core *core);
/* The first cycle at which it may have something to do by itself, while it is idle. */
static inline u64 lsu_next(const struct core *core)
{
    const u64 due = core->lsu.due > core_cycle(core) ? core->lsu.due : lsu_due_again(core);
    return MIN(due, core->lsu.done);
}
/* Charges `cycles` in which it was idle. */
void lsu_charge(struct core *core, u64 cycles);
void lsu_flush(struct core *core);
/* A first-level cache by who it serves: CLIENT_L1D, CLIENT_CONSTANT, CLIENT_READONLY. */
struct cache *lsu_cache(const struct core *core, enum packet_client client);
/* Where a request that waits in an MSHR comes from. */
struct requester lsu_requester(const struct core *core, u32 request);
/* A request that an instruction of the slot waits for. */
bool lsu_request_of(const struct core *core, u32 slot, struct packet *request);

/* issue.c, for pipelines that find an instruction its unit themselves. An instruction of a slot's
 * warp issues in a record; false: the launch has stopped. One that takes no unit acts at once, and
 * is done. */
bool core_issue_direct(struct core *core, struct inflight *inflight, u32 slot, u32 inst);
void core_act(struct core *core, struct inflight *inflight, u32 slot, u32 inst);
/* The issue slot of this cycle was used, or not, and why; slot: one that it holds for. */
void issue_used(struct core *core);
void issue_idle(struct core *core, enum stall stall, u32 slot);

#endif
