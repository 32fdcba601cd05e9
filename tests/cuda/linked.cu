/* Relocatable device code: functions and variables of another file, and files' own of equal names. */
#define FILE_NUMBER 1
#include "linked.h"
#include "check.h"

__global__ void use(int *to)
{
    const int at = threadIdx.x;
    to[at] = twice(at) + table[at % 4] + through_shared(at) * 10000;
    if (at == 0)
        to[32] = count<5>();
    atomicAdd(&total, 1);
}

int main()
{
    int *device, values[33], sum = 0, own = 3;
    OK(cudaMalloc(&device, sizeof values));
    use<<<1, 32>>>(device);
    other_add(100);
    OK(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        CHECK(values[i] == 2 * i + (i % 4 + 1) * 1000 + (i ^ 1) * 10000);
    CHECK(values[32] == 5 + 32); /* the other file counted in the same variable */
    OK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    CHECK(sum == 1 + 32 + 100);

    OK(cudaMemcpyToSymbol(mine, &own, sizeof own));
    tell<<<1, 1, 64>>>(device);
    OK(cudaMemcpy(values, device, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(values[0] == 1301);
    other_tell(device, 4);
    OK(cudaMemcpy(values, device, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(values[0] == 2402);
    OK(cudaFree(device));
    return done("linked");
}
