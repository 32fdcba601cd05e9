/* Scalar names used everywhere. Heddle is little-endian only, as are both guest ISAs. */
#ifndef BASE_TYPES_H
#define BASE_TYPES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef double f64;
typedef unsigned __int128 u128;
typedef __int128 i128;

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Rarely called: not inlined, to save its callers' registers. */
#define COLD __attribute__((cold, noinline))
/* Always inlined, however long. */
#define PART_OF static inline __attribute__((always_inline))
/* Keeps the pointer in a register, so that it is not recomputed at each use. */
#define HELD(pointer) __asm__("" : "+r"(pointer))

/* Rounds up to a multiple of `to`, a power of two. */
static inline u64 align_up(u64 value, u64 to)
{
    return (value + to - 1) & ~(to - 1);
}

static inline bool is_pow2(u64 value)
{
    return value && !(value & (value - 1));
}

#endif
