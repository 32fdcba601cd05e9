// targets: debug
// Each word becomes the mean of itself and its neighbours, through local memory of the group.
kernel void blur(global float *data, local float *tile)
{
    uint i = get_local_id(0), last = get_local_size(0) - 1;
    tile[i] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float left = tile[i ? i - 1 : 0], right = tile[i < last ? i + 1 : last];
    data[get_global_id(0)] = (left + tile[i] + right) * (1.0f / 3);
}
