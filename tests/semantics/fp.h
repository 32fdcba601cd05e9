/*
 * Floating formats as bit patterns, and exact values between them as MPFR numbers.
 *
 * A result is computed by MPFR truncated to 128 bits with a note whether it was exact; fp_store
 * rounds that once, in integers, to the format. Truncation plus a sticky bit loses nothing any
 * rounding mode needs, so there is no double rounding.
 */
#ifndef SEMANTICS_FP_H
#define SEMANTICS_FP_H

#include <stdint.h>

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

#include "form.h"

enum {
    FP_PRECISION = 128
};

enum kind fp_element(enum kind kind); /* of a packed pair: its half */
unsigned fp_width(enum kind kind);
unsigned fp_mantissa(enum kind kind);
u64 fp_nan(enum kind kind); /* what an operation gives that has no number to give */
u64 fp_infinity(enum kind kind);
u64 fp_one(enum kind kind);
u64 fp_sign_bit(enum kind kind);
bool fp_is_nan(enum kind kind, u64 bits);
bool fp_is_infinite(enum kind kind, u64 bits);
bool fp_is_zero(enum kind kind, u64 bits);
bool fp_is_subnormal(enum kind kind, u64 bits);
bool fp_is_negative(enum kind kind, u64 bits);
u64 fp_flush(enum kind kind, u64 bits); /* subnormals to zero of the same sign */
u64 fp_saturate(enum kind kind, u64 bits);
u64 fp_largest(enum kind kind);

/* Exact; `to` has FP_PRECISION bits or more. */
void fp_load(mpfr_t to, enum kind kind, u64 bits);
/* `value` truncated towards zero, `inexact` when something was cut off. */
u64 fp_store(enum kind kind, mpfr_t value, bool inexact, enum rounding round);
/* |bits - value| in units of the last place of value in the format; subnormal ulps at the bottom.
 */
double fp_ulps(enum kind kind, u64 bits, mpfr_t value);

#endif
