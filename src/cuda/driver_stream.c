/* The driver API: streams and events, which are the runtime's. */
#include "cuda/driver.h"

EXPORT_DRIVER(cuStreamCreate)
CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    DRIVER(cudaStreamCreateWithFlags(stream, flags));
}

EXPORT_DRIVER(cuStreamCreateWithPriority)
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    DRIVER(cudaStreamCreateWithPriority(stream, flags, priority));
}

EXPORT_DRIVER(cuStreamDestroy_v2)
CUresult cuStreamDestroy(CUstream stream)
{
    DRIVER(cudaStreamDestroy(stream));
}

EXPORT_DRIVER_STREAM(cuStreamSynchronize)
CUresult cuStreamSynchronize(CUstream stream)
{
    DRIVER(cudaStreamSynchronize(stream));
}

EXPORT_DRIVER_STREAM(cuStreamQuery)
CUresult cuStreamQuery(CUstream stream)
{
    DRIVER(cudaStreamQuery(stream));
}

EXPORT_DRIVER_STREAM(cuStreamWaitEvent)
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    DRIVER(cudaStreamWaitEvent(stream, event, flags));
}

EXPORT_DRIVER_STREAM(cuStreamGetFlags)
CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    DRIVER(cudaStreamGetFlags(stream, flags));
}

EXPORT_DRIVER_STREAM(cuStreamGetPriority)
CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    DRIVER(cudaStreamGetPriority(stream, priority));
}

EXPORT_DRIVER_STREAM(cuStreamAddCallback)
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback call, void *user, unsigned flags)
{
    DRIVER(cudaStreamAddCallback(stream, (cudaStreamCallback_t)call, user, flags));
}

EXPORT_DRIVER_STREAM(cuLaunchHostFunc)
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn call, void *user)
{
    DRIVER(cudaLaunchHostFunc(stream, call, user));
}

EXPORT_DRIVER(cuEventCreate)
CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    DRIVER(cudaEventCreateWithFlags(event, flags));
}

EXPORT_DRIVER(cuEventDestroy_v2)
CUresult cuEventDestroy(CUevent event)
{
    DRIVER(cudaEventDestroy(event));
}

EXPORT_DRIVER_STREAM(cuEventRecord)
CUresult cuEventRecord(CUevent event, CUstream stream)
{
    DRIVER(cudaEventRecord(event, stream));
}

EXPORT_DRIVER(cuEventSynchronize)
CUresult cuEventSynchronize(CUevent event)
{
    DRIVER(cudaEventSynchronize(event));
}

EXPORT_DRIVER(cuEventQuery)
CUresult cuEventQuery(CUevent event)
{
    DRIVER(cudaEventQuery(event));
}

EXPORT_DRIVER(cuEventElapsedTime)
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    DRIVER(cudaEventElapsedTime(milliseconds, start, end));
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end);
EXPORT_DRIVER(cuEventElapsedTime_v2)
CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    DRIVER(cudaEventElapsedTime(milliseconds, start, end));
}
