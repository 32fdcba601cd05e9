/* Configurations as text and JSON: values, their origins, differences and the table of parameters; see
 * config.h. */
#include "base/config_parts.h"
#include "base/param_value.h"
#include "base/product.h"
#include "base/text.h"
#include <stdlib.h>

const char *config_value_text(struct arena *arena, const struct config *config, const char *key)
{
    const char *name;
    const u32 which = config_component_of(config, key, &name);
    const struct component *component = which < config->count ? config->components[which] : NULL;
    for (u32 i = 0; component && i < component->param_count; i++) {
        if (strcmp(component->params[i].name, name) != 0)
            continue;
        json_t *value = param_json(&component->params[i], config->params[which]);
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
                                param_json(&component->params[j], config->params[i]));
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
                                param_json(&component->params[j], config->params[i]));
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
    const u32 other = config_index(b, component);
    for (u32 i = 0; i < component->param_count; i++) {
        const struct param *param = &component->params[i];
        json_t *left = param_json(param, a->params[index]);
        json_t *right = other < b->count ? param_json(param, b->params[other]) : json_null();
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
        if (config_index(a, b->components[i]) == a->count)
            add_differences(rows, b, i, a, "b", "a");
    return json_pack("{s:o, s:o, s:o}", "a", text_json(a->machine), "b", text_json(b->machine),
                     "values", rows);
}

static json_t *bound_json(const struct param *param, f64 bound)
{
    bool real = param->type == PARAM_F64 || param->type == PARAM_LIST;
    return real ? json_real(bound) : stats_number(param_integer_bound(bound));
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
    json_object_set_new(row, "default", param_json(param, params));
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
