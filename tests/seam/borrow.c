/*
 * Test mechanism: of instructions whose result is the same in all warps of a block (a constant, the
 * block's number or size), the first warp's result is kept; other warps never fetch them.
 *
 * Invariants: what is kept is what the leader wrote back; nobody skips before that.
 * Seams: issue (who leads), write-back (the value), fetch (hold, skip), dispatch (blocks).
 */
#include "ir/special.h"
#include "seam/seam.h"

#define COMPONENT borrow
#define COMPONENT_DEF "seam/borrow.def"
#define COMPONENT_HELP "results taken from another warp, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct borrow {
    MECHANISM_STATE(borrow);
    struct kept {
        u32 inst;   /* valid below `used` */
        u16 leader; /* its record; NO_INFLIGHT: the value is there */
        u32 rows[2 * MAX_LANES];
    } entries[CORE_BLOCKS][8];
    u32 used[CORE_BLOCKS];
};

static void block(void *state, struct core *core, u32 place, bool started)
{
    ((struct borrow *)state)->used[place] = 0;
}

static bool is_marked(const struct inst *code)
{
    if (code->op == OP_sreg)
        return code->imm >= SPECIAL_ntid_x && code->imm <= SPECIAL_nctaid_z;
    return code->op == OP_mov_b32 && code->src[0].kind == OPERAND_CONST;
}

static struct kept *find(struct borrow *b, u32 place, u32 inst)
{
    for (u32 i = 0; i < b->used[place]; i++)
        if (b->entries[place][i].inst == inst)
            return &b->entries[place][i];
    return NULL;
}

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct borrow *b = state;
    const struct dyninst *f = &inflight->dyn;
    const u32 place = core_slot(core, inflight->slot)->block;
    if (!inflight->injected && !f->homes && !f->code->guard.kind && seam_full(f->warp) &&
        b->used[place] < 8 && is_marked(f->code) && !find(b, place, f->inst))
        b->entries[place][b->used[place]++] =
            (struct kept){.inst = f->inst, .leader = (u16)inflight_index(core, inflight)};
}

static enum write_back_answer write_back(void *state, struct core *core, struct inflight *inflight)
{
    struct borrow *b = state;
    const struct dyninst *f = &inflight->dyn;
    struct kept *e = find(b, core_slot(core, inflight->slot)->block, f->inst);
    if (e && e->leader == inflight_index(core, inflight)) {
        memcpy(e->rows, f->dst[0],
               f->dst_rows[0] * core_exec(core)->image->warp_size * sizeof(u32));
        e->leader = NO_INFLIGHT;
        b->stats->led++;
    }
    return WRITE_BACK_COMMIT;
}

static enum fetch_answer fetch(void *state, struct core *core, u32 s, u32 *inst)
{
    const struct kept *e = find(state, core_slot(core, s)->block, *inst);
    return !e ? FETCH_SERVE : e->leader == NO_INFLIGHT ? FETCH_SKIP : FETCH_HOLD;
}

static enum skip_answer skip(void *state, struct core *core, u32 s, u32 inst)
{
    struct warp *warp = core_slot(core, s)->warp;
    const struct operand to = warp->view->insts[inst].dst[0];
    const struct kept *e = find(state, core_slot(core, s)->block, inst);
    const u32 lanes = core_exec(core)->image->warp_size;
    for (lane_set set = warp->active; set; set &= set - 1)
        for (u32 r = 0, lane = first_lane(set); r < to.count; r++)
            *register_word(warp, to.index + r, lane) = e->rows[r * lanes + lane];
    ((struct borrow *)state)->stats->skipped++;
    return SKIP_DONE;
}

const struct mechanism borrow_mechanism = {
    MECHANISM_NAMED(borrow, "results that are the same in a block are computed once"),
    .state_size = sizeof(struct borrow),
    .forgets = true,
    .block = block,
    .fetch = fetch,
    .skipped = skip,
    .issued = issued,
    .write_back = write_back,
};
