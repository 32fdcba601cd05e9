// Math functions of libclc in single and double precision, and the exact ones.
kernel void math32(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float x = in[i], p = fabs(x) + 0.01f;
    global float *o = out + 16 * i;
    o[0] = sin(x);
    o[1] = cos(x);
    o[2] = tan(x);
    o[3] = exp(x * 0.25f);
    o[4] = log(p);
    o[5] = pow(p, x * 0.125f);
    o[6] = atan2(x, 1.5f);
    o[7] = asin(clamp(x * 0.05f, -1.0f, 1.0f));
    o[8] = exp2(x * 0.5f);
    o[9] = log10(p);
    o[10] = tanh(x);
    o[11] = cbrt(x);
    o[12] = hypot(x, 2.0f);
    o[13] = rsqrt(p);
    o[14] = fmod(x, 0.75f);
    o[15] = sinh(x * 0.25f);
}

kernel void exact32(global const float *a, global const float *b, global float *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    global float *o = out + 12 * i;
    o[0] = sqrt(fabs(x));
    o[1] = x / y;
    o[2] = floor(x) + ceil(y);
    o[3] = trunc(x) - rint(y);
    o[4] = round(x);
    o[5] = fmin(x, y) * fmax(x, y);
    o[6] = copysign(x, y);
    o[7] = ldexp(x, 3);
    o[8] = mix(x, y, 0.25f);
    o[9] = step(x, y) + sign(x);
    o[10] = isnan(x / 0.0f - x / 0.0f) ? 1.0f : 2.0f;
    o[11] = clamp(x, -1.0f, 1.0f);
}

kernel void math64(global const double *in, global double *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    double x = in[i], p = fabs(x) + 0.01;
    global double *o = out + 8 * i;
    o[0] = sin(x);
    o[1] = cos(x);
    o[2] = exp(x * 0.25);
    o[3] = log(p);
    o[4] = pow(p, x * 0.125);
    o[5] = atan(x);
    o[6] = sqrt(p);
    o[7] = 1.0 / x;
}
