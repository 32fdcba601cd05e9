/*
 * A configuration: one parameter struct per component, every value resolved.
 *
 * Built from the components' defaults, then machine files (YAML, each naming its parent), then
 * `key=value` settings. Every value remembers where it came from, so that an explanation can say
 * so. Unknown keys, wrong types and values out of range are errors with place and suggestion.
 */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include "base/component.h"
#include <jansson.h>

struct config;

/* `components` is a NULL-terminated list that outlives the configuration. */
struct config *config_create(const struct component *const *components);
struct config *config_clone(const struct config *config);
void config_destroy(struct config *config);

/* The component's parameters, as its own struct type. */
const void *config_params(const struct config *config, const struct component *component);

/*
 * Loads a machine: a built-in or installed name ("generic") or a path to a YAML file, whose
 * `parent:` is loaded first (relative names first beside the file; cycles are errors).
 */
bool config_load_machine(struct config *config, const char *name_or_path, struct error *error);
/* Loads YAML text; `place` names it in messages. This is the fuzzed entry. */
bool config_load_text(struct config *config, const char *text, size_t length, const char *place,
                      struct error *error);
/* "key=value", as --set takes it. */
bool config_set(struct config *config, const char *assignment, struct error *error);

/* The name of the machine last loaded, or "". */
const char *config_machine(const struct config *config);
/* {"component": {"name": value, ...}, ...}: complete, loads again through config_load_text. */
json_t *config_json(const struct config *config);

/* Statistics of one component as {"component.name": value, ...} added to `into`; rates included. */
void stats_json(json_t *into, const struct component *component, const void *stats);
/* Adds all counters of `from` to `into`. */
void stats_add(const struct component *component, void *into, const void *from);
/* A counter as JSON: an integer up to 2^63-1, else a "0x..." string. */
json_t *stats_number(u64 value);

/* The candidate nearest to `word` by edit distance, or NULL when none is near. */
const char *nearest_word(const char *word, const char *const *candidates, size_t count);

#endif
