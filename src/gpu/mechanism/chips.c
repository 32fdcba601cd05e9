/* Chips, machines and mechanisms: see chips.h. */
#include "gpu/mechanism/chips.h"

#include "gpu/machine/config.h"

bool chip_check(const struct config *config, const struct chip_maps *chip, struct error *error)
{
    const struct core_config c = core_config_of(config);
    struct file_plan plan;
    return !chip || (file_plan_make(&plan, c.cores, c.core->registers, c.collect->banks,
                                    c.collect->bank_bits, c.core->warp_size, error) &&
                     chip_maps_fit(chip, &plan, config_machine(config), error));
}

bool chip_serves(const struct chip_maps *chip, const struct mechanism_set *set, struct error *error)
{
    for (u32 i = 0; i < set->count && !chip; i++)
        if (set->uses[i].mechanism->chip)
            return error_set(error, ERROR_USAGE, "",
                             "mechanism %s needs a chip: expected --chip FILE.db:NUMBER, a chip "
                             "that 'heddle chip --out FILE.db' drew",
                             set->uses[i].mechanism->name);
    return true;
}
