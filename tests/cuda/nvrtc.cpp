/* Compilation while the program runs: options, headers, names, logs, and kernels that are launched. */
#include "cuda.h"
#include "nvrtc.h"

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
#define EXPECT(error, call)                                                            \
    do {                                                                               \
        const nvrtcResult got = call;                                                  \
        if (got != (error)) {                                                          \
            printf("%s:%d: %s is %s\n", __FILE__, __LINE__, #call, nvrtcGetErrorString(got)); \
            failures++;                                                                \
        }                                                                              \
    } while (0)
#define OK(call) EXPECT(NVRTC_SUCCESS, call)

static const char source[] =
    "__device__ void checked(int value) { assert(value > 0); }\n"
    "#include \"inner/amount.h\"\n"
    "namespace own { __device__ int added = 1; }\n"
    "template <typename T, int N> __global__ void fill(T *to) { to[threadIdx.x] = N + AMOUNT + MORE + own::added; }\n"
    "extern \"C\" __global__ void plain(int *to) { *to = 5; }\n";

static std::string log_of(nvrtcProgram program)
{
    size_t bytes = 0;
    OK(nvrtcGetProgramLogSize(program, &bytes));
    std::string log(bytes, '\0');
    OK(nvrtcGetProgramLog(program, &log[0]));
    return log;
}

static void run(const char *ptx, const char *fill, const char *added)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr to, variable;
    size_t bytes;
    int values[4] = {0}, one = 1000;
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    CHECK(cuCtxCreate(&context, 0, device) == CUDA_SUCCESS);
    CHECK(cuModuleLoadData(&module, ptx) == CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&kernel, module, fill) == CUDA_SUCCESS);
    CHECK(cuModuleGetGlobal(&variable, &bytes, module, added) == CUDA_SUCCESS);
    CHECK(cuMemAlloc(&to, sizeof values) == CUDA_SUCCESS);
    CHECK(cuMemcpyHtoD(variable, &one, sizeof one) == CUDA_SUCCESS);
    void *parameters[] = {&to};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 4, 1, 1, 0, NULL, parameters, NULL) == CUDA_SUCCESS);
    CHECK(cuMemcpyDtoH(values, to, sizeof values) == CUDA_SUCCESS);
    CHECK(values[0] == 7 + 20 + 300 + 1000 && values[3] == values[0]);
}

static void compiles()
{
    const char *headers[] = {"#define AMOUNT 20\n"}, *names[] = {"inner/amount.h"};
    const char *options[] = {"--gpu-architecture=compute_61", "-DMORE=300", "--std=c++14",
                             "-default-device"};
    const char *lowered, *added;
    size_t bytes;
    nvrtcProgram program;
    OK(nvrtcCreateProgram(&program, source, "fill.cu", 1, headers, names));
    OK(nvrtcAddNameExpression(program, "fill<int, 7>"));
    OK(nvrtcAddNameExpression(program, "&own::added"));
    EXPECT(NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION,
           nvrtcGetLoweredName(program, "fill<int, 7>", &lowered));
    OK(nvrtcCompileProgram(program, 4, options));
    EXPECT(NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, nvrtcAddNameExpression(program, "x"));
    OK(nvrtcGetLoweredName(program, "fill<int, 7>", &lowered));
    OK(nvrtcGetLoweredName(program, "&own::added", &added));
    EXPECT(NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID, nvrtcGetLoweredName(program, "other", &lowered));
    CHECK(!strcmp(lowered, "_Z4fillIiLi7EEvPT_") && !strcmp(added, "_ZN3own5addedE"));
    OK(nvrtcGetPTXSize(program, &bytes));
    std::string ptx(bytes, '\0');
    OK(nvrtcGetPTX(program, &ptx[0]));
    CHECK(strlen(ptx.c_str()) + 1 == bytes && strstr(ptx.c_str(), ".target sm_61"));
    CHECK(log_of(program).size() == 1);
    run(ptx.c_str(), lowered, added);
    OK(nvrtcDestroyProgram(&program));
    CHECK(!program);
}

static void refuses()
{
    nvrtcProgram program = NULL;
    const char *unknown[] = {"--no-such-option"};
    size_t bytes;
    EXPECT(NVRTC_ERROR_INVALID_PROGRAM, nvrtcCompileProgram(program, 0, NULL));
    EXPECT(NVRTC_ERROR_INVALID_INPUT, nvrtcCreateProgram(&program, NULL, NULL, 0, NULL, NULL));
    OK(nvrtcCreateProgram(&program, "__global__ void k() {\n  nothing();\n}\n", "wrong.cu", 0, NULL, NULL));
    EXPECT(NVRTC_ERROR_COMPILATION, nvrtcCompileProgram(program, 0, NULL));
    CHECK(strstr(log_of(program).c_str(), "wrong.cu:2:3: error"));
    EXPECT(NVRTC_ERROR_INVALID_INPUT, nvrtcGetPTXSize(program, &bytes));
    OK(nvrtcDestroyProgram(&program));
    OK(nvrtcCreateProgram(&program, "", NULL, 0, NULL, NULL));
    EXPECT(NVRTC_ERROR_INVALID_OPTION, nvrtcCompileProgram(program, 1, unknown));
    OK(nvrtcDestroyProgram(&program));
}

int main()
{
    compiles();
    refuses();
    printf("nvrtc: %s\n", failures ? "wrong" : "right");
    return failures != 0;
}
