/*
 * Operand collection: between issue and the units, an instruction holds a collector while the banks
 * of the register file serve its reads.
 *
 * The order within one step: collectors with all operands pass their instruction to its unit's
 * latch; each bank serves the oldest read that waits for it, unless the bank is written in this
 * cycle (which matters only in the first step of a cycle); issued instructions take free collectors
 * and queue their reads. So an instruction without conflicts takes three cycles: collector, read,
 * unit.
 *
 * Memory accesses of a group leave in the order in which they issued: the load/store unit sees the
 * accesses of a warp in program order.
 *
 * With sub-cores, collectors and banks are divided equally among the schedulers.
 */
#include "base/hot.h"
#include "core/common/collect_tick.h"

static void add_collectors(struct core *core, u32 *next, u32 group, u32 count, u32 pipes)
{
    const u32 t = core->collect.turn_count++;
    for (u32 i = 0; i < count && *next < CORE_COLLECTORS; i++, ++*next) {
        core->collect.turns[t].collectors |= bit(*next);
        core->collect.turn_of[*next] = (u8)t;
        for (u32 pipe = 0; pipe < PIPES; pipe++)
            if (pipes >> pipe & 1)
                core->collect.group[group].collectors[pipe] |= bit(*next);
    }
}

/* Which collectors serve which pipe of a group. */
static void share_collectors(struct core *core)
{
    const struct collect_params *p = core->config.collect;
    enum {
        SP = 1 << PIPE_SP | 1 << PIPE_INT | 1 << PIPE_SCALAR,
        ALL = (1 << PIPES) - 1
    };
    u32 next = 0;
    for (u32 g = 0; g < core->groups; g++) {
        if (p->generic) {
            add_collectors(core, &next, g, MAX(p->generic / core->groups, 1), ALL);
            continue;
        }
        add_collectors(core, &next, g, MAX(p->sp / core->groups, 1), SP);
        add_collectors(core, &next, g, MAX(p->sfu / core->groups, 1),
                       1 << PIPE_SFU | (p->fp64 ? 0 : 1 << PIPE_FP64));
        if (p->fp64)
            add_collectors(core, &next, g, MAX(p->fp64 / core->groups, 1), 1 << PIPE_FP64);
        add_collectors(core, &next, g, MAX(p->memory / core->groups, 1), 1 << PIPE_MEMORY);
    }
    core->collect.free = next == 64 ? ~0ull : bit(next) - 1;
}

/* Banks per group. */
static u32 banks_of(const struct core_config *config)
{
    u32 groups = config->issue->sub_cores ? config->issue->schedulers : 1;
    return MAX(collect_places(config->collect, config->core->warp_size) / groups, 1);
}

void collect_push_any(struct core *core, struct inflight *inflight)
{
    collect_push(core, inflight);
}

/* Collectors of one kind take turns; kinds go in the order of their collectors' numbers. */
HOT void collect_dispatch(struct core *core, u64 ready)
{
    do {
        struct turn *turn = &core->collect.turns[core->collect.turn_of[first_bit(ready)]];
        u64 left = ready & turn->collectors;
        ready ^= left;
        do {
            const u64 later = left & ~0ull << turn->next;
            const u32 c = first_bit(later ? later : left);
            left &= ~bit(c);
            give_on(core, turn, c, false);
        } while (left);
    } while (ready);
}

void collect_create(struct core *core)
{
    share_collectors(core);
    core->collect.banks_per_group = banks_of(&core->config);
    assert(core_banks(core));
    core->collect.spread =
        MIN(core->config.collect->banks /
                collect_places(core->config.collect, core->config.core->warp_size),
            CORE_BANKS / core_banks(core));
    core->collect.group_banks = ~0ull >> (64 - core->collect.banks_per_group);
    for (u32 s = 0; s < CORE_WARPS; s++) {
        const u32 up = s % core->collect.banks_per_group;
        core->collect.bank_turns[s].up = (u8)up;
        core->collect.bank_turns[s].down = (u8)(core->collect.banks_per_group - 1 - up);
        core->collect.bank_turns[s].base = (u8)(s % core->groups * core->collect.banks_per_group);
    }
}

/* Adds an access to a bank, in the first set that does not contain the bank. */
static void add_read(u64 *banks, u8 *depth, u32 bank)
{
    u32 n = 0;
    while (n < *depth && banks[n] >> bank & 1)
        n++;
    if (n == *depth) {
        assert(n < BANK_STEPS);
        banks[n] = 0;
        ++*depth;
    }
    banks[n] |= bit(bank);
}

void collect_time(struct inst_time *time, const struct inst *inst, const struct core_config *config)
{
    const u32 banks = banks_of(config);
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++) {
        struct operand o = inst->src[k];
        u32 step = o.count == 2 && config->collect->pair_reads == 1 ? 2 : 1;
        if (o.kind != OPERAND_VECTOR)
            continue;
        for (u32 r = 0; r < o.count && time->read_count < MAX_READS; r += step) {
            time->reads[time->read_count++] = (u16)(o.index + r);
            add_read(time->read_banks, &time->read_depth, (o.index + r) % banks);
        }
    }
    for (u32 k = 0; k < ARRAY_LEN(inst->dst); k++) {
        struct operand o = inst->dst[k];
        for (u32 r = 0; o.kind == OPERAND_VECTOR && r < o.count && time->result_count < MAX_READS;
             r++, time->result_count++)
            time->result_banks |= bit((o.index + r) % banks);
    }
}

/* While reads wait for others, collect_serve must be called: it is for a depth of 2 or more. */
static u32 deep_enough(u64 *wanted, u32 depth)
{
    for (; depth < 2; depth++)
        wanted[depth] = 0;
    return depth;
}

COLD void collect_tell_taken(struct core *core, struct inflight *inflight)
{
    EACH_USE(use, &core->hooks, collecting)
        use->mechanism->collecting(use->state, core, inflight);
}

COLD void collect_tell_ready(struct core *core, struct inflight *inflight)
{
    EACH_USE(use, &core->hooks, collected)
        use->mechanism->collected(use->state, core, inflight);
}

/* Asks for the banks whose turn has come, after some were served. */
static u32 ask_later(struct later_reads *later, u64 *wanted, u32 depth, u64 served)
{
    u8 steps = (u8)depth;
    u32 left = 0;
    for (u32 i = 0; i < later->count; i++) {
        later->at[i].first &= ~served;
        if (later->at[i].first) {
            later->at[left++] = later->at[i];
            continue;
        }
        for (u64 set = later->at[i].then; set; set &= set - 1)
            add_read(wanted, &steps, first_bit(set));
    }
    later->count = left;
    return left ? deep_enough(wanted, steps) : steps;
}

__attribute__((noinline)) u32 collect_serve(struct core *core, u64 *wanted, u32 depth, u64 served)
{
    for (u32 n = 0; n + 1 < depth; n++)
        wanted[n] = (wanted[n] & ~served) | (wanted[n + 1] & served);
    wanted[depth - 1] &= ~served;
    while (depth && !wanted[depth - 1])
        depth--;
    struct later_reads *later =
        &core->collect.later[(wanted - core->collect.wanted[0]) / BANK_STEPS];
    if (UNLIKELY(later->count))
        depth = ask_later(later, wanted, depth, served);
    /* mechanisms name banks of the machine, `spread` of which hold one register */
    const u32 weight = core_hooked(core, SEAM_PLACES) ? core->collect.spread : 1;
    for (u32 n = 0; n < depth; n++)
        core->stats.collect.conflicts +=
            ((u32)__builtin_popcountll(wanted[n]) + weight - 1) / weight;
    return depth;
}

/* The places of an instruction's operands, as mechanisms want them. */
static void ask_places(struct core *core, struct inflight *inflight, struct places *places)
{
    const struct inst_time *time = inflight->time;
    places->count = time->read_count;
    for (u32 i = 0; i < places->count; i++)
        places->at[i] = collect_place(core, inflight, time->reads[i]);
    EACH_USE(use, &core->hooks, places)
        use->mechanism->places(use->state, core, inflight, false, places);
    for (u32 i = 0; i < places->count; i++)
        core->stats.collect.reads += 1 + (places->at[i].then != 0);
}

/* A read that waits for another; if there are too many, it waits for several. */
static void add_later(struct later_reads *later, const struct bank_access *place)
{
    const u32 at = MIN(later->count, (u32)LATER - 1);
    if (at == later->count)
        later->at[later->count++].first = later->at[at].then = 0;
    later->at[at].first |= place->banks;
    later->at[at].then |= place->then;
}

COLD u32 collect_ask(struct core *core, struct inflight *inflight, u32 c)
{
    struct places places = {0};
    struct later_reads *later = &core->collect.later[c];
    u64 *wanted = core->collect.wanted[c];
    u8 depth = 0;
    ask_places(core, inflight, &places);
    later->count = 0;
    for (u32 i = 0; i < places.count; i++) {
        const struct bank_access *place = &places.at[i];
        const u32 steps = (place->cycles - 1u) * core->config.collect->steps + 1;
        for (u64 banks = place->banks; banks && place->cycles; banks &= banks - 1)
            for (u32 n = 0; n < steps; n++)
                add_read(wanted, &depth, first_bit(banks));
        if (place->then)
            add_later(later, place);
    }
    return later->count ? deep_enough(wanted, depth) : depth;
}

static COLD void count_places(struct core *core, struct inflight *inflight)
{
    struct places places = {0};
    ask_places(core, inflight, &places);
}

void collect_count(struct core *core, struct inflight *inflight)
{
    if (core_hooked(core, SEAM_PLACES))
        count_places(core, inflight);
    else
        core->stats.collect.reads += inflight->time->read_count;
}
