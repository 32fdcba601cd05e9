/*
 * Confidence intervals of means.
 */
#ifndef LAB_STUDENT_H
#define LAB_STUDENT_H

#include "base/types.h"

/* Student's t for a two-sided 95 % interval, by degrees of freedom, at least 1. */
f64 student_t(u32 freedom);
/* Half of the 95 % interval of a mean. `squares`: of the deviations from it, added up; at least two
 * samples. */
f64 half_interval(f64 squares, u32 samples);

#endif
