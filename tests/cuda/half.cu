/* 16-bit floating point: all values there and back, arithmetic against exact references, and the same on host and
 * device. */
#include "check.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

enum {
    N = 65536
};

/* A value of a format rounded from an exact one: by search over all values, which are sorted by bits. */
template <typename T> struct format;
template <> struct format<__half> {
    static const int infinite = 0x7c00;
    static __host__ __device__ __half make(unsigned short bits) { return __ushort_as_half(bits); }
};
template <> struct format<__nv_bfloat16> {
    static const int infinite = 0x7f80;
    static __host__ __device__ __nv_bfloat16 make(unsigned short bits) { return __ushort_as_bfloat16(bits); }
};

template <typename T> static long double value_of(unsigned bits)
{
    if (bits == (unsigned)format<T>::infinite) /* as if exponents went on */
        return 2 * value_of<T>(bits - (bits & -bits));
    return (float)format<T>::make((unsigned short)bits);
}

template <typename T> static unsigned short nearest(long double exact)
{
    if (exact != exact)
        return 0x7fff;
    const unsigned sign = std::signbit(exact) ? 0x8000 : 0;
    const long double size = std::fabs(exact);
    unsigned low = 0, high = format<T>::infinite; /* value(low) <= size, unless it overflows */
    if (size >= value_of<T>(high))
        return (unsigned short)(sign | high);
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        (value_of<T>(middle) <= size ? low : high) = middle;
    }
    const long double down = size - value_of<T>(low), up = value_of<T>(high) - size;
    const unsigned kept = down < up || (down == up && !(low & 1)) ? low : high;
    return (unsigned short)(sign | kept);
}

struct results {
    unsigned short add, sub, mul, div, fma, less, sat, root, pair;
    bool lower, unordered;
};

template <typename T> static __host__ __device__ results compute(T a, T b, T c)
{
    return {(a + b).__x,       (a - b).__x,           (a * b).__x, (a / b).__x, __hfma(a, b, c).__x,
            __hmin(a, b).__x, __hadd_sat(a, b).__x, 0,           0,           a < b,
            __hltu(a, b)};
}

template <typename T> __global__ void kernel(const unsigned short *in, results *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const T a = format<T>::make(in[3 * i]), b = format<T>::make(in[3 * i + 1]),
            c = format<T>::make(in[3 * i + 2]);
    out[i] = compute(a, b, c);
    out[i].root = hsqrt(a).__x;
    out[i].pair = __shfl_xor_sync(~0u, a, 1).__x;
}

static bool same(unsigned short a, unsigned short b, int infinite)
{
    return a == b || ((a & 0x7fff) > infinite && (b & 0x7fff) > infinite); /* any NaN */
}

template <typename T> static void arithmetic()
{
    const int infinite = format<T>::infinite, count = 8192;
    std::vector<unsigned short> in(3 * count);
    std::vector<results> out(count);
    unsigned short *from;
    results *to;
    srand(1);
    for (int i = 0; i < 3 * count; i++) {
        in[i] = (unsigned short)(rand() >> 7);
        if (i % 3 && rand() % 4) /* sums with cancellation and ties need exponents that are near */
            in[i] = (unsigned short)((in[i - 1] & 0xf000) ^ (rand() & 0x8fff));
    }
    OK(cudaMalloc(&from, in.size() * 2));
    OK(cudaMalloc(&to, count * sizeof(results)));
    OK(cudaMemcpy(from, in.data(), in.size() * 2, cudaMemcpyHostToDevice));
    kernel<T><<<count / 128, 128>>>(from, to);
    OK(cudaMemcpy(out.data(), to, count * sizeof(results), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count && failures < 20; i++) {
        const T a = format<T>::make(in[3 * i]), b = format<T>::make(in[3 * i + 1]),
                c = format<T>::make(in[3 * i + 2]);
        const long double x = (float)a, y = (float)b, z = (float)c;
        const results &r = out[i], host = compute(a, b, c);
        CHECK(same(r.add, nearest<T>(x + y), infinite));
        CHECK(same(r.sub, nearest<T>(x - y), infinite));
        CHECK(same(r.mul, nearest<T>(x * y), infinite));
        CHECK(same(r.div, nearest<T>(x / y), infinite));
        CHECK(same(r.root, nearest<T>(std::sqrt(x)), infinite));
        /* exact for half; for bfloat16 only where the exponents are near enough */
        const long double sum = x * y + z;
        if (sum - x * y == z && sum - z == x * y)
            CHECK(same(r.fma, nearest<T>(sum), infinite));
        CHECK(r.lower == (x < y) && r.unordered == !(x >= y));
        CHECK(r.pair == in[3 * (i ^ 1)]);
        CHECK(same(host.add, r.add, infinite) && same(host.mul, r.mul, infinite));
        CHECK(same(host.fma, r.fma, infinite) && same(host.div, r.div, infinite));
        CHECK(same(host.less, r.less, infinite) && same(host.sat, r.sat, infinite));
    }
    OK(cudaFree(from));
    OK(cudaFree(to));
}

__global__ void convert(const float *in, unsigned short *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = in[i];
    out[4 * i] = __float2half_rn(x).__x;
    out[4 * i + 1] = __float2half_rd(x).__x;
    out[4 * i + 2] = __float2half_ru(x).__x;
    out[4 * i + 3] = __float2half_rz(x).__x;
}

static void conversions()
{
    std::vector<float> in(N);
    std::vector<unsigned short> out(4 * N);
    float *from;
    unsigned short *to;
    for (unsigned i = 0; i < N; i++) {
        const float x = __half2float(__ushort_as_half((unsigned short)i));
        CHECK(x != x || __float2half(x).__x == i);
        const float y = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
        CHECK(y != y || __float2bfloat16(y).__x == i);
        in[i] = ldexpf((float)(rand() - RAND_MAX / 2), rand() % 50 - 60);
    }
    OK(cudaMalloc(&from, N * 4));
    OK(cudaMalloc(&to, N * 8));
    OK(cudaMemcpy(from, in.data(), N * 4, cudaMemcpyHostToDevice));
    convert<<<N / 256, 256>>>(from, to);
    OK(cudaMemcpy(out.data(), to, N * 8, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N && failures < 20; i++) {
        const __half down = __ushort_as_half(out[4 * i + 1]), up = __ushort_as_half(out[4 * i + 2]);
        CHECK(out[4 * i] == nearest<__half>(in[i]));
        CHECK((float)down <= in[i] && (float)up >= in[i]);
        CHECK(out[4 * i + 3] == (in[i] < 0 ? up : down).__x);
        CHECK(__float2half_rd(in[i]).__x == out[4 * i + 1] && __float2half_ru(in[i]).__x == out[4 * i + 2]);
    }
    CHECK(__half2int_rn(__float2half(2.5f)) == 2 && __half2int_ru(__float2half(-2.5f)) == -2);
    CHECK(__half2ushort_rz(__float2half(-3)) == 0 && __half2short_rz(__float2half(60000)) == 32767);
    CHECK(__int2half_rz(2049).__x == __float2half(2048).__x && __int2half_ru(2049).__x == __float2half(2050).__x);
}

__global__ void pairs(__half2 *sum, __half *one)
{
    const __half2 a = __floats2half2_rn(threadIdx.x, 2 * threadIdx.x);
    atomicAdd(sum, __hfma2(a, __float2half2_rn(2), __half2half2(__float2half(1))));
    atomicAdd(one + 1, __float2half(0.5f));
}

int main()
{
    __half2 *sum, total;
    conversions();
    arithmetic<__half>();
    arithmetic<__nv_bfloat16>();
    OK(cudaMallocManaged(&sum, 8));
    pairs<<<1, 16>>>(sum, (__half *)(sum + 1));
    OK(cudaDeviceSynchronize());
    total = sum[0];
    CHECK(__low2float(total) == 2 * 120 + 16 && __high2float(total) == 4 * 120 + 16);
    CHECK(__low2float(sum[1]) == 0 && __high2float(sum[1]) == 8);
    CHECK(__hbeq2(total, total) && !__hbne2(total, total) && __hlt2_mask(sum[1], total) == 0xffffffff);
    return done("half");
}
