/*
 * The only platform, and the driver's lock.
 *
 * A loader asks every driver for its platform, even if the program uses another one. So the
 * platform itself costs nothing, and devices are created from the environment when they are first
 * requested.
 *
 * Invariants
 *  P1  This file has the driver's only mutable file-scope state: the interface has calls without an
 *      object to start from.
 */
#include "opencl/opencl.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_once_t session_once, devices_once;
    struct _cl_platform_id platform;
} driver = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .session_once = PTHREAD_ONCE_INIT,
    .devices_once = PTHREAD_ONCE_INIT,
    .platform.object = {.dispatch = &driver_dispatch, .kind = KIND_PLATFORM, .references = 1},
};

void driver_lock(void)
{
    pthread_mutex_lock(&driver.lock);
}

void driver_unlock(void)
{
    pthread_mutex_unlock(&driver.lock);
}

void driver_wait(void)
{
    pthread_cond_wait(&driver.changed, &driver.lock);
}

bool driver_wait_until(const struct timespec *time)
{
    return pthread_cond_timedwait(&driver.changed, &driver.lock, time) == 0;
}

void driver_changed(void)
{
    pthread_cond_broadcast(&driver.changed);
}

static void make_session(void)
{
    driver.platform.session = session_open("");
}

static void make_devices(void)
{
    struct _cl_platform_id *platform = &driver.platform;
    pthread_once(&driver.session_once, make_session);
    struct hd_config **configs = NULL;
    u32 count = 0;
    if (!session_configs(platform->session, &configs, &count))
        return;
    platform->devices = checked(calloc(count, sizeof *platform->devices));
    for (u32 i = 0; i < count; i++) {
        cl_device_id device = device_create(configs[i]);
        if (!device)
            continue;
        device->records.index = platform->device_count;
        platform->devices[platform->device_count++] = device;
    }
    free(configs);
}

cl_platform_id platform_get(void)
{
    pthread_once(&driver.devices_once, make_devices);
    return &driver.platform;
}

/* If another thread is still in the driver, the final records are not written. */
static __attribute__((destructor)) void process_ends(void)
{
    if (!driver.platform.device_count || pthread_mutex_trylock(&driver.lock) != 0)
        return;
    session_close(driver.platform.session);
    driver_unlock();
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms,
                                                 cl_uint *num_platforms)
{
    if ((platforms && !num_entries) || (!platforms && !num_platforms))
        return CL_INVALID_VALUE;
    pthread_once(&driver.session_once, make_session);
    if (platforms)
        platforms[0] = &driver.platform;
    if (num_platforms)
        *num_platforms = 1;
    return CL_SUCCESS;
}

/* The profile of the weakest device: a platform's full profile is promised for all devices. */
static const char *profile(void)
{
    cl_platform_id platform = platform_get();
    for (u32 i = 0; i < platform->device_count; i++)
        if (device_is_embedded(platform->devices[i]))
            return "EMBEDDED_PROFILE";
    return "FULL_PROFILE";
}

EXPORTED CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                           cl_platform_info param_name,
                                                           size_t param_value_size,
                                                           void *param_value,
                                                           size_t *param_value_size_ret)
{
    if (!object_is(platform, KIND_PLATFORM))
        return CL_INVALID_PLATFORM;
    struct query query = {param_value_size, param_value, param_value_size_ret};
    switch (param_name) {
    case CL_PLATFORM_PROFILE:
        return query_text(&query, profile());
    case CL_PLATFORM_VERSION:
        return query_text(&query, "OpenCL 1.2 Heddle " HEDDLE_VERSION);
    case CL_PLATFORM_NAME:
        return query_text(&query, "Heddle");
    case CL_PLATFORM_VENDOR:
        return query_text(&query, "Heddle");
    case CL_PLATFORM_EXTENSIONS:
        return query_text(&query, "cl_khr_icd");
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return query_text(&query, "HEDDLE");
    default:
        return CL_INVALID_VALUE;
    }
}
