/*
 * Bit flips in the state of warps and of dynamic instructions, for the visitors of the state
 * registry (base/state_walk.h). Nothing here is called in a launch without flips.
 */
#ifndef EXEC_LIVE_H
#define EXEC_LIVE_H

#include "exec/dyninst.h"

/* The instruction at a device address, if it belongs to the kernel or to a function that the kernel
 * may call; NO_INST: there is none. Deviation: a warp whose PC is at another kernel's code gets a
 * fault, although hardware would run that code. */
u32 live_inst_at(const struct exec *exec, u64 address);
/* The launch stops: a warp's PC is at an address without an instruction. */
void live_wild(struct warp *warp, u64 address);

/* The launch stops: a warp has got words at an address that are no instruction. */
void live_illegal(struct warp *warp, u64 address, const u32 words[2], const char *why);

/* Whether the warp has this node of its path tree (in use, inner or leaf). */
bool live_has_path(const struct warp *warp, u32 node);
/* Flips lanes of a node. A leaf without lanes is removed. Lanes that are in no node any more count
 * as exited. */
void live_flip_lanes(struct warp *warp, u32 node, lane_set lanes);
/* A leaf continues at another instruction: at once, or when it has waited. */
void live_move(struct warp *warp, u32 node, u32 inst);
/* A warp that waits at a barrier continues without the others, or a warp that runs waits. */
void live_flip_waiting(struct warp *warp);
/* Whether its current or only path waits at a block barrier. */
bool live_waits(const struct warp *warp);

/* Operands of a dynamic instruction in a record have changed, before it has been committed or, for
 * an access, performed: computes its results, or its addresses, again. False: they were used up at
 * issue (F3 of dyninst.h). */
bool live_redo(struct dyninst *f);
/* Vector registers among the operands of the record, in order; NULL: there are not that many. */
u32 *live_operand(const struct dyninst *f, u32 row);
/* The number of such a register. */
u32 live_operand_register(const struct dyninst *f, u32 row);
/* Changes the address of a lane of an access that has not been performed. False: it is not computed
 * from a register of the lane. */
bool live_readdress(struct dyninst *f, u32 lane, u64 address);

#endif
