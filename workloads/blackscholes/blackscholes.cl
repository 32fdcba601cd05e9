/* Prices of European options that pay no dividends, an option a thread. */

/* The share of a normal distribution below x, by the polynomial 26.2.17 of Abramowitz and Stegun,
 * Handbook of Mathematical Functions (1964): off by at most 7.5e-8. */
float normal(float x)
{
    float t = 1 / (1 + 0.2316419f * fabs(x));
    float polynomial = t * (0.319381530f + t * (-0.356563782f + t * (1.781477937f +
                       t * (-1.821255978f + t * 1.330274429f))));
    float tail = 0.398942280f * exp(-x * x / 2) * polynomial; /* 1 / sqrt(2 pi) */

    return x > 0 ? 1 - tail : tail;
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void price(__global const float *spots, __global const float *strikes, __global const float *years,
           __global float *calls, __global float *puts, float rate, float volatility, uint count)
{
    uint i = get_global_id(0);

    if (i >= count)
        return;
    float spot = spots[i], strike = strikes[i], time = years[i];
    float spread = volatility * sqrt(time);
    float d = (log(spot / strike) + rate * time) / spread + spread / 2;
    float discounted = strike * exp(-rate * time);
    float up = normal(d), down = normal(d - spread);
    calls[i] = spot * up - discounted * down;
    puts[i] = discounted * (1 - down) - spot * (1 - up);
}
