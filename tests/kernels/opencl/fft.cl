// 64-point complex FFT, radix 2 in local memory, one group a signal; twiddles from the host.
#define N 64

kernel void fft(global const float2 *in, global float2 *out, constant float2 *twiddle)
{
    local float2 s[N];
    int t = get_local_id(0), base = get_group_id(0) * N;
    for (int h = 0; h < 2; h++) {
        int i = t + h * (N / 2), r = 0;
        for (int b = 0; b < 6; b++)
            r |= (i >> b & 1) << (5 - b);
        s[r] = in[base + i];
    }
    for (int half_size = 1; half_size < N; half_size *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int k = t % half_size, lo = 2 * (t - k) + k, hi = lo + half_size;
        float2 w = twiddle[k * (N / 2 / half_size)];
        float2 a = s[lo], b = s[hi];
        float2 m = (float2)(fma(b.x, w.x, -(b.y * w.y)), fma(b.x, w.y, b.y * w.x));
        s[lo] = a + m;
        s[hi] = a - m;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + t] = s[t];
    out[base + t + N / 2] = s[t + N / 2];
}
