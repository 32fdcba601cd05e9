/* Creation and destruction of the timing model: see timing.h. */
#include "base/guard.h"
#include "gpu/device.h"
#include "gpu/machine/config.h"
#include "gpu/time/live.h"
#include "gpu/time/parts.h"
#include <stdlib.h>

/* Whether launches are armed with content, by the user or a mechanism. */
static bool is_armed(const struct hd_device *device)
{
    const struct timing_params *params = config_params(device->config, &timing_component);
    bool armed = params->content || (params->live_state && pipeline_of(device->core)->content);
    for (u32 i = 0; i < device->mechanisms.count; i++)
        armed |= device->mechanisms.uses[i].mechanism->content;
    return armed;
}

/* What carries no data cannot be part of a launch with content. */
static bool content_serves(const struct hd_device *device, const struct pipeline *pipeline,
                           struct error *error)
{
    if (!pipeline->content)
        return error_set(error, ERROR_USAGE, "",
                         "timing.content needs caches that hold data; those of machine '%s' "
                         "(core.pipeline=%s) do not",
                         config_machine(device->config), pipeline->name);
    for (u32 i = 0; i < device->mechanisms.count; i++) {
        const struct mechanism *m = device->mechanisms.uses[i].mechanism;
        const u32 seams = mechanism_seams(m, device->mechanisms.uses[i].params);
        if (seams & (1u << SEAM_VIEW | 1u << SEAM_L1_SUPPLY))
            return error_set(error, ERROR_USAGE, "",
                             "mechanism %s cannot be combined with content (timing.content): what "
                             "it serves loads with carries no data",
                             m->name);
    }
    return true;
}

bool timing_serves(const struct hd_device *device, struct error *error)
{
    const struct mechanism_set *set = &device->mechanisms;
    const struct pipeline *pipeline = pipeline_of(device->core);
    for (u32 i = 0; pipeline->lacks && i < set->count; i++) {
        const struct mechanism *m = set->uses[i].mechanism;
        const char *lacks = pipeline->lacks(m, set->uses[i].params);
        if (lacks)
            return error_set(error, ERROR_USAGE, "",
                             "mechanism %s needs the seam '%s', which the pipeline of machine '%s' "
                             "(core.pipeline=%s) does not have",
                             m->name, lacks, config_machine(device->config), pipeline->name);
    }
    const struct core_config machine = core_config_of(device->config);
    const struct timing_params *params = config_params(device->config, &timing_component);
    for (u32 i = 0; i < set->count; i++) {
        const struct mechanism *m = set->uses[i].mechanism;
        if (m->serves && !m->serves(set->uses[i].params, &machine, error))
            return false;
        if (m->reforms && params->live_state)
            return error_set(
                error, ERROR_USAGE, "",
                "mechanism %s cannot be combined with faults (timing.live_state): bits "
                "of re-formed warps cannot be flipped",
                m->name);
    }
    return !is_armed(device) || content_serves(device, pipeline, error);
}

struct timing *timing_create(struct hd_device *device)
{
    struct timing *t = checked(calloc(1, sizeof *t));
    t->device = device;
    t->params = config_params(device->config, &timing_component);
    t->clock = config_params(device->config, &clock_component);
    t->memory = memory_system_params_of(device->config);
    t->memory_system = memory_system_create(&t->memory);
    t->window = memory_system_window(&t->memory);
    t->period = clock_period(t->clock->core_mhz);
    t->core_count = device->gpu->cores;
    t->share_all = RACES_FOUND;
    t->cores = checked(calloc(t->core_count, sizeof(struct core *)));
    t->awake.words = (t->core_count + 63) / 64;
    t->awake.set = checked(calloc(t->awake.words, sizeof *t->awake.set));
    t->awake.list = checked(calloc(t->core_count, sizeof *t->awake.list));
    t->jobs = checked(calloc(t->core_count + 1, sizeof *t->jobs)); /* and the memory system */
    t->issued = checked(calloc(t->core_count, sizeof *t->issued));
    t->work = checked(calloc(t->core_count, sizeof *t->work));
    t->home = checked(calloc(t->core_count, sizeof *t->home));
    mechanism_devices_create(&device->mechanisms);
    struct core_config config = core_config_of(device->config);
    config.mechanisms = device->mechanisms.uses;
    config.mechanism_count = device->mechanisms.count;
    config.chip = device->chip ? &device->chip->chip : NULL;
    config.live = t->params->live_state;
    config.memory_system = t->memory_system;
    if (config.live)
        t->live = live_create(t);
    if (is_armed(device)) {
        struct content_config sizes = {.memory = device->memory};
        core_content_sizes(&config, &sizes);
        config.content = t->content = memory_system_arm(t->memory_system, &sizes);
        if (config.live)
            memory_system_make_live(t->memory_system);
    }
    mechanisms_attach(&t->memory_hooks, &device->mechanisms, t->memory_system);
    dispatcher_hooks_create(&t->dispatcher_hooks, &device->mechanisms);
    for (u32 i = 0; i < t->core_count; i++) {
        config.index = i;
        config.requests = memory_system_requests(t->memory_system, i);
        config.fetch_requests = memory_system_shared(t->memory_system, i, CLIENT_FETCH);
        config.constant_requests = memory_system_shared(t->memory_system, i, CLIENT_CONSTANT);
        config.replies = memory_system_replies(t->memory_system, i);
        t->cores[i] = core_create(&config);
    }
    return t;
}

void timing_destroy(struct timing *t)
{
    if (!t)
        return;
    for (u32 i = 0; i < t->core_count; i++)
        core_destroy(t->cores[i]);
    live_destroy(t->live);
    memory_system_destroy(t->memory_system);
    mechanisms_detach(&t->memory_hooks);
    dispatcher_hooks_destroy(&t->dispatcher_hooks);
    mechanism_devices_destroy(&t->device->mechanisms);
    free(t->cores);
    workers_destroy(t->workers);
    free(t->profiles.rows);
    free(t->profiles.used);
    free(t->measure.cores);
    free(t->awake.set);
    free(t->awake.list);
    free(t->jobs);
    free(t->issued);
    free(t->work);
    free(t->home);
    free(t->times);
    free(t->uses);
    free(t);
}

u32 timing_threads(const struct timing *t)
{
    return t->workers ? workers_count(t->workers) : 1;
}

void timing_set_threads(struct timing *t, u32 threads)
{
    for (u32 i = 0; i < t->device->mechanisms.count; i++)
        if (t->device->mechanisms.uses[i].mechanism->one_thread)
            threads = 1;
    threads = MIN(threads, t->core_count + 1); /* and the memory system: there is no more to do */
    if (threads == timing_threads(t))
        return;
    workers_destroy(t->workers);
    t->workers = threads > 1 ? workers_create(threads, t->core_count + 1) : NULL;
    for (u32 i = 0; i < t->core_count; i++)
        t->home[i] =
            (u16)(i * threads / t->core_count); /* neighbours together: their heaps touch */
    free(t->profiles.rows);
    free(t->profiles.used);
    memset(&t->profiles, 0, sizeof t->profiles);
}

void timing_share_all(struct timing *t)
{
    t->share_all = true;
    if (t->workers)
        workers_leave(t->workers);
}

void timing_measure(struct timing *t, hd_window_fn *take, void *user)
{
    t->measure.take = take;
    t->measure.user = user;
    if (take && !t->measure.cores)
        t->measure.cores = checked(calloc(t->core_count, sizeof *t->measure.cores));
}

struct core *timing_core(struct timing *t, u32 index)
{
    return t->cores[index];
}

void timing_copied(struct timing *t, u64 address, u64 bytes)
{
    if (t->memory.l2->fill_on_copy)
        memory_system_copied(t->memory_system, address, bytes);
}

void timing_forget(struct timing *t)
{
    t->timed = NULL;
}
