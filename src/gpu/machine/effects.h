/* Parameters without effect on the simulation: effects.def has the facts. */
#ifndef GPU_MACHINE_EFFECTS_H
#define GPU_MACHINE_EFFECTS_H

#include "base/config.h"

/* What would have to hold for the parameter (or size) to have an effect, if that does not hold now:
 * "readonly.enabled=true". NULL: it has an effect, as far as is known. In the arena. */
const char *effects_missing(struct arena *arena, const struct config *config, const char *key);

struct effect_rule {
    const char *components, *params, *condition;
};
extern const struct effect_rule effect_rules[]; /* ends with a NULL member; for tests */

#endif
