/*
 * Mechanisms of a device: which are switched on, what they count, and their part of the memory
 * side. The seams themselves are in core/hooks.h.
 */
#ifndef GPU_MECHANISM_MECHANISMS_H
#define GPU_MECHANISM_MECHANISMS_H

#include "base/config.h"
#include "core/hooks.h"
#include "mem/system.h"

/* Those that are on, in the order of their list; states and counters are not filled. */
struct mechanism_set {
    struct mechanism_use *uses;
    u32 count;
};

/* The components of all parts and then of `available`, NULL-terminated; free() it. */
const struct component **mechanism_components(const struct mechanism *const *available);
/* NULL, with a suggestion in the error: there is none of this name. */
const struct mechanism *mechanism_find(const struct mechanism *const *available, const char *name,
                                       struct error *error);
bool mechanism_is_on(const struct config *config, const struct mechanism *mechanism);
/* False: some of those that are on cannot be combined, or with a run without time. */
bool mechanisms_choose(struct mechanism_set *set, const struct config *config,
                       const struct mechanism *const *available, bool functional,
                       struct error *error);
/* All that are on, whether they can be combined or not. */
void mechanisms_on(struct mechanism_set *set, const struct config *config,
                   const struct mechanism *const *available);
/* What one adds to the storage of a machine, on or off, and which elements it replaces; of all that
 * are on. */
void mechanism_storage(struct state_list *list, const struct config *config,
                       const struct mechanism *mechanism);
void mechanisms_storage(struct state_list *list, const struct config *config,
                        const struct mechanism *const *available);

/* Counters of all mechanisms of a set, in one piece; NULL when it is empty. */
u8 *mechanism_stats_create(const struct mechanism_set *set);
/* Bytes of one mechanism's counters there. */
size_t mechanism_stats_size(const struct mechanism_use *use);
void mechanism_stats_add(const struct mechanism_set *set, u8 *into, const u8 *from);
/* Adds what the states of an owner have counted, and sets it to zero. */
void mechanism_stats_take(const struct mechanism_set *set, u8 *into, struct hooks *from);
/* Every counter of all of them; `stats` may be NULL: zeros. */
void mechanism_stats_each(const struct mechanism_set *set, const u8 *stats, count_fn *visit,
                          void *user);
void mechanism_stats_json(json_t *into, const struct mechanism_set *set, const u8 *stats);

/* Their states of the dispatcher. */
void dispatcher_hooks_create(struct hooks *dispatcher, const struct mechanism_set *set);
void dispatcher_hooks_destroy(struct hooks *dispatcher);

/* Their part of the memory side: states of each partition, which is a channel with its slices. */
struct memory_hooks {
    struct hooks *partitions;
    u32 count;
    u32 slices; /* of a partition */
};
/* `memory` stays where it is until mechanisms_detach. */
void mechanisms_attach(struct memory_hooks *memory, const struct mechanism_set *set,
                       struct memory_system *memory_system);
void mechanisms_detach(struct memory_hooks *memory);

#endif
