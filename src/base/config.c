/*
 * Configurations: see config.h.
 *
 *  C1  Every value lies in its declared range: `assign` is the only writer after creation.
 *  C2  Loading works on a fresh copy that replaces the old values only when all went well.
 *  C3  A size that was given (struct product) stays until the parameter that it sets is given: if one
 *      of its factors changes later, that parameter follows. So the order of settings does not matter.
 */
#include "base/config_parts.h"

#include "base/param_value.h"
#include "base/product.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- values ---- */

u32 config_index(const struct config *config, const struct component *component)
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
    const u32 which = config_index(config, component);
    const struct product *product = product_find(component, name);
    if (product)
        return assign_size(config, which, product, text, origin, place, error);
    const u32 index = param_index(component, name);
    const char *key = arena_dotted(config->arena, component->name, name);
    if (!param_parse(config->arena, &component->params[index], key, text, config->params[which],
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
        param_set_default(param, config->params[index]);
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

u32 config_component_of(const struct config *config, const char *key, const char **name)
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
    const bool known = !dot || config_component_of(config, key, &name) < config->count;
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
    const u32 which = config_component_of(config, key, &name);
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
