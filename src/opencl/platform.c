/* To be written. */
#include "opencl/opencl.h"

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms,
                                                 cl_uint *num_platforms)
{
    return CL_INVALID_OPERATION;
}

EXPORTED CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                           cl_platform_info param_name,
                                                           size_t param_value_size,
                                                           void *param_value,
                                                           size_t *param_value_size_ret)
{
    return CL_INVALID_OPERATION;
}

cl_platform_id platform_get(void)
{
    return NULL;
}

void driver_lock(void)
{
}

void driver_unlock(void)
{
}

void driver_wait(void)
{
}

void driver_changed(void)
{
}
