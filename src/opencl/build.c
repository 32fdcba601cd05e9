/*
 * Building programs: compile, link, or both at once.
 *
 * The driver's lock is released while the compiler runs (O1). Meanwhile the builds of the program's
 * devices are CL_BUILD_IN_PROGRESS, so that no other thread starts one, and the compiler has copies
 * of everything that other threads could change. The build ends before the call returns, even if
 * the program has given a callback.
 */
#include "opencl/compiler.h"
#include "opencl/program.h"

typedef void(CL_CALLBACK *notify_fn)(cl_program program, void *user);

enum {
    FULL_PROFILE_LOCAL = 32768 /* bytes of local memory that the full profile requires */
};

/* One API call: what to build from which program for which devices. */
struct task {
    cl_program program;
    const cl_device_id *devices;
    u32 device_count;
    cl_program_binary_type type;
    cl_int failure; /* the call's return value if the build fails for a device */
    struct options options;
    const char *options_text;
    struct compiler_header *headers;
    u32 header_count;
    const cl_program *inputs; /* programs to link; NULL: none */
    u32 input_count;
    struct arena *arena;
};

/* ---- checks ---- */

/* Checks the device list and callback arguments of a call. */
static cl_int check_devices(cl_uint count, const cl_device_id *list, notify_fn notify,
                            const void *user)
{
    if (!list != !count || (!notify && user))
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

static cl_int choose_devices(struct task *task, cl_uint count, const cl_device_id *list)
{
    task->device_count = list ? count : task->program->device_count;
    task->devices = list ? list : task->program->devices;
    for (u32 i = 0; i < task->device_count; i++)
        if (!object_is(task->devices[i], KIND_DEVICE) ||
            !program_build(task->program, task->devices[i]))
            return CL_INVALID_DEVICE;
    return CL_SUCCESS;
}

/* Whether the program can be built again now: no build in progress, no kernel objects. */
static bool at_rest(const struct task *task)
{
    for (u32 i = 0; i < task->device_count; i++)
        if (program_build(task->program, task->devices[i])->status == CL_BUILD_IN_PROGRESS)
            return false;
    return !task->program->kernel_objects;
}

/* ---- building ---- */

/* The bitcode of a build, as a link input; false: it has none. */
static bool bitcode_of(struct arena *arena, const struct build *build, struct compiler_input *input)
{
    struct binary binary;
    if (!build || !build->binary || !binary_read(&binary, build->binary, build->binary_bytes) ||
        binary.type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        return false;
    input->bytes = binary.sections[SECTION_BITCODE].bytes;
    u8 *copy = arena_alloc(arena, input->bytes);
    memcpy(copy, binary.sections[SECTION_BITCODE].data, input->bytes);
    input->data = copy;
    return true;
}

/* Collects the link inputs for a device; returns their number. */
static u32 gather(const struct task *task, cl_device_id device, struct compiler_input **inputs)
{
    u32 count = 0;
    *inputs = arena_array(task->arena, struct compiler_input, task->input_count + 1);
    for (u32 i = 0; i < task->input_count; i++)
        count += bitcode_of(task->arena, program_build(task->inputs[i], device), *inputs + count);
    return count;
}

static void run_device(const struct task *task, cl_device_id device)
{
    struct build *build = program_build(task->program, device);
    struct compiler_input *inputs;
    struct compiler_result result;
    u32 input_count = gather(task, device, &inputs);
    if (!task->program->source && !input_count)
        return; /* nothing to link for this device */
    const struct compiler_job job = {
        .target = device->target,
        .embedded = device->info.block_shared_bytes < FULL_PROFILE_LOCAL,
        .type = task->type,
        .source = task->program->source,
        .options = &task->options,
        .headers = task->headers,
        .header_count = task->header_count,
        .inputs = inputs,
        .input_count = input_count,
    };
    driver_unlock();
    compiler_run(&job, &result);
    if (job.source)
        session_built(platform_get()->session, job.source, build->options, result.compiler,
                      result.binary);
    free(result.compiler);
    driver_lock();
    free(build->log);
    build->log = result.log;
    if (result.binary)
        build_take(build, result.binary, result.bytes);
    build->status = result.binary ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
}

/* Whether the build is an executable binary already, which needs no building. */
static bool ready(const struct task *task, const struct build *build)
{
    return task->program->from_binary && build->binary &&
           build->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
}

/* Marks all builds as in progress before the first one starts. */
static void begin(struct task *task)
{
    for (u32 i = 0; i < task->device_count; i++) {
        struct build *build = program_build(task->program, task->devices[i]);
        if (task->program->from_binary) { /* the binary is the build's input: it is kept */
            free(build->options);
            free(build->log);
            build->log = checked(strdup(""));
        } else {
            build_clear(build, task->devices[i]);
            free(build->options);
        }
        build->options = checked(strdup(task->options_text ? task->options_text : ""));
        build->status = CL_BUILD_IN_PROGRESS;
    }
}

static cl_int run(struct task *task, notify_fn notify, void *user)
{
    cl_int status = CL_SUCCESS;
    object_retain(task->program);
    begin(task);
    for (u32 i = 0; i < task->device_count; i++) {
        struct build *build = program_build(task->program, task->devices[i]);
        if (ready(task, build))
            build->status = CL_BUILD_SUCCESS;
        else
            run_device(task, task->devices[i]);
        if (build->status == CL_BUILD_IN_PROGRESS)
            build->status = CL_BUILD_NONE;
        if (build->status == CL_BUILD_ERROR)
            status = task->failure;
    }
    driver_changed();
    if (notify) {
        driver_unlock();
        notify(task->program, user);
        driver_lock();
    }
    object_release(task->program);
    return notify ? CL_SUCCESS : status; /* the callback queries the builds */
}

/* ---- the calls ---- */

static cl_int build_program(struct task *task, const char *options)
{
    cl_program program = task->program;
    for (u32 i = 0; program->from_binary && i < task->device_count; i++)
        if (!program_build(program, task->devices[i])->binary)
            return CL_INVALID_BINARY;
    if (!options_parse(&task->options, task->arena, options, OPTIONS_BUILD))
        return CL_INVALID_BUILD_OPTIONS;
    if (!at_rest(task) || (!program->source && !program->from_binary))
        return CL_INVALID_OPERATION;
    task->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    task->failure = CL_BUILD_PROGRAM_FAILURE;
    if (program->from_binary) { /* a compiled object is linked alone */
        task->inputs = &task->program;
        task->input_count = 1;
    }
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(
    cl_program program, cl_uint num_devices, const cl_device_id *device_list, const char *options,
    void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data), void *user_data)
{
    LOCKED;
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    struct task task = {.program = program, .options_text = options};
    cl_int status = check_devices(num_devices, device_list, pfn_notify, user_data);
    if (status == CL_SUCCESS)
        status = choose_devices(&task, num_devices, device_list);
    if (status != CL_SUCCESS)
        return status;
    task.arena = arena_create();
    status = build_program(&task, options);
    if (status == CL_SUCCESS)
        status = run(&task, pfn_notify, user_data);
    arena_destroy(task.arena);
    return status;
}

static cl_int take_headers(struct task *task, cl_uint count, const cl_program *programs,
                           const char **names)
{
    if (!count != !programs || !count != !names)
        return CL_INVALID_VALUE;
    task->headers = arena_array(task->arena, struct compiler_header, count);
    task->header_count = count;
    for (cl_uint i = 0; i < count; i++) {
        if (!names[i])
            return CL_INVALID_VALUE;
        if (!object_is(programs[i], KIND_PROGRAM))
            return CL_INVALID_PROGRAM;
        task->headers[i].name = arena_strdup(task->arena, names[i]);
        task->headers[i].text =
            arena_strdup(task->arena, programs[i]->source ? programs[i]->source : "");
    }
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clCompileProgram(
    cl_program program, cl_uint num_devices, const cl_device_id *device_list, const char *options,
    cl_uint num_input_headers, const cl_program *input_headers, const char **header_include_names,
    void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data), void *user_data)
{
    LOCKED;
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    struct task task = {.program = program,
                        .options_text = options,
                        .type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
                        .failure = CL_COMPILE_PROGRAM_FAILURE,
                        .arena = arena_create()};
    cl_int status = check_devices(num_devices, device_list, pfn_notify, user_data);
    if (status == CL_SUCCESS)
        status = take_headers(&task, num_input_headers, input_headers, header_include_names);
    if (status == CL_SUCCESS)
        status = choose_devices(&task, num_devices, device_list);
    if (status == CL_SUCCESS && !options_parse(&task.options, task.arena, options, OPTIONS_COMPILE))
        status = CL_INVALID_COMPILER_OPTIONS;
    if (status == CL_SUCCESS && (!at_rest(&task) || !program->source))
        status = CL_INVALID_OPERATION;
    if (status == CL_SUCCESS)
        status = run(&task, pfn_notify, user_data);
    arena_destroy(task.arena);
    return status;
}

/* Checks that for each device all programs have something to link, or none has. */
static cl_int check_inputs(const struct task *task)
{
    u32 total = 0;
    for (u32 i = 0; i < task->device_count; i++) {
        struct compiler_input *inputs;
        for (u32 k = 0; k < task->input_count; k++) {
            const struct build *build = program_build(task->inputs[k], task->devices[i]);
            if (build && build->status == CL_BUILD_IN_PROGRESS)
                return CL_INVALID_OPERATION;
        }
        u32 count = gather(task, task->devices[i], &inputs);
        if (count && count != task->input_count)
            return CL_INVALID_OPERATION;
        total += count;
    }
    return total ? CL_SUCCESS : CL_INVALID_OPERATION; /* nothing to link on any device */
}

static cl_int prepare_link(struct task *task, cl_context context, const char *options)
{
    for (u32 i = 0; i < task->input_count; i++)
        if (!object_is(task->inputs[i], KIND_PROGRAM))
            return CL_INVALID_PROGRAM;
    for (u32 i = 0; i < task->device_count; i++)
        if (!object_is(task->devices[i], KIND_DEVICE) ||
            !context_has_device(context, task->devices[i]))
            return CL_INVALID_DEVICE;
    if (!options_parse(&task->options, task->arena, options, OPTIONS_LINK))
        return CL_INVALID_LINKER_OPTIONS;
    task->type = task->options.create_library ? CL_PROGRAM_BINARY_TYPE_LIBRARY
                                              : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return check_inputs(task);
}

CL_API_ENTRY cl_program CL_API_CALL
clLinkProgram(cl_context context, cl_uint num_devices, const cl_device_id *device_list,
              const char *options, cl_uint num_input_programs, const cl_program *input_programs,
              void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data), void *user_data,
              cl_int *errcode_ret)
{
    LOCKED;
    if (!object_is(context, KIND_CONTEXT))
        return failed(errcode_ret, CL_INVALID_CONTEXT);
    cl_int status = check_devices(num_devices, device_list, pfn_notify, user_data);
    if (status != CL_SUCCESS || !num_input_programs || !input_programs)
        return failed(errcode_ret, CL_INVALID_VALUE);
    struct task task = {.devices = device_list ? device_list : context->devices,
                        .device_count = device_list ? num_devices : context->device_count,
                        .inputs = input_programs,
                        .input_count = num_input_programs,
                        .options_text = options,
                        .failure = CL_LINK_PROGRAM_FAILURE,
                        .arena = arena_create()};
    status = prepare_link(&task, context, options);
    if (status == CL_SUCCESS) {
        task.program = program_create(context, task.device_count, task.devices);
        for (u32 i = 0; i < task.input_count; i++) /* used without the lock */
            object_retain(task.inputs[i]);
        status = run(&task, pfn_notify, user_data);
        for (u32 i = 0; i < task.input_count; i++)
            object_release(task.inputs[i]);
    }
    arena_destroy(task.arena);
    if (errcode_ret)
        *errcode_ret = status;
    return task.program; /* also after a failed link: it has the log */
}

/* Nothing to unload: the compiler is a separate process. */
CL_API_ENTRY cl_int CL_API_CALL clUnloadCompiler(void)
{
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform)
{
    return object_is(platform, KIND_PLATFORM) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

/* ---- code on its device ---- */

struct hd_module *build_module(struct build *build, cl_device_id device, struct hd_error *error)
{
    struct binary binary;
    if (!build->module && build->binary && binary_read(&binary, build->binary, build->binary_bytes))
        build->module = hd_module_load(
            device->device, binary.sections[SECTION_CODE].data, binary.sections[SECTION_CODE].bytes,
            device->target == CODE_SI ? "program.so" : "program.ptx", error);
    return build->module;
}
