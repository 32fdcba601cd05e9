/* Kernels with what a loader meets: arguments of every sort, LDS, private memory, a call, a block
 * size that is required. */
typedef struct {
    int a;
    float b;
    char c[5];
} record;

__constant int table[4] = {3, 1, 4, 1};

__attribute__((noinline)) int helper(int a, int b)
{
    return a * b + get_local_id(0) + table[a & 3];
}

__kernel void add(__global const float *a, __global float *b, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        b[i] = a[i] + 1.0f;
}

__kernel void many(__global int *out, record r, __local int *l, __local int *m, long k,
                   __constant int *c, char ch)
{
    int p[32];
    for (int i = 0; i < 32; i++)
        p[i] = i * r.a;
    l[get_local_id(0)] = p[r.c[0] & 31];
    m[get_local_id(1)] = get_num_groups(1);
    barrier(1);
    out[get_global_id(0) + get_global_size(0) * get_global_id(1) + get_global_id(2)] =
        helper(l[get_local_id(0) ^ 1], c[ch]) + k + get_work_dim() + get_global_offset(2) +
        get_num_groups(2);
}

__kernel __attribute__((reqd_work_group_size(8, 4, 2))) void required(__global double *d)
{
    __local double t[64];
    t[get_local_id(0) + get_local_id(1) * 8 + get_local_id(2) * 32] = d[0];
    barrier(1);
    d[get_group_id(0) + get_group_id(1) + get_group_id(2)] = t[get_local_id(0)];
}
