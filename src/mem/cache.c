/*
 * Caches: see mem/cache.h. Tags of a set are contiguous, 32 bits each, so that a set is searched 16
 * ways at a time; the other state of a line fills half a host cache line in a separate array.
 *
 * Invariants (in addition to C1 to C3)
 *  C4  A dirty sector that is not valid (`dirty & ~valid`) was written in part: reading it requires
 *      a fetch, writing it back does not.
 *  C5  `pending` of a line is the union of the sectors of the MSHRs that have reserved it.
 *  C6  Free lines have stamp 0, lines in use a higher one; so the victim has the lowest stamp.
 *  C7  A refused read stays refused, for the same reason, until a fill or a write: other reads can
 *      only take more lines and MSHRs.
 *
 * Deviations
 *  - Written bytes are not recorded, only whether one access wrote a whole sector: two partial
 *    writes that together cover a sector leave it incomplete.
 */
#include "base/hot.h"
#include "mem/cache_parts.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    TAG_GROUP = 16 /* ways searched at a time; sets are padded to a multiple of it */
};

/* Lower bits of a line number, never NO_TAG; the full address decides between equal tags. */
static u32 number_tag(u64 number)
{
    return (u32)number & 0x7fffffff;
}

/*
 * Line number to set. All hashes, for powers of two, are linear over GF(2): an xor of table
 * entries for the pieces of the number, the lowest piece standing for itself. For fixed upper bits
 * they are permutations, so neighbouring lines never meet.
 *
 * HASH_POLYNOMIAL takes the number's bits as a polynomial modulo a primitive one (Rau,
 * "Pseudo-randomly interleaved memory", 1991): strides of 2^n and of 2^n + 1 lines spread over the
 * sets. It is no chip's in particular.
 *
 * HASH_FERMI was measured on the 16 KB and 48 KB L1 of Fermi chips (Nugteren et al., "A detailed GPU
 * cache model based on reuse distance theory", HPCA 2014): address bits 13, 14, 15, 17 and 19 are
 * mixed into the five lowest bits of the set. With 32 sets, lines 4 KB apart share a set.
 */
static inline __attribute__((always_inline)) u32 hashed_set(const struct cache *cache, u64 number)
{
    u32 bits = cache->index_bits, mask = cache->index_mask, set = number & mask;
    const u16 *residues = cache->residues;
    for (number = (number & cache->hashed_bits) >> bits; number; number >>= bits) {
        set ^= residues[number & mask];
        residues += mask + 1;
    }
    return set;
}

static inline u32 plain_set(const struct cache *cache, u64 line)
{
    const u64 number = line >> cache->line_shift;
    return LIKELY(cache->index_mask) ? number & cache->index_mask : (u32)(number % cache->sets);
}

static inline u32 set_of(const struct cache *cache, u64 line)
{
    return cache->residues ? hashed_set(cache, line >> cache->line_shift) : plain_set(cache, line);
}

/* Primitive polynomials over GF(2) of degree 1 to 16, without their highest term. */
static const u16 primitive[] = {0,    0x1, 0x3, 0x3,  0x3,  0x5,   0x3, 0x3,   0x1d,
                                0x11, 0x9, 0x5, 0x53, 0x1b, 0x443, 0x3, 0x100b};

/* What bit `at` of a line's number contributes to the set: those of Fermi's lines of 128 bytes. */
enum {
    FERMI_BITS = 13
};
static u32 fermi_residue(u32 at)
{
    static const u8 mixed[FERMI_BITS] = {[6] = 1, [7] = 2, [8] = 4, [10] = 8, [12] = 16};
    return at < sizeof mixed ? mixed[at] : 0;
}

/* x^at modulo the primitive polynomial of degree `bits`, from x^(at - 1). */
static u32 next_power(u32 power, u32 bits)
{
    const u32 sets = 1u << bits;
    power <<= 1;
    return power & sets ? (power ^ primitive[bits]) & (sets - 1) : power;
}

/* For each piece of a line number but the lowest, and each of its values: its contribution. */
static const u16 *make_residues(struct arena *arena, u32 bits, bool fermi)
{
    u32 sets = 1u << bits, pieces = 64 / bits;
    u16 *residues = arena_array(arena, u16, (size_t)pieces * sets);
    u32 power = primitive[bits]; /* of x: x^bits, x^(bits + 1) ... */
    for (u32 piece = 0; piece < pieces; piece++)
        for (u32 bit = 0; bit < bits; bit++) {
            const u32 residue = fermi ? fermi_residue((piece + 1) * bits + bit) : power;
            for (u32 value = 1u << bit; value < 2u << bit; value++)
                residues[piece * sets + value] =
                    (u16)(residues[piece * sets + value - (1u << bit)] ^ residue);
            power = next_power(power, bits);
        }
    return residues;
}

/* Which of TAG_GROUP tags are equal, bits. */
static inline u32 tags_equal(const u32 *tags, u32 tag)
{
#ifdef __SSE2__
    const __m128i *four = (const __m128i *)tags;
    __m128i wanted = _mm_set1_epi32((int)tag);
    __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(four), wanted),
                                  _mm_cmpeq_epi32(_mm_load_si128(four + 1), wanted));
    __m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(four + 2), wanted),
                                   _mm_cmpeq_epi32(_mm_load_si128(four + 3), wanted));
    return (u32)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#else
    u32 equal = 0;
    for (u32 i = 0; i < TAG_GROUP; i++)
        equal |= (u32)(tags[i] == tag) << i;
    return equal;
#endif
}

static __attribute__((noinline)) struct cache_way *search(const struct cache *cache, u64 line,
                                                          u32 set)
{
    const u32 *tags = cache->tags + (size_t)set * cache->row;
    u32 tag = number_tag(line >> cache->line_shift);
    for (u32 group = 0; group < cache->row; group += TAG_GROUP)
        for (u32 equal = tags_equal(tags + group, tag); equal; equal &= equal - 1) {
            u32 at = set * cache->ways + group + (u32)__builtin_ctz(equal);
            if (LIKELY(cache->slots[at].line == line)) {
                cache->guess[set] = at;
                return &cache->slots[at];
            }
        }
    return NULL;
}

static inline struct cache_way *find(const struct cache *cache, u64 line, u32 set)
{
    struct cache_way *slot = &cache->slots[cache->guess[set]];
    return LIKELY(slot->line == line) ? slot : search(cache, line, set);
}

struct cache_way *cache_way_of(const struct cache *cache, u64 line)
{
    return find(cache, line, set_of(cache, line));
}

u64 cache_tag_of(const struct cache *cache, u64 line)
{
    const u64 number = line >> cache->line_shift;
    return cache->index_mask ? number >> cache->index_bits : number / cache->sets;
}

static u32 way_of(const struct cache *cache, const struct cache_way *slot, u32 set)
{
    return (u32)(slot - cache->slots) - set * cache->ways;
}

static u32 *tag_of(const struct cache *cache, const struct cache_way *slot, u32 set)
{
    return cache->tags + (size_t)set * cache->row + way_of(cache, slot, set);
}

void cache_retag(struct cache *cache, struct cache_way *slot, u64 tag)
{
    const u32 set = (u32)(slot - cache->slots) / cache->ways;
    u64 number = tag * cache->sets + set;
    if (cache->residues) { /* the lowest bits stand for themselves in the hash */
        const u64 upper = tag << cache->index_bits;
        number = upper | (set ^ hashed_set(cache, upper));
    }
    slot->line = number << cache->line_shift;
    *tag_of(cache, slot, set) = number_tag(number);
    cache->refused = NO_LINE;
}

static inline void touch(struct cache *cache, struct cache_way *slot, u32 set, bool write)
{
    if (!cache->fifo)
        slot->stamp = ++cache->time;
    if (UNLIKELY(cache->hooked) && cache->hooks.touched)
        cache->hooks.touched(cache->hooks.user, slot->line, set, way_of(cache, slot, set), write);
}

/* Calls the observer; `slot` is the line's, or NULL. */
static COLD void tell(const struct cache *cache, struct cache_event event,
                      const struct cache_way *slot)
{
    event.place = slot ? (u32)(slot - cache->slots) : CACHE_NO_PLACE;
    cache->observe(cache->observer, &event);
}

static inline void tell_written(const struct cache *cache, const struct cache_way *slot,
                                u32 sectors, bool stays)
{
    if (UNLIKELY(cache->observe != NULL))
        tell(cache,
             (struct cache_event){.kind = CACHE_EVENT_WRITTEN,
                                  .line = slot->line,
                                  .sectors = sectors,
                                  .dirty = stays ? sectors : 0,
                                  .mshr = NO_MSHR},
             slot);
}

static inline void tell_filled(const struct cache *cache, u64 line, const struct cache_way *slot,
                               u32 sectors, u32 mshr)
{
    if (UNLIKELY(cache->observe != NULL))
        tell(cache,
             (struct cache_event){
                 .kind = CACHE_EVENT_FILLED, .line = line, .sectors = sectors, .mshr = mshr},
             slot);
}

/* Removes a line. */
static void drop(struct cache *cache, struct cache_way *slot, u32 set)
{
    if (UNLIKELY(cache->observe != NULL))
        tell(cache,
             (struct cache_event){.kind = CACHE_EVENT_DROPPED,
                                  .line = slot->line,
                                  .sectors = slot->valid,
                                  .dirty = slot->dirty,
                                  .mshr = NO_MSHR},
             slot);
    if (UNLIKELY(cache->hooked) && cache->hooks.evicted)
        cache->hooks.evicted(cache->hooks.user, slot->line, set, way_of(cache, slot, set));
    *tag_of(cache, slot, set) = NO_TAG;
    *slot = (struct cache_way){.line = NO_LINE};
}

/* A free slot or the victim; NULL: all lines are in flight. Changes nothing. */
static struct cache_way *victim_of(const struct cache *cache, u32 set)
{
    struct cache_way *slots = cache->slots + (size_t)set * cache->ways, *victim = slots;
    for (struct cache_way *slot = slots; slot < slots + cache->takable; slot++)
        victim = slot->stamp < victim->stamp ? slot : victim;
    if (LIKELY(!victim->pending && cache->takable))
        return victim;
    victim = NULL; /* lines in flight are rarely the oldest: only now they are excluded */
    for (struct cache_way *slot = slots; slot < slots + cache->takable; slot++)
        if (!slot->pending && (!victim || slot->stamp < victim->stamp))
            victim = slot;
    return victim;
}

/* Gives the slot to another line; describes the evicted line in out. */
static void replace(struct cache *cache, struct cache_way *slot, u64 line, u32 set, bool counts,
                    struct cache_out *out)
{
    if (UNLIKELY(cache->content != NULL))
        cache_content_replaced(cache, slot);
    if (slot->line != NO_LINE) {
        out->victim = slot->line;
        out->victim_sectors = slot->dirty;
        out->victim_valid = slot->valid;
        out->victim_unused = slot->prefetched;
        cache->counters->evictions += counts;
        cache->counters->writebacks += counts && slot->dirty;
        drop(cache, slot, set);
    }
    *slot = (struct cache_way){.line = line, .stamp = ++cache->time};
    cache->used = true;
    *tag_of(cache, slot, set) = number_tag(line >> cache->line_shift);
    cache->guess[set] = (u32)(slot - cache->slots);
}

static bool may_allocate(const struct cache *cache, u64 line)
{
    return cache->takable && (!cache->hooked || !cache->hooks.allocates ||
                              cache->hooks.allocates(cache->hooks.user, line));
}

/* Counts a refused read and records it (C7), unless a hook may answer differently next time. */
static enum cache_result refuse(struct cache *cache, u64 line, u32 sectors, enum cache_result why)
{
    ++*cache_stalls(cache->counters, why);
    if (!cache->hooked) {
        cache->refused = line;
        cache->refused_sectors = sectors;
        cache->refused_why = why;
    }
    return why;
}

/* The outcome of looking up a read. */
struct found {
    struct cache_way *slot;   /* of its line, or NULL */
    struct cache_way *victim; /* to be evicted for its line, or NULL */
    u32 wanted;               /* sectors that are not present */
    u32 under_way;            /* sectors of the line in flight */
    u32 mshr;                 /* CACHE_MERGED: an MSHR with room for a waiter */
};

/* The result of a read; changes nothing. */
static inline __attribute__((always_inline)) enum cache_result
decide(const struct cache *cache, u64 line, u32 set, u32 sectors, struct found *f)
{
    struct cache_way *slot = f->slot = find(cache, line, set);
    f->victim = NULL;
    f->mshr = NO_MSHR;
    assert(sectors);
    f->wanted = slot ? sectors & ~slot->valid : sectors;
    if (!f->wanted && UNLIKELY(cache->hooked) && cache->hooks.misses &&
        cache->hooks.misses(cache->hooks.user, line, set, way_of(cache, slot, set)))
        f->wanted = sectors;
    if (!f->wanted)
        return CACHE_HIT;
    f->under_way = mshr_under_way(&cache->mshrs, line);
    if (!(f->wanted & ~f->under_way)) {
        f->mshr = mshr_with_room(&cache->mshrs, line, f->wanted);
        return f->mshr == NO_MSHR ? CACHE_NO_MERGE : CACHE_MERGED;
    }
    if (!slot && !cache->allocate_on_fill && may_allocate(cache, line)) {
        f->victim = victim_of(cache, set);
        if (!f->victim)
            return CACHE_NO_LINE;
    }
    return mshr_any_free(&cache->mshrs) ? CACHE_MISS : CACHE_NO_MSHR;
}

/* CACHE_MISS: takes an MSHR, and a line unless it is allocated on fill. */
static inline __attribute__((always_inline)) void reserve(struct cache *cache, u64 line, u32 set,
                                                          struct found *f, struct cache_out *out)
{
    if (f->victim) {
        replace(cache, f->victim, line, set, true, out);
        f->slot = f->victim;
    }
    struct cache_way *slot = f->slot;
    u32 there = slot ? slot->valid & ~f->wanted : 0;
    out->sectors = (cache->sectored ? f->wanted : cache->all & ~there) & ~f->under_way;
    bool keeps = slot && !cache->allocate_on_fill;
    out->mshr =
        mshr_take(&cache->mshrs, line, out->sectors, keeps ? (u32)(slot - cache->slots) : NO_SLOT);
    if (!slot)
        return;
    slot->valid &= ~f->wanted; /* present, but a hook treats them as missing */
    if (keeps)
        slot->pending |= out->sectors;
}

/* A read was accepted: records whether it is the first of a prefetched line. Members are passed by
 * value, so that struct found stays in registers. */
static COLD void note_use(struct cache *cache, enum cache_result result, struct cache_way *slot,
                          u32 mshr, struct cache_out *out)
{
    const bool alone = result == CACHE_MERGED && !cache->mshrs.entries[mshr].count;
    out->prefetched = alone || (result != CACHE_MISS && slot && slot->prefetched);
    if (slot)
        slot->prefetched = 0;
}

/* A read that the first check in cache_read did not settle. */
HOT static __attribute__((noinline)) enum cache_result
read_further(struct cache *cache, u64 line, u32 set, u32 sectors, u32 waiter, struct cache_out *out)
{
    struct cache_counters *counters = cache->counters;
    struct found f;
    const enum cache_result result = decide(cache, line, set, sectors, &f);
    if (cache_refuses(result))
        return refuse(cache, line, sectors, result);
    out->victim_valid = 0;
    out->missing = f.wanted;
    if (UNLIKELY(cache->watched))
        note_use(cache, result, f.slot, f.mshr, out);
    counters->reads++;
    switch (result) {
    case CACHE_HIT:
        counters->read_hits++;
        break;
    case CACHE_MERGED:
        mshr_wait(&cache->mshrs, f.mshr, waiter, f.wanted);
        counters->read_merges++;
        break;
    default:
        reserve(cache, line, set, &f, out);
        mshr_wait(&cache->mshrs, out->mshr, waiter, f.wanted);
        counters->read_misses++;
    }
    if (f.slot)
        touch(cache, f.slot, set, false);
    if (UNLIKELY(cache->observe != NULL))
        tell(cache,
             (struct cache_event){.kind = CACHE_EVENT_READ,
                                  .result = result,
                                  .line = line,
                                  .sectors = sectors,
                                  .mshr = result == CACHE_MISS ? out->mshr : f.mshr,
                                  .waiter = waiter},
             f.slot);
    return result;
}

PART_OF enum cache_result read_in(struct cache *cache, u64 line, u32 set, u32 sectors, u32 waiter,
                                  struct cache_out *out)
{
    struct cache_way *slot = &cache->slots[cache->guess[set]];
    out->victim_sectors = 0;
    /* No calls here: a hit at the first check saves no registers. */
    if (LIKELY(slot->line == line && !(sectors & ~slot->valid) && !cache->slow)) {
        if (!cache->fifo)
            slot->stamp = ++cache->time;
        cache->counters->reads++;
        cache->counters->read_hits++;
        return CACHE_HIT;
    }
    if (line == cache->refused && sectors == cache->refused_sectors) {
        ++*cache_stalls(cache->counters, cache->refused_why);
        return cache->refused_why;
    }
    return read_further(cache, line, set, sectors, waiter, out);
}

HOT static __attribute__((noinline)) enum cache_result
read_hashed(struct cache *cache, u64 line, u32 sectors, u32 waiter, struct cache_out *out)
{
    return read_in(cache, line, hashed_set(cache, line >> cache->line_shift), sectors, waiter, out);
}

HOT enum cache_result cache_read(struct cache *cache, u64 line, u32 sectors, u32 waiter,
                                 struct cache_out *out)
{
    if (cache->residues) /* computing the hash saves registers */
        return read_hashed(cache, line, sectors, waiter, out);
    return read_in(cache, line, plain_set(cache, line), sectors, waiter, out);
}

/* WRITE_BACK: the written data stay in the cache. */
static enum cache_result write_here(struct cache *cache, u64 line, u32 set, struct cache_way *slot,
                                    u32 sectors, bool full, struct cache_out *out)
{
    bool hit = slot;
    bool allowed = hit || may_allocate(cache, line);
    if (!hit && allowed) {
        slot = victim_of(cache, set);
        if (!slot) {
            cache->counters->stalls_line++;
            return CACHE_NO_LINE;
        }
        replace(cache, slot, line, set, true, out);
    }
    cache->counters->writes++;
    cache->counters->write_hits += hit;
    cache->counters->write_misses += !hit;
    if (!allowed) {
        if (UNLIKELY(cache->observe != NULL))
            tell(
                cache,
                (struct cache_event){
                    .kind = CACHE_EVENT_WRITTEN, .line = line, .sectors = sectors, .mshr = NO_MSHR},
                NULL);
        return CACHE_MISS;
    }
    slot->dirty |= sectors;
    if (full)
        slot->valid |= sectors;
    touch(cache, slot, set, true);
    tell_written(cache, slot, sectors, true);
    return CACHE_HIT;
}

/* A write-through: sectors that it writes completely are present from now on, except those on their
 * way from memory. Without a line to take, the write only goes on. */
static void keep_written(struct cache *cache, u64 line, u32 set, struct cache_way *slot,
                         u32 sectors, bool full, struct cache_out *out)
{
    if (!slot && may_allocate(cache, line) && (slot = victim_of(cache, set))) {
        replace(cache, slot, line, set, true, out);
        touch(cache, slot, set, true);
    }
    if (slot && full)
        slot->valid |= sectors & ~slot->pending;
}

enum cache_result cache_write(struct cache *cache, u64 line, u32 sectors, bool full,
                              struct cache_out *out)
{
    u32 set = set_of(cache, line);
    struct cache_way *slot = find(cache, line, set);
    out->victim_sectors = out->victim_valid = 0;
    cache->refused = NO_LINE;
    if (cache->write == WRITE_BACK)
        return write_here(cache, line, set, slot, sectors, full, out);
    bool hit = slot && slot->valid & sectors;
    cache->counters->writes++;
    cache->counters->write_hits += hit;
    cache->counters->write_misses += !hit;
    if (cache->write_allocate)
        keep_written(cache, line, set, slot, sectors, full, out);
    if (!hit)
        return CACHE_MISS;
    touch(cache, slot, set, true);
    tell_written(cache, slot, sectors, false);
    if (cache->write == WRITE_EVICT) {
        slot->valid &= cache->sectored ? ~sectors : 0;
        if (!slot->valid && !slot->pending)
            drop(cache, slot, set);
    }
    return CACHE_HIT;
}

bool cache_keep_write(struct cache *cache, u64 line, u32 sectors)
{
    u32 set = set_of(cache, line);
    struct cache_way *slot = find(cache, line, set);
    if (!slot || sectors & ~slot->valid)
        return false;
    cache->counters->writes++;
    cache->counters->write_hits++;
    slot->dirty |= sectors;
    touch(cache, slot, set, true);
    tell_written(cache, slot, sectors, true);
    return true;
}

/* The slot for sectors of a line without a reserved one, or NULL. */
static struct cache_way *slot_for_fill(struct cache *cache, u64 line, struct cache_out *out)
{
    u32 set = set_of(cache, line);
    struct cache_way *slot = find(cache, line, set);
    if (slot || !cache->allocate_on_fill || !may_allocate(cache, line))
        return slot;
    slot = victim_of(cache, set);
    if (slot)
        replace(cache, slot, line, set, true, out);
    return slot;
}

/* Removes a line; its dirty data go to out. */
static void take_out(struct cache *cache, struct cache_way *slot, u32 set, struct cache_out *out)
{
    if (UNLIKELY(cache->content != NULL))
        cache_content_replaced(cache, slot);
    out->victim = slot->line;
    out->victim_sectors = slot->dirty;
    out->victim_valid = slot->valid;
    out->victim_unused = slot->prefetched;
    cache->counters->writebacks += slot->dirty != 0;
    cache->refused = NO_LINE;
    drop(cache, slot, set);
}

/* Removes a line that has just been filled if its way was reserved in the meantime. */
static COLD void leave_reserved(struct cache *cache, u32 at, struct cache_out *out)
{
    if (cache->slots[at].pending || at % cache->ways < cache->takable)
        return;
    take_out(cache, &cache->slots[at], at / cache->ways, out);
    if (UNLIKELY(cache->content != NULL))
        cache_content_passed(cache, out->sectors);
}

void cache_fill(struct cache *cache, u32 mshr, struct cache_out *out)
{
    const struct mshr *entry = &cache->mshrs.entries[mshr];
    out->victim_sectors = out->victim_valid = 0;
    out->sectors = entry->sectors;
    out->prefetched = !entry->count;
    cache->refused = NO_LINE;
    cache->counters->fills++;
    if (entry->slot != NO_SLOT) {
        cache->slots[entry->slot].valid |= entry->sectors;
        cache->slots[entry->slot].pending &= ~entry->sectors;
        tell_filled(cache, entry->line, &cache->slots[entry->slot], entry->sectors, mshr);
        if (UNLIKELY(cache->hooked))
            leave_reserved(cache, entry->slot, out);
    } else {
        struct cache_way *slot = slot_for_fill(cache, entry->line, out);
        if (slot) {
            slot->valid |= entry->sectors;
            slot->prefetched |= entry->count ? 0 : entry->sectors;
        }
        tell_filled(cache, entry->line, slot, entry->sectors, mshr);
    }
    if (UNLIKELY(cache->content != NULL))
        cache_content_arrived(cache, mshr);
    mshr_arrive(&cache->mshrs, mshr);
}

bool cache_waiter(struct cache *cache, u32 mshr, u32 *waiter)
{
    cache->refused = NO_LINE;
    return mshr_next(&cache->mshrs, mshr, waiter);
}

bool cache_waiter_at(const struct cache *cache, u32 mshr, u32 index, u32 *waiter)
{
    return mshr_waiter_at(&cache->mshrs, mshr, index, waiter);
}

u32 cache_place_of(const struct cache *cache, u64 line, u32 *way)
{
    const u32 set = set_of(cache, line);
    const struct cache_way *slot = find(cache, line, set);
    *way = slot ? way_of(cache, slot, set) : UINT32_MAX;
    return set;
}

bool cache_has(const struct cache *cache, u64 line, u32 sectors)
{
    const struct cache_way *slot = find(cache, line, set_of(cache, line));
    return slot && !(sectors & ~slot->valid);
}

enum cache_result cache_look(const struct cache *cache, u64 line, u32 sectors, u32 *missing)
{
    struct found f;
    const enum cache_result result = decide(cache, line, set_of(cache, line), sectors, &f);
    *missing = f.wanted;
    return result;
}

void cache_supply(struct cache *cache, u64 line, u32 sectors, struct cache_out *out)
{
    u32 set = set_of(cache, line);
    struct cache_way *slot = find(cache, line, set);
    out->victim_sectors = out->victim_valid = 0;
    cache->refused = NO_LINE;
    cache->counters->reads++;
    cache->counters->read_hits++;
    if (!slot && may_allocate(cache, line) && (slot = victim_of(cache, set)))
        replace(cache, slot, line, set, true, out);
    if (!slot)
        return;
    slot->valid |= sectors;
    touch(cache, slot, set, false);
    tell_filled(cache, line, slot, sectors, NO_MSHR);
}

enum cache_result cache_prefetch(struct cache *cache, u64 line, u32 sectors, struct cache_out *out)
{
    u32 set = set_of(cache, line);
    struct found f;
    enum cache_result result = decide(cache, line, set, sectors, &f);
    out->victim_sectors = out->victim_valid = 0;
    if (result == CACHE_MISS && !f.slot && !f.victim && !may_allocate(cache, line))
        return CACHE_NO_LINE; /* the line would not stay */
    if (result != CACHE_MISS)
        return result;
    reserve(cache, line, set, &f, out);
    if (f.slot)
        f.slot->prefetched |= out->sectors;
    return CACHE_MISS;
}

void cache_cancel(struct cache *cache)
{
    cache->refused = NO_LINE;
    mshr_reset(&cache->mshrs);
    for (u32 set = 0; set < cache->sets; set++)
        for (u32 way = 0; way < cache->ways; way++) {
            struct cache_way *slot = cache->slots + (size_t)set * cache->ways + way;
            slot->pending = 0;
            if (slot->line != NO_LINE && !(slot->valid | slot->dirty))
                drop(cache, slot, set);
        }
}

void cache_observe(struct cache *cache, cache_observe_fn *observe, void *user)
{
    cache->observe = observe;
    cache->observer = user;
    cache->slow = true;
}

void cache_watch(struct cache *cache)
{
    cache->watched = cache->slow = true;
}

void cache_place(struct cache *cache, u64 line, u32 sectors, struct cache_out *out)
{
    u32 set = set_of(cache, line);
    struct cache_way *slot = find(cache, line, set);
    out->victim_sectors = 0;
    cache->refused = NO_LINE;
    if (!slot && (slot = victim_of(cache, set)))
        replace(cache, slot, line, set, false, out);
    if (!slot)
        return;
    slot->valid |= sectors;
    touch(cache, slot, set, false);
    tell_filled(cache, line, slot, sectors, NO_MSHR);
}

void cache_invalidate(struct cache *cache)
{
    cache->refused = NO_LINE;
    if (!cache->used)
        return;
    cache->used = false;
    for (u32 set = 0; set < cache->sets; set++)
        for (u32 way = 0; way < cache->ways; way++) {
            struct cache_way *slot = cache->slots + (size_t)set * cache->ways + way;
            if (slot->line != NO_LINE && !slot->pending) {
                slot->dirty = 0; /* lost */
                drop(cache, slot, set);
            }
            cache->used |= slot->pending != 0;
        }
}

static enum cache_drop drop_slot(struct cache *cache, struct cache_way *slot, u32 set,
                                 bool may_write, struct cache_out *out)
{
    out->victim_sectors = out->victim_valid = 0;
    if (slot->pending)
        return CACHE_UNDER_WAY;
    if (slot->dirty && !may_write)
        return CACHE_DIRTY;
    take_out(cache, slot, set, out);
    return CACHE_DROPPED;
}

enum cache_drop cache_drop(struct cache *cache, u64 line, bool may_write, struct cache_out *out)
{
    u32 set = set_of(cache, line);
    struct cache_way *slot = find(cache, line, set);
    return slot ? drop_slot(cache, slot, set, may_write, out) : CACHE_ABSENT;
}

void cache_reserve(struct cache *cache, u32 ways)
{
    assert(cache->hooked);
    cache->refused = NO_LINE;
    cache->takable = cache->passing ? 0 : cache->ways - MIN(ways, cache->ways);
}

enum cache_drop cache_sweep(struct cache *cache, u32 *at, bool may_write, struct cache_out *out)
{
    const u32 spare = cache->ways - cache->takable;
    for (; *at < cache->sets * spare; ++*at) {
        const u32 set = *at / spare, way = cache->takable + *at % spare;
        struct cache_way *slot = &cache->slots[(size_t)set * cache->ways + way];
        if (slot->line != NO_LINE)
            return drop_slot(cache, slot, set, may_write, out);
    }
    return CACHE_ABSENT;
}

u32 cache_pending(const struct cache *cache)
{
    return cache->mshrs.used;
}

u32 cache_mshr_sectors(const struct cache *cache, u32 mshr)
{
    return cache->mshrs.entries[mshr].sectors;
}

u64 cache_mshr_line(const struct cache *cache, u32 mshr)
{
    return cache->mshrs.entries[mshr].line;
}

u64 cache_mshr_first(const struct cache *cache, u32 mshr, u32 *first)
{
    *first = cache->mshrs.waiters[(size_t)mshr * cache->mshrs.merges].waiter;
    return cache->mshrs.entries[mshr].line;
}

u32 cache_mshr_for(const struct cache *cache, u64 line)
{
    u32 at = *mshr_bucket(&cache->mshrs, line);
    while (at != NO_MSHR &&
           (cache->mshrs.entries[at].line != line || !cache->mshrs.entries[at].sectors))
        at = cache->mshrs.entries[at].chain;
    return at;
}

void cache_set_hooks(struct cache *cache, const struct cache_hooks *hooks)
{
    cache->hooked = hooks;
    cache->slow = hooks || cache->watched || cache->observe;
    cache->refused = NO_LINE;
    cache->hooks = hooks ? *hooks : (struct cache_hooks){0};
    cache->takable =
        cache->passing ? 0 : cache->ways - MIN(cache->hooks.reserved_ways, cache->ways);
}

struct cache *cache_create(const struct cache_config *config, struct cache_counters *counters)
{
    assert(is_pow2(config->line_bytes) && config->line_bytes >= SECTOR_BYTES);
    struct arena *arena = arena_create_large(0);
    struct cache *cache = arena_new(arena, struct cache);
    u32 row = (u32)align_up(config->ways, TAG_GROUP), sectors = config->line_bytes / SECTOR_BYTES;
    size_t slots = (size_t)config->sets * config->ways, tags = (size_t)config->sets * row;
    *cache = (struct cache){
        .counters = counters,
        .tags = arena_alloc_aligned(arena, tags * sizeof(u32), 64),
        .slots = arena_alloc_aligned(arena, slots * sizeof(struct cache_way), 64),
        .guess = arena_array(arena, u32, config->sets),
        .line_shift = (u32)__builtin_ctz(config->line_bytes),
        .sets = config->sets,
        .ways = config->ways,
        .row = row,
        .index_bits = (u32)__builtin_ctz(config->sets),
        .index_mask = is_pow2(config->sets) ? config->sets - 1 : 0,
        .all = UINT32_MAX >> (32 - sectors),
        .takable = config->passing ? 0 : config->ways,
        .passing = config->passing,
        .refused = NO_LINE,
        .sectored = config->sectored,
        .allocate_on_fill = config->allocate_on_fill,
        .fifo = config->fifo,
        .write = config->write,
        .write_allocate = config->write_allocate && config->write == WRITE_THROUGH,
        .arena = arena,
    };
    if (config->hash != HASH_NONE && cache->index_mask) {
        const bool fermi = config->hash == HASH_FERMI && (config->sets == 32 || config->sets == 64);
        cache->residues = make_residues(arena, cache->index_bits, fermi);
        cache->hashed_bits = fermi ? (1ull << FERMI_BITS) - 1 : ~0ull;
    }
    memset(cache->tags, 0xff, tags * sizeof(u32)); /* NO_TAG */
    for (size_t i = 0; i < slots; i++)
        cache->slots[i].line = NO_LINE;
    for (u32 set = 0; set < config->sets; set++)
        cache->guess[set] = set * config->ways;
    mshr_create(&cache->mshrs, arena, config->mshrs, config->merges);
    return cache;
}

void cache_destroy(struct cache *cache)
{
    if (cache)
        arena_destroy(cache->arena);
}
