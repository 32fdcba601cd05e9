/*
 * Checks of a launch before it starts.
 */
#include "gpu/launch/launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool check_sizes(const struct launch_request *r, struct error *error)
{
    const struct core_params *core = r->kernel->module->device->core;
    const struct function *function = r->kernel->function;
    const struct hd_dim grid = r->grid, block = r->block;
    if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z)
        return error_set(error, ERROR_USAGE, "",
                         "grid (%u,%u,%u) of blocks (%u,%u,%u): every size must be at least 1",
                         grid.x, grid.y, grid.z, block.x, block.y, block.z);
    /* PTX limits y and z to 16 bits; OpenCL cannot express such a limit, so it does not apply to
     * programs of a host runtime that gives ranges */
    u32 most = r->kernel->ranged ? INT32_MAX : 65535;
    if (grid.x > INT32_MAX || grid.y > most || grid.z > most ||
        (u128)grid.x * grid.y * grid.z > INT64_MAX)
        return error_set(error, ERROR_USAGE, "",
                         "grid (%u,%u,%u) is too large: at most (2147483647,%u,%u)", grid.x, grid.y,
                         grid.z, most, most);
    u128 threads = (u128)block.x * block.y * block.z;
    if (threads > core->block_threads)
        return error_set(error, ERROR_USAGE, "",
                         "a block of (%u,%u,%u) has more than %u threads (core.block_threads)",
                         block.x, block.y, block.z, core->block_threads);
    const u32 *required = function->required_threads, *max = function->max_threads;
    u64 allowed = (u64)max[0] * MAX(max[1], 1) * MAX(max[2], 1);
    if (allowed && threads > allowed)
        return error_set(error, ERROR_USAGE, "",
                         "kernel %s was compiled for blocks of at most %" PRIu64 " threads, not %u",
                         function->name, allowed, (u32)threads);
    if (required[0] && (block.x != required[0] || block.y != MAX(required[1], 1) ||
                        block.z != MAX(required[2], 1)))
        return error_set(error, ERROR_USAGE, "",
                         "kernel %s was compiled for blocks of (%u,%u,%u), not (%u,%u,%u)",
                         function->name, required[0], MAX(required[1], 1), MAX(required[2], 1),
                         block.x, block.y, block.z);
    return true;
}

static bool check_arguments(const struct launch_request *r, struct error *error)
{
    const struct function *function = r->kernel->function;
    if (r->arg_count != function->param_count)
        return error_set(error, ERROR_USAGE, "",
                         "kernel %s has %u parameters, but %zu arguments are given", function->name,
                         function->param_count, r->arg_count);
    for (u32 i = 0; i < function->param_count; i++)
        if (r->args[i].size != function->params[i].size)
            return error_set(error, ERROR_USAGE, "",
                             "argument %u of kernel %s (%s, %s%s) has %u bytes: expected %u", i + 1,
                             function->name, function->params[i].name,
                             type_name(function->params[i].type),
                             function->params[i].is_array ? "[]" : "", r->args[i].size,
                             function->params[i].size);
    return true;
}

char *hd_kernel_unsupported(const struct hd_kernel *kernel)
{
    char *text = NULL;
    size_t length;
    FILE *out = checked(open_memstream(&text, &length));
    const struct program *program = kernel ? kernel->module->program : NULL;
    for (u32 i = 0; kernel && i < kernel->function->reachable_count; i++) {
        const struct function *function = &program->functions[kernel->function->reachable[i]];
        for (u32 j = 0; j < function->unsupported_count; j++) {
            const struct unsupported *u = &program->unsupported[function->unsupported[j]];
            fprintf(out, "%s: %s\n", u->place, u->text);
        }
    }
    fclose(out);
    return text;
}

/* The place of the first unsupported instruction. */
static const char *first_unsupported(const struct hd_kernel *kernel)
{
    const struct program *program = kernel->module->program;
    const u32 *reachable = kernel->function->reachable;
    while (!program->functions[*reachable].unsupported_count)
        reachable++;
    return program->unsupported[program->functions[*reachable].unsupported[0]].place;
}

/* Reports unsupported instructions, as many as fit the message in whole lines. */
static bool check_supported(const struct hd_kernel *kernel, struct error *error)
{
    static const char more[] = "\n  and %u more";
    char *list = hd_kernel_unsupported(kernel);
    u32 count = 0, told = 0;
    for (const char *c = list; *c; c++)
        count += *c == '\n';
    if (count) {
        error_set(error, ERROR_UNSUPPORTED, first_unsupported(kernel),
                  "kernel %s can reach %u unsupported instruction%s:", kernel->function->name,
                  count, count == 1 ? "" : "s");
        size_t used = strlen(error->message), size = sizeof error->message;
        const char *line = list;
        for (size_t length; told < count; told++, line += length + 1) {
            length = strcspn(line, "\n");
            if (used + strlen("\n  ") + length + sizeof more + 10 > size)
                break;
            used +=
                (size_t)snprintf(error->message + used, size - used, "\n  %.*s", (int)length, line);
        }
        if (told < count)
            snprintf(error->message + used, size - used, more, count - told);
    }
    free(list);
    return !count;
}

/* The first extern variable that an instruction of the function names, or NULL. */
static const struct variable *extern_named(const struct program *program,
                                           const struct function *function)
{
    for (u32 f = 0; f < program->fixup_count; f++) {
        const struct constant_fixup *fixup = &program->fixups[f];
        if (fixup->kind != RELOC_VARIABLE || !program->variables[fixup->target].is_extern)
            continue;
        for (u32 i = function->first; i < function->end; i++)
            for (u32 k = 0; k < 4; k++) {
                struct operand operand = program->insts[i].src[k];
                if (operand.kind == OPERAND_CONST && operand.index <= fixup->index + 1 &&
                    fixup->index < (u32)operand.index + operand.count)
                    return &program->variables[fixup->target];
            }
    }
    return NULL;
}

static bool check_resolved(const struct launch_request *r, struct error *error)
{
    const struct program *program = r->kernel->module->program;
    const struct function *kernel = r->kernel->function;
    for (u32 i = 0; i < kernel->reachable_count; i++) {
        const struct function *function = &program->functions[kernel->reachable[i]];
        if (function->first == function->end)
            return error_set(error, ERROR_NOT_FOUND, program->file,
                             "kernel %s can reach function %s, which is declared but not defined",
                             kernel->name, function->name);
        const struct variable *variable = extern_named(program, function);
        if (variable)
            return error_set(error, ERROR_NOT_FOUND, program->file,
                             "kernel %s can reach variable %s, which is extern and not defined",
                             kernel->name, variable->name);
    }
    return true;
}

u64 launch_local_bytes(const struct hd_kernel *kernel)
{
    const struct function *function = kernel->function;
    u32 stack = function->recursive ? kernel->module->device->launch->stack_bytes : 0;
    return align_up(function->total_frame_bytes, 16) + stack;
}

static void bound(struct occupancy *occupancy, u64 blocks, const char *limit)
{
    if (blocks < occupancy->blocks_per_core) {
        occupancy->blocks_per_core = (u32)blocks;
        occupancy->limit = limit;
    }
}

bool launch_resources(const struct launch_request *r, struct occupancy *occupancy,
                      struct error *error)
{
    const struct hd_device *device = r->kernel->module->device;
    const struct core_params *core = device->core;
    const struct function *function = r->kernel->function;
    u32 threads = r->block.x * r->block.y * r->block.z;
    u32 warps = (threads + core->warp_size - 1) / core->warp_size;
    u64 shared = (u64)function->total_shared_bytes + r->dynamic_shared_bytes;
    if (shared > core->block_shared_bytes)
        return error_set(error, ERROR_USAGE, "",
                         "kernel %s needs %" PRIu64
                         " bytes of shared memory per block (%u static, %u dynamic), but a block "
                         "may have %u (core.block_shared_bytes)",
                         function->name, shared, function->total_shared_bytes,
                         r->dynamic_shared_bytes, core->block_shared_bytes);
    if (launch_local_bytes(r->kernel) > WINDOW_BYTES)
        return error_set(error, ERROR_USAGE, "",
                         "kernel %s needs %" PRIu64
                         " bytes of local memory per thread, but at most %llu are possible",
                         function->name, launch_local_bytes(r->kernel), WINDOW_BYTES);
    const u64 needed = r->registers ? r->registers : function->total_registers;
    const u32 scalars_needed = r->scalars ? r->scalars : function->scalars;
    u64 registers = device->launch->registers ? device->launch->registers : needed;
    u64 a_warp = (registers * core->warp_size + core->register_unit - 1) / core->register_unit *
                 core->register_unit;
    u64 scalars = (scalars_needed + core->scalar_unit - 1) / core->scalar_unit * core->scalar_unit;
    u64 shared_given = (shared + core->shared_unit - 1) / core->shared_unit * core->shared_unit;
    *occupancy = (struct occupancy){core->blocks, "core.blocks"};
    occupancy->needs = (struct amounts){{
        [RESOURCE_WARPS] = warps,
        [RESOURCE_VECTORS] = (u32)(a_warp * warps),
        [RESOURCE_SCALARS] = core->scalar_registers ? (u32)(scalars * warps) : 0,
        [RESOURCE_SHARED] = (u32)shared_given,
    }};
    bound(occupancy, core->threads / (warps * core->warp_size), "core.threads");
    bound(occupancy, core->warps / warps, "core.warps");
    if (a_warp)
        bound(occupancy, core->registers / (a_warp * warps), "core.registers");
    if (core->scalar_registers && scalars)
        bound(occupancy, core->scalar_registers / (scalars * warps), "core.scalar_registers");
    if (shared_given)
        bound(occupancy, core->shared_bytes / shared_given, "core.shared_bytes");
    if (!occupancy->blocks_per_core)
        return error_set(error, ERROR_USAGE, "",
                         "no core can hold a block of kernel %s: %u threads in %u warps, %" PRIu64
                         " registers per thread, %u scalar registers per warp, %" PRIu64
                         " bytes of shared memory (limited by %s)",
                         function->name, threads, warps, registers, scalars_needed, shared,
                         occupancy->limit);
    return true;
}

static bool check_placed(const struct launch_request *r, struct error *error)
{
    if (!r->kernel->module->raw)
        return true;
    return error_set(error, ERROR_USAGE, r->kernel->module->program->file,
                     "raw machine code runs from a state (hd_raw_run); it cannot be launched");
}

bool launch_fits(const struct launch_request *request, struct occupancy *occupancy,
                 struct error *error)
{
    return check_sizes(request, error) && launch_resources(request, occupancy, error);
}

bool launch_check(const struct launch_request *request, struct occupancy *occupancy,
                  struct error *error)
{
    return check_placed(request, error) && check_sizes(request, error) &&
           check_arguments(request, error) && check_supported(request->kernel, error) &&
           check_resolved(request, error) && launch_resources(request, occupancy, error);
}
