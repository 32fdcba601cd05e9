/* Mechanisms in runs without time: see observers.h. */
#include "gpu/mechanism/observers.h"

#include "base/arena.h"
#include "exec/warp.h"
#include <stdlib.h>

struct look {
    struct exec_watcher watcher; /* first: the engine knows us by it */
    const struct mechanism_set *set;
    struct hooks hooks;
    u8 *counts; /* of the last launch */
};

static void before(struct exec_watcher *watcher, struct warp *warp, u32 inst)
{
    const struct look *look = (const struct look *)watcher;
    EACH_USE(use, &look->hooks, observe)
    use->mechanism->observe(use->state, warp, inst);
}

static void committed(struct exec_watcher *watcher, struct warp *warp, u32 inst)
{
    const struct look *look = (const struct look *)watcher;
    EACH_USE(use, &look->hooks, observed)
    use->mechanism->observed(use->state, warp, inst);
}

struct look *look_create(const struct mechanism_set *set)
{
    struct look *look = checked(calloc(1, sizeof *look));
    look->set = set;
    look->hooks.count = set->count;
    look->hooks.uses = checked(calloc(set->count, sizeof *look->hooks.uses));
    look->watcher.before = before;
    for (u32 i = 0; i < set->count; i++) {
        struct mechanism_use *use = &look->hooks.uses[i];
        const struct mechanism *mechanism = set->uses[i].mechanism;
        *use = (struct mechanism_use){.mechanism = mechanism, .params = set->uses[i].params};
        mechanism_use_create(use, mechanism->state_size);
        if (mechanism->create)
            mechanism->create(use->state, NULL);
        if (mechanism->observed)
            look->watcher.committed = committed;
    }
    return look;
}

void look_destroy(struct look *look)
{
    if (!look)
        return;
    EACH_USE(use, &look->hooks, destroy)
    use->mechanism->destroy(use->state);
    for (u32 i = 0; i < look->hooks.count; i++)
        mechanism_use_destroy(&look->hooks.uses[i]);
    free(look->hooks.uses);
    free(look->counts);
    free(look);
}

void look_begin(struct look *look, struct exec *exec)
{
    free(look->counts);
    look->counts = mechanism_stats_create(look->set);
    hooks_forget(&look->hooks);
    EACH_USE(use, &look->hooks, observe_launch)
    use->mechanism->observe_launch(use->state, exec, true);
    exec->watcher = &look->watcher;
}

void observe_block(struct look *look, struct thread_block *block, bool started)
{
    EACH_USE(use, &look->hooks, observe_block)
    use->mechanism->observe_block(use->state, block, started);
}

void look_end(struct look *look, struct exec *exec)
{
    exec->watcher = NULL;
    EACH_USE(use, &look->hooks, launch_done)
    use->mechanism->launch_done(&use->state, 1, exec);
    EACH_USE(use, &look->hooks, observe_launch)
    use->mechanism->observe_launch(use->state, exec, false);
    mechanism_stats_take(look->set, look->counts, &look->hooks);
}

const u8 *look_counts(const struct look *look)
{
    return look->counts;
}
