/* Observers in functional runs: see observers.h. */
#include "gpu/mechanism/observers.h"

#include "base/arena.h"
#include "exec/warp.h"
#include <stdlib.h>

struct observers {
    struct exec_watcher watcher; /* first member: the engine refers to observers by it */
    const struct mechanism_set *set;
    struct hooks hooks;
    u8 *counts; /* counters of the last launch */
};

static void before(struct exec_watcher *watcher, struct warp *warp, u32 inst)
{
    const struct observers *observers = (const struct observers *)watcher;
    EACH_USE(use, &observers->hooks, observe)
        use->mechanism->observe(use->state, warp, inst);
}

static void committed(struct exec_watcher *watcher, struct warp *warp, u32 inst)
{
    const struct observers *observers = (const struct observers *)watcher;
    EACH_USE(use, &observers->hooks, observed)
        use->mechanism->observed(use->state, warp, inst);
}

struct observers *observers_create(const struct mechanism_set *set)
{
    struct observers *observers = checked(calloc(1, sizeof *observers));
    observers->set = set;
    observers->hooks.count = set->count;
    observers->hooks.uses = checked(calloc(set->count, sizeof *observers->hooks.uses));
    observers->watcher.before = before;
    for (u32 i = 0; i < set->count; i++) {
        struct mechanism_use *use = &observers->hooks.uses[i];
        const struct mechanism *mechanism = set->uses[i].mechanism;
        *use = (struct mechanism_use){.mechanism = mechanism, .params = set->uses[i].params};
        mechanism_use_create(use, mechanism->state_size);
        if (mechanism->create)
            mechanism->create(use->state, NULL);
        if (mechanism->observed)
            observers->watcher.committed = committed;
    }
    return observers;
}

void observers_destroy(struct observers *observers)
{
    if (!observers)
        return;
    EACH_USE(use, &observers->hooks, destroy)
        use->mechanism->destroy(use->state);
    for (u32 i = 0; i < observers->hooks.count; i++)
        mechanism_use_destroy(&observers->hooks.uses[i]);
    free(observers->hooks.uses);
    free(observers->counts);
    free(observers);
}

void observers_begin(struct observers *observers, struct exec *exec)
{
    free(observers->counts);
    observers->counts = mechanism_stats_create(observers->set);
    hooks_forget(&observers->hooks);
    hooks_seed(&observers->hooks, exec, "functional", 0);
    EACH_USE(use, &observers->hooks, observe_launch)
        use->mechanism->observe_launch(use->state, exec, true);
    exec->watcher = &observers->watcher;
}

void observers_block(struct observers *observers, struct thread_block *block, bool started)
{
    EACH_USE(use, &observers->hooks, observe_block)
        use->mechanism->observe_block(use->state, block, started);
}

void observers_end(struct observers *observers, struct exec *exec)
{
    exec->watcher = NULL;
    EACH_USE(use, &observers->hooks, launch_done)
        use->mechanism->launch_done(&use->state, 1, exec);
    EACH_USE(use, &observers->hooks, observe_launch)
        use->mechanism->observe_launch(use->state, exec, false);
    mechanism_stats_take(observers->set, observers->counts, &observers->hooks);
}

const u8 *observers_counts(const struct observers *observers)
{
    return observers->counts;
}
