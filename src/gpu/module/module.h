/* Modules on their way into a device: which front end reads them, and where they lie in memory. */
#ifndef GPU_MODULE_MODULE_H
#define GPU_MODULE_MODULE_H

#include "gpu/device.h"

enum {
    RAW_LANES = 64 /* of machine code without a container */
};

/* frontends.c: the program of a module in any language. */
struct program *load_program(const struct hd_device *device, const void *data, size_t bytes,
                             const char *name, struct error *error);
/* Machine code without a container, decoded from its first byte on. */
struct program *raw_program(const void *code, size_t bytes, const char *name, struct error *error);

/* place.c: code, variables and constants get their addresses, and lose them. */
bool module_place(struct hd_module *module, struct error *error);
void module_displace(struct hd_module *module);

#endif
