// flags: -fcuda-short-ptr -mllvm --nvptx-short-ptr
// Gravity on every body from all others, tiles of bodies in shared memory.
#include "cuda.h"

extern "C" __global__ void nbody(const float4 *body, float4 *force, int n)
{
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = body[i < n ? i : n - 1];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int t = 0; t < n; t += 64) {
        int j = t + threadIdx.x;
        tile[threadIdx.x] = j < n ? body[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            float4 o = tile[k];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float d2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f)));
            float s = o.w / (d2 * sqrtf(d2));
            ax = fmaf(dx, s, ax);
            ay = fmaf(dy, s, ay);
            az = fmaf(dz, s, az);
        }
        __syncthreads();
    }
    if (i < n)
        force[i] = make_float4(ax, ay, az, me.w);
}
