/*
 * Configurations: see config.h.
 *
 *  C1  Every value lies in its declared range: `assign` is the only writer after creation.
 *  C2  Loading works on a fresh copy that replaces the old values only when all went well.
 *  C3  A size that was given (struct product) stays until the parameter that it sets is given: if one
 *      of its factors changes later, that parameter follows. So the order of settings does not matter.
 */
#include "base/config.h"

#include "base/machine.h"
#include "base/product.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A size that was given: C3. */
struct size_request {
    bool given, fits;
    u64 value;
    const char *place; /* where it was given, for messages */
    struct origin origin;
};

struct config {
    const struct component *const *components;
    u32 count;
    struct arena *arena; /* owns everything below and all strings */
    void **params;       /* by component */
    struct origin **origins;
    struct size_request **sizes; /* by component and product */
    const char *machine, *description;
    const char *parents[MACHINE_MAX_PARENTS];
    u32 parent_count;
    struct published_values published;
};

/* ---- values ---- */

static void store(const struct param *param, void *params, f64 number, u64 integer)
{
    u8 *at = (u8 *)params + param->offset;
    switch (param->type) {
    case PARAM_U32:
    case PARAM_CHOICE:
        *(u32 *)at = (u32)integer;
        break;
    case PARAM_U64:
        *(u64 *)at = integer;
        break;
    case PARAM_F64:
        *(f64 *)at = number;
        break;
    case PARAM_BOOL:
        *(bool *)at = integer != 0;
        break;
    case PARAM_LIST:
        break; /* stored by parse_list */
    }
}

/* The index of `word` in "a|b|c", or UINT32_MAX. */
static u32 choice_index(const char *choices, const char *word)
{
    size_t length = strlen(word);
    u32 index = 0;
    for (const char *at = choices;; index++) {
        size_t span = strcspn(at, "|");
        if (span == length && !memcmp(at, word, length))
            return index;
        if (!at[span])
            return UINT32_MAX;
        at += span + 1;
    }
}

static char *choice_name(struct arena *arena, const char *choices, u32 index)
{
    const char *at = choices;
    while (index--)
        at += strcspn(at, "|") + 1;
    return arena_strndup(arena, at, strcspn(at, "|"));
}

static u32 choice_count(const char *choices)
{
    u32 count = 1;
    for (; *choices; choices++)
        count += *choices == '|';
    return count;
}

/* Bounds are declared as f64, in which 2^64-1 is 2^64. */
static u64 integer_bound(f64 bound)
{
    return bound >= 0x1p64 ? UINT64_MAX : (u64)bound;
}

/* "1 to 1024 cores" */
static const char *range_text(struct arena *arena, const struct param *param)
{
    const char *space = param->unit[0] ? " " : "";
    if (param->type == PARAM_F64 || param->type == PARAM_LIST)
        return arena_printf(arena, "%g to %g%s%s", param->min, param->max, space, param->unit);
    return arena_printf(arena, "%llu to %llu%s%s", (unsigned long long)integer_bound(param->min),
                        (unsigned long long)integer_bound(param->max), space, param->unit);
}

static bool takes_size(const struct param *param)
{
    return param->type != PARAM_F64 && !strcmp(param->unit, "bytes");
}

static bool parse_choice(struct arena *arena, const struct param *param, const char *key,
                         const char *text, const char *shown, u64 *index, const char *place,
                         struct error *error)
{
    *index = choice_index(param->choices, text);
    if (*index != UINT32_MAX)
        return true;
    u32 count = choice_count(param->choices);
    const char **names = arena_array(arena, const char *, count);
    for (u32 i = 0; i < count; i++)
        names[i] = choice_name(arena, param->choices, i);
    const char *nearest = nearest_word(text, names, count);
    return error_set(error, ERROR_INPUT, place, "%s: %s is not one of its choices, %s%s%s%s", key,
                     shown, param->choices, nearest ? ": did you mean '" : "",
                     nearest ? nearest : "", nearest ? "'?" : "");
}

static enum text_result parse_f64(const struct param *param, const char *text, f64 *number)
{
    enum text_result result = text_f64(text, number);
    if (result == TEXT_OK && !isfinite(*number))
        return TEXT_SYNTAX;
    bool inside = *number >= param->min && *number <= param->max;
    return result == TEXT_OK && !inside ? TEXT_RANGE : result;
}

static enum text_result parse_integer(const struct param *param, const char *text, u64 *integer)
{
    enum text_result result =
        takes_size(param) ? text_size(text, integer) : text_u64(text, integer);
    i64 negative;
    if (result == TEXT_SYNTAX && text_i64(text, &negative) == TEXT_OK)
        return TEXT_RANGE;
    bool inside = *integer >= integer_bound(param->min) && *integer <= integer_bound(param->max);
    return result == TEXT_OK && !inside ? TEXT_RANGE : result;
}

/* Values separated by commas; an empty text is an empty list. */
static bool parse_list(struct arena *arena, const struct param *param, const char *key,
                       const char *text, void *params, const char *place, struct error *error)
{
    f64 *values = arena_array(arena, f64, param->most);
    u32 count = 0;
    for (const char *at = text; *text;) {
        size_t length = strcspn(at, ",");
        const char *item = text_printable(arena, arena_strndup(arena, at, length));
        if (count == param->most)
            return error_set(error, ERROR_INPUT, place, "%s: expected at most %u values", key,
                             param->most);
        enum text_result result = parse_f64(param, item, &values[count++]);
        if (result == TEXT_SYNTAX)
            return error_set(error, ERROR_INPUT, place,
                             "%s: value %u: expected a number, %s, not '%.64s'", key, count,
                             range_text(arena, param), item);
        if (result == TEXT_RANGE)
            return error_set(error, ERROR_INPUT, place,
                             "%s: value %u: '%.64s' is out of range: expected %s", key, count, item,
                             range_text(arena, param));
        if (!at[length])
            break;
        at += length + 1;
    }
    memcpy((u8 *)params + param->offset, values, count * sizeof *values);
    memcpy((u8 *)params + param->count_offset, &count, sizeof count);
    return true;
}

/* Checks and stores one value from its text; the key is for messages. */
static bool parse_value(struct arena *arena, const struct param *param, const char *key,
                        const char *text, void *params, const char *place, struct error *error)
{
    const char *shown = "nothing";
    if (text[0])
        shown = arena_printf(arena, "'%.64s'", text_printable(arena, text));
    u64 integer = 0;
    f64 number = 0;
    enum text_result result = TEXT_OK;
    switch (param->type) {
    case PARAM_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return error_set(error, ERROR_INPUT, place, "%s: expected true or false, not %s", key,
                             shown);
        integer = text[0] == 't';
        break;
    case PARAM_CHOICE:
        if (!parse_choice(arena, param, key, text, shown, &integer, place, error))
            return false;
        break;
    case PARAM_F64:
        result = parse_f64(param, text, &number);
        break;
    case PARAM_LIST:
        return parse_list(arena, param, key, text, params, place, error);
    default:
        result = parse_integer(param, text, &integer);
    }
    if (result == TEXT_SYNTAX)
        return error_set(error, ERROR_INPUT, place, "%s: expected %s, %s, not %s", key,
                         param->type == PARAM_F64 ? "a number" : "an integer",
                         range_text(arena, param), shown);
    if (result == TEXT_RANGE)
        return error_set(error, ERROR_INPUT, place, "%s: %s is out of range: expected %s", key,
                         shown, range_text(arena, param));
    store(param, params, number, integer);
    return true;
}

static u32 index_of(const struct config *config, const struct component *component)
{
    u32 index = 0;
    while (index < config->count && config->components[index] != component)
        index++;
    return index;
}

static struct origin copy_origin(struct arena *arena, const struct origin *origin)
{
    return (struct origin){arena_strdup(arena, origin->from), origin->source,
                           arena_strdup(arena, origin->note)};
}

static u32 param_index(const struct component *component, const char *name)
{
    u32 index = 0;
    while (strcmp(component->params[index].name, name) != 0)
        index++;
    return index;
}

/* Sets the parameter that a given size determines. A size that does not fit is reported by
 * config_settled, as settings after it may change that. */
static void solve_size(struct config *config, u32 which, u32 number)
{
    const struct component *component = config->components[which];
    const struct product *product = &component->products[number];
    struct size_request *size = &config->sizes[which][number];
    struct error error = {0};
    size->fits =
        product_solve(component, product, config->params[which], size->value, size->place, &error);
    if (size->fits)
        config->origins[which][param_index(component, product->solved)] = size->origin;
}

static bool assign_size(struct config *config, u32 which, const struct product *product,
                        const char *text, const struct origin *origin, const char *place,
                        struct error *error)
{
    const struct component *component = config->components[which];
    const u32 number = (u32)(product - component->products);
    u64 value;
    if (text_size(text, &value) != TEXT_OK)
        return error_set(error, ERROR_INPUT, place,
                         "%s.%s: expected a size, as in 16K, not '%.64s'", component->name,
                         product->name, text_printable(config->arena, text));
    struct size_request *size = &config->sizes[which][number];
    *size = (struct size_request){.given = true, .value = value};
    size->place = arena_strdup(config->arena, place);
    size->origin = copy_origin(config->arena, origin);
    if (!*size->origin.note)
        size->origin.note = arena_printf(config->arena, "from %s.%s, %llu", component->name,
                                         product->name, (unsigned long long)value);
    solve_size(config, which, number);
    return true;
}

/* A parameter was given: sizes that it is a factor of are solved again, one that sets it is
 * forgotten. */
static void renew_sizes(struct config *config, u32 which, const char *name)
{
    const struct component *component = config->components[which];
    for (u32 i = 0; i < component->product_count; i++) {
        const struct product *product = &component->products[i];
        if (!strcmp(product->solved, name))
            config->sizes[which][i].given = false;
        else if (config->sizes[which][i].given && product_has_factor(product, name))
            solve_size(config, which, i);
    }
}

static bool assign(void *user, const struct component *component, const char *name,
                   const char *text, const struct origin *origin, const char *place,
                   struct error *error)
{
    struct config *config = user;
    const u32 which = index_of(config, component);
    const struct product *product = product_find(component, name);
    if (product)
        return assign_size(config, which, product, text, origin, place, error);
    const u32 index = param_index(component, name);
    const char *key = arena_dotted(config->arena, component->name, name);
    if (!parse_value(config->arena, &component->params[index], key, text, config->params[which],
                     place, error))
        return false;
    config->origins[which][index] = copy_origin(config->arena, origin);
    renew_sizes(config, which, name);
    return true;
}

bool config_settled(const struct config *config, struct error *error)
{
    for (u32 i = 0; i < config->count; i++)
        for (u32 j = 0; j < config->components[i]->product_count; j++) {
            const struct size_request *size = &config->sizes[i][j];
            if (size->given && !size->fits)
                return product_solve(config->components[i], &config->components[i]->products[j],
                                     config->params[i], size->value, size->place, error);
        }
    return true;
}

/* ---- creation ---- */

static void set_defaults(struct config *config, u32 index)
{
    const struct component *component = config->components[index];
    config->params[index] = arena_alloc(config->arena, component->params_size);
    config->origins[index] = arena_array(config->arena, struct origin, component->param_count);
    config->sizes[index] =
        arena_array(config->arena, struct size_request, component->product_count);
    for (u32 i = 0; i < component->param_count; i++) {
        const struct param *param = &component->params[i];
        store(param, config->params[index], param->initial, (u64)param->initial);
        config->origins[index][i] = (struct origin){"default", SOURCE_UNSAID, ""};
    }
}

struct config *config_create(const struct component *const *components)
{
    struct config *config = checked(calloc(1, sizeof *config));
    struct arena *arena = config->arena = arena_create();
    while (components[config->count])
        config->count++;
    const struct component **own = arena_array(arena, const struct component *, config->count + 1);
    memcpy(own, components, config->count * sizeof *own);
    config->components = own;
    config->params = arena_array(arena, void *, config->count);
    config->origins = arena_array(arena, struct origin *, config->count);
    config->sizes = arena_array(arena, struct size_request *, config->count);
    config->machine = config->description = "";
    for (u32 i = 0; i < config->count; i++)
        set_defaults(config, i);
    return config;
}

void config_add(struct config *config, const struct component *component)
{
    const u32 count = config->count++;
    struct arena *arena = config->arena; /* the old arrays stay in it, unused */
    const struct component **components = arena_array(arena, const struct component *, count + 2);
    void **params = arena_array(arena, void *, count + 1);
    struct origin **origins = arena_array(arena, struct origin *, count + 1);
    struct size_request **sizes = arena_array(arena, struct size_request *, count + 1);
    memcpy(components, config->components, count * sizeof *components);
    memcpy(params, config->params, count * sizeof *params);
    memcpy(origins, config->origins, count * sizeof *origins);
    memcpy(sizes, config->sizes, count * sizeof *sizes);
    components[count] = component;
    config->components = components;
    config->params = params;
    config->origins = origins;
    config->sizes = sizes;
    set_defaults(config, count);
}

struct config *config_clone(const struct config *config)
{
    struct config *clone = config_create(config->components);
    clone->machine = arena_strdup(clone->arena, config->machine);
    clone->description = arena_strdup(clone->arena, config->description);
    published_copy(clone->arena, &clone->published, &config->published);
    clone->parent_count = config->parent_count;
    for (u32 i = 0; i < config->parent_count; i++)
        clone->parents[i] = arena_strdup(clone->arena, config->parents[i]);
    for (u32 i = 0; i < config->count; i++) {
        const struct component *component = config->components[i];
        memcpy(clone->params[i], config->params[i], component->params_size);
        for (u32 j = 0; j < component->param_count; j++)
            clone->origins[i][j] = copy_origin(clone->arena, &config->origins[i][j]);
        for (u32 j = 0; j < component->product_count; j++) {
            struct size_request *size = &clone->sizes[i][j];
            *size = config->sizes[i][j];
            if (!size->given)
                continue;
            size->place = arena_strdup(clone->arena, size->place);
            size->origin = copy_origin(clone->arena, &size->origin);
        }
    }
    return clone;
}

void config_destroy(struct config *config)
{
    if (!config)
        return;
    arena_destroy(config->arena);
    free(config);
}

const void *config_params(const struct config *config, const struct component *component)
{
    for (u32 i = 0; i < config->count; i++)
        if (config->components[i] == component)
            return config->params[i];
    assert(!"the component is not in the configuration's list");
    return NULL;
}

const char *config_machine(const struct config *config)
{
    return config->machine;
}

const struct published_values *config_published(const struct config *config)
{
    return &config->published;
}

/* ---- loading ---- */

/* Loads a machine into a fresh copy (C2). */
static bool load(struct config *config, const char *name, const char *text, size_t length,
                 struct error *error)
{
    struct config *fresh = config_create(config->components);
    struct arena *scratch = arena_create();
    struct machine_about about = {0};
    const struct machine_sink sink = {fresh, assign};
    bool ok = machine_load(scratch, config->components, name, text, length, &sink, &about, error);
    if (ok) {
        fresh->machine = arena_strdup(fresh->arena, about.name);
        fresh->description = arena_strdup(fresh->arena, about.description);
        published_copy(fresh->arena, &fresh->published, &about.published);
        fresh->parent_count = about.parent_count;
        for (u32 i = 0; i < about.parent_count; i++)
            fresh->parents[i] = arena_strdup(fresh->arena, about.parents[i]);
        struct config old = *config;
        *config = *fresh;
        *fresh = old;
    }
    arena_destroy(scratch);
    config_destroy(fresh);
    return ok;
}

bool config_load_machine(struct config *config, const char *name_or_path, struct error *error)
{
    return load(config, name_or_path, NULL, 0, error);
}

bool config_load_text(struct config *config, const char *text, size_t length, const char *place,
                      struct error *error)
{
    return load(config, place, text, length, error);
}

/* The component of a key "component.name", by its number; config->count: there is none. */
static u32 component_of(const struct config *config, const char *key, const char **name)
{
    const char *dot = strchr(key, '.');
    u32 which = dot ? 0 : config->count;
    *name = dot ? dot + 1 : "";
    for (; which < config->count; which++) {
        const char *component = config->components[which]->name;
        if (strlen(component) == (size_t)(dot - key) &&
            !memcmp(component, key, (size_t)(dot - key)))
            break;
    }
    return which;
}

static bool unknown_key(const struct config *config, struct arena *arena, const char *key,
                        struct error *error)
{
    u32 count = 0;
    for (u32 i = 0; i < config->count; i++)
        count += config->components[i]->param_count + config->components[i]->product_count;
    const char **keys = arena_array(arena, const char *, count + 1);
    u32 used = 0;
    const char *dot = strchr(key, '.');
    for (u32 i = 0; i < config->count; i++)
        for (u32 j = 0; j < config->components[i]->param_count; j++)
            keys[used++] = arena_printf(arena, "%s.%s", config->components[i]->name,
                                        config->components[i]->params[j].name);
    for (u32 i = 0; i < config->count; i++)
        for (u32 j = 0; j < config->components[i]->product_count; j++)
            keys[used++] = arena_printf(arena, "%s.%s", config->components[i]->name,
                                        config->components[i]->products[j].name);
    const char *nearest = nearest_word(key, keys, used);
    const char *name;
    const bool known = !dot || component_of(config, key, &name) < config->count;
    /* the component may be missing or wrong */
    for (u32 i = 0; i < used && !nearest && known; i++)
        if (!strcmp(strchr(keys[i], '.') + 1, dot ? dot + 1 : key))
            nearest = keys[i];
    char suggestion[160] = "'heddle params' lists them";
    if (!known && !nearest)
        snprintf(suggestion, sizeof suggestion,
                 "there is no component '%.32s'; a mechanism in a shared object must be loaded "
                 "first, with --mech",
                 text_printable(arena, arena_strndup(arena, key, (size_t)(dot - key))));
    if (nearest)
        snprintf(suggestion, sizeof suggestion, "did you mean '%s'?", nearest);
    return error_set(error, ERROR_INPUT, "", "unknown parameter '%.100s': %s",
                     text_printable(arena, key), suggestion);
}

static bool set_key(struct config *config, struct arena *arena, const char *key, const char *value,
                    struct error *error)
{
    const struct origin origin = {"set", SOURCE_UNSAID, ""};
    const char *name;
    const u32 which = component_of(config, key, &name);
    if (which == config->count)
        return unknown_key(config, arena, key, error);
    const struct component *component = config->components[which];
    bool known = product_find(component, name);
    for (u32 i = 0; i < component->param_count; i++)
        known |= !strcmp(component->params[i].name, name);
    return known ? assign(config, component, name, value, &origin, "", error)
                 : unknown_key(config, arena, key, error);
}

bool config_set(struct config *config, const char *assignment, struct error *error)
{
    struct arena *arena = arena_create();
    const char *equals = strchr(assignment, '=');
    bool ok;
    if (!equals || equals == assignment)
        ok = error_set(error, ERROR_INPUT, "",
                       "'%.100s' is not a setting: expected key=value, as in core.warp_size=32",
                       text_printable(arena, assignment));
    else
        ok = set_key(config, arena, arena_strndup(arena, assignment, (size_t)(equals - assignment)),
                     equals + 1, error);
    arena_destroy(arena);
    return ok;
}

/* ---- JSON ---- */

static json_t *list_json(const struct param *param, const void *params)
{
    const u8 *base = params;
    const f64 *values = (const f64 *)(base + param->offset);
    u32 count = *(const u32 *)(base + param->count_offset);
    json_t *array = json_array();
    for (u32 i = 0; i < count; i++)
        json_array_append_new(array, json_real(values[i]));
    return array;
}

static json_t *value_json(const struct param *param, const void *params)
{
    const u8 *at = (const u8 *)params + param->offset;
    switch (param->type) {
    case PARAM_U32:
        return stats_number(*(const u32 *)at);
    case PARAM_U64:
        return stats_number(*(const u64 *)at);
    case PARAM_F64:
        return json_real(*(const f64 *)at);
    case PARAM_BOOL:
        return json_boolean(*(const bool *)at);
    case PARAM_LIST:
        return list_json(param, params);
    case PARAM_CHOICE:
        break;
    }
    struct arena *arena = arena_create();
    json_t *name = json_string(choice_name(arena, param->choices, *(const u32 *)at));
    arena_destroy(arena);
    return name;
}

const char *config_value_text(struct arena *arena, const struct config *config, const char *key)
{
    const char *name;
    const u32 which = component_of(config, key, &name);
    const struct component *component = which < config->count ? config->components[which] : NULL;
    for (u32 i = 0; component && i < component->param_count; i++) {
        if (strcmp(component->params[i].name, name) != 0)
            continue;
        json_t *value = value_json(&component->params[i], config->params[which]);
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        const char *copy =
            arena_strdup(arena, json_is_string(value) ? json_string_value(value) : text);
        free(text);
        json_decref(value);
        return copy;
    }
    return NULL;
}

json_t *config_json(const struct config *config)
{
    json_t *object = json_object();
    if (config->machine[0])
        json_object_set_new(object, "machine", text_json(config->machine));
    for (u32 i = 0; i < config->count; i++) {
        const struct component *component = config->components[i];
        if (!component->param_count)
            continue;
        json_t *values = json_object();
        for (u32 j = 0; j < component->param_count; j++)
            json_object_set_new(values, component->params[j].name,
                                value_json(&component->params[j], config->params[i]));
        json_object_set_new(object, component->name, values);
    }
    return object;
}

static json_t *key_json(const struct component *component, const char *name)
{
    return json_sprintf("%s.%s", component->name, name);
}

/* Whether a value was set by a parent, not by the machine itself. */
static bool is_inherited(const struct config *config, const struct origin *origin)
{
    for (u32 i = 0; i < config->parent_count; i++)
        if (!strcmp(config->parents[i], origin->from))
            return true;
    return false;
}

json_t *config_explain_json(const struct config *config)
{
    json_t *object = json_object(), *parents = json_array(), *values = json_array();
    json_object_set_new(object, "machine", text_json(config->machine));
    json_object_set_new(object, "description", text_json(config->description));
    for (u32 i = 0; i < config->parent_count; i++)
        json_array_append_new(parents, text_json(config->parents[i]));
    json_object_set_new(object, "parents", parents);
    for (u32 i = 0; i < config->count; i++) {
        const struct component *component = config->components[i];
        for (u32 j = 0; j < component->param_count; j++) {
            const struct origin *origin = &config->origins[i][j];
            json_t *value = json_object();
            json_object_set_new(value, "key", key_json(component, component->params[j].name));
            json_object_set_new(value, "value",
                                value_json(&component->params[j], config->params[i]));
            json_object_set_new(value, "unit", json_string(component->params[j].unit));
            json_object_set_new(value, "from", text_json(origin->from));
            json_object_set_new(value, "source", json_string(value_source_names[origin->source]));
            json_object_set_new(value, "note", text_json(origin->note));
            json_object_set_new(value, "inherited", json_boolean(is_inherited(config, origin)));
            json_array_append_new(values, value);
        }
    }
    json_object_set_new(object, "values", values);
    return object;
}

/* Adds the values of a component of `a` that differ from those in `b`; null if `b` does not have
 * it. */
static void add_differences(json_t *rows, const struct config *a, u32 index, const struct config *b,
                            const char *name_a, const char *name_b)
{
    const struct component *component = a->components[index];
    const u32 other = index_of(b, component);
    for (u32 i = 0; i < component->param_count; i++) {
        const struct param *param = &component->params[i];
        json_t *left = value_json(param, a->params[index]);
        json_t *right = other < b->count ? value_json(param, b->params[other]) : json_null();
        if (!json_equal(left, right))
            json_array_append_new(rows, json_pack("{s:o, s:s, s:O, s:O}", "key",
                                                  key_json(component, param->name), "unit",
                                                  param->unit, name_a, left, name_b, right));
        json_decref(left);
        json_decref(right);
    }
}

json_t *config_diff_json(const struct config *a, const struct config *b)
{
    json_t *rows = json_array();
    for (u32 i = 0; i < a->count; i++)
        add_differences(rows, a, i, b, "a", "b");
    for (u32 i = 0; i < b->count; i++)
        if (index_of(a, b->components[i]) == a->count)
            add_differences(rows, b, i, a, "b", "a");
    return json_pack("{s:o, s:o, s:o}", "a", text_json(a->machine), "b", text_json(b->machine),
                     "values", rows);
}

static json_t *bound_json(const struct param *param, f64 bound)
{
    bool real = param->type == PARAM_F64 || param->type == PARAM_LIST;
    return real ? json_real(bound) : stats_number(integer_bound(bound));
}

static json_t *param_row(const struct component *component, const struct param *param,
                         const void *params)
{
    static const char *const types[] = {"u32", "u64", "f64", "bool", "choice", "list"};
    json_t *row = json_object();
    json_object_set_new(row, "key", key_json(component, param->name));
    json_object_set_new(row, "component", json_string(component->name));
    json_object_set_new(row, "component_help", json_string(component->help));
    json_object_set_new(row, "type", json_string(types[param->type]));
    json_object_set_new(row, "default", value_json(param, params));
    bool bounded = param->type <= PARAM_F64 || param->type == PARAM_LIST;
    json_object_set_new(row, "min", bounded ? bound_json(param, param->min) : json_null());
    json_object_set_new(row, "max", bounded ? bound_json(param, param->max) : json_null());
    json_object_set_new(row, "choices", param->choices ? json_string(param->choices) : json_null());
    json_object_set_new(row, "most", param->most ? json_integer(param->most) : json_null());
    json_object_set_new(row, "unit", json_string(param->unit));
    json_object_set_new(row, "help", json_string(param->help));
    return row;
}

/* A size has no value of its own, hence no bounds. */
static json_t *product_row(const struct component *component, const struct product *product,
                           const void *params)
{
    return json_pack("{s:o, s:s, s:s, s:s, s:o, s:n, s:n, s:n, s:n, s:s, s:s, s:s, s:s}", "key",
                     key_json(component, product->name), "component", component->name,
                     "component_help", component->help, "type", "size", "default",
                     stats_number(product_value(component, product, params)), "min", "max",
                     "choices", "most", "unit", product->unit, "help", product->help, "solved",
                     product->solved, "factors", product->factors);
}

json_t *config_params_table_json(const struct component *const *components)
{
    struct config *config = config_create(components);
    json_t *array = json_array();
    for (u32 i = 0; components[i]; i++) {
        for (u32 j = 0; j < components[i]->param_count; j++)
            json_array_append_new(
                array, param_row(components[i], &components[i]->params[j], config->params[i]));
        for (u32 j = 0; j < components[i]->product_count; j++)
            json_array_append_new(
                array, product_row(components[i], &components[i]->products[j], config->params[i]));
    }
    config_destroy(config);
    return array;
}
