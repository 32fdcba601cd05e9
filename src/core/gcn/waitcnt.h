/*
 * Wait counters: what orders memory instead of the scoreboard (issue.memory_order), in code that
 * has waits of its own.
 */
#ifndef CORE_GCN_WAITCNT_H
#define CORE_GCN_WAITCNT_H

#include "core/stages.h"

/* What the scoreboard does not cover of an instruction. */
void waitcnt_time(struct inst_time *time, const struct inst *inst);
/* A launch begins: whether its code is ordered by them. */
void waitcnt_begin(struct core *core);
void waitcnt_issue(struct core *core, struct inflight *inflight);
/* A mechanism has skipped an access: it is done when those before it are. */
void waitcnt_skip(struct core *core, u32 slot, const struct inst_time *time);
/* Of the head of a slot: a wait, or an access. */
enum stall waitcnt_check(const struct core *core, u32 slot, const struct inst_time *time);
/* What a store needs has been read. */
void waitcnt_read(struct core *core, const struct inflight *inflight);
/* Its results are written. */
void waitcnt_settle(struct core *core, struct inflight *inflight);
/* Calls `retire` for it when it is its turn, and for those that waited for it. */
void waitcnt_retire(struct core *core, struct inflight *inflight,
                    void (*retire)(struct core *core, struct inflight *inflight));

#endif
