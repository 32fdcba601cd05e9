// targets: clang14 clang19
// What the command-line tests run as code objects.
kernel void copy(global uint *out, global const uint *in, uint n)
{
    if (get_global_id(0) < n)
        out[get_global_id(0)] = in[get_global_id(0)];
}

kernel void increment(global uint *p, uint n)
{
    if (get_global_id(0) < n)
        p[get_global_id(0)]++;
}

kernel void scalars(global ulong *out, uchar a, short b, uint c, long d, float e, double f)
{
    out[0] = a;
    out[1] = (ushort)b;
    out[2] = c;
    out[3] = d;
    out[4] = as_uint(e);
    out[5] = as_ulong(f);
}

struct triple {
    uint v[3];
};

kernel void structure(global uint *out, struct triple s)
{
    out[get_global_id(0)] = s.v[get_global_id(0)];
}

// Neighbours exchange words through local memory that --shared adds.
kernel void exchange(global uint *p, local uint *words)
{
    words[get_local_id(0)] = p[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0)] = words[get_local_id(0) ^ 1];
}

__attribute__((reqd_work_group_size(8, 2, 1))) kernel void fixed(global uint *out)
{
    out[get_local_id(0) + 8 * get_local_id(1)] = get_global_id(1);
}

// Writes far outside when asked to.
kernel void poke(global uint *out, ulong at)
{
    out[at] = 1;
}
