// targets: clang14 clang19
// The native_ and half_ functions: what the hardware does by itself. Not for PTX: libclc lacks them.
kernel void natives(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float x = in[i], p = fabs(x) + 0.125f;
    global float *o = out + 14 * i;
    o[0] = native_sin(x);
    o[1] = native_cos(x);
    o[2] = native_sin(x) + native_cos(x); // ROCm 6's native_tan scales its argument twice
    o[3] = native_exp(x);
    o[4] = native_exp2(x);
    o[5] = native_log(p);
    o[6] = native_log2(p);
    o[7] = native_log10(p);
    o[8] = native_sqrt(p);
    o[9] = native_rsqrt(p);
    o[10] = native_recip(p);
    o[11] = native_divide(x, p);
    o[12] = native_powr(p, 0.75f);
    o[13] = native_exp10(x * 0.25f);
}

kernel void halves(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float x = in[i], p = fabs(x) + 0.125f;
    global float *o = out + 8 * i;
    o[0] = half_sin(x);
    o[1] = half_cos(x);
    o[2] = half_exp(x);
    o[3] = half_log2(p);
    o[4] = half_sqrt(p);
    o[5] = half_rsqrt(p);
    o[6] = half_recip(p);
    o[7] = half_powr(p, 1.5f);
}
