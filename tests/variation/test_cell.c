/*
 * The distributions of a cell, against cells that are drawn whole: every transistor's threshold and
 * length, the circuit solved for each. As many cells as the register file of one core has.
 *
 * Shares are compared within four standard errors of the drawn sample, plus 3 % of the share for
 * what the tables approximate (C1 of cell.h, and interpolation).
 */
#include "variation/cell.h"
#include "variation/field.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    CELLS = 1 << 20, /* 128 KB */
    TRANSISTORS = 8
};
enum transistor {
    LEFT_P,
    LEFT_N,
    LEFT_A,
    RIGHT_P,
    RIGHT_N,
    RIGHT_A,
    READ_1,
    READ_2
};

struct drawn_cell {
    f64 threshold[TRANSISTORS]; /* deviations in volts */
    f64 length[TRANSISTORS];    /* relative to the nominal one */
};

static struct cell_model model;
static struct arena *arena;
static f64 deviation; /* systematic, of all cells */

static int make_model(void **state)
{
    struct variation variation;
    variation_default(&variation, variation_node(28));
    cell_model_make(&model, &variation);
    deviation = model.vth_systematic; /* one sigma */
    arena = arena_create();
    return 0;
}

static int end_model(void **state)
{
    arena_destroy(arena);
    return 0;
}

static void draw_cell(struct drawn_cell *cell, struct rng *rng)
{
    for (u32 i = 0; i < TRANSISTORS; i++) {
        f64 a, b;
        normal_pair(rng, &a, &b);
        cell->threshold[i] = deviation + model.vth_random * a;
        cell->length[i] = 1 + model.leff_random * b;
    }
}

static void share_fits(u64 count, f64 expected)
{
    f64 share = (f64)count / CELLS, error = sqrt(expected * (1 - expected) / CELLS);
    if (fabs(share - expected) > 4 * error + 0.03 * expected)
        fail_msg("drawn share %g, expected %g", share, expected);
}

/* ---- delays ---- */

static f64 time_of(const struct drawn_cell *cell, u32 i)
{
    return cell->length[i] * transistor_slowness(&model, cell->threshold[i]);
}

static f64 write_time(const struct drawn_cell *cell, u32 access, u32 pull_up)
{
    f64 q = cell_opposition();
    return (1 - q) / (1 / time_of(cell, access) - q / time_of(cell, pull_up));
}

static void delays_of_a_file(void **state)
{
    static const f64 levels[] = {1, 0.1, 0.01, 1e-3, 1e-4};
    struct quantiles table;
    struct rng rng;
    u64 above[ARRAY_LEN(levels)] = {0};
    f64 slowest = 0, word = 0, words = 0, expected = 0;
    delay_table_make(&table, arena, &model);
    rng_stream(&rng, 2, 0, "test", 0, "delays");
    for (u32 i = 0; i < CELLS; i++) {
        struct drawn_cell cell;
        draw_cell(&cell, &rng);
        f64 delay = (time_of(&cell, READ_1) + time_of(&cell, READ_2)) / 2;
        delay = fmax(delay, write_time(&cell, LEFT_A, LEFT_P));
        delay = fmax(delay, write_time(&cell, RIGHT_A, RIGHT_P));
        for (u32 l = 0; l < ARRAY_LEN(levels); l++)
            above[l] += delay > quantile_of(&table, deviation, levels[l]);
        word = i % CELLS_PER_WORD ? fmax(word, delay) : delay;
        slowest = fmax(slowest, delay);
        if (i % CELLS_PER_WORD == CELLS_PER_WORD - 1) {
            words += word;
            expected += quantile_of(&table, deviation, exponential(&rng) / CELLS_PER_WORD);
        }
    }
    for (u32 l = 0; l < ARRAY_LEN(levels); l++)
        share_fits(above[l], -expm1(-levels[l]));
    assert_float_equal(words / expected, 1, 0.004); /* the mean over words */
    /* the slowest: within all but 0.2 % of what is possible */
    f64 level = CELLS * quantile_level(&table, deviation, slowest);
    assert_true(level > 0.001 && level < 7);
}

/* ---- V_min ---- */

static f64 current(const struct drawn_cell *cell, u32 i, enum transistor_kind kind, f64 gate,
                   f64 drain)
{
    return transistor_current(&model, kind, gate, drain, cell->threshold[i]) / cell->length[i];
}

/* By bisection: where the inverter of P and N has equal input and output. */
static f64 switching(const struct drawn_cell *cell, u32 p, u32 n, f64 supply)
{
    f64 low = 0, high = supply;
    for (u32 i = 0; i < 14; i++) {
        f64 y = (low + high) / 2;
        if (current(cell, n, PULL_DOWN, y, y) > current(cell, p, PULL_UP, supply - y, supply - y))
            high = y;
        else
            low = y;
    }
    return (low + high) / 2;
}

/* Whether the node of P, N, A, which is high, cannot be pulled below the switching voltage of the
 * other inverter, or does not stay above it. */
static bool side_fails(const struct drawn_cell *cell, u32 side, f64 supply)
{
    u32 p = side ? RIGHT_P : LEFT_P, other = side ? LEFT_P : RIGHT_P;
    u32 n = p + LEFT_N, a = p + LEFT_A;
    f64 y = switching(cell, other, other + LEFT_N, supply);
    f64 up = current(cell, p, PULL_UP, supply, supply - y);
    bool write = up > current(cell, a, ACCESS, supply, y);
    bool hold = up < current(cell, n, PULL_DOWN, 0, y) + current(cell, a, ACCESS, 0, y);
    return (write && model.failures != FAILURES_HOLD) || (hold && model.failures != FAILURES_WRITE);
}

static bool fails(const struct drawn_cell *cell, f64 supply)
{
    return side_fails(cell, 0, supply) || side_fails(cell, 1, supply);
}

static void vmins_of_a_file(void **state)
{
    static const f64 levels[] = {0.01, 1e-3, 1e-4, 1e-5};
    struct quantiles table;
    struct rng rng;
    u64 failing[ARRAY_LEN(levels)] = {0};
    vmin_table_make(&table, arena, &model);
    rng_stream(&rng, 2, 0, "test", 0, "vmins");
    for (u32 i = 0; i < CELLS; i++) {
        struct drawn_cell cell;
        draw_cell(&cell, &rng);
        for (u32 l = 0; l < ARRAY_LEN(levels); l++) {
            if (!fails(&cell, quantile_of(&table, deviation, levels[l])))
                break; /* H2 of chip.h: nor at a higher supply */
            failing[l]++;
        }
    }
    for (u32 l = 0; l < ARRAY_LEN(levels); l++)
        share_fits(failing[l], -expm1(-levels[l]));
}

/* At supplies where leakage is what makes cells fail, with fewer cells: most of them do. */
static void hold_failures(void **state)
{
    struct quantiles table;
    struct rng rng;
    vmin_table_make(&table, arena, &model);
    rng_stream(&rng, 2, 0, "test", 0, "hold");
    for (u32 step = 0; step < 3; step++) {
        f64 supply = 0.15 + 0.05 * step;
        u32 count = 0, tried = 20000;
        for (u32 i = 0; i < tried; i++) {
            struct drawn_cell cell;
            draw_cell(&cell, &rng);
            count += fails(&cell, supply);
        }
        /* C1: sides are not independent where failures are common; 0.06 covers that */
        f64 expected = -expm1(-quantile_level(&table, deviation, supply));
        assert_float_equal((f64)count / tried, expected, 0.06);
    }
}

/* Each kind of failure alone, where 5 % of the cells fail; both tables add up to that of both. */
static void one_kind_of_failure(void **state)
{
    static const enum cell_failures kinds[] = {FAILURES_HOLD, FAILURES_WRITE};
    struct quantiles tables[ARRAY_LEN(kinds)], both;
    struct rng rng;
    u32 tried = 40000;
    vmin_table_make(&both, arena, &model);
    rng_stream(&rng, 4, 0, "test", 0, "kinds");
    for (u32 k = 0; k < ARRAY_LEN(kinds); k++) {
        u64 count = 0;
        model.failures = kinds[k];
        vmin_table_make(&tables[k], arena, &model);
        f64 supply = quantile_of(&tables[k], deviation, -log1p(-0.05));
        for (u32 i = 0; i < tried; i++) {
            struct drawn_cell cell;
            draw_cell(&cell, &rng);
            count += fails(&cell, supply);
        }
        assert_float_equal((f64)count / tried, 0.05, 0.006);
        model.failures = FAILURES_BOTH;
    }
    for (u32 step = 0; step < 8; step++) {
        f64 supply = 0.15 + 0.025 * step, sum = 0;
        for (u32 k = 0; k < ARRAY_LEN(kinds); k++)
            sum += quantile_level(&tables[k], deviation, supply);
        f64 level = quantile_level(&both, deviation, supply);
        assert_float_equal(level, sum, 0.02 * level);
    }
}

/* A cell of the table has one V_min: failures never end when the supply falls. */
static void failures_are_monotone(void **state)
{
    struct rng rng;
    rng_stream(&rng, 3, 0, "test", 0, "monotone");
    for (u32 i = 0; i < 300; i++) {
        struct drawn_cell cell;
        draw_cell(&cell, &rng);
        bool failed = false;
        for (u32 step = 0; step < 20; step++) {
            bool now = fails(&cell, 1.2 - 0.05 * step);
            assert_true(now || !failed);
            failed = now;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_are_monotone), cmocka_unit_test(hold_failures),
        cmocka_unit_test(one_kind_of_failure), cmocka_unit_test(delays_of_a_file),
        cmocka_unit_test(vmins_of_a_file)};
    return cmocka_run_group_tests(tests, make_model, end_model);
}
