/*
 * The systematic field: mean, sigma, correlation by distance, extremes, and repeatability.
 *
 * Fields of range 0.1 have some 200 independent regions each, so estimates over 16 of them have
 * standard errors of about 2 %: tolerances are two to three times that. At the range of the studies,
 * 0.5, only short distances can be estimated well: there, 15 % of the semivariance.
 */
#include "variation/field.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    POINTS = FIELD_SIDE * FIELD_SIDE,
    DRAWS = 8, /* of two fields */
    DISTANCES = 6
};

static f32 *fields[2 * DRAWS];

static void draw_all(f64 range)
{
    struct field_source *source = field_source_create(range);
    struct rng rng;
    rng_stream(&rng, 1, 0, "test", 0, "field");
    for (u32 i = 0; i < DRAWS; i++)
        field_draw(source, &rng, fields[2 * i], fields[2 * i + 1]);
    field_source_destroy(source);
}

static int make_fields(void **state)
{
    for (u32 i = 0; i < 2 * DRAWS; i++)
        fields[i] = malloc(POINTS * sizeof *fields[i]);
    return 0;
}

static int free_fields(void **state)
{
    for (u32 i = 0; i < 2 * DRAWS; i++)
        free(fields[i]);
    return 0;
}

/* The semivariance of pairs that lie `dx`, `dy` apart. */
static f64 semivariance(u32 dx, u32 dy)
{
    f64 sum = 0;
    u64 count = 0;
    for (u32 i = 0; i < 2 * DRAWS; i++)
        for (u32 y = 0; y + dy < FIELD_SIDE; y += 3)
            for (u32 x = 0; x + dx < FIELD_SIDE; x += 3, count++) {
                f64 d = fields[i][y * FIELD_SIDE + x] - fields[i][(y + dy) * FIELD_SIDE + x + dx];
                sum += d * d / 2;
            }
    return sum / (f64)count;
}

static void correlation_is_spherical(void **state)
{
    assert_float_equal(field_correlation(0, 0.5), 1, 0);
    assert_float_equal(field_correlation(0.25, 0.5), 0.3125, 1e-12); /* 1 - 3/4 + 1/16 */
    assert_float_equal(field_correlation(0.5, 0.5), 0, 0);
    assert_float_equal(field_correlation(0.8, 0.5), 0, 0);
}

static void moments_and_variogram(void **state)
{
    const f64 range = 0.1;
    draw_all(range);
    f64 sum = 0, squares = 0, cross = 0, beyond = 0;
    for (u32 i = 0; i < 2 * DRAWS; i++)
        for (u32 p = 0; p < POINTS; p++) {
            f64 value = fields[i][p];
            sum += value;
            squares += value * value;
            beyond += fabs(value) > 3;
            cross += i % 2 ? value * fields[i - 1][p] : 0;
        }
    const f64 all = 2.0 * DRAWS * POINTS;
    assert_float_equal(sum / all, 0, 0.05);
    assert_float_equal(squares / all, 1, 0.05);
    assert_float_equal(cross / (all / 2), 0, 0.05); /* the two of a draw are independent */
    assert_float_equal(beyond / all, 0.0027, 0.0012);
    static const u32 steps[DISTANCES] = {2, 5, 13, 26, 38, 80};
    for (u32 i = 0; i < DISTANCES; i++) {
        f64 distance = (f64)steps[i] / FIELD_SIDE;
        f64 expected = 1 - field_correlation(distance, range);
        assert_float_equal(semivariance(steps[i], 0), expected, 0.06 * expected);
        assert_float_equal(semivariance(0, steps[i]), expected, 0.06 * expected);
        u32 side = steps[i]; /* and along a diagonal */
        expected = 1 - field_correlation(distance * M_SQRT2, range);
        assert_float_equal(semivariance(side, side), expected, 0.06 * expected);
    }
}

static void long_range_at_short_distances(void **state)
{
    const f64 range = 0.5;
    draw_all(range);
    for (u32 step = 2; step <= 32; step *= 2) {
        f64 expected = 1 - field_correlation((f64)step / FIELD_SIDE, range);
        assert_float_equal(semivariance(step, 0), expected, 0.15 * expected);
        assert_float_equal(semivariance(0, step), expected, 0.15 * expected);
    }
}

static void same_seed_same_bytes(void **state)
{
    draw_all(0.5);
    f32 *kept = malloc(POINTS * sizeof *kept);
    memcpy(kept, fields[3], POINTS * sizeof *kept);
    draw_all(0.5);
    assert_memory_equal(kept, fields[3], POINTS * sizeof *kept);
    assert_true(kept[0] != fields[5][0]); /* the next draw is another */
    free(kept);
}

static void between_points(void **state)
{
    f32 *field = fields[0];
    for (u32 y = 0; y < FIELD_SIDE; y++) /* a plane: interpolation is exact */
        for (u32 x = 0; x < FIELD_SIDE; x++)
            field[y * FIELD_SIDE + x] = (f32)x + 2 * (f32)y;
    f64 at = 100.25 / FIELD_SIDE, down = 7.75 / FIELD_SIDE;
    assert_float_equal(field_at(field, at, down), 99.75 + 2 * 7.25, 1e-4);
    assert_float_equal(field_at(field, 0, 0), 0, 1e-4);
    assert_float_equal(field_at(field, 1, 1), 3 * (FIELD_SIDE - 1), 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correlation_is_spherical), cmocka_unit_test(moments_and_variogram),
        cmocka_unit_test(long_range_at_short_distances), cmocka_unit_test(same_seed_same_bytes),
        cmocka_unit_test(between_points)};
    return cmocka_run_group_tests(tests, make_fields, free_fields);
}
