// Every 32-bit atomic in local memory, without and with the old value.
kernel void local_atomics(global const int *in, global int *out, int n)
{
    local int s[9];
    local uint u[2];
    int t = get_local_id(0), i = get_global_id(0);
    if (t < 9)
        s[t] = t == 2 ? INT_MAX : t == 3 ? INT_MIN : t == 4 ? -1 : 0;
    if (t == 0) {
        u[0] = ~0u;
        u[1] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) {
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
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 11)
        out[11 * get_group_id(0) + t] = t < 9 ? s[t] : (int)u[t - 9];
}

// Work-items enter a queue in the order of their tickets; which one is first is not said.
kernel void queue(global const uint *in, global uint *out, global uint *counts, uint limit)
{
    local uint count, last, kept[256];
    uint t = get_local_id(0), v = in[get_global_id(0)];
    if (t == 0) {
        count = 0;
        last = 0xffffffffu;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (v < limit)
        kept[atomic_inc(&count)] = v;
    if (v % 7 == 0)
        atomic_xchg(&last, v);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < count)
        out[get_group_id(0) * get_local_size(0) + t] = kept[t];
    if (t == 0) {
        counts[2 * get_group_id(0)] = count;
        counts[2 * get_group_id(0) + 1] = last;
    }
}

// The last group to finish adds the sums of all: a counter and a fence.
kernel void last_group(global const uint *in, global uint *part, global uint *counter,
                       global uint *total)
{
    local uint sum, order;
    uint t = get_local_id(0);
    if (t == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, in[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t == 0) {
        part[get_group_id(0)] = sum;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        order = atomic_inc(counter);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (order == get_num_groups(0) - 1 && t == 0) {
        uint all = 0;
        for (uint g = 0; g < get_num_groups(0); g++)
            all += ((volatile global uint *)part)[g];
        *total = all;
    }
}

// Old values: each work-item has words of its own, in local and in global memory, so that they are
// known; every operation follows the one before on the same word.
#define EVERY(p, v, o)                                                                             \
    o[0] = atomic_xchg(p, v);                                                                      \
    o[1] = atomic_add(p, 77);                                                                      \
    o[2] = atomic_sub(p, v >> 3);                                                                  \
    o[3] = atomic_min(p, v ^ 0x1234);                                                              \
    o[4] = atomic_max(p, v >> 1);                                                                  \
    o[5] = atomic_and(p, v | 0xff00ff);                                                            \
    o[6] = atomic_or(p, v & 0xf0f0f0);                                                             \
    o[7] = atomic_xor(p, v << 5);                                                                  \
    o[8] = atomic_inc(p);                                                                          \
    o[9] = atomic_dec(p);                                                                          \
    o[10] = atomic_cmpxchg(p, v, 5);                                                               \
    o[11] = atomic_cmpxchg(p, o[10], v);                                                           \
    o[12] = *p

kernel void old_values(global const int *in, global int *words, global int *out)
{
    local int mine[100];
    int t = get_local_id(0), i = get_global_id(0), v = in[i];
    mine[t] = v + 1;
    global int *o = out + 52 * i;
    EVERY((&mine[t]), v, o);
    global int *p = words + i;
    o += 13;
    EVERY(p, v, o);
    volatile local uint *u = (volatile local uint *)&mine[t];
    volatile global uint *w = (volatile global uint *)p;
    o += 13;
    o[0] = atomic_min(u, (uint)v / 2);
    o[1] = atomic_max(u, (uint)v);
    o[2] = atomic_min(w, (uint)v / 2);
    o[3] = atomic_max(w, (uint)v);
    o[4] = *u;
    o[5] = *w;
}

// A float sum by exchange; the terms are whole numbers, so that no order rounds.
kernel void float_sum(global const float *in, global uint *sum, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    uint old = *(volatile global uint *)sum, seen;
    for (;;) {
        seen = atomic_cmpxchg(sum, old, as_uint(as_float(old) + in[i]));
        if (seen == old)
            break;
        old = seen;
    }
}
