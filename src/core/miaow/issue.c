/*
 * Issue in the miaow pipeline: each warp has at most one instruction here; one issues per cycle.
 *
 * An instruction may issue when the registers it reads and writes are not busy, its warp has fewer
 * than `in_flight` instructions in flight and, for a memory access, no other access in flight.
 * Among these, an arbiter for each class of units picks a warp: the first one at or after the warp
 * that issued last. Then the classes that have a warp and a unit take turns, and the lowest free
 * unit of the class gets the instruction. The arbiters' inputs are a cycle old, and their choice
 * issues in the next cycle; a warp and a unit that were just chosen are excluded meanwhile.
 *
 * s_waitcnt is done when it arrives here (busy registers and the limit of one access per warp do
 * its work), a barrier when the last warp of its block has arrived, an end when nothing of its warp
 * is in flight; they use no issue slot. One warp ends per cycle: the first at or after the one that
 * ended last.
 *
 * The turn of classes is the RTL's: it remembers the position of the last class in the rotated
 * order, so that turns are not quite fair.
 *
 * Deviation: all registers of loads of more than one word are tracked; the RTL misses some.
 */
#include "core/miaow/miaow.h"
#include "exec/scalars.h"

enum {
    TO_FREE = 2 /* cycles from a write until issue sees the register as free */
};

void miaow_issue_begin(struct core *core)
{
    const struct miaow_params *p = core->config.miaow;
    miaow_of(core)->units_all = ((1u << p->simd) - 1) | ((1u << p->simf) - 1) << UNIT_SIMF |
                                1u << UNIT_LSU | 1u << UNIT_SALU;
}

/* ---- busy registers ---- */

static u64 *busy_of(const struct core *core, u32 s)
{
    return miaow_of(core)->busy + (size_t)s * core->issue.scoreboard_words;
}

static bool is_clear(const struct core *core, u32 s, const struct inst_time *time)
{
    const u64 *const busy = busy_of(core, s);
    u64 hit = 0;
    for (u32 i = 0; i < time->dependence_count; i++)
        hit |= busy[time->dependences[i].word] & time->dependences[i].bits;
    return !hit && !(time->flags & (TIME_DRAIN | TIME_CUT) && core->slots[s].in_flight);
}

static void reserve(struct core *core, u32 s, const struct inst_time *time)
{
    u64 *const busy = busy_of(core, s);
    for (u32 i = 0; i < time->write_count; i++)
        busy[time->dependences[i].word] |= time->dependences[i].bits;
}

static void add_release(struct core *core, struct miaow_release release)
{
    struct miaow *miaow = miaow_of(core);
    const u64 at = core_cycle(core) + TO_FREE;
    assert(miaow->release_count[at % SOON] < RELEASES);
    miaow->releases[at % SOON][miaow->release_count[at % SOON]++] = release;
    miaow->rings_until = MAX(miaow->rings_until, at);
}

void miaow_issue_written(struct core *core, const struct inflight *inflight, bool retires)
{
    add_release(core, (struct miaow_release){
                          .time = inflight->time, .slot = inflight->slot, .retires = retires});
}

void miaow_issue_written_some(struct core *core, const struct inflight *inflight, u32 first,
                              u32 count)
{
    add_release(core,
                (struct miaow_release){.first = first, .count = count, .slot = inflight->slot});
}

static void release(struct core *core, const struct miaow_release *r)
{
    struct miaow *miaow = miaow_of(core);
    u64 *const busy = busy_of(core, r->slot);
    struct miaow_slot *p = &miaow->slots[r->slot];
    miaow->recheck |= bit(r->slot);
    for (u32 at = r->first; at < r->first + r->count; at++)
        busy[at / 64] &= ~bit(at % 64);
    for (u32 i = 0; r->time && i < r->time->write_count; i++)
        busy[r->time->dependences[i].word] &= ~r->time->dependences[i].bits;
    if (r->retires && --p->in_flight < core->config.miaow->in_flight)
        miaow->saturated &= ~bit(r->slot);
}

static void act_clear(struct core *core);

void miaow_issue_release(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    const u32 at = (u32)(core_cycle(core) % SOON);
    for (u32 i = 0; i < miaow->release_count[at]; i++)
        release(core, &miaow->releases[at][i]);
    miaow->moved |= miaow->release_count[at] != 0;
    miaow->release_count[at] = 0;
    miaow->valid |= miaow->entering;
    miaow->recheck |= miaow->entering;
    miaow->entering = 0;
    for (u64 set = miaow->recheck & miaow->valid; set; set &= set - 1) {
        const u32 s = first_bit(set);
        const struct inst_time *time = &core->times[miaow->slots[s].entry];
        miaow->clear = (miaow->clear & ~bit(s)) | (u64)is_clear(core, s, time) << s;
    }
    miaow->recheck = 0;
    if (UNLIKELY(miaow->barring & miaow->clear))
        act_clear(core);
}

/* ---- from decode ---- */

/* With live state: whether the warp can execute anything. One that waits or has ended cannot, even if
 * a flipped bit says that it has an instruction, which is lost then. */
static inline bool can_run(const struct core *core, u32 s)
{
    const struct warp *warp = core->slots[s].warp;
    return LIKELY(!core->config.live) || (core->present >> s & 1 && !core->slots[s].ended &&
                                          warp->state == WARP_READY && warp->current != NO_PATH);
}

/* Executes an instruction without a unit. */
static void act(struct core *core, u32 s, u32 inst)
{
    if (!can_run(core, s))
        return;
    struct inflight *inflight = inflight_take(core);
    if (!inflight) {
        miaow_of(core)->moved = true; /* it is tried again */
        return;
    }
    core_act(core, inflight, s, inst);
    if (UNLIKELY(core->config.live) && !core->stopped)
        miaow_follow(core, s, inst);
}

/* Barriers of PTX read registers: they act when these have been written. Waits and barriers at a cut act
 * when nothing of their warp is in flight. */
static void act_clear(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    for (u64 set = miaow->barring & miaow->clear; set && !core->stopped; set &= set - 1) {
        const u32 s = first_bit(set);
        miaow->barring &= ~bit(s);
        miaow->valid &= ~bit(s);
        miaow->clear &= ~bit(s);
        miaow->parked |= bit(s);
        act(core, s, miaow->slots[s].entry);
    }
}

void miaow_issue_take(struct core *core, const struct miaow_step *step)
{
    struct miaow *miaow = miaow_of(core);
    const u32 s = step->slot;
    const u64 mask = bit(s);
    const struct inst_time *time = &core->times[step->inst];
    static const u8 classes[PIPES] = {
        [PIPE_SP] = CLASS_SIMF,  [PIPE_INT] = CLASS_SIMD,   [PIPE_FP64] = CLASS_SIMF,
        [PIPE_SFU] = CLASS_SIMF, [PIPE_MEMORY] = CLASS_LSU, [PIPE_SCALAR] = CLASS_SALU,
    };
    miaow->slots[s].entry = step->inst;
    for (u32 k = 0; k < CLASSES; k++)
        miaow->of_class[k] &= ~mask;
    miaow->of_class[classes[time->pipe]] |= mask;
    miaow->moved = true;
    if (time->flags & TIME_END) {
        miaow->halted_next |= mask;
        return;
    }
    if ((time->flags & TIME_BLOCK_BARRIER && miaow_has_paths(core)) ||
        (time->flags & (TIME_COUNTERS | TIME_BLOCK_BARRIER) && time->flags & TIME_CUT)) {
        miaow->barring |= mask;
        miaow->entering |= mask;
        for (u32 k = 0; k < CLASSES; k++)
            miaow->of_class[k] &= ~mask;
        return;
    }
    if (time->flags & (TIME_COUNTERS | TIME_BLOCK_BARRIER)) {
        act(core, s, step->inst);
        if (core->stopped)
            return;
        miaow->parked |= mask;
        return;
    }
    miaow->entering |= mask;
}

/* ---- issue ---- */

/* Whether a branch is taken: also if its target is the next instruction. */
static bool branch_taken(const struct core *core, u32 s, u32 inst)
{
    const struct inst *code = &core->exec->image->program->insts[inst];
    if (code->op != OP_bra_if)
        return true;
    if ((u64)code->imm != inst + 1)
        return core->slots[s].at != inst + 1;
    u32 any = 0;
    for (u32 j = 0; j < code->src[0].count; j++)
        any |= scalar_read(core->slots[s].warp, code->src[0], j);
    return (any != 0) == (code->key == 1);
}

static void start_unit(struct core *core, struct inflight *inflight, u32 s, u32 unit)
{
    struct miaow *miaow = miaow_of(core);
    if (unit == UNIT_LSU) {
        miaow->memory_wait |= bit(s);
        miaow_lsu_start(core, inflight);
        return;
    }
    if (++miaow->slots[s].in_flight >= core->config.miaow->in_flight)
        miaow->saturated |= bit(s);
    if (unit != UNIT_SALU) {
        miaow_alu_start(core, inflight, unit);
        return;
    }
    const bool branch = inflight->time->flags & TIME_BRANCH;
    if (branch)
        miaow->branching |= bit(s);
    miaow_alu_scalar(core, inflight, branch && branch_taken(core, s, inflight->dyn.inst));
}

void miaow_restart(struct core *core, u32 s)
{
    struct miaow *miaow = miaow_of(core);
    const u64 others = ~bit(s);
    u64 *const sets[] = {&miaow->valid,       &miaow->entering, &miaow->clear,   &miaow->halted,
                         &miaow->halted_next, &miaow->parked,   &miaow->barring, &miaow->branching};
    for (u32 i = 0; i < ARRAY_LEN(sets); i++)
        *sets[i] &= others;
    for (u32 k = 0; k < CLASSES; k++)
        miaow->ready[k] &= others;
    if (miaow->chosen_slot == s)
        miaow->chosen_unit = NO_UNIT;
    miaow->decoding.valid &= miaow->decoding.slot != s;
    miaow->decoded.valid &= miaow->decoded.slot != s;
    for (u64 set = miaow->words_set; set; set &= set - 1)
        if (miaow->words_coming[first_bit(set)].slot == s)
            miaow->words_coming[first_bit(set)].first = false;
    miaow->moved = true;
    slot_update(core, s);
    miaow_reset_queue(core, s);
    miaow_goto(core, s, core->slots[s].at);
}

/* Whether a mechanism loses the instruction. */
static COLD bool lose(struct core *core, u32 s, u32 inst)
{
    struct miaow *miaow = miaow_of(core);
    if (!core_lose_direct(core, s, inst))
        return false;
    if (!(miaow->valid >> s & 1))
        return true; /* its warp has been restarted */
    miaow->valid &= ~bit(s);
    miaow->clear &= ~bit(s);
    if (core->slots[s].at == NO_INST || core->slots[s].at != miaow->slots[s].feed_inst)
        miaow->parked |= bit(s);
    else
        *miaow_ring(miaow, miaow->hungry_at, core_cycle(core) + 2) |= bit(s);
    return true;
}

static u64 unit_place(u32 unit)
{
    if (unit >= UNIT_LSU)
        return trace_at(unit == UNIT_LSU ? AT_LSU : AT_SALU);
    return trace_at_number(unit >= UNIT_SIMF ? AT_SIMF : AT_SIMD, unit % UNIT_SIMF);
}

void miaow_issue_issue(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    const u32 s = miaow->chosen_slot, unit = miaow->chosen_unit, inst = miaow->slots[s].entry;
    const struct inst_time *time = &core->times[inst];
    if (!can_run(core, s)) {
        miaow->valid &= ~bit(s);
        return;
    }
    if (core_hooked(core, SEAM_LOSE) && lose(core, s, inst))
        return;
    struct inflight *inflight = inflight_take(core);
    assert(inflight); /* there are more than units and queues could hold */
    miaow_trace(core, TRACE_ISSUE, s, inst, unit_place(unit));
    miaow->valid &= ~bit(s);
    miaow->clear &= ~bit(s);
    if (!core_issue_direct(core, inflight, s, inst))
        return;
    if (UNLIKELY(core->config.live))
        miaow_follow(core, s, inst);
    reserve(core, s, time);
    start_unit(core, inflight, s, unit);
    if (time->flags & TIME_BRANCH)
        return;
    const u32 at = core->slots[s].at;
    const bool elsewhere =
        at != inst + 1 && (miaow_has_paths(core) || core->slots[s].warp->reformed);
    if (UNLIKELY(at == NO_INST || elsewhere))
        miaow->parked |= bit(s);
    if (!elsewhere)
        *miaow_ring(miaow, miaow->hungry_at, core_cycle(core) + 2) |= bit(s);
}

/* ---- arbitration ---- */

/* The first member at or after `from`, wrapping around. */
static u32 from_on(u64 set, u32 from)
{
    const u64 later = set & ~(bit(from) - 1);
    return first_bit(later ? later : set);
}

/* Rotates a set of classes to the right. */
static u32 turned(u32 set, u32 by)
{
    return (set >> by | set << (CLASSES - by)) & ((1u << CLASSES) - 1);
}

static u32 class_units(u32 units, u32 class)
{
    switch (class) {
    case CLASS_SALU:
        return units & 1u << UNIT_SALU;
    case CLASS_LSU:
        return units & 1u << UNIT_LSU;
    case CLASS_SIMF:
        return units & 0xf0;
    default:
        return units & 0x0f;
    }
}

static void choose(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    u32 kinds = 0;
    miaow->chosen_unit = NO_UNIT;
    for (u32 k = 0; k < CLASSES; k++)
        kinds |= (u32)(miaow->ready[k] && class_units(miaow->units_ready, k)) << k;
    if (!kinds)
        return;
    const u32 place = 31 - (u32)__builtin_clz(turned(kinds, miaow->last_class));
    const u32 class = (place + miaow->last_class) % CLASSES;
    miaow->last_class = place;
    miaow->chosen_slot = (u8)from_on(miaow->ready[class], miaow->last_slot);
    miaow->chosen_unit = (u8)first_bit(class_units(miaow->units_ready, class));
    miaow->last_slot = miaow->chosen_slot;
    miaow->moved = true;
}

/* Notes why the issue slot was not used. */
static void note_idle(struct core *core)
{
    const struct miaow *miaow = miaow_of(core);
    const u64 live = core->present & ~core->ended;
    const u64 able = miaow->valid & miaow->clear & live;
    const u64 limited =
        able & (miaow->saturated | (miaow->memory_wait & miaow->of_class[CLASS_LSU]));
    const u64 blocked = miaow->valid & ~miaow->clear & live;
    if (!live)
        issue_idle(core, STALL_EMPTY, CORE_WARPS);
    else if (able & ~limited & ~core->issue.held)
        issue_idle(core, STALL_UNIT, first_bit(able & ~limited & ~core->issue.held));
    else if (blocked)
        issue_idle(core, miaow_issue_waits(core, first_bit(blocked)), first_bit(blocked));
    else if (limited)
        issue_idle(core, STALL_WAIT, first_bit(limited));
    else if (miaow->branching & live)
        issue_idle(core, STALL_BRANCH, first_bit(miaow->branching & live));
    else if (live & core->issue.held)
        issue_idle(core, STALL_HELD, first_bit(live & core->issue.held));
    else if (live & ~miaow->halted & ~core->issue.waiting)
        issue_idle(core, STALL_FETCH, first_bit(live & ~miaow->halted & ~core->issue.waiting));
    else if (miaow->halted & live)
        issue_idle(core, STALL_MEMORY, first_bit(miaow->halted & live));
    else
        issue_idle(core, STALL_BARRIER, first_bit(live));
}

void miaow_issue_choose(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    const u32 issued_unit = miaow->chosen_unit;
    u64 left_out = 0;
    u32 units = miaow->units_now;
    if (issued_unit != NO_UNIT) {
        left_out = bit(miaow->chosen_slot);
        units &= ~(1u << issued_unit);
        issue_used(core);
    } else {
        note_idle(core);
    }
    choose(core);
    if (miaow->chosen_unit != NO_UNIT) {
        left_out |= bit(miaow->chosen_slot);
        units &= ~(1u << miaow->chosen_unit);
    }
    const u64 able =
        miaow->valid & miaow->clear & ~miaow->saturated & ~left_out & ~core->issue.held;
    u64 changed = units ^ miaow->units_ready;
    for (u32 k = 0; k < CLASSES; k++) {
        const u64 ready = able & miaow->of_class[k] & ~(k == CLASS_LSU ? miaow->memory_wait : 0);
        changed |= ready ^ miaow->ready[k];
        miaow->ready[k] = ready;
    }
    miaow->units_ready = units;
    miaow->moved |= changed != 0;
}

/* ---- ends ---- */

void miaow_issue_end(struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    u64 set = 0;
    for (u64 halted = miaow->halted & ~miaow->memory_wait; halted; halted &= halted - 1)
        set |= (u64)!miaow->slots[first_bit(halted)].in_flight << first_bit(halted);
    miaow->halted |= miaow->halted_next;
    miaow->halted_next = 0;
    miaow->memory_wait &= ~miaow->memory_done;
    miaow->memory_done = 0;
    if (!set)
        return;
    const u32 s = from_on(set, miaow->last_ended);
    miaow->last_ended = s;
    miaow->halted &= ~bit(s);
    miaow->running &= ~bit(s);
    miaow->moved = true;
    miaow_reset_queue(core, s);
    if (LIKELY(!miaow->slots[s].tag_flips))
        act(core, s, miaow->slots[s].entry);
    miaow->parked &= core->present;
}

enum stall miaow_issue_waits(const struct core *core, u32 s)
{
    const struct miaow *miaow = miaow_of(core);
    const u64 mask = bit(s);
    if (!(core->present & mask))
        return STALL_EMPTY;
    if ((core->ended | miaow->halted) & mask)
        return STALL_MEMORY;
    if (core->issue.held & mask)
        return STALL_HELD;
    if (core->issue.waiting & mask)
        return STALL_BARRIER;
    if (miaow->branching & mask)
        return STALL_BRANCH;
    if (!(miaow->valid & mask))
        return STALL_FETCH;
    if (miaow->clear & mask)
        return miaow->saturated & mask || (miaow->memory_wait & miaow->of_class[CLASS_LSU] & mask)
                   ? STALL_WAIT
                   : STALL_NONE;
    const enum stall stall =
        scoreboard_check(core, &core->slots[s], &core->times[miaow->slots[s].entry]);
    return stall == STALL_NONE ? STALL_RAW : stall;
}
