/*
 * Configurations: a machine, mechanisms with their parameters, and settings.
 *
 *     base: {}
 *     intra: {mechanisms: {uniform: {mode: intra}}, set: {key: value}, machine: name, chip: chips.db:0}
 *     faulty: {inject: {faults: 200}}
 */
#ifndef LAB_CONFIGURATION_H
#define LAB_CONFIGURATION_H

#include "lab/fields.h"

/* KEY=VALUE, as --set takes it. */
struct setting {
    const char *key, *value;
    struct text_place place;
};

struct settings {
    struct setting *list;
    u32 count;
};

struct chosen_mechanism {
    const char *name;
    const char *file;         /* of a shared object; NULL: the mechanism is built in */
    struct settings settings; /* keys without the mechanism's name */
    struct text_place place;
};

struct mechanism_list {
    struct chosen_mechanism *list;
    u32 count;
};

struct configuration {
    const char *name, *machine; /* no machine: that of the plan */
    const char *chip;           /* as heddle run --chip takes it; NULL: none */
    struct mechanism_list mechanisms;
    struct settings settings;
    struct settings faults; /* options of `heddle inject` (faults.h); none: it is not used */
    struct text_place place;
};

/* {a.b: 1, c.d: x} */
bool settings_read(const struct fields *fields, const struct yaml *node, struct settings *settings);
/* {uniform: {mode: intra}, filter_cache: } */
bool mechanisms_read(const struct fields *fields, const struct yaml *node,
                     struct mechanism_list *mechanisms);
/* "none", or "uniform:mode=intra,design=token+filter_cache", as --mech takes each */
bool mechanisms_parse(const struct fields *fields, const struct yaml *node,
                      struct mechanism_list *mechanisms);
/* "none" or "uniform:mode=intra+filter_cache" */
const char *mechanisms_text(struct arena *arena, const struct mechanism_list *mechanisms);
/* A mechanism as --mech takes it. The parameters of a shared object are given with its path, since its
 * name is not known before it is loaded; those of others are settings of their own. */
const char *mechanism_option(struct arena *arena, const struct chosen_mechanism *use);
/* The file of a machine, or the name of one that is built in. */
const char *machine_path(const struct fields *fields, const char *machine);
/* A chip as this process can find it. */
const char *chip_path(const struct fields *fields, const char *chip);
/* A configuration whose name is the node's key. */
bool configuration_read(const struct fields *fields, const struct yaml *node,
                        struct configuration *configuration);

#endif
