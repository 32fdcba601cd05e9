/*
 * Test mechanism: every instruction that computes or makes addresses issues again in the very next
 * cycle with the same operands; the two are compared at write-back and only the first is written.
 *
 * Invariants: the first of a pair is not written before its copy has issued; a copy does not leave
 * before it was compared.
 * Seams: operand (the values both start from), issue (insert), write-back (compare, drop).
 */
#include "seam/seam.h"

#define COMPONENT twice
#define COMPONENT_DEF "seam/twice.def"
#define COMPONENT_HELP "redundant issue, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct twice {
    MECHANISM_STATE(twice);
    u16 copy[CORE_TASKS];                          /* of a task; NO_TASK: none, or compared */
    bool own[CORE_TASKS];                          /* a copy, not another mechanism's task */
    bool issued[CORE_TASKS], compared[CORE_TASKS]; /* of a copy */
    struct {
        u16 tasks[8];
        u32 count;
        u64 made;               /* cycle */
    } waiting[CORE_SCHEDULERS]; /* copies to be issued next */
};

static u32 operand(void *state, struct core *core, struct task *task)
{
    struct twice *t = state;
    const u32 s = task->slot % core->config.issue->schedulers;
    t->copy[task_index(core, task)] = NO_TASK;
    if (task->extra_task || task->flight.kind > FLIGHT_ACCESS || t->waiting[s].count == 8)
        return 0;
    struct task *copy = task_take(core);
    if (!copy)
        return 0;
    const u32 index = task_index(core, copy);
    flight_copy(&copy->flight, &task->flight, core->row_words);
    copy->extra_task = t->own[index] = true;
    copy->slot = task->slot;
    t->copy[task_index(core, task)] = (u16)index;
    t->issued[index] = t->compared[index] = false;
    t->waiting[s].tasks[t->waiting[s].count++] = (u16)index;
    t->waiting[s].made = core_cycle(core);
    core->mechanism_work++;
    return 0;
}

static bool insert(void *state, struct core *core, u32 s)
{
    struct twice *t = state;
    const u32 count = t->waiting[s].count;
    u32 n = 0;
    for (; n < count; n++) {
        struct task *copy = core_task(core, t->waiting[s].tasks[n]);
        if (!core_room(core, s, copy->flight.inst))
            break;
        core_issue_flight(core, copy, copy->slot);
        t->issued[t->waiting[s].tasks[n]] = true;
        t->stats->late += core_cycle(core) != t->waiting[s].made + 1;
    }
    t->waiting[s].count -= n;
    memmove(t->waiting[s].tasks, t->waiting[s].tasks + n, t->waiting[s].count * sizeof(u16));
    t->stats->copies += n;
    core->mechanism_work -= n;
    return count;
}

static enum write_back_answer write_back(void *state, struct core *core, struct task *task)
{
    struct twice *t = state;
    const u32 index = task_index(core, task), copy = t->copy[index];
    if (t->own[index])
        return t->compared[index] ? WRITE_BACK_DROP : WRITE_BACK_HOLD;
    if (copy == NO_TASK)
        return WRITE_BACK_COMMIT;
    if (!t->issued[copy])
        return WRITE_BACK_HOLD;
    t->compared[copy] = true;
    t->copy[index] = NO_TASK;
    t->stats->compared++;
    t->stats->mismatches += !flight_same(&task->flight, &core_task(core, copy)->flight);
    return WRITE_BACK_COMMIT;
}

static void retired(void *state, struct core *core, struct task *task)
{
    ((struct twice *)state)->own[task_index(core, task)] = false;
}

const struct mechanism twice_mechanism = {
    MECHANISM_NAMED(twice, "every instruction issues twice and is compared"),
    .state_size = sizeof(struct twice),
    .forgets = true,
    .operand = operand,
    .insert = insert,
    .write_back = write_back,
    .retired = retired,
};
