/* Included by clang's header of intrinsics, which has what these functions are made of. */
#ifndef HEDDLE_SM_70_RT_HPP
#define HEDDLE_SM_70_RT_HPP

#define HEDDLE_MATCH(T, bits, U)                                                               \
    static __device__ __forceinline__ unsigned __match_any_sync(unsigned mask, T value)        \
    {                                                                                          \
        U as_bits;                                                                             \
        __builtin_memcpy(&as_bits, &value, sizeof value);                                      \
        return (unsigned)__match##bits##_any_sync(mask, as_bits);                              \
    }                                                                                          \
    static __device__ __forceinline__ unsigned __match_all_sync(unsigned mask, T value, int *all) \
    {                                                                                          \
        U as_bits;                                                                             \
        __builtin_memcpy(&as_bits, &value, sizeof value);                                      \
        return (unsigned)__match##bits##_all_sync(mask, as_bits, all);                         \
    }
HEDDLE_MATCH(int, 32, unsigned)
HEDDLE_MATCH(unsigned, 32, unsigned)
HEDDLE_MATCH(float, 32, unsigned)
HEDDLE_MATCH(long, 64, unsigned long long)
HEDDLE_MATCH(unsigned long, 64, unsigned long long)
HEDDLE_MATCH(long long, 64, unsigned long long)
HEDDLE_MATCH(unsigned long long, 64, unsigned long long)
HEDDLE_MATCH(double, 64, unsigned long long)
#undef HEDDLE_MATCH

#endif
