/*
 * Arguments for functions: special ones in all combinations first (some of them where they would be
 * more than half), then random ones of several kinds.
 */
#ifndef TESTS_OPENCL_MATH_INPUTS_H
#define TESTS_OPENCL_MATH_INPUTS_H

#include "reference.h"

enum range {
    RANGE_ALL,
    RANGE_SMALL, /* up to 2^16, as the half functions of angles have it */
    RANGE_TINY   /* where native functions are of use: up to 10, no special numbers */
};

struct shape {
    int operands; /* of the type */
    bool integer; /* and one int */
};

/* Fills all of `count`; the same seed gives the same. */
void inputs_make(struct arguments *inputs, int count, struct shape shape, enum range range,
                 bool is_double, unsigned seed);

#endif
