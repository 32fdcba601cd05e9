/* Visitors of the common stages' storage elements (base/state_walk.h, core/live.h); storage.c names
 * them. `which` of a row: as its visitor says. */
#ifndef CORE_COMMON_LIVE_H
#define CORE_COMMON_LIVE_H

#include "core/live.h"
#include "mem/state.h"

/* Widths that rows and visitors share. */
enum {
    REGISTER_BITS = 8, /* a thread has at most 256 registers */
    SOURCES = 3,       /* vector operands of an instruction */
    ACCESS_WORDS = 4,  /* most registers that a lane's access moves */
    VM_BITS = 4,       /* wait counters of Southern Islands */
    EXP_BITS = 3,
    LGKM_BITS = 5
};
struct live_widths {
    u32 pc;   /* an address: code is in device memory */
    u32 warp; /* a warp's number on the core */
};
static inline struct live_widths live_widths(const struct core_config *machine)
{
    return (struct live_widths){state_index_bits(machine->memory_bytes),
                                state_index_bits(machine->core->warps)};
}
/* For a visitor: of the owner, or of the machine whose widths are counted. */
static inline const struct core_config *live_machine(const struct state_walk *walk,
                                                     const struct core *core)
{
    return core ? &core->config : walk->machine;
}

/* live_front.c: fetch and issue */
state_visit_fn live_visit_pc, live_visit_missing, live_visit_fetch_turn, live_visit_buffer_valid;
state_visit_fn live_visit_scoreboard, live_visit_scalar_scoreboard;
state_visit_fn live_visit_last, live_visit_age;
state_visit_fn live_visit_stack, live_visit_special, live_visit_counters;
state_visit_fn live_visit_barrier, live_visit_arrived;

/* Both scoreboards, the paths of warps, and their order by age. */
state_hash_fn live_hash_scoreboard, live_hash_stack, live_hash_age;

/* live_back.c: collectors, units and the load/store unit */
state_visit_fn live_visit_operands;
state_visit_fn live_visit_unit; /* which: enum pipe */
state_visit_fn live_visit_buses;
state_hash_fn live_hash_operands;
state_hash_fn live_hash_unit; /* with what is on the buses */
state_visit_fn live_visit_addresses, live_visit_data, live_visit_stores;
state_hash_fn live_hash_head; /* of addresses and data, by the visitor */

/* live_caches.c; which: enum packet_client */
extern const struct cache_visitors live_cache_visitors;

#endif
