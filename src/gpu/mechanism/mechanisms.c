/* Mechanisms of a device: see mechanisms.h. */
#include "gpu/mechanism/mechanisms.h"

#include "gpu/device.h"
#include <stdlib.h>

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
    if (nearest)
        error_set(error, ERROR_USAGE, "", "unknown mechanism '%s': did you mean '%s'?", shown,
                  nearest);
    else
        error_set(error, ERROR_USAGE, "", "unknown mechanism '%s': %s", shown,
                  count ? "'heddle mechanisms' lists them" : "none is built in");
    arena_destroy(arena);
    return NULL;
}

/* ---- which are on ---- */

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

/* A cache or a channel has one set of hooks: two mechanisms cannot share it. */
static const char *shared_hooks(const struct mechanism *a, const struct mechanism *b)
{
    return a->cache && b->cache ? "the caches of a core"
           : a->l2 && b->l2     ? "the L2"
           : a->dram && b->dram ? "DRAM channels"
                                : NULL;
}

static bool combine(const struct mechanism *a, const struct mechanism *b, struct error *error)
{
    if (names_it(a, b) || names_it(b, a))
        return error_set(error, ERROR_USAGE, "", "mechanisms %s and %s cannot be combined", a->name,
                         b->name);
    const char *what = shared_hooks(a, b);
    return !what || error_set(error, ERROR_USAGE, "",
                              "mechanisms %s and %s cannot be combined: both act on %s", a->name,
                              b->name, what);
}

bool mechanisms_choose(struct mechanism_set *set, const struct config *config,
                       const struct mechanism *const *available, bool functional,
                       struct error *error)
{
    u32 count = 0;
    while (available[count])
        count++;
    set->uses = checked(calloc(count + 1, sizeof *set->uses));
    set->count = 0;
    for (u32 i = 0; i < count; i++) {
        if (!mechanism_is_on(config, available[i]))
            continue;
        if (functional && !available[i]->observe)
            return error_set(
                error, ERROR_USAGE, "",
                "mechanism %s needs a timing model: it cannot be used with timing.functional=true",
                available[i]->name);
        for (u32 j = 0; j < set->count; j++)
            if (!combine(set->uses[j].mechanism, available[i], error))
                return false;
        set->uses[set->count++] = (struct mechanism_use){
            .mechanism = available[i], .params = config_params(config, available[i]->component)};
    }
    return true;
}

void mechanism_storage(struct state_list *list, const struct config *config,
                       const struct mechanism *mechanism)
{
    const struct gpu_params *gpu = config_params(config, &gpu_component);
    state_owner(list, "core", gpu->cores);
    if (mechanism->storage)
        mechanism->storage(config_params(config, mechanism->component), list);
}

void mechanisms_storage(struct state_list *list, const struct config *config,
                        const struct mechanism *const *available)
{
    for (; *available; available++)
        if (mechanism_is_on(config, *available))
            mechanism_storage(list, config, *available);
}

/* ---- what they count ---- */

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

/* ---- the memory side ---- */

static void tell_request(void *user, u32 slice, struct packet *packet)
{
    const struct hooks *memory = user;
    EACH_USE(use, memory, l2_request)
    use->mechanism->l2_request(use->state, slice, packet);
}

static void tell_reply(void *user, u32 slice, struct packet *packet)
{
    const struct hooks *memory = user;
    EACH_USE(use, memory, l2_reply)
    use->mechanism->l2_reply(use->state, slice, packet);
}

static void set_hooks(const struct mechanism_use *use, struct memory_system *memory_system)
{
    for (u32 i = 0; use->mechanism->l2 && i < memory_system_slices(memory_system); i++) {
        struct cache_hooks hooks = {0};
        if (use->mechanism->l2(use->state, i, &hooks))
            memory_system_set_l2_hooks(memory_system, i, &hooks);
    }
    for (u32 i = 0; use->mechanism->dram && i < memory_system_channels(memory_system); i++) {
        struct dram_hooks hooks = {0};
        if (use->mechanism->dram(use->state, i, &hooks))
            memory_system_set_dram_hooks(memory_system, i, &hooks);
    }
}

void mechanisms_attach(struct hooks *memory, const struct mechanism_set *set,
                       struct memory_system *memory_system)
{
    struct packet_hooks packets = {.user = memory};
    memory->count = set->count;
    memory->uses = checked(calloc(set->count + 1, sizeof *memory->uses));
    for (u32 i = 0; i < set->count; i++) {
        struct mechanism_use *use = &memory->uses[i];
        *use = set->uses[i];
        mechanism_use_create(use, use->mechanism->memory_size);
        if (use->mechanism->create_memory)
            use->mechanism->create_memory(use->state, memory_system_slices(memory_system),
                                          memory_system_channels(memory_system));
        if (use->mechanism->memory_content && memory_system_content(memory_system))
            use->mechanism->memory_content(use->state, memory_system_content(memory_system));
        if (use->mechanism->l2_request)
            packets.request = tell_request;
        if (use->mechanism->l2_reply)
            packets.reply = tell_reply;
        set_hooks(use, memory_system);
    }
    memory_system_set_packet_hooks(memory_system, &packets);
}

void mechanisms_detach(struct hooks *memory)
{
    EACH_USE(use, memory, destroy_memory)
    use->mechanism->destroy_memory(use->state);
    for (u32 i = 0; i < memory->count; i++)
        mechanism_use_destroy(&memory->uses[i]);
    free(memory->uses);
}
