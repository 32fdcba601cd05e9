/*
 * A victim cache: a small fully associative cache of the lines that left the L1 last. A load that
 * misses in the L1 and hits here gets its line back, and the line that gives way to it comes here.
 *
 * Source: N. P. Jouppi, "Improving direct-mapped cache performance by the addition of a small
 * fully-associative cache and prefetch buffers", ISCA 1990. Parameters and statistics: victim.def.
 */
#include "core/mechanism.h"

#define COMPONENT victim
#define COMPONENT_DEF "victim.def"
#define COMPONENT_HELP "a victim cache beside the L1"
#include "base/component_struct.h"
#include "base/component_table.h"

struct victim {
    MECHANISM_STATE(victim);
    struct l1_line lines[64]; /* as many as the parameter says; without sectors: free */
    u32 next;                 /* where the next line goes: first in, first out */
};

/* Takes the line of an access out, if it is here with these sectors: 0, or all of its sectors. */
static u32 take(struct victim *v, const struct l1_access *access, u32 sectors)
{
    for (u32 i = 0; i < v->params->lines; i++) {
        struct l1_line *line = &v->lines[i];
        const u32 held = line->sectors;
        if (held && line->cache == access->cache && line->line == access->line &&
            !(sectors & ~held)) {
            line->sectors = 0;
            return held;
        }
    }
    return 0;
}

static void l1_evicted(void *state, struct core *core, const struct l1_line *line)
{
    struct victim *v = state;
    v->lines[v->next++ % v->params->lines] = *line;
    v->stats->kept++;
}

static u32 l1_supply(void *state, struct core *core, const struct l1_access *miss, u32 *sectors)
{
    struct victim *v = state;
    const u32 held = take(v, miss, miss->missing);
    v->stats->hits += held != 0;
    *sectors |= held;
    return held ? v->params->latency : 0;
}

static void l1_access(void *state, struct core *core, const struct l1_access *access)
{
    struct victim *v = state;
    v->stats->lookups += !access->store && (access->supplied || access->result == CACHE_MISS);
    v->stats->dropped += access->store && take(v, access, 0); /* it would be stale */
}

const struct mechanism victim_mechanism = {
    MECHANISM_NAMED(victim, "lines that leave the L1 are kept in a small fully associative cache"),
    .source = "N. P. Jouppi, \"Improving direct-mapped cache performance by the addition of a "
              "small fully-associative cache and prefetch buffers\", ISCA 1990",
    .state_size = sizeof(struct victim),
    .forgets = true,
    .l1_access = l1_access,
    .l1_supply = l1_supply,
    .l1_evicted = l1_evicted,
};

MECHANISM_PLUGIN(victim)
