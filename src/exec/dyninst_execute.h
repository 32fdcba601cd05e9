/*
 * dyninst_execute, which issuers have compiled in: it is called for each instruction of launches
 * without mechanisms.
 */
#ifndef EXEC_DYNINST_EXECUTE_H
#define EXEC_DYNINST_EXECUTE_H

#include "exec/dyninst.h"

/* dyninst.c: all but lane functions of one chunk; lanes of a guard, or none. */
void dyninst_execute_rest(struct dyninst *f);
void dyninst_execute_some(struct dyninst *f, struct chunk *chunk);

PART_OF void dyninst_begin(struct dyninst *f, struct warp *warp, u32 inst)
{
    const struct view *view = warp->view;
    f->warp = warp;
    f->homes = NULL;
    f->code = &view->insts[inst];
    f->step = &view->steps[inst];
    f->plan = &view->plans[inst];
    f->inst = inst;
    f->kind = DYNINST_COMPUTE;
    f->work = 0; /* WORK_NONE of dyninst_parts.h */
    f->faulted = f->committed = false;
    f->active = warp->active;
    f->lanes = step_is_guarded(f->step) ? warp_guard(warp, f->step) : f->active;
    f->writes = f->lanes;
}

/* dyninst_start for issuers that meet the conditions of F7. */
PART_OF void dyninst_execute(struct dyninst *f, struct warp *warp, u32 inst)
{
    dyninst_begin(f, warp, inst);
    warp->instructions++;
    if (f->plan->kind != PLAN_LANES || f->plan->two) {
        dyninst_execute_rest(f);
        return;
    }
    warp_path(warp)->pc = inst + 1;
    f->committed = true;
    struct chunk *const chunk = &warp->chunks[0];
    chunk->lanes.inst = f->code;
    if (UNLIKELY(f->lanes != chunk->active)) {
        dyninst_execute_some(f, chunk);
        return;
    }
    chunk_place(chunk, f->step);
    f->step->fn(&chunk->lanes);
}

#endif
