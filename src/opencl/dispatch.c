/*
 * The dispatch table, and the functions by which the loader finds it.
 *
 * Every slot is filled. Those of Direct3D, of which no program can have objects here, point to one
 * function that returns CL_INVALID_OPERATION for any arguments.
 */
#include "opencl/opencl.h"

#include <string.h>

static cl_int absent(void)
{
    return CL_INVALID_OPERATION;
}

#define ENTRY(name) .name = name,
#define ABSENT(name) .name = (void *)absent,

// clang-format off
const cl_icd_dispatch driver_dispatch = {
    ENTRY(clGetPlatformIDs)
    ENTRY(clGetPlatformInfo)
    ENTRY(clGetDeviceIDs)
    ENTRY(clGetDeviceInfo)
    ENTRY(clCreateContext)
    ENTRY(clCreateContextFromType)
    ENTRY(clRetainContext)
    ENTRY(clReleaseContext)
    ENTRY(clGetContextInfo)
    ENTRY(clCreateCommandQueue)
    ENTRY(clRetainCommandQueue)
    ENTRY(clReleaseCommandQueue)
    ENTRY(clGetCommandQueueInfo)
    ENTRY(clSetCommandQueueProperty)
    ENTRY(clCreateBuffer)
    ENTRY(clCreateImage2D)
    ENTRY(clCreateImage3D)
    ENTRY(clRetainMemObject)
    ENTRY(clReleaseMemObject)
    ENTRY(clGetSupportedImageFormats)
    ENTRY(clGetMemObjectInfo)
    ENTRY(clGetImageInfo)
    ENTRY(clCreateSampler)
    ENTRY(clRetainSampler)
    ENTRY(clReleaseSampler)
    ENTRY(clGetSamplerInfo)
    ENTRY(clCreateProgramWithSource)
    ENTRY(clCreateProgramWithBinary)
    ENTRY(clRetainProgram)
    ENTRY(clReleaseProgram)
    ENTRY(clBuildProgram)
    ENTRY(clUnloadCompiler)
    ENTRY(clGetProgramInfo)
    ENTRY(clGetProgramBuildInfo)
    ENTRY(clCreateKernel)
    ENTRY(clCreateKernelsInProgram)
    ENTRY(clRetainKernel)
    ENTRY(clReleaseKernel)
    ENTRY(clSetKernelArg)
    ENTRY(clGetKernelInfo)
    ENTRY(clGetKernelWorkGroupInfo)
    ENTRY(clWaitForEvents)
    ENTRY(clGetEventInfo)
    ENTRY(clRetainEvent)
    ENTRY(clReleaseEvent)
    ENTRY(clGetEventProfilingInfo)
    ENTRY(clFlush)
    ENTRY(clFinish)
    ENTRY(clEnqueueReadBuffer)
    ENTRY(clEnqueueWriteBuffer)
    ENTRY(clEnqueueCopyBuffer)
    ENTRY(clEnqueueReadImage)
    ENTRY(clEnqueueWriteImage)
    ENTRY(clEnqueueCopyImage)
    ENTRY(clEnqueueCopyImageToBuffer)
    ENTRY(clEnqueueCopyBufferToImage)
    ENTRY(clEnqueueMapBuffer)
    ENTRY(clEnqueueMapImage)
    ENTRY(clEnqueueUnmapMemObject)
    ENTRY(clEnqueueNDRangeKernel)
    ENTRY(clEnqueueTask)
    ENTRY(clEnqueueNativeKernel)
    ENTRY(clEnqueueMarker)
    ENTRY(clEnqueueWaitForEvents)
    ENTRY(clEnqueueBarrier)
    ENTRY(clGetExtensionFunctionAddress)
    ENTRY(clCreateFromGLBuffer)
    ENTRY(clCreateFromGLTexture2D)
    ENTRY(clCreateFromGLTexture3D)
    ENTRY(clCreateFromGLRenderbuffer)
    ENTRY(clGetGLObjectInfo)
    ENTRY(clGetGLTextureInfo)
    ENTRY(clEnqueueAcquireGLObjects)
    ENTRY(clEnqueueReleaseGLObjects)
    ENTRY(clGetGLContextInfoKHR)
    ABSENT(clGetDeviceIDsFromD3D10KHR)
    ABSENT(clCreateFromD3D10BufferKHR)
    ABSENT(clCreateFromD3D10Texture2DKHR)
    ABSENT(clCreateFromD3D10Texture3DKHR)
    ABSENT(clEnqueueAcquireD3D10ObjectsKHR)
    ABSENT(clEnqueueReleaseD3D10ObjectsKHR)
    ENTRY(clSetEventCallback)
    ENTRY(clCreateSubBuffer)
    ENTRY(clSetMemObjectDestructorCallback)
    ENTRY(clCreateUserEvent)
    ENTRY(clSetUserEventStatus)
    ENTRY(clEnqueueReadBufferRect)
    ENTRY(clEnqueueWriteBufferRect)
    ENTRY(clEnqueueCopyBufferRect)
    ENTRY(clCreateSubDevicesEXT)
    ENTRY(clRetainDeviceEXT)
    ENTRY(clReleaseDeviceEXT)
    ENTRY(clCreateEventFromGLsyncKHR)
    ENTRY(clCreateSubDevices)
    ENTRY(clRetainDevice)
    ENTRY(clReleaseDevice)
    ENTRY(clCreateImage)
    ENTRY(clCreateProgramWithBuiltInKernels)
    ENTRY(clCompileProgram)
    ENTRY(clLinkProgram)
    ENTRY(clUnloadPlatformCompiler)
    ENTRY(clGetKernelArgInfo)
    ENTRY(clEnqueueFillBuffer)
    ENTRY(clEnqueueFillImage)
    ENTRY(clEnqueueMigrateMemObjects)
    ENTRY(clEnqueueMarkerWithWaitList)
    ENTRY(clEnqueueBarrierWithWaitList)
    ENTRY(clGetExtensionFunctionAddressForPlatform)
    ENTRY(clCreateFromGLTexture)
    ABSENT(clGetDeviceIDsFromD3D11KHR)
    ABSENT(clCreateFromD3D11BufferKHR)
    ABSENT(clCreateFromD3D11Texture2DKHR)
    ABSENT(clCreateFromD3D11Texture3DKHR)
    ABSENT(clCreateFromDX9MediaSurfaceKHR)
    ABSENT(clEnqueueAcquireD3D11ObjectsKHR)
    ABSENT(clEnqueueReleaseD3D11ObjectsKHR)
    ABSENT(clGetDeviceIDsFromDX9MediaAdapterKHR)
    ABSENT(clEnqueueAcquireDX9MediaSurfacesKHR)
    ABSENT(clEnqueueReleaseDX9MediaSurfacesKHR)
    ENTRY(clCreateFromEGLImageKHR)
    ENTRY(clEnqueueAcquireEGLObjectsKHR)
    ENTRY(clEnqueueReleaseEGLObjectsKHR)
    ENTRY(clCreateEventFromEGLSyncKHR)
    ENTRY(clCreateCommandQueueWithProperties)
    ENTRY(clCreatePipe)
    ENTRY(clGetPipeInfo)
    ENTRY(clSVMAlloc)
    ENTRY(clSVMFree)
    ENTRY(clEnqueueSVMFree)
    ENTRY(clEnqueueSVMMemcpy)
    ENTRY(clEnqueueSVMMemFill)
    ENTRY(clEnqueueSVMMap)
    ENTRY(clEnqueueSVMUnmap)
    ENTRY(clCreateSamplerWithProperties)
    ENTRY(clSetKernelArgSVMPointer)
    ENTRY(clSetKernelExecInfo)
    ENTRY(clGetKernelSubGroupInfoKHR)
    ENTRY(clCloneKernel)
    ENTRY(clCreateProgramWithIL)
    ENTRY(clEnqueueSVMMigrateMem)
    ENTRY(clGetDeviceAndHostTimer)
    ENTRY(clGetHostTimer)
    ENTRY(clGetKernelSubGroupInfo)
    ENTRY(clSetDefaultDeviceCommandQueue)
    ENTRY(clSetProgramReleaseCallback)
    ENTRY(clSetProgramSpecializationConstant)
    ENTRY(clCreateBufferWithProperties)
    ENTRY(clCreateImageWithProperties)
    ENTRY(clSetContextDestructorCallback)
};
// clang-format on

static const struct {
    const char *name;
    void *function;
} functions[] = {
    {"clIcdGetPlatformIDsKHR", (void *)clIcdGetPlatformIDsKHR},
    {"clGetExtensionFunctionAddress", (void *)clGetExtensionFunctionAddress},
    {"clGetPlatformInfo", (void *)clGetPlatformInfo},
};

/* The only extension with functions is cl_khr_icd. A loader also asks for core functions that it
 * must call before it has an object. */
EXPORTED CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *func_name)
{
    for (size_t i = 0; func_name && i < ARRAY_LEN(functions); i++)
        if (!strcmp(func_name, functions[i].name))
            return functions[i].function;
    return NULL;
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                                        const char *func_name)
{
    return object_is(platform, KIND_PLATFORM) ? clGetExtensionFunctionAddress(func_name) : NULL;
}

EXPORTED CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries,
                                                                cl_platform_id *platforms,
                                                                cl_uint *num_platforms)
{
    return clGetPlatformIDs(num_entries, platforms, num_platforms);
}
