/*
 * Exact floating-point arithmetic in integers, for what the vector code cannot do.
 *
 * A number is unpacked to sign, exponent and a 64-bit significand whose top bit is set; packing
 * rounds once, in any mode, to any format. Lost bits are kept as a sticky lowest bit. Independent
 * of the host's floating-point unit and its rounding mode.
 */
#ifndef EXEC_FLOAT_SOFT_H
#define EXEC_FLOAT_SOFT_H

#include "ir/inst.h"

enum soft_class {
    SOFT_ZERO,
    SOFT_FINITE,
    SOFT_INFINITE,
    SOFT_NAN
};

struct soft {
    enum soft_class class;
    bool negative;
    i32 exponent;    /* value = significand / 2^63 * 2^exponent */
    u64 significand; /* top bit set when finite; of a NaN the payload, quiet bit on top */
};

enum soft_format {
    SOFT_F16,
    SOFT_BF16,
    SOFT_F32,
    SOFT_F64,
    SOFT_TF32,
    SOFT_E4M3,
    SOFT_E5M2
};

struct soft_rules {
    enum rounding rounding;
    bool finite;        /* overflow gives the largest finite number, not infinity */
    bool canonical_nan; /* see exec/lanes_float.h */
};

struct soft soft_unpack(enum soft_format format, u64 bits);
u64 soft_pack(enum soft_format format, struct soft value, struct soft_rules rules);
u64 soft_one(enum soft_format format);
/* The format of a type; x2 types give their element's. False for types that are not floats. */
bool soft_format_of(enum type type, enum soft_format *format);

struct soft soft_from_int(u64 value, bool is_signed);
/* Rounds and clamps to `bits` bits (8 to 64); a NaN gives `nan`. */
u64 soft_to_int(struct soft value, enum rounding rounding, unsigned bits, bool is_signed, u64 nan);
/* To an integral value; a zero keeps its sign. */
struct soft soft_integral(struct soft value, enum rounding rounding);

/* a * b + c of numbers: none may be NaN. Exact except for a sticky bit. */
struct soft soft_fma(struct soft a, struct soft b, struct soft c, enum rounding rounding);
/* The same on bits, with the NaN rule left to the caller: *invalid: the result is NaN. */
u64 soft_fma_f64(u64 a, u64 b, u64 c, enum rounding rounding, bool *invalid);

/* (a * b + c) * 2^scale, rounded once. */
u64 soft_scaled_fma_f64(u64 a, u64 b, u64 c, i32 scale, enum rounding rounding, bool *invalid);

#endif
