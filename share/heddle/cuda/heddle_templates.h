/* The forms of the runtime's functions that take types, kernels and variables of C++. */
#ifndef HEDDLE_TEMPLATES_H
#define HEDDLE_TEMPLATES_H

template <typename T> static inline cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
    return ::cudaMalloc((void **)pointer, bytes);
}
template <typename T>
static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned flags = 0)
{
    return ::cudaHostAlloc((void **)pointer, bytes, flags);
}
template <typename T>
static inline cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned flags)
{
    return ::cudaHostAlloc((void **)pointer, bytes, flags);
}
template <typename T>
static inline cudaError_t cudaHostGetDevicePointer(T **pointer, void *host, unsigned flags)
{
    return ::cudaHostGetDevicePointer((void **)pointer, host, flags);
}
template <typename T>
static inline cudaError_t cudaMallocManaged(T **pointer, size_t bytes,
                                            unsigned flags = cudaMemAttachGlobal)
{
    return ::cudaMallocManaged((void **)pointer, bytes, flags);
}
template <typename T>
static inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height)
{
    return ::cudaMallocPitch((void **)pointer, pitch, width, height);
}
template <typename T>
static inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream)
{
    return ::cudaMallocAsync((void **)pointer, bytes, stream);
}

/* ---- variables ---- */

template <typename T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind);
}
template <typename T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes,
                                               size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return ::cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind);
}
template <typename T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes,
                                                  size_t offset = 0,
                                                  cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                  cudaStream_t stream = 0)
{
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, from, bytes, offset, kind, stream);
}
template <typename T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes,
                                                    size_t offset = 0,
                                                    cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                    cudaStream_t stream = 0)
{
    return ::cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, bytes, offset, kind, stream);
}
template <typename T>
static inline cudaError_t cudaGetSymbolAddress(void **address, const T &symbol)
{
    return ::cudaGetSymbolAddress(address, (const void *)&symbol);
}
template <typename T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol)
{
    return ::cudaGetSymbolSize(bytes, (const void *)&symbol);
}

/* ---- kernels ---- */

template <typename T>
static inline cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **args,
                                           size_t shared_bytes = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchKernel((const void *)kernel, grid, block, args, shared_bytes, stream);
}
template <typename T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **args,
                                                      size_t shared_bytes = 0,
                                                      cudaStream_t stream = 0)
{
    return ::cudaLaunchCooperativeKernel((const void *)kernel, grid, block, args, shared_bytes,
                                         stream);
}
template <typename T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel)
{
    return ::cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <typename T>
static inline cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value)
{
    return ::cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <typename T>
static inline cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config)
{
    return ::cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <typename T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel,
                                                                        int block_threads,
                                                                        size_t shared_bytes)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel,
                                                           block_threads, shared_bytes);
}
/* The block size with which a core holds most threads: the largest of several. */
template <typename T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel,
                                                             size_t shared_bytes = 0,
                                                             int limit = 0)
{
    int device, cores, lanes, most = 0;
    cudaFuncAttributes attributes;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&lanes, cudaDevAttrWarpSize, device);
    if (status == cudaSuccess)
        status = ::cudaFuncGetAttributes(&attributes, (const void *)kernel);
    if (status != cudaSuccess)
        return status;
    if (!limit || limit > attributes.maxThreadsPerBlock)
        limit = attributes.maxThreadsPerBlock;
    for (int threads = limit / lanes * lanes; threads > 0; threads -= lanes) {
        int blocks;
        status = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel,
                                                                 threads, shared_bytes);
        if (status != cudaSuccess)
            return status;
        if (blocks * threads > most) {
            most = blocks * threads;
            *grid = blocks * cores;
            *block = threads;
        }
    }
    return cudaSuccess;
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags)
{
    return cudaEventCreateWithFlags(event, flags);
}
static inline cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t width,
                                                 size_t height)
{
    return {pointer, pitch, width, height};
}
static inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
{
    return {width, height, depth};
}
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    return {x, y, z};
}

#endif
