/* Float formats as the tests see them: numbers are doubles (exact for all), references are MPFR. */
#ifndef TESTS_EXEC_LANES_FORMATS_H
#define TESTS_EXEC_LANES_FORMATS_H

#include "harness.h"

#include <math.h>
#include <mpfr.h>

enum format {
    F16,
    BF16,
    F32,
    F64,
    E4M3,
    E5M2,
    TF32
};

struct format_info {
    const char *name;
    unsigned bits;      /* of the encoding */
    unsigned precision; /* with the hidden bit */
    int emin, emax;     /* as MPFR counts: values are 0.1... * 2^e */
    u64 infinity, nan, quiet, default_nan;
};
extern const struct format_info formats[];

double decode(enum format format, u64 bits);
/* x must be representable. */
u64 encode(enum format format, double x);
bool is_nan(enum format format, u64 bits);
u64 flush_bits(enum format format, u64 bits);

mpfr_rnd_t mpfr_mode(enum rounding rounding);
/* The bits of `wide` rounded to the format, subnormals included. */
u64 round_to(enum format format, mpfr_t wide, mpfr_rnd_t mode);

/* The NaN that an operation on these operands gives under the rule. */
u64 nan_of(enum format format, const u64 *operands, unsigned count, bool canonical);

#endif
