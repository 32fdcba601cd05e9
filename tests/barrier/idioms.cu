/* The idioms as CUDA C. */
#include "cuda.h"

#define HELPER static __device__
#define KERNEL(name) extern "C" __global__ void name(unsigned *out, const unsigned *in)
#define SHARED(type, name, count) __shared__ type name[count]
#define LOCAL(type) type *
#define ITEM ((int)threadIdx.x)
#define BARRIER() __syncthreads()
#define INCREMENT(address) atomicAdd(address, 1u)
#include "idioms.h"
