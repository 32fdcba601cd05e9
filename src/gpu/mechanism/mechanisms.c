/* Mechanisms of a device: see mechanisms.h. */
#include "gpu/mechanism/mechanisms.h"

#include "gpu/device.h"
#include "gpu/mechanism/changes.h"
#include <stdlib.h>
#include <unistd.h>

const struct component **mechanism_components(const struct mechanism *const *available)
{
    u32 parts = 0, count = 0;
    while (gpu_components[parts])
        parts++;
    while (available[count])
        count++;
    const struct component **list = checked(calloc(parts + count + 1, sizeof *list));
    memcpy(list, gpu_components, parts * sizeof *list);
    for (u32 i = 0; i < count; i++)
        list[parts + i] = available[i]->component;
    return list;
}

const struct mechanism *mechanism_find(const struct mechanism *const *available, const char *name,
                                       struct error *error)
{
    const char *names[256] = {0};
    u32 count = 0;
    for (; count < ARRAY_LEN(names) && available[count]; count++) {
        names[count] = available[count]->name;
        if (!strcmp(names[count], name))
            return available[count];
    }
    const char *nearest = nearest_word(name, names, count);
    struct arena *arena = arena_create();
    const char *shown = text_printable(arena, name);
    const char *file = arena_printf(arena, "./%s.so", name);
    if (name[0] && !access(file, F_OK))
        nearest = text_printable(arena, file);
    if (nearest)
        error_set(error, ERROR_USAGE, "", "unknown mechanism '%s': did you mean '%s'?", shown,
                  nearest);
    else
        error_set(error, ERROR_USAGE, "", "unknown mechanism '%s': %s", shown,
                  count ? "'heddle mechanisms' lists them" : "none is built in");
    arena_destroy(arena);
    return NULL;
}

/* ---- selection ---- */

bool mechanism_is_on(const struct config *config, const struct mechanism *mechanism)
{
    const struct param *on = &mechanism->component->params[0];
    assert(!strcmp(on->name, "on") && on->type == PARAM_BOOL);
    return *(const bool *)((const u8 *)config_params(config, mechanism->component) + on->offset);
}

static bool names_it(const struct mechanism *a, const struct mechanism *b)
{
    for (const char *const *name = a->conflicts; name && *name; name++)
        if (!strcmp(*name, b->name))
            return true;
    return false;
}

/* A cache has one set of hooks: two mechanisms cannot share it. */
static const char *shared_hooks(const struct mechanism *a, const struct mechanism *b)
{
    return a->cache && b->cache ? "the caches of a core" : a->l2 && b->l2 ? "the L2" : NULL;
}

static bool combine(const struct mechanism_use *first, const struct mechanism_use *second,
                    struct error *error)
{
    const struct mechanism *a = first->mechanism, *b = second->mechanism;
    if (names_it(a, b) || names_it(b, a))
        return error_set(error, ERROR_USAGE, "", "mechanisms %s and %s cannot be combined", a->name,
                         b->name);
    const char *what = shared_hooks(a, b);
    if (what)
        return error_set(error, ERROR_USAGE, "",
                         "mechanisms %s and %s cannot be combined: both act on %s", a->name,
                         b->name, what);
    const char *element = changes_clash(first, second);
    return !element || error_set(error, ERROR_USAGE, "",
                                 "mechanisms %s and %s cannot be combined: both change the costs "
                                 "of %s",
                                 a->name, b->name, element);
}

static struct mechanism_use mechanism_use_of(const struct config *config,
                                             const struct mechanism *mechanism)
{
    return (struct mechanism_use){.mechanism = mechanism,
                                  .params = config_params(config, mechanism->component)};
}

void mechanisms_on(struct mechanism_set *set, const struct config *config,
                   const struct mechanism *const *available)
{
    u32 count = 0;
    while (available[count])
        count++;
    set->uses = checked(calloc(count + 1, sizeof *set->uses));
    set->count = 0;
    for (u32 i = 0; i < count; i++)
        if (mechanism_is_on(config, available[i]))
            set->uses[set->count++] = mechanism_use_of(config, available[i]);
}

bool mechanisms_choose(struct mechanism_set *set, const struct config *config,
                       const struct mechanism *const *available, bool functional,
                       struct error *error)
{
    mechanisms_on(set, config, available);
    for (u32 i = 0; i < set->count; i++) {
        if (functional && !set->uses[i].mechanism->observe)
            return error_set(
                error, ERROR_USAGE, "",
                "mechanism %s needs a timing model: it cannot be used with timing.functional=true",
                set->uses[i].mechanism->name);
        for (u32 j = 0; j < i; j++)
            if (!combine(&set->uses[j], &set->uses[i], error))
                return false;
    }
    return true;
}

void mechanism_storage(struct state_list *list, const struct config *config,
                       const struct mechanism *mechanism)
{
    const struct gpu_params *gpu = config_params(config, &gpu_component);
    const struct mechanism_use use = mechanism_use_of(config, mechanism);
    state_owner(list, "core", gpu->cores);
    if (mechanism->storage)
        mechanism->storage(use.params, list);
    changes_mark(&use, list);
}

void mechanisms_storage(struct state_list *list, const struct config *config,
                        const struct mechanism *const *available)
{
    for (; *available; available++)
        if (mechanism_is_on(config, *available))
            mechanism_storage(list, config, *available);
}

/* ---- counters ---- */

size_t mechanism_stats_size(const struct mechanism_use *use)
{
    return align_up(use->mechanism->stats_size, 8);
}

u8 *mechanism_stats_create(const struct mechanism_set *set)
{
    size_t bytes = 0;
    for (u32 i = 0; i < set->count; i++)
        bytes += mechanism_stats_size(&set->uses[i]);
    return set->count ? checked(calloc(bytes + 1, 1)) : NULL;
}

void mechanism_stats_add(const struct mechanism_set *set, u8 *into, const u8 *from)
{
    for (u32 i = 0; i < set->count; i++) {
        stats_add(set->uses[i].mechanism->component, into, from);
        into += mechanism_stats_size(&set->uses[i]);
        from += mechanism_stats_size(&set->uses[i]);
    }
}

void mechanism_stats_take(const struct mechanism_set *set, u8 *into, struct hooks *from)
{
    for (u32 i = 0; i < from->count; i++) {
        stats_add(set->uses[i].mechanism->component, into, from->uses[i].stats);
        memset(from->uses[i].stats, 0, set->uses[i].mechanism->stats_size);
        into += mechanism_stats_size(&set->uses[i]);
    }
}

void mechanism_stats_json(json_t *into, const struct mechanism_set *set, const u8 *stats)
{
    for (u32 i = 0; i < set->count && stats; i++) {
        stats_json(into, set->uses[i].mechanism->component, stats);
        stats += mechanism_stats_size(&set->uses[i]);
    }
}

void mechanism_stats_each(const struct mechanism_set *set, const u8 *stats, count_fn *visit,
                          void *user)
{
    for (u32 i = 0; i < set->count; i++) {
        stats_each(set->uses[i].mechanism->component, stats, visit, user);
        stats += stats ? mechanism_stats_size(&set->uses[i]) : 0;
    }
}

/* ---- states beside those of cores ---- */

static void create_states(struct hooks *hooks, const struct mechanism_set *set,
                          u32 (*size)(const struct mechanism *mechanism))
{
    hooks->count = set->count;
    hooks->uses = checked(calloc(set->count + 1, sizeof *hooks->uses));
    for (u32 i = 0; i < set->count; i++) {
        hooks->uses[i] = set->uses[i];
        mechanism_use_create(&hooks->uses[i], size(set->uses[i].mechanism));
    }
}

static void destroy_states(struct hooks *hooks)
{
    for (u32 i = 0; i < hooks->count; i++)
        mechanism_use_destroy(&hooks->uses[i]);
    free(hooks->uses);
}

static u32 dispatcher_size(const struct mechanism *mechanism)
{
    return mechanism->dispatcher_size;
}

static u32 memory_size(const struct mechanism *mechanism)
{
    return mechanism->memory_size;
}

void mechanism_devices_create(struct mechanism_set *set)
{
    for (u32 i = 0; i < set->count; i++)
        if (set->uses[i].mechanism->device_size)
            set->uses[i].device = checked(calloc(1, set->uses[i].mechanism->device_size));
}

void mechanism_devices_destroy(struct mechanism_set *set)
{
    for (u32 i = 0; i < set->count; i++) {
        struct mechanism_use *use = &set->uses[i];
        if (use->device && use->mechanism->destroy_device)
            use->mechanism->destroy_device(use->device);
        free(use->device);
        use->device = NULL;
    }
}

void dispatcher_hooks_create(struct hooks *dispatcher, const struct mechanism_set *set)
{
    create_states(dispatcher, set, dispatcher_size);
}

void dispatcher_hooks_destroy(struct hooks *dispatcher)
{
    destroy_states(dispatcher);
}

/* ---- the memory system ---- */

static void tell_request(void *user, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    const struct memory_hooks *memory = user;
    EACH_USE(use, &memory->partitions[slice / memory->slices], l2_request)
        use->mechanism->l2_request(use->state, slice, packet, now, cycle);
}

static void tell_reply(void *user, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    const struct memory_hooks *memory = user;
    EACH_USE(use, &memory->partitions[slice / memory->slices], l2_reply)
        use->mechanism->l2_reply(use->state, slice, packet, now, cycle);
}

static void tell_free(void *user, u32 slice, fs now, u64 cycle)
{
    const struct memory_hooks *memory = user;
    EACH_USE(use, &memory->partitions[slice / memory->slices], l2_free)
        use->mechanism->l2_free(use->state, slice, now, cycle);
}

static void tell_event(void *user, const struct cache_event *event)
{
    const struct observed_slice *slice = user;
    EACH_USE(use, &slice->memory->partitions[slice->number / slice->memory->slices], l2_event)
        use->mechanism->l2_event(use->state, slice->number, event);
}

/* Events of all slices go to the mechanisms that fill l2_event. */
static void observe_slices(struct memory_hooks *memory, struct memory_system *memory_system)
{
    const u32 count = memory->count * memory->slices;
    memory->observed = checked(calloc(count, sizeof *memory->observed));
    for (u32 i = 0; i < count; i++) {
        memory->observed[i] = (struct observed_slice){memory, i};
        memory_system_observe_l2(memory_system, i, tell_event, &memory->observed[i]);
    }
}

/* A channel and its slices. */
static void set_hooks(const struct mechanism_use *use, struct memory_system *memory_system,
                      u32 partition, u32 slices)
{
    for (u32 i = partition * slices; use->mechanism->l2 && i < (partition + 1) * slices; i++) {
        struct cache_hooks hooks = {0};
        if (use->mechanism->l2(use->state, i, &hooks))
            memory_system_set_l2_hooks(memory_system, i, &hooks);
    }
    struct dram_hooks hooks = {0};
    if (use->mechanism->dram && use->mechanism->dram(use->state, partition, &hooks))
        memory_system_add_dram_hooks(memory_system, partition, &hooks);
}

void mechanisms_attach(struct memory_hooks *memory, const struct mechanism_set *set,
                       struct memory_system *memory_system)
{
    struct packet_hooks packets = {.user = memory, .free = tell_free};
    memory->count = memory_system_channels(memory_system);
    memory->slices = memory_system_slices(memory_system) / memory->count;
    memory->partitions = checked(calloc(memory->count, sizeof *memory->partitions));
    for (u32 p = 0; p < memory->count; p++) {
        struct hooks *hooks = &memory->partitions[p];
        create_states(hooks, set, memory_size);
        EACH_USE(use, hooks, create_memory)
            use->mechanism->create_memory(use->state, memory_system, p, memory->slices);
        for (u32 i = 0; i < hooks->count; i++)
            set_hooks(&hooks->uses[i], memory_system, p, memory->slices);
    }
    for (u32 i = 0; i < set->count; i++) {
        if (set->uses[i].mechanism->l2_request)
            packets.request = tell_request;
        if (set->uses[i].mechanism->l2_reply)
            packets.reply = tell_reply;
        if (set->uses[i].mechanism->l2_event && !memory->observed)
            observe_slices(memory, memory_system);
    }
    memory_system_set_packet_hooks(memory_system, &packets);
}

void mechanisms_detach(struct memory_hooks *memory)
{
    for (u32 p = 0; p < memory->count; p++) {
        EACH_USE(use, &memory->partitions[p], destroy_memory)
            use->mechanism->destroy_memory(use->state);
        destroy_states(&memory->partitions[p]);
    }
    free(memory->partitions);
    free(memory->observed);
}
