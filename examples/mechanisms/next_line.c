/*
 * Next-line prefetching: a load that misses in the L1 also fetches the lines behind its own.
 *
 * Source: prefetching on misses and tagged prefetching as described by A. J. Smith, "Cache
 * memories", ACM Computing Surveys 14(3), 1982. Parameters and statistics are in next_line.def.
 */
#include "core/mechanism.h"

#define COMPONENT next_line
#define COMPONENT_DEF "next_line.def"
#define COMPONENT_HELP "next-line prefetching into the L1"
#include "base/component_struct.h"
#include "base/component_table.h"

struct next_line {
    MECHANISM_STATE(next_line);
};

static void l1_access(void *state, struct core *core, const struct l1_access *access)
{
    const struct next_line *n = state;
    if (access->cache != CLIENT_L1D || access->store)
        return;
    n->stats->used += access->prefetched;
    if (access->result != CACHE_MISS && !(access->prefetched && n->params->tagged))
        return;
    for (u32 i = 1; i <= n->params->degree; i++) {
        const u64 line = access->line + (u64)i * core_config(core)->l1d->line_bytes;
        const enum prefetch_answer answer =
            core_prefetch(core, CLIENT_L1D, line, access->sectors, access->slot, access->inst);
        n->stats->sent += answer == PREFETCH_SENT;
        n->stats->present += answer == PREFETCH_PRESENT;
        n->stats->busy += answer == PREFETCH_BUSY;
        n->stats->outside += answer == PREFETCH_OUTSIDE;
    }
}

static void l1_evicted(void *state, struct core *core, const struct l1_line *line)
{
    const struct next_line *n = state;
    n->stats->unused += line->prefetched;
}

const struct mechanism next_line_mechanism = {
    MECHANISM_NAMED(next_line,
                    "a load that misses in the L1 also fetches the lines behind its own"),
    .source = "A. J. Smith, \"Cache memories\", ACM Computing Surveys 14(3), 1982",
    .state_size = sizeof(struct next_line),
    .prefetches = true,
    .l1_access = l1_access,
    .l1_evicted = l1_evicted,
};

MECHANISM_PLUGIN(next_line)
