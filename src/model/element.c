/*
 * The cost of a storage element on a machine whose mechanisms may change it: see element.h.
 *
 * A separate supply changes the element's technology, so that the laws of technology.c apply:
 * dynamic energy scales with the square of the voltage, leakage with the voltage and with the off
 * current, which falls with drain-induced barrier lowering, delay by the alpha-power law.
 */
#include "model/element.h"

struct element_origin element_supply(const struct mechanism_set *set, const struct state_row *row,
                                     const struct technology *technology)
{
    struct element_origin origin = {.volts = technology->volts, .rate = 1};
    for (u32 i = 0; i < set->count; i++) {
        const struct energy_supply *supply = change_supply(&set->uses[i], row);
        if (!supply)
            continue;
        const f64 volts = change_param(&set->uses[i], supply->volts);
        const f64 rate = change_param(&set->uses[i], supply->rate);
        origin.volts = volts > 0 ? volts : origin.volts;
        origin.rate = rate > 0 ? rate : 1;
        if (volts > 0 || rate > 0)
            origin.supplied = &set->uses[i];
        break; /* no other mechanism can have one: changes_clash */
    }
    return origin;
}

f64 cell_given(const struct element_origin *origin, const char *param)
{
    return change_param(origin->cell_of, param);
}

/* A cost of a cell: from its parameter, at the machine's technology, or else as declared. */
static void set_cost(const struct element_origin *origin, f64 *cost, f64 declared, f64 from_cell,
                     const char *param, f64 from_machine)
{
    const f64 given = cell_given(origin, param);
    if (given > 0)
        *cost = given * from_machine;
    else if (declared > 0)
        *cost = declared * from_cell;
}

/* What an element costs by the array model, divided by what one of the cell's size does. */
static struct array_cost sized(const struct energy_cell *cell, const struct state_row *row,
                               const struct technology *own)
{
    if (!cell->entries)
        return (struct array_cost){1, 1, 1, 1, 1, 1};
    struct array_shape shape = row->shape;
    const struct array_cost ours = array_cost(row->entries, row->bits, &shape, own);
    shape.access_bits = cell->access_bits;
    const struct array_cost theirs = array_cost(cell->entries, row->bits, &shape, own);
    return (struct array_cost){
        .area_um2 = ours.area_um2 / theirs.area_um2,
        .leakage_mw = ours.leakage_mw / theirs.leakage_mw,
        .read_pj = ours.read_pj / theirs.read_pj,
        .write_pj = ours.write_pj / theirs.write_pj,
        .delay_ps = ours.delay_ps / theirs.delay_ps,
    };
}

static void apply_cell(struct array_cost *cost, const struct element_origin *origin,
                       const struct state_row *row, const struct technology *machine,
                       const struct technology *own)
{
    const struct energy_cell *cell = origin->cell;
    const struct array_cost more = sized(cell, row, own);
    /* No source gives the temperature of its cells: assumed equal to ours, as in element_cost. */
    const struct technology theirs =
        cell->nm ? (struct technology){cell->nm, cell->volts, own->celsius} : *machine;
    const f64 energy = scale_energy(&theirs, own), given = scale_energy(machine, own);
    if (cell->area_share > 0)
        cost->area_um2 *= cell->area_share;
    set_cost(origin, &cost->area_um2, cell->area_um2, scale_area(&theirs, own) * more.area_um2,
             cell->given.area_um2, 1);
    set_cost(origin, &cost->leakage_mw, cell->leakage_mw,
             scale_leakage(&theirs, own) * more.leakage_mw, cell->given.leakage_mw,
             scale_leakage(machine, own));
    set_cost(origin, &cost->read_pj, cell->read_pj, energy * more.read_pj, cell->given.read_pj,
             given);
    set_cost(origin, &cost->write_pj, cell->write_pj, energy * more.write_pj, cell->given.write_pj,
             given);
    set_cost(origin, &cost->delay_ps, cell->delay_ps, scale_delay(&theirs, own) * more.delay_ps,
             NULL, 1);
}

struct array_cost element_cost_with(const struct mechanism_set *set, const char *table,
                                    const struct state_row *row,
                                    const struct technology *technology,
                                    struct element_origin *origin)
{
    *origin = element_supply(set, row, technology);
    for (u32 i = 0; i < set->count && !origin->cell; i++) {
        origin->cell = change_cell(&set->uses[i], row);
        origin->cell_of = &set->uses[i];
    }
    const struct technology own = {technology->nm, origin->volts, technology->celsius};
    struct array_cost cost =
        element_cost(origin->cell ? "none" : table, row, &own, &origin->published);
    if (origin->cell)
        apply_cell(&cost, origin, row, technology, &own);
    return cost;
}
