/*
 * Timing speculation: cores run at a voltage or a period at which some paths are too slow. What arrives
 * late is an error: it is detected, and the warp runs again what it has done since its code was last
 * cut. After Balasubramanian et al. (2015, section 6.2), who detect as Razor does (Ernst et al., MICRO
 * 2003) and recover as iGPU (Menon et al., ISCA 2012).
 *
 * What each module does is asked of the instructions that pass: which bits of addresses, instructions
 * and results differ from what was there before. Bits that change may be late (timing_speculation_delay.c).
 * A late bit of a result or an address keeps its old value. A late bit in fetch, decode or at issue is
 * taken for the one that says that there is an instruction: it is lost.
 *
 * With recovery, a late bit is known before anything is written: an instruction that is late before
 * it issues does not issue, one that is late in a unit is annulled, an access waits until its addresses
 * are known. When the instruction would retire, its warp goes back to the start of its region: what it
 * has in flight is annulled, and its paths are those of the start (core/restart.c).
 *
 * In: values of instructions. Out: statistics; values with errors; warps that run again.
 * Seams: launch, lose, operand, issued, retired, clock.
 *
 * Invariants
 *  Y1  An instruction that takes effect when it issues is cut off from those before and after it, and
 *      has errors only before it issues (Z3 of core/restart.c).
 *  Y2  With recovery, no late bit is ever written.
 */
#include "mech/timing_speculation.h"

#define COMPONENT timing_speculation
#define COMPONENT_DEF "mech/timing_speculation.def"
#define COMPONENT_HELP "cores run below their safe voltage or period, and recover from late bits"
#include "base/component_table.h"

enum {
    FROM_FETCH = 4, /* cycles from there to issue, in MIAOW's front end; assumed of others */
    FROM_DECODE = 1,
    TO_UNIT = 2, /* cycles from issue to the first pass or address, in MIAOW's units */
    PER_ADDRESS = 2
};

/* ---- regions ---- */

/* Whether its effect is outside the registers of its lanes, and more than an access: on paths, on
 * other lanes or warps. */
static bool acts_at_issue(const struct core *core, const struct inst *inst)
{
    const u16 flags = op_info[inst->op].flags;
    const bool lanes = core_exec(core)->image->program->traits.explicit_exec;
    return flags & (OPF_BARRIER | OPF_EFFECT | OPF_BRANCH) || (flags & OPF_CROSS && !lanes);
}

static bool ends_lanes(const struct inst *inst)
{
    return inst->op == OP_exit || inst->op == OP_ret || inst->op == OP_end || inst->op == OP_trap ||
           inst->op == OP_strap;
}

/* Cuts a function at its regions. Returns their number. */
static u32 cut_function(struct core *core, struct arena *arena, const struct function *f)
{
    const struct regions *regions = regions_of(arena, core_exec(core)->image->program, f);
    u32 cuts = 0;
    for (u32 i = f->first; i < f->end; i++)
        if (regions->cut[i - f->first] != REGION_NONE) {
            core_cut(core, i);
            cuts++;
        }
    return cuts;
}

static void launch(void *state, struct core *core, bool begins)
{
    struct timing_speculation *t = state;
    const struct program *program = core_exec(core)->image->program;
    if (!begins)
        return;
    memset(&t->old, 0, sizeof t->old);
    memset(t->ring, 0, sizeof t->ring);
    memset(t->damaged, 0, sizeof t->damaged);
    memset(t->tries, 0, sizeof t->tries);
    t->restarted = 0;
    t->ring_at = 0;
    spec_advance(t, core_cycle(core));
    if (!spec_recovers(t->params) || core_config(core)->index)
        return; /* cuts are those of the program, for all cores */
    struct arena *arena = arena_create();
    for (u32 n = 0; n < program->function_count; n++)
        t->stats->cuts += cut_function(core, arena, &program->functions[n]);
    arena_destroy(arena);
}

static void restart(struct timing_speculation *t, struct core *core, u32 slot)
{
    t->stats->restarts++;
    t->stats->slowed += ++t->tries[slot] == t->params->tries;
    t->stats->again += core_restart(core, slot);
    t->restarted |= 1ull << slot;
    t->regions[slot]++; /* whatever else of it is late has been annulled with the rest */
}

/* Whether the warp makes no errors until the end of its region. */
static bool is_slow(const struct timing_speculation *t, u32 slot)
{
    return t->tries[slot] >= t->params->tries;
}

/* ---- before issue ---- */

/* The fields of an instruction, as decode gives them to issue. */
static u64 decoded(const struct inst *inst)
{
    u64 word = inst->op;
    for (u32 k = 0; k < ARRAY_LEN(inst->dst); k++)
        word = word << 9 ^ inst->dst[k].index ^ (u64)inst->dst[k].kind << 7;
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++)
        word = word << 9 ^ inst->src[k].index ^ (u64)inst->src[k].kind << 7 ^ word >> 55;
    return word;
}

/* The registers that issue looks up in the scoreboard. */
static u64 looked_up(const struct inst_time *time)
{
    return time->near[0] ^ time->near[1] ^ time->near[2];
}

static u32 bits_of(u64 word)
{
    return (u32)__builtin_popcountll(word);
}

/* Whether the warp can go on without the instruction. */
static bool can_do_without(const struct core *core, u32 inst)
{
    const struct program *program = core_exec(core)->image->program;
    if (ends_lanes(&program->insts[inst]))
        return false;
    for (u32 n = 0; n < program->function_count; n++)
        if (inst >= program->functions[n].first && inst < program->functions[n].end)
            return inst + 1 < program->functions[n].end;
    return false;
}

/* The warp's next instruction begins a region: another one, or that which it runs again. */
static void pass_cut(struct timing_speculation *t, u32 slot)
{
    t->stats->passed++;
    if (!(t->restarted >> slot & 1))
        t->tries[slot] = 0;
    t->restarted &= ~(1ull << slot);
}

static enum lose_answer lose(void *state, struct core *core, u32 slot, u32 inst)
{
    struct timing_speculation *t = state;
    const struct inst *code = &core_exec(core)->image->program->insts[inst];
    const u64 now = core_cycle(core) + SPEC_BEFORE, word = decoded(code);
    const u64 registers = looked_up(core_inst_time(core, inst));
    if (spec_recovers(t->params) && core_is_cut(core, inst))
        pass_cut(t, slot);
    if (is_slow(t, slot))
        return LOSE_NOTHING;
    spec_advance(t, now);
    bool late =
        spec_is_late(t, SPEC_FETCH, SPEC_FETCH, bits_of(inst ^ t->old.pc), now - FROM_FETCH);
    late |=
        spec_is_late(t, SPEC_DECODE, SPEC_DECODE, bits_of(word ^ t->old.word), now - FROM_DECODE);
    late |= spec_is_late(t, SPEC_ISSUE, SPEC_ISSUE,
                         bits_of(slot ^ t->old.slot) + bits_of(registers ^ t->old.registers), now);
    t->old.pc = inst;
    t->old.word = word;
    t->old.slot = slot;
    t->old.registers = registers;
    if (!late || t->params->errors == SPEC_COUNT)
        return LOSE_NOTHING;
    if (!t->params->recovery && !can_do_without(core, inst))
        return LOSE_NOTHING;
    t->stats->lost++;
    if (!t->params->recovery)
        return LOSE_INST;
    restart(t, core, slot);
    return LOSE_REGION;
}

/* ---- in units ---- */

/* The words of an activity: those of a result that are written together, and what was there before. */
struct change {
    u32 *word[2 * MAX_LANES], *old[2 * MAX_LANES];
    u32 count, bits;
};

static void add_word(struct change *c, u32 *word, u32 *old)
{
    c->word[c->count] = word;
    c->old[c->count++] = old;
    c->bits += bits_of(*word ^ *old);
}

/* One of the bits that change keeps its old value. */
static void keep_bit(struct timing_speculation *t, const struct change *c)
{
    u32 n = (u32)mechanism_random_below(t, c->bits);
    for (u32 i = 0; i < c->count; i++) {
        u32 differ = *c->word[i] ^ *c->old[i];
        const u32 here = bits_of(differ);
        if (n >= here) {
            n -= here;
            continue;
        }
        while (n--)
            differ &= differ - 1;
        *c->word[i] ^= differ & -differ;
        t->stats->altered++;
        return;
    }
}

/* Returns whether a bit was late. */
static bool pass(struct timing_speculation *t, enum spec_module module, bool simple,
                 const struct change *c, u64 cycle)
{
    const bool late =
        spec_is_late(t, module, simple ? SPEC_SIMPLE + module - SPEC_SALU : module, c->bits, cycle);
    if (late && t->params->errors == SPEC_ACT)
        keep_bit(t, c);
    for (u32 i = 0; i < c->count; i++)
        *c->old[i] = *c->word[i];
    return late;
}

/* Vector results, `lanes` of them in a pass. */
static bool vector_passes(struct timing_speculation *t, const struct core *core,
                          struct inflight *inflight, enum spec_module module, bool simple,
                          u64 cycle)
{
    struct dyninst *f = &inflight->dyn;
    const u32 size = core_warp_size(core), lanes = MIN(t->params->lanes, size);
    bool late = false;
    for (u32 first = 0; first < size; first += lanes) {
        struct change c;
        c.count = c.bits = 0;
        for (u32 k = 0, row = 0; k < 2; k++)
            for (u32 r = 0; f->dst[k] && r < f->dst_rows[k] && row < 2; r++, row++)
                for (u32 lane = first; lane < MIN(first + lanes, size); lane++)
                    if (f->writes >> lane & 1)
                        add_word(&c, &f->dst[k][r * size + lane],
                                 &t->old.results[module][row * MAX_LANES + lane - first]);
        if (c.count)
            late |= pass(t, module, simple, &c, cycle);
        cycle += c.count ? MAX(inflight->interval, 1) : 1;
    }
    return late;
}

/* Masks and scalars, in one pass. */
static bool scalar_pass(struct timing_speculation *t, struct inflight *inflight,
                        enum spec_module module, bool simple, u64 cycle)
{
    struct dyninst *f = &inflight->dyn;
    struct change c;
    c.count = c.bits = 0;
    for (u32 k = 0; k < 2; k++)
        for (u32 j = 0; f->dst[k] && !f->dst_rows[k] && j < f->plan->dst_words[k]; j++)
            add_word(&c, &f->dst[k][j], &t->old.results[module][c.count]);
    return c.count && pass(t, module, simple, &c, cycle);
}

static bool compute(struct timing_speculation *t, const struct core *core,
                    struct inflight *inflight)
{
    static const u8 modules[PIPES] = {
        [PIPE_SP] = SPEC_SIMF,  [PIPE_INT] = SPEC_SIMD,    [PIPE_FP64] = SPEC_SIMF,
        [PIPE_SFU] = SPEC_SIMF, [PIPE_SCALAR] = SPEC_SALU, [PIPE_MEMORY] = SPEC_LSU};
    const enum spec_module module = modules[inflight->pipe];
    const bool simple = op_info[inflight->dyn.code->op].latency == LATENCY_SIMPLE;
    const u64 cycle = core_cycle(core) + SPEC_BEFORE + TO_UNIT;
    if (module == SPEC_LSU)
        return false;
    bool late = vector_passes(t, core, inflight, module, simple, cycle);
    late |= scalar_pass(t, inflight, module, simple, cycle);
    return late;
}

/* The address of a lane, which follows that of the lane before it. */
static bool address_is_late(struct timing_speculation *t, u64 address, u64 cycle)
{
    const u64 differ = address ^ t->old.address;
    t->old.address = address;
    return spec_is_late(t, SPEC_LSU, SPEC_LSU, bits_of(differ), cycle);
}

/* A late bit of an address keeps its old value, if the address is computed from a register of the
 * lane. */
static void keep_address_bit(struct timing_speculation *t, struct inflight *inflight, u32 lane,
                             u64 address, u64 before)
{
    u64 differ = address ^ before;
    for (u64 n = mechanism_random_below(t, bits_of(differ)); n; n--)
        differ &= differ - 1;
    if (inflight_readdress(inflight, lane, address ^ (differ & -differ)))
        t->stats->altered++;
    else
        inflight_annul(inflight);
}

static bool access(struct timing_speculation *t, const struct core *core, struct inflight *inflight)
{
    struct dyninst *f = &inflight->dyn;
    u64 cycle = core_cycle(core) + SPEC_BEFORE + TO_UNIT, addresses[MAX_LANES];
    lane_set lanes = f->scalar ? 1 : f->shared | f->global | f->local | f->constant;
    bool late = false;
    if (!lanes)
        return false;
    memcpy(addresses, dyninst_addresses(f), sizeof addresses);
    for (; lanes; lanes &= lanes - 1, cycle += PER_ADDRESS) {
        const u32 lane = first_lane(lanes);
        const u64 before = t->old.address;
        if (!address_is_late(t, addresses[lane], cycle))
            continue;
        late = true;
        if (t->params->errors == SPEC_ACT)
            keep_address_bit(t, inflight, lane, addresses[lane], before);
    }
    return late;
}

/* Cycles that an instruction takes longer when each step of it takes as many periods as the longest path
 * needs: from fetch to its unit, and there its latency, its passes, or its addresses. */
static u32 slow_cycles(const struct timing_speculation *t, const struct core *core,
                       const struct inflight *inflight)
{
    const u32 periods = (u32)(t->delays->slowness / t->params->period + 1);
    const u32 lanes = MAX(core_warp_size(core) / t->params->lanes, 1);
    const u32 steps = inflight->dyn.kind == DYNINST_ACCESS
                          ? PER_ADDRESS * count_lanes(inflight->dyn.lanes)
                          : MAX(inflight->latency, inflight->interval * lanes);
    return (periods - 1) * (FROM_FETCH + TO_UNIT + MIN(steps, 512u));
}

/* With recovery, accesses wait until their addresses are known to be right. */
static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    const struct timing_speculation *t = state;
    if (!spec_recovers(t->params))
        return 0;
    return (inflight->dyn.kind == DYNINST_ACCESS ? t->params->detect : 0) +
           (is_slow(t, inflight->slot) ? slow_cycles(t, core, inflight) : 0);
}

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct timing_speculation *t = state;
    t->damaged[inflight_index(core, inflight)] = 0;
    if (inflight->injected || acts_at_issue(core, inflight->dyn.code) || is_slow(t, inflight->slot))
        return;
    spec_advance(t, core_cycle(core) + SPEC_BEFORE);
    bool late = false;
    if (inflight->dyn.kind == DYNINST_COMPUTE)
        late = compute(t, core, inflight);
    else if (inflight->dyn.kind == DYNINST_ACCESS)
        late = access(t, core, inflight);
    if (!late || !spec_recovers(t->params))
        return;
    inflight_annul(inflight); /* Y2 */
    t->damaged[inflight_index(core, inflight)] = t->regions[inflight->slot] + 1;
    t->stats->dropped++;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct timing_speculation *t = state;
    if (t->damaged[inflight_index(core, inflight)] == t->regions[inflight->slot] + 1)
        restart(t, core, inflight->slot);
}

/* ---- the mechanism ---- */

static void create(void *state, struct core *core)
{
    struct timing_speculation *t = state;
    t->delays = mechanism_alloc(t, sizeof *t->delays);
    spec_delays_make(t->delays, t->params);
}

static f64 clock_factor(void *state, struct core *core)
{
    const struct timing_speculation *t = state;
    return 1 / t->params->period;
}

static bool serves(const void *params, const struct core_config *machine, struct error *error)
{
    const struct timing_speculation_params *p = params;
    if (p->volts > 0 && p->volts <= p->threshold)
        return error_set(
            error, ERROR_USAGE, "",
            "timing_speculation.volts is %g: expected more than the threshold voltage, "
            "timing_speculation.threshold, which is %g",
            p->volts, p->threshold);
    return true;
}

/* These act on the same instructions: what is fetched or issued instead, in other lanes or again, and
 * what is in another place when a region runs again. */
static const char *const conflicts[] = {
    "darsie", "dac_ideal", "gr_guard",         "less", "lwm", "rise", "sdmr",
    "tbc",    "uniform",   "variable_latency", NULL};

static const char *const deviations[] = {
    "The text compares arrival times of a gate-level simulation with shorter periods, and SPICE "
    "gives it "
    "the delay at each voltage. Here each bit that changes has a delay from an assumed "
    "distribution, "
    "and delays follow the alpha-power law.",
    "The exponent of that distribution is calibrated to the one number that the text gives. "
    "Critical "
    "paths but that of issue are assumed.",
    "Bits that change are those of the instruction's address and decoded fields, the warp's "
    "number, the "
    "registers that issue looks up, results and addresses. Control of units, data of memory and "
    "the "
    "write port have no errors. Units of a kind share the latch whose old value a late bit keeps.",
    "One bit of an activity is late at most: the latest.",
    "A late bit in fetch, decode or at issue loses the instruction. The last one of a function and "
    "those "
    "that end lanes are never lost. Branches, barriers and other instructions that take effect at "
    "issue "
    "have errors only before that.",
    "A region that has been run again too often runs without errors, each instruction in as many "
    "periods "
    "as the longest path needs, while other warps go on at the shorter period.",
    "Detection is sure. It delays accesses by `detect` cycles and nothing else; metastability is "
    "not "
    "modelled.",
    "Regions are those of the code as it is; iGPU's compiler renames registers to have fewer.",
    NULL,
};

const struct mechanism timing_speculation_mechanism = {
    MECHANISM_NAMED(
        timing_speculation,
        "cores run below their safe voltage or period; warps with late bits run a region "
        "again"),
    .source = "R. Balasubramanian et al., \"Enabling GPGPU low-level hardware explorations with "
              "MIAOW: an open-source RTL implementation of a GPGPU\", ACM TACO 12(2), 2015, "
              "section 6.2",
    .deviations = deviations,
    .conflicts = conflicts,
    .events = spec_events,
    .supplies = spec_supplies,
    .state_size = sizeof(struct timing_speculation),
    .random = true,
    .restarts = true,
    .create = create,
    .serves = serves,
    .storage = spec_storage,
    .launch = launch,
    .lose = lose,
    .operand = operand,
    .issued = issued,
    .retired = retired,
    .clock = clock_factor,
};
