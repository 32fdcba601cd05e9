/*
 * Machine files: lookup, inheritance, and the values they set.
 *
 * This part handles files and YAML; the configuration, called through `assign`, interprets and
 * checks values.
 */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include "base/component.h"
#include "base/published.h"
#include "base/text.h"
#include "base/yaml.h"
#include <jansson.h>

enum {
    MACHINE_MAX_PARENTS = 16
};

enum value_source {
    SOURCE_UNSAID,
    SOURCE_STATED,
    SOURCE_DERIVED,
    SOURCE_INHERITED,
    SOURCE_ASSUMED,
    SOURCE_COUNT
};
extern const char *const value_source_names[SOURCE_COUNT];

/* The origin of a value. */
struct origin {
    const char *from; /* "default", a machine's name, "set" */
    enum value_source source;
    const char *note; /* "" if none */
};

struct machine_sink {
    void *user;
    /* Sets component.name from its text, which is at `place`. The strings are valid only during the
     * call. */
    bool (*assign)(void *user, const struct component *component, const char *name,
                   const char *text, const struct origin *origin, const char *place,
                   struct error *error);
};

/* Descriptions from a chain of machine files; the strings are in the caller's arena. */
struct machine_about {
    const char *name, *description;
    const char *parents[MACHINE_MAX_PARENTS]; /* nearest first */
    u32 parent_count;
    struct published_values published; /* of the machine itself, not of its parents */
};

/*
 * Loads a machine and its parents, the farthest parent first, and assigns their values. With
 * `text` NULL, `name` is a name or path; else the text is loaded and `name` is its place.
 */
bool machine_load(struct arena *arena, const struct component *const *components, const char *name,
                  const char *text, size_t length, const struct machine_sink *sink,
                  struct machine_about *about, struct error *error);

/* Their texts are packed trees (pack_machines.c). Ends with a NULL name. */
extern const struct builtin_file builtin_machines[];

#endif
