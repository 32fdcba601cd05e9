/*
 * Profiles: counts at each instruction of a module, summed over the launches of a device.
 */
#ifndef GPU_OBSERVE_PROFILE_H
#define GPU_OBSERVE_PROFILE_H

#include "core/trace.h"
#include <jansson.h>

struct hd_device;
struct hd_module;
struct program;

/* Adds a launch: one row for each instruction of the module's program. */
void profile_add(struct hd_module *module, const struct inst_profile *launch);
/* Keeps the profile of a module that is unloaded, with its device. */
void profile_keep(struct hd_module *module);
/*
 * [{"module", "function", "instructions": [{"pc", "place", "text", "issued", "threads",
 * "transactions", "energy_pj", "ace_bit_cycles" (with --avf, if not 0), "stalls":
 * {reason: issue slots}}]}] of all functions in which something happened, modules in the order of
 * loading.
 */
json_t *profile_json(const struct hd_device *device);

/* The place of an instruction, or null. */
json_t *place_json(const struct program *program, u32 inst);

#endif
