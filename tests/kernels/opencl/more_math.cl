// targets: clang14 clang19
// The rest of the math library: what returns two values, special functions, edges.
kernel void special(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float x = in[i], p = fabs(x) + 0.25f, second;
    int whole;
    global float *o = out + 20 * i;
    o[0] = sincos(x, &second);
    o[1] = second;
    o[2] = fract(x, &second);
    o[3] = second;
    o[4] = modf(x, &second);
    o[5] = second;
    o[6] = frexp(x, &whole);
    o[7] = whole;
    o[8] = remquo(x, 0.7f, &whole);
    o[9] = whole & 7;
    o[10] = erf(x * 0.2f);
    o[11] = tgamma(p * 0.25f);
    o[12] = log1p(p);
    o[13] = expm1(x * 0.1f);
    o[14] = acos(x * 0.05f);
    o[15] = ilogb(p);
    o[16] = logb(p);
    o[17] = nextafter(x, 100.0f);
    o[18] = pown(p, 3);
    o[19] = rootn(p, 3);
}

// x, y from the host: infinities, NaN, zeros, subnormals.
kernel void edges(global const float *a, global const float *b, global uint *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    global uint *o = out + 10 * i;
    o[0] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
    o[1] = isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | (signbit(x) != 0) << 3;
    o[2] = isunordered(x, y) | isless(x, y) << 1 | islessequal(x, y) << 2;
    o[3] = as_uint(fmin(x, y));
    o[4] = as_uint(fmax(x, y));
    o[5] = as_uint(fabs(x));
    o[6] = as_uint(copysign(x, y));
    o[7] = as_uint(trunc(x));
    o[8] = convert_int_sat(x);
    o[9] = convert_uchar_sat_rte(x);
}
