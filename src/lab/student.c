/* Confidence intervals of means: see student.h. */
#include "lab/student.h"

#include <math.h>

/* From 30 degrees of freedom on within 0.1 %, by Fisher's expansion (Abramowitz and Stegun,
 * 26.7.5). */
f64 student_t(u32 freedom)
{
    static const f64 table[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                2.306, 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
                                2.120, 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
                                2.064, 2.060,  2.056, 2.052, 2.048, 2.045};
    const f64 z = 1.959964;
    return freedom < sizeof table / sizeof *table ? table[freedom]
                                                  : z + (z * z * z + z) / 4 / freedom;
}

f64 half_interval(f64 squares, u32 samples)
{
    return student_t(samples - 1) * sqrt(squares / (samples - 1) / samples);
}
