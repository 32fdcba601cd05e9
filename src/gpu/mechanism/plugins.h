/*
 * Mechanisms of shared objects (core/plugin.h): loading, checking, sharing.
 *
 * An object stays loaded while a configuration or a device uses it. Nothing in it changes except
 * its table of functions, which is the same for all users.
 */
#ifndef GPU_MECHANISM_PLUGINS_H
#define GPU_MECHANISM_PLUGINS_H

#include "base/hash.h"
#include "core/hooks.h"
#include <stdatomic.h>

struct plugin {
    atomic_uint owners;
    void *handle;
    char *path; /* as given */
    u64 bytes;  /* of the file */
    char sha256[SHA256_TEXT];
    const struct mechanism *mechanism;
};

/* Whether a mechanism's name, of this length, is a file: it has a slash or ends in ".so". */
bool plugin_named(const char *name, size_t length);
/* NULL: it contains no valid mechanism. */
struct plugin *plugin_open(const char *path, struct error *error);
struct plugin *plugin_share(struct plugin *plugin);
void plugin_close(struct plugin *plugin);

/* plugin_check.c: whether the tables of a mechanism can be used. */
bool plugin_check(const struct mechanism *mechanism, const char *path, struct error *error);
/* Whether the arrays that its energy events name exist: calls `storage`, so its functions must have
 * been filled in. */
bool plugin_check_arrays(const struct mechanism *mechanism, const char *path, struct error *error);

#endif
