/* The driver API: start, devices, contexts. */
#include "cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    KIND_CONTEXT = 0x48450003,
    STACK = 32 /* contexts that a thread has pushed */
};

struct CUctx_st {
    u32 kind; /* 0 when destroyed */
    int device;
    unsigned flags;
    bool primary;
};

static struct {
    bool started;                /* cuInit was called */
    struct CUctx_st primary[64]; /* by device, as they are retained or become current */
    u32 retained[64];
} driver; /* R4 */

static _Thread_local CUcontext stack[STACK]; /* R4 */
static _Thread_local u32 depth;

CUresult result_of(cudaError_t status)
{
    ended_elsewhere();
    switch (status) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
        return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction:
        return CUDA_ERROR_NOT_FOUND;
    default:
        return (CUresult)status;
    }
}

/* The current context: of the driver API, or what the runtime has made current. */
static CUcontext current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

CUresult driver_ready(void)
{
    if (!driver.started)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!current() && !device_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (current())
        *thread_device() = current()->device;
    return CUDA_SUCCESS;
}

CUresult driver_enter(struct cuda_device **device)
{
    const CUresult ready = driver_ready();
    return ready == CUDA_SUCCESS ? result_of(device_enter(device)) : ready;
}

EXPORT_DRIVER(cuInit)
CUresult cuInit(unsigned flags)
{
    LOCKED;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!runtime_get()->device_count)
        return CUDA_ERROR_NO_DEVICE;
    driver.started = true;
    return CUDA_SUCCESS;
}

EXPORT_DRIVER(cuDriverGetVersion)
CUresult cuDriverGetVersion(int *version)
{
    return result_of(cudaDriverGetVersion(version));
}

EXPORT_DRIVER(cuGetErrorName)
CUresult cuGetErrorName(CUresult result, const char **text)
{
    static const struct {
        CUresult value;
        const char *name;
    } names[] = {
#define HEDDLE_RESULT(name, value) {name, #name},
#include "heddle_results.def"
#undef HEDDLE_RESULT
    };
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = NULL;
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].value == result)
            *text = names[i].name;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT_DRIVER(cuGetErrorString)
CUresult cuGetErrorString(CUresult result, const char **text)
{
    const CUresult known = cuGetErrorName(result, text);
    if (known == CUDA_SUCCESS)
        *text = cudaGetErrorString((cudaError_t)result);
    return known;
}

/* ---- devices ---- */

static CUresult started(const void *to)
{
    return !driver.started ? CUDA_ERROR_NOT_INITIALIZED
           : to            ? CUDA_SUCCESS
                           : CUDA_ERROR_INVALID_VALUE;
}
/* Ends with a function of the runtime about a device, which needs no context. */
#define ABOUT(to, call)                                     \
    do {                                                    \
        const CUresult may = started(to);                   \
        return may == CUDA_SUCCESS ? result_of(call) : may; \
    } while (0)

EXPORT_DRIVER(cuDeviceGetCount)
CUresult cuDeviceGetCount(int *count)
{
    ABOUT(count, cudaGetDeviceCount(count));
}

static cudaError_t find(int number, struct cuda_device **device)
{
    LOCKED;
    return device_find(device, number);
}

EXPORT_DRIVER(cuDeviceGet)
CUresult cuDeviceGet(CUdevice *device, int number)
{
    struct cuda_device *found;
    CUresult status = started(device);
    if (status == CUDA_SUCCESS)
        status = result_of(find(number, &found));
    if (status == CUDA_SUCCESS)
        *device = number;
    return status;
}

EXPORT_DRIVER(cuDeviceGetName)
CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    struct cudaDeviceProp all;
    CUresult status = started(name);
    if (status == CUDA_SUCCESS)
        status = result_of(cudaGetDeviceProperties_v2(&all, device));
    if (status == CUDA_SUCCESS)
        snprintf(name, bytes > 0 ? (size_t)bytes : 0, "%s", all.name);
    return status;
}

static CUresult tell_uuid(CUuuid *uuid, CUdevice device)
{
    struct cudaDeviceProp all;
    CUresult status = started(uuid);
    if (status == CUDA_SUCCESS)
        status = result_of(cudaGetDeviceProperties_v2(&all, device));
    if (status == CUDA_SUCCESS)
        memcpy(uuid->bytes, all.uuid.bytes, sizeof uuid->bytes);
    return status;
}

EXPORT_DRIVER(cuDeviceGetUuid)
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return tell_uuid(uuid, device);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
EXPORT_DRIVER(cuDeviceGetUuid_v2)
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    return tell_uuid(uuid, device);
}

EXPORT_DRIVER(cuDeviceTotalMem_v2)
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    struct cudaDeviceProp all;
    CUresult status = started(bytes);
    if (status == CUDA_SUCCESS)
        status = result_of(cudaGetDeviceProperties_v2(&all, device));
    if (status == CUDA_SUCCESS)
        *bytes = all.totalGlobalMem;
    return status;
}

EXPORT_DRIVER(cuDeviceGetAttribute)
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    ABOUT(value, cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
}

EXPORT_DRIVER(cuDeviceComputeCapability)
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    const CUresult status =
        cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    return status == CUDA_SUCCESS
               ? cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
               : status;
}

EXPORT_DRIVER(cuDeviceGetPCIBusId)
CUresult cuDeviceGetPCIBusId(char *text, int bytes, CUdevice device)
{
    ABOUT(text, cudaDeviceGetPCIBusId(text, bytes, device));
}

EXPORT_DRIVER(cuDeviceCanAccessPeer)
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    ABOUT(can, cudaDeviceCanAccessPeer(can, device, peer));
}

/* ---- contexts ---- */

static CUcontext primary(int device)
{
    struct CUctx_st *context = &driver.primary[device];
    if (!context->kind)
        *context = (struct CUctx_st){.kind = KIND_CONTEXT, .device = device, .primary = true};
    return context;
}

/* The number of a device that exists and may have a primary context. */
static CUresult check(int device)
{
    struct cuda_device *found;
    if (!driver.started)
        return CUDA_ERROR_NOT_INITIALIZED;
    return (u32)device >= ARRAY_LEN(driver.primary) ? CUDA_ERROR_INVALID_DEVICE
                                                    : result_of(device_find(&found, device));
}

EXPORT_DRIVER(cuDevicePrimaryCtxRetain)
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    LOCKED;
    const CUresult status = context ? check(device) : CUDA_ERROR_INVALID_VALUE;
    if (status != CUDA_SUCCESS)
        return status;
    driver.retained[device]++;
    *context = primary(device);
    return CUDA_SUCCESS;
}

EXPORT_DRIVER(cuDevicePrimaryCtxRelease_v2)
CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    LOCKED;
    const CUresult status = check(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!driver.retained[device])
        return CUDA_ERROR_INVALID_CONTEXT;
    driver.retained[device]--;
    return CUDA_SUCCESS;
}

EXPORT_DRIVER(cuDevicePrimaryCtxGetState)
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    LOCKED;
    const CUresult status = check(device);
    if (status != CUDA_SUCCESS || !flags || !active)
        return status != CUDA_SUCCESS ? status : CUDA_ERROR_INVALID_VALUE;
    *flags = primary(device)->flags;
    *active = driver.retained[device] != 0;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags);
EXPORT_DRIVER(cuDevicePrimaryCtxSetFlags_v2)
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    LOCKED;
    const CUresult status = check(device);
    if (status == CUDA_SUCCESS)
        primary(device)->flags = flags;
    return status;
}

EXPORT_DRIVER(cuDevicePrimaryCtxReset_v2)
CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    LOCKED;
    CUresult status = check(device);
    if (status == CUDA_SUCCESS) {
        const int before = *thread_device();
        *thread_device() = device;
        status = result_of(device_reset());
        *thread_device() = before;
    }
    return status;
}

static CUresult push(CUcontext context)
{
    if (depth == STACK)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack[depth++] = context;
    *thread_device() = context->device;
    return CUDA_SUCCESS;
}

static CUresult create(CUcontext *context, unsigned flags, CUdevice device)
{
    LOCKED;
    struct cuda_device *opened;
    CUresult status = context ? check(device) : CUDA_ERROR_INVALID_VALUE;
    if (status != CUDA_SUCCESS)
        return status;
    device_find(&opened, device);
    if (!device_open(opened))
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct CUctx_st *made = checked(calloc(1, sizeof *made));
    *made = (struct CUctx_st){.kind = KIND_CONTEXT, .device = device, .flags = flags};
    *context = made;
    return push(made);
}

EXPORT_DRIVER(cuCtxCreate_v2)
CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device)
{
    return create(context, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext *context, void *affinity, int count, unsigned flags,
                        CUdevice device);
EXPORT_DRIVER(cuCtxCreate_v3)
CUresult cuCtxCreate_v3(CUcontext *context, void *affinity, int count, unsigned flags,
                        CUdevice device)
{
    (void)affinity, (void)count;
    return create(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *context, void *parameters, unsigned flags, CUdevice device);
EXPORT_DRIVER(cuCtxCreate_v4)
CUresult cuCtxCreate_v4(CUcontext *context, void *parameters, unsigned flags, CUdevice device)
{
    (void)parameters;
    return create(context, flags, device);
}

static bool is_context(CUcontext context)
{
    return context && context->kind == KIND_CONTEXT;
}

/* A destroyed context is no longer on top; its memory stays, so that a use of it is told. */
EXPORT_DRIVER(cuCtxDestroy_v2)
CUresult cuCtxDestroy(CUcontext context)
{
    LOCKED;
    if (!is_context(context) || context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (current() == context)
        depth--;
    context->kind = 0;
    return CUDA_SUCCESS;
}

EXPORT_DRIVER(cuCtxPushCurrent_v2)
CUresult cuCtxPushCurrent(CUcontext context)
{
    LOCKED;
    return is_context(context) ? push(context) : CUDA_ERROR_INVALID_CONTEXT;
}

EXPORT_DRIVER(cuCtxPopCurrent_v2)
CUresult cuCtxPopCurrent(CUcontext *context)
{
    LOCKED;
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context)
        *context = current();
    depth--;
    if (current())
        *thread_device() = current()->device;
    return CUDA_SUCCESS;
}

/* Replaces what is on top; NULL removes it. */
EXPORT_DRIVER(cuCtxSetCurrent)
CUresult cuCtxSetCurrent(CUcontext context)
{
    LOCKED;
    struct cuda_device *device;
    if (!driver.started)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (context && !is_context(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (depth)
        depth--;
    if (!context)
        return CUDA_SUCCESS;
    if (device_find(&device, context->device) == cudaSuccess && !device_open(device))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return push(context);
}

EXPORT_DRIVER(cuCtxGetCurrent)
CUresult cuCtxGetCurrent(CUcontext *context)
{
    LOCKED;
    const CUresult status = started(context);
    if (status == CUDA_SUCCESS)
        *context = current() ? current() : device_current() ? primary(*thread_device()) : NULL;
    return status;
}

EXPORT_DRIVER(cuCtxGetDevice)
CUresult cuCtxGetDevice(CUdevice *device)
{
    LOCKED;
    const CUresult status = device ? driver_ready() : CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS)
        *device = *thread_device();
    return status;
}

EXPORT_DRIVER(cuCtxGetFlags)
CUresult cuCtxGetFlags(unsigned *flags)
{
    LOCKED;
    const CUresult status = flags ? driver_ready() : CUDA_ERROR_INVALID_VALUE;
    if (status == CUDA_SUCCESS)
        *flags = current() ? current()->flags : 0;
    return status;
}

EXPORT_DRIVER(cuCtxGetApiVersion)
CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    if (!version || (context && !is_context(context)))
        return version ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
    *version = 3020; /* of all contexts since CUDA 3.2 */
    return CUDA_SUCCESS;
}

EXPORT_DRIVER(cuCtxSynchronize)
CUresult cuCtxSynchronize(void)
{
    DRIVER(cudaDeviceSynchronize());
}

EXPORT_DRIVER(cuCtxGetLimit)
CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    DRIVER(cudaDeviceGetLimit(value, (enum cudaLimit)limit));
}

EXPORT_DRIVER(cuCtxSetLimit)
CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    DRIVER(cudaDeviceSetLimit((enum cudaLimit)limit, value));
}

EXPORT_DRIVER(cuCtxGetCacheConfig)
CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    DRIVER(cudaDeviceGetCacheConfig((enum cudaFuncCache *)config));
}

EXPORT_DRIVER(cuCtxSetCacheConfig)
CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    DRIVER(cudaDeviceSetCacheConfig((enum cudaFuncCache)config));
}

EXPORT_DRIVER(cuCtxSetSharedMemConfig)
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    DRIVER(cudaDeviceSetSharedMemConfig((enum cudaSharedMemConfig)config));
}

EXPORT_DRIVER(cuCtxGetStreamPriorityRange)
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    DRIVER(cudaDeviceGetStreamPriorityRange(least, greatest));
}

/* ---- addresses of functions, by their names without a version ---- */

static CUresult find_symbol(const char *name, void **function)
{
    static const char *const endings[] = {"_v3", "_v2", ""};
    Dl_info place;
    char full[128];
    *function = NULL;
    void *self =
        dladdr((void *)cuInit, &place) ? dlopen(place.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!strcmp(name, "cuCtxCreate")) /* its third version has other parameters */
        name = "cuCtxCreate_v2";
    for (u32 i = 0; self && !*function && i < ARRAY_LEN(endings); i++) {
        snprintf(full, sizeof full, "%s%s", name, endings[i]);
        *function = dlvsym(self, full, "libcuda.so.1");
    }
    if (self)
        dlclose(self);
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

EXPORT_DRIVER(cuGetProcAddress)
CUresult cuGetProcAddress(const char *name, void **function, int version, unsigned long long flags)
{
    (void)version, (void)flags;
    return name && function ? find_symbol(name, function) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
                             unsigned long long flags, int *status);
EXPORT_DRIVER(cuGetProcAddress_v2)
CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
                             unsigned long long flags, int *status)
{
    const CUresult result = cuGetProcAddress(name, function, version, flags);
    if (status)
        *status = result == CUDA_SUCCESS ? 0 : 1; /* found, or not found */
    return result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result;
}
