/* Drawing of chips: see draw.h. */
#include "variation/draw.h"

void chip_source_make(struct chip_source *source, struct arena *arena,
                      const struct variation *variation, const struct file_plan *plan, u64 seed,
                      f64 kept)
{
    u32 words = plan->cores * file_plan_words(plan);
    *source = (struct chip_source){.variation = *variation,
                                   .plan = *plan,
                                   .seed = seed,
                                   .kept = kept,
                                   .thresholds = arena_array(arena, f32, FIELD_SIDE * FIELD_SIDE),
                                   .lengths = arena_array(arena, f32, FIELD_SIDE * FIELD_SIDE),
                                   .deviations = arena_array(arena, f32, words),
                                   .factors = arena_array(arena, f32, words)};
    cell_model_make(&source->model, variation);
    delay_table_make(&source->delays, arena, &source->model);
    vmin_table_make(&source->vmins, arena, &source->model);
    source->field = field_source_create(variation->range);
}

void chip_source_end(struct chip_source *source)
{
    field_source_destroy(source->field);
    source->field = NULL;
}

/* ---- the systematic part ---- */

/* Draws both fields and looks them up at every word. */
static void draw_systematic(struct chip_source *source, u32 number)
{
    const struct file_plan *plan = &source->plan;
    const struct cell_model *model = &source->model;
    f64 follows = source->variation.leff_correlation, own = sqrt(1 - follows * follows);
    struct rng rng;
    rng_stream(&rng, source->seed, number, "chip", 0, "systematic");
    field_draw(source->field, &rng, source->thresholds, source->lengths);
    u32 at = 0;
    for (u32 core = 0; core < plan->cores; core++)
        for (u32 bank = 0; bank < plan->banks; bank++)
            for (u32 entry = 0; entry < plan->entries; entry++)
                for (u32 word = 0; word < plan->words; word++, at++) {
                    struct chip_place place =
                        file_place(plan, &source->variation, core, bank, entry, word);
                    f64 threshold = field_at(source->thresholds, place.x, place.y);
                    f64 length = field_at(source->lengths, place.x, place.y);
                    source->deviations[at] = (f32)(model->vth_systematic * threshold);
                    source->factors[at] =
                        (f32)(1 + model->leff_systematic * (follows * threshold + own * length));
                }
}

static f32 *make_map(const struct chip_source *source, struct arena *arena)
{
    f32 *map = arena_array(arena, f32, MAP_SIDE * MAP_SIDE);
    for (u32 row = 0; row < MAP_SIDE; row++)
        for (u32 column = 0; column < MAP_SIDE; column++)
            map[row * MAP_SIDE + column] =
                (f32)(source->model.vth_systematic * field_at(source->thresholds,
                                                              (column + 0.5) / MAP_SIDE,
                                                              (row + 0.5) / MAP_SIDE));
    return map;
}

/* The supply above which the given share of the chip's cells has its V_min. */
static f64 find_floor(const struct chip_source *source)
{
    enum {
        SAMPLES = 4096
    };
    const u32 words = source->plan.cores * file_plan_words(&source->plan);
    const u32 stride = MAX(words / SAMPLES, 1) | 1; /* odd: no column is preferred */
    f64 low = 0, high = 2;
    for (u32 i = 0; i < 24; i++) {
        f64 volts = (low + high) / 2, failing = 0;
        u32 count = 0;
        for (u32 at = 0; at < words; at += stride, count++)
            failing -= expm1(-quantile_level(&source->vmins, source->deviations[at], volts));
        if (failing > source->kept * count)
            low = volts;
        else
            high = volts;
    }
    return floor((low + high) / 2 * VMIN_ONE) / VMIN_ONE;
}

/* ---- delays ---- */

static u16 rounded(f64 value, f64 one)
{
    return (u16)fmin(fmax(nearbyint(value * one), 0), UINT16_MAX);
}

/* A word is as slow as its slowest cell; check bits belong to the last word of their entry. */
static void draw_delays(const struct chip_source *source, u32 number, u32 core, u16 *delays)
{
    const struct file_plan *plan = &source->plan;
    const u32 words = file_plan_words(plan);
    const f32 *deviations = source->deviations + (size_t)core * words;
    const f32 *factors = source->factors + (size_t)core * words;
    struct rng rng;
    rng_stream(&rng, source->seed, number, "core", core, "delay");
    for (u32 i = 0; i < words; i++) {
        u32 cells = CELLS_PER_WORD + ((i + 1) % plan->words ? 0 : plan->check_bits);
        f64 delay = quantile_of(&source->delays, deviations[i], exponential(&rng) / cells);
        delays[i] = rounded(factors[i] * delay, DELAY_ONE);
    }
}

/* ---- V_min ---- */

enum {
    FLOOR_POINTS = 513
};

/* The level of the floor by systematic deviation; to find it takes too long for every word. */
struct floor_levels {
    f64 low, step;
    f64 at[FLOOR_POINTS];
};

static void find_levels(struct floor_levels *levels, const struct chip_source *source, f64 floor)
{
    const struct quantiles *table = &source->vmins;
    levels->low = table->low;
    levels->step = -2 * table->low / (FLOOR_POINTS - 1);
    for (u32 i = 0; i < FLOOR_POINTS; i++)
        levels->at[i] = quantile_level(table, levels->low + i * levels->step, floor);
}

static f64 level_at(const struct floor_levels *levels, f64 deviation)
{
    f64 at = fmin(fmax((deviation - levels->low) / levels->step, 0), FLOOR_POINTS - 1.001);
    u32 i = (u32)at;
    return levels->at[i] + (at - i) * (levels->at[i + 1] - levels->at[i]);
}

struct weak_cells {
    VEC(struct weak_cell) all;
    const struct floor_levels *levels;
    f64 floor;
    struct rng rng;
};

/* The cells of a group above the floor, from the highest: bits from `first` on. */
static void draw_group(const struct chip_source *source, struct weak_cells *weak, f64 deviation,
                       u32 first, u32 count)
{
    u8 bits[CELLS_PER_WORD];
    for (u32 i = 0; i < count; i++)
        bits[i] = (u8)i;
    /* a little below the floor: cells that rounding lifts above it are tested again */
    f64 level = 0, last = level_at(weak->levels, deviation) * 1.001;
    for (u32 left = count; left > 0; left--) {
        level += exponential(&weak->rng) / left;
        if (level > last)
            return;
        /* any of those left, with equal probability */
        u32 at = (u32)rng_below(&weak->rng, left);
        u8 bit = bits[at];
        bits[at] = bits[left - 1];
        u16 vmin = rounded(quantile_of(&source->vmins, deviation, level), VMIN_ONE);
        bool one = rng_next(&weak->rng) >> 63; /* the sides of a cell are alike */
        if (vmin > weak->floor * VMIN_ONE)
            *vec_push(&weak->all) =
                (struct weak_cell){(u16)((first + bit) | (one ? CELL_PREFERS : 0)), vmin};
    }
}

static int by_falling_vmin(const void *a, const void *b)
{
    const struct weak_cell *x = a, *y = b;
    return x->vmin != y->vmin ? y->vmin - x->vmin : x->place - y->place;
}

static void draw_entry(const struct chip_source *source, struct weak_cells *weak,
                       const f32 *deviations)
{
    const struct file_plan *plan = &source->plan;
    u32 before = weak->all.count;
    for (u32 word = 0; word <= plan->words; word++) {
        bool check = word == plan->words; /* check bits, beside the last word */
        f64 deviation = deviations[check ? word - 1 : word];
        draw_group(source, weak, deviation, word * CELLS_PER_WORD,
                   check ? plan->check_bits : CELLS_PER_WORD);
    }
    if (weak->all.count > before)
        qsort(weak->all.data + before, weak->all.count - before, sizeof *weak->all.data,
              by_falling_vmin);
}

static void draw_vmins(const struct chip_source *source, const struct chip *chip,
                       const struct floor_levels *levels, u32 core, struct arena *arena)
{
    const struct file_plan *plan = &source->plan;
    const u32 entries = plan->banks * plan->entries;
    const f32 *deviations = source->deviations + (size_t)core * entries * plan->words;
    struct chip_core *into = &chip->cores[core];
    struct weak_cells weak = {.levels = levels, .floor = chip->floor};
    rng_stream(&weak.rng, source->seed, chip->number, "core", core, "vmin");
    into->first = arena_array(arena, u32, entries + 1);
    for (u32 entry = 0; entry < entries; entry++) {
        draw_entry(source, &weak, deviations + (size_t)entry * plan->words);
        into->first[entry + 1] = weak.all.count;
    }
    into->cells = arena_array(arena, struct weak_cell, weak.all.count + 1);
    if (weak.all.count)
        memcpy(into->cells, weak.all.data, weak.all.count * sizeof *into->cells);
    vec_free(&weak.all);
}

struct chip *chip_draw(struct chip_source *source, u32 number, struct arena *arena)
{
    const struct file_plan *plan = &source->plan;
    const u32 words = file_plan_words(plan);
    struct chip *chip = arena_new(arena, struct chip);
    draw_systematic(source, number);
    *chip = (struct chip){.plan = *plan,
                          .number = number,
                          .volts = source->variation.volts,
                          .threshold = source->variation.threshold,
                          .floor = find_floor(source),
                          .cores = arena_array(arena, struct chip_core, plan->cores),
                          .map = make_map(source, arena)};
    struct floor_levels levels;
    find_levels(&levels, source, chip->floor);
    for (u32 core = 0; core < plan->cores; core++) {
        struct chip_core *into = &chip->cores[core];
        into->delays = arena_array(arena, u16, words);
        draw_delays(source, number, core, into->delays);
        draw_vmins(source, chip, &levels, core, arena);
        for (u32 i = 0; i < words; i++)
            into->threshold += source->deviations[(size_t)core * words + i] / words;
    }
    return chip;
}
