/*
 * The storage elements of the miaow pipeline, module by module as in MIAOW's published RTL
 * (VerticalResearchGroup/miaow): a unit in the list is a module of the RTL; simd and simf exist
 * once for each such unit.
 *
 * Widths follow from parameters where those of the RTL do; others are the RTL's own and are named
 * below. An element is live if it names a visitor (miaow/live.h): the model holds its bits and can flip
 * them. Of the others the model holds something else instead: what a wavefront received at dispatch
 * belongs to its slot, and decoded fields of an instruction are those of its number; at issue, its
 * words and its PC stand for them.
 *
 * Flip-flops that nothing reads are left out where the published counts leave them out: in vector
 * units, 16 bits of an immediate and the flags of floating-point lanes.
 *
 * Known deviations
 *  - Sizes are those of the RTL, although the registers inside floating-point lanes belong to one
 *    implementation (OpenRISC's FPU): another latency means another unit, of unknown size.
 */
#include "core/miaow/live.h"
#include "ir/scalars.h"

enum {
    WORD_BITS = 32,
    PC_BITS = 32,
    OPCODE_BITS = 32, /* as passed on by decode, with its format */
    TAG_BITS = 15,    /* a wavefront's name at the dispatcher */
    GROUP_TAG_BITS = 11 /* the part of it that names its workgroup */,
    OPERAND_BITS = 12,                      /* a register, special register or constant */
    SPECIAL_READ = 64 + 64 + WORD_BITS + 1, /* EXEC, VCC, M0 and SCC of a wavefront */
};

struct module {
    struct state_list *list;
    const char *unit;
    u64 copies; /* modules per core */
    const struct core_config *machine;
    u32 which; /* for visitors */
};

/* Widths of names and addresses. */
struct names {
    u32 warp, vector, scalar, shared; /* bits: a slot, registers, a byte of shared memory */
    u32 bases;                        /* base addresses of a wavefront's registers and shared
                                       * memory */
    u32 group_warps;                  /* most wavefronts of a workgroup */
};

static struct names names_of(const struct core_config *machine)
{
    const struct core_params *core = machine->core;
    struct names names = {
        .warp = state_index_bits(core->warps),
        .vector = state_index_bits(core->registers / core->warp_size),
        .scalar = state_index_bits(core->scalar_registers),
        .shared = state_index_bits(core->shared_bytes),
        .group_warps = (core->block_threads + core->warp_size - 1) / core->warp_size,
    };
    names.bases = names.vector + names.scalar + names.shared;
    return names;
}

static void live(const struct module *module, const char *name, u64 entries, u32 bits,
                 state_visit_fn *visit, const char *help)
{
    state_flops(module->list, module->unit, name, module->copies * entries, bits, STATE_COUNTED,
                help);
    state_visit(module->list, visit, module->which, module->machine);
}
/* One of several rows that share a visitor. */
static void live_one(const struct module *module, const char *name, u64 entries, u32 bits,
                     state_visit_fn *visit, u32 which, const char *help)
{
    struct module one = *module;
    one.which = which;
    live(&one, name, entries, bits, visit, help);
}

static void counted(const struct module *module, const char *name, u64 entries, u32 bits,
                    const char *help)
{
    state_flops(module->list, module->unit, name, module->copies * entries, bits, STATE_COUNTED,
                help);
}

static void fetch_state(struct state_list *list, const struct core_config *machine)
{
    const struct module fetch = {list, "fetch", 1, machine, 0};
    const struct names names = names_of(machine);
    u32 warps = machine->core->warps, size = state_index_bits(names.group_warps);
    live(&fetch, "pc", warps, PC_BITS + 1, miaow_visit_pc,
         "next PC of each warp; whether it starts a stretch");
    state_hash_by(list, state_hash_covered);
    counted(&fetch, "vacant", warps, 1, "free warp slots");
    live(&fetch, "tags", warps, TAG_BITS, miaow_visit_tag, "the dispatcher's number of each warp");
    state_hash_by(list, state_hash_covered);
    counted(&fetch, "groups", warps, 1 + GROUP_TAG_BITS + names.warp + size,
            "blocks: tag, number and warps");
    counted(&fetch, "dispatched", 1, 1 + TAG_BITS + names.warp + PC_BITS + names.bases + size,
            "the warp that arrives");
    live(&fetch, "turn", 1, names.warp, miaow_visit_fetch_turn,
         "the warp with the highest priority");
    counted(&fetch, "request", 1, names.warp, "the warp fetched for last");
}

static void pool_state(struct state_list *list, const struct core_config *machine)
{
    const struct module miaow = {list, "wavepool", 1, machine, 0};
    const struct names names = names_of(machine);
    u32 warps = machine->core->warps, queue = machine->miaow->queue;
    live(&miaow, "input", 1, 1 + 1 + names.warp + WORD_BITS + PC_BITS, miaow_visit_arrival,
         "the word that arrives from the instruction buffer");
    state_hash_by(list, state_hash_covered);
    live(&miaow, "words", (u64)warps * queue, WORD_BITS + PC_BITS, miaow_visit_words,
         "queues: instruction words and their PCs");
    state_hash_by(list, miaow_hash_slots);
    counted(&miaow, "places", warps, 3 * state_index_bits(queue),
            "pointers of each queue: next word to feed, to arrive, to request");
    counted(&miaow, "bases", warps, names.bases,
            "bases of each warp's registers and shared memory");
    live_one(&miaow, "valid", warps, 1, miaow_visit_set, SET_RUNNING, "running warps");
    state_hash_by(list, state_hash_covered);
    live_one(&miaow, "hungry", warps, 1, miaow_visit_set, SET_HUNGRY,
             "warps with room in the issue stage");
    state_hash_by(list, state_hash_covered);
}

static void decode_state(struct state_list *list, const struct core_config *machine)
{
    const struct module decode = {list, "decode", 1, machine, 0};
    const struct names names = names_of(machine);
    u32 warps = machine->core->warps;
    live(&decode, "input", 1, 1 + names.warp + WORD_BITS + PC_BITS + names.bases,
         miaow_visit_decoding, "the word being decoded");
    state_hash_by(list, state_hash_covered);
    live(&decode, "halves", warps, WORD_BITS + PC_BITS, miaow_visit_halves,
         "first words of two-word instructions, and their PCs");
    state_hash_by(list, state_hash_covered);
    live(&decode, "half", warps, 1, miaow_visit_half, "their valid bits");
    state_hash_by(list, state_hash_covered);
}

/* The instruction that a warp has at issue: four sources and two destinations of up to four words,
 * an immediate and a literal, other written registers, and whether it branches. */
static u32 entry_bits(const struct names *names)
{
    enum {
        OPERANDS = 2 * (OPERAND_BITS + 2) + 3 * (OPERAND_BITS + 1) + OPERAND_BITS + 2,
        FLAGS = 5,
        IMMEDIATES = 16 + WORD_BITS
    };
    return OPERANDS + FLAGS + IMMEDIATES + OPCODE_BITS + PC_BITS + names->shared;
}

static void scoreboard_state(const struct module *issue, const struct core_config *machine)
{
    enum {
        SPECIAL = 4,                          /* EXEC, VCC, SCC and M0 */
        OPERAND_WORDS = 4 + 2 + 2 + 4 + 4 + 2 /* most words of sources and destinations */
    };
    const struct core_params *core = machine->core;
    live(issue, "vector_busy", core->registers / core->warp_size, 1, miaow_visit_vector_busy,
         "a busy bit for each vector register");
    state_hash_by(issue->list, miaow_hash_busy);
    live(issue, "scalar_busy", core->scalar_registers, 1, miaow_visit_scalar_busy,
         "a busy bit for each scalar register");
    state_hash_by(issue->list, state_hash_covered);
    live(issue, "special_busy", core->warps, SPECIAL, miaow_visit_special_busy,
         "busy bits of EXEC, VCC, SCC and M0");
    state_hash_by(issue->list, state_hash_covered);
    counted(issue, "clear", core->warps, OPERAND_WORDS, "ready bits of operand words");
    counted(issue, "special_clear", core->warps, SPECIAL, "ready bits of EXEC, VCC, SCC and M0");
}

static void issue_state(struct state_list *list, const struct core_config *machine)
{
    enum {
        UNITS = 10,
        /* Single bits, then numbers of warps, registers, operands, PCs and so on: inputs from
         * decode, and completion signals of units. */
        INPUT = 26 + 2 * 2 + 4 * 2 + 6 * 8 + 9 * 3 + 10 * 2 + 13 * 3 + 14 * 3 + 16 * 2 + 32 * 3
    };
    const struct module issue = {list, "issue", 1, machine, 0};
    const struct names names = names_of(machine);
    u32 warps = machine->core->warps;
    counted(&issue, "input", 1, INPUT, "inputs from decode and from the units");
    live(&issue, "entries", warps, entry_bits(&names), miaow_visit_entries,
         "the next instruction of each warp");
    state_hash_by(list, state_hash_covered);
    live_one(&issue, "valid", warps, 1, miaow_visit_set, SET_VALID,
             "valid bits of these instructions");
    state_hash_by(list, state_hash_covered);
    counted(&issue, "classes", warps, CLASSES, "the unit kind of these instructions");
    scoreboard_state(&issue, machine);
    live(&issue, "in_flight", warps, state_index_bits(machine->miaow->in_flight + 1),
         miaow_visit_in_flight, "instructions of each warp in the scalar and vector units");
    state_hash_by(list, state_hash_covered);
    live_one(&issue, "memory_wait", warps, 1, miaow_visit_set, SET_MEMORY_WAIT,
             "warps with a memory access in flight");
    state_hash_by(list, state_hash_covered);
    counted(&issue, "branching", warps, 1, "warps with an unresolved branch");
    live_one(&issue, "parked", warps, 1, miaow_visit_set, SET_PARKED, "warps at a barrier");
    state_hash_by(list, state_hash_covered);
    counted(&issue, "halted", warps, 1, "warps whose end has been decoded");
    live(&issue, "groups", warps, warps + names.group_warps, miaow_visit_group,
         "warps of each block, for barriers");
    counted(&issue, "left", warps, 2,
            "warps whose entry, or branch, was removed in the last cycle");
    live(&issue, "ready", 1, warps * CLASSES + UNITS, miaow_visit_ready,
         "ready warps and units, as seen by the arbiters");
    state_hash_by(list, state_hash_covered);
    counted(&issue, "last", CLASSES + 1, names.warp,
            "the warp chosen last for each kind of unit, and the warp that ended last");
    live(&issue, "turn", 1, state_index_bits(CLASSES), miaow_visit_class_turn,
         "the kind of unit chosen last");
    counted(&issue, "chosen", 1, names.warp + UNITS + 1, "the chosen warp and unit");
}

static void exec_state(struct state_list *list, const struct core_config *machine)
{
    const struct module exec = {list, "exec", 1, machine, 0};
    u32 warps = machine->core->warps, lanes = machine->core->warp_size;
    live_one(&exec, "exec", warps, lanes, miaow_visit_scalar, SCALAR_EXEC,
             "active lanes of each warp");
    state_hash_by(list, state_hash_covered);
    live_one(&exec, "vcc", warps, lanes, miaow_visit_scalar, SCALAR_VCC, "VCC of each warp");
    state_hash_by(list, state_hash_covered);
    live_one(&exec, "m0", warps, WORD_BITS, miaow_visit_scalar, SCALAR_M0, "M0 of each warp");
    state_hash_by(list, state_hash_covered);
    live_one(&exec, "scc", warps, 1, miaow_visit_scalar, SCALAR_SCC, "SCC of each warp");
    state_hash_by(list, state_hash_covered);
}

static void scalar_state(struct state_list *list, const struct core_config *machine)
{
    enum {
        CONTROL = 32 + 2 + 2 + 11 /* operation; words of EXEC and VCC; destinations, branches */
    };
    const struct module salu = {list, "salu", 1, machine, 0};
    u32 name = names_of(machine).warp;
    counted(&salu, "special", 1, SPECIAL_READ, "EXEC, VCC, M0 and SCC as read");
    counted(&salu, "instruction", 1,
            1 + name + 3 * OPERAND_BITS + 16 + WORD_BITS + OPCODE_BITS + PC_BITS,
            "first stage: the issued instruction");
    counted(&salu, "control", 1, OPERAND_BITS + name + PC_BITS + CONTROL,
            "second stage: the operation");
    counted(&salu, "operands", 1, 4 * 64 + 1, "second stage: sources, EXEC, VCC and SCC");
    counted(&salu, "result", 1, 3 * 64 + 1 + OPERAND_BITS + name + PC_BITS + 13,
            "third stage: result, EXEC and VCC, and their destinations");
}

/* State of both kinds of vector units. `start`: bits that start a lane's operation. */
static void vector_state(const struct module *unit, const struct core_config *machine, u32 start)
{
    enum {
        SELECT = 4,
        CONSTANT = 10,
        FLAGS = 4, /* done, and which of three registers are written */
        STATE = 3 + 1
    };
    const struct names names = names_of(machine);
    u32 lanes = machine->core->warp_size, results = machine->miaow->results;
    u32 written = names.warp + PC_BITS + names.vector + names.scalar + FLAGS;
    u32 values = lanes * (WORD_BITS + 3); /* plus bits of a scalar result, VCC and EXEC */
    counted(unit, "instruction", 1,
            1 + names.warp + PC_BITS + OPCODE_BITS + WORD_BITS + 2 * OPERAND_BITS,
            "the issued instruction");
    counted(unit, "special", 1, SPECIAL_READ, "EXEC, VCC, M0 and SCC as read");
    counted(unit, "selects", 3, SELECT + CONSTANT, "operand sources; constants");
    counted(unit, "pass", 1, STATE + start, "the current pass");
    live(unit, "sources", 1, lanes * (3 * WORD_BITS + 2), miaow_visit_sources,
         "operands, EXEC and VCC, shifted pass by pass");
    state_hash_by(unit->list, unit->which ? state_hash_covered : miaow_hash_units);
    live(unit, "results", 1, values, miaow_visit_results, "results of the passes so far");
    state_hash_by(unit->list, state_hash_covered);
    live(unit, "written", 1, written, miaow_visit_written, "destinations of the results");
    state_hash_by(unit->list, state_hash_covered);
    live(unit, "queue", results, values + written, miaow_visit_queue,
         "results that wait to be written to registers");
    state_hash_by(unit->list, state_hash_covered);
    counted(unit, "places", 2, state_index_bits(results), "head and tail of the queue");
}

/* Registers of a floating-point lane: those of OpenRISC's FPU. */
static void lane_state(const struct module *unit, u64 lanes)
{
    enum {
        COMMON = 32 + 32 + 3 + 2 + 1 + 32 + 32 + 6 + 1 + 1, /* operands, operation, two results */
        ADD = 8 + 28 + 28 + 8 + 8 + 28 + 1 + 6 + 6 + 9 + 28 + 32,
        MULTIPLY_IN = 10 + 24 + 24 + 1 + 48 + 48 + 1 + 1 + 5,
        MULTIPLY_OUT = 32 + 32 + 8 + 8 + 10 + 48 + 1 + 2 + 6 + 6 + 9 + 6 + 6 + 48 + 25 + 32,
        DIVIDE_IN = 4 * 10 + 50 + 27 + 1 + 1 + 5 + 27 + 27 + 27,
        DIVIDE_OUT = 32 + 32 + 8 + 8 + 27 + 27 + 10 + 1 + 2 + 9 + 6 + 6 + 27 + 9 + 25 + 32,
        CONVERT = 32 + 3 * 2 + 3 * 3 + 1 + 1 + 8 + 31 + 48 + 2 + 1 + 32 + 4 + 6 + 1 + 23 + 25 + 8
    };
    live(unit, "lane", lanes, COMMON, miaow_visit_lane,
         "a lane's operands, results and cycle count");
    state_hash_by(unit->list, state_hash_covered);
    counted(unit, "add", lanes, ADD, "a lane's adder: three stages");
    counted(unit, "multiply", lanes, MULTIPLY_IN + MULTIPLY_OUT,
            "a lane's serial multiplier, before and after normalisation");
    counted(unit, "divide", lanes, DIVIDE_IN + DIVIDE_OUT,
            "a lane's serial divider, before and after normalisation");
    counted(unit, "convert", lanes, CONVERT,
            "a lane's converter between floating point and integer");
}

static void lsu_state(struct state_list *list, const struct core_config *machine)
{
    enum {
        MOST_WORDS = 4
    };
    const struct module lsu = {list, "lsu", 1, machine, 0};
    const struct names names = names_of(machine);
    u32 lanes = machine->core->warp_size, lane = state_index_bits(lanes);
    counted(&lsu, "instruction", 1,
            names.warp + PC_BITS + OPCODE_BITS + 16 + names.shared + OPERAND_BITS + names.vector +
                WORD_BITS,
            "the access: warp, PC, opcode, immediate, bases, registers, offset");
    counted(&lsu, "base_addresses", lanes, WORD_BITS, "addresses of the first words");
    live(&lsu, "addresses", lanes, WORD_BITS, miaow_visit_addresses, "addresses of the next words");
    state_hash_by(list, miaow_hash_access);
    live(&lsu, "data", lanes, WORD_BITS, miaow_visit_data, "the register being loaded or stored");
    state_hash_by(list, state_hash_covered);
    live(&lsu, "masks", 2, lanes, miaow_visit_masks, "lanes of the access, and remaining lanes");
    state_hash_by(list, state_hash_covered);
    counted(&lsu, "told", lanes, WORD_BITS, "addresses for the trace monitor");
    counted(&lsu, "counts", 1, lane + lane + 1 + 2 * state_index_bits(MOST_WORDS),
            "lanes and registers, and their numbers");
    counted(&lsu, "state", 1, 4 + MOST_WORDS + 1 + 3,
            "state machine; destination, source and outstanding request");
}

/* In the published RTL, register files are flip-flops; the paper also considers memory with one
 * port. */
static void file(struct state_list *list, const struct core_config *machine, const char *unit,
                 u64 entries, struct array_shape built, state_visit_fn *visit, state_hash_fn *hash,
                 const char *help)
{
    enum {
        FLIP_FLOPS /* a choice of miaow.files */
    };
    built.flip_flops = machine->miaow->files == FLIP_FLOPS;
    if (!built.flip_flops)
        built.read_ports = built.write_ports = 0;
    built.data = true;
    state_add(list, unit, "registers", entries, WORD_BITS, STATE_COUNTED, help);
    state_shape(list, built);
    state_visit(list, visit, 0, machine);
    state_hash_by(list, hash);
}

static void files_state(struct state_list *list, const struct core_config *machine)
{
    enum {
        BANKS = 4, /* of scalar registers */
        READS = 3,
        WRITTEN = 128 /* most bits of an access to scalar registers */
    };
    const struct module sgpr = {list, "sgpr", 1, machine, 0}, vgpr = {list, "vgpr", 1, machine, 0};
    const struct names names = names_of(machine);
    u32 lanes = machine->core->warp_size;
    file(list, machine, "sgpr", machine->core->scalar_registers,
         (struct array_shape){.banks = BANKS, .read_ports = READS, .write_ports = 2},
         live_visit_scalars, live_hash_scalars, "scalar registers");
    counted(&sgpr, "reads", BANKS * READS, WORD_BITS, "words read");
    counted(&sgpr, "addresses", READS, names.scalar, "addresses of these words");
    counted(&sgpr, "write", 1, names.scalar + WRITTEN / WORD_BITS + 2 * WRITTEN,
            "write port: register, words, values and their mask");
    file(list, machine, "vgpr", machine->core->registers,
         (struct array_shape){.banks = lanes, .read_ports = READS, .write_ports = 1},
         live_visit_registers, live_hash_registers, "vector registers, one page per lane");
    live(&vgpr, "reads", (u64)lanes * READS, WORD_BITS, miaow_visit_reads, "words read");
    state_hash_by(list, state_hash_covered);
    live(&vgpr, "addresses", (u64)lanes * READS, names.vector, miaow_visit_read_addresses,
         "addresses of these words in each page");
    state_hash_by(list, state_hash_covered);
}

void miaow_storage(struct state_list *list, const struct core_config *machine)
{
    const struct miaow_params *miaow = machine->miaow;
    const struct module simd = {list, "simd", miaow->simd, machine, 0},
                        simf = {list, "simf", miaow->simf, machine, UNIT_SIMF};
    fetch_state(list, machine);
    pool_state(list, machine);
    decode_state(list, machine);
    issue_state(list, machine);
    exec_state(list, machine);
    scalar_state(list, machine);
    vector_state(&simd, machine, 0); /* integer lanes need no start signal */
    counted(&simd, "multiply", miaow->lanes, 2, "cycle count of a lane's multiplication");
    vector_state(&simf, machine, 1);
    lane_state(&simf, miaow->lanes);
    lsu_state(list, machine);
    live(&(struct module){list, "arbiter", 1, machine, 0}, "turn", 1, 4, miaow_visit_write_turn,
         "the vector unit with the highest priority");
    files_state(list, machine);
    /* Shared memory, which the RTL leaves to its test bench. */
    state_add(list, "shared", "words", machine->core->shared_bytes / 4, WORD_BITS, STATE_COUNTED,
              "shared memory");
    state_shape(list, (struct array_shape){.banks = machine->lsu->shared_banks,
                                           .access_bits = 8 * machine->lsu->shared_bank_bytes,
                                           .data = true});
    state_visit(list, live_visit_shared, 0, machine);
    state_hash_by(list, live_hash_shared);
}

/* Nothing is published about the logic of the load/store unit and the multiplexers of the register
 * files. */
void miaow_logic(struct logic_list *list, const struct core_config *machine)
{
    const struct miaow_params *p = machine->miaow;
    const f64 warps = machine->core->warps;
    const struct logic rows[] = {
        {"fetch", "logic", "next PCs and warp selection", LOGIC_FETCH, warps},
        {"wavepool", "logic", "word queues and feeder", LOGIC_QUEUE, warps},
        {"decode", "logic", "the decoder", LOGIC_DECODE, 1},
        {"issue", "logic", "busy tables and arbiters", LOGIC_ISSUE, warps},
        {"exec", "logic", "EXEC, VCC, SCC and M0", LOGIC_EXEC, warps},
        {"salu", "logic", "the scalar ALU", LOGIC_SCALAR, 1},
        {"simd", "lanes", "lanes of integer units", LOGIC_INT, p->simd * p->lanes},
        {"simf", "lanes", "lanes of floating-point units", LOGIC_FP32, p->simf * p->lanes},
    };
    for (u32 i = 0; i < ARRAY_LEN(rows); i++)
        *vec_push(&list->rows) = rows[i];
}
