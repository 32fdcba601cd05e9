/* Parameters and statistics of a core's stages. */
#ifndef CORE_PARAMS_H
#define CORE_PARAMS_H

#define COMPONENT fetch
#define COMPONENT_DEF "core/fetch.def"
#include "base/component_struct.h"

#define COMPONENT icache
#define COMPONENT_DEF "core/icache.def"
#include "base/component_struct.h"

#define COMPONENT issue
#define COMPONENT_DEF "core/issue.def"
#include "base/component_struct.h"

#define COMPONENT collect
#define COMPONENT_DEF "core/collect.def"
#include "base/component_struct.h"

/* Banks that serve registers independently of each other: narrow banks work together. */
static inline u32 collect_places(const struct collect_params *params, u32 warp_size)
{
    u32 together =
        params->bank_bits ? (warp_size * 32 + params->bank_bits - 1) / params->bank_bits : 1;
    return params->banks > together ? params->banks / together : 1;
}

#define COMPONENT units
#define COMPONENT_DEF "core/units.def"
#include "base/component_struct.h"

#define COMPONENT lsu
#define COMPONENT_DEF "core/lsu.def"
#include "base/component_struct.h"

#define COMPONENT l1d
#define COMPONENT_DEF "core/l1d.def"
#include "base/component_struct.h"

#define COMPONENT constant
#define COMPONENT_DEF "core/constant.def"
#include "base/component_struct.h"

#define COMPONENT miaow
#define COMPONENT_DEF "core/miaow/miaow.def"
#include "base/component_struct.h"

#define COMPONENT readonly
#define COMPONENT_DEF "core/readonly.def"
#include "base/component_struct.h"

#endif
