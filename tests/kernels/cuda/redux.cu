// flags: --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_80
// Warp reductions in one instruction (from sm_80 on).
#include "cuda.h"

#define REDUX(op, type, v)                                                                         \
    ({                                                                                             \
        unsigned r;                                                                                \
        asm volatile("redux.sync." op "." type " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(0xffffffffu)); \
        r;                                                                                         \
    })

extern "C" __global__ void redux(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i], *o = out + 8 * i;
    o[0] = REDUX("add", "u32", v);
    o[1] = REDUX("min", "u32", v);
    o[2] = REDUX("max", "u32", v);
    o[3] = REDUX("min", "s32", v);
    o[4] = REDUX("max", "s32", v);
    o[5] = REDUX("and", "b32", v);
    o[6] = REDUX("or", "b32", v);
    o[7] = REDUX("xor", "b32", v);
}
