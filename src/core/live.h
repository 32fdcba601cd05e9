/*
 * Live state of a core: what flipped bits do to its warps and to instructions in flight. The
 * visitors of the state registry are in the pipelines (common/live_*.c, miaow/live.c); here is what
 * they share.
 *
 * In launches with timing.live_state, an instruction keeps copies of its operands in its record. Its
 * results are computed from them at issue, as always; a flipped operand that has not been used yet
 * computes them again (exec/live.h). This is the same as computing them late, because lane functions
 * depend on nothing else, and takes no time in a launch without flips.
 *
 * Invariants
 *  LV1  All functions here are called between two cycles of the core.
 *  LV2  After a flip no scheduler sleeps and the core is not quiet: whatever has changed is looked
 *       at in the next cycle.
 *  LV3  Without flips, times and results are those of a launch without live state.
 *
 * Deviation: an instruction has read its registers when it issues. A register that is flipped
 * between issue and the read of its bank, a few cycles later, is not seen by the instruction.
 */
#ifndef CORE_LIVE_H
#define CORE_LIVE_H

#include "base/state_walk.h"
#include "core/stages.h"
#include "exec/live.h"

/* A PC at which there is no instruction: a warp that gets there has a fault. */
#define WILD_INST (NO_INST - 1)

struct live_core *live_create_core(struct arena *arena);

/* What canonical hashes need to know (core->live is set): a warp has started in a slot; an instruction
 * has issued, accesses memory, or is about to be committed. */
void live_started(struct core *core, u32 slot);
void live_issued_whole(struct core *core, const struct inflight *inflight);
static inline void live_issued(struct core *core, const struct inflight *inflight)
{
    if (UNLIKELY(inflight->dyn.plan->kind == PLAN_WHOLE || inflight->time->flags & TIME_END))
        live_issued_whole(core, inflight);
}
void live_accesses(struct core *core, const struct inflight *inflight);
void live_written(struct core *core, const struct inflight *inflight);

/* Whether a request of the load/store unit, by its number, is under way on the memory side; and it is
 * sent, or answered. */
bool live_is_sent(const struct core *core, u32 tag);
void live_flip_sent(struct core *core, u32 tag);
/* The memory side performs an atomic at another line: its lanes' addresses change. */
void live_redirect_atomic(struct core *core, struct dyninst *f, const struct packet *packet);
/* A launch begins. */
void live_begin(struct core *core);

/* The core's state has changed from outside (LV2). */
void live_disturb(struct core *core);
/* The warp of a slot has been moved, stopped or changed from outside: updates the slot. */
void live_resettle(struct core *core, u32 slot);

/* The barrier of a block that is in use, or its first one, has counted a warp more, or less. */
void live_miscount(struct core *core, u32 place, i32 by);

/* The slot of a warp with this frame of the register file, or CORE_WARPS. */
u32 live_slot_of_frame(const struct core *core, u32 frame);
/* The device address of a slot's next instruction, and back. */
u64 live_address(const struct core *core, u32 inst);
/* The instruction at an address; WILD_INST: none. */
u32 live_inst(const struct core *core, u64 address);

/* ---- changed instruction words ---- */

/*
 * A word in a buffer, queue or decoder that differs from the code is decoded anew. The instruction
 * takes one of the core's spare ones (program_reserve) until nothing of it is in flight. Words that
 * are no instruction, or one that the machine does not execute, are a fault of the guest.
 *
 * Deviations: a vector register beyond those of the kernel reads as v0 and is not written, as in the
 * manuals of later generations; in MIAOW it would be a register of another wavefront. A branch into
 * the middle of an instruction is a fault.
 */
enum {
    CHANGED_PAIRS = 16 /* of spare instructions of a core: more than a warp can have in flight */
};
/* Whether the program's instructions have words. */
bool live_has_words(const struct core *core);
/* The words of an instruction, and how many bytes they are; a second word that it lacks is 0. */
u32 live_words(const struct core *core, u32 inst, u32 words[2]);
/* The word of the code at a byte offset; 0 outside. */
u32 live_word_at(const struct core *core, u64 offset);
/* Bytes of an instruction that begins with this word; 0: there is none. */
u32 live_word_bytes(const struct core *core, u32 word);
/* The instruction with these words at a byte offset: of the code, or a spare one. NO_INST: the launch
 * has stopped. */
u32 live_decode(struct core *core, u32 slot, const u32 words[2], u64 offset);
/* Whether it is a spare one, or the place behind it. */
bool live_is_changed(const struct core *core, u32 inst);

/* An instruction has issued, and the warp's buffer goes on with another one than the warp's path,
 * because a bit of the buffer or of the fetch PC was flipped: the warp follows the buffer. False:
 * the instruction was a branch that was taken, so the buffer is discarded. */
bool live_follow(struct core *core, u32 slot, u32 inst, u32 expected);
/* The result of an instruction goes to a register of another slot, or to another register. */
void live_send_astray(struct inflight *inflight, u32 slot, u32 reg);
/* Retires such an instruction. Its own registers stay pending. */
void live_retire(struct core *core, struct inflight *inflight,
                 void (*retire)(struct core *core, struct inflight *inflight));

/* ---- parts of entries that several rows have ---- */

/* The result of a lane: a word of 32 or 64 bits and whether the lane is written. f NULL: none. */
void live_walk_result(struct state_walk *walk, struct dyninst *f, u32 lane, u32 word_bits);
/* The slot and the register that a result goes to; inflight NULL: none. */
void live_walk_target(struct state_walk *walk, struct inflight *inflight, u32 slot_bits,
                      u32 register_bits);

/* ---- visitors that all pipelines have: entries are 32-bit words ---- */

state_visit_fn live_visit_registers, live_visit_scalars, live_visit_shared;
/* The same for canonical hashes. Scalars include EXEC, VCC, M0, SCC and MODE. */
state_hash_fn live_hash_registers, live_hash_scalars, live_hash_shared;
/* Of rows with the same number of entries for each slot: those of slots with a warp, by the visitor. */
state_hash_fn live_hash_slots;
/* Active lanes: EXEC, or the mask of the running path. */
state_visit_fn live_visit_mask;

#endif
