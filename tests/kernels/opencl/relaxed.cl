// flags: -cl-fast-relaxed-math
// targets: clang14 clang19
// Relaxed mathematics: approximate division, fused products, functions of the hardware.
kernel void relaxed(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float x = in[i], p = fabs(x) + 0.5f;
    global float *o = out + 8 * i;
    o[0] = x / p;
    o[1] = sqrt(p);
    o[2] = exp(x * 0.25f);
    o[3] = log(p);
    o[4] = sin(x * 0.2f);
    o[5] = pow(p, 1.25f);
    o[6] = x * x + p * p;
    o[7] = rsqrt(p) + 1.0f / p;
}
