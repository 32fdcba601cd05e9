/* Test mechanism: writes into what the mechanism `uniform` keeps. */
#ifndef SCRIBBLE_H
#define SCRIBBLE_H

#include "core/hooks.h"

extern const struct mechanism scribble_mechanism;

#endif
