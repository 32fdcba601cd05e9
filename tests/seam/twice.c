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
    u16 copy[CORE_INFLIGHT]; /* of an instruction in flight; NO_INFLIGHT: none, or compared */
    bool own[CORE_INFLIGHT]; /* a copy, not another mechanism's inflight */
    bool issued[CORE_INFLIGHT], compared[CORE_INFLIGHT]; /* of a copy */
    struct {
        u16 inflight[8];
        u32 count;
        u64 made;               /* cycle */
    } waiting[CORE_SCHEDULERS]; /* copies to be issued next */
};

static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    struct twice *t = state;
    const u32 s = inflight->slot % core_config(core)->issue->schedulers;
    t->copy[inflight_index(core, inflight)] = NO_INFLIGHT;
    if (inflight->injected || inflight->dyn.kind > DYNINST_ACCESS || t->waiting[s].count == 8)
        return 0;
    struct inflight *copy = inflight_take(core);
    if (!copy)
        return 0;
    const u32 index = inflight_index(core, copy);
    dyninst_copy(&copy->dyn, &inflight->dyn, core_row_words(core));
    copy->injected = t->own[index] = true;
    copy->slot = inflight->slot;
    t->copy[inflight_index(core, inflight)] = (u16)index;
    t->issued[index] = t->compared[index] = false;
    t->waiting[s].inflight[t->waiting[s].count++] = (u16)index;
    t->waiting[s].made = core_cycle(core);
    core_want_cycles(core, 1);
    return 0;
}

static bool insert(void *state, struct core *core, u32 s)
{
    struct twice *t = state;
    const u32 count = t->waiting[s].count;
    u32 n = 0;
    for (; n < count; n++) {
        struct inflight *copy = core_inflight(core, t->waiting[s].inflight[n]);
        if (!core_room(core, s, copy->dyn.inst))
            break;
        core_issue_dyninst(core, copy, copy->slot);
        t->issued[t->waiting[s].inflight[n]] = true;
        t->stats->late += core_cycle(core) != t->waiting[s].made + 1;
    }
    t->waiting[s].count -= n;
    memmove(t->waiting[s].inflight, t->waiting[s].inflight + n, t->waiting[s].count * sizeof(u16));
    t->stats->copies += n;
    core_want_cycles(core, -(i32)n);
    return count;
}

static enum write_back_answer write_back(void *state, struct core *core, struct inflight *inflight)
{
    struct twice *t = state;
    const u32 index = inflight_index(core, inflight), copy = t->copy[index];
    if (t->own[index])
        return t->compared[index] ? WRITE_BACK_DROP : WRITE_BACK_HOLD;
    if (copy == NO_INFLIGHT)
        return WRITE_BACK_COMMIT;
    if (!t->issued[copy])
        return WRITE_BACK_HOLD;
    t->compared[copy] = true;
    t->copy[index] = NO_INFLIGHT;
    t->stats->compared++;
    t->stats->mismatches += !dyninst_same(&inflight->dyn, &core_inflight(core, copy)->dyn);
    return WRITE_BACK_COMMIT;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    ((struct twice *)state)->own[inflight_index(core, inflight)] = false;
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
