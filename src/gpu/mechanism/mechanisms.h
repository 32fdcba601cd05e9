/*
 * Mechanisms of a device: which are switched on, their counters, and their seams in the memory
 * system. The seams of a core are in core/hooks.h.
 */
#ifndef GPU_MECHANISM_MECHANISMS_H
#define GPU_MECHANISM_MECHANISMS_H

#include "base/config.h"
#include "core/hooks.h"
#include "mem/system.h"

/* The mechanisms that are on, in the order of their list; states and counters are not filled. */
struct mechanism_set {
    struct mechanism_use *uses;
    u32 count;
};

/* The components of the machine and then of `available`, NULL-terminated; free() it. */
const struct component **mechanism_components(const struct mechanism *const *available);
/* The mechanism of this name; NULL, with a suggestion in the error, if there is none. */
const struct mechanism *mechanism_find(const struct mechanism *const *available, const char *name,
                                       struct error *error);
bool mechanism_is_on(const struct config *config, const struct mechanism *mechanism);
/* False: some mechanisms that are on cannot be combined, or do not work in functional mode. */
bool mechanisms_choose(struct mechanism_set *set, const struct config *config,
                       const struct mechanism *const *available, bool functional,
                       struct error *error);
/* All that are on, whether they can be combined or not. */
void mechanisms_on(struct mechanism_set *set, const struct config *config,
                   const struct mechanism *const *available);
/* Adds the storage of one mechanism, on or off, and marks what it replaces; of all that are on. */
void mechanism_storage(struct state_list *list, const struct config *config,
                       const struct mechanism *mechanism);
void mechanisms_storage(struct state_list *list, const struct config *config,
                        const struct mechanism *const *available);

/* Allocates the counters of all mechanisms of a set, in one piece; NULL if it is empty. */
u8 *mechanism_stats_create(const struct mechanism_set *set);
/* Bytes of one mechanism's counters in this piece. */
size_t mechanism_stats_size(const struct mechanism_use *use);
void mechanism_stats_add(const struct mechanism_set *set, u8 *into, const u8 *from);
/* Adds the counters of one owner's states to `into`, and resets them. */
void mechanism_stats_take(const struct mechanism_set *set, u8 *into, struct hooks *from);
/* Visits every counter of all mechanisms; `stats` may be NULL: zeros. */
void mechanism_stats_each(const struct mechanism_set *set, const u8 *stats, count_fn *visit,
                          void *user);
void mechanism_stats_json(json_t *into, const struct mechanism_set *set, const u8 *stats);

/* Memory that a mechanism has for the whole device: created before those of cores, partitions and dispatcher. */
void mechanism_devices_create(struct mechanism_set *set);
void mechanism_devices_destroy(struct mechanism_set *set);
/* The mechanisms' states of the dispatcher. */
void dispatcher_hooks_create(struct hooks *dispatcher, const struct mechanism_set *set);
void dispatcher_hooks_destroy(struct hooks *dispatcher);

/* The mechanisms' states of each partition of the memory system: a channel with its slices. */
struct observed_slice {
    const struct memory_hooks *memory;
    u32 number;
};
struct memory_hooks {
    struct hooks *partitions;
    u32 count;
    u32 slices;                      /* of a partition */
    struct observed_slice *observed; /* all slices, if a mechanism fills l2_event */
};
/* Connects the mechanisms to the memory system. `memory` must not move until mechanisms_detach. */
void mechanisms_attach(struct memory_hooks *memory, const struct mechanism_set *set,
                       struct memory_system *memory_system);
void mechanisms_detach(struct memory_hooks *memory);

#endif
