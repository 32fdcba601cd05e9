/* Mechanisms that exist to prove the seams; none is part of the product. */
#ifndef SEAM_H
#define SEAM_H

#include "core/mechanism.h"
#include <stdlib.h>

extern const struct mechanism twice_mechanism, borrow_mechanism, hold_mechanism, exchange_mechanism;
/* flip.c, probe.c: for tests of these and of the other seams. */
extern const struct mechanism flip_mechanism, leap_mechanism, probe_mechanism, check_mechanism;
extern const struct mechanism ledger_mechanism;
/* requester.c, ways.c: the memory side. */
extern const struct mechanism requester_mechanism, ways_mechanism;
/* test_registers.c: */
extern const struct mechanism rows_mechanism;
/* test_writes.c: */
extern const struct mechanism slow_mechanism;
/* Random numbers, and states that belong to others: test_state.c. */
extern const struct mechanism dice_mechanism, draw_mechanism, cheat_mechanism;
/* One of the product, which keeps registers elsewhere: src/mech/uniform.c. */
extern const struct mechanism uniform_mechanism;
/* The example of docs/write-a-mechanism.md. */
extern const struct mechanism silent_mechanism;

static inline void *seam_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        abort();
    return memory;
}

/* Every lane of the warp runs. */
static inline bool seam_full(const struct warp *warp)
{
    return warp->active == ~0ull >> (MAX_LANES - warp->exec->image->warp_size);
}

#endif
