/* Test mechanism: fills every seam that the others leave out, counts, and changes what a parameter
 * says. Its note to the L2 carries a number that must come back complemented. */
#include "seam/seam.h"

#define COMPONENT probe
#define COMPONENT_DEF "seam/probe.def"
#define COMPONENT_HELP "looks at every seam, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct probe {
    MECHANISM_STATE(probe);
    u64 sent; /* the number of the note that is under way; 0: none */
};

#define STATS(state) (((struct probe *)(state))->stats)
#define PARAMS(state) (((struct probe *)(state))->params)

static void launch(void *state, struct core *core, bool begins)
{
    STATS(state)->launches++;
    ((struct probe *)state)->sent = 0;
}

static void places(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places)
{
    *(write ? &STATS(state)->writes : &STATS(state)->reads) += places->count;
    for (u32 i = 0; i < places->count && PARAMS(state)->one_bank; i++)
        places->at[i].banks = core_bank_mask(core, 0);
}

static void dispatch(void *state, struct core *core, struct dispatch *d)
{
    STATS(state)->offers += d->block < d->blocks;
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    STATS(state)->blocks++;
}

static enum fetch_answer fetch(void *state, struct core *core, u32 slot, u32 *inst)
{
    if (PARAMS(state)->fetch_here)
        return FETCH_HERE;
    return PARAMS(state)->fetch_odd && core_cycle(core) % 2 ? FETCH_HOLD : FETCH_SERVE;
}

static void pick(void *state, struct core *core, u32 scheduler, struct pick *pick)
{
    if (PARAMS(state)->hold_odd && core_cycle(core) % 2)
        pick->never = ~0ull;
}

static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    return PARAMS(state)->extra;
}

static void result(void *state, struct core *core, struct inflight *inflight)
{
    STATS(state)->results++;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    STATS(state)->retired++;
}

static void control(void *state, struct core *core, u32 slot, u32 inst)
{
    struct probe *p = state;
    p->stats->control++;
    if (!p->sent && core_send_note(core, 1 << 20, core_cycle(core) + 1, 32))
        p->sent = core_cycle(core) + 1;
}

static struct memory_view *view(void *state, struct core *core, struct inflight *inflight,
                                struct memory_view *plain)
{
    STATS(state)->accesses++;
    return plain;
}

static void packet(void *state, struct core *core, struct packet *packet)
{
    STATS(state)->packets++;
}

static void reply(void *state, struct core *core, const struct packet *packet)
{
    struct probe *p = state;
    p->stats->replies++;
    if (packet->client != CLIENT_MECHANISM)
        return;
    p->stats->notes += packet->payload == ~p->sent;
    p->sent = 0;
}

static void touched_l1(void *user, u64 line, u32 set, u32 way, bool write)
{
    STATS(user)->l1++;
}

static bool cache(void *state, struct core *core, enum packet_client which,
                  struct cache_hooks *hooks)
{
    *hooks = (struct cache_hooks){.user = state, .touched = touched_l1};
    return which == CLIENT_L1D;
}

static f64 clock_rate(void *state, struct core *core)
{
    return PARAMS(state)->rate;
}

static void touched_l2(void *user, u64 line, u32 set, u32 way, bool write)
{
    STATS(user)->l2++;
}

static bool allocates(void *user, u64 line)
{
    return false;
}

static bool l2(void *memory, u32 slice, struct cache_hooks *hooks)
{
    *hooks = (struct cache_hooks){.user = memory, .touched = touched_l2};
    if (PARAMS(memory)->no_l2)
        hooks->allocates = allocates;
    return true;
}

static void arrived(void *user, const struct dram_event *event)
{
    STATS(user)->arrived++;
}

static void served(void *user, const struct dram_event *event, struct payload *payload)
{
    STATS(user)->served++;
}

static bool dram(void *memory, u32 channel, struct dram_hooks *hooks)
{
    *hooks = (struct dram_hooks){.user = memory, .arrived = arrived, .served = served};
    return true;
}

static void l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    STATS(memory)->l2_requests++;
    if (packet->kind == PACKET_NOTE)
        packet->payload = ~packet->payload;
}

static void l2_reply(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    STATS(memory)->l2_replies++;
}

static void storage(const void *params, struct state_list *list)
{
    state_add(list, "probe", "sent", 1, 64, STATE_LIVE, "the note under way");
}

static const char *const conflicts[] = {"flip", NULL};
static const char *const deviations[] = {"It is only a test.", NULL};
static const struct energy_event events[] = {
    {"notes", "notes", ENERGY_WRITE, .array = "probe.sent", .bits = 32},
    {"l1", "looks", ENERGY_LOGIC, .pj = 0.5, .nm = 45, .source = "made up", .given = "rate"},
    {0},
};

const struct mechanism probe_mechanism = {
    MECHANISM_NAMED(probe, "looks at every seam"),
    .conflicts = conflicts,
    .source = "nobody, nowhere, never",
    .deviations = deviations,
    .events = events,
    .state_size = sizeof(struct probe),
    .storage = storage,
    .launch = launch,
    .places = places,
    .dispatch = dispatch,
    .block = block,
    .fetch = fetch,
    .pick = pick,
    .operand = operand,
    .result = result,
    .retired = retired,
    .control = control,
    .view = view,
    .packet = packet,
    .reply = reply,
    .cache = cache,
    .clock = clock_rate,
    .l2 = l2,
    .dram = dram,
    .l2_request = l2_request,
    .l2_reply = l2_reply,
};
