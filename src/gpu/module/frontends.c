/*
 * The languages of modules, distinguished by their bytes. Code beyond this table does not depend on
 * the language of a program.
 */
#include "core/live.h"
#include "gpu/module/module.h"
#include "gpu/time/live.h"
#include "isa/si/codeobject.h"
#include "isa/si/si_program.h"

/* A language of modules. */
struct front_end {
    const char *name;
    u32 warp_size; /* required warp size; 0: any */
    bool (*recognises)(const void *data, size_t bytes);
    struct program *(*load)(const struct hd_device *device, const void *data, size_t bytes,
                            const char *name, struct error *error);
};

static bool any(const void *data, size_t bytes)
{
    return true;
}

static struct program *load_ptx(const struct hd_device *device, const void *data, size_t bytes,
                                const char *name, struct error *error)
{
    const struct core_params *core = device->core;
    const struct ptx_target target = {.address_bits = device->gpu->address_bits,
                                      .registers = core->registers,
                                      .register_unit = core->register_unit,
                                      .warp_size = core->warp_size};
    return ptx_compile(data, bytes, name, device->ptx, &target, error);
}

static struct program *load_si(const struct hd_device *device, const void *data, size_t bytes,
                               const char *name, struct error *error)
{
    return si_program_load(data, bytes, name, device->si, error);
}

/* The first front end that recognises the bytes loads them; PTX text accepts everything else. */
static const struct front_end front_ends[] = {
    {"Southern Islands code object", 64, codeobject_recognized, load_si},
    {"PTX text", 0, any, load_ptx},
};

static const struct front_end *front_end_of(const void *data, size_t bytes)
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

/* Asserts the invariants of a front end's program (ir/program.h). */
static struct program *verified(struct program *program)
{
#ifndef NDEBUG
    char message[256];
    if (program && !program_verify(program, message, sizeof message))
        __assert_fail(message, program->file, 0, __func__);
#endif
    return program;
}

/* With live state, words in instruction buffers can change. */
static struct program *armed(const struct hd_device *device, struct program *program)
{
    if (program && program->redecode && device->timing && timing_rows(device->timing))
        program_reserve(program, CHANGED_PAIRS * device->gpu->cores);
    return program;
}

struct program *load_program(const struct hd_device *device, const void *data, size_t bytes,
                             const char *name, struct error *error)
{
    return armed(device,
                 verified(front_end_of(data, bytes)->load(device, data, bytes, name, error)));
}

struct program *raw_program(const struct hd_device *device, const void *code, size_t bytes,
                            const char *name, struct error *error)
{
    return armed(device, verified(si_program_raw(code, bytes, name, error)));
}
