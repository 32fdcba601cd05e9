/*
 * The parts of the mechanism `timing_speculation`. timing_speculation.c has its seams and recovery,
 * timing_speculation_delay.c when bits arrive, timing_speculation_cost.c what the hardware costs.
 */
#ifndef MECH_TIMING_SPECULATION_H
#define MECH_TIMING_SPECULATION_H

#include "core/mechanism.h"

#define COMPONENT timing_speculation
#define COMPONENT_DEF "mech/timing_speculation.def"
#include "base/component_struct.h"

enum spec_module {
    SPEC_FETCH,
    SPEC_DECODE,
    SPEC_ISSUE,
    SPEC_SALU,
    SPEC_SIMD,
    SPEC_SIMF,
    SPEC_LSU,
    SPEC_MODULES,
    /* paths of simple operations in units */
    SPEC_SIMPLE = SPEC_MODULES, /* + module - SPEC_SALU */
    SPEC_PATHS = SPEC_SIMPLE + 3
};

enum {
    SPEC_COUNT = 0, /* parameter errors */
    SPEC_ACT,
    SPEC_BITS = 2 * 64 * 32, /* most bits that change in an activity */
    SPEC_RING = 4096,        /* cycles whose violations are known before or after the current one */
    SPEC_BEFORE = 64,        /* of these, before it */
};

/* When bits arrive (timing_speculation_delay.c). */
struct spec_delays {
    f64 slowness; /* delays relative to those at the nominal voltage */
    /* By path and the number of bits that change: the 64-bit random numbers up to which the latest of
     * them is late. */
    u64 late[SPEC_PATHS][SPEC_BITS + 1];
};

struct timing_speculation {
    MECHANISM_STATE(timing_speculation);
    struct spec_delays *delays;
    /* What was there before, as in the flip-flops that a late bit does not reach. */
    struct {
        u32 pc, slot;
        u64 word, registers;
        u64 address;
        u32 results[SPEC_MODULES][2 * MAX_LANES];
    } old;
    /* Violated cycles from `ring_at` on, one bit for each. */
    u64 ring_at;
    u64 ring[SPEC_RING / 64];
    u32 regions[CORE_WARPS]; /* by slot: how often its warps were restarted, */
    u32 tries[CORE_WARPS];   /* and how often without having passed another cut */
    u64 restarted;           /* slots whose warps have been restarted and not passed a cut since */
    u32 damaged[CORE_INFLIGHT]; /* by record: the same, plus one, when it had a late bit */
};

static inline bool spec_recovers(const struct timing_speculation_params *p)
{
    return p->errors == SPEC_ACT && p->recovery;
}

/* Whether the latest of `bits` bits that change is late, in an activity of a module in a cycle; counts
 * it. */
bool spec_is_late(struct timing_speculation *t, enum spec_module module, u32 path, u32 bits,
                  u64 cycle);
void spec_delays_make(struct spec_delays *delays, const struct timing_speculation_params *p);
/* The factor by which delays grow with another voltage than the nominal one. */
f64 spec_slowness(const struct timing_speculation_params *p);
/* Violations of earlier cycles are forgotten. */
void spec_advance(struct timing_speculation *t, u64 cycle);

/* timing_speculation_cost.c */
void spec_storage(const void *params, struct state_list *list);
extern const struct energy_event spec_events[];
extern const struct energy_supply spec_supplies[];

#endif
