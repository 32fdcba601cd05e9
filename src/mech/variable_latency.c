/*
 * Register files with slow parts: chapter 5 of Tan's dissertation (2016).
 *
 * A register file is as slow as its slowest cell. If the slowest parts may take two cycles, the rest
 * sets the clock. What a part is decides how many accesses are slow: a vector register is slow if
 * one of its lanes is. The mechanism reads from the chip which parts are slow (parts: VL-RF, VL-RV,
 * VL-SB), forms banks of parts of one kind (reorganise: RF-BRO), and can keep slow banks out of the
 * way: by the place of registers (mapping: FBA-RM; hybrid) or by what issues first (priority: FWAS).
 *
 * Seams: allocate (the bank of each register), places (slow accesses), pick (priority), clock.
 *
 * Invariants
 *  V1  The row of a register says where it is: row entry * banks + bank. Places are looked up there,
 *      also for registers that had to go to another bank.
 *  V2  The parts of all banks are a permutation of the chip's parts, in every launch: no part is
 *      used twice, and the number of slow parts is the chip's.
 *  V3  A hybrid bank takes one cycle only if the register belongs there and all lanes that the
 *      access is for are in its fast half; otherwise two (overflow).
 *  V4  All writes are arbitrated: a bank accepts one write at a time. So that nothing else differs,
 *      results are compared with parts=file, in which every access takes one cycle.
 */
#include "mech/variable_latency.h"

#define COMPONENT variable_latency
#define COMPONENT_DEF "mech/variable_latency.def"
#define COMPONENT_HELP "slow parts of a chip's register files take two cycles"
#include "base/component_table.h"

static void create(void *state, struct core *core)
{
    parts_classify(state, core);
}

static void launch(void *state, struct core *core, bool begins)
{
    struct variable_latency *v = state;
    if (!begins) {
        v->stats->write_waits += core_write_waits(core)->banks;
        return;
    }
    map_launch(v, core);
    v->stats->clock += 1000000ull * DELAY_ONE / MAX(v->limit, 1);
    v->stats->clock_one += 1000000;
    v->stats->fast_parts += v->fast_count;
    v->stats->parts_all += v->parts;
}

static void allocate(void *state, struct core *core, u32 slot, u32 *rows, u32 count)
{
    map_allocate(state, core, slot, rows, count);
    map_lanes(state, core, slot);
}

static f64 core_clock(void *state, struct core *core)
{
    const struct variable_latency *v = state;
    return v->params->own_clock ? (f64)DELAY_ONE / MAX(v->limit, 1) : 1;
}

/* ---- accesses ---- */

/* Whether all of these lanes' threads are in the first half of the physical lanes. */
static bool in_first_half(const struct core *core, u32 slot, lane_set lanes)
{
    const u32 half = core_warp_size(core) / 2;
    for (; lanes; lanes &= lanes - 1)
        if (core_lane(core, slot, first_bit(lanes)) >= half)
            return false;
    return true;
}

enum bank_time {
    ACCESS_FAST,
    ACCESS_SLOW,
    ACCESS_OVERFLOW /* slow, because a hybrid bank's slow half is needed */
};

static enum bank_time access_of(const struct variable_latency *v, const struct core *core, u32 slot,
                                u32 reg, u32 row, lane_set lanes)
{
    if (row >= v->banks * v->entries || !v->slow_rows[row])
        return ACCESS_FAST;
    if (v->kind[row % v->banks] != BANK_HYBRID)
        return ACCESS_SLOW;
    return map_special(v, reg) && in_first_half(core, slot, lanes) ? ACCESS_FAST : ACCESS_OVERFLOW;
}

/* Whether an instruction's reads are fast, or its write is: what has priority. Registers of hybrid
 * banks that belong there count as fast. */
static bool is_fast(const struct variable_latency *v, const struct core *core, u32 slot, u32 inst)
{
    const struct inst_time *time = core_inst_time(core, inst);
    const struct inst *code = &core_exec(core)->image->program->insts[inst];
    bool slow_read = false, slow_write = false;
    u32 writes = 0;
    for (u32 i = 0; i < time->read_count; i++)
        slow_read |= access_of(v, core, slot, time->reads[i],
                               core_register_row(core, slot, time->reads[i], 0), 0);
    for (u32 k = 0; k < ARRAY_LEN(code->dst); k++)
        for (u32 r = 0; code->dst[k].kind == OPERAND_VECTOR && r < code->dst[k].count; r++) {
            const u32 reg = code->dst[k].index + r;
            writes++;
            slow_write |= access_of(v, core, slot, reg, core_register_row(core, slot, reg, 0), 0);
        }
    return (time->read_count && !slow_read) || (writes && !slow_write) ||
           !(time->read_count || writes);
}

static void count(struct variable_latency *v, enum bank_time access, bool write)
{
    if (write) {
        v->stats->writes++;
        v->stats->slow_writes += access != ACCESS_FAST;
        v->stats->write_overflows += access == ACCESS_OVERFLOW;
    } else {
        v->stats->reads++;
        v->stats->slow_reads += access != ACCESS_FAST;
        v->stats->read_overflows += access == ACCESS_OVERFLOW;
    }
}

static void places(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places)
{
    struct variable_latency *v = state;
    const u32 slot = inflight->slot;
    const lane_set lanes = write ? inflight->dyn.writes : inflight->dyn.lanes;
    for (u32 i = 0; i < places->count; i++) {
        struct bank_access *place = &places->at[i];
        const u32 row = core_register_row(core, slot, place->reg, 0);
        if (row == NO_ROW)
            continue;
        const enum bank_time access = access_of(v, core, slot, place->reg, row, lanes);
        place->banks = core_bank_mask(core, row % v->banks);
        place->cycles = access == ACCESS_FAST ? 1 : SLOW_CYCLES;
        if (!places->waited)
            count(v, access, write);
    }
    if (write) {
        places->arbitrate = true;
    } else {
        v->stats->instructions++;
        v->stats->fast_instructions += is_fast(v, core, slot, inflight->dyn.inst);
    }
}

/* ---- priority ---- */

static void pick(void *state, struct core *core, u32 scheduler, struct pick *pick)
{
    struct variable_latency *v = state;
    for (u64 ready = core_ready(core, scheduler); ready; ready &= ready - 1) {
        const u32 s = first_bit(ready);
        const struct slot *slot = core_slot(core, s);
        struct next_inst *next = &v->next[s];
        if (next->age != slot->age + 1 || next->inst != slot->buffer[0])
            *next = (struct next_inst){slot->age + 1, slot->buffer[0],
                                       is_fast(v, core, s, slot->buffer[0])};
        pick->prefer |= next->fast ? bit(s) : 0;
    }
}

static u32 idle(const void *params)
{
    const struct variable_latency_params *p = params;
    return p->priority ? 0 : 1u << SEAM_PICK;
}

/* ---- costs ---- */

static void storage(const void *params, struct state_list *list)
{
    const struct variable_latency_params *p = params;
    const struct state_row *file = state_find(list, "collect.registers");
    const u32 banks = file ? MAX(file->shape.banks, 1) : 16, per_bank = 1u << p->sub_banks;
    const u32 parts = banks * per_bank;
    if (p->parts == PARTS_REGISTER)
        state_table(list, "variable_latency", "speeds", file ? file->entries : 32768, 1, STATE_LIVE,
                    "fast or slow, for each register of a lane");
    if (p->parts < PARTS_ARRAY)
        return;
    if (p->reorganise)
        state_table(list, "variable_latency", "banks", banks,
                    per_bank * (state_index_bits(parts) + 1), STATE_LIVE,
                    "bank table: the parts of each bank, and whether they are fast");
    else
        state_flops(list, "variable_latency", "speeds", parts, 1, STATE_LIVE,
                    "fast or slow, for each part");
    state_flops(list, "variable_latency", "busy", parts, 1, STATE_LIVE,
                "parts in the second cycle of an access");
}

static const struct energy_event events[] = {
    {"reads", "register file", ENERGY_READ, "variable_latency.banks"},
    {"writes", "register file", ENERGY_READ, "variable_latency.banks"},
    {0},
};

static const char *const conflicts[] = {"gr_guard", "less", NULL}; /* these choose rows, too */
static const char *const deviations[] = {
    "A bank that has no room for a register gives it to the next one that has; the text's equation "
    "does not say what happens then.",
    "A result can be read in the cycle after the last of its slow write, but other instructions "
    "that wait for it may issue when the write begins: they find the bank busy.",
    "Hybrid banks come in pairs, since a fast and a slow bank exchange halves; their number is "
    "rounded down.",
    "Branches whose condition depends on the block do not count for hybrid banks: their outcome is "
    "not known at launch.",
    "Priority has no limit: a warp whose next instruction is slow waits as long as another one's "
    "is "
    "fast.",
    "The table's time is not part of the access, as in the text, and decoders of sub-banks have no "
    "costs of their own.",
    "With sub-cores, banks of the table may belong to another scheduler's share.",
    NULL,
};

const struct mechanism variable_latency_mechanism = {
    MECHANISM_NAMED(variable_latency, "slow parts of a chip's register files take two cycles, so "
                                      "that the clock can be faster"),
    .source = "J. Tan, \"Architectural approaches to design reliable and energy-efficient GPUs\", "
              "dissertation, University of Houston, 2016, chapter 5",
    .conflicts = conflicts,
    .deviations = deviations,
    .events = events,
    .chip = true,
    .no_operands = true,
    .state_size = sizeof(struct variable_latency),
    .idle = idle,
    .create = create,
    .storage = storage,
    .launch = launch,
    .allocate = allocate,
    .places = places,
    .pick = pick,
    .clock = core_clock,
};
