// targets: nvcc
// Kernels that bench/accuracy runs beside GPGPU-Sim's recorded numbers, one for each kind of behaviour.
// Compiled to bench/peer-kernels.ptx by nvcc 13 (-arch=sm_75 -O3 -ptx); bench/peer.ptx has the first three.
// What each computes is checked by bench/accuracy, which also has their sizes and inputs.
// Results of atomic operations are used: GPGPU-Sim implements atom, but not red.
#define KERNEL extern "C" __global__ void

// One step of a five-point stencil. A block loads its tile and a halo; threads at an edge load the halo.
KERNEL stencil(const float *in, float *out, int n)
{
    __shared__ float tile[18][18];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    tile[ty + 1][tx + 1] = in[y * n + x];
    if (tx == 0)
        tile[ty + 1][0] = x > 0 ? in[y * n + x - 1] : 0.0f;
    if (tx == 15)
        tile[ty + 1][17] = x < n - 1 ? in[y * n + x + 1] : 0.0f;
    if (ty == 0)
        tile[0][tx + 1] = y > 0 ? in[(y - 1) * n + x] : 0.0f;
    if (ty == 15)
        tile[17][tx + 1] = y < n - 1 ? in[(y + 1) * n + x] : 0.0f;
    __syncthreads();
    out[y * n + x] = 0.2f * (tile[ty + 1][tx + 1] + tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] +
                             tile[ty + 2][tx + 1]);
}

// A product of matrices with blocks of 1,024 threads, one of which fills a core of gtx480.
KERNEL matmul32(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[32][32], bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 32 + ty, column = blockIdx.x * 32 + tx;
    float sum = 0.0f;
    for (int t = 0; t < n; t += 32) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 32; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// A tree in shared memory: half of the threads leave each round.
KERNEL reduce(const unsigned *in, unsigned *out)
{
    __shared__ unsigned part[256];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    part[t] = in[i] + in[i + 256];
    for (int s = 128; s > 0; s >>= 1) {
        __syncthreads();
        if (t < s)
            part[t] += part[t + s];
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

// An inclusive prefix sum of 512 elements by each block.
KERNEL scan(const unsigned *in, unsigned *out)
{
    __shared__ unsigned sums[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    sums[t] = in[i];
    __syncthreads();
    for (int d = 1; d < 512; d <<= 1) {
        unsigned other = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += other;
        __syncthreads();
    }
    out[i] = sums[t];
}

// 64 counters in shared memory, added to global ones at the end.
KERNEL histogram(const unsigned *in, unsigned *counts, unsigned *seen, int perthread)
{
    __shared__ unsigned local[64];
    int t = threadIdx.x;
    unsigned sum = 0;
    if (t < 64)
        local[t] = 0;
    __syncthreads();
    for (int k = 0; k < perthread; k++)
        sum += atomicAdd(&local[in[(blockIdx.x * perthread + k) * blockDim.x + t] & 63], 1) < 0x80000000u;
    __syncthreads();
    if (t < 64)
        sum += atomicAdd(&counts[t], local[t]) < 0x80000000u;
    seen[blockIdx.x * blockDim.x + t] = sum;
}

// Atomic additions to a table in global memory: the mask says how many words take part.
KERNEL scatteradd(const unsigned *in, unsigned *table, unsigned *seen, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    seen[i] = atomicAdd(&table[in[i] & mask], 1) < 0x80000000u;
}

// One level of a breadth-first search, a node per thread; the host launches a level after the other.
KERNEL bfs(const int *rows, const int *columns, int *depth, int *more, int nodes, int level)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || depth[node] != level)
        return;
    for (int e = rows[node]; e < rows[node + 1]; e++) {
        int next = columns[e];
        if (depth[next] < 0) {
            depth[next] = level + 1;
            more[level] = 1;
        }
    }
}

// A bitonic sorting network over 512 elements of each block, two per thread.
KERNEL bitonic(unsigned *data)
{
    __shared__ unsigned keys[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    keys[t] = data[base + t];
    keys[t + 256] = data[base + t + 256];
    for (int size = 2; size <= 512; size <<= 1)
        for (int stride = size >> 1; stride > 0; stride >>= 1) {
            __syncthreads();
            int low = 2 * t - (t & (stride - 1));
            unsigned a = keys[low], b = keys[low + stride];
            if ((a > b) == ((low & size) == 0)) {
                keys[low] = b;
                keys[low + stride] = a;
            }
        }
    __syncthreads();
    data[base + t] = keys[t];
    data[base + t + 256] = keys[t + 256];
}

// Nothing but special functions, each depending on the one before.
KERNEL special(const float *in, float *out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    for (int k = 0; k < steps; k++) {
        asm("sin.approx.f32 %0, %0;" : "+f"(v));
        asm("ex2.approx.f32 %0, %0;" : "+f"(v));
        asm("lg2.approx.f32 %0, %0;" : "+f"(v));
        asm("cos.approx.f32 %0, %0;" : "+f"(v));
        v = v * v + 1.0f;
        asm("rsqrt.approx.f32 %0, %0;" : "+f"(v));
    }
    out[i] = v;
}

// A polynomial in double precision.
KERNEL horner(const double *in, double *out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i], sum = 1.0;
    for (int k = 0; k < steps; k++)
        sum = sum * x + 0.5;
    out[i] = sum;
}

// Greatest common divisors: integer remainders in loops whose length depends on the data.
KERNEL gcd(const unsigned *a, const unsigned *b, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i];
    while (y) {
        unsigned r = x % y;
        x = y;
        y = r;
    }
    out[i] = x;
}

// Neighbours exchange a value through shared memory again and again, with a barrier each time.
KERNEL barriers(unsigned *data, int rounds)
{
    __shared__ unsigned ring[2][1024];
    int t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t;
    unsigned v = data[i];
    for (int k = 0; k < rounds; k++) {
        ring[k & 1][t] = v;
        __syncthreads();
        v += ring[k & 1][(t + 1) & (n - 1)];
    }
    data[i] = v;
}

// Chains of dependent arithmetic: in many tiny blocks, or in one long one.
KERNEL chain(unsigned *data, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = data[i];
    for (int k = 0; k < steps; k++)
        v = (v ^ (v >> 3)) + 0x9e3779b9u;
    data[i] = v;
}

// Constant memory: the same word for all threads, then one of 64 for each.
__constant__ float weights[64] = {
    0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f, 8.5f, 9.5f, 10.5f, 11.5f, 12.5f, 13.5f, 14.5f, 15.5f,
    0.25f, 1.25f, 2.25f, 3.25f, 4.25f, 5.25f, 6.25f, 7.25f, 8.25f, 9.25f, 10.25f, 11.25f, 12.25f, 13.25f, 14.25f, 15.25f,
    0.75f, 1.75f, 2.75f, 3.75f, 4.75f, 5.75f, 6.75f, 7.75f, 8.75f, 9.75f, 10.75f, 11.75f, 12.75f, 13.75f, 14.75f, 15.75f,
    1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f, 9.0f, 10.0f, 11.0f, 12.0f, 13.0f, 14.0f, 15.0f, 16.0f};
KERNEL constants(const unsigned *in, float *out, int spread)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = in[i];
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < 64; k++)
        sum += weights[k] * weights[(k + (at & spread)) & 63];
    out[i] = sum;
}

// An array of each thread that is indexed by data, and therefore lives in local memory.
KERNEL local(const unsigned *in, unsigned *out, int steps)
{
    unsigned bins[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
#pragma unroll 1
    for (int k = 0; k < 16; k++)
        bins[k] = v + k;
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        v = v * 1664525u + 1013904223u;
        bins[v >> 28] += v & 0xff;
    }
    unsigned sum = 0;
#pragma unroll 1
    for (int k = 0; k < 16; k++)
        sum = sum * 3 + bins[k];
    out[i] = sum;
}

// Stores only: each thread fills one word in each of several rows.
KERNEL fill(unsigned *out, int rows, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rows; r++)
        out[r * width + i] = i + r;
}

// Loads a constant number of words apart.
KERNEL strided(const unsigned *in, unsigned *out, int stride, int steps, int mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int k = 0; k < steps; k++)
        sum += in[(i * stride + k) & mask];
    out[i] = sum;
}

// Loads from anywhere: addresses are data.
KERNEL gather(const unsigned *index, const unsigned *table, unsigned *out, int steps, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = index[i], sum = 0;
    for (int k = 0; k < steps; k++) {
        sum += table[at & mask];
        at = at * 1664525u + 1013904223u;
    }
    out[i] = sum;
}

// Shared-memory accesses whose lanes are 1, 2, 4, 8, 16 and 32 words apart: conflicts of each degree.
KERNEL conflicts(unsigned *data, int steps)
{
    __shared__ unsigned words[2048];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    unsigned v = data[i];
    for (int k = t; k < 2048; k += blockDim.x)
        words[k] = v + k;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < steps; k++)
#pragma unroll 1
        for (int stride = 1; stride <= 32; stride <<= 1)
            v += words[(t * stride + k) & 2047];
    data[i] = v;
}

// A transposed matrix, by tiles without padding: the column of a tile is in one bank.
KERNEL transpose(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned tile[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx];
    __syncthreads();
    out[(blockIdx.x * 16 + ty) * n + blockIdx.y * 16 + tx] = tile[tx][ty];
}

// Branches on data: up to eight paths in a warp, and loops of different length.
KERNEL divergent(const unsigned *in, unsigned *out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        if (v & 1) {
            if (v & 2)
                v = v * 5 + 1;
            else
                v = (v >> 1) ^ 0x5a5a5a5au;
        } else if (v & 4) {
#pragma unroll 1
            for (unsigned j = v & 7; j > 0; j--)
                v = v * 3 + j;
        } else {
            v = (v << 3) | (v >> 29);
        }
        v = v * 1664525u + 1013904223u;
    }
    out[i] = v;
}

// A sparse matrix times a vector, a row per thread.
KERNEL spmv(const int *rows, const int *columns, const float *values, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int e = rows[row]; e < rows[row + 1]; e++)
        sum += values[e] * x[columns[e]];
    y[row] = sum;
}

// Gravitation of all bodies upon each, by tiles in shared memory.
KERNEL nbody(const float4 *bodies, float4 *pull, int n)
{
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = bodies[i], sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int base = 0; base < n; base += 64) {
        tile[threadIdx.x] = bodies[base + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 64; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float r;
            asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(dx * dx + dy * dy + dz * dz + 0.01f));
            float w = tile[k].w * r * r * r;
            sum.x += w * dx;
            sum.y += w * dy;
            sum.z += w * dz;
        }
        __syncthreads();
    }
    pull[i] = sum;
}

// A transposed matrix without tiles: the lanes of a warp store a row apart.
KERNEL transpose_naive(const unsigned *in, unsigned *out, int n)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}

// Prices of European options by the formula of Black and Scholes: long arithmetic on streams.
static __device__ float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d)), power;
    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(-0.72134752f * d * d));
    float tail = 0.39894228f * power *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0.0f ? 1.0f - tail : tail;
}

KERNEL blackscholes(const float *price, const float *strike, const float *years, float *call, float *put, int n)
{
    const float rate = 0.02f, volatility = 0.3f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float s = price[i], x = strike[i], t = years[i], root = sqrtf(t), ratio, discount;
        asm("lg2.approx.f32 %0, %1;" : "=f"(ratio) : "f"(s / x));
        float d1 = (0.69314718f * ratio + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root, n1 = normal(d1), n2 = normal(d2);
        asm("ex2.approx.f32 %0, %1;" : "=f"(discount) : "f"(-1.44269504f * rate * t));
        call[i] = s * n1 - x * discount * n2;
        put[i] = x * discount * (1.0f - n2) - s * (1.0f - n1);
    }
}

// A convolution with 5 x 5 coefficients in constant memory; neighbours come through the L1.
__constant__ float filter[25] = {1.0f, 4.0f, 7.0f, 4.0f, 1.0f, 4.0f, 16.0f, 26.0f, 16.0f, 4.0f, 7.0f, 26.0f, 41.0f,
                                 26.0f, 7.0f, 4.0f, 16.0f, 26.0f, 16.0f, 4.0f, 1.0f, 4.0f, 7.0f, 4.0f, 1.0f};
KERNEL convolution(const float *in, float *out, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float sum = 0.0f;
#pragma unroll 1
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++)
            sum += filter[dy * 5 + dx] * in[(y + dy) * (n + 4) + x + dx];
    out[y * n + x] = sum;
}

// Exclusive prefix sums of 1,024 elements by Blelloch's two sweeps over a tree, whose strides conflict in the banks.
KERNEL sweeps(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tree[1024];
    int t = threadIdx.x, base = blockIdx.x * 1024, gap = 1;
    tree[2 * t] = in[base + 2 * t];
    tree[2 * t + 1] = in[base + 2 * t + 1];
    for (int d = 512; d > 0; d >>= 1, gap <<= 1) {
        __syncthreads();
        if (t < d)
            tree[gap * (2 * t + 2) - 1] += tree[gap * (2 * t + 1) - 1];
    }
    if (t == 0)
        tree[1023] = 0;
    for (int d = 1; d < 1024; d <<= 1) {
        gap >>= 1;
        __syncthreads();
        if (t < d) {
            unsigned left = tree[gap * (2 * t + 1) - 1];
            tree[gap * (2 * t + 1) - 1] = tree[gap * (2 * t + 2) - 1];
            tree[gap * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    out[base + 2 * t] = tree[2 * t];
    out[base + 2 * t + 1] = tree[2 * t + 1];
}

// Loads and stores of 16 bytes per lane.
KERNEL saxpy4(const float4 *x, float4 *y, float a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = x[i], q = y[i];
    q.x += a * p.x;
    q.y += a * p.y;
    q.z += a * p.z;
    q.w += a * p.w;
    y[i] = q;
}

// Votes: all threads of a block add to four words of shared memory.
KERNEL votes(const unsigned *in, unsigned *out, int perthread)
{
    __shared__ unsigned count[4];
    int t = threadIdx.x;
    unsigned sum = 0;
    if (t < 4)
        count[t] = 0;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < perthread; k++)
        sum += atomicAdd(&count[in[(blockIdx.x * perthread + k) * blockDim.x + t] & 3], 1) < 0x80000000u;
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = sum + count[t & 3];
}

// Binary search: each load depends on the one before, and lanes part.
KERNEL search(const unsigned *table, const unsigned *keys, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, high = n;
    unsigned key = keys[i];
    while (low < high) {
        int middle = (low + high) >> 1;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = low;
}

// Cheapest paths through a grid, row by row in shared memory (dynamic programming), with two barriers for each row.
KERNEL paths(const int *cost, int *out, int rows)
{
    __shared__ int best[256];
    int t = threadIdx.x, width = gridDim.x * 256, column = blockIdx.x * 256 + t;
    best[t] = cost[column];
    __syncthreads();
#pragma unroll 1
    for (int r = 1; r < rows; r++) {
        int least = min(best[t], min(best[max(t - 1, 0)], best[min(t + 1, 255)])) + cost[r * width + column];
        __syncthreads();
        best[t] = least;
        __syncthreads();
    }
    out[column] = best[t];
}
