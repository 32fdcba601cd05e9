/*
 * Chips: where words lie, how they are drawn, what is fast and what is slow.
 *
 * Levels of what is drawn (quantile.h) are exponential numbers of mean 1, whatever the place: a map
 * that is off by a row, or an order statistic of the wrong number of cells, moves their mean. Means
 * over n of them are compared within four or five standard errors, 1 / sqrt(n).
 */
#include "chip/classes.h"
#include "variation/draw.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    CORES = 3,
    BANKS = 8,
    ENTRIES = 256,
    WORDS = 4,
    LANES = 32,
    FILE_WORDS = BANKS * ENTRIES * WORDS,
    CHECK_BITS = 9,
    CHIPS = 3
};

static struct arena *arena;
static struct chip_source source, checked_source;
static struct chip *chips[CHIPS];
static f32 *deviations[CHIPS], *factors[CHIPS]; /* copies: the source has those of the last chip */

static f32 *copy_of(const f32 *values)
{
    f32 *copy = arena_array(arena, f32, CORES * FILE_WORDS);
    memcpy(copy, values, CORES * FILE_WORDS * sizeof *copy);
    return copy;
}

static int draw_chips(void **state)
{
    struct error error = {0};
    struct variation variation;
    struct file_plan plan;
    arena = arena_create_large(0);
    variation_default(&variation, variation_node(28));
    variation.leff_correlation = 0.6;
    variation.chip_mm2 = 4; /* small: the field changes within a register file */
    assert_true(file_plan_make(&plan, CORES, FILE_WORDS, BANKS, WORDS * 32, LANES, &error));
    assert_int_equal(plan.entries, ENTRIES);
    chip_source_make(&source, arena, &variation, &plan, 5, 0.05);
    for (u32 i = 0; i < CHIPS; i++) {
        chips[i] = chip_draw(&source, i, arena);
        deviations[i] = copy_of(source.deviations);
        factors[i] = copy_of(source.factors);
    }
    assert_int_equal(file_plan_check_bits(&plan), CHECK_BITS);
    plan.check_bits = CHECK_BITS;
    chip_source_make(&checked_source, arena, &variation, &plan, 5, 0.05);
    return 0;
}

static int end_chips(void **state)
{
    chip_source_end(&source);
    chip_source_end(&checked_source);
    arena_destroy(arena);
    return 0;
}

/* ---- parameters ---- */

static void parts_of_sigma(void **state)
{
    struct variation variation;
    struct error error = {0};
    variation_default(&variation, variation_node(32));
    assert_true(variation_ratio(&variation, "1:4", &error));
    struct sigma_parts parts = variation_parts(&variation, 1);
    assert_float_equal(parts.systematic / parts.random, 4, 1e-12);
    assert_float_equal(hypot(parts.random, parts.systematic), 1, 1e-12);
    variation.of_variance = true;
    parts = variation_parts(&variation, 1);
    assert_float_equal(parts.systematic / parts.random, 2, 1e-12);
    assert_float_equal(hypot(parts.random, parts.systematic), 1, 1e-12);
    static const char *const wrong[] = {"1",    "1:",    ":4",  "0:1",   "1:0",
                                        "-1:4", "1:4:2", "x:1", "inf:1", ""};
    for (u32 i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_false(variation_ratio(&variation, wrong[i], &error));
        assert_non_null(strstr(error.message, "expected"));
    }
}

static void nodes(void **state)
{
    static const u32 sizes[] = {45, 32, 28, 11};
    u32 count;
    const struct variation_node *all = variation_nodes(&count);
    assert_int_equal(count, ARRAY_LEN(sizes));
    for (u32 i = 0; i < count; i++) {
        struct variation variation;
        struct error error = {0};
        assert_int_equal(all[i].nm, sizes[i]);
        variation_default(&variation, variation_node(sizes[i]));
        assert_true(variation_check(&variation, "", &error));
    }
    assert_null(variation_node(22));
}

static void plans_that_do_not_fit(void **state)
{
    struct file_plan plan;
    struct error error = {0};
    assert_true(file_plan_make(&plan, 15, 32768, 16, 1024, 32, &error));
    assert_int_equal(plan.entries, 64);
    assert_true(file_plan_make(&plan, 15, 32768, 16, 0, 32, &error)); /* as wide as a register */
    assert_int_equal(plan.words, 32);
    assert_false(file_plan_make(&plan, 15, 32768, 16, 96, 32, &error));
    assert_false(file_plan_make(&plan, 15, 32768, 15, 1024, 32, &error));
    assert_false(file_plan_make(&plan, 15, 32768, 12, 128, 32, &error));
    assert_false(file_plan_make(&plan, 0, 32768, 16, 1024, 32, &error));
}

/* ---- places ---- */

/* Written down again from docs/variation.md: cells of 15 by 14.6 feature sizes, banks of one vector
 * register side by side, files in the middle of the tiles of a square grid. */
static void words_lie_where_they_should(void **state)
{
    const f64 feature = 28e-6 / 2; /* in chip widths of 2 mm */
    for (u32 core = 0; core < CORES; core++)
        for (u32 bank = 0; bank < BANKS; bank++)
            for (u32 entry = 0; entry < ENTRIES; entry += 21)
                for (u32 word = 0; word < WORDS; word++) {
                    f64 lane = bank * WORDS + word; /* 8 banks of 4 lanes in one row */
                    f64 right = core % 2 ? 0.75 : 0.25, down = core < 2 ? 0.25 : 0.75;
                    f64 x = right + (lane + 0.5 - 0.5 * LANES) * 32 * 15 * feature;
                    f64 y = down + (entry + 0.5 - 0.5 * ENTRIES) * 14.6 * feature;
                    struct chip_place place =
                        file_place(&source.plan, &source.variation, core, bank, entry, word);
                    assert_float_equal(place.x, x, 1e-9);
                    assert_float_equal(place.y, y, 1e-9);
                    u32 at = core * FILE_WORDS + word_index(&source.plan, bank, entry, word);
                    assert_int_equal(at, ((core * BANKS + bank) * ENTRIES + entry) * WORDS + word);
                    f64 expected = source.model.vth_systematic * field_at(source.thresholds, x, y);
                    assert_float_equal(deviations[CHIPS - 1][at], expected, 1e-6);
                }
}

/* ---- what is drawn ---- */

static void delays_are_order_statistics(void **state)
{
    f64 mean = 0, squares = 0, n = CHIPS * CORES * FILE_WORDS;
    for (u32 chip = 0; chip < CHIPS; chip++)
        for (u32 i = 0; i < CORES * FILE_WORDS; i++) {
            const struct chip_core *core = &chips[chip]->cores[i / FILE_WORDS];
            f64 delay = (f64)core->delays[i % FILE_WORDS] / DELAY_ONE;
            f64 level = CELLS_PER_WORD * quantile_level(&source.delays, deviations[chip][i],
                                                        delay / factors[chip][i]);
            mean += level / n;
            squares += level * level / n;
        }
    assert_float_equal(mean, 1, 4 / sqrt(n));
    assert_float_equal(squares, 2, 5 * sqrt(20 / n)); /* the variance of a square is 4! - 2^2 */
}

/* What is counted of the cells that are kept. */
struct cell_tally {
    u64 kept, ones, in_check, first_half;
    f64 expected;        /* number of kept cells, by the level of the floor */
    f64 excess, highest; /* levels of the highest of an entry beyond their mean; how many */
};

static void count_entry(struct cell_tally *tally, const struct chip_source *from,
                        const struct chip *chip, u32 core, u32 entry, const f32 *systematic)
{
    const struct chip_core *in = &chip->cores[core];
    const u32 first = in->first[entry], last = in->first[entry + 1], check = from->plan.check_bits;
    for (u32 i = first; i < last; i++) {
        u32 bit = in->cells[i].place & ~CELL_PREFERS;
        assert_true(bit < WORDS * 32 + check);
        tally->ones += in->cells[i].place >> 15;
        tally->in_check += bit >= WORDS * 32;
        tally->first_half += bit % 32 < 16 && bit < WORDS * 32;
        assert_true(in->cells[i].vmin > chip->floor * VMIN_ONE);
        assert_true(i == first || in->cells[i].vmin <= in->cells[i - 1].vmin);
        for (u32 j = first; j < i; j++)
            assert_true((in->cells[j].place & ~CELL_PREFERS) != bit);
    }
    tally->kept += last - first;
    /* The highest V_min of all cells has an exponential level, cut off where the floor is. */
    f64 level = 0, cut = 0, top = last > first ? (f64)in->cells[first].vmin / VMIN_ONE : 0;
    for (u32 word = 0; word < WORDS; word++) {
        f64 at = systematic[(core * BANKS * ENTRIES + entry) * WORDS + word];
        u32 cells = CELLS_PER_WORD + (word + 1 == WORDS ? check : 0);
        f64 floor = quantile_level(&from->vmins, at, chip->floor);
        tally->expected -= cells * expm1(-floor);
        level += top > 0 ? cells * quantile_level(&from->vmins, at, top) : 0;
        cut += cells * floor;
    }
    if (last > first) {
        tally->excess += level - (1 - cut / expm1(cut));
        tally->highest++;
    }
}

static void count_chip(struct cell_tally *tally, const struct chip_source *from,
                       const struct chip *chip, const f32 *systematic)
{
    for (u32 core = 0; core < CORES; core++)
        for (u32 entry = 0; entry < BANKS * ENTRIES; entry++)
            count_entry(tally, from, chip, core, entry, systematic);
    f64 cells = (f64)CORES * file_plan_cells(&from->plan);
    f64 kept = chip->cores[0].first[BANKS * ENTRIES] + chip->cores[1].first[BANKS * ENTRIES] +
               chip->cores[2].first[BANKS * ENTRIES];
    assert_float_equal(kept / cells, 0.05, 0.05 * 0.1); /* H3; the floor is found by sampling */
}

static void tally_fits(const struct cell_tally *tally, u32 check)
{
    f64 kept = (f64)tally->kept, share = (f64)check / (WORDS * 32 + check);
    assert_float_equal(tally->excess / tally->highest, 0, 5 / sqrt(tally->highest));
    assert_float_equal(kept / tally->expected, 1, 5 / sqrt(kept));
    assert_float_equal((f64)tally->ones / kept, 0.5, 5 * 0.5 / sqrt(kept));
    assert_float_equal((f64)tally->first_half / (kept - (f64)tally->in_check), 0.5,
                       5 * 0.5 / sqrt(kept));
    assert_float_equal((f64)tally->in_check / kept, share, 5 * sqrt(share / kept));
}

static void vmins_are_order_statistics(void **state)
{
    struct cell_tally tally = {0};
    for (u32 i = 0; i < CHIPS; i++)
        count_chip(&tally, &source, chips[i], deviations[i]);
    tally_fits(&tally, 0);
}

static void check_bits_are_cells(void **state)
{
    struct cell_tally tally = {0};
    struct chip *chip = chip_draw(&checked_source, 1, arena);
    count_chip(&tally, &checked_source, chip, checked_source.deviations);
    tally_fits(&tally, CHECK_BITS);
}

static void failures_are_nested(void **state)
{
    const struct chip_core *core = &chips[0]->cores[0];
    for (u32 entry = 0; entry < BANKS * ENTRIES; entry++) {
        u32 before = 0;
        for (u32 step = 0; 1.2 - 0.02 * step > chips[0]->floor; step++) {
            f64 volts = 1.2 - 0.02 * step;
            u32 now = chip_failing(core, entry, volts), counted = 0;
            for (u32 i = core->first[entry]; i < core->first[entry + 1]; i++)
                counted += core->cells[i].vmin > volts * VMIN_ONE;
            assert_int_equal(now, counted);
            assert_true(now >= before);
            before = now;
        }
    }
}

static void chips_do_not_depend_on_each_other(void **state)
{
    struct chip *again = chip_draw(&source, 1, arena);
    assert_true(again->floor == chips[1]->floor);
    for (u32 core = 0; core < CORES; core++) {
        const struct chip_core *a = &again->cores[core], *b = &chips[1]->cores[core];
        assert_memory_equal(a->delays, b->delays, FILE_WORDS * sizeof *a->delays);
        assert_memory_equal(a->first, b->first, (BANKS * ENTRIES + 1) * sizeof *a->first);
        assert_memory_equal(a->cells, b->cells, a->first[BANKS * ENTRIES] * sizeof *a->cells);
    }
    assert_true(
        memcmp(again->cores[0].delays, chips[0]->cores[0].delays, FILE_WORDS * sizeof(u16)) != 0);
}

/* ---- classes ---- */

/* A file of 16 banks of 64 entries whose delays are set by hand. */
static void fast_and_slow(void **state)
{
    enum {
        VECTORS = 1024
    };
    struct file_plan plan;
    struct error error = {0};
    assert_true(file_plan_make(&plan, 1, 32768, 16, 1024, 32, &error));
    struct class_rule rule = {0.7, class_sub_banks(&plan)};
    assert_int_equal(rule.sub_banks, 2);
    assert_true(class_rule_check(&rule, &plan, &error));
    assert_int_equal(class_fast(&plan, &rule, PART_SUB_BANK), 22);
    struct chip_core core = {.delays = arena_array(arena, u16, 32768),
                             .first = arena_array(arena, u32, VECTORS + 1)};
    for (u32 i = 0; i < 32768; i++)
        core.delays[i] = 10000;
    /* one slow word in the right half of each of 10 banks, slower in later ones */
    for (u32 bank = 0; bank < 10; bank++)
        core.delays[word_index(&plan, bank, 5, 20)] = (u16)(20000 + bank);
    assert_int_equal(class_limit(&core, &plan, &rule, PART_FILE), 20009);
    assert_int_equal(class_limit(&core, &plan, &rule, PART_REGISTER), 10000);
    assert_int_equal(class_limit(&core, &plan, &rule, PART_SUB_BANK), 10000);
    assert_int_equal(class_limit(&core, &plan, &rule, PART_ARRAY), 10000);
    /* an eleventh: one more than the ten sub-banks that may be slow */
    core.delays[word_index(&plan, 0, 5, 3)] = 15000;
    assert_int_equal(class_limit(&core, &plan, &rule, PART_SUB_BANK), 15000);
    /* but in the same array of vectors as the word beside it */
    assert_int_equal(class_limit(&core, &plan, &rule, PART_ARRAY), 10000);
    u16 delays[32];
    u8 fast[32], expected[32];
    class_delays(&core, &plan, &rule, PART_SUB_BANK, delays);
    class_mark(&plan, &rule, PART_SUB_BANK, delays, fast);
    for (u32 i = 0; i < 32; i++)
        expected[i] = !(i % 2 && i < 20);
    assert_memory_equal(fast, expected, 32);
    struct core_numbers numbers;
    core_count(&numbers, &core, &plan, &rule);
    assert_float_equal(numbers.frequency[PART_FILE], 16384.0 / 20009, 1e-12);
    assert_float_equal(numbers.word_ratio, 2.0009, 1e-12);
    assert_float_equal(numbers.vector_ratio, 2.0009, 1e-12);
    rule.sub_banks = 3;
    assert_false(class_rule_check(&rule, &plan, &error));
    rule = (struct class_rule){0, 2};
    assert_false(class_rule_check(&rule, &plan, &error));
}

static void narrow_banks_are_whole(void **state)
{
    struct file_plan plan;
    struct error error = {0};
    assert_true(file_plan_make(&plan, 15, 32768, 32, 128, 32, &error));
    struct class_rule rule = {0.7, class_sub_banks(&plan)};
    assert_int_equal(rule.sub_banks, 1);
    assert_true(class_rule_check(&rule, &plan, &error));
    assert_int_equal(class_parts(&plan, &rule, PART_SUB_BANK), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_sigma),
        cmocka_unit_test(nodes),
        cmocka_unit_test(plans_that_do_not_fit),
        cmocka_unit_test(words_lie_where_they_should),
        cmocka_unit_test(delays_are_order_statistics),
        cmocka_unit_test(vmins_are_order_statistics),
        cmocka_unit_test(check_bits_are_cells),
        cmocka_unit_test(failures_are_nested),
        cmocka_unit_test(chips_do_not_depend_on_each_other),
        cmocka_unit_test(fast_and_slow),
        cmocka_unit_test(narrow_banks_are_whole),
    };
    return cmocka_run_group_tests(tests, draw_chips, end_chips);
}
