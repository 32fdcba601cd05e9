/* Whether a chip fits the machine and the mechanisms that are on. `chip` may be NULL: none is given. */
#ifndef GPU_MECHANISM_CHIPS_H
#define GPU_MECHANISM_CHIPS_H

#include "chip/maps.h"
#include "gpu/mechanism/mechanisms.h"

bool chip_check(const struct config *config, const struct chip_maps *chip, struct error *error);
bool chip_serves(const struct chip_maps *chip, const struct mechanism_set *set,
                 struct error *error);

#endif
