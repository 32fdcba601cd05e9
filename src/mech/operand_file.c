/*
 * An enhanced operand register file (E-ORF): the register file is STT-RAM, and a small file of SRAM in
 * front of it holds results that are read soon. Tan (2016, section 4.4.1.2) compares LESS with it; the
 * small file is that of Gebhart, Keckler and Dally (MICRO 2011), which the compiler manages.
 *
 * Within a basic block, a 32-bit result whose first read is at most `first` instructions away gets an
 * entry of its warp until its last read in the block, if one is free. All its reads in the block
 * come from there. If it may also be read later, it is written to both files; otherwise to the
 * operand file only. All other results, those of memory accesses among them, go to STT-RAM, whose
 * writes hold their bank's write port and a result bus.
 *
 * Seams: launch, allocate, block, issued, places, retired.
 *
 * Invariants
 *  O1  A value that is only in the operand file is really there: its lanes are in a row of that file,
 *      and lost when the entry is taken by another result. `holder` says whose each lane is.
 *  O2  A register is safe (core_cover) unless its last value is read from the operand file and its
 *      last read there is to come.
 */
#include "core/mechanism.h"
#include <stdlib.h>

#define COMPONENT operand_file
#define COMPONENT_DEF "mech/operand_file.def"
#define COMPONENT_HELP "operand file of SRAM in front of STT-RAM"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    MAIN = 0xff, /* an entry: none */
    MOST_ENTRIES = 8,
    MOST_READS = 4, /* registers that an instruction reads from the operand file */
    NO_HOLDER = 0xffff,
    WORD_BITS = 32,
    TABLE_LANES = 32 /* of a register in table 4.1 */
};

/* What the compiler says of an instruction. */
struct file_inst {
    u8 entry;  /* of its result; MAIN: STT-RAM only */
    bool both; /* the result is also written to STT-RAM */
    u8 reads;  /* registers that it reads from the operand file: */
    u8 last;   /* bits: for the last time in the block */
    u16 read_regs[MOST_READS];
};

struct operand_file {
    MECHANISM_STATE(operand_file);
    struct core *core;
    u32 first_row;           /* of the operand file: more than the hardware has, for warps that have
                           * ended while their block has not */
    u32 registers, words;    /* of a warp; of a set of them */
    struct file_inst *insts; /* NULL: not known yet */
    u32 *homes;              /* by slot and register: rows of STT-RAM */
    u64 *safe;               /* by slot: sets of registers */
    u16 (*holder)[MAX_LANES]; /* by frame and entry, lane: register, or NO_HOLDER */
};

/* ---- the compiler ---- */

struct use {
    u32 first, last; /* instructions that read a result in its block; NO_INST: none does */
    bool plain;      /* as single registers */
};

static bool contains(struct operand o, u32 reg)
{
    return o.kind == OPERAND_VECTOR &&
           (!o.count || (reg >= o.index && reg < (u32)o.index + o.count));
}

/* The reads of a register after an instruction, up to the next write of it or the block's end. */
static struct use find_use(const struct code *code, u32 at, u32 end, u32 reg)
{
    struct use use = {NO_INST, NO_INST, true};
    for (u32 i = at + 1; i < end; i++) {
        struct operand list[INST_REFS];
        const u32 count = inst_reads(&code->insts[i], list);
        for (u32 k = 0; k < count; k++) {
            if (!contains(list[k], reg))
                continue;
            use.plain &= list[k].count == 1;
            use.last = i;
            use.first = use.first == NO_INST ? i : use.first;
        }
        const u32 writes = inst_writes(&code->insts[i], list);
        for (u32 k = 0; k < writes; k++)
            if (contains(list[k], reg)) {
                use.plain &= code->insts[i].guard.kind == OPERAND_NONE; /* else some lanes stay */
                return use;
            }
    }
    return use;
}

static bool add_read(struct file_inst *info, u32 reg, bool last)
{
    for (u32 i = 0; i < info->reads; i++)
        if (info->read_regs[i] == reg)
            return true;
    if (info->reads == MOST_READS)
        return false;
    info->last |= (u8)(last << info->reads);
    info->read_regs[info->reads++] = (u16)reg;
    return true;
}

/* Whether all instructions that read the register have room to say so. */
static bool has_room(const struct operand_file *f, const struct code *code, u32 at, u32 last)
{
    for (u32 i = at + 1; i <= last; i++)
        if (f->insts[code->base + i].reads == MOST_READS)
            return false;
    return true;
}

/* The result of an instruction may get an entry of those that are free by then. */
static void place_result(struct operand_file *f, const struct code *code,
                         const struct lifetimes *lives, u32 at, u32 end, u32 *free_at)
{
    const struct inst *inst = &code->insts[at];
    const struct operand o = inst->dst[0];
    if (o.kind != OPERAND_VECTOR || o.count != 1 || inst->dst[1].kind != OPERAND_NONE ||
        inst->guard.kind != OPERAND_NONE || !(op_info[inst->op].flags & OPF_LANE))
        return;
    const struct use use = find_use(code, at, end, o.index);
    u32 entry = 0;
    while (entry < f->params->entries && free_at[entry] > at)
        entry++;
    if (use.first == NO_INST || !use.plain || use.first - at > f->params->first ||
        entry == f->params->entries || !has_room(f, code, at, use.last))
        return;
    free_at[entry] = use.last;
    f->insts[code->base + at].entry = (u8)entry;
    f->insts[code->base + at].both = lives->life[at][0] > use.last - at;
    for (u32 i = at + 1; i <= use.last; i++) {
        struct operand list[INST_REFS];
        const u32 count = inst_reads(&code->insts[i], list);
        for (u32 k = 0; k < count; k++)
            if (contains(list[k], o.index))
                add_read(&f->insts[code->base + i], o.index, i == use.last);
    }
}

static void compile(struct operand_file *f, const struct program *program,
                    const struct function *function)
{
    struct arena *arena = arena_create();
    const struct code code = code_of(program, function);
    const struct cfg *cfg = cfg_build(arena, &code);
    const struct lifetimes *lives = lifetimes_of(arena, program, function);
    for (u32 b = 0; b < cfg->count; b++) {
        u32 free_at[MOST_ENTRIES] = {0};
        for (u32 i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++)
            place_result(f, &code, lives, i, cfg->blocks[b].end, free_at);
    }
    arena_destroy(arena);
}

static void compile_all(struct operand_file *f)
{
    const struct program *program = core_exec(f->core)->image->program;
    f->insts = checked(calloc(MAX(program->inst_count, 1u), sizeof *f->insts));
    for (u32 i = 0; i < program->inst_count; i++)
        f->insts[i].entry = MAIN;
    for (u32 n = 0; n < program->function_count; n++)
        if (program->functions[n].first != program->functions[n].end)
            compile(f, program, &program->functions[n]);
}

/* ---- where values are ---- */

/* The number of an entry: a warp keeps its rows, and so its frame, until its block has left. */
static u32 entry_of(const struct operand_file *f, u32 slot, u32 entry)
{
    return core_slot(f->core, slot)->warp->frame * f->params->entries + entry;
}

static u16 *holders(const struct operand_file *f, u32 slot, u32 entry)
{
    return f->holder[entry_of(f, slot, entry)];
}

/* Lanes of a register leave the operand file; what they hold is lost. */
static void leave(struct operand_file *f, u32 slot, u32 reg, lane_set lanes)
{
    lane_set there = 0;
    for (u32 e = 0; e < f->params->entries; e++)
        for (lane_set set = lanes; set; set &= set - 1)
            if (holders(f, slot, e)[first_lane(set)] == reg) {
                holders(f, slot, e)[first_lane(set)] = NO_HOLDER;
                there |= set & -set;
            }
    if (there)
        core_place_lanes(f->core, slot, reg, there, f->homes[slot * f->registers + reg]);
}

static void enter(struct operand_file *f, u32 slot, u32 reg, lane_set lanes, u32 entry)
{
    u16 *holder = holders(f, slot, entry);
    leave(f, slot, reg, lanes);
    for (lane_set set = lanes; set; set &= set - 1)
        if (holder[first_lane(set)] != NO_HOLDER)
            leave(f, slot, holder[first_lane(set)], lanes);
    core_place_lanes(f->core, slot, reg, lanes, f->first_row + entry_of(f, slot, entry));
    for (lane_set set = lanes; set; set &= set - 1)
        holder[first_lane(set)] = (u16)reg;
}

static void set_safe(struct operand_file *f, u32 slot, u32 reg, bool safe)
{
    u64 *set = &f->safe[slot * f->words], *word = &set[reg / 64];
    if ((*word >> reg % 64 & 1) == safe)
        return;
    *word ^= bit(reg % 64);
    core_cover(f->core, slot, set);
}

/* ---- accesses ---- */

/* The position of a register among those that the instruction reads from the operand file. */
static u32 read_at(const struct file_inst *info, u32 reg)
{
    u32 i = 0;
    while (i < info->reads && info->read_regs[i] != reg)
        i++;
    return i;
}

static void place_reads(struct operand_file *f, const struct inflight *inflight,
                        struct places *places)
{
    const struct file_inst *info = &f->insts[inflight->dyn.inst];
    const u32 lanes = count_lanes(inflight->dyn.lanes);
    u32 left = 0;
    for (u32 i = 0; i < places->count; i++) {
        const bool file = read_at(info, places->at[i].reg) < info->reads;
        *(file ? &f->stats->file_reads : &f->stats->main_reads) += 1;
        *(file ? &f->stats->file_read_lanes : &f->stats->main_read_lanes) += lanes;
        if (!file)
            places->at[left++] = places->at[i];
    }
    places->count = left;
}

/* In program order: a later instruction may write the register before this one has read it. */
static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct operand_file *f = state;
    const struct inst *code = inflight->dyn.code;
    const struct file_inst *info = &f->insts[inflight->dyn.inst];
    for (u32 i = 0; i < info->reads; i++)
        if (info->last >> i & 1 && !contains(code->dst[0], info->read_regs[i]) &&
            !contains(code->dst[1], info->read_regs[i]))
            set_safe(f, inflight->slot, info->read_regs[i], true);
}

static bool only_in_file(const struct file_inst *info)
{
    return info->entry != MAIN && !info->both;
}

static void place_writes(struct operand_file *f, const struct inflight *inflight,
                         struct places *places)
{
    const struct dyninst *dyn = &inflight->dyn;
    const struct file_inst *info = &f->insts[dyn->inst];
    places->arbitrate = places->write_ports = true;
    if (only_in_file(info)) {
        places->count = 0;
    } else if (places->count) {
        places->bus_cycles = (u8)f->params->write_cycles;
        for (u32 i = 0; i < places->count; i++)
            places->at[i].cycles = (u8)f->params->write_cycles;
    }
    for (u32 k = 0; k < ARRAY_LEN(dyn->dst) && dyn->kind <= DYNINST_ACCESS; k++)
        for (u32 r = 0; r < dyn->dst_rows[k]; r++)
            if (only_in_file(info))
                enter(f, inflight->slot, dyn->to[k] + r, dyn->writes, info->entry);
            else
                leave(f, inflight->slot, dyn->to[k] + r, dyn->writes);
}

static void places(void *state, struct core *core, const struct inflight *inflight, bool write,
                   struct places *places)
{
    if (write)
        place_writes(state, inflight, places);
    else
        place_reads(state, inflight, places);
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct operand_file *f = state;
    const struct dyninst *dyn = &inflight->dyn;
    const struct file_inst *info = &f->insts[dyn->inst];
    const u32 written = inflight->dropped ? 0 : inflight->time->result_count;
    const u32 lanes = count_lanes(dyn->lanes);
    const struct slot *slot = core_slot(core, inflight->slot);
    const bool file = info->entry != MAIN, main = !only_in_file(info);
    f->stats->file_writes += file ? written : 0;
    f->stats->main_writes += main ? written : 0;
    f->stats->both_writes += file && main ? written : 0;
    f->stats->file_write_lanes += file ? written * lanes : 0;
    f->stats->main_write_lanes += main ? written * lanes : 0;
    if (slot->warp != dyn->warp || slot->ended || inflight->dropped)
        return;
    for (u32 k = 0; k < ARRAY_LEN(dyn->dst); k++)
        for (u32 r = 0; r < dyn->dst_rows[k]; r++)
            set_safe(f, inflight->slot, dyn->to[k] + r, !file);
}

/* ---- warps, launches ---- */

static void allocate(void *state, struct core *core, u32 slot, u32 *rows, u32 count)
{
    struct operand_file *f = state;
    if (!f->insts)
        compile_all(f);
    memcpy(&f->homes[slot * f->registers], rows, count * sizeof *rows);
    for (u32 e = 0; e < f->params->entries; e++)
        memset(holders(f, slot, e), 0xff, sizeof *f->holder); /* NO_HOLDER */
}

static void block(void *state, struct core *core, u32 block_slot, bool started)
{
    struct operand_file *f = state;
    for (u64 set = started ? core_block(core, block_slot)->slots : 0; set; set &= set - 1) {
        u64 *safe = &f->safe[first_bit(set) * f->words];
        memset(safe, 0xff, f->words * sizeof *safe);
        core_cover(core, first_bit(set), safe);
    }
}

static void launch(void *state, struct core *core, bool begins)
{
    struct operand_file *f = state;
    free(f->insts);
    free(f->homes);
    free(f->safe);
    f->insts = NULL;
    f->homes = NULL;
    f->safe = NULL;
    if (!begins)
        return;
    f->registers = core_exec(core)->register_rows;
    f->words = f->registers / 64 + 1;
    f->homes = checked(calloc((size_t)CORE_WARPS * f->registers + 1, sizeof *f->homes));
    f->safe = checked(calloc((size_t)CORE_WARPS * f->words, sizeof *f->safe));
}

static void create(void *state, struct core *core)
{
    struct operand_file *f = state;
    f->core = core;
    f->first_row = core_add_rows(core, MOST_FRAMES * f->params->entries);
    /* as storage() has it */
    assert(f->first_row == core_config(core)->core->registers / core_warp_size(core));
    f->holder = mechanism_alloc(f, MOST_FRAMES * f->params->entries * sizeof *f->holder);
    core_set_immune(core, 0, f->first_row);
}

static void destroy(void *state)
{
    launch(state, NULL, false);
}

/* ---- hardware costs ---- */

/* A visitor of its own: the rows behind those of the machine are not in collect.registers. */
static void visit_operands(struct state_walk *walk, const struct state_row *row, void *owner,
                           u64 entry)
{
    core_visit_registers(walk, row, owner, entry);
}

static void storage(const void *params, struct state_list *list)
{
    const struct operand_file_params *p = params;
    const struct state_row *file = state_find(list, "collect.registers");
    const struct state_row *slots = state_find(list, "issue.barrier"); /* a bit for each warp */
    if (!file)
        return;
    const struct array_shape shape = file->shape;
    const u32 lanes = shape.access_bits / WORD_BITS, warps = slots ? (u32)slots->entries : 48;
    state_add(list, "operand_file", "main", file->entries, WORD_BITS, STATE_COUNTED,
              "vector registers, in STT-RAM");
    state_shape(list, shape);
    state_add(list, "operand_file", "operands", (u64)warps * p->entries * lanes, WORD_BITS,
              STATE_COUNTED, "results that are read soon, in SRAM");
    state_shape(list, shape);
    state_visit(list, visit_operands, (u32)(file->entries / lanes), NULL); /* from first_row on */
}

static const struct energy_event events[] = {
    {"file_read_lanes", "registers", ENERGY_READ, "operand_file.operands", .bits = WORD_BITS},
    {"file_write_lanes", "registers", ENERGY_WRITE, "operand_file.operands", .bits = WORD_BITS},
    {"main_read_lanes", "registers", ENERGY_READ, "operand_file.main", .bits = WORD_BITS},
    {"main_write_lanes", "registers", ENERGY_WRITE, "operand_file.main", .bits = WORD_BITS},
    {0},
};

static const struct energy_replace replaces[] = {{"collect.registers"}, {0}};

/* Table 4.1, as for `less`; STT-RAM's share of area is explained there. */
static const struct energy_cell cells[] = {
    {.element = "operand_file.main",
     .cell = "STT-RAM",
     .leakage_mw = 4.283,
     .read_pj = 92,
     .write_pj = 645,
     .delay_ps = 6036,
     .nm = 40,
     .volts = 0.9,
     .area_share = (0.45 - 0.25) / 0.75,
     .entries = 1024 * TABLE_LANES,
     .access_bits = TABLE_LANES * WORD_BITS,
     .source = "Tan 2016, table 4.1"},
    {.element = "operand_file.operands",
     .cell = "SRAM",
     .leakage_mw = 31.2,
     .read_pj = 49,
     .write_pj = 43,
     .delay_ps = 497,
     .nm = 40,
     .volts = 0.9,
     .entries = 256 * TABLE_LANES,
     .access_bits = TABLE_LANES * WORD_BITS,
     .source = "Tan 2016, table 4.1"},
    {0},
};

static const char *const deviations[] = {
    "The text gives the size of the small file and that first-use distance decides, no more. Here "
    "the compiler assigns entries within basic blocks, first come first served, to 32-bit results "
    "of arithmetic; longer ones and loads go to STT-RAM.",
    "Of a result that is in both files, reads in its block count as reads of the operand file but "
    "take the value from STT-RAM, where it is the same.",
    "The operand file has as many ports as are asked for; only its energy is counted.",
    "Whether a register is safe is a matter of all its lanes.",
    NULL,
};

/* These mechanisms keep registers in forms of their own, or issue for several warps at once. */
static const char *const conflicts[] = {"dac_ideal", "darsie", "less", "uniform", NULL};

const struct mechanism operand_file_mechanism = {
    MECHANISM_NAMED(operand_file, "results that are read soon are in a small file of SRAM, all "
                                  "registers in STT-RAM"),
    .source = "J. Tan, \"Architectural approaches to design reliable and energy-efficient GPUs\", "
              "dissertation, University of Houston, 2016, section 4.4.1.2, after M. Gebhart, S. W. "
              "Keckler, W. J. Dally, \"A compile-time managed multi-level register file "
              "hierarchy\", MICRO 2011",
    .deviations = deviations,
    .conflicts = conflicts,
    .events = events,
    .replaces = replaces,
    .cells = cells,
    .state_size = sizeof(struct operand_file),
    .create = create,
    .destroy = destroy,
    .storage = storage,
    .launch = launch,
    .allocate = allocate,
    .block = block,
    .places = places,
    .issued = issued,
    .retired = retired,
};
