/* What a machine says of its chips. `machine`: a resolved configuration, as hd_config_json has it. */
#ifndef VARIATION_MACHINE_H
#define VARIATION_MACHINE_H

#include "variation/variation.h"
#include <jansson.h>

/* A number of the configuration; choices such as energy.nm are text there. 0: there is none. */
f64 machine_number(const json_t *machine, const char *part, const char *name);
/* The register files. */
bool machine_file_plan(struct file_plan *plan, const json_t *machine, struct error *error);
/* The defaults of a node at the machine's supply and temperature. */
void machine_variation(struct variation *variation, const struct variation_node *node,
                       const json_t *machine);

#endif
