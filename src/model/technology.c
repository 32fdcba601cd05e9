/*
 * Technologies: supply, leakage and speed of transistors, and how costs scale between them.
 *
 * The numbers of transistors are those of CACTI 7 (Balasubramonian et al., "CACTI 7: New tools for
 * interconnect exploration in innovative off-chip memories", TACO 2017; files tech_params/45nm.dat,
 * 32nm.dat and 22nm.dat of the public release), high-performance devices, which CACTI took from the
 * ITRS roadmap. A technology between two of them is interpolated linearly, as in CACTI.
 *
 * Invariants
 *  T1  All functions are pure, and continuous in volts, temperature and feature size.
 *  T2  More volts or a higher temperature never leak less; more volts are never slower.
 *
 * Deviations
 *  - The capacitance per length of wire or width of gate is assumed to be the same in all
 *    technologies, so that energy scales as length times volts squared (CACTI's own scaling of
 *    logic, 0.7 per generation, agrees) and area as length squared.
 */
#include "model/array.h"

#include <math.h>

enum {
    STEPS = 11 /* of temperature: 0, 10 ... 100 degrees */
};

struct technology_node {
    f64 nm;
    f64 volts;
    f64 gate_f_um; /* capacitance of a gate, F/um */
    f64 on_a_um;   /* current of an n-transistor that is on, A/um */
    f64 gate_a_um; /* leakage through a gate, A/um */
    f64 off_a_um[STEPS];
};

static const struct technology_node nodes[] = {
    {45,
     1.0,
     6.78e-16,
     2.0466e-3,
     3.59e-8,
     {2.80e-7, 3.28e-7, 3.81e-7, 4.39e-7, 5.02e-7, 5.69e-7, 6.42e-7, 7.20e-7, 8.03e-7, 8.91e-7,
      9.84e-7}},
    {32,
     0.9,
     5.34e-16,
     2.2117e-3,
     6.55e-8,
     {1.52e-7, 1.55e-7, 1.59e-7, 1.68e-7, 1.90e-7, 2.69e-7, 5.32e-7, 1.02e-6, 1.62e-6, 2.73e-6,
      6.10e-6}},
    {22,
     0.8,
     3.27e-16,
     2.6264e-3,
     1.81e-9,
     {1.216e-7, 1.240e-7, 1.272e-7, 1.344e-7, 1.520e-7, 2.152e-7, 4.256e-7, 8.160e-7, 1.296e-6,
      2.184e-6, 4.880e-6}},
};

/* MIAOW (Balasubramanian et al., TACO 2015, section 3.3): of the Synopsys 32 nm library. */
static const f64 fo4_ps_at_32 = 14.5;
/* Tan, dissertation 2016, table 6.1: V_thNOM at 28 nm; assumed for the others, too. */
static const f64 threshold_volts = 0.35;
/* Sakurai and Newton, "Alpha-power law MOSFET model", JSSC 1990: short channels. */
static const f64 alpha = 1.3;
/* Assumed: the roadmap's high-performance devices have a drain-induced barrier lowering of about
 * 100 mV per volt, and 1.5 times the ideal subthreshold swing. */
static const f64 barrier_lowering = 0.1, swing = 1.5;

/* The two nodes that a feature size lies between, and the weight of the larger one. */
static f64 between(u32 nm, const struct technology_node **large,
                   const struct technology_node **small)
{
    u32 i = nm >= nodes[1].nm ? 0 : 1;
    *large = &nodes[i];
    *small = &nodes[i + 1];
    f64 weight = (nm - (*small)->nm) / ((*large)->nm - (*small)->nm);
    return fmin(fmax(weight, 0), 1);
}

static f64 mix(f64 weight, f64 large, f64 small)
{
    return weight * large + (1 - weight) * small;
}

f64 technology_volts(u32 nm)
{
    const struct technology_node *large, *small;
    f64 weight = between(nm, &large, &small);
    return mix(weight, large->volts, small->volts);
}

static f64 supply(const struct technology *technology)
{
    return technology->volts > 0 ? technology->volts : technology_volts(technology->nm);
}

/* Exponential between the steps; extrapolated from the nearest two beyond them. */
static f64 off_current(const struct technology_node *node, f64 celsius)
{
    u32 step = (u32)fmin(fmax(celsius / 10, 0), STEPS - 2);
    f64 a = node->off_a_um[step], b = node->off_a_um[step + 1];
    return a * pow(b / a, celsius / 10 - step);
}

f64 technology_leakage_mw(const struct technology *technology, f64 off_um, f64 on_um)
{
    enum {
        KELVIN = 273
    };
    static const f64 volts_per_kelvin = 8.617e-5; /* Boltzmann's constant / charge */
    const struct technology_node *large, *small;
    f64 weight = between(technology->nm, &large, &small), volts = supply(technology);
    f64 off = mix(weight, off_current(large, technology->celsius),
                  off_current(small, technology->celsius));
    f64 thermal = volts_per_kelvin * (KELVIN + technology->celsius);
    off *= exp(barrier_lowering * (volts - technology_volts(technology->nm)) / (swing * thermal));
    f64 gate = mix(weight, large->gate_a_um, small->gate_a_um);
    return 1e3 * volts * (off * off_um + gate * on_um);
}

/* Time to move a gate's charge at nominal supply; used in ratios only. */
static f64 switching(u32 nm)
{
    const struct technology_node *large, *small;
    f64 weight = between(nm, &large, &small);
    return mix(weight, large->gate_f_um * large->volts / large->on_a_um,
               small->gate_f_um * small->volts / small->on_a_um);
}

static f64 slowness(f64 volts)
{
    /* The law does not hold near the threshold, and neither do the circuits modelled here. */
    f64 drive = fmax(volts - threshold_volts, 0.05);
    return volts / pow(drive, alpha);
}

f64 technology_fo4_ps(const struct technology *technology)
{
    u32 nm = technology->nm;
    return fo4_ps_at_32 * switching(nm) / switching(32) * slowness(supply(technology)) /
           slowness(technology_volts(nm));
}

f64 scale_energy(const struct technology *from, const struct technology *to)
{
    f64 volts = supply(to) / supply(from);
    return (f64)to->nm / from->nm * volts * volts;
}

/* As for a memory cell, which dominates leakage. */
f64 scale_leakage(const struct technology *from, const struct technology *to)
{
    return technology_leakage_mw(to, to->nm, to->nm) /
           technology_leakage_mw(from, from->nm, from->nm);
}

f64 scale_area(const struct technology *from, const struct technology *to)
{
    f64 side = (f64)to->nm / from->nm;
    return side * side;
}

f64 scale_delay(const struct technology *from, const struct technology *to)
{
    return technology_fo4_ps(to) / technology_fo4_ps(from);
}
