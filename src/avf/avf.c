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
 * Seams: fetched, issued, collecting, collected, view, retired, block, settle; of caches and
 * requests to the L2: sent, cache_event, packet, reply, l2_request, l2_event, launch_done (reads.c);
 * dram, settle_memory (dram.c).
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

void avf_count_vector(struct avf *a, const struct ended *ended, u32 writer, u32 number,
                      bool written)
{
    struct avf_stats *s = a->stats;
    const u32 life = ended->last - number, i = life_class(life);
    s->vector_ace += ended->ace;
    s->vector_safe += ended->safe;
    s->vector_vulnerable += ended->ace - ended->safe;
    if (written) {
        s->values++;
        *(ended->was_read ? &a->lives[i] : &s->values_unread) += 1;
        s->values_read += ended->was_read;
        s->values_short += ended->was_read && life <= LIFE_LIMIT;
    }
    *(writer == NO_INST ? &s->ace_initial : &a->life_ace[i]) += ended->ace;
    s->ace_long += writer == NO_INST || life > LIFE_LIMIT ? ended->ace : 0;
    if (writer != NO_INST)
        core_inst_profile(a->core, writer)->ace += ended->ace;
}

static void count_lifetimes(struct avf *a)
{
    struct avf_stats *s = a->stats;
    u64 *const values[LIFE_CLASSES] = {&s->values_1,  &s->values_2,  &s->values_5,   &s->values_10,
                                       &s->values_20, &s->values_50, &s->values_more};
    u64 *const ace[LIFE_CLASSES] = {&s->ace_1,  &s->ace_2,  &s->ace_5,   &s->ace_10,
                                    &s->ace_20, &s->ace_50, &s->ace_more};
    for (u32 i = 0; i < LIFE_CLASSES; i++) {
        *values[i] += a->lives[i];
        *ace[i] += a->life_ace[i];
        a->lives[i] = a->life_ace[i] = 0;
    }
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
    front_count_resident(a, cycles, warps);
    a->settled = MAX(a->settled, cycle);
}

/* What is known of a cache so far; and all of it, for `cycles`. */
#define COUNT_CACHE(s, name, lines, cycles)                                     \
    do {                                                                        \
        (s)->name##_lines += (u64)(lines)->places * (cycles);                   \
        (s)->name##_lines_held += (lines)->counts.lines_held;                   \
        (s)->name##_lines_ace += (lines)->counts.lines_ace;                     \
        (s)->name##_lines_refetched += (lines)->counts.lines_refetched;         \
        (s)->name##_lines_undecided += (lines)->counts.lines_undecided;         \
        (s)->name##_bits += 8ull * (lines)->bytes * (lines)->places * (cycles); \
        (s)->name##_bits_held += (lines)->counts.bits_held;                     \
        (s)->name##_bits_ace += (lines)->counts.bits_ace;                       \
        (s)->name##_bits_undecided += (lines)->counts.bits_undecided;           \
        (lines)->counts = (struct line_counts){0};                              \
    } while (0)

static void count_caches(struct avf *a, u64 cycles)
{
    struct avf_lines *caches = a->requests.caches;
    COUNT_CACHE(a->stats, icache, &caches[CLIENT_FETCH], cycles);
    COUNT_CACHE(a->stats, l1d, &caches[CLIENT_L1D], cycles);
    COUNT_CACHE(a->stats, constant, &caches[CLIENT_CONSTANT], cycles);
    COUNT_CACHE(a->stats, readonly, &caches[CLIENT_READONLY], cycles);
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
    count_caches(a, cycles);
    front_count(a, cycles);
    packets_count(a, cycles);
}

/* ---- passes ---- */

/* Warps take the lowest free slots. */
static u32 slots_of(const struct core *core)
{
    return MIN(core_config(core)->core->warps, (u32)CORE_WARPS);
}

static void reset_slots(struct avf *a, u64 slots, bool dead)
{
    for (; slots; slots &= slots - 1) {
        const u32 s = first_bit(slots);
        tracked_reset(&a->vectors, s * a->registers, a->registers, dead, a->numbers[s]);
        tracked_reset(&a->words, s * a->scalars, a->scalars, dead, a->numbers[s]);
        tracked_reset(&a->active, s * a->chunks, a->chunks, dead, 0);
    }
}

static void reset_blocks(struct avf *a, u64 places, bool dead)
{
    for (; places; places &= places - 1)
        tracked_reset(&a->shared, first_bit(places) * a->shared_words, a->shared_words, dead, 0);
}

#define EACH_TRACKED(t, a) for (struct tracked *t = &(a)->vectors; t <= &(a)->active; t++)

static void set_accounting(struct avf *a, bool on)
{
    a->accounting = on;
    EACH_TRACKED(t, a)
    t->counts = on;
}

/* The accounted part of the log ends here: what is needed later is needed up to this cycle. */
static void mark(struct avf *a, u32 cycle)
{
    for (u64 set = a->alive; set; set &= set - 1) {
        const u32 s = first_bit(set);
        tracked_mark(&a->vectors, s * a->registers, a->registers, cycle);
        tracked_mark(&a->words, s * a->scalars, a->scalars, cycle);
        tracked_mark(&a->active, s * a->chunks, a->chunks, cycle);
    }
    for (u64 set = a->block_alive; set; set &= set - 1)
        tracked_mark(&a->shared, first_bit(set) * a->shared_words, a->shared_words, cycle);
    a->vectors.live = 0;
    EACH_TRACKED(t, a)
    t->undecided = 0;
    set_accounting(a, true);
}

/* Registers that became safe here, or were safe until here. */
static void turn(struct avf *a, const struct avf_entry *e)
{
    for (u32 r = 0; r < a->registers; r++)
        if (a->pool[e->values + r / 32] >> r % 32 & 1)
            tracked_turn(&a->vectors, e->slot * a->registers + r, avf_cycles(a, e->issued));
}

/* The end of the log: which registers are safe now. */
static void take_safe(struct avf *a)
{
    for (u32 i = 0; i < slots_of(a->core) * a->registers; i++) {
        const u32 slot = i / a->registers, reg = i % a->registers;
        a->vectors.rows[i].safe = a->safe[slot * a->safe_words + reg / 64] >> reg % 64 & 1;
    }
}

static void back(struct avf *a, const struct avf_entry *e)
{
    switch (e->kind) {
    case ENTRY_INST:
        flow_back(a, e);
        break;
    case ENTRY_START:
        flow_close(a, e->lanes, avf_cycles(a, e->issued), true);
        front_close(a, e->lanes, avf_cycles(a, e->issued));
        shared_close(a, bit(e->place), avf_cycles(a, e->issued));
        a->alive = (a->alive & ~e->lanes) | e->active;
        a->block_alive &= ~bit(e->place);
        break;
    case ENTRY_COVER:
        turn(a, e);
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
    for (u32 i = 0; i < slots_of(a->core) * a->registers; i++) {
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
    set_accounting(a, false);
    take_safe(a);
    reset_slots(a, a->resident, false);
    reset_blocks(a, a->blocks, false);
    for (u32 i = a->count; i > count; i--)
        back(a, &a->entries[i - 1]);
    mark(a, avf_cycles(a, until));
    for (u32 i = count; i > 0; i--)
        back(a, &a->entries[i - 1]);
    flow_close(a, a->alive, 0, false);
    front_close(a, a->alive, 0);
    shared_close(a, a->block_alive, 0);
    a->stats->vector_live += 32 * a->vectors.live;
    a->stats->vector_undecided += a->vectors.undecided;
    a->stats->scalar_undecided += a->words.undecided;
    a->stats->shared_undecided += a->shared.undecided;
    a->stats->mask_undecided += a->active.undecided;
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

static void collecting(void *state, struct core *core, struct inflight *inflight)
{
    struct avf_entry *e = entry_of(state, inflight);
    if (e)
        e->collecting = (u32)core_cycle(core) + 1;
}

static void collected(void *state, struct core *core, struct inflight *inflight)
{
    struct avf *a = state;
    struct avf_entry *e = entry_of(a, inflight);
    if (!e)
        return;
    if (a->params->read == READ_COLLECT)
        e->read = (u32)core_cycle(core);
    e->collected = e->collecting ? MAX((u32)core_cycle(core), e->collecting) : 0;
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

/* A block may get slots of warps that have ended while others of their blocks still run: these blocks
 * have them no more. Returns those slots. */
static u64 take_slots(struct avf *a, u32 place)
{
    for (u32 other = 0; other < CORE_BLOCKS; other++)
        a->block_slots[other] &= other == place ? ~0ull : ~a->block_slots[place];
    return a->resident & a->block_slots[place];
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
        e->active = take_slots(a, place);
        a->resident |= a->block_slots[place];
        a->blocks |= bit(place);
        for (u64 set = a->block_slots[place]; set; set &= set - 1)
            a->numbers[first_bit(set)] = 0;
        front_start(a, a->block_slots[place]);
    } else {
        a->resident &= ~a->block_slots[place];
        a->blocks &= ~bit(place);
    }
    e->lanes = a->block_slots[place];
}

static void covered(void *state, struct core *core, u32 slot, const u64 *registers)
{
    struct avf *a = state;
    if (!log_has_room(a))
        pass_older(a);
    struct avf_entry *e = log_add(a, ENTRY_COVER);
    u64 *safe = &a->safe[slot * a->safe_words];
    e->slot = (u8)slot;
    for (u32 w = 0; w < a->safe_words; w++) {
        const u64 changed = safe[w] ^ registers[w];
        a->pool[a->pool_used++] = (u32)changed;
        a->pool[a->pool_used++] = (u32)(changed >> 32);
        safe[w] = registers[w];
    }
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
    count_lifetimes(a);
}

/* ---- launches ---- */

static void free_launch(struct avf *a)
{
    EACH_TRACKED(t, a)
    tracked_destroy(t);
    free(a->plan);
    free(a->safe);
    a->plan = NULL;
    a->safe = NULL;
}

static void begin(struct avf *a, struct core *core)
{
    const struct exec *exec = core_exec(core);
    const struct program *program = exec->image->program;
    const u32 warps = slots_of(core);
    free_launch(a);
    a->core = core;
    a->insts = program->insts;
    a->warp_size = core_warp_size(core);
    a->chunks = (a->warp_size + LANES - 1) / LANES;
    a->exec_masks = program->traits.explicit_exec;
    a->registers = exec->register_rows;
    a->scalars = a->exec_masks ? SCALAR_COUNT : exec->masks * a->chunks;
    a->shared_words = (exec->shared_bytes + 3) / 4;
    a->safe_words = a->registers / 64 + 1;
    a->safe = checked(calloc((size_t)warps * a->safe_words, sizeof *a->safe));
    a->plan = checked(calloc(program->inst_count, sizeof *a->plan));
    for (u32 i = 0; i < program->inst_count; i++)
        flow_plan(a, i);
    tracked_create(&a->vectors, warps * a->registers, a->warp_size);
    tracked_create(&a->words, warps * a->scalars, 1);
    tracked_create(&a->shared, MIN(CORE_BLOCKS, core_config(core)->core->blocks) * a->shared_words,
                   1);
    tracked_create(&a->active, warps * a->chunks, 1);
    memset(a->arrived, 0, sizeof a->arrived);
    memset(a->entry_of, 0xff, sizeof a->entry_of);
    a->count = a->pool_used = a->from = 0;
    a->settled = a->counted = 0;
    a->resident = a->blocks = 0;
    memset(a->block_slots, 0, sizeof a->block_slots);
}

static void launch(void *state, struct core *core, bool begins)
{
    struct avf *a = state;
    a->device->running = begins;
    if (begins)
        begin(state, core);
    else
        free_launch(state);
}

/* Everything is decided: no block is resident, and memory is idle. */
static void launch_done(void *const *states, u32 count, struct exec *exec)
{
    struct avf *first = states[0];
    struct avf_device *d = first->device;
    const u64 cycles = first->counted;
    for (u32 i = 0; i < count; i++) {
        reads_end(states[i], d->base + cycles);
        count_caches(states[i], 0);
    }
    lines_count(&d->l2, d->base + cycles);
    const struct l2_params *l2 = memory_system_l2(d->system);
    const u64 used = core_has_common_stages(first->core) ? cycles : 0;
    first->stats->dram_held += d->l2.counts.brought_held;
    first->stats->dram_ace += d->l2.counts.brought_ace;
    first->stats->dram_undecided += d->l2.counts.brought_undecided;
    COUNT_CACHE(first->stats, l2, &d->l2, used);
    dram_reset(d);
    first->stats->l2_waits_all +=
        used * memory_system_slices(d->system) * l2->mshrs * (u64)l2->merges;
    d->base += cycles;
    d->running = false;
}

static void create(void *state, struct core *core)
{
    struct avf *a = state;
    struct avf_device *d = a->device = mechanism_device(state);
    const u32 index = core_config(core)->index;
    a->core = core;
    if (index >= d->core_count) {
        d->core_count = index + 1;
        d->cores = checked(realloc(d->cores, d->core_count * sizeof *d->cores));
    }
    d->cores[index] = a;
    reads_create(a, core);
    a->entries = mechanism_alloc(state, a->params->window * sizeof *a->entries);
    a->pool = mechanism_alloc(state, (size_t)a->params->window * POOL_WORDS * sizeof *a->pool);
}

static void destroy(void *state)
{
    free_launch(state);
    reads_destroy(state);
}

static void create_memory(void *memory, struct memory_system *system, u32 partition, u32 slices)
{
    enum {
        SPARE = 4096
    };
    struct avf_device *d = mechanism_device(memory);
    const struct l2_params *l2 = memory_system_l2(system);
    d->system = system;
    d->slice_places = l2->sets * l2->ways;
    if (!d->seen)
        d->seen = checked(calloc(memory_system_slices(system), sizeof *d->seen));
    if (!d->l2.places && l2->enabled)
        lines_create(&d->l2, (u64)memory_system_slices(system) * d->slice_places, l2->line_bytes,
                     SPARE);
    if (!d->waiters && d->l2.places)
        dram_create_waiters(d);
}

static void destroy_device(void *device)
{
    struct avf_device *d = device;
    lines_destroy(&d->l2);
    dram_destroy_waiters(d);
    free(d->cores);
    free(d->seen);
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
    "Caches: lifetime analysis after A. Biswas et al., \"Computing architectural vulnerability "
    "factors "
    "for address-based structures\", ISCA 2005, without their analysis of tags that differ in one "
    "bit: "
    "errors that make a wrong line hit are not counted.",
    NULL,
};

const struct mechanism avf_mechanism = {
    MECHANISM_NAMED(avf, "computes the vulnerability of structures to soft errors (AVF)"),
    .source = "S. S. Mukherjee et al., \"A systematic methodology to compute the architectural "
              "vulnerability factors for a high-performance microprocessor\", MICRO 2003",
    .deviations = deviations,
    .conflicts = conflicts,
    .state_size = sizeof(struct avf),
    .device_size = sizeof(struct avf_device),
    .destroy_device = destroy_device,
    .one_thread = true, /* what the L2 holds is needed if a core needs it */
    .no_operands = true,
    .optional = 1u << SEAM_PACKET | 1u << SEAM_REPLY | 1u << SEAM_FETCHED | 1u << SEAM_COLLECTING |
                1u << SEAM_SENT,
    .optional_dram = true,
    .memory_size = sizeof(struct avf_memory),
    .create_memory = create_memory,
    .l2_request = reads_l2_request,
    .l2_reply = reads_l2_reply,
    .l2_event = reads_l2_event,
    .dram = dram_hook,
    .settle_memory = dram_settle,
    .cache_event = reads_cache_event,
    .sent = reads_sent,
    .packet = reads_packet,
    .reply = reads_reply,
    .launch_done = launch_done,
    .create = create,
    .destroy = destroy,
    .launch = launch,
    .block = block,
    .covered = covered,
    .issued = issued,
    .fetched = front_fetched,
    .collecting = collecting,
    .collected = collected,
    .view = view,
    .retired = retired,
    .settle = settle,
};
