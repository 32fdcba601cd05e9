/*
 * What a core does for mechanisms: holding warps back, issuing instructions of a mechanism's own,
 * sending packets.
 */
#ifndef CORE_SERVICES_H
#define CORE_SERVICES_H

#include "core/stages.h"

/* hold.c, for mechanisms. Held slots neither issue nor fetch until they are released; meanwhile
 * they cost nothing. A slot that has issued may be held from `control` on. */
void core_hold(struct core *core, u64 slots);
void core_release(struct core *core, u64 slots);
/* The same for fetching only. */
void core_hold_fetch(struct core *core, u64 slots);
void core_release_fetch(struct core *core, u64 slots);
/* An instruction in a slot's buffer, at this place, is not wanted: the mark of a skipped one takes
 * its place, for which `skip` is called. */
void core_mark(struct core *core, u32 slot, u32 at);
/* For mechanisms. Puts a dynamic instruction that was issued by other means on its way; the
 * inflight's flight is filled. There must be room (core_room). */
void core_issue_dyninst(struct core *core, struct inflight *inflight, u32 slot);
/* The same for a inflight of a mechanism's own (injected) that goes another way than the
 * instruction it is numbered as; there must be room in that pipe (collect_room). */
void core_issue_own(struct core *core, struct inflight *inflight, u32 slot,
                    const struct inst_time *time);
/* copy.c. A move of a register, as the warp's view has it, to its own row. */
struct core_copy {
    struct inst inst;
    struct inst_time time;
};
void core_copy_make(struct core_copy *copy, u32 reg, const struct core_config *config);
/* A inflight for it, numbered as `inst`; NULL: there is no room. Then it is issued, and the
 * register is pending until the mechanism, which sees it retire, has said so. */
struct inflight *core_copy_take(struct core *core, u32 slot, u32 inst,
                                const struct core_copy *copy);
void core_copy_issue(struct core *core, struct inflight *inflight, u32 slot,
                     const struct core_copy *copy);
void core_copy_retired(struct core *core, const struct inflight *inflight);
/* Counts it as an instruction of the slot's warp. */
void core_count_issue(struct core *core, const struct dyninst *dyn, u32 slot);
/* The slot's warp has gone on from the head of its buffer. */
void core_step(struct core *core, u32 slot, u32 inst);
/* A packet of a mechanism's own to the L2 slice of an address; what it and its answer carry counts
 * in flits. False: there is no room. (requests.c) */
bool core_send_note(struct core *core, u64 address, u64 payload, u16 bits);
/* All of it for a group whose flight was filled by dyninst_issue_homes: the slot's warp goes on. */
void core_issue_group(struct core *core, struct inflight *inflight, u32 slot);
/* Slots of a scheduler that may issue. */
u64 core_ready(const struct core *core, u32 scheduler);

#endif
