// targets: clang19 v4
// What libclc lacks: high products with addition, copies by the group, halves in memory, shuffles.
kernel void high(global const int *a, global const int *b, global int *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    int x = a[i], y = b[i];
    out[4 * i] = mad_hi(x, y, 7);
    out[4 * i + 1] = mad_hi((uint)x, (uint)y, 7u);
    out[4 * i + 2] = mad_sat(x, y >> 20, x);
    out[4 * i + 3] = mad_sat((uint)x, (uint)y >> 20, (uint)x);
}

kernel void group_copy(global const float *in, global float *out, local float *tile, int each)
{
    event_t e = async_work_group_copy(tile, in + get_group_id(0) * each, each, 0);
    wait_group_events(1, &e);
    for (int k = get_local_id(0); k < each / 2; k += get_local_size(0)) {
        float swap = tile[k];
        tile[k] = tile[each - 1 - k];
        tile[each - 1 - k] = swap;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_strided_copy(out + get_group_id(0) * each * 2, tile, each, 2, 0);
    wait_group_events(1, &e);
}

kernel void half_memory(global const half *in, global half *out, global float *wide, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float v = vload_half(i, in);
    wide[i] = v;
    vstore_half_rte(v * 1.5f + 0.001f, i, out);
    vstore_half_rtz(v * 0.3f, n + i, out);
}

kernel void mixed_up(global const uint4 *in, global const uint4 *order, global uint4 *out)
{
    int i = get_global_id(0);
    out[2 * i] = shuffle(in[i], order[i]);
    out[2 * i + 1] = shuffle2(in[i], in[i] * 3, order[i]);
}
