/*
 * What a mechanism includes: the seams (hooks.h), and what it may ask a core. docs/mechanisms.md is
 * the guide.
 */
#ifndef CORE_MECHANISM_H
#define CORE_MECHANISM_H

#include "core/core.h"

/* Warps have slots on a core; sets of them are words with a bit each. */

/* Those that a scheduler issues from. */
static inline u64 core_scheduler_slots(const struct core *core, u32 scheduler)
{
    return core->schedulers[scheduler].slots;
}
/* Those whose warp has not ended and waits for no other warp (at a barrier). */
static inline u64 core_active_slots(const struct core *core)
{
    return core->present & ~core->ended & ~core->waiting;
}
/* Those whose next instruction, once it is fetched, goes to the load/store unit. */
static inline u64 core_memory_slots(const struct core *core)
{
    return core->heads[PIPE_MEMORY];
}

/* Bytes of a line of CLIENT_L1D or CLIENT_READONLY. */
static inline u32 core_line_bytes(const struct core *core, enum packet_client cache)
{
    return cache == CLIENT_L1D ? core->config.l1d->line_bytes : core->config.readonly->line_bytes;
}

#endif
