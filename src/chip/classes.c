/* Fast and slow parts: see classes.h. */
#include "chip/classes.h"

#include <math.h>

u32 class_sub_banks(const struct file_plan *plan)
{
    return plan->words == plan->lanes && plan->words % 2 == 0 ? 2 : 1;
}

bool class_rule_check(const struct class_rule *rule, const struct file_plan *plan,
                      struct error *error)
{
    if (!(rule->fast > 0 && rule->fast <= 1))
        return error_set(error, ERROR_USAGE, "", "%g %% of parts are fast: expected 1 to 100",
                         100 * rule->fast);
    if (!rule->sub_banks || plan->words % rule->sub_banks ||
        plan->banks / file_plan_columns(plan) * plan->entries < plan->banks * rule->sub_banks)
        return error_set(error, ERROR_USAGE, "",
                         "%u sub-banks in a bank of %u entries of %u registers: expected a "
                         "divisor of the latter",
                         rule->sub_banks, plan->entries, plan->words);
    if (!class_fast(plan, rule, PART_SUB_BANK))
        return error_set(error, ERROR_USAGE, "", "%g %% of %u sub-banks are none: expected more",
                         100 * rule->fast, class_parts(plan, rule, PART_SUB_BANK));
    return true;
}

u32 class_parts(const struct file_plan *plan, const struct class_rule *rule, enum part_kind kind)
{
    switch (kind) {
    case PART_FILE:
        return 1;
    case PART_REGISTER:
        return file_plan_words(plan);
    default:
        return plan->banks * rule->sub_banks;
    }
}

u32 class_fast(const struct file_plan *plan, const struct class_rule *rule, enum part_kind kind)
{
    u32 parts = class_parts(plan, rule, kind);
    return kind == PART_FILE ? 1 : (u32)(rule->fast * parts + 1e-9);
}

/* Vector registers lie one above the other: of bank rows, by entry. */
static u32 vector_of(const struct file_plan *plan, u32 bank, u32 entry)
{
    return bank / file_plan_columns(plan) * plan->entries + entry;
}

void class_delays(const struct chip_core *core, const struct file_plan *plan,
                  const struct class_rule *rule, enum part_kind kind, u16 *delays)
{
    u32 parts = class_parts(plan, rule, kind);
    u32 vectors = plan->banks / file_plan_columns(plan) * plan->entries;
    memset(delays, 0, parts * sizeof *delays);
    for (u32 bank = 0; bank < plan->banks; bank++)
        for (u32 entry = 0; entry < plan->entries; entry++)
            for (u32 word = 0; word < plan->words; word++) {
                u32 i = word_index(plan, bank, entry, word), part = i;
                if (kind == PART_SUB_BANK)
                    part = bank * rule->sub_banks + word * rule->sub_banks / plan->words;
                else if (kind == PART_ARRAY)
                    part = (u32)((u64)vector_of(plan, bank, entry) * parts / vectors);
                else if (kind == PART_FILE)
                    part = 0;
                delays[part] = MAX(delays[part], core->delays[i]);
            }
}

static int by_size(const void *a, const void *b)
{
    return *(const u16 *)a - *(const u16 *)b;
}

u16 class_limit(const struct chip_core *core, const struct file_plan *plan,
                const struct class_rule *rule, enum part_kind kind)
{
    u32 parts = class_parts(plan, rule, kind);
    assert(parts > 0);
    u16 *delays = checked(malloc(parts * sizeof *delays));
    class_delays(core, plan, rule, kind, delays);
    qsort(delays, parts, sizeof *delays, by_size);
    u16 limit = delays[class_fast(plan, rule, kind) - 1];
    free(delays);
    return limit;
}

void class_mark(const struct file_plan *plan, const struct class_rule *rule, enum part_kind kind,
                const u16 *delays, u8 *fast)
{
    u32 parts = class_parts(plan, rule, kind), left = class_fast(plan, rule, kind);
    u16 *sorted = checked(malloc(parts * sizeof *sorted));
    memcpy(sorted, delays, parts * sizeof *sorted);
    qsort(sorted, parts, sizeof *sorted, by_size);
    u16 limit = sorted[left - 1];
    free(sorted);
    for (u32 i = 0; i < parts; i++) {
        fast[i] = delays[i] < limit;
        left -= fast[i];
    }
    for (u32 i = 0; i < parts; i++)
        if (delays[i] == limit && left) {
            fast[i] = 1;
            left--;
        }
}

/* The slowest over the fastest word, and the same of vector registers. */
static void find_ratios(struct core_numbers *numbers, const struct chip_core *core,
                        const struct file_plan *plan)
{
    u32 vectors = plan->banks / file_plan_columns(plan) * plan->entries;
    u16 *slowest = checked(calloc(vectors, sizeof *slowest));
    u16 least = UINT16_MAX, most = 0, least_vector = UINT16_MAX;
    for (u32 bank = 0; bank < plan->banks; bank++)
        for (u32 entry = 0; entry < plan->entries; entry++)
            for (u32 word = 0; word < plan->words; word++) {
                u16 delay = core->delays[word_index(plan, bank, entry, word)];
                u16 *vector = &slowest[vector_of(plan, bank, entry)];
                *vector = MAX(*vector, delay);
                least = MIN(least, delay);
                most = MAX(most, delay);
            }
    for (u32 i = 0; i < vectors; i++)
        least_vector = MIN(least_vector, slowest[i]);
    free(slowest);
    numbers->word_ratio = (f64)most / MAX(least, 1);
    numbers->vector_ratio = (f64)most / MAX(least_vector, 1);
}

void core_count(struct core_numbers *numbers, const struct chip_core *core,
                const struct file_plan *plan, const struct class_rule *rule)
{
    *numbers = (struct core_numbers){.threshold = core->threshold};
    for (u32 kind = 0; kind < PART_KINDS; kind++)
        numbers->frequency[kind] =
            (f64)DELAY_ONE / MAX(class_limit(core, plan, rule, (enum part_kind)kind), 1);
    find_ratios(numbers, core, plan);
    u32 entries = plan->banks * plan->entries;
    for (u32 i = 0; i < core->first[entries]; i++)
        numbers->vmin = fmax(numbers->vmin, (f64)core->cells[i].vmin / VMIN_ONE);
}

const f64 rare_shares[RARE_SHARES] = {1e-5, 1e-4, 1e-3, 5e-3};

/* The highest supply at which a share of the cells fails, by `counts` of cells with each V_min. The
 * floor, if fewer are known. */
static f64 find_supply(const struct chip *chip, const u32 *counts, f64 share)
{
    const struct file_plan *plan = &chip->plan;
    u64 wanted = (u64)(share * ((u64)plan->cores * file_plan_cells(plan))), seen = 0;
    i32 volts = UINT16_MAX; /* all cells with a V_min above it fail */
    while (volts > 0 && seen < wanted)
        seen += counts[volts--];
    return fmax((f64)volts / VMIN_ONE, chip->floor);
}

static void find_supplies(struct chip_numbers *numbers, const struct chip *chip)
{
    u32 entries = chip->plan.banks * chip->plan.entries;
    u32 *counts = checked(calloc(UINT16_MAX + 1, sizeof *counts));
    for (u32 core = 0; core < chip->plan.cores; core++)
        for (u32 i = 0; i < chip->cores[core].first[entries]; i++)
            counts[chip->cores[core].cells[i].vmin]++;
    numbers->one_percent = find_supply(chip, counts, 0.01);
    numbers->reduction = 1 - numbers->one_percent / numbers->vmin;
    for (u32 i = 0; i < RARE_SHARES; i++)
        numbers->rare[i] = 1 - find_supply(chip, counts, rare_shares[i]) / numbers->vmin;
    free(counts);
}

static void count_bad_bits(struct chip_numbers *numbers, const struct chip *chip)
{
    u32 entries = chip->plan.banks * chip->plan.entries;
    f64 share = 1.0 / ((f64)entries * chip->plan.cores);
    for (u32 core = 0; core < chip->plan.cores; core++)
        for (u32 entry = 0; entry < entries; entry++) {
            u32 bad = chip_failing(&chip->cores[core], entry, numbers->one_percent);
            numbers->bad_bits[MIN(bad, BAD_BITS - 1)] += share;
            numbers->most_bad = MAX(numbers->most_bad, bad);
        }
}

void chip_count(struct chip_numbers *numbers, struct core_numbers *cores, const struct chip *chip,
                const struct class_rule *rule)
{
    u32 count = chip->plan.cores;
    f64 least = INFINITY, most = 0;
    *numbers = (struct chip_numbers){0};
    for (u32 core = 0; core < count; core++) {
        struct core_numbers *one = &cores[core];
        core_count(one, &chip->cores[core], &chip->plan, rule);
        for (u32 kind = 0; kind < PART_KINDS; kind++)
            numbers->frequency[kind] += one->frequency[kind] / count;
        numbers->word_ratio += one->word_ratio / count;
        numbers->vector_ratio += one->vector_ratio / count;
        numbers->vmin = fmax(numbers->vmin, one->vmin);
        least = fmin(least, one->frequency[PART_FILE]);
        most = fmax(most, one->frequency[PART_FILE]);
    }
    numbers->between = most / least;
    find_supplies(numbers, chip);
    count_bad_bits(numbers, chip);
}
