// flags: -ffp-contract=fast
// targets: ptx clang14 clang19 v4
// Sums of products where the compiler may fuse or not, mad(), and the geometric functions: what a
// kernel without our options becomes. The results have a bound, not one value.
kernel void dots(global const float4 *a, global const float4 *b, global float *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float4 x = a[i], y = b[i];
    global float *o = out + 6 * i;
    o[0] = dot(x, y);
    o[1] = length(x);
    o[2] = distance(x, y);
    o[3] = mad(x.x, y.x, x.y);
    o[4] = x.x * y.x + x.y * y.y - x.z * y.z;
    o[5] = normalize(x).y;
}

kernel void convolve(global const float *in, constant float *taps, global float *out, int count)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < count; k++)
        sum += in[i + k] * taps[k];
    out[i] = sum;
}

kernel void bodies(global const float4 *body, global float4 *out, int n, float soft)
{
    int i = get_global_id(0);
    float4 me = body[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 d = body[j] - me;
        float r2 = d.x * d.x + d.y * d.y + d.z * d.z + soft;
        float s = body[j].w * rsqrt(r2) / r2;
        ax += d.x * s;
        ay += d.y * s;
        az += d.z * s;
    }
    out[i] = (float4)(ax, ay, az, 0.0f);
}
