/* Geometry and lists of a chip: see chip.h. */
#include "chip/chip.h"

bool file_plan_make(struct file_plan *plan, u32 cores, u32 registers, u32 banks, u32 bank_bits,
                    u32 lanes, struct error *error)
{
    u32 words = bank_bits ? bank_bits / CELLS_PER_WORD : lanes;
    *plan = (struct file_plan){.cores = cores, .banks = banks, .words = words, .lanes = lanes};
    if (!cores || cores > MOST_CORES)
        return error_set(error, ERROR_UNSUPPORTED, "gpu.cores",
                         "a chip of %u cores: expected 1 to %d", cores, MOST_CORES);
    if (!lanes || !words || bank_bits % CELLS_PER_WORD || words > lanes || lanes % words)
        return error_set(error, ERROR_UNSUPPORTED, "collect.bank_bits",
                         "banks of %u bits for registers of %u lanes: expected a bank that holds "
                         "a vector register or an even share of one",
                         bank_bits, lanes);
    if (!banks || banks % file_plan_columns(plan) || !registers || registers % (banks * words))
        return error_set(error, ERROR_UNSUPPORTED, "core.registers",
                         "%u registers do not fill %u banks of %u registers an entry: expected a "
                         "multiple",
                         registers, banks, words);
    plan->entries = registers / (banks * words);
    if (plan->entries > 65536 || registers > 1u << 20)
        return error_set(error, ERROR_UNSUPPORTED, "core.registers",
                         "%u registers in a core: expected at most %u", registers, 1u << 20);
    return true;
}

u32 file_plan_check_bits(const struct file_plan *plan)
{
    u32 bits = plan->words * CELLS_PER_WORD, check = 1;
    while ((1u << check) < bits + check + 1) /* Hamming */
        check++;
    return check + 1; /* and one for double errors */
}

u32 chip_failing(const struct chip_core *core, u32 entry, f64 volts)
{
    u32 low = core->first[entry], high = core->first[entry + 1], first = low;
    while (low < high) { /* V_min falls within an entry */
        u32 middle = (low + high) / 2;
        if (core->cells[middle].vmin > volts * VMIN_ONE)
            low = middle + 1;
        else
            high = middle;
    }
    return low - first;
}

bool chip_cells_fit(const struct chip *chip, const struct chip_core *core)
{
    const struct file_plan *plan = &chip->plan;
    const u32 bits = plan->words * CELLS_PER_WORD + plan->check_bits;
    for (u32 entry = 0; entry < plan->banks * plan->entries; entry++)
        for (u32 i = core->first[entry]; i < core->first[entry + 1]; i++) {
            const struct weak_cell *cell = &core->cells[i];
            if ((cell->place & ~CELL_PREFERS) >= bits || cell->vmin <= chip->floor * VMIN_ONE ||
                (i > core->first[entry] && cell->vmin > cell[-1].vmin))
                return false;
        }
    return true;
}
