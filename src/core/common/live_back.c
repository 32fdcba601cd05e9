/*
 * Visitors of collectors, units and the load/store unit: see common/live.h.
 *
 * What a flip means
 *  - An operand in a collector: the instruction computes with it, or accesses another address. Before
 *    the bank has delivered the operand, a flip is overwritten.
 *  - A stage of a unit: a result of a pass of lanes moves through the stages, one per cycle; its
 *    bits, whether a lane is written, and the warp and the register it goes to. With another warp or
 *    register the result overwrites that one, and the warp's own register stays pending.
 *  - The access at the head of the load/store unit: until it takes effect, lanes, addresses and the
 *    data of a store.
 */
#include "core/common/live.h"
#include "core/common/lsu_parts.h"

/* ---- collectors ---- */

/* Whether bank reads of an operand are still to come: of the reads of a bank, the last ones. */
static bool unread(const struct core *core, u32 c, const struct inflight *inflight, u32 row)
{
    const struct inst_time *time = inflight->time;
    const struct collector *collector = &core->collect.collectors[c];
    if (core->collect.ready >> c & 1 || row >= time->read_count)
        return false;
    const u32 bank =
        collect_bank(core, inflight->slot, inflight->group, time->reads[row]) % CORE_BANKS;
    u32 left = 0, later = 0;
    for (u32 n = 0; n < collector->depth; n++)
        left += core->collect.wanted[c][n] >> bank & 1;
    for (u32 i = row + 1; i < time->read_count; i++)
        later += collect_bank(core, inflight->slot, inflight->group, time->reads[i]) == bank;
    return left > later;
}

void live_visit_operands(struct state_walk *walk, const struct state_row *row, void *owner,
                         u64 entry)
{
    struct core *core = owner;
    const u32 c = (u32)(entry / SOURCES), k = (u32)(entry % SOURCES);
    const bool taken = core && core->exec && c < CORE_COLLECTORS &&
                       core->collect.turns[core->collect.turn_of[c]].collectors >> c & 1 &&
                       !(core->collect.free >> c & 1);
    struct inflight *inflight =
        taken ? core_inflight(core, core->collect.collectors[c].inflight) : NULL;
    u32 *operand = inflight ? live_operand(&inflight->dyn, k) : NULL;
    const bool there = operand && !unread(core, c, inflight, k);
    if (walk_entry(walk, there) && walk_words(walk, there ? operand : NULL, row->bits / 32))
        walk->dead = !live_redo(&inflight->dyn);
}

/* All operands of an instruction in a record. */
static u64 hash_operands(const struct dyninst *f, u64 hash)
{
    u32 rows = 0;
    for (unsigned k = 0; k < 4; k++)
        rows += f->plan->vectors >> k & 1 ? f->plan->src_rows[k] : 0;
    if (!live_operand(f, 0))
        return hash;
    return hash_words(hash, f->rows, rows * f->warp->exec->image->warp_size);
}

u64 live_hash_operands(const struct state_row *row, void *owner, u64 hash)
{
    struct core *core = owner;
    for (u32 c = 0; core->exec && c < row->entries / SOURCES && c < CORE_COLLECTORS; c++) {
        if (!(core->collect.turns[core->collect.turn_of[c]].collectors >> c & 1) ||
            core->collect.free >> c & 1)
            continue;
        const struct inflight *inflight = core_inflight(core, core->collect.collectors[c].inflight);
        hash = hash_word(hash, (u64)c << 40 | (u64)inflight->slot << 32 | inflight->dyn.inst);
        hash = hash_operands(&inflight->dyn, hash);
    }
    return hash;
}

/* ---- units ---- */

static u32 lanes_of(const struct core_config *machine, enum pipe pipe)
{
    const struct units_params *u = machine->units;
    return pipe == PIPE_SCALAR ? 1
           : pipe == PIPE_FP64 ? u->fp64_lanes
           : pipe == PIPE_SFU  ? u->sfu_lanes
                               : u->sp_lanes;
}

/* A pass of an instruction in a stage of a unit. */
struct unit_pass {
    struct inflight *inflight; /* NULL: the stage is empty */
    u32 first;                 /* its first lane */
};

/* The stage of a pass that began `age` cycles ago and takes `cycles`. Operations that take longer
 * than the unit has stages iterate in them. */
static u32 stage_of(u32 age, u32 cycles, u32 stages)
{
    return cycles <= stages ? age : age * stages / cycles;
}

/* The lane at which the pass in a stage begins, of an instruction that entered its unit `age` cycles
 * ago; UINT32_MAX: it has none there. */
static u32 lane_in_stage(const struct core *core, const struct inflight *inflight, i64 age,
                         u32 stage, u32 stages)
{
    const u32 lanes = lanes_of(&core->config, inflight->pipe);
    const u32 all = inflight->pipe == PIPE_SCALAR ? 1 : core->config.core->warp_size;
    const u32 passes = (all + lanes - 1) / lanes, apart = MAX(inflight->interval / passes, 1u);
    const u32 cycles = MAX(inflight->latency - MIN((passes - 1) * apart, inflight->latency), 1u);
    for (u32 p = 0; p < passes; p++) {
        const i64 since = age - (i64)p * apart;
        if (since >= 0 && since < cycles && stage_of((u32)since, cycles, stages) == stage)
            return p * lanes;
    }
    return UINT32_MAX;
}

/* Cycles from entering a unit to write-back, beyond the latency. */
static u32 unit_registers(const struct core *core)
{
    return core->pipeline->enter && core->pipeline->busy ? 0 : 2; /* gcn has neither register */
}

static u32 units_of(const struct core_config *machine, enum pipe pipe)
{
    const struct units_params *u = machine->units;
    const u32 units[PIPES] = {[PIPE_SP] = u->sp,
                              [PIPE_INT] = u->integer,
                              [PIPE_FP64] = u->fp64,
                              [PIPE_SFU] = u->sfu,
                              [PIPE_SCALAR] = u->scalar};
    return MAX(units[pipe], 1);
}

/* The number of an instruction's unit. Where schedulers share fewer units than there are of them,
 * several of the model's units are one. */
static u32 unit_of(const struct core *core, const struct inflight *inflight)
{
    return (inflight->group * core->units.count[inflight->pipe] + inflight->unit) %
           units_of(&core->config, inflight->pipe);
}

static struct unit_pass pass_at(struct core *core, enum pipe pipe, u32 unit, u32 stage, u32 stages)
{
    const u64 now = core_cycle(core);
    for (u32 w = 0; w < WHEEL / 64; w++)
        for (u64 set = core->wheel.used[w]; set; set &= set - 1) {
            const u32 at = w * 64 + first_bit(set);
            const u32 left = (u32)((at + WHEEL - now % WHEEL) % WHEEL);
            for (u16 i = core->wheel.lists[at].first; i != NO_INFLIGHT;) {
                struct inflight *inflight = &core->inflight.all[i];
                i = inflight->next;
                if (inflight->pipe != pipe || unit_of(core, inflight) != unit)
                    continue;
                const i64 age = (i64)inflight->latency + unit_registers(core) - left;
                const u32 first = lane_in_stage(core, inflight, age, stage, stages);
                if (first != UINT32_MAX)
                    return (struct unit_pass){inflight, first};
            }
        }
    return (struct unit_pass){0};
}

/* The lanes of a result, then where it goes: as pass_bits() in storage.c. */
static void walk_pass(struct state_walk *walk, const struct core_config *machine,
                      const struct unit_pass *pass, u32 lanes, u32 word_bits)
{
    struct dyninst *f = pass->inflight ? &pass->inflight->dyn : NULL;
    for (u32 i = 0; i < lanes; i++) {
        const u32 lane = pass->first + i;
        live_walk_result(walk, lane < machine->core->warp_size ? f : NULL, lane, word_bits);
    }
    live_walk_target(walk, pass->inflight, live_widths(machine).warp, REGISTER_BITS);
}

void live_visit_unit(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const struct core_config *machine = live_machine(walk, core);
    const enum pipe pipe = row->which;
    const u32 stages = (u32)(row->entries / units_of(machine, pipe));
    struct unit_pass pass = {0};
    if (core && core->exec && core->inflight.count)
        pass = pass_at(core, pipe, (u32)(entry / stages), (u32)(entry % stages), stages);
    const u32 word_bits = pipe == PIPE_FP64 || pipe == PIPE_SCALAR ? 64 : 32;
    if (walk_entry(walk, pass.inflight))
        walk_pass(walk, machine, &pass, lanes_of(machine, pipe), word_bits);
}

/* The results of an instruction, and where they go. */
static u64 hash_result(const struct inflight *inflight, u64 hash)
{
    const struct dyninst *f = &inflight->dyn;
    hash = hash_word(hash, (u64)inflight->slot << 32 | f->inst);
    hash = hash_word(hash, f->writes);
    if (inflight->astray)
        hash = hash_word(hash, (u64)inflight->astray_slot << 16 | inflight->astray_register);
    if (f->kind > DYNINST_ACCESS || !f->dst[0])
        return hash;
    const u32 lanes = f->warp->exec->image->warp_size;
    for (unsigned k = 0; k < 2 && f->dst[k]; k++)
        hash = hash_words(hash, f->dst[k],
                          f->dst_rows[k] ? f->dst_rows[k] * lanes : f->plan->dst_words[k]);
    return hash;
}

/* In the order of the wheel, by the cycles that are left. */
u64 live_hash_unit(const struct state_row *row, void *owner, u64 hash)
{
    const struct core *core = owner;
    const u64 now = core_cycle(core);
    if (!core->exec || !core->inflight.count)
        return hash;
    for (u32 w = 0; w < WHEEL / 64; w++) {
        const u32 word = (u32)(now / 64 + w) % (WHEEL / 64); /* the first one may hold both ends */
        for (u64 set = core->wheel.used[word]; set; set &= set - 1) {
            const u32 at = word * 64 + first_bit(set);
            const u32 left = (u32)((at + WHEEL - now % WHEEL) % WHEEL);
            for (u16 i = core->wheel.lists[at].first; i != NO_INFLIGHT;
                 i = core->inflight.all[i].next)
                if (core->inflight.all[i].pipe == row->which)
                    hash = hash_result(&core->inflight.all[i], hash_word(hash, left));
        }
    }
    return hash;
}

/* The result that a bus carries in this cycle: it is written back in it. */
static struct inflight *on_bus(struct core *core, u64 bus)
{
    const u32 at = core_cycle(core) % WHEEL;
    if (!core->exec || !(core->wheel.used[at / 64] >> at % 64 & 1))
        return NULL;
    for (u16 i = core->wheel.lists[at].first; i != NO_INFLIGHT; i = core->inflight.all[i].next)
        if (core->inflight.all[i].pipe != PIPE_MEMORY && !bus--)
            return &core->inflight.all[i];
    return NULL;
}

void live_visit_buses(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const struct core_config *machine = live_machine(walk, core);
    struct unit_pass pass = {core ? on_bus(core, entry) : NULL, 0};
    if (walk_entry(walk, pass.inflight))
        walk_pass(walk, machine, &pass, machine->core->warp_size, 32);
}

/* ---- the load/store unit ---- */

/* The access at the head that has not taken effect yet; NULL: none. */
static struct inflight *access_at_head(struct core *core)
{
    const struct lsu *lsu = core && core->exec ? core->lsu.unit : NULL;
    if (!lsu || lsu->current == NO_INFLIGHT || lsu->started)
        return NULL;
    struct inflight *inflight = core_inflight(core, lsu->current);
    return inflight->dyn.kind == DYNINST_ACCESS ? inflight : NULL;
}

void live_visit_addresses(struct state_walk *walk, const struct state_row *row, void *owner,
                          u64 entry)
{
    struct core *core = owner;
    struct inflight *inflight = access_at_head(core);
    struct dyninst *f = inflight ? &inflight->dyn : NULL;
    u64 active = f ? f->lanes >> entry & 1 : 0;
    u64 address = f && active ? dyninst_addresses(f)[entry] : 0;
    if (!walk_entry(walk, f))
        return;
    if (walk_field(walk, &active, 1) && f) {
        f->lanes ^= bit((u32)entry);
        f->writes = f->lanes;
        walk->dead = !f->lanes || !live_redo(f);
        if (!f->lanes) /* an access of no lanes does nothing, but it is one */
            f->lanes ^= bit((u32)entry);
    }
    if (walk_field(walk, &address, row->bits - 1) && f)
        walk->dead = !active || !live_readdress(f, (u32)entry, address);
}

void live_visit_data(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    struct inflight *inflight = access_at_head(core);
    struct dyninst *f = inflight ? &inflight->dyn : NULL;
    const bool data = f && f->stores && !f->homes && f->plan->vectors >> 1 & 1;
    const u32 lanes = core ? core->config.core->warp_size : 0;
    if (!walk_entry(walk, data))
        return;
    for (u32 word = 0; word < row->bits / 32; word++) {
        u32 *at = data && word < f->plan->src_rows[1] ? f->src[1] + word * lanes + entry : NULL;
        u64 value = at ? *at : 0;
        if (!walk_field(walk, &value, 32))
            continue;
        walk->dead = !at || !(f->lanes >> entry & 1);
        if (at)
            *at = (u32)value;
    }
}

u64 live_hash_head(const struct state_row *row, void *owner, u64 hash)
{
    struct state_walk walk = {.mode = WALK_HASH, .hash = hash, .canonical = true};
    for (u64 entry = 0; access_at_head(owner) && entry < row->entries; entry++) {
        walk.bits = 0;
        row->visit(&walk, row, owner, entry);
    }
    return walk.hash;
}

void live_visit_stores(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const bool used = core && entry < CORE_WARPS && core->present >> entry & 1;
    u64 stores = used ? core->slots[entry].stores & (bit(row->bits) - 1) : 0;
    if (!walk_entry(walk, used) || !walk_field(walk, &stores, row->bits) || !used)
        return;
    core->slots[entry].stores = (u32)stores;
    if (core->slots[entry].ended)
        slot_maybe_leave(core, (u32)entry);
    else
        live_resettle(core, (u32)entry);
}
