/*
 * From a recipe to what is hashed: the resolved configuration, and the files of a program.
 *
 *  V1  Loading a machine takes a hundred times as long as setting a parameter. Configurations are
 *      kept by machine, mechanisms and keys that are set; the next point with the same ones only
 *      sets its values. This is correct because every one of these keys is set again.
 *      Now and then one is loaded afresh, since its memory grows with every value that is set.
 *  V2  Files are hashed once per plan.
 *  V3  The last results are kept: a point is resolved when it is started and again when it ends.
 */
#ifndef LAB_RESOLVER_H
#define LAB_RESOLVER_H

#include "base/toolchain.h"
#include "lab/axis.h"

struct resolver;

/* A parameter that recipes have set. */
struct set_parameter {
    char *key;
    bool acts;     /* it affects at least one of the configurations that were resolved */
    char *missing; /* what the first configuration lacked for it, as "l1d.on=true"; or NULL */
};

/* A resolved configuration; valid until the next call. */
struct resolved {
    const char *json;
    enum code_target target; /* of its OpenCL programs */
    const char *chip;        /* the hash of its maps, or "" */
};

struct resolver *resolver_create(void);
void resolver_destroy(struct resolver *resolver); /* NULL is fine */

/* Configures as `heddle run` does: machine, mechanisms with their settings, settings. Values that
 * do not fit together are an error. `label` names the point in messages about them. */
bool resolver_configure(struct resolver *resolver, const struct recipe *recipe, const char *label,
                        struct resolved *resolved, struct error *error);
/* The parameters that were set, in the order of their first use; NULL after the last. Settings inside
 * a mechanism's own list are not among them. */
const struct set_parameter *resolver_parameter(const struct resolver *resolver, u32 index);
/* The hash of a file's bytes, or NULL and an error. */
const char *resolver_file(struct resolver *resolver, const char *path, struct error *error);
/* Adds every file that the words name as an input: FILE, X=FILE, in:FILE, bytes:FILE,
 * inout:FILE:OUT. */
bool resolver_add_inputs(struct resolver *resolver, const char *const *words, struct sha256 *hash,
                         struct error *error);

#endif
