/*
 * When bits arrive, for `timing_speculation`.
 *
 * A flip-flop whose input does not change in a cycle cannot be late. A bit that changes arrives by some
 * path of its module: it arrives later than (1 - x) of the module's critical path with probability x^k.
 * Critical paths are relative to the machine's period, at the nominal voltage; with the supply, all
 * delays grow by the alpha-power law, V / (V - V_th)^alpha. A bit is late if it arrives after the end
 * of the period. Of n bits that change, the latest one is late with probability 1 - (1 - x^k)^n, for
 * the x at which a path just fits.
 *
 * One number is drawn for each activity, whatever voltage and period are: at a lower voltage the same
 * activities are late, and others.
 */
#include "mech/timing_speculation.h"

#include <math.h>

f64 spec_slowness(const struct timing_speculation_params *p)
{
    static const f64 least_overdrive = 0.05; /* assumed: the law ends near the threshold */
    const f64 volts = p->volts > 0 ? p->volts : p->nominal;
    const f64 drive = fmax(volts - p->threshold, least_overdrive);
    return volts / p->nominal * pow((p->nominal - p->threshold) / drive, p->alpha);
}

/* The probability that a bit is late. */
static f64 bit_late(const struct timing_speculation_params *p, f64 path, f64 slowness)
{
    const f64 longest = path * slowness;
    return longest > p->period ? pow(1 - p->period / longest, p->shape) : 0;
}

static void fill(u64 *late, f64 bit)
{
    f64 none = 1;
    for (u32 n = 0; n <= SPEC_BITS; n++, none *= 1 - bit)
        late[n] = (u64)fmin((1 - none) * 0x1p64, 0x1.fffffffffffffp63);
}

void spec_delays_make(struct spec_delays *delays, const struct timing_speculation_params *p)
{
    const f64 paths[SPEC_MODULES] = {p->path_fetch, p->path_decode, p->path_issue, p->path_salu,
                                     p->path_simd,  p->path_simf,   p->path_lsu};
    delays->slowness = spec_slowness(p);
    for (u32 m = 0; m < SPEC_MODULES; m++)
        fill(delays->late[m], bit_late(p, paths[m], delays->slowness));
    for (u32 m = SPEC_SALU; m <= SPEC_SIMF; m++)
        fill(delays->late[SPEC_SIMPLE + m - SPEC_SALU],
             bit_late(p, paths[m] * p->path_simple, delays->slowness));
}

/* ---- cycles ---- */

void spec_advance(struct timing_speculation *t, u64 cycle)
{
    const u64 first = cycle < SPEC_BEFORE ? 0 : (cycle - SPEC_BEFORE) / 64 * 64;
    if (first <= t->ring_at)
        return;
    if (first - t->ring_at >= SPEC_RING)
        memset(t->ring, 0, sizeof t->ring);
    else
        for (u64 at = t->ring_at; at < first; at += 64)
            t->ring[at % SPEC_RING / 64] = 0;
    t->ring_at = first;
}

static void violate(struct timing_speculation *t, u64 cycle)
{
    cycle = MIN(MAX(cycle, t->ring_at), t->ring_at + SPEC_RING - 1);
    u64 *const word = &t->ring[cycle % SPEC_RING / 64], mask = 1ull << cycle % 64;
    t->stats->violating_cycles += !(*word & mask);
    *word |= mask;
}

bool spec_is_late(struct timing_speculation *t, enum spec_module module, u32 path, u32 bits,
                  u64 cycle)
{
    u64 *const counts[SPEC_MODULES] = {
        &t->stats->late_fetch, &t->stats->late_decode, &t->stats->late_issue, &t->stats->late_salu,
        &t->stats->late_simd,  &t->stats->late_simf,   &t->stats->late_lsu};
    t->stats->activities++;
    t->stats->toggled += bits;
    if (mechanism_random(t) >= t->delays->late[path][MIN(bits, (u32)SPEC_BITS)])
        return false;
    t->stats->late++;
    ++*counts[module];
    violate(t, cycle);
    return true;
}
