/* Internals of configurations, which config.c and config_json.c share. */
#ifndef BASE_CONFIG_PARTS_H
#define BASE_CONFIG_PARTS_H

#include "base/config.h"
#include "base/machine.h"

/* A size that was given: C3 of config.c. */
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

/* The number of a component; config->count: it is not in the list. */
u32 config_index(const struct config *config, const struct component *component);
/* The component of a key "component.name", by its number; config->count: there is none. */
u32 config_component_of(const struct config *config, const char *key, const char **name);

#endif
