/*
 * Visitors of the miaow pipeline, but for the load/store unit: see miaow/live.h.
 *
 * What a flip means
 *  - The fetch PC: words behind those in the queue come from elsewhere; the wavefront executes them
 *    and goes on from there, unless it branches before. A PC at which no instruction begins is a
 *    fault.
 *  - A busy bit: an instruction waits for ever, or reads or overwrites a register too early.
 *  - The sources of a vector unit: passes that have not begun compute with them. The results: passes
 *    that are over, and all of them in the queue.
 *  - Where a result goes: it overwrites that register, and the wavefront's own keeps its old value.
 */
#include "core/miaow/live.h"
#include "core/common/common.h"
#include "exec/register_file.h"
#include "exec/scalars.h"

static bool has_warp(const struct core *core, u64 s)
{
    return core && core->exec && s < CORE_WARPS && core->present >> s & 1 && !core->slots[s].ended;
}

/* ---- fetch ---- */

void miaow_derail(struct core *core, u32 s)
{
    struct miaow_slot *p = &miaow_of(core)->slots[s];
    const u32 inst = live_inst(core, core->exec->image->code_address + p->derail_to);
    p->derail_in = 0;
    if (inst == WILD_INST) {
        live_wild(core->slots[s].warp, core->exec->image->code_address + p->derail_to);
        core->stopped = true;
        return;
    }
    p->feed_pc = p->derail_to;
    p->feed_inst = inst;
    p->half = false;
}

void miaow_forget(struct core *core, u32 s)
{
    struct miaow *miaow = miaow_of(core);
    u64 *const sets[] = {&miaow->valid,       &miaow->entering,  &miaow->clear,
                         &miaow->recheck,     &miaow->halted,    &miaow->parked,
                         &miaow->halted_next, &miaow->saturated, &miaow->memory_wait,
                         &miaow->branching};
    for (u32 i = 0; i < ARRAY_LEN(sets); i++)
        *sets[i] &= ~bit(s);
    for (u32 k = 0; k < CLASSES; k++)
        miaow->ready[k] &= ~bit(s);
}

void miaow_visit_pc(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    struct miaow_slot *p = has_warp(core, entry) ? &miaow_of(core)->slots[entry] : NULL;
    const bool used = p && miaow_of(core)->running >> entry & 1;
    u64 pc = p ? core->exec->image->code_address + p->fetch_pc : 0;
    if (!walk_entry(walk, used) || !walk_field(walk, &pc, 32) || !used)
        return;
    p->fetch_pc = p->derail_to = pc - core->exec->image->code_address;
    p->derail_in = p->reserved;
    if (!p->derail_in)
        miaow_derail(core, (u32)entry);
}

void miaow_visit_fetch_turn(struct state_walk *walk, const struct state_row *row, void *owner,
                            u64 entry)
{
    struct core *core = owner;
    u64 turn = core ? miaow_of(core)->turn % CORE_WARPS : 0;
    if (walk_entry(walk, core && core->present) && walk_field(walk, &turn, row->bits) && core)
        miaow_of(core)->turn = (u32)turn;
}

void miaow_visit_half(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    bool *half = has_warp(core, entry) ? &miaow_of(core)->slots[entry].half : NULL;
    u64 value = half && *half;
    if (!walk_entry(walk, half) || !walk_field(walk, &value, row->bits) || !half)
        return;
    if (live_has_words(core))
        miaow_make_odd(core, (u32)entry); /* the next word is decoded for what it is */
    *half = value;
}

void miaow_visit_tag(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    u16 *flips = has_warp(core, entry) ? &miaow_of(core)->slots[entry].tag_flips : NULL;
    const u64 number = flips ? core->slots[entry].warp->index : 0;
    u64 tag = flips ? number ^ *flips : 0;
    if (walk_entry(walk, flips) && walk_field(walk, &tag, row->bits) && flips)
        *flips = (u16)(tag ^ number);
}

/* The warps of a block, for barriers: without one of them, its barrier does not wait for it; with
 * another, it waits for ever. */
void miaow_visit_group(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const u32 warps =
        core ? core->config.core->warps : ((const struct core_config *)walk->machine)->core->warps;
    const bool used = core && core->exec && entry < CORE_BLOCKS && core->blocks[entry].block;
    u64 *flips = used ? &miaow_of(core)->group_flips[entry] : NULL;
    const u64 slots = used ? core->blocks[entry].slots : 0;
    u64 set = used ? slots ^ *flips : 0;
    const u64 before = set;
    if (!walk_entry(walk, used) || !walk_field(walk, &set, MIN(warps, 64u)) || !used)
        return;
    *flips = set ^ slots;
    live_miscount(core, (u32)entry, set > before ? -1 : 1);
}

/* ---- sets of wavefronts ---- */

static u64 *set_of(struct miaow *miaow, enum miaow_set which)
{
    switch (which) {
    case SET_RUNNING:
        return &miaow->running;
    case SET_HUNGRY:
        return &miaow->hungry;
    case SET_VALID:
        return &miaow->valid;
    case SET_MEMORY_WAIT:
        return &miaow->memory_wait;
    default:
        return &miaow->parked;
    }
}

void miaow_visit_set(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    struct miaow *miaow = has_warp(core, entry) ? miaow_of(core) : NULL;
    /* a wavefront that has issued nothing yet has no entry that could become valid again */
    const bool used = miaow && (row->which != SET_VALID || miaow->slots[entry].entry != NO_INST);
    u64 member = used ? *set_of(miaow, row->which) >> entry & 1 : 0;
    if (!walk_entry(walk, used) || !walk_field(walk, &member, row->bits) || !used)
        return;
    *set_of(miaow, row->which) ^= bit((u32)entry);
    miaow->recheck |= bit((u32)entry);
}

void miaow_visit_ready(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    struct miaow *miaow = core && core->exec ? miaow_of(core) : NULL;
    const u32 warps =
        core ? core->config.core->warps : ((const struct core_config *)walk->machine)->core->warps;
    if (!walk_entry(walk, miaow && miaow->valid))
        return;
    for (u32 k = 0; k < CLASSES; k++) {
        u64 ready = miaow ? miaow->ready[k] : 0;
        const u64 before = ready;
        if (!walk_field(walk, &ready, MIN(warps, 64u)) || !miaow)
            continue;
        /* a wavefront without an instruction has nothing to issue */
        walk->dead = !((ready ^ before) & miaow->valid & core->present);
        if (!walk->dead)
            miaow->ready[k] = ready;
    }
}

void miaow_visit_in_flight(struct state_walk *walk, const struct state_row *row, void *owner,
                           u64 entry)
{
    struct core *core = owner;
    u8 *count = has_warp(core, entry) ? &miaow_of(core)->slots[entry].in_flight : NULL;
    u64 value = count ? *count : 0;
    if (!walk_entry(walk, count) || !walk_field(walk, &value, row->bits) || !count)
        return;
    *count = (u8)value;
    struct miaow *miaow = miaow_of(core);
    miaow->saturated &= ~bit((u32)entry);
    miaow->saturated |= (u64)(value >= core->config.miaow->in_flight) << entry;
}

void miaow_visit_class_turn(struct state_walk *walk, const struct state_row *row, void *owner,
                            u64 entry)
{
    struct core *core = owner;
    u64 turn = core ? miaow_of(core)->last_class : 0;
    if (walk_entry(walk, core && core->present) && walk_field(walk, &turn, row->bits) && core)
        miaow_of(core)->last_class = (u32)turn % CLASSES;
}

void miaow_visit_write_turn(struct state_walk *walk, const struct state_row *row, void *owner,
                            u64 entry)
{
    struct core *core = owner;
    u64 turn = core ? miaow_of(core)->write_turn : 0;
    if (walk_entry(walk, core && core->present) && walk_field(walk, &turn, row->bits) && core)
        miaow_of(core)->write_turn = (u32)turn;
}

/* ---- busy registers ---- */

static void walk_busy(struct state_walk *walk, struct core *core, u32 s, u32 number)
{
    const bool used = s != CORE_WARPS && !core->slots[s].ended;
    u64 *word =
        used ? miaow_of(core)->busy + (size_t)s * core->issue.scoreboard_words + number / 64 : NULL;
    u64 busy = word ? *word >> number % 64 & 1 : 0;
    if (!walk_entry(walk, word) || !walk_field(walk, &busy, 1) || !word)
        return;
    *word ^= bit(number % 64);
    miaow_of(core)->recheck |= bit(s);
}

void miaow_visit_vector_busy(struct state_walk *walk, const struct state_row *row, void *owner,
                             u64 entry)
{
    struct core *core = owner;
    const u32 rows = core && core->exec ? core->registers->layout.rows : 0;
    const bool inside = rows && entry % rows < core->exec->register_rows;
    walk_busy(walk, core, inside ? live_slot_of_frame(core, (u32)(entry / rows)) : CORE_WARPS,
              rows ? (u32)(entry % rows) : 0);
}

void miaow_visit_scalar_busy(struct state_walk *walk, const struct state_row *row, void *owner,
                             u64 entry)
{
    struct core *core = owner;
    const u32 each = core && core->exec ? core->registers->layout.scalars : 0;
    const u32 scalar = each ? (u32)(entry % each) : 0;
    const bool inside = each && scalar < SCALAR_GENERAL_END;
    walk_busy(walk, core, inside ? live_slot_of_frame(core, (u32)(entry / each)) : CORE_WARPS,
              inside ? time_scalar_base(core->exec->image->program) + scalar : 0);
}

void miaow_visit_special_busy(struct state_walk *walk, const struct state_row *row, void *owner,
                              u64 entry)
{
    static const u8 scalars[] = {SCALAR_EXEC, SCALAR_VCC, SCALAR_SCC, SCALAR_M0};
    struct core *core = owner;
    const bool used = has_warp(core, entry);
    const u32 base = used ? time_scalar_base(core->exec->image->program) : 0;
    if (!walk_entry(walk, used))
        return;
    for (u32 i = 0; i < ARRAY_LEN(scalars); i++) {
        const u32 at = base + scalars[i];
        u64 *word =
            used ? miaow_of(core)->busy + entry * core->issue.scoreboard_words + at / 64 : NULL;
        u64 busy = word ? *word >> at % 64 & 1 : 0;
        if (!walk_field(walk, &busy, 1) || !word)
            continue;
        *word ^= bit(at % 64);
        miaow_of(core)->recheck |= bit((u32)entry);
    }
}

void miaow_visit_scalar(struct state_walk *walk, const struct state_row *row, void *owner,
                        u64 entry)
{
    struct core *core = owner;
    struct warp *warp = has_warp(core, entry) ? core->slots[entry].warp : NULL;
    const bool pair = row->bits > 32;
    u64 value = !warp ? 0 : pair ? scalar_pair(warp, row->which) : *scalar_word(warp, row->which);
    if (!walk_entry(walk, warp) || !walk_field(walk, &value, row->bits) || !warp)
        return;
    if (pair)
        scalar_set_pair(warp, row->which, value);
    else
        *scalar_word(warp, row->which) = (u32)value;
    if (row->which == SCALAR_EXEC)
        warp_set_active(warp);
}

/* ---- vector units ---- */

static struct miaow_unit *unit_at(struct core *core, const struct state_row *row, u64 unit)
{
    return core && core->exec ? &miaow_of(core)->units[row->which + unit] : NULL;
}

/* The instruction in a unit's passes or on its way to the queue; NULL: none. */
static struct inflight *in_passes(struct core *core, const struct miaow_unit *unit)
{
    return unit && unit->comes_at != UINT64_MAX ? core_inflight(core, unit->coming) : NULL;
}

/* Lanes whose pass has not begun. A pass takes `interval` cycles. */
static lane_set waiting_lanes(const struct core *core, const struct miaow_unit *unit,
                              const struct inflight *inflight)
{
    const u64 now = core_cycle(core), lanes = core->config.miaow->lanes;
    const u64 left = unit->free_at > now ? unit->free_at - now : 0;
    const u64 passes = left / MAX(inflight->interval, 1u);
    const u64 done = lanes * passes < 64 ? 64 - lanes * passes : 0;
    return done < 64 ? ~0ull << done : 0;
}

/* A lane's sources: three words, EXEC and VCC. */
static void walk_source(struct state_walk *walk, struct inflight *inflight, u32 lane, bool waits)
{
    struct dyninst *f = inflight ? &inflight->dyn : NULL;
    for (u32 k = 0; k < 3; k++) {
        u32 *operand = f ? live_operand(f, k) : NULL;
        u64 word = operand ? operand[lane] : 0;
        if (!walk_field(walk, &word, 32) || !f)
            continue;
        walk->dead = !operand || !waits;
        if (walk->dead)
            continue;
        operand[lane] = (u32)word;
        walk->dead = !live_redo(f);
    }
    u64 exec = f ? f->writes >> lane & 1 : 0, vcc = 0;
    u32 *mask = f && f->plan->masks ? &f->masks[first_bit(f->plan->masks)][lane / LANES] : NULL;
    vcc = mask ? *mask >> lane % LANES & 1 : 0;
    if (walk_field(walk, &exec, 1) && f) {
        walk->dead = !waits || !f->dst_rows[0];
        f->writes ^= (u64)!walk->dead << lane;
    }
    if (walk_field(walk, &vcc, 1) && f) {
        walk->dead = !waits || !mask || f->kind != DYNINST_COMPUTE;
        if (!walk->dead) {
            *mask ^= 1u << lane % LANES;
            walk->dead = !live_redo(f);
        }
    }
}

void miaow_visit_sources(struct state_walk *walk, const struct state_row *row, void *owner,
                         u64 entry)
{
    struct core *core = owner;
    const struct miaow_unit *unit = unit_at(core, row, entry);
    struct inflight *inflight = in_passes(core, unit);
    const lane_set waits = inflight ? waiting_lanes(core, unit, inflight) : 0;
    if (!walk_entry(walk, waits))
        return;
    for (u32 lane = 0; lane < MAX_LANES; lane++)
        walk_source(walk, inflight, lane, waits >> lane & 1);
}

/* A lane's result: a word, bits of a scalar result and of VCC (one of which is used), and EXEC. */
static void walk_value(struct state_walk *walk, struct inflight *inflight, u32 lane, bool there)
{
    struct dyninst *f = inflight ? &inflight->dyn : NULL;
    u64 unused = 0;
    const u32 from = walk->bits;
    live_walk_result(walk, there ? f : NULL, lane, 32); /* the word, and whether it is written */
    if (!there && walk->mode == WALK_FLIP && walk->bit - from < walk->bits - from)
        walk->dead = true; /* it will be overwritten */
    if (walk_field(walk, &unused, 2))
        walk->dead = true;
}

void miaow_visit_results(struct state_walk *walk, const struct state_row *row, void *owner,
                         u64 entry)
{
    struct core *core = owner;
    const struct miaow_unit *unit = unit_at(core, row, entry);
    struct inflight *inflight = in_passes(core, unit);
    const lane_set waits = inflight ? waiting_lanes(core, unit, inflight) : 0;
    if (!walk_entry(walk, inflight && ~waits))
        return;
    for (u32 lane = 0; lane < MAX_LANES; lane++)
        walk_value(walk, inflight, lane, !(waits >> lane & 1));
}

/* A slot and a vector register, by its physical number. */
static void walk_destination(struct state_walk *walk, struct inflight *inflight,
                             const struct core_config *machine)
{
    live_walk_target(walk, inflight, state_index_bits(machine->core->warps),
                     state_index_bits(machine->core->registers / machine->core->warp_size));
}

static const struct core_config *machine_of(const struct state_walk *walk, const struct core *core)
{
    return core ? &core->config : walk->machine;
}

void miaow_visit_written(struct state_walk *walk, const struct state_row *row, void *owner,
                         u64 entry)
{
    struct core *core = owner;
    struct inflight *inflight = in_passes(core, unit_at(core, row, entry));
    if (walk_entry(walk, inflight))
        walk_destination(walk, inflight, machine_of(walk, core));
}

void miaow_visit_queue(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const struct core_config *machine = machine_of(walk, core);
    const u32 places = machine->miaow->results;
    const struct miaow_unit *unit = unit_at(core, row, entry / places);
    const u32 at = (u32)(entry % places);
    struct inflight *inflight = unit && at < unit->count
                                    ? core_inflight(core, unit->queue[(unit->head + at) % RESULTS])
                                    : NULL;
    if (!walk_entry(walk, inflight))
        return;
    for (u32 lane = 0; lane < MAX_LANES; lane++)
        walk_value(walk, inflight, lane, true);
    walk_destination(walk, inflight, machine);
}

/* The instruction that issued in the last cycle; NULL: none. */
static struct inflight *just_issued(struct core *core)
{
    struct inflight *inflight = NULL;
    for (u32 u = 0; core && core->exec && u < VECTOR_UNITS; u++)
        if (miaow_of(core)->units[u].began + 1 == core_cycle(core))
            inflight = in_passes(core, &miaow_of(core)->units[u]);
    return inflight;
}

/* The words that the register file delivers in the cycle before an instruction's first pass. */
void miaow_visit_reads(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    struct inflight *inflight = just_issued(core);
    u32 *operand = inflight ? live_operand(&inflight->dyn, (u32)(entry % 3)) : NULL;
    if (walk_entry(walk, operand) && walk_words(walk, operand ? operand + entry / 3 : NULL, 1))
        walk->dead = !live_redo(&inflight->dyn);
}

/* Their addresses: a lane gets the word of another register of its page. */
void miaow_visit_read_addresses(struct state_walk *walk, const struct state_row *row, void *owner,
                                u64 entry)
{
    struct core *core = owner;
    struct inflight *inflight = just_issued(core);
    const u32 lane = (u32)(entry / 3), k = (u32)(entry % 3);
    u32 *operand = inflight ? live_operand(&inflight->dyn, k) : NULL;
    const u32 reg = operand ? live_operand_register(&inflight->dyn, k) : 0;
    u64 address = operand ? register_file_find(core->registers, inflight->dyn.warp, reg, lane) : 0;
    if (!walk_entry(walk, operand) || !walk_field(walk, &address, row->bits) || !operand)
        return;
    const bool exists = address < register_file_rows(core->registers);
    operand[lane] = exists ? register_file_row(core->registers, (u32)address)[lane] : 0;
    walk->dead = !live_redo(&inflight->dyn);
}

/* ---- floating-point lanes ---- */

/* The pass in progress: its first lane, the cycles since it began, and those that are left. */
struct lane_pass {
    u32 first, since, left;
};

static bool pass_of(const struct core *core, const struct miaow_unit *unit,
                    const struct inflight *inflight, struct lane_pass *pass)
{
    const u64 now = core_cycle(core), lanes = core->config.miaow->lanes;
    const u64 interval = MAX(inflight->interval, 1u);
    const u64 left = unit->free_at > now ? unit->free_at - now : 0;
    const u64 passes = (left + interval - 1) / interval;
    if (!left || passes * lanes > MAX_LANES)
        return false;
    pass->first = (u32)(MAX_LANES - passes * lanes);
    pass->since = (u32)(passes * interval - left);
    pass->left = (u32)(interval - pass->since);
    return true;
}

/* A lane's inputs, in the first cycle of a pass, and its two output registers, in the last two. */
void miaow_visit_lane(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const u32 lanes = machine_of(walk, core)->miaow->lanes;
    const struct miaow_unit *unit = unit_at(core, row, entry / lanes);
    struct inflight *inflight = in_passes(core, unit);
    struct lane_pass pass = {0};
    const bool used = inflight && pass_of(core, unit, inflight, &pass);
    struct dyninst *f = used ? &inflight->dyn : NULL;
    const u32 lane = pass.first + (u32)(entry % lanes);
    if (!walk_entry(walk, used && (!pass.since || pass.left <= 2)))
        return;
    for (u32 k = 0; k < 2; k++) {
        u32 *operand = used && !pass.since ? live_operand(f, k) : NULL;
        if (walk_words(walk, operand ? operand + lane : NULL, 1))
            walk->dead = !live_redo(f);
    }
    const bool row_result = used && f->kind == DYNINST_COMPUTE && f->dst[0] && f->dst_rows[0];
    for (u32 k = 2; k > 0; k--)
        walk_words(walk, row_result && pass.left == k ? f->dst[0] + lane : NULL, 1);
}

/* ---- hashes ---- */

u64 miaow_hash_busy(const struct state_row *row, void *owner, u64 hash)
{
    const struct core *core = owner;
    const u32 words = core->issue.scoreboard_words;
    for (u64 set = core->exec ? core->present & ~core->ended : 0; set; set &= set - 1) {
        const u64 *busy = miaow_of(core)->busy + (size_t)first_bit(set) * words;
        for (u32 i = 0; i < words; i++)
            if (busy[i])
                hash = hash_word(hash_word(hash, first_bit(set) * words + i), busy[i]);
    }
    return hash;
}

/* Operands and results of an instruction in flight. */
static u64 hash_inflight(const struct inflight *inflight, u64 hash)
{
    const struct dyninst *f = &inflight->dyn;
    u32 rows = 0;
    for (u32 k = 0; k < 4; k++)
        rows += f->plan->vectors >> k & 1 ? f->plan->src_rows[k] : 0;
    hash = hash_word(hash_word(hash, (u64)inflight->slot << 32 | f->inst), f->writes);
    if (inflight->astray)
        hash = hash_word(hash, (u64)inflight->astray_slot << 16 | inflight->astray_register);
    if (live_operand(f, 0))
        hash = hash_words(hash, f->rows, rows * MAX_LANES);
    for (u32 k = 0; k < 2 && f->kind <= DYNINST_ACCESS && f->dst[k]; k++)
        hash = hash_words(hash, f->dst[k],
                          f->dst_rows[k] ? f->dst_rows[k] * MAX_LANES : f->plan->dst_words[k]);
    return hash;
}

/* The integer units cover the floating-point ones and the scalar ALU. */
u64 miaow_hash_units(const struct state_row *row, void *owner, u64 hash)
{
    struct core *core = owner;
    const struct miaow *miaow = miaow_of(core);
    const u64 now = core_cycle(core);
    for (u32 working = core->exec ? miaow->working : 0; working; working &= working - 1) {
        const struct miaow_unit *unit = &miaow->units[first_bit(working)];
        hash = hash_word(hash, (u64)first_bit(working) << 32 | unit->count);
        hash = hash_word(hash, unit->free_at > now ? unit->free_at - now : 0);
        if (unit->comes_at != UINT64_MAX)
            hash = hash_inflight(core_inflight(core, unit->coming),
                                 hash_word(hash, unit->comes_at - now));
        for (u32 i = 0; i < unit->count; i++)
            hash =
                hash_inflight(core_inflight(core, unit->queue[(unit->head + i) % RESULTS]), hash);
    }
    if (core->exec && miaow->scalar_inflight != NO_INFLIGHT)
        hash = hash_inflight(core_inflight(core, miaow->scalar_inflight),
                             hash_word(hash, miaow->scalar_done - now));
    return hash;
}
