/* Random Southern Islands words that are instructions, one row of the table at a time. */
#ifndef TESTS_ISA_SI_GENERATE_H
#define TESTS_ISA_SI_GENERATE_H

#include "isa/si/si.h"

/* A small generator of its own, so that a seed gives the same words everywhere. */
static inline u32 random_u32(u64 *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (u32)(*state >> 33 ^ *state >> 20);
}

/* The bits of the first word that make it this instruction in `format`, and what they are. */
void fixed_bits(const struct si_op *op, enum si_format format, u32 *mask, u32 *value);

/* Whether the row has a VOP3 form besides its own. */
static inline bool has_long_form(const struct si_op *op)
{
    return op->format >= SI_VOP2 && op->format <= SI_VOPC && !(op->flags & SI_NO_LONG);
}

/*
 * Words of the row in `format` (its own, or VOP3) with random operands and modifiers, decoded into
 * `inst`. Unused bits are 0 unless `stray` is set. False if many tries gave nothing that decodes.
 */
bool generate(const struct si_op *op, enum si_format format, bool stray, u64 *random,
              struct si_inst *inst);

#endif
