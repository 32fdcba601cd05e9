// Element-wise and matrix kernels in OpenCL C.
kernel void saxpy(float a, global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = fma(a, x[i], y[i]);
}

// Odd sizes: 2-D range, one work-item an element.
kernel void matrix_vector(global const float *m, global const float *v, global float *out, int rows,
                          int columns)
{
    int r = get_global_id(0);
    if (r >= rows)
        return;
    float sum = 0.0f;
    for (int c = 0; c < columns; c++)
        sum = mad(m[r * columns + c], v[c], sum);
    out[r] = sum;
}

#define T 8
kernel void matmul(global const float *a, global const float *b, global float *c, int n)
{
    local float ta[T][T], tb[T][T];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += T) {
        ta[ly][lx] = a[y * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; k++)
            sum = fma(ta[ly][k], tb[k][lx], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

kernel void identity(global uint *out)
{
    uint i = get_global_id(0) + get_global_size(0) *
             (get_global_id(1) + get_global_size(1) * get_global_id(2));
    out[4 * i] = get_local_id(0) | get_local_id(1) << 8 | get_local_id(2) << 16;
    out[4 * i + 1] = get_group_id(0) | get_group_id(1) << 8 | get_group_id(2) << 16;
    out[4 * i + 2] = get_local_size(0) | get_local_size(1) << 8 | get_local_size(2) << 16;
    out[4 * i + 3] = get_num_groups(0) | get_num_groups(1) << 8 | get_num_groups(2) << 16;
}
