/*
 * Kernels: creation, arguments, queries.
 *
 * A kernel has code on every device for which its program was built. Arguments are checked against
 * the compiler's description of the source (struct kernel_info) and the code's own parameters, and
 * kept here until a launch takes a copy of them (ndrange.c).
 */
#include "opencl/opencl.h"

#include <stdio.h>

enum {
    LOCAL_ALIGN_MIN = 16, /* size of the largest access to shared memory */
};

/* ---- creation ---- */

static bool executable(const struct build *build)
{
    return build->status == CL_BUILD_SUCCESS && build->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
}

static const struct kernel_info *find_info(const struct build *build, const char *name)
{
    for (u32 i = 0; executable(build) && i < build->kernel_count; i++)
        if (!strcmp(build->kernels[i].name, name))
            return &build->kernels[i];
    return NULL;
}

/* Whether two builds, perhaps of different sources, define the kernel alike. */
static bool same_definition(const struct kernel_info *a, const struct kernel_info *b)
{
    if (a->arg_count != b->arg_count)
        return false;
    for (u32 i = 0; i < a->arg_count; i++)
        if (a->args[i].address != b->args[i].address || strcmp(a->args[i].type, b->args[i].type))
            return false;
    return true;
}

static cl_int choose_info(cl_program program, const char *name, const struct kernel_info **info)
{
    bool built = false;
    *info = NULL;
    for (u32 i = 0; i < program->device_count; i++) {
        const struct kernel_info *found = find_info(&program->builds[i], name);
        built |= executable(&program->builds[i]);
        if (found && *info && !same_definition(found, *info))
            return CL_INVALID_KERNEL_DEFINITION;
        if (found && !*info)
            *info = found;
    }
    if (!built)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    return *info ? CL_SUCCESS : CL_INVALID_KERNEL_NAME;
}

static enum arg_kind kind_of(const struct kernel_arg_info *arg)
{
    if (arg->access != CL_KERNEL_ARG_ACCESS_NONE)
        return ARG_IMAGE;
    if (!strcmp(arg->type, "sampler_t"))
        return ARG_SAMPLER;
    if (arg->address == CL_KERNEL_ARG_ADDRESS_LOCAL)
        return ARG_LOCAL;
    return arg->address == CL_KERNEL_ARG_ADDRESS_PRIVATE ? ARG_VALUE : ARG_BUFFER;
}

/* Whether a core can hold a block of this size. */
static bool block_fits(const struct kernel_code *code, struct hd_dim block, struct hd_error *error)
{
    u32 count = code->info.param_count;
    struct hd_arg *args = checked(calloc(count + 1, sizeof *args));
    for (u32 i = 0; i < count; i++)
        args[i].size = code->info.params[i].size;
    bool fits =
        hd_launch_check(code->kernel, (struct hd_dim){1, 1, 1}, block, 0, args, count, error);
    free(args);
    return fits;
}

/* The largest block in whole warps that a core can hold; code that cannot run at all is refused at
 * launch. */
static u32 block_limit(const struct kernel_code *code, const struct kernel_info *info,
                       cl_device_id device)
{
    struct hd_error error = {0};
    u32 lanes = device->info.lanes, most = device->info.kernel_threads;
    if (code->info.max_threads)
        most = MIN(most, code->info.max_threads);
    if (info->required[0])
        return most;
    for (u32 block = most; block > lanes; block = (block - 1) / lanes * lanes) {
        if (block_fits(code, (struct hd_dim){block, 1, 1}, &error))
            return block;
        if (error.code != HD_ERROR_USAGE)
            return most;
    }
    return MIN(most, lanes);
}

/* Loads the code on one device. Waits for the device, without the lock. */
static cl_int load_code(cl_kernel kernel, u32 index)
{
    struct build *build = &kernel->program->builds[index];
    cl_device_id device = kernel->program->devices[index];
    struct kernel_code *code = &kernel->codes[index];
    struct hd_error error = {0};
    if (!find_info(build, kernel->info->name))
        return CL_SUCCESS;
    while (device->busy && !device->parked)
        driver_wait();
    struct hd_module *module = build_module(build, device, &error);
    code->kernel = module ? hd_kernel_find(module, kernel->info->name, &error) : NULL;
    if (!code->kernel) {
        fprintf(stderr, "heddle: kernel %s: %s%s%s\n", kernel->info->name, error.place,
                error.place[0] ? ": " : "", error.message);
        return CL_OUT_OF_RESOURCES;
    }
    hd_kernel_range(code->kernel, &(struct hd_range){.work_dim = 1}, NULL);
    hd_kernel_info(code->kernel, &code->info);
    if (code->info.param_count != kernel->info->arg_count)
        return CL_INVALID_KERNEL_DEFINITION;
    code->max_block = block_limit(code, kernel->info, device);
    return CL_SUCCESS;
}

static void prepare_args(cl_kernel kernel)
{
    const struct kernel_code *code = kernel->codes;
    while (!code->kernel)
        code++;
    for (u32 i = 0; i < kernel->info->arg_count; i++) {
        struct kernel_arg *arg = &kernel->args[i];
        arg->kind = kind_of(&kernel->info->args[i]);
        arg->size = code->info.params[i].size;
        if (arg->kind == ARG_VALUE || arg->kind == ARG_SAMPLER)
            arg->value = checked(calloc(1, arg->size + 1));
    }
}

static cl_kernel create(cl_program program, const char *name, cl_int *status)
{
    const struct kernel_info *info;
    *status = choose_info(program, name, &info);
    if (*status != CL_SUCCESS)
        return NULL;
    cl_kernel kernel = object_create(KIND_KERNEL, sizeof *kernel);
    object_retain(program);
    program->kernel_objects++; /* from here on the program cannot be built again */
    kernel->program = program;
    kernel->info = info;
    kernel->codes = checked(calloc(program->device_count, sizeof *kernel->codes));
    kernel->args = checked(calloc(info->arg_count + 1, sizeof *kernel->args));
    for (u32 i = 0; *status == CL_SUCCESS && i < program->device_count; i++)
        *status = load_code(kernel, i);
    if (*status != CL_SUCCESS) {
        object_release(kernel);
        return NULL;
    }
    prepare_args(kernel);
    return kernel;
}

void destroy_kernel(void *object)
{
    cl_kernel kernel = object;
    for (u32 i = 0; i < kernel->info->arg_count; i++) {
        kernel_arg_name(&kernel->args[i], NULL);
        free(kernel->args[i].value);
    }
    free(kernel->args);
    free(kernel->codes);
    kernel->program->kernel_objects--;
    object_release(kernel->program);
}

CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *kernel_name,
                                                  cl_int *errcode_ret)
{
    LOCKED;
    if (!object_is(program, KIND_PROGRAM))
        return failed(errcode_ret, CL_INVALID_PROGRAM);
    if (!kernel_name)
        return failed(errcode_ret, CL_INVALID_VALUE);
    cl_int status;
    cl_kernel kernel = create(program, kernel_name, &status);
    return kernel ? made(errcode_ret, kernel) : failed(errcode_ret, status);
}

CL_API_ENTRY cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint num_kernels,
                                                         cl_kernel *kernels,
                                                         cl_uint *num_kernels_ret)
{
    LOCKED;
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    const struct build *build = program->builds, *end = build + program->device_count;
    while (build < end && !executable(build))
        build++;
    if (build == end)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    u32 count = build->kernel_count;
    if (kernels && num_kernels < count)
        return CL_INVALID_VALUE;
    for (u32 i = 0; kernels && i < count; i++) {
        cl_int status;
        kernels[i] = create(program, build->kernels[i].name, &status);
        if (kernels[i])
            continue;
        while (i--)
            object_release(kernels[i]);
        return status;
    }
    if (num_kernels_ret)
        *num_kernels_ret = count;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainKernel(cl_kernel kernel)
{
    LOCKED;
    if (!object_is(kernel, KIND_KERNEL))
        return CL_INVALID_KERNEL;
    object_retain(kernel);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel)
{
    LOCKED;
    if (!object_is(kernel, KIND_KERNEL))
        return CL_INVALID_KERNEL;
    object_release(kernel);
    return CL_SUCCESS;
}

const struct kernel_code *kernel_code(cl_kernel kernel, cl_device_id device)
{
    for (u32 i = 0; i < kernel->program->device_count; i++)
        if (kernel->program->devices[i] == device && kernel->codes[i].kernel)
            return &kernel->codes[i];
    return NULL;
}

/* ---- arguments ---- */

void kernel_arg_name(struct kernel_arg *arg, cl_mem mem)
{
    if (arg->mem) {
        struct kernel_arg **link = &arg->mem->named;
        while (*link != arg)
            link = &(*link)->next;
        *link = arg->next;
    }
    arg->mem = mem;
    if (mem) {
        arg->next = mem->named;
        mem->named = arg;
    }
}

/* A buffer is passed as the address of its handle; a NULL address or handle is the null pointer. */
static cl_int set_buffer(cl_kernel kernel, struct kernel_arg *arg, size_t size, const void *value)
{
    if (size != sizeof(cl_mem))
        return CL_INVALID_ARG_SIZE;
    cl_mem mem = NULL;
    if (value)
        memcpy(&mem, value, sizeof mem);
    if (mem && (!object_is(mem, KIND_MEM) || mem->context != kernel->program->context ||
                !mem->image != (arg->kind == ARG_BUFFER)))
        return CL_INVALID_MEM_OBJECT;
    kernel_arg_name(arg, mem);
    arg->set = true;
    return CL_SUCCESS;
}

/* The argument's type says which images it takes. */
static cl_int set_image(cl_kernel kernel, struct kernel_arg *arg, size_t size, const void *value)
{
    cl_mem mem = NULL;
    if (size == sizeof mem && value)
        memcpy(&mem, value, sizeof mem);
    const char *type = kernel->info->args[arg - kernel->args].type;
    if (size == sizeof mem && (!object_is(mem, KIND_MEM) || !image_fits(mem, type)))
        return CL_INVALID_MEM_OBJECT;
    return set_buffer(kernel, arg, size, value);
}

static cl_int set_sampler(cl_kernel kernel, struct kernel_arg *arg, size_t size, const void *value)
{
    cl_sampler sampler = NULL;
    if (size != sizeof sampler)
        return CL_INVALID_ARG_SIZE;
    if (value)
        memcpy(&sampler, value, sizeof sampler);
    if (!object_is(sampler, KIND_SAMPLER) || sampler->context != kernel->program->context)
        return CL_INVALID_SAMPLER;
    const u64 word = sampler_word(sampler);
    memcpy(arg->value, &word, MIN(arg->size, sizeof word));
    arg->set = true;
    return CL_SUCCESS;
}

static cl_int set_local(struct kernel_arg *arg, size_t size, const void *value)
{
    if (value)
        return CL_INVALID_ARG_VALUE;
    if (!size || size > UINT32_MAX)
        return CL_INVALID_ARG_SIZE;
    arg->size = (u32)size;
    arg->set = true;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size,
                                               const void *arg_value)
{
    LOCKED;
    if (!object_is(kernel, KIND_KERNEL))
        return CL_INVALID_KERNEL;
    if (arg_index >= kernel->info->arg_count)
        return CL_INVALID_ARG_INDEX;
    struct kernel_arg *arg = &kernel->args[arg_index];
    switch (arg->kind) {
    case ARG_BUFFER:
        return set_buffer(kernel, arg, arg_size, arg_value);
    case ARG_LOCAL:
        return set_local(arg, arg_size, arg_value);
    case ARG_IMAGE:
        return set_image(kernel, arg, arg_size, arg_value);
    case ARG_SAMPLER:
        return set_sampler(kernel, arg, arg_size, arg_value);
    case ARG_VALUE:
        break;
    }
    if (!arg_value)
        return CL_INVALID_ARG_VALUE;
    if (arg_size != arg->size)
        return CL_INVALID_ARG_SIZE;
    memcpy(arg->value, arg_value, arg_size);
    arg->set = true;
    return CL_SUCCESS;
}

/*
 * A local argument follows the kernel's own shared memory and the local arguments before it. Its
 * type is not known here, but its size is a multiple of its alignment.
 */
u64 kernel_shared(cl_kernel kernel, const struct kernel_code *code, u64 *offsets)
{
    u64 end = code->info.shared_bytes;
    for (u32 i = 0; i < kernel->info->arg_count; i++) {
        const struct kernel_arg *arg = &kernel->args[i];
        if (arg->kind != ARG_LOCAL || !arg->set)
            continue;
        u64 multiple = arg->size & -arg->size;
        u64 align = MIN(MAX(multiple, (u64)LOCAL_ALIGN_MIN), (u64)MEM_ALIGN);
        u64 start = align_up(end, align);
        if (offsets)
            offsets[i] = start;
        end = start + arg->size;
    }
    return end;
}

/* ---- queries ---- */

CL_API_ENTRY cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info param_name,
                                                size_t param_value_size, void *param_value,
                                                size_t *param_value_size_ret)
{
    LOCKED;
    const struct query query = {param_value_size, param_value, param_value_size_ret};
    if (!object_is(kernel, KIND_KERNEL))
        return CL_INVALID_KERNEL;
    switch (param_name) {
    case CL_KERNEL_FUNCTION_NAME:
        return query_text(&query, kernel->info->name);
    case CL_KERNEL_NUM_ARGS:
        return QUERY_VALUE(&query, cl_uint, kernel->info->arg_count);
    case CL_KERNEL_REFERENCE_COUNT:
        return QUERY_VALUE(&query, cl_uint, kernel->object.references);
    case CL_KERNEL_CONTEXT:
        return QUERY_VALUE(&query, cl_context, kernel->program->context);
    case CL_KERNEL_PROGRAM:
        return QUERY_VALUE(&query, cl_program, kernel->program);
    case CL_KERNEL_ATTRIBUTES:
        return query_text(&query, kernel->info->attributes ? kernel->info->attributes : "");
    default:
        return CL_INVALID_VALUE;
    }
}

/* The kernel's code on a device; NULL selects the program's only device. */
static const struct kernel_code *code_asked(cl_kernel kernel, cl_device_id *device)
{
    if (!*device && kernel->program->device_count == 1)
        *device = kernel->program->devices[0];
    return object_is(*device, KIND_DEVICE) ? kernel_code(kernel, *device) : NULL;
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                         cl_kernel_work_group_info param_name,
                                                         size_t param_value_size, void *param_value,
                                                         size_t *param_value_size_ret)
{
    LOCKED;
    const struct query query = {param_value_size, param_value, param_value_size_ret};
    if (!object_is(kernel, KIND_KERNEL))
        return CL_INVALID_KERNEL;
    const struct kernel_code *code = code_asked(kernel, &device);
    if (!code)
        return CL_INVALID_DEVICE;
    switch (param_name) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        return QUERY_VALUE(&query, size_t, code->max_block);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return query_bytes(&query, kernel->info->required, sizeof kernel->info->required);
    case CL_KERNEL_LOCAL_MEM_SIZE:
        return QUERY_VALUE(&query, cl_ulong, kernel_shared(kernel, code, NULL));
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return QUERY_VALUE(&query, size_t, device->info.lanes);
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        return QUERY_VALUE(&query, cl_ulong, code->info.local_bytes);
    default: /* CL_KERNEL_GLOBAL_WORK_SIZE is for built-in kernels */
        return CL_INVALID_VALUE;
    }
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint arg_indx,
                                                   cl_kernel_arg_info param_name,
                                                   size_t param_value_size, void *param_value,
                                                   size_t *param_value_size_ret)
{
    LOCKED;
    const struct query query = {param_value_size, param_value, param_value_size_ret};
    if (!object_is(kernel, KIND_KERNEL))
        return CL_INVALID_KERNEL;
    if (arg_indx >= kernel->info->arg_count)
        return CL_INVALID_ARG_INDEX;
    if (!kernel->info->has_arg_info)
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    const struct kernel_arg_info *arg = &kernel->info->args[arg_indx];
    switch (param_name) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        return QUERY_VALUE(&query, cl_kernel_arg_address_qualifier, arg->address);
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        return QUERY_VALUE(&query, cl_kernel_arg_access_qualifier, arg->access);
    case CL_KERNEL_ARG_TYPE_NAME:
        return query_text(&query, arg->type);
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        return QUERY_VALUE(&query, cl_kernel_arg_type_qualifier, arg->qualifiers);
    case CL_KERNEL_ARG_NAME:
        return query_text(&query, arg->name);
    default:
        return CL_INVALID_VALUE;
    }
}
