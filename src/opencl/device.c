/*
 * Devices: the available machines. Their properties are in deviceinfo.c.
 */
#include "opencl/opencl.h"

#include <stdio.h>

enum {
    FULL_LOCAL_BYTES = 32768, /* OpenCL 1.2, table 4.3: CL_DEVICE_LOCAL_MEM_SIZE */
    /* device memory reserved for the driver: 1/KEPT_PART, at most KEPT_BYTES. Assumed: room for
     * code and many times PRINT_BYTES, and for the private memory of some ten thousand
     * work-items. */
    KEPT_PART = 16,
    KEPT_BYTES = 64 << 20,
    /* OpenCL 1.2, table 4.3: at least a quarter of the memory, and 128 MB. NVIDIA's drivers report
     * exactly that. */
    BUFFER_PART = 4,
    BUFFER_BYTES = 128 << 20,
};

static bool complain(const char *what, const struct hd_error *error)
{
    fprintf(stderr, "heddle: %s: %s%s%s\n", what, error->place, error->place[0] ? ": " : "",
            error->message);
    return false;
}

cl_device_id device_create(struct hd_config *config)
{
    struct hd_error error = {0};
    struct hd_machine_info info;
    if (!hd_config_info(config, &info, &error)) {
        complain("machine", &error);
        hd_config_destroy(config);
        return NULL;
    }
    cl_device_id device = object_create(KIND_DEVICE, sizeof *device);
    device->config = config;
    device->info = info;
    device->target = code_target_of(info.lanes, info.address_bits);
    return device;
}

static void write_output(void *user, const char *text, size_t length)
{
    (void)user;
    fwrite(text, 1, length, stdout);
}

bool device_open(cl_device_id device)
{
    if (device->device)
        return true;
    struct hd_error error = {0};
    device->device = hd_device_open(device->config, &error);
    if (!device->device)
        return complain(device->info.name, &error);
    hd_set_output(device->device, write_output, NULL);
    device->records.device = device->device;
    device->records.machine = device->info.name;
    device->records.busy = &device->busy;
    session_device(platform_get()->session, &device->records);
    return true;
}

/* Limited so that the largest buffer is at least 1/BUFFER_PART of it. */
u64 device_memory(const struct _cl_device_id *device)
{
    u64 all = device->info.memory_bytes;
    return MIN(all - MIN(all / KEPT_PART, (u64)KEPT_BYTES),
               BUFFER_PART * device->info.allocation_bytes);
}

u64 device_allocation(const struct _cl_device_id *device)
{
    u64 all = device_memory(device), most = MIN(all, device->info.allocation_bytes);
    return MIN(most, MAX(all / BUFFER_PART, (u64)BUFFER_BYTES));
}

bool device_is_embedded(const struct _cl_device_id *device)
{
    return device->info.block_shared_bytes < FULL_LOCAL_BYTES;
}

cl_int device_match(cl_device_type type, u32 *count)
{
    const cl_device_type kinds = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                 CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM |
                                 CL_DEVICE_TYPE_DEFAULT;
    *count = 0;
    if (type != CL_DEVICE_TYPE_ALL && (!type || type & ~kinds))
        return CL_INVALID_DEVICE_TYPE;
    if (type & CL_DEVICE_TYPE_GPU) /* CL_DEVICE_TYPE_ALL includes it */
        *count = platform_get()->device_count;
    else if (type & CL_DEVICE_TYPE_DEFAULT)
        *count = MIN(platform_get()->device_count, 1U);
    return *count ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type,
                                               cl_uint num_entries, cl_device_id *devices,
                                               cl_uint *num_devices)
{
    if (!object_is(platform, KIND_PLATFORM))
        return CL_INVALID_PLATFORM;
    u32 count;
    cl_int status = device_match(device_type, &count);
    if (status == CL_INVALID_DEVICE_TYPE)
        return status;
    if ((devices && !num_entries) || (!devices && !num_devices))
        return CL_INVALID_VALUE;
    if (num_devices)
        *num_devices = count;
    for (u32 i = 0; devices && i < MIN(count, num_entries); i++)
        devices[i] = platform_get()->devices[i];
    return status;
}

/* ---- sub-devices: there are none ---- */

static cl_int create_parts(cl_device_id device)
{
    return object_is(device, KIND_DEVICE) ? CL_INVALID_VALUE : CL_INVALID_DEVICE;
}

/* A root device lives as long as the process, and its reference count stays 1. */
static cl_int retain(cl_device_id device)
{
    return object_is(device, KIND_DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

CL_API_ENTRY cl_int CL_API_CALL clCreateSubDevices(cl_device_id in_device,
                                                   const cl_device_partition_property *properties,
                                                   cl_uint num_devices, cl_device_id *out_devices,
                                                   cl_uint *num_devices_ret)
{
    return create_parts(in_device);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainDevice(cl_device_id device)
{
    return retain(device);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseDevice(cl_device_id device)
{
    return retain(device);
}

CL_API_ENTRY cl_int CL_API_CALL
clCreateSubDevicesEXT(cl_device_id in_device, const cl_device_partition_property_ext *properties,
                      cl_uint num_entries, cl_device_id *out_devices, cl_uint *num_devices)
{
    return create_parts(in_device);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainDeviceEXT(cl_device_id device)
{
    return retain(device);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseDeviceEXT(cl_device_id device)
{
    return retain(device);
}
