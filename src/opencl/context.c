/*
 * Contexts. The first context on a device opens it: before that a machine costs nothing.
 */
#include "opencl/opencl.h"

#include <string.h>

bool context_has_device(cl_context context, cl_device_id device)
{
    for (u32 i = 0; i < context->device_count; i++)
        if (context->devices[i] == device)
            return true;
    return false;
}

void context_notify(cl_context context, const char *text)
{
    if (context->notify)
        context->notify(text, NULL, 0, context->user);
}

void destroy_context(void *object)
{
    cl_context context = object;
    free(context->devices);
    free(context->properties);
}

/* Checks the property list and counts its entries, including the final 0. */
static cl_int check_properties(const cl_context_properties *properties, u32 *count)
{
    bool platform_seen = false, sync_seen = false;
    *count = 0;
    if (!properties)
        return CL_SUCCESS;
    for (; properties[*count]; *count += 2) {
        cl_context_properties value = properties[*count + 1];
        switch (properties[*count]) {
        case CL_CONTEXT_PLATFORM:
            if (!object_is((void *)value, KIND_PLATFORM))
                return CL_INVALID_PLATFORM;
            if (platform_seen)
                return CL_INVALID_PROPERTY;
            platform_seen = true;
            break;
        case CL_CONTEXT_INTEROP_USER_SYNC:
            if (sync_seen || (value != CL_TRUE && value != CL_FALSE))
                return CL_INVALID_PROPERTY;
            sync_seen = true;
            break;
        default:
            return CL_INVALID_PROPERTY;
        }
    }
    *count += 1;
    return CL_SUCCESS;
}

static cl_context create(const cl_context_properties *properties, u32 property_count,
                         const cl_device_id *devices, u32 count, cl_int *status)
{
    assert(count);
    for (u32 i = 0; i < count; i++)
        if (!device_open(devices[i]))
            return failed(status, CL_DEVICE_NOT_AVAILABLE);
    cl_context context = object_create(KIND_CONTEXT, sizeof *context);
    context->devices = checked(calloc(count, sizeof *context->devices));
    for (u32 i = 0; i < count; i++)
        if (!context_has_device(context, devices[i]))
            context->devices[context->device_count++] = devices[i];
    if (property_count) {
        context->properties = checked(calloc(property_count, sizeof *properties));
        memcpy(context->properties, properties, property_count * sizeof *properties);
        context->property_count = property_count;
    }
    return made(status, context);
}

typedef void(CL_CALLBACK notify_fn)(const char *errinfo, const void *private_info, size_t cb,
                                    void *user_data);

CL_API_ENTRY cl_context CL_API_CALL clCreateContext(const cl_context_properties *properties,
                                                    cl_uint num_devices,
                                                    const cl_device_id *devices,
                                                    notify_fn *pfn_notify, void *user_data,
                                                    cl_int *errcode_ret)
{
    LOCKED;
    u32 property_count;
    cl_int status = check_properties(properties, &property_count);
    if (status != CL_SUCCESS)
        return failed(errcode_ret, status);
    if (!devices || !num_devices || (!pfn_notify && user_data))
        return failed(errcode_ret, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < num_devices; i++)
        if (!object_is(devices[i], KIND_DEVICE))
            return failed(errcode_ret, CL_INVALID_DEVICE);
    cl_context context = create(properties, property_count, devices, num_devices, errcode_ret);
    if (context) {
        context->notify = pfn_notify;
        context->user = user_data;
    }
    return context;
}

CL_API_ENTRY cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties *properties,
                                                            cl_device_type device_type,
                                                            notify_fn *pfn_notify, void *user_data,
                                                            cl_int *errcode_ret)
{
    LOCKED;
    u32 property_count, count;
    cl_int status = check_properties(properties, &property_count);
    if (status != CL_SUCCESS)
        return failed(errcode_ret, status);
    if (!pfn_notify && user_data)
        return failed(errcode_ret, CL_INVALID_VALUE);
    status = device_match(device_type, &count);
    if (status != CL_SUCCESS)
        return failed(errcode_ret, status);
    cl_context context =
        create(properties, property_count, platform_get()->devices, count, errcode_ret);
    if (context) {
        context->notify = pfn_notify;
        context->user = user_data;
    }
    return context;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainContext(cl_context context)
{
    LOCKED;
    if (!object_is(context, KIND_CONTEXT))
        return CL_INVALID_CONTEXT;
    object_retain(context);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseContext(cl_context context)
{
    LOCKED;
    if (!object_is(context, KIND_CONTEXT))
        return CL_INVALID_CONTEXT;
    object_release(context);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret)
{
    LOCKED;
    if (!object_is(context, KIND_CONTEXT))
        return CL_INVALID_CONTEXT;
    struct query query = {param_value_size, param_value, param_value_size_ret};
    switch (param_name) {
    case CL_CONTEXT_REFERENCE_COUNT:
        return QUERY_VALUE(&query, cl_uint, context->object.references);
    case CL_CONTEXT_NUM_DEVICES:
        return QUERY_VALUE(&query, cl_uint, context->device_count);
    case CL_CONTEXT_DEVICES:
        return query_bytes(&query, context->devices,
                           context->device_count * sizeof *context->devices);
    case CL_CONTEXT_PROPERTIES:
        return query_bytes(&query, context->properties,
                           context->property_count * sizeof *context->properties);
    default:
        return CL_INVALID_VALUE;
    }
}
