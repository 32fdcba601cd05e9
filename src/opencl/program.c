/* Programs: creation from source or binaries, queries, release. Building is in build.c. */
#include "opencl/program.h"

#include "opencl/binary.h"
#include "opencl/llinfo.h"

#include <stdio.h>

static void build_start(struct build *build)
{
    *build = (struct build){.status = CL_BUILD_NONE,
                            .type = CL_PROGRAM_BINARY_TYPE_NONE,
                            .options = checked(strdup("")),
                            .log = checked(strdup(""))};
}

static void build_free(struct build *build, cl_device_id device)
{
    if (build->module) {
        while (device->busy) /* O2 */
            driver_wait();
        hd_module_unload(build->module);
    }
    free(build->options);
    free(build->log);
    free(build->binary);
    arena_destroy(build->arena);
}

void build_clear(struct build *build, cl_device_id device)
{
    build_free(build, device);
    build_start(build);
}

void build_take(struct build *build, u8 *data, size_t bytes)
{
    struct binary binary;
    bool ours = binary_read(&binary, data, bytes);
    assert(ours);
    (void)ours;
    free(build->binary);
    arena_destroy(build->arena);
    build->binary = data;
    build->binary_bytes = bytes;
    build->type = binary.type;
    build->arena = arena_create();
    build->kernels =
        llinfo_kernels(build->arena, (const char *)binary.sections[SECTION_KERNELS].data,
                       binary.sections[SECTION_KERNELS].bytes, &build->kernel_count);
}

cl_program program_create(cl_context context, u32 device_count, const cl_device_id *devices)
{
    cl_program program = object_create(KIND_PROGRAM, sizeof *program);
    program->context = context;
    object_retain(context);
    program->device_count = device_count;
    program->devices = checked(calloc(device_count, sizeof *program->devices));
    program->builds = checked(calloc(device_count, sizeof *program->builds));
    for (u32 i = 0; i < device_count; i++) {
        program->devices[i] = devices[i];
        build_start(&program->builds[i]);
    }
    return program;
}

void destroy_program(void *object)
{
    cl_program program = object;
    for (u32 i = 0; i < program->device_count; i++)
        build_free(&program->builds[i], program->devices[i]);
    free(program->builds);
    free(program->devices);
    free(program->source);
    object_release(program->context);
}

struct build *program_build(cl_program program, cl_device_id device)
{
    for (u32 i = 0; i < program->device_count; i++)
        if (program->devices[i] == device)
            return &program->builds[i];
    return NULL;
}

/* ---- creation ---- */

/* Concatenates the strings; a program may include the final NUL of each in its length. */
static char *join(cl_uint count, const char **strings, const size_t *lengths)
{
    size_t total = 0;
    for (cl_uint i = 0; i < count; i++)
        total += lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
    char *text = checked(malloc(total + 1)), *out = text;
    for (cl_uint i = 0; i < count; i++) {
        size_t length =
            lengths && lengths[i] ? strnlen(strings[i], lengths[i]) : strlen(strings[i]);
        memcpy(out, strings[i], length);
        out += length;
    }
    *out = 0;
    return text;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                              const char **strings,
                                                              const size_t *lengths,
                                                              cl_int *errcode_ret)
{
    LOCKED;
    if (!object_is(context, KIND_CONTEXT))
        return failed(errcode_ret, CL_INVALID_CONTEXT);
    if (!count || !strings)
        return failed(errcode_ret, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; i++)
        if (!strings[i])
            return failed(errcode_ret, CL_INVALID_VALUE);
    cl_program program = program_create(context, context->device_count, context->devices);
    program->source = join(count, strings, lengths);
    return made(errcode_ret, program);
}

/* Says why a binary cannot be used, as drivers do: to the context's callback and on standard error. */
static void explain_binary(cl_context context, cl_device_id device, enum code_target target)
{
    char line[256];
    snprintf(line, sizeof line, "the program binary is %s, but device %s runs %s%s",
             code_target_name(target), device->info.name, code_target_name(device->target),
             target != CODE_SI && device->target != CODE_SI ? " (gpu.address_bits)" : "");
    fprintf(stderr, "heddle: %s\n", line);
    context_notify(context, line);
}

/* Checks one binary: CL_SUCCESS, or an error. */
static cl_int check_binary(cl_context context, cl_device_id device, const unsigned char *data,
                           size_t bytes)
{
    struct binary binary;
    if (!data || !bytes)
        return CL_INVALID_VALUE;
    if (!binary_read(&binary, data, bytes))
        return CL_INVALID_BINARY;
    if (binary.target == device->target)
        return CL_SUCCESS;
    explain_binary(context, device, binary.target);
    return CL_INVALID_BINARY;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBinary(
    cl_context context, cl_uint num_devices, const cl_device_id *device_list, const size_t *lengths,
    const unsigned char **binaries, cl_int *binary_status, cl_int *errcode_ret)
{
    LOCKED;
    if (!object_is(context, KIND_CONTEXT))
        return failed(errcode_ret, CL_INVALID_CONTEXT);
    if (!num_devices || !device_list || !lengths || !binaries)
        return failed(errcode_ret, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < num_devices; i++)
        if (!object_is(device_list[i], KIND_DEVICE) || !context_has_device(context, device_list[i]))
            return failed(errcode_ret, CL_INVALID_DEVICE);
    cl_int status = CL_SUCCESS;
    for (cl_uint i = 0; i < num_devices; i++) {
        cl_int one = check_binary(context, device_list[i], binaries[i], lengths[i]);
        if (binary_status)
            binary_status[i] = one;
        if (status == CL_SUCCESS)
            status = one;
    }
    if (status != CL_SUCCESS)
        return failed(errcode_ret, status);
    cl_program program = program_create(context, num_devices, device_list);
    program->from_binary = true;
    for (cl_uint i = 0; i < num_devices; i++)
        build_take(&program->builds[i],
                   memcpy(checked(malloc(lengths[i])), binaries[i], lengths[i]), lengths[i]);
    return made(errcode_ret, program);
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(
    cl_context context, cl_uint num_devices, const cl_device_id *device_list,
    const char *kernel_names, cl_int *errcode_ret)
{
    LOCKED;
    if (!object_is(context, KIND_CONTEXT))
        return failed(errcode_ret, CL_INVALID_CONTEXT);
    if (!num_devices || !device_list || !kernel_names)
        return failed(errcode_ret, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < num_devices; i++)
        if (!object_is(device_list[i], KIND_DEVICE) || !context_has_device(context, device_list[i]))
            return failed(errcode_ret, CL_INVALID_DEVICE);
    return failed(errcode_ret, CL_INVALID_VALUE); /* no device has built-in kernels */
}

CL_API_ENTRY cl_int CL_API_CALL clRetainProgram(cl_program program)
{
    LOCKED;
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    object_retain(program);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseProgram(cl_program program)
{
    LOCKED;
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    object_release(program);
    return CL_SUCCESS;
}

/* ---- queries ---- */

/* The first build with an executable; NULL: none. */
static const struct build *first_built(cl_program program)
{
    for (u32 i = 0; i < program->device_count; i++)
        if (program->builds[i].status == CL_BUILD_SUCCESS &&
            program->builds[i].type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
            return &program->builds[i];
    return NULL;
}

static cl_int tell_kernels(cl_program program, bool names, const struct query *query)
{
    const struct build *build = first_built(program);
    if (!build)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    if (!names)
        return QUERY_VALUE(query, size_t, build->kernel_count);
    size_t bytes = 1;
    for (u32 i = 0; i < build->kernel_count; i++)
        bytes += strlen(build->kernels[i].name) + 1;
    char *text = checked(calloc(bytes, 1)), *end = text;
    for (u32 i = 0; i < build->kernel_count; i++) {
        if (i)
            *end++ = ';';
        end = stpcpy(end, build->kernels[i].name);
    }
    cl_int status = query_text(query, text);
    free(text);
    return status;
}

/* The program passes a pointer for each binary; some may be NULL. */
static cl_int tell_binaries(cl_program program, const struct query *query)
{
    size_t bytes = program->device_count * sizeof(unsigned char *);
    if (query->value) {
        unsigned char **places = query->value;
        if (query->size < bytes)
            return CL_INVALID_VALUE;
        for (u32 i = 0; i < program->device_count; i++)
            if (places[i] && program->builds[i].binary)
                memcpy(places[i], program->builds[i].binary, program->builds[i].binary_bytes);
    }
    if (query->size_ret)
        *query->size_ret = bytes;
    return CL_SUCCESS;
}

static cl_int tell_binary_sizes(cl_program program, const struct query *query)
{
    size_t *sizes = checked(calloc(program->device_count, sizeof *sizes));
    for (u32 i = 0; i < program->device_count; i++)
        sizes[i] = program->builds[i].binary_bytes;
    cl_int status = query_bytes(query, sizes, program->device_count * sizeof *sizes);
    free(sizes);
    return status;
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret)
{
    const struct query query = {param_value_size, param_value, param_value_size_ret};
    LOCKED;
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    switch (param_name) {
    case CL_PROGRAM_REFERENCE_COUNT:
        return QUERY_VALUE(&query, cl_uint, program->object.references);
    case CL_PROGRAM_CONTEXT:
        return QUERY_VALUE(&query, cl_context, program->context);
    case CL_PROGRAM_NUM_DEVICES:
        return QUERY_VALUE(&query, cl_uint, program->device_count);
    case CL_PROGRAM_DEVICES:
        return query_bytes(&query, program->devices,
                           program->device_count * sizeof *program->devices);
    case CL_PROGRAM_SOURCE:
        return query_text(&query, program->source ? program->source : "");
    case CL_PROGRAM_BINARY_SIZES:
        return tell_binary_sizes(program, &query);
    case CL_PROGRAM_BINARIES:
        return tell_binaries(program, &query);
    case CL_PROGRAM_NUM_KERNELS:
        return tell_kernels(program, false, &query);
    case CL_PROGRAM_KERNEL_NAMES:
        return tell_kernels(program, true, &query);
    default:
        return CL_INVALID_VALUE;
    }
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                                      cl_program_build_info param_name,
                                                      size_t param_value_size, void *param_value,
                                                      size_t *param_value_size_ret)
{
    const struct query query = {param_value_size, param_value, param_value_size_ret};
    LOCKED;
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    const struct build *build =
        object_is(device, KIND_DEVICE) ? program_build(program, device) : NULL;
    if (!build)
        return CL_INVALID_DEVICE;
    switch (param_name) {
    case CL_PROGRAM_BUILD_STATUS:
        return QUERY_VALUE(&query, cl_build_status, build->status);
    case CL_PROGRAM_BUILD_OPTIONS:
        return query_text(&query, build->options);
    case CL_PROGRAM_BUILD_LOG:
        return query_text(&query, build->log);
    case CL_PROGRAM_BINARY_TYPE:
        return QUERY_VALUE(&query, cl_program_binary_type, build->type);
    default:
        return CL_INVALID_VALUE;
    }
}
