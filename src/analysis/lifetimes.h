/*
 * How long values live in vector registers: for each definition, the longest path from it to its
 * last read, in instructions.
 *
 * The lifetime of a value counts the instructions that a thread executes from the one after the
 * write up to and including the last read: 1 if only the next instruction reads it, 0 if none does.
 * In code with explicit EXEC these are the instructions of the warp. Instructions of the other side
 * of a divergent branch, which a thread waits for, do not count.
 *
 *  L1  A lifetime is never too short: no execution reads a value later than its definition's
 *      lifetime says. It may be too long: a longest path may never be taken, and the old value of a
 *      guarded write counts as read.
 *  L2  A value that is live along an edge that leads back in the flow graph (it is carried around a
 *      loop), across a call, or where the code goes on is not known (a jump to an address) has the
 *      lifetime LIFE_UNBOUNDED.
 *  L3  With explicit EXEC, a definition writes the active lanes, and the value in inactive lanes
 *      stays: liveness is tracked for both sets of lanes (lane_liveness.h).
 *  L4  A function may read what its caller wrote, and the other way round: registers that are live
 *      at the entry of any function count as read, without bound, at calls; those that are live
 *      after a call count as read at the return of functions.
 *
 * A value is short-lived if its lifetime is at most a limit. A register is short-lived if all
 * values in it are, including the one that a warp starts with.
 */
#ifndef ANALYSIS_LIFETIMES_H
#define ANALYSIS_LIFETIMES_H

#include "analysis/lane_liveness.h"

enum {
    LIFE_UNBOUNDED = UINT16_MAX,
    LIFE_LIMIT = 10, /* instructions: Tan, dissertation, 2016, section 4.2.1 */
    LIFE_CLASSES = 7 /* of observed lifetimes */
};

/* The longest lifetime of each class of observed lifetimes, in instructions. */
static const u32 life_longest[LIFE_CLASSES] = {1, 2, 5, 10, 20, 50, UINT32_MAX};

static inline u32 life_class(u32 life)
{
    u32 i = 0;
    while (life > life_longest[i])
        i++;
    return i;
}

struct lifetimes {
    u16 (*life)[2]; /* by instruction and destination operand: of its value, the longest of all its
                     * words; 0: never read, or not a vector register */
    u16 *entry;     /* by vector register: of the value at the entry; 0: none is read */
    u16 *longest;   /* by vector register: of all values in it, including that at the entry */
    u32 registers;
};

/* What functions read of each other (L4), by vector register. The registers that are live after a
 * call of this function, and at its entry, are added to `after` and `before`. */
struct life_bounds {
    bool called;   /* it is not a kernel: it returns to code that reads `after` */
    u8 *before;    /* live at the entry of a function */
    u8 *after;     /* live after a call */
    u32 registers; /* of both arrays */
    bool more;     /* something was added */
};

/* `lanes`: the liveness of code with explicit EXEC, else NULL. */
struct lifetimes *lifetimes_compute(struct arena *arena, const struct code *code,
                                    const struct cfg *cfg, const struct lane_liveness *lanes,
                                    struct life_bounds *bounds);

/* Lifetimes of a function of a finished program; all indices are relative to it. */
struct lifetimes *lifetimes_of(struct arena *arena, const struct program *program,
                               const struct function *function);

/* Adds a function to what is known of a program's registers: `longest` has, for each of `count`
 * registers, the lifetime of its longest-lived value plus 1; 0: no function uses it. */
void lifetimes_longest(const struct lifetimes *lifetimes, const struct code *code, u32 *longest,
                       u32 count);

/* Definitions of vector registers, by kind. */
struct life_counts {
    u32 definitions, unread, short_lived, unbounded; /* `unread` are among the short-lived */
    u32 mixed;                                       /* short-lived ones in long-lived registers */
    u32 registers, short_registers; /* those that are used; and hold short-lived values only */
};
struct life_counts lifetimes_count(const struct lifetimes *lifetimes, const struct code *code,
                                   u32 limit);

/* program_listing() with the lifetime of each instruction's results (listing.c). */
char *lifetimes_listing(const struct program *program, const char *kernel, u32 limit);

/* Whether a destination of an instruction shares a register with a longer-lived value. */
bool lifetimes_is_mixed(const struct lifetimes *lifetimes, const struct code *code, u32 inst,
                        u32 destination, u32 limit);

#endif
