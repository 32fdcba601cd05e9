/*
 * A configuration: one parameter struct per component, every value resolved.
 *
 * Built from the components' defaults, then machine files (YAML, each naming its parent), then
 * `key=value` settings. Every value records its origin, for explanations. Unknown keys, wrong types
 * and values out of range are errors with place and suggestion. A call that fails leaves the
 * configuration unchanged.
 *
 * A machine file is a mapping:
 *
 *     machine: small              # its name; optional, else the file's
 *     parent: generic             # loaded first; a name, not a path; without it: the defaults
 *     description: text           # optional
 *     core:                       # a component, with its differences from the parent
 *       count: 4
 *       warp_size: {value: 32, source: stated, note: table 2 of the paper}
 *     clock:
 *       core_rates: [1.0, 0.95]   # a list; for --set: values separated by commas
 *     published: ...              # published values: base/published.h
 *
 * `source` says where a number comes from: `stated` by the source the machine models, `inherited`
 * from the nearest described machine, or `assumed`.
 */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include "base/component.h"
#include "base/published.h"
#include "base/text.h"
#include <jansson.h>

struct config;

/* All defaults. `components` is a NULL-terminated list, which must outlive the configuration. */
struct config *config_create(const struct component *const *components);
/* Adds a component with its defaults. It must outlive the configuration. */
void config_add(struct config *config, const struct component *component);
struct config *config_clone(const struct config *config);
void config_destroy(struct config *config);

/* The component's parameters, as its own struct type. */
const void *config_params(const struct config *config, const struct component *component);

/*
 * Replaces the configuration by a machine: a name ("generic") looked up in the directories of
 * HEDDLE_MACHINE_PATH and then among the built-in ones, or a path to a YAML file (anything with a
 * slash or ending in .yaml, .yml or .json). Its `parent:` is looked up beside the file first;
 * cycles are errors.
 */
bool config_load_machine(struct config *config, const char *name_or_path, struct error *error);
/* Loads a machine from YAML text; `place` names it in messages. The entry for fuzzing. */
bool config_load_text(struct config *config, const char *text, size_t length, const char *place,
                      struct error *error);
/* "key=value", as --set takes it. */
bool config_set(struct config *config, const char *assignment, struct error *error);

/* The name of the machine last loaded, or "". */
const char *config_machine(const struct config *config);
/* The published values of that machine; without a source: none. */
const struct published_values *config_published(const struct config *config);
/*
 * {"machine": name, "component": {"name": value, ...}, ...}: complete, in table order; can be
 * loaded again with config_load_text. Components without parameters are left out.
 */
json_t *config_json(const struct config *config);
/*
 * The origin of every value: {"machine", "description", "parents": [names, nearest first],
 * "values": [{"key", "value", "unit", "from", "source", "note", "inherited"}]}. "from" is
 * "default", the name of a machine or "set"; "source" is "stated", "derived", "inherited",
 * "assumed" or "", as that machine's file states; "inherited" is true if that machine is a parent.
 */
json_t *config_explain_json(const struct config *config);
/*
 * Differences between two configurations: {"a": machine, "b": machine, "values": [{"key", "unit",
 * "a", "b"}]}, in table order; null is the value of a component that one of them does not have.
 */
json_t *config_diff_json(const struct config *a, const struct config *b);
/*
 * The machines available by name: [{"name", "description", "parent", "place"}] sorted by name;
 * "place" is "built in" or the file. A file that cannot be read has "error" instead.
 */
json_t *config_machines_json(const struct component *const *components);

/* The value of "component.name" as it is set, in the arena; NULL: there is no such parameter. */
const char *config_value_text(struct arena *arena, const struct config *config, const char *key);

/* Whether every size that was given (struct product) fits the parameters that it is a product of;
 * false and an error that names the size if not. */
bool config_settled(const struct config *config, struct error *error);

/* [{"key", "component", "component_help", "type", "default", "min", "max", "choices", "most",
 * "unit", "help"}] of all components; "most" is null but for lists. */
json_t *config_params_table_json(const struct component *const *components);
/* [{"key", "component", "component_help", "kind": "counter" or "rate", "unit", "numerator",
 * "denominator", "help"}] of all components. */
json_t *stats_table_json(const struct component *const *components);

/*
 * Statistics of one component as {"component.name": value, ...} added to `into`: counters, then
 * rates, in table order. A rate whose denominator is 0 is null.
 */
void stats_json(json_t *into, const struct component *component, const void *stats);
/* Visits a counter, whose name is two or three words joined by dots (words[2] may be NULL). */
typedef void count_fn(void *user, const char *const words[3], u64 value);
/* Every counter in table order; `stats` may be NULL: zeros. */
void stats_each(const struct component *component, const void *stats, count_fn *visit, void *user);
/* Adds all counters of `from` to `into`. */
void stats_add(const struct component *component, void *into, const void *from);
/*
 * Totals of launches, an array of objects each with "stats" as from stats_json: the same keys,
 * counters summed and rates of the sums. NULL: not such an array.
 */
json_t *stats_total_json(const json_t *launches, const struct component *const *components,
                         struct error *error);
/* A counter as JSON: an integer up to 2^63-1, else a "0x..." string. */
json_t *stats_number(u64 value);

#endif
