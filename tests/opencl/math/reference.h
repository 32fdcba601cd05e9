/*
 * What the math functions of OpenCL C are to give, from MPFR: values with more bits than the type,
 * by which errors are measured, and the special cases of C99's annex F and of section 7.5.1.
 */
#ifndef TESTS_OPENCL_MATH_REFERENCE_H
#define TESTS_OPENCL_MATH_REFERENCE_H

#include <stdio.h>

#include <mpfr.h> /* after stdio.h, for its printing */
#include <stdbool.h>

struct arguments {
    bool is_double; /* the type that the function has */
    double x, y, z;
    int m;
};

struct expected {
    mpfr_t value;  /* what the function returns */
    mpfr_t second; /* what it stores, if that is of its type */
    int integer;   /* what it returns or stores, if that is an integer */
    bool any_integer;
};

void expected_init(struct expected *expected);
void expected_clear(struct expected *expected);

/* ref_NAME for each reference of math.def. */
typedef void reference(struct expected *out, const struct arguments *in);
#define MATH(name, shape, call, ref, limit_float, limit_double, flags) reference ref_##ref;
#include "math.def"
#undef MATH

/* Distance from the value that was expected, in ULP of the type; infinite when no distance would
 * do: a NaN or an infinity of the wrong kind, a zero of the wrong sign if that matters. */
double error_in_ulp(mpfr_t expected, double got, bool is_double, bool either_zero);

#endif
