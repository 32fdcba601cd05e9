// Primes up to n: strike out multiples, then test by trial division for comparison.
kernel void strike(global uchar *composite, uint n)
{
    uint p = get_global_id(0) + 2;
    if (p * p > n)
        return;
    for (uint m = p * p; m <= n; m += p)
        composite[m] = 1;
}

kernel void trial(global const uint *in, global uint *is_prime, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    uint v = in[i], result = v > 1;
    for (uint d = 2; d * d <= v; d++)
        if (v % d == 0) {
            result = 0;
            break;
        }
    is_prime[i] = result;
}
