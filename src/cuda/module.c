/*
 * Modules: the fat binaries of the program and its libraries, their kernels and variables.
 *
 * Compilers register a fat binary before main, with the host addresses of its kernels' stubs and of its
 * variables' shadows. Its PTX is read and loaded when the program first uses something of it on a
 * device.
 */
#include "cuda/runtime.h"

#include "cuda/fatbin.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    WRAPPER_MAGIC = 0x466243b1,
    WRAPPER_LINKED = 2, /* version: relocatable code, its parts in the list `linked` */
    LOADED_MOST = 8     /* devices of a process that modules are loaded to */
};

/* What the program hands over. */
struct wrapper {
    u32 magic, version;
    const void *data;
    const void *const *linked;
};

struct cuda_function {
    const void *stub;
    const char *name;
    struct cuda_module *module;
};

struct cuda_variable {
    const void *shadow;
    const char *name;
    struct cuda_module *module;
};

struct cuda_module {
    struct cuda_module *next;
    const struct wrapper *wrapper;
    struct arena *arena; /* NULL: not read yet */
    struct fatbin fatbin;
    cudaError_t wrong; /* reading it has failed */
    struct hd_module *loaded[LOADED_MOST];
    cudaError_t refused[LOADED_MOST]; /* loading it has failed */
};

/* Everything that is registered. Functions and variables are sorted by address when they are looked up
 * after a registration. */
static struct {
    struct cuda_module *modules;
    VEC(struct cuda_function) functions;
    VEC(struct cuda_variable) variables;
    bool sorted;
} registry; /* R4 */

/* ---- registration ---- */

EXPORT(__cudaRegisterFatBinary)
void **__cudaRegisterFatBinary(void *wrapper)
{
    LOCKED;
    runtime_get();
    struct cuda_module *module = checked(calloc(1, sizeof *module));
    module->wrapper = wrapper;
    module->next = registry.modules;
    registry.modules = module;
    return (void **)module;
}

EXPORT(__cudaRegisterFatBinaryEnd)
void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

EXPORT(__cudaRegisterFunction)
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, struct uint3 *thread, struct uint3 *block,
                            struct dim3 *block_size, struct dim3 *grid_size, int *warp_size)
{
    (void)device, (void)thread_limit, (void)thread, (void)block;
    (void)block_size, (void)grid_size, (void)warp_size;
    LOCKED;
    *(struct cuda_function *)vec_push(&registry.functions) =
        (struct cuda_function){host, name, (struct cuda_module *)handle};
    registry.sorted = false;
}

EXPORT(__cudaRegisterVar)
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int constant, int global)
{
    (void)device, (void)is_extern, (void)bytes, (void)constant, (void)global;
    LOCKED;
    *(struct cuda_variable *)vec_push(&registry.variables) =
        (struct cuda_variable){host, name, (struct cuda_module *)handle};
    registry.sorted = false;
}

EXPORT(__cudaRegisterManagedVar)
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int is_extern, size_t bytes, int constant, int global)
{
    (void)handle, (void)host, (void)device, (void)is_extern, (void)constant, (void)global;
    explain(name,
            "a __managed__ variable of %zu bytes, which is not supported: use "
            "cudaMallocManaged",
            bytes);
}

EXPORT(__cudaInitModule)
char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

/* A library that is unloaded takes its kernels along. At the end of the process the order of
 * destructors is not known: then nothing may be touched. */
EXPORT(__cudaUnregisterFatBinary)
void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

/* ---- loading ---- */

static bool read_containers(struct cuda_module *module, const void *data, struct error *error)
{
    const size_t bytes = data ? fatbin_size(data, SIZE_MAX / 2) : 0;
    if (!bytes)
        return error_set(error, ERROR_INPUT, "fat binary",
                         "the registered data are no container of device code");
    return fatbin_read(&module->fatbin, module->arena, data, bytes, error);
}

/* Relocatable code. Several files would have to be linked. */
static bool read_linked(struct cuda_module *module, const void *const *parts, struct error *error)
{
    if (parts && parts[0] && parts[1])
        return error_set(error, ERROR_UNSUPPORTED, "fat binary",
                         "it has relocatable device code of several files, which is not supported: "
                         "compile without -rdc=true, or all kernels as one file");
    return read_containers(module, parts ? parts[0] : NULL, error);
}

static cudaError_t read_module(struct cuda_module *module)
{
    struct error error = {0};
    const struct wrapper *wrapper = module->wrapper;
    if (module->arena)
        return module->wrong;
    module->arena = arena_create();
    bool ok = wrapper && wrapper->magic == WRAPPER_MAGIC;
    if (!ok)
        error_set(&error, ERROR_INPUT, "fat binary", "its wrapper has an unknown magic number");
    if (ok)
        ok = wrapper->version == WRAPPER_LINKED ? read_linked(module, wrapper->linked, &error)
                                                : read_containers(module, wrapper->data, &error);
    if (!ok) {
        explain(error.place, "%s", error.message);
        module->wrong = cudaErrorInvalidKernelImage;
    }
    return module->wrong;
}

static cudaError_t without_ptx(const struct cuda_module *module)
{
    u32 arch = 0;
    for (u32 i = 0; i < module->fatbin.entries.count; i++)
        arch = MAX(arch, module->fatbin.entries.data[i].arch);
    explain("fat binary",
            "it has no PTX, only machine code (for sm_%u), which Heddle cannot run. "
            "Compile with 'nvcc -arch=sm_%u', or add '-gencode "
            "arch=compute_%u,code=compute_%u': then PTX is in the program, too",
            arch, arch, arch, arch);
    return cudaErrorNoKernelImageForDevice;
}

static cudaError_t load_text(struct cuda_device *device, struct cuda_module *module)
{
    struct hd_error error = {0};
    const struct fatbin_entry *entry = fatbin_ptx(&module->fatbin, device->info.capability);
    if (!entry)
        return without_ptx(module);
    char name[32];
    snprintf(name, sizeof name, "ptx.sm_%u", entry->arch);
    module->loaded[device->number] =
        hd_module_load(device->device, entry->text, entry->bytes, name, &error);
    if (module->loaded[device->number])
        return cudaSuccess;
    explain(error.place, "%s", error.message);
    return cudaErrorInvalidPtx;
}

static cudaError_t load(struct cuda_device *device, struct cuda_module *module,
                        struct hd_module **loaded)
{
    if (device->number >= LOADED_MOST)
        return cudaErrorInvalidDevice;
    if (!module->loaded[device->number] && !module->refused[device->number]) {
        cudaError_t status = read_module(module);
        module->refused[device->number] =
            status == cudaSuccess ? load_text(device, module) : status;
    }
    *loaded = module->loaded[device->number];
    return module->refused[device->number];
}

cudaError_t module_loaded(struct cuda_device *device, void **handle, struct hd_module **loaded)
{
    return load(device, (struct cuda_module *)handle, loaded);
}

void modules_forget(struct cuda_device *device)
{
    for (struct cuda_module *at = registry.modules; at; at = at->next)
        if (device->number < LOADED_MOST) {
            at->loaded[device->number] = NULL;
            at->refused[device->number] = cudaSuccess;
        }
}

/* ---- lookup ---- */

static int by_stub(const void *a, const void *b)
{
    const struct cuda_function *x = a, *y = b;
    return x->stub < y->stub ? -1 : x->stub > y->stub;
}

static int by_shadow(const void *a, const void *b)
{
    const struct cuda_variable *x = a, *y = b;
    return x->shadow < y->shadow ? -1 : x->shadow > y->shadow;
}

static void sort(void)
{
    if (registry.sorted)
        return;
    registry.sorted = true;
    if (registry.functions.count)
        qsort(registry.functions.data, registry.functions.count, sizeof(struct cuda_function),
              by_stub);
    if (registry.variables.count)
        qsort(registry.variables.data, registry.variables.count, sizeof(struct cuda_variable),
              by_shadow);
}

static const struct cuda_function *find_function(const void *stub)
{
    sort();
    const struct cuda_function key = {.stub = stub};
    return registry.functions.count ? bsearch(&key, registry.functions.data,
                                              registry.functions.count, sizeof key, by_stub)
                                    : NULL;
}

cudaError_t function_kernel(struct cuda_device *device, const void *stub, struct hd_kernel **kernel)
{
    struct hd_error error = {0};
    struct hd_module *module;
    const struct cuda_function *function = find_function(stub);
    if (!function)
        return cudaErrorInvalidDeviceFunction;
    const cudaError_t status = load(device, function->module, &module);
    if (status != cudaSuccess)
        return status;
    *kernel = hd_kernel_find(module, function->name, &error);
    return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t variable_find(struct cuda_device *device, const void *symbol, u64 *address, u64 *bytes)
{
    struct hd_error error = {0};
    struct hd_module *module;
    sort();
    const struct cuda_variable key = {.shadow = symbol};
    const struct cuda_variable *variable =
        registry.variables.count ? bsearch(&key, registry.variables.data, registry.variables.count,
                                           sizeof key, by_shadow)
                                 : NULL;
    if (!variable)
        return cudaErrorInvalidSymbol;
    const cudaError_t status = load(device, variable->module, &module);
    if (status != cudaSuccess)
        return status;
    if (!hd_module_variable(module, variable->name, address, bytes, &error))
        return cudaErrorInvalidSymbol;
    if (!allocation_at(device, *address))
        allocation_add(device, (struct allocation_entry){
                                   .address = *address, .bytes = *bytes, .use = USED_BY_VARIABLE});
    return cudaSuccess;
}

/* The handle of a kernel is the address of its stub. */
EXPORT(__cudaGetKernel)
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
    LOCKED;
    if (!kernel || !find_function(stub))
        return ended(cudaErrorInvalidDeviceFunction);
    *kernel = (cudaKernel_t)stub;
    return cudaSuccess;
}

EXPORT(cudaFuncGetName)
cudaError_t cudaFuncGetName(const char **name, const void *stub)
{
    LOCKED;
    const struct cuda_function *function = find_function(stub);
    if (!name || !function)
        return ended(name ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
    *name = function->name;
    return ended(cudaSuccess);
}
