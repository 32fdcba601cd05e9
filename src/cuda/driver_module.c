/*
 * The driver API: modules, linking, kernels, launches.
 *
 * An image is a text of PTX, or a fat binary with or without a compiler's wrapper. Linking puts texts of
 * PTX one after the other (A5 of isa/ptx/ast.h).
 */
#include "cuda/driver.h"

#include "base/text.h"
#include "cuda/fatbin.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    KIND_MODULE = 0x48450004,
    KIND_FUNCTION,
    KIND_LINK,
    WRAPPER_MAGIC = 0x466243b1,
    FILE_MOST = 1 << 28
};

struct CUfunc_st {
    u32 kind;
    struct CUfunc_st *next; /* of its module */
    CUmodule module;
    struct hd_kernel *kernel;
    struct hd_kernel_info info;
};

struct CUmod_st {
    u32 kind; /* 0 when unloaded */
    struct cuda_device *device;
    struct hd_module *loaded;
    struct CUfunc_st *functions;
};

struct CUlinkState_st {
    u32 kind;
    char *text;
    size_t bytes;
};

/* ---- loading ---- */

static u32 magic_of(const void *image)
{
    u32 magic;
    memcpy(&magic, image, sizeof magic);
    return magic;
}

static CUresult load_image(struct cuda_device *device, const void *image, struct hd_module **loaded)
{
    const char *text = image;
    if (!strncmp(text, "\177ELF", 4)) {
        explain("module",
                "machine code (an ELF file), which Heddle cannot run: give the driver PTX "
                "(nvcc -ptx) or a fat binary with PTX in it");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    if (fatbin_size(image, SIZE_MAX / 2) || magic_of(image) == WRAPPER_MAGIC)
        return result_of(wrapper_load(device, image, loaded));
    return result_of(text_load(device, text, strlen(text), "module", loaded));
}

EXPORT_DRIVER(cuModuleLoadData)
CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    DRIVER_ENTER(device);
    struct hd_module *loaded;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult status = load_image(device, image, &loaded);
    if (status != CUDA_SUCCESS)
        return status;
    *module = checked(calloc(1, sizeof **module));
    **module = (struct CUmod_st){.kind = KIND_MODULE, .device = device, .loaded = loaded};
    return CUDA_SUCCESS;
}

/* Logs stay empty: what is wrong with an image is on standard error. */
static void empty_logs(unsigned count, const CUjit_option *options, void **values)
{
    for (unsigned i = 0; i < count && options && values; i++)
        if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
            options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            values[i] = NULL;
        else if ((options[i] == CU_JIT_INFO_LOG_BUFFER || options[i] == CU_JIT_ERROR_LOG_BUFFER) &&
                 values[i])
            *(char *)values[i] = '\0';
}

EXPORT_DRIVER(cuModuleLoadDataEx)
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values)
{
    empty_logs(count, options, values);
    return cuModuleLoadData(module, image);
}

EXPORT_DRIVER(cuModuleLoadFatBinary)
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return cuModuleLoadData(module, image);
}

static char *read_image(const char *path, size_t *bytes)
{
    struct error error = {0};
    char *image = path ? text_read_file(path, false, FILE_MOST, bytes, &error) : NULL;
    if (path && !image)
        explain(error.place, "%s", error.message);
    return image;
}

/* A fat binary in a file may be cut off; nothing beyond the file is read. */
static bool is_whole(const char *image, size_t bytes)
{
    return bytes >= sizeof(u32) && (magic_of(image) != WRAPPER_MAGIC) &&
           (!fatbin_size(image, SIZE_MAX / 2) || fatbin_size(image, bytes));
}

EXPORT_DRIVER(cuModuleLoad)
CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    size_t bytes;
    char *image = read_image(path, &bytes);
    if (!image)
        return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    const CUresult status =
        is_whole(image, bytes) ? cuModuleLoadData(module, image) : CUDA_ERROR_INVALID_IMAGE;
    free(image);
    return status;
}

static bool is_module(CUmodule module)
{
    return module && module->kind == KIND_MODULE;
}

EXPORT_DRIVER(cuModuleUnload)
CUresult cuModuleUnload(CUmodule module)
{
    DRIVER_ENTER(device);
    if (!is_module(module))
        return CUDA_ERROR_INVALID_HANDLE;
    device_wait(device);
    for (struct CUfunc_st *at = module->functions, *next; at; at = next) {
        next = at->next;
        at->kind = 0;
        free(at);
    }
    hd_module_unload(module->loaded);
    module->kind = 0;
    free(module);
    return CUDA_SUCCESS;
}

EXPORT_DRIVER(cuModuleGetFunction)
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    DRIVER_ENTER(device);
    (void)device;
    if (!function || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_module(module))
        return CUDA_ERROR_INVALID_HANDLE;
    struct hd_kernel *kernel = hd_kernel_find(module->loaded, name, NULL);
    if (!kernel)
        return CUDA_ERROR_NOT_FOUND;
    for (struct CUfunc_st *at = module->functions; at; at = at->next)
        if (at->kernel == kernel) {
            *function = at;
            return CUDA_SUCCESS;
        }
    struct CUfunc_st *made = checked(calloc(1, sizeof *made));
    *made = (struct CUfunc_st){KIND_FUNCTION, module->functions, module, kernel, {0}};
    hd_kernel_info(kernel, &made->info);
    *function = module->functions = made;
    return CUDA_SUCCESS;
}

EXPORT_DRIVER(cuModuleGetGlobal_v2)
CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    DRIVER_ENTER(device);
    hd_address start;
    u64 size;
    if (!name || (!address && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_module(module))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!hd_module_variable(module->loaded, name, &start, &size, NULL))
        return CUDA_ERROR_NOT_FOUND;
    variable_note(device, start, size);
    if (address)
        *address = start;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

/* ---- linking ---- */

EXPORT_DRIVER(cuLinkCreate_v2)
CUresult cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
    DRIVER_ENTER(device);
    (void)device;
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    empty_logs(count, options, values);
    *state = checked(calloc(1, sizeof **state));
    (*state)->kind = KIND_LINK;
    return CUDA_SUCCESS;
}

static CUresult add_text(CUlinkState state, const char *text, size_t bytes)
{
    const size_t length = strnlen(text, bytes);
    state->text = checked(realloc(state->text, state->bytes + length + 2));
    memcpy(state->text + state->bytes, text, length);
    memcpy(state->text + state->bytes + length, "\n", 2);
    state->bytes += length + 1;
    return CUDA_SUCCESS;
}

static CUresult add_fatbin(CUlinkState state, const struct cuda_device *device, const void *data,
                           size_t bytes)
{
    struct error error = {0};
    struct fatbin fatbin = {0};
    struct arena *arena = arena_create();
    const bool ok = fatbin_read(&fatbin, arena, data, bytes, &error);
    const struct fatbin_entry *entry = ok ? fatbin_ptx(&fatbin, device->info.capability) : NULL;
    CUresult status = CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (!ok)
        explain(error.place, "%s", error.message);
    if (entry)
        status = add_text(state, entry->text, entry->bytes);
    vec_free(&fatbin.entries);
    arena_destroy(arena);
    return status;
}

EXPORT_DRIVER(cuLinkAddData_v2)
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                       const char *name, unsigned count, CUjit_option *options, void **values)
{
    (void)count, (void)options, (void)values;
    DRIVER_ENTER(device);
    if (!state || state->kind != KIND_LINK || !data)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_FATBINARY)
        return add_fatbin(state, device, data, bytes);
    if (type == CU_JIT_INPUT_PTX)
        return add_text(state, data, bytes);
    explain(name ? name : "linking",
            "only PTX and fat binaries with PTX can be linked, no machine code");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

EXPORT_DRIVER(cuLinkAddFile_v2)
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                       CUjit_option *options, void **values)
{
    size_t bytes;
    char *image = read_image(path, &bytes);
    if (!image)
        return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    const CUresult status = cuLinkAddData(state, type, image, bytes, path, count, options, values);
    free(image);
    return status;
}

/* The result is PTX again, which cuModuleLoadData takes. */
EXPORT_DRIVER(cuLinkComplete)
CUresult cuLinkComplete(CUlinkState state, void **image, size_t *bytes)
{
    DRIVER_ENTER(device);
    (void)device;
    if (!state || state->kind != KIND_LINK || !image)
        return CUDA_ERROR_INVALID_VALUE;
    if (!state->text)
        return CUDA_ERROR_INVALID_IMAGE;
    *image = state->text;
    if (bytes)
        *bytes = state->bytes + 1;
    return CUDA_SUCCESS;
}

EXPORT_DRIVER(cuLinkDestroy)
CUresult cuLinkDestroy(CUlinkState state)
{
    if (!state || state->kind != KIND_LINK)
        return CUDA_ERROR_INVALID_VALUE;
    state->kind = 0;
    free(state->text);
    free(state);
    return CUDA_SUCCESS;
}

/* ---- kernels ---- */

static bool is_function(CUfunction function)
{
    return function && function->kind == KIND_FUNCTION;
}

static int attribute_of(const struct cudaFuncAttributes *all, CUfunction_attribute attribute)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return all->maxThreadsPerBlock;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        return (int)all->sharedSizeBytes;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        return (int)all->constSizeBytes;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        return (int)all->localSizeBytes;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        return all->numRegs;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        return all->ptxVersion;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        return all->binaryVersion;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        return all->cacheModeCA;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return all->maxDynamicSharedSizeBytes;
    default:
        return all->preferredShmemCarveout;
    }
}

EXPORT_DRIVER(cuFuncGetAttribute)
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    DRIVER_ENTER(device);
    struct cudaFuncAttributes all;
    if (!value || (u32)attribute > CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_function(function))
        return CUDA_ERROR_INVALID_HANDLE;
    kernel_attributes(device, function->kernel, &all);
    *value = attribute_of(&all, attribute);
    return CUDA_SUCCESS;
}

EXPORT_DRIVER(cuFuncSetAttribute)
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    DRIVER_ENTER(device);
    return is_function(function)
               ? result_of(kernel_set_attribute(device, function->kernel,
                                                (enum cudaFuncAttribute)attribute, value))
               : CUDA_ERROR_INVALID_HANDLE;
}

/* Advice that the model has no use for. */
static CUresult advise(CUfunction function)
{
    DRIVER_ENTER(device);
    (void)device;
    return is_function(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

EXPORT_DRIVER(cuFuncSetCacheConfig)
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    (void)config;
    return advise(function);
}

EXPORT_DRIVER(cuFuncSetSharedMemConfig)
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config)
{
    (void)config;
    return advise(function);
}

EXPORT_DRIVER(cuFuncGetModule)
CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    if (!module || !is_function(function))
        return module ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    *module = function->module;
    return CUDA_SUCCESS;
}

EXPORT_DRIVER(cuFuncGetName)
CUresult cuFuncGetName(const char **name, CUfunction function)
{
    if (!name || !is_function(function))
        return name ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    *name = function->info.name;
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

/* The arguments in a buffer that `extra` names; false: it is not what the kernel takes. */
static bool unpack(const struct hd_kernel_info *info, void **extra, void **args)
{
    u8 *buffer = NULL;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2)
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = *(size_t *)extra[1];
        else
            return false;
    for (u32 i = 0; i < info->param_count; i++) {
        if (!buffer || info->params[i].offset + (size_t)info->params[i].size > bytes)
            return false;
        args[i] = buffer + info->params[i].offset;
    }
    return true;
}

static CUresult launch(CUfunction function, struct dim3 grid, struct dim3 block,
                       unsigned shared_bytes, CUstream handle, void **parameters, void **extra,
                       bool cooperative)
{
    DRIVER_ENTER(device);
    struct CUstream_st *stream = stream_of(device, handle);
    if (!is_function(function) || !stream)
        return CUDA_ERROR_INVALID_HANDLE;
    void **unpacked = NULL;
    bool ok = !(extra && parameters);
    if (ok && extra) {
        unpacked = checked(calloc(function->info.param_count + 1, sizeof *unpacked));
        ok = unpack(&function->info, extra, unpacked);
    }
    const CUresult status = ok ? result_of(kernel_launch(device, function->kernel, grid, block,
                                                         extra ? unpacked : parameters,
                                                         shared_bytes, stream, cooperative))
                               : CUDA_ERROR_INVALID_VALUE;
    free(unpacked);
    return status;
}

EXPORT_DRIVER_STREAM(cuLaunchKernel)
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **parameters, void **extra)
{
    return launch(function, (struct dim3){grid_x, grid_y, grid_z},
                  (struct dim3){block_x, block_y, block_z}, shared_bytes, stream, parameters, extra,
                  false);
}

EXPORT_DRIVER_STREAM(cuLaunchCooperativeKernel)
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void **parameters)
{
    return launch(function, (struct dim3){grid_x, grid_y, grid_z},
                  (struct dim3){block_x, block_y, block_z}, shared_bytes, stream, parameters, NULL,
                  true);
}

/* ---- occupancy ---- */

EXPORT_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                              int block_threads,
                                                              size_t shared_bytes, unsigned flags)
{
    DRIVER_ENTER(device);
    (void)device;
    if (!is_function(function) || flags > cudaOccupancyDisableCachingOverride)
        return flags > 1 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    return result_of(kernel_occupancy(function->kernel, blocks, block_threads, shared_bytes));
}

EXPORT_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor)
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                     int block_threads, size_t shared_bytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads,
                                                                shared_bytes, 0);
}

/* The block size with which a core holds most threads: the largest of several. */
EXPORT_DRIVER(cuOccupancyMaxPotentialBlockSize)
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, size_t shared_bytes,
                                          int limit)
{
    struct cudaFuncAttributes all;
    struct cuda_device *device;
    {
        DRIVER_ENTER(entered_device);
        device = entered_device;
        if (!grid || !block || limit < 0)
            return CUDA_ERROR_INVALID_VALUE;
        if (!is_function(function))
            return CUDA_ERROR_INVALID_HANDLE;
        kernel_attributes(device, function->kernel, &all);
    }
    const int lanes = (int)device->info.lanes;
    const int first = limit ? MIN(limit, all.maxThreadsPerBlock) : all.maxThreadsPerBlock;
    int most = 0;
    for (int threads = first / lanes * lanes; threads > 0; threads -= lanes) {
        int blocks;
        const size_t shared = shared_of ? shared_of(threads) : shared_bytes; /* R1 */
        const CUresult status =
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, shared);
        if (status != CUDA_SUCCESS)
            return status;
        if (blocks * threads > most) {
            most = blocks * threads;
            *grid = blocks * (int)device->info.cores;
            *block = threads;
        }
    }
    return CUDA_SUCCESS;
}
