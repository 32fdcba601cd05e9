/*
 * Fetch and decode: instructions come from the cache into warps' buffers.
 *
 * In each cycle up to fetch.per_cycle warps, round robin, that want instructions look theirs up.
 * A hit delivers up to fetch.width consecutive instructions of one line, fetch.decode_cycles later;
 * a miss sends for the line, and the warp waits. A warp that goes elsewhere than the next address
 * loses what it has buffered. Warps whose line has just come are served before others: with a small
 * cache these would take the line away again before anyone has used it, for ever.
 *
 * Deviation: addresses are counted in instructions of the program, so that a line holds as many as
 * its bytes would; a fetch never crosses a line.
 */
#include "core/core.h"
#include "core/requests.h"

enum {
    DECODES = ARRAY_LEN(((struct core *)0)->decode),
    MISSES = ARRAY_LEN(((struct core *)0)->misses)
};

void fetch_create(struct core *core)
{
    const struct fetch_params *p = core->config.fetch;
    core->fetch_limit = p->when_empty ? 0 : (i32)p->buffer - (i32)p->width;
    struct cache_config config = CACHE_CONFIG(core->config.icache, WRITE_EVICT);
    core->icache = cache_create(&config, (struct cache_counters *)&core->stats.icache);
}

void fetch_destroy(struct core *core)
{
    cache_destroy(core->icache);
}

static u64 address_of(const struct core *core, u32 inst)
{
    return image_pc(core->exec->image, inst);
}

void fetch_want_more(struct core *core, u32 s)
{
    const struct slot *slot = &core->slots[s];
    bool wants = !slot->missing && !slot->decoding && !slot->ended &&
                 slot->fetch_at < core->exec->image->program->inst_count;
    /* Behind a branch in the buffer, or one that is being resolved, nobody knows where to go. */
    if (wants && core->config.fetch->branch == 1) {
        if (core->branching >> s & 1)
            wants = false;
        if (slot->buffered && core->times[slot->buffer[slot->buffered - 1]].flags & TIME_BRANCH)
            wants = false;
    }
    core->fetchable = (core->fetchable & ~bit(s)) | (u64)wants << s;
}

void fetch_redirect(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    core->stats.fetch.flushed += slot->buffered;
    slot->buffered = 0;
    slot->skipped = 0;
    slot->fetch_at = slot->at;
    core->redirected &= ~bit(s);
    slot_update(core, s);
    fetch_want(core, s);
}

/* What mechanisms say of fetching an instruction. */
static COLD enum fetch_answer ask_fetch(struct core *core, u32 s, u32 inst)
{
    enum fetch_answer answer = FETCH_SERVE;
    EACH_USE(use, &core->hooks, fetch)
    {
        answer = use->mechanism->fetch(use->state, core, s, inst);
        if (answer != FETCH_SERVE)
            break;
    }
    return answer;
}

/* How many instructions from `inst` on one fetch brings. */
static inline u32 fetch_length(const struct core *core, u32 inst)
{
    const struct program *program = core->exec->image->program;
    const u64 mask = ~(u64)(core->config.icache->line_bytes - 1);
    const u64 line = address_of(core, inst) & mask;
    u32 count = 1;
    if (core->config.fetch->width == 1)
        return 1;
    while (count < core->config.fetch->width && inst + count < program->inst_count &&
           (address_of(core, inst + count) & mask) == line)
        count++;
    return count;
}

static void deliver(struct core *core, u32 s, u32 inst, bool here)
{
    struct slot *slot = &core->slots[s];
    u32 count = here ? 1 : fetch_length(core, inst);
    slot->decoding = false;
    if (slot->ended || slot->fetch_at != inst) { /* it went elsewhere meanwhile */
        core->stats.fetch.instructions += count;
        core->stats.fetch.flushed += count;
        fetch_want(core, s);
        if (slot->ended)
            slot_maybe_leave(core, s);
        return;
    }
    count = MIN(count, core->config.fetch->buffer - slot->buffered);
    for (u32 i = 0; i < count; i++) {
        /* one that is not to be fetched ends what the fetch delivers */
        if (i && core_hooked(core, SEAM_FETCH) && ask_fetch(core, s, inst + i) != FETCH_SERVE) {
            count = i;
            break;
        }
        slot->buffer[slot->buffered++] = inst + i;
        if (core->config.fetch->branch == 1 && core->times[inst + i].flags & TIME_BRANCH)
            count = i + 1;
    }
    core->stats.fetch.instructions += count;
    slot->fetch_at = inst + count;
    if (slot->buffered == count) /* it has a head now */
        slot_update(core, s);
    fetch_want(core, s);
}

static void decode_tick(struct core *core)
{
    while (core->decode_head != core->decode_tail) {
        u32 at = core->decode_head % DECODES;
        if (core->decode[at].ready > core_cycle(core))
            return;
        core->decode_head++;
        deliver(core, core->decode[at].slot, core->decode[at].inst, core->decode[at].here);
    }
}

static void decode_push(struct core *core, u32 s, u32 inst)
{
    u32 at = core->decode_tail++ % DECODES;
    core->slots[s].decoding = true;
    core->decode[at].inst = inst;
    core->decode[at].slot = s;
    core->decode[at].here = false;
    core->decode[at].ready = core_cycle(core) + core->config.fetch->decode_cycles;
    core->stats.fetch.fetches++;
}

/* Sends for a line; the wait is fixed, or as long as memory takes. */
static void send_miss(struct core *core, u64 line, const struct cache_out *out)
{
    const struct icache_params *p = core->config.icache;
    if (!p->miss_cycles) {
        requests_read(core, CLIENT_FETCH, line, p->line_bytes, out->sectors, out->mshr, NO_INST);
        return;
    }
    u32 at = core->miss_tail++ % MISSES;
    core->misses[at].mshr = out->mshr;
    core->misses[at].ready = core_cycle(core) + p->miss_cycles;
}

/* False: nothing more can be fetched in this cycle. */
static bool look_up(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    const u32 inst = slot->fetch_at, bytes = core->config.icache->line_bytes;
    const u64 line = address_of(core, inst) & ~(u64)(bytes - 1);
    if (core->config.icache->perfect) {
        core->fetchable &= ~bit(s);
        decode_push(core, s, inst);
        return true;
    }
    if (!requests_room(core, requests_needed(core, bytes)) ||
        core->miss_tail - core->miss_head == MISSES) {
        core->stats.icache.stalls_queue++;
        return false;
    }
    struct cache_out out;
    u32 all = bytes / SECTOR_BYTES >= 32 ? ~0u : (1u << bytes / SECTOR_BYTES) - 1;
    switch (cache_read(core->icache, line, all, s, &out)) {
    case CACHE_HIT:
        core->fetchable &= ~bit(s);
        decode_push(core, s, inst);
        return true;
    case CACHE_MISS:
        send_miss(core, line, &out);
        break;
    case CACHE_MERGED:
        break;
    case CACHE_STALLS:
        return false;
    }
    slot->missing = true;
    slot->missed_at = core_cycle(core);
    core->fetchable &= ~bit(s);
    return true;
}

void fetch_reply(struct core *core, u32 mshr)
{
    struct cache_out out;
    u32 s;
    cache_fill(core->icache, mshr, &out);
    while (cache_waiter(core->icache, mshr, &s)) {
        core->slots[s].missing = false;
        core->stats.fetch.miss_cycles += core_cycle(core) - core->slots[s].missed_at;
        core->arrived |= bit(s);
        fetch_want(core, s);
        if (core->slots[s].ended)
            slot_maybe_leave(core, s);
    }
}

static void take_misses(struct core *core)
{
    while (core->miss_head != core->miss_tail) {
        u32 at = core->miss_head % MISSES;
        if (core->misses[at].ready > core_cycle(core))
            return;
        core->miss_head++;
        fetch_reply(core, core->misses[at].mshr);
    }
}

/* A mechanism may supply the next instruction, have it skipped, or hold it back. */
static COLD enum fetch_answer ask_mechanisms(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    enum fetch_answer answer = ask_fetch(core, s, slot->fetch_at);
    if (answer == FETCH_SKIP) {
        slot->buffer[slot->buffered] = slot->fetch_at++;
        slot->skipped |= 1u << slot->buffered++;
        if (slot->buffered == 1)
            slot_update(core, s);
        fetch_want(core, s);
    } else if (answer == FETCH_HERE) {
        core->fetchable &= ~bit(s);
        core->last_fetched = s;
        decode_push(core, s, slot->fetch_at);
        core->decode[(core->decode_tail - 1) % DECODES].here = true;
    }
    return answer;
}

void fetch_tick(struct core *core)
{
    if (core->miss_head != core->miss_tail)
        take_misses(core);
    decode_tick(core);
    u64 left = core->fetchable;
    core->arrived &= left;
    for (u32 n = 0; n < core->config.fetch->per_cycle && left; n++) {
        u32 from = core->last_fetched + 1;
        u64 set = core->arrived & left ? core->arrived & left : left;
        u64 above = from < CORE_WARPS ? set & ~(bit(from) - 1) : 0;
        u32 s = first_bit(above ? above : set);
        left &= ~bit(s);
        core->arrived &= ~bit(s);
        if (core_hooked(core, SEAM_FETCH)) {
            enum fetch_answer answer = ask_mechanisms(core, s);
            n -= answer == FETCH_SKIP || answer == FETCH_HOLD; /* these take no turn */
            if (answer != FETCH_SERVE)
                continue;
        }
        core->last_fetched = s;
        if (!look_up(core, s))
            break;
    }
    if (!core->config.fetch->decode_cycles)
        decode_tick(core);
}

bool fetch_idle(const struct core *core)
{
    return !core->fetchable && core->decode_head == core->decode_tail;
}

u64 fetch_next(const struct core *core)
{
    return core->miss_head == core->miss_tail ? UINT64_MAX
                                              : core->misses[core->miss_head % MISSES].ready;
}
