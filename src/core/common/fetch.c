/*
 * Fetch and decode: bring instructions from the instruction cache into the warps' buffers.
 *
 * In each cycle, up to fetch.per_cycle warps that want instructions look theirs up, in round-robin
 * order. A hit delivers up to fetch.width consecutive instructions of one line, fetch.decode_cycles
 * later; a miss requests the line, and the warp waits. A warp that does not continue at the next
 * address loses its buffered instructions. Warps whose line has just arrived are served first: with
 * a small cache, others could otherwise evict the line before it is used, and so on forever.
 *
 * Without a cache of its own (icache.keeps off) a core has only its buffers: instructions go from
 * memory directly to the warps that wait for their line.
 *
 * Deviation: fetch.width counts instructions, whatever their size in bytes; a fetch never crosses a
 * line.
 */
#include "base/hot.h"
#include "core/common/slots.h"
#include "core/requests.h"

enum {
    DECODES = ARRAY_LEN(((struct core *)0)->fetch.decode),
    MISSES = ARRAY_LEN(((struct core *)0)->fetch.misses)
};

void fetch_create(struct core *core)
{
    const struct fetch_params *p = core->config.fetch;
    const u32 extra_stages = core->fetch.extra_stages; /* mechanisms add them only once */
    core->fetch = (struct fetch_stage){.extra_stages = extra_stages};
    core->fetch.limit = p->when_empty ? 0 : (i32)p->buffer - (i32)p->width;
    const u32 bytes = core->config.icache->line_bytes, sectors = bytes / SECTOR_BYTES;
    core->fetch.line_packets = requests_needed(core, bytes);
    core->fetch.line_sectors = sectors >= 32 ? ~0u : (1u << sectors) - 1;
    struct cache_config config = CACHE_CONFIG(core->config.icache, WRITE_EVICT);
    config.passing = !core->config.icache->keeps;
    core->fetch.cache = cache_create(&config, (struct cache_counters *)&core->stats.icache);
}

void fetch_destroy(struct core *core)
{
    cache_destroy(core->fetch.cache);
}

void fetch_time(struct inst_time *times, const struct image *image,
                const struct core_config *config)
{
    const u32 count = program_code_count(image->program);
    const u64 mask = ~(u64)(config->icache->line_bytes - 1);
    for (u32 i = 0; i < count; i++) {
        times[i].line = image_pc(image, i) & mask;
        u32 n = 1;
        while (n < config->fetch->width && i + n < count &&
               (image_pc(image, i + n) & mask) == times[i].line)
            n++;
        times[i].fetched = (u8)n;
    }
}

bool fetch_behind_branch(const struct core *core, u32 s)
{
    const struct slot *slot = &core->slots[s];
    return (core->issue.branching | core->issue.redirected) >> s & 1 ||
           (slot->buffered && core->times[slot->buffer[slot->buffered - 1]].flags & TIME_BRANCH);
}

void fetch_redirect(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    core->stats.fetch.flushed += slot->buffered - slot_marks(core, slot);
    slot->buffered = 0;
    slot->skipped = 0;
    slot->limit = core->fetch.limit;
    slot->fetch_at = slot->at;
    core->issue.redirected &= ~bit(s);
    slot_update(core, s);
    fetch_want(core, s);
}

/* Asks mechanisms about fetching an instruction: all of them, or only those that can have it
 * skipped. */
static COLD enum fetch_answer ask_fetch(struct core *core, u32 s, u32 *inst, bool all)
{
    enum fetch_answer answer = FETCH_SERVE;
    EACH_USE(use, &core->hooks, fetch) {
        if (!all && !use->mechanism->skipped)
            continue;
        answer = use->mechanism->fetch(use->state, core, s, inst);
        if (answer != FETCH_SERVE)
            break;
    }
    return answer;
}

/* Of `count` instructions, the number up to and including the first branch. */
static u32 until_branch(const struct core *core, u32 inst, u32 count)
{
    for (u32 i = 0; i < count; i++)
        if (core->times[inst + i].flags & TIME_BRANCH)
            return i + 1;
    return count;
}

/* Of `count` instructions, the number before the first one that must not be fetched; the first of
 * them has been asked about already. */
static COLD u32 until_refused(struct core *core, u32 s, u32 inst, u32 count)
{
    for (u32 i = 1; i < count; i++) {
        u32 next = inst + i;
        if (ask_fetch(core, s, &next, false) != FETCH_SERVE)
            return i;
    }
    return count;
}

/* Of `count` instructions, the number before the first one about which skip_fetch must be asked. */
static COLD u32 until_skipped(struct core *core, u32 s, u32 inst, u32 count)
{
    for (u32 i = 1; i < count; i++)
        EACH_USE(use, &core->hooks, may_skip_fetch) {
            if (use->mechanism->may_skip_fetch(use->state, core, s, inst + i))
                return i;
        }
    return count;
}

static COLD void tell_fetched(struct core *core, u32 s, u32 inst, u32 count, bool here)
{
    EACH_USE(use, &core->hooks, fetched)
        use->mechanism->fetched(use->state, core, s, inst, count, here);
}

/* Discards instructions that arrived after their warp went elsewhere. */
static void throw_away(struct core *core, u32 s, u32 count)
{
    core->stats.fetch.instructions += count;
    core->stats.fetch.flushed += count;
    fetch_want(core, s);
    if (core->slots[s].ended)
        slot_maybe_leave(core, s);
}

/*
 * A mechanism has supplied another instruction instead of the requested one: the warp executes it
 * and continues after it, as it would in hardware. It must be the next to execute; otherwise the
 * instruction is fetched again.
 */
static COLD bool take_other(struct core *core, u32 s, u32 inst, u32 served)
{
    struct slot *slot = &core->slots[s];
    if (slot->buffered || slot->at != inst || core->issue.redirected >> s & 1)
        return false;
    warp_path(slot->warp)->pc = slot->at = slot->fetch_at = served;
    return true;
}

/* `served`: as in struct fetch_stage. */
PART_OF void deliver(struct core *core, u32 s, u32 inst, u32 served)
{
    struct slot *slot = &core->slots[s];
    const bool here = served != NO_INST;
    u32 count = here ? 1 : core->times[inst].fetched;
    slot->decoding = false;
    if (slot->ended || slot->fetch_at != inst ||
        (UNLIKELY(here && served != inst) && !take_other(core, s, inst, served))) {
        if (core_hooked(core, SEAM_FETCHED))
            tell_fetched(core, s, inst, count, here);
        throw_away(core, s, count);
        return;
    }
    count = MIN(count, core->config.fetch->buffer + slot_marks(core, slot) - slot->buffered);
    if (core->config.fetch->branch == 1)
        count = until_branch(core, inst, count);
    if (core_hooked(core, SEAM_FETCH))
        count = until_refused(core, s, inst, count);
    if (core_hooked(core, SEAM_SKIP_FETCH))
        count = until_skipped(core, s, inst, count);
    const u32 wanted = inst;
    inst = here ? served : inst;
    u32 *const to = slot->buffer + slot->buffered;
    for (u32 i = 0; i < count; i++)
        to[i] = inst + i;
    slot->buffered += (u8)count;
    core->stats.fetch.instructions += count;
    core->stats.fetch.buffered += count;
    slot->fetch_at = inst + count;
    if (UNLIKELY(core->detours & DETOUR_SEAMS)) {
        if (core_hooked(core, SEAM_FETCHED))
            tell_fetched(core, s, wanted, count, here);
        if (core->trace.steps)
            trace_decoded(core, s, inst, count);
    }
    if (to == slot->buffer) /* the buffer has a new head */
        slot_sort(core, s, slot);
    if (slot->buffered <= slot->limit) /* otherwise it wants none, as while it was decoding */
        fetch_want_more(core, s);
}

PART_OF void decode(struct core *core)
{
    while (core->fetch.decode_head != core->fetch.decode_tail) {
        u32 at = core->fetch.decode_head % DECODES;
        if (core->fetch.decode[at].ready > core_cycle(core))
            return;
        core->fetch.decode_head++;
        deliver(core, core->fetch.decode[at].slot, core->fetch.decode[at].inst,
                core->fetch.decode[at].served);
    }
}

/* No stages are between the instruction cache and the buffers. */
static __attribute__((noinline)) void decode_at_once(struct core *core)
{
    decode(core);
}

PART_OF void decode_push(struct core *core, u32 s, u32 inst, u32 served)
{
    u32 at = core->fetch.decode_tail++ % DECODES;
    core->slots[s].decoding = true;
    core->fetch.decode[at].inst = inst;
    core->fetch.decode[at].slot = s;
    core->fetch.decode[at].served = served;
    core->fetch.decode[at].ready =
        core_cycle(core) + core->config.fetch->decode_cycles + core->fetch.extra_stages;
    core->stats.fetch.fetches++;
}

/* Requests a line; the latency is fixed, or that of the memory system. */
static __attribute__((noinline)) void send_miss(struct core *core, u32 s, u64 line,
                                                const struct cache_out *out)
{
    const struct icache_params *p = core->config.icache;
    if (!p->miss_cycles) {
        const struct requester from =
            requester_of(core, s, core->slots[s].fetch_at, REQUESTER_FETCH);
        requests_read(core, CLIENT_FETCH, line, p->line_bytes, out->sectors, out->mshr, &from);
        return;
    }
    u32 at = core->fetch.miss_tail++ % MISSES;
    core->fetch.misses[at].mshr = out->mshr;
    core->fetch.misses[at].ready = core_cycle(core) + p->miss_cycles;
}

/* False: nothing more can be fetched in this cycle. */
PART_OF bool look_up(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    const u32 inst = slot->fetch_at;
    const u64 line = core->times[inst].line;
    if (core->config.icache->perfect) {
        core->fetch.wanting &= ~bit(s);
        decode_push(core, s, inst, NO_INST);
        return true;
    }
    if (core->config.icache->miss_cycles
            ? core->fetch.miss_tail - core->fetch.miss_head == MISSES
            : !port_room_for(core->config.fetch_requests, core->fetch.line_packets)) {
        core->stats.icache.stalls_queue++;
        return false;
    }
    struct cache_out out;
    const enum cache_result result =
        cache_read(core->fetch.cache, line, core->fetch.line_sectors, s, &out);
    if (LIKELY(result == CACHE_HIT)) {
        core->fetch.wanting &= ~bit(s);
        decode_push(core, s, inst, NO_INST);
        return true;
    }
    if (cache_refuses(result))
        return false;
    if (result == CACHE_MISS)
        send_miss(core, s, line, &out);
    slot->barred |= BARRED_MISSING;
    slot->missed_at = core_cycle(core);
    core->fetch.wanting &= ~bit(s);
    return true;
}

/* A line has arrived that is not kept: a warp that waited for it and still wants it gets its
 * instructions; a warp that went elsewhere looks up its new line. */
static void hand_over(struct core *core, u32 s, u64 line)
{
    const u32 inst = core->slots[s].fetch_at;
    if (!(core->fetch.wanting >> s & 1) || core->times[inst].line != line)
        return;
    core->fetch.wanting &= ~bit(s);
    decode_push(core, s, inst, NO_INST);
}

void fetch_reply(struct core *core, u32 mshr)
{
    struct cache_out out;
    u32 s;
    const u64 line = cache_mshr_line(core->fetch.cache, mshr);
    cache_fill(core->fetch.cache, mshr, &out);
    while (cache_waiter(core->fetch.cache, mshr, &s)) {
        if (UNLIKELY(!(core->present >> s & 1))) /* a flipped waiter (live.h) */
            continue;
        core->slots[s].barred &= (u8)~BARRED_MISSING;
        core->stats.fetch.miss_cycles += core_cycle(core) - core->slots[s].missed_at;
        core->fetch.arrived |= bit(s);
        fetch_want(core, s);
        if (!core->config.icache->keeps)
            hand_over(core, s, line);
        if (core->slots[s].ended)
            slot_maybe_leave(core, s);
    }
}

static void take_misses(struct core *core)
{
    while (core->fetch.miss_head != core->fetch.miss_tail) {
        u32 at = core->fetch.miss_head % MISSES;
        if (core->fetch.misses[at].ready > core_cycle(core))
            return;
        core->fetch.miss_head++;
        fetch_reply(core, core->fetch.misses[at].mshr);
    }
}

/* The next instruction is skipped: puts a mark into the buffer instead. */
static COLD void push_mark(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    slot->buffer[slot->buffered] = slot->fetch_at++;
    slot->skipped |= 1u << slot->buffered++;
    slot->limit++;
    if (slot->buffered == 1)
        slot_update(core, s);
    fetch_want(core, s);
}

/* Lets mechanisms decide on slots that want instructions. Returns the slots that may still
 * fetch. */
static COLD u64 skip_slots(struct core *core, u64 left)
{
    struct skip_fetch all = {0};
    u64 wanting = left & ~core->issue.redirected;
    EACH_USE(use, &core->hooks, skip_fetch) {
        struct skip_fetch skim = {0};
        if (wanting)
            use->mechanism->skip_fetch(use->state, core, wanting, &skim);
        wanting &= ~(skim.skip | skim.hold);
        all.skip |= skim.skip;
        all.hold |= skim.hold;
    }
    for (u64 set = all.skip; set; set &= set - 1)
        if (slot_marks(core, &core->slots[first_bit(set)]) < MAX_MARKS)
            push_mark(core, first_bit(set));
    return left & core->fetch.wanting & ~(all.skip | all.hold);
}

/* A mechanism may supply the next instruction, have it skipped, or hold it back. */
static COLD enum fetch_answer ask_mechanisms(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    u32 served = slot->fetch_at;
    enum fetch_answer answer = ask_fetch(core, s, &served, true);
    if (answer == FETCH_SKIP) {
        if (slot_marks(core, slot) < MAX_MARKS)
            push_mark(core, s);
    } else if (answer == FETCH_HERE) {
        core->fetch.wanting &= ~bit(s);
        core->fetch.last = s;
        decode_push(core, s, slot->fetch_at, served);
    }
    return answer;
}

/* Of a non-empty set, the slots in the group of the one fetched for last, if there are any. */
static u64 of_last_group(const struct core *core, u64 set)
{
    const u32 span = core->config.issue->group_size;
    if (span >= CORE_WARPS || core->fetch.last >= CORE_WARPS)
        return set;
    const u64 group = (bit(span) - 1) << core->fetch.last / span * span;
    return set & group ? set & group : set;
}

/* Looks up instructions for warps that want them. */
PART_OF void serve(struct core *core)
{
    u64 left = core->fetch.wanting;
    core->fetch.arrived &= left;
    if (core_hooked(core, SEAM_SKIP_FETCH))
        left = skip_slots(core, left);
    for (u32 n = 0; n < core->config.fetch->per_cycle && left; n++) {
        u32 from = core->fetch.last + 1;
        u64 set = core->fetch.arrived & left ? core->fetch.arrived & left : left;
        if (core->config.fetch->policy == 1)
            set = of_last_group(core, set);
        u64 above = from < CORE_WARPS ? set & ~(bit(from) - 1) : 0;
        u32 s = first_bit(above ? above : set);
        left &= ~bit(s);
        core->fetch.arrived &= ~bit(s);
        if (core_hooked(core, SEAM_FETCH)) {
            enum fetch_answer answer = ask_mechanisms(core, s);
            n -= answer == FETCH_SKIP || answer == FETCH_HOLD; /* these use no turn */
            if (answer != FETCH_SERVE)
                continue;
        }
        core->fetch.last = s;
        if (!look_up(core, s))
            break;
    }
    if (!core->config.fetch->decode_cycles && !core->fetch.extra_stages)
        decode_at_once(core);
}

HOT void fetch_tick(struct core *core)
{
    if (core->fetch.miss_head != core->fetch.miss_tail)
        take_misses(core);
    decode(core);
    if (core->fetch.wanting)
        serve(core);
}
