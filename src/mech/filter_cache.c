/*
 * The filter cache of Lashgar, Baniasadi and Khonsari (2012): a small direct-mapped cache of single
 * instructions, looked up with the next PC before the instruction cache. Warps of a core fetch the
 * same instructions within a short time, so most fetches do not need the instruction cache.
 *
 * Seams: fetch (look up), fetched (fill).
 *
 * Invariants
 *  F1  A hit delivers what its line holds, not what was requested: a wrong instruction in a line
 *      makes the program fail.
 *  F2  probes = hits + misses. A lookup that misses while the instruction cache cannot accept it in
 *      this cycle is repeated and not counted: misses are accesses to the instruction cache.
 *  F3  A line is written when its instruction arrives in a buffer, never at the request, and only
 *      if it came from the instruction cache.
 *  F4  Lines are invalidated when a launch begins: they may hold instructions of another program.
 */
#include "core/mechanism.h"

#define COMPONENT filter_cache
#define COMPONENT_DEF "mech/filter_cache.def"
#define COMPONENT_HELP "a filter cache in front of the instruction cache"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    MOST_ENTRIES = 256,
    WORD_BITS = 64, /* of an instruction word */
    PC_BITS = 30    /* sizes the tags: a PC within 1 GB, as for the instruction cache */
};

struct filter_cache {
    MECHANISM_STATE(filter_cache);
    struct line {
        u64 tag;
        u32 inst; /* the cached instruction: its index in the program */
        bool valid;
    } lines[MOST_ENTRIES];
    u64 open; /* slots with a lookup that missed and is not counted yet (F2), one bit each */
    u64 looked[CORE_WARPS]; /* by slot: cycle of that lookup */
};

static u32 index_bits(const struct filter_cache_params *params)
{
    return 2 + params->entries; /* `entries` chooses powers of two from 4 */
}

/* Low bits of a PC that are always 0. */
static u32 zero_bits(const struct core *core)
{
    return core_exec(core)->image->program->traits.inst_bytes == 8 ? 3 : 2;
}

/* The line of an instruction, and its tag there. */
static struct line *line_of(struct filter_cache *f, const struct core *core, u32 inst, u64 *tag)
{
    const u64 number = image_pc(core_exec(core)->image, inst) >> zero_bits(core);
    *tag = number >> index_bits(f->params);
    return &f->lines[number & ((1u << index_bits(f->params)) - 1)];
}

static void create(void *state, struct core *core)
{
    core_add_fetch_stages(core, ((struct filter_cache *)state)->params->stage);
}

/* A lookup that missed has reached the instruction cache, where it may miss, too. */
static void count_miss(struct filter_cache *f, u32 slot)
{
    f->stats->probes++;
    f->stats->misses++;
    f->open &= ~bit(slot);
}

static enum fetch_answer fetch(void *state, struct core *core, u32 slot, u32 *inst)
{
    struct filter_cache *f = state;
    u64 tag;
    const struct line *line = line_of(f, core, *inst, &tag);
    if (f->open >> slot & 1 && core_slot(core, slot)->missed_at == f->looked[slot])
        count_miss(f, slot);
    if (!line->valid || line->tag != tag) {
        f->open |= bit(slot);
        f->looked[slot] = core_cycle(core);
        return FETCH_SERVE;
    }
    f->open &= ~bit(slot);
    f->stats->probes++;
    f->stats->hits++;
    *inst = line->inst;
    return FETCH_HERE;
}

static void fetched(void *state, struct core *core, u32 slot, u32 inst, u32 count, bool here)
{
    struct filter_cache *f = state;
    if (f->open >> slot & 1)
        count_miss(f, slot);
    for (u32 i = 0; i < count && !here; i++) {
        u64 tag;
        struct line *line = line_of(f, core, inst + i, &tag);
        f->stats->fills++;
        f->stats->evictions += line->valid && line->tag != tag;
        *line = (struct line){tag, inst + i, true};
    }
}

static void storage(const void *params, struct state_list *list)
{
    const u32 bits = index_bits(params);
    const struct array_shape ports = {.read_ports = 1, .write_ports = 1}; /* section 5.2 */
    state_add(list, "filter_cache", "tags", 1u << bits, 1 + PC_BITS - 3 - bits, STATE_LIVE,
              "valid, tag");
    state_shape(list, (struct array_shape){.read_ports = 1, .write_ports = 1, .compared = true});
    state_add(list, "filter_cache", "data", 1u << bits, WORD_BITS, STATE_LIVE, "instructions");
    state_shape(list, ports);
}

static const char *const deviations[] = {
    "The paper does not give the line size; here a line is one instruction.",
    "Where a fetch from the instruction cache brings several instructions, a hit delivers only the "
    "one that was looked up. All instructions that arrive are written.",
    "The filter cache is invalidated when a kernel is launched; the paper does not mention this.",
    "A fetch that missed in the instruction cache looks up the filter cache again when its line "
    "has arrived.",
    "Tags are sized for a 30-bit PC, as in a device with 1 GB; the paper does not give the width.",
    NULL,
};

static const struct energy_event events[] = {
    {"probes", "filter cache", ENERGY_READ, "filter_cache.tags"},
    {"hits", "filter cache", ENERGY_READ, "filter_cache.data"},
    {"fills", "filter cache", ENERGY_WRITE, "filter_cache.tags"},
    {"fills", "filter cache", ENERGY_WRITE, "filter_cache.data"},
    {0},
};

const struct mechanism filter_cache_mechanism = {
    MECHANISM_NAMED(filter_cache, "recently fetched instructions are served from a small cache in "
                                  "front of the instruction cache"),
    .source = "A. Lashgar, A. Baniasadi, A. Khonsari, \"Inter-warp instruction temporal locality "
              "in deep-multithreaded GPUs\", 2012",
    .deviations = deviations,
    .events = events,
    .state_size = sizeof(struct filter_cache),
    .forgets = true,
    .create = create,
    .storage = storage,
    .fetch = fetch,
    .fetched = fetched,
};
