// targets: clang14 clang19 v4
// Where a work-item is: everything OpenCL can be asked. Not for PTX: libclc has no get_global_offset
// or get_work_dim there.
kernel void places(global uint *out)
{
    uint i = get_global_id(0) + get_global_size(0) *
             (get_global_id(1) + get_global_size(1) * get_global_id(2));
    global uint *o = out + 32 * i;
    for (uint d = 0; d < 3; d++) {
        o[d] = get_global_id(d);
        o[3 + d] = get_local_id(d);
        o[6 + d] = get_group_id(d);
        o[9 + d] = get_global_size(d);
        o[12 + d] = get_local_size(d);
        o[15 + d] = get_num_groups(d);
        o[18 + d] = get_global_offset(d);
    }
    o[21] = get_work_dim();
}

// The dimension is data: no answer can be folded.
kernel void asked(global const uint *dimension, global uint *out)
{
    uint i = get_global_id(0) + get_global_size(0) * get_global_id(1), d = dimension[i];
    out[2 * i] = get_global_id(d) * 1000 + get_global_size(d);
    out[2 * i + 1] = get_local_size(d) * 1000 + get_num_groups(d);
}

// The group size is promised, so the compiler needs no dispatch packet.
__attribute__((reqd_work_group_size(4, 3, 2))) kernel void promised(global uint *out)
{
    uint i = get_global_id(0) + get_global_size(0) *
             (get_global_id(1) + get_global_size(1) * get_global_id(2));
    out[i] = get_local_id(0) + 4 * (get_local_id(1) + 3 * get_local_id(2)) +
             (get_local_size(0) * get_local_size(1) * get_local_size(2) << 8) +
             (get_group_id(2) << 16);
}
