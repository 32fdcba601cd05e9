/*
 * Error-correcting codes for vector registers: single errors of a 32-bit word are corrected, double
 * ones detected (SEC-DED), by 7 check bits for each word. Two designs, those that Tan (2016, section
 * 4.4.3) compares LESS with: check bits for all registers; or Shield, a small table of check bits
 * for registers that hold long-lived values.
 *
 * In the table, a register gets an entry when an instruction writes a long-lived value to it and an
 * entry is free. It loses it when a short-lived value overwrites the register in all lanes, or its
 * warp ends. A value is long-lived if the longest path to its last read has more than `limit`
 * instructions.
 *
 * Seams: launch, block, places, retired.
 *
 * Invariants
 *  E1  A register has its bit in `safe` exactly while it has check bits; core_cover has been told.
 *  E2  Entries in use: as many as bits in `safe`, of all slots.
 */
#include "core/mechanism.h"
#include <stdlib.h>

#define COMPONENT register_ecc
#define COMPONENT_DEF "mech/register_ecc.def"
#define COMPONENT_HELP "error-correcting codes of vector registers"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    ECC_ALL, /* parameter mode */
    ECC_TABLE,
    CHECK_BITS = 7, /* for 32 bits: Tan 2016, section 4.4.3 */
    WORD_BITS = 32
};

struct register_ecc {
    MECHANISM_STATE(register_ecc);
    struct core *core;
    u32 registers, words; /* of a warp; of a set of them */
    u8 (*long_lived)[2];  /* by instruction and destination; NULL: not known yet */
    u64 *safe;            /* by slot: a set of registers */
    u32 used;             /* E2 */
};

static u64 *safe_of(const struct register_ecc *e, u32 slot)
{
    return e->safe + (size_t)slot * e->words;
}

static bool is_safe(const struct register_ecc *e, u32 slot, u32 reg)
{
    return safe_of(e, slot)[reg / 64] >> reg % 64 & 1;
}

/* ---- long-lived values ---- */

static void find_function(struct register_ecc *e, const struct program *program,
                          const struct function *f)
{
    struct arena *arena = arena_create();
    const struct lifetimes *found = lifetimes_of(arena, program, f);
    for (u32 i = f->first; i < f->end; i++)
        for (u32 k = 0; k < 2; k++)
            e->long_lived[i][k] = found->life[i - f->first][k] > e->params->limit;
    arena_destroy(arena);
}

static void find_lifetimes(struct register_ecc *e)
{
    const struct program *program = core_exec(e->core)->image->program;
    e->long_lived = checked(calloc(MAX(program->inst_count, 1u), sizeof *e->long_lived));
    for (u32 n = 0; n < program->function_count; n++)
        if (program->functions[n].first != program->functions[n].end)
            find_function(e, program, &program->functions[n]);
}

/* ---- the table ---- */

static void give(struct register_ecc *e, u32 slot, u32 reg)
{
    safe_of(e, slot)[reg / 64] &= ~bit(reg % 64);
    e->used--;
    e->stats->freed++;
}

/* A value is written to a register. True: its entry has come or gone. */
static bool update(struct register_ecc *e, u32 slot, u32 reg, bool long_lived, bool all_lanes)
{
    if (is_safe(e, slot, reg)) {
        if (long_lived || !all_lanes)
            return false;
        give(e, slot, reg);
        return true;
    }
    if (!long_lived)
        return false;
    if (e->used == e->params->entries) {
        e->stats->refused++;
        return false;
    }
    e->used++;
    e->stats->inserted++;
    safe_of(e, slot)[reg / 64] |= bit(reg % 64);
    return true;
}

static void give_all(struct register_ecc *e, u32 slot)
{
    for (u32 r = 0; r < e->registers && e->params->mode == ECC_TABLE; r++)
        if (is_safe(e, slot, r))
            give(e, slot, r);
}

/* ---- accesses ---- */

static void places(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places)
{
    struct register_ecc *e = state;
    const u32 lanes = count_lanes(inflight->dyn.lanes);
    if (write)
        return;
    for (u32 i = 0; i < places->count; i++) {
        e->stats->searches += e->params->mode == ECC_TABLE;
        if (!is_safe(e, inflight->slot, places->at[i].reg))
            continue;
        e->stats->reads++;
        e->stats->read_lanes += lanes;
    }
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct register_ecc *e = state;
    const struct dyninst *dyn = &inflight->dyn;
    const struct slot *slot = core_slot(core, inflight->slot);
    const u32 lanes = count_lanes(dyn->lanes), table = e->params->mode == ECC_TABLE;
    const bool runs = slot->warp == dyn->warp && !slot->ended;
    bool changed = false;
    if (inflight->dropped || inflight->injected)
        return;
    for (u32 k = 0; k < ARRAY_LEN(dyn->code->dst); k++) {
        const struct operand o = dyn->code->dst[k];
        for (u32 r = 0; o.kind == OPERAND_VECTOR && r < o.count; r++) {
            const u32 reg = dyn->to[k] + r;
            e->stats->searches += table;
            if (table && runs)
                changed |= update(e, inflight->slot, reg, e->long_lived[dyn->inst][k],
                                  dyn->lanes == core_all_lanes(core));
            if (!is_safe(e, inflight->slot, reg))
                continue;
            e->stats->writes++;
            e->stats->write_lanes += lanes;
        }
    }
    if (changed)
        core_cover(core, inflight->slot, safe_of(e, inflight->slot));
}

/* ---- warps, launches ---- */

static void block(void *state, struct core *core, u32 block_slot, bool started)
{
    struct register_ecc *e = state;
    if (started && !e->long_lived)
        find_lifetimes(e);
    for (u64 set = core_block(core, block_slot)->slots; set; set &= set - 1) {
        const u32 s = first_bit(set);
        if (started) {
            give_all(e, s);
            if (e->params->mode == ECC_ALL)
                memset(safe_of(e, s), 0xff, e->words * sizeof(u64));
            core_cover(core, s, safe_of(e, s));
        } else if (core_slot(core, s)->block == block_slot) {
            give_all(e, s);
        }
    }
}

static void forget(struct register_ecc *e)
{
    free(e->long_lived);
    free(e->safe);
    e->long_lived = NULL;
    e->safe = NULL;
}

static void launch(void *state, struct core *core, bool begins)
{
    struct register_ecc *e = state;
    forget(e);
    e->core = core;
    e->used = 0;
    if (!begins)
        return;
    e->registers = core_exec(core)->register_rows;
    e->words = e->registers / 64 + 1;
    e->safe = checked(calloc((size_t)CORE_WARPS * e->words, sizeof *e->safe));
}

static void destroy(void *state)
{
    forget(state);
}

/* ---- hardware costs ---- */

static void storage(const void *params, struct state_list *list)
{
    const struct register_ecc_params *p = params;
    const struct state_row *file = state_find(list, "collect.registers");
    if (!file)
        return;
    const u32 lanes = file->shape.access_bits / WORD_BITS;
    const u64 rows = file->entries / lanes;
    const u64 words = p->mode == ECC_ALL ? file->entries : (u64)p->entries * lanes;
    const struct array_shape shape = {
        .banks = file->shape.banks, .access_bits = CHECK_BITS * lanes, .data = true};
    state_add(list, "register_ecc", "check", words, CHECK_BITS, STATE_COUNTED,
              "check bits of words of registers");
    state_shape(list, shape);
    if (p->mode == ECC_ALL)
        return;
    state_add(list, "register_ecc", "tags", p->entries, 1 + state_index_bits(rows), STATE_COUNTED,
              "the table: valid, and the register that an entry belongs to");
    state_shape(list, (struct array_shape){.searched = true});
}

static const struct energy_event events[] = {
    {"write_lanes", "check bits", ENERGY_WRITE, "register_ecc.check", .bits = CHECK_BITS},
    {"read_lanes", "check bits", ENERGY_READ, "register_ecc.check", .bits = CHECK_BITS},
    {"searches", "check bits", ENERGY_SEARCH, "register_ecc.tags"},
    {"inserted", "check bits", ENERGY_WRITE, "register_ecc.tags"},
    {"write_lanes", "check bits", ENERGY_LOGIC, .pj = 0.1, .nm = 45,
     .source = "an integer addition of 32 bits takes 0.1 pJ at 45 nm (Horowitz, Computing's energy "
               "problem, ISSCC 2014); seven parities of about 14 bits are assumed to take as much"},
    {"read_lanes", "check bits", ENERGY_LOGIC, .pj = 0.1, .nm = 45,
     .source = "as generating check bits; the decoder only works when there is an error"},
    {0},
};

static const char *const deviations[] = {
    "Check bits are counted, not computed: fault campaigns flip bits of registers as without them. "
    "The AVF that is left supposes that every single flip is corrected.",
    "Neither the size of Shield's table nor its replacement is given for GPUs: here a quarter of "
    "the register file has entries, and a value that finds none free has no protection. Its "
    "register keeps its entry until a short-lived value is written, as it is not known at run time "
    "when a value has been read for the last time.",
    "Generating and checking take no time.",
    NULL,
};

/* They keep registers in forms of their own, or issue for several warps at once. */
static const char *const conflicts[] = {"dac_ideal", "darsie", "uniform", NULL};

const struct mechanism register_ecc_mechanism = {
    MECHANISM_NAMED(register_ecc, "error-correcting codes protect vector registers"),
    .source = "J. Tan, \"Architectural approaches to design reliable and energy-efficient GPUs\", "
              "dissertation, University of Houston, 2016, section 4.4.3; the table after "
              "P. Montesinos, W. Liu, J. Torrellas, \"Using register lifetime predictions to "
              "protect register files against soft errors\", DSN 2007",
    .deviations = deviations,
    .conflicts = conflicts,
    .events = events,
    .state_size = sizeof(struct register_ecc),
    .no_operands = true,
    .destroy = destroy,
    .storage = storage,
    .launch = launch,
    .block = block,
    .places = places,
    .retired = retired,
};
