/*
 * Turns of a block by dynamic instructions, in place of the interpreter's: `block_turn` and
 * `account_finish` are wrapped by the linker.
 */
#ifndef DYNINST_TURN_H
#define DYNINST_TURN_H

#include "exec/dyninst.h"

enum turn_mode {
    TURN_FUNCTIONAL, /* the interpreter */
    TURN_AT_ONCE,    /* each instruction is done before the next one issues */
    TURN_DELAYED,    /* up to TURN_DEPTH are on their way, until something depends on them */
    TURN_MIXED,      /* the same, warps take turns at random, and stores are seen late */
};
enum {
    TURN_DEPTH = 6
};

struct turns {
    enum turn_mode mode;
    u32 random; /* generator state */
    u64 issued; /* instructions, to see that there were some */
};
extern struct turns turns;

#endif
