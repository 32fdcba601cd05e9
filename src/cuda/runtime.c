/*
 * The process's state: the lock, the devices, the session.
 *
 * Loading the library costs nothing: the session opens with the first registration or call, and
 * devices open with the first call that needs one.
 */
#include "cuda/runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock;
    bool opened, wrong; /* the environment is wrong: there are no devices */
    struct cuda_runtime runtime;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* R4 */

void runtime_lock(void)
{
    pthread_mutex_lock(&process.lock);
}

void runtime_unlock(void)
{
    pthread_mutex_unlock(&process.lock);
}

void explain(const char *place, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "heddle: %s%s", place, *place ? ": " : "");
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

/* A device for a configuration, if CUDA programs can use the machine. */
static bool device_create(struct cuda_device *device, struct hd_config *config)
{
    struct hd_error error = {0};
    if (!hd_config_info(config, &device->info, &error)) {
        explain("machine", "%s", error.message);
        return false;
    }
    const struct hd_machine_info *info = &device->info;
    if (info->lanes != 32 || info->address_bits != 64) {
        explain(info->name,
                "CUDA programs need warps of 32 threads and 64-bit addresses, but this "
                "machine has warps of %u and %u-bit addresses%s",
                info->lanes, info->address_bits,
                info->lanes == 32 ? " (--set gpu.address_bits=64 changes them)" : "");
        return false;
    }
    device->config = config;
    device->legacy = (struct CUstream_st){.kind = KIND_STREAM, .device = device};
    return true;
}

static void make_devices(struct cuda_runtime *runtime)
{
    struct hd_config **configs = NULL;
    u32 count = 0;
    if (!session_configs(runtime->session, &configs, &count))
        return;
    runtime->devices = checked(calloc(count, sizeof *runtime->devices));
    for (u32 i = 0; i < count; i++) {
        struct cuda_device *device = &runtime->devices[runtime->device_count];
        device->number = device->records.index = runtime->device_count;
        if (device_create(device, configs[i]))
            runtime->device_count++;
        else
            hd_config_destroy(configs[i]);
    }
    free(configs);
}

struct cuda_runtime *runtime_get(void)
{
    if (!process.opened) {
        process.opened = true;
        process.runtime.session = session_open("cuda-");
        make_devices(&process.runtime);
        if (!process.runtime.device_count)
            session_unusable(process.runtime.session);
    }
    return &process.runtime;
}

static void write_output(void *user, const char *text, size_t length)
{
    (void)user;
    fwrite(text, 1, length, stdout);
}

bool device_open(struct cuda_device *device)
{
    struct hd_error error = {0};
    if (device->device)
        return true;
    device->device = hd_device_open(device->config, &error);
    if (!device->device) {
        explain(device->info.name, "%s", error.message);
        return false;
    }
    hd_set_output(device->device, write_output, NULL);
    device->records.device = device->device;
    device->records.machine = device->info.name;
    session_device(runtime_get()->session, &device->records);
    return true;
}

cudaError_t device_find(struct cuda_device **device, int number)
{
    struct cuda_runtime *runtime = runtime_get();
    if (!runtime->device_count)
        return cudaErrorNoDevice;
    if (number < 0 || (u32)number >= runtime->device_count)
        return cudaErrorInvalidDevice;
    *device = &runtime->devices[number];
    return cudaSuccess;
}

struct cuda_device *device_current(void)
{
    struct cuda_device *device = NULL;
    return device_find(&device, *thread_device()) == cudaSuccess && device->device ? device : NULL;
}

cudaError_t device_enter(struct cuda_device **device)
{
    cudaError_t status = device_find(device, *thread_device());
    if (status != cudaSuccess)
        return status;
    if (!device_open(*device))
        return cudaErrorInitializationError;
    return (*device)->sticky;
}

/* If another thread is still in a call, the final records are not written. */
static __attribute__((destructor)) void process_ends(void)
{
    if (!process.opened || pthread_mutex_trylock(&process.lock) != 0)
        return;
    session_close(process.runtime.session);
    runtime_unlock();
}
