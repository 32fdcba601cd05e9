/* What a mechanism includes: the seams (hooks.h) and what it may use of a core. */
#ifndef CORE_MECHANISM_H
#define CORE_MECHANISM_H

#include "core/core.h"

#endif
