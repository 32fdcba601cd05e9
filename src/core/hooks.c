/* Mechanisms on a core: their states, and seams that belong to no stage. See hooks.h. */
#include "base/guard.h"
#include "core/common/common.h"
#include "core/mechanism.h"
#include <stdlib.h>

const struct seam_row seam_rows[] = {
#define SEAM(group, member, name, called, decides) {group, #member, called, decides},
#define SEAM_RARE(group, member, called, decides) {group, #member, called, decides},
#include "core/seams.def"
    {0},
};

bool mechanism_fills(const struct mechanism *m, u32 row)
{
    const bool filled[] = {
#define SEAM(group, member, name, called, decides) m->member,
#define SEAM_RARE(group, member, called, decides) m->member,
#include "core/seams.def"
    };
    return filled[row];
}

const char *seam_name(enum seam seam)
{
    static const char *const names[SEAMS] = {
#define SEAM(group, member, name, called, decides) [SEAM_##name] = #member,
#include "core/seams.def"
    };
    return names[seam];
}

static u32 seams_of(const struct mechanism *m)
{
    u32 seams = 0;
#define SEAM(group, member, name, called, decides) seams |= m->member ? 1u << SEAM_##name : 0;
#include "core/seams.def"
    return seams;
}

u32 mechanism_seams(const struct mechanism *m, const void *params)
{
    return seams_of(m) & ~(m->idle ? m->idle(params) : 0);
}

void mechanism_use_create(struct mechanism_use *use, u32 state_size)
{
    use->state_bytes = MAX(state_size, (u32)sizeof(struct mechanism_state));
    use->stats = checked(calloc(1, use->mechanism->stats_size + 1));
    use->state = checked(calloc(1, use->state_bytes));
    *(struct mechanism_state *)use->state = (struct mechanism_state){use->params, use->stats, use};
}

void mechanism_use_destroy(struct mechanism_use *use)
{
    for (struct state_block *block = use->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(use->stats);
    free(use->state);
}

void *mechanism_alloc(void *state, size_t bytes)
{
    struct mechanism_use *use = ((struct mechanism_state *)state)->use;
    struct state_block *block = checked(calloc(1, sizeof *block + bytes));
    *block = (struct state_block){.next = use->blocks, .bytes = bytes};
    use->blocks = block;
    return block->memory;
}

void *core_mechanism(const struct core *core, const struct mechanism *mechanism)
{
    for (u32 i = 0; i < core->hooks.count; i++)
        if (core->hooks.uses[i].mechanism == mechanism)
            return core->hooks.uses[i].state;
    return NULL;
}

void hooks_seed(const struct hooks *hooks, const struct exec *exec, const char *place, u64 index)
{
    for (u32 i = 0; i < hooks->count; i++)
        if (hooks->uses[i].mechanism->random)
            rng_stream(&hooks->uses[i].random, exec->limits->seed, exec->grid_number, place, index,
                       hooks->uses[i].mechanism->name);
}

void hooks_close(const struct hooks *hooks)
{
    for (u32 i = 0; GUARDED && i < hooks->count; i++) {
        const struct mechanism_use *use = &hooks->uses[i];
        if (use->mechanism->one_thread) /* it may access the states of all owners (H1) */
            continue;
        guard_close(use->state, use->state_bytes);
        guard_close(use->stats, use->mechanism->stats_size);
        for (const struct state_block *block = use->blocks; block; block = block->next)
            guard_close(block->memory, block->bytes);
    }
}

void hooks_open(const struct hooks *hooks)
{
    for (u32 i = 0; GUARDED && i < hooks->count; i++) {
        const struct mechanism_use *use = &hooks->uses[i];
        guard_open(use->state, use->state_bytes);
        guard_open(use->stats, use->mechanism->stats_size);
        for (const struct state_block *block = use->blocks; block; block = block->next)
            guard_open(block->memory, block->bytes);
    }
}

void hooks_create(struct core *core, const struct mechanism_use *uses, u32 count)
{
    struct hooks *hooks = &core->hooks;
    hooks->count = count;
    hooks->uses = checked(calloc(MAX(count, 1), sizeof *hooks->uses)); /* EACH_USE needs an array */
    for (u32 i = 0; i < count; i++) {
        struct mechanism_use *use = &hooks->uses[i];
        const struct mechanism *m = uses[i].mechanism;
        *use = (struct mechanism_use){
            .mechanism = m, .params = uses[i].params, .device = uses[i].device};
        mechanism_use_create(use, m->state_size);
        if (m->create)
            m->create(use->state, core);
        hooks->seams |= mechanism_seams(m, use->params);
        /* operands are read through the map of a warp whose registers may be moved */
        hooks->operands |= !m->no_operands || m->allocate;
        hooks->caches |= m->cache || m->l1_supply;
    }
    if (core_hooked(core, SEAM_ALLOCATE)) {
        register_file_map(core->registers);
        hooks->operands = true; /* sources are read through the map, into the record */
    }
    if (count)
        hooks_set_caches(core);
}

void hooks_destroy(struct core *core)
{
    EACH_USE(use, &core->hooks, destroy)
        use->mechanism->destroy(use->state);
    for (u32 i = 0; i < core->hooks.count; i++)
        mechanism_use_destroy(&core->hooks.uses[i]);
    free(core->hooks.uses);
}

static void set_cache(const struct mechanism_use *use, struct core *core, enum packet_client which,
                      struct cache *cache)
{
    struct cache_hooks hooks = {0};
    if (use->mechanism->cache(use->state, core, which, &hooks))
        cache_set_hooks(cache, &hooks);
}

static COLD void tell_event(void *user, const struct cache_event *event)
{
    const struct core_cache *cache = user;
    EACH_USE(use, &cache->core->hooks, cache_event)
        use->mechanism->cache_event(use->state, cache->core, cache->which, event);
}

/* Events of a core's caches go to all mechanisms that fill the seam. */
static void observe_caches(struct core *core)
{
    bool wanted = false;
    EACH_USE(use, &core->hooks, cache_event)
        wanted = core_has_common_stages(core);
    for (enum packet_client c = CLIENT_FETCH; wanted && c <= CLIENT_READONLY; c++) {
        core->observed[c] = (struct core_cache){core, c};
        cache_observe(c == CLIENT_FETCH ? core->fetch.cache : lsu_cache(core, c), tell_event,
                      &core->observed[c]);
    }
}

void hooks_set_caches(struct core *core)
{
    observe_caches(core);
    EACH_USE(use, &core->hooks, cache) {
        set_cache(use, core, CLIENT_FETCH, core->fetch.cache);
        for (enum packet_client c = CLIENT_L1D; c <= CLIENT_READONLY; c++)
            set_cache(use, core, c, lsu_cache(core, c));
    }
    if (core->hooks.seams & SEAMS_L1) {
        cache_watch(lsu_cache(core, CLIENT_L1D));
        cache_watch(lsu_cache(core, CLIENT_READONLY));
    }
}

void core_reserve_ways(struct core *core, enum packet_client client, u32 ways)
{
    struct cache *cache = client == CLIENT_FETCH ? core->fetch.cache : lsu_cache(core, client);
    struct cache_out out;
    u32 at = 0;
    cache_reserve(cache, ways);
    for (enum cache_drop drop; (drop = cache_sweep(cache, &at, false, &out)) != CACHE_ABSENT;)
        at += drop != CACHE_DROPPED; /* a line in flight is dropped when it is filled */
}

void core_pick_ends(struct core *core)
{
    u32 asked = 0;
    for (u32 i = 0; i < core->hooks.count; i++)
        asked += (mechanism_seams(core->hooks.uses[i].mechanism, core->hooks.uses[i].params) &
                  SEAMS_EVERY_CYCLE) != 0;
    if (asked == 1)
        core->issue.sleeps = core->pipeline->content && !schedule_passes(core);
}

void hooks_forget(const struct hooks *hooks)
{
    const size_t kept = sizeof(struct mechanism_state);
    for (u32 i = 0; i < hooks->count; i++) {
        const struct mechanism_use *use = &hooks->uses[i];
        if (use->mechanism->forgets)
            memset((u8 *)use->state + kept, 0, use->state_bytes - kept);
    }
}

void hooks_launch(struct core *core, bool begins)
{
    if (begins) {
        hooks_forget(&core->hooks);
        hooks_seed(&core->hooks, core->exec, "core", core->config.index);
    }
    EACH_USE(use, &core->hooks, launch)
        use->mechanism->launch(use->state, core, begins);
}

void hooks_block(struct core *core, u32 block_slot, bool started)
{
    EACH_USE(use, &core->hooks, block)
        use->mechanism->block(use->state, core, block_slot, started);
}

struct dispatch hooks_dispatch(struct core *core, const struct hooks *dispatcher, u64 block,
                               u64 blocks)
{
    struct dispatch dispatch = {.block = block, .blocks = blocks};
    EACH_USE(use, &core->hooks, dispatch) {
        const struct mechanism_use *own = &dispatcher->uses[use - core->hooks.uses];
        dispatch.dispatcher = own->mechanism->dispatcher_size ? own->state : NULL;
        use->mechanism->dispatch(use->state, core, &dispatch);
        if (dispatch.answer != DISPATCH_TAKE)
            break;
    }
    return dispatch;
}

void hooks_l1_access(struct core *core, const struct l1_access *access)
{
    EACH_USE(use, &core->hooks, l1_access)
        use->mechanism->l1_access(use->state, core, access);
}

void hooks_l1_evicted(struct core *core, const struct l1_line *line)
{
    EACH_USE(use, &core->hooks, l1_evicted)
        use->mechanism->l1_evicted(use->state, core, line);
}

void hooks_l1_filled(struct core *core, const struct l1_line *line)
{
    EACH_USE(use, &core->hooks, l1_filled)
        use->mechanism->l1_filled(use->state, core, line);
}

u32 hooks_l1_supply(struct core *core, const struct l1_access *miss, u32 *sectors)
{
    EACH_USE(use, &core->hooks, l1_supply) {
        const u32 cycles = use->mechanism->l1_supply(use->state, core, miss, sectors);
        if (cycles)
            return cycles;
        *sectors = miss->missing;
    }
    return 0;
}

void hooks_settle(struct core *core, fs now)
{
    EACH_USE(use, &core->hooks, settle)
        use->mechanism->settle(use->state, core, now);
}

f64 hooks_clock(struct core *core)
{
    f64 factor = 1;
    EACH_USE(use, &core->hooks, clock)
        factor *= use->mechanism->clock(use->state, core);
    return factor;
}

bool hooks_stuck(struct core *core)
{
    bool any = false;
    EACH_USE(use, &core->hooks, stuck)
        any |= use->mechanism->stuck(use->state, core);
    return any;
}

void hooks_result(struct core *core, struct inflight *inflight)
{
    inflight->has_result = true;
    EACH_USE(use, &core->hooks, result)
        use->mechanism->result(use->state, core, inflight);
}

u32 core_register_bank(const struct core *core, u32 slot, u32 reg)
{
    return collect_bank(core, slot, core->groups > 1 ? slot % core->groups : 0, reg);
}
