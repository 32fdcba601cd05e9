/*
 * Operand collection: between issue and the units, an instruction holds a collector while the
 * banks of the register file serve its reads.
 *
 * One step, in this order: collectors with all operands give their instruction on to its unit's
 * latch; each bank serves the read at the head of its queue, unless it is written in this cycle
 * (the first step of a cycle only); issued instructions take free collectors and queue their
 * reads. So an instruction without conflicts passes in three cycles: collector, read, unit.
 *
 * Accesses to memory leave in the order in which they were issued, within a group: what the
 * load/store unit sees of a warp is its program order.
 *
 * With sub-cores, collectors and banks are divided equally between the schedulers.
 */
#include "core/core.h"
#include <stdlib.h>

static void add_collectors(struct core *core, u32 *next, u32 group, u32 count, u32 pipes)
{
    struct turn *turn = &core->turns[core->turn_count++];
    for (u32 i = 0; i < count && *next < CORE_COLLECTORS; i++, ++*next) {
        turn->collectors |= bit(*next);
        for (u32 pipe = 0; pipe < PIPES; pipe++)
            if (pipes >> pipe & 1)
                core->collector_sets[group][pipe] |= bit(*next);
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
    core->collectors_free = next == 64 ? ~0ull : bit(next) - 1;
}

void collect_create(struct core *core)
{
    share_collectors(core);
    u32 collectors = (u32)__builtin_popcountll(core->collectors_free);
    u32 places = collect_places(core->config.collect, core->config.core->warp_size);
    core->banks_per_group = MAX(places / core->groups, 1);
    core->bank_capacity = 1;
    while (core->bank_capacity < collectors * PLACES)
        core->bank_capacity *= 2;
    core->bank_queues = checked(calloc((size_t)core->bank_capacity * CORE_BANKS, 1));
    for (u32 b = 0; b < CORE_BANKS; b++)
        core->banks[b].queue = core->bank_queues + (size_t)b * core->bank_capacity;
    for (u32 c = 0; c < CORE_COLLECTORS; c++)
        core->collectors[c].task = NO_TASK;
}

void collect_destroy(struct core *core)
{
    free(core->bank_queues);
}

/* Whether the collector holds the oldest access of its group. */
static bool next_access(const struct core *core, u32 group, u32 c)
{
    return core->memory_order[group].collectors[core->memory_order[group].head % CORE_COLLECTORS] ==
           c;
}

/* False: its unit's latch is full, or it is not its turn. */
static bool give_on(struct core *core, u32 c)
{
    struct collector *collector = &core->collectors[c];
    struct latch *latch = &core->collected[collector->group][collector->pipe];
    struct task *task = core_task(core, collector->task);
    if (latch->count == latch->limit ||
        (collector->pipe == PIPE_MEMORY && !next_access(core, collector->group, c))) {
        core->collectors_stuck |= bit(c);
        return false;
    }
    if (UNLIKELY(task->extra)) { /* cycles that a mechanism has asked for */
        task->extra--;
        return false;
    }
    if (collector->pipe == PIPE_MEMORY) {
        core->memory_order[collector->group].head++;
        core->collectors_stuck = 0;
    }
    latch->tasks[latch->count++] = collector->task;
    core->collected_count++;
    core->collected_pipes[collector->group] |= (u8)(1u << collector->pipe);
    collector->task = NO_TASK;
    core->collectors_ready &= ~bit(c);
    core->collectors_free |= bit(c);
    return true;
}

/* Full collectors to the units' latches, those of a kind in turn. */
static void dispatch(struct core *core)
{
    for (u32 i = 0; i < core->turn_count; i++) {
        struct turn *turn = &core->turns[i];
        const u64 ready = core->collectors_ready & turn->collectors & ~core->collectors_stuck;
        if (!ready)
            continue;
        const u64 later = ~(bit(turn->next) - 1);
        for (u64 left = ready; left;) {
            u32 c = first_bit(left & later ? left & later : left);
            left &= ~bit(c);
            if (give_on(core, c))
                turn->next = (c + 1) % CORE_COLLECTORS;
        }
    }
}

static void read_banks(struct core *core, u64 written)
{
    for (u64 set = core->banks_waiting; set; set &= set - 1) {
        u32 b = first_bit(set);
        struct bank *bank = &core->banks[b];
        u32 waiting = (u16)(bank->tail - bank->head);
        if (written >> b & 1) {
            core->stats.collect.conflicts += waiting;
            continue;
        }
        core->stats.collect.conflicts += waiting - 1;
        u32 c = bank->queue[bank->head++ & (core->bank_capacity - 1)];
        if (bank->head == bank->tail)
            core->banks_waiting &= ~bit(b);
        struct task *task = core_task(core, core->collectors[c].task);
        if (!--task->unread) {
            core->collectors_ready |= bit(c);
            core->collectors_reading--;
        }
    }
}

static void queue_read(struct core *core, u32 c, u32 b)
{
    struct bank *bank = &core->banks[b];
    bank->queue[bank->tail++ & (core->bank_capacity - 1)] = (u8)c;
    core->banks_waiting |= bit(b);
}

/* Where mechanisms say that the operands are. */
static COLD void queue_places(struct core *core, u32 c, struct task *task)
{
    const struct inst_time *time = &core->times[task->flight.inst];
    struct places places = {.count = time->read_count};
    for (u32 i = 0; i < places.count; i++) {
        places.regs[i] = time->reads[i];
        places.banks[i] = (u8)collect_bank(core, task->slot, task->group, time->reads[i]);
    }
    EACH_USE(use, &core->hooks, places)
    use->mechanism->places(use->state, core, task, false, &places);
    for (u32 i = 0; i < places.count; i++)
        queue_read(core, c, places.banks[i]);
    task->unread = (u8)places.count;
}

static void take_collector(struct core *core, u32 c, u32 group, u32 pipe, u32 index)
{
    struct task *task = core_task(core, index);
    const struct inst_time *time = &core->times[task->flight.inst];
    core->collectors[c] = (struct collector){(u16)index, (u8)pipe, (u8)group};
    core->collectors_free &= ~bit(c);
    if (pipe == PIPE_MEMORY)
        core->memory_order[group].collectors[core->memory_order[group].tail++ % CORE_COLLECTORS] =
            (u8)c;
    task->unread = time->read_count;
    if (core_hooked(core, SEAM_PLACES))
        queue_places(core, c, task);
    else
        for (u32 i = 0; i < time->read_count; i++)
            queue_read(core, c, collect_bank(core, task->slot, group, time->reads[i]));
    core->stats.collect.reads += task->unread;
    if (task->unread)
        core->collectors_reading++;
    else
        core->collectors_ready |= bit(c);
}

static void allocate(struct core *core)
{
    for (u32 g = 0; g < core->groups; g++)
        for (u32 pipes = core->issued_pipes[g]; pipes; pipes &= pipes - 1) {
            const u32 pipe = first_bit(pipes);
            struct latch *latch = &core->issued[g][pipe];
            u32 taken = 0;
            for (; taken < latch->count; taken++) {
                u64 free_ones = core->collectors_free & core->collector_sets[g][pipe];
                if (!free_ones) {
                    core->stats.collect.full_cycles++;
                    break;
                }
                take_collector(core, first_bit(free_ones), g, pipe, latch->tasks[taken]);
            }
            if (!taken)
                continue;
            latch->count -= (u8)taken;
            core->issued_count -= taken;
            core->full_pipes[g] &= (u8) ~(1u << pipe);
            core->asleep = false;
            if (LIKELY(!latch->count))
                core->issued_pipes[g] &= (u8) ~(1u << pipe);
            for (u32 i = 0; i < latch->count; i++)
                latch->tasks[i] = latch->tasks[taken + i];
        }
}

void collect_tick(struct core *core)
{
    u64 written = core->banks_written;
    core->stats.collect.wait_cycles += core->collectors_reading;
    for (u32 n = 0; n < core->config.collect->steps; n++) {
        if (core->collectors_ready & ~core->collectors_stuck)
            dispatch(core);
        if (core->banks_waiting)
            read_banks(core, written);
        if (core->issued_count)
            allocate(core);
        written = 0;
    }
}
