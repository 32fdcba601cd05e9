// Streams, events and callbacks. Times follow from the machine's own: host.copy_ns=1000, host.copy_gbps=1.
#include "check.h"
#include <cmath>

__global__ void spin(int *out, int n)
{
    int x = threadIdx.x;
    for (int i = 0; i < n; i++)
        x = x * 1664525 + 1013904223;
    out[threadIdx.x] = x;
}

static cudaEvent_t event()
{
    cudaEvent_t made;
    OK(cudaEventCreate(&made));
    return made;
}

// Nanoseconds from one event to another.
static double between(cudaEvent_t from, cudaEvent_t to)
{
    float milliseconds = -1;
    OK(cudaEventElapsedTime(&milliseconds, from, to));
    return milliseconds * 1e6;
}

static bool near(double a, double b)
{
    return std::fabs(a - b) <= 0.01 + 1e-5 * std::fabs(b); // events have floats
}

static void callback(cudaStream_t, cudaError_t status, void *user)
{
    CHECK(status == cudaSuccess);
    ++*(int *)user;
}

static void function(void *user)
{
    *(int *)user *= 10;
}

int main()
{
    const int bytes = 1 << 16, once = 1000 + bytes; // of a copy: 1 us and 1 ns a byte
    char *host, *a, *b;
    int *out, calls = 4;
    cudaStream_t one, two, apart;
    OK(cudaMallocHost(&host, 2 * bytes));
    OK(cudaMalloc(&a, bytes));
    OK(cudaMalloc(&b, bytes));
    OK(cudaMalloc(&out, 256));
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreate(&two));
    OK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    cudaEvent_t start = event(), end = event(), other = event();

    // copies of one direction follow each other, whatever their streams
    OK(cudaEventRecord(start, one));
    OK(cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, one));
    OK(cudaMemcpyAsync(b, host, bytes, cudaMemcpyHostToDevice, two));
    OK(cudaEventRecord(end, one));
    OK(cudaEventRecord(other, two));
    CHECK(near(between(start, end), once) && near(between(start, other), 2 * once));

    // the other direction, and kernels, run at the same time
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(start, one));
    OK(cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, one));
    OK(cudaMemcpyAsync(host + bytes, b, bytes, cudaMemcpyDeviceToHost, two));
    spin<<<1, 64, 0, apart>>>(out, 100);
    OK(cudaEventRecord(end, two));
    OK(cudaEventRecord(other, apart));
    CHECK(near(between(start, end), once));
    const double kernel = between(start, other);
    CHECK(kernel > 0 && kernel < once);

    // a stream waits for an event; the null stream waits for blocking streams only
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(start, one));
    OK(cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, one));
    OK(cudaEventRecord(end, one));
    OK(cudaStreamWaitEvent(two, end, 0));
    OK(cudaMemcpyAsync(host, a, bytes, cudaMemcpyDeviceToHost, two));
    OK(cudaEventRecord(other, two));
    CHECK(near(between(start, other), 2 * once));
    OK(cudaEventRecord(end, 0));
    CHECK(near(between(start, end), 2 * once));
    OK(cudaEventRecord(end, apart));
    CHECK(near(between(start, end), 0));

    // blocking streams wait for the null stream, others do not
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(start, apart));
    OK(cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, 0));
    OK(cudaEventRecord(end, one));
    OK(cudaEventRecord(other, apart));
    CHECK(near(between(start, end), once) && near(between(start, other), 0));

    // a synchronous copy holds up the host
    OK(cudaDeviceSynchronize());
    OK(cudaEventRecord(start, apart));
    OK(cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice));
    OK(cudaEventRecord(end, apart));
    CHECK(near(between(start, end), once));

    OK(cudaStreamAddCallback(one, callback, &calls, 0));
    OK(cudaLaunchHostFunc(one, function, &calls));
    OK(cudaStreamSynchronize(one));
    CHECK(calls == 50);
    OK(cudaStreamQuery(one));
    OK(cudaEventQuery(end));

    cudaEvent_t untimed;
    float unused;
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaEventRecord(untimed));
    EXPECT(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&unused, start, untimed));
    OK(cudaEventDestroy(untimed));
    OK(cudaStreamDestroy(two));
    EXPECT(cudaErrorInvalidResourceHandle, cudaStreamDestroy(0));
    return done("streams");
}
