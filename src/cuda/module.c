/*
 * Modules: the fat binaries of the program and its libraries, their kernels and variables.
 *
 * Compilers register a fat binary before main, with the host addresses of its kernels' stubs and of its
 * variables' shadows. Its PTX is read and loaded when the program first uses something of it on a
 * device.
 *
 * Relocatable code comes as several fat binaries that are one module: nvcc's device linker makes a list
 * of them; those of objects by `heddle nvcc -rdc=true` are marked (fatbin.h), and belong together in one
 * program or library. Their texts are linked by putting them one after the other (A5 of isa/ptx/ast.h).
 */
#include "cuda/runtime.h"

#include "cuda/fatbin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    WRAPPER_MAGIC = 0x466243b1,
    WRAPPER_LINKED = 2, /* version: relocatable code, its parts in the list `linked` */
    LONGEST_NAME = 4096,
    LOADED_MOST = 8 /* devices of a process that modules are loaded to */
};

/* What the program hands over. */
struct wrapper {
    u32 magic, version;
    const void *data;
    const void *const *linked;
};

/* A fat binary that was registered: part of a module. */
struct cuda_part {
    struct cuda_module *module;
    u32 number; /* in the module */
};

struct cuda_function {
    const void *stub;
    const char *name;
    const struct cuda_part *part;
};

struct cuda_variable {
    const void *shadow;
    const char *name;
    const struct cuda_part *part;
};

typedef const struct wrapper *wrapper_t;

struct cuda_module {
    struct cuda_module *next;
    VEC(wrapper_t) wrappers; /* one, or several of relocatable code */
    const void *image;       /* the program or library of marked ones; NULL: not marked */
    struct arena *arena;     /* NULL: not read yet */
    VEC(struct fatbin) parts;
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

/* The program or library that a marked fat binary is in; NULL: it is a module by itself. */
static const void *image_of(const struct wrapper *wrapper)
{
    Dl_info place = {0};
    const bool marked = wrapper && wrapper->magic == WRAPPER_MAGIC &&
                        wrapper->version != WRAPPER_LINKED && fatbin_marked(wrapper->data);
    return marked && dladdr(wrapper, &place) ? place.dli_fbase : NULL;
}

/* The module that a fat binary of an image is added to, perhaps a new one. */
static struct cuda_module *module_for(const void *image)
{
    for (struct cuda_module *at = registry.modules; image && at; at = at->next)
        if (at->image == image && !at->arena)
            return at;
    struct cuda_module *module = checked(calloc(1, sizeof *module));
    module->image = image;
    module->next = registry.modules;
    return registry.modules = module;
}

EXPORT(__cudaRegisterFatBinary)
void **__cudaRegisterFatBinary(void *wrapper)
{
    LOCKED;
    runtime_get();
    struct cuda_part *part = checked(calloc(1, sizeof *part));
    part->module = module_for(image_of(wrapper));
    part->number = part->module->wrappers.count;
    *(wrapper_t *)vec_push(&part->module->wrappers) = wrapper;
    return (void **)part;
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
        (struct cuda_function){host, name, (const struct cuda_part *)handle};
    registry.sorted = false;
}

EXPORT(__cudaRegisterVar)
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int constant, int global)
{
    (void)device, (void)is_extern, (void)bytes, (void)constant, (void)global;
    LOCKED;
    *(struct cuda_variable *)vec_push(&registry.variables) =
        (struct cuda_variable){host, name, (const struct cuda_part *)handle};
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
    struct fatbin *part = vec_push(&module->parts);
    *part = (struct fatbin){0};
    return fatbin_read(part, module->arena, data, bytes, error);
}

static bool read_wrapper(struct cuda_module *module, const struct wrapper *wrapper,
                         struct error *error)
{
    if (!wrapper || wrapper->magic != WRAPPER_MAGIC)
        return error_set(error, ERROR_INPUT, "fat binary",
                         "its wrapper has an unknown magic number");
    if (wrapper->version != WRAPPER_LINKED)
        return read_containers(module, wrapper->data, error);
    bool ok = true;
    for (const void *const *at = wrapper->linked; ok && at && *at; at++)
        ok = read_containers(module, *at, error);
    return ok;
}

static cudaError_t read_module(struct cuda_module *module)
{
    struct error error = {0};
    if (module->arena)
        return module->wrong;
    module->arena = arena_create();
    for (u32 i = 0; i < module->wrappers.count && !error.code; i++)
        read_wrapper(module, module->wrappers.data[i], &error);
    if (error.code) {
        explain(error.place, "%s", error.message);
        module->wrong = cudaErrorInvalidKernelImage;
    }
    return module->wrong;
}

static cudaError_t without_ptx(const struct fatbin *fatbin)
{
    u32 arch = 0;
    for (u32 i = 0; i < fatbin->entries.count; i++)
        arch = MAX(arch, fatbin->entries.data[i].arch);
    explain("fat binary",
            "it has no PTX, only machine code (for sm_%u), which Heddle cannot run. "
            "Compile with 'nvcc -arch=sm_%u', or add '-gencode "
            "arch=compute_%u,code=compute_%u': then PTX is in the program, too",
            arch, arch, arch, arch);
    return cudaErrorNoKernelImageForDevice;
}

static void parts_free(struct cuda_module *module)
{
    for (u32 i = 0; i < module->parts.count; i++)
        vec_free(&module->parts.data[i].entries);
    vec_free(&module->parts);
    arena_destroy(module->arena);
}

/* The PTX of all parts for a device, one after the other, as the heap's; NULL: a part has none. */
static char *link_texts(const struct cuda_module *module, u32 capability, size_t *bytes, u32 *arch,
                        const struct fatbin **without)
{
    char *text = NULL;
    *bytes = 0;
    for (u32 i = 0; i < module->parts.count; i++) {
        const struct fatbin_entry *entry = fatbin_ptx(&module->parts.data[i], capability);
        if (!entry) {
            *without = &module->parts.data[i];
            free(text);
            return NULL;
        }
        text = checked(realloc(text, *bytes + entry->bytes + 1));
        memcpy(text + *bytes, entry->text, entry->bytes);
        *bytes += entry->bytes;
        text[(*bytes)++] = '\n';
        *arch = entry->arch;
    }
    return text;
}

cudaError_t text_load(struct cuda_device *device, const char *text, size_t bytes, const char *name,
                      struct hd_module **loaded)
{
    struct hd_error error = {0};
    *loaded = hd_module_load(device->device, text, bytes, name, &error);
    if (*loaded)
        return cudaSuccess;
    explain(error.place, "%s", error.message);
    return cudaErrorInvalidPtx;
}

static cudaError_t load_parts(struct cuda_device *device, struct cuda_module *module,
                              struct hd_module **loaded)
{
    const struct fatbin *without = &(struct fatbin){0};
    size_t bytes;
    u32 arch = 0;
    char name[32], *text = link_texts(module, device->info.capability, &bytes, &arch, &without);
    if (!text)
        return without_ptx(without);
    snprintf(name, sizeof name, "ptx.sm_%u", arch);
    const cudaError_t status = text_load(device, text, bytes, name, loaded);
    free(text);
    return status;
}

cudaError_t wrapper_load(struct cuda_device *device, const void *image, struct hd_module **loaded)
{
    struct error error = {0};
    struct cuda_module module = {.arena = arena_create()};
    const struct wrapper *wrapper = image;
    const bool ok = wrapper->magic == WRAPPER_MAGIC ? read_wrapper(&module, wrapper, &error)
                                                    : read_containers(&module, image, &error);
    if (!ok)
        explain(error.place, "%s", error.message);
    const cudaError_t status =
        ok ? load_parts(device, &module, loaded) : cudaErrorInvalidKernelImage;
    parts_free(&module);
    return status;
}

static cudaError_t load(struct cuda_device *device, struct cuda_module *module,
                        struct hd_module **loaded)
{
    if (device->number >= LOADED_MOST)
        return cudaErrorInvalidDevice;
    if (!module->loaded[device->number] && !module->refused[device->number]) {
        cudaError_t status = read_module(module);
        module->refused[device->number] =
            status == cudaSuccess ? load_parts(device, module, &module->loaded[device->number])
                                  : status;
    }
    *loaded = module->loaded[device->number];
    return module->refused[device->number];
}

cudaError_t module_loaded(struct cuda_device *device, void **handle, struct hd_module **loaded)
{
    return load(device, ((const struct cuda_part *)handle)->module, loaded);
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

/* The name that a part's own function or variable has in the linked module (D3 of isa/ptx/lower_module.c).
 */
static const char *own_name(const struct cuda_part *part, const char *name, char *buffer,
                            size_t bytes)
{
    snprintf(buffer, bytes, "%s@%u", name, part->number);
    return buffer;
}

cudaError_t function_kernel(struct cuda_device *device, const void *stub, struct hd_kernel **kernel)
{
    struct hd_module *module;
    char own[LONGEST_NAME];
    const struct cuda_function *function = find_function(stub);
    if (!function)
        return cudaErrorInvalidDeviceFunction;
    const cudaError_t status = load(device, function->part->module, &module);
    if (status != cudaSuccess)
        return status;
    *kernel =
        hd_kernel_find(module, own_name(function->part, function->name, own, sizeof own), NULL);
    if (!*kernel)
        *kernel = hd_kernel_find(module, function->name, NULL);
    return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t variable_find(struct cuda_device *device, const void *symbol, u64 *address, u64 *bytes)
{
    struct hd_module *module;
    char own[LONGEST_NAME];
    sort();
    const struct cuda_variable key = {.shadow = symbol};
    const struct cuda_variable *variable =
        registry.variables.count ? bsearch(&key, registry.variables.data, registry.variables.count,
                                           sizeof key, by_shadow)
                                 : NULL;
    if (!variable)
        return cudaErrorInvalidSymbol;
    const cudaError_t status = load(device, variable->part->module, &module);
    if (status != cudaSuccess)
        return status;
    own_name(variable->part, variable->name, own, sizeof own);
    if (!hd_module_variable(module, own, address, bytes, NULL) &&
        !hd_module_variable(module, variable->name, address, bytes, NULL))
        return cudaErrorInvalidSymbol;
    variable_note(device, *address, *bytes);
    return cudaSuccess;
}

void variable_note(struct cuda_device *device, u64 address, u64 bytes)
{
    if (!allocation_at(device, address))
        allocation_add(device, (struct allocation_entry){
                                   .address = address, .bytes = bytes, .use = USED_BY_VARIABLE});
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
