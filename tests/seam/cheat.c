/* Test mechanism: keeps pointers to states that are not its own and touches them while a core runs.
 * Seam: issued. A build with AddressSanitizer has to stop it. */
#include "seam/seam.h"

#define COMPONENT cheat
#define COMPONENT_DEF "seam/cheat.def"
#define COMPONENT_HELP "touches what is not its own, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum what {
    NOTHING,
    STATE,
    COUNTERS,
    MEMORY,
    PARTITION,
    DISPATCHER
};

struct cheat {
    MECHANISM_STATE(cheat);
    u64 seen;
    u64 *table;
};

/* What it should not keep. */
static struct cheat *first, *partition, *dispatcher;
static u64 *first_table;

static void create(void *state, struct core *core)
{
    struct cheat *own = state;
    own->table = mechanism_alloc(state, sizeof(u64));
    if (core_config(core)->index)
        return;
    first = own;
    first_table = own->table;
}

static void create_memory(void *memory, struct memory_system *system, u32 number, u32 slices)
{
    partition = memory;
}

static void dispatch(void *state, struct core *core, struct dispatch *d)
{
    dispatcher = d->dispatcher;
    first->seen++; /* between windows it may */
}

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct cheat *own = state;
    own->seen++;
    own->table[0]++;
    if (own == first)
        return;
    own->stats->touched++;
    switch ((enum what)own->params->what) {
    case NOTHING:
        break;
    case STATE:
        first->seen++;
        break;
    case COUNTERS:
        first->stats->touched++;
        break;
    case MEMORY:
        first_table[0]++;
        break;
    case PARTITION:
        partition->seen++;
        break;
    case DISPATCHER:
        dispatcher->seen++;
        break;
    }
}

const struct mechanism cheat_mechanism = {
    MECHANISM_NAMED(cheat, "touches the state of another core"),
    .state_size = sizeof(struct cheat),
    .dispatcher_size = sizeof(struct cheat),
    .memory_size = sizeof(struct cheat),
    .create = create,
    .create_memory = create_memory,
    .dispatch = dispatch,
    .issued = issued,
};
