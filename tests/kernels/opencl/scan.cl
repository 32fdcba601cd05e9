// targets: ptx clang14 clang19 v4
// Local memory the host sizes, beside arrays of the kernel: scans, transposition, products.
kernel void scan(global const uint *in, global uint *out, global uint *sums, local uint *a,
                 local uint *b, int n)
{
    local uint total;
    int t = get_local_id(0), size = get_local_size(0), i = get_global_id(0);
    a[t] = i < n ? in[i] : 0;
    if (t == 0)
        total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&total, a[t]);
    for (int d = 1; d < size; d *= 2) {
        b[t] = t >= d ? a[t] + a[t - d] : a[t];
        barrier(CLK_LOCAL_MEM_FENCE);
        local uint *swap = a;
        a = b;
        b = swap;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        out[i] = t > 0 ? a[t - 1] : 0;
    if (t == 0)
        sums[get_group_id(0)] = total;
}

kernel void add_sums(global uint *out, global const uint *sums, int n)
{
    int i = get_global_id(0);
    uint before = 0;
    for (uint g = 0; g < get_group_id(0); g++)
        before += sums[g];
    if (i < n)
        out[i] += before;
}

// Tiles of 16 x 16 with a column to spare; the matrix need not fill them.
kernel void transpose(global const float *in, global float *out, int w, int h)
{
    local float tile[16][17];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_group_id(0) * 16 + lx, y = get_group_id(1) * 16 + ly;
    if (x < w && y < h)
        tile[ly][lx] = in[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * 16 + lx;
    y = get_group_id(0) * 16 + ly;
    if (x < h && y < w)
        out[y * h + x] = tile[lx][ly];
}

__attribute__((reqd_work_group_size(16, 16, 1))) kernel void
matmul16(global const float *a, global const float *b, global float *c, int n)
{
    local float ta[16][16], tb[16][16];
    int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += 16) {
        ta[ly][lx] = y < n && t + lx < n ? a[y * n + t + lx] : 0.0f;
        tb[ly][lx] = x < n && t + ly < n ? b[(t + ly) * n + x] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++)
            sum = fma(ta[ly][k], tb[k][lx], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < n && y < n)
        c[y * n + x] = sum;
}

// Local memory as bytes, shorts, longs and vectors: the same words seen in every width.
kernel void widths(global const uint *in, global uint *out, local uchar *bytes)
{
    int t = get_local_id(0), n = get_local_size(0);
    local ushort *shorts = (local ushort *)bytes;
    local uint *words = (local uint *)bytes;
    local ulong *longs = (local ulong *)bytes;
    local uint4 *quads = (local uint4 *)bytes;
    words[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = bytes[(t * 7) % (4 * n)] + (char)bytes[t] + shorts[(t * 5) % (2 * n)] +
               (short)shorts[t] + (uint)(longs[t / 2] >> 13) + quads[t / 4].z;
    barrier(CLK_LOCAL_MEM_FENCE);
    bytes[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t % 8 == 0)
        longs[t / 8] = longs[t / 8] * 0x100000001b3ul + shorts[2 * n - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < n / 4)
        shorts[n + t] = sum >> 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = words[t] ^ sum << 16;
}
