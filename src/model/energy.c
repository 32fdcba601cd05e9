/*
 * Energy of launches: counters times the cost of each event, and leakage times time.
 *
 * The cost of an event is determined once, when a device is opened: for an array the published
 * number of the machine's table, or that of the array model; for logic a published constant, scaled
 * to the machine's technology. Parts are in the order of events.def, then the mechanisms' own.
 */
#include "model/energy.h"

#include "core/params.h"
#include "gpu/device.h"
#include "gpu/machine/params.h"
#include "gpu/machine/stats.h"
#include "gpu/machine/storage.h"
#include "mem/system.h"
#include "model/area.h"
#include <math.h>
#include <stdlib.h>

/* ---- events of the machine's own parts ---- */

enum bits {
    BITS_BUILT,
    BITS_WORD,
    BITS_FILL,
    BITS_PORT,
    BITS_THROUGH,
};

enum times {
    TIMES_ONCE,
    TIMES_FLIT_MM,
    TIMES_CHIPS,
};

struct event {
    const struct component *component;
    const char *counter;
    size_t offset;
    const char *part;
    u8 kind, bits, times, share;
    const char *array;
    f64 pj;
    u32 nm;
    f64 volts;
    size_t given; /* in struct energy_params */
    const char *source;
};

static const struct event events[] = {
#define ARRAY(component, counter, part, kind, element, bits, share) \
    {&component##_component,                                        \
     #counter,                                                      \
     offsetof(struct machine_stats, component.counter),             \
     #part,                                                         \
     ENERGY_##kind,                                                 \
     BITS_##bits,                                                   \
     TIMES_ONCE,                                                    \
     SHARE_##share,                                                 \
     element},
#define LOGIC(component, counter, part, pj, nm, volts, times, given, share, source) \
    {&component##_component,                                                        \
     #counter,                                                                      \
     offsetof(struct machine_stats, component.counter),                             \
     #part,                                                                         \
     ENERGY_LOGIC,                                                                  \
     BITS_BUILT,                                                                    \
     TIMES_##times,                                                                 \
     SHARE_##share,                                                                 \
     NULL,                                                                          \
     pj,                                                                            \
     nm,                                                                            \
     volts,                                                                         \
     offsetof(struct energy_params, given),                                         \
     source},
#define LEAK(...)
#include "model/events.def"
};

/* ---- parts ---- */

u32 energy_part(struct energy_model *model, const char *name)
{
    char *own = arena_strdup(model->arena, name);
    for (char *at = own; *at; at++)
        *at = *at == ' ' ? '_' : *at;
    for (u32 i = 0; i < model->part_count; i++)
        if (!strcmp(model->parts[i], own))
            return i;
    assert(model->part_count < ENERGY_PARTS);
    model->parts[model->part_count] = own;
    return model->part_count++;
}

/* ---- costs ---- */

/* Finds a parameter by name; NULL: the component has none of that name and type. */
static const void *find_param(const struct config *config, const struct component *component,
                              const char *name, enum param_type type)
{
    for (u32 i = 0; i < component->param_count; i++) {
        const struct param *param = &component->params[i];
        if (param->type == type && !strcmp(param->name, name))
            return (const u8 *)config_params(config, component) + param->offset;
    }
    return NULL;
}

/* Bits that a fill of a cache writes: a line, or a sector if lines are sectored. */
static u32 fill_bits(const struct config *config, const struct component *cache)
{
    const u32 *line_bytes = find_param(config, cache, "line_bytes", PARAM_U32);
    const bool *sectored = find_param(config, cache, "sectored", PARAM_BOOL);
    assert(line_bytes && sectored); /* events.def has FILL only for caches, which have both */
    return 8 * (*sectored ? MIN((u32)SECTOR_BYTES, *line_bytes) : *line_bytes);
}

/* An access of the element's own shape. */
static const u32 as_built = UINT32_MAX;

/* Bits that an event moves, or as_built. */
static u32 bits_of(const struct config *config, const struct event *event)
{
    enum {
        WORD = 32,
        EVICT = 0 /* a choice of l1d.write */
    };
    const struct l2_params *l2 = config_params(config, &l2_component);
    const struct l1d_params *l1d = config_params(config, &l1d_component);
    switch ((enum bits)event->bits) {
    case BITS_WORD:
        return WORD;
    case BITS_FILL:
        return fill_bits(config, event->component);
    case BITS_PORT:
        return 8 * l2->port_bytes;
    case BITS_THROUGH:
        return l1d->write == EVICT ? 0 : 8 * SECTOR_BYTES;
    case BITS_BUILT:
        break;
    }
    return as_built;
}

u32 energy_dram_chips(const struct config *config)
{
    const struct energy_params *energy = config_params(config, &energy_component);
    const struct dram_params *dram = config_params(config, &dram_component);
    return (dram->bus_bytes + energy->dram_chip_bytes - 1) / energy->dram_chip_bytes;
}

static f64 times_of(const struct config *config, enum times times)
{
    const struct energy_params *energy = config_params(config, &energy_component);
    const struct network_params *network = config_params(config, &network_component);
    return times == TIMES_FLIT_MM ? 8 * network->flit_bytes * energy->hop_mm
           : times == TIMES_CHIPS ? energy_dram_chips(config)
                                  : 1;
}

/* Names the origin of an access's cost if a mechanism has its own numbers for the element. */
static void name_cell(struct energy_row *row, const struct element_origin *origin)
{
    const struct energy_cell *cell = origin->cell;
    const bool read = row->kind == ENERGY_READ;
    const char *param = read ? cell->given.read_pj : cell->given.write_pj;
    const f64 declared = read ? cell->read_pj : cell->write_pj;
    if (row->kind == ENERGY_SEARCH) /* from the array model, which has searched cells */
        return;
    if (cell_given(origin, param) > 0) {
        row->from = "set";
    } else if (declared > 0) {
        row->from = "mechanism";
        row->source = cell->source;
    }
}

/* The cost of an access that moves the row's bits of an element. */
static void cost_array(const struct energy_model *model, struct energy_row *row,
                       const struct state_row *element)
{
    struct element_origin origin;
    const struct array_cost cost =
        element_cost_with(model->set, model->table, element, &model->technology, &origin);
    const u32 built = array_access_bits(element->entries, element->bits, &element->shape);
    row->pj = row->kind == ENERGY_READ    ? cost.read_pj
              : row->kind == ENERGY_WRITE ? cost.write_pj
                                          : cost.search_pj;
    const struct published *published = origin.published;
    bool printed = published && (row->kind == ENERGY_READ    ? published->read_pj > 0
                                 : row->kind == ENERGY_WRITE ? published->write_pj > 0
                                                             : false);
    row->pj *= (f64)row->bits / built;
    if (printed && model->per_vector && published->bits == row->bits &&
        !strcmp(published->element, "collect.registers"))
        row->pj /= model->per_vector;
    row->published = printed ? published : NULL;
    row->from = printed ? "published" : "array model";
    row->volts = origin.supplied ? origin.volts : 0;
    if (origin.cell)
        name_cell(row, &origin);
}

static u32 built_bits(const struct state_row *element)
{
    return array_access_bits(element->entries, element->bits, &element->shape);
}

/* The element that replaces this one, and the part of its accesses; NULL: the mechanism counts
 * accesses itself. */
static const struct state_row *replacement(struct energy_model *model,
                                           const struct state_row *element, u32 *part)
{
    for (u32 i = 0; i < model->set->count; i++) {
        const struct mechanism_use *use = &model->set->uses[i];
        const struct energy_replace *replace = change_replace(use, element);
        if (!replace || !replace->by)
            continue;
        *part = energy_part(model, replace->part ? replace->part : use->mechanism->name);
        return state_find(&model->storage, replace->by);
    }
    return NULL;
}

/*
 * Adds a row for accesses to an element that move `bits`, or as_built. If the element is replaced,
 * the row costs nothing, and a second row has the accesses to its replacement.
 */
static void add_access(struct energy_model *model, struct energy_row row,
                       const struct state_row *element, u32 bits)
{
    row.bits = bits != as_built ? bits : built_bits(element);
    cost_array(model, &row, element);
    if (!element->replaced) {
        *vec_push(&model->rows) = row;
        return;
    }
    struct energy_row gone = row;
    gone.pj = 0;
    gone.from = "replaced";
    gone.source = NULL;
    gone.published = NULL;
    gone.replaced = element->replaced;
    gone.volts = 0;
    *vec_push(&model->rows) = gone;
    const struct state_row *by = replacement(model, element, &row.part);
    if (!by)
        return;
    row.array = arena_printf(model->arena, "%s.%s", by->unit, by->name);
    row.source = NULL;
    row.bits = bits != as_built ? bits : built_bits(by);
    cost_array(model, &row, by);
    *vec_push(&model->rows) = row;
}

static void add_array(struct energy_model *model, const struct config *config,
                      const struct event *event)
{
    const struct state_row *element = state_find(&model->storage, event->array);
    if (!element) /* this machine has no such element */
        return;
    add_access(model,
               (struct energy_row){
                   .component = event->component,
                   .counter = event->counter,
                   .offset = event->offset,
                   .share = event->share,
                   .kind = event->kind,
                   .part = energy_part(model, event->part),
                   .array = event->array,
               },
               element, bits_of(config, event));
}

/* Scales an event of logic to the supply of its component. */
static void supply_logic(const struct energy_model *model, struct energy_row *row)
{
    const struct state_row logic = {.unit = row->component->name, .name = ""};
    const struct element_origin origin = element_supply(model->set, &logic, &model->technology);
    const struct technology own = {model->technology.nm, origin.volts, 0};
    if (!origin.supplied)
        return;
    row->pj *= scale_energy(&model->technology, &own);
    row->volts = origin.volts;
}

/* Scales a constant of another technology to this one. */
static f64 scaled(const struct energy_model *model, f64 pj, u32 nm, f64 volts)
{
    const struct technology from = {nm, volts, 0};
    return nm ? pj * scale_energy(&from, &model->technology) : pj;
}

static void add_logic(struct energy_model *model, const struct config *config,
                      const struct event *event)
{
    f64 given;
    memcpy(&given, (const u8 *)config_params(config, &energy_component) + event->given,
           sizeof given);
    struct energy_row *row = vec_push(&model->rows);
    *row = (struct energy_row){
        .component = event->component,
        .counter = event->counter,
        .offset = event->offset,
        .share = event->share,
        .kind = ENERGY_LOGIC,
        .part = energy_part(model, event->part),
        .pj = (given > 0 ? given : scaled(model, event->pj, event->nm, event->volts)) *
              times_of(config, event->times),
        .from = given > 0 ? "set" : "literature",
        .source = given > 0 ? NULL : event->source,
    };
    if (event->nm) /* on the chip */
        supply_logic(model, row);
}

/* ---- events of mechanisms ---- */

const struct stat *energy_stat(const struct component *component, const char *name)
{
    for (u32 i = 0; i < component->stat_count; i++)
        if (!strcmp(component->stats[i].name, name))
            return &component->stats[i];
    return NULL;
}

/* The cost given by a parameter of the mechanism; 0: none. */
static bool find_given(const struct mechanism_use *use, const struct energy_event *event,
                       f64 *given, struct error *error)
{
    const struct component *component = use->mechanism->component;
    *given = 0;
    if (!event->given)
        return true;
    for (u32 i = 0; i < component->param_count; i++)
        if (!strcmp(component->params[i].name, event->given) &&
            component->params[i].type == PARAM_F64) {
            memcpy(given, (const u8 *)use->params + component->params[i].offset, sizeof *given);
            return true;
        }
    return error_set(
        error, ERROR_USAGE, "",
        "mechanism %s: the energy of an event names the parameter '%s', which does not exist",
        use->mechanism->name, event->given);
}

static bool add_event(struct energy_model *model, const struct mechanism_use *use,
                      const struct energy_event *event, size_t base, struct error *error)
{
    const char *name = use->mechanism->name;
    const struct stat *stat = energy_stat(use->mechanism->component, event->counter);
    f64 given;
    if (!stat)
        return error_set(error, ERROR_USAGE, "",
                         "mechanism %s: an event names the counter '%s', which does not exist",
                         name, event->counter);
    if (!find_given(use, event, &given, error))
        return false;
    const struct state_row *element =
        event->array ? state_find(&model->storage, event->array) : NULL;
    const bool set = given > 0, logic = event->kind == ENERGY_LOGIC;
    if (!logic && !element && !set) {
        if (event->array && strchr(event->array, '.'))
            return true; /* this configuration, or the machine, has no such array */
        return error_set(error, ERROR_USAGE, "", "mechanism %s: event '%s' names no array", name,
                         event->counter);
    }
    struct energy_row row = {
        .component = use->mechanism->component,
        .counter = event->counter,
        .offset = base + stat->offset,
        .mechanism = true,
        .kind = (u8)event->kind,
        .part = energy_part(model, event->part),
        .array = event->array,
    };
    if (!set && !logic) {
        add_access(model, row, element, event->bits ? event->bits : as_built);
        return true;
    }
    row.pj = set ? given : scaled(model, event->pj, event->nm, 0);
    row.from = set ? "set" : "literature";
    row.source = set ? NULL : event->source;
    if (!set)
        supply_logic(model, &row);
    *vec_push(&model->rows) = row;
    return true;
}

static void add_storage(struct energy_model *model, const struct config *config)
{
    storage_collect(&model->storage, config);
    for (u32 i = 0; i < model->set->count; i++)
        mechanism_storage(&model->storage, config, model->set->uses[i].mechanism);
}

/* Checks that replacements of elements exist. */
static bool check_replacements(const struct energy_model *model, const struct mechanism_use *use,
                               struct error *error)
{
    for (u32 i = 0; i < model->storage.rows.count; i++) {
        const struct energy_replace *row = change_replace(use, &model->storage.rows.data[i]);
        if (row && row->by && !state_find(&model->storage, row->by))
            return error_set(error, ERROR_USAGE, "",
                             "mechanism %s replaces %s by '%s', which is not in its storage",
                             use->mechanism->name, row->element, row->by);
    }
    return true;
}

static bool check_changes(const struct energy_model *model, struct error *error)
{
    for (u32 i = 0; i < model->set->count; i++)
        if (!changes_check(model->set->uses[i].mechanism, "", error) ||
            !check_replacements(model, &model->set->uses[i], error))
            return false;
    return true;
}

static bool add_mechanisms(struct energy_model *model, struct error *error)
{
    size_t base = 0;
    for (u32 i = 0; i < model->set->count; i++) {
        const struct mechanism_use *use = &model->set->uses[i];
        for (const struct energy_event *event = use->mechanism->events; event && event->counter;
             event++)
            if (!add_event(model, use, event, base, error))
                return false;
        base += mechanism_stats_size(use);
    }
    return true;
}

/* ---- the model ---- */

struct energy_model *energy_create(const struct config *config, const struct mechanism_set *set,
                                   struct error *error)
{
    const struct energy_params *params = config_params(config, &energy_component);
    const struct core_params *core = config_params(config, &core_component);
    struct energy_model *model = checked(calloc(1, sizeof *model));
    model->arena = arena_create();
    model->technology = area_technology(config);
    model->table = area_table(config);
    model->per_vector = params->register_per_vector ? core->warp_size : 0;
    model->set = set;
    add_storage(model, config);
    const bool right = check_changes(model, error);
    for (u32 i = 0; right && i < ARRAY_LEN(events); i++)
        if (events[i].array)
            add_array(model, config, &events[i]);
        else
            add_logic(model, config, &events[i]);
    if (!right || !add_mechanisms(model, error)) {
        energy_destroy(model);
        return NULL;
    }
    energy_find_leaks(model, config);
    return model;
}

void energy_destroy(struct energy_model *model)
{
    if (!model)
        return;
    state_free(&model->storage);
    vec_free(&model->rows);
    vec_free(&model->leaks);
    arena_destroy(model->arena);
    free(model);
}

/* ---- sums ---- */

u64 energy_row_fj(const struct energy_row *row, const struct machine_stats *stats,
                  const u8 *mechanisms)
{
    u64 count = 0;
    const u8 *from = row->mechanism ? mechanisms : (const u8 *)stats;
    if (from)
        memcpy(&count, from + row->offset, sizeof count);
    return (u64)rint((f64)count * row->pj * 1000);
}

u64 energy_leak_fj(const struct energy_leak *leak, const u8 *mechanisms)
{
    u64 count = 0;
    if (mechanisms)
        memcpy(&count, mechanisms + leak->offset, sizeof count);
    return (u64)rint((f64)count * leak->fj_per_count);
}

void energy_of(const struct energy_model *model, const struct machine_stats *stats,
               const u8 *mechanisms, struct energy_sum *sum)
{
    memset(sum, 0, sizeof *sum);
    for (u32 i = 0; i < model->rows.count; i++)
        sum->dynamic_fj[model->rows.data[i].part] +=
            energy_row_fj(&model->rows.data[i], stats, mechanisms);
    for (u32 i = 0; i < model->part_count; i++) /* mW times ps is fJ */
        sum->static_fj[i] = (u64)rint(model->part_mw[i] * (f64)stats->timing.picoseconds);
    for (u32 i = 0; i < model->leaks.count; i++)
        if (model->leaks.data[i].powered)
            sum->static_fj[model->leaks.data[i].part] +=
                energy_leak_fj(&model->leaks.data[i], mechanisms);
}

void energy_add(struct energy_sum *into, const struct energy_sum *from)
{
    for (u32 i = 0; i < ENERGY_PARTS; i++) {
        into->dynamic_fj[i] += from->dynamic_fj[i];
        into->static_fj[i] += from->static_fj[i];
    }
    into->attributed_fj += from->attributed_fj;
}

void energy_between(struct energy_sum *into, const struct energy_sum *later,
                    const struct energy_sum *earlier)
{
    for (u32 i = 0; i < ENERGY_PARTS; i++) {
        into->dynamic_fj[i] = later->dynamic_fj[i] - earlier->dynamic_fj[i];
        into->static_fj[i] = later->static_fj[i] - earlier->static_fj[i];
    }
    into->attributed_fj = later->attributed_fj - earlier->attributed_fj;
}

u64 energy_total_fj(const struct energy_sum *sum)
{
    u64 total = 0;
    for (u32 i = 0; i < ENERGY_PARTS; i++)
        total += sum->dynamic_fj[i] + sum->static_fj[i];
    return total;
}
