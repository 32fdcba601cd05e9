/* The storage of a core, for the state registry. */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include "core/core.h"

/* The rows of one core, `cores` times. */
void core_state(struct state_list *list, const struct core_config *machine);
/* Of a core with MIAOW's stages; state.c calls it. */
void miaow_state(struct state_list *list, const struct core_config *machine);

#endif
