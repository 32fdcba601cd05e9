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

enum {
    TAG_BITS = 25 + 4 /* 32-bit addresses of lines of 128 bytes; four sectors */
};

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

/* Bits of a line of the machine's L1, whose rows are in the list already; 0: it has none. */
static u32 line_bits(const struct state_list *list)
{
    for (u32 i = 0; i < list->rows.count; i++) {
        const struct state_row *row = &list->rows.data[i];
        if (!strcmp(row->unit, "l1d") && !strcmp(row->name, "data"))
            return row->bits;
    }
    return 0;
}

static void storage(const void *params, struct state_list *list)
{
    const struct victim_params *p = params;
    const u32 bits = line_bits(list);
    state_add(list, "victim", "data", p->lines, bits, STATE_COUNTED, "data of lines");
    state_add(list, "victim", "tags", p->lines, TAG_BITS, STATE_LIVE, "line number and sectors");
    state_shape(list, (struct array_shape){.searched = true});
}

static const struct energy_event events[] = {
    {"lookups", "victim cache", ENERGY_SEARCH, "victim.tags"},
    {"hits", "victim cache", ENERGY_READ, "victim.data"},
    {"kept", "victim cache", ENERGY_WRITE, "victim.tags"},
    {"kept", "victim cache", ENERGY_WRITE, "victim.data"},
    {0},
};

static const char *const deviations[] = {
    "A store that searches for its line takes no energy.",
    NULL,
};

const struct mechanism victim_mechanism = {
    MECHANISM_NAMED(victim, "lines that leave the L1 are kept in a small fully associative cache"),
    .source = "N. P. Jouppi, \"Improving direct-mapped cache performance by the addition of a "
              "small fully-associative cache and prefetch buffers\", ISCA 1990",
    .deviations = deviations,
    .events = events,
    .state_size = sizeof(struct victim),
    .forgets = true,
    .storage = storage,
    .l1_access = l1_access,
    .l1_supply = l1_supply,
    .l1_evicted = l1_evicted,
};

MECHANISM_PLUGIN(victim)
