/*
 * AVF by ACE analysis: a log of what a core does, and the analysis of it from the newest entry to the
 * oldest. docs/reliability.md explains the method.
 *
 *     log.c     entries: instructions with their times, lanes and what rules of needs.h look at
 *     tracked.c   what is known of registers and shared memory: needed bits, and since when
 *     flow.c    one instruction, backwards: from its results to its sources
 *     front.c   instruction buffers, PCs, active lanes, divergence stacks, collectors
 *     lines.c, reads.c    caches and the requests to them (lines.h)
 *     packets.c    requests on their way: load/store unit, MSHRs, network, queues
 *     dram.c    requests in DRAM
 *     avf.c     the observer: fills the log, runs passes, counts
 *
 * Passes. When the log is full, it is analysed from its end. What comes after the end is not known:
 * everything is taken as needed there, but *unsure*. The newest quarter of the log, the look-ahead,
 * decides most of that; then the rest is accounted for and dropped. At the end of a launch all
 * is known: no block is resident.
 *
 * Invariants
 *  A1  Entries are in the order of issue. Registers are read and written in this order (scoreboards
 *      and correct waits see to that), and accesses to shared memory that a barrier orders are.
 *  A2  Each pass accounts for the time from `from` to the issue of the first entry that stays: the
 *      times of all passes follow each other without gap or overlap.
 *  A3  Times are core cycles modulo 2^32; a pass spans less than MOST_CYCLES.
 */
#ifndef AVF_AVF_H
#define AVF_AVF_H

#include "avf/lines.h"
#include "avf/needs.h"

#define COMPONENT avf
#define COMPONENT_DEF "avf/avf.def"
#include "base/component_struct.h"

enum {
    MOST_CYCLES = 1 << 26,
    POOL_WORDS = 32, /* for each entry, on average: one row of values */
    ENTRY_WORDS = 4 * MAX_LANES,
    CELLS = 16, /* lanes that loops take at once, so that compilers use vectors */
    NO_ENTRY = UINT32_MAX
};

enum entry_kind {
    ENTRY_INST,
    ENTRY_START, /* a block takes its place: `lanes` are the slots of its warps, `active` those of
                  * them that had been given to another block, which is still here */
    ENTRY_END,   /* it leaves, with the slots that it still has */
    ENTRY_COVER, /* registers of the slot become safe, or are not any more: a set in the pool */
};

struct avf_entry {
    u8 kind, slot, pipe;
    u8 place;               /* of its block */
    bool open;              /* it is in flight */
    bool addressed;         /* the lanes' addresses are in the pool, */
    bool strided;           /* as first address and stride of each group of STRIDE_LANES */
    u16 interval;           /* for which it takes its unit */
    u16 bytes;              /* that a lane moves to or from memory */
    u32 inst;               /* or the block's place */
    u32 number;             /* of the warp's instructions */
    u32 fetched;            /* cycle of its arrival in the buffer; 0: not known */
    u32 issued, read;       /* cycle; `read`: the last register has been read from its bank */
    u32 collecting;         /* it may be in its collector's operands from here, */
    u32 collected;          /* until here; 0: it has none */
    u32 acted;              /* memory has been accessed */
    u32 sent;               /* it has left the head of the load/store unit; 0: it was never there */
    u32 written;            /* results are in their registers */
    u32 values;             /* the first word in the pool */
    u32 reads;              /* the first of the lines that it has read, or NOTHING */
    lane_set lanes, active; /* that execute; on the path, or in EXEC */
    lane_set writes;        /* of vector results */
    lane_set shared;        /* that access shared memory */
    lane_set checked;       /* whose result a mechanism compares with another execution's */
};

/*
 * 32-bit cells, in rows of `lanes`: registers have one for each lane; scalars, predicates and shared
 * memory have rows of one. A bit is needed if its value is read by an instruction that needs it
 * before it is overwritten. Most instructions need the same bits in all their lanes, so that the
 * cells of most rows are alike: `even` rows do not touch their cells.
 */
struct tracked_row {
    lane_set some; /* cells with needed bits; `ends` counts for these, */
    lane_set full; /* and `need`, unless all bits are */
    bool even;     /* both are the same in all cells of `some`, and are here: */
    u32 even_need, even_ends;
    lane_set unsure; /* cells some of whose bits may be needed only because the log ends */
    lane_set live;   /* cells that are read before they are overwritten */
    u32 since;       /* `live_cycles` are counted up to here (backwards) */
    u32 last;        /* number of the instruction that reads it last */
    /* The writer of what the row holds where the log begins; of what it holds at the end of the part
     * that is accounted for, when that is known. */
    u32 writer, writer_number;
    u32 next_writer, next_number;
    bool next_known;
    /* Registers: a mechanism keeps it safe, at this point of the log. The ACE time between points at
     * which this changed is split off: all of it, and the part in which the row was safe. */
    bool safe;
    u64 split, split_safe;
};
struct tracked {
    u32 lanes; /* of a row: 1, or a multiple of CELLS */
    lane_set all;
    struct tracked_row *rows;
    u32 *need;     /* bits */
    u32 *ends;     /* sum over needed bits: cycle of the last read that needs it, since `from` */
    u64 live;      /* cell cycles */
    bool counts;   /* ACE time is wanted: not in the look-ahead */
    u64 undecided; /* bit cycles of unsure cells, at most */
};

/* ACE bit cycles that a write, or the begin of the log, ends (backwards). */
struct ended {
    u64 ace, safe; /* `safe`: the part of it in which the row was safe */
    bool was_read;
    u32 last;
};

struct avf_inst {
    struct need_row need;
    u8 values;   /* need_values */
    bool sink;   /* needed whatever becomes of its results */
    bool scalar; /* of the warp, not of lanes */
    bool kills;  /* its results overwrite what was there: their place is known */
    u8 operands; /* vector registers that it reads */
    u8 sources;  /* bits of `src`: registers, masks and scalars */
    u8 writes;   /* operands */
    u16 bits;    /* of the instruction word */
    u64 all[4];  /* bits of each source, if all bits of the results are needed; not with `values` */
    struct operand to[INST_REFS];
};

struct avf {
    MECHANISM_STATE(avf);
    struct core *core;
    /* of the launch */
    const struct inst *insts;
    struct avf_inst *plan; /* by instruction */
    u32 warp_size, chunks;
    bool exec_masks;  /* divergence by EXEC */
    u32 registers;    /* of a warp */
    u32 scalars;      /* words of scalar registers, or predicates, of a warp */
    u32 shared_words; /* of a block */
    struct tracked vectors, words, shared, active; /* `active`: lanes; unused with EXEC */
    u32 arrived[CORE_WARPS][32]; /* by instruction, modulo: its arrival in the buffer */
    u32 stepped[CORE_WARPS];     /* cycle of the last issue, */
    u32 depth[CORE_WARPS];       /* and entries of the divergence stack after it */
    u32 numbers[CORE_WARPS];     /* instructions issued by the slot's warp */
    u64 resident;                /* slots */
    u64 blocks;                  /* places */
    u64 block_slots[CORE_BLOCKS];
    u64 *safe; /* by slot: registers that a mechanism keeps safe, `safe_words` words */
    u32 safe_words;
    u64 settled, counted; /* cycles up to which resident bits, and all bits, are counted */
    /* the log */
    struct avf_entry *entries;
    u32 count;
    u32 *pool;
    u32 pool_used;
    u32 entry_of[CORE_INFLIGHT];
    /* memory */
    struct avf_device *device;
    struct avf_requests requests;
    u32 from; /* A2 */
    /* of a pass */
    bool accounting;
    u32 source_bits; /* needed, of the vector registers that an instruction reads */
    u64 lives[LIFE_CLASSES], life_ace[LIFE_CLASSES]; /* values and their ACE time, by lifetime */
    u64 alive;                                       /* slots, at this point of the log */
    u64 block_alive;                                 /* places */
};

/* log.c */
/* A new entry; there is room. */
struct avf_entry *log_add(struct avf *a, enum entry_kind kind);
bool log_has_room(const struct avf *a);
/* An instruction has issued. */
void log_inst(struct avf *a, struct inflight *inflight);
/* Entries before `count` are dropped. */
void log_drop(struct avf *a, u32 count);

/* tracked.c */
void tracked_create(struct tracked *t, u32 rows, u32 lanes);
void tracked_destroy(struct tracked *t);
/* Nothing is known of these rows, or (`dead`) nothing will be read. */
void tracked_reset(struct tracked *t, u32 first, u32 count, bool dead, u32 last);
/* Accounting begins here: what is needed is needed up to this cycle. */
void tracked_mark(struct tracked *t, u32 first, u32 count, u32 cycle);
/* Lanes of a row are read. */
void tracked_read_more(struct tracked *t, u32 row, lane_set lanes, u32 cycle, u32 number);
static inline void tracked_read(struct tracked *t, u32 row, lane_set lanes, u32 cycle, u32 number)
{
    if (!t->rows[row].live || lanes & ~t->rows[row].live)
        tracked_read_more(t, row, lanes, cycle, number);
}
/* Bits of them are needed, the same of all lanes; `unsure`: of these perhaps not. */
void tracked_need_more(struct tracked *t, u32 row, lane_set lanes, u32 bits, lane_set unsure,
                       u32 cycle);
static inline void tracked_need(struct tracked *t, u32 row, lane_set lanes, u32 bits,
                                lane_set unsure, u32 cycle)
{
    const struct tracked_row *r = &t->rows[row];
    if (lanes & (~r->full | (r->unsure & ~unsure))) /* otherwise it is known */
        tracked_need_more(t, row, lanes, bits, unsure, cycle);
}
/* The same with bits for each lane. */
void tracked_need_each(struct tracked *t, u32 row, lane_set lanes, const u32 *bits, lane_set unsure,
                       u32 cycle);
/* Lanes of a row are written: before, nothing of what they hold is needed. */
struct ended tracked_write(struct tracked *t, u32 row, lane_set lanes, u32 cycle);
/* The row becomes safe here, or stops being so (backwards: it was the opposite before). */
void tracked_turn(struct tracked *t, u32 row, u32 cycle);
/* The same for some bits of a row of one cell. When others stay needed, the time up to which these
 * were is not known; it is taken as the mean of all. */
struct ended tracked_write_bits(struct tracked *t, u32 row, u32 bits, u32 cycle);
/* Needed bits of a cell. */
static inline u32 tracked_bits(const struct tracked *t, u32 row, u32 lane)
{
    const struct tracked_row *r = &t->rows[row];
    if (r->full >> lane & 1)
        return ~0u;
    if (!(r->some >> lane & 1))
        return 0;
    return r->even ? r->even_need : t->need[(size_t)row * t->lanes + lane];
}

/* flow.c */
void flow_plan(struct avf *a, u32 inst);
void flow_back(struct avf *a, const struct avf_entry *e);
void flow_count_sources(struct avf *a, const u32 *bits, lane_set lanes);
/* What registers of these slots hold is older than this point of the log: their warps start
 * (`starts`), or the log begins, at this cycle. */
void flow_close(struct avf *a, u64 slots, u32 cycle, bool starts);
static inline u32 avf_cycles(const struct avf *a, u32 cycle) /* since `from` */
{
    const i32 cycles = (i32)(cycle - a->from);
    return cycles > 0 ? (u32)cycles : 0;
}

/* The address that a lane of an entry has accessed, lower 32 bits. */
static inline u32 avf_address(const struct avf *a, const struct avf_entry *e, u32 element, u32 lane)
{
    const u32 *const at = a->pool + e->values, group = lane / STRIDE_LANES;
    if (!e->strided)
        return at[element * a->warp_size + lane];
    return at[group] + lane % STRIDE_LANES * at[a->warp_size / STRIDE_LANES + group];
}

/* shared.c */
/* Bits of a loaded element of which these bits of the register are needed. */
u32 avf_loaded_bits(const struct inst *inst, u32 bits, u32 bytes);
/* Whether its data in shared memory are followed bit by bit. */
bool shared_is_followed(const struct avf *a, const struct avf_entry *e);
/* A load that is needed in these lanes; before its results are overwritten (backwards). */
void shared_back_load(struct avf *a, const struct avf_entry *e, lane_set lanes, lane_set unsure);
/* The data of a store, and no other source of it. */
void shared_back_store(struct avf *a, const struct avf_entry *e);
/* Anything else. */
void shared_back_other(struct avf *a, const struct avf_entry *e);
void shared_close(struct avf *a, u64 places, u32 cycle);

/* front.c */
enum front_need {
    FRONT_DEAD,
    FRONT_NEEDED,
    FRONT_UNDECIDED /* needed, perhaps only because the log ends */
};
void front_fetched(void *state, struct core *core, u32 slot, u32 inst, u32 count, bool here);
void front_issued(struct avf *a, struct avf_entry *e);
void front_start(struct avf *a, u64 slots);
/* An accounted instruction, whose `source_bits` are known. */
void front_back(struct avf *a, const struct avf_entry *e, enum front_need need);
void front_need_active(struct avf *a, const struct avf_entry *e, lane_set lanes, lane_set unsure);
void front_close(struct avf *a, u64 slots, u32 cycle);
void front_count_resident(struct avf *a, u64 cycles, u64 warps);
void front_count(struct avf *a, u64 cycles);

/* packets.c. `fetch`: of a read, or NULL. A packet has come to the tags of the L2; its reply leaves
 * the L2; and has come to the core. */
void packets_arrived(struct avf *a, struct avf_fetch *fetch, const struct packet *packet, u64 now);
void packets_replied(struct avf *a, struct avf_fetch *fetch, const struct packet *packet, u64 now);
void packets_returned(struct avf *a, struct avf_fetch *fetch, const struct packet *packet, u64 now);
/* All reads of a fetch are decided. */
void packets_resolved(struct avf *a, const struct avf_fetch *fetch);
void packets_count(struct avf *a, u64 cycles);
/* Transactions in the load/store unit's queues: a read has come to the tags, of which `need` is
 * known; a packet leaves the core. */
void packets_queued(struct avf *a, u32 cycles, const struct byte_need *need);
void packets_sent(struct avf *a, struct avf_fetch *fetch, const struct packet *packet, u64 now);
/* An accounted access that is needed in these lanes. */
void packets_access(struct avf *a, const struct avf_entry *e, lane_set ace, lane_set unsure);

/* dram.c: requests in DRAM, and the reads that wait for them. */
struct avf_memory {
    MECHANISM_STATE(avf);
    u64 counted; /* DRAM cycles of launch number `launch` */
    u32 launch;
};
void dram_create_waiters(struct avf_device *d);
void dram_destroy_waiters(struct avf_device *d);
void dram_reset(struct avf_device *d);
/* A read misses: it waits for an MSHR; `fetch` NOTHING: it is needed. */
void dram_wait(struct avf_device *d, u32 slice, const struct cache_event *event);
/* The MSHR's line has arrived; `place`: in the L2, or NOTHING. */
void dram_filled(struct avf_device *d, u32 slice, u32 place, const struct cache_event *event,
                 u64 now);
bool dram_hook(void *memory, u32 channel, struct dram_hooks *hooks);
void dram_settle(void *memory, fs now);

/* reads.c: the seams, and: */
void reads_cache_event(void *state, struct core *core, enum packet_client which,
                       const struct cache_event *event);
void reads_sent(void *state, struct core *core, struct inflight *inflight, u32 request);
void reads_packet(void *state, struct core *core, struct packet *packet);
/* A fetch has read from a line of the L2. */
void reads_add_part(struct avf_device *d, struct avf_fetch *fetch, u64 line, u32 stay, u32 sectors,
                    u64 now);
void reads_reply(void *state, struct core *core, const struct packet *packet);
void reads_l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle);
void reads_l2_reply(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle);
void reads_l2_event(void *memory, u32 slice, const struct cache_event *event);
void reads_create(struct avf *a, struct core *core);
void reads_destroy(struct avf *a);
/* The lines that an instruction has read are needed in these lanes, of which `full` need all bits of
 * its results; before these are overwritten (backwards). */
void reads_back(struct avf *a, const struct avf_entry *e, lane_set lanes, lane_set unsure,
                lane_set full);
/* The launch ends. */
void reads_end(struct avf *a, u64 cycle);

/* avf.c */
/* ACE bit cycles of vector registers, written by an instruction (NO_INST: there when the warp
 * started); `written`: here, so that the value counts. */
void avf_count_vector(struct avf *a, const struct ended *ended, u32 writer, u32 number,
                      bool written);

#endif
