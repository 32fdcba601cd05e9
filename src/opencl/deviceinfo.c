/*
 * Device properties: clGetDeviceInfo.
 *
 * Sizes and limits are the machine's. Every query of OpenCL 1.2 has an answer; queries of
 * later versions that a 1.2 device can answer truthfully have one, too: an empty one.
 */
#include "opencl/opencl.h"

#include <string.h>

enum {
    /* minima of OpenCL 1.2's full profile (table 4.3), used where the machine has no limit */
    PARAMETER_BYTES = 1024,
    CONSTANT_BYTES = 65536,
    CONSTANT_ARGS = 8,
    /* "HDL": not a PCI vendor ID, which are below 0x10000 */
    VENDOR = 0x48444c,
};

static const char extensions[] =
    "cl_khr_byte_addressable_store cl_khr_fp64 "
    "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
    "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics "
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics";
static const char embedded_extensions[] =
    "cl_khr_byte_addressable_store cl_khr_fp64 cles_khr_int64 "
    "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
    "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics "
    "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics";

/* clang flushes float subnormals on Southern Islands, since its fast instructions do. */
static cl_device_fp_config single_config(const struct _cl_device_id *device)
{
    return CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_FMA |
           (device->target == CODE_SI ? 0 : CL_FP_DENORM);
}

enum { /* everything that cl_khr_fp64 requires */
    DOUBLE_CONFIG = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO |
                    CL_FP_ROUND_TO_INF | CL_FP_FMA
};

/* ---- images ---- */

enum {
    IMAGE_ARGS = 128, /* what the full profile requires */
    SAMPLERS = 16
};

static cl_int tell_images(cl_device_info name, const struct query *query)
{
    switch (name) {
    case CL_DEVICE_IMAGE_SUPPORT:
        return QUERY_VALUE(query, cl_bool, CL_TRUE);
    case CL_DEVICE_MAX_READ_IMAGE_ARGS:
        return QUERY_VALUE(query, cl_uint, IMAGE_ARGS);
    case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
        return QUERY_VALUE(query, cl_uint, IMAGE_ARGS);
    case CL_DEVICE_MAX_SAMPLERS:
        return QUERY_VALUE(query, cl_uint, SAMPLERS);
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
        return QUERY_VALUE(query, size_t, IMAGE_SIDE);
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
        return QUERY_VALUE(query, size_t, IMAGE_SIDE_3D);
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
        return QUERY_VALUE(query, size_t, IMAGE_BUFFER);
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
        return QUERY_VALUE(query, size_t, IMAGE_LAYERS);
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- absent features: images of Southern Islands, pipes, sub-devices, shared virtual memory ---- */

static cl_int tell_nothing(cl_device_info name, const struct query *query)
{
    switch (name) {
    case CL_DEVICE_MAX_READ_IMAGE_ARGS:
    case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
    case CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS:
    case CL_DEVICE_MAX_SAMPLERS:
    case CL_DEVICE_IMAGE_PITCH_ALIGNMENT:
    case CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT:
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
    case CL_DEVICE_MAX_PIPE_ARGS:
    case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
    case CL_DEVICE_PIPE_MAX_PACKET_SIZE:
    case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
    case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
    case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
    case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
    case CL_DEVICE_MAX_NUM_SUB_GROUPS:
        return QUERY_VALUE(query, cl_uint, 0);
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
    case CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE:
    case CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE:
        return QUERY_VALUE(query, size_t, 0);
    case CL_DEVICE_IMAGE_SUPPORT:
    case CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
    case CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT:
    case CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT:
    case CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT:
    case CL_DEVICE_PIPE_SUPPORT:
        return QUERY_VALUE(query, cl_bool, CL_FALSE);
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
    case CL_DEVICE_SVM_CAPABILITIES:
    case CL_DEVICE_HALF_FP_CONFIG:
    case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
    case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES:
        return QUERY_VALUE(query, cl_bitfield, 0);
    case CL_DEVICE_PARTITION_PROPERTIES:
    case CL_DEVICE_PARTITION_TYPE:
        return QUERY_VALUE(query, cl_device_partition_property, 0);
    case CL_DEVICE_PARENT_DEVICE:
        return QUERY_VALUE(query, cl_device_id, NULL);
    case CL_DEVICE_BUILT_IN_KERNELS:
    case CL_DEVICE_IL_VERSION:
        return query_text(query, "");
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- strings and flags ---- */

static cl_int tell_kind(const struct _cl_device_id *device, cl_device_info name,
                        const struct query *query)
{
    bool embedded = device_is_embedded(device);
    switch (name) {
    case CL_DEVICE_TYPE:
        return QUERY_VALUE(query, cl_device_type, CL_DEVICE_TYPE_GPU);
    case CL_DEVICE_NAME:
        return query_text(query, device->info.name);
    case CL_DEVICE_VENDOR:
        return query_text(query, "Heddle");
    case CL_DRIVER_VERSION:
        return query_text(query, HEDDLE_VERSION);
    case CL_DEVICE_PROFILE:
        return query_text(query, embedded ? "EMBEDDED_PROFILE" : "FULL_PROFILE");
    case CL_DEVICE_VERSION:
        return query_text(query, "OpenCL 1.2 Heddle " HEDDLE_VERSION);
    case CL_DEVICE_OPENCL_C_VERSION:
        return query_text(query, "OpenCL C 1.2 Heddle");
    case CL_DEVICE_EXTENSIONS:
        return query_text(query, embedded ? embedded_extensions : extensions);
    case CL_DEVICE_PLATFORM:
        return QUERY_VALUE(query, cl_platform_id, platform_get());
    case CL_DEVICE_VENDOR_ID:
        return QUERY_VALUE(query, cl_uint, VENDOR);
    case CL_DEVICE_REFERENCE_COUNT:
        return QUERY_VALUE(query, cl_uint, device->object.references);
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return QUERY_VALUE(query, cl_device_fp_config, single_config(device));
    case CL_DEVICE_DOUBLE_FP_CONFIG:
        return QUERY_VALUE(query, cl_device_fp_config, DOUBLE_CONFIG);
    case CL_DEVICE_EXECUTION_CAPABILITIES:
        return QUERY_VALUE(query, cl_device_exec_capabilities, CL_EXEC_KERNEL);
    case CL_DEVICE_QUEUE_PROPERTIES:
        return QUERY_VALUE(query, cl_command_queue_properties,
                           CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
    case CL_DEVICE_ENDIAN_LITTLE:
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
    case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC:
        return QUERY_VALUE(query, cl_bool, CL_TRUE);
    case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return QUERY_VALUE(query, cl_bool, CL_FALSE);
    default:
        break;
    }
    const cl_int told = device_has_images(device) ? tell_images(name, query) : CL_INVALID_VALUE;
    return told != CL_INVALID_VALUE ? told : tell_nothing(name, query);
}

/* ---- sizes and limits of the machine ---- */

static cl_int tell_memory(const struct _cl_device_id *device, cl_device_info name,
                          const struct query *query)
{
    const struct hd_machine_info *info = &device->info;
    bool cached = info->l1_bytes || info->l2_bytes;
    u64 constant = MIN(device_allocation(device), (u64)CONSTANT_BYTES);
    switch (name) {
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return QUERY_VALUE(query, cl_ulong, device_memory(device));
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return QUERY_VALUE(query, cl_ulong, device_allocation(device));
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
        return QUERY_VALUE(query, cl_ulong, constant);
    case CL_DEVICE_MAX_CONSTANT_ARGS:
        return QUERY_VALUE(query, cl_uint, CONSTANT_ARGS);
    case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
        return QUERY_VALUE(query, cl_device_mem_cache_type, cached ? CL_READ_WRITE_CACHE : CL_NONE);
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
        return QUERY_VALUE(query, cl_uint, cached ? info->line_bytes : 0);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        return QUERY_VALUE(query, cl_ulong, info->l2_bytes ? info->l2_bytes : info->l1_bytes);
    case CL_DEVICE_LOCAL_MEM_TYPE:
        return QUERY_VALUE(query, cl_device_local_mem_type, CL_LOCAL);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return QUERY_VALUE(query, cl_ulong, info->block_shared_bytes);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        return QUERY_VALUE(query, cl_uint, MEM_ALIGN * 8);
    case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE:
        return QUERY_VALUE(query, cl_uint, MEM_ALIGN);
    case CL_DEVICE_ADDRESS_BITS:
        return QUERY_VALUE(query, cl_uint, info->address_bits);
    default:
        return tell_kind(device, name, query);
    }
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info param_name,
                                                size_t param_value_size, void *param_value,
                                                size_t *param_value_size_ret)
{
    if (!object_is(device, KIND_DEVICE))
        return CL_INVALID_DEVICE;
    struct query query = {param_value_size, param_value, param_value_size_ret};
    const struct hd_machine_info *info = &device->info;
    size_t block = device->info.kernel_threads;
    switch (param_name) {
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return QUERY_VALUE(&query, cl_uint, info->cores);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return QUERY_VALUE(&query, cl_uint, (cl_uint)(info->core_mhz + 0.5));
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        return QUERY_VALUE(&query, cl_uint, 3);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return query_bytes(&query, (size_t[]){block, block, block}, 3 * sizeof(size_t));
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return QUERY_VALUE(&query, size_t, block);
    case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return QUERY_VALUE(&query, size_t, info->lanes);
    case CL_DEVICE_MAX_PARAMETER_SIZE:
        return QUERY_VALUE(&query, size_t, PARAMETER_BYTES);
    case CL_DEVICE_PRINTF_BUFFER_SIZE:
        return QUERY_VALUE(&query, size_t, PRINT_BYTES);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
        return QUERY_VALUE(&query, size_t, 1);
    /* a lane processes one element of any type */
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
        return QUERY_VALUE(&query, cl_uint, 1);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
        return QUERY_VALUE(&query, cl_uint, 0);
    default:
        return tell_memory(device, param_name, &query);
    }
}
