/*
 * The front door for mechanisms: the one header of the core that a mechanism includes.
 *
 *     hooks.h        the table that a mechanism fills: its seams, in groups by stage
 *     this file      what a mechanism may ask of a core, of a warp and of an instruction in
 *                    flight, and what a core does for it
 *     docs/mechanisms.md, docs/write-a-mechanism.md    the guides; examples/mechanisms has examples
 *
 * A mechanism reads a core through the functions below, never through its members: a check
 * enforces it (scripts/check-includes). What is missing is added here.
 *
 * Warps of a core have places, "slots", 0 to CORE_WARPS - 1; a set of them is a u64 with a bit
 * each. A block has a place of its own, 0 to CORE_BLOCKS - 1.
 */
#ifndef CORE_MECHANISM_H
#define CORE_MECHANISM_H

#include "analysis/lane_liveness.h"
#include "analysis/liveness.h"
#include "analysis/redundancy.h"
#include "base/events.h"
#include "core/stages.h"
#include "exec/scalars.h"
#include "exec/values.h"
#include "ir/waits.h"
#include "mem/cache.h"

/* ---- the core ---- */

/* Its parameters, by component: core_config(core)->l1d->sets. */
static inline const struct core_config *core_config(const struct core *core)
{
    return &core->config;
}
static inline u32 core_warp_size(const struct core *core)
{
    return core->config.core->warp_size;
}
static inline lane_set core_all_lanes(const struct core *core)
{
    return core->all_lanes;
}
/* The launch: its grid, blocks, image of the program. */
static inline struct exec *core_exec(const struct core *core)
{
    return core->exec;
}
static inline u32 core_inst_count(const struct core *core)
{
    return core->inst_count;
}
/* What timing knows of an instruction of the program. */
static inline const struct inst_time *core_inst_time(const struct core *core, u32 inst)
{
    return &core->times[inst];
}
/* What it sees of global memory, its own stores of this window included. */
static inline struct memory_view *core_view(const struct core *core)
{
    return core->view;
}
/* Simulated time: that of its next cycle. */
static inline fs core_now(const struct core *core)
{
    return core->clock.next;
}
/* Cycles of the launch from its begin up to a time. */
static inline u64 core_cycles_until(const struct core *core, fs time)
{
    return time > core->began ? (time - core->began + core->clock.period - 1) / core->clock.period
                              : 0;
}
/* What is counted at an instruction of the program; at its end the counts of all cores are added. */
static inline struct inst_profile *core_inst_profile(const struct core *core, u32 inst)
{
    return &core->profile[inst];
}
/* Banks of vector registers, each as wide as a register: several narrower ones count as one. */
static inline u32 core_banks(const struct core *core)
{
    return core->collect.banks_per_group * core->groups;
}
/* The banks of the machine that one of these consists of, as `places` has them. */
static inline u64 core_bank_mask(const struct core *core, u32 bank)
{
    const u32 spread = core->collect.spread;
    return ~0ull >> (64 - spread) << bank * spread;
}
/* Writes of this launch that had to wait for a bank, or for a result bus or port (`places`): the
 * cycles that they waited. */
static inline const struct write_waits *core_write_waits(const struct core *core)
{
    return &core->units.waits;
}
/* Words of a warp's scoreboard. */
static inline u32 core_scoreboard_words(const struct core *core)
{
    return core->issue.scoreboard_words;
}

/* ---- its own state ---- */

/* Memory that belongs to a state and is freed with it; zeroed. For `create` and the like: nothing
 * that is called in a tick allocates. */
void *mechanism_alloc(void *state, size_t bytes);
/*
 * Random numbers for mechanisms that set `random`. Each state has a stream of its own, which begins
 * anew with each launch; it depends on the seed (launch.seed), the launch, the core, partition or
 * dispatcher that the state belongs to, and the mechanism's name, and on nothing else.
 */
static inline struct rng *mechanism_stream(void *state)
{
    struct mechanism_use *use = ((struct mechanism_state *)state)->use;
    assert(use->mechanism->random); /* else users are told that the seed does not matter */
    return &use->random;
}
/* 64 random bits. */
static inline u64 mechanism_random(void *state)
{
    return rng_next(mechanism_stream(state));
}
/* From 0 to limit - 1; limit is not 0. */
static inline u64 mechanism_random_below(void *state, u64 limit)
{
    return rng_below(mechanism_stream(state), limit);
}
/* From [0, 1). */
static inline f64 mechanism_random_unit(void *state)
{
    return rng_unit(mechanism_stream(state));
}

/* ---- warps and blocks ---- */

/* A slot: read `warp` (NULL: free), `at` (the instruction the warp stands at; NO_INST: it waits or
 * has ended), `block` (its block's place), `ended`, `age` (the number of warps that came to the core
 * before it in the launch), `fetch_at` (what is fetched next), and `buffer`, whose `buffered`
 * entries are instructions or, where `skipped` has a bit, marks. */
static inline const struct slot *core_slot(const struct core *core, u32 slot)
{
    return &core->slots[slot];
}
/* A place for a block: `block` (NULL: free), `slots` of its warps, `left` (warps not ended). */
static inline const struct resident *core_block(const struct core *core, u32 place)
{
    return &core->blocks[place];
}
/* Sets of slots: with a warp; */
static inline u64 core_present(const struct core *core)
{
    return core->present;
}
/* whose warp has ended, but not all it has in flight; */
static inline u64 core_ended(const struct core *core)
{
    return core->ended;
}
/* whose warp waits for others: at a barrier, or for lanes; */
static inline u64 core_waiting(const struct core *core)
{
    return core->issue.waiting;
}
/* whose last branch is not resolved, or that are held; */
static inline u64 core_branching(const struct core *core)
{
    return core->issue.branching;
}
/* whose warp has gone elsewhere than its buffer; */
static inline u64 core_redirected(const struct core *core)
{
    return core->issue.redirected;
}
/* that want instructions to be fetched. */
static inline u64 core_wanting(const struct core *core)
{
    return core->fetch.wanting;
}
/* The slot fetched for last. */
static inline u32 core_last_fetched(const struct core *core)
{
    return core->fetch.last;
}
/* Slots of a scheduler. */
static inline u64 core_scheduler_slots(const struct core *core, u32 scheduler)
{
    return core->issue.schedulers[scheduler].slots;
}
/* Slots whose next instruction, once it is fetched, goes to the load/store unit. */
static inline u64 core_memory_slots(const struct core *core)
{
    return core->issue.heads[PIPE_MEMORY];
}
/* Slots of a scheduler that may issue. */
u64 core_ready(const struct core *core, u32 scheduler);
/* Whether the instruction could issue as far as registers go. */
bool core_registers_ready(const struct core *core, u32 slot, u32 inst);
/* Whether a load in flight, ordered by a wait counter, will write a vector register. */
bool core_load_pending(const struct core *core, u32 slot, u32 reg);

/* ---- registers and lanes ----
 *
 * The vector registers of a core are rows of its register file (exec/register_file.h): a word for
 * each lane. Rows have numbers: first those that the machine declares, then those that mechanisms
 * have added, then, if a launch needs more than there are, more. A register is in one row, which a
 * mechanism that fills `allocate` may choose and change; lanes of it may be in others. All else
 * about them is as with any register: values are read when an instruction issues and written when
 * it retires, wherever the register is then.
 */

/* Rows that exist, and what they hold, be it of a warp or not. */
static inline u32 core_rows(const struct core *core)
{
    return register_file_rows(core->registers);
}
static inline u32 *core_row(const struct core *core, u32 row)
{
    return register_file_row(core->registers, row);
}
/* The row of one lane of a register of a slot, which has a warp; NO_ROW: nowhere. Its other lanes
 * are in the same row unless a mechanism has moved them. */
static inline u32 core_register_row(const struct core *core, u32 slot, u32 reg, u32 lane)
{
    return register_file_find(core->registers, core->slots[slot].warp, reg, lane);
}
/* Entries of the scalar file, 0: the machine declares none; and the one of a warp's scalar. */
static inline u32 core_scalar_entries(const struct core *core)
{
    return core->registers->declared_scalars;
}
static inline u32 core_scalar_entry(const struct core *core, u32 slot, u32 scalar)
{
    return register_file_find_scalar(core->registers, core->slots[slot].warp, scalar);
}
/* Rows no lane of which belongs to a register: their number, and the first `most` of them. */
u32 core_spare_rows(const struct core *core, u32 *rows, u32 most);
/* Lanes of a row that belong to registers. */
lane_set core_row_lanes(const struct core *core, u32 row);
/* Rows beside the file, for a mechanism's own storage; at `create`. The first one's number. */
u32 core_add_rows(struct core *core, u32 rows);
/* For mechanisms that fill `allocate`. Lanes of a register are in another row from now on, with
 * their value (move) or without (place: they then hold what is there); or in NO_ROW: nowhere, so
 * that they read as 0 and what is written is lost. The launch stops, and false is returned, when
 * the row does not exist or another register has these lanes of it. */
bool core_move_lanes(struct core *core, u32 slot, u32 reg, lane_set lanes, u32 row);
bool core_place_lanes(struct core *core, u32 slot, u32 reg, lane_set lanes, u32 row);
static inline bool core_move_register(struct core *core, u32 slot, u32 reg, u32 row)
{
    return core_move_lanes(core, slot, reg, core->all_lanes, row);
}
static inline bool core_place_register(struct core *core, u32 slot, u32 reg, u32 row)
{
    return core_place_lanes(core, slot, reg, core->all_lanes, row);
}

/* Which physical lane the thread of an architectural lane runs on: itself, unless a mechanism has
 * given the slot a permutation. Results do not depend on it. */
static inline u32 core_lane(const struct core *core, u32 slot, u32 lane)
{
    return core->lanes.permuted >> slot & 1 ? core->lanes.physical[slot][lane] : lane;
}
/* In `allocate` or `block`, for a warp that starts: the physical lane of each architectural one. The
 * launch stops, and false is returned, when it is no permutation. */
bool core_set_lanes(struct core *core, u32 slot, const u8 *physical);

/* ---- instructions in flight ---- */

/* Records have numbers below CORE_INFLIGHT (inflight_index), by which a mechanism keeps what it
 * knows of them. */
static inline bool inflight_is_taken(const struct core *core, u32 index)
{
    return !(core->inflight.free[index / 64] >> index % 64 & 1);
}
/* Words for the values of one. */
static inline u32 core_row_words(const struct core *core)
{
    return core->inflight.row_words;
}
/* The result of an instruction that writes one vector operand, in all lanes, for one warp, and
 * nothing else: its words, `*words` of them, and the first register. NULL: it does something
 * else, or was made by a mechanism. */
static inline const u32 *inflight_vector_result(const struct core *core,
                                                const struct inflight *inflight, u32 *reg,
                                                u32 *words)
{
    const struct dyninst *dyn = &inflight->dyn;
    if (inflight->injected || dyn->kind > DYNINST_ACCESS || dyn->homes || !dyn->dst_rows[0] ||
        dyn->dst[1] || dyn->writes != core->all_lanes)
        return NULL;
    *reg = dyn->to[0];
    *words = dyn->dst_rows[0] * core->config.core->warp_size;
    return dyn->dst[0];
}
/* Whether registers of a warp, from `reg` on, hold these words, all lanes one after another. */
static inline bool warp_holds(const struct warp *warp, u32 reg, const u32 *values, u32 words)
{
    const u32 lanes = warp->exec->image->warp_size;
    u32 row[MAX_LANES];
    for (u32 at = 0; at < words; at += lanes) {
        register_read(warp, reg++, row);
        if (memcmp(row, values + at, lanes * sizeof *row))
            return false;
    }
    return true;
}

/* Counts the lanes that an instruction has read, computed or (`written`) written because of a
 * mechanism, beyond what it does by itself or short of it: lane_reads, lane_ops, lane_writes. */
void inflight_count_work(struct core *core, const struct inflight *inflight, bool written);

/* ---- what a core does for a mechanism ---- */

/* Held slots neither issue nor fetch until they are released; meanwhile they cost nothing. A slot
 * that has issued may be held from `control` on. */
void core_hold(struct core *core, u64 slots);
void core_release(struct core *core, u64 slots);
/* Held slots do not fetch. */
void core_hold_fetch(struct core *core, u64 slots);
void core_release_fetch(struct core *core, u64 slots);
/* An instruction in a slot's buffer, at this place, is not wanted: the mark of a skipped one takes
 * its place, for which `skipped` is called. */
void core_mark(struct core *core, u32 slot, u32 at);
/* Stages between fetch and the buffers; at `create`. */
static inline void core_add_fetch_stages(struct core *core, u32 stages)
{
    core->fetch.extra_stages += stages;
}
/* A mechanism wants every cycle, also those in which the core would be idle (1), or does so no
 * longer (-1); calls add up. */
static inline void core_want_cycles(struct core *core, i32 change)
{
    core->mechanism_work += (u32)change;
}
/* The launch stops on this core: a fault was found. */
static inline void core_stop(struct core *core)
{
    core->stopped = true;
}
/* Counts it as an instruction of the slot's warp. */
void core_count_issue(struct core *core, const struct dyninst *dyn, u32 slot);
/* The slot's warp goes on from the head of its buffer. */
void core_step(struct core *core, u32 slot, u32 inst);
/* Room behind issue for an instruction of a slot. */
bool core_room(const struct core *core, u32 slot, u32 inst);
/* Puts a dynamic instruction that was issued by other means on its way: inflight->dyn is filled.
 * There must be room (core_room). */
void core_issue_dyninst(struct core *core, struct inflight *inflight, u32 slot);
/* Issues a group, filled by dyninst_issue_homes: counts it, puts it on its way, and the slot's warp
 * goes on. */
void core_issue_group(struct core *core, struct inflight *inflight, u32 slot);
/* Puts an instruction of a mechanism's own (injected), with times of its own (time_own), on its
 * way. There must be room in its pipe. */
void core_issue_own(struct core *core, struct inflight *inflight, u32 slot,
                    const struct inst_time *time);
/* A move of a register, as the warp's view has it, to its own row. */
struct core_copy {
    struct inst inst;
    struct inst_time time;
};
void core_copy_make(struct core_copy *copy, u32 reg, const struct core_config *config);
/* A record for it, numbered as `inst`; NULL: there is no room. Then it is issued, and the register
 * is pending until the mechanism, which sees it retire, calls core_copy_retired. */
struct inflight *core_copy_take(struct core *core, u32 slot, u32 inst,
                                const struct core_copy *copy);
void core_copy_issue(struct core *core, struct inflight *inflight, u32 slot,
                     const struct core_copy *copy);
void core_copy_retired(struct core *core, const struct inflight *inflight);
/* For mechanisms that have hooks at a cache of the core (the cache seam): so many ways of each set,
 * the last ones, take no lines from now on. What is in them is dropped at once (all caches of a core
 * are written through), which the hook `evicted` tells; lines under way leave as soon as they are
 * filled. Not to be called from cache hooks. */
void core_reserve_ways(struct core *core, enum packet_client cache, u32 ways);
/* Those that an answer is for (the reply seam), in the order they came: the requester, or all whose
 * accesses or fetches wait for its line in an MSHR of the core; none for a prefetch without such.
 * Writes at most `most` and returns how many there are. */
u32 core_waiters(const struct core *core, const struct packet *answer, struct requester *waiters,
                 u32 most);
/* A packet of a mechanism's own to the L2 slice of an address; what it and its answer carry counts
 * in flits. False: there is no room. */
bool core_send_note(struct core *core, u64 address, u64 payload, u16 bits);
/*
 * For mechanisms that set `prefetches`. Sends for sectors of a line of
 * CLIENT_L1D or CLIENT_READONLY that no load has asked for, on behalf of an instruction of the warp
 * in a slot (REQUESTER_PREFETCH); `address` is anywhere in the line, and
 * of a cache that is not sectored the whole line comes. It is looked up at once and takes a line,
 * an MSHR, a place in the miss queue and the network as a load's miss does. It counts as no read;
 * the fill, an eviction and the request count as all others. It never waits and never faults. What
 * is under way when a launch ends is lost. It may be called from every seam of a core, `l1_access`
 * included; a line that it evicts is reported through `l1_evicted` before it returns.
 */
enum prefetch_answer core_prefetch(struct core *core, enum packet_client cache, u64 address,
                                   u32 sectors, u32 slot, u32 inst);
/* For mechanisms that set `content`. A line of CLIENT_L1D or CLIENT_READONLY by its place; its bytes
 * may be changed. False: no line is there. Lines of the L2: memory_system_line. */
bool core_l1_line(const struct core *core, enum packet_client cache, u32 set, u32 way,
                  struct cache_line *line);

#ifdef HEDDLE_PLUGIN
#include "core/plugin.h"
#endif

#endif
