/* Test mechanism: see late.c. */
#ifndef TESTS_MECH_LATE_H
#define TESTS_MECH_LATE_H

#include "core/mechanism.h"

extern const struct mechanism late_mechanism;

#endif
