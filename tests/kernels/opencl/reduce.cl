// Reduction in a local array the host sizes, prefix sum, histogram with local atomics.
kernel void reduce(global const int *in, global int *out, local int *part, int n)
{
    int t = get_local_id(0), sum = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    part[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = part[0];
}

kernel void prefix(global const uint *in, global uint *out)
{
    local uint s[128];
    int t = get_local_id(0);
    s[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 128; d *= 2) {
        uint v = t >= d ? s[t - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        s[t] += v;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = s[t];
}

kernel void histogram16(global const uint *in, global uint *bins, int n)
{
    local uint count[16];
    if (get_local_id(0) < 16)
        count[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        atomic_inc(&count[in[i] >> 28]);
        atomic_max(&bins[16], in[i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 16)
        atomic_add(&bins[get_local_id(0)], count[get_local_id(0)]);
}
