/*
 * Cycles per instruction by class, as Balasubramanian et al. (2015) give them for MIAOW. An
 * observer: results and timing do not change.
 *
 * A class is busy in a cycle in which at least one of its instructions has issued and is not
 * written back. Busy cycles divided by instructions is the latency of one instruction if
 * instructions never overlap, and less if they do; it is at least one if one instruction issues per
 * cycle.
 *
 * Seams: issued, retired.
 *
 * Invariants
 *  C1  `under_way` of a class is the number of its instructions that have issued and not retired.
 */
#include "core/mechanism.h"

#define COMPONENT class_cycles
#define COMPONENT_DEF "mech/class_cycles.def"
#define COMPONENT_HELP "cycles per instruction by class"
#include "base/component_struct.h"
#include "base/component_table.h"

enum class {
    CLASS_SCALAR,
    CLASS_VECTOR,
    CLASS_MEMORY,
    CLASSES
};

struct class_cycles {
    MECHANISM_STATE(class_cycles);
    struct {
        u32 under_way; /* instructions in flight (C1) */
        u64 since;     /* cycle in which the class became busy */
    } classes[CLASSES];
};

static enum class class_of(const struct inflight *inflight) {
    return inflight->pipe == PIPE_MEMORY   ? CLASS_MEMORY
           : inflight->pipe == PIPE_SCALAR ? CLASS_SCALAR
                                           : CLASS_VECTOR;
}

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct class_cycles *c = state;
    const enum class class = class_of(inflight);
    u64 *const instructions[] = {&c->stats->scalar_instructions, &c->stats->vector_instructions,
                                 &c->stats->memory_instructions};
    (*instructions[class])++;
    if (!c->classes[class].under_way++)
        c->classes[class].since = core_cycle(core);
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct class_cycles *c = state;
    const enum class class = class_of(inflight);
    u64 *const cycles[] = {&c->stats->scalar_cycles, &c->stats->vector_cycles,
                           &c->stats->memory_cycles};
    assert(c->classes[class].under_way); /* C1 */
    if (!--c->classes[class].under_way)
        *cycles[class] += core_cycle(core) - c->classes[class].since;
}

static const char *const deviations[] = {
    "The paper gives numbers and bounds, but does not define the ratio. With the definition used "
    "here, scalar instructions, which never overlap, take the three cycles of their unit; vector "
    "instructions take fewer cycles the more warps there are; and all classes together may take "
    "fewer than any single one, as in its table.",
    "Instructions that the issue stage handles itself (waits, barriers, ends; on machines with the "
    "common pipeline also branches) belong to no class.",
    NULL,
};

const struct mechanism class_cycles_mechanism = {
    MECHANISM_NAMED(class_cycles, "counts cycles per scalar, vector and memory instruction"),
    .source = "R. Balasubramanian et al., \"Enabling GPGPU low-level hardware explorations with "
              "MIAOW: an open-source RTL implementation of a GPGPU\", ACM TACO 12(2), 2015",
    .deviations = deviations,
    .state_size = sizeof(struct class_cycles),
    .forgets = true,
    .issued = issued,
    .retired = retired,
};
