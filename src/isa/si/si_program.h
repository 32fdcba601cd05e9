/*
 * Southern Islands code objects and raw code as programs.
 *
 * Lowering is one to one: each machine instruction is one ir instruction with the same text, at the
 * same offset. Both take hostile input.
 *
 * Decisions
 *  - Code is decoded in address order from the start of each function. Words that are not an
 *    instruction are an error with their address, except after the last instruction of a function
 *    if only padding follows (0, s_nop 0, s_code_end).
 *  - A branch to anything but an instruction of the same function is an error with its address.
 *    Targets of indirect jumps are checked at run time.
 *  - Code that runs off the end of its function reaches a trap with the number SI_RAN_OFF.
 *  - Registers beyond those the descriptor allocates are a warning; the function gets them.
 *  - Instructions that are decoded but not executed are listed in program->unsupported.
 */
#ifndef ISA_SI_SI_PROGRAM_H
#define ISA_SI_SI_PROGRAM_H

#include "ir/program.h"
#include "isa/si/params.h"

/* imm of the trap after a function that does not end in a branch or an end. */
#define SI_RAN_OFF (-1)

/* MODE of raw code: f32 subnormals flushed, f64 kept, DX10_CLAMP. */
#define SI_RAW_MODE 0x1c0

/* A code object: an ELF file for amdgcn. */
struct program *si_program_load(const void *bytes, size_t size, const char *file,
                                const struct si_params *params, struct error *error);

/*
 * Instruction words alone: one kernel, "raw", that spans them all and may be entered anywhere; it
 * has all registers of the machine. Loads beyond the shared memory give 0, stores there are
 * dropped.
 */
struct program *si_program_raw(const void *code, size_t bytes, const char *file,
                               struct error *error);

#endif
