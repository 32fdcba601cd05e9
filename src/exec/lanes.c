/* Selects the build of the lane functions; floating-point arithmetic of atomics. */
#include "exec/lanes.h"
#define LANE_PREFIX lane_
#define LANE_NAN_CANONICAL 1
#include "exec/lanes_build.h"
#include "exec/lanes_half.h"

void lanes_expand(u32 mask, u32 *lane_mask)
{
    EACH_LANE
    {
        lane_mask[i] = mask & lane_bit[i] ? ~0u : 0;
    }
}

#ifdef __x86_64__
enum simd simd_best(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? SIMD_AVX2
                                                                           : SIMD_PORTABLE;
}

lane_fn *lanes_resolve(const struct inst *inst, enum simd simd, bool canonical_nan)
{
    if (simd == SIMD_AVX2)
        return canonical_nan ? lane_avx2_canonical_resolve(inst)
                             : lane_avx2_propagating_resolve(inst);
    return canonical_nan ? lane_portable_canonical_resolve(inst)
                         : lane_portable_propagating_resolve(inst);
}

const struct lanes_memory *lanes_memory(enum simd simd)
{
    return simd == SIMD_AVX2 ? &lane_avx2_memory : &lane_portable_memory;
}

const struct lanes_loops *lanes_loops(enum simd simd)
{
    return simd == SIMD_AVX2 ? &lane_avx2_loops : &lane_portable_loops;
}

const struct lanes_waves *lanes_waves(enum simd simd)
{
    return simd == SIMD_AVX2 ? &lane_avx2_waves : &lane_portable_waves;
}
#else
enum simd simd_best(void)
{
    return SIMD_PORTABLE;
}

lane_fn *lanes_resolve(const struct inst *inst, enum simd simd, bool canonical_nan)
{
    return canonical_nan ? lane_portable_canonical_resolve(inst)
                         : lane_portable_propagating_resolve(inst);
}

const struct lanes_memory *lanes_memory(enum simd simd)
{
    return &lane_portable_memory;
}

const struct lanes_loops *lanes_loops(enum simd simd)
{
    return &lane_portable_loops;
}

const struct lanes_waves *lanes_waves(enum simd simd)
{
    return &lane_portable_waves;
}
#endif

u32 atomic_add_f32(u32 a, u32 b, bool ftz)
{
    if (ftz)
        a = flush32(a), b = flush32(b);
    const u32 r = nan32(as_f32(a) + as_f32(b), a, b, b);
    return ftz ? flush32(r) : r;
}
u64 atomic_add_f64(u64 a, u64 b)
{
    return nan64(as_f64(a) + as_f64(b), a, b, b);
}
u16 atomic_add_f16(u16 a, u16 b)
{
    return (u16)half_result(half_widen(a) + half_widen(b), a, b, b);
}
u16 atomic_add_bf16(u16 a, u16 b)
{
    return (u16)brain_result(brain_widen(a) + brain_widen(b), a, b, b);
}
