/*
 * CUDA C for clang without a CUDA toolkit: the part of the device language that kernels use.
 *
 * Include it first. nvcc has all of this itself and skips the file. Compile with
 *   clang -x cuda --cuda-device-only --cuda-path=/nonexistent -nocudainc -nocudalib
 *         --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx70 -O2 -S kernel.cu -o kernel.ptx
 *
 * Deviations from CUDA
 *  1. threadIdx and friends are values, not objects: their address cannot be taken.
 *  2. sinf, expf, powf and the like are not here (they are library code): use the __sinf forms, or
 *     link libclc.
 *  3. Host code does not compile with it.
 */
#ifndef HEDDLE_CUDA_H
#define HEDDLE_CUDA_H
#if defined(__clang__) && defined(__CUDA__)

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define HEDDLE_FN static __device__ __forceinline__

typedef unsigned long size_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;

/* ---- vector types ---- */

#define HEDDLE_VECTORS(T, N, A2, A4)                                                               \
    struct N##1 {                                                                                  \
        T x;                                                                                       \
    };                                                                                             \
    struct __align__(A2) N##2 {                                                                    \
        T x, y;                                                                                    \
    };                                                                                             \
    struct N##3 {                                                                                  \
        T x, y, z;                                                                                 \
    };                                                                                             \
    struct __align__(A4) N##4 {                                                                    \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    HEDDLE_FN N##1 make_##N##1(T x)                                                                \
    {                                                                                              \
        return {x};                                                                                \
    }                                                                                              \
    HEDDLE_FN N##2 make_##N##2(T x, T y)                                                           \
    {                                                                                              \
        return {x, y};                                                                             \
    }                                                                                              \
    HEDDLE_FN N##3 make_##N##3(T x, T y, T z)                                                      \
    {                                                                                              \
        return {x, y, z};                                                                          \
    }                                                                                              \
    HEDDLE_FN N##4 make_##N##4(T x, T y, T z, T w)                                                 \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }
HEDDLE_VECTORS(signed char, char, 2, 4)
HEDDLE_VECTORS(unsigned char, uchar, 2, 4)
HEDDLE_VECTORS(short, short, 4, 8)
HEDDLE_VECTORS(unsigned short, ushort, 4, 8)
HEDDLE_VECTORS(int, int, 8, 16)
HEDDLE_VECTORS(unsigned int, uint, 8, 16)
HEDDLE_VECTORS(long long, longlong, 16, 16)
HEDDLE_VECTORS(unsigned long long, ulonglong, 16, 16)
HEDDLE_VECTORS(float, float, 8, 16)
HEDDLE_VECTORS(double, double, 16, 16)
#undef HEDDLE_VECTORS

struct dim3 {
    unsigned x, y, z;
};

/* ---- where a thread is ---- */

#define HEDDLE_INDEX(name, reg)                                                                    \
    HEDDLE_FN uint3 name(void)                                                                     \
    {                                                                                              \
        return {(unsigned)__nvvm_read_ptx_sreg_##reg##_x(),                                        \
                (unsigned)__nvvm_read_ptx_sreg_##reg##_y(),                                        \
                (unsigned)__nvvm_read_ptx_sreg_##reg##_z()};                                       \
    }
HEDDLE_INDEX(heddle_thread_index, tid)
HEDDLE_INDEX(heddle_block_size, ntid)
HEDDLE_INDEX(heddle_block_index, ctaid)
HEDDLE_INDEX(heddle_grid_size, nctaid)
#undef HEDDLE_INDEX
#define threadIdx heddle_thread_index()
#define blockDim heddle_block_size()
#define blockIdx heddle_block_index()
#define gridDim heddle_grid_size()
#define warpSize 32

/* ---- synchronisation ---- */

/* clang 14 moves loads of __shared__ variables over barriers and fences; over these it cannot. */
#define HEDDLE_COMPILER_FENCE() asm volatile("" ::: "memory")
#define HEDDLE_FENCE(name, instruction)                                                            \
    HEDDLE_FN void name(void)                                                                      \
    {                                                                                              \
        HEDDLE_COMPILER_FENCE();                                                                   \
        instruction();                                                                             \
        HEDDLE_COMPILER_FENCE();                                                                   \
    }
#define HEDDLE_BARRIER(name, instruction)                                                          \
    HEDDLE_FN int name(int predicate)                                                              \
    {                                                                                              \
        HEDDLE_COMPILER_FENCE();                                                                   \
        int result = instruction(predicate);                                                       \
        HEDDLE_COMPILER_FENCE();                                                                   \
        return result;                                                                             \
    }
HEDDLE_FENCE(heddle_barrier, __syncthreads)
HEDDLE_BARRIER(__syncthreads_count, __nvvm_bar0_popc)
HEDDLE_BARRIER(__syncthreads_and, __nvvm_bar0_and)
HEDDLE_BARRIER(__syncthreads_or, __nvvm_bar0_or)
HEDDLE_FENCE(__threadfence_block, __nvvm_membar_cta)
HEDDLE_FENCE(__threadfence, __nvvm_membar_gl)
HEDDLE_FENCE(__threadfence_system, __nvvm_membar_sys)
#define __syncthreads() heddle_barrier()

HEDDLE_FN void __syncwarp(unsigned mask = 0xffffffffu)
{
    HEDDLE_COMPILER_FENCE();
    __nvvm_bar_warp_sync(mask);
    HEDDLE_COMPILER_FENCE();
}
#undef HEDDLE_FENCE
#undef HEDDLE_BARRIER

/* ---- across a warp ---- */

#define __ballot_sync(mask, p) __nvvm_vote_ballot_sync(mask, p)
#define __any_sync(mask, p) __nvvm_vote_any_sync(mask, p)
#define __all_sync(mask, p) __nvvm_vote_all_sync(mask, p)
#define __uni_sync(mask, p) __nvvm_vote_uni_sync(mask, p)

HEDDLE_FN unsigned __activemask(void)
{
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
HEDDLE_FN unsigned __match_any_sync(unsigned mask, unsigned value)
{
    return __nvvm_match_any_sync_i32(mask, value);
}
HEDDLE_FN unsigned __match_any_sync(unsigned mask, unsigned long long value)
{
    unsigned peers; /* clang 14's built-in takes a 64-bit register for the mask */
    asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(peers) : "l"(value), "r"(mask));
    return peers;
}
HEDDLE_FN unsigned __match_all_sync(unsigned mask, unsigned value, int *pred)
{
    return __nvvm_match_all_sync_i32p(mask, value, pred);
}

#define HEDDLE_SHFL(name, fn, lane_type, clamp)                                                    \
    HEDDLE_FN int name(unsigned mask, int v, lane_type lane, int width = 32)                       \
    {                                                                                              \
        return fn(mask, v, lane, ((32 - width) << 8) | clamp);                                     \
    }                                                                                              \
    HEDDLE_FN unsigned name(unsigned mask, unsigned v, lane_type lane, int width = 32)             \
    {                                                                                              \
        return (unsigned)name(mask, (int)v, lane, width);                                          \
    }                                                                                              \
    HEDDLE_FN float name(unsigned mask, float v, lane_type lane, int width = 32)                   \
    {                                                                                              \
        return __int_as_float(name(mask, __float_as_int(v), lane, width));                         \
    }                                                                                              \
    HEDDLE_FN unsigned long long name(unsigned mask, unsigned long long v, lane_type lane,         \
                                      int width = 32)                                              \
    {                                                                                              \
        unsigned lo = name(mask, (unsigned)v, lane, width);                                        \
        unsigned hi = name(mask, (unsigned)(v >> 32), lane, width);                                \
        return (unsigned long long)hi << 32 | lo;                                                  \
    }                                                                                              \
    HEDDLE_FN double name(unsigned mask, double v, lane_type lane, int width = 32)                 \
    {                                                                                              \
        return __longlong_as_double(                                                               \
            (long long)name(mask, (unsigned long long)__double_as_longlong(v), lane, width));      \
    }

HEDDLE_FN int __float_as_int(float v)
{
    return __builtin_bit_cast(int, v);
}
HEDDLE_FN unsigned __float_as_uint(float v)
{
    return __builtin_bit_cast(unsigned, v);
}
HEDDLE_FN float __int_as_float(int v)
{
    return __builtin_bit_cast(float, v);
}
HEDDLE_FN float __uint_as_float(unsigned v)
{
    return __builtin_bit_cast(float, v);
}
HEDDLE_FN long long __double_as_longlong(double v)
{
    return __builtin_bit_cast(long long, v);
}
HEDDLE_FN double __longlong_as_double(long long v)
{
    return __builtin_bit_cast(double, v);
}

HEDDLE_SHFL(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 31)
HEDDLE_SHFL(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
HEDDLE_SHFL(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 31)
HEDDLE_SHFL(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 31)
#undef HEDDLE_SHFL

/* ---- atomics ---- */

#define HEDDLE_ATOMIC(name, T, B, fn)                                                              \
    HEDDLE_FN T name(T *p, T v)                                                                    \
    {                                                                                              \
        return (T)fn((B *)p, (B)v);                                                                \
    }
typedef unsigned long long heddle_u64;
HEDDLE_ATOMIC(atomicAdd, int, int, __nvvm_atom_add_gen_i)
HEDDLE_ATOMIC(atomicAdd, unsigned, int, __nvvm_atom_add_gen_i)
HEDDLE_ATOMIC(atomicAdd, heddle_u64, long long, __nvvm_atom_add_gen_ll)
HEDDLE_ATOMIC(atomicAdd, float, float, __nvvm_atom_add_gen_f)
HEDDLE_ATOMIC(atomicAdd, double, double, __nvvm_atom_add_gen_d)
HEDDLE_ATOMIC(atomicExch, int, int, __nvvm_atom_xchg_gen_i)
HEDDLE_ATOMIC(atomicExch, unsigned, int, __nvvm_atom_xchg_gen_i)
HEDDLE_ATOMIC(atomicExch, heddle_u64, long long, __nvvm_atom_xchg_gen_ll)
HEDDLE_ATOMIC(atomicMin, int, int, __nvvm_atom_min_gen_i)
HEDDLE_ATOMIC(atomicMin, unsigned, unsigned, __nvvm_atom_min_gen_ui)
HEDDLE_ATOMIC(atomicMin, long long, long long, __nvvm_atom_min_gen_ll)
HEDDLE_ATOMIC(atomicMin, heddle_u64, heddle_u64, __nvvm_atom_min_gen_ull)
HEDDLE_ATOMIC(atomicMax, int, int, __nvvm_atom_max_gen_i)
HEDDLE_ATOMIC(atomicMax, unsigned, unsigned, __nvvm_atom_max_gen_ui)
HEDDLE_ATOMIC(atomicMax, long long, long long, __nvvm_atom_max_gen_ll)
HEDDLE_ATOMIC(atomicMax, heddle_u64, heddle_u64, __nvvm_atom_max_gen_ull)
HEDDLE_ATOMIC(atomicAnd, int, int, __nvvm_atom_and_gen_i)
HEDDLE_ATOMIC(atomicAnd, unsigned, int, __nvvm_atom_and_gen_i)
HEDDLE_ATOMIC(atomicAnd, heddle_u64, long long, __nvvm_atom_and_gen_ll)
HEDDLE_ATOMIC(atomicOr, int, int, __nvvm_atom_or_gen_i)
HEDDLE_ATOMIC(atomicOr, unsigned, int, __nvvm_atom_or_gen_i)
HEDDLE_ATOMIC(atomicOr, heddle_u64, long long, __nvvm_atom_or_gen_ll)
HEDDLE_ATOMIC(atomicXor, int, int, __nvvm_atom_xor_gen_i)
HEDDLE_ATOMIC(atomicXor, unsigned, int, __nvvm_atom_xor_gen_i)
HEDDLE_ATOMIC(atomicXor, heddle_u64, long long, __nvvm_atom_xor_gen_ll)
HEDDLE_ATOMIC(atomicInc, unsigned, unsigned, __nvvm_atom_inc_gen_ui)
HEDDLE_ATOMIC(atomicDec, unsigned, unsigned, __nvvm_atom_dec_gen_ui)
#undef HEDDLE_ATOMIC

HEDDLE_FN int atomicSub(int *p, int v)
{
    return atomicAdd(p, -v);
}
HEDDLE_FN unsigned atomicSub(unsigned *p, unsigned v)
{
    return atomicAdd(p, 0u - v);
}
HEDDLE_FN int atomicCAS(int *p, int expected, int desired)
{
    return __nvvm_atom_cas_gen_i(p, expected, desired);
}
HEDDLE_FN unsigned atomicCAS(unsigned *p, unsigned expected, unsigned desired)
{
    return (unsigned)__nvvm_atom_cas_gen_i((int *)p, (int)expected, (int)desired);
}
HEDDLE_FN heddle_u64 atomicCAS(heddle_u64 *p, heddle_u64 expected, heddle_u64 desired)
{
    return (heddle_u64)__nvvm_atom_cas_gen_ll((long long *)p, (long long)expected,
                                              (long long)desired);
}

/* ---- integers ---- */

#define __popc(x) __builtin_popcount(x)
#define __popcll(x) __builtin_popcountll(x)
#define __brev(x) __builtin_bitreverse32(x)
#define __brevll(x) __builtin_bitreverse64(x)
#define __umulhi(a, b) __nvvm_mulhi_ui(a, b)
#define __mulhi(a, b) __nvvm_mulhi_i(a, b)
#define __umul64hi(a, b) __nvvm_mulhi_ull(a, b)
#define __mul64hi(a, b) __nvvm_mulhi_ll(a, b)
#define __byte_perm(a, b, s) __nvvm_prmt(a, b, s)

HEDDLE_FN int __clz(int x)
{
    return x == 0 ? 32 : __builtin_clz((unsigned)x);
}
HEDDLE_FN int __clzll(long long x)
{
    return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
HEDDLE_FN int __ffs(int x)
{
    return __builtin_ffs(x);
}
HEDDLE_FN int min(int a, int b)
{
    return a < b ? a : b;
}
HEDDLE_FN unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}
HEDDLE_FN int max(int a, int b)
{
    return a > b ? a : b;
}
HEDDLE_FN unsigned max(unsigned a, unsigned b)
{
    return a > b ? a : b;
}
HEDDLE_FN int abs(int a)
{
    return a < 0 ? -a : a;
}

/* ---- floats ---- */

#define fmaf(a, b, c) __builtin_fmaf(a, b, c)
#define fma(a, b, c) __builtin_fma(a, b, c)
#define fabsf(a) __builtin_fabsf(a)
#define fabs(a) __builtin_fabs(a)
#define fminf(a, b) __builtin_fminf(a, b)
#define fmaxf(a, b) __builtin_fmaxf(a, b)
#define fmin(a, b) __builtin_fmin(a, b)
#define fmax(a, b) __builtin_fmax(a, b)
#define floorf(a) __builtin_floorf(a)
#define ceilf(a) __builtin_ceilf(a)
#define truncf(a) __builtin_truncf(a)
#define rintf(a) __builtin_rintf(a)
#define sqrtf(a) __nvvm_sqrt_rn_f(a)
#define sqrt(a) __nvvm_sqrt_rn_d(a)
#define __sinf(a) __nvvm_sin_approx_f(a)
#define __cosf(a) __nvvm_cos_approx_f(a)
#define __log2f(a) __nvvm_lg2_approx_f(a)
#define exp2f(a) __nvvm_ex2_approx_f(a)
#define rsqrtf(a) __nvvm_rsqrt_approx_f(a)
#define __fdividef(a, b) __nvvm_div_approx_f(a, b)
#define __saturatef(a) __nvvm_saturate_f(a)
#define __frcp_rn(a) __nvvm_rcp_rn_f(a)
#define __fadd_rz(a, b) __nvvm_add_rz_f(a, b)
#define __fmul_ru(a, b) __nvvm_mul_rp_f(a, b)
#define __fadd_rd(a, b) __nvvm_add_rm_f(a, b)
#define __float2int_rn(a) __nvvm_f2i_rn(a)
#define __float2int_rd(a) __nvvm_f2i_rm(a)
#define __float2int_ru(a) __nvvm_f2i_rp(a)
#define __float2int_rz(a) __nvvm_f2i_rz(a)

/* ---- memory, time, services ---- */

HEDDLE_FN int __ldg(const int *p)
{
    return __nvvm_ldg_i(p);
}
HEDDLE_FN unsigned __ldg(const unsigned *p)
{
    return __nvvm_ldg_ui(p);
}
HEDDLE_FN float __ldg(const float *p)
{
    return __nvvm_ldg_f(p);
}
HEDDLE_FN double __ldg(const double *p)
{
    return __nvvm_ldg_d(p);
}
HEDDLE_FN float4 __ldg(const float4 *p)
{
    typedef float v4 __attribute__((ext_vector_type(4)));
    v4 v = __nvvm_ldg_f4((const v4 *)p);
    return {v.x, v.y, v.z, v.w};
}

#define clock() __nvvm_read_ptx_sreg_clock()
#define clock64() __nvvm_read_ptx_sreg_clock64()

extern "C" {
__device__ int printf(const char *format, ...);
__device__ void *malloc(size_t bytes);
__device__ void free(void *address);
__device__ __attribute__((noreturn)) void __assertfail(const char *message, const char *file,
                                                       unsigned line, const char *function,
                                                       size_t char_size);
}
#ifndef NDEBUG
#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, 1))
#else
#define assert(e) ((void)0)
#endif
#define __trap() __builtin_trap()

#elif defined(__CUDACC__)
#include <assert.h>
#include <stdio.h>
#endif
#endif
