#include <cstdio>
#include <vector>

__global__ void vecadd(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 100000;
    std::vector<float> a(n, 1.5f), b(n, 2.25f), c(n);
    float *device[3], ms;
    cudaEvent_t start, end;
    for (float *&memory : device)
        cudaMalloc(&memory, n * sizeof(float));
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    cudaMemcpy(device[0], a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device[1], b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaEventRecord(start);
    vecadd<<<(n + 255) / 256, 256>>>(device[0], device[1], device[2], n);
    cudaEventRecord(end);
    cudaMemcpy(c.data(), device[2], n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaEventElapsedTime(&ms, start, end);
    printf("%g and %g; %.1f us\n", c[0], c[n - 1], ms * 1000);
    return cudaGetLastError();
}
