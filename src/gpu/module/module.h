/* Loading of modules into a device: front ends, and placement in memory. */
#ifndef GPU_MODULE_MODULE_H
#define GPU_MODULE_MODULE_H

#include "gpu/device.h"

enum {
    RAW_LANES = 64 /* warp size of machine code without a container */
};

/* frontends.c: the program of a module in any language. */
struct program *load_program(const struct hd_device *device, const void *data, size_t bytes,
                             const char *name, struct error *error);
/* Machine code without a container, decoded from its first byte. */
struct program *raw_program(const struct hd_device *device, const void *code, size_t bytes,
                            const char *name, struct error *error);

/* place.c: assigns addresses to code, variables and constants, and frees them. */
bool module_place(struct hd_module *module, struct error *error);
void module_displace(struct hd_module *module);

#endif
