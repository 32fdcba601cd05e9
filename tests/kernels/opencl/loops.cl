// targets: ptx clang14 clang19 debug
// Loops every work-item leaves in its own way: break, continue, return, goto, nests.
kernel void mandelbrot(global int *out, int w, int h, float x0, float y0, float step, int limit)
{
    int px = get_global_id(0), py = get_global_id(1);
    if (px >= w || py >= h)
        return;
    float cr = fma((float)px, step, x0), ci = fma((float)py, step, y0), zr = 0.0f, zi = 0.0f;
    int k = 0;
    for (; k < limit; k++) {
        float r2 = zr * zr, i2 = zi * zi;
        if (r2 + i2 > 4.0f)
            break;
        zi = fma(2.0f * zr, zi, ci);
        zr = r2 - i2 + cr;
    }
    out[py * w + px] = k;
}

kernel void collatz(global const uint *in, global uint *steps, global ulong *peak, uint limit)
{
    int i = get_global_id(0);
    ulong v = in[i], top = v;
    uint k = 0;
    while (v != 1) {
        if (++k > limit) {
            steps[i] = ~0u;
            return;
        }
        v = v & 1 ? 3 * v + 1 : v >> 1;
        top = max(top, v);
    }
    steps[i] = k;
    peak[i] = top;
}

// Pairs (a, b) with a * a + b * b = n, by a nest with continue, break and a way out of both.
kernel void two_squares(global const uint *in, global uint *out, uint most)
{
    int i = get_global_id(0);
    uint n = in[i], count = 0, last = 0;
    for (uint a = 0; a * a <= n; a++) {
        if (n % 4 == 3)
            break;
        if (a % 2 == 1 && n % 8 == 4)
            continue;
        for (uint b = a; a * a + b * b <= n; b++)
            if (a * a + b * b == n) {
                last = a << 16 | b;
                if (++count == most)
                    goto enough;
            }
    }
enough:
    out[2 * i] = count;
    out[2 * i + 1] = last;
}

// A state machine made of gotos: no loop has one head.
kernel void tangled(global const uchar *text, global const int *length, global int *out, int stride)
{
    int i = get_global_id(0), at = 0, n = length[i], score = 0;
    global const uchar *p = text + i * stride;
    if (n & 1)
        goto odd;
even:
    if (at >= n)
        goto done;
    score = score * 2 + p[at];
    at++;
    if (p[at - 1] & 4)
        goto even;
odd:
    if (at >= n)
        goto done;
    score = score * 3 - p[at];
    at += 1 + (p[at] & 1);
    if (score & 8)
        goto odd;
    goto even;
done:
    out[i] = score;
}

// Barriers in a loop whose bound all work-items share, work inside that they do not.
kernel void rounds(global const uint *in, global uint *out, int count)
{
    local uint s[96];
    int t = get_local_id(0), n = get_local_size(0);
    s[t] = in[get_global_id(0)];
    for (int r = 0; r < count; r++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint v = s[(t + r) % n], k = 0;
        while (v & 1 && k < 5) {
            v = v * 1664525u + 1013904223u;
            k++;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        s[t] ^= v + k;
    }
    out[get_global_id(0)] = s[t];
}
