/*
 * Test mechanism: drops lines of the L2, and reserves ways of L1 and L2 or gives them back while a
 * kernel runs. A line that was dropped must miss, and no line may be in a reserved way once these
 * have been emptied. Results do not change.
 */
#include "seam/seam.h"

#define COMPONENT ways
#define COMPONENT_DEF "seam/ways.def"
#define COMPONENT_HELP "drops lines and reserves ways, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    SLICES = 64
};

/* Of a core, and its L1. */
struct ways_state {
    MECHANISM_STATE(ways);
    u32 total, reserved, seen;
    u32 way; /* that was touched last */
};

/* Of a slice. */
struct slice_ways {
    struct ways_memory *memory;
    u32 slice, reserved, seen;
    bool empty; /* it has been seen that nothing is in them */
};

struct ways_memory {
    MECHANISM_STATE(ways);
    struct memory_system *system;
    struct slice_ways slices[SLICES];
};

/* ---- L1 ---- */

static void touched_l1(void *user, u64 line, u32 set, u32 way, bool write)
{
    struct ways_state *w = user;
    w->way = way;
}

/* Only a line that was under way when its way was reserved may still be there, and only until it is
 * filled: nothing hits it, and no miss takes such a way. */
static void l1_access(void *state, struct core *core, const struct l1_access *access)
{
    struct ways_state *w = state;
    const bool touched = !access->store || access->result == CACHE_HIT;
    if (access->cache == CLIENT_L1D && touched && access->result != CACHE_MERGED &&
        w->total > w->reserved)
        w->stats->lies += w->way >= w->total - w->reserved;
}

static bool cache(void *state, struct core *core, enum packet_client which,
                  struct cache_hooks *hooks)
{
    struct ways_state *w = state;
    if (which != CLIENT_L1D)
        return false;
    w->total = core_config(core)->l1d->ways;
    *hooks = (struct cache_hooks){.user = state, .touched = touched_l1};
    return true;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct ways_state *w = state;
    if (!w->params->every || ++w->seen % w->params->every)
        return;
    w->reserved = w->reserved ? 0 : MIN(w->params->ways, w->total);
    w->stats->changes++;
    core_reserve_ways(core, CLIENT_L1D, w->reserved);
}

/* ---- L2 ---- */

static void create_memory(void *memory, struct memory_system *system, u32 partition, u32 slices)
{
    struct ways_memory *w = memory;
    w->system = system;
}

static void touched_l2(void *user, u64 line, u32 set, u32 way, bool write)
{
    struct slice_ways *s = user;
    const u32 first = 16 - s->reserved; /* gtx480 has 16 ways after the test's setting */
    s->memory->stats->lies += s->empty && way >= first;
}

static bool l2(void *memory, u32 slice, struct cache_hooks *hooks)
{
    struct ways_memory *w = memory;
    struct slice_ways *s = &w->slices[slice];
    *s = (struct slice_ways){.memory = w, .slice = slice};
    *hooks = (struct cache_hooks){.user = s, .touched = touched_l2};
    return true;
}

static void drop(struct ways_memory *w, u64 address)
{
    switch (memory_system_drop(w->system, address)) {
    case L2_DROP_DONE:
        w->stats->drops++;
        w->stats->lies += memory_system_drop(w->system, address) != L2_DROP_ABSENT;
        break;
    case L2_DROP_ABSENT:
        w->stats->absent++;
        break;
    default:
        w->stats->refused++;
    }
}

static void l2_reply(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    struct ways_memory *w = memory;
    struct slice_ways *s = &w->slices[slice];
    s->seen++;
    if (w->params->drop && s->seen % w->params->drop == 0 && packet->kind != PACKET_NOTE)
        drop(w, packet->address);
    if (!s->empty && !memory_system_reserving(w->system, slice)) {
        s->empty = true;
        w->stats->emptied += s->reserved != 0;
    }
    if (!w->params->every || s->seen % w->params->every)
        return;
    s->reserved = s->reserved ? 0 : MIN(w->params->ways, 16u);
    s->empty = false;
    w->stats->changes++;
    memory_system_reserve(w->system, slice, s->reserved);
}

const struct mechanism ways_mechanism = {
    MECHANISM_NAMED(ways, "drops lines and reserves ways"),
    .state_size = sizeof(struct ways_state),
    .cache = cache,
    .l1_access = l1_access,
    .retired = retired,
    .memory_size = sizeof(struct ways_memory),
    .create_memory = create_memory,
    .l2 = l2,
    .l2_reply = l2_reply,
};
