/*
 * Monte Carlo in the LIBOR market model (Brace, Gatarek and Musiela, 1997): a thread follows the
 * forward rates of RATES periods over STEPS of them, a period a step, driven by one normal draw
 * each, and then prices swaptions on the rates that are left. `slopes` also has, by going all the
 * way back (Giles and Glasserman, 2006), how much the price changes with the last starting rate.
 *
 * A thread's rates are arrays of its own with computed indices, so they are in local memory.
 */
#define PERIOD 0.25f /* years */
#define START 0.05f  /* every rate at first */
#define NOTIONAL 100.0f

/* Loops stay loops: unrolled as far as compilers go for such arrays, they take them seconds. */
#define ROLLED _Pragma("unroll 1")

/* Normal draws of a path. */
void draw(float *draws, __global const float *normals, uint path, uint paths)
{
    ROLLED
    for (int n = 0; n < STEPS; n++)
#if EQUAL_DRAWS
        draws[n] = 0.3f;
#else
        draws[n] = normals[n * paths + path];
#endif
}

/* One step in time: rate n is paid then and stays, those behind it move. */
void advance(float *rates, int n, float draw, __constant float *volatilities)
{
    float shock = sqrt(PERIOD) * draw, drift = 0;

    ROLLED
    for (int i = n + 1; i < RATES; i++) {
        float volatility = volatilities[i - n - 1], scaled = PERIOD * volatility;
        drift += native_divide(scaled * rates[i], 1 + PERIOD * rates[i]);
        rates[i] *= native_exp(scaled * drift + volatility * (shock - 0.5f * scaled));
    }
}

/* What 1 at the end of each later period is worth at STEPS, and all payments of PERIOD up to it. */
void discount(const float *rates, float *bonds, float *annuities)
{
    float bond = 1, annuity = 0;

    ROLLED
    for (int n = STEPS; n < RATES; n++) {
        bond = native_divide(bond, 1 + PERIOD * rates[n]);
        annuity += PERIOD * bond;
        bonds[n - STEPS] = bond;
        annuities[n - STEPS] = annuity;
    }
}

/* The price of all swaptions today. */
float price(const float *rates, const float *bonds, const float *annuities,
            __constant int *maturities, __constant float *strikes)
{
    float value = 0, bond = 1;

    ROLLED
    for (int i = 0; i < SWAPTIONS; i++) {
        int last = maturities[i] - 1;
        float swap = bonds[last] + strikes[i] * annuities[last] - 1;
        if (swap < 0)
            value -= NOTIONAL * swap;
    }
    ROLLED
    for (int n = 0; n < STEPS; n++)
        bond = native_divide(bond, 1 + PERIOD * rates[n]);
    return bond * value;
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void values(__global const float *normals, __global float *values, __constant float *volatilities,
            __constant int *maturities, __constant float *strikes, uint paths)
{
    float rates[RATES], draws[STEPS], bonds[RATES - STEPS], annuities[RATES - STEPS];

    ROLLED
    for (uint path = get_global_id(0); path < paths; path += get_global_size(0)) {
        ROLLED
        for (int i = 0; i < RATES; i++)
            rates[i] = START;
        draw(draws, normals, path, paths);
        ROLLED
        for (int n = 0; n < STEPS; n++)
            advance(rates, n, draws[n], volatilities);
        discount(rates, bonds, annuities);
        values[path] = price(rates, bonds, annuities, maturities, strikes);
    }
}

/* How much the price changes with each rate that it is made of: into back[]. */
void price_back(const float *rates, const float *bonds, const float *annuities, float value,
                __constant int *maturities, __constant float *strikes, float *bond_back,
                float *annuity_back, float *back)
{
    float bond = 1, annuity_sum = 0, later = 0;

    ROLLED
    for (int n = 0; n < STEPS; n++) {
        bond = native_divide(bond, 1 + PERIOD * rates[n]);
        back[n] = -native_divide(PERIOD * value, 1 + PERIOD * rates[n]);
    }
    ROLLED
    for (int n = 0; n < RATES - STEPS; n++)
        bond_back[n] = annuity_back[n] = 0;
    ROLLED
    for (int i = 0; i < SWAPTIONS; i++) {
        int last = maturities[i] - 1;
        if (bonds[last] + strikes[i] * annuities[last] - 1 < 0) {
            bond_back[last] -= NOTIONAL * bond;
            annuity_back[last] -= NOTIONAL * bond * strikes[i];
        }
    }
    ROLLED
    for (int n = RATES - 1; n >= STEPS; n--) {
        annuity_sum += annuity_back[n - STEPS];
        later = native_divide(bond_back[n - STEPS] + PERIOD * annuity_sum + later,
                              1 + PERIOD * rates[n]);
        back[n] = -PERIOD * bonds[n - STEPS] * later;
    }
}

/* A step back in time: from changes with the rates behind step n to those with the rates before. */
void retreat(const float *before, const float *behind, float *back, int n,
             __constant float *volatilities)
{
    float drift_back = 0;

    ROLLED
    for (int i = RATES - 1; i > n; i--) {
        float scaled = PERIOD * volatilities[i - n - 1], growth = 1 + PERIOD * before[i];
        drift_back += back[i] * behind[i] * scaled;
        back[i] = native_divide(back[i] * behind[i], before[i]) +
                  native_divide(drift_back * scaled, growth * growth);
    }
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void slopes(__global const float *normals, __global float *values, __global float *slopes,
            __constant float *volatilities, __constant int *maturities, __constant float *strikes,
            uint paths)
{
    float history[STEPS + 1][RATES], draws[STEPS], back[RATES];
    float bonds[RATES - STEPS], annuities[RATES - STEPS];
    float bond_back[RATES - STEPS], annuity_back[RATES - STEPS];

    ROLLED
    for (uint path = get_global_id(0); path < paths; path += get_global_size(0)) {
        ROLLED
        for (int i = 0; i < RATES; i++)
            history[0][i] = START;
        draw(draws, normals, path, paths);
        ROLLED
        for (int n = 0; n < STEPS; n++) {
            ROLLED
            for (int i = 0; i < RATES; i++)
                history[n + 1][i] = history[n][i];
            advance(history[n + 1], n, draws[n], volatilities);
        }
        discount(history[STEPS], bonds, annuities);
        float value = price(history[STEPS], bonds, annuities, maturities, strikes);
        price_back(history[STEPS], bonds, annuities, value, maturities, strikes, bond_back,
                   annuity_back, back);
        ROLLED
        for (int n = STEPS - 1; n >= 0; n--)
            retreat(history[n], history[n + 1], back, n, volatilities);
        values[path] = value;
        slopes[path] = back[RATES - 1];
    }
}
