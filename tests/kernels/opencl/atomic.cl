// Every 32-bit atomic of OpenCL 1.2, in global and local memory; a CAS loop; async copies by hand.
kernel void atomics(global const int *in, global int *s, global uint *u, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    int v = in[i];
    atomic_add(&s[0], v);
    atomic_sub(&s[1], v);
    atomic_min(&s[2], v);
    atomic_max(&s[3], v);
    atomic_and(&s[4], v | 0xff);
    atomic_or(&s[5], v & 0xff00);
    atomic_xor(&s[6], v);
    atomic_inc(&s[7]);
    atomic_dec(&s[8]);
    atomic_min(&u[0], (uint)v);
    atomic_max(&u[1], (uint)v);
    atomic_add(&u[2], (uint)atomic_xchg(&s[9], v));
}

kernel void multiply_all(global const uint *in, global uint *out, int n)
{
    local uint product;
    if (get_local_id(0) == 0)
        product = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((int)get_global_id(0) < n) {
        uint seen = product, old;
        do {
            old = seen;
            seen = atomic_cmpxchg(&product, old, old * (in[get_global_id(0)] | 1));
        } while (seen != old);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = product;
}

// A list per bucket, heads exchanged atomically: the lists hold every item once.
kernel void buckets(global const uint *keys, global int *head, global int *next, int n, int count)
{
    int i = get_global_id(0);
    if (i < n)
        next[i] = atomic_xchg(&head[keys[i] % count], i);
}
