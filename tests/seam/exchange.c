/*
 * Test mechanism: when two full warps of a scheduler stand at the same instruction, they issue as
 * two groups, in two cycles, each with the even lanes of one warp and the odd lanes of the other.
 * Both read when the first issues and are written in one cycle: a scoreboard speaks for all lanes.
 * Seams: issue (in place of the plain one; insert), write-back (pair).
 */
#include "seam/seam.h"

#define COMPONENT exchange
#define COMPONENT_DEF "seam/exchange.def"
#define COMPONENT_HELP "re-formed warps, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct exchange {
    MECHANISM_STATE(exchange);
    struct inflight *second[CORE_SCHEDULERS]; /* groups that issue next; NULL: none */
    struct group {
        struct inflight *partner; /* NULL: none, or it was written with this one */
        bool arrived, written;
        struct warp *homes[MAX_LANES];
    } groups[CORE_INFLIGHT];
};

static u32 find_partner(const struct core *core, u32 s, u32 inst)
{
    const struct warp *warp = core_slot(core, s)->warp;
    const struct operand *to = warp->view->insts[inst].dst;
    if (warp->view->plans[inst].kind != PLAN_LANES || !seam_full(warp) ||
        to[0].kind != OPERAND_VECTOR || to[1].kind > OPERAND_VECTOR)
        return CORE_WARPS;
    u64 set = core_ready(core, s % core_config(core)->issue->schedulers) & ~bit(s);
    for (; set; set &= set - 1) {
        const struct slot *other = core_slot(core, first_bit(set));
        if (other->buffer[0] == inst && other->warp->view == warp->view && seam_full(other->warp))
            return first_bit(set);
    }
    return CORE_WARPS;
}

static enum issue_answer issue(void *state, struct core *core, u32 s, u32 inst)
{
    struct exchange *x = state;
    const u32 p = find_partner(core, s, inst), scheduler = s % core_config(core)->issue->schedulers;
    if (p == CORE_WARPS || x->second[scheduler] || core->inflight.count + 2 > CORE_INFLIGHT)
        return ISSUE_PLAIN;
    struct inflight *inflight[2] = {inflight_take(core), inflight_take(core)};
    for (u32 k = 0; k < 2; k++) {
        struct group *group = &x->groups[inflight_index(core, inflight[k])];
        *group = (struct group){.partner = inflight[!k]};
        for (u32 lane = 0; lane < MAX_LANES; lane++)
            group->homes[lane] = core_slot(core, (lane + k) % 2 ? p : s)->warp;
        dyninst_issue_homes(&inflight[k]->dyn, group->homes, inst);
    }
    x->second[scheduler] = inflight[1];
    inflight[1]->slot = (u8)p;
    x->stats->pairs++;
    core_want_cycles(core, 1);
    core_issue_group(core, inflight[0], s);
    return ISSUE_DONE;
}

static bool insert(void *state, struct core *core, u32 scheduler)
{
    struct exchange *x = state;
    struct inflight *inflight = x->second[scheduler];
    if (inflight && core_room(core, scheduler, inflight->dyn.inst)) {
        x->second[scheduler] = NULL;
        core_want_cycles(core, -1);
        core_issue_group(core, inflight, inflight->slot);
    }
    return inflight;
}

static enum write_back_answer write_back(void *state, struct core *core, struct inflight *inflight)
{
    struct group *all = ((struct exchange *)state)->groups,
                 *group = all + inflight_index(core, inflight);
    if (!inflight->dyn.homes || inflight->injected || !group->partner)
        return WRITE_BACK_COMMIT;
    if (group->written)
        return WRITE_BACK_DROP;
    group->arrived = true;
    struct group *other = &all[inflight_index(core, group->partner)];
    if (!other->arrived)
        return WRITE_BACK_HOLD;
    dyninst_commit(&group->partner->dyn);
    other->written = true;
    group->partner = NULL;
    return WRITE_BACK_COMMIT;
}

const struct mechanism exchange_mechanism = {
    MECHANISM_NAMED(exchange, "warps at one instruction issue with lanes exchanged"),
    .state_size = sizeof(struct exchange),
    .forgets = true,
    .issue = issue,
    .insert = insert,
    .write_back = write_back,
};
