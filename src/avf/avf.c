/*
 * Architectural vulnerability factors (AVF) by ACE analysis: the share of a structure's bits that
 * must be right for the program's result to be right, on average over all cycles (Mukherjee et al.,
 * 2003). An observer: results and timing do not change.
 *
 * Each core keeps a log of its instructions and analyses it backwards (avf.h, flow.c, needs.h).
 *
 * When a register read counts: with avf.read=collect, in the cycle in which the instruction has all
 * operands and leaves its collector; with avf.read=issue, and on pipelines without collectors, when
 * it issues. A write counts when the result is in the register. Scalars and predicates are read at
 * issue.
 *
 * A unit's lane is vulnerable while it executes an instruction whose result is needed in this lane,
 * for the cycles in which the instruction occupies the unit's entry. In a pipelined unit every stage
 * holds the same share, so this is also the share of its pipeline registers.
 *
 * Seams: issued, collected, view, retired, block, settle.
 */
#include "avf/avf.h"
#include <stdlib.h>

#define COMPONENT avf
#define COMPONENT_DEF "avf/avf.def"
#define COMPONENT_HELP "vulnerability of structures to soft errors (AVF)"
#include "base/component_table.h"

enum {
    READ_ISSUE,
    READ_COLLECT
};

/* ---- lifetimes ---- */

enum {
    LIFETIMES = 7,
    SHORT_LIFE = 10 /* instructions: Tan, 2016, section 4.1 */
};
static const u32 longest[LIFETIMES] = {1, 2, 5, 10, 20, 50, UINT32_MAX};

void avf_count_vector(struct avf *a, const struct ended *ended, u32 writer, u32 number,
                      bool written)
{
    struct avf_stats *s = a->stats;
    u64 *const values[LIFETIMES] = {&s->values_1,  &s->values_2,  &s->values_5,   &s->values_10,
                                    &s->values_20, &s->values_50, &s->values_more};
    u64 *const ace[LIFETIMES] = {&s->ace_1,  &s->ace_2,  &s->ace_5,   &s->ace_10,
                                 &s->ace_20, &s->ace_50, &s->ace_more};
    const u32 life = ended->last - number;
    u32 i = 0;
    while (life > longest[i])
        i++;
    s->vector_ace += ended->ace;
    if (written) {
        s->values++;
        *(ended->was_read ? values[i] : &s->values_unread) += 1;
        s->values_read += ended->was_read;
        s->values_short += ended->was_read && life <= SHORT_LIFE;
    }
    *(writer == NO_INST ? &s->ace_initial : ace[i]) += ended->ace;
    s->ace_long += writer == NO_INST || life > SHORT_LIFE ? ended->ace : 0;
    if (writer != NO_INST)
        core_inst_profile(a->core, writer)->ace += ended->ace;
}

/* ---- capacities ---- */

/* Bits of resident blocks up to a cycle. */
static void count_resident(struct avf *a, u64 cycle)
{
    const u64 cycles = cycle > a->settled ? cycle - a->settled : 0;
    const u64 warps = count_lanes(a->resident), blocks = count_lanes(a->blocks);
    a->stats->vector_allocated += cycles * warps * a->registers * a->warp_size * 32;
    a->stats->scalar_bits += cycles * warps * a->scalars * 32;
    a->stats->shared_allocated += cycles * blocks * a->shared_words * 32;
    a->settled = MAX(a->settled, cycle);
}

/* All bits and lanes of a core, for `cycles`. */
static void count_capacity(struct avf *a, u64 cycles)
{
    const struct core_params *sizes = core_config(a->core)->core;
    const struct units_params *u = core_config(a->core)->units;
    a->stats->vector_bits += cycles * sizes->registers * 32;
    a->stats->shared_bits += cycles * sizes->shared_bytes * 8;
    a->stats->sp_lanes += cycles * u->sp * u->sp_lanes;
    a->stats->int_lanes += cycles * u->integer * u->sp_lanes;
    a->stats->fp64_lanes += cycles * u->fp64 * u->fp64_lanes;
    a->stats->sfu_lanes += cycles * u->sfu * u->sfu_lanes;
}

/* ---- passes ---- */

static void reset_slots(struct avf *a, u64 slots, bool dead)
{
    for (; slots; slots &= slots - 1) {
        const u32 s = first_bit(slots);
        tracked_reset(&a->vectors, s * a->registers, a->registers, dead, a->numbers[s]);
        tracked_reset(&a->words, s * a->scalars, a->scalars, dead, a->numbers[s]);
    }
}

static void reset_blocks(struct avf *a, u64 places, bool dead)
{
    for (; places; places &= places - 1)
        tracked_reset(&a->shared, first_bit(places) * a->shared_words, a->shared_words, dead, 0);
}

/* The accounted part of the log ends here: what is needed later is needed up to this cycle. */
static void mark(struct avf *a, u32 cycle)
{
    for (u64 set = a->alive; set; set &= set - 1) {
        const u32 s = first_bit(set);
        tracked_mark(&a->vectors, s * a->registers, a->registers, cycle);
        tracked_mark(&a->words, s * a->scalars, a->scalars, cycle);
    }
    for (u64 set = a->block_alive; set; set &= set - 1)
        tracked_mark(&a->shared, first_bit(set) * a->shared_words, a->shared_words, cycle);
    a->vectors.live = a->vectors.undecided = a->words.undecided = a->shared.undecided = 0;
    a->accounting = a->vectors.counts = a->words.counts = a->shared.counts = true;
}

static void back(struct avf *a, const struct avf_entry *e)
{
    switch (e->kind) {
    case ENTRY_INST:
        flow_back(a, e);
        break;
    case ENTRY_START:
        flow_close(a, e->lanes, avf_cycles(a, e->issued), true);
        shared_close(a, bit(e->place), avf_cycles(a, e->issued));
        a->alive &= ~e->lanes;
        a->block_alive &= ~bit(e->place);
        break;
    default:
        a->alive |= e->lanes;
        a->block_alive |= bit(e->place);
        reset_slots(a, e->lanes, true);
        reset_blocks(a, bit(e->place), true);
    }
}

/* The rest of the log begins with what was written before it. */
static void keep_writers(struct avf *a)
{
    for (u32 i = 0; i < CORE_WARPS * a->registers; i++) {
        struct tracked_row *r = &a->vectors.rows[i];
        if (r->next_known) {
            r->writer = r->next_writer;
            r->writer_number = r->next_number;
        }
        r->next_known = false;
    }
}

/* Accounts for the first `count` entries, up to a cycle, and drops them. */
static void pass(struct avf *a, u32 count, u32 until)
{
    a->alive = a->resident;
    a->block_alive = a->blocks;
    a->accounting = a->vectors.counts = a->words.counts = a->shared.counts = false;
    reset_slots(a, a->resident, false);
    reset_blocks(a, a->blocks, false);
    for (u32 i = a->count; i > count; i--)
        back(a, &a->entries[i - 1]);
    mark(a, avf_cycles(a, until));
    for (u32 i = count; i > 0; i--)
        back(a, &a->entries[i - 1]);
    flow_close(a, a->alive, 0, false);
    shared_close(a, a->block_alive, 0);
    a->stats->vector_live += 32 * a->vectors.live;
    a->stats->vector_undecided += a->vectors.undecided;
    a->stats->scalar_undecided += a->words.undecided;
    a->stats->shared_undecided += a->shared.undecided;
    keep_writers(a);
    log_drop(a, count);
    a->from = until;
}

/* Three quarters of the log, but no instruction that is in flight, unless that would leave too little. */
static void pass_older(struct avf *a)
{
    const u32 now = (u32)core_cycle(a->core), most = MAX(a->count - a->count / 4, 1u);
    u32 count = 0;
    while (count < most && !a->entries[count].open)
        count++;
    count = count < most / 4 ? most : MAX(count, 1u);
    for (u32 i = 0; i < count; i++)
        if (a->entries[i].open)
            a->entries[i].written = now;
    pass(a, count, count < a->count ? a->entries[count].issued : now);
}

/* ---- seams ---- */

static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct avf *a = state;
    if (inflight->injected || inflight->dyn.homes)
        return;
    if (!log_has_room(a))
        pass_older(a);
    log_inst(a, inflight);
}

static struct avf_entry *entry_of(struct avf *a, const struct inflight *inflight)
{
    const u32 at = a->entry_of[inflight_index(a->core, inflight)];
    return at == NO_ENTRY || inflight->injected || inflight->dyn.homes ? NULL : &a->entries[at];
}

static void collected(void *state, struct core *core, struct inflight *inflight)
{
    struct avf *a = state;
    struct avf_entry *e = entry_of(a, inflight);
    if (e && a->params->read == READ_COLLECT)
        e->read = (u32)core_cycle(core);
}

static struct memory_view *view(void *state, struct core *core, struct inflight *inflight,
                                struct memory_view *view)
{
    struct avf_entry *e = entry_of(state, inflight);
    if (e)
        e->acted = (u32)core_cycle(core);
    return view;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct avf *a = state;
    struct avf_entry *e = entry_of(a, inflight);
    a->entry_of[inflight_index(core, inflight)] = NO_ENTRY;
    if (!e)
        return;
    e->written = (u32)core_cycle(core);
    e->open = false;
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    struct avf *a = state;
    if (!log_has_room(a))
        pass_older(a);
    count_resident(a, core_cycle(core));
    struct avf_entry *e = log_add(a, started ? ENTRY_START : ENTRY_END);
    e->place = (u8)place;
    if (started) {
        a->block_slots[place] = core_block(core, place)->slots;
        a->resident |= a->block_slots[place];
        a->blocks |= bit(place);
        for (u64 set = a->block_slots[place]; set; set &= set - 1)
            a->numbers[first_bit(set)] = 0;
    } else {
        a->resident &= ~a->block_slots[place];
        a->blocks &= ~bit(place);
    }
    e->lanes = a->block_slots[place];
}

static void settle(void *state, struct core *core, fs now)
{
    struct avf *a = state;
    const u64 cycles = core_cycles_until(core, now);
    count_capacity(a, cycles - a->counted);
    a->counted = cycles;
    count_resident(a, cycles);
    if (!a->resident || core_exec(core)->stopped)
        pass(a, a->count, (u32)cycles);
}

/* ---- launches ---- */

static void free_launch(struct avf *a)
{
    tracked_destroy(&a->vectors);
    tracked_destroy(&a->words);
    tracked_destroy(&a->shared);
    free(a->plan);
    a->plan = NULL;
}

static void begin(struct avf *a, struct core *core)
{
    const struct exec *exec = core_exec(core);
    const struct program *program = exec->image->program;
    free_launch(a);
    a->core = core;
    a->insts = program->insts;
    a->warp_size = core_warp_size(core);
    a->chunks = (a->warp_size + LANES - 1) / LANES;
    a->exec_masks = program->traits.explicit_exec;
    a->registers = exec->register_rows;
    a->scalars = a->exec_masks ? SCALAR_COUNT : exec->masks * a->chunks;
    a->shared_words = (exec->shared_bytes + 3) / 4;
    a->plan = checked(calloc(program->inst_count, sizeof *a->plan));
    for (u32 i = 0; i < program->inst_count; i++)
        flow_plan(&a->plan[i], &program->insts[i]);
    tracked_create(&a->vectors, CORE_WARPS * a->registers, a->warp_size);
    tracked_create(&a->words, CORE_WARPS * a->scalars, 1);
    tracked_create(&a->shared, MIN(CORE_BLOCKS, core_config(core)->core->blocks) * a->shared_words,
                   1);
    memset(a->entry_of, 0xff, sizeof a->entry_of);
    a->count = a->pool_used = a->from = 0;
    a->settled = a->counted = 0;
    a->resident = a->blocks = 0;
}

static void launch(void *state, struct core *core, bool begins)
{
    if (begins)
        begin(state, core);
    else
        free_launch(state);
}

static void create(void *state, struct core *core)
{
    struct avf *a = state;
    a->entries = mechanism_alloc(state, a->params->window * sizeof *a->entries);
    a->pool = mechanism_alloc(state, (size_t)a->params->window * POOL_WORDS * sizeof *a->pool);
}

static void destroy(void *state)
{
    free_launch(state);
}

/* They issue for several warps at once, or skip instructions. */
static const char *const conflicts[] = {"dac_ideal", "darsie", "uniform", NULL};

static const char *const deviations[] = {
    "Needed bits are those without which no needed result is right (rules in src/avf/needs.def), "
    "so "
    "AVF is an upper bound: most operations need all bits of their sources.",
    "Values that are not decided when a window ends count as needed; avf.vector_undecided says how "
    "many, at most.",
    "What is stored in local or global memory is needed.",
    "The destination of a dead instruction is not counted as vulnerable, though an error in its "
    "register number would overwrite another register.",
    NULL,
};

const struct mechanism avf_mechanism = {
    MECHANISM_NAMED(avf, "computes the vulnerability of structures to soft errors (AVF)"),
    .source = "S. S. Mukherjee et al., \"A systematic methodology to compute the architectural "
              "vulnerability factors for a high-performance microprocessor\", MICRO 2003",
    .deviations = deviations,
    .conflicts = conflicts,
    .state_size = sizeof(struct avf),
    .create = create,
    .destroy = destroy,
    .launch = launch,
    .block = block,
    .issued = issued,
    .collected = collected,
    .view = view,
    .retired = retired,
    .settle = settle,
};
