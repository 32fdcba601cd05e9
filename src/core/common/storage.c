/*
 * The storage elements of a core's stages, computed from their parameters.
 *
 * An element is live if it names a visitor (common/live.h): the model holds its bits, acts on them,
 * and can flip them. Of the others only the number of bits is known: instruction words of PTX, which
 * has no published encoding, and control of collectors.
 *
 * The sizes follow published designs: MIAOW's compute unit has 40 PCs, a queue of instructions with
 * their PCs for each wavefront, a busy bit for each vector and scalar register, and EXEC, VCC, SCC
 * and M0 for each wavefront.
 */
#include "core/common/common.h"
#include "core/common/live.h"

#include "mem/state.h"

enum {
    INSTRUCTION_BITS = 64, /* the longest */
    WORD_BITS = 32,
    WAIT_BITS = VM_BITS + EXP_BITS + LGKM_BITS
};

static void fetch_state(struct state_list *list, const struct core_config *machine)
{
    const struct fetch_params *fetch = machine->fetch;
    struct live_widths width = live_widths(machine);
    u64 warps = machine->core->warps, places = warps * fetch->buffer;
    /* Each scheduler has its own array for the buffers of its warps. */
    struct array_shape buffer = {
        .banks = machine->issue->schedulers, .read_ports = 1, .write_ports = 1};
    state_table(list, "fetch", "pc", warps, width.pc, STATE_COUNTED, "next PC of each warp");
    state_visit(list, live_visit_pc, 0, machine);
    state_hash_by(list, live_hash_slots);
    state_flops(list, "fetch", "waiting", warps, 1, STATE_COUNTED,
                "whether the warp waits for a line");
    state_visit(list, live_visit_missing, 0, machine);
    state_hash_by(list, live_hash_slots);
    state_flops(list, "fetch", "turn", 1, width.warp, STATE_COUNTED,
                "the warp that was fetched for last");
    state_visit(list, live_visit_fetch_turn, 0, machine);
    /* What one fetch brings, for each cycle of decoding. */
    state_flops(list, "fetch", "decode", (u64)fetch->per_cycle * fetch->decode_cycles,
                1 + width.pc + width.warp + INSTRUCTION_BITS * fetch->width, STATE_COUNTED,
                "instructions between the instruction cache and the buffers");
    state_add(list, "fetch", "buffer_pc", places, 1 + width.pc, STATE_COUNTED,
              "instruction buffers: valid bits and PCs");
    state_shape(list, buffer);
    state_visit(list, live_visit_buffer_valid, 0, machine);
    state_hash_by(list, live_hash_slots);
    state_add(list, "fetch", "buffer", places, INSTRUCTION_BITS, STATE_COUNTED,
              "instruction buffers: instruction words");
    state_shape(list, buffer);
}

static void scoreboard_state(struct state_list *list, const struct core_config *machine)
{
    const struct core_params *core = machine->core;
    if (machine->issue->scoreboard == 1) {
        /* A region: valid, first register, and number of further ones (up to ACCESS_WORDS). */
        u32 bits = 1 + REGISTER_BITS + state_index_bits(ACCESS_WORDS);
        state_add(list, "issue", "scoreboard", (u64)core->warps * machine->issue->regions, bits,
                  STATE_COUNTED, "regions of registers with pending results");
        /* All regions of a warp are read at once, for three sources; one result is entered and one
         * removed. */
        state_shape(list, (struct array_shape){.access_bits = bits * machine->issue->regions,
                                               .read_ports = 3,
                                               .write_ports = 2});
        return;
    }
    state_flops(list, "issue", "scoreboard", core->registers / core->warp_size, 1, STATE_COUNTED,
                "a pending bit for each vector register");
    state_visit(list, live_visit_scoreboard, 0, machine);
    state_hash_by(list, live_hash_scoreboard);
    state_flops(list, "issue", "scalar_scoreboard", core->scalar_registers, 1, STATE_COUNTED,
                "a pending bit for each scalar register");
    state_visit(list, live_visit_scalar_scoreboard, 0, machine);
    state_hash_by(list, state_hash_covered);
}

static void order_state(struct state_list *list, const struct core_config *machine)
{
    enum {
        LRR,
        RR,
        GTO,
        OLDEST,
        TWO_LEVEL,
        FAIR,
        FRFS
    };
    const struct issue_params *issue = machine->issue;
    u64 warps = machine->core->warps;
    u32 name = state_index_bits((warps + issue->schedulers - 1) / issue->schedulers);
    u32 policy = issue->policy;
    state_flops(list, "issue", "last", issue->schedulers, name, STATE_COUNTED,
                "the warp that issued last");
    state_visit(list, live_visit_last, 0, machine);
    if (policy == GTO || policy == OLDEST || policy == FRFS) {
        state_flops(list, "issue", "age", warps, name, STATE_COUNTED, "age order of warps");
        state_visit(list, live_visit_age, 0, machine);
        state_hash_by(list, live_hash_age);
    }
    if (policy == TWO_LEVEL)
        state_flops(list, "issue", "group", (u64)issue->schedulers * issue->group_size, 1 + name,
                    STATE_COUNTED, "warps of the active group");
    if (policy == FAIR)
        state_flops(list, "issue", "issued", warps, WORD_BITS, STATE_COUNTED,
                    "instructions issued by each warp");
}

static void issue_state(struct state_list *list, const struct core_config *machine)
{
    const struct core_params *core = machine->core;
    struct live_widths width = live_widths(machine);
    u64 warps = core->warps;
    scoreboard_state(list, machine);
    order_state(list, machine);
    state_table(list, "issue", "mask", warps, core->warp_size, STATE_COUNTED,
                "active lanes of each warp");
    state_visit(list, live_visit_mask, 0, machine);
    state_hash_by(list, live_hash_slots);
    if (core->scalar_registers) {
        /* Divergence is in scalar registers: EXEC is the mask; VCC, SCC and M0 are separate. */
        state_table(list, "issue", "special", warps, core->warp_size + 1 + WORD_BITS, STATE_COUNTED,
                    "VCC, SCC and M0 of each warp");
        state_visit(list, live_visit_special, 0, machine);
        state_hash_by(list, state_hash_covered);
        state_flops(list, "issue", "counters", warps, WAIT_BITS, STATE_COUNTED, "wait counters");
        state_visit(list, live_visit_counters, 0, machine);
    } else {
        /* A path has fewer lanes than the path it diverged from: at most as many entries as
         * lanes. */
        state_table(list, "issue", "stack", warps * core->warp_size, 2 * width.pc + core->warp_size,
                    STATE_COUNTED,
                    "reconvergence stack of each warp: PC, reconvergence point, lanes");
        state_visit(list, live_visit_stack, 0, machine);
        state_hash_by(list, live_hash_stack);
    }
    state_flops(list, "issue", "barrier", warps, 1, STATE_COUNTED,
                "whether the warp waits at a barrier");
    state_visit(list, live_visit_barrier, 0, machine);
    state_hash_by(list, live_hash_slots);
    state_flops(list, "issue", "arrived", core->blocks, state_index_bits(core->warps + 1),
                STATE_COUNTED, "warps of each block that wait at its barrier");
    state_visit(list, live_visit_arrived, 0, machine);
    if (machine->issue->in_flight_per_warp)
        state_flops(list, "issue", "in_flight", warps,
                    state_index_bits(machine->issue->in_flight_per_warp + 1), STATE_COUNTED,
                    "instructions of each warp in flight");
}

static void collect_state(struct state_list *list, const struct core_config *machine)
{
    const struct core_params *core = machine->core;
    const struct collect_params *collect = machine->collect;
    struct live_widths width = live_widths(machine);
    u64 own = (u64)collect->sp + collect->fp64 + collect->sfu + collect->memory;
    u64 collectors = collect->generic ? collect->generic : own;
    u32 vector = core->warp_size * WORD_BITS;
    /* Banks that hold a register side by side act as one. */
    u32 side = collect->bank_bits ? (vector + collect->bank_bits - 1) / collect->bank_bits : 1;
    state_add(list, "collect", "registers", core->registers, WORD_BITS, STATE_COUNTED,
              "vector registers");
    state_shape(list, (struct array_shape){.banks = MAX(collect->banks / side, 1),
                                           .access_bits = vector,
                                           .data = true});
    state_visit(list, live_visit_registers, 0, machine);
    state_hash_by(list, live_hash_registers);
    state_table(list, "collect", "scalar_registers", core->scalar_registers, WORD_BITS,
                STATE_COUNTED, "scalar registers");
    state_shape(list, (struct array_shape){.read_ports = 1, .write_ports = 1, .data = true});
    state_visit(list, live_visit_scalars, 0, machine);
    state_hash_by(list, live_hash_scalars);
    /* As an array, a collector's few values would be mostly periphery. */
    state_flops(list, "collect", "operands", collectors * SOURCES, vector, STATE_COUNTED,
                "operand values in collectors");
    state_visit(list, live_visit_operands, 0, machine);
    state_hash_by(list, live_hash_operands);
    /* Valid, warp, and for each operand: needed, present, register. */
    state_flops(list, "collect", "control", collectors,
                1 + width.warp + SOURCES * (2 + REGISTER_BITS), STATE_COUNTED,
                "operands that collectors wait for");
    state_flops(list, "collect", "arbiter", collect->banks, (u32)collectors * SOURCES,
                STATE_COUNTED, "reads that wait for a bank");
}

/* One pass of an instruction in a stage of a unit: results and lane bits, warp and register. */
static u32 pass_bits(u32 lanes, u32 word_bits, struct live_widths width)
{
    return lanes * (word_bits + 1) + width.warp + REGISTER_BITS;
}

/*
 * A unit has as many stages as its common operations take cycles; longer operations (divisions,
 * minima) iterate in them.
 */
static void units_state(struct state_list *list, const struct core_config *machine)
{
    const struct units_params *units = machine->units;
    struct live_widths width = live_widths(machine);
    u32 fp32 = MAX(MAX(units->fp32_add, units->fp32_mul), units->fp32_mad);
    u32 whole = units->int_mul_unit == INT_MUL_SFU
                    ? units->int_add
                    : MAX(MAX(units->int_add, units->int_mul), units->int_mad);
    u32 fp64 = MAX(MAX(units->fp64_add, units->fp64_mul), units->fp64_mad);
    u32 sp = units->integer ? fp32 : MAX(fp32, whole);
    u32 sp_bits = pass_bits(units->sp_lanes, WORD_BITS, width);
    state_flops(list, "units", "sp", (u64)units->sp * sp, sp_bits, STATE_COUNTED,
                "pipeline stages of single-precision units");
    state_visit(list, live_visit_unit, PIPE_SP, machine);
    state_hash_by(list, live_hash_unit);
    state_flops(list, "units", "integer", (u64)units->integer * whole, sp_bits, STATE_COUNTED,
                "pipeline stages of integer units");
    state_visit(list, live_visit_unit, PIPE_INT, machine);
    state_hash_by(list, live_hash_unit);
    state_flops(list, "units", "fp64", (u64)units->fp64 * fp64,
                pass_bits(units->fp64_lanes, 2 * WORD_BITS, width), STATE_COUNTED,
                "pipeline stages of double-precision units");
    state_visit(list, live_visit_unit, PIPE_FP64, machine);
    state_hash_by(list, live_hash_unit);
    state_flops(list, "units", "sfu", (u64)units->sfu * units->sfu_latency,
                pass_bits(units->sfu_lanes, WORD_BITS, width), STATE_COUNTED,
                "pipeline stages of special-function units");
    state_visit(list, live_visit_unit, PIPE_SFU, machine);
    state_hash_by(list, live_hash_unit);
    if (machine->core->scalar_registers) {
        state_flops(list, "units", "scalar", (u64)units->scalar * units->scalar_latency,
                    pass_bits(1, 2 * WORD_BITS, width), STATE_COUNTED,
                    "pipeline stages of scalar units");
        state_visit(list, live_visit_unit, PIPE_SCALAR, machine);
        state_hash_by(list, live_hash_unit);
    }
    state_flops(list, "units", "results", units->result_buses,
                pass_bits(machine->core->warp_size, WORD_BITS, width), STATE_COUNTED,
                "results on the result buses");
    state_visit(list, live_visit_buses, 0, machine);
    state_hash_by(list, state_hash_covered);
}

static void lsu_state(struct state_list *list, const struct core_config *machine)
{
    const struct core_params *core = machine->core;
    const struct lsu_params *lsu = machine->lsu;
    struct live_widths width = live_widths(machine);
    u32 lanes = core->warp_size;
    /* The access at the head: for each lane, its active bit, address and data. */
    state_flops(list, "lsu", "addresses", lanes, 1 + width.pc, STATE_COUNTED,
                "the access being served: lanes and addresses");
    state_visit(list, live_visit_addresses, 0, machine);
    state_hash_by(list, live_hash_head);
    state_flops(list, "lsu", "data", lanes, ACCESS_WORDS * WORD_BITS, STATE_COUNTED,
                "the access being served: data");
    state_visit(list, live_visit_data, 0, machine);
    state_hash_by(list, live_hash_head);
    state_add(list, "lsu", "shared", core->shared_bytes / 4, WORD_BITS, STATE_COUNTED,
              "shared memory");
    state_shape(list, (struct array_shape){.banks = lsu->shared_banks,
                                           .access_bits = 8 * lsu->shared_bank_bytes,
                                           .data = true});
    state_visit(list, live_visit_shared, 0, machine);
    state_hash_by(list, live_hash_shared);
    state_flops(list, "lsu", "shared_pipe", lsu->shared_latency, 1 + width.warp + REGISTER_BITS,
                STATE_COUNTED, "loads from shared memory in flight");
    state_flops(list, "lsu", "stores", core->warps, state_index_bits(lsu->store_queue + 1),
                STATE_COUNTED, "stores of each warp that memory has not acknowledged");
    state_visit(list, live_visit_stores, 0, machine);
    state_hash_by(list, live_hash_slots);
}

static void caches_state(struct state_list *list, const struct core_config *machine)
{
    struct live_widths width = live_widths(machine);
    /* A waiting load: its warp, its register, and the number of its missing lines. */
    u32 load = width.warp + REGISTER_BITS + state_index_bits(machine->core->warp_size + 1);
    struct cache_state cache = {CACHE_CONFIG(machine->l1d, WRITE_EVICT), machine->l1d->miss_queue,
                                width.pc, load, .banks = machine->l1d->banks};
    cache.visitors = &live_cache_visitors;
    cache.machine = machine;
    cache.which = CLIENT_L1D;
    if (machine->l1d->global || machine->l1d->local) {
        cache_state(list, "l1d", &cache);
        state_flops(list, "l1d", "pipe", (u64)machine->l1d->latency * machine->l1d->banks,
                    1 + width.pc + load, STATE_COUNTED, "accesses on their way to the tags");
    }
    cache = (struct cache_state){CACHE_CONFIG(machine->readonly, WRITE_EVICT),
                                 machine->readonly->miss_queue, width.pc, load};
    cache.visitors = &live_cache_visitors;
    cache.machine = machine;
    cache.which = CLIENT_READONLY;
    if (machine->readonly->enabled || machine->texture->cache == TEXTURE_BY_READONLY)
        cache_state(list, "readonly", &cache);
    cache = (struct cache_state){CACHE_CONFIG(machine->constant, WRITE_EVICT),
                                 machine->constant->miss_queue, width.pc, load};
    cache.visitors = &live_cache_visitors;
    cache.machine = machine;
    cache.which = CLIENT_CONSTANT;
    cache.no_data = !machine->core->scalar_registers; /* only scalar loads get data from it */
    cache.config.passing = !machine->constant->keeps;
    if (!machine->constant->perfect)
        cache_state(list, "constant", &cache);
}

void common_storage(struct state_list *list, const struct core_config *machine)
{
    struct live_widths width = live_widths(machine);
    struct cache_state icache = {CACHE_CONFIG(machine->icache, WRITE_EVICT),
                                 machine->icache->miss_queue,
                                 width.pc,
                                 width.warp,
                                 INSTRUCTION_BITS * machine->fetch->width,
                                 2};
    icache.config.passing = !machine->icache->keeps;
    icache.visitors = &live_cache_visitors;
    icache.machine = machine;
    icache.which = CLIENT_FETCH;
    icache.no_data = true;
    fetch_state(list, machine);
    if (!machine->icache->perfect)
        cache_state(list, "icache", &icache);
    issue_state(list, machine);
    collect_state(list, machine);
    units_state(list, machine);
    lsu_state(list, machine);
    caches_state(list, machine);
}

/* Lanes that accept an operation every cycle, equivalent to lanes with this interval. */
static f64 full_lanes(u64 lanes, u32 interval)
{
    const u64 full = (lanes + interval - 1) / interval;
    return (f64)full;
}

static void lanes_logic(struct logic_list *list, const struct core_config *machine)
{
    const struct units_params *u = machine->units;
    const u64 sp = (u64)u->sp * u->sp_lanes, sfu = (u64)u->sfu * u->sfu_lanes;
    const u64 integer = u->integer ? (u64)u->integer * u->sp_lanes : sp;
    const u64 fp64 = u->fp64 ? (u64)u->fp64 * u->fp64_lanes : sfu;
    const struct logic rows[] = {
        {"units", "fp32_lanes", "single-precision multiply-add units", LOGIC_FP32, (f64)sp},
        {"units", "int_lanes",
         "integer units, separate or combined with the single-precision units", LOGIC_INT,
         (f64)integer},
        {"units", "fp64_lanes", "double-precision units that accept an operation every cycle",
         LOGIC_FP64, full_lanes(fp64, u->fp64_mad_interval)},
        {"units", "sfu_lanes", "special-function units that accept an operation every cycle",
         LOGIC_SFU, full_lanes(sfu, u->sfu_interval)},
    };
    for (u32 i = 0; i < ARRAY_LEN(rows); i++)
        *vec_push(&list->rows) = rows[i];
    if (machine->core->scalar_registers)
        *vec_push(&list->rows) =
            (struct logic){"units", "scalar_logic", "scalar units", LOGIC_SCALAR, u->scalar};
}

void common_logic(struct logic_list *list, const struct core_config *machine)
{
    const struct collect_params *collect = machine->collect;
    const u64 own = (u64)collect->sp + collect->fp64 + collect->sfu + collect->memory;
    const u64 collectors = collect->generic ? collect->generic : own;
    const u32 lanes = machine->core->warp_size, part = MAX(lanes / machine->lsu->shared_parts, 1);
    const f64 warps = machine->core->warps;
    const f64 decoders = (f64)machine->fetch->per_cycle * machine->fetch->width;
    const struct logic front[] = {
        {"fetch", "logic", "warp selection and next PCs; scaled by warps", LOGIC_FETCH, warps},
        {"fetch", "decoders", "one decoder per instruction in a cycle", LOGIC_DECODE, decoders},
        {"fetch", "pool", "control of instruction buffers; scaled by warps", LOGIC_QUEUE, warps},
        {"issue", "logic", "dependence checks and warp selection; scaled by warps", LOGIC_ISSUE,
         warps},
        {"collect", "crossbar", "from register banks to collectors, per lane", LOGIC_CROSSBAR,
         lanes, (f64)collect->banks * WORD_BITS, (f64)collectors * WORD_BITS},
    };
    for (u32 i = 0; i < ARRAY_LEN(front); i++)
        *vec_push(&list->rows) = front[i];
    lanes_logic(list, machine);
    *vec_push(&list->rows) =
        (struct logic){"lsu",
                       "crossbar",
                       "between lanes and banks of shared memory, both directions",
                       LOGIC_CROSSBAR,
                       2,
                       8.0 * machine->lsu->shared_banks * machine->lsu->shared_bank_bytes,
                       (f64)part * WORD_BITS};
}
