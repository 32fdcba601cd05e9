/*
 * Needed bits: given the bits of its results that are needed, which bits of its sources an operation
 * needs.
 *
 * Invariants
 *  N1  Sound: if all needed bits of all sources are right, all needed bits of the results are right,
 *      whatever the other bits of all sources are. So the analysis also holds for an error that has
 *      spread to several bits and several registers. Where either of two sources masks a bit (0 and 0
 *      under AND), one of them is needed; a rule that asks for each source alone would need neither,
 *      and miss an error that reached both.
 *  N2  Rules that look at values look only at sources that they need themselves.
 */
#ifndef AVF_NEEDS_H
#define AVF_NEEDS_H

#include "ir/inst.h"

enum need_rule {
    NEED_ALL, /* all bits of all sources, if any bit of a result is needed */
    NEED_SOURCES_16,
    NEED_MOVE,
    NEED_PACK_HALVES,
    NEED_UNPACK_HALVES,
    NEED_PACK_WORDS,
    NEED_UNPACK_WORDS,
    NEED_SELECT,
    NEED_CONVERT,
    NEED_BITWISE, /* the same bits of all sources */
    NEED_AND,
    NEED_OR,
    NEED_SHIFT_LEFT,
    NEED_SHIFT_RIGHT,
    NEED_SHIFT_SIGNED,
    NEED_SHIFT_LEFT_WRAP,
    NEED_SHIFT_RIGHT_WRAP,
    NEED_SHIFT_SIGNED_WRAP,
    NEED_CARRY,
    NEED_MULTIPLY,
    NEED_MULTIPLY_WIDE,
    NEED_CHOOSE, /* minimum, maximum */
    NEED_COMPARE,
};

struct need_row {
    u8 rule, width;
};
/* By operation. */
extern const struct need_row need_rows[OP_COUNT];

/* The rule of an instruction: that of its operation, unless its modifiers change the result. */
struct need_row need_row_of(const struct inst *inst);
/* Sources whose values the rule looks at, bits; constants need not be kept. */
u32 need_values(const struct inst *inst, struct need_row row);

/* One lane of an instruction. */
struct lane_need {
    u64 result[2]; /* needed bits; of a mask: not 0 if its bit is */
    u64 value[3];  /* of the sources that need_values names, and of constants */
    u64 source[3]; /* out: needed bits */
};
void need_sources(const struct inst *inst, struct need_row row, struct lane_need *lane);

#endif
