/*
 * Instruction locality between the warps of a core, as Lashgar, Baniasadi and Khonsari (2012)
 * measure it. An observer: results and timing do not change.
 *
 * The fetched instructions of a launch are numbered from 1. The last 64 are kept, each with a link
 * to the previous fetch of the same instruction. The search for another warp's fetch follows these
 * links; it passes only fetches by the warp itself or by ended warps, mostly none.
 *
 * Seams: launch, fetched.
 *
 * Invariants
 *  L1  A link leads to a smaller number; fetches more than WINDOW back are never examined.
 *  L2  Every warp that has an instruction in its buffer is among the instruction's `holders`; other
 *      warps are removed from the set when it is searched.
 */
#include "core/mechanism.h"
#include <stdlib.h>

#define COMPONENT fetch_locality
#define COMPONENT_DEF "mech/fetch_locality.def"
#define COMPONENT_HELP "temporal locality of instruction fetch between warps"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    WINDOW = 64 /* fetches that are examined */
};

struct fetch_locality {
    MECHANISM_STATE(fetch_locality);
    u64 number; /* number of the last fetch */
    struct {
        u64 before; /* number of the previous fetch of the same instruction; 0: none */
        u64 age;    /* identifies the warp, together with its slot */
        u32 slot;
    } last[WINDOW]; /* by number modulo WINDOW */
    struct of_inst {
        u64 number;  /* number of its last fetch; 0: none */
        u64 cycle;   /* of its last fetch */
        u64 holders; /* slots, one bit each (L2) */
    } * insts;
};

static void launch(void *state, struct core *core, bool begins)
{
    struct fetch_locality *f = state;
    free(f->insts);
    f->insts = NULL;
    f->number = 0;
    if (begins)
        f->insts = checked(calloc(MAX(core_inst_count(core), 1u), sizeof *f->insts));
}

static void destroy(void *state)
{
    free(((struct fetch_locality *)state)->insts);
}

static bool is_active(const struct core *core, u32 slot)
{
    return (core_present(core) & ~core_ended(core)) >> slot & 1;
}

/* Fetches since another active warp fetched it; WINDOW + 1: more than WINDOW. */
static u64 distance(const struct fetch_locality *f, const struct core *core, u32 slot,
                    const struct of_inst *of)
{
    const u64 now = f->number + 1;
    for (u64 n = of->number; n && now - n <= WINDOW; n = f->last[n % WINDOW].before) {
        const u32 other = f->last[n % WINDOW].slot;
        if (other != slot && is_active(core, other) &&
            core_slot(core, other)->age == f->last[n % WINDOW].age)
            return now - n;
    }
    return WINDOW + 1;
}

static bool holds(const struct slot *slot, u32 inst)
{
    for (u32 i = 0; i < slot->buffered; i++)
        if (slot->buffer[i] == inst && !(slot->skipped >> i & 1))
            return true;
    return false;
}

static bool stands_elsewhere(const struct core *core, u32 slot, u32 inst, struct of_inst *of)
{
    for (u64 set = of->holders & ~bit(slot); set; set &= set - 1) {
        const u32 other = first_bit(set);
        if (is_active(core, other) && holds(core_slot(core, other), inst))
            return true;
        of->holders &= ~bit(other);
    }
    return false;
}

static void count(struct fetch_locality *f, const struct core *core, u32 slot, u32 inst)
{
    struct of_inst *of = &f->insts[inst];
    struct fetch_locality_stats *stats = f->stats;
    const u64 ago = distance(f, core, slot, of), now = core_cycle(core);
    stats->fetches++;
    stats->redundant_16 += ago <= 16;
    stats->redundant_32 += ago <= 32;
    stats->redundant_64 += ago <= 64;
    stats->in_buffer += stands_elsewhere(core, slot, inst, of);
    stats->refetched += of->number && now - of->cycle <= f->params->cycles;
    const u64 number = ++f->number;
    f->last[number % WINDOW].before = of->number;
    f->last[number % WINDOW].age = core_slot(core, slot)->age;
    f->last[number % WINDOW].slot = slot;
    of->number = number;
    of->cycle = now;
    of->holders |= bit(slot);
}

static void fetched(void *state, struct core *core, u32 slot, u32 inst, u32 n, bool here)
{
    for (u32 i = 0; i < n; i++)
        count(state, core, slot, inst + i);
}

static const char *const deviations[] = {
    "The paper does not say when the instruction buffers are inspected. Here it is when an "
    "instruction arrives at its own buffer.",
    "A refetch is counted when it happens: at a fetch whose instruction was last fetched at most "
    "the given number of cycles before, in the same launch.",
    "Where a fetch brings several instructions, each of them counts.",
    NULL,
};

const struct mechanism fetch_locality_mechanism = {
    MECHANISM_NAMED(
        fetch_locality,
        "counts how often warps of a core fetch instructions that other warps have just fetched"),
    .source = "A. Lashgar, A. Baniasadi, A. Khonsari, \"Inter-warp instruction temporal locality "
              "in deep-multithreaded GPUs\", 2012",
    .deviations = deviations,
    .state_size = sizeof(struct fetch_locality),
    .launch = launch,
    .destroy = destroy,
    .fetched = fetched,
};
