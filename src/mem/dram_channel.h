/*
 * Internals of a DRAM channel, shared by dram.c (creation, explanations) and dram_cycle.c
 * (requests, commands, time), and the functions that are called in each cycle.
 *
 * Invariants
 *  C1  A bank is in at most one of column[0], column[1], closed and conflict, and in exactly one if
 *      it is in `serving`.
 *  C2  A request is in one place: a list, a bank, or the ring of transfers.
 *  C3  Times are absolute cycles: the first in which the command in question is allowed.
 *  C4  The due time of a set without banks is DRAM_NEVER.
 */
#ifndef MEM_DRAM_CHANNEL_H
#define MEM_DRAM_CHANNEL_H

#include "mem/dram.h"

enum {
    BANK_WORDS = 4, /* of 64 banks each */
    REQUEST_NONE = UINT32_MAX
};
#define DRAM_NEVER UINT64_MAX

/* Indices of arrays by kind. */
enum {
    KIND_READ,
    KIND_WRITE,
    KINDS
};

struct dram_request {
    u64 entered; /* cycle */
    u32 row;
    u32 tag;
    u32 next; /* in its list, younger */
    u32 bytes;
    u32 bursts; /* not commanded yet */
    u8 bank;
    u8 write;
    u8 live; /* not in the pool's free set */
};

/* What only hooks need to know of a request. */
struct dram_seen {
    u64 address; /* in the channel */
    struct payload payload;
    struct requester from;
    bool started; /* it has received a command */
};

struct dram_list {
    u32 oldest, youngest; /* REQUEST_NONE: empty */
};

struct dram_bank {
    u64 activate;      /* tRP, tRC */
    u64 precharge;     /* tRAS, read and write to precharge */
    u64 column[KINDS]; /* activate to read, to write */
    u32 row;           /* the open row */
    u32 request;       /* in service, or REQUEST_NONE */
    bool open;
};

struct dram_group {
    u64 column;    /* tCCDL */
    u64 precharge; /* tRTPL */
};

struct dram_timing {
    u32 transfer;
    u32 ccd, ccdl, rrd, ras, rp, rc, rtpl;
    u32 data[KINDS];      /* from the command to the first data */
    u32 activated[KINDS]; /* from activate to the column command */
    u32 turn[KINDS];      /* from a column command of this kind to one of the other kind, at
                           * least ccd */
    u32 close[KINDS];     /* from the column command to precharge, same bank */
};

/* After the entry of a bank in the table of open rows was flipped: the row that is really open. */
struct dram_actual {
    bool wrong, open;
    u32 row;
};

struct dram_transfer {
    u64 last; /* cycle of its last data */
    u32 request, tag;
};

struct dram {
    u64 now;  /* the cycle of the next tick */
    u64 wake; /* ticks before this cycle change nothing: the minimum of the next three */
    bool assign_due;
    u64 issue_due;  /* no command before this cycle */
    u64 arrive_due; /* the last cycle of the next transfer */
    struct dram_stats *stats;

    /* Sets of banks by what they wait for. */
    u64 waiting[KINDS][BANK_WORDS]; /* lists with requests */
    u64 serving[BANK_WORDS];
    u64 column[KINDS][BANK_WORDS]; /* in service, row open */
    u64 closed[BANK_WORDS];        /* in service, needs activate */
    u64 conflict[BANK_WORDS];      /* in service, needs precharge */
    u32 words;                     /* of these sets in use */
    u32 turn;                      /* the bank that is visited first */

    /* The channel's two buses. */
    u64 command[KINDS]; /* column command of this kind */
    u64 activate;       /* tRRD */

    /* Cycles before which no bank of the set can get its command, by the timing of banks and groups
     * (C4). */
    u64 column_due[KINDS], activate_due, precharge_due;

    struct dram_timing timing;
    bool one;      /* policies that serve one request at a time; all wait in one list */
    bool serial;   /* the policy of these that waits for data and prefers row hits */
    bool apart;    /* writes have their own queue */
    bool draining; /* only writes are assigned to banks */
    u32 write_high, write_low;
    u32 queue;
    u32 queued[KINDS]; /* requests in lists; all in [0] without a separate write queue */
    u32 serving_count;
    u32 inside; /* requests with data still to come */

    /* Requests with all commands issued: [head, arrived) can leave, data of [arrived, tail) are to
     * come. */
    struct dram_transfer *ring;
    u32 ring_mask;
    u32 head, arrived, tail;
    u32 return_queue;

    struct dram_bank *banks;
    struct dram_group *groups;
    struct dram_list *lists[KINDS]; /* by bank; all in [0] with `one` */
    u32 bank_mask, group_mask;

    /* Address: shifts of the parts. */
    u32 stripe_bits, row_bits, bank_bits;
    u32 burst_bytes;

    /* Pool; the requests used last are still in the host's cache. */
    struct dram_request *requests;
    u32 *free; /* a stack */
    u32 free_count, capacity;

    bool hooked; /* there are hooks: */
    struct dram_hooks *hooks;
    u32 hook_count;
    struct dram_seen *seen;     /* by request, maintained while hooked */
    struct dram_actual *actual; /* by bank; NULL: there is no live state */
    void (*astray)(void *user, u32 request, const struct dram_actual *actual);
    void *astray_user;
    u32 channel;
    const struct address_map *map; /* NULL: the channel's addresses are device addresses */
    const fs *time;
};

void dram_set_timing(struct dram_timing *timing, const struct dram_params *params);

/* ---- Called in each cycle ---- */

/* A cycle in which something happens. */
void dram_work(struct dram *dram, u64 now);

static inline bool dram_room(const struct dram *dram, bool write)
{
    return dram->queued[dram->apart && write ? KIND_WRITE : KIND_READ] < dram->queue;
}
/* `address` counts the channel's own bytes; `bytes` is rounded up to whole bursts. Returns the
 * number of the request in the pool. */
u32 dram_push(struct dram *dram, u64 address, u32 bytes, bool write, u32 tag);
/* For bit flips: a waiting request is for another bank; the open row of a bank has changed. */
void dram_move(struct dram *dram, u32 index, u32 bank);
void dram_reclassify(struct dram *dram, u32 bank);
/* Must follow dram_push while there are hooks. */
void dram_tell_arrived(struct dram *dram, u32 index, u64 address, const struct requester *from);
/* One command-clock cycle. */
static inline void dram_tick(struct dram *dram)
{
    u64 now = dram->now;
    if (now >= dram->wake)
        dram_work(dram, now);
    dram->now = now + 1;
    dram->stats->channel_cycles++;
}
/* A request whose data have passed the bus, in that order; false: none. */
static inline bool dram_done(const struct dram *dram, u32 *tag)
{
    if (dram->head == dram->arrived)
        return false;
    *tag = dram->ring[dram->head & dram->ring_mask].tag;
    return true;
}
/* The payload of that request, while there are hooks. */
static inline const struct payload *dram_payload(const struct dram *dram)
{
    return &dram->seen[dram->ring[dram->head & dram->ring_mask].request].payload;
}
static inline void dram_pop(struct dram *dram)
{
    assert(dram->head != dram->arrived);
    if (dram->tail - dram->head == dram->return_queue && dram->serving_count)
        dram->wake = dram->issue_due = dram->now; /* there is room for a reply again */
    u32 index = dram->ring[dram->head++ & dram->ring_mask].request;
    dram->requests[index].live = false;
    dram->free[dram->free_count++] = index;
}
/* Ticks that would change nothing but the time; UINT64_MAX: all, until the next push or pop. */
static inline u64 dram_next(const struct dram *dram)
{
    if (dram->wake == DRAM_NEVER)
        return UINT64_MAX;
    return dram->wake > dram->now ? dram->wake - dram->now : 0;
}
/* Performs this many ticks at once; at most dram_next. */
static inline void dram_skip(struct dram *dram, u64 cycles)
{
    assert(cycles <= dram_next(dram));
    dram->now += cycles;
    dram->stats->channel_cycles += cycles;
}

/* ---- Sets of banks ---- */

/*
 * These functions are compiled twice: for channels whose sets of banks fit in one word, as in all
 * presets, and for larger ones. `words` is a compile-time constant in the first case.
 */
#define SPECIAL static inline __attribute__((always_inline))

SPECIAL void bank_add(u64 *set, u32 bank, u32 words)
{
    set[words == 1 ? 0 : bank / 64] |= 1ull << bank % 64;
}

SPECIAL void bank_remove(u64 *set, u32 bank, u32 words)
{
    set[words == 1 ? 0 : bank / 64] &= ~(1ull << bank % 64);
}

SPECIAL bool bank_in(const u64 *set, u32 bank, u32 words)
{
    return set[words == 1 ? 0 : bank / 64] >> bank % 64 & 1;
}

/*
 * A set is visited from bank `turn` on, wrapping around, in words + 1 steps: the first word is
 * visited in two parts. Returns the part of a step and the number of its first bank.
 */
SPECIAL u64 bank_part(const struct dram *dram, const u64 *set, u32 words, u32 step, u32 *base)
{
    u32 word = words == 1 ? 0 : dram->turn / 64 + step;
    if (word >= words)
        word -= words;
    u64 from = ~0ull << dram->turn % 64;
    u64 part = set[word];
    if (step == 0)
        part &= from;
    else if (step == words)
        part &= ~from;
    *base = word * 64;
    return part;
}

SPECIAL u64 bank_any(const u64 *set, u32 words)
{
    u64 any = 0;
    for (u32 i = 0; i < words; i++)
        any |= set[i];
    return any;
}

#endif
