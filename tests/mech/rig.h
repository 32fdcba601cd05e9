/* Kernels of tests/kernels on a device with mechanisms. */
#ifndef RIG_H
#define RIG_H

#include "core/hooks.h"
#include <jansson.h>

struct seen {
    json_t *totals;
    char *text; /* of all statistics */
    u64 hash;   /* of everything the test holds: inputs and what was read back */
    bool wrong; /* the kernel's own check failed, or a launch */
};

/* NULL-terminated words: "NAME[:PARAMETER=VALUE,...]" switches a mechanism on,
 * "COMPONENT.KEY=VALUE" sets. */
#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

struct hd_config;
struct hd_error;
/* One such word. */
bool rig_apply(struct hd_config *config, const char *word, struct hd_error *error);
/* The folder tests/ of the sources: before anything else. */
void rig_folder(const char *tests);
/* `machine`: with "si:" before its name it runs Southern Islands code, as generic64 does without.
 * `available`: NULL-terminated; NULL: those that are built in. Fails the test if the kernel does,
 * unless it may be `wrong`. */
struct seen rig_run(const char *file, const char *name, const char *machine,
                    const char *const *words, const struct mechanism *const *available,
                    bool may_be_wrong);
void rig_drop(struct seen *seen);
u64 rig_total(const struct seen *seen, const char *name);

#endif
