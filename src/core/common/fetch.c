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
#include "core/common/fetch_tick.h"

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
u32 fetch_until_branch(const struct core *core, u32 inst, u32 count)
{
    for (u32 i = 0; i < count; i++)
        if (core->times[inst + i].flags & TIME_BRANCH)
            return i + 1;
    return count;
}

/* Of `count` instructions, the number before the first one that must not be fetched; the first of
 * them has been asked about already. */
COLD u32 fetch_until_refused(struct core *core, u32 s, u32 inst, u32 count)
{
    for (u32 i = 1; i < count; i++) {
        u32 next = inst + i;
        if (ask_fetch(core, s, &next, false) != FETCH_SERVE)
            return i;
    }
    return count;
}

/* Of `count` instructions, the number before the first one about which skip_fetch must be asked. */
COLD u32 fetch_until_skipped(struct core *core, u32 s, u32 inst, u32 count)
{
    for (u32 i = 1; i < count; i++)
        EACH_USE(use, &core->hooks, may_skip_fetch) {
            if (use->mechanism->may_skip_fetch(use->state, core, s, inst + i))
                return i;
        }
    return count;
}

COLD void fetch_tell(struct core *core, u32 s, u32 inst, u32 count, bool here)
{
    EACH_USE(use, &core->hooks, fetched)
        use->mechanism->fetched(use->state, core, s, inst, count, here);
}

/* Discards instructions that arrived after their warp went elsewhere. */
void fetch_throw_away(struct core *core, u32 s, u32 count)
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
COLD bool fetch_take_other(struct core *core, u32 s, u32 inst, u32 served)
{
    struct slot *slot = &core->slots[s];
    if (slot->buffered || slot->at != inst || core->issue.redirected >> s & 1)
        return false;
    warp_path(slot->warp)->pc = slot->at = slot->fetch_at = served;
    return true;
}

/* No stages are between the instruction cache and the buffers. */
void fetch_decode_at_once(struct core *core)
{
    decode(core);
}

/* Requests a line; the latency is fixed, or that of the memory system. */
void fetch_send_miss(struct core *core, u32 s, u64 line, const struct cache_out *out)
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

void fetch_take_misses(struct core *core)
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
COLD u64 fetch_skip_slots(struct core *core, u64 left)
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
COLD enum fetch_answer fetch_ask_mechanisms(struct core *core, u32 s)
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
u64 fetch_of_last_group(const struct core *core, u64 set)
{
    const u32 span = core->config.issue->group_size;
    if (span >= CORE_WARPS || core->fetch.last >= CORE_WARPS)
        return set;
    const u64 group = (bit(span) - 1) << core->fetch.last / span * span;
    return set & group ? set & group : set;
}
