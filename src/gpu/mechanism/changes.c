/* What mechanisms change of a machine's costs: see changes.h. */
#include "gpu/mechanism/changes.h"

#include "base/error.h"

/* Each row of a list that applies under the mechanism's parameters. */
#define EACH_CHANGE(type, row, use, list)                                             \
    for (const struct type *row = (use)->mechanism->list; row && row->element; row++) \
        if (!row->when || row->when((use)->params))

/* Whether `name`, an element or a unit, means or contains the element. */
static bool names_element(const char *name, const char *unit, const char *element)
{
    const size_t length = strlen(unit);
    return !strncmp(name, unit, length) &&
           (!name[length] || (name[length] == '.' && !strcmp(name + length + 1, element)));
}

const struct energy_replace *change_replace(const struct mechanism_use *use,
                                            const struct state_row *element)
{
    EACH_CHANGE(energy_replace, row, use, replaces)
    if (names_element(row->element, element->unit, element->name))
        return row;
    return NULL;
}

const struct energy_cell *change_cell(const struct mechanism_use *use,
                                      const struct state_row *element)
{
    const struct energy_cell *nearest = NULL;
    f64 ratio = 0;
    EACH_CHANGE(energy_cell, row, use, cells)
    {
        if (!names_element(row->element, element->unit, element->name))
            continue;
        const f64 a = row->entries ? row->entries : (f64)element->entries,
                  b = (f64)element->entries;
        const f64 between = a < b ? a / b : b / a;
        if (nearest && between <= ratio)
            continue;
        nearest = row;
        ratio = between;
    }
    return nearest;
}

const struct energy_supply *change_supply(const struct mechanism_use *use,
                                          const struct state_row *element)
{
    EACH_CHANGE(energy_supply, row, use, supplies)
    if (names_element(row->element, element->unit, element->name))
        return row;
    return NULL;
}

const struct energy_power *change_power(const struct mechanism_use *use,
                                        const struct state_row *element)
{
    EACH_CHANGE(energy_power, row, use, powers)
    if (names_element(row->element, element->unit, element->name))
        return row;
    return NULL;
}

static const struct param *find_param(const struct mechanism *mechanism, const char *name)
{
    for (u32 i = 0; i < mechanism->component->param_count; i++) {
        const struct param *param = &mechanism->component->params[i];
        if (param->type == PARAM_F64 && !strcmp(param->name, name))
            return param;
    }
    return NULL;
}

f64 change_param(const struct mechanism_use *use, const char *name)
{
    const struct param *param = name ? find_param(use->mechanism, name) : NULL;
    f64 value = 0;
    if (param)
        memcpy(&value, (const u8 *)use->params + param->offset, sizeof value);
    return value;
}

void changes_mark(const struct mechanism_use *use, struct state_list *list)
{
    for (u32 i = 0; i < list->rows.count; i++)
        if (change_replace(use, &list->rows.data[i]))
            list->rows.data[i].replaced = use->mechanism->name;
}

/* ---- combinations ---- */

/* One of the two names means or contains the other. */
static bool overlap(const char *a, const char *b)
{
    const size_t unit = strcspn(a, ".");
    return unit == strcspn(b, ".") && !strncmp(a, b, unit) &&
           (!a[unit] || !b[unit] || !strcmp(a, b));
}

/* What `a` replaces cannot be changed by `b`: it is not there. */
static const char *replaced_clash(const struct mechanism_use *a, const struct mechanism_use *b)
{
    EACH_CHANGE(energy_replace, own, a, replaces)
    {
        EACH_CHANGE(energy_replace, row, b, replaces)
        if (overlap(own->element, row->element))
            return own->element;
        EACH_CHANGE(energy_supply, row, b, supplies)
        if (overlap(own->element, row->element))
            return own->element;
        EACH_CHANGE(energy_power, row, b, powers)
        if (overlap(own->element, row->element))
            return own->element;
    }
    return NULL;
}

const char *changes_clash(const struct mechanism_use *a, const struct mechanism_use *b)
{
    const char *element = replaced_clash(a, b);
    element = element ? element : replaced_clash(b, a);
    EACH_CHANGE(energy_supply, own, a, supplies)
    EACH_CHANGE(energy_supply, row, b, supplies)
    if (!element && overlap(own->element, row->element))
        element = own->element;
    EACH_CHANGE(energy_power, own, a, powers)
    EACH_CHANGE(energy_power, row, b, powers)
    if (!element && overlap(own->element, row->element))
        element = own->element;
    return element;
}

/* ---- names ---- */

static bool check_param(const struct mechanism *mechanism, const char *element, const char *name,
                        const char *place, struct error *error)
{
    return !name || find_param(mechanism, name) ||
           error_set(error, ERROR_USAGE, place,
                     "mechanism %s: the costs of %s name the parameter '%s', which does not exist",
                     mechanism->name, element, name);
}

static bool check_counter(const struct mechanism *mechanism, const struct energy_power *row,
                          const char *place, struct error *error)
{
    for (u32 i = 0; row->counter && i < mechanism->component->stat_count; i++)
        if (!strcmp(mechanism->component->stats[i].name, row->counter))
            return true;
    return error_set(error, ERROR_USAGE, place,
                     "mechanism %s: the leakage of %s names the counter '%s', which does not exist",
                     mechanism->name, row->element, row->counter ? row->counter : "");
}

bool changes_check(const struct mechanism *mechanism, const char *place, struct error *error)
{
#define PARAM(name) check_param(mechanism, row->element, name, place, error)
    for (const struct energy_cell *row = mechanism->cells; row && row->element; row++)
        if (!PARAM(row->given.area_um2) || !PARAM(row->given.leakage_mw) ||
            !PARAM(row->given.read_pj) || !PARAM(row->given.write_pj))
            return false;
    for (const struct energy_supply *row = mechanism->supplies; row && row->element; row++)
        if (!PARAM(row->volts) || !PARAM(row->rate))
            return false;
    for (const struct energy_power *row = mechanism->powers; row && row->element; row++)
        if (!PARAM(row->off) || !check_counter(mechanism, row, place, error))
            return false;
#undef PARAM
    return true;
}
