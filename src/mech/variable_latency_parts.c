/* What is fast in a core's register file, and the banks that are formed of it: see
 * variable_latency.c. */
#include "mech/variable_latency.h"

static enum part_kind part_kind(const struct variable_latency *v)
{
    static const enum part_kind kinds[] = {[PARTS_FILE] = PART_FILE,
                                           [PARTS_REGISTER] = PART_REGISTER,
                                           [PARTS_ARRAY] = PART_ARRAY,
                                           [PARTS_SUB_BANK] = PART_SUB_BANK};
    return kinds[v->params->parts];
}

/* A bank that is narrower than a vector register is a part by itself. */
static struct class_rule rule_of(const struct variable_latency *v)
{
    const u32 sub_banks = v->plan.words < v->plan.lanes ? 1 : 1u << v->params->sub_banks;
    return (struct class_rule){v->params->fast / 100.0, sub_banks};
}

/* The delay that the slowest core of the chip needs: at its clock, every core has at least its
 * share of fast parts. */
static u16 slowest_limit(const struct variable_latency *v, const struct chip *chip)
{
    const struct class_rule rule = rule_of(v);
    u16 limit = 0;
    for (u32 core = 0; core < v->plan.cores; core++)
        limit = MAX(limit, class_limit(&chip->cores[core], &v->plan, &rule, part_kind(v)));
    return limit;
}

static void mark_parts(struct variable_latency *v, const struct chip_core *own, bool by_limit)
{
    const struct class_rule rule = rule_of(v);
    u16 delays[MOST_PARTS];
    if (v->params->parts != PARTS_ARRAY && v->params->parts != PARTS_SUB_BANK)
        return;
    class_delays(own, &v->plan, &rule, part_kind(v), delays);
    class_mark(&v->plan, &rule, part_kind(v), delays, v->fast);
    for (u32 i = 0; i < v->parts && by_limit; i++)
        v->fast[i] = delays[i] <= v->limit;
    v->fast_count = 0;
    for (u32 i = 0; i < v->parts; i++)
        v->fast_count += v->fast[i];
}

static void count_registers(struct variable_latency *v, const struct chip_core *own)
{
    v->parts = file_plan_words(&v->plan);
    v->fast_count = 0;
    for (u32 i = 0; i < v->parts; i++)
        v->fast_count += own->delays[i] <= v->limit;
}

void parts_classify(struct variable_latency *v, const struct core *core)
{
    const struct chip *chip = core_chip(core);
    const struct chip_core *own = core_chip_core(core);
    const struct class_rule rule = rule_of(v);
    v->plan = chip->plan;
    v->banks = v->plan.banks / file_plan_columns(&v->plan);
    v->entries = v->plan.entries;
    v->per_bank = file_plan_columns(&v->plan) * rule.sub_banks;
    v->parts = v->banks * v->per_bank;
    assert(v->banks <= CORE_BANKS && v->parts <= MOST_PARTS);
    v->limit = v->params->equal_cores ? slowest_limit(v, chip)
                                      : class_limit(own, &v->plan, &rule, part_kind(v));
    v->slow_rows = mechanism_alloc(v, (size_t)v->banks * v->entries);
    mark_parts(v, own, v->params->equal_cores);
    if (v->params->parts == PARTS_REGISTER)
        count_registers(v, own);
    else if (v->params->parts == PARTS_FILE)
        v->fast_count = v->parts = 1;
}

/* ---- banks ---- */

static bool has_table(const struct variable_latency *v)
{
    return v->params->reorganise && v->params->parts >= PARTS_ARRAY;
}

u32 parts_most_hybrid(const struct variable_latency *v)
{
    const u32 fast = v->fast_count / v->per_bank;
    const u32 slow = (v->parts - v->fast_count) / v->per_bank; /* both halves slow */
    return has_table(v) && v->params->parts == PARTS_SUB_BANK && v->per_bank % 2 == 0
               ? 2 * MIN(fast, slow)
               : 0;
}

/* Fast parts first, each kind in the order of the parts. */
static void fill_table(struct variable_latency *v)
{
    u32 at = 0;
    for (u32 pass = 2; pass-- > 0;)
        for (u32 i = 0; i < v->parts; i++)
            if (v->fast[i] == pass)
                v->table[at++] = (u16)i;
}

static void swap_halves(struct variable_latency *v, u32 fast, u32 slow)
{
    const u32 half = v->per_bank / 2;
    for (u32 i = 0; i < half; i++) {
        u16 *right = &v->table[fast * v->per_bank + half + i],
            *left = &v->table[slow * v->per_bank + i];
        const u16 part = *right;
        *right = *left;
        *left = part;
    }
    v->kind[fast] = v->kind[slow] = BANK_HYBRID;
}

/* The part of a bank's entry. Arrays lie above each other, sub-banks side by side. */
static bool array_is_fast(const struct variable_latency *v, u32 bank, u32 entry)
{
    return v->fast[v->table[bank * v->per_bank + entry * v->per_bank / v->entries]];
}

static bool words_are_fast(const struct variable_latency *v, const struct chip_core *own, u32 bank,
                           u32 entry)
{
    const u32 columns = file_plan_columns(&v->plan);
    for (u32 b = bank * columns; b < (bank + 1) * columns; b++)
        for (u32 word = 0; word < v->plan.words; word++)
            if (own->delays[word_index(&v->plan, b, entry, word)] > v->limit)
                return false;
    return true;
}

static bool row_is_fast(const struct variable_latency *v, const struct chip_core *own, u32 bank,
                        u32 entry)
{
    switch (v->params->parts) {
    case PARTS_REGISTER:
        return words_are_fast(v, own, bank, entry);
    case PARTS_ARRAY:
        return array_is_fast(v, bank, entry);
    case PARTS_SUB_BANK:
        for (u32 i = 0; i < v->per_bank; i++)
            if (!v->fast[v->table[bank * v->per_bank + i]])
                return false;
        return true;
    default:
        return true;
    }
}

void parts_arrange(struct variable_latency *v, const struct core *core, u32 hybrid)
{
    for (u32 i = 0; i < MIN(v->parts, (u32)MOST_PARTS); i++)
        v->table[i] = (u16)i;
    if (has_table(v))
        fill_table(v);
    memset(v->kind, BANK_FAST, sizeof v->kind);
    for (u32 i = 0; i < hybrid / 2; i++)
        swap_halves(v, v->fast_count / v->per_bank - 1 - i, v->banks - 1 - i);
    for (u32 bank = 0; bank < v->banks; bank++)
        for (u32 entry = 0; entry < v->entries; entry++) {
            const bool slow = !row_is_fast(v, core_chip_core(core), bank, entry);
            v->slow_rows[entry * v->banks + bank] = slow;
            if (slow && v->kind[bank] == BANK_FAST)
                v->kind[bank] = BANK_SLOW;
        }
    memset(v->of_kind, 0, sizeof v->of_kind);
    for (u32 bank = 0; bank < v->banks; bank++)
        v->list[v->kind[bank]][v->of_kind[v->kind[bank]]++] = (u8)bank;
}
