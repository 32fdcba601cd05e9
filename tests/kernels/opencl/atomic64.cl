// targets: clang14 clang19
// 64-bit atomics in global and local memory. Not for PTX: libclc has none there.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

kernel void atomics64(global const long *in, global long *s, global ulong *u, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    long v = in[i];
    atom_add(&s[0], v);
    atom_sub(&s[1], v);
    atom_min(&s[2], v);
    atom_max(&s[3], v);
    atom_and(&s[4], v | 0xffff0000ffffl);
    atom_or(&s[5], v & 0x00ff00ff00ff00ffl);
    atom_xor(&s[6], v);
    atom_inc(&s[7]);
    atom_dec(&s[8]);
    atom_min(&u[0], (ulong)v);
    atom_max(&u[1], (ulong)v);
    atom_add(&u[2], (ulong)atom_xchg(&s[9], v));
}

kernel void local64(global const ulong *in, global ulong *out, int n)
{
    local ulong sum, low, high, bits, product;
    if (get_local_id(0) == 0) {
        sum = high = bits = 0;
        low = ~0ul;
        product = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((int)get_global_id(0) < n) {
        ulong v = in[get_global_id(0)], seen = product, old;
        atom_add(&sum, v);
        atom_min(&low, v);
        atom_max(&high, v);
        atom_xor(&bits, v);
        do {
            old = seen;
            seen = atom_cmpxchg(&product, old, old * (v | 1));
        } while (seen != old);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        global ulong *o = out + 5 * get_group_id(0);
        o[0] = sum;
        o[1] = low;
        o[2] = high;
        o[3] = bits;
        o[4] = product;
    }
}

// Values that atomics return: each ticket once.
kernel void tickets(global ulong *counter, global uint *taken, uint n)
{
    for (int k = 0; k < 3; k++) {
        ulong mine = atom_add(counter, 1ul << 32 | 1ul);
        if ((uint)mine < n && (uint)(mine >> 32) == (uint)mine)
            atomic_inc(&taken[(uint)mine]);
    }
}
