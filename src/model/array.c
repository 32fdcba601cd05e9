/*
 * The array model: a small relative of CACTI (Wilton and Jouppi 1996; Muralimanohar et al. 2007).
 *
 * An array consists of banks of memory cells. A bank has as many rows as its bits need if a row
 * holds one access; tall banks are divided, in a continuous way, so that a bit line crosses at most
 * subarray_rows cells. Around the cells are decoders and the like (a share of the cells' area), and
 * for every bit of every port its column circuits and wires. An access charges its bit lines and
 * moves its bits across the side of all banks. All cells leak, and the circuits around them in
 * proportion. Delay grows with the logarithm of the bits (decoding and driving, in inverter delays)
 * and with the RC of the wires.
 *
 * FITTED: eight numbers, marked below, minimise the squared logarithms of the residuals of area,
 * read energy and delay of these published entries together: the I-cache, instruction buffer,
 * scoreboard and filter-cache rows of table 1 of Lashgar et al. 2012 (CACTI 6.5, 32 nm) and the
 * SRAM columns of table 4.1 of Tan 2016 (NVSim, 40 nm). The share of leaking periphery and the
 * temperatures in published.def, multiples of 10 K as CACTI requires, are chosen by hand to fit the
 * same entries; so is the number of the scoreboard's ports, which the text does not give. The other
 * entries (Xiang, Yeh, MIAOW, operand buffers) are not fitted. All residuals: `heddle area
 * --residuals`, docs/area.md.
 *
 * Invariants
 *  A1  Pure functions: the same shape costs the same.
 *  A2  More entries, more bits, more ports never cost less of anything.
 *  A3  Energy scales exactly as nm V^2 and area as nm^2 between technologies.
 *
 * Deviations
 *  - Reads and writes cost the same: table 1 gives one number for both, table 4.1 two that differ
 *  by
 *    a tenth. Xiang's and Yeh's writes cost twice as much as their reads.
 *  - No searched array was published: the cost of a search follows from the fitted bit lines.
 */
#include "model/array.h"

#include <math.h>

/* ---- cells: CACTI 7's tech_params, the same in all its technologies ---- */

/* In feature sizes: a six-transistor cell with one port, and how much wider and higher each further
 * port makes it (two lines at the local wires' pitch of 2.5). */
static const f64 cell_width = 10, cell_height = 14.6, port_width = 5, port_height = 5;
/* A cell that also compares: twice the area. */
static const f64 search_height = 29.2;
/* Transistor widths in feature sizes: of the two inverters, the part that is off (as much is on),
 * and of an access transistor. */
static const f64 inverter_width = 2.08 + 1.23, access_width = 1.31;
/* Assumed: a cell that also compares has ten transistors instead of six. */
static const f64 search_transistors = 10.0 / 6;

/* ---- wires ---- */

/* About the same in all technologies: ITRS 2007, interconnect, 0.2 pF/mm. */
static const f64 wire_ff_um = 0.2;
/* Drain of an access transistor: CACTI's junction, gate overlap and contact, 1 fF/um. */
static const f64 drain_ff_um = 1;

/* ---- periphery ---- */

/* Assumed: the longest bit line in common use. */
static const f64 subarray_rows = 256;
/* FITTED: area of cells including decoders, straps and spare cells, relative to that of the
 * cells. */
static const f64 cell_share = 1.183;
/* FITTED: each bit of a port has a sense amplifier, drivers and wires beside the cells; their
 * width, and their height without wires, in feature sizes. CACTI's local wires have a pitch of
 * 2.5. */
static const f64 column_width = 18.04, column_height = 806.4;
/* FITTED: bit line capacitances charged by an access: two lines, and the word line's share. */
static const f64 bitline_factor = 1.664;
/* FITTED: the part of the array's side that a bit travels, times the share of bits that change. */
static const f64 wire_factor = 0.6555;
/* By hand, to fit the same entries: total leakage relative to that of the cells. */
static const f64 periphery_leakage = 1.15;
/* FITTED, at 32 nm and 0.9 V: of any array, and for each doubling of a bank's bits (0.8 FO4). */
static const f64 first_ps = 21.26, doubling_ps = 10.75;
/* FITTED: RC of a bank's wires without repeaters; assumed: repeaters are placed every 1 mm. */
static const f64 wire_ps_um2 = 0.002282, repeater_um = 1000;
/* A comparing gate per bit: XOR2_X1 of the NanGate 45 nm Open Cell Library. */
static const f64 compare_um2_at_45 = 1.596;

/* ---- flip-flops ---- */

static const f64 flop_um2_at_45 = 4.522; /* DFF_X1 of the NanGate 45 nm Open Cell Library */
static const f64 flop_leakage = 4;       /* assumed: 24 transistors, four cells of six */
/* Assumed: about ten minimum gates of 1 fF switch with the clock or the value, at 45 nm. */
static const f64 flop_ff_at_45 = 10;
static const f64 flop_fo4 = 3; /* assumed: clock to output */

struct bank {
    f64 nm, volts;
    f64 count;  /* number of banks */
    f64 cells;  /* per bank */
    f64 access; /* cells that an access charges */
    f64 moved;  /* bits that are read or written */
    f64 ports;
    f64 width, height; /* of a cell, um */
};

static f64 ports_of(const struct array_shape *shape)
{
    u32 ports = (u32)shape->read_ports + shape->write_ports;
    return ports ? ports : 1;
}

u32 array_access_bits(u64 entries, u32 bits, const struct array_shape *shape)
{
    u32 access = shape->access_bits ? shape->access_bits : bits;
    return (u32)MIN((u64)access, entries * bits);
}

static struct bank bank_of(u64 entries, u32 bits, const struct array_shape *shape,
                           const struct technology *technology)
{
    f64 feature = technology->nm * 1e-3, ports = ports_of(shape);
    struct bank bank = {
        .nm = technology->nm,
        .volts = technology->volts > 0 ? technology->volts : technology_volts(technology->nm),
        .count = shape->banks ? shape->banks : 1,
        .ports = ports,
        .width = (cell_width + port_width * (ports - 1)) * feature,
        .height =
            ((shape->searched ? search_height : cell_height) + port_height * (ports - 1)) * feature,
    };
    bank.cells = (f64)entries * bits / bank.count;
    bank.access = fmin(array_access_bits(entries, bits, shape), bank.cells);
    bank.moved = shape->compared ? fmin(bits, bank.access) : bank.access;
    return bank;
}

static f64 bank_area(const struct bank *bank, const struct array_shape *shape)
{
    f64 cells = bank->cells * bank->width * bank->height;
    f64 area = cell_share * cells;
    if (shape->compared) { /* only the result of the comparison leaves it */
        f64 side = bank->nm / 45;
        return area + compare_um2_at_45 * side * side * bank->access;
    }
    /* A bit's way out is as long as its column, but at most about the bank's side. */
    f64 feature = bank->nm * 1e-3, side = sqrt(cells);
    f64 column = column_height * feature + bank->cells / bank->access * bank->height;
    f64 way = side * column / (side + column);
    return area + column_width * feature * bank->moved * bank->ports * way;
}

static f64 cell_leakage_mw(const struct bank *bank, const struct array_shape *shape,
                           const struct technology *technology)
{
    f64 feature = technology->nm * 1e-3;
    f64 leakage =
        technology_leakage_mw(technology, (inverter_width + access_width * bank->ports) * feature,
                              inverter_width * feature);
    return shape->searched ? search_transistors * leakage : leakage;
}

/* Energy of an access: bit lines of its cells, then wires to the edge. */
static f64 access_pj(const struct bank *bank, f64 side_um)
{
    f64 rows = bank->cells / bank->access;
    f64 line = rows / (1 + rows / subarray_rows);
    f64 cell_ff = bank->height * wire_ff_um + access_width * bank->nm * 1e-3 * drain_ff_um;
    f64 charged = bitline_factor * bank->access * line * cell_ff;
    charged += wire_factor * bank->moved * side_um * wire_ff_um;
    return charged * bank->volts * bank->volts * 1e-3;
}

/* Every cell of the bank sees the key, and its part of a match line. */
static f64 search_pj(const struct bank *bank, f64 side_um)
{
    f64 drain = access_width * bank->nm * 1e-3 * drain_ff_um;
    f64 cell_ff = (bank->height + bank->width) * wire_ff_um + 2 * drain;
    f64 charged = bitline_factor * bank->cells * cell_ff;
    charged += wire_factor * bank->moved * side_um * wire_ff_um;
    return charged * bank->volts * bank->volts * 1e-3;
}

static struct array_cost flip_flops(u64 entries, u32 bits, const struct array_shape *shape,
                                    const struct technology *technology)
{
    struct bank bank = bank_of(entries, bits, shape, technology);
    f64 all = bank.cells * bank.count, side = bank.nm / 45;
    struct array_cost cost = {.area_um2 = all * flop_um2_at_45 * side * side};
    f64 wires = wire_factor * bank.moved * sqrt(cost.area_um2) * wire_ff_um;
    f64 square = bank.volts * bank.volts * 1e-3;
    bank.ports = 1;
    cost.leakage_mw =
        all * flop_leakage * cell_leakage_mw(&bank, &(struct array_shape){0}, technology);
    cost.read_pj = wires * square;
    cost.write_pj = (wires + bank.access * flop_ff_at_45 * side) * square;
    /* Each bit is compared with its own in an exclusive-or of a few gates. */
    cost.search_pj = shape->searched ? (wires + all * flop_ff_at_45 / 2 * side) * square : 0;
    cost.delay_ps = flop_fo4 * technology_fo4_ps(technology);
    return cost;
}

struct array_cost array_cost(u64 entries, u32 bits, const struct array_shape *shape,
                             const struct technology *technology)
{
    if (!entries || !bits)
        return (struct array_cost){0};
    if (shape->flip_flops)
        return flip_flops(entries, bits, shape, technology);
    const struct technology fitted = {.nm = 32};
    struct bank bank = bank_of(entries, bits, shape, technology);
    f64 area = bank_area(&bank, shape);
    struct array_cost cost = {.area_um2 = area * bank.count};
    f64 side = sqrt(cost.area_um2);
    cost.leakage_mw =
        periphery_leakage * bank.cells * bank.count * cell_leakage_mw(&bank, shape, technology);
    cost.read_pj = access_pj(&bank, side);
    cost.write_pj = cost.read_pj;
    cost.search_pj = shape->searched ? search_pj(&bank, side) : 0;
    cost.delay_ps =
        (first_ps + doubling_ps * log2(bank.cells + 1)) * scale_delay(&fitted, technology);
    cost.delay_ps += wire_ps_um2 * area / (1 + sqrt(area) / repeater_um);
    return cost;
}
