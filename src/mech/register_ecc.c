/*
 * Error-correcting codes for vector registers: single errors of a 32-bit word are corrected, double
 * ones detected (SEC-DED), by 7 check bits for each word. Two designs, those that Tan (2016, section
 * 4.4.3) compares LESS with: check bits for all registers; or Shield, a small table of check bits
 * for registers that hold long-lived values.
 *
 * The code is one of those of Hsiao (IBM Journal of Research and Development 14(4), 1970): a word's
 * bit n stands for a number with three of seven bits set, and the check bits are the exclusive or of
 * the numbers of all bits that are 1. When a word is read, the difference between the check bits that
 * are stored and those of the word has one bit set (that check bit is wrong) or is the number of the
 * wrong bit; two wrong bits leave an even number of bits set. Check bits are computed from the register
 * when a result is written, and compared when an instruction issues, which is when it gets the values
 * of its sources.
 *
 * In the table, a register gets an entry when an instruction writes a long-lived value to it and an
 * entry is free. It loses it when a short-lived value overwrites the register in all lanes, or its
 * warp ends. A value is long-lived if the longest path to its last read has more than `limit`
 * instructions.
 *
 * Seams: launch, block, issue, places, retired.
 *
 * Invariants
 *  E1  A register has its bit in `safe` exactly while it has check bits; core_cover has been told.
 *  E2  Entries in use: as many as bits in `safe`, of all slots. Each such register has an entry of its
 *      own in `entry`, with a bit in `taken`.
 *  E3  But for flips, `check` has the check bits of a safe register, except in lanes that are in
 *      `late`: shuffles, votes and barriers may write results of lanes that wait later than their
 *      instruction retires. Those check bits are computed when the lane reads the register first.
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
    WORD_BITS = 32,
    NO_FIX = 255 /* a difference that no single bit explains */
};

extern const struct mechanism register_ecc_mechanism;

struct register_ecc {
    MECHANISM_STATE(register_ecc);
    struct core *core;
    u32 registers, words;    /* of a warp; of a set of them */
    u8 (*long_lived)[2];     /* by instruction and destination; NULL: not known yet */
    u64 *safe;               /* by slot: a set of registers */
    u32 used;                /* E2 */
    u32 entries;             /* of the check bits of registers, */
    u64 *taken;              /* those that a register has, bits, */
    u32 *entry;              /* and that of a register, by slot and register: E2 */
    u8 *check;               /* by entry and lane */
    lane_set *late;          /* by slot and register: E3 */
    u8 code[4][256];         /* check bits of a byte of a word */
    u8 fix[1 << CHECK_BITS]; /* the wrong bit, by difference: WORD_BITS and above are check bits */
};

static u64 *safe_of(const struct register_ecc *e, u32 slot)
{
    return e->safe + (size_t)slot * e->words;
}

static bool is_safe(const struct register_ecc *e, u32 slot, u32 reg)
{
    return safe_of(e, slot)[reg / 64] >> reg % 64 & 1;
}

static u32 index_of(const struct register_ecc *e, u32 slot, u32 reg)
{
    return slot * e->registers + reg;
}

/* ---- the code ---- */

static void create(void *state, struct core *core)
{
    struct register_ecc *e = state;
    u32 bits = 0;
    memset(e->fix, NO_FIX, sizeof e->fix);
    for (u32 n = 0; n < CHECK_BITS; n++)
        e->fix[1u << n] = (u8)(WORD_BITS + n);
    for (u32 number = 0; bits < WORD_BITS; number++) {
        if (__builtin_popcount(number) != 3)
            continue;
        for (u32 byte = 0; byte < 256; byte++)
            if (byte >> bits % 8 & 1)
                e->code[bits / 8][byte] ^= (u8)number;
        e->fix[number] = (u8)bits++;
    }
}

static u8 check_bits(const struct register_ecc *e, u32 word)
{
    return e->code[0][word & 255] ^ e->code[1][word >> 8 & 255] ^ e->code[2][word >> 16 & 255] ^
           e->code[3][word >> 24];
}

static u8 *check_of(const struct register_ecc *e, u32 slot, u32 reg)
{
    return e->check + (size_t)e->entry[index_of(e, slot, reg)] * core_warp_size(e->core);
}

/* Computes the check bits of lanes of a safe register. */
static void generate(struct register_ecc *e, u32 slot, u32 reg, lane_set lanes)
{
    u8 *check = check_of(e, slot, reg);
    u32 row[MAX_LANES];
    register_read(core_slot(e->core, slot)->warp, reg, row);
    for (lane_set set = lanes; set; set &= set - 1)
        check[first_lane(set)] = check_bits(e, row[first_lane(set)]);
    e->late[index_of(e, slot, reg)] &= ~lanes;
}

static void detect(struct register_ecc *e, u32 slot, u32 reg, u32 lane, u32 inst)
{
    e->stats->detected++;
    fault_check(core_exec(e->core), inst,
                "machine check: more than one bit is wrong in register %u of lane %u\n  of warp %u "
                "in block %llu, and its check bits (register_ecc) cannot correct it",
                reg, lane, core_slot(e->core, slot)->warp->index,
                (unsigned long long)core_slot(e->core, slot)->warp->block->number);
    core_stop(e->core);
}

/* Lanes of a safe register are read: corrects them. False: an error cannot be corrected, and the
 * launch has stopped. */
static bool examine(struct register_ecc *e, u32 slot, u32 reg, lane_set lanes, u32 inst)
{
    struct warp *warp = core_slot(e->core, slot)->warp;
    const lane_set late = lanes & e->late[index_of(e, slot, reg)];
    u8 *check = check_of(e, slot, reg);
    u32 row[MAX_LANES];
    lane_set wrong = 0;
    if (late)
        generate(e, slot, reg, late);
    register_read(warp, reg, row);
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const u8 difference = check[lane] ^ check_bits(e, row[lane]);
        if (LIKELY(!difference))
            continue;
        const u8 bit = e->fix[difference];
        if (bit == NO_FIX) {
            detect(e, slot, reg, lane, inst);
            return false;
        }
        e->stats->corrected++;
        if (bit >= WORD_BITS) {
            check[lane] ^= difference;
            continue;
        }
        row[lane] ^= 1u << bit;
        wrong |= 1ull << lane;
    }
    if (UNLIKELY(wrong))
        register_write(warp, reg, row, wrong);
    return true;
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

/* ---- entries ---- */

static void give(struct register_ecc *e, u32 slot, u32 reg)
{
    const u32 entry = e->entry[index_of(e, slot, reg)];
    safe_of(e, slot)[reg / 64] &= ~bit(reg % 64);
    e->taken[entry / 64] &= ~bit(entry % 64);
    e->used--;
    e->stats->freed += e->params->mode == ECC_TABLE;
}

/* A register gets an entry; its lanes have their values. */
static void take(struct register_ecc *e, u32 slot, u32 reg, u32 entry)
{
    const u32 at = index_of(e, slot, reg);
    e->used++;
    e->entry[at] = entry;
    e->taken[entry / 64] |= bit(entry % 64);
    safe_of(e, slot)[reg / 64] |= bit(reg % 64);
    generate(e, slot, reg, core_all_lanes(e->core) & ~e->late[at]);
}

static u32 free_entry(const struct register_ecc *e)
{
    u32 word = 0;
    while (!~e->taken[word])
        word++;
    return word * 64 + first_bit(~e->taken[word]);
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
    e->stats->inserted++;
    take(e, slot, reg, free_entry(e));
    return true;
}

static void give_all(struct register_ecc *e, u32 slot)
{
    for (u32 r = 0; r < e->registers; r++)
        if (is_safe(e, slot, r))
            give(e, slot, r);
}

/* ---- accesses ---- */

static bool is_within(struct operand o, u32 reg)
{
    return !o.count || reg - o.index < o.count;
}

/* Results that are written when the instruction issues, or still later. */
static bool writes_early(const struct warp *warp, u32 inst)
{
    const u8 kind = warp->view->plans[inst].kind;
    return kind == PLAN_CONTROL || kind == PLAN_WHOLE;
}

static enum issue_answer issue(void *state, struct core *core, u32 slot, u32 inst)
{
    struct register_ecc *e = state;
    const struct warp *warp = core_slot(core, slot)->warp;
    const struct inst *code = &core_exec(core)->image->program->insts[inst];
    const bool any_lane = code->op == OP_readlane || code->op == OP_readfirstlane;
    const lane_set lanes = any_lane ? core_all_lanes(core) : warp->active;
    struct operand list[INST_REFS];
    for (u32 k = inst_reads(code, list); k-- > 0;)
        for (u32 r = list[k].index;
             list[k].kind == OPERAND_VECTOR && r < e->registers && is_within(list[k], r); r++)
            if (is_safe(e, slot, r) && !examine(e, slot, r, lanes, inst))
                return ISSUE_WAIT;
    if (!writes_early(warp, inst))
        return ISSUE_PLAIN;
    for (u32 k = inst_writes(code, list); k-- > 0;)
        for (u32 r = list[k].index;
             list[k].kind == OPERAND_VECTOR && r < e->registers && is_within(list[k], r); r++)
            e->late[index_of(e, slot, r)] |= lanes;
    return ISSUE_PLAIN;
}

/* A result is in its register, which is safe. */
static void written(struct register_ecc *e, const struct inflight *inflight, u32 reg)
{
    const struct dyninst *dyn = &inflight->dyn;
    if (!writes_early(dyn->warp, dyn->inst))
        generate(e, inflight->slot, reg, dyn->writes);
    else if (dyn->active == core_all_lanes(e->core) && dyn->code->op != OP_bar_popc)
        generate(e, inflight->slot, reg, dyn->active); /* none waits */
}

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
            if (runs)
                written(e, inflight, reg);
            e->stats->writes++;
            e->stats->write_lanes += lanes;
        }
    }
    if (changed)
        core_cover(core, inflight->slot, safe_of(e, inflight->slot));
}

/* ---- warps, launches ---- */

/* For the first warp of the launch on this core. */
static void prepare(struct register_ecc *e)
{
    const bool table = e->params->mode == ECC_TABLE;
    e->entries = table ? e->params->entries : core_rows(e->core);
    e->taken = checked(calloc(e->entries / 64 + 1, sizeof *e->taken));
    e->check = checked(calloc(e->entries, core_warp_size(e->core)));
    find_lifetimes(e);
}

static void start(struct register_ecc *e, u32 slot)
{
    u32 count;
    const u32 home = core_home_rows(e->core, slot, &count);
    memset(e->late + index_of(e, slot, 0), 0, e->registers * sizeof *e->late);
    for (u32 r = 0; r < e->registers && e->params->mode == ECC_ALL; r++)
        take(e, slot, r, home + r);
    core_cover(e->core, slot, safe_of(e, slot));
}

static void block(void *state, struct core *core, u32 block_slot, bool started)
{
    struct register_ecc *e = state;
    if (started && !e->long_lived)
        prepare(e);
    for (u64 set = core_block(core, block_slot)->slots; set; set &= set - 1) {
        const u32 s = first_bit(set);
        if (!started && core_slot(core, s)->block != block_slot)
            continue;
        give_all(e, s);
        if (started)
            start(e, s);
    }
}

static void forget(struct register_ecc *e)
{
    void *const all[] = {e->long_lived, e->safe, e->taken, e->entry, e->check, e->late};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        free(all[i]);
    e->long_lived = NULL;
    e->safe = e->taken = NULL;
    e->late = NULL;
    e->entry = NULL;
    e->check = NULL;
    e->entries = 0;
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
    e->entry = checked(calloc((size_t)CORE_WARPS * e->registers + 1, sizeof *e->entry));
    e->late = checked(calloc((size_t)CORE_WARPS * e->registers + 1, sizeof *e->late));
}

static void destroy(void *state)
{
    forget(state);
}

/* ---- bits that can be flipped ---- */

static void visit_check(struct state_walk *walk, const struct state_row *row, void *owner,
                        u64 entry)
{
    const struct core *core = owner;
    const struct register_ecc *e = core ? core_mechanism(core, &register_ecc_mechanism) : NULL;
    const u64 at = core ? entry / core_warp_size(core) : 0;
    const bool used = e && at < e->entries && e->taken[at / 64] >> at % 64 & 1;
    u64 bits = used ? e->check[entry] : 0;
    if (walk_entry(walk, used) && walk_field(walk, &bits, CHECK_BITS) && used)
        e->check[entry] = (u8)bits;
}

/* Check bits of all safe registers. */
static u64 hash_check(const struct state_row *row, void *owner, u64 hash)
{
    const struct core *core = owner;
    const struct register_ecc *e = core_mechanism(core, &register_ecc_mechanism);
    u32 words[MAX_LANES / 4];
    for (u64 set = e && e->check ? core_present(core) : 0; set; set &= set - 1)
        for (u32 r = 0; r < e->registers; r++) {
            if (!is_safe(e, first_bit(set), r))
                continue;
            memcpy(words, check_of(e, first_bit(set), r), core_warp_size(core));
            hash = hash_words(hash, words, core_warp_size(core) / 4);
        }
    return hash;
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
    state_add(list, "register_ecc", "check", words, CHECK_BITS, STATE_LIVE,
              "check bits of words of registers");
    state_shape(list, shape);
    state_visit(list, visit_check, 0, NULL);
    state_hash_by(list, hash_check);
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
    "A correction is written back to the register. Sources are examined when an instruction "
    "issues, not when their banks are read a few cycles later. The result of a vote, shuffle or "
    "barrier that has waited is protected from its first read on.",
    "A result that a flip sends to another register is written there without check bits.",
    "Neither the size of Shield's table nor its replacement is given for GPUs: here a quarter of "
    "the register file has entries, and a value that finds none free has no protection. Its "
    "register keeps its entry until a short-lived value is written, as it is not known at run time "
    "when a value has been read for the last time.",
    "Generating and checking take no time.",
    NULL,
};

/* These mechanisms keep registers in forms of their own (less: two in a row), or issue for several warps at
 * once. */
static const char *const conflicts[] = {"dac_ideal", "darsie", "less", "uniform", NULL};

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
    .create = create,
    .destroy = destroy,
    .storage = storage,
    .launch = launch,
    .block = block,
    .issue = issue,
    .places = places,
    .retired = retired,
};
