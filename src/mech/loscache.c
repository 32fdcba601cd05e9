/*
 * LoSCache: lines of the L2 are powered off after the last access to their data, which is predicted
 * by instruction (Tan, dissertation, 2016, chapter 7). Instructions with the same PC access data that
 * are accessed about equally often, whatever thread executes them.
 *
 * One random block of each core is its predictor. In the prediction phase its warps go first; the
 * first line that each of its instructions accesses in the L2 is written into a table beside the
 * load/store unit, and the L2 counts the accesses to each line. After some accesses of the core, or
 * when the predictor has ended, the counts of the lines in the table are read back: packets to the
 * L2 and back. From then on each request takes the count of its instruction along. The access that
 * reaches it is the last one by prediction: the line is written back if it is dirty, and powered
 * off. If one access is predicted, it allocates no line. All lines are off at first.
 *
 * The tag of a line that is off stays. If it is hit, the prediction was too low, and the answer says
 * so: the core then adds one to the predictions of the instruction.
 *
 * Gated data are really gone: the cache drops the line, so that a later access misses, and with
 * content (mem/content.h) reads what memory has.
 *
 * Seams: launch, block, pick, packet, reply; on the memory side (loscache_l2.c) l2, l2_request,
 * l2_event, l2_reply, l2_free, launch_memory, settle_memory.
 *
 * Invariants
 *  P1  An instruction has at most one entry. Entries are added in the prediction phase only.
 *  P2  An entry is used when its count has been read back and is not 0.
 *  P3  A phase follows the other in order; each core has its own, and all start again with a launch.
 */
#include "mech/loscache.h"

#define COMPONENT loscache
#define COMPONENT_DEF "mech/loscache.def"
#define COMPONENT_HELP "L2 lines that are powered off after the last predicted access"
#include "base/component_table.h"

/* ---- the predictor ---- */

static void launch(void *state, struct core *core, bool begins)
{
    struct loscache *l = state;
    if (!begins) {
        l->stats->most_entries += l->used;
        return;
    }
    l->core = core;
    l->phase = PHASE_PREDICTING;
    l->chosen = l->running = false;
    l->candidates = l->accesses = l->used = l->asked = l->answered = 0;
}

static void end_prediction(struct loscache *l)
{
    if (l->phase == PHASE_PREDICTING)
        l->phase = PHASE_READING;
}

/* Each of the blocks that start before the first request is the predictor with the same
 * probability. */
static void block(void *state, struct core *core, u32 place, bool started)
{
    struct loscache *l = state;
    if (!started) {
        if (l->chosen && l->place == place)
            end_prediction(l);
        return;
    }
    if (l->phase != PHASE_PREDICTING || l->running)
        return;
    if (mechanism_random_below(state, ++l->candidates))
        return;
    l->stats->launches += !l->chosen;
    l->chosen = true;
    l->place = place;
    l->number = (u32)core_block(core, place)->block->number;
}

/* ---- the table ---- */

static struct loscache_entry *find(struct loscache *l, u32 inst)
{
    l->stats->searches++;
    for (u32 i = 0; i < l->used; i++)
        if (l->entries[i].inst == inst)
            return &l->entries[i];
    return NULL;
}

/* P1. */
static void insert(struct loscache *l, const struct packet *packet)
{
    if (find(l, packet->from.inst))
        return;
    if (l->used == l->params->entries) {
        l->stats->refused++;
        return;
    }
    l->entries[l->used++] =
        (struct loscache_entry){.inst = packet->from.inst, .address = packet->address};
    l->stats->inserts++;
}

/* Asks for the counts, as there is room for packets. */
static void read_back(struct loscache *l)
{
    while (l->asked < l->used &&
           core_send_note(l->core, l->entries[l->asked].address,
                          PAYLOAD_NOTE | (u64)l->asked << PAYLOAD_ENTRY_SHIFT, 0)) {
        l->asked++;
        l->stats->read_backs++;
    }
    if (l->answered == l->used) {
        l->phase = PHASE_NORMAL;
        core_pick_ends(l->core);
    }
}

static void take_count(struct loscache *l, const struct packet *answer)
{
    struct loscache_entry *entry =
        &l->entries[answer->payload >> PAYLOAD_ENTRY_SHIFT & (LOSCACHE_ENTRIES - 1)];
    entry->count = answer->payload & PAYLOAD_COUNT;
    entry->known = entry->count; /* P2 */
    l->stats->unknown += !entry->known;
    l->answered++;
}

/* ---- requests ---- */

static bool is_data(const struct packet *packet)
{
    return packet->client == CLIENT_L1D || packet->client == CLIENT_READONLY ||
           packet->client == CLIENT_DIRECT;
}

static void note_access(struct loscache *l, const struct packet *packet)
{
    l->running = true;
    l->stats->predicting_accesses++;
    if (l->chosen && packet->from.kind == REQUESTER_ACCESS && packet->from.block == l->number)
        insert(l, packet);
    if (++l->accesses >= l->params->accesses)
        end_prediction(l);
}

static u32 prediction(struct loscache *l, const struct packet *packet)
{
    if (l->phase != PHASE_NORMAL || packet->from.inst == NO_INST)
        return 0;
    const struct loscache_entry *entry = find(l, packet->from.inst);
    return entry && entry->known ? MIN(entry->count + entry->added, LOSCACHE_MOST) : 0;
}

static void packet(void *state, struct core *core, struct packet *packet)
{
    struct loscache *l = state;
    if (!is_data(packet))
        return;
    l->stats->lookups++;
    packet->payload = prediction(l, packet);
    packet->payload_bits = l->params->in_header ? 0 : LOSCACHE_BITS;
    l->stats->predicted += packet->payload != 0;
    if (l->phase == PHASE_PREDICTING)
        note_access(l, packet);
}

/* An answer tells of early gating. */
static void add_one(struct loscache *l, u32 inst)
{
    struct loscache_entry *entry = inst == NO_INST ? NULL : find(l, inst);
    if (!entry || !entry->known || entry->added >= l->params->most_added)
        return;
    entry->added++;
    l->stats->added++;
}

static void reply(void *state, struct core *core, const struct packet *packet)
{
    struct loscache *l = state;
    if (packet->client == CLIENT_MECHANISM) {
        if (packet->payload & PAYLOAD_NOTE)
            take_count(l, packet);
    } else if (is_data(packet) && packet->payload & PAYLOAD_EARLY) {
        add_one(l, packet->from.inst);
    }
    if (l->phase == PHASE_READING)
        read_back(l);
}

/* ---- priority ---- */

static void pick(void *state, struct core *core, u32 scheduler, struct pick *pick)
{
    struct loscache *l = state;
    if (l->phase == PHASE_READING)
        read_back(l);
    if (l->phase == PHASE_PREDICTING && l->chosen && l->params->priority)
        pick->prefer |= core_block(core, l->place)->slots;
}

static u32 idle(const void *params)
{
    const struct loscache_params *p = params;
    const u32 all = 1u << SEAM_BLOCK | 1u << SEAM_PICK | 1u << SEAM_PACKET | 1u << SEAM_REPLY;
    return p->gating == LOSCACHE_IDEAL ? all : 0;
}

/* They send payloads, too. */
static const char *const conflicts[] = {"rise", NULL};

const struct mechanism loscache_mechanism = {
    MECHANISM_NAMED(loscache, "L2 lines are powered off after the last predicted access"),
    .source = "J. Tan, \"Architectural approaches to design reliable and energy-efficient GPUs\", "
              "dissertation, University of Houston, 2016, chapter 7",
    .deviations = loscache_deviations,
    .conflicts = conflicts,
    .events = loscache_events,
    .powers = loscache_powers,
    .state_size = sizeof(struct loscache),
    .random = true,
    .no_operands = true,
    .idle = idle,
    .storage = loscache_storage,
    .launch = launch,
    .block = block,
    .pick = pick,
    .packet = packet,
    .reply = reply,
    .memory_size = sizeof(struct loscache_memory),
    .create_memory = loscache_create_memory,
    .destroy_memory = loscache_destroy_memory,
    .launch_memory = loscache_launch_memory,
    .l2 = loscache_l2,
    .l2_request = loscache_l2_request,
    .l2_reply = loscache_l2_reply,
    .l2_event = loscache_l2_event,
    .l2_free = loscache_l2_free,
    .settle_memory = loscache_settle_memory,
};
