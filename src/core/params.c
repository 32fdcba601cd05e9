/* The component tables of a core's stages. */
#include "core/params.h"

#define COMPONENT fetch
#define COMPONENT_DEF "core/fetch.def"
#define COMPONENT_HELP "fetch, decode and the instruction buffers"
#include "base/component_table.h"

#define COMPONENT icache
#define COMPONENT_DEF "core/icache.def"
#define COMPONENT_HELP "the instruction cache of a core"
#include "base/component_table.h"

#define COMPONENT issue
#define COMPONENT_DEF "core/issue.def"
#define COMPONENT_HELP "schedulers and scoreboards"
#include "base/component_table.h"

#define COMPONENT collect
#define COMPONENT_DEF "core/collect.def"
#define COMPONENT_HELP "operand collection from the banked register file"
#include "base/component_table.h"

#define COMPONENT units
#define COMPONENT_DEF "core/units.def"
#define COMPONENT_HELP "execution units and their result buses"
#include "base/component_table.h"

#define COMPONENT lsu
#define COMPONENT_DEF "core/lsu.def"
#define COMPONENT_HELP "the load/store unit and shared memory"
#include "base/component_table.h"

#define COMPONENT l1d
#define COMPONENT_DEF "core/l1d.def"
#define COMPONENT_HELP "the first-level data cache of a core"
#include "base/component_table.h"

#define COMPONENT constant
#define COMPONENT_DEF "core/constant.def"
#define COMPONENT_HELP "the constant cache of a core"
#include "base/component_table.h"

#define COMPONENT miaow
#define COMPONENT_DEF "core/miaow/miaow.def"
#define COMPONENT_HELP "the pipeline of MIAOW's compute unit (core.stages=miaow)"
#include "base/component_table.h"

#define COMPONENT readonly
#define COMPONENT_DEF "core/readonly.def"
#define COMPONENT_HELP "the read-only (texture) cache of a core"
#include "base/component_table.h"
