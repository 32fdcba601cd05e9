/* Mechanisms that change the costs of a machine, and nothing else: for tests of the model. */
#ifndef MODEL_MECH_H
#define MODEL_MECH_H

#include "core/mechanism.h"

extern const struct mechanism swap_mechanism, gate_mechanism, low_mechanism;

#endif
