/*
 * LESS: a register file of two segments, STT-RAM and SRAM (Tan, 2016, chapter 4). Cells of STT-RAM
 * do not flip and hardly leak, but a write takes several cycles and holds its result bus meanwhile.
 * So only registers with long-lived values are there (LA-LESS; less_place.c), and two narrow
 * results, whose upper 16 bits are zero, share a bus (NWA-LESS).
 *
 * Each segment has as many banks as the machine's file. Banks of the same number share the wires to
 * the operand collectors and from the result buses, so together they serve one read per cycle and
 * take one write at a time; they have a port for each.
 *
 * A bus has two valid bits, one for each half of every 32 bits. A narrow write to STT-RAM joins
 * another one that has set one of them (in `consecutive` mode only in the same cycle or the next),
 * and never waits for a partner. If both are set it waits for a bus, as other writes do. A bus is
 * free again when both are clear. Accesses to memory do the same with the ports of the load/store
 * unit.
 *
 * Seams: allocate, block, places, result, retired, launch, settle.
 *
 * Invariants
 *  L3  While a half of a bus is valid, the core has the bus reserved.
 *  L4  Register accesses count once: reads when `places` is asked, writes when they retire. Their
 *      lanes add up to collect.lane_reads and collect.lane_writes.
 */
#include "mech/less.h"

#define COMPONENT less
#define COMPONENT_DEF "mech/less.def"
#define COMPONENT_HELP "register file of STT-RAM and SRAM"
#include "base/component_table.h"

enum {
    NARROW_BITS = 16
};

/* ---- reads ---- */

static void place_reads(struct less *l, const struct inflight *inflight, struct places *places)
{
    const u32 lanes = count_lanes(inflight->dyn.lanes);
    for (u32 i = 0; i < places->count; i++) {
        struct bank_access *place = &places->at[i];
        const u32 row = core_register_row(l->core, inflight->slot, place->reg, 0);
        const bool stt = less_in_stt(l, row);
        place->banks = core_bank_mask(l->core, less_bank(l, inflight->slot, place->reg, row));
        *(stt ? &l->stats->stt_reads : &l->stats->sram_reads) += 1;
        *(stt ? &l->stats->stt_read_lanes : &l->stats->sram_read_lanes) += lanes;
        l->stats->halved_reads += stt && l->pairs;
    }
}

/* ---- narrow results ---- */

static void result(void *state, struct core *core, struct inflight *inflight)
{
    struct less *l = state;
    struct less_inflight *t = &l->inflight[inflight_index(core, inflight)];
    const struct dyninst *dyn = &inflight->dyn;
    u32 all = 0, registers = 0;
    t->narrow = false;
    if (dyn->kind > DYNINST_ACCESS)
        return;
    for (u32 k = 0; k < ARRAY_LEN(dyn->dst); k++)
        for (u32 r = 0; dyn->dst[k] && r < dyn->dst_rows[k]; r++, registers++)
            for (lane_set set = dyn->writes; set; set &= set - 1)
                all |= dyn->dst[k][r * core_warp_size(core) + first_lane(set)];
    l->stats->checked_lanes += (u64)registers * count_lanes(dyn->writes);
    t->narrow = registers && !(all >> NARROW_BITS);
}

/* ---- buses ---- */

static struct less_bus *buses_of(struct less *l, const struct inflight *inflight)
{
    return l->buses[inflight->pipe == PIPE_MEMORY];
}

/* Whether a narrow result may use the half of a bus that another one, in half `h`, leaves free. */
static bool may_share(const struct less *l, const struct inflight *inflight,
                      const struct less_bus *bus, u32 h)
{
    const u64 now = core_cycle(l->core);
    return bus->half[h].until > now && bus->half[!h].until <= now &&
           bus->half[h].slot != inflight->slot &&
           (l->params->pair || now - bus->half[h].began <= 1);
}

static void find_bus(struct less *l, const struct inflight *inflight, struct places *places)
{
    const struct less_bus *buses = buses_of(l, inflight);
    for (u32 b = 0; b < MOST_BUSES; b++)
        if (may_share(l, inflight, &buses[b], 0) || may_share(l, inflight, &buses[b], 1)) {
            places->shares_bus = true;
            places->bus = (u8)b;
            return;
        }
}

/* The result has taken its bus (inflight->bus). */
static void set_halves(struct less *l, const struct inflight *inflight,
                       const struct less_inflight *t)
{
    struct less_bus *bus = &buses_of(l, inflight)[inflight->bus];
    const u64 now = core_cycle(l->core);
    if (!t->stt || !t->narrow) {
        bus->half[0].until = bus->half[1].until = 0;
        return;
    }
    const u32 h = t->shares && bus->half[0].until > now;
    bus->half[h].began = now;
    bus->half[h].until = now + l->params->write_cycles;
    bus->half[h].slot = inflight->slot;
}

/* ---- writes ---- */

static void place_writes(struct less *l, const struct inflight *inflight, struct places *places)
{
    struct less_inflight *t = &l->inflight[inflight_index(l->core, inflight)];
    t->stt = t->sram = 0;
    for (u32 i = 0; i < places->count; i++) {
        struct bank_access *place = &places->at[i];
        const u32 row = core_register_row(l->core, inflight->slot, place->reg, 0);
        const bool stt = less_in_stt(l, row);
        place->banks = core_bank_mask(l->core, less_bank(l, inflight->slot, place->reg, row));
        place->cycles = stt ? (u8)l->params->write_cycles : 1;
        *(stt ? &t->stt : &t->sram) += 1;
    }
    places->arbitrate = places->write_ports = true;
    if (t->stt)
        places->bus_cycles = (u8)l->params->write_cycles;
    if (t->stt && t->narrow && l->pairs)
        find_bus(l, inflight, places);
    t->shares = places->shares_bus;
}

static void places(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places)
{
    if (write)
        place_writes(state, inflight, places);
    else
        place_reads(state, inflight, places);
}

static void count_writes(struct less *l, const struct inflight *inflight,
                         const struct less_inflight *t)
{
    struct less_stats *s = l->stats;
    const u32 lanes = count_lanes(inflight->dyn.lanes);
    s->stt_writes += t->stt;
    s->sram_writes += t->sram;
    s->writes += t->stt + t->sram;
    s->halved_writes += l->pairs ? t->stt : 0;
    s->stt_write_lanes += t->stt * lanes;
    s->sram_write_lanes += t->sram * lanes;
    s->slow += t->stt != 0;
    s->narrow += t->stt && t->narrow;
    s->paired += t->shares;
}

/* Registers in STT-RAM that the result has been written to. */
static void store(struct less *l, const struct inflight *inflight, const struct less_inflight *t)
{
    const struct dyninst *dyn = &inflight->dyn;
    for (u32 k = 0; k < ARRAY_LEN(dyn->dst); k++)
        for (u32 r = 0; r < dyn->dst_rows[k]; r++) {
            const u32 reg = dyn->to[k] + r;
            if (less_in_stt(l, core_register_row(l->core, inflight->slot, reg, 0)))
                less_store(l, inflight->slot, reg, dyn->writes, t->narrow);
        }
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct less *l = state;
    const struct dyninst *dyn = &inflight->dyn;
    const struct less_inflight *t = &l->inflight[inflight_index(core, inflight)];
    if (inflight->dropped)
        return;
    count_writes(l, inflight, t);
    if (!l->pairs)
        return;
    if (t->stt || t->sram)
        set_halves(l, inflight, t);
    const struct slot *slot = core_slot(core, inflight->slot);
    if (dyn->kind <= DYNINST_ACCESS && dyn->writes && slot->warp == dyn->warp && !slot->ended)
        store(l, inflight, t);
}

/* ---- warps, launches ---- */

static void allocate(void *state, struct core *core, u32 slot, u32 *rows, u32 count)
{
    less_allocate(state, slot, rows, count);
}

static void block(void *state, struct core *core, u32 block_slot, bool started)
{
    for (u64 set = started ? core_block(core, block_slot)->slots : 0; set; set &= set - 1)
        less_start(state, first_bit(set));
}

static void launch(void *state, struct core *core, bool begins)
{
    struct less *l = state;
    less_launch(l, begins);
    memset(l->buses, 0, sizeof l->buses);
    l->waited = (struct write_waits){0};
}

/* The cycles that writes have waited since the last call. */
static void settle(void *state, struct core *core, fs now)
{
    struct less *l = state;
    const struct write_waits waits = *core_write_waits(core);
    l->stats->bank_waits += waits.banks - l->waited.banks;
    l->stats->bus_waits += waits.buses - l->waited.buses;
    l->waited = waits;
}

static u32 idle(const void *params)
{
    const struct less_params *p = params;
    return p->mode == LESS_LA ? 1u << SEAM_RESULT : 0;
}

static void create(void *state, struct core *core)
{
    less_create_places(state, core);
}

static void destroy(void *state)
{
    less_launch(state, false);
}

/* These mechanisms keep registers in forms of their own, or issue for several warps at once. */
static const char *const conflicts[] = {"dac_ideal", "darsie", "uniform", NULL};

static const char *const deviations[] = {
    "The text does not say what the lifetime of a value is where paths or loops differ: here it is "
    "the longest path, and values that are carried around a loop are long-lived.",
    "Of a register file with segments that overflow into each other, the text says that no other "
    "hardware is required than a multiplexer. Overflowing registers are found here by a map, whose "
    "bits and energy are not counted.",
    "The text combines narrow writes in consecutive cycles, but its state machine lets a partner "
    "join at any time: parameter `pair`. Inactive lanes do not count when a result is examined for "
    "being narrow, and a result of several registers is narrow if all are.",
    "How a narrow value gets its upper zeros is not said. Here a bit for each row of STT-RAM says "
    "that only lower halves are stored; the energy of such a write is that of a whole one.",
    "Loads do not return over a result bus here, but over the ports of the load/store unit, which "
    "are held and shared in the same way.",
    "A result of two registers holds one bus, as without the mechanism.",
    NULL,
};

const struct mechanism less_mechanism = {
    MECHANISM_NAMED(less, "registers with long-lived values are in STT-RAM, all others in SRAM"),
    .source = "J. Tan, \"Architectural approaches to design reliable and energy-efficient GPUs\", "
              "dissertation, University of Houston, 2016, chapter 4",
    .deviations = deviations,
    .conflicts = conflicts,
    .events = less_events,
    .replaces = less_replaces,
    .cells = less_cells,
    .state_size = sizeof(struct less),
    .create = create,
    .destroy = destroy,
    .idle = idle,
    .storage = less_storage,
    .launch = launch,
    .allocate = allocate,
    .block = block,
    .places = places,
    .result = result,
    .retired = retired,
    .settle = settle,
};
