/* The storage of a core, for the state registry. */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include "base/state.h"
#include "core/params.h"
#include "exec/params.h"

struct core_machine {
    const struct core_params *core;
    const struct fetch_params *fetch;
    const struct icache_params *icache;
    const struct issue_params *issue;
    const struct collect_params *collect;
    const struct units_params *units;
    const struct lsu_params *lsu;
    const struct l1d_params *l1d;
    const struct readonly_params *readonly;
    const struct constant_params *constant;
    u32 cores;
    u64 memory_bytes;
};

/* The rows of one core, `cores` times. */
void core_state(struct state_list *list, const struct core_machine *machine);

#endif
