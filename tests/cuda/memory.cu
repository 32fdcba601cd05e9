// Memory of each kind, copies in each direction and shape, variables.
#include "check.h"
#include <cstring>
#include <vector>

__constant__ int table[4];
__device__ int counter = 7;
__device__ double pair[2];

__global__ void add(int *to, const int *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += from[i];
}

__global__ void lookup(int *to)
{
    to[threadIdx.x] = table[threadIdx.x] + counter;
    pair[threadIdx.x & 1] = threadIdx.x;
}

// Memory that host and device share is one: what one writes, the other reads.
static void shared_memory()
{
    const int n = 300;
    int *managed, *pinned, *device, plain[n + 200];
    OK(cudaMallocManaged(&managed, n * sizeof(int)));
    OK(cudaMallocHost(&pinned, n * sizeof(int)));
    OK(cudaHostRegister(plain, n * sizeof(int), cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&device, plain, 0));
    for (int i = 0; i < n; i++) {
        managed[i] = i;
        pinned[i] = 1000 * i;
        plain[i] = 1000000;
    }
    add<<<3, 128>>>(managed, pinned, n);
    add<<<3, 128>>>(device, managed, n);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(managed[i] == 1001 * i && plain[i] == 1000000 + 1001 * i);
    cudaPointerAttributes about;
    OK(cudaPointerGetAttributes(&about, managed + 5));
    CHECK(about.type == cudaMemoryTypeManaged && about.hostPointer == managed + 5);
    OK(cudaPointerGetAttributes(&about, plain + 1));
    CHECK(about.type == cudaMemoryTypeHost && about.devicePointer == device + 1);
    EXPECT(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(plain, 4, 0));
    OK(cudaHostUnregister(plain));
    EXPECT(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(plain));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(managed));
    EXPECT(cudaErrorInvalidValue, cudaFree(managed));
    OK(cudaPointerGetAttributes(&about, managed));
    CHECK(about.type == cudaMemoryTypeUnregistered);
}

static void copies()
{
    int *a, *b, from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[8] = {0};
    OK(cudaMalloc(&a, sizeof from));
    OK(cudaMalloc(&b, sizeof from));
    OK(cudaMemcpy(a, from, sizeof from, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, a, sizeof from, cudaMemcpyDeviceToDevice));
    OK(cudaMemset(b, 0xff, 8));
    OK(cudaMemcpy(to, b, sizeof from, cudaMemcpyDefault));
    CHECK(to[0] == -1 && to[1] == -1 && to[2] == 3 && to[7] == 8);
    OK(cudaMemcpy(to, from, sizeof from, cudaMemcpyHostToHost));
    CHECK(to[1] == 2);
    EXPECT(cudaErrorInvalidMemcpyDirection, cudaMemcpy(to, b, 4, (cudaMemcpyKind)9));
    EXPECT(cudaErrorInvalidValue, cudaMemcpy(b, from, 64, cudaMemcpyHostToDevice));
    EXPECT(cudaErrorInvalidValue, cudaMemset((char *)b + 16, 0, 32));
    CHECK(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(NULL));
}

static void shapes()
{
    const int width = 5, height = 3, depth = 2;
    float from[depth][height][width], to[depth][height][width];
    for (int i = 0; i < depth * height * width; i++)
        (&from[0][0][0])[i] = (float)i;
    char *rows;
    size_t pitch;
    OK(cudaMallocPitch(&rows, &pitch, width * sizeof(float), height));
    CHECK(pitch >= width * sizeof(float) && pitch % 256 == 0);
    OK(cudaMemset2D(rows, pitch, 0, width * sizeof(float), height));
    OK(cudaMemcpy2D(rows, pitch, from, sizeof from[0][0], sizeof from[0][0], height,
                    cudaMemcpyHostToDevice));
    memset(to, 0, sizeof to);
    OK(cudaMemcpy2D(to, sizeof to[0][0], rows + sizeof(float), pitch, 2 * sizeof(float), height,
                    cudaMemcpyDeviceToHost));
    CHECK(to[0][0][0] == 1 && to[0][0][1] == 2 && to[0][0][2] == 0 && to[0][2][1] == 12);
    EXPECT(cudaErrorInvalidPitchValue,
           cudaMemcpy2D(rows, 4, from, sizeof from[0][0], 8, 2, cudaMemcpyHostToDevice));
    cudaPitchedPtr box;
    OK(cudaMalloc3D(&box, make_cudaExtent(width * sizeof(float), height, depth)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(from, sizeof from[0][0], width * sizeof(float), height);
    copy.dstPtr = box;
    copy.extent = make_cudaExtent(width * sizeof(float), height, depth);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    copy.srcPtr = box;
    copy.srcPos = make_cudaPos(0, 1, 1);
    copy.dstPtr = make_cudaPitchedPtr(to, sizeof to[0][0], width * sizeof(float), height);
    copy.extent = make_cudaExtent(width * sizeof(float), 2, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    CHECK(to[0][0][0] == from[1][1][0] && to[0][1][4] == from[1][2][4]);
    OK(cudaFree(box.ptr));
    OK(cudaFree(rows));
}

static void variables()
{
    int values[4] = {10, 20, 30, 40}, *out, result[4], count;
    double last[2];
    void *address;
    size_t bytes;
    OK(cudaMalloc(&out, sizeof result));
    OK(cudaMemcpyToSymbol(table, values, sizeof values));
    OK(cudaMemcpyToSymbol(table, values, 4, 12));
    lookup<<<1, 4>>>(out);
    OK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(result[0] == 17 && result[1] == 27 && result[3] == 17);
    OK(cudaMemcpyFromSymbol(last, pair, sizeof last));
    CHECK(last[0] == 2 && last[1] == 3);
    OK(cudaGetSymbolAddress(&address, counter));
    OK(cudaGetSymbolSize(&bytes, pair));
    CHECK(bytes == sizeof pair);
    OK(cudaMemcpy(&count, address, sizeof count, cudaMemcpyDefault));
    CHECK(count == 7);
    EXPECT(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, values, 4, 16));
    EXPECT(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(values, values, 4));
    OK(cudaFree(out));
}

static void sizes()
{
    size_t before, after, total;
    void *memory;
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc(&memory, 1 << 20));
    OK(cudaMemGetInfo(&after, &total));
    CHECK(before - after == 1 << 20 && after < total);
    EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&memory, (size_t)1 << 50));
    OK(cudaDeviceReset());
    OK(cudaMemGetInfo(&after, &total));
    CHECK(after == before);
}

int main()
{
    shared_memory();
    copies();
    shapes();
    variables();
    sizes(); // which ends with a reset: variables have their first values again
    double last[2] = {1, 1};
    OK(cudaMemcpyFromSymbol(last, pair, sizeof last));
    CHECK(last[0] == 0 && last[1] == 0);
    variables();
    return done("memory");
}
