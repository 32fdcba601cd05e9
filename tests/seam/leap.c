/*
 * Test mechanism: borrow.c with the decision before fetch, outside its scheduler; warps whose
 * leader is in flight do not fetch meanwhile. It also holds warps at some of their branches.
 *
 * Invariants: the kept value is what the leader wrote back; no warp skips before that. A refused
 * mark of a slot is not skipped until the slot has issued it.
 * Seams: skip_fetch, may_skip_fetch, fetched (mark what came too late), skipped, issued, control,
 * stuck.
 */
#include "ir/special.h"
#include "seam/seam.h"

#define COMPONENT leap
#define COMPONENT_DEF "seam/leap.def"
#define COMPONENT_HELP "results taken from another warp before fetch, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct leap {
    MECHANISM_STATE(leap);
    struct kept {
        u32 inst;    /* valid below `used` */
        u16 leader;  /* its record; NO_INFLIGHT: the value is there */
        u64 waiting; /* slots that do not fetch */
        u32 rows[2 * MAX_LANES];
    } entries[CORE_BLOCKS][8];
    u32 used[CORE_BLOCKS];
    u32 refused[CORE_WARPS]; /* 1 + the instruction that the slot will not skip */
    u32 branches[CORE_WARPS];
    u64 gathered; /* slots that are held */
    u32 marks;
};

static void block(void *state, struct core *core, u32 place, bool started)
{
    struct leap *l = state;
    l->used[place] = 0;
    for (u64 set = core_block(core, place)->slots; started && set; set &= set - 1)
        l->refused[first_bit(set)] = l->branches[first_bit(set)] = 0;
}

static bool is_marked(const struct inst *code)
{
    if (code->guard.kind)
        return false;
    if (code->op == OP_sreg)
        return code->imm >= SPECIAL_ntid_x && code->imm <= SPECIAL_nctaid_z;
    return code->op == OP_mov_b32 && code->src[0].kind == OPERAND_CONST;
}

static struct kept *find(struct leap *l, u32 place, u32 inst)
{
    for (u32 i = 0; i < l->used[place]; i++)
        if (l->entries[place][i].inst == inst)
            return &l->entries[place][i];
    return NULL;
}

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct leap *l = state;
    const struct dyninst *f = &inflight->dyn;
    const u32 place = core_slot(core, inflight->slot)->block;
    if (l->refused[inflight->slot] == f->inst + 1)
        l->refused[inflight->slot] = 0;
    if (!inflight->injected && !f->homes && seam_full(f->warp) && l->used[place] < 8 &&
        is_marked(f->code) && !find(l, place, f->inst))
        l->entries[place][l->used[place]++] =
            (struct kept){.inst = f->inst, .leader = (u16)inflight_index(core, inflight)};
}

static enum write_back_answer write_back(void *state, struct core *core, struct inflight *inflight)
{
    struct leap *l = state;
    const struct dyninst *f = &inflight->dyn;
    struct kept *e = find(l, core_slot(core, inflight->slot)->block, f->inst);
    if (e && e->leader == inflight_index(core, inflight)) {
        memcpy(e->rows, f->dst[0],
               f->dst_rows[0] * core_exec(core)->image->warp_size * sizeof(u32));
        e->leader = NO_INFLIGHT;
        core_release_fetch(core, e->waiting);
        l->stats->led++;
    }
    return WRITE_BACK_COMMIT;
}

static bool may_skip_fetch(void *state, struct core *core, u32 s, u32 inst)
{
    return is_marked(&core_exec(core)->image->program->insts[inst]);
}

static void skip_fetch(void *state, struct core *core, u64 wanting, struct skip_fetch *answer)
{
    struct leap *l = state;
    for (u64 set = wanting; set; set &= set - 1) {
        const u32 s = first_bit(set), inst = core_slot(core, s)->fetch_at;
        struct kept *e = find(l, core_slot(core, s)->block, inst);
        if (!e || l->refused[s] == inst + 1)
            continue;
        if (e->leader == NO_INFLIGHT) {
            answer->skip |= bit(s);
            continue;
        }
        e->waiting |= bit(s);
        answer->hold |= bit(s);
        core_hold_fetch(core, bit(s));
    }
}

/* What was fetched before the leader was known. */
static void fetched(void *state, struct core *core, u32 s, u32 inst, u32 count, bool here)
{
    struct leap *l = state;
    const struct slot *slot = core_slot(core, s);
    if (!l->params->late || slot->fetch_at != inst + count || l->refused[s] == inst + 1)
        return;
    if (find(l, slot->block, inst)) {
        core_mark(core, s, slot->buffered - count);
        l->stats->dropped++;
    }
}

static enum skip_answer skipped(void *state, struct core *core, u32 s, u32 inst)
{
    struct leap *l = state;
    struct warp *warp = core_slot(core, s)->warp;
    const struct operand to = warp->view->insts[inst].dst[0];
    const struct kept *e = find(l, core_slot(core, s)->block, inst);
    const u32 lanes = core_exec(core)->image->warp_size;
    if (e->leader != NO_INFLIGHT)
        return SKIP_WAIT;
    if (l->params->refuse && ++l->marks % l->params->refuse == 0) {
        l->refused[s] = inst + 1;
        l->stats->refused++;
        return SKIP_FETCH;
    }
    for (lane_set set = warp->active; set; set &= set - 1)
        for (u32 r = 0, lane = first_lane(set); r < to.count; r++)
            *register_word(warp, to.index + r, lane) = e->rows[r * lanes + lane];
    l->stats->skipped++;
    return SKIP_DONE;
}

static void control(void *state, struct core *core, u32 s, u32 inst)
{
    struct leap *l = state;
    const u32 place = core_slot(core, s)->block;
    if (!l->params->gather || !core_block(core, place)->left)
        return;
    const u64 live = core_block(core, place)->slots & core_present(core) & ~core_ended(core);
    if (live & bit(s) && core_slot(core, s)->at != NO_INST &&
        ++l->branches[s] % l->params->gather == 0) {
        core_hold(core, bit(s));
        l->gathered |= bit(s);
        l->stats->gathered++;
    }
    if (l->params->stubborn || live & ~l->gathered & ~core_waiting(core))
        return;
    core_release(core, live & l->gathered);
    l->gathered &= ~live;
}

static bool stuck(void *state, struct core *core)
{
    struct leap *l = state;
    if (!l->gathered)
        return false;
    core_release(core, l->gathered);
    l->gathered = 0;
    l->stats->stuck++;
    return true;
}

const struct mechanism leap_mechanism = {
    MECHANISM_NAMED(leap, "results that are the same in a block are computed once"),
    .state_size = sizeof(struct leap),
    .forgets = true,
    .block = block,
    .skip_fetch = skip_fetch,
    .may_skip_fetch = may_skip_fetch,
    .fetched = fetched,
    .skipped = skipped,
    .issued = issued,
    .write_back = write_back,
    .control = control,
    .stuck = stuck,
};
