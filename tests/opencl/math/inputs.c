#include "inputs.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static uint64_t next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state) /* -1 to 1 */
{
    return (double)(int64_t)next(state) * 0x1p-63;
}

static double from_bits(uint64_t bits, bool is_double)
{
    double d;
    float f;
    uint32_t word = (uint32_t)bits;
    memcpy(&d, &bits, 8);
    memcpy(&f, &word, 4);
    return is_double ? d : (double)f;
}

/* A few numbers of the type away. */
static double near(double x, int steps, bool is_double)
{
    x = is_double ? x : (double)(float)x;
    for (; steps; steps += steps < 0 ? 1 : -1) {
        double to = steps < 0 ? -INFINITY : INFINITY;
        x = is_double ? nextafter(x, to) : (double)nextafterf((float)x, (float)to);
    }
    return x;
}

static double number(uint64_t *state, enum range range, bool is_double)
{
    static const double reach[] = {1, 2, 10, 90, 760, 20000};
    uint64_t choice = next(state);
    double x;
    switch (choice % 8) {
    case 0:
    case 1:
        x = from_bits(next(state), is_double);
        break;
    case 2:
    case 3:
        x = uniform(state) * reach[choice / 8 % 6];
        break;
    case 4:
        x = ldexp(uniform(state), (int)(choice / 8 % 80) - 40);
        break;
    case 5: /* halfway cases, integers, and close to them */
        x = near((double)((int)(choice / 8 % 401) - 200) / 2, (int)(choice / 4096 % 5) - 2,
                 is_double);
        break;
    case 6: /* zeros and poles of the functions of angles */
        x = near(M_PI / 4 * ((int)(choice / 8 % 4001) - 2000), (int)(choice / 65536 % 3) - 1,
                 is_double);
        break;
    default:
        x = 1 + ldexp(uniform(state), -(int)(choice / 8 % (is_double ? 53 : 24)));
        break;
    }
    if (range == RANGE_SMALL && !(fabs(x) <= 65536))
        x = uniform(state) * 65536;
    if (range == RANGE_TINY && (!(fabs(x) <= 10) || fabs(x) < 0x1p-20))
        x = uniform(state) * 10;
    return is_double ? x : (double)(float)x;
}

static double special(int which, bool is_double)
{
    double max = is_double ? 0x1.fffffffffffffp1023 : 0x1.fffffep127;
    double normal = is_double ? 0x1p-1022 : 0x1p-126;
    double least = is_double ? 0x1p-1074 : 0x1p-149;
    double step = is_double ? 0x1p-52 : 0x1p-23;
    double odd = is_double ? 0x1p53 - 1 : 0x1p24 - 1;
    const double all[] = {0,
                          1,
                          0.5,
                          2,
                          1.5,
                          3,
                          INFINITY,
                          NAN,
                          max,
                          normal,
                          least,
                          normal - least,
                          1 + step,
                          1 - step / 2,
                          odd,
                          odd + 1,
                          0.5 - step / 4,
                          2.5,
                          1e4,
                          7};
    double x = all[which % 20];
    return which / 20 % 2 ? -x : x;
}

enum {
    SPECIAL_COUNT = 40
};

static const int integers[] = {0,    1,     -1,      2,       -2,          3,          -3,
                               5,    16,    -7,      100,     -150,        1024,       -1074,
                               2100, -2200, INT_MAX, INT_MIN, INT_MAX - 1, INT_MIN + 1};

void inputs_make(struct arguments *inputs, int count, struct shape shape, enum range range,
                 bool is_double, unsigned seed)
{
    uint64_t state = seed;
    int others = sizeof integers / sizeof *integers;
    int specials = range != RANGE_ALL ? 0 : SPECIAL_COUNT;
    if (shape.operands > 1)
        specials *= SPECIAL_COUNT;
    if (shape.integer)
        specials *= others;
    int first = specials < count / 2 ? specials : count / 2;
    for (int i = 0; i < count; i++) {
        struct arguments *in = &inputs[i];
        uint64_t choice = next(&state);
        in->is_double = is_double;
        if (i < first) { /* a third operand would be too many: it is chosen */
            int which = first == specials ? i : (int)(choice / SPECIAL_COUNT % (uint64_t)specials);
            in->x = special(which % SPECIAL_COUNT, is_double);
            in->y = special(which / SPECIAL_COUNT, is_double);
            in->z = special((int)(choice % SPECIAL_COUNT), is_double);
            in->m = integers[which / SPECIAL_COUNT % others];
            continue;
        }
        in->x = number(&state, range, is_double);
        in->y = number(&state, range, is_double);
        in->z = number(&state, range, is_double);
        if (choice % 4 == 0) /* sums that cancel, quotients that are whole */
            in->y = near(in->x * (double)((int)(choice / 4 % 9) - 4), (int)(choice / 64 % 3) - 1,
                         is_double);
        if (choice % 8 == 1) {
            in->z = -in->x * in->y;
            in->z = is_double ? in->z : (double)(float)in->z;
        }
        in->m = choice % 3 ? (int)(choice / 8 % 65) - 32 : (int)(choice >> 32) >> choice / 8 % 32;
    }
}
