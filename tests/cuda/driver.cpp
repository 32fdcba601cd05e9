/* The driver API, from a program that a C++ compiler compiles by itself: driver KERNELS.ptx */
#include "cuda.h"

#include <cstdio>
#include <cstring>
#include <string>

static int failures;

#define CHECK(condition)                                           \
    do {                                                           \
        if (!(condition)) {                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                            \
        }                                                          \
    } while (0)
#define EXPECT(error, call)                                                 \
    do {                                                                    \
        const CUresult got = call;                                          \
        if (got != (error)) {                                               \
            printf("%s:%d: %s is %d\n", __FILE__, __LINE__, #call, (int)got); \
            failures++;                                                     \
        }                                                                   \
    } while (0)
#define OK(call) EXPECT(CUDA_SUCCESS, call)

enum {
    N = 256
};

static std::string text_of(const char *path)
{
    std::string text;
    char part[4096];
    FILE *file = fopen(path, "rb");
    for (size_t got; file && (got = fread(part, 1, sizeof part, file)) > 0;)
        text.append(part, got);
    if (file)
        fclose(file);
    return text;
}

static CUcontext devices_and_contexts()
{
    CUcontext first, second, now;
    CUdevice device;
    int count, value, major, minor, version;
    size_t bytes;
    unsigned flags;
    char name[64];
    const char *text;
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    OK(cuInit(0));
    OK(cuDriverGetVersion(&version));
    CHECK(version >= 12000);
    OK(cuDeviceGetCount(&count));
    CHECK(count == 1);
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
    OK(cuDeviceGet(&device, 0));
    OK(cuDeviceGetName(name, sizeof name, device));
    CHECK(!strcmp(name, "Heddle gtx1080ti"));
    OK(cuDeviceTotalMem(&bytes, device));
    CHECK(bytes > 1 << 30);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    CHECK(value == 28);
    OK(cuDeviceComputeCapability(&major, &minor, device));
    CHECK(major == 6 && minor == 1);
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK(!strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    OK(cuGetErrorString(CUDA_ERROR_NO_DEVICE, &text));
    CHECK(strstr(text, "no CUDA-capable device"));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &text));

    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemGetInfo(&bytes, &bytes));
    OK(cuCtxGetCurrent(&now));
    CHECK(!now);
    OK(cuCtxCreate(&first, CU_CTX_SCHED_SPIN, device));
    OK(cuCtxGetFlags(&flags));
    CHECK(flags == CU_CTX_SCHED_SPIN);
    OK(cuDevicePrimaryCtxRetain(&second, device));
    OK(cuCtxPushCurrent(second));
    OK(cuCtxGetCurrent(&now));
    CHECK(now == second && now != first);
    OK(cuCtxPopCurrent(&now));
    CHECK(now == second);
    OK(cuDevicePrimaryCtxRelease(device));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(device));
    OK(cuCtxGetDevice(&device));
    CHECK(device == 0);
    return first;
}

static void memory()
{
    CUdeviceptr a, b, start;
    size_t pitch, bytes;
    unsigned type;
    int managed[2] = {0, 0}, values[N], back[N];
    void *host;
    for (int i = 0; i < N; i++)
        values[i] = i;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&a, 0));
    OK(cuMemAlloc(&a, sizeof values));
    OK(cuMemAlloc(&b, sizeof values));
    OK(cuMemcpyHtoD(a, values, sizeof values));
    OK(cuMemcpyDtoD(b, a, sizeof values));
    OK(cuMemcpyDtoH(back, b, sizeof back));
    CHECK(!memcmp(values, back, sizeof values));
    OK(cuMemsetD32(b, 0x12345678, N / 2));
    OK(cuMemsetD16(b + 4, 0xabcd, 1));
    OK(cuMemsetD8(b + 8, 0xff, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(b + 2, 0, 1));
    OK(cuMemcpyDtoH(back, b, sizeof back));
    CHECK(back[0] == 0x12345678 && back[1] == 0x1234abcd && back[2] == 0x123456ff);
    CHECK(back[N / 2 - 1] == 0x12345678 && back[N / 2] == N / 2);
    OK(cuMemGetAddressRange(&start, &bytes, a + 12));
    CHECK(start == a && bytes == sizeof values);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    CHECK(type == CU_MEMORYTYPE_DEVICE);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 8));
    OK(cuMemFree(b));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(b));

    OK(cuMemAllocPitch(&b, &pitch, 20, 4, 4));
    CHECK(pitch >= 20 && pitch % 4 == 0);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = values;
    copy.srcPitch = 40;
    copy.srcXInBytes = 4;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = b;
    copy.dstPitch = pitch;
    copy.WidthInBytes = 20;
    copy.Height = 4;
    OK(cuMemcpy2D(&copy));
    OK(cuMemcpyDtoH(back, b + 2 * pitch, 20));
    CHECK(back[0] == 21 && back[4] == 25);
    OK(cuMemFree(b));

    OK(cuMemAllocHost(&host, 64));
    OK(cuMemHostGetDevicePointer(&b, host, 0));
    OK(cuMemsetD32(b, 7, 2));
    CHECK(((int *)host)[1] == 7);
    OK(cuMemFreeHost(host));
    OK(cuMemAllocManaged(&b, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuPointerGetAttribute(&managed[0], CU_POINTER_ATTRIBUTE_IS_MANAGED, b));
    CHECK(managed[0] == 1);
    OK(cuMemFree(b));
    OK(cuMemFree(a));
}

static void launches(const std::string &text)
{
    CUmodule module;
    CUfunction scale, shared;
    CUdeviceptr from, to, counter;
    CUstream stream;
    CUevent begin, end;
    size_t bytes;
    int values[N], value, blocks, grid, block;
    short offset = 7;
    char last = 2;
    float time = 0;
    EXPECT(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, "no PTX"));
    EXPECT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, "\177ELF and more"));
    EXPECT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nowhere"));
    OK(cuModuleLoadDataEx(&module, text.c_str(), 0, NULL, NULL));
    EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&scale, module, "nothing"));
    OK(cuModuleGetFunction(&scale, module, "scale"));
    OK(cuModuleGetFunction(&shared, module, "shared"));
    OK(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
    CHECK(bytes == sizeof(int));
    EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&counter, &bytes, module, "nothing"));

    OK(cuMemAlloc(&from, sizeof values));
    OK(cuMemAlloc(&to, sizeof values));
    for (int i = 0; i < N; i++)
        values[i] = i;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    OK(cuMemcpyHtoDAsync(from, values, sizeof values, stream));
    OK(cuEventRecord(begin, stream));
    void *parameters[] = {&to, &offset, &from, &last};
    OK(cuLaunchKernel(scale, 2, 1, 1, N / 2, 1, 1, 0, stream, parameters, NULL));
    OK(cuEventRecord(end, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuEventElapsedTime(&time, begin, end));
    CHECK(time > 0 && time < 1);
    OK(cuMemcpyDtoH(values, to, sizeof values));
    for (int i = 0; i < N; i++)
        CHECK(values[i] == i * 3 + 9);
    OK(cuMemcpyDtoH(&value, counter, sizeof value));
    CHECK(value == 5 + N);

    /* the arguments as a buffer, as they lie in it */
    struct {
        CUdeviceptr to;
        short offset;
        CUdeviceptr from;
        char last;
    } packed = {to, 8, from, 1};
    bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(scale, 1, 1, 1, N, 1, 1, 0, NULL, NULL, extra));
    bytes = 16;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(scale, 1, 1, 1, N, 1, 1, 0, NULL, NULL, extra));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, NULL, parameters, NULL));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));

    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, shared));
    CHECK(value == 128);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, shared));
    CHECK(value == 400);
    OK(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared, 128, 0));
    CHECK(blocks == 2048 / 128);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, shared, NULL, 0, 0));
    CHECK(block == 128 && grid == 28 * blocks);
    void *only[] = {&to};
    OK(cuLaunchKernel(shared, 1, 1, 1, 128, 1, 1, 512, NULL, only, NULL));
    OK(cuMemcpyDtoH(values, to, sizeof values));
    CHECK(values[0] == 2 && values[127] == 127);

    OK(cuEventDestroy(begin));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamWaitEvent(stream, NULL, 0));
    OK(cuStreamDestroy(stream));
    OK(cuModuleUnload(module));
}

static void linking()
{
    static const char head[] = ".version 7.0\n.target sm_60\n.address_size 64\n";
    const std::string use = std::string(head) + ".extern .global .u32 word;\n"
        ".visible .entry k(.param .u64 to) { .reg .u32 %r; .reg .u64 %d; ld.param.u64 %d, [to];\n"
        "ld.global.u32 %r, [word]; st.global.u32 [%d], %r; ret; }\n";
    const std::string have = std::string(head) + ".visible .global .u32 word = 42;\n";
    CUlinkState state;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr to;
    void *image;
    size_t bytes;
    int value = 0;
    OK(cuLinkCreate(0, NULL, NULL, &state));
    EXPECT(CUDA_ERROR_INVALID_IMAGE, cuLinkComplete(state, &image, &bytes));
    OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)use.c_str(), use.size() + 1, "use", 0, NULL, NULL));
    OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)have.c_str(), have.size() + 1, "have", 0, NULL, NULL));
    EXPECT(CUDA_ERROR_NO_BINARY_FOR_GPU,
           cuLinkAddData(state, CU_JIT_INPUT_CUBIN, (void *)"x", 1, "code", 0, NULL, NULL));
    OK(cuLinkComplete(state, &image, &bytes));
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(state));
    OK(cuModuleGetFunction(&kernel, module, "k"));
    OK(cuMemAlloc(&to, 4));
    void *only[] = {&to};
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, only, NULL));
    OK(cuMemcpyDtoH(&value, to, 4));
    CHECK(value == 42);
}

/* A guest fault is an error from then on, until the device is reset. */
static void faults(const std::string &text)
{
    CUmodule module;
    CUfunction wild;
    CUdeviceptr nowhere = 16;
    size_t bytes;
    OK(cuModuleLoadData(&module, text.c_str()));
    OK(cuModuleGetFunction(&wild, module, "wild"));
    void *only[] = {&nowhere};
    OK(cuLaunchKernel(wild, 1, 1, 1, 1, 1, 1, 0, NULL, only, NULL));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemGetInfo(&bytes, &bytes));
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuMemGetInfo(&bytes, &bytes));
}

static void addresses()
{
    void *found;
    OK(cuGetProcAddress("cuMemAlloc", &found, 12000, 0));
    CHECK(found == (void *)cuMemAlloc);
    OK(cuGetProcAddress("cuInit", &found, 12000, 0));
    CHECK(found == (void *)cuInit);
    EXPECT(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNothing", &found, 12000, 0));
}

int main(int count, char **words)
{
    const std::string text = text_of(count > 1 ? words[1] : "driver_kernels.ptx");
    CUcontext context = devices_and_contexts();
    memory();
    launches(text);
    linking();
    addresses();
    faults(text);
    OK(cuCtxDestroy(context));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(context));
    printf("driver: %s\n", failures ? "wrong" : "right");
    return failures != 0;
}
