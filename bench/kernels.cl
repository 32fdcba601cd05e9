// flags: -ffp-contract=on
// targets: clang14 clang19
// The kernels of kernels.cu for Southern Islands, with OpenCL's own rule for fusing.
kernel void empty(void)
{
}

kernel void vecadd(global const float *a, global const float *b, global float *c, int n)
{
    int i = get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}

kernel void matmul16(global const float *a, global const float *b, global float *c, int n)
{
    local float ta[16][16], tb[16][16];
    int tx = get_local_id(0), ty = get_local_id(1);
    int row = get_group_id(1) * 16 + ty, col = get_group_id(0) * 16 + tx;
    float acc = 0.0f;
    for (int t = 0; t < n; t += 16) {
        ta[ty][tx] = a[row * n + t + tx];
        tb[ty][tx] = b[(t + ty) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < 16; k++)
            acc += ta[ty][k] * tb[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = acc;
}

kernel void mandel(global int *out, int w, float x0, float y0, float d, int maxit)
{
    int px = get_global_id(0), py = get_global_id(1);
    float cr = x0 + px * d, ci = y0 + py * d, zr = 0.0f, zi = 0.0f;
    int it = 0;
#pragma unroll 1
    while (it < maxit) {
        float r2 = zr * zr, i2 = zi * zi;
        if (r2 + i2 > 4.0f)
            break;
        zi = 2.0f * zr * zi + ci;
        zr = r2 - i2 + cr;
        it++;
    }
    out[py * w + px] = it;
}
