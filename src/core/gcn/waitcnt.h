/*
 * Wait counters, which order memory results instead of the scoreboard (issue.memory_order) in code
 * with explicit waits.
 */
#ifndef CORE_GCN_WAITCNT_H
#define CORE_GCN_WAITCNT_H

#include "core/stages.h"

/* Removes from an instruction's scoreboard reservations what wait counters cover. */
void waitcnt_time(struct inst_time *time, const struct inst *inst);
/* At the start of a launch: sets whether wait counters order its code. */
void waitcnt_begin(struct core *core);
void waitcnt_issue(struct core *core, struct inflight *inflight);
/* A mechanism has skipped an access: it counts as done when the accesses before it are. */
void waitcnt_skip(struct core *core, u32 slot, const struct inst_time *time);
/* Whether a slot's head, a wait or an access, may issue. */
enum stall waitcnt_check(const struct core *core, u32 slot, const struct inst_time *time);
/* A store has read its data. */
void waitcnt_read(struct core *core, const struct inflight *inflight);
/* The results of an instruction have been written. */
void waitcnt_settle(struct core *core, struct inflight *inflight);
/* Calls `retire` for the instruction when it is next in order, and then for those that waited for
 * it. */
void waitcnt_retire(struct core *core, struct inflight *inflight,
                    void (*retire)(struct core *core, struct inflight *inflight));

#endif
