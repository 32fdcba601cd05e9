/* The mechanisms that are built in: src/mech/list.def names each once. */
#include "core/mechanism.h"

#define MECHANISM(name) extern const struct mechanism name##_mechanism;
#include "mech/list.def"
#undef MECHANISM

const struct mechanism *const mechanisms_built_in[] = {
#define MECHANISM(name) &name##_mechanism,
#include "mech/list.def"
#undef MECHANISM
    NULL,
};
