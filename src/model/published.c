/* Published costs of arrays: see array.h and published.def. */
#include "model/array.h"

#include <math.h>
#include <stdio.h>

#define NONE 0
#define SHAPE(...)  \
    {               \
        __VA_ARGS__ \
    }
/* Written twice: a shape's commas would separate arguments that one macro passes to another. */
#define PUBLISHED(table, place, what, element, entries, bits, shape, sized, nm, volts, celsius, \
                  area, leakage, read, write, delay, note)                                      \
    {#table, place,   what, element, entries, bits, shape, sized, {nm, volts, celsius},         \
     area,   leakage, read, write,   delay,   note, false},
#define RESISTIVE(table, place, what, element, entries, bits, shape, sized, nm, volts, celsius, \
                  area, leakage, read, write, delay, note)                                      \
    {#table, place,   what, element, entries, bits, shape, sized, {nm, volts, celsius},         \
     area,   leakage, read, write,   delay,   note, true},
const struct published published_rows[] = {
#include "model/published.def"
    {0},
};

static bool same_size(const struct published *row, u64 entries, u32 bits)
{
    f64 theirs = (f64)row->entries * row->bits, ours = (f64)entries * bits;
    return !row->sized || fabs(ours - theirs) <= theirs / 4;
}

const struct published *published_find(const char *table, const char *element, u64 entries,
                                       u32 bits)
{
    for (const struct published *row = published_rows; row->table; row++)
        if (row->element && same_size(row, entries, bits) && !strcmp(row->table, table) &&
            !strcmp(row->element, element))
            return row;
    return NULL;
}

static void replace(f64 *value, f64 printed, f64 factor)
{
    if (printed > 0)
        *value = printed * factor;
}

struct array_cost element_cost(const char *table, const struct state_row *row,
                               const struct technology *technology, const struct published **used)
{
    char element[128];
    snprintf(element, sizeof element, "%s.%s", row->unit, row->name);
    struct array_cost cost = array_cost(row->entries, row->bits, &row->shape, technology);
    const struct published *found = published_find(table, element, row->entries, row->bits);
    if (used)
        *used = found;
    if (!found)
        return cost;
    const struct technology *theirs = &found->technology;
    f64 moved = 1;
    if (found->sized && !found->shape.compared)
        moved = (f64)array_access_bits(row->entries, row->bits, &row->shape) /
                array_access_bits(found->entries, found->bits, &found->shape);
    f64 energy = scale_energy(theirs, technology) * moved;
    replace(&cost.area_um2, found->area_um2, scale_area(theirs, technology));
    /* No text gives the temperature of its array: assumed equal to ours, so that the published
     * number is used as it is. */
    struct technology as_hot = {theirs->nm, theirs->volts, technology->celsius};
    replace(&cost.leakage_mw, found->leakage_mw, scale_leakage(&as_hot, technology));
    replace(&cost.read_pj, found->read_pj, energy);
    replace(&cost.write_pj, found->write_pj, energy);
    replace(&cost.delay_ps, found->delay_ps, scale_delay(theirs, technology));
    return cost;
}
