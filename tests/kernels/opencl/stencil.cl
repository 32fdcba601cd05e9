// Iterations on grids: Jacobi with a residual, heat in three dimensions, rule 110 on packed bits.
kernel void jacobi(global const float *in, global float *out, global const float *rhs,
                   global uint *worst, int n)
{
    int x = get_global_id(0) + 1, y = get_global_id(1) + 1, w = n + 2;
    if (x > n || y > n)
        return;
    int i = y * w + x;
    float v = 0.25f * (in[i - 1] + in[i + 1] + in[i - w] + in[i + w] - rhs[i]);
    out[i] = v;
    atomic_max(worst, as_uint(fabs(v - in[i])));
}

kernel void heat(global const double *in, global double *out, double k)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int nx = get_global_size(0), ny = get_global_size(1), nz = get_global_size(2);
    double sum = 0.0, here = in[(z * ny + y) * nx + x];
    int3 step[6] = {(int3)(-1, 0, 0), (int3)(1, 0, 0),  (int3)(0, -1, 0),
                    (int3)(0, 1, 0),  (int3)(0, 0, -1), (int3)(0, 0, 1)};
    for (int s = 0; s < 6; s++) {
        int ax = clamp(x + step[s].x, 0, nx - 1), ay = clamp(y + step[s].y, 0, ny - 1),
            az = clamp(z + step[s].z, 0, nz - 1);
        sum += in[(az * ny + ay) * nx + ax] - here;
    }
    out[(z * ny + y) * nx + x] = fma(k, sum, here);
}

kernel void rule110(global const ulong *in, global ulong *out, int words)
{
    int i = get_global_id(0);
    if (i >= words)
        return;
    ulong c = in[i];
    ulong left = c << 1 | in[(i + words - 1) % words] >> 63;
    ulong right = c >> 1 | in[(i + 1) % words] << 63;
    out[i] = (c | right) & ~(left & c & right);
}
