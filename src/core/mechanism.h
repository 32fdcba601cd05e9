/*
 * The front door for mechanisms: the one header of the core that a mechanism includes.
 * docs/mechanisms.md is the guide to it, examples/mechanisms has three small ones.
 */
#ifndef CORE_MECHANISM_H
#define CORE_MECHANISM_H

#include "analysis/lane_liveness.h"
#include "analysis/liveness.h"
#include "analysis/redundancy.h"
#include "base/events.h"
#include "core/common/common.h"
#include "core/services.h"
#include "exec/scalars.h"
#include "exec/values.h"
#include "ir/waits.h"

#ifdef HEDDLE_PLUGIN
#include "core/plugin.h"
#endif

#endif
