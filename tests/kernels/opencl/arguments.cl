// targets: ptx clang14 clang19 v4
// Arguments by value: every size and alignment, vectors, structures of mixed members.
kernel void scalars(global ulong *out, char c, uchar uc, short s, ushort us, int i, uint ui, long l,
                    ulong ul, float f, double d)
{
    if (get_global_id(0))
        return;
    out[0] = c;
    out[1] = uc;
    out[2] = s;
    out[3] = us;
    out[4] = i;
    out[5] = ui;
    out[6] = l;
    out[7] = ul;
    out[8] = as_uint(f);
    out[9] = as_ulong(d);
}

kernel void vectors(char2 a, global int *out, uchar3 b, short4 c, int3 d, float2 e, char16 f,
                    uchar last)
{
    int i = get_global_id(0);
    out[16 * i] = a.x * 2 + a.y;
    out[16 * i + 1] = b.x + b.y * 3 + b.z * 5;
    out[16 * i + 2] = c.x + c.y - c.z + c.w;
    out[16 * i + 3] = d.x ^ d.y ^ d.z;
    out[16 * i + 4] = as_int(e.x) + as_int(e.y);
    out[16 * i + 5] = f.s0 + f.s7 * 2 + f.sf * 3;
    out[16 * i + 6] = last;
    out[16 * i + 7] = ((char *)&f)[i & 15];
}

struct inner {
    short a;
    char b[3];
};
struct outer {
    char tag;
    double weight;
    struct inner parts[4];
    int3 where;
    uchar flags;
};

kernel void nested(struct outer first, int gap, struct inner alone, global const struct outer *array,
                   global long *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    struct outer o = array[i];
    int k = i & 3;
    long sum = first.tag + (long)(first.weight * 8.0) + first.where.y + first.flags + gap;
    sum += first.parts[k].a * first.parts[(k + 1) & 3].b[i % 3];
    sum += alone.a + alone.b[2];
    sum = sum * 3 + o.tag + (long)o.weight + o.parts[k].a - o.parts[k].b[1] + o.where.z * o.flags;
    out[i] = sum;
}

// Buffers whose addresses lie in a buffer.
kernel void through(global const ulong *addresses, global const uint *length, global uint *out)
{
    int i = get_global_id(0);
    global const uint *p = (global const uint *)addresses[i];
    uint sum = 0;
    for (uint k = 0; k < length[i]; k++)
        sum = sum * 3 + p[k];
    out[i] = sum;
}
