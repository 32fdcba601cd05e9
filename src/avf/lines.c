/* Lines of caches: see lines.h. */
#include "avf/lines.h"
#include <stdlib.h>

void lines_create(struct avf_lines *lines, u64 places, u32 line_bytes, u32 spare)
{
    const u32 count = (u32)places + spare;
    if (!places || line_bytes > LINE_BYTES)
        return;
    lines->bytes = line_bytes;
    lines->sectors = line_bytes / SECTOR_BYTES;
    lines->places = (u32)places;
    lines->count = lines->free_count = count;
    lines->at = checked(calloc(places, sizeof *lines->at));
    lines->stays = checked(calloc(count, sizeof *lines->stays));
    lines->last = checked(malloc((size_t)count * line_bytes * sizeof *lines->last));
    lines->maybe = checked(malloc((size_t)count * line_bytes * sizeof *lines->maybe));
    lines->free = checked(calloc(count, sizeof *lines->free));
    for (u32 i = 0; i < count; i++)
        lines->free[i] = count - 1 - i;
    memset(lines->at, 0xff, places * sizeof *lines->at);
}

void lines_destroy(struct avf_lines *lines)
{
    free(lines->at);
    free(lines->stays);
    free(lines->last);
    free(lines->maybe);
    free(lines->free);
    *lines = (struct avf_lines){0};
}

/* ---- accounting ---- */

/* A time of the stay. */
static u32 time_in(const struct avf_stay *stay, u64 cycle)
{
    return cycle >= stay->began ? (u32)MIN(cycle - stay->began + 1, (u64)UINT32_MAX) : 1;
}

static u64 after(u32 end, u32 begin)
{
    return end > begin ? end - begin : 0;
}

/* The earlier of two times; 0 means never. */
static u32 earlier(u32 one, u32 other)
{
    return one && other ? MIN(one, other) : MAX(one, other);
}

/* When a sector is no longer counted byte by byte: from then on it is dirty, and needed as a whole
 * until it is written back. */
static u32 clean_until(const struct avf_stay *stay, u32 s)
{
    return stay->back >> s & 1 ? stay->dirty[s] : UINT32_MAX;
}

/* Bytes of a sector, from the fill to the last read that needs them, in cycles; with `more`, also
 * perhaps. *latest: the last read of any byte. */
static u64 clean_cycles(const struct avf_lines *lines, u32 index, u32 s, bool more, u32 *latest)
{
    const struct avf_stay *stay = &lines->stays[index];
    const size_t first = (size_t)index * lines->bytes + s * SECTOR_BYTES;
    const u32 *last = &lines->last[first], *maybe = &lines->maybe[first];
    const u32 whole = more ? MAX(stay->whole[s], stay->perhaps[s]) : stay->whole[s];
    const u32 begin = earlier(stay->since[s], stay->dirty[s]), end = clean_until(stay, s);
    u64 sum = 0;
    *latest = MAX(*latest, whole);
    if (!(stay->picked >> s & 1))
        return begin ? SECTOR_BYTES * after(MIN(whole, end), begin) : 0;
    for (u32 b = 0; b < SECTOR_BYTES; b++) {
        const u32 time = MAX(whole, more ? MAX(last[b], maybe[b]) : last[b]);
        *latest = MAX(*latest, time);
        sum += begin ? after(MIN(time, end), begin) : 0;
    }
    return sum;
}

/* The tag of a line that was hit last, by a read that needs it, at `last`; certainly at `sure`. */
static void add_tag(const struct avf_lines *lines, const struct avf_stay *stay, u32 last, u32 sure,
                    struct needed_time *time)
{
    u32 begin = 0, end = UINT32_MAX;
    for (u32 s = 0; s < lines->sectors; s++) {
        begin = earlier(begin, earlier(stay->since[s], stay->dirty[s]));
        end = MIN(end, clean_until(stay, s));
    }
    time->lines = after(MIN(last, end), begin);
    time->lines_undecided = time->lines - after(MIN(sure, end), begin);
}

/* Whether a sector was filled, and then written: what was not overwritten goes back to memory. */
static bool filled_and_written(const struct avf_lines *lines, const struct avf_stay *stay)
{
    for (u32 s = 0; s < lines->sectors; s++)
        if (stay->since[s] && stay->dirty[s])
            return true;
    return false;
}

/* What clean sectors were needed for, as far as reads are decided. */
static struct needed_time needed_time(const struct avf_lines *lines, u32 index)
{
    const struct avf_stay *stay = &lines->stays[index];
    struct needed_time time = {0};
    u32 latest = 0, sure = 0;
    for (u32 s = 0; s < lines->sectors; s++) {
        if (!stay->asked[s]) /* never read */
            continue;
        const u64 all = clean_cycles(lines, index, s, true, &latest);
        time.bits += 8 * all;
        time.bits_undecided += 8 * (all - clean_cycles(lines, index, s, false, &sure));
    }
    if (latest)
        add_tag(lines, stay, latest, sure, &time);
    const bool kept = filled_and_written(lines, stay);
    time.brought = latest || kept ? stay->brought : 0;
    time.brought_undecided = sure || kept ? 0 : time.brought;
    return time;
}

/* Counts what has not been counted of it before. */
static void count_needed(struct avf_lines *lines, u32 index)
{
    const struct needed_time time = needed_time(lines, index);
    struct needed_time *counted = &lines->stays[index].needed;
    lines->counts.bits_ace += time.bits - counted->bits;
    lines->counts.bits_undecided += time.bits_undecided - counted->bits_undecided;
    lines->counts.lines_ace += time.lines - counted->lines;
    lines->counts.lines_refetched += time.lines - counted->lines;
    lines->counts.lines_undecided += time.lines_undecided - counted->lines_undecided;
    lines->counts.brought_ace += time.brought - counted->brought;
    lines->counts.brought_undecided += time.brought_undecided - counted->brought_undecided;
    *counted = time;
}

/* Sectors that are dirty, and the time of all, up to now. */
static void count_until(struct avf_lines *lines, struct avf_stay *stay, u32 now, u32 dirty)
{
    u32 first_dirty = 0, first = 0;
    for (u32 s = 0; s < lines->sectors; s++) {
        const u32 begin = earlier(stay->since[s], stay->dirty[s]);
        first = earlier(first, begin);
        if (begin)
            lines->counts.bits_held += 8 * SECTOR_BYTES * after(now, MAX(begin, stay->counted));
        if (!(dirty >> s & 1))
            continue;
        first_dirty = earlier(first_dirty, stay->dirty[s]);
        lines->counts.bits_ace += 8 * SECTOR_BYTES * after(now, MAX(stay->dirty[s], stay->counted));
    }
    if (first)
        lines->counts.lines_held += after(now, MAX(first, stay->counted));
    if (first_dirty)
        lines->counts.lines_ace += after(now, MAX(first_dirty, stay->counted));
    stay->back |= dirty;
    stay->counted = now;
}

/* Bytes of a sector that have a time. */
static u64 bytes_noted(const struct avf_stay *stay, u32 s, u32 whole, const u32 *times)
{
    u64 set = 0;
    if (whole)
        return 0xffffffff;
    for (u32 b = 0; stay->picked >> s & 1 && b < SECTOR_BYTES; b++)
        set |= (u64)(times[b] != 0) << b;
    return set;
}

/* Tells the fetches of its sectors which of their bytes were needed; most lines have one. */
static void tell_fetches(const struct avf_lines *lines, u32 index)
{
    const struct avf_stay *stay = &lines->stays[index];
    struct byte_need need = {0};
    u32 sectors = 0;
    for (u32 s = 0; s < lines->sectors; s++) {
        const u32 first = s * SECTOR_BYTES;
        const size_t at = (size_t)index * lines->bytes + first;
        if (stay->fetch[s] == NOTHING)
            continue;
        need.sure.words[first / 64] |= bytes_noted(stay, s, stay->whole[s], &lines->last[at])
                                       << first % 64;
        need.maybe.words[first / 64] |= bytes_noted(stay, s, stay->perhaps[s], &lines->maybe[at])
                                        << first % 64;
        sectors++;
        if (s + 1 < lines->sectors && stay->fetch[s + 1] == stay->fetch[s])
            continue;
        lines->decided(lines->user, stay->fetch[s], &need, sectors);
        need = (struct byte_need){0};
        sectors = 0;
    }
}

/* M2. */
static void account(struct avf_lines *lines, u32 index)
{
    count_needed(lines, index);
    tell_fetches(lines, index);
    lines->stays[index].era++;
    lines->free[lines->free_count++] = index;
}

/* Reads that are not decided count as needed (M3). */
static void decide_all(struct avf_lines *lines, u32 index)
{
    struct avf_stay *stay = &lines->stays[index];
    for (u32 s = 0; stay->reads && s < lines->sectors; s++)
        stay->perhaps[s] = MAX(stay->perhaps[s], stay->asked[s]);
    stay->reads = 0;
}

/* ---- events ---- */

/* There is always one: if none is spare, reads of a line that has left are decided now. */
static u32 take_stay(struct avf_lines *lines)
{
    for (u32 i = 0; !lines->free_count; i++)
        if (lines->stays[i].left && lines->stays[i].reads) {
            decide_all(lines, i);
            account(lines, i);
        }
    return lines->free[--lines->free_count];
}

static struct avf_stay *stay_at(struct avf_lines *lines, u32 place, u64 cycle)
{
    if (lines->at[place] == NOTHING) {
        const u32 index = lines->at[place] = take_stay(lines);
        struct avf_stay *stay = &lines->stays[index];
        *stay = (struct avf_stay){.began = cycle, .era = stay->era};
        memset(stay->fetch, 0xff, sizeof stay->fetch);
    }
    return &lines->stays[lines->at[place]];
}

void lines_filled(struct avf_lines *lines, u32 place, u32 sectors, u32 fetch, u64 cycle)
{
    struct avf_stay *stay = stay_at(lines, place, cycle);
    const u32 now = time_in(stay, cycle);
    for (u32 s = 0; s < lines->sectors; s++) {
        if (!(sectors >> s & 1))
            continue;
        /* a sector that was dropped and comes again counts from its first fill */
        stay->since[s] = stay->since[s] ? stay->since[s] : now;
        if (stay->fetch[s] != NOTHING) {
            struct byte_need need = {.maybe = byte_set_of(1u << s)};
            lines->decided(lines->user, stay->fetch[s], &need, 1);
        }
        stay->fetch[s] = fetch;
    }
}

void lines_written(struct avf_lines *lines, u32 place, u32 sectors, u64 cycle)
{
    struct avf_stay *stay = stay_at(lines, place, cycle);
    const u32 now = time_in(stay, cycle);
    for (u32 s = 0; s < lines->sectors; s++)
        if (sectors >> s & 1 && !stay->dirty[s])
            stay->dirty[s] = now;
}

void lines_present(struct avf_lines *lines, u32 place, u32 sectors, u64 cycle)
{
    struct avf_stay *stay = stay_at(lines, place, cycle);
    for (u32 s = 0; s < lines->sectors; s++)
        if (sectors >> s & 1 && !stay->since[s] && !stay->dirty[s])
            stay->since[s] = time_in(stay, cycle);
}

u32 lines_read(struct avf_lines *lines, u32 place, u32 sectors, u64 cycle)
{
    const u32 index = place < lines->places ? lines->at[place] : NOTHING;
    if (index == NOTHING)
        return NOTHING;
    struct avf_stay *stay = &lines->stays[index];
    stay->reads++;
    for (u32 s = 0; s < lines->sectors; s++)
        if (sectors >> s & 1)
            stay->asked[s] = time_in(stay, cycle);
    return index;
}

void lines_brought(struct avf_lines *lines, u32 place, u32 cycles)
{
    lines->stays[lines->at[place]].brought += cycles;
    lines->counts.brought_held += cycles;
}

void lines_needed(struct avf_lines *lines, u32 place, u32 sectors, u64 cycle)
{
    struct avf_stay *stay = &lines->stays[lines->at[place]];
    const u32 now = time_in(stay, cycle);
    for (; sectors; sectors &= sectors - 1) {
        const u32 s = first_bit(sectors);
        stay->asked[s] = now;
        stay->whole[s] = MAX(stay->whole[s], now);
    }
}

void lines_left(struct avf_lines *lines, u32 place, u32 back, u64 cycle)
{
    const u32 index = place < lines->places ? lines->at[place] : NOTHING;
    if (index == NOTHING)
        return;
    struct avf_stay *stay = &lines->stays[index];
    lines->at[place] = NOTHING;
    stay->left = time_in(stay, cycle);
    count_until(lines, stay, stay->left, back);
    if (!stay->reads)
        account(lines, index);
}

/* The times of a sector's bytes; they have none before. */
static void pick(const struct avf_lines *lines, u32 index, u32 s)
{
    const size_t first = (size_t)index * lines->bytes + s * SECTOR_BYTES;
    struct avf_stay *stay = &lines->stays[index];
    if (stay->picked >> s & 1)
        return;
    stay->picked |= 1u << s;
    memset(&lines->last[first], 0, SECTOR_BYTES * sizeof *lines->last);
    memset(&lines->maybe[first], 0, SECTOR_BYTES * sizeof *lines->maybe);
}

/* Most reads need all bytes of a sector. `times`: of the line's bytes; `whole`: of all of a sector. */
static void note_needed(const struct avf_lines *lines, u32 index, const struct byte_set *need,
                        u32 *times, u32 *whole, u32 now)
{
    for (u32 s = 0; s < lines->sectors; s++) {
        u32 set = (u32)(need->words[s / 2] >> 32 * (s % 2));
        u32 *const bytes = &times[(size_t)index * lines->bytes + s * SECTOR_BYTES];
        if (!set)
            continue;
        if (set == ~0u) {
            whole[s] = MAX(whole[s], now);
            continue;
        }
        for (pick(lines, index, s); set; set &= set - 1)
            bytes[first_bit(set)] = MAX(bytes[first_bit(set)], now);
    }
}

void lines_decide(struct avf_lines *lines, u32 index, u32 era, const struct byte_need *need,
                  u64 cycle)
{
    struct avf_stay *stay = &lines->stays[index];
    if (stay->era != era || !stay->reads)
        return;
    const u32 now = time_in(stay, cycle);
    note_needed(lines, index, &need->sure, lines->last, stay->whole, now);
    note_needed(lines, index, &need->maybe, lines->maybe, stay->perhaps, now);
    if (!--stay->reads && stay->left)
        account(lines, index);
}

void lines_end(struct avf_lines *lines, u64 cycle)
{
    for (u32 place = 0; place < lines->places; place++)
        lines_left(lines, place, 0, cycle);
    for (u32 i = 0; i < lines->count; i++)
        if (lines->stays[i].left && lines->stays[i].reads) {
            decide_all(lines, i);
            account(lines, i);
        }
}

void lines_count(struct avf_lines *lines, u64 cycle)
{
    for (u32 place = 0; place < lines->places; place++) {
        const u32 index = lines->at[place];
        if (index == NOTHING)
            continue;
        struct avf_stay *stay = &lines->stays[index];
        u32 dirty = 0;
        for (u32 s = 0; s < lines->sectors; s++)
            dirty |= (u32)(stay->dirty[s] != 0) << s;
        count_until(lines, stay, time_in(stay, cycle), dirty);
        count_needed(lines, index);
    }
}
