// Floats in vectors: gravity, rotation by quaternions, bilinear sampling, knapsack by rows.
kernel void gravity(global const float4 *body, global float4 *out, int n)
{
    local float4 tile[32];
    int i = get_global_id(0);
    float4 me = body[i], sum = (float4)(0.0f);
    for (int t = 0; t < n; t += 32) {
        tile[get_local_id(0)] = body[t + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 32; k++) {
            float4 d = tile[k] - me;
            float r2 = fma(d.x, d.x, fma(d.y, d.y, fma(d.z, d.z, 0.5f)));
            sum += d * (tile[k].w / (r2 * sqrt(r2)));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = sum;
}

kernel void turn(global const float4 *q, global const float4 *v, global float4 *out)
{
    int i = get_global_id(0);
    float4 a = q[i], p = v[i];
    float4 t = 2.0f * (a.yzxw * p.zxyw - a.zxyw * p.yzxw);
    float4 r = p + a.w * t + (a.yzxw * t.zxyw - a.zxyw * t.yzxw);
    r.w = p.w;
    out[i] = r;
}

kernel void sample(global const float *image, int w, int h, global const float2 *at,
                   global float *out)
{
    int i = get_global_id(0);
    float2 p = clamp(at[i], (float2)(0.0f), (float2)(w - 1, h - 1));
    float2 base = floor(p), f = p - base;
    int x = base.x, y = base.y, x1 = min(x + 1, w - 1), y1 = min(y + 1, h - 1);
    float top = fma(f.x, image[y * w + x1] - image[y * w + x], image[y * w + x]);
    float bottom = fma(f.x, image[y1 * w + x1] - image[y1 * w + x], image[y1 * w + x]);
    out[i] = fma(f.y, bottom - top, top);
}

kernel void knapsack(global const uint *before, global uint *after, int capacity, int weight,
                     uint value)
{
    int c = get_global_id(0);
    if (c > capacity)
        return;
    uint best = before[c];
    if (c >= weight)
        best = max(best, before[c - weight] + value);
    after[c] = best;
}
