/* What the disassembler's files share. */
#ifndef ISA_SI_DISASM_H
#define ISA_SI_DISASM_H

#include "isa/si/si.h"

/* Bits of s_waitcnt that vmcnt, expcnt and lgkmcnt name. */
#define SI_WAIT_BITS 0xf7fu

/* Why the assembler cannot reproduce these words from text, or NULL if it can. */
const char *si_unsayable(const struct si_inst *inst);

/* Whether the assembler would replace the literal, written as a plain number, by an inline
 * constant. It is then written as a sum with (.-.), a zero that the assembler knows only later, so
 * that it stays a literal; 64-bit operands do not accept such sums. Linkers create such literals:
 * upper halves of offsets. */
bool si_literal_is_forced(const struct si_inst *inst);

/* Address registers that the text of an image instruction shows: the number read depends on the
 * resource, not on the instruction; every instruction may have four. */
u32 si_image_address_words(const struct si_inst *inst);

#endif
