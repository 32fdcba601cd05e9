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
#include "core/common/common.h"

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

static COLD void tell_collecting(struct core *core, struct inflight *inflight)
{
    EACH_USE(use, &core->hooks, collecting)
        use->mechanism->collecting(use->state, core, inflight);
}

static COLD void tell_collected(struct core *core, struct inflight *inflight)
{
    EACH_USE(use, &core->hooks, collected)
        use->mechanism->collected(use->state, core, inflight);
}

/* Passes an instruction to its unit's latch, unless that is full or an older access waits. */
PART_OF void give_on(struct core *core, struct turn *turn, u32 c, bool one_group)
{
    const struct collector *collector = &core->collect.collectors[c];
    const u32 g = one_group ? 0 : collector->group, pipe = collector->pipe;
    struct core_group *group = &core->collect.group[g];
    HELD(group);
    struct latch *latch = &group->collected[pipe];
    if (latch->count == latch->limit ||
        (pipe == PIPE_MEMORY && group->served != collector->ticket)) {
        core->collect.stuck |= bit(c);
        return;
    }
    if (UNLIKELY(core->detours)) { /* additional cycles from mechanisms */
        struct inflight *inflight = core_inflight(core, collector->inflight);
        if (inflight->extra) {
            inflight->extra--;
            return;
        }
        if (core->issue.by_waitcnt)
            waitcnt_read(core, inflight);
        if (core_hooked(core, SEAM_COLLECTED))
            tell_collected(core, inflight);
    }
    latch_push(latch, collector->inflight);
    if (pipe == PIPE_MEMORY) {
        group->served++;
        core->collect.stuck = 0;
        core->collect.access_groups |= 1u << g;
    } else {
        group->collected_pipes |= (u8)(1u << pipe);
        core->collect.collected_groups |= 1u << g;
    }
    core->collect.ready &= ~bit(c);
    core->collect.free |= bit(c);
    core->collect.issued_groups |= core->collect.starved_groups;
    turn->next = (c + 1) % CORE_COLLECTORS;
}

/* Passes the instructions of full collectors (a non-empty set) to the units' latches. Collectors of
 * one kind take turns; kinds go in the order of their collectors' numbers. */
PART_OF void dispatch(struct core *core, u64 ready, bool one_group)
{
    do {
        struct turn *turn = &core->collect.turns[core->collect.turn_of[first_bit(ready)]];
        u64 left = ready & turn->collectors;
        ready ^= left;
        do {
            const u64 later = left & ~0ull << turn->next;
            const u32 c = first_bit(later ? later : left);
            left &= ~bit(c);
            give_on(core, turn, c, one_group);
        } while (left);
    } while (ready);
}

/* Serves some reads of a collector; reads that still wait count as conflicts. Returns the new
 * depth. */
static __attribute__((noinline)) u32 serve(struct core *core, u64 *wanted, u32 depth, u64 served)
{
    for (u32 n = 0; n + 1 < depth; n++)
        wanted[n] = (wanted[n] & ~served) | (wanted[n + 1] & served);
    wanted[depth - 1] &= ~served;
    while (depth && !wanted[depth - 1])
        depth--;
    /* mechanisms name banks of the machine, `spread` of which hold one register */
    const u32 weight = core_hooked(core, SEAM_PLACES) ? core->collect.spread : 1;
    for (u32 n = 0; n < depth; n++)
        core->stats.collect.conflicts +=
            ((u32)__builtin_popcountll(wanted[n]) + weight - 1) / weight;
    return depth;
}

/*
 * Each bank serves the first collector that reads it, in the order in which collectors were taken.
 * This equals a queue at each bank, because a collector queues all its reads at once.
 */
PART_OF void read_banks(struct core *core, u64 taken)
{
    const u32 count = core->collect.reading_count;
    u64 ready = 0;
    u32 left = 0;
    for (u32 i = 0; i < count; i++) {
        const u32 c = core->collect.reading[i];
        u32 depth = core->collect.collectors[c].depth;
        const u64 wanted = core->collect.wanted[c][0];
        if (UNLIKELY(depth > 1 || wanted & taken) &&
            (depth = serve(core, core->collect.wanted[c], depth, wanted & ~taken))) {
            core->collect.collectors[c].depth = (u16)depth;
            core->collect.reading[left++] = (u8)c;
        } else {
            ready |= bit(c);
        }
        taken |= wanted;
    }
    core->collect.ready |= ready;
    core->collect.reading_count = left;
}

/* Asks mechanisms where the operands are. */
static COLD u32 ask_places(struct core *core, struct inflight *inflight, u64 *wanted)
{
    const struct inst_time *time = inflight->time;
    struct places places = {.count = time->read_count};
    for (u32 i = 0; i < places.count; i++)
        places.at[i] = collect_place(core, inflight, time->reads[i]);
    EACH_USE(use, &core->hooks, places)
        use->mechanism->places(use->state, core, inflight, false, &places);
    core->stats.collect.reads += places.count;
    u8 depth = 0;
    for (u32 i = 0; i < places.count; i++) {
        const struct bank_access *place = &places.at[i];
        const u32 steps = (place->cycles - 1u) * core->config.collect->steps + 1;
        for (u64 banks = place->banks; banks && place->cycles; banks &= banks - 1)
            for (u32 n = 0; n < steps; n++)
                add_read(wanted, &depth, first_bit(banks));
    }
    return depth;
}

void collect_count(struct core *core, struct inflight *inflight)
{
    u64 wanted[BANK_STEPS];
    if (core_hooked(core, SEAM_PLACES))
        ask_places(core, inflight, wanted);
    else
        core->stats.collect.reads += inflight->time->read_count;
}

/* Instruction `index` of a group takes a free collector that serves its pipe. */
PART_OF void take_collector(struct core *core, struct core_group *group, u32 c, u32 pipe, u32 index,
                            bool one_group)
{
    struct inflight *inflight = core_inflight(core, index);
    const struct inst_time *time = inflight->time;
    struct collector *collector = &core->collect.collectors[c];
    u64 *wanted = core->collect.wanted[c];
    u32 depth = time->read_depth;
    if (core_hooked(core, SEAM_COLLECTING))
        tell_collecting(core, inflight);
    if (core_hooked(core, SEAM_PLACES)) {
        depth = ask_places(core, inflight, wanted);
    } else {
        for (u32 n = 0; n < depth; n++)
            wanted[n] = one_group ? collect_rotated(core, inflight->slot, time->read_banks[n])
                                  : collect_banks(core, inflight->slot, time->read_banks[n]);
        core->stats.collect.reads += time->read_count;
    }
    collector->inflight = (u16)index;
    collector->pipe = (u8)pipe;
    collector->group = inflight->group;
    collector->depth = (u16)depth;
    if (pipe == PIPE_MEMORY)
        collector->ticket = group->tickets++;
    core->collect.free &= ~bit(c);
    if (depth)
        core->collect.reading[core->collect.reading_count++] = (u8)c;
    else
        core->collect.ready |= bit(c);
}

/* Instructions of a group take collectors, as long as some are free for their pipe. */
PART_OF void allocate_group(struct core *core, u32 g, bool one_group)
{
    struct core_group *group = &core->collect.group[g];
    HELD(group);
    u32 left = 0; /* pipes with instructions that found no collector */
    for (u32 pipes = group->issued_pipes; pipes;) {
        const u32 pipe = first_bit(pipes);
        const u64 free_ones = core->collect.free & group->collectors[pipe];
        if (!free_ones) {
            core->collect.starved++;
            left |= 1u << pipe;
            pipes &= pipes - 1;
            continue;
        }
        struct latch *latch = &group->issued[pipe];
        HELD(latch);
        take_collector(core, group, first_bit(free_ones), pipe, latch_first(latch), one_group);
        latch_pop(latch);
        if (core->collect.full_pipes[g] >> pipe & 1) { /* there is room again */
            core->collect.full_pipes[g] &= (u8) ~(1u << pipe);
            /* Schedulers sleep on if no warp could use the room. */
            if (core->issue.heads[pipe] & core->issue.clear & ~core->issue.branching)
                core->issue.asleep = 0;
        }
        if (!latch->count)
            pipes &= pipes - 1;
    }
    group->issued_pipes = (u8)left;
    if (left)
        core->collect.starved_groups |= 1u << g;
}

/* Those that have issued, or were left over and may find one now. */
PART_OF void allocate(struct core *core, bool one_group)
{
    u32 groups = core->collect.issued_groups;
    core->collect.issued_groups = core->collect.starved_groups = core->collect.starved = 0;
    if (one_group)
        allocate_group(core, 0, true);
    else
        for (; groups; groups &= groups - 1)
            allocate_group(core, first_bit(groups), false);
}

PART_OF void collect(struct core *core, bool one_group)
{
    const u64 busy = UNLIKELY(core->collect.busy) ? collect_busy(core) : 0;
    u64 written = core->collect.banks_written | busy;
    u32 steps = core->config.collect->steps;
    core->stats.collect.wait_cycles += core->collect.reading_count;
    do {
        const u64 ready = core->collect.ready & ~core->collect.stuck;
        if (ready)
            dispatch(core, ready, one_group);
        if (core->collect.reading_count)
            read_banks(core, written);
        if (core->collect.issued_groups)
            allocate(core, one_group);
        core->stats.collect.full_cycles += core->collect.starved;
        written = busy;
    } while (--steps);
}

/* Compiled twice: without sub-cores, the place of the only group is known. */
HOT void collect_tick(struct core *core)
{
    if (core->groups == 1)
        collect(core, true);
    else
        collect(core, false);
}
