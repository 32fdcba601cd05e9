// A binomial option tree in local memory, and Horner polynomials by structures in constant memory.
struct option {
    float spot, strike, up, down, chance, discount;
};

// One group of 65 work-items an option with 64 steps: the block is not a multiple of a warp.
kernel void binomial(global const struct option *options, global float *price)
{
    local float value[66];
    int t = get_local_id(0);
    struct option o = options[get_group_id(0)];
    float s = o.spot;
    for (int k = 0; k < 64; k++)
        s *= k < t ? o.up : o.down;
    value[t] = fmax(s - o.strike, 0.0f);
    for (int step = 64; step > 0; step--) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float v = 0.0f;
        if (t < step)
            v = o.discount * fma(o.chance, value[t + 1], (1.0f - o.chance) * value[t]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < step)
            value[t] = v;
    }
    if (t == 0)
        price[get_group_id(0)] = value[0];
}

struct polynomial {
    int degree;
    float c[7];
};

kernel void horner(constant struct polynomial *p, struct polynomial extra, global const float *x,
                   global float *out, int count)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k <= count; k++) {
        float r = 0.0f;
        int degree = k < count ? p[k].degree : extra.degree;
        for (int d = degree; d >= 0; d--)
            r = fma(r, x[i], k < count ? p[k].c[d] : extra.c[d]);
        sum += r;
    }
    out[i] = sum;
}
