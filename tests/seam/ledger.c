/*
 * Test mechanism: keeps its own list of the lines in an L1 that is not sectored, by what the seams
 * tell. A hit must be of a line in the list, a miss of one that is not, a line that gives way must
 * have been there, and what arrives must have been sent for. It can prefetch, and bring lines back
 * that gave way.
 */
#include "seam/seam.h"

#define COMPONENT ledger
#define COMPONENT_DEF "seam/ledger.def"
#define COMPONENT_HELP "a list of the lines in the L1, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    MOST = 1024
};

struct lines {
    u64 line[MOST];
    bool prefetched[MOST]; /* and no load has asked for it */
    u32 count;
};

struct ledger {
    MECHANISM_STATE(ledger);
    struct lines there;     /* in the L1 */
    struct lines under_way; /* to it */
    struct lines gone;      /* that gave way */
};

static u32 find(const struct lines *lines, u64 line)
{
    u32 i = 0;
    while (i < lines->count && lines->line[i] != line)
        i++;
    return i;
}

static bool has(const struct lines *lines, u64 line)
{
    return find(lines, line) < lines->count;
}

static void add(struct ledger *l, struct lines *lines, u64 line, bool prefetched)
{
    l->stats->lies += has(lines, line) || lines->count == MOST;
    if (lines->count == MOST)
        return;
    lines->line[lines->count] = line;
    lines->prefetched[lines->count++] = prefetched;
}

/* Whether it was there; *prefetched: and no load had asked for it. */
static bool take(struct lines *lines, u64 line, bool *prefetched)
{
    const u32 at = find(lines, line);
    *prefetched = at < lines->count && lines->prefetched[at];
    if (at == lines->count)
        return false;
    lines->line[at] = lines->line[--lines->count];
    lines->prefetched[at] = lines->prefetched[lines->count];
    return true;
}

/* A load asks for a line that is in a list: whether it is the first one since a prefetch. */
static bool use(struct lines *lines, u64 line)
{
    const u32 at = find(lines, line);
    const bool first = at < lines->count && lines->prefetched[at];
    if (at < lines->count)
        lines->prefetched[at] = false;
    return first;
}

static void prefetch(struct ledger *l, struct core *core, const struct l1_access *a)
{
    const u32 bytes = core->config.l1d->line_bytes;
    for (u32 i = 1; i <= l->params->ahead; i++) {
        const u64 line = a->line + (u64)i * bytes;
        const bool known = has(&l->there, line) || has(&l->under_way, line);
        const enum prefetch_answer answer =
            core_prefetch(core, CLIENT_L1D, line + 4, 1, a->slot, a->inst);
        l->stats->lies += answer == PREFETCH_SENT && known;
        l->stats->lies += answer == PREFETCH_PRESENT && !known;
        l->stats->lies +=
            answer == PREFETCH_OUTSIDE && memory_find(core->exec->memory, line, 1) != NULL;
        *(answer == PREFETCH_SENT ? &l->stats->sent : &l->stats->dropped) += 1;
        if (answer == PREFETCH_SENT)
            add(l, &l->under_way, line, true);
    }
}

static void load(struct ledger *l, const struct l1_access *a)
{
    const bool there = has(&l->there, a->line), under_way = has(&l->under_way, a->line);
    struct ledger_stats *s = l->stats;
    bool first = false;
    s->reads++;
    s->lies += !a->missing != (a->result == CACHE_HIT && !a->supplied);
    switch (a->result) {
    case CACHE_HIT:
        s->hits++;
        s->lies += a->supplied ? there || under_way : !there;
        if (a->supplied)
            add(l, &l->there, a->line, false);
        else
            first = use(&l->there, a->line);
        break;
    case CACHE_MERGED:
        s->merges++;
        s->lies += there || !under_way;
        first = use(&l->under_way, a->line);
        break;
    default:
        s->misses++;
        s->lies += a->result != CACHE_MISS || there || under_way;
        add(l, &l->under_way, a->line, false);
    }
    s->lies += a->prefetched != first;
    s->used += a->prefetched;
}

static void l1_access(void *state, struct core *core, const struct l1_access *a)
{
    struct ledger *l = state;
    bool prefetched;
    if (a->cache != CLIENT_L1D)
        return;
    l->stats->lies += !(core->present & bit(a->slot)) || a->inst >= core->inst_count;
    if (!a->store) {
        load(l, a);
        if (a->result == CACHE_MISS)
            prefetch(l, core, a);
        return;
    }
    l->stats->writes++;
    l->stats->lies += (a->result == CACHE_HIT) != has(&l->there, a->line);
    if (core->config.l1d->write == 0 && !a->kept) /* it drops the line */
        take(&l->there, a->line, &prefetched);
    take(&l->gone, a->line, &prefetched);
    if (l->params->stores)
        prefetch(l, core, a);
}

static u32 l1_supply(void *state, struct core *core, const struct l1_access *miss, u32 *sectors)
{
    struct ledger *l = state;
    bool prefetched;
    if (miss->cache != CLIENT_L1D || !l->params->supplies)
        return 0;
    l->stats->lies += has(&l->there, miss->line) || has(&l->under_way, miss->line) ||
                      !miss->missing || *sectors != miss->missing;
    if (!take(&l->gone, miss->line, &prefetched))
        return 0;
    l->stats->supplied++;
    *sectors = ~0u >> (32 - core->config.l1d->line_bytes / SECTOR_BYTES);
    return l->params->supplies;
}

static void l1_evicted(void *state, struct core *core, const struct l1_line *line)
{
    struct ledger *l = state;
    bool prefetched;
    if (line->cache != CLIENT_L1D)
        return;
    l->stats->evictions++;
    l->stats->unused += line->prefetched;
    l->stats->lies += !take(&l->there, line->line, &prefetched);
    l->stats->lies += line->prefetched != prefetched || !line->sectors;
    if (l->params->supplies && l->gone.count < MOST && !has(&l->gone, line->line))
        add(l, &l->gone, line->line, false);
}

static void l1_filled(void *state, struct core *core, const struct l1_line *line)
{
    struct ledger *l = state;
    bool prefetched;
    if (line->cache != CLIENT_L1D)
        return;
    l->stats->fills++;
    l->stats->lies += !take(&l->under_way, line->line, &prefetched);
    l->stats->lies += line->prefetched != prefetched || !line->sectors;
    take(&l->gone, line->line, &(bool){false}); /* it is in the L1 now */
    add(l, &l->there, line->line, prefetched);
}

const struct mechanism ledger_mechanism = {
    MECHANISM_NAMED(ledger, "for tests: keeps a list of the lines in the L1"),
    .state_size = sizeof(struct ledger),
    .forgets = true,
    .prefetches = true,
    .l1_access = l1_access,
    .l1_supply = l1_supply,
    .l1_evicted = l1_evicted,
    .l1_filled = l1_filled,
};
