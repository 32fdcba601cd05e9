/*
 * RISE: redundant execution where the lanes of a core would be idle, to detect errors in its units. Tan
 * (2016), chapter 3.
 *
 * An instruction that is executed twice issues again in the next free cycle of its unit, before all others
 * of its scheduler, and reads its operands again. At write-back both results are compared (rise_compare.c). Loads,
 * stores, branches and barriers are executed once.
 *
 * Which instructions are executed twice:
 *  - RP-FRISE (request_pending). Memory controllers time how long requests wait (rise_memory.c). The reply
 *    carries a number of cycles; multiplied by the warps of the block, it sets the block's counter if that is 0. While
 *    it is above 0, each instruction of the block is executed twice and takes 1 from it.
 *  - IS-FRISE (idle_cores). If the blocks of a launch do not divide evenly among the cores, as many cores as
 *    blocks are left over are expected to get one more; the others execute one of their first blocks twice.
 *  - Full redundancy (full), for comparison.
 * Partial-RISE (partial, inside) uses lanes that an instruction leaves idle: rise_partial.c.
 *
 * Seams: pick; operand (both executions start from the same operands), insert, issued, write_back, retired; reply,
 * dram; dispatch, block.
 *
 * Invariants
 *  R1  A main instruction does not retire before its copy was compared or a vote has decided. Until
 *      then it has not written its registers, so that a third execution reads the same.
 *  R2  Copies and third executions are dropped.
 *  R3  `buffered` is the sum of the words of main instructions that are `buffered`, and of guests that wait.
 */
#include "mech/rise.h"

#define COMPONENT rise
#define COMPONENT_DEF "mech/rise.def"
#define COMPONENT_HELP "redundant execution in idle lanes"
#include "base/component_table.h"

/* ---- which instructions ---- */

static bool computes(const struct inflight *inflight)
{
    return dyninst_repeats(&inflight->dyn) && inflight->dyn.dst[0] &&
           inflight->pipe != PIPE_MEMORY && inflight->pipe != PIPE_SCALAR;
}

/* The counter that an instruction of a slot takes 1 from. */
static u32 *counter_of(struct rise *r, u32 slot)
{
    return r->params->level == RISE_WARP ? &r->warp_left[slot]
                                         : &r->left[core_slot(r->core, slot)->block];
}

/* Whether the instruction is executed twice: its counter of causes, or NULL. */
static u64 *cause_of(struct rise *r, u32 slot)
{
    if (r->params->full)
        return &r->stats->redundant_full;
    if (r->whole[core_slot(r->core, slot)->block])
        return &r->stats->redundant_core;
    return *counter_of(r, slot) ? &r->stats->redundant_pending : NULL;
}

bool rise_is_redundant(struct rise *r, u32 slot)
{
    return cause_of(r, slot) != NULL;
}

/* ---- copies ---- */

bool rise_queue(struct rise *r, struct inflight *inflight, u64 from)
{
    struct rise_queue *queue = &r->queues[core_scheduler_of(r->core, inflight->slot)];
    if (queue->count == RISE_WAITING)
        return false;
    queue->at[queue->count].inflight = (u16)inflight_index(r->core, inflight);
    queue->at[queue->count++].from = from;
    core_want_cycles(r->core, 1);
    return true;
}

/* False: there is no room for a copy. */
static bool make_copy(struct rise *r, const struct inflight *main)
{
    struct core *core = r->core;
    const u32 words = rise_words(&main->dyn);
    struct inflight *copy = words <= r->params->buffers ? inflight_take(core) : NULL;
    if (!copy)
        return false;
    const u32 at = inflight_index(core, main), index = inflight_index(core, copy);
    dyninst_copy(&copy->dyn, &main->dyn, core_row_words(core));
    copy->injected = true;
    copy->slot = main->slot;
    copy->time = main->time;
    if (!rise_queue(r, copy, 0)) {
        inflight_give(core, copy);
        return false;
    }
    r->records[index] = (struct rise_record){.role = ROLE_COPY, .main = (u16)at};
    r->records[at] = (struct rise_record){.role = ROLE_MAIN,
                                          .words = (u8)words,
                                          .copy = (u16)index,
                                          .issued = core_slot(core, main->slot)->issued};
    return true;
}

static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    struct rise *r = state;
    const u32 s = inflight->slot;
    if (inflight->injected || !computes(inflight))
        return 0;
    r->stats->instructions++;
    r->stats->lanes += count_lanes(inflight->dyn.lanes);
    u64 *const cause = cause_of(r, s);
    if (!cause) {
        rise_partial_issue(r, inflight);
        return 0;
    }
    rise_partial_pass(r, s);
    if (!make_copy(r, inflight)) {
        r->stats->refused++;
        return 0;
    }
    *cause += 1;
    r->stats->redundant++;
    inflight->checked = inflight->dyn.lanes;
    if (cause == &r->stats->redundant_pending)
        --*counter_of(r, s);
    return 0;
}

static bool insert(void *state, struct core *core, u32 scheduler)
{
    struct rise *r = state;
    struct rise_queue *queue = &r->queues[scheduler];
    const u64 now = core_cycle(core);
    for (u32 i = 0; i < queue->count; i++) {
        struct inflight *copy = core_inflight(core, queue->at[i].inflight);
        if (queue->at[i].from > now || !core_room(core, copy->slot, copy->dyn.inst))
            continue;
        queue->count--;
        memmove(queue->at + i, queue->at + i + 1, (queue->count - i) * sizeof *queue->at);
        core_want_cycles(core, -1);
        core_issue_dyninst(core, copy, copy->slot);
        return true;
    }
    return false;
}

/* Copies write no registers. */
static void issued(void *state, struct core *core, struct inflight *inflight)
{
    const struct rise *r = state;
    if (inflight->injected && r->records[inflight_index(core, inflight)].role)
        inflight->lane_writes = 0;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct rise *r = state;
    struct rise_record *own = &r->records[inflight_index(core, inflight)];
    if (own->buffered)
        r->buffered -= own->words;
    rise_partial_retired(r, inflight);
    own->role = ROLE_NONE;
    own->buffered = false;
}

/* ---- requests ---- */

static void reply(void *state, struct core *core, const struct packet *packet)
{
    struct rise *r = state;
    const u32 s = packet->from.slot, cycles = (u32)packet->payload;
    if (packet->kind != PACKET_DATA || packet->from.kind != REQUESTER_ACCESS ||
        !packet->from_dram || packet->payload_bits != RISE_TIMER_BITS ||
        !(core_present(core) >> s & 1))
        return;
    const u32 place = core_slot(core, s)->block;
    u32 *const left = counter_of(r, s);
    r->stats->answers++;
    r->stats->answer_cycles += cycles;
    r->stats->zero_answers += !cycles;
    if (!cycles)
        return;
    if (*left || r->whole[place]) {
        r->stats->ignored++;
        return;
    }
    r->stats->counters_set++;
    r->stats->set_cycles += cycles;
    *left = cycles;
    if (r->params->level == RISE_BLOCK)
        *left *= core_block(core, place)->block->warp_count;
}

/* ---- blocks ---- */

/* Draws the cores that are expected to get one more block than the others. */
static void draw(struct rise_dispatcher *d, u64 blocks, u32 cores)
{
    u64 left = blocks % cores;
    for (u32 i = 0; i < cores; i++)
        if (mechanism_random_below(d, cores - i) < left) {
            d->more[i / 64] |= bit(i % 64);
            left--;
        }
    d->drawn = true;
}

static void dispatch(void *state, struct core *core, struct dispatch *dispatch)
{
    struct rise *r = state;
    struct rise_dispatcher *d = dispatch->dispatcher;
    const u32 index = core_config(core)->index, cores = core_config(core)->cores;
    if (!r->params->idle_cores || r->params->full)
        return;
    if (!d->drawn)
        draw(d, dispatch->blocks, cores);
    r->fewer = dispatch->blocks % cores && !(d->more[index / 64] >> index % 64 & 1);
}

static void start(struct rise *r, u32 slot)
{
    const struct rise_params *p = r->params;
    r->warp_left[slot] = 0;
    rise_partial_start(r, slot);
    if (p->partial && p->shuffle && !p->full)
        rise_shuffle(r, slot);
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    struct rise *r = state;
    r->core = core;
    r->left[place] = 0;
    r->whole[place] = started && r->fewer && !r->chosen;
    r->chosen |= r->whole[place];
    r->stats->blocks += r->whole[place];
    for (u64 set = started ? core_block(core, place)->slots : 0; set; set &= set - 1)
        start(r, first_bit(set));
}

/* ---- the mechanism ---- */

static void create(void *state, struct core *core)
{
    ((struct rise *)state)->core = core;
}

static void launch(void *state, struct core *core, bool begins)
{
    struct rise *r = state;
    r->core = core;
    rise_partial_launch(r, begins);
}

static void destroy(void *state)
{
    rise_partial_launch(state, false);
}

static bool serves(const void *params, const struct core_config *machine, struct error *error)
{
    const struct rise_params *p = params;
    if (is_pow2(p->reference))
        return true;
    return error_set(error, ERROR_USAGE, "rise.reference",
                     "%u: expected a power of two, because controllers divide by shifting",
                     p->reference);
}

static u32 idle(const void *params)
{
    const struct rise_params *p = params;
    return (p->request_pending && !p->full ? 0 : 1u << SEAM_REPLY) |
           (p->idle_cores && !p->full ? 0 : 1u << SEAM_DISPATCH) |
           (p->partial && !p->full ? 0 : 1u << SEAM_PICK);
}

/* They skip instructions, issue them for several warps at once, or hold results. */
static const char *const conflicts[] = {"dac_ideal", "darsie", "uniform", NULL};

const struct mechanism rise_mechanism = {
    MECHANISM_NAMED(rise, "instructions are executed twice where lanes would be idle"),
    .source = "J. Tan, \"Architectural approaches to design reliable and energy-efficient GPUs\", "
              "dissertation, University of Houston, 2016, chapter 3; J. Tan, X. Fu, \"RISE: "
              "improving the "
              "streaming processors reliability against soft errors in GPGPUs\", PACT 2012",
    .deviations = rise_deviations,
    .conflicts = conflicts,
    .events = rise_events,
    .state_size = sizeof(struct rise),
    .forgets = true,
    .random = true,
    .dispatcher_size = sizeof(struct rise_dispatcher),
    .memory_size = sizeof(struct rise_memory),
    .create = create,
    .destroy = destroy,
    .serves = serves,
    .idle = idle,
    .storage = rise_storage,
    .launch = launch,
    .pick = rise_pick,
    .operand = operand,
    .insert = insert,
    .issued = issued,
    .write_back = rise_write_back,
    .retired = retired,
    .reply = reply,
    .dram = rise_dram,
    .dispatch = dispatch,
    .block = block,
};
