/* See watch.h. */
#include "watch.h"

#include <stdlib.h>

#define COMPONENT watch
#define COMPONENT_DEF "watch.def"
#define COMPONENT_HELP "writes down fetches, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct watch {
    MECHANISM_STATE(watch);
};

struct watch_log watch_logs[WATCHED_CORES];

void watch_forget(void)
{
    for (u32 i = 0; i < WATCHED_CORES; i++) {
        free(watch_logs[i].events);
        watch_logs[i] = (struct watch_log){0};
    }
}

static struct watched *add(const struct core *core)
{
    assert(core_config(core)->index < WATCHED_CORES);
    struct watch_log *log = &watch_logs[core_config(core)->index];
    if (log->count == log->room) {
        log->room = log->room ? 2 * log->room : 4096;
        log->events = checked(realloc(log->events, log->room * sizeof *log->events));
    }
    return &log->events[log->count++];
}

static struct watched at(const struct core *core, u32 slot, u32 inst)
{
    return (struct watched){.cycle = core_cycle(core),
                            .pc = image_pc(core_exec(core)->image, inst),
                            .age = core_slot(core, slot)->age,
                            .inst = inst,
                            .slot = slot};
}

static void launch(void *state, struct core *core, bool begins)
{
    if (begins)
        *add(core) = (struct watched){.age = UINT64_MAX};
}

static enum fetch_answer fetch(void *state, struct core *core, u32 slot, u32 *inst)
{
    struct watched w = at(core, slot, *inst);
    w.wanting = core_wanting(core);
    w.missed = core_slot(core, slot)->missed_at;
    *add(core) = w;
    return FETCH_SERVE;
}

static bool is_active(const struct core *core, u32 slot)
{
    return core_present(core) >> slot & 1 && !core_slot(core, slot)->ended;
}

static bool in_a_buffer(const struct core *core, u32 slot, u32 inst)
{
    for (u32 s = 0; s < CORE_WARPS; s++)
        for (u32 i = 0; s != slot && is_active(core, s) && i < core_slot(core, s)->buffered; i++)
            if (core_slot(core, s)->buffer[i] == inst)
                return true;
    return false;
}

static u32 arrivals_ago(const struct core *core, u32 slot, u32 inst)
{
    const struct watch_log *log = &watch_logs[core_config(core)->index];
    u32 ago = 0;
    for (size_t i = log->count; i-- && ago < 64;) {
        const struct watched *w = &log->events[i];
        if (w->age == UINT64_MAX)
            break;
        ago += w->arrives;
        if (w->arrives && w->inst == inst && w->slot != slot && is_active(core, w->slot) &&
            core_slot(core, w->slot)->age == w->age)
            return ago;
    }
    return 65;
}

static void fetched(void *state, struct core *core, u32 slot, u32 inst, u32 count, bool here)
{
    for (u32 i = 0; i < count; i++) {
        struct watched w = at(core, slot, inst + i);
        w.arrives = true;
        w.here = here;
        w.ago = arrivals_ago(core, slot, inst + i);
        w.in_a_buffer = in_a_buffer(core, slot, inst + i);
        *add(core) = w;
        ((struct watch *)state)->stats->arrivals++;
    }
}

const struct mechanism watch_mechanism = {
    MECHANISM_NAMED(watch, "writes down fetches"),
    .state_size = sizeof(struct watch),
    .launch = launch,
    .fetch = fetch,
    .fetched = fetched,
};
