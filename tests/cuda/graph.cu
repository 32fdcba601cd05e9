/* Graphs: captured, built by hand, launched several times, changed; and when their nodes run in simulated time. */
#include "check.h"
#include <cstring>

__global__ void add(int *to, int amount)
{
    to[threadIdx.x] += amount;
}

__global__ void sum(int *to, const int *a, const int *b)
{
    to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

enum {
    N = 64
};
static int calls;
static void call(void *user)
{
    calls += *(int *)user;
}

/* What is captured does not run before the launch, and keeps its arguments. */
static void captured(int *a, int *b, int *out)
{
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t count = 0;
    int host[N], more = 5, one = 1;
    OK(cudaStreamCreate(&first));
    OK(cudaStreamCreate(&second));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    EXPECT(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    EXPECT(cudaErrorIllegalState, cudaStreamEndCapture(first, &graph));
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    EXPECT(cudaErrorIllegalState, cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(a, 0, N * sizeof(int), first));
    OK(cudaEventRecord(fork, first));
    OK(cudaStreamWaitEvent(second, fork, 0));
    OK(cudaStreamIsCapturing(second, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    add<<<1, N, 0, first>>>(a, more);
    more = 1000;
    add<<<1, N, 0, second>>>(b, 7);
    OK(cudaLaunchHostFunc(second, call, &one));
    OK(cudaEventRecord(join, second));
    OK(cudaStreamWaitEvent(first, join, 0));
    sum<<<1, N, 0, first>>>(out, a, b);
    OK(cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, first));
    EXPECT(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(first));
    EXPECT(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(second, &graph));
    OK(cudaStreamEndCapture(first, &graph));
    OK(cudaStreamIsCapturing(second, &status));
    CHECK(status == cudaStreamCaptureStatusNone && calls == 0);
    OK(cudaGraphGetNodes(graph, NULL, &count));
    CHECK(count == 6);
    count = 0;
    OK(cudaGraphGetRootNodes(graph, NULL, &count));
    CHECK(count == 1);

    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph)); /* the other one lives on */
    OK(cudaMemset(b, 0, N * sizeof(int)));
    for (int i = 1; i <= 3; i++) {
        memset(host, 0, sizeof host);
        OK(cudaGraphLaunch(exec, first));
        OK(cudaStreamSynchronize(first));
        CHECK(host[0] == 5 + 7 * i && host[N - 1] == host[0] && calls == i);
    }
    OK(cudaGraphExecDestroy(exec));
    EXPECT(cudaErrorInvalidValue, cudaGraphLaunch(NULL, first));
    OK(cudaStreamDestroy(first));
    OK(cudaStreamDestroy(second));
}

static void built(int *a, int *b, int *out)
{
    cudaGraph_t graph, parent;
    cudaGraphNode_t zero, left, right, both, back, inner, outer;
    cudaGraphExec_t exec;
    cudaGraphNodeType type;
    int host[N], three = 3, four = 4;
    void *left_args[] = {&a, &three}, *right_args[] = {&b, &four}, *sum_args[] = {&out, &a, &b};
    cudaKernelNodeParams kernel = {(void *)add, dim3(1), dim3(N), 0, left_args, NULL};
    cudaMemsetParams fill = {a, 0, 0x01020304, 4, N, 1};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&left, graph, NULL, 0, &kernel));
    OK(cudaGraphAddMemsetNode(&zero, graph, NULL, 0, &fill));
    OK(cudaGraphAddDependencies(graph, &zero, &left, 1)); /* against the order in which they were added */
    EXPECT(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &left, &zero, 1));
    OK(cudaGraphDestroy(graph));

    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&left, graph, NULL, 0, &kernel));
    OK(cudaGraphAddMemsetNode(&zero, graph, NULL, 0, &fill));
    OK(cudaGraphAddDependencies(graph, &zero, &left, 1));
    kernel.kernelParams = right_args;
    OK(cudaGraphAddKernelNode(&right, graph, NULL, 0, &kernel));
    kernel.func = (void *)sum;
    kernel.kernelParams = sum_args;
    const cudaGraphNode_t operands[] = {left, right};
    OK(cudaGraphAddKernelNode(&both, graph, operands, 2, &kernel));
    OK(cudaGraphAddMemcpyNode1D(&back, graph, &both, 1, host, out, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaGraphNodeGetType(zero, &type));
    CHECK(type == cudaGraphNodeTypeMemset);
    EXPECT(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&inner, graph, (cudaGraphNode_t *)&exec, 1));

    OK(cudaGraphCreate(&parent, 0));
    OK(cudaGraphAddChildGraphNode(&inner, parent, NULL, 0, graph));
    cudaHostNodeParams host_call = {call, &three};
    OK(cudaGraphAddHostNode(&outer, parent, &inner, 1, &host_call));
    OK(cudaGraphInstantiate(&exec, parent, 0));
    OK(cudaMemset(b, 0, N * sizeof(int)));
    calls = 0;
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(host[0] == 0x01020304 + 3 + 4 && calls == 3);
    OK(cudaGraphExecDestroy(exec));

    OK(cudaGraphInstantiate(&exec, graph, 0));
    kernel.func = (void *)add;
    kernel.kernelParams = left_args;
    three = 30;
    OK(cudaGraphExecKernelNodeSetParams(exec, left, &kernel));
    OK(cudaMemset(b, 0, N * sizeof(int)));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(host[0] == 0x01020304 + 30 + 4);
    cudaGraphExecUpdateResultInfo info;
    EXPECT(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, parent, &info));
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    OK(cudaGraphExecUpdate(exec, graph, &info));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(host[0] == 0x01020304 + 3 + 8);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(parent));
    OK(cudaGraphDestroy(graph));
}

/* Two copies that depend on nothing run in turn in one direction, but in both directions at the same time. The test
 * sets host.copy_ns=1000 and host.copy_gbps=1: 1 MB takes 1,049.6 us. */
static float time_of(int *device, int *host, bool both_ways)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaEvent_t begin, end;
    float time = 0;
    const size_t bytes = 1 << 20;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, device, host, bytes, cudaMemcpyHostToDevice));
    if (both_ways)
        OK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, host + bytes / 4, device + bytes / 4, bytes,
                                    cudaMemcpyDeviceToHost));
    else
        OK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, device, host, bytes, cudaMemcpyHostToDevice));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaEventRecord(begin));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaEventRecord(end));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&time, begin, end));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    return time;
}

int main()
{
    static int host[1 << 19];
    int *a, *b, *out, *large;
    OK(cudaMalloc(&a, N * sizeof(int)));
    OK(cudaMalloc(&b, N * sizeof(int)));
    OK(cudaMalloc(&out, N * sizeof(int)));
    OK(cudaMalloc(&large, sizeof host));
    captured(a, b, out);
    built(a, b, out);
    const float one = time_of(large, host, true), two = time_of(large, host, false);
    CHECK(one > 1.049f && one < 1.050f);
    CHECK(two > 2.098f && two < 2.100f);
    return done("graph");
}
