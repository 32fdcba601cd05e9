/*
 * What the segments of `less` cost. Energies and leakage are those of Tan's table 4.1 (NVSim), which
 * has SRAM of 32 and 128 KB and STT-RAM of 96 and 128 KB; other sizes cost as much more or less than
 * the nearest of them as the array model says.
 *
 * The table has no areas. A cell of STT-RAM takes the share of an SRAM cell's area that makes the
 * file 55 % smaller, as section 4.4.4 says of 96 KB of 128: (0.45 - 0.25) / 0.75.
 *
 * Of the logic, the table has nothing either: examining the upper half of a result costs half of a
 * 32-bit comparison, which is two thirds of an addition as in `uniform`; multiplexers and tri-state drivers are not counted.
 */
#include "mech/less.h"

#define TABLE "Tan 2016, table 4.1"

enum {
    WORD_BITS = 32,
    TABLE_LANES = 32, /* of a register in table 4.1 */
    ROW_BITS = TABLE_LANES * WORD_BITS,
    /* rows of the arrays in table 4.1 */
    KB_32 = 256,
    KB_96 = 768,
    KB_128 = 1024
};

#define STT_AREA ((0.45 - 0.25) / 0.75)

void less_storage(const void *params, struct state_list *list)
{
    const struct less_params *p = params;
    const struct state_row *file = state_find(list, "collect.registers");
    const struct state_row *results = state_find(list, "units.results");
    if (!file) /* the machine has another kind of register file, and refuses the mechanism */
        return;
    const u32 lanes = file->shape.access_bits / WORD_BITS;
    const struct array_shape shape = file->shape;
    const u64 rows = file->entries / lanes, buses = results ? results->entries : 1;
    const u32 sram = less_sram_of(p, (u32)rows);
    state_add(list, "less", "sram", (u64)sram * lanes, WORD_BITS, STATE_COUNTED,
              "registers of short-lived values");
    state_shape(list, shape);
    state_visit(list, core_visit_registers, 0, NULL);
    state_add(list, "less", "stt", (rows - sram) * lanes, WORD_BITS, STATE_COUNTED,
              "registers of long-lived values, in STT-RAM: particles do not flip them");
    state_shape(list, shape);
    if (p->mode == LESS_LA)
        return;
    state_add(list, "less", "halved", rows - sram, 1, STATE_COUNTED,
              "whether only the lower halves of a row of STT-RAM are stored; part of the row");
    state_flops(
        list, "less", "buses", buses, state_index_bits(rows) + 3, STATE_COUNTED,
        "the second destination on a result bus, valid bits of both halves, and whether the "
        "result is narrow");
}

const struct energy_event less_events[] = {
    {"sram_read_lanes", "registers", ENERGY_READ, "less.sram", .bits = WORD_BITS},
    {"sram_write_lanes", "registers", ENERGY_WRITE, "less.sram", .bits = WORD_BITS},
    {"stt_read_lanes", "registers", ENERGY_READ, "less.stt", .bits = WORD_BITS},
    {"stt_write_lanes", "registers", ENERGY_WRITE, "less.stt", .bits = WORD_BITS},
    {"halved_reads", "registers", ENERGY_READ, "less.halved"},
    {"halved_writes", "registers", ENERGY_WRITE, "less.halved"},
    {"narrow", "registers", ENERGY_WRITE, "less.buses"},
    {"checked_lanes", "registers", ENERGY_LOGIC, .pj = 0.033, .nm = 45,
     .source = "an integer addition of 32 bits takes 0.1 pJ at 45 nm (Horowitz, Computing's energy "
               "problem, ISSCC 2014); a test of 16 bits for zero is assumed to take a third of it"},
    {0},
};

/* All accesses are counted here. */
const struct energy_replace less_replaces[] = {{"collect.registers"}, {0}};

/* An access of table 4.1 is taken to be that of a warp's register. */
#define SEGMENT(name, cells, rows, mw, read, write, ps, ...)                                      \
    {                                                                                             \
        .element = "less." name, .cell = cells, .leakage_mw = mw, .read_pj = read,                \
        .write_pj = write, .delay_ps = ps, .nm = 40, .volts = 0.9, .entries = (rows)*TABLE_LANES, \
        .access_bits = ROW_BITS, .source = TABLE, __VA_ARGS__                                     \
    }

const struct energy_cell less_cells[] = {
    SEGMENT("sram", "SRAM", KB_32, 31.2, 49, 43, 497),
    SEGMENT("sram", "SRAM", KB_128, 130, 131, 123, 1060),
    SEGMENT("stt", "STT-RAM", KB_96, 3.21, 82, 529, 5124, .area_share = STT_AREA),
    SEGMENT("stt", "STT-RAM", KB_128, 4.283, 92, 645, 6036, .area_share = STT_AREA),
    /* A bit of a row. */
    {.element = "less.halved",
     .cell = "STT-RAM",
     .leakage_mw = 3.21 / ROW_BITS,
     .read_pj = 82.0 / ROW_BITS,
     .write_pj = 529.0 / ROW_BITS,
     .nm = 40,
     .volts = 0.9,
     .area_share = STT_AREA,
     .entries = KB_96,
     .access_bits = 1,
     .source = TABLE ", a bit of a row"},
    {0},
};
