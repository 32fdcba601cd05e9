/*
 * Lines of caches, and the requests that bring them, for ACE analysis.
 *
 *     stay    a line in a cache, from its fill until it leaves: for each byte, when it was last read by
 *             an access that needs it (lines.c)
 *     fetch   a read request of a core to the L2: of a line of a first-level cache, or of a load that
 *             bypasses them (reads.c)
 *     read    a line that a load of the log has read: from a stay, or from a fetch that it waited for
 *             (reads.c)
 *
 * Whether a read is needed is known when the log has been analysed back to its load. Until then its
 * stay, though the line may have left the cache, and its fetch are kept. A fetch is needed where a
 * read of it is, or a read of the stay that it has filled. When all of these are decided, it is a
 * read of the L2's stay that served it, at the time at which it was looked up there. So a loaded
 * value that is dead needs neither the line of the L1 nor that of the L2.
 *
 * After Biswas et al., "Computing architectural vulnerability factors for address-based structures",
 * ISCA 2005:
 *  - data are ACE from the fill to the last read that needs them, byte by byte; dirty sectors until
 *    they are written back;
 *  - a tag is ACE from the fill to the last such read, that of a dirty line until it is written back.
 *    An error there makes the line miss. While it is clean, it would only be fetched again, which is
 *    counted apart (`refetched`). That an error makes another line hit is not counted: it takes an
 *    access to a line whose tag differs in one bit.
 *
 * Invariants
 *  M1  Times of a stay are counted from its begin, beginning with 1; 0 means never. Reads may be
 *      decided in any order: the latest one counts.
 *  M2  A stay is accounted for when its line has left and all its reads are decided; a fetch when it
 *      has been answered and all its reads are.
 *  M3  Memory is bounded. A read for which there is no room counts as needed, and undecided.
 */
#ifndef AVF_LINES_H
#define AVF_LINES_H

#include "core/mechanism.h"

enum {
    LINE_BYTES = 256, /* longest line that is followed */
    LINE_SECTORS = LINE_BYTES / SECTOR_BYTES,
    LANE_BYTES = 32, /* most that a lane loads */
    FETCH_PARTS = 4, /* lines of the L2 that a longer line of a first-level cache takes */
};
#define NOTHING UINT32_MAX

/* Bytes of a line. */
struct byte_set {
    u64 words[LINE_BYTES / 64];
};
static inline bool byte_set_any(const struct byte_set *set)
{
    u64 any = 0;
    for (u32 i = 0; i < ARRAY_LEN(set->words); i++)
        any |= set->words[i];
    return any;
}
static inline void byte_set_add(struct byte_set *set, const struct byte_set *more)
{
    for (u32 i = 0; i < ARRAY_LEN(set->words); i++)
        set->words[i] |= more->words[i];
}
static inline void byte_set_keep(struct byte_set *set, const struct byte_set *these)
{
    for (u32 i = 0; i < ARRAY_LEN(set->words); i++)
        set->words[i] &= these->words[i];
}
static inline bool byte_set_has(const struct byte_set *set, u32 byte)
{
    return set->words[byte / 64] >> byte % 64 & 1;
}
/* All bytes of sectors. */
static inline struct byte_set byte_set_of(u32 sectors)
{
    struct byte_set set;
    for (u32 i = 0; i < ARRAY_LEN(set.words); i++, sectors >>= 2)
        set.words[i] =
            (sectors & 1) * 0xffffffffull | (u64)(sectors >> 1 & 1) * (0xffffffffull << 32);
    return set;
}

/* Adds up to LANE_BYTES from an offset on, which may be before the line: these bits. */
static inline void byte_set_add_some(struct byte_set *set, i64 offset, u32 bytes)
{
    u64 low = bytes;
    assert(offset > -LANE_BYTES && offset < LINE_BYTES);
    if (offset < 0) {
        low >>= -offset;
        offset = 0;
    }
    const u32 at = (u32)offset / 64, shift = (u32)offset % 64;
    set->words[at] |= low << shift;
    if (shift > 64 - LANE_BYTES && at + 1 < ARRAY_LEN(set->words))
        set->words[at + 1] |= low >> (64 - shift);
}
/* Adds all bytes of a range, which may begin before the line and end behind it. */
static inline void byte_set_add_range(struct byte_set *set, i64 offset, u32 count)
{
    const u32 end = (u32)MIN(MAX(offset + count, 0), LINE_BYTES), begin = (u32)MAX(offset, 0);
    for (u32 at = begin, next; at < end; at = next) {
        next = MIN((at / 64 + 1) * 64, end);
        set->words[at / 64] |= ~0ull >> (64 - (next - at)) << at % 64;
    }
}

/* Needed bytes; `maybe`: perhaps only because the log ends. */
struct byte_need {
    struct byte_set sure, maybe;
};

/* What is counted of a cache, in lines or bits times cycles. */
struct line_counts {
    u64 lines_held, lines_ace, lines_refetched, lines_undecided;
    u64 bits_held, bits_ace, bits_undecided;
    u64 brought_held, brought_ace, brought_undecided; /* lines_brought */
};

/* Bits and lines times cycles, from the fill to needed reads. */
struct needed_time {
    u64 bits, bits_undecided, lines, lines_undecided, brought, brought_undecided;
};

struct avf_stay {
    u64 began;   /* cycle */
    u32 era;     /* changes when the record is used again */
    u32 reads;   /* not decided */
    u32 left;    /* when the line left; 0: it is here */
    u32 back;    /* sectors that count as needed since they are dirty: they were written back */
    u32 brought; /* time of the requests that have filled it */
    u32 picked;  /* sectors of which single bytes were needed: `last` and `maybe` are valid */
    u32 since[LINE_SECTORS], dirty[LINE_SECTORS]; /* filled; written first */
    u32 asked[LINE_SECTORS];                      /* read last, needed or not */
    u32 fetch[LINE_SECTORS];                      /* that has filled it */
    u32 whole[LINE_SECTORS],
        perhaps[LINE_SECTORS]; /* all bytes were needed last; or may have been */
    u32 counted; /* up to here the time of all sectors, and of dirty ones, is counted; */
    struct needed_time needed; /* and this */
};

/* The lines of a cache, or of all slices of the L2. */
struct avf_lines {
    u32 bytes, sectors, places;
    u32 *at; /* by place: its stay */
    struct avf_stay *stays;
    u32 *last, *maybe; /* the same for single bytes */
    u32 *free, free_count, count;
    struct line_counts counts;
    /* A stay is over: the bytes that are needed of a number of sectors that a fetch has brought. */
    void (*decided)(void *user, u32 fetch, const struct byte_need *need, u32 sectors);
    void *user;
};

/* `spare`: stays that can be kept for reads that are not decided. Lines that are too long are not
 * followed: then `places` is 0. */
void lines_create(struct avf_lines *lines, u64 places, u32 line_bytes, u32 spare);
void lines_destroy(struct avf_lines *lines);
/* Sectors have arrived, brought by a fetch (or NOTHING); or were written and stay here. */
void lines_filled(struct avf_lines *lines, u32 place, u32 sectors, u32 fetch, u64 cycle);
void lines_written(struct avf_lines *lines, u32 place, u32 sectors, u64 cycle);
/* Sectors are hit. Those that came before lines were followed have been here since `cycle`. */
void lines_present(struct avf_lines *lines, u32 place, u32 sectors, u64 cycle);
/* A read, which may be decided later (lines_decide): returns its stay; NOTHING: there is no such line. */
u32 lines_read(struct avf_lines *lines, u32 place, u32 sectors, u64 cycle);
/* The request that has filled the line took this long: it is needed if a byte of the line is, or if
 * a sector that it has filled is written and goes back to memory. */
void lines_brought(struct avf_lines *lines, u32 place, u32 cycles);
/* A read of a line that is here, all of which is needed. */
void lines_needed(struct avf_lines *lines, u32 place, u32 sectors, u64 cycle);
/* The line leaves; sectors `back` are written to memory. */
void lines_left(struct avf_lines *lines, u32 place, u32 back, u64 cycle);
/* A read of a stay, in a cycle, has been decided. */
void lines_decide(struct avf_lines *lines, u32 stay, u32 era, const struct byte_need *need,
                  u64 cycle);
/* The launch ends: all lines leave, and everything is accounted for. */
void lines_end(struct avf_lines *lines, u64 cycle);
/* The same, but lines stay, and reads may follow. */
void lines_count(struct avf_lines *lines, u64 cycle);

/* ---- requests of a core ---- */

struct avf_fetch {
    u64 line;              /* device address, of the first-level cache or of the L2 */
    struct byte_need need; /* bytes from `line` on */
    u32 refs; /* reads that are not decided, sectors of stays, and the request itself */
    u32 next; /* of the free list */
    /* on its way (packets.c) */
    u64 missed, arrived; /* when its MSHR was taken, 0: it has none; and when it came to the L2 */
    bool waits;          /* in the L2, for DRAM */
    u32 mshr_cycles, queue_cycles, request_cycles, reply_cycles, wait_cycles;
    u32 reply_bits; /* data of all replies; a longer line takes several, */
    u64 reply_data; /* and the same times the cycles for which they were on their way */
    u32 parts;
    struct {
        u64 line; /* device address */
        u64 cycle;
        u32 stay, era;
    } part[FETCH_PARTS]; /* lines of the L2 that have served it */
};

struct avf_read {
    u64 line, cycle;
    u32 sectors;
    u32 stay, era; /* or NOTHING, and */
    u32 fetch;
    u32 next;   /* of the same instruction */
    u32 queued; /* cycles from the head of the load/store unit to the tags */
    u8 cache;   /* enum packet_client, of the stay */
    bool whole; /* bytes are not known: all of the sectors */
};

struct avf_requests {
    struct avf_lines caches[CLIENT_READONLY + 1]; /* by client */
    struct avf_read *reads;
    u32 read_count, read_free, read_fresh; /* a list of free ones; from here on, none was used */
    struct avf_fetch *fetches;
    u32 fetch_count, fetch_free, fetch_fresh;
    u32 *sent;        /* by transaction: when it left the head of the load/store unit; 0: not */
    u32 *of[CLIENTS]; /* by client and tag: the fetch, */
    u64 *replied[CLIENTS]; /* and when its reply left the L2 */
    u32 tags[CLIENTS];
};

/* A read that waits in the L2 for its line. */
struct avf_waiter {
    u32 core, fetch; /* NOTHING: it is needed */
    u64 line;        /* device address */
    u32 sectors;     /* of the L2's line */
    u32 next;
};

/* The device: the L2, and the cores that ask it. */
struct avf_device {
    struct avf **cores;
    u32 core_count;
    struct memory_system *system;
    struct avf_lines l2;
    u32 slice_places;
    u64 base; /* cycles of earlier launches */
    bool running;
    struct {
        u32 core, fetch;
        u64 line;
    } asks; /* the packet that was about to be looked up last; `fetch` NOTHING: none of ours */
    struct packet *seen; /* by slice: the last packet that came to its tags */
    /* dram.c; by slice and MSHR of the L2 */
    u32 mshrs;        /* of a slice */
    u32 *waiting;     /* the first waiter, or NOTHING */
    u32 *dram_cycles; /* of its requests to DRAM */
    struct avf_waiter *waiters;
    u32 waiter_count, waiter_free, waiter_fresh;
    u32 launch; /* launches so far */
};

#endif
