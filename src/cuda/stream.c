/*
 * Streams, events and callbacks.
 *
 * Simulated time
 *  T1  A stream's work follows its earlier work. The null stream's work also follows that of all
 *      blocking streams, and theirs follows the null stream's.
 *  T2  Kernels run one after the other, and so do copies to the device, and copies from it; each of
 *      the three overlaps with the others. (Hardware may run small kernels of different streams at
 *      the same time; the model runs one launch at a time.)
 *  T3  Work starts no earlier than the end of what the host has waited for. What the host itself does
 *      takes no time.
 */
#include "cuda/runtime.h"

#include <stdlib.h>

struct CUstream_st *stream_of(struct cuda_device *device, cudaStream_t handle)
{
    if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
        return &device->legacy;
    return handle->kind == KIND_STREAM ? handle : NULL;
}

static bool blocks(const struct CUstream_st *stream)
{
    return !(stream->flags & cudaStreamNonBlocking);
}

static u64 earliest(const struct CUstream_st *stream)
{
    const struct cuda_device *device = stream->device;
    u64 start = MAX(stream->ready_ps, device->host_ps);
    if (stream != &device->legacy)
        return blocks(stream) ? MAX(start, device->legacy.ready_ps) : start;
    for (const struct CUstream_st *at = device->streams; at; at = at->next)
        if (blocks(at))
            start = MAX(start, at->ready_ps);
    return start;
}

u64 stream_work(struct CUstream_st *stream, enum engine engine, u64 picoseconds)
{
    struct cuda_device *device = stream->device;
    u64 *engines[] = {&device->kernels_ps, &device->copies_ps[0], &device->copies_ps[1], NULL};
    u64 *free_from = engines[engine];
    u64 start = earliest(stream);
    if (free_from)
        start = MAX(start, *free_from);
    stream->ready_ps = start + picoseconds;
    if (free_from)
        *free_from = stream->ready_ps;
    return stream->ready_ps;
}

void stream_wait(struct CUstream_st *stream)
{
    struct cuda_device *device = stream->device;
    device->host_ps = MAX(device->host_ps, earliest(stream));
}

void device_wait(struct cuda_device *device)
{
    stream_wait(&device->legacy);
    for (struct CUstream_st *at = device->streams; at; at = at->next)
        stream_wait(at);
}

static void stream_free(struct CUstream_st *stream)
{
    stream->kind = 0;
    free(stream);
}

void streams_free(struct cuda_device *device)
{
    for (struct CUstream_st *at = device->streams, *next; at; at = next) {
        next = at->next;
        stream_free(at);
    }
    device->streams = NULL;
    device->legacy.ready_ps = 0;
    device->host_ps = device->kernels_ps = device->copies_ps[0] = device->copies_ps[1] = 0;
}

/* ---- streams ---- */

enum {
    PRIORITY_GREATEST = -5 /* as on hardware: 0 to -5; priorities have no effect */
};

EXPORT(cudaStreamCreateWithPriority)
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    ENTER(device);
    if (!stream || flags > cudaStreamNonBlocking)
        return ended(cudaErrorInvalidValue);
    struct CUstream_st *made = checked(calloc(1, sizeof *made));
    *made = (struct CUstream_st){.kind = KIND_STREAM,
                                 .next = device->streams,
                                 .device = device,
                                 .flags = flags,
                                 .priority = MAX(PRIORITY_GREATEST, MIN(priority, 0))};
    device->streams = *stream = made;
    return ended(cudaSuccess);
}

EXPORT(cudaStreamCreateWithFlags)
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

EXPORT(cudaStreamCreate)
cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

EXPORT(cudaDeviceGetStreamPriorityRange)
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    ENTER(device);
    if (least)
        *least = 0;
    if (greatest)
        *greatest = PRIORITY_GREATEST;
    return ended(cudaSuccess);
}

EXPORT(cudaStreamDestroy)
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    ENTER(device);
    if (!stream || stream_of(device, stream) == &device->legacy || stream->kind != KIND_STREAM)
        return ended(cudaErrorInvalidResourceHandle);
    if (stream->capture)
        return ended(cudaErrorStreamCaptureUnsupported);
    struct CUstream_st **at = &stream->device->streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    stream_free(stream);
    return ended(cudaSuccess);
}

EXPORT_STREAM(cudaStreamSynchronize)
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    ENTER(device);
    struct CUstream_st *found = stream_of(device, stream);
    if (!found)
        return ended(cudaErrorInvalidResourceHandle);
    if (found->capture)
        return ended(cudaErrorStreamCaptureUnsupported);
    stream_wait(found);
    return ended(cudaSuccess);
}

/* All work has run when its call returns. */
EXPORT_STREAM(cudaStreamQuery)
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}

EXPORT_STREAM(cudaStreamGetFlags)
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    ENTER(device);
    const struct CUstream_st *found = stream_of(device, stream);
    if (!found || !flags)
        return ended(found ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    *flags = found->flags;
    return ended(cudaSuccess);
}

EXPORT_STREAM(cudaStreamGetPriority)
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    ENTER(device);
    const struct CUstream_st *found = stream_of(device, stream);
    if (!found || !priority)
        return ended(found ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    *priority = found->priority;
    return ended(cudaSuccess);
}

/* ---- callbacks ---- */

EXPORT_STREAM(cudaStreamAddCallback)
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call, void *user,
                                  unsigned flags)
{
    {
        ENTER(device);
        struct CUstream_st *found = stream_of(device, stream);
        if (!found || !call || flags)
            return ended(found ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
        if (found->capture)
            return ended(cudaErrorStreamCaptureUnsupported);
    }
    call(stream, cudaSuccess, user); /* R1 */
    return ended(cudaSuccess);
}

EXPORT_STREAM(cudaLaunchHostFunc)
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void *user)
{
    {
        ENTER(device);
        struct CUstream_st *found = stream_of(device, stream);
        if (!found || !call)
            return ended(call ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
        if (found->capture)
            return ended(capture_host(found, call, user));
    }
    call(user); /* R1 */
    return ended(cudaSuccess);
}

/* ---- events ---- */

static bool is_event(const struct CUevent_st *event)
{
    return event && event->kind == KIND_EVENT;
}

EXPORT(cudaEventCreateWithFlags)
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    ENTER(device);
    if (!event)
        return ended(cudaErrorInvalidValue);
    *event = checked(calloc(1, sizeof **event));
    **event = (struct CUevent_st){.kind = KIND_EVENT, .flags = flags, .device = device};
    return ended(cudaSuccess);
}

EXPORT(cudaEventCreate)
cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

EXPORT(cudaEventDestroy)
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    LOCKED;
    if (!is_event(event))
        return ended(cudaErrorInvalidResourceHandle);
    event->kind = 0;
    free(event);
    return ended(cudaSuccess);
}

EXPORT_STREAM(cudaEventRecord)
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER(device);
    struct CUstream_st *found = stream_of(device, stream);
    if (!is_event(event) || !found)
        return ended(cudaErrorInvalidResourceHandle);
    event->capture = NULL;
    if (found->capture) {
        capture_record(found, event);
        return ended(cudaSuccess);
    }
    event->ps = stream_work(found, ENGINE_NONE, 0);
    event->recorded = true;
    return ended(cudaSuccess);
}

EXPORT_STREAM(cudaEventRecordWithFlags)
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}

EXPORT_STREAM(cudaStreamWaitEvent)
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    ENTER(device);
    struct CUstream_st *found = stream_of(device, stream);
    if (!is_event(event) || !found)
        return ended(cudaErrorInvalidResourceHandle);
    if (event->capture)
        capture_wait(found, event);
    else
        found->ready_ps = MAX(found->ready_ps, event->ps);
    return ended(cudaSuccess);
}

EXPORT(cudaEventSynchronize)
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER(device);
    if (!is_event(event))
        return ended(cudaErrorInvalidResourceHandle);
    event->device->host_ps = MAX(event->device->host_ps, event->ps);
    return ended(cudaSuccess);
}

EXPORT(cudaEventQuery)
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return cudaEventSynchronize(event);
}

EXPORT(cudaEventElapsedTime)
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    ENTER(device);
    if (!is_event(start) || !is_event(end) || !start->recorded || !end->recorded ||
        ((start->flags | end->flags) & cudaEventDisableTiming))
        return ended(cudaErrorInvalidResourceHandle);
    if (!milliseconds)
        return ended(cudaErrorInvalidValue);
    *milliseconds = (float)(((f64)end->ps - (f64)start->ps) * 1e-9);
    return ended(cudaSuccess);
}
