/*
 * Test mechanism: spoils what the mechanism `uniform` keeps, whenever a uniform register has been
 * written. In lanes that do not count no program may notice it; anywhere else it must.
 */
#include "scribble.h"
#include "mech/uniform.h"

#define COMPONENT scribble
#define COMPONENT_DEF "scribble.def"
#define COMPONENT_HELP "writes into uniform registers, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    OTHERS,
    LANE,
    SRF,
    IRB,
    NONE
};
#define PATTERN 0xdeadbeefu

struct scribble {
    MECHANISM_STATE(scribble);
};

static struct uniform_core *uniform_of(const struct core *core)
{
    for (u32 i = 0; i < core->hooks.count; i++)
        if (!strcmp(core->hooks.uses[i].mechanism->name, "uniform"))
            return core->hooks.uses[i].state;
    abort();
}

static void spoil(struct scribble *s, struct uniform_core *u, const struct warp *warp, u32 slot,
                  u32 reg)
{
    u32 *row = register_row(warp, reg), stale = 0;
    const u32 lanes = warp->exec->image->warp_size;
    s->stats->scribbles++;
    switch (s->params->where) {
    case OTHERS:
        for (u32 lane = 0; lane < lanes; lane++) {
            const bool counts = u->params->design == DESIGN_TOKEN || u->params->protect;
            if (counts && (lane == u->lane || (u->params->protect && lane == u->second)))
                continue;
            stale += row[lane] == PATTERN;
            row[lane] = PATTERN;
        }
        s->stats->stale += stale > 0;
        return;
    case LANE:
        row[u->lane] ^= 4;
        return;
    case SRF:
        u->srf[u->slots[slot].entry[reg]] ^= 4;
        return;
    default:
        return;
    }
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct scribble *s = state;
    struct uniform_core *u = uniform_of(core);
    const struct dyninst *f = &inflight->dyn;
    const struct register_view *view = f->warp->registers;
    if (s->params->where == IRB) {
        for (u32 i = 0; i < u->irb.count; i++)
            if (u->irb.entries[i].key.code == f->code && f->dst_rows[0]) {
                u->irb.entries[i].result ^= 4;
                s->stats->scribbles++;
            }
        return;
    }
    if (!view || s->params->where == NONE || inflight->injected ||
        core_slot(core, inflight->slot)->ended || f->kind > DYNINST_ACCESS)
        return;
    for (u32 k = 0; k < 2; k++)
        for (u32 j = 0; f->dst[k] && j < f->dst_rows[k]; j++)
            if (register_elsewhere(view, f->to[k] + j))
                spoil(s, u, f->warp, inflight->slot, f->to[k] + j);
}

static enum write_back_answer write_back(void *state, struct core *core, struct inflight *inflight)
{
    struct scribble *s = state;
    if (s->params->where != NONE || inflight->injected || inflight->dyn.code->op != OP_add_b32)
        return WRITE_BACK_COMMIT;
    s->stats->scribbles++;
    return WRITE_BACK_DROP;
}

const struct mechanism scribble_mechanism = {
    MECHANISM_NAMED(scribble, "writes into uniform registers"),
    .state_size = sizeof(struct scribble),
    .write_back = write_back,
    .retired = retired,
};
