/*
 * The languages a module may be written in, told apart by their bytes. Nothing behind this table
 * asks which one a program came from.
 */
#include "gpu/device.h"

static bool any(const void *data, size_t bytes)
{
    return true;
}

static struct program *load_ptx(const struct hd_device *device, const void *data, size_t bytes,
                                const char *name, struct error *error)
{
    return ptx_compile(data, bytes, name, device->ptx, error);
}

/* The first that recognises the bytes takes them; text is whatever nothing else is. */
static const struct front_end front_ends[] = {
    {"PTX text", 0, any, load_ptx},
};

const struct front_end *front_end_of(const void *data, size_t bytes)
{
    const struct front_end *end = front_ends;
    while (!end->recognises(data, bytes))
        end++;
    return end;
}

const char *hd_machine_for(const void *data, size_t bytes, bool raw)
{
    u32 lanes = raw ? RAW_LANES : data ? front_end_of(data, bytes)->warp_size : 0;
    return lanes == 64 ? "generic64" : "generic";
}
