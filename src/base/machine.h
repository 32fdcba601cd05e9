/*
 * Machine files: where they are found, how they inherit, and which values they set.
 *
 * This part knows files and YAML; what a value means and whether it is right is the
 * configuration's business, which it calls through `assign`.
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
    SOURCE_INHERITED,
    SOURCE_ASSUMED,
    SOURCE_COUNT
};
extern const char *const value_source_names[SOURCE_COUNT];

/* Where a value comes from. */
struct origin {
    const char *from; /* "default", a machine's name, "set" */
    enum value_source source;
    const char *note; /* "" when none was given */
};

struct machine_sink {
    void *user;
    /* Sets component.name from its text; `place` is where the text stands. Strings die later. */
    bool (*assign)(void *user, const struct component *component, const char *name,
                   const char *text, const struct origin *origin, const char *place,
                   struct error *error);
};

/* What a chain of machine files said about itself; the strings live in the caller's arena. */
struct machine_about {
    const char *name, *description;
    const char *parents[MACHINE_MAX_PARENTS]; /* nearest first */
    u32 parent_count;
    struct published_values published; /* what has been published about it */
};

/*
 * Loads a machine and its parents, the farthest parent first, and assigns their values. With
 * `text` NULL, `name` is a name or path; else the text is loaded and `name` is its place.
 */
bool machine_load(struct arena *arena, const struct component *const *components, const char *name,
                  const char *text, size_t length, const struct machine_sink *sink,
                  struct machine_about *about, struct error *error);

extern const struct builtin_file builtin_machines[]; /* ends with a NULL name */

#endif
