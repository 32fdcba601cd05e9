/* What the disassembler's files share. */
#ifndef ISA_SI_DISASM_H
#define ISA_SI_DISASM_H

#include "isa/si/si.h"

/* Bits of s_waitcnt that vmcnt, expcnt and lgkmcnt name. */
#define SI_WAIT_BITS 0xf7fu

/* Why the assembler cannot give these words back from text, or NULL if it can. */
const char *si_unsayable(const struct si_inst *inst);

/* Whether the assembler would take an inline constant for the literal, were it a plain number. The
 * sum with 0 as the difference of two places is known to it only later, hence stays a literal;
 * operands of 64 bits do not take such sums. Linkers make such literals: upper halves of offsets.
 */
bool si_literal_is_forced(const struct si_inst *inst);

/* Address registers of an image instruction as text shows them: how many are read depends on the
 * resource, not on the instruction; four is what every one of them may have. */
u32 si_image_address_words(const struct si_inst *inst);

#endif
