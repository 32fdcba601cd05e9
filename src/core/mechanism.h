/*
 * The interface for mechanisms: the only header of the core that a mechanism includes.
 *
 *     hooks.h        the table that a mechanism fills: its seams, grouped by stage
 *     this file      what a mechanism can read of a core, a warp and an instruction in flight, and
 *                    what it can have a core do
 *     docs/mechanisms.md, docs/write-a-mechanism.md    the guides; examples/mechanisms has examples
 *
 * A mechanism reads a core through the functions below, never through its members:
 * scripts/check-includes enforces this. If an accessor is missing, add it here.
 *
 * Warps occupy slots 0 to CORE_WARPS - 1 of a core; a set of slots is a u64 with one bit per slot.
 * Blocks occupy places 0 to CORE_BLOCKS - 1.
 */
#ifndef CORE_MECHANISM_H
#define CORE_MECHANISM_H

#include "analysis/lane_liveness.h"
#include "analysis/lane_regions.h"
#include "analysis/last_reads.h"
#include "analysis/lifetimes.h"
#include "analysis/liveness.h"
#include "analysis/redundancy.h"
#include "analysis/regions.h"
#include "analysis/sides.h"
#include "base/events.h"
#include "base/state_walk.h"
#include "chip/classes.h"
#include "core/stages.h"
#include "exec/live.h"
#include "exec/memory_view.h"
#include "exec/scalars.h"
#include "exec/values.h"
#include "ir/waits.h"
#include "mem/cache.h"

/* ---- the core ---- */

/* The core's parameters, by component: core_config(core)->l1d->sets. */
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
/* The launch: its grid, blocks and program image. */
static inline struct exec *core_exec(const struct core *core)
{
    return core->exec;
}
/* Whether a device address in requests stands for local memory, which has no storage there. It is that
 * of a slot: warps that take a slot one after the other have the same addresses. */
static inline bool core_is_local(u64 address)
{
    return address >= LOCAL_BASE;
}
static inline u32 core_inst_count(const struct core *core)
{
    return core->inst_count;
}
/* The timing properties of an instruction of the program. */
static inline const struct inst_time *core_inst_time(const struct core *core, u32 inst)
{
    return &core->times[inst];
}
/* The core's view of global memory, which includes its own stores of this window. */
static inline struct memory_view *core_view(const struct core *core)
{
    return core->view;
}
/* The simulated time of the core's next cycle. */
static inline fs core_now(const struct core *core)
{
    return core->clock.next;
}
/* Cycles from the start of the launch to a time. */
static inline u64 core_cycles_until(const struct core *core, fs time)
{
    return time > core->began ? (time - core->began + core->clock.period - 1) / core->clock.period
                              : 0;
}
/* The counts of an instruction; at the end of the launch those of all cores are added. */
static inline struct inst_profile *core_inst_profile(const struct core *core, u32 inst)
{
    return &core->profile[inst];
}
/* Banks of vector registers, each as wide as a register: several narrower banks count as one. */
static inline u32 core_banks(const struct core *core)
{
    return core->collect.banks_per_group * core->groups;
}
/* The bank of them that holds a register of a slot's warp, unless a mechanism says otherwise. */
u32 core_register_bank(const struct core *core, u32 slot, u32 reg);
/* The machine's banks that form one of these, as in `places`. */
static inline u64 core_bank_mask(const struct core *core, u32 bank)
{
    const u32 spread = core->collect.spread;
    return ~0ull >> (64 - spread) << bank * spread;
}
/* The cycles that writes of this launch waited for a bank, and for a result bus or port
 * (`places`). */
static inline const struct write_waits *core_write_waits(const struct core *core)
{
    return &core->units.waits;
}
/* Whether its pipeline uses the instruction buffers, collectors and caches of the common one. */
static inline bool core_has_common_stages(const struct core *core)
{
    return core->pipeline->content;
}
/* Words of a warp's scoreboard. */
static inline u32 core_scoreboard_words(const struct core *core)
{
    return core->issue.scoreboard_words;
}

/* The chip that the device is, and this core's part of it: delays and weak cells of the register file
 * (chip/chip.h). NULL: none is given, which a mechanism that sets `chip` rules out. Banks and entries
 * are those of the hardware: which of them holds a register is for the mechanism to say. */
static inline const struct chip *core_chip(const struct core *core)
{
    return core->config.chip;
}
static inline const struct chip_core *core_chip_core(const struct core *core)
{
    return core->config.chip ? &core->config.chip->cores[core->config.index] : NULL;
}

/* ---- a mechanism's own state ---- */

/* Zeroed memory that is freed together with the state. For `create` and the like: nothing that is
 * called in a tick may allocate. */
void *mechanism_alloc(void *state, size_t bytes);
/* The state of a mechanism on a core; NULL: it is off. For visitors of its storage (state_visit). */
void *core_mechanism(const struct core *core, const struct mechanism *mechanism);
/* The memory that all owners share, for mechanisms with a device_size. */
static inline void *mechanism_device(const void *state)
{
    return ((const struct mechanism_state *)state)->use->device;
}
/*
 * Random numbers for mechanisms that set `random`. Each state has its own stream, which restarts
 * with each launch; it depends only on the seed (launch.seed), the launch, the state's owner (a
 * core, a partition or the dispatcher) and the mechanism's name.
 */
static inline struct rng *mechanism_stream(void *state)
{
    struct mechanism_use *use = ((struct mechanism_state *)state)->use;
    assert(use->mechanism->random); /* without it, users are told that the seed does not matter */
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

/* A slot's members: `warp` (NULL: free), `at` (the warp's next instruction; NO_INST: the warp waits
 * or has ended), `block` (the place of its block), `ended`, `age` (a number that increases with
 * each warp that starts on the core), `fetch_at` (next instruction to fetch), and `buffer`, which
 * has `buffered` entries: instructions, or, where `skipped` has a bit, marks of skipped ones. */
static inline const struct slot *core_slot(const struct core *core, u32 slot)
{
    return &core->slots[slot];
}
/* A block's place: `block` (NULL: free), `slots` of its warps, `left` (warps that have not
 * ended). */
static inline const struct resident *core_block(const struct core *core, u32 place)
{
    return &core->blocks[place];
}
/* Sets of slots. Slots with a warp. */
static inline u64 core_present(const struct core *core)
{
    return core->present;
}
/* Slots whose warp has ended but still has instructions or stores in flight. */
static inline u64 core_ended(const struct core *core)
{
    return core->ended;
}
/* Slots whose warp waits for others: at a barrier, or for lanes of its own. */
static inline u64 core_waiting(const struct core *core)
{
    return core->issue.waiting;
}
/* Slots with an unresolved branch, and held slots. */
static inline u64 core_branching(const struct core *core)
{
    return core->issue.branching;
}
/* Slots whose warp continues elsewhere than its buffer does. */
static inline u64 core_redirected(const struct core *core)
{
    return core->issue.redirected;
}
/* Slots that want instructions. */
static inline u64 core_wanting(const struct core *core)
{
    return core->fetch.wanting;
}
/* The slot that was fetched for last. */
static inline u32 core_last_fetched(const struct core *core)
{
    return core->fetch.last;
}
/* Slots of a scheduler. */
static inline u64 core_scheduler_slots(const struct core *core, u32 scheduler)
{
    return core->issue.schedulers[scheduler].slots;
}
/* The scheduler of a slot. */
static inline u32 core_scheduler_of(const struct core *core, u32 slot)
{
    return first_bit(core->issue.scheduler_of[slot]);
}
/* Slots whose next instruction, once fetched, goes to the load/store unit. */
static inline u64 core_memory_slots(const struct core *core)
{
    return core->issue.heads[PIPE_MEMORY];
}
/* Slots of a scheduler that can issue. */
u64 core_ready(const struct core *core, u32 scheduler);
/* The same, whether or not their pipes have room. */
u64 core_able(const struct core *core, u32 scheduler);
/* Whether the instruction's registers are free of pending writes that it must wait for. */
bool core_registers_ready(const struct core *core, u32 slot, u32 inst);
/* Whether a load in flight that a wait counter covers will write this vector register. */
bool core_load_pending(const struct core *core, u32 slot, u32 reg);

/* ---- registers and lanes ----
 *
 * The vector registers of a core are rows of its register file (exec/register_file.h), with one
 * word per lane. Rows are numbered: first those that the machine declares, then those that
 * mechanisms have added, then further ones if a launch needs more. A register is in one row, which
 * a mechanism that fills `allocate` may choose and change; single lanes may be in other rows. In
 * all other respects it is an ordinary register: its value is read when an instruction issues and
 * written when it retires, wherever the register is then.
 */

/* The number of rows, and the words of a row, whether or not it belongs to a warp. */
static inline u32 core_rows(const struct core *core)
{
    return register_file_rows(core->registers);
}
static inline u32 *core_row(const struct core *core, u32 row)
{
    return register_file_row(core->registers, row);
}
/* The row that holds one lane of a register, for a slot with a warp; NO_ROW: none. The other lanes
 * are in the same row unless a mechanism has moved them. */
static inline u32 core_register_row(const struct core *core, u32 slot, u32 reg, u32 lane)
{
    return register_file_find(core->registers, core->slots[slot].warp, reg, lane);
}
/* The rows that a slot's warp has unless a mechanism chooses others: the first of them, and their
 * number, which is that of its registers, rounded up to the unit of allocation. */
u32 core_home_rows(const struct core *core, u32 slot, u32 *count);
/* Entries of the scalar register file (0: the machine declares none), and the entry of a warp's
 * scalar. */
static inline u32 core_scalar_entries(const struct core *core)
{
    return core->registers->declared_scalars;
}
static inline u32 core_scalar_entry(const struct core *core, u32 slot, u32 scalar)
{
    return register_file_find_scalar(core->registers, core->slots[slot].warp, scalar);
}
/* Rows in which no lane belongs to a register: returns their number and the first `most` of
 * them. */
u32 core_spare_rows(const struct core *core, u32 *rows, u32 most);
/* Lanes of a row that belong to registers. */
lane_set core_row_lanes(const struct core *core, u32 row);
/* At `create`: adds rows for a mechanism's own storage and returns the number of the first. */
u32 core_add_rows(struct core *core, u32 rows);
/* For mechanisms that fill `allocate`. Puts lanes of a register into another row, with their values
 * (move) or without (place: they take the values in that row). In NO_ROW, lanes read as 0 and
 * writes are lost. If the row does not exist, or another register owns these lanes of it, the
 * launch stops and false is returned. */
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

/* Says which registers of a slot's warp are safe from now on, by bit: no bit of them flips, or the
 * flip is corrected. Observers count their vulnerability apart (the covered seam). It holds until it
 * is said again, also for later warps in this slot: call it for every warp that starts (block). Of a
 * register with a result in flight, say it before the result's instruction issues, or when it
 * retires. */
void core_cover(struct core *core, u32 slot, const u64 *registers);
/* At `create`: rows whose bits particles cannot flip. Fault campaigns find nothing there. */
static inline void core_set_immune(struct core *core, u32 first, u32 count)
{
    core->immune.first = first;
    core->immune.count = count;
}
/* A visitor for storage rows of a mechanism that are rows of the register file, in words of a lane:
 * the first of them is row number `which` (state_visit). Their bits can be flipped. */
void core_visit_registers(struct state_walk *walk, const struct state_row *row, void *owner,
                          u64 entry);

/* The physical lane on which an architectural lane's thread runs: the same number, unless a
 * mechanism has given the slot a permutation. Results do not depend on it. */
static inline u32 core_lane(const struct core *core, u32 slot, u32 lane)
{
    return core->lanes.permuted >> slot & 1 ? core->lanes.physical[slot][lane] : lane;
}
/* In `allocate` or `block`, for a starting warp: sets the physical lane of each architectural lane.
 * If they are not a permutation, the launch stops and false is returned. */
bool core_set_lanes(struct core *core, u32 slot, const u8 *physical);

/* ---- instructions in flight ---- */

/* Records have indices below CORE_INFLIGHT (inflight_index), which a mechanism can use for its own
 * tables. */
static inline bool inflight_is_taken(const struct core *core, u32 index)
{
    return !(core->inflight.free[index / 64] >> index % 64 & 1);
}
/* Words that hold the values of one record. */
static inline u32 core_row_words(const struct core *core)
{
    return core->inflight.row_words;
}
/* The result of an instruction that writes one vector operand in all lanes, for one warp, and
 * nothing else: its first register, its words, and their number in `*words`. NULL: any other
 * instruction, or one that a mechanism made. */
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
/* Whether registers of a warp, starting at `reg`, hold these words, lane by lane. */
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

/* Counts the difference that mechanisms make to an instruction's lanes read and computed, or, if
 * `written`, to the lanes written: lane_reads, lane_ops, lane_writes. */
void inflight_count_work(struct core *core, const struct inflight *inflight, bool written);

/* ---- re-formed warps ----
 *
 * For mechanisms that set `reforms`. A slot may execute threads of
 * several warps of its block: lane i then runs the thread of lane i of the warp in slot homes[i].
 * Registers, predicates, local memory and the numbers of a thread stay with its home
 * (exec/reformed.h). The mechanism sees to it that every live thread is in one slot at most, that
 * no thread is forgotten, and that a re-formed warp executes no instruction that reads other lanes.
 * core_home says where the thread of a slot's lane is at home.
 */

/* With explicit EXEC, each time before slots of a group are re-formed or restored: they keep the scalars
 * of their warps, or give back what re-formed warps have changed to where the threads are at home. The
 * region, which lane_regions_find has found, is that of all code that re-formed warps execute until
 * they are restored. */
void core_keep(struct core *core, u64 slots, const struct lane_region *region);
/* The slot, which is held or waits and has nothing in flight, executes these lanes from `pc` on.
 * Those that reach `rpc` (NO_INST: none) leave it; when the last one has left or exited, `control` is
 * called and the slot waits. Without lanes it waits at once. `region`: as in core_keep; without
 * explicit EXEC NULL. */
void core_reform(struct core *core, u32 slot, const u8 *homes, lane_set lanes,
                 const struct lane_region *region, u32 pc, u32 rpc);
/* The slot executes its own live threads again, from `pc` on; it ends if there are none. */
void core_restore(struct core *core, u32 slot, u32 pc);
/* Lanes of a slot that are active now. */
static inline lane_set core_active(const struct core *core, u32 slot)
{
    return core->slots[slot].warp->active;
}
static inline bool core_is_reformed(const struct core *core, u32 slot)
{
    return core->slots[slot].warp->reformed != NULL;
}
/* Whether a re-formed slot waits because all its lanes have left or exited. */
static inline bool core_is_empty(const struct core *core, u32 slot)
{
    return core_is_reformed(core, slot) && !core->slots[slot].warp->order_count;
}
/* Where the lanes of a slot continue, by instruction: up to MAX_LANES places. 0: some are in a call
 * or wait for others, or no lane is left. Lanes that have left at `rpc` are at none. */
static inline u32 core_lane_places(const struct core *core, u32 slot, struct target *places)
{
    return paths_places(core->slots[slot].warp, places);
}

/* ---- what a core does for a mechanism ---- */

/* Held slots neither issue nor fetch until they are released, at no cost meanwhile. A slot that has
 * issued may be held from its `control` call on. */
void core_hold(struct core *core, u64 slots);
void core_release(struct core *core, u64 slots);
/* The same for fetch only. */
void core_hold_fetch(struct core *core, u64 slots);
void core_release_fetch(struct core *core, u64 slots);
/* Replaces the instruction at position `at` of a slot's buffer by the mark of a skipped one, so
 * that `skipped` is called for it. */
void core_mark(struct core *core, u32 slot, u32 at);
/* At `create`: adds stages between fetch and the buffers. */
static inline void core_add_fetch_stages(struct core *core, u32 stages)
{
    core->fetch.extra_stages += stages;
}
/* With 1, a mechanism needs every cycle, even those in which the core would be idle; -1 ends this.
 * Calls add up. */
static inline void core_want_cycles(struct core *core, i32 change)
{
    core->mechanism_work += (u32)change;
}
/* For the only mechanism that fills `pick` or `insert` on this core: it decides nothing there until
 * the next launch, so that schedulers may sleep again. Others make it do nothing. */
void core_pick_ends(struct core *core);
/*
 * For mechanisms that set `restarts`. Before an instruction of the program that is cut, a warp waits
 * until it has nothing in flight; the paths that it has then are kept. core_restart sends the warp
 * back to the last cut that it has passed: what it has in flight is annulled, registers and memory
 * stay as they are. Returns the number of instructions that it has issued since. The code between two
 * cuts must be idempotent, and nothing that takes effect at issue, but for branches, may have been
 * issued since the cut (analysis/regions.h). Cuts are made when a launch begins (`launch`), and stay.
 */
void core_cut(struct core *core, u32 inst);
static inline bool core_is_cut(const struct core *core, u32 inst)
{
    return core->times[inst].flags & TIME_CUT;
}
u64 core_restart(struct core *core, u32 slot);
/* From now on the instruction changes neither registers nor memory. */
static inline void inflight_annul(struct inflight *inflight)
{
    inflight->annulled = true;
}
/* In `operand` or `issued`: changes the address of a lane of an access. False: it is not computed from
 * a vector register. */
static inline bool inflight_readdress(struct inflight *inflight, u32 lane, u64 address)
{
    return live_readdress(&inflight->dyn, lane, address);
}
/* Stops the launch on this core, for example because of a detected fault. */
static inline void core_stop(struct core *core)
{
    core->stopped = true;
}
/* Counts it as an instruction that the slot's warp issued. */
void core_count_issue(struct core *core, const struct dyninst *dyn, u32 slot);
/* The slot's warp continues after the instruction at the head of its buffer. */
void core_step(struct core *core, u32 slot, u32 inst);
/* Whether the pipe of a slot's instruction has room. */
bool core_room(const struct core *core, u32 slot, u32 inst);
/* Sends a dynamic instruction, which the mechanism has filled into inflight->dyn, down the
 * pipeline. There must be room (core_room). */
void core_issue_dyninst(struct core *core, struct inflight *inflight, u32 slot);
/* Issues a group that dyninst_issue_homes filled: counts it, sends it down the pipeline and
 * advances the slot's warp. */
void core_issue_group(struct core *core, struct inflight *inflight, u32 slot);
/* Issues an instruction of the mechanism's own (inflight->injected) with its own timing (time_own).
 * There must be room in its pipe. */
void core_issue_own(struct core *core, struct inflight *inflight, u32 slot,
                    const struct inst_time *time);
/* A move that copies a register, as the warp's view shows it, to the warp's own row. */
struct core_copy {
    struct inst inst;
    struct inst_time time;
};
void core_copy_make(struct core_copy *copy, u32 reg, const struct core_config *config);
/* Takes a record for it, numbered as `inst`; NULL: no room. It must then be issued; the register is
 * pending until the mechanism, in `retired`, calls core_copy_retired. */
struct inflight *core_copy_take(struct core *core, u32 slot, u32 inst,
                                const struct core_copy *copy);
void core_copy_issue(struct core *core, struct inflight *inflight, u32 slot,
                     const struct core_copy *copy);
void core_copy_retired(struct core *core, const struct inflight *inflight);
/* For mechanisms with hooks at a cache of the core (the cache seam): from now on the last `ways`
 * ways of each set hold no lines. Their lines are dropped at once (all caches of a core write
 * through), and the hook `evicted` is called for them; lines in flight are dropped as soon as they
 * are filled. Must not be called from cache hooks. */
void core_reserve_ways(struct core *core, enum packet_client cache, u32 ways);
/* The requesters that a reply is for (the reply seam), in order of arrival: the sender, or all
 * accesses or fetches that wait for the line in an MSHR of the core; none for a prefetch that
 * nothing waits for. Writes at most `most` of them and returns their number. */
u32 core_waiters(const struct core *core, const struct packet *answer, struct requester *waiters,
                 u32 most);
/* The load that a read of a cache is for (the cache_event seam: its waiter), or a read request that
 * bypasses the caches (the packet seam, CLIENT_DIRECT: its tag). NULL: it is a fetch. */
struct inflight *core_reader(struct core *core, enum packet_client which, u32 waiter);
/* Sends a mechanism's own packet to the L2 slice of an address; its payload, and that of its reply,
 * count in flits. False: no room. */
bool core_send_note(struct core *core, u64 address, u64 payload, u16 bits);
/*
 * For mechanisms that set `prefetches`. Requests sectors of a line for CLIENT_L1D or
 * CLIENT_READONLY, on behalf of an instruction of the warp in a slot (REQUESTER_PREFETCH).
 * `address` may be anywhere in the line; a cache that is not sectored gets the whole line. The line
 * is looked up at once; like the miss of a load, a prefetch takes a line, an MSHR, an entry of the
 * miss queue and network bandwidth. It does not count as a read; its fill, eviction and request
 * count as usual. It never waits and never faults. Prefetches in flight when a launch ends are
 * lost. May be called from every seam of a core, including `l1_access`; `l1_evicted` is called for
 * a line that it evicts before it returns.
 */
enum prefetch_answer core_prefetch(struct core *core, enum packet_client cache, u64 address,
                                   u32 sectors, u32 slot, u32 inst);
/* For mechanisms that set `content`. The line at a set and way of CLIENT_L1D or CLIENT_READONLY;
 * its bytes may be changed. False: no line is there. For lines of the L2: memory_system_line. */
bool core_l1_line(const struct core *core, enum packet_client cache, u32 set, u32 way,
                  struct cache_line *line);

#ifdef HEDDLE_PLUGIN
#include "core/plugin.h"
#endif

#endif
