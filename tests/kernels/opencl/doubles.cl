// Doubles: exact operations, rounding, comparisons with NaN, conversions; Newton and an integral.
kernel void exact64(global const double *a, global const double *b, global double *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    double x = a[i], y = b[i];
    global double *o = out + 14 * i;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x / y;
    o[4] = sqrt(fabs(x));
    o[5] = fma(x, y, -x);
    o[6] = floor(x) + 2.0 * ceil(y);
    o[7] = trunc(x) + 2.0 * rint(y);
    o[8] = fmin(x, y) - fmax(x, y);
    o[9] = copysign(x, y);
    o[10] = ldexp(x, 5) + ldexp(y, -40);
    o[11] = (float)x;
    o[12] = (double)(int)x - (double)(uint)fabs(y);
    o[13] = round(x);
}

kernel void compare64(global const double *a, global const double *b, global uint *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    double x = a[i], y = b[i];
    uint bits = 0;
    bits |= (x < y) << 0 | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3;
    bits |= (x == y) << 4 | (x != y) << 5 | !(x < y) << 6 | !(x >= y) << 7;
    bits |= isnan(x) << 8 | isinf(x) << 9 | signbit(x) << 10 | isfinite(y) << 11;
    bits |= isordered(x, y) << 12 | islessgreater(x, y) << 13;
    out[i] = bits;
}

// Simpson's rule for sqrt(1 + x * x) between 0 and a bound; the loop is exact in its order.
kernel void simpson(global const double *bound, global double *out, int steps)
{
    double h = bound[get_global_id(0)] / steps, sum = 0.0;
    for (int k = 0; k <= steps; k++) {
        double x = k * h, w = k == 0 || k == steps ? 1.0 : k & 1 ? 4.0 : 2.0;
        sum = fma(w, sqrt(fma(x, x, 1.0)), sum);
    }
    out[get_global_id(0)] = sum * h / 3.0;
}

// Kepler's equation m = e - q * sin(e) by Newton until it stands: math in a divergent loop.
kernel void kepler(global const double *m, double q, global double *e)
{
    double x = m[get_global_id(0)];
    for (int k = 0; k < 50; k++) {
        double step = (x - q * sin(x) - m[get_global_id(0)]) / (1.0 - q * cos(x));
        x -= step;
        if (fabs(step) < 1e-14)
            break;
    }
    e[get_global_id(0)] = x;
}
