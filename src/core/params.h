/* Parameters and statistics of a core's components (core/components.def). */
#ifndef CORE_PARAMS_H
#define CORE_PARAMS_H

#include "core/components.def"

/* units.int_mul_unit */
enum {
    INT_MUL_INTEGER,
    INT_MUL_SFU
};

/* texture.cache */
enum {
    TEXTURE_BY_L1,
    TEXTURE_BY_READONLY
};

/* Banks that serve registers independently: narrow banks that hold a register side by side count as
 * one. */
static inline u32 collect_places(const struct collect_params *params, u32 warp_size)
{
    u32 together =
        params->bank_bits ? (warp_size * 32 + params->bank_bits - 1) / params->bank_bits : 1;
    return params->banks > together ? params->banks / together : 1;
}

#endif
